"""Whether methods that are called in between give an attribute of ``self`` another value."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from functools import partial

from tapemigrate.flow.definitions import Kind
from tapemigrate.flow.functions import NamedFunction
from tapemigrate.flow.paths import is_super, path_of
from tapemigrate.flow.unpacking import each_written
from tapemigrate.rules.callgraph.classes import is_of_library
from tapemigrate.rules.callgraph.names_in_texts import set_by_text
from tapemigrate.rules.callgraph.setters import of_one_object
from tapemigrate.rules.finding import Unit
from tapemigrate.rules.project import Project, View, self_name
from tapemigrate.source.trees import walk


def may_be_set_anew(
    project: Project, view: View, attribute: str, calls: Iterable[ast.AST | None]
) -> bool:
    """Whether one of ``calls``, which the scope makes, may set ``self.attribute``.

    A method other than the scope, and no constructor, has to do so at all.
    """
    if view.cls is None:
        return False
    methods: dict[str, list[NamedFunction]] = {}
    for _, cls in of_one_object(project, view.cls):
        for each in cls.body:
            if isinstance(each, NamedFunction):
                methods.setdefault(each.name, []).append(each)
    setters = {
        each
        for name, found in methods.items()
        for each in found
        if name != "__init__" and each is not view.scope and _sets(each, attribute)
    }
    if not setters:
        return False
    called: set[str] = set()
    for call in calls:
        func = call.func if isinstance(call, ast.Call) else None
        if not isinstance(func, ast.Attribute) or path_of(func.value) != (view.kinds.self_name,):
            return True
        called.add(func.attr)
    return _reach(called, methods, setters, partial(_stands_for, project, view))


def _reach(
    called: set[str],
    methods: dict[str, list[NamedFunction]],
    setters: set[NamedFunction],
    stands_for: Callable[[str, bool], set[str] | None],
) -> bool:
    """Whether methods of these names run one of ``setters``, or what cannot be seen.

    ``stands_for``: what may run by a name which is none itself, and is called, or handed on.
    """
    pending = list(called)
    read: set[str] = set()
    while pending:
        name = pending.pop()
        found = methods.get(name, [])
        if not setters.isdisjoint(found):
            return True
        more: set[str] = set()
        if not found:
            others = stands_for(name, True)
            if others is None:
                return True
            more |= others
        for each in found:
            named = _named(each)
            if named is None:
                return True
            more |= {name for name, calls in named if calls or name in methods}
            # What is only read is a method, or what a method has set: that may be one as well.
            for value in {name for name, calls in named if not calls} - methods.keys() - read:
                read.add(value)
                others = stands_for(value, False)
                if others is None:
                    return True
                more |= others.intersection(methods)
        pending += more - called
        called |= more
    return False


def _sets(method: ast.AST, attribute: str) -> bool:
    return any(
        isinstance(node, ast.Attribute)
        and node.attr == attribute
        and isinstance(node.ctx, ast.Store)
        for node in walk(method)
    )


def _named(method: NamedFunction) -> set[tuple[str, bool]] | None:
    """What it reads of its object, and whether it calls that; None: it hands the object on.

    Or it is there for others to write.
    """
    if not method.args.args or isinstance(method.body[-1], ast.Raise):
        return None
    me = method.args.args[0].arg
    nodes = list(walk(method))
    called = {node.func for node in nodes if isinstance(node, ast.Call)}
    found: set[tuple[str, bool]] = set()
    held: set[ast.AST] = set()
    for node in nodes:
        if not isinstance(node, ast.Attribute):
            continue
        if path_of(node.value) == (me,):
            held.add(node.value)
        elif is_super(node.value):
            held |= set(walk(node.value))
        else:
            continue
        found.add((node.attr, node in called))
    names = (n for n in nodes if isinstance(n, ast.Name) and n not in held)
    return None if any(n.id in (me, "super", "setattr") for n in names) else found


def _stands_for(project: Project, view: View, name: str, called: bool) -> set[str] | None:
    """The methods that ``self.name`` may be, as ``self.act = tf.nn.relu`` is none.

    None: it may be something else that knows the object; where it is not called, a function.
    """
    family = {cls for _, cls in of_one_object(project, view.cls)} if view.cls is not None else set()
    stores = [(u, n) for u, n in project.stores(name) if not _is_of_another(project, u, n, family)]
    hidden = not stores or set_by_text(project, view.unit, name) or _is_of_class(project, name)
    if called and hidden:
        return None
    found: set[str] = set()
    for unit, node in stores:
        value = _value_of(unit, node)
        if value is None:
            if called:
                return None
            continue
        path = path_of(value) or ()
        if len(path) == 2 and path[:1] == path_of(node.value):
            found.add(path[1].lstrip("."))
            continue
        unsure = _may_know_the_object if called else _is_function_here
        if unsure(project, unit, value):
            return None
    return found


def _value_of(unit: Unit, target: ast.expr) -> ast.expr | None:
    """What an assignment gives the target by itself: ``self.act, self.n = tf.nn.relu, 3``."""
    stmt = unit.parents.get(target)
    while isinstance(stmt, ast.Tuple | ast.List):
        stmt = unit.parents.get(stmt)
    if not isinstance(stmt, ast.Assign):
        return None
    return next((value for part, value in each_written(stmt) if part is target), None)


def _is_function_here(project: Project, unit: Unit, value: ast.expr) -> bool:
    """Whether it is, or may be, a function that is written in the method."""
    if isinstance(value, ast.IfExp):
        return any(_is_function_here(project, unit, v) for v in (value.body, value.orelse))
    if isinstance(value, ast.Name):
        uses = project.view(unit, project.scope_of(unit, value)).flow.reads.get(value, frozenset())
        return any(use.made.kind is Kind.FUNCTION for use in uses)
    return isinstance(value, ast.Lambda)


def _is_of_another(
    project: Project, unit: Unit, node: ast.Attribute, family: set[ast.ClassDef]
) -> bool:
    """Whether it is ``self.name`` of a class that is none of ``family``."""
    scope = project.scope_of(unit, node)
    owner = unit.parents.get(scope)
    if not isinstance(scope, NamedFunction) or not isinstance(owner, ast.ClassDef):
        return False
    return owner not in family and path_of(node.value) == (self_name(unit, scope),)


def _is_of_class(project: Project, name: str) -> bool:
    """Whether a class has something of that name itself."""
    return any(
        isinstance(n, ast.Name) and n.id == name and isinstance(n.ctx, ast.Store)
        for unit in project.units.having(name)
        for cls in unit.nodes(ast.ClassDef)
        for stmt in cls.body
        if not isinstance(stmt, NamedFunction)
        for n in walk(stmt)
    )


def _may_know_the_object(project: Project, unit: Unit, value: ast.expr) -> bool:
    """Whether it is more than None, a function of a library, or what the module has by its name."""
    if isinstance(value, ast.Constant):
        return value.value is not None
    if is_of_library(unit.names.qualified(value)):
        return False
    scope = project.scope_of(unit, value)
    holder = unit.parents.get(scope)
    if not isinstance(value, ast.Name) or not isinstance(holder, ast.ClassDef):
        return True
    # A closure of the method, or what it was given, may have the object; so may an outer function.
    uses = project.view(unit, scope).flow.reads.get(value, frozenset())
    outermost = isinstance(unit.parents.get(holder), ast.Module)
    return not outermost or {use.made.kind for use in uses} != {Kind.ENTRY}
