"""What names of a file bring from others of the project, star imports included."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from tapemigrate.rules.callgraph.places import import_path
from tapemigrate.rules.finding import Unit


@dataclass(frozen=True, slots=True)
class HandedOn:
    """What others may import from a file that itself imports it.

    ``named`` are the names and their paths, ``stars`` the modules of which it imports all names.
    """

    named: tuple[tuple[str, str], ...]
    stars: tuple[str, ...]


def references(unit: Unit) -> tuple[tuple[ast.expr, str], ...]:
    """Everything in the file that means an imported thing, and the path of that.

    TensorFlow's own is left out. A name that nothing in the file binds has as many paths as there
    are star imports that may bring it.
    """
    return unit.once(_references)


def handed_on(unit: Unit) -> HandedOn:
    """What others may import from the file that itself imports it."""
    named = (
        (alias.asname or alias.name, import_path(stmt, alias.name))
        for stmt in unit.nodes(ast.ImportFrom)
        for alias in stmt.names
        if alias.name != "*"
    )
    return HandedOn(
        tuple((name, path) for name, path in named if not _is_tensorflow(path)),
        tuple(module for module in unit.names.stars if not _is_tensorflow(module)),
    )


def starred(module: str, name: str) -> str:
    """The path of a name that a star import of the module brings."""
    return f"{module}{'' if module.endswith('.') else '.'}{name}"


def _references(unit: Unit) -> tuple[tuple[ast.expr, str], ...]:
    found = [each for each in unit.names.references() if not _is_tensorflow(each[1])]
    for node in unit.nodes(ast.Name) if unit.names.stars else ():
        if isinstance(node.ctx, ast.Load):
            found += ((node, path) for path in unit.names.starred(node))
    return tuple(found)


def _is_tensorflow(path: str) -> bool:
    return path.startswith("tensorflow.")
