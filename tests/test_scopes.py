"""The scopes of real files, compared with what Python's own compiler says of them."""

from __future__ import annotations

import argparse
import ast
import dataclasses
import inspect
import symtable
import sys
import typing
from collections import Counter
from collections.abc import Iterator
from types import ModuleType

import pytest

from tapemigrate import names, scopes
from tapemigrate.scopes import Scopes


def compiled(table: symtable.SymbolTable) -> Iterator[frozenset[str]]:
    """The names that each scope below the module binds, as the compiler has it."""
    for child in table.get_children():
        yield frozenset(
            symbol.get_name()
            for symbol in child.get_symbols()
            if (symbol.is_assigned() or symbol.is_parameter() or symbol.is_imported())
            and not symbol.is_declared_global()
            and not symbol.is_nonlocal()
            and plain(symbol.get_name())
        )
        yield from compiled(child)


def ours(found: Scopes) -> Iterator[frozenset[str]]:
    for scope in found.every:
        if scope is not found.module:
            yield frozenset(name for name in scope.bindings if plain(name))


def plain(name: str) -> bool:
    """Not one of the compiler's own names, nor one that it mangles."""
    return not name.startswith((".", "__")) and "__" not in name


@pytest.mark.skipif(
    sys.version_info >= (3, 12), reason="the compiler puts comprehensions into the scope around"
)
@pytest.mark.parametrize(
    "module", [names, scopes, argparse, dataclasses, inspect, typing, ast], ids=lambda m: m.__name__
)
def test_scopes_bind_what_the_compiler_says(module: ModuleType) -> None:
    text = inspect.getsource(module)
    expected = Counter(compiled(symtable.symtable(text, "text.py", "exec")))
    assert Counter(ours(Scopes(ast.parse(text)))) == expected
