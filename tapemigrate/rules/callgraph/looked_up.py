"""Functions that are called by names that cannot be seen: ``getattr(losses, args.loss)(y, x)``."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import NamedTuple

from tapemigrate.flow.functions import NamedFunction
from tapemigrate.flow.paths import is_super, names_class, path_of
from tapemigrate.rules.callgraph.arguments import takes
from tapemigrate.rules.callgraph.classes import classes, is_of_library
from tapemigrate.rules.callgraph.imported import leads_to
from tapemigrate.rules.callgraph.loose_modules import LOADED, is_loose
from tapemigrate.rules.callgraph.names_in_texts import ends_of
from tapemigrate.rules.callgraph.places import is_module, place_of, stem
from tapemigrate.rules.finding import Unit
from tapemigrate.rules.indexes import assigned, values_by_path
from tapemigrate.rules.project import Project, is_looked_at
from tapemigrate.source.trees import walk

#: One of these stands in a file in which something is looked up by its name.
LOOKING_UP = (
    *("getattr", "attrgetter", "methodcaller", "__getattribute__"),
    *("vars", "globals", "locals", "eval", "__dict__"),
)
_LATER = ("attrgetter", "methodcaller")
_OWN_NAMES = ("globals", "locals", "vars")
_LOADING = ("import_module", "__import__")
# These ask about what they are given, and do not call it.
_ASKING = ("callable", "hasattr", "isclass", "isfunction", "ismethod", "float", "int", "len")
_CONTAINERS = (ast.List, ast.Tuple, ast.Set, ast.Dict, ast.ListComp, ast.DictComp, ast.SetComp)


class Lookup(NamedTuple):
    """A function that is looked up by an unseen name in ``owner``; None: among the file's names.

    ``names`` are those that it may be, ``calls`` those of what is found; None where that cannot be
    told.
    """

    node: ast.expr
    owner: ast.expr | None
    names: frozenset[str] | None
    calls: list[ast.Call] | None


def looked_up(project: Project, home: Unit, function: NamedFunction) -> Iterator[str]:
    """Where the function may be called by a name that cannot be seen."""
    holder = home.parents[function]
    cls = holder if isinstance(holder, ast.ClassDef) else None
    meant: ast.AST = function
    if cls is not None and function.name == "__init__":
        meant, cls = cls, None  # its class is looked up, and called
    at_top = isinstance(home.parents[meant], ast.Module)
    if cls is None and not at_top:
        return
    name = getattr(meant, "name", "")
    for unit in project.units.having(*LOOKING_UP):
        for each in unit.once(_lookups):
            if each.names is not None and name not in each.names:
                continue
            method = isinstance(holder, ast.ClassDef)
            if each.calls is not None and not any(
                takes(function, call, method) for call in each.calls
            ):
                continue
            if (
                _may_be_of_module(project, home, name, unit, each)
                if cls is None
                else _may_be_method(project, home, cls, unit, each)
            ):
                yield f"it may be looked up in {place_of(home, unit, each.node)}"


def _may_be_of_module(project: Project, home: Unit, name: str, unit: Unit, lookup: Lookup) -> bool:
    """Whether it may be what the module ``home`` has by the name: a function, or a class."""
    owner = lookup.owner
    if owner is None:
        return unit is home or _has_name(project, home, name, unit)
    path = unit.names.qualified(owner)
    if path is not None:
        if is_of_library(path):
            return False
        meant = leads_to(project, f"{path}.{name}", unit, home, name)
        # What is not at hand has no name for it, as a rule.
        return meant or (meant is None and path.rpartition(".")[2] == stem(home.filename))
    if _is_loaded(unit, owner):
        text = owner.slice if isinstance(owner, ast.Subscript) else None
        if isinstance(text, ast.Name) and text.id == "__name__":
            return unit is home
        return not isinstance(text, ast.Constant) or is_loose(project, home)
    return isinstance(owner, ast.Name) and is_loose(project, home)


def _has_name(project: Project, home: Unit, name: str, unit: Unit) -> bool:
    """Whether a file has the function, or its module, by one of its own names."""
    for node in unit.nodes(ast.ImportFrom):
        path = "." * node.level + (node.module or "")
        if any(alias.name in (name, "*") for alias in node.names):
            if leads_to(project, f"{path}.{name}", unit, home, name) is not False:
                return True
    return any(
        is_module(unit.filename, alias.name, home.filename) is not False
        for stmt in unit.nodes(ast.Import)
        for alias in stmt.names
        if not is_of_library(alias.name)
    )


def _may_be_method(
    project: Project, home: Unit, cls: ast.ClassDef, unit: Unit, lookup: Lookup
) -> bool:
    owner = lookup.owner
    if owner is None or _is_loaded(unit, owner):
        return False
    known = classes(project)
    related = {cls.name, *known.extending(cls.name), *known.above(cls.name)}
    path = unit.names.qualified(owner)
    if path is not None:
        return not is_of_library(path) and path.split(".")[-1] in related
    named = path_of(owner)
    scope = project.scope_of(unit, lookup.node)
    around = project.class_of(unit, scope)
    own = project.view(unit, scope).kinds.self_name
    if is_super(owner) or (named is not None and named == (own,)):
        return around is not None and around.name in related
    if named is not None and len(named) == 1 and names_class(named[0]):
        return named[0] in related
    made = {_class_made(value) for value in unit.once(values_by_path).get(named or (), ())}
    if made and None not in made:
        return bool(made & related)
    return bool(lookup.calls)


def _class_made(value: ast.expr) -> str | None:
    """The class of which an expression makes an object."""
    path = path_of(value.func) if isinstance(value, ast.Call) else None
    last = path[-1].lstrip(".") if path else ""
    return last if names_class(last) else None


def _is_loaded(unit: Unit, owner: ast.expr) -> bool:
    """``importlib.import_module(…)``, ``sys.modules[…]``, or a name of one of these."""
    given = unit.once(values_by_path).get(path_of(owner) or (), ())
    return any(_loads(unit, each) for each in (owner, *given))


def _loads(unit: Unit, value: ast.expr) -> bool:
    if isinstance(value, ast.Subscript):
        return unit.names.qualified(value.value) == LOADED
    path = path_of(value.func) if isinstance(value, ast.Call) else None
    return path is not None and path[-1].lstrip(".") in _LOADING


# What a file tells by itself; see ``Unit.once``.


def _lookups(unit: Unit) -> list[Lookup]:
    found = [
        Lookup(node, owner, _names(unit, name), _calls(unit, node))
        for node, name, owner in _by_names(unit)
        if not isinstance(name, ast.Constant) and not _is_told(node, name)
    ]
    return [each for each in found if each.calls != []]


def _is_told(node: ast.expr, name: ast.expr) -> bool:
    """Whether something of the name stands there: see ``names_put_together``."""
    start, end = ends_of(name)
    if isinstance(node, ast.Call) and path_of(node.func) == ("eval",):
        start, end = start.rpartition(".")[2], end.partition("(")[0]
    return bool(start or end)


def _by_names(unit: Unit) -> Iterator[tuple[ast.expr, ast.expr, ast.expr | None]]:
    """What is looked up by its name, that name, and in what."""
    for call in unit.nodes(ast.Call):
        path = path_of(call.func)
        last = path[-1].lstrip(".") if path else ""
        if path == ("getattr",) and len(call.args) > 1:
            yield call, call.args[1], call.args[0]
        elif path == ("eval",) and call.args:
            yield call, call.args[0], None
        elif last in _LATER and call.args:
            outer = unit.parents[call]
            if isinstance(outer, ast.Call) and outer.func is call and outer.args:
                yield outer, call.args[0], outer.args[0]
        elif isinstance(call.func, ast.Attribute) and call.args:
            owner = call.func.value
            if last == "__getattribute__" and len(call.args) == 1:
                yield call, call.args[0], owner
            elif last == "get" and (table := _table(owner)) is not None:
                yield call, call.args[0], *table
    for part in unit.nodes(ast.Subscript):
        if isinstance(part.ctx, ast.Load) and (table := _table(part.value)) is not None:
            yield part, part.slice, *table


def _table(node: ast.expr) -> tuple[ast.expr | None] | None:
    """What has the names of a table: ``vars(losses)``, ``losses.__dict__``, ``globals()``."""
    if isinstance(node, ast.Attribute) and node.attr == "__dict__":
        return (node.value,)
    if isinstance(node, ast.Call) and path_of(node.func) in {(each,) for each in _OWN_NAMES}:
        return (node.args[0] if node.args else None,)
    return None


def _names(unit: Unit, name: ast.expr) -> frozenset[str] | None:
    """The texts that a name goes over: ``for name in ("loss", "cost")``; None: some are unseen."""
    if not isinstance(name, ast.Name) or any(a.arg == name.id for a in unit.nodes(ast.arg)):
        return None
    given = [value for target, value in unit.once(assigned) if _binds(target, name.id)]
    given += [each.iter for each in unit.nodes(ast.For) if _binds(each.target, name.id)]
    given += [each.iter for each in unit.nodes(ast.comprehension) if _binds(each.target, name.id)]
    texts = [_texts(value) for value in given]
    seen = [each for each in texts if each is not None]
    return frozenset().union(*seen) if seen and len(seen) == len(texts) else None


def _binds(target: ast.expr, name: str) -> bool:
    return any(isinstance(node, ast.Name) and node.id == name for node in ast.walk(target))


def _texts(value: ast.expr) -> frozenset[str] | None:
    if isinstance(value, ast.Constant):
        return frozenset({value.value} if isinstance(value.value, str) else ())
    parts: list[ast.expr] = []
    if isinstance(value, ast.List | ast.Tuple | ast.Set):
        parts = value.elts
    elif isinstance(value, ast.IfExp):
        parts = [value.body, value.orelse]
    texts = [_texts(part) for part in parts]
    seen = [each for each in texts if each is not None]
    return frozenset().union(*seen) if seen and len(seen) == len(texts) else None


def _calls(unit: Unit, node: ast.expr) -> list[ast.Call] | None:
    """The calls of what ``node`` gives; None: it goes where they cannot be told."""
    child: ast.AST = node
    parent = unit.parents[node]
    while isinstance(parent, (*_CONTAINERS, ast.IfExp, ast.Starred)) or (
        isinstance(parent, ast.Subscript) and parent.value is child
    ):
        child, parent = parent, unit.parents[parent]
    if isinstance(parent, ast.Call):
        if parent.func is child:
            return [parent]
        asked = (path_of(parent.func) or ("",))[-1].lstrip(".") in _ASKING
        return [] if asked or is_looked_at(parent) else None
    if isinstance(parent, ast.keyword | ast.Return | ast.Lambda | ast.Yield):
        return None
    if not isinstance(parent, ast.Assign | ast.AnnAssign):
        return []
    targets = parent.targets if isinstance(parent, ast.Assign) else [parent.target]
    found: list[ast.Call] = []
    for target in targets:
        path = path_of(target)
        if path is None:
            return None
        for call in unit.nodes(ast.Call):
            named = (n for n in walk(call.func) if isinstance(n, ast.Name | ast.Attribute))
            if any((path_of(each) or ())[-1:] == path[-1:] for each in named):
                found.append(call)
    return found if found or child is node else None
