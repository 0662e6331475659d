"""Parts of classes and objects of other modules, ``state.net.h``, which their own methods set."""

from __future__ import annotations

import ast

from tapemigrate.flow.paths import path_of
from tapemigrate.rules.callgraph.classes import classes, is_of_library
from tapemigrate.rules.callgraph.imported import homes_of
from tapemigrate.rules.finding import Unit
from tapemigrate.rules.indexes import given_at_top
from tapemigrate.rules.project import Project
from tapemigrate.rules.proof.kept.kept_results import above
from tapemigrate.rules.proof.state.put_elsewhere import puts
from tapemigrate.rules.values.containers.common_to_all import common_to_all
from tapemigrate.rules.values.objects.keeping import set_by_methods
from tapemigrate.tape.ops.symbols import gives_no_tensors


def is_part_of_imported(project: Project, unit: Unit, path: str) -> bool:
    """Whether it is a part, which methods set, of a class or object of another module.

    What others set on it is told by the object's name.
    """
    owner, _, part = path.rpartition(".")
    if "." not in owner.strip(".") or is_of_library(owner) or gives_no_tensors(path):
        return False
    for home, name in homes_of(project, owner):
        given = home.once(given_at_top).get(name, ()) if home is not unit else ()
        calls = [value.func for value in given if isinstance(value, ast.Call)]
        makers = [f for f in calls if not is_of_library(home.names.qualified(f))]
        names = [(path_of(maker) or ("",))[-1].lstrip(".") for maker in makers]
        for cls in [name, *names] if home is not unit else ():
            found = classes(project).named(cls)
            if not found and cls is not name:
                return True  # a function of the user's makes it
            homes = (each for one in found for each, _ in above(project, *one))
            if any(part in h.once(set_by_methods) or part in h.once(set_on_classes) for h in homes):
                return True
    return False


def set_on_classes(unit: Unit) -> frozenset[str]:
    """What methods set on their class, or put into what all objects of it have in common."""
    found: set[str] = set()
    shared = {cls.name: set(common_to_all(cls)) for cls in unit.nodes(ast.ClassDef)}
    common = set().union(*shared.values())
    for owner, _ in puts(unit, parts=True):
        while isinstance(owner, ast.Subscript):
            owner = owner.value
        if isinstance(owner, ast.Attribute):
            path = path_of(owner)
            of_class = path is not None and len(path) == 2 and path[0] in {"cls", *shared}
            if of_class or owner.attr in common:
                found.add(owner.attr)
    return frozenset(found)
