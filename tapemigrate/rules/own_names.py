"""The names that a function keeps for itself, as Python tells them: what else bears them is not
meant there.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from tapemigrate.flow.functions import Function, parameters
from tapemigrate.source.trees import children, declarations, kept, walk

_CODE = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_IMPORTS = (ast.Import, ast.ImportFrom)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


@dataclass(frozen=True, slots=True)
class OwnNames:
    """``values`` are names of parameters and of what is assigned, ``code`` of what is defined or
    imported; ``declared`` are ``global`` and ``nonlocal``.
    """

    values: frozenset[str]
    code: frozenset[str]
    declared: dict[str, Literal["global", "nonlocal"]]


def own_names(function: Function) -> OwnNames:
    """The names that the function itself binds: not those that a function inside of it does."""
    return kept(function, _own_names)


def is_of_comprehension(name: ast.Name, inner: ast.AST, around: Iterator[ast.AST]) -> bool:
    """Whether a comprehension among what stands ``around`` gives the name its values.

    The name stands in ``inner``, which is it or a function.
    """
    child = inner
    for node in around:
        if isinstance(node, _COMPREHENSIONS):
            # What it goes through first is looked up around it.
            if child is not node.generators[0] or name not in walk(node.generators[0].iter):
                stored = (n for each in node.generators for n in walk(each.target))
                if any(isinstance(n, ast.Name) and n.id == name.id for n in stored):
                    return True
        child = node
    return False


def _own_names(node: ast.AST) -> OwnNames:
    assert isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
    body: list[ast.AST] = [node.body] if isinstance(node, ast.Lambda) else [*node.body]
    declared: dict[str, Literal["global", "nonlocal"]] = {}
    for stmt in declarations(body):
        how: Literal["global", "nonlocal"] = (
            "global" if isinstance(stmt, ast.Global) else "nonlocal"
        )
        declared.update(dict.fromkeys(stmt.names, how))
    values = {a.arg for a in parameters(node.args)}
    code: set[str] = set()
    stack = body
    while stack:
        each = stack.pop()
        if isinstance(each, _CODE):
            code.add(each.name)
        elif isinstance(each, _IMPORTS):
            code.update((alias.asname or alias.name).partition(".")[0] for alias in each.names)
        elif isinstance(each, _COMPREHENSIONS):
            walrus = (n.target for n in walk(each) if isinstance(n, ast.NamedExpr))
            values.update(target.id for target in walrus)
        elif not isinstance(each, ast.Lambda):
            if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store):
                values.add(each.id)
            stack.extend(children(each))
    return OwnNames(frozenset(values), frozenset(code), declared)
