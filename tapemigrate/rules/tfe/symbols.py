"""TM116: symbols of ``tf.contrib.eager`` that TF2 has under another name, or not at all."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import cast

from tapemigrate.patterns import late
from tapemigrate.rules.catalog import Symbol, lookup
from tapemigrate.rules.finding import Unit
from tapemigrate.rules.indexes import names_bound

Reference = tuple[ast.expr, str]

CODE = "TM116"
_GRADIENTS = frozenset({"TM101", "TM102", "TM103", "TM104"})
# What may make variables.
_MAKERS = late(r"ariable|layers|keras|contrib|template|train")
_CONTRIB = "tensorflow.contrib.eager"
# What undoes what is removed for being the default of TensorFlow 2.
_OFF = ("disable_eager_execution", "disable_v2_behavior")


@dataclass(frozen=True, slots=True)
class Use:
    """One use of a symbol.

    ``node`` becomes ``code``; a statement becomes nothing. ``code`` is None where no rewrite helps.
    """

    node: ast.expr
    replaced: ast.expr | ast.stmt
    name: str
    code: str | None
    reason: str
    needs_import: bool = False
    assumes: str = ""


def symbol_of(path: str, aliases: Mapping[str, str] | None = None) -> Symbol | None:
    """The symbol of that path. ``tf.compat.v1.contrib`` is the same module as ``tf.contrib``."""
    path = path.replace("tensorflow.compat.v1.contrib", "tensorflow.contrib", 1)
    return lookup(path, aliases)


def is_contrib_eager(path: str) -> bool:
    """Whether the path is ``tensorflow.contrib.eager`` or something in it."""
    path = path.replace("tensorflow.compat.v1.contrib", "tensorflow.contrib", 1)
    return path == _CONTRIB or path.startswith(_CONTRIB + ".")


def references(unit: Unit, aliases: Mapping[str, str] | None = None) -> list[Reference]:
    """What in the file means something of ours, or of a user's ``aliases``, with its path."""
    found = []
    for chain, path in unit.names.references():
        ours = "eager" in path or "v2_behavior" in path
        if ours or (aliases and not path.startswith("tensorflow") and lookup(path, aliases)):
            found.append((chain, path))
    return found


def uses(unit: Unit, found_references: Iterable[Reference]) -> list[Use]:
    """Every use of a symbol, the gradient functions and the imports left out."""
    found = []
    for chain, path in found_references:
        node, symbol = _symbol(chain, path)
        if symbol is None:
            by_string = unit.names.qualified(cast("ast.expr", unit.parents[chain])) is not None
            if is_contrib_eager(path) and not _is_binding(unit, chain) and not by_string:
                found.append(_module(unit, chain))
        elif symbol.rule == CODE and not _is_binding(unit, node):
            found.append(_read(unit, node, symbol))
    return found


def _is_binding(unit: Unit, node: ast.expr) -> bool:
    return unit.names.alias_definition(node) is not None


def _symbol(chain: ast.expr, path: str) -> tuple[ast.expr, Symbol | None]:
    """The symbol at the root of a chain: ``tfe.Variable`` of ``tfe.Variable.from_proto``."""
    node, rest = chain, path
    unlisted: tuple[ast.expr, Symbol | None] = (chain, None)
    while True:
        symbol = symbol_of(rest)
        if symbol is not None and (
            symbol.becomes or symbol.call or symbol.removed or symbol.rule != CODE
        ):
            return node, symbol
        if symbol is not None:
            unlisted = (node, symbol)
        if not isinstance(node, ast.Attribute) or "." not in rest:
            return unlisted
        node, rest = node.value, rest.rpartition(".")[0]


def _module(unit: Unit, node: ast.expr) -> Use:
    name = unit.lines.segment(unit.lines.span(node))
    return Use(
        node, node, name, None, "it is kept as a value, and what is used of it cannot be seen"
    )


