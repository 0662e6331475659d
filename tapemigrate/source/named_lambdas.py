"""Lambdas that are given a name, read as the functions which they are.

``square = lambda x: x * x`` is ``def square(x): return x * x`` in all but the text. The function is
made as a tree, whose nodes keep their places: it stands where the statement does, and what it
returns where the lambda's body stands.
https://docs.python.org/3/reference/expressions.html#lambda
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tapemigrate.source.points import begin
from tapemigrate.source.positions import Lines
from tapemigrate.source.trees import statements, walk

_BLOCKS = ("body", "orelse", "finalbody")
_PASSED_ON = (ast.Yield, ast.YieldFrom, ast.Await)


def name_lambdas(tree: ast.Module, text: str) -> bool:
    """Puts functions in the place of the lambdas of ``tree`` that have a line of their own.

    Returns whether there may be any.
    """
    if "lambda" not in text:
        return False
    lines: Lines | None = None
    for block in _blocks(tree):
        for place, stmt in enumerate(block):
            match stmt:
                case ast.Assign(targets=[ast.Name(id=name)], value=ast.Lambda() as made):
                    lines = lines or Lines(text)
                    if _is_alone(stmt, lines) and not _gives_more(made):
                        block[place] = _function(name, stmt, made)
    return lines is not None


def may_define(text: str, name: str) -> bool:
    """Whether a function of that name may be among those of ``text``, told quickly."""
    return f"def {name}" in text or ("lambda" in text and name in text)


def is_lambda(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether it was made for a lambda: the text has no ``def`` there, and no ``return``."""
    first = function.body[0]
    return (
        isinstance(first, ast.Return)
        and first.value is not None
        and begin(first) == begin(first.value)
    )


def _blocks(tree: ast.Module) -> Iterator[list[ast.stmt]]:
    for node in statements(tree):
        for field in _BLOCKS:
            block: list[ast.stmt] | None = getattr(node, field, None)
            if block:
                yield block


def _is_alone(stmt: ast.Assign, lines: Lines) -> bool:
    """Whether nothing but a comment shares its lines."""
    span = lines.span(stmt)
    before = lines.row(span.row)[: span.column]
    behind = lines.row(span.end_row)[span.end_column :].strip()
    return not before.strip() and (not behind or behind.startswith("#"))


def _gives_more(made: ast.Lambda) -> bool:
    """Whether a function with a ``return`` would be something else."""
    return any(isinstance(node, _PASSED_ON) for node in walk(made.body))


def _function(name: str, stmt: ast.Assign, made: ast.Lambda) -> ast.FunctionDef:
    value = ast.copy_location(ast.Return(made.body), made.body)
    return ast.copy_location(ast.FunctionDef(name, made.args, [value], []), stmt)
