"""What a text imports, told without parsing it: as the parser tells it."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import tapemigrate
from tapemigrate.rules.callgraph.imports_in_text import bound_in, imports_in
from tapemigrate.rules.callgraph.places import import_path


def told_by_parser(text: str) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found.add(import_path(node, ""))
            found |= {import_path(node, alias.name) for alias in node.names}
    return found


@pytest.mark.parametrize(
    ("text", "bound"),
    [
        ("", set()),
        ("from a.b import c\n", {"a.b.c"}),
        ("from a . b import (c,  # not d\n    e as f,\n)\n", {"a.b.c", "a.b.e"}),
        ("from \\\n a.b import \\\n c, d\n", {"a.b.c", "a.b.d"}),
        ("from . import a\nfrom ..b import c\n", {".a", "..b.c"}),
        ("from a import *\r\nimport b\r\n", {"a.*", "b"}),
        ("import a.b\nimport c.d as e, f\n", {"a", "c.d", "f"}),
        ("import a.b as c, a.b\n", {"a"}),
        ("try: import a\nexcept ImportError: import b; from c import d\n", {"a", "b", "c.d"}),
        ("def f():\n    yield from x\n    import a\n", {"a"}),
        ("x = 'from a import b'\ny = \"import c\"\n# import d\n", set()),
        ("'''\nimport a\n'''\nimport b\n", {"b"}),
        ("x = 'it\\'s' # '\nimport a\n", {"a"}),
        ("x.import_ = importer.fromage\n", set()),
        ("import ａ\nfrom ｂ import ｃ\n", {"a", "b.c"}),
    ],
)
def test_imports(text: str, bound: set[str]) -> None:
    assert bound_in(text) == bound
    assert imports_in(text) == told_by_parser(text)


def test_this_program() -> None:
    for path in Path(tapemigrate.__file__).parent.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        assert imports_in(text) == told_by_parser(text), path
