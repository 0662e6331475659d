"""Classes whose objects may not take an attribute more, in which a tape would be kept."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from collections.abc import Set as AbstractSet

from tapemigrate.flow.paths import path_of
from tapemigrate.flow.sharing import last_of
from tapemigrate.rules.callgraph.classes import classes
from tapemigrate.rules.callgraph.meaning import may_make
from tapemigrate.rules.finding import Unit
from tapemigrate.rules.project import Project
from tapemigrate.rules.proof.kept.kept_results import above
from tapemigrate.source.trees import kept, walk

# By these, a class decides how its objects are copied, or what attributes they have.
_DECIDING = frozenset({"__slots__", "__getstate__", "__reduce__", "__setattr__", "__deepcopy__"})
# Of these, what copies no attributes but those that it names; and what stands for all of them.
_COPYING = frozenset({"__getstate__", "__reduce__", "__deepcopy__"})
_OF_ALL = frozenset(
    {
        "__dict__",
        "__reduce_ex__",
        "copy",
        "deepcopy",
        "getattr",
        "object",
        "pickle",
        "super",
        "vars",
    }
)
# What lists the attributes of an object.
_LISTING = ("vars", "getmembers", "dir", "__dict__")


def fixed_by(
    project: Project, unit: Unit, cls: ast.ClassDef, targets: AbstractSet[str]
) -> str | None:
    """By what objects of the class decide how they are copied, or are asked for all attributes.

    What copies some by their names leaves a tape behind, if it copies one of ``targets``. Else, an
    object that keeps a target is not copied or pickled: a tensor of a graph can be neither.
    """
    family = [*project.family(unit, cls), *(each for _, each in above(project, unit, cls))]
    for each in family:
        for name, copied in kept(each, _deciding):
            if copied is None or not copied.isdisjoint(targets):
                return name
    listing = next(_listings(unit.nodes(ast.Call), unit.nodes(ast.Compare)), None)
    if listing is not None:
        return last_of(listing.func)
    names = {each.name for each in family} | classes(project).extending(cls.name)
    asked = (
        ((path_of(maker) or ("",))[-1].lstrip("."), owner)
        for user in project.units.having(*_LISTING)
        for owner in user.once(_listed_objects)
        for maker in may_make(user, owner)
    )
    return next((ast.unparse(owner) for name, owner in asked if name in names), None)


def _listed_objects(unit: Unit) -> list[ast.expr]:
    """The objects that a file asks for all of their attributes."""
    tests = unit.nodes(ast.Compare)
    calls = [call.args[0] for call in _listings(unit.nodes(ast.Call), tests) if call.args]
    known = {*_tested_for_a_name(tests), *_handed_over_whole(unit.nodes(ast.Call))}
    parts = (n for n in unit.nodes(ast.Attribute) if n.attr == "__dict__" and n not in known)
    # ``net.__dict__["h"]`` is one of them, by its name.
    whole = (node for node in parts if not isinstance(unit.parents.get(node), ast.Subscript))
    return calls + [node.value for node in whole]


def _listings(calls: Iterable[ast.Call], tests: Iterable[ast.Compare]) -> Iterator[ast.Call]:
    """``vars(net)``, ``dir(net)``, ``inspect.getmembers(net)``: a tape would be among them."""
    tested = set(_tested_for_a_name(tests))
    for call in calls:
        name = last_of(call.func)
        if name in _LISTING and (name != "dir" or call.args) and call not in tested:
            yield call


def _tested_for_a_name(tests: Iterable[ast.Compare]) -> Iterator[ast.expr]:
    """``dir(self)`` of ``"loss" in dir(self)``, which asks for that one and no other."""
    for test in tests:
        match test:
            case ast.Compare(
                left=ast.Constant(value=str()), ops=[ast.In() | ast.NotIn()], comparators=[asked]
            ):
                yield asked


def _handed_over_whole(calls: Iterable[ast.Call]) -> Iterator[ast.expr]:
    """Both of ``self.__dict__.update(other.__dict__)``: with a target goes its tape."""
    for call in calls:
        match call:
            case ast.Call(
                func=ast.Attribute(value=ast.Attribute(attr="__dict__") as to, attr="update"),
                args=[ast.Attribute(attr="__dict__") as given],
            ):
                yield from (to, given)


def _deciding(cls: ast.AST) -> list[tuple[str, frozenset[str] | None]]:
    """What stands in a class that decides so, or asks; and what is copied, if that is told."""
    nodes = [*walk(cls)]
    tests = [node for node in nodes if isinstance(node, ast.Compare)]
    calls = [node for node in nodes if isinstance(node, ast.Call)]
    known = {*_tested_for_a_name(tests), *_handed_over_whole(calls)}
    found: list[tuple[str, frozenset[str] | None]] = []
    for node in nodes:
        name = getattr(node, "id", getattr(node, "name", ""))
        if name in _DECIDING:
            found.append((name, _copied_by_name(node)))
        elif isinstance(node, ast.Attribute) and node.attr == "__dict__" and node not in known:
            found.append((node.attr, None))
    return found + [(last_of(call.func), None) for call in _listings(calls, tests)]


def _copied_by_name(node: ast.AST) -> frozenset[str] | None:
    """What a method may copy or pickle, if it names each attribute; None if it may be any."""
    if not isinstance(node, ast.FunctionDef) or node.name not in _COPYING:
        return None
    names = {getattr(n, "id", getattr(n, "attr", getattr(n, "value", ""))) for n in walk(node)}
    texts = frozenset(name for name in names if isinstance(name, str))
    return texts if texts.isdisjoint(_OF_ALL) else None
