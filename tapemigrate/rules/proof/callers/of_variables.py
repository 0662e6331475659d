"""Whether what callers pass may be variables, or is computed from variables of the module."""

from __future__ import annotations

import ast

from tapemigrate.flow.definitions import Def, Kind
from tapemigrate.flow.functions import defaults, free_names
from tapemigrate.rules.project import Project, View
from tapemigrate.rules.proof.imports.imported_values import imported_values
from tapemigrate.rules.values.provenance import Tracer
from tapemigrate.rules.values.traces import Provenance
from tapemigrate.rules.values.variables.module_variables import are_variables
from tapemigrate.source.trees import walk

# What stands where ops may be made.
_COMPUTING = (ast.Call, ast.BinOp, ast.UnaryOp)


def is_of_variables(
    project: Project,
    tracer: Tracer,
    caller: View,
    source: Def,
    value: Provenance,
    run: list[ast.expr],
) -> bool:
    """Whether it is computed from variables of the module, and not one of them itself.

    Of a ``source`` that has a name it is known which variable it is.
    """
    if source.kind in (Kind.PARAM, Kind.ENTRY):
        return False
    computed = any(isinstance(n, _COMPUTING) for each in run for n in walk(each))
    effects = project.effects(caller.unit)
    names = sorted(value.globals)
    for name in names:
        for function in effects.functions(name):
            made = (n for d in defaults(function.args) for n in walk(d))
            read = {*free_names(function), *(n.id for n in made if isinstance(n, ast.Name))}
            names += sorted(read - set(names))
    named = [(caller, name) for name in names] + list(imported_values(project, caller, run))
    return any(
        (computed or not are_variables(project, view.unit, name))
        and tracer.global_name(view, name).network
        for view, name in named
    )


def is_filled(
    project: Project, tracer: Tracer, caller: View, value: Provenance, run: list[ast.expr]
) -> bool:
    """Whether calls may have put into it what cannot be seen, also where modules hold it."""
    named = [(caller, name) for name in sorted(value.globals)]
    named += imported_values(project, caller, run)
    return value.filled or any(tracer.global_name(there, name).filled for there, name in named)
