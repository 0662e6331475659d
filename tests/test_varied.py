"""Programs of fixtures, changed at random, the same way every time. ``run_varied`` runs others."""

from __future__ import annotations

import ast
import contextlib
from random import Random

import pytest

from tapemigrate.verify.pool import Pool
from tests.run_varied import changed_in_one, fixed
from tests.test_fixtures import FIXTURES
from tests.varied import CHANGES, varied

CHOSEN = """
    flow/closure_over_the_source flow/state_by_local_names gradients/non_trainable_source
    orders/forward_gradients_helper threaded/attributes_set_together threaded/watched_in_a_list
    threaded/wrapper_of_the_function traps/aliased_list traps/nonlocal_rebinding
    traps/lists_by_a_second_name
"""
PROGRAM = """
class Net(object):
    def __init__(self, x, h):
        self.x = x
        self.h = tf.tanh(h)

    def slope(self, x):
        y = self.h * x
        z = y * x
        return tf.gradients(z, x)[0]


def run(x, h):
    return Net(x, h).slope(x)
"""


@pytest.mark.parametrize("change", sorted(set(CHANGES), key=lambda c: c.__name__))
def test_each_change_makes_another_program(change) -> None:  # type: ignore[no-untyped-def]
    found = set()
    for seed in range(40):
        tree = ast.parse(PROGRAM)
        functions = [n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef)]
        random = Random(seed)
        if change(random.choice(functions), random):
            text = ast.unparse(ast.fix_missing_locations(tree))
            compile(text, "program.py", "exec")
            found.add(text)
    assert len(found - {ast.unparse(ast.parse(PROGRAM))}) > 1


def test_the_same_seed_gives_the_same_program() -> None:
    programs = {varied(PROGRAM, Random(seed)) for seed in range(20)}
    assert programs == {varied(PROGRAM, Random(seed)) for seed in range(20)}
    assert len(programs) > 10


@pytest.mark.parametrize("seed", range(4))
def test_no_safe_fix_is_wrong(seed: int) -> None:
    """By the name of its fixture, each program is the same whatever others there are."""
    chosen = [f for f in FIXTURES if f.name in CHOSEN.split()]
    assert len(chosen) == len(CHOSEN.split())
    with contextlib.closing(Pool(size=2)) as pool:
        changed = [(f, changed_in_one(f, Random(f"{f.name} {seed}"))) for f in chosen]
        tried = [fixed(f, texts, pool) for f, texts in changed if texts is not None]
        found = [(each.fixture.name, each.run.result()) for each in tried if each is not None]
    assert [name for name, each in found if each.verdict == "REFUTED"] == []
    assert any(each.verdict == "VERIFIED" for _, each in found)
