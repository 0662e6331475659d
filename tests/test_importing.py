"""What the imports of a text may name, as far as that shows without parsing it."""

from __future__ import annotations

import pytest

from tapemigrate.rules.unseen.importing import modules


@pytest.mark.parametrize(
    ("text", "begins"),
    [
        ("", set()),
        ("x = 1\n", set()),
        ("from a.b import c\n", {("a", "b")}),
        ("from a . b import (c,\n    d)\n", {("a", "b")}),
        ("from \\\n a.b import c\n", {("a", "b")}),
        ("from a.b \\\r\n import c\r\n", {("a", "b"), ("c",)}),
        ("from ..a import c\n", {("a",)}),
        ("import a.b\n", {("a",)}),
        ("import a.b as c\n", {("a", "b")}),
        ("import a.b \\\n as c, d.e, f as g\n", {("a", "b"), ("d",), ("f",)}),
        ("import a.b\tas\tc\n", {("a", "b")}),
        ("try: import a\nexcept ImportError: import b; import c\n", {("a",), ("b",), ("c",)}),
        ("if x:\n\timport a  # or b\n", {("a",)}),
        ("x = 1; from a import b; from c import d\n", {("a",), ("c",)}),
        ("def f():\n    yield from x\n    import a\n", {("a",)}),
        ("# it came from the docs\nfrom a import b\n", {("a",)}),
        ("from.a import b\n", {("a",)}),
    ],
)
def test_modules(text: str, begins: set[tuple[str, ...]]) -> None:
    assert modules(text) == begins


@pytest.mark.parametrize(
    "text",
    ["from . import a\n", "from .. import (a,\n  b)\n", "from .import a\n", "import ａ\n"],
)
def test_what_may_be_anything(text: str) -> None:
    assert modules(text) is None


@pytest.mark.parametrize(
    "text", ["'''\nfrom a import b\n'''\n", "# from a import b\n", "s = 'from a import b'\n"]
)
def test_a_text_counts_as_well(text: str) -> None:
    assert modules(text) == {("a",)}
