"""Ways to import what another file of a program has: by a star, under another name, named again."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping

Way = Callable[[ast.Module, frozenset[str]], bool]
"""Rewrites the imports of a file from some modules, if it can; says whether it did."""


def imported_otherwise(texts: Mapping[str, str], way: Way) -> dict[str, str] | None:
    """A program of which each file has what it imports from the others in another way.

    None where that changes nothing.
    """
    modules = frozenset(
        name.removesuffix(".py").replace("/", ".").removesuffix(".__init__") for name in texts
    )
    found = dict(texts)
    for name, text in texts.items():
        tree = ast.parse(text) if name.endswith(".py") else ast.Module([], [])
        if way(tree, modules):
            found[name] = ast.unparse(ast.fix_missing_locations(tree)) + "\n"
    return None if found == texts else found


def by_stars(tree: ast.Module, modules: frozenset[str]) -> bool:
    """``from nets import *`` for ``from nets import net``, and for ``import nets; nets.net``."""
    done, bound = False, _bound(tree)
    for stmt in _imports_from(tree, modules):
        if not any(a.asname or a.name.startswith("_") for a in stmt.names):
            stmt.names, done = [ast.alias("*")], True
    for stmt in [s for s in tree.body if isinstance(s, ast.Import) and len(s.names) == 1]:
        alias = stmt.names[0]
        parts = [
            node
            for node in ast.walk(tree)
            if isinstance(node, ast.Attribute)
            and isinstance(node.value, ast.Name)
            and node.value.id == (alias.asname or alias.name)
            and isinstance(node.ctx, ast.Load)
            and not node.attr.startswith("_")
        ]
        if alias.name in modules and parts and not bound & {p.attr for p in parts}:
            tree.body.insert(tree.body.index(stmt) + 1, ast.ImportFrom(alias.name, [_STAR], 0))
            _replace(tree, {part: ast.Name(part.attr, ast.Load()) for part in parts})
            done = True
    return done


def by_other_names(tree: ast.Module, modules: frozenset[str]) -> bool:
    """``from nets import net as another_net``, which all uses of it say."""
    names: set[str] = set()
    for stmt in _imports_from(tree, modules):
        for alias in stmt.names:
            names.add(alias.asname or alias.name)
            alias.asname = _other(alias.asname or alias.name)
    _rename(tree, names)
    return bool(names)


def by_second_names(tree: ast.Module, modules: frozenset[str]) -> bool:
    """``another_net = net`` below the import, which all uses of it say."""
    done = False
    for stmt in _imports_from(tree, modules):
        names = {alias.asname or alias.name for alias in stmt.names}
        _rename(tree, names)
        again = [
            ast.Assign([ast.Name(_other(name), ast.Store())], ast.Name(name, ast.Load()))
            for name in sorted(names)
        ]
        place = tree.body.index(stmt) + 1
        tree.body[place:place] = again
        done = True
    return done


WAYS: tuple[Way, ...] = (by_stars, by_other_names, by_second_names)
_STAR = ast.alias("*")


def in_a_package(texts: Mapping[str, str], main: str, exported: bool) -> dict[str, str] | None:
    """A program whose modules beside ``main`` lie in a package, ``lib``.

    What is imported from them comes of the package, where that is ``exported``; else modules are
    imported with it: ``import lib.nets``. None where modules lie in folders already, or there are
    none.
    """
    files = [name for name in texts if name.endswith(".py")]
    modules = frozenset(name.removesuffix(".py") for name in files if name != main)
    if not modules or any("/" in name for name in files):
        return None
    exports: dict[str, str] = {}
    found = {name: text for name, text in texts.items() if name not in files}
    for name in files:
        tree = ast.parse(texts[name])
        for stmt in [s for s in ast.walk(tree) if isinstance(s, ast.ImportFrom)]:
            if stmt.level == 0 and stmt.module in modules:
                if name != main:
                    stmt.level = 1
                elif exported and stmt.names[0].name != "*":
                    exports |= {alias.name: stmt.module for alias in stmt.names}
                    stmt.module = "lib"
                else:
                    stmt.module = f"lib.{stmt.module}"
        tree = _Packaging(modules, name != main).visit(tree)
        folder = "" if name == main else "lib/"
        found[folder + name] = ast.unparse(ast.fix_missing_locations(tree)) + "\n"
    lines = (f"from .{module} import {name}\n" for name, module in sorted(exports.items()))
    return {**found, "lib/__init__.py": "".join(lines)}


class _Packaging(ast.NodeTransformer):
    """``import lib.nets`` for ``import nets``, and all uses of it; inside, ``from . import``."""

    def __init__(self, modules: frozenset[str], inside: bool) -> None:
        self._modules = modules
        self._inside = inside
        self._dotted: set[str] = set()

    def visit_Import(self, stmt: ast.Import) -> ast.AST:
        (alias, *others) = stmt.names
        if others or alias.name not in self._modules:
            return stmt
        if self._inside:
            return ast.ImportFrom(None, [alias], 1)
        if alias.asname is None:
            self._dotted.add(alias.name)
        return ast.Import([ast.alias(f"lib.{alias.name}", alias.asname)])

    def visit_Name(self, node: ast.Name) -> ast.AST:
        if node.id in self._dotted:
            return ast.Attribute(ast.Name("lib", ast.Load()), node.id, node.ctx)
        return node


def _other(name: str) -> str:
    return f"another_{name}"


def _imports_from(tree: ast.Module, modules: frozenset[str]) -> list[ast.ImportFrom]:
    """The imports of things out of the modules, those of modules out of packages apart."""
    found = [s for s in tree.body if isinstance(s, ast.ImportFrom) and s.names[0].name != "*"]
    return [
        s
        for s in found
        if (s.module in modules if s.level == 0 else bool(s.module))
        and not any(f"{s.module}.{a.name}" in modules for a in s.names)
    ]


def _bound(tree: ast.Module) -> set[str]:
    nodes = [*ast.walk(tree)]
    found = {n.id for n in nodes if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load)}
    found |= {n.name for n in nodes if isinstance(n, ast.FunctionDef | ast.ClassDef)}
    return found | {n.arg for n in nodes if isinstance(n, ast.arg)}


def _rename(tree: ast.Module, names: set[str]) -> None:
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id in names and isinstance(node.ctx, ast.Load):
            node.id = _other(node.id)


def _replace(tree: ast.Module, new: Mapping[ast.Attribute, ast.Name]) -> None:
    class Replacing(ast.NodeTransformer):
        def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
            return new[node] if node in new else self.generic_visit(node)

    Replacing().visit(tree)
