"""Star imports of a program's own modules, read as the imports of the names that they bring.

``from layers import *`` says nothing of ``dense``. Where the file that is meant is at hand, the
statement gets the names that its own file reads and binds nowhere; the star stays beside them.
"""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Collection, Mapping
from functools import lru_cache

from tapemigrate.patterns import late
from tapemigrate.source.decoding import SourceError
from tapemigrate.source.parsing import parse
from tapemigrate.source.trees import top_level, walk

_STAR = late(r"^[ \t]*from[ \t]+([.\w]+)[ \t]+import[ \t]+\*", re.MULTILINE)
#: The names that star imports may bring, by the module as the import writes it.
Brought = tuple[tuple[str, frozenset[str]], ...]


def starred_modules(text: str) -> list[str]:
    """The modules of which a text may import all names; relative ones have their dots."""
    return list(dict.fromkeys(_STAR.findall(text))) if "*" in text else []


@lru_cache(maxsize=256)
def names_for_stars(text: str, filename: str) -> frozenset[str]:
    """What ``import *`` brings of a module, as far as the module itself binds it."""
    try:
        tree = parse(text, filename)
    except SourceError:
        return frozenset()
    bound = frozenset(name for stmt in top_level(tree) for name in _bound(stmt))
    listed = _listed(tree)
    return (
        frozenset(n for n in bound if not n.startswith("_")) if listed is None else bound & listed
    )


def name_starred(tree: ast.Module, brought: Brought) -> bool:
    """Adds to star imports the names that they may bring; whether there may be any."""
    by_module: Mapping[str, Collection[str]] = dict(brought)
    if not by_module:
        return False
    read: set[str] = set()
    known = set(vars(builtins))
    for node in walk(tree):
        if isinstance(node, ast.Name):
            (read if isinstance(node.ctx, ast.Load) else known).add(node.id)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            known.add(node.name)
        elif isinstance(node, ast.arg):
            known.add(node.arg)
        elif isinstance(node, ast.alias):
            known.add((node.asname or node.name).split(".")[0])
    for stmt in top_level(tree):
        if isinstance(stmt, ast.ImportFrom) and stmt.names[0].name == "*":
            module = "." * stmt.level + (stmt.module or "")
            names = (read - known).intersection(by_module.get(module, ()))
            star = stmt.names[0]
            stmt.names += [ast.copy_location(ast.alias(name), star) for name in sorted(names)]
    return True


def _bound(stmt: ast.stmt) -> list[str]:
    """The names that a statement of a module binds, those in its blocks apart."""
    targets: list[ast.expr] = []
    match stmt:
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            return [stmt.name]
        case ast.Import() | ast.ImportFrom():
            return [(each.asname or each.name).split(".")[0] for each in stmt.names]
        case ast.Assign():
            targets = stmt.targets
        case ast.AnnAssign(value=ast.expr()) | ast.For() | ast.AsyncFor():
            targets = [stmt.target]
        case ast.With() | ast.AsyncWith():
            targets = [i.optional_vars for i in stmt.items if i.optional_vars is not None]
    parts = (node for target in targets for node in ast.walk(target))
    return [n.id for n in parts if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)]


def _listed(tree: ast.Module) -> frozenset[str] | None:
    """The texts of ``__all__``; None where there is none, or not all of it is seen."""
    given = [s for s in top_level(tree) if "__all__" in _bound(s)]
    if len(given) != 1 or not isinstance(given[0], ast.Assign):
        return None
    value = given[0].value
    if not isinstance(value, ast.List | ast.Tuple):
        return None
    texts = [e.value for e in value.elts if isinstance(e, ast.Constant)]
    return frozenset(t for t in texts if isinstance(t, str))
