"""What stands where in one file, by name; see ``Unit.once``."""

from __future__ import annotations

import ast
import builtins
from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import Any

from tapemigrate.flow.effects import Effects
from tapemigrate.flow.functions import shared_names
from tapemigrate.flow.paths import Path, path_of
from tapemigrate.flow.unpacking import GIVING, each_given
from tapemigrate.rules.finding import Unit
from tapemigrate.rules.getters import CREATING, GETTING
from tapemigrate.source.trees import top_level
from tapemigrate.tape.ops.kinds import Kinds, joins, puts_nothing

# What stands in a file that may have a fact hold in it, where the other files are not asked.
_WORDS = {"under_getters": GETTING, "under_creators": CREATING}


def effects_of(unit: Unit) -> Effects:
    """What the functions and classes of ``unit`` change."""
    return unit.once(_effects)


def _effects(unit: Unit) -> Effects:
    # What names mean takes long to tell, and is not asked for in every file.
    return Effects(
        unit.tree,
        lambda call: puts_nothing(unit.names, call),
        lambda call: joins(unit.names, call),
        lambda fact: fact in _WORDS and _WORDS[fact] in unit.text,
    )


def kinds_of(
    unit: Unit,
    changing: Callable[[str], bool] | None = None,
    effects: Effects | None = None,
) -> Kinds:
    """What expressions of ``unit`` make; ``changing``: of any file, see there.

    ``effects`` are its own among those of other files.
    """
    return Kinds(unit.names, effects or effects_of(unit), changing)


def imported_names(unit: Unit) -> frozenset[str]:
    """Every name that some import statement of the file binds."""
    names = [alias for stmt in unit.nodes(ast.Import) for alias in stmt.names]
    names += [alias for stmt in unit.nodes(ast.ImportFrom) for alias in stmt.names]
    found = {(alias.asname or alias.name).split(".")[0] for alias in names}
    if "*" in found:  # it may bring ``tf``
        brought = (e for e, _ in unit.names.references() if unit.names.reference_kind(e) == "star")
        found |= {path[0] for each in brought if (path := path_of(each)) is not None}
    return frozenset(found)


def given_at_top(unit: Unit) -> dict[str, list[ast.expr]]:
    """What names of the module are given as it runs, by name; of what is unpacked, what is seen."""
    found: dict[str, list[ast.expr]] = {}
    for stmt in top_level(unit.tree):
        if not isinstance(stmt, ast.Assign | ast.AnnAssign) or stmt.value is None:
            continue
        targets = stmt.targets if isinstance(stmt, ast.Assign) else [stmt.target]
        pending = [(target, stmt.value) for target in targets]
        for target, value in pending:  # which grows meanwhile
            if isinstance(target, ast.Name):
                found.setdefault(target.id, []).append(value)
            elif isinstance(target, ast.Tuple | ast.List):
                if isinstance(value, ast.ListComp | ast.GeneratorExp):
                    values = [value.elt] * len(target.elts)
                else:
                    values = value.elts if isinstance(value, ast.Tuple | ast.List) else []
                if len(values) == len(target.elts):
                    pending += zip(target.elts, values, strict=True)
    return found


def functions_at_top(unit: Unit) -> dict[str, list[ast.FunctionDef]]:
    """The functions that are made as the module runs, by name."""
    found: dict[str, list[ast.FunctionDef]] = {}
    for stmt in top_level(unit.tree):
        if isinstance(stmt, ast.FunctionDef):
            found.setdefault(stmt.name, []).append(stmt)
    return found


def defined(unit: Unit) -> dict[str, list[ast.FunctionDef | ast.ClassDef]]:
    """By their names: the functions and classes of the file, wherever they stand."""
    found: dict[str, list[ast.FunctionDef | ast.ClassDef]] = defaultdict(list)
    for each in unit.definitions:
        found[each.name].append(each)
    return found


