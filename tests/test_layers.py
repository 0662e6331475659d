"""Dependencies point one way: ``cli → api → rules → tape → flow → source``."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "tapemigrate"
#: Plain data and helpers that every room may use.
SHARED = {"model", "patterns"}
NAMES = {"names", "scopes", "indirect"}
#: What each room may import beside itself and what is shared.
BELOW = {
    "source": set[str](),
    "flow": {"source"},
    "tape": {"flow", "source"} | NAMES,
    "codemods": {"tape", "source"},
    "rules": {"tape", "flow", "source", "suppression"} | NAMES,
    "api": {"rules", "codemods", "tape", "source", "settings", "suppression", "tidy"},
}
#: The rooms of ``rules/``, each of which may know those before it; the families know none of them.
IN_RULES = ("callgraph", "unseen", "values", "proof", "handing")
FAMILIES = ("misuse", "tfe")
#: Where alone what is slow to import may be imported at all.
SLOW = {"tensorflow": {"verify"}, "libcst": {"codemods"}, "rich": {"command", "verify"}}


def room_of(path: Path) -> str:
    return path.relative_to(PACKAGE).with_suffix("").parts[0]


def imported(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module == PACKAGE.name:
            yield from (f"{PACKAGE.name}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module


MODULES = sorted(PACKAGE.rglob("*.py"))


@pytest.mark.parametrize("room", sorted(BELOW))
def test_rooms_know_only_those_below(room: str) -> None:
    mine = [path for path in MODULES if room_of(path) == room]
    found = {
        (path.name, name.split(".")[1])
        for path in mine
        for name in imported(ast.parse(path.read_bytes()))
        if name.startswith(f"{PACKAGE.name}.")
    }
    assert mine
    assert not {each for each in found if each[1] not in BELOW[room] | SHARED | {room}}


@pytest.mark.parametrize("room", [*IN_RULES, *FAMILIES])
def test_rooms_of_rules_know_only_those_before(room: str) -> None:
    rules = PACKAGE / "rules"
    mine = [path for path in MODULES if path.is_relative_to(rules / room)]
    rooms = {path.name for path in rules.iterdir() if path.is_dir()} - {"__pycache__"}
    found = {
        (path.name, name.split(".")[2])
        for path in mine
        for name in imported(ast.parse(path.read_bytes()))
        if name.startswith(f"{PACKAGE.name}.rules.") and name.split(".")[2] in rooms
    }
    below = IN_RULES[: IN_RULES.index(room)] if room in IN_RULES else ()
    assert mine
    assert rooms == {*IN_RULES, *FAMILIES}
    assert not {each for each in found if each[1] not in {*below, room}}


@pytest.mark.parametrize("library", sorted(SLOW))
def test_what_is_slow_is_imported_in_its_rooms_alone(library: str) -> None:
    rooms = {
        room_of(path)
        for path in MODULES
        if any(name.split(".")[0] == library for name in imported(ast.parse(path.read_bytes())))
    }
    assert rooms
    assert rooms <= SLOW[library]
