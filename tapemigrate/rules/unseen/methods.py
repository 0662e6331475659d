"""Methods of other files that run what no tape records: of ``model.predict(x)`` an import tells
nothing but where the object was made.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from collections.abc import Set as AbstractSet

from tapemigrate.flow.functions import NamedFunction, parameters
from tapemigrate.flow.paths import is_super, path_of
from tapemigrate.rules.callgraph.classes import is_of_library
from tapemigrate.rules.callgraph.meaning import constructors
from tapemigrate.rules.finding import Unit
from tapemigrate.rules.unseen.holding import HANDED, calls_unknown, holding, names_in
from tapemigrate.source.trees import arguments_of, walk


def methods_of(unit: Unit) -> frozenset[str]:
    """The names of all methods in ``unit``."""
    return frozenset(f.name for f in _functions(unit) if isinstance(unit.parents[f], ast.ClassDef))


def bases_in(unit: Unit) -> frozenset[str]:
    """The paths of imported base classes of the classes in ``unit``, but for those of libraries."""
    bases = (base for cls in unit.nodes(ast.ClassDef) for base in cls.bases)
    paths = filter(None, map(unit.names.qualified, bases))
    return frozenset(path for path in paths if not is_of_library(path))


def named_in(unit: Unit) -> dict[str, frozenset[str]]:
    """By the names of the functions and methods of ``unit``, the names that stand in them.

    What objects and the module keep has the names that stand in what it is given.
    """
    found = holding(unit)
    for function in _functions(unit):
        here = names_in(unit, function) | ({HANDED} if calls_unknown(unit, function) else set())
        found[function.name] = found.get(function.name, frozenset()) | here
    return found


#: Stands for what runs where an object is called itself.
CALLED = "()"


def asked_of_parameters(unit: Unit) -> dict[str, frozenset[str]]:
    """By the names of functions: the attributes that they ask of what they are handed, and what
    they hand it on to; ``CALLED`` where they call it.
    """
    found: dict[str, frozenset[str]] = {}
    for function in _functions(unit):
        own = {a.arg for a in parameters(function.args)}
        nodes = walk(function)
        for stmt in (n for n in nodes if isinstance(n, ast.Assign)):
            if (path_of(stmt.value) or ("",))[0] in own:
                own |= {t.id for t in stmt.targets if isinstance(t, ast.Name)}
        asked: set[str] = set()
        for node in nodes:
            if isinstance(node, ast.Attribute) and (path_of(node) or ("",))[0] in own:
                asked.add(node.attr)
            elif isinstance(node, ast.Call):
                if isinstance(node.func, ast.Name) and node.func.id in own:
                    asked.add(CALLED)
                if any((path_of(a) or ("",))[0] in own for a in arguments_of(node)):
                    asked.add(_last(node.func))
        found[function.name] = found.get(function.name, frozenset()) | asked
    return found


def may_be_of(
    unit: Unit, node: ast.Attribute, makes: Callable[[ast.expr], bool], replaced: AbstractSet[str]
) -> bool:
    """Whether ``node`` may be a method of an object that an expression makes of which that is so.

    ``makes`` is asked about what is called to make an object: classes, mostly. ``replaced`` is what
    classes of other files have in the place of what those of ``unit`` have.
    """
    owner = node.value
    if unit.names.qualified(node) is not None:
        return False
    around = list(_around(unit, node))
    if is_super(owner) or (isinstance(owner, ast.Name) and owner.id == "self"):
        cls = next((c for c in around if isinstance(c, ast.ClassDef)), None)
        if node.attr in replaced:
            return True
        own = cls is not None and any(getattr(s, "name", "") == node.attr for s in cls.body)
        return cls is None or (
            (is_super(owner) or not own)
            and not all(is_of_library(unit.names.qualified(base)) for base in cls.bases)
        )
    functions = [f for f in around if isinstance(f, NamedFunction | ast.Lambda)]
    handed = {a.arg for f in functions for a in parameters(f.args)}
    root = (path_of(owner) or ("",))[0]
    made = None if root in handed and root != "self" else constructors(unit, owner)
    return made is None or any(map(makes, made))


def _around(unit: Unit, node: ast.AST) -> Iterator[ast.AST]:
    while (above := unit.parents.get(node)) is not None:
        yield above
        node = above


def _functions(unit: Unit) -> Iterator[NamedFunction]:
    return (node for node in unit.definitions if isinstance(node, NamedFunction))


def _last(node: ast.AST) -> str:
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""
