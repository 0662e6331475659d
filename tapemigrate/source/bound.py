"""The functions of a file: the names that each gives values, and its own blocks of statements."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tapemigrate.source.trees import blocks, statements, walk

Function = ast.FunctionDef | ast.AsyncFunctionDef
#: What has names of its own.
INNER = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
_SHOWN = ("locals(", "vars(", "exec(", "eval(")


def functions(tree: ast.Module) -> Iterator[Function]:
    """All functions of a file, also those in others."""
    return (node for node in statements(tree) if isinstance(node, Function))


def shows_names(text: str) -> bool:
    """Whether a file may look its own names up by texts."""
    return any(word in text for word in _SHOWN)


def bound(function: Function) -> Iterator[str]:
    """Every name that is given a value in a function, as often as that is done."""
    for node in walk(function):
        match node:
            case ast.Name(id=name, ctx=ast.Store() | ast.Del()):
                yield name
            case ast.arg(arg=name) | ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                yield name
            case ast.ClassDef(name=name) | ast.ExceptHandler(name=str(name)):
                yield name
            case ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
                yield name
            case ast.MatchMapping(rest=str(name)):
                yield name
            case ast.Global(names=names) | ast.Nonlocal(names=names):
                yield from names
            case ast.alias(name=name, asname=asname):
                yield asname or name.partition(".")[0]


def own_blocks(function: Function) -> Iterator[list[ast.stmt]]:
    """The blocks of statements of a function, but for those of functions and classes in it."""
    pending: list[ast.AST] = [function]
    for node in pending:  # which grows meanwhile
        inside = [*blocks(node)]
        if inside:
            for field in ("body", "orelse", "finalbody"):
                yield getattr(node, field, None) or []
            pending += [each for each in inside if not isinstance(each, INNER)]
