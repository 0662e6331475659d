"""Arguments of a call that are computed: that happens before its tape, which must not record it."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tapemigrate.rules.tfe.block import Block
from tapemigrate.rules.tfe.callee import Callee
from tapemigrate.rules.tfe.forms import Tape

if TYPE_CHECKING:
    from tapemigrate.rules.tfe.writer import Writer

_DISPLAYS = (ast.List, ast.Tuple, ast.Dict, ast.expr_context)


class Beforehand:
    """Gives a name to each argument that is more than a name itself."""

    def __init__(self, writer: Writer, callee: Callee, tape: Tape, block: Block) -> None:
        self._writer = writer
        self._callee = callee
        self._tape = tape
        self._block = block

    def name(self, arg: ast.expr, position: int) -> str:
        """What is passed for ``arg``."""
        code = self._writer.lower(arg, self._block)
        if isinstance(arg, ast.Starred):
            display = isinstance(arg.value, ast.List | ast.Tuple)
            if display and self._is_plain(arg.value):
                return code
            # An iterator would be run, and a tensor be split, under the tape.
            given = self._writer.source.text(arg.value) if display else f"[{code}]"
            return f"*{self._put(given, ['args', 'inputs'])}"
        parameters = self._callee.parameters
        if self._is_plain(arg):
            return code
        seen = parameters is not None and position < len(parameters)
        wishes = [parameters[position].name] if parameters is not None and seen else []
        return self._put(code, [*wishes, *(f"{w}_value" for w in wishes), "argument"])

    def function(self, node: ast.expr) -> str:
        """What stands for ``node``, the function that is called or something bound to it."""
        code = self._writer.lower(node, self._block)
        named = isinstance(node, ast.Attribute | ast.Subscript)
        named = named and not self._writer.scopes.computes(node)
        if named or self._is_plain(node) or node in self._writer.source.replaced:
            return code
        bound = [*self._callee.bound, *(k.value for k in self._callee.bound_keywords)]
        suffix = "bound" if node in bound else "fn"
        hint = self._callee.name
        return self._put(code, [f"{hint}_{suffix}" if hint else suffix])

    def keyword(self, keyword: ast.keyword) -> str:
        """What is passed for ``keyword``, its name included."""
        code = self._writer.lower(keyword.value, self._block)
        if not self._is_plain(keyword.value):
            arg = keyword.arg
            wishes = [arg, f"{arg}_value"] if arg else ["kwargs", "keywords"]
            code = self._put(code, wishes)
        return f"{keyword.arg}={code}" if keyword.arg else f"**{code}"

    def seed(self, dy: ast.expr) -> str:
        """What is passed for ``dy``, which the forward pass must not come before."""
        code = self._writer.lower(dy, self._block)
        return code if self._is_plain(dy) else self._put(code, ["dy", "seed"])

    def _put(self, code: str, wishes: list[str]) -> str:
        name = self._writer.naming.fresh(self._block, wishes)
        self._tape.setup.append(f"{name} = {code}")
        return name

    def _is_plain(self, node: ast.AST) -> bool:
        """Whether nothing that a tape records can run where ``node`` is evaluated."""
        if isinstance(node, ast.Name):
            return node not in self._writer.source.replaced
        if isinstance(node, ast.Constant | ast.Lambda):
            return True
        if isinstance(node, ast.UnaryOp):
            return isinstance(node.operand, ast.Constant)
        if isinstance(node, ast.Attribute):
            return self._writer.scopes.unit.names.qualified(node) is not None
        if isinstance(node, ast.Subscript):
            key = node.slice
            text = isinstance(key, ast.Constant) and isinstance(key.value, str)
            return text and self._is_plain(node.value)
        return isinstance(node, _DISPLAYS) and all(
            self._is_plain(child) for child in ast.iter_child_nodes(node)
        )
