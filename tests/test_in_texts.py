"""Gradient calls in texts that run as code: told, and nothing else is."""

from __future__ import annotations

import pytest

from tapemigrate.api import analyse
from tapemigrate.settings import Settings
from tapemigrate.source.decoding import SourceFile

HEAD = "import tensorflow as tf\n\nx = tf.ones([2])\ny = x * x\n"


def found(code: str) -> list[tuple[str, str]]:
    text = HEAD + code
    result = analyse({"a.py": SourceFile("a.py", text)}, Settings(), rewrite=False)
    return [(each.code, each.message) for each in result.diagnostics]


@pytest.mark.parametrize(
    ("code", "how"),
    [
        ("exec('g = tf.gradients(y, x)')\n", "run by `exec`"),
        ("g = eval('tf.gradients(y, x)')\n", "run by `eval`"),
        ("exec(compile('tf.gradients(y, x)', 'a', 'exec'))\n", "run by `compile`"),
        (
            "get_ipython().run_cell_magic('time', '', 'y = x\\ng = tf.gradients(y, x)\\n')\n",
            "run by `run_cell_magic`",
        ),
        ("get_ipython().run_line_magic('time', 'g = tf.gradients(y, x)')\n", "`run_line_magic`"),
    ],
)
def test_calls_in_texts_are_told(code: str, how: str) -> None:
    ((rule, message),) = found(code)
    assert rule == "TM904"
    assert "holds `tf.gradients`" in message
    assert how in message


def test_long_texts_are_told_by_how_they_begin() -> None:
    ((_, message),) = found(f"exec('''z = {'x + ' * 30}x\ng = tf.gradients(y, x)''')\n")
    assert message.startswith("`'''z = x + x + x")
    assert "\n" not in message
    assert len(message) < 150


@pytest.mark.parametrize(
    "code",
    [
        "print('g = tf.gradients(y, x)')\n",
        "exec('z = x.gradients(y)')\n",
        "import re\npattern = re.compile('tf.gradients')\n",
        "rows = frame.eval('tf.gradients(y, x)')\n",
        "exec('see tf.gradients for more')\n",
        "exec('print(\"tf.gradients(y, x)\")')\n",
        "get_ipython().run_line_magic('matplotlib', 'inline')  # tf.gradients\n",
        "exec('\\0tf.gradients(y, x)')\n",
    ],
)
def test_others_are_not(code: str) -> None:
    assert found(code) == []
