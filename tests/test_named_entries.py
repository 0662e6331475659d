"""Entries of dicts, lists and tuples: which are read as names, and which are not."""

from __future__ import annotations

import ast

import pytest

from tapemigrate.api import analyse
from tapemigrate.settings import Settings
from tapemigrate.source.decoding import SourceFile
from tapemigrate.source.entry_names import as_written, in_another_name
from tapemigrate.source.named_entries import name_entries


def read(body: str) -> str:
    text = f"def f(self, x):\n{body}"
    tree = ast.parse(text)
    name_entries(tree, text)
    return ast.unparse(tree)


def names(body: str) -> set[str]:
    return {as_written(n.id) for n in ast.walk(ast.parse(read(body))) if isinstance(n, ast.Name)}


@pytest.mark.parametrize(
    ("body", "entries"),
    [
        ("    a = {'v': x}\n    return a['v'] + 1\n", {"a['v']"}),
        ('    a = {"v": x, "w": 2}\n    return a["v"] + 1\n', {'a["v"]', 'a["w"]'}),
        ("    a = dict(v=x)\n    return a['v'] + 1\n", {"a['v']"}),
        ("    a = [x, 2]\n    return a[0] + a[-1]\n", {"a[0]", "a[1]"}),
        ("    a = x, 2\n    b, c = a\n    return b\n", {"a[0]", "a[1]", "b"}),
        ("    a = {}\n    a['conv/1'] = x\n    return a['conv/1'] + 1\n", {"a['conv/1']", "a"}),
        ("    a = {'v': x}\n    a['v'] += 1\n    return a['v'] + 1\n", {"a['v']"}),
        ("    a = {'v': x}\n    def g():\n        return a['v']\n    return g()\n", {"a['v']"}),
        ("    a = {'v': x}\n    y = a['v'] + 1\n    return y, a\n", {"a['v']", "a"}),
        (
            "    a = OrderedDict()\n    a['v'] = h = x + 1\n    return f(a['v']), a\n",
            {"a['v']", "a"},
        ),
        (
            "    if x:\n        a = [1, x]\n    else:\n        a = [2, x]\n    return a[-1]\n",
            {"a[0]", "a[1]"},
        ),
        ("    a = [x]\n    b = [a[0], 1]\n    return b[0] + 1\n", {"a[0]", "b[0]", "b[1]"}),
        ("    b = [x]\n    a = {'v': b[0]}\n    return a['v'] + 1\n", {"b[0]", "a['v']"}),
    ],
)
def test_are_names(body: str, entries: set[str]) -> None:
    found = names(body)
    assert entries <= found
    assert {"a", "b"} & found <= entries


@pytest.mark.parametrize(
    "body",
    [
        # More is read than entries that are told.
        "    a = {'v': x}\n    return g(a), a['v']\n",
        "    a = {'v': x}\n    return a\n",
        "    a = {'v': x}\n    a.update(v=1)\n    return a['v']\n",
        "    a = {'v': x}\n    return a.get('v')\n",
        "    a = {'v': x}\n    return [a[k] for k in 'v']\n",
        "    a = {'v': x}\n    self.a = a\n    return a['v']\n",
        "    a = {'v': x}\n    b = a\n    return a['v']\n",
        "    a = {'v': x}\n    def g():\n        return a\n    return a['v']\n",
        "    a = [x, 2]\n    return a[self] + a[0]\n",
        "    a = [x, 2]\n    return a[0:1] + a[0]\n",
        "    a = [x, 2]\n    b, *c = a\n    return b\n",
        "    a = [x, 2]\n    b = c, d = a\n    return b\n",
        "    a = {'v': x}\n    b, = a\n    return b\n",
        "    a = {'v': x, 'w': x}\n    return a[-1]\n",
        "    a = [x, 1]\n    return a[-3]\n",
        # Entries come and go elsewhere.
        "    a = {'v': x}\n    del a['v']\n    return 1\n",
        "    a = {'v': x}\n    def g():\n        a['v'] = 1\n    return a['v']\n",
        "    a = {'v': x}\n    a[self] = 1\n    return a['v']\n",
        "    a = {'v': x}\n    return a['w']\n",
        "    a = [x]\n    a.append(x)\n    return a[0]\n",
        "    a = [x, 1]\n    if x:\n        a = [x]\n    return a[-1]\n",
        "    a = [x, 1]\n    if x:\n        a = [x]\n    b, c = a\n    return b\n",
        "    a = [x, *self]\n    return a[0]\n",
        "    a = {'v': x, **self}\n    return a['v']\n",
        "    a = dict(self, v=x)\n    return a['v']\n",
        "    a = dict(v=x, **self)\n    return a['v']\n",
        "    a = {self: x}\n    return a['v']\n",
        "    a = {True: x}\n    return a[True]\n",
        "    a = {'\"': x}\n    return a['\"']\n",
        # It is another's, or may be something else.
        "    global a\n    a = {'v': x}\n    return a['v']\n",
        "    a = {'v': x}\n    for a in x:\n        g(a['v'])\n",
        "    a = {'v': x}\n    if x:\n        a = self\n    return a['v']\n",
        "    x = [x]\n    return x[0]\n",
        "    a = {'v': x}\n    a['v'] += 1\n    return a\n",
        # What is asked for gradients is written anew, and so are functions.
        "    a = [tf.gradients(x, x), 1]\n    return a[0]\n",
        "    a = {'v': lambda: x}\n    return a['v']()\n",
        "    a = {}\n    a['v'] = lambda: x\n    return a['v']()\n",
        # Whoever looks at the names of a function finds no others.
        "    a = {'v': x}\n    locals()\n    return a['v']\n",
    ],
)
def test_stay_entries(body: str) -> None:
    assert read(body) == ast.unparse(ast.parse(f"def f(self, x):\n{body}"))


def test_those_of_a_module_stay() -> None:
    text = "a = {'v': 1}\nb = a['v']\n"
    assert not name_entries(ast.parse(text), text)


def test_what_another_name_begins_with() -> None:
    (name,) = {
        n.id
        for n in ast.walk(ast.parse(read("    a = {'h 1': x}\n    return a['h 1']\n")))
        if isinstance(n, ast.Name) and n.id != "x"
    }
    assert name.isidentifier()
    assert in_another_name(f"{name}_tape") == "a_h_1_tape"
    assert as_written(f"tape.watch({name})") == "tape.watch(a['h 1'])"


@pytest.mark.parametrize(
    ("rows", "made"),
    [
        (
            "tape = x\n    made = {'y': tf.sin(x)}\n    return tf.gradients(made['y'], x), tape",
            "as made_y_tape:",
        ),
        (
            "made = {'f': make()}\n    g = tfe.gradients_function(made['f'])\n"
            "    made['f'] = tf.cos\n    return g(x)",
            "made_f_fn = made['f']",
        ),
    ],
)
def test_names_that_are_made_of_theirs(rows: str, made: str) -> None:
    text = (
        "import tensorflow as tf\nimport tensorflow.contrib.eager as tfe\n\n\n"
        f"def f(x):\n    {rows}\n"
    )
    result = analyse({"m.py": SourceFile("m.py", text)}, Settings(), rewrite=True)
    assert made in result.rewritten["m.py"]
