"""Names into whose values nobody puts anything that a scope could find there later."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from tapemigrate.flow.definitions import Def, Kind
from tapemigrate.rules.project import Project, View
from tapemigrate.rules.values.variables.module_variables import may_be_set_unseen
from tapemigrate.source.trees import walk
from tapemigrate.tape.ops.kinds import Make

_NOTHING_TO_FILL = (Make.LEAF, Make.VARIABLE, Make.FROZEN)


def bound_alone(project: Project, view: View, nodes: Iterable[ast.AST]) -> frozenset[str]:
    """The names that the scope itself gives values, where nothing is put aside.

    What others put into a name of a module is read there: only tensors hold nothing. A name counts
    as what it is where ``nodes`` read it, whatever it was before.
    """
    if not isinstance(view.scope, ast.Module):
        made = view.flow.defs.values()
        return frozenset(d.path[0] for d in made if d.kind not in (Kind.ENTRY, Kind.MUTATE))
    read: dict[str, list[ast.Name]] = {}
    for root in nodes:
        for node in walk(root):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
                read.setdefault(node.id, []).append(node)
    shared = {name for stmt in view.unit.nodes(ast.Global) for name in stmt.names}
    return frozenset(
        name
        for name, uses in read.items()
        if name not in shared
        and all(_is_tensor(view, use) for use in uses)
        and not may_be_set_unseen(project, view.unit, name)
    )


def _is_tensor(view: View, value: ast.expr, seen: frozenset[Def] = frozenset()) -> bool:
    """Whether it is a variable, a tensor or a number, by what the scope gives its names."""
    match value:
        case ast.Constant():
            return True
        case ast.UnaryOp():
            return _is_tensor(view, value.operand, seen)
        case ast.BinOp():
            return all(_is_tensor(view, side, seen) for side in (value.left, value.right))
        case ast.Name():
            found = {use.made for use in view.flow.uses_in(value)}
            return bool(found) and all(
                made in seen
                or (
                    made.kind is Kind.ASSIGN
                    and made.path == (value.id,)
                    and made.value is not None
                    and _is_tensor(view, made.value, seen | {made})
                )
                for made in found
            )
    return view.kinds.make(value) in _NOTHING_TO_FILL
