"""Variables that a library function makes inside its loop in a v1 graph, and reads through a cache.

`dynamic_rnn`, `map_fn` and their like set the `caching_device` of their variable scope there. A
tape does not see that such a variable is read: it gives None, without a word, where `tf.gradients`
gave the gradient.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterable
from weakref import WeakKeyDictionary

from tapemigrate.rules.finding import Unit
from tapemigrate.rules.project import Project
from tapemigrate.tape.leaf import Leaf
from tapemigrate.tape.region import Region
from tapemigrate.tape.request import Refusal

# Their cells make variables on the first call, which runs in the loop.
_CELLS = frozenset(
    {
        *("dynamic_rnn", "static_rnn", "raw_rnn", "static_state_saving_rnn", "dynamic_decode"),
        *("bidirectional_dynamic_rnn", "static_bidirectional_rnn", "bidirectional_rnn"),
        *("stack_bidirectional_dynamic_rnn", "stack_bidirectional_rnn", "state_saving_rnn"),
    }
)
_LOOPS = frozenset({"map_fn", "scan", "foldl", "foldr"})
# What makes variables in the function that a loop is given.
_MAKERS = frozenset({"get_variable", "Variable", "layers", "slim", "contrib", "keras", "dense"})
_HARMLESS = ("tensorflow.", "numpy.", "math.")
_ONE_VARIABLE = frozenset({"get_variable", "Variable", "VariableV1"})

#: Of the functions and classes of a file, by name: the library function that they run.
_Running = dict[str, str]
_RUNNING: WeakKeyDictionary[Project, dict[str, _Running]] = WeakKeyDictionary()


def refuse(
    region: Region, nodes: Iterable[ast.AST], unit: Unit, project: Project
) -> Refusal | None:
    """Why a tape round ``nodes`` would miss variables among the sources of ``region``."""
    if not (region.request.variables or any(map(_may_be_made_anywhere, region.sources.leaves))):
        return None
    name = next((n for node in nodes for n in [_runs(node, unit, project)] if n is not None), None)
    if name is None:
        return None
    return Refusal(
        f"variables that are made inside `{name}` are read through a cache in a v1 graph, and a "
        "tape gives None for them without a word",
        f"Make the variables before `{name}` runs (`cell.build(input_shape)`, or the layer called "
        "once outside) and differentiate by them by name; or write the loop with `tf.keras`.",
    )


def _may_be_made_anywhere(leaf: Leaf) -> bool:
    """Whether the leaf is variables that are not certainly made in plain sight."""
    if not leaf.variables:
        return False
    values = [made.value for made in leaf.defs]
    return not values or not all(
        isinstance(value, ast.Call) and _last(value.func) in _ONE_VARIABLE for value in values
    )


def _runs(root: ast.AST, unit: Unit, project: Project) -> str | None:
    """The function of that kind that ``root`` runs, directly or in functions that it names."""
    own = _running(unit, project)
    for node in ast.walk(root):
        name = _last(node)
        found = _direct(node, unit) or (own.get(name) if name is not None else None)
        if found is not None:
            return found
        if name is not None and isinstance(node, ast.Name | ast.Attribute):
            path = unit.names.qualified(node)
            if path is not None and not path.startswith("tensorflow."):
                for other in project.units.defining(name):
                    if other is not unit and name in _running(other, project):
                        return _running(other, project)[name]
    return None


def _running(unit: Unit, project: Project) -> _Running:
    files = _RUNNING.setdefault(project, {})
    if unit.filename not in files:
        files[unit.filename] = _find(unit)
    return files[unit.filename]


def _find(unit: Unit) -> _Running:
    if not any(word in unit.text for word in _CELLS | _LOOPS):
        return {}
    pending = [n for n in unit.parents if isinstance(n, ast.FunctionDef | ast.ClassDef)]
    found: _Running = {}
    before = -1
    while len(found) > before:
        before = len(found)
        for function in pending:
            for node in ast.walk(function):
                name = _direct(node, unit) or found.get(_last(node) or "")
                if name is not None and node is not function:
                    found.setdefault(function.name, name)
                    break
    return found


def _direct(node: ast.AST, unit: Unit) -> str | None:
    """The name of the library function, if ``node`` calls one and it may make variables."""
    if not isinstance(node, ast.Call):
        return None
    name = _last(node.func)
    if name in _CELLS:
        return name
    path = unit.names.qualified(node.func) or ""
    if name not in _LOOPS or not path.startswith("tensorflow."):
        return None
    functions = [*node.args[:1], *(k.value for k in node.keywords if k.arg == "fn")]
    return name if any(_makes(each, unit, set()) for each in functions) else None


def _makes(function: ast.AST, unit: Unit, seen: set[ast.AST]) -> bool:
    """Whether ``function``, or one that it calls, makes variables; yes if that cannot be told."""
    seen.add(function)
    called = [function, *(n.func for n in ast.walk(function) if isinstance(n, ast.Call))]
    for node in called:
        name = _last(node)
        if not isinstance(node, ast.Name | ast.Attribute):
            continue
        path = unit.names.qualified(node)
        if path is not None and path.startswith(_HARMLESS):
            if not _MAKERS.isdisjoint(path.split(".")):
                return True
            continue
        own = [n for n in unit.parents if isinstance(n, ast.FunctionDef) and n.name == name]
        if any(_makes(each, unit, seen) for each in own if each not in seen):
            return True
        if not own and not _is_value(node, path):
            return True
    return any(_last(n) in _MAKERS for n in ast.walk(function))


def _is_value(node: ast.Name | ast.Attribute, path: str | None) -> bool:
    """Whether it is a builtin, or the method of a value such as a tensor or a list."""
    if isinstance(node, ast.Name):
        return hasattr(builtins, node.id)
    return path is None and not (isinstance(node.value, ast.Name) and node.value.id == "self")


def _last(node: ast.AST) -> str | None:
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else None
