"""Settings under which variables are made that a tape does not see: as references, or with copies.

``caching_device`` has a variable read through a copy, ``use_resource=False`` makes a reference
variable (tensorflow/python/ops/variable_scope.py, ``_VariableStore._get_single_variable``).
"""

from __future__ import annotations

import ast
import os
from collections.abc import Iterator
from dataclasses import replace

from tapemigrate.flow.functions import named_defaults
from tapemigrate.rules.finding import Unit
from tapemigrate.rules.project import Project
from tapemigrate.rules.unseen.reasons import CACHING, REFERENCES
from tapemigrate.rules.unseen.words import last_of
from tapemigrate.tape.request import Refusal

_CACHED, _RESOURCE = "caching_device", "use_resource"
_KEYS = frozenset({_CACHED, _RESOURCE})
_WHY = {_CACHED: CACHING, _RESOURCE: REFERENCES}
_SCOPE_METHODS = {"set_caching_device": _CACHED, "set_use_resource": _RESOURCE}
_SCOPES = ("variable_scope", "variable_op_scope")
#: A file without one of these words sets nothing of the kind.
WORDS = (*_KEYS, *_SCOPE_METHODS)


def set_by(node: ast.AST) -> Refusal | None:
    """Why a tape does not see the variables that are made with what the node sets."""
    return next((_WHY[name] for name, value in _given(node) if _is_set(name, value)), None)


def set_on_scopes(node: ast.AST) -> Refusal | None:
    """The same for a node that sets it for functions that are called elsewhere as well."""
    if isinstance(node, ast.keyword | ast.arguments):
        return None
    if isinstance(node, ast.Call) and last_of(node.func) in _SCOPES:
        of_references = (k for k in node.keywords if k.arg == _RESOURCE)
        return next(filter(None, map(set_by, of_references)), None)
    return set_by(node)


def _given(node: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    """Which of the two settings are given a value, and which."""
    match node:
        case ast.keyword(arg=str(name), value=value) if name in _KEYS:
            yield name, value
        case ast.Call(func=ast.Attribute(attr=method), args=[value]) if method in _SCOPE_METHODS:
            yield _SCOPE_METHODS[method], value
        case ast.Dict(keys=keys, values=values):
            named = zip(keys, values, strict=True)
            yield from ((_text(k), v) for k, v in named)
        case ast.Assign(targets=targets, value=value):
            keys = [t.slice for t in targets if isinstance(t, ast.Subscript)]
            yield from ((_text(k), value) for k in keys)
        case ast.arguments():
            usual = named_defaults(node).get(_RESOURCE)
            if isinstance(usual, ast.Constant):
                yield _RESOURCE, usual


def _text(key: ast.expr | None) -> str:
    return key.value if isinstance(key, ast.Constant) and isinstance(key.value, str) else ""


def _is_set(name: str, value: ast.expr) -> bool:
    """Whether the value sets it; what hands on what it is handed may set nothing."""
    if name not in _KEYS or last_of(value) == name:
        return False
    harmless = (None,) if name == _CACHED else (None, True)
    return not (isinstance(value, ast.Constant) and any(value.value is each for each in harmless))


class _OnScopes:
    """The files that functions run of which are called where another file has set it."""

    def __init__(self, project: Project) -> None:
        told = {
            unit.filename: why
            for unit in project.units.having(*WORDS)
            for why in filter(None, (_first(unit),))
        }
        self._why: dict[str, tuple[str, Refusal]] = {}
        for home, why in sorted(told.items()):
            for filename in project.imports.imported([home]) - {home}:
                self._why.setdefault(filename, (home, why))

    def refuse(self, unit: Unit) -> Refusal | None:
        found = self._why.get(unit.filename)
        if found is None:
            return None
        home, why = found
        return replace(why, reason=f"of {os.path.basename(home)}: {why.reason}")


def _first(unit: Unit) -> Refusal | None:
    return next(filter(None, map(set_on_scopes, unit.parents)), None)


def set_elsewhere(project: Project, unit: Unit) -> Refusal | None:
    """Why a tape would not see the variables of ``unit``, by what its program sets on scopes."""
    return project.once(_OnScopes).refuse(unit)
