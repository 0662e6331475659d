"""Calls of what is looked up or handed on, read as the plain calls which they are.

``getattr(net, "build")(x)`` is ``net.build(x)`` where a class of the file has such a method, and
``apply(net.build, x)`` is as well where ``apply`` does nothing but call what it is handed with all
the rest. The nodes keep their places. What libraries hold stays as it is looked up.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Set
from typing import TypeGuard

from tapemigrate.patterns import late
from tapemigrate.source.carriers import root_of
from tapemigrate.source.trees import calls_in, statements, walk

_LOOKED_UP = late(r"""\bgetattr\([^()]*,\s*["']([A-Za-z]\w*)["']\s*,?\s*\)\s*\(""")
_HANDED_ON = late(r"\breturn\b[\s(]*\w+\(\s*\*\w+,\s*\*\*\w+\s*,?\s*\)")


def call_plainly(tree: ast.Module, text: str) -> bool:
    """Puts functions in the place of what looks them up or calls them; whether there may be any."""
    # What the forms cannot do without is looked for many times as fast.
    names = set(_LOOKED_UP.findall(text)) if "getattr(" in text else set[str]()
    hands_on = "**" in text and _HANDED_ON.search(text) is not None
    if not names and not hands_on:
        return False
    methods = names & set(_methods(tree)) if names else names
    imported = imported_names(tree)
    helpers = frozenset(_helpers(tree)) if hands_on else frozenset[str]()
    for call in calls_in(tree):
        call.func = _looked_up(call.func, methods, imported)
        if isinstance(call.func, ast.Name) and call.func.id in helpers and call.args:
            func = _looked_up(call.args[0], methods, imported)
            if root_of(func) not in imported | {""}:
                call.func, call.args = func, call.args[1:]
    return True


def _looked_up(func: ast.expr, methods: Set[str], imported: Set[str]) -> ast.expr:
    """``net.build`` for ``getattr(net, "build")``."""
    match func:
        case ast.Call(
            func=ast.Name(id="getattr"),
            args=[owner, ast.Constant(value=str(name))],
            keywords=[],
        ) if name in methods and root_of(owner) not in imported:
            return ast.copy_location(ast.Attribute(owner, name, ast.Load()), func)
    return func


def _methods(tree: ast.Module) -> Iterator[str]:
    """The names of the methods of all classes of the file, but for private ones."""
    for cls in statements(tree):
        for stmt in cls.body if isinstance(cls, ast.ClassDef) else ():
            if isinstance(stmt, ast.FunctionDef) and not stmt.name.startswith("__"):
                yield stmt.name


def imported_names(tree: ast.Module) -> frozenset[str]:
    """The names that import statements give."""
    return frozenset(
        (alias.asname or alias.name).split(".")[0]
        for stmt in statements(tree)
        if isinstance(stmt, ast.Import | ast.ImportFrom)
        for alias in stmt.names
    )


def _helpers(tree: ast.Module) -> Iterator[str]:
    """The functions of the file that do nothing but call their first argument with the others."""
    for stmt in tree.body:
        if _is_helper(stmt):
            others = (node for node in walk(tree) if node is not stmt)
            if not any(_binds(node, stmt.name) for node in others):
                yield stmt.name


def _is_helper(stmt: ast.stmt) -> TypeGuard[ast.FunctionDef]:
    """``def apply(function, *args, **kwargs): return function(*args, **kwargs)``"""
    match stmt:
        case ast.FunctionDef(
            args=ast.arguments(
                args=[ast.arg(arg=function)],
                vararg=ast.arg(arg=rest),
                kwonlyargs=[],
                kwarg=ast.arg(arg=named),
                defaults=[],
            ),
            body=[*before, ast.Return(value=ast.Call() as call)],
            decorator_list=[],
        ):
            plain = f"{function}(*{rest}, **{named})"
            return not list(filter(_runs, before)) and ast.unparse(call) == plain
    return False


def _runs(stmt: ast.stmt) -> bool:
    """Whether it is more than a text that says what the function is for."""
    return not isinstance(stmt, ast.Expr) or not isinstance(stmt.value, ast.Constant)


def _binds(node: ast.AST, name: str) -> bool:
    """Whether the name may mean something else than its one function at the top."""
    match node:
        case ast.Name(id=found, ctx=ast.Store() | ast.Del()):
            return found == name
        case ast.arg(arg=found) | ast.ClassDef(name=found) | ast.FunctionDef(name=found):
            return found == name
        case ast.alias():
            return (node.asname or node.name).split(".")[0] == name
        case ast.Global() | ast.Nonlocal():
            return name in node.names
    return False
