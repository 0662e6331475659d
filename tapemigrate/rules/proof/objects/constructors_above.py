"""Which constructors ``Base.__init__(self)`` and ``super().__init__()`` run."""

from __future__ import annotations

import ast

from tapemigrate.flow.functions import NamedFunction
from tapemigrate.flow.paths import is_super, path_of
from tapemigrate.rules.callgraph.classes import bases, classes
from tapemigrate.rules.finding import Unit
from tapemigrate.rules.project import Project
from tapemigrate.rules.proof.kept.kept_results import Class, above, method_of


def constructors_above(
    project: Project, unit: Unit, call: ast.Call
) -> list[tuple[Unit, NamedFunction]] | None:
    """Those at hand that the call may run; None: it is not the constructor of a class above.

    ``super()`` is what comes next in the class of the object, which may extend others as well.
    """
    if not isinstance(call.func, ast.Attribute) or call.func.attr != "__init__":
        return None
    cls = project.class_of(unit, project.scope_of(unit, call))
    if cls is None:
        return None
    owner = call.func.value
    if is_super(owner):
        names = sorted({cls.name, *classes(project).extending(cls.name)})
        below = [each for name in names for each in classes(project).named(name)]
        known = {each[1]: each for start in below for each in above(project, *start)}
        found = [_own(each) for each in known.values() if each[1] is not cls]
    else:
        name = (path_of(owner) or ("",))[-1].lstrip(".")
        if name not in bases(cls):
            return None
        found = [_inherited(project, each) for each in classes(project).named(name)]
    return [each for each in found if each is not None]


def _own(made: Class) -> tuple[Unit, NamedFunction] | None:
    unit, method = method_of([made], "__init__")
    return None if unit is None or method is None else (unit, method)


def _inherited(project: Project, made: Class) -> tuple[Unit, NamedFunction] | None:
    unit, method = method_of(list(above(project, *made)), "__init__")
    return None if unit is None or method is None else (unit, method)
