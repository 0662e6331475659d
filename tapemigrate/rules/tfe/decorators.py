"""Transformers used as decorators."""

from __future__ import annotations

import ast
from dataclasses import replace

from tapemigrate.rules.tfe import functions
from tapemigrate.rules.tfe.callee import Callee, Unresolved, signature
from tapemigrate.rules.tfe.callers import Callers
from tapemigrate.rules.tfe.forms import factory
from tapemigrate.rules.tfe.layout import below_another, block_of, inserted
from tapemigrate.rules.tfe.scopes import Scopes
from tapemigrate.rules.tfe.sites import Kind, Site
from tapemigrate.rules.tfe.text import Source
from tapemigrate.rules.tfe.uses import callers_of
from tapemigrate.rules.tfe.writer import Writer
from tapemigrate.tape.plan import Op, Replace, ReplaceStatement

_FACTORY = {
    Kind.GRADIENTS: "gradients_of",
    Kind.VALUE_AND_GRADIENTS: "value_and_gradients_of",
    Kind.IMPLICIT: "variable_gradients_of",
    Kind.VALUE_AND_IMPLICIT: "value_and_variable_gradients_of",
    Kind.VJP: "vjp_of",
}


class Decorated:
    """Rewrites decorated functions: the function gets another name, its own goes to the new one."""

    def __init__(self, scopes: Scopes, source: Source, writer: Writer) -> None:
        self._scopes = scopes
        self._source = source
        self._writer = writer
        # Factories by the block they are made in: one serves all decorators below it.
        self._factories: dict[tuple[int, Kind], tuple[str, list[Op]]] = {}
        # The statements that have a factory above them.
        self._crowned: set[ast.stmt] = set()

    def rewrite(self, site: Site) -> list[Op]:
        """The ops; none, and a problem noted, where that cannot be done."""
        function = site.decorated
        assert function is not None
        try:
            return self._rewrite(site, function)
        except Unresolved as problem:
            self._writer.problems[site] = str(problem)
            return []

    def _rewrite(self, site: Site, function: ast.FunctionDef | ast.AsyncFunctionDef) -> list[Op]:
        if isinstance(function, ast.AsyncFunctionDef):
            raise Unresolved("it decorates a coroutine")
        method = self._scopes.in_class_body(function)
        if method and not site.kind.implicit and not _is_static(function, site.node):
            raise Unresolved("it decorates a method, and would convert `self` to a tensor")
        if method or not self._movable(function):
            return self._with_factory(site, function)
        return self._renamed(site, function)

    def _renamed(self, site: Site, function: ast.FunctionDef) -> list[Op]:
        unit = self._scopes.unit
        scope = self._scopes.scope_of(function)
        taken = set(unit.names.bound_names(scope)) | self._writer.reserved
        inner = next(
            n
            for n in (f"_{function.name}", f"_{function.name}_fn", f"{function.name}_fn_")
            if n not in taken
        )
        self._writer.reserved.add(inner)
        index = function.decorator_list.index(site.node)
        above = [f"@{self._source.text(d)}" for d in function.decorator_list[:index]]
        below = [f"@{self._source.text(d)}" for d in function.decorator_list[index + 1 :]]
        callee = signature(function, 0, function.name) if not below else Callee(name=function.name)
        block = self._writer.block(function)
        uses = self._scopes.uses(function.name, function)
        callers = replace(callers_of(self._scopes, function.name, function, uses), local=False)
        outer = functions.definition(
            self._writer,
            site,
            function.name,
            callee,
            callers,
            block,
            inner,
        )
        gap = "\n\n\n" if isinstance(unit.parents[function], ast.Module) else "\n\n"
        text = _plan_layout(self._source.raw(function), function)
        head, _, rest = text.partition("(")
        head = head.replace(f" {function.name}", f" {inner}", 1)
        code = gap.join(["\n".join([*below, f"{head}({rest}"]), "\n".join([*above, outer])])
        self._writer.placed[site] = "function"
        return [ReplaceStatement(unit.lines.span(function), code)]

    def _with_factory(self, site: Site, function: ast.FunctionDef) -> list[Op]:
        unit = self._scopes.unit
        anchor: ast.stmt = function
        for parent in self._scopes.parents(function):
            if isinstance(parent, ast.FunctionDef | ast.AsyncFunctionDef):
                break
            if isinstance(parent, ast.ClassDef):
                anchor = parent
        key = (id(block_of(unit, anchor) or anchor), site.kind)
        if key not in self._factories:
            self._factories[key] = self._factory(site, anchor)
        name, ops = self._factories[key]
        self._source.replaced[site.node] = name
        self._writer.placed[site] = "function"
        return [*ops, Replace(unit.lines.span(site.node), name)]

    def _factory(self, site: Site, anchor: ast.stmt) -> tuple[str, list[Op]]:
        """A function that does what the decorator did, above ``anchor``; and its name."""
        unit = self._scopes.unit
        taken = set(unit.names.bound_names(self._scopes.scope_of(anchor))) | self._writer.reserved
        name = _FACTORY[site.kind]
        while name in taken:
            name += "_"
        self._writer.reserved.add(name)
        block = self._writer.block(anchor)
        made = functions.definition(self._writer, site, "grad_fn", Callee(), Callers(), block, "fn")
        ops = inserted(unit, anchor, [factory(name, ["fn"], made)])
        if anchor in self._crowned:
            ops = below_another(ops)
        self._crowned.add(anchor)
        return name, ops

    def _movable(self, function: ast.FunctionDef) -> bool:
        """Whether the function's text can be written anew: nothing else of ours happens in it."""
        lines = self._scopes.unit.lines
        span = lines.span(function)
        if any(
            "\t" in lines.row(row)[: len(lines.row(row)) - len(lines.row(row).lstrip())]
            for row in range(span.row, span.end_row + 1)
        ):
            return False
        if function.body[0].lineno == function.lineno:
            return False
        return not self._writer.holds_gradients(function)


def _is_static(function: ast.FunctionDef, decorator: ast.expr) -> bool:
    """Whether what ``decorator`` makes is a static method, which has no ``self``."""
    above = function.decorator_list[: function.decorator_list.index(decorator)]
    return any(isinstance(d, ast.Name) and d.id == "staticmethod" for d in above)


def _plan_layout(text: str, function: ast.FunctionDef) -> str:
    """``text`` with the four columns a level that plans have, as if at the left margin."""
    margin = function.col_offset
    unit = function.body[0].col_offset - margin
    kept = _rows_in_strings(function)
    found = []
    for index, line in enumerate(text.replace("\r\n", "\n").split("\n")):
        if index == 0 or function.lineno + index in kept or not line.strip():
            found.append(line if index == 0 or function.lineno + index in kept else "")
            continue
        columns = max(0, len(line) - len(line.lstrip(" ")) - margin)
        levels, rest = divmod(columns, unit)
        found.append(" " * (4 * levels + rest) + line.lstrip(" "))
    return "\n".join(found)


def _rows_in_strings(function: ast.FunctionDef) -> set[int]:
    found: set[int] = set()
    for node in ast.walk(function):
        if isinstance(node, ast.JoinedStr) or (
            isinstance(node, ast.Constant) and isinstance(node.value, str | bytes)
        ):
            found.update(range(node.lineno + 1, (node.end_lineno or node.lineno) + 1))
    return found
