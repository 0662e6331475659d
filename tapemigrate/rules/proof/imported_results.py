"""What other modules computed by variables as they were imported, and a region reads.

``from net import features``: where execution is eager, that ran before any tape began.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import NamedTuple

from tapemigrate.flow.definitions import Kind
from tapemigrate.flow.functions import NamedFunction, free_names
from tapemigrate.flow.paths import path_of
from tapemigrate.rules.callgraph.classes import is_of_library
from tapemigrate.rules.callgraph.import_chains import imports_below
from tapemigrate.rules.callgraph.imported import homes_of, leads_to
from tapemigrate.rules.callgraph.instances import instances, instances_of
from tapemigrate.rules.callgraph.places import split_path
from tapemigrate.rules.finding import Unit
from tapemigrate.rules.indexes import names_bound
from tapemigrate.rules.project import Project, View
from tapemigrate.rules.proof.globals_read import computed_in, made_with, run_in
from tapemigrate.rules.proof.kept_results import KeptResults
from tapemigrate.rules.proof.verdicts import wrong
from tapemigrate.rules.values.computed import Computed
from tapemigrate.rules.values.variable_values import VARIABLE
from tapemigrate.rules.values.variables_named import names_variables
from tapemigrate.source.trees import top_level, walk
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
    roots += [base for root in roots for base in _bases_below(project, view.unit, root)]
    for root in (r for r in roots if isinstance(r, ast.expr)):
        above = view.unit.parents.get(root)
        if isinstance(above, NamedFunction) and root in above.decorator_list:
            if _computes_as_decorator(project, results, view.unit, root):
                how = "computed as its function was decorated"
                return wrong(ast.unparse(root), how, "the variables")
    pending = list(dict.fromkeys(r for root in roots for r in _imported(project, view.unit, root)))
    pending += dict.fromkeys(_classes_of(project, view, region))
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


def _classes_of(project: Project, view: View, region: Region) -> Iterator[_Read]:
    """The classes of other files of the objects that enter the region."""
    me = view.kinds.self_name
    owners = {root.path[: 2 if root.path[0] == me else 1] for root in region.roots}
    body = [*region.block.body[region.first : region.last + 1], region.request.target]
    read = (path_of(n) for each in body for n in walk(each) if isinstance(n, ast.Attribute))
    owners |= {path for path in read if path is not None and len(path) == 2 and path[0] == me}
    for owner in sorted(owners - {(me,)}):
        for home, cls in instances(project, view, owner).classes:
            if home is not view.unit:
                yield _Read(home.filename, cls.name, ())


def _known(_: Project) -> dict[_Read, _Told]:
    return {}


def _told(project: Project, results: KeptResults, read: _Read) -> _Told:
    """What is found of one name of a module."""
    filename, name, parts = read
    unit = project.units[filename]
    top = project.view(unit, unit.tree)
    further: dict[_Read, None] = {}
    defined = (s for s in top_level(unit.tree) if isinstance(s, ast.FunctionDef | ast.ClassDef))
    for stmt in (each for each in defined if each.name == name):
        if any(_is_made_of_results(project, results, top, each) for each in _made_with(stmt)):
            return _Told(True, ())
        if any(_computes_as_decorator(project, results, unit, d) for d in _decorators(stmt)):
            return _Told(True, ())
        if _makes_more_of_its_own(top, stmt):
            return _Told(True, ())
        further |= dict.fromkeys(_read_in(project, unit, stmt))
    if names_variables(project, unit, name):
        return _Told(False, tuple(further))
    filled = any(made.kind is Kind.MUTATE for made in top.flow.given(name))
    for value in _given(top, name):
        for each in (n for n in walk(value) if isinstance(n, ast.Call)):
            for home, cls in instances_of(project, top, each).classes:
                if _keeps(results, home, cls, parts, filled or each is not value):
                    return _Told(True, ())
                further[_Read(home.filename, cls.name, ())] = None
        if _is_made_of_results(project, results, top, value):
            return _Told(True, ())
        further |= dict.fromkeys(_read_in(project, unit, value))
    return _Told(False, tuple(further))


def _given(top: View, name: str) -> Iterator[ast.expr]:
    """What a name of the module is given as that runs, and what is put into it."""
    for made in top.flow.given(name):
        put = made.value.args if isinstance(made.value, ast.Call) else []
        if made.value is None and isinstance(made.stmt, ast.Assign | ast.AugAssign):
            put = [made.stmt.value]  # ``NETS["a"] = Net()``
        values = put if made.kind is Kind.MUTATE else [made.value]
        yield from (value for value in values if value is not None)


def _made_with(stmt: ast.FunctionDef | ast.ClassDef) -> list[ast.expr]:
    """What is computed where a function is made, or a class with its methods."""
    if isinstance(stmt, ast.FunctionDef):
        return made_with(stmt)
    methods = (each for each in stmt.body if isinstance(each, NamedFunction))
    return [*computed_in(stmt), *(value for each in methods for value in made_with(each))]


def _decorators(stmt: ast.FunctionDef | ast.ClassDef) -> list[ast.expr]:
    methods = stmt.body if isinstance(stmt, ast.ClassDef) else []
    inner = (each for each in methods if isinstance(each, NamedFunction))
    return [*stmt.decorator_list, *(d for each in inner for d in each.decorator_list)]


def _computes_as_decorator(
    project: Project, results: KeptResults, unit: Unit, decorator: ast.expr
) -> bool:
    """Whether variables compute something where the function runs that decorates another."""
    read = [each for each in _read_in(project, unit, decorator) if not each.parts]
    for filename, name, _ in read:
        home = project.units[filename]
        for function in project.effects(home).functions(name):
            inner = project.view(home, function)
            values = (d.value for d in inner.flow.defs.values() if d.kind is Kind.ASSIGN)
            if any(v is not None and results.is_result(inner, v) for v in values):
                return True
    return False


def _makes_more_of_its_own(top: View, stmt: ast.FunctionDef | ast.ClassDef) -> bool:
    """Whether the body of a class computes something, and makes variables."""
    values = computed_in(stmt) if isinstance(stmt, ast.ClassDef) else []
    makes = {top.kinds.make(value) for value in values}
    return Make.TENSOR in makes and not makes.isdisjoint(VARIABLE)


def _is_made_of_results(project: Project, results: KeptResults, top: View, value: ast.expr) -> bool:
    """Whether a value at the top of a file is, holds or was made with what variables gave."""
    unit = top.unit
    for node in walk(value):
        if isinstance(node, ast.Call) and results.is_result(top, node):
            return True
        cls = project.effects(unit).class_named(node.id) if isinstance(node, ast.Name) else None
        if cls is not None and node is value and results.read_by(unit, cls, "__call__"):
            return True  # a decorator
    if results.is_result(top, value):
        return True
    if not project.once(Computed).may_be(unit, value):
        return False
    return results.tracer.value(top, value).network or any(
        _leads_to_variables(project, read) for read in _read_in(project, unit, value)
    )


def _leads_to_variables(project: Project, read: _Read) -> bool:
    """Whether what is read is variables, or a function that reads some."""
    home = project.units[read.filename]
    functions = project.effects(home).functions(read.name)
    names = {read.name}.union(*map(free_names, functions))
    return any(names_variables(project, home, name) for name in names)


def _keeps(
    results: KeptResults, unit: Unit, cls: ast.ClassDef, parts: tuple[str, ...], element: bool
) -> bool:
    """Whether an object of the class has, or a method of it reads, what variables computed.

    Of an ``element`` of a list it is not known which method is called.
    """
    names = {parts[0] if parts else "__call__"}
    if element:
        methods = (each for each in cls.body if isinstance(each, NamedFunction))
        names |= {method.name for method in methods if method.name != "__init__"}
    return any(
        results.is_kept_by(unit, cls, name) or bool(results.read_by(unit, cls, name))
        for name in sorted(names)
    )


def _bases_below(project: Project, unit: Unit, root: ast.AST) -> Iterator[ast.expr]:
    """What the classes of the file extend that are named below ``root``."""
    effects = project.effects(unit)
    for node in walk(root):
        cls = effects.class_named(node.id) if isinstance(node, ast.Name) else None
        for each in effects.lineage(cls) if cls is not None else ():
            yield from each.bases


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
    while isinstance(above, ast.Attribute | ast.Subscript):
        parts += [above.attr] if isinstance(above, ast.Attribute) else []
        above = unit.parents.get(above)
    return tuple(parts)
