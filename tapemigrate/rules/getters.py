"""Files whose ``get_variable`` may give what a custom getter of another file computes."""

from __future__ import annotations

import ast

from tapemigrate.flow.functions import NamedFunction, parameters
from tapemigrate.rules.callgraph.places import import_path, steps_of
from tapemigrate.rules.finding import Unit
from tapemigrate.rules.units import Units
from tapemigrate.source.trees import walk

_KEYWORD = "custom_getter"
_SETTER = "set_custom_getter"


def under_getters(units: Units) -> frozenset[str]:
    """The names of the files that those import which set such a getter, through any number."""
    pending = [unit for unit in units.with_text([_KEYWORD]) if unit.once(_sets_getter)]
    found: set[str] = set()
    steps = {step for name, _ in units.files() for step in steps_of(name)} if pending else set()
    while pending:
        for path in pending.pop().once(_imports):
            if path.rpartition(".")[2] not in steps:
                continue
            for unit in units.holding(path):
                if unit.filename not in found:
                    found.add(unit.filename)
                    pending.append(unit)
    return frozenset(found)


def _imports(unit: Unit) -> frozenset[str]:
    found = {alias.name for stmt in unit.nodes(ast.Import) for alias in stmt.names}
    for stmt in unit.nodes(ast.ImportFrom):
        found.add(import_path(stmt, ""))
        found |= {import_path(stmt, alias.name) for alias in stmt.names}
    return frozenset(path for path in found if path.split(".")[0] not in ("tensorflow", "numpy"))


def _sets_getter(unit: Unit) -> bool:
    """Whether a scope gets a getter there that may give something else than a variable."""
    if _KEYWORD not in unit.text:
        return False
    given = [
        keyword.value
        for call in unit.nodes(ast.Call)
        for keyword in call.keywords
        if keyword.arg == _KEYWORD
    ]
    given += [
        call.args[0]
        for call in unit.nodes(ast.Call)
        if call.args and isinstance(call.func, ast.Attribute) and call.func.attr == _SETTER
    ]
    return any(_computes(unit, value) for value in given)


def _computes(unit: Unit, getter: ast.expr) -> bool:
    if isinstance(getter, ast.Constant) or _is_handed_on(unit, getter):
        return False
    name = getter.id if isinstance(getter, ast.Name) else ""
    functions: list[ast.AST] = [f for f in unit.definitions if f.name == name]
    if isinstance(getter, ast.Lambda):
        functions = [getter]
    return not functions or not all(map(_gives_the_variable, functions))


def _is_handed_on(unit: Unit, getter: ast.expr) -> bool:
    """Whether it is what the function around was handed, or keeps: ``self._custom_getter``."""
    if isinstance(getter, ast.Attribute):
        return getter.attr.strip("_") == _KEYWORD
    scope = unit.parents.get(getter)
    while scope is not None:
        if isinstance(scope, NamedFunction) and isinstance(getter, ast.Name):
            if getter.id in {a.arg for a in parameters(scope.args)}:
                return True
        scope = unit.parents.get(scope)
    return False


def _gives_the_variable(function: ast.AST) -> bool:
    """Whether it gives what the getter that it is handed does, as it is."""
    if isinstance(function, ast.Lambda):
        ends: list[ast.expr | None] = [function.body]
    else:
        ends = [node.value for node in walk(function) if isinstance(node, ast.Return)]
    given = {a.arg for a in walk(function) if isinstance(a, ast.arg)}
    made: dict[str, list[ast.expr | None]] = {}
    for node in walk(function):
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            made.setdefault(node.targets[0].id, []).append(node.value)
    stored = {
        n.id for n in walk(function) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
    }

    def is_variable(value: ast.expr | None) -> bool:
        if isinstance(value, ast.Call):
            return isinstance(value.func, ast.Name) and value.func.id in given - stored
        values = made.get(value.id, []) if isinstance(value, ast.Name) else []
        return bool(values) and all(isinstance(v, ast.Call) and is_variable(v) for v in values)

    return bool(ends) and all(map(is_variable, ends))
