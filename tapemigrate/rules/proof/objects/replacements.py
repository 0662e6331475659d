"""What runs in place of a method of ``self`` on some objects, beside what its own class shows."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tapemigrate.flow.definitions import Kind
from tapemigrate.flow.functions import NamedFunction, free_names, named_defaults
from tapemigrate.flow.paths import looked_up, path_of
from tapemigrate.rules.callgraph.assigned import attribute_values, given_in_body, waits
from tapemigrate.rules.callgraph.callers import has_plain_decorators
from tapemigrate.rules.callgraph.changed_below import beside
from tapemigrate.rules.callgraph.classes import PLAIN_BASES, bases, classes, is_of_library
from tapemigrate.rules.callgraph.imported import homes_of
from tapemigrate.rules.callgraph.meaning import constructors
from tapemigrate.rules.callgraph.names_in_texts import set_by_text
from tapemigrate.rules.callgraph.places import place_of
from tapemigrate.rules.callgraph.set_without_name import SETTING, set_without_name
from tapemigrate.rules.callgraph.setters import of_one_object
from tapemigrate.rules.finding import Unit
from tapemigrate.rules.indexes import given_at_top
from tapemigrate.rules.project import Project, View
from tapemigrate.rules.proof.kept.kept_results import above as above_class
from tapemigrate.rules.proof.objects.read_of_whole import read_of_whole
from tapemigrate.rules.proof.state.shared_state import shared_state
from tapemigrate.rules.values.computed import Computed
from tapemigrate.rules.values.containers.filled_state import filled_state
from tapemigrate.rules.values.objects.attributes import contents, inherited_values
from tapemigrate.rules.values.objects.operators import is_whole, operators
from tapemigrate.rules.values.provenance import Tracer
from tapemigrate.source.trees import walk
from tapemigrate.tape.ops.kinds import Make

# What gives an object attributes that nobody set.
_ANSWERING = frozenset({"__getattr__", "__getattribute__"})


def replacements(project: Project, tracer: Tracer, view: View, name: str) -> Iterator[str]:
    """Those that may read a tensor that is not passed to them: what they are, in words."""
    cls = view.cls
    if cls is None:
        return
    for each in sorted(_called_for(project, view, cls, name)):
        yield from _replacements_of(project, tracer, view, cls, each)


def is_written_below(project: Project, view: View, name: str) -> bool:
    """Whether subclasses at hand write a method that no class above them has, nor a library's."""
    cls = view.cls
    if cls is None or any(True for _ in classes(project).unseen_bases(view.unit, cls)):
        return False
    below = {each for _, each in beside(project, cls)}
    written: list[NamedFunction] = []
    for _, each in of_one_object(project, cls):
        members = [stmt for stmt in each.body if isinstance(stmt, NamedFunction)]
        own = [stmt for stmt in members if stmt.name == name]
        if (own and each not in below) or any(stmt.name in _ANSWERING for stmt in members):
            return False
        written += own
    return bool(written) and all(map(has_plain_decorators, written))


def in_its_place(project: Project, home: Unit, cls: ast.ClassDef, name: str) -> str:
    """What may run in place of the method, whatever it reads; empty if nothing in sight."""
    for _, other in beside(project, cls):
        for member in other.body:
            named = isinstance(member, ast.FunctionDef) and member.name == name
            if named or _is_callable(member, name):
                return f"`{name}` of `{other.name}` may run in its place"
    for base in _unseen(project, cls):
        return f"`{base}`, which is not seen here, may have a `{name}` of its own"
    family = {cls.name, *classes(project).extending(cls.name)}
    for unit in project.units.having(*SETTING):
        for owner in set_without_name(unit):
            if _may_be_of(project, unit, owner, family):
                return f"`{name}` may be among what is set in {place_of(home, unit, owner)}"
    return ""


def _called_for(project: Project, view: View, cls: ast.ClassDef, name: str) -> set[str]:
    """The method, and the others of its class that it calls in turn."""
    found, pending = set[str](), [name]
    while pending:
        each = pending.pop()
        method = project.effects(view.unit).method(cls, each)
        if each not in found and (method is not None or each == name):
            found.add(each)
            pending += _own(project.view(view.unit, method), method) if method else ()
    return found


