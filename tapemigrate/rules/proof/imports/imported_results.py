"""What other modules computed by variables as they were imported, and a region reads.

``from net import features``: where execution is eager, that ran before any tape began.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import NamedTuple

from tapemigrate.flow.definitions import Kind
from tapemigrate.flow.functions import NamedFunction
from tapemigrate.flow.paths import path_of
from tapemigrate.rules.callgraph.instances import instances, instances_of
from tapemigrate.rules.callgraph.names_read import Read, imported_in, read_in
from tapemigrate.rules.finding import Unit
from tapemigrate.rules.project import Project, View
from tapemigrate.rules.proof.imports.computed_at_import import (
    computes_as_decorator,
    is_computed_as_made,
    is_made_of_results,
    keeps,
)
from tapemigrate.rules.proof.kept.kept_results import KeptResults
from tapemigrate.rules.proof.state.globals_read import run_in
from tapemigrate.rules.proof.verdicts import wrong
from tapemigrate.source.points import begin
from tapemigrate.source.trees import top_level, walk
from tapemigrate.tape.placing.region import Region
from tapemigrate.tape.request import Refusal


class _Told(NamedTuple):
    """Whether variables computed what is read, and what that reads of modules in turn."""

    computed: bool
    further: tuple[Read, ...]


def imported_results(
    project: Project, results: KeptResults, view: View, region: Region
) -> Refusal | None:
    """Why the tape of a region would miss what imported modules computed by variables."""
    roots, _ = run_in(project, region, view)
    known = project.once(_known)
    roots += [base for root in roots for base in _bases_below(project, view.unit, root)]
    for decorator in (r for r in roots if isinstance(r, ast.expr) and _decorates(view.unit, r)):
        if computes_as_decorator(project, results, view.unit, decorator):
            how = "computed as its function was decorated"
            return wrong(ast.unparse(decorator), how, "the variables")
    for value in _made_with(project, view, region, roots):
        if is_made_of_results(project, results, project.view(view.unit, view.unit.tree), value):
            return wrong(ast.unparse(value), "computed as the module was loaded", "the variables")
    read = (each for root in roots for each in imported_in(project, view.unit, root))
    pending = list(dict.fromkeys([*read, *_classes_of(project, view, region)]))
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


def _decorates(unit: Unit, root: ast.expr) -> bool:
    above = unit.parents.get(root)
    return isinstance(above, NamedFunction) and root in above.decorator_list


def _made_with(
    project: Project, view: View, region: Region, roots: list[ast.AST]
) -> Iterator[ast.expr]:
    """What was made with classes and functions of the module, before the region began.

    ``layer = Dense(2, 3)`` in a class, ``def forward(x, layer=Dense(2, 3))``.
    """
    parents, module = view.unit.parents, view.unit.tree
    start = begin(region.block.body[region.first])
    # A list that is put together for a helper stands nowhere.
    for root in (each for each in roots if isinstance(each, ast.expr) and each in parents):
        if view.scope is module and begin(root) >= start:
            continue
        above = parents.get(root)
        while isinstance(above, ast.expr | ast.keyword | ast.Assign | ast.AnnAssign):
            above = parents.get(above)
        if isinstance(above, ast.arguments | ast.ClassDef):
            if project.scope_of(view.unit, root) is module:
                yield root


def _classes_of(project: Project, view: View, region: Region) -> Iterator[Read]:
    """The classes of other files of the objects that enter the region."""
    me = view.kinds.self_name
    owners = {root.path[: 2 if root.path[0] == me else 1] for root in region.roots}
    body = [*region.block.body[region.first : region.last + 1], region.request.target]
    read = (path_of(n) for each in body for n in walk(each) if isinstance(n, ast.Attribute))
    owners |= {path for path in read if path is not None and len(path) == 2 and path[0] == me}
    for owner in sorted(owners - {(me,)}):
        for home, cls in instances(project, view, owner).classes:
            if home is not view.unit:
                yield Read(home.filename, cls.name, ())


def _known(_: Project) -> dict[Read, _Told]:
    return {}


def _told(project: Project, results: KeptResults, read: Read) -> _Told:
    """What is found of one name of a module."""
    filename, name, parts = read
    unit = project.units[filename]
    top = project.view(unit, unit.tree)
    further: dict[Read, None] = {}
    defined = (s for s in top_level(unit.tree) if isinstance(s, ast.FunctionDef | ast.ClassDef))
    for stmt in (each for each in defined if each.name == name):
        if is_computed_as_made(project, results, top, stmt):
            return _Told(True, ())
        further |= dict.fromkeys(read_in(project, unit, stmt))
    given = top.flow.given(name)
    filled = any(made.kind is Kind.MUTATE or len(made.path) > 1 for made in given)
    for value in _given(top, name):
        objects = False
        for each in (n for n in walk(value) if isinstance(n, ast.Call)):
            for home, cls in instances_of(project, top, each).classes:
                if keeps(results, home, cls, parts, filled or each is not value):
                    return _Told(True, ())
                further[Read(home.filename, cls.name, ())] = None
                objects |= each is value  # of which the parts count that are read
        if not objects and is_made_of_results(project, results, top, value):
            return _Told(True, ())
        further |= dict.fromkeys(read_in(project, unit, value))
    return _Told(False, tuple(further))


def _given(top: View, name: str) -> Iterator[ast.expr]:
    """What a name of the module is given as that runs, and what is put into it."""
    for made in top.flow.given(name):
        put = made.value.args if isinstance(made.value, ast.Call) else []
        if made.value is None and isinstance(made.stmt, ast.Assign | ast.AugAssign):
            put = [made.stmt.value]  # ``NETS["a"] = Net()``
        values = put if made.kind is Kind.MUTATE else [made.value]
        yield from (value for value in values if value is not None)


def _bases_below(project: Project, unit: Unit, root: ast.AST) -> Iterator[ast.expr]:
    """What the classes of the file extend that are named below ``root``."""
    effects = project.effects(unit)
    for node in walk(root):
        cls = effects.class_named(node.id) if isinstance(node, ast.Name) else None
        for each in effects.lineage(cls) if cls is not None else ():
            yield from each.bases
