"""Whether all that a function is handed by a name is code that brings no tensors along."""

from __future__ import annotations

import ast

from tapemigrate.flow.definitions import Def, Kind
from tapemigrate.flow.functions import NamedFunction, defaults, free_names
from tapemigrate.flow.paths import path_of
from tapemigrate.rules.callgraph.arguments import argument_for
from tapemigrate.rules.callgraph.callbacks import mentions_of
from tapemigrate.rules.callgraph.decorated import may_change_arguments
from tapemigrate.rules.finding import Unit
from tapemigrate.rules.project import Project, View
from tapemigrate.tape.ops.kinds import Make


def is_given_code(project: Project, view: View, parameter: str) -> bool:
    """Whether all callers are seen, and hand in functions that read nothing of those around them.

    ``slope_of(lambda v: v * v)``, and ``slope_of(net)`` or ``@slope_of`` of a function of a module.
    What ``net`` reads of its module is asked where it runs.
    """
    scope, unit = view.scope, view.unit
    if not isinstance(scope, ast.FunctionDef) or may_change_arguments(unit, scope):
        return False
    if project.unread({scope.name}):
        return False
    mentions = mentions_of(project, unit, scope)
    if not mentions.calls and not mentions.others:
        return False
    given: list[tuple[View, ast.expr | NamedFunction | None]] = []
    for site in mentions.calls:
        caller = project.view(site.unit, project.scope_of(site.unit, site.call))
        passed = argument_for(site.call, scope, parameter, view.cls is not None)
        given.append((caller, passed))
    for there, node in mentions.others:
        inner = _decorated(there, node)
        first = scope.args.args[0].arg if scope.args.args else None
        if inner is None or first != parameter or view.cls is not None:
            return False
        given.append((project.view(there, project.scope_of(there, inner)), inner))
    return all(each is not None and _is_code(project, around, each) for around, each in given)


def _decorated(unit: Unit, node: ast.AST) -> NamedFunction | None:
    """The function that has ``node`` for a decorator."""
    above = unit.parents.get(node)
    if isinstance(above, NamedFunction) and any(node is each for each in above.decorator_list):
        return above
    return None


def _is_code(project: Project, around: View, given: ast.expr | NamedFunction) -> bool:
    if isinstance(given, NamedFunction):
        if len(given.decorator_list) > 1 or defaults(given.args):
            return False
        read = {u.made for d in around.flow.defs.values() if d.stmt is given for u in d.uses}
        # What it reads may be set since.
        read |= {d for name in free_names(given) for d in around.flow.given(name)}
        return all(_reads_code(project, around, d) or _is_number(around, d) for d in read)
    if not isinstance(given, ast.Lambda) and path_of(given) is None:
        return False
    read = {use.made for use in around.flow.uses_in(given)}
    return bool(read) and all(_reads_code(project, around, d) for d in read)


def _is_number(around: View, made: Def) -> bool:
    """Whether the scope gives a name a number, or another value without tensors."""
    return (
        made.kind is Kind.ASSIGN
        and made.value is not None
        and around.kinds.make(made.value) is Make.PYTHON
    )


def _reads_code(project: Project, around: View, made: Def) -> bool:
    """Whether it is a module or a function, and one that reads nothing else where it stands.

    Functions of a module may read what the module holds.
    """
    effects, imported = project.effects(around.unit), project.imported(around.unit)
    pending, seen = [made], set[Def]()
    while pending:
        each = pending.pop()
        if each in seen:
            continue
        seen.add(each)
        name = each.path[0]
        functions = effects.functions(name)
        top = [f for f in functions if isinstance(around.unit.parents.get(f), ast.Module)]
        if each.kind is Kind.FUNCTION:
            if isinstance(each.stmt, NamedFunction):
                if may_change_arguments(around.unit, each.stmt) or defaults(each.stmt.args):
                    return False
                if each.stmt in top:
                    continue
            elif not isinstance(each.value, ast.Lambda) or defaults(each.value.args):
                return False
            pending += [use.made for use in each.uses]
        elif each.kind is Kind.ENTRY:
            known = functions == top and len(top) == 1 and not defaults(top[0].args)
            if name not in imported and (not known or may_change_arguments(around.unit, top[0])):
                return False
        elif each.kind is not Kind.IMPORT:
            return False
    return True