def _replacements_of(
    project: Project, tracer: Tracer, view: View, cls: ast.ClassDef, name: str
) -> Iterator[str]:
    for unit, other in beside(project, cls):
        for member in other.body:
            if isinstance(member, ast.FunctionDef) and member.name == name:
                if _reads_tensors(project, tracer, project.view(unit, member), member):
                    yield f"`{name}` of `{other.name}`"
            elif _is_callable(member, name):
                yield f"`{name}` of `{other.name}`"
    family = {cls.name, *classes(project).extending(cls.name)}
    for base in _unseen(project, cls):
        yield f"`{name}` of `{base}`, which is not seen here, if it has one,"
    for unit, node in project.stores(name):
        if _is_another(project, unit, node.value, family):
            continue
        value = getattr(unit.parents[node], "value", None)
        scope = project.scope_of(unit, node)
        if value is None or project.view(unit, scope).kinds.make(value) is not Make.PYTHON:
            yield f"`{ast.unparse(node)}`, set in {place_of(view.unit, unit, node)},"
    for unit in project.units.having(*SETTING):
        for owner in set_without_name(unit):
            if _may_be_of(project, unit, owner, family):
                where = place_of(view.unit, unit, owner)
                yield f"`{name}`, if it is among what is set in {where},"
    if set_by_text(project, view.unit, name):
        yield f"what is set as `{name}`"


def _unseen(project: Project, cls: ast.ClassDef) -> list[str]:
    """What subclasses extend before ``cls``, and no file at hand has."""
    known = classes(project)
    found = set[str]()
    for unit, below in (c for n in known.extending(cls.name) for c in known.named(n)):
        for base, name in zip(below.bases, bases(below), strict=True):
            if known.named(name):
                break
            if name not in PLAIN_BASES and not is_of_library(unit.names.qualified(base)):
                found.add(name)
    return sorted(found)


def _reads_tensors(
    project: Project,
    tracer: Tracer,
    view: View,
    method: ast.FunctionDef,
    seen: set[ast.AST] | None = None,
) -> bool:
    """Whether the method reads what an op gave before: off ``self``, a module or a function."""
    seen = set() if seen is None else seen
    if method in seen:
        return False
    seen.add(method)
    computed = Computed(project, strict=True)
    read = _own(view, method)
    own = [d for d in view.flow.defs.values() if len(d.path) == 2]
    before = {d.path for d in own if d.kind is Kind.ENTRY}
    read -= {d.path[1].lstrip(".") for d in own if d.kind is Kind.ASSIGN and d.path not in before}
    assert view.cls is not None
    lineage = list(above_class(project, view.unit, view.cls))
    read |= read_of_whole(project, lineage, view.unit, method, view.kinds.self_name)
    for attribute in sorted(read):
        inner = project.effects(view.unit).method(view.cls, attribute)
        members = _members(project, view.cls, attribute)
        if any(_gives_again(project, computed, u, m) for u, m in members):
            return True
        if inner is not None:
            if isinstance(inner, ast.FunctionDef):
                below = project.view(view.unit, inner)
                if _reads_tensors(project, tracer, below, inner, seen):
                    return True
            continue
        # What bases of other files compute where the attribute is asked for.
        above = [(u, m) for u, m in members if u is not view.unit]
        for unit, member in above:
            if _reads_tensors(project, tracer, project.view(unit, member), member, seen):
                return True
        given = [(view.unit, v) for v in attribute_values(project, view, attribute)]
        given += inherited_values(project, view, attribute)
        given += contents(project, view, attribute)
        if any(computed.may_be(unit, value) for unit, value in given):
            return True
        in_bodies = [(u, v) for u, c in lineage for v in given_in_body(c, attribute)]
        if waits(v for _, v in (*given, *in_bodies)):
            return True
        if any(_holds_computed(project, computed, *each) for each in in_bodies):
            return True
        if tracer.attribute(view, attribute).foreign:
            return True
    if any(is_whole(node, view.kinds.self_name, view.unit) for node in walk(method)):
        for unit, operator in operators(project, view.cls):
            below = project.view(unit, operator)
            if isinstance(operator, ast.FunctionDef):
                if _reads_tensors(project, tracer, below, operator, seen):
                    return True
    if shared_state(project).read_by(project, view.unit, [method]):
        return True
    names = {n.id for n in walk(method) if isinstance(n, ast.Name)}
    return bool(names & view.unit.once(filled_state)) or _reads_around(project, view, method)


def _gives_again(project: Project, computed: Computed, unit: Unit, method: ast.FunctionDef) -> bool:
    """Whether a method gives what an earlier call of it may have computed: ``@lazy``."""
    if not project.effects(unit).remembers(method):
        return False
    values = (end.value for end in project.view(unit, method).flow.returns)
    return any(computed.may_be(unit, value) for value in values if value is not None)


def _members(project: Project, cls: ast.ClassDef, name: str) -> list[tuple[Unit, ast.FunctionDef]]:
    """The methods of a name, properties among them, that an object of the class may have."""
    return [
        (unit, member)
        for unit, each in of_one_object(project, cls)
        for member in each.body
        if isinstance(member, ast.FunctionDef) and member.name == name
    ]


