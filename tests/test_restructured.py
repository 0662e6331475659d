"""Programs that are written differently still compute the same."""

from __future__ import annotations

import ast
import sys
from pathlib import Path
from random import Random

import pytest

from tests.restructured import CHANGES, Change, behind_others, restructured
from tests.test_fixtures import FIXTURES, changed, fix

# Where a function that is not looked into would leave a safe fix.
FAR = """
    mustflag/computed_by_a_function_of_a_star_import mustflag/parts_that_a_constructor_computed
    mustflag/features_of_another_object mustflag/returns_from_under_a_tape
    mustflag/list_that_a_constructor_is_given mustflag/element_of_a_new_dict_is_filled
    mustflag/unpacked_element_of_a_list traps/lists_under_a_key
    traps/list_of_the_module_filled_by_an_object traps/own_part_passed_by_other_names
    traps/constructors_of_classes_above unsafe/features_of_a_subclass
    unsafe/given_by_getters_of_getters unsafe/lists_for_functions_in_a_table
    mustflag/put_aside_by_the_caller traps/module_state_filled_by_other_ways
    traps/lazily_computed_beside_a_mixin traps/made_with_what_was_computed
    unsafe/setter_handed_an_object_made_of_the_object unsafe/lists_through_more_hands
    unsafe/setter_handed_what_a_function_made_of_the_object
"""

PROGRAM = """
import tensorflow as tf


def scaled(x, by):
    y = x * by
    z = y + x
    w = z * y
    return w


class Net(object):
    def __init__(self, x):
        self.x = x
        self.h = scaled(x, 3)

    def total(self, more):
        y = self.x + self.h
        z = y * more
        both = z, y
        return both


def run(x):
    net = Net(x)
    found = net.total(2)
    last = found[0] + found[1]
    return last
"""


def value_of(texts: dict[str, str], folder: Path, monkeypatch: pytest.MonkeyPatch) -> object:
    """What ``run(5)`` gives, with modules in the place of TensorFlow and NumPy that are empty."""
    for name in ("tensorflow", "numpy"):
        monkeypatch.setitem(sys.modules, name, type(sys)(name))
    monkeypatch.syspath_prepend(folder)
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
    names: dict[str, object] = {}
    exec(compile(texts["main.py"], "main.py", "exec"), names)
    run = names["run"]
    assert callable(run)
    return run(5)


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__)
def test_each_change_leaves_what_is_computed(
    change: Change, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = ast.unparse(ast.parse(PROGRAM))
    with monkeypatch.context() as patch:
        expected = value_of({"main.py": PROGRAM}, tmp_path, patch)
    found = set()
    for seed in range(12):
        tree, files = ast.parse(PROGRAM), {"main.py": PROGRAM}
        if change(tree, Random(seed), files):
            files["main.py"] = ast.unparse(ast.fix_missing_locations(tree))
            folder = tmp_path / str(seed)
            folder.mkdir()
            with monkeypatch.context() as patch:
                assert value_of(files, folder, patch) == expected
                for name in set(files) - {"main.py"}:
                    sys.modules.pop(name.removesuffix(".py"), None)
            found.add(files["main.py"])
    assert found
    assert before not in found


def test_the_same_seed_gives_the_same_program() -> None:
    first, second = (
        [restructured({"main.py": PROGRAM}, "main.py", Random(s)) for s in range(20)]
        for _ in range(2)
    )
    assert first == second
    assert len({str(each) for each in first}) > 10


@pytest.mark.parametrize("name", FAR.split())
def test_what_is_far_away_is_seen_as_well(name: str) -> None:
    """What is behind six functions more is no reason to take a fix for safe."""
    (fixture,) = (each for each in FIXTURES if each.name == name)
    programs = set()
    for seed in range(8):
        random, files = Random(f"{name} {seed}"), dict(fixture.texts)
        tree = ast.parse(files[fixture.main])
        if behind_others(tree, random, files):
            files[fixture.main] = ast.unparse(ast.fix_missing_locations(tree)) + "\n"
            programs.add(files[fixture.main])
            assert not changed(fixture, fix(files, unsafe=False), files)
    assert programs
