"""Functions that set what outlives them anew, and such as find there what was set before."""

from __future__ import annotations

import ast

import pytest

from tapemigrate.rules.proof.state.only_set import only_sets


@pytest.mark.parametrize(
    ("name", "body"),
    [
        ("CACHE", "CACHE['h'] = x * 2.0"),
        ("state.h", "state.h = x * 2.0"),
        ("Kept", "Kept.parts['h'] = x * 2.0"),
        ("CACHE", "CACHE['h'], z = x * 2.0, x"),
        ("CACHE", "for each in x:\n        CACHE['h'] = each"),
    ],
)
def test_it_is_set_whatever_was_there(name: str, body: str) -> None:
    assert only_sets(_function(body), name)


@pytest.mark.parametrize(
    ("name", "body"),
    [
        ("state.h", "if state.h is None:\n        state.h = x\n    return state.h"),
        ("state.h", "state.h = x if x is not None else y"),
        ("state.h", "state.h += x"),
        ("state.h", "z = state.h * x\n    state.h = x"),
        ("CACHE", "CACHE.setdefault('h', x)"),
        ("LOSSES", "LOSSES.append(x)"),
        ("CACHE", "rows = CACHE\n    rows['h'] = x"),
        ("CACHE", "put(CACHE, x)"),
        ("CACHE", "try:\n        CACHE['h'] = x\n    except KeyError:\n        pass"),
    ],
)
def test_what_was_there_may_stay(name: str, body: str) -> None:
    assert not only_sets(_function(body), name)


def _function(body: str) -> ast.AST:
    return ast.parse(f"def keep(x):\n    {body}\n").body[0]
