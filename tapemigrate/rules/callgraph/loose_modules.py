"""Modules that are reached by more than import statements: ``import_module``, lists of modules."""

from __future__ import annotations

import ast
import os
from collections.abc import Iterator

from tapemigrate.flow.paths import path_of
from tapemigrate.rules.callgraph.names_in_texts import ends_of
from tapemigrate.rules.callgraph.places import is_module, place_of, steps_of
from tapemigrate.rules.finding import Unit
from tapemigrate.rules.project import Project, is_looked_at

# By these a module is loaded whose name stands in a text, or which is at hand.
_LOADING = ("import_module", "__import__", "reload", "modules")
#: By their names, the modules that are loaded.
LOADED = "sys.modules"
# So many folders up may lie packages that hand on what a module has.
_MOST_FOLDERS = 3
# These give all that a module has.
_GOING_OVER = ("dir", "vars", "getmembers")
# These take an attribute out of what they are given, or put one in, by its name.
_BY_NAME = ("getattr", "hasattr", "setattr", "delattr", "object")


def is_loose(project: Project, home: Unit) -> bool:
    """Whether the module of ``home`` may be what an attribute belongs to, by no name of it.

    ``importlib.import_module("nets." + name).loss``, ``LIBRARIES["a"].loss``. Packages hand on
    what their modules have.
    """
    known = project.once(_known)
    if home.filename not in known:
        files = [home.filename, *_packages_above(project, home.filename)]
        known[home.filename] = any(
            any(_is_loaded(unit, file, path, end) for path, end in unit.once(_loaded))
            or any(is_module(unit.filename, p, file) for p in unit.once(_as_values))
            for unit in project.units.having(*map(_own_name, files), *_LOADING)
            for file in files
        )
    return known[home.filename]


def gone_over(project: Project, home: Unit) -> Iterator[str]:
    """Where all functions of the module are gone over: ``inspect.getmembers(losses)``."""
    for call in home.once(_own_names_gone_over):
        yield f"all names of its module are gone over in {place_of(home, home, call)}"
    for unit in project.units.having(*_packages_and_name(home)):
        for path, node in unit.once(_modules_gone_over):
            if is_module(unit.filename, path, home.filename):
                yield f"all names of its module are gone over in {place_of(home, unit, node)}"


def _known(_: Project) -> dict[str, bool]:
    return {}


def _packages_above(project: Project, filename: str) -> list[str]:
    """The packages that may have what the file has: they name it, import all names, or are not
    at hand."""
    folder, own = os.path.dirname(filename), steps_of(filename)[-1]
    found: list[str] = []
    while os.path.basename(folder) and len(found) < _MOST_FOLDERS:
        above = os.path.join(folder, "__init__.py")
        packages = list(project.units.at({above}.__contains__))
        if above != filename and all(own in u.text or u.names.stars for u in packages):
            found.append(above)
        folder = os.path.dirname(folder)
    return found


def _own_name(filename: str) -> str:
    *folders, own = steps_of(filename)
    return folders[-1] if folders and own == "__init__" else own


def _packages_and_name(home: Unit) -> tuple[str, ...]:
    return steps_of(home.filename)[-2:]


def _is_loaded(user: Unit, home: str, start: str, end: str | None) -> bool:
    """Whether a text that is ``start``, or begins so and ends so, may be the path of ``home``."""
    if end is None:
        return is_module(user.filename, start, home) is not False
    *folders, own = steps_of(home)
    steps = folders if own == "__init__" else [*folders, own]
    paths = (".".join(steps[k:]) for k in range(len(steps)))
    start = start.lstrip(".")
    return any(path.startswith(start) and path.endswith(end) for path in paths)


# What a file tells by itself; see ``Unit.once``.


def _loaded(unit: Unit) -> list[tuple[str, str | None]]:
    """What modules it loads by texts: whole paths, or how they begin and end."""
    found: list[tuple[str, str | None]] = []
    for call in unit.nodes(ast.Call):
        path = path_of(call.func)
        if path is None or path[-1].lstrip(".") not in _LOADING or not call.args:
            continue
        name = call.args[0]
        if isinstance(unit.parents[call], ast.Expr):
            continue  # what it gives is not used
        if isinstance(name, ast.Constant):
            found += [(name.value, None)] if isinstance(name.value, str) else []
        elif path[-1].lstrip(".") == "reload":
            module = unit.names.qualified(name)
            found += [(module, None)] if module is not None else []
        else:
            found.append(ends_of(name))
    for part in unit.nodes(ast.Subscript):
        if unit.names.qualified(part.value) != LOADED:
            continue
        if isinstance(part.slice, ast.Constant):
            found += [(part.slice.value, None)] if isinstance(part.slice.value, str) else []
        elif path_of(part.slice) != ("__name__",):
            found.append(ends_of(part.slice))
    return found


def _as_values(unit: Unit) -> list[str]:
    """The paths of what it imports and hands on whole: put into lists, passed, given back."""
    return [path for node, path in unit.names.references() if not _has_names_only(unit, node)]


def _has_names_only(unit: Unit, node: ast.expr) -> bool:
    """Whether what is imported is given no more than another name, which is followed; or used up.

    An attribute that stands here is read of it, and is no module as a rule.
    """
    parent = unit.parents[node]
    if isinstance(parent, ast.Assign):
        in_class = isinstance(unit.parents[parent], ast.ClassDef)
        return not in_class and all(isinstance(target, ast.Name) for target in parent.targets)
    if isinstance(parent, ast.Call):
        path = path_of(parent.func)
        last = path[-1].lstrip(".") if path else ""
        return (
            parent.func is node
            or last in (*_LOADING, *_GOING_OVER, *_BY_NAME)
            or is_looked_at(parent)
        )
    return isinstance(parent, ast.Attribute | ast.Expr | ast.Delete | ast.Compare)


def _modules_gone_over(unit: Unit) -> list[tuple[str, ast.expr]]:
    """``dir(losses)``, ``losses.__dict__``: by the path of what is imported."""
    owners: list[tuple[ast.expr, ast.expr]] = [
        (node, node.value) for node in unit.nodes(ast.Attribute) if node.attr == "__dict__"
    ]
    for call in unit.nodes(ast.Call):
        path = path_of(call.func)
        if path is not None and path[-1].lstrip(".") in _GOING_OVER and call.args:
            owners.append((call, call.args[0]))
    return [
        (module, node)
        for node, owner in owners
        if not isinstance(unit.parents[node], ast.Subscript | ast.Expr)
        and (module := unit.names.qualified(owner)) is not None
    ]


def _own_names_gone_over(unit: Unit) -> list[ast.Call]:
    """``globals().items()``, but for those of which numbers and texts are picked: settings."""
    found = [
        call
        for call in unit.nodes(ast.Call)
        if isinstance(call.func, ast.Attribute)
        and call.func.attr in ("items", "values")
        and isinstance(call.func.value, ast.Call)
        and path_of(call.func.value.func) == ("globals",)
    ]
    return [call for call in found if not _picks_settings(unit, call)]


def _picks_settings(unit: Unit, call: ast.Call) -> bool:
    around: ast.AST = call
    while not isinstance(around, ast.stmt):
        around = unit.parents[around]
    calls = (node for node in ast.walk(around) if isinstance(node, ast.Call))
    return any(path_of(each.func) == ("isinstance",) for each in calls)
