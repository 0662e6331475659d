"""What programs do with variables of the old kind that resource variables do not.

``disable_v2_behavior()`` has a program make reference variables, which no tape sees. A fix turns
resource variables on again (``tensorflow/python/ops/resource_variable_ops.py``).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Set

from tapemigrate.flow.paths import Path, path_of
from tapemigrate.rules.callgraph.places import place_of
from tapemigrate.rules.finding import Unit
from tapemigrate.rules.indexes import values_by_path
from tapemigrate.rules.project import Project
from tapemigrate.rules.unseen.words import last_of
from tapemigrate.tape.request import Refusal

_CHANGEABLE = "TensorShape(None)"
# What only variables of the old kind do, and what to write in its place.
_RAISING = {
    "initialized_value": "Take `initial_value` of the variable in its place",
    "assign": f"Make the variable with `shape=tf.{_CHANGEABLE}`",
}
_APPLYING = ("_apply_dense", "_apply_sparse")
_NEW_KIND = "resource variables that a tape needs, and that `disable_v2_behavior()` turns off"
#: What makes variables.
MAKING = frozenset({"Variable", "get_variable"})


def asks_for_old_variables(project: Project, unit: Unit, program: Set[str]) -> Refusal | None:
    """Why variables have to be of the old kind where ``unit`` runs: of the new one, it raises."""
    for home in project.units.having(*_RAISING, *MAKING, *_APPLYING):
        if home is unit or home.filename in program:
            for node, raises, mend in (*_optimizers(home), *_statements(home), *_calls(home)):
                return Refusal(
                    f"{raises} in {place_of(unit, home, node)} raises for the {_NEW_KIND}",
                    f"{mend}, and run this again.",
                )
    return None


_Raising = tuple[ast.AST, str, str]


def _optimizers(unit: Unit) -> Iterator[_Raising]:
    for cls in unit.nodes(ast.ClassDef):
        methods = {getattr(stmt, "name", "") for stmt in cls.body}
        for name in _APPLYING:
            if name in methods and f"_resource{name}" not in methods:
                yield cls, f"`{cls.name}.apply_gradients`", f"Give it a `_resource{name}`"


def _statements(unit: Unit) -> Iterator[_Raising]:
    """``v += 1``, which makes a new tensor of a variable of the old kind."""
    for stmt in unit.nodes(ast.AugAssign):
        if _is_variable(unit, stmt.target):
            name = ast.unparse(stmt.target)
            yield stmt, f"`{ast.unparse(stmt)}`", f"Write `{name} = {name} …` in its place"


def _calls(unit: Unit) -> Iterator[_Raising]:
    for call in unit.nodes(ast.Call):
        name = last_of(call.func) or ""
        if name == "assign":
            settings = {each.arg: each.value for each in call.keywords}
            by_place = call.args[2] if len(call.args) > 2 else None
            checked = getattr(settings.get("validate_shape", by_place), "value", True)
            if checked is False and _CHANGEABLE not in unit.text:
                yield call, "`assign(…, validate_shape=False)`", _RAISING[name]
        elif name in _RAISING:
            yield call, f"`{name}()`", _RAISING[name]


def _is_variable(unit: Unit, named: ast.expr) -> bool:
    """Whether what has that name is a variable itself, by the names that it is given in turn."""
    pending, seen = [named], set[Path]()
    while pending:
        value = pending.pop()
        if isinstance(value, ast.Call) and last_of(value.func) in MAKING:
            return True
        path = path_of(value)
        if path is not None and path not in seen:
            seen.add(path)
            pending += unit.once(values_by_path).get(path, ())
    return False
