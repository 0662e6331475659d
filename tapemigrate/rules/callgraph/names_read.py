"""Which names of which modules, the user's own, a piece of code reads."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import NamedTuple

from tapemigrate.flow.functions import free_names
from tapemigrate.rules.callgraph.classes import is_of_library
from tapemigrate.rules.callgraph.import_chains import imports_below
from tapemigrate.rules.callgraph.imported import homes_of, leads_to
from tapemigrate.rules.callgraph.places import split_path
from tapemigrate.rules.finding import Unit
from tapemigrate.rules.indexes import names_bound
from tapemigrate.rules.project import Project
from tapemigrate.source.trees import walk


class Read(NamedTuple):
    """A name of a module, and the parts of what it stands for that are read."""

    filename: str
    name: str
    parts: tuple[str, ...]


def read_in(project: Project, unit: Unit, root: ast.AST) -> Iterator[Read]:
    """What a function, a class or a value at the top of a file reads of modules."""
    yield from imported_in(project, unit, root)
    own = unit.once(names_bound)
    free = free_names(root) if isinstance(root, ast.stmt) else None
    for node in walk(root):
        if isinstance(node, ast.Name) and node.id in own and (free is None or node.id in free):
            yield Read(unit.filename, node.id, _parts_read(unit, node))


def imported_in(project: Project, unit: Unit, root: ast.AST) -> Iterator[Read]:
    """The same of what other files of the user's bring."""
    for chain, path in imports_below(project, unit, root):
        parts = _parts_read(unit, chain)
        while all(split_path(path)) and not is_of_library(path):
            for home, name in homes_of(project, path):
                if name in home.once(names_bound):
                    if leads_to(project, path, unit, home, name) is not False:
                        yield Read(home.filename, name, parts)
            path, last = split_path(path)
            parts = (last, *parts)


def _parts_read(unit: Unit, node: ast.expr) -> tuple[str, ...]:
    """The attributes that are read of what the node names: ``embedder.table``."""
    parts: list[str] = []
    above = unit.parents.get(node)
    while isinstance(above, ast.Attribute | ast.Subscript):
        parts += [above.attr] if isinstance(above, ast.Attribute) else []
        above = unit.parents.get(above)
    return tuple(parts)
