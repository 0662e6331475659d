"""What objects, classes and a module keep, told by the names that stand in what they are given."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tapemigrate.flow.changers import put_into
from tapemigrate.flow.functions import NamedFunction
from tapemigrate.flow.unpacking import GIVING, each_given
from tapemigrate.rules.callgraph.classes import is_of_library
from tapemigrate.rules.finding import Unit
from tapemigrate.rules.unseen.bindings import last_name, parts
from tapemigrate.source.trees import arguments_of, walk

#: Stands for what functions of a file may be handed to call it: ``Model(flip)``.
HANDED = "(handed)"


def names_in(unit: Unit, node: ast.AST) -> frozenset[str]:
    """The last names that stand in it, but for those of libraries: ``tf.train``."""
    exprs = (n for n in walk(node) if isinstance(n, ast.Name | ast.Attribute))
    named = (last_name(n) for n in exprs if not is_of_library(unit.names.qualified(n)))
    return frozenset(filter(None, named))


def holding(unit: Unit) -> dict[str, frozenset[str]]:
    """By the last names of what is kept, the names that stand in what it is given.

    ``self.layers = [flip]`` has those of the local ``flip``, too. ``HANDED`` has the names of
    what calls are handed as functions, or as objects.
    """
    shared = {name for names in unit.nodes(ast.Global) for name in names.names}
    local: dict[tuple[ast.AST | None, str], frozenset[str]] = {}
    kept: list[tuple[str, ast.AST | None, frozenset[str]]] = []
    for target, value in _given(unit):
        function, names = _function(unit, value), names_in(unit, value)
        for each in walk(target):
            if isinstance(each, ast.Attribute):
                kept.append((each.attr, function, names))
            elif not isinstance(each, ast.Name):
                continue
            elif function is None or each.id in shared:
                kept.append((each.id, function, names))
            else:
                key = (function, each.id)
                local[key] = local.get(key, frozenset()) | names
    kept += ((HANDED, _function(unit, each), names_in(unit, each)) for each in _handed(unit))
    found: dict[str, frozenset[str]] = {}
    for name, function, names in kept:
        all_names = set(names)
        pending = list(names)
        for held in pending:  # which grows meanwhile
            more = local.get((function, held), frozenset()) - all_names
            all_names |= more
            pending += more
        found[name] = found.get(name, frozenset()) | all_names
    return found


def calls_unknown(unit: Unit, function: NamedFunction) -> bool:
    """Whether it calls what nothing in the file shows: ``op(x)``, ``self.op(x)``."""
    shown = unit.once(_shown)
    for call in (n for n in walk(function) if isinstance(n, ast.Call)):
        func = call.func
        while isinstance(func, ast.Subscript):
            func = func.value
        if isinstance(func, ast.Attribute):
            if not isinstance(func.value, ast.Name) or func.value.id != "self":
                continue
        elif not isinstance(func, ast.Name) or unit.names.qualified(func) is not None:
            continue
        if last_name(func) not in shown:
            return True
    return False


def _shown(unit: Unit) -> frozenset[str]:
    """What is defined in the file, and attributes that are given nothing else, or a library's."""
    defined = {node.name for node in unit.definitions}

    def shows(value: ast.expr) -> bool:
        known = isinstance(value, ast.Constant) or last_name(value) in defined
        return known or is_of_library(unit.names.qualified(value))

    given: dict[str, list[ast.expr]] = {}
    for target, value in _given(unit):
        if isinstance(target, ast.Attribute):
            given.setdefault(target.attr, []).append(value)
    held = {name for name, values in given.items() if all(map(shows, values))}
    return frozenset(defined | held)


def _given(unit: Unit) -> Iterator[tuple[ast.expr, ast.expr]]:
    for kind in GIVING:
        for node in unit.nodes(kind):
            yield from each_given(node)
    for loop in unit.nodes(ast.For):
        yield loop.target, loop.iter
    for call in unit.nodes(ast.Call):
        for changed in put_into(call):
            yield from ((changed, each) for each in arguments_of(call))


def _handed(unit: Unit) -> Iterator[ast.expr]:
    """What calls of the project's functions are handed that may be called in turn."""
    for call in unit.nodes(ast.Call):
        if is_of_library(unit.names.qualified(call.func)):
            continue
        for part in (each for handed in arguments_of(call) for each in parts(handed)):
            # By Python's custom what makes an object begins with a capital letter.
            if not isinstance(part, ast.Call) or last_name(part.func)[:1].isupper():
                yield part


def _function(unit: Unit, node: ast.AST) -> ast.AST | None:
    """The function around ``node``, and around all others that are."""
    found, above = None, unit.parents.get(node)
    while above is not None:
        if isinstance(above, NamedFunction):
            found = above
        above = unit.parents.get(above)
    return found