def _own(view: View, method: ast.AST) -> set[str]:
    """The attributes of ``self`` that are read, methods among them."""
    return {
        node.attr
        for each in walk(method)
        for node in [looked_up(each) or each]
        if isinstance(node, ast.Attribute)
        and isinstance(node.ctx, ast.Load)
        and path_of(node.value) == (view.kinds.self_name,)
    }


def _reads_around(project: Project, view: View, method: ast.FunctionDef) -> bool:
    """Whether a method reads what an op gave where its class is made, or in a module at hand."""
    scope = project.scope_of(view.unit, view.unit.parents[method])
    computed = Computed(project, strict=True)
    read = list(_names_read(project, view, method))
    if not isinstance(scope, ast.Module):
        names = {n.id for n in read if isinstance(n, ast.Name)}
        if any(
            d.path[0] in names and d.value is not None and computed.may_be(view.unit, d.value)
            for d in project.view(view.unit, scope).flow.defs.values()
        ):
            return True
    usual = named_defaults(method.args).values()
    return any(_holds_computed(project, computed, view.unit, each) for each in (*usual, *read))


def _holds_computed(project: Project, computed: Computed, unit: Unit, value: ast.expr) -> bool:
    """Whether a value may hold what an op gave, also by a name of the module or of another."""
    if not isinstance(value, ast.Name | ast.Attribute):
        parts = (n for n in walk(value) if isinstance(n, ast.Name | ast.Attribute))
        return computed.may_be(unit, value) or any(
            _holds_computed(project, computed, unit, part) for part in parts
        )
    homes = _homes(project, unit, value)
    if homes is None:
        return True
    given = ((home, v) for home, name in homes for v in home.once(given_at_top).get(name, ()))
    return any(computed.may_be(home, v) for home, v in given)


def _names_read(
    project: Project, view: View, method: ast.AST
) -> Iterator[ast.Name | ast.Attribute]:
    """What a method reads from around, with the functions of its file that it calls in turn."""
    effects = project.effects(view.unit)
    pending, seen = [method], {method}
    while pending:
        function = pending.pop()
        free = free_names(function)
        for node in walk(function):
            if isinstance(node, ast.Attribute):
                yield node
            elif isinstance(node, ast.Name) and node.id in free:
                yield node
                new = [each for each in effects.functions(node.id) if each not in seen]
                seen.update(new)
                pending += new


def _homes(
    project: Project, unit: Unit, node: ast.Name | ast.Attribute
) -> list[tuple[Unit, str]] | None:
    """The modules that may have what is read, and how they call it; None where that is no code,
    and out of sight.
    """
    path = unit.names.qualified(node)
    if path is None:
        return [(unit, node.id)] if isinstance(node, ast.Name) else []
    found = [] if is_of_library(path) else [*homes_of(project, path)]
    above = unit.parents[node]
    used = isinstance(above, ast.Attribute) or (isinstance(above, ast.Call) and above.func is node)
    return found if found or used or is_of_library(path) else None


def _is_another(project: Project, unit: Unit, owner: ast.expr, family: set[str]) -> bool:
    """Whether the object is certainly none of these classes."""
    cls = project.class_of(unit, project.scope_of(unit, owner))
    if isinstance(owner, ast.Name) and owner.id in ("self", "cls") and cls is not None:
        return cls.name not in family
    if unit.names.qualified(owner) is not None and (path_of(owner) or ("",))[-1] not in family:
        return True
    made = constructors(unit, owner)
    names = {(path_of(maker) or ("",))[-1].lstrip(".") for maker in made or ()}
    return bool(names) and not names & family


def _may_be_of(project: Project, unit: Unit, owner: ast.expr, family: set[str]) -> bool:
    """Whether what attributes are set on by names that are not seen may be of these classes.

    Of settings, ``setattr(args, name, value)``, there are more than can be asked about.
    """
    path = path_of(owner) or ("",)
    cls = project.class_of(unit, project.scope_of(unit, owner)) if path == ("self",) else None
    return cls.name in family if cls is not None else path[-1].lstrip(".") in family


def _is_callable(member: ast.stmt, name: str) -> bool:
    """Whether a statement of a class gives it something of that name that can be called."""
    if isinstance(member, ast.AsyncFunctionDef):
        return member.name == name
    if not isinstance(member, ast.Assign) or isinstance(member.value, ast.Constant):
        return False
    return any(isinstance(t, ast.Name) and t.id == name for t in member.targets)
