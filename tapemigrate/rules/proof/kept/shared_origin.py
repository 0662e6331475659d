"""Two attributes of one object: whether the one was made of the other, or of what the other is."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from tapemigrate.flow.definitions import Def, Kind
from tapemigrate.flow.functions import Function, NamedFunction, parameters
from tapemigrate.flow.paths import is_super, path_of
from tapemigrate.flow.slices import origins
from tapemigrate.rules.callgraph.arguments import argument_for
from tapemigrate.rules.callgraph.assigned import attribute_values
from tapemigrate.rules.callgraph.classes import classes
from tapemigrate.rules.callgraph.handed_unseen import may_be_handed_unseen
from tapemigrate.rules.callgraph.instances import instances
from tapemigrate.rules.callgraph.setters import of_one_object
from tapemigrate.rules.finding import Unit
from tapemigrate.rules.project import Project, View
from tapemigrate.rules.proof.aliases import with_aliases
from tapemigrate.rules.values.objects.attributes import contents
from tapemigrate.rules.values.objects.put_in import put_in_by_methods
from tapemigrate.rules.values.provenance import Tracer
from tapemigrate.rules.values.traces import Provenance
from tapemigrate.source.trees import walk
from tapemigrate.tape.names.same import value_may_be


def share(project: Project, tracer: Tracer, view: View, attribute: str, traced: Provenance) -> bool:
    """Whether what ``self.attribute`` was given is among what the other value is made of."""
    values = values_of(project, view, attribute)
    made = traced.values | {d.value for d in traced.defs if d.kind is Kind.ASSIGN}
    if made.intersection(values) or _is_met(view, attribute, traced):
        return True
    for value in values:
        inner = project.view(view.unit, project.scope_of(view.unit, value))
        mine = origins(inner.flow.uses_in(value)) if path_of(value) is not None else frozenset()
        if mine & traced.defs:
            return True
        names = {d.path for d in mine if d.kind is Kind.PARAM}
        others = {d.path for d in traced.defs if d.kind is Kind.PARAM}
        # A subclass hands its parameter on to the constructor of its base under the same name.
        if names & others:
            return True
    given = _given(project, view, values)
    return bool(given & traced.defs) or _is_passed_between(
        project, tracer, view, attribute, traced, given
    )


def held_against(
    traced: Provenance, attribute: str, caller: View, given: ast.expr, cut: frozenset[Def]
) -> bool | None:
    """Whether a value kept on ``self`` was made from what a caller passes as the source."""
    name = path_of(given)
    if cut & traced.defs:
        return False
    if name is not None and len(name) > 1 and name[0] == caller.kinds.self_name:
        if name[1].lstrip(".") in traced.attributes:
            return False
        if name[1].lstrip(".") == attribute:
            return None
    if name is not None and len(name) == 1:
        if any(d.kind is Kind.PARAM for d in cut):
            return True if not ((traced.network or traced.calls) and traced.blind) else None
        if any(d.kind is Kind.ENTRY for d in cut) and name[0] in traced.globals:
            return None
    return None if traced.blind else True


def values_of(project: Project, view: View, attribute: str) -> list[ast.expr]:
    """What ``self.attribute`` may be in this file, or an element of it: also what is put in."""
    put = [value for unit, value in contents(project, view, attribute) if unit is view.unit]
    put += [v for at, v in put_in_by_methods(project, view, attribute) if at.unit is view.unit]
    return list(dict.fromkeys([*attribute_values(project, view, attribute), *put]))


def may_share(project: Project, view: View, attribute: str, traced: Provenance) -> bool:
    """Whether ``self.attribute`` may be, by another name, what the other value is made of."""
    for value in values_of(project, view, attribute):
        inner = project.view(view.unit, project.scope_of(view.unit, value))
        names = value_may_be(value, inner.flow, inner.kinds)
        own = {d.path[1].lstrip(".") for d in names if _is_of(inner, d)}
        if names & traced.defs or own & traced.attributes:
            return True
        for each in names:
            beside = [d for d in traced.defs if _are_of_one(inner, each, d)]
            if beside and not _are_set_in_sight(project, inner, [each, *beside]):
                return True
    return False


def _are_set_in_sight(project: Project, view: View, parts: list[Def]) -> bool:
    """Whether methods of classes at hand set these parts of an object, and tell of each."""
    found = instances(project, view, parts[0].path[:1])
    if not found.classes or found.unseen or found.stray or found.other:
        return False
    names = {d.path[1].lstrip(".") for d in parts}
    for unit, cls in found.classes:
        method = next((stmt for stmt in cls.body if isinstance(stmt, ast.FunctionDef)), None)
        if method is None:
            return False
        inner = project.view(unit, method)
        if not all(attribute_values(project, inner, name) for name in names):
            return False
    return True


def _are_of_one(view: View, one: Def, other: Def) -> bool:
    """Whether they are parts of one object that a parameter is: ``net.x`` and ``net.h``."""
    if one.kind is not Kind.ENTRY or other.kind is not Kind.ENTRY or one.path == other.path:
        return False
    root = one.path[:1]
    return (
        len(one.path) > 1
        and len(other.path) > 1
        and other.path[:1] == root
        and root != (view.kinds.self_name,)
        and any(d.path == root and d.kind is Kind.PARAM for d in view.flow.defs.values())
    )


def is_handed_in(
    project: Project, tracer: Tracer, view: View, attribute: str, traced: Provenance
) -> bool:
    """Whether a method that is handed the value is called with something made of the attribute.

    ``m.set(tf.sin(x))``, where ``m = M(x)`` keeps ``x``, or ``m.set(tf.sin(m.x))``.
    """
    sources = [d for d in _given_at(project, view, attribute) if d.kind is Kind.PARAM]
    cut = dict[ast.AST, frozenset[Def]]()
    for source in sources:
        for caller, value in _passed(project, view, source):
            mine = with_aliases(origins(caller.flow.uses_in(value)), caller)
            cut[caller.scope] = cut.get(caller.scope, frozenset()) | mine
    for made in traced.defs:
        if made.kind is not Kind.PARAM or made in sources:
            continue
        for caller, value in _passed(project, view, made):
            behind = tracer.behind(caller, value)
            if behind & cut.get(caller.scope, frozenset()):
                return True
            read = [value, *(d.value for d in behind if d.value is not None)]
            if any(
                isinstance(n, ast.Attribute)
                and n.attr == attribute
                and path_of(n) != (caller.kinds.self_name, f".{attribute}")
                for each in read
                for n in walk(each)
            ):
                return True
            if any(_reads_part(project, view, attribute, *each) for each in _run_by(project, read)):
                return True
    return False


def is_handed_unseen(project: Project, tracer: Tracer, view: View, traced: Provenance) -> bool:
    """Whether a method that makes the value may be handed what no call of it shows.

    Or one that hands it on. Of functions inside of methods, no call is followed.
    """
    if view.cls is None:
        return False
    functions = [
        (unit, node, node in cls.body)
        for unit, cls in of_one_object(project, view.cls)
        for node in walk(cls)
        if isinstance(node, Function)
    ]
    pending, seen = list(traced.defs), set[Def]()
    while pending:
        made = pending.pop()
        if made in seen or made.kind is not Kind.PARAM:
            continue
        seen.add(made)
        for unit, function, is_method in functions:
            if made.path[0] not in {a.arg for a in parameters(function.args)}:
                continue
            inner = project.view(unit, function)
            if made.path == (inner.kinds.self_name,) or made not in inner.flow.defs.values():
                continue
            if not is_method or not isinstance(function, NamedFunction):
                return True
            if may_be_handed_unseen(project, unit, function, made.path[0]):
                return True
        for caller, value in _handed_in(project, view, made):
            pending += tracer.value(caller, value).defs
    return False


def _run_by(project: Project, nodes: Iterable[ast.AST]) -> Iterator[tuple[Unit, ast.AST]]:
    """The functions and classes at hand whose names are called, and those that these call."""
    pending, seen = list(nodes), set[str]()
    while pending:
        calls = (n for n in walk(pending.pop()) if isinstance(n, ast.Call))
        names = {(path_of(call.func) or ("",))[-1].lstrip(".") for call in calls} - seen
        seen |= names
        for name in sorted(names):
            for unit in project.units.defining(name):
                cls = project.effects(unit).class_named(name)
                for code in (*project.effects(unit).functions(name), *filter(None, [cls])):
                    pending.append(code)
                    yield unit, code


def _reads_part(project: Project, view: View, attribute: str, unit: Unit, code: ast.AST) -> bool:
    """Whether code reads the attribute of an object that may be of the class of ``view``."""
    assert view.cls is not None
    family = project.family(view.unit, view.cls)
    for node in walk(code):
        if not isinstance(node, ast.Attribute) or node.attr != attribute:
            continue
        if isinstance(node.ctx, ast.Load):
            cls = project.class_of(unit, project.scope_of(unit, node))
            if path_of(node.value) != ("self",) or cls is None or cls in family:
                return True
    return False


def _given_at(project: Project, view: View, attribute: str) -> set[Def]:
    """What the values of the attribute are other names of, in the methods that set it."""
    found: set[Def] = set()
    for value in attribute_values(project, view, attribute):
        inner = project.view(view.unit, project.scope_of(view.unit, value))
        found |= with_aliases(origins(inner.flow.uses_in(value)), inner)
    return found


def _passed(project: Project, view: View, made: Def) -> Iterator[tuple[View, ast.expr]]:
    """What is handed to the method of which ``made`` is a parameter, and to those that call it."""
    pending, seen = [made], set[Def]()
    while pending:
        each = pending.pop()
        if each in seen:
            continue
        seen.add(each)
        for caller, value in _passed_there(project, view, each):
            yield caller, value
            if path_of(value) is not None:
                further = origins(caller.flow.uses_in(value))
                pending += (d for d in further if d.kind is Kind.PARAM)


def _passed_there(project: Project, view: View, made: Def) -> Iterator[tuple[View, ast.expr]]:
    """What its calls hand to the method of the class of which ``made`` is a parameter."""
    assert view.cls is not None
    for cls in project.family(view.unit, view.cls):
        for method in cls.body:
            if not isinstance(method, ast.FunctionDef):
                continue
            if made not in project.view(view.unit, method).flow.defs.values():
                continue
            name = cls.name if method.name == "__init__" else method.name
            for site in project.mentions(name).calls:
                value = argument_for(site.call, method, made.path[0], True)
                if value is not None:
                    yield project.view(site.unit, project.scope_of(site.unit, site.call)), value


def _is_of(view: View, made: Def) -> bool:
    return len(made.path) > 1 and made.path[0] == view.kinds.self_name


def _given(project: Project, view: View, values: list[ast.expr]) -> frozenset[Def]:
    """What the values are other names of, also in methods that hand them on."""
    pending = [(project.view(view.unit, project.scope_of(view.unit, v)), v) for v in values]
    found = set[Def]()
    while pending:
        inner, value = pending.pop()
        made = origins(inner.flow.uses_in(value)) if path_of(value) is not None else frozenset()
        for each in made - found:
            found.add(each)
            if each.kind is Kind.PARAM and each.path != (inner.kinds.self_name,):
                pending += _handed_in(project, view, each)
    return frozenset(d for d in found if d.path[0] != view.kinds.self_name)


def _is_met(view: View, attribute: str, traced: Provenance) -> bool:
    """Whether the value was made under the name of the attribute, in the method that sets it."""
    me = view.kinds.self_name or "self"
    return any(d.path[:2] == (me, f".{attribute}") for d in traced.defs)


def _is_passed_between(
    project: Project,
    tracer: Tracer,
    view: View,
    attribute: str,
    traced: Provenance,
    given: frozenset[Def],
) -> bool:
    """Whether a method that makes the value is handed the attribute: ``self.build(self.x)``.

    Or something of which that is another name: ``given``.
    """
    pending, seen = list(traced.defs), set[Def]()
    while pending:
        made = pending.pop()
        if made in seen or made.kind is not Kind.PARAM:
            continue
        seen.add(made)
        for caller, value in _handed_in(project, view, made):
            found = tracer.value(caller, value)
            if attribute in found.attributes or _is_met(caller, attribute, found):
                return True
            if found.defs & given:
                return True
            pending += found.defs
    return False


def _handed_in(project: Project, view: View, made: Def) -> Iterator[tuple[View, ast.expr]]:
    """What methods of the class hand to the one of which ``made`` is a parameter."""
    if view.cls is None:
        return
    related = of_one_object(project, view.cls)
    family = {*project.family(view.unit, view.cls), *(cls for _, cls in related)}
    for unit, owner, method in ((unit, cls, each) for unit, cls in related for each in cls.body):
        if not isinstance(method, ast.FunctionDef):
            continue
        if made.path[0] not in {a.arg for a in list(parameters(method.args))[1:]}:
            continue
        if made not in project.view(unit, method).flow.defs.values():
            continue
        for site in project.mentions(method.name).calls:
            scope = project.scope_of(site.unit, site.call)
            caller = project.view(site.unit, scope)
            value = argument_for(site.call, method, made.path[0], True)
            cls = project.class_of(site.unit, scope)
            own = path_of(site.call.func) == (caller.kinds.self_name, f".{method.name}")
            own |= method.name == "__init__" and scope is not method
            own |= cls is not None and _is_above(project, site.call, caller, cls, owner)
            if value is not None and own and cls in family:
                yield caller, value


def _is_above(
    project: Project, call: ast.Call, caller: View, cls: ast.ClassDef, owner: ast.ClassDef
) -> bool:
    """Whether a method of ``cls`` calls the one that ``owner``, a class above, has for its object.

    ``super().build(x)``, ``Base.build(self, x)``
    """
    if not isinstance(call.func, ast.Attribute) or owner.name not in classes(project).above(
        cls.name
    ):
        return False
    first = call.args[0] if call.args else None
    handed = isinstance(first, ast.Name) and first.id == caller.kinds.self_name
    return handed or is_super(call.func.value)
