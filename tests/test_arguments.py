"""What calls hand over, and the names of objects, told by the bytes of a file."""

from __future__ import annotations

from time import process_time

import pytest

from tapemigrate.running.arguments import Arguments


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (b"", set()),
        (b"other(policy)\n", set()),
        (b"retrain(policy)\n", set()),
        (b"train (policy)\n", {b"policy"}),
        (b"agent.train(policy, n=len(xs))\n", {b"policy", b"n", b"len", b"xs"}),
        (b"train(\n    Policy(ob),  # made here\n)\n", {b"Policy", b"ob", b"made", b"here"}),
        (b"train(a); train(b)\n", {b"a", b"b"}),
        (b"train(" + b"x, " * 1000 + b"y)\n", set()),
        (b"train(a\n", set()),
    ],
)
def test_what_calls_are_handed(text: bytes, words: set[bytes]) -> None:
    assert Arguments(text, frozenset()).handed_to(b"train") == words


@pytest.mark.parametrize(
    ("text", "names"),
    [
        (b"", set()),
        (b"p = Policy\n", set()),
        (b"p = Other(ob)\n", set()),
        (b"p == Policy(ob)\n", set()),
        (b"p[0] = Policy(ob)\n", set()),
        (b"p = Policy(ob)\n", {b"p"}),
        (b"self.p\t=  nets.policies.Policy (ob)\n", {b"p"}),
        (b"p = Policy(ob); q=Policy(ob)\n", {b"p", b"q"}),
        (b"train(net=Policy(ob))\n", {b"net"}),
    ],
)
def test_what_objects_are_called(text: bytes, names: set[bytes]) -> None:
    assert Arguments(text, frozenset({b"Policy"})).names_of(b"Policy") == names | {b"Policy"}


def test_data_in_text_is_gone_through_once() -> None:
    start = process_time()
    found = Arguments(b"show('" + b"a" * 100_000 + b"')\ntrain(b)", frozenset())
    assert found.handed_to(b"train") == {b"b"}
    assert process_time() - start < 1  # its square: ten times that
