"""Names that nothing in the file sets, and tables by which code elsewhere sets them."""

from __future__ import annotations

import pytest

from tapemigrate.api import analyse
from tapemigrate.settings import Settings
from tapemigrate.source.decoding import SourceFile

HEAD = "import tensorflow as tf\n\nx = tf.ones([2])\nw = tf.Variable(2.0)\n"
TAIL = "y = h * x\ng = tf.gradients(y, x)[0]\n"


def verdict(text: str) -> tuple[bool, str]:
    """Whether the fix of the call is safe, and what is said of it."""
    result = analyse({"a.py": SourceFile("a.py", text)}, Settings(), rewrite=False)
    (each,) = (d for d in result.diagnostics if d.code == "TM101")
    return each.fix is not None and each.fix.applicability == "safe", each.message


@pytest.mark.parametrize(
    "code",
    [
        "",
        "import __main__\n__main__.h = tf.sin(x)\n",
        "import sys\nsetattr(sys.modules[__name__], 'h', tf.sin(x))\n",
        "get_ipython().run_cell_magic('time', '', 'h = tf.sin(x)')\n",
    ],
)
def test_a_name_that_nothing_sets(code: str) -> None:
    safe, message = verdict(HEAD + code + TAIL)
    assert not safe
    assert "`h`" in message or "code that does not stand there" in message
    inside = "def slope():\n    y = h * x\n    return tf.gradients(y, x)[0]\n\n\nslope()\n"
    safe, message = verdict(HEAD + code + inside)
    assert not safe


@pytest.mark.parametrize(
    "code",
    [
        "h = 2.0\n",
        "import h\n",
        "def h(x): return x\n\n\nh = 3.0\n",
        "for h in range(3): pass\n",
        "with open('a') as h: pass\n",
    ],
)
def test_a_name_that_is_set(code: str) -> None:
    _, message = verdict(HEAD + code + TAIL)
    assert "which nothing here sets" not in message


@pytest.mark.parametrize(
    ("code", "told"),
    [
        ("names = globals()\nnames['h'] = tf.sin(x)\n", True),
        ("fill(globals())\n", True),
        ("get_ipython().run_line_magic('run', '-i setup.py')\n", True),
        ("get_ipython().magic('run setup.py')\n", True),
        ("known = 'h' in globals()\n", False),
        ("print(globals()['h'])\n", False),
        ("names = list(globals())\n", False),
        ("get_ipython().magic('matplotlib inline')\n", False),
        ("get_ipython().run_cell_magic('bash', '', 'ls')\n", False),
    ],
)
def test_tables_of_names(code: str, told: bool) -> None:
    safe, message = verdict(HEAD + "h = 2.0\n" + code + TAIL)
    assert safe is not told, message
    assert ("code that does not stand there" in message) is told


def test_names_that_are_put_together() -> None:
    code = "for i in range(2): globals()['u%d' % i] = tf.sin(x)\n"
    assert not verdict(HEAD + code + TAIL.replace("h", "u1"))[0]
