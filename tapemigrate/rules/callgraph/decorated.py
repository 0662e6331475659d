"""Decorators, which may call a function with other arguments than its callers give."""

from __future__ import annotations

import ast

from tapemigrate.flow.paths import path_of
from tapemigrate.rules.finding import Unit

_PLAIN = frozenset({"staticmethod", "classmethod", "property"})
_ON_NO_OBJECT = (("staticmethod",), ("classmethod",))
# What comes from these hands on what it is given, or what is no tensor.
_HARMLESS = frozenset(
    {"tensorflow", "functools", "contextlib", "abc", "six", "typing", "gin", "absl", "unittest"}
    | {"pytest", "mock", "numpy", "overrides", "keras", "tensorflow_probability", "sonnet"}
    | {"threading", "collections", "flask", "click", "numba", "sacred"}
)


def runs_as_written(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether a call of the function does what stands in it: at most, it is called on no object."""
    return all(path_of(each) in _ON_NO_OBJECT for each in function.decorator_list)


def may_change_arguments(unit: Unit, function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether a decorator of ``function`` may make arguments of its own for it."""
    return any(not _is_harmless(unit, each) for each in function.decorator_list)


def _is_harmless(unit: Unit, decorator: ast.expr) -> bool:
    node = decorator.func if isinstance(decorator, ast.Call) else decorator
    if isinstance(node, ast.Name) and node.id in _PLAIN:
        return True
    if isinstance(node, ast.Attribute) and node.attr in ("setter", "getter", "deleter"):
        return True
    path = unit.names.qualified(node)
    return path is not None and path.split(".")[0] in _HARMLESS
