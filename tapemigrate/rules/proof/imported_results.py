"""What other modules computed by variables as they were imported, and a region reads.

``from net import features``: where execution is eager, that ran before any tape began.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import NamedTuple

from tapemigrate.flow.definitions import Kind
from tapemigrate.flow.functions import free_names
from tapemigrate.rules.callgraph.classes import is_of_library
from tapemigrate.rules.callgraph.import_chains import imports_below
from tapemigrate.rules.callgraph.imported import homes_of, leads_to
from tapemigrate.rules.callgraph.instances import instances_of
from tapemigrate.rules.callgraph.places import split_path
from tapemigrate.rules.finding import Unit
from tapemigrate.rules.indexes import names_bound
from tapemigrate.rules.project import Project, View
from tapemigrate.rules.proof.globals_read import computed_in, made_with, run_in
from tapemigrate.rules.proof.kept_results import KeptResults
from tapemigrate.rules.proof.verdicts import wrong
from tapemigrate.rules.values.module_variables import are_variables
from tapemigrate.rules.values.variable_values import VARIABLE
from tapemigrate.source.trees import walk
from tapemigrate.tape.kinds import Make
from tapemigrate.tape.region import Region
from tapemigrate.tape.request import Refusal


class _Read(NamedTuple):
    """A name of a module, and the parts of what it stands for that are read."""

    filename: str
    name: str
    parts: tuple[str, ...]


class _Told(NamedTuple):
    """Whether variables computed what is read, and what that reads of modules in turn."""

    computed: bool
    further: tuple[_Read, ...]


def imported_results(
    project: Project, results: KeptResults, view: View, region: Region
) -> Refusal | None:
    """Why the tape of a region would miss what imported modules computed by variables."""
    roots, _ = run_in(project, region, view)
    known = project.once(_known)
    pending = list(dict.fromkeys(r for root in roots for r in _imported(project, view.unit, root)))
    met = set(pending)
    for each in pending:  # which grows meanwhile
        if each not in known:
            known[each] = _told(project, results, each)
        told = known[each]
        if told.computed:
            text = ".".join((each.name, *each.parts))
            return wrong(text, f"computed as `{each.filename}` was imported", "the variables")
        new = [read for read in told.further if read not in met]
        met.update(new)
        pending += new
    return None


def _known(_: Project) -> dict[_Read, _Told]:
    return {}


def _told(project: Project, results: KeptResults, read: _Read) -> _Told:
    """What is found of one name of a module."""
    filename, name, parts = read
    unit = project.units[filename]
    top = project.view(unit, unit.tree)
    further: dict[_Read, None] = {}
    for stmt in (s for s in unit.definitions if s.name == name and unit.parents[s] is unit.tree):
        if _computes(results, top, stmt):
            return _Told(True, ())
        further |= dict.fromkeys(_read_in(project, unit, stmt))
    if are_variables(project, unit, name):
        return _Told(False, tuple(further))
    for value in _given(top, name):
        made = instances_of(project, top, value).classes if isinstance(value, ast.Call) else []
        for home, cls in made:
            if _keeps(results, home, cls, parts):
                return _Told(True, ())
            further[_Read(home.filename, cls.name, ())] = None
        if not made and results.is_result(top, value):
            return _Told(True, ())
        further |= dict.fromkeys(_read_in(project, unit, value))
    return _Told(False, tuple(further))


def _given(top: View, name: str) -> Iterator[ast.expr]:
    """What a name of the module is given as that runs, and what is put into it."""
    for made in top.flow.given(name):
        put = made.value.args if isinstance(made.value, ast.Call) else []
        values = put if made.kind is Kind.MUTATE else [made.value]
        yield from (value for value in values if value is not None)


def _computes(results: KeptResults, top: View, stmt: ast.FunctionDef | ast.ClassDef) -> bool:
    """Whether variables compute something where a function, or a class, is made."""
    if isinstance(stmt, ast.FunctionDef):
        return any(results.is_result(top, value) for value in made_with(stmt))
    makes = {top.kinds.make(value) for value in computed_in(stmt)}
    return Make.TENSOR in makes and not makes.isdisjoint(VARIABLE)


def _keeps(results: KeptResults, unit: Unit, cls: ast.ClassDef, parts: tuple[str, ...]) -> bool:
    """Whether an object of the class has, or a method of it reads, what variables computed."""
    part = parts[0] if parts else "__call__"
    return results.is_kept_by(unit, cls, part) or bool(results.read_by(unit, cls, part))


def _read_in(project: Project, unit: Unit, root: ast.AST) -> Iterator[_Read]:
    """What a function, a class or a value at the top of a file reads of modules."""
    yield from _imported(project, unit, root)
    own = unit.once(names_bound)
    free = free_names(root) if isinstance(root, ast.stmt) else None
    for node in walk(root):
        if isinstance(node, ast.Name) and node.id in own and (free is None or node.id in free):
            yield _Read(unit.filename, node.id, _parts_read(unit, node))


def _imported(project: Project, unit: Unit, root: ast.AST) -> Iterator[_Read]:
    """The same of what other files of the user's bring."""
    for chain, path in imports_below(project, unit, root):
        parts = _parts_read(unit, chain)
        while all(split_path(path)) and not is_of_library(path):
            for home, name in homes_of(project, path):
                if name in home.once(names_bound):
                    if leads_to(project, path, unit, home, name) is not False:
                        yield _Read(home.filename, name, parts)
            path, last = split_path(path)
            parts = (last, *parts)


def _parts_read(unit: Unit, node: ast.expr) -> tuple[str, ...]:
    """The attributes that are read of what the node names: ``embedder.table``."""
    parts: list[str] = []
    above = unit.parents.get(node)
    while isinstance(above, ast.Attribute):
        parts.append(above.attr)
        above = unit.parents.get(above)
    return tuple(parts)
