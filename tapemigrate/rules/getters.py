"""Files whose ``get_variable`` may give what a custom getter of another file computes."""

from __future__ import annotations

import ast

from tapemigrate.flow.functions import NamedFunction, parameters
from tapemigrate.rules.by_text import ByText
from tapemigrate.rules.callgraph.imports_in_text import imports_in
from tapemigrate.rules.callgraph.places import may_hold, steps_of
from tapemigrate.rules.finding import Unit
from tapemigrate.rules.units import Units
from tapemigrate.source.trees import walk

_KEYWORD = "custom_getter"
_SETTER = "set_custom_getter"
_LIBRARIES = ("tensorflow", "numpy")


def under_getters(units: Units) -> frozenset[str]:
    """The names of the files that those import which set such a getter, through any number."""
    files = dict(units.files())
    pending = [name for name, file in files.items() if _KEYWORD in file.text and _SETS.of(file)]
    found: set[str] = set()
    asked: set[str] = set()
    # Modules are told by the last steps of paths, so that few files are looked at for each.
    by_step: dict[str, list[str]] = {}
    for name in files if pending else ():
        for step in dict.fromkeys(steps_of(name)):
            by_step.setdefault(step, []).append(name)
    while pending:
        # Of none more than its text is needed.
        for path in imports_in(files[pending.pop()].text) - asked:
            asked.add(path)
            if path.split(".")[0] in _LIBRARIES:
                continue
            for name in by_step.get(path.rpartition(".")[2], ()):
                if name not in found and may_hold(name, path):
                    found.add(name)
                    pending.append(name)
    return frozenset(found)


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


_SETS = ByText(_sets_getter)


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
