"""Variables under a name of a function around the scope, or of its module: ``vs`` in a closure."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import replace

from tapemigrate.flow.definitions import Kind
from tapemigrate.flow.functions import shared_names
from tapemigrate.flow.paths import Path
from tapemigrate.rules.callgraph.enclosing import outer_definitions
from tapemigrate.rules.project import Project, View
from tapemigrate.rules.values.variables.module_variables import (
    is_only_looked_up,
    is_read,
    values_of,
)
from tapemigrate.source.trees import walk
from tapemigrate.tape.leaf import Sources, taken_for_variables
from tapemigrate.tape.ops.syntax import is_named_after_variables
from tapemigrate.tape.sources.sources import SourceReader


def variables_around(
    project: Project, view: View, path: Path, reader_of: Callable[[View], SourceReader]
) -> Sources | None:
    """The variables that the name stands for; None where it may be anything else.

    It stands for the same ones wherever the scope runs: nothing but assignments gives it a value,
    and nothing puts more into a list.
    """
    if len(path) != 1:
        return None
    name = path[0]
    found = outer_definitions(project, view, path)
    if found is not None:
        holder, made = found
    elif view.scope is not view.unit.tree and values_of(project, view.unit, name):
        holder = project.view(view.unit, view.unit.tree)
        made = [d for d in holder.flow.defs.values() if d.path == path]
    else:
        return None
    if not made or any(d.kind is not Kind.ASSIGN or d.path != path for d in made):
        return None
    held = reader_of(holder).held(made, name)
    if all(map(is_named_after_variables, made)):
        held.leaves = [
            x
            if x.variables
            else replace(x, watch=None, variables=True, assumption=taken_for_variables(name))
            for x in held.leaves
            if x.variables or x.found
        ]
    if held.refusal or not held.leaves or held.references:
        return None
    known = all(x.variables and x.watch is None and x.lent is None for x in held.leaves)
    return held if known and _is_fixed(project, holder, name, held.single is True) else None


def _is_fixed(project: Project, holder: View, name: str, single: bool) -> bool:
    """Whether nothing gives the name another value, or puts anything into a list of that name."""
    if isinstance(holder.scope, ast.Module):
        return single or is_only_looked_up(project, holder.unit, name)
    for node in walk(holder.scope):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and name in shared_names(node):
            return False
        if isinstance(node, ast.Name) and node.id == name and not isinstance(node.ctx, ast.Store):
            if not (single or is_read(holder.unit, node)):
                return False
    return True
