"""Whether all that a function is handed by a name is code that brings no tensors along."""

from __future__ import annotations

import ast

from tapemigrate.flow.definitions import Def, Kind
from tapemigrate.flow.functions import NamedFunction, defaults, free_names
from tapemigrate.flow.paths import path_of
from tapemigrate.flow.slices import origins
from tapemigrate.rules.callgraph.arguments import argument_for
from tapemigrate.rules.callgraph.assigned import attribute_values
from tapemigrate.rules.callgraph.callbacks import callers, mentions_of
from tapemigrate.rules.callgraph.decorated import may_change_arguments
from tapemigrate.rules.callgraph.imported import homes_of
from tapemigrate.rules.finding import Unit
from tapemigrate.rules.indexes import effects_of, given_at_top
from tapemigrate.rules.project import Project, View
from tapemigrate.rules.proof.state.found_aside import reads_aside
from tapemigrate.rules.proof.state.state_read import finds_state
from tapemigrate.tape.ops.kinds import Make

_CODE = (Kind.FUNCTION, Kind.CLASS, Kind.IMPORT)


def is_given_code(project: Project, view: View, parameter: str) -> bool:
    """Whether all callers are seen, and hand in functions that read nothing of those around them.

    ``slope_of(lambda v: v * v)``, and ``slope_of(net)`` or ``@slope_of`` of a function of a module.
    What ``net`` reads of its module is asked where it runs, and here if that is another file.
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
    return all(
        each is not None
        and _is_code(project, around, each)
        and not reads_aside(project, around, [each])
        for around, each in given
    )


def finds_kept(project: Project, caller: View, given: ast.expr) -> bool:
    """Whether functions and classes that are handed in may find what earlier runs of them kept."""
    code = [each for each in _elements(given) if _names_code(project, caller, each)]
    return bool(code) and (finds_state(project, caller, code) or reads_aside(project, caller, code))


def keeps_finding(project: Project, view: View, name: str) -> bool:
    """Whether such code may be handed in that ``self.name`` keeps: ``self.policy = policy``."""
    for value in attribute_values(project, view, name):
        inner = project.view(view.unit, project.scope_of(view.unit, value))
        scope = inner.scope
        if path_of(value) is None or not isinstance(scope, ast.FunctionDef):
            continue
        made = origins(inner.flow.uses_in(value))
        for each in (d.path[0] for d in made if d.kind is Kind.PARAM):
            for site in callers(project, inner.unit, scope).calls:
                given = argument_for(site.call, scope, each, inner.cls is not None)
                caller = project.view(site.unit, project.scope_of(site.unit, site.call))
                if given is not None and finds_kept(project, caller, given):
                    return True
    return False


def _elements(given: ast.expr) -> list[ast.expr]:
    """What a list or dict that is written out holds; of the rest, the thing itself."""
    match given:
        case ast.List(elts=elements) | ast.Tuple(elts=elements):
            return elements
        case ast.Dict(values=values):
            return values
    return [given]


def _names_code(project: Project, caller: View, given: ast.expr) -> bool:
    """Whether it is a lambda, or a name of functions and classes or of what lists them."""
    path = path_of(given)
    if path is None:
        return isinstance(given, ast.Lambda)
    unit = caller.unit
    qualified = unit.names.qualified(given)
    if qualified is not None:
        homes = list(homes_of(project, qualified))
        return not homes or any(_is_code_there(*home) for home in homes)
    made = origins(caller.flow.uses_in(given))
    named = {path[0]} | {each.path[0] for each in made}
    tops = (value for name in named for value in unit.once(given_at_top).get(name, ()))
    named |= {e.id for value in tops for e in _elements(value) if isinstance(e, ast.Name)}
    effects, imports = effects_of(unit), project.imported(unit)
    return any(each.kind in _CODE for each in made) or any(
        name in imports or effects.functions(name) or effects.class_named(name) for name in named
    )


def _is_code_there(home: Unit, name: str) -> bool:
    """Whether a module makes a function or class of that name, or gives it what a call gave."""
    effects = effects_of(home)
    if effects.functions(name) or effects.class_named(name):
        return True
    values = home.once(given_at_top).get(name, ())
    return not values or any(not isinstance(value, ast.Constant) for value in values)


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