def sharing_names(unit: Unit) -> dict[str, list[ast.FunctionDef]]:
    """The functions that declare a name ``global`` or ``nonlocal``."""
    found: dict[str, list[ast.FunctionDef]] = defaultdict(list)
    for function in unit.nodes(ast.FunctionDef):
        for name in shared_names(function):
            found[name].append(function)
    return found


def assigned(unit: Unit) -> list[tuple[ast.expr, ast.expr]]:
    """What is given a value anywhere in the file, and that value, as far as it is written out."""
    return [pair for kind in GIVING for node in unit.nodes(kind) for pair in each_given(node)]


def values_by_path(unit: Unit) -> dict[Path, list[ast.expr]]:
    """What names and attributes are given in the file, by these."""
    found: dict[Path, list[ast.expr]] = {}
    for target, value in unit.once(assigned):
        path = path_of(target)
        if path is not None:
            found.setdefault(path, []).append(value)
    return found


def value_given(unit: Unit, target: ast.expr) -> ast.expr | None:
    """What a target is given: it, or what it is taken out of; None where that is no value."""
    stmt = unit.parents[target]
    while isinstance(stmt, ast.Tuple | ast.List | ast.Starred):
        stmt = unit.parents[stmt]
    if isinstance(stmt, ast.Assign):
        by_itself = (value for part, value in each_given(stmt) if part is target)
        return next(by_itself, stmt.value)
    found = (getattr(stmt, name, None) for name in ("value", "iter", "context_expr"))
    return next((each for each in found if isinstance(each, ast.expr)), None)


def reads(unit: Unit) -> dict[str, list[ast.Name | ast.Attribute]]:
    """The names and attributes that are read, by name."""
    found: defaultdict[str, list[ast.Name | ast.Attribute]] = defaultdict(list)
    # By their classes, which is quicker than ``isinstance``: all nodes of all files come by.
    every: Iterable[Any] = unit.parents
    for node in every:
        cls = node.__class__
        if cls is ast.Name:
            if node.ctx.__class__ is ast.Load:
                found[node.id].append(node)
        elif cls is ast.Attribute and node.ctx.__class__ is ast.Load:
            found[node.attr].append(node)
    return dict(found)


def set_attributes(unit: Unit) -> dict[str, list[ast.Attribute]]:
    """The attributes that are set or deleted, by name."""
    found: dict[str, list[ast.Attribute]] = {}
    for node in unit.nodes(ast.Attribute):
        if not isinstance(node.ctx, ast.Load):
            found.setdefault(node.attr, []).append(node)
    return found


def extending(unit: Unit) -> dict[ast.ClassDef, list[ast.ClassDef]]:
    """The classes of the file, each with those that extend it."""
    found: dict[ast.ClassDef, list[ast.ClassDef]] = {}
    effects = effects_of(unit)
    for cls in unit.nodes(ast.ClassDef):
        for above in effects.lineage(cls):
            found.setdefault(above, []).append(cls)
    return found


def bound_names(unit: Unit) -> dict[str, list[ast.Name]]:
    """The places at which names are given values, or deleted."""
    found: dict[str, list[ast.Name]] = {}
    for node in unit.nodes(ast.Name):
        if not isinstance(node.ctx, ast.Load):
            found.setdefault(node.id, []).append(node)
    return found


def left_to_stars(unit: Unit) -> frozenset[str]:
    """The names that the file reads, and that nothing in it gives a value."""
    return unit.once(_left_to_stars)


def _left_to_stars(unit: Unit) -> frozenset[str]:
    read = {n.id for n in unit.nodes(ast.Name) if isinstance(n.ctx, ast.Load)}
    known = unit.once(names_bound) | {n.arg for n in unit.nodes(ast.arg)}
    return frozenset(read - known - vars(builtins).keys())


def names_bound(unit: Unit) -> frozenset[str]:
    """The names that something in the file gives a value, parameters apart."""
    code = {each.name for each in unit.definitions}
    return frozenset(code | unit.once(bound_names).keys() | imported_names(unit))
