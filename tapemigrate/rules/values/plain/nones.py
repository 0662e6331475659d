"""Which names may be None where they are read, as far as the files show that they are given it."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from tapemigrate.flow.definitions import Def, Kind
from tapemigrate.flow.paths import Path, path_of
from tapemigrate.flow.slices import origins
from tapemigrate.rules.callgraph.arguments import argument_for
from tapemigrate.rules.callgraph.assigned import attribute_values, global_values
from tapemigrate.rules.callgraph.callbacks import mentions_of
from tapemigrate.rules.callgraph.callers import constructions
from tapemigrate.rules.callgraph.enclosing import outer_definitions
from tapemigrate.rules.callgraph.handed_unseen import may_be_handed_unseen
from tapemigrate.rules.project import Project, View
from tapemigrate.rules.values.plain.optional import default_of
from tapemigrate.source.trees import walk

# Calls and names that are followed one after the other.
_DEEPEST = 6


class Nones:
    """Follows values through names, lists, attributes of ``self``, calls and callers.

    ``unseen`` are the parameters met for which something may be handed in that no call shows.
    """

    def __init__(self, project: Project) -> None:
        self._project = project
        self.unseen: dict[str, None] = {}

    def among(self, view: View, node: ast.expr, depth: int = 0) -> bool:
        """Whether a None may be among the elements of a list."""
        if depth > _DEEPEST:
            return False
        lists: list[ast.expr] = []
        match node:
            case ast.List() | ast.Tuple():
                return any(self.is_one(view, each, depth) for each in node.elts)
            case ast.BinOp(left=left, right=right):
                lists = [left, right]
            case ast.IfExp(body=body, orelse=orelse):
                lists = [body, orelse]
            case ast.Call(func=ast.Name(id="list" | "tuple"), args=[inner]):
                lists = [inner]
            case ast.Subscript(value=inner, slice=ast.Slice()):
                lists = [inner]
            case _ if path_of(node) is not None:
                made = origins(view.flow.reads.get(node, frozenset()))
                lists = [d.value for d in made if d.value is not None and d.kind is Kind.ASSIGN]
        return any(self.among(view, each, depth + 1) for each in lists)

    def is_one(self, view: View, node: ast.expr, depth: int = 0) -> bool:
        """Whether the value may be None."""
        if depth > _DEEPEST:
            return False
        match node:
            case ast.Constant():
                return node.value is None
            case ast.Starred():
                return self.among(view, node.value, depth + 1)
            case ast.IfExp(body=body, orelse=orelse):
                return any(self.is_one(view, each, depth + 1) for each in (body, orelse))
            case ast.BoolOp(op=ast.Or()):
                return self.is_one(view, node.values[-1], depth + 1)
            case ast.Call(func=ast.Name(id=name)):
                return any(
                    isinstance(each, ast.Return)
                    and (each.value is None or is_none(each.value) or _chooses_none(each.value))
                    for function in self._project.effects(view.unit).functions(name)
                    for each in walk(function)
                )
        path = path_of(node)
        if path is None:
            return False
        made = origins(view.flow.reads.get(node, frozenset()))
        if _is_asked_about(view, node, path) or any(_replaces_none(view, d, path) for d in made):
            return False
        return any(self._was_given(view, each, path, depth) for each in made)

    def _was_given(self, view: View, made: Def, path: Path, depth: int) -> bool:
        """Whether a definition gives the path a None."""
        if made.kind is Kind.PARAM and made.path == path:
            return self._by_callers(view, path[0], depth)
        if made.kind is Kind.ENTRY:
            return self._outside(view, path, depth)
        if made.kind is not Kind.ASSIGN or made.value is None:
            return False
        if made.path == path:
            return self.is_one(view, made.value, depth + 1)
        values = made.value.values if isinstance(made.value, ast.Dict) else [made.value]
        lists = [v for v in values if isinstance(v, ast.List | ast.Tuple)]
        return any(is_none(v) for v in values) or any(self.among(view, v, depth) for v in lists)

    def _by_callers(self, view: View, name: str, depth: int) -> bool:
        scope = view.scope
        if not isinstance(scope, ast.FunctionDef | ast.AsyncFunctionDef):
            return False
        if may_be_handed_unseen(self._project, view.unit, scope, name, libraries=False):
            self.unseen[name] = None
        if scope.name == "__init__" and view.cls is not None:
            calls, others = constructions(self._project, view.unit, view.cls), False
        else:
            mentions = mentions_of(self._project, view.unit, scope)
            calls, others = mentions.calls, bool(mentions.others)
        if others or not calls:
            return is_none(default_of(scope, name))
        for site in calls:
            given = argument_for(site.call, scope, name, view.cls is not None)
            caller = self._project.view(site.unit, self._project.scope_of(site.unit, site.call))
            if given is not None and (is_none(given) or self.is_one(caller, given, depth + 1)):
                return True
        return False

    def _outside(self, view: View, path: Path, depth: int) -> bool:
        values: Iterable[ast.expr] = ()
        around = outer_definitions(self._project, view, path) if len(path) == 1 else None
        if around is not None:
            holder, made = around
            return any(self._was_given(holder, each, path, depth + 1) for each in made)
        if len(path) == 1:
            values = global_values(view.unit, path[0])
        elif len(path) == 2 and path[0] == view.kinds.self_name:
            values = attribute_values(self._project, view, path[1].lstrip("."))
        for value in values:
            inner = self._project.view(view.unit, self._project.scope_of(view.unit, value))
            if self.is_one(inner, value, depth + 1):
                return True
        return False


def is_none(node: ast.expr | None) -> bool:
    """Whether ``None`` is written there."""
    return isinstance(node, ast.Constant) and node.value is None


def _chooses_none(value: ast.expr) -> bool:
    return isinstance(value, ast.IfExp) and (is_none(value.body) or is_none(value.orelse))


def _is_asked_about(view: View, node: ast.AST, path: Path) -> bool:
    """Whether it is read only where a test has found it to be no None."""
    parents = view.unit.parents
    child, parent = node, parents.get(node)
    while parent is not None and child is not view.scope:
        if isinstance(parent, ast.If | ast.IfExp):
            body = parent.body if isinstance(parent.body, list) else [parent.body]
            side = ast.IsNot if child in body else ast.Is
            if child is not parent.test and _tests(parent.test, path, side):
                return True
        child, parent = parent, parents.get(parent)
    return False


def _replaces_none(view: View, made: Def, path: Path) -> bool:
    """``if seed is None: seed = …``: what reaches the end is none of the Nones before."""
    parent = view.unit.parents.get(made.stmt) if made.stmt is not None else None
    return (
        isinstance(parent, ast.If)
        and made.stmt in parent.body
        and made.path == path
        and not is_none(made.value)
        and _tests(parent.test, path, ast.Is)
    )


def _tests(test: ast.expr, path: Path, side: type[ast.cmpop]) -> bool:
    """Whether the test is ``name is None``, or ``is not``, by ``side``."""
    match test:
        case ast.Compare(left=left, ops=[op], comparators=[ast.Constant(value=None)]):
            same = ast.Eq if side is ast.Is else ast.NotEq
            return path_of(left) == path and isinstance(op, (side, same))
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return side is ast.Is and path_of(operand) == path
        case ast.BoolOp(op=ast.And()):
            return side is ast.IsNot and any(_tests(v, path, side) for v in test.values)
    return side is ast.IsNot and path_of(test) == path
