"""What variables compute as a module is read: where a function, a class or a value is made."""

from __future__ import annotations

import ast

from tapemigrate.flow.definitions import Kind
from tapemigrate.flow.functions import NamedFunction, free_names
from tapemigrate.rules.callgraph.instances import instances_of
from tapemigrate.rules.callgraph.names_read import Read, read_in
from tapemigrate.rules.finding import Unit
from tapemigrate.rules.project import Project, View
from tapemigrate.rules.proof.kept.kept_results import KeptResults
from tapemigrate.rules.proof.state.globals_read import computed_in, made_with
from tapemigrate.rules.values.computed import Computed
from tapemigrate.rules.values.variables.variables_named import names_variables
from tapemigrate.source.trees import walk


def is_computed_as_made(
    project: Project, results: KeptResults, top: View, stmt: ast.FunctionDef | ast.ClassDef
) -> bool:
    """Whether variables compute something where a function, or a class, of the module is made."""
    return any(is_made_of_results(project, results, top, each) for each in _made_with(stmt)) or any(
        computes_as_decorator(project, results, top.unit, each) for each in _decorators(stmt)
    )


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


def computes_as_decorator(
    project: Project, results: KeptResults, unit: Unit, decorator: ast.expr
) -> bool:
    """Whether variables compute something where the function runs that decorates another."""
    read = [each for each in read_in(project, unit, decorator) if not each.parts]
    for filename, name, _ in read:
        home = project.units[filename]
        for function in project.effects(home).functions(name):
            inner = project.view(home, function)
            values = (d.value for d in inner.flow.defs.values() if d.kind is Kind.ASSIGN)
            if any(v is not None and results.is_result(inner, v) for v in values):
                return True
    return False


def is_made_of_results(project: Project, results: KeptResults, top: View, value: ast.expr) -> bool:
    """Whether a value at the top of a file is, holds or was made with what variables gave."""
    unit = top.unit
    calls = [node for node in walk(value) if isinstance(node, ast.Call)]
    if any(results.is_result(top, each) for each in (value, *calls)):
        return True
    objects = (c for each in calls for c in instances_of(project, top, each).classes)
    if any(keeps(results, home, cls, (), True) for home, cls in objects):
        return True
    cls = project.effects(unit).class_named(value.id) if isinstance(value, ast.Name) else None
    if cls is not None and results.read_by(unit, cls, "__call__"):
        return True  # a decorator, of which an object takes the place of the function
    if not project.once(Computed).may_be(unit, value):
        return False
    return results.tracer.value(top, value).network or any(
        _leads_to_variables(project, read) for read in read_in(project, unit, value)
    )


def _leads_to_variables(project: Project, read: Read) -> bool:
    """Whether what is read is variables, or a function that reads some."""
    home = project.units[read.filename]
    functions = project.effects(home).functions(read.name)
    names = {read.name}.union(*map(free_names, functions))
    return any(names_variables(project, home, name) for name in names)


def keeps(
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