def _read(unit: Unit, node: ast.expr, symbol: Symbol) -> Use:
    name = unit.lines.segment(unit.lines.span(node))
    if _in_gradient_call(unit, node):
        reason = "it stands in the arguments of a gradient call: give it a line of its own"
        return Use(node, node, name, None, reason)
    parent = unit.parents[node]
    call = parent if isinstance(parent, ast.Call) and parent.func is node else None
    alias = unit.names.tensorflow_alias(node)
    tf = alias or "tf"
    kind = unit.names.reference_kind(node)
    if kind in ("getattr", "uncertain"):
        return Use(node, node, name, None, "what the name means here is not certain")
    if symbol.removed:
        return _removed(unit, node, call, name, symbol)
    if alias is None and "tf" in unit.names.bound_names(unit.tree):
        return Use(node, node, name, None, "TensorFlow has no name here, and `tf` is another thing")
    if symbol.call and call is not None and not call.args and not call.keywords:
        code = symbol.call.format(tf=tf)
        return Use(node, call, name, code, f"`{code}` does the same", alias is None, symbol.assumes)
    if symbol.becomes:
        assumes = symbol.assumes
        if symbol.api == "defun" and _makes_no_variables(unit, node):
            assumes = ""
        problem = _mismatch(call, symbol)
        if problem:
            return Use(node, node, name, None, problem)
        module, _, last = symbol.becomes.partition(".")
        if module == "builtins":
            if last in unit.once(names_bound):
                return Use(node, node, name, None, f"`{last}` is another thing in this file")
            if call is None and not isinstance(getattr(builtins, last), type):
                return Use(node, node, name, None, f"it is a class, and `{last}` is none")
            return Use(node, node, name, last, f"`{last}` does the same", False, symbol.assumes)
        code = f"{tf}.{last}"
        return Use(node, node, name, code, f"`{code}` does the same", alias is None, assumes)
    return Use(node, node, name, None, symbol.instead or "TensorFlow 2 has nothing of the kind")


def _in_gradient_call(unit: Unit, node: ast.expr) -> bool:
    """Whether another rule writes anew what ``node`` is part of."""
    parent: ast.AST = unit.parents[node]
    while not isinstance(parent, ast.stmt):
        if isinstance(parent, ast.Call):
            symbol = lookup(unit.names.qualified(parent.func) or "")
            if symbol is not None and symbol.rule in _GRADIENTS:
                return True
        parent = unit.parents[parent]
    return False


def _makes_no_variables(unit: Unit, decorator: ast.expr) -> bool:
    """Whether the function under a decorator only calls ops."""
    holder = unit.parents[decorator]
    if isinstance(holder, ast.Call):
        holder = unit.parents[holder]
    if not isinstance(holder, ast.FunctionDef):
        return False
    for node in (n for statement in holder.body for n in ast.walk(statement)):
        if isinstance(node, ast.Call):
            path = unit.names.qualified(node.func) or ""
            if not path.startswith("tensorflow.") or _MAKERS.search(path):
                return False
    return True


def _removed(unit: Unit, node: ast.expr, call: ast.Call | None, name: str, symbol: Symbol) -> Use:
    statement = unit.parents[call] if call is not None else None
    if call is None or not isinstance(statement, ast.Expr):
        return Use(node, node, name, None, symbol.instead)
    for _, path in unit.names.references():
        if path.endswith(_OFF):
            off = path.rpartition(".")[2]
            reason = f"the file calls `{off}` as well: write `tf.compat.v1.{symbol.api}()`"
            return Use(node, node, name, None, reason)
    if call.args or call.keywords:
        return Use(node, statement, name, "", symbol.instead, assumes="its arguments can go")
    return Use(node, statement, name, "", symbol.instead.partition(";")[0])


def _mismatch(call: ast.Call | None, symbol: Symbol) -> str:
    """What the successor would not take of the arguments; empty where it takes them all."""
    if call is None:
        return ""
    limit = symbol.positional
    starred = any(isinstance(a, ast.Starred) for a in call.args)
    if limit is not None and (len(call.args) > limit or starred):
        return f"argument {limit + 1} is positional, and means something else in `{symbol.becomes}`"
    for keyword in call.keywords:
        if keyword.arg in symbol.lacks:
            return f"`{symbol.becomes}` has no argument `{keyword.arg}`"
    return ""
