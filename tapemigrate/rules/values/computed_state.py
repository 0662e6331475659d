"""Whether what functions put into a module, where it outlives them, may be what an op gave."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tapemigrate.flow.functions import NamedFunction
from tapemigrate.flow.unpacking import each_given
from tapemigrate.rules.finding import Unit
from tapemigrate.rules.project import Project
from tapemigrate.rules.values.computed import Computed
from tapemigrate.rules.values.containers.filled_state import filled_state
from tapemigrate.rules.values.objects.put_by_calls import put_in_name
from tapemigrate.source.trees import declarations, walk


def may_be_computed_state(project: Project, unit: Unit, name: str) -> bool:
    """Whether the name of the module may hold such a thing, put there by functions."""
    if name not in unit.once(filled_state):
        return False
    put = put_in_name(project, project.view(unit, unit.tree), name)
    values = [(unit, value) for value in _given(unit, name)]
    values += [(at.unit, value) for at, value in put.values]
    computed = project.once(Computed)
    return put.unseen or not values or any(computed.may_be(*each) for each in values)


def _given(unit: Unit, name: str) -> Iterator[ast.expr]:
    """What functions give the name itself: ``global name``."""
    for function in (each for each in unit.definitions if isinstance(each, NamedFunction)):
        if any(name in stmt.names for stmt in declarations(function.body)):
            for target, value in (pair for node in walk(function) for pair in each_given(node)):
                if isinstance(target, ast.Name) and target.id == name:
                    yield value
