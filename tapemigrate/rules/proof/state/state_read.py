"""What code reads that functions put where it outlives their calls."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from tapemigrate.flow.functions import (
    Function,
    NamedFunction,
    free_names,
    named_defaults,
    parameters,
)
from tapemigrate.rules.callgraph.assigned import global_values
from tapemigrate.rules.callgraph.by_other_names import run_by_other_names
from tapemigrate.rules.finding import Unit
from tapemigrate.rules.project import Project, View
from tapemigrate.rules.proof.state.evaluated import evaluated
from tapemigrate.rules.proof.state.found_aside import found_aside
from tapemigrate.rules.proof.state.shared_state import shared_state
from tapemigrate.rules.values.containers.filled_state import filled_state
from tapemigrate.rules.values.objects.kept_functions import is_function_of_parts
from tapemigrate.rules.values.variables.module_variables import are_variables
from tapemigrate.source.trees import kept, walk


def state_read(project: Project, view: View, run: Sequence[ast.AST]) -> set[str]:
    """What ``run``, and the functions that it calls, read that functions put values into."""
    unit, effects = view.unit, project.effects(view.unit)
    pending, roots = list(run), frozenset(run)
    handed = kept(view.scope, _parameters)
    read: set[str] = set()
    unseen: set[str] = set()
    loaded, filled = unit.once(_loaded), unit.once(filled_state)
    while pending:
        node = pending.pop()
        if node not in loaded:
            loaded[node] = _read_outside(node)
            if filled:
                loaded[node] |= run_by_other_names(unit, node)
        # A parameter is no name of the module, though it may be called like one.
        of_scope = node in roots and not isinstance(node, NamedFunction)
        new = loaded[node] - read - (handed if of_scope else frozenset())
        if "eval" in loaded[node]:
            unseen |= evaluated(node).unseen
            new |= evaluated(node).names - read
        read |= new
        pending += [f for name in new for f in effects.functions(name)]
        given = (value for name in new for value in global_values(unit, name))
        pending += [value for value in given if is_function_of_parts(value)]
    shared = shared_state(project).read_by(project, unit, run)
    return (read & filled) | unseen | shared | found_aside(project, view, run)


def finds_state(project: Project, view: View, run: Sequence[ast.AST]) -> bool:
    """Whether ``run`` finds what earlier runs of functions put aside, other than variables."""
    names = state_read(project, view, run) if run else ()
    return not all(are_variables(project, view.unit, name) for name in names)


def _parameters(scope: ast.AST) -> frozenset[str]:
    """What a function is handed, but for what one inside of it may put something into."""
    if not isinstance(scope, Function):
        return frozenset()
    inner = (n for n in walk(scope) if isinstance(n, Function) and n is not scope)
    return frozenset(a.arg for a in parameters(scope.args)).difference(*map(free_names, inner))


def _read_outside(node: ast.AST) -> frozenset[str]:
    """The names that are read; of a function, no parameters, and none that it binds itself."""
    roots: list[ast.AST] = [node]
    free = frozenset[str]()
    if isinstance(node, NamedFunction):
        # What a parameter is by default was read outside.
        roots, free = [*named_defaults(node.args).values(), *node.decorator_list], free_names(node)
    names = (n for root in roots for n in walk(root) if isinstance(n, ast.Name))
    return free.union(n.id for n in names if isinstance(n.ctx, ast.Load))


def _loaded(unit: Unit) -> dict[ast.AST, frozenset[str]]:
    """The names that statements read, filled where they are asked for."""
    return {}
