"""Second names of what a function has: which are read by the first, and which are not."""

from __future__ import annotations

import ast

import pytest

from tapemigrate.source.first_names import read_first_names


def read(body: str) -> str:
    text = f"def f(self, x):\n{body}"
    tree = ast.parse(text)
    read_first_names(tree, text)
    return ast.unparse(tree)


@pytest.mark.parametrize(
    ("body", "last"),
    [
        ("    me = self\n    return me.x\n", "return self.x"),
        ("    z = x\n    z.append(1)\n    return x\n", "return x"),
        ("    z = x\n    return lambda: z + 1\n", "return lambda: x + 1"),
        ("    if x:\n        z = x\n    return z\n", "return x"),
        ("    a = []\n    b = a\n    return b\n", "return a"),
        ("    a = []\n    print(a)\n    b = a\n    c = b\n    return c\n", "return a"),
        ("    a = b = []\n    return b\n", "return a"),
        ("    for i in x:\n        a = [i]\n        b = a\n    return b\n", "return a"),
        ("    a = []\n    b = a\n    def g(y):\n        return b + y\n", "return a + y"),
    ],
)
def test_is_read_by_the_first(body: str, last: str) -> None:
    assert read(body).strip().endswith(last)


@pytest.mark.parametrize(
    "body",
    [
        # One of them has something else, before or after.
        "    z = x\n    x = 1\n    return z\n",
        "    z = x\n    z = 1\n    return z\n",
        "    z = x\n    z += 1\n    return z\n",
        "    a = 1\n    a = 2\n    b = a\n    return b\n",
        "    z = x\n    del x\n    return z\n",
        "    z = x\n    def g():\n        nonlocal x\n        x = 1\n    return z\n",
        "    global z\n    z = x\n    return z\n",
        "    z = x\n    for x in z:\n        pass\n    return z\n",
        "    z = x\n    with f() as x:\n        return z\n",
        "    z = x\n    match z:\n        case [x]:\n            return z\n",
        "    z = x\n    try:\n        f()\n    except E as x:\n        return z\n",
        "    z = x\n    import x\n    return z\n",
        "    z = x\n    return [z for x in z]\n",
        # What it had on the round before is asked for.
        "    for i in x:\n        print(b)\n        a = [i]\n        b = a\n",
        "    for i in x:\n        a = [i]\n        if i:\n            continue\n        b = a\n"
        "    return b\n",
        "    for i in x:\n        a = [i]\n        if i:\n            b = a\n    return b\n",
        # Of no function, or none that says.
        "    z = y\n    return z\n",
        "    z = x\n    return locals()['z']\n",
    ],
)
def test_is_another_name(body: str) -> None:
    text = f"def f(self, x):\n{body}"
    assert read(body) == ast.unparse(ast.parse(text))
