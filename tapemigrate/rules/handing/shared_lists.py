"""Lists that are kept on an object: what other code puts into them, the tape there has not seen."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from tapemigrate.flow.changers import CHANGERS
from tapemigrate.flow.definitions import Def, Kind
from tapemigrate.flow.slices import meant
from tapemigrate.rules.callgraph.places import place_of
from tapemigrate.rules.finding import Unit
from tapemigrate.rules.project import Project, View
from tapemigrate.rules.values.containers.list_signs import ListSigns, may_be_container
from tapemigrate.source.trees import walk
from tapemigrate.tape.ops.kinds import Make

# Functions that only read a list, whatever is done with what they give.
_READERS = frozenset(
    {"len", "enumerate", "zip", "list", "tuple", "dict", "sum", "range", "sorted", "reversed"}
    | {"isinstance", "print", "str", "repr", "min", "max", "any", "all", "iter", "next"}
)
# The methods of a session.
_RUNS = frozenset({"run", "partial_run", "make_callable"})
_READING = (
    ast.Subscript,
    ast.For,
    ast.comprehension,
    ast.Compare,
    ast.BinOp,
    ast.If,
    ast.FormattedValue,
)


def changed_elsewhere(
    project: Project,
    producer: View,
    stmt: ast.stmt,
    name: str,
    but: Sequence[ast.stmt] = (),
) -> str:
    """Where a list that ``stmt`` keeps as ``name`` may get other elements, as a reason.

    What the statements in ``but`` put in is known.
    """
    known = {node for each in but for node in walk(each)}
    made = _made(producer, stmt, name)
    if made is None or made.value is None:
        return ""
    if made.kind is Kind.ASSIGN and producer.kinds.make(made.value) in (Make.TENSOR, Make.LEAF):
        return ""
    is_list = _is_list(project, producer, made)
    for user, node in project.mentions(name).others:
        if node in known or not isinstance(node, ast.Attribute):
            continue
        if isinstance(node.ctx, ast.Load):
            if _changes(user, node) or (is_list and not _only_reads(project, user, node)):
                return f"`{name}` may get other elements in {place_of(producer.unit, user, node)}"
    return ""


def _made(producer: View, stmt: ast.stmt, name: str) -> Def | None:
    """What ``stmt`` gives the attribute of the object."""
    path = (producer.kinds.self_name, f".{name}")
    made = (d for d in producer.flow.defs.values() if d.stmt is stmt and d.path == path)
    return next(made, None) if isinstance(stmt, ast.Assign) else None


def filled_by_call(project: Project, view: View, name: str) -> str:
    """Where a function of the file that is handed ``self.name`` puts more into it, as a reason."""
    found = project.once(_Fillers).of(name)
    if found is None:
        return ""
    return f"`{name}` may get other elements in {place_of(view.unit, *found)}"


class _Fillers:
    """The calls that put more into the attributes of a name, asked once for all classes."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._found: dict[str, tuple[Unit, ast.Call] | None] = {}

    def of(self, name: str) -> tuple[Unit, ast.Call] | None:
        """The first such call; None if there is none."""
        if name not in self._found:
            self._found[name] = self._first(name)
        return self._found[name]

    def _first(self, name: str) -> tuple[Unit, ast.Call] | None:
        for user, node in self._project.mentions(name).others:
            if not isinstance(node, ast.Attribute) or not isinstance(node.ctx, ast.Load):
                continue
            call = user.parents.get(node)
            call = user.parents.get(call) if isinstance(call, ast.keyword) else call
            if not isinstance(call, ast.Call) or node is call.func:
                continue
            kinds = self._project.view(user, self._project.scope_of(user, call)).kinds
            if kinds.called(call) is not None and node in kinds.effect(call).changes:
                return user, call
        return None


def filled_elsewhere(project: Project, name: str) -> bool:
    """Whether code changes what an attribute of that name holds, by that name."""
    mentions = project.mentions(name).others
    return any(
        isinstance(n, ast.Attribute) and _changes(u, n) and not _is_own(n) for u, n in mentions
    )


def _is_own(node: ast.Attribute) -> bool:
    return isinstance(node.value, ast.Name) and node.value.id == "self"


def _is_list(project: Project, view: View, made: Def) -> bool:
    if made.kind is not Kind.ASSIGN or made.value is None:
        return ListSigns(project).made(view, made)
    named = meant(view.flow.reads.get(made.value, frozenset()), view.flow.reads)
    values = [made.value, *(d.value for d in named if d.value is not None)]
    return any(may_be_container(project, view, each) for each in values)


def _changes(unit: Unit, node: ast.Attribute) -> bool:
    """``m.losses[0] = …``, ``m.losses.append(…)``, ``m.losses[0].append(…)``"""
    parent = unit.parents[node]
    while isinstance(parent, ast.Subscript):
        if not isinstance(parent.ctx, ast.Load):
            return True
        parent = unit.parents[parent]
    return isinstance(parent, ast.Attribute) and parent.attr in CHANGERS


def _only_reads(project: Project, unit: Unit, node: ast.Attribute) -> bool:
    """Whether nobody else gets to have the list here."""
    child: ast.AST = node
    parent = unit.parents[node]
    while isinstance(parent, ast.keyword | ast.Starred | ast.List | ast.Tuple):
        child, parent = parent, unit.parents[parent]
    if isinstance(parent, ast.Call) and child is not parent.func:
        view = project.view(unit, project.scope_of(unit, parent))
        func = parent.func
        named = isinstance(func, ast.Name) and func.id in _READERS
        runs = isinstance(func, ast.Attribute) and func.attr in _RUNS
        return named or runs or view.kinds.tensorflow(func) is not None
    if child is not node:
        return False
    return isinstance(parent, _READING) or (
        isinstance(parent, ast.Attribute) and parent.attr not in CHANGERS
    )
