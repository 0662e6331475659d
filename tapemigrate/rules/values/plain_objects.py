"""What knows no tensors: the module's ``parser = argparse.ArgumentParser()``, or what is made of
numbers by a function: ``def sizes(): return HParams(n=1)``.
"""

from __future__ import annotations

import ast

from tapemigrate.rules.callgraph.assigned import global_values
from tapemigrate.rules.finding import Unit
from tapemigrate.rules.project import Project, View
from tapemigrate.rules.values.variable_lists import function_meant
from tapemigrate.tape.kinds import Make
from tapemigrate.tape.plain_calls import makes_none


def is_plain_object(unit: Unit, name: str) -> bool:
    """Whether the module gives it its name, and nothing else may, of a library without tensors.

    Or of a number or text that is written there.
    """
    values = global_values(unit, name)
    if not values or any(arg.arg == name for arg in unit.nodes(ast.arg)):
        return False
    stored = (n for n in unit.nodes(ast.Name) if not isinstance(n.ctx, ast.Load))
    return sum(n.id == name for n in stored) == len(values) and all(
        _is_plain(unit, value) for value in values
    )


def _is_plain(unit: Unit, value: ast.expr) -> bool:
    if isinstance(value, ast.Constant):
        return value.value is not None
    known = unit.names.qualified(value.func) if isinstance(value, ast.Call) else None
    return known is not None and isinstance(value, ast.Call) and makes_none(known, value)


def gives_numbers(project: Project, view: View, call: ast.Call) -> bool:
    """Whether a function of the user's is called that gives numbers, or an object made of such."""
    found = function_meant(project, view, call)
    if found is None or found[1].decorator_list:
        return False
    inner = project.view(*found)
    ends = [end.value for end in inner.flow.returns]
    return (
        bool(ends)
        and not inner.flow.yields
        and all(end is not None and inner.kinds.make(end) is Make.PYTHON for end in ends)
    )
