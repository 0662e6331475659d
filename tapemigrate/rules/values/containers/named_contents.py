"""What a file puts under names: into the lists of attributes, under the keys of dicts."""

from __future__ import annotations

import ast
from collections import defaultdict

from tapemigrate.flow.paths import Path
from tapemigrate.rules.finding import Unit


def put_in_by_name(unit: Unit) -> dict[str, list[ast.expr]]:
    """By the names of attributes: what the file puts into lists and dicts that they hold."""
    found: dict[str, list[ast.expr]] = defaultdict(list)
    for call in unit.nodes(ast.Call):
        match call.func:
            case ast.Attribute(value=ast.Attribute(attr=name), attr="append" | "add" | "insert"):
                found[name] += call.args[-1:]
    for stmt in unit.nodes(ast.Assign):
        for target in stmt.targets:
            match target:
                case ast.Subscript(value=ast.Attribute(attr=name)):
                    found[name].append(stmt.value)
    return found


def by_key(unit: Unit) -> dict[str, list[ast.expr]]:
    """What dicts of the file hold, by the texts that are their keys, and what calls name."""
    found: dict[str, list[ast.expr]] = defaultdict(list)
    for shown in unit.nodes(ast.Dict):
        for name, value in zip(shown.keys, shown.values, strict=True):
            if isinstance(name, ast.Constant) and isinstance(name.value, str):
                found[name.value].append(value)
    for stmt in unit.nodes(ast.Assign):
        for target in stmt.targets:
            match target:
                case ast.Subscript(slice=ast.Constant(value=str(key))):
                    found[key].append(stmt.value)
    for call in unit.nodes(ast.Call):
        match call.func:
            case ast.Name() | ast.Attribute():
                for each in call.keywords:
                    if each.arg is not None and not isinstance(each.value, ast.Constant):
                        found[each.arg].append(each.value)
    return found


def key_of(path: Path) -> str | None:
    """The text by which the last part of a path is looked up."""
    is_text = path[-1].startswith(("['", '["'))
    return str(ast.literal_eval(path[-1])[0]) if is_text else None
