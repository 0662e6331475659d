"""The name by which a tape's code reaches TensorFlow, and where the import for it stands."""

from __future__ import annotations

import ast

import pytest

from tapemigrate.api import analyse
from tapemigrate.settings import Settings
from tapemigrate.source.decoding import decode

IMPORT = "from tensorflow import constant, gradients, sin"
BODY = """\
    x = constant(1.0)
    y = sin(x)
    return gradients(y, x)[0]
"""


def rewritten(**texts: str) -> dict[str, str]:
    files = {f"{n}.py": decode(text.encode(), f"{n}.py") for n, text in texts.items()}
    return analyse(files, Settings(unsafe_fixes=True), rewrite=True).rewritten


def imports(text: str) -> tuple[list[str], list[str]]:
    """The plain imports at the top of the module, and those that stand deeper."""
    tree = ast.parse(text)
    top = [ast.unparse(n) for n in tree.body if isinstance(n, ast.Import)]
    every = [ast.unparse(n) for n in ast.walk(tree) if isinstance(n, ast.Import)]
    return top, every[len(top) :]


@pytest.mark.parametrize(
    "text",
    [
        f"def f():\n    {IMPORT}\n{BODY}",
        f'def f():\n    """Says what it does."""\n    {IMPORT}\n{BODY}',
        f"try:\n    {IMPORT}\nexcept ImportError:\n    gradients = None\n\n\ndef f():\n{BODY}",
    ],
)
def test_tensorflow_stays_optional(text: str) -> None:
    new = rewritten(a=text)["a.py"]
    assert imports(new) == ([], ["import tensorflow as tf"])
    assert new.index("import tensorflow as tf") < new.index("with tf.GradientTape()")
    assert new.startswith(text[: text.index("from tensorflow")].removesuffix("    "))


def test_a_module_that_needs_it_anyway_imports_it_at_its_top() -> None:
    new = rewritten(a=f"{IMPORT}\n\n\ndef f():\n{BODY}")["a.py"]
    assert imports(new) == (["import tensorflow as tf"], [])


def test_a_name_that_reaches_it_is_used() -> None:
    new = rewritten(a=f"def f():\n    import tensorflow as t\n    {IMPORT}\n{BODY}")["a.py"]
    assert imports(new) == ([], ["import tensorflow as t"])
    assert "with t.GradientTape()" in new


@pytest.mark.parametrize(
    "text",
    [
        f"{IMPORT}\n\n\ndef f(tf):\n{BODY}",
        f"{IMPORT}\n\ntf = 3\n\n\ndef f():\n{BODY}",
        f"{IMPORT}\n\n\ndef around(tf):\n    def f():\n{BODY}    return f\n".replace(
            BODY, BODY.replace("    ", "        ")
        ),
    ],
)
def test_a_name_that_means_something_else_is_not_taken(text: str) -> None:
    new = rewritten(a=text)["a.py"]
    assert imports(new) == (["import tensorflow"], [])
    assert "with tensorflow.GradientTape()" in new


def test_a_function_that_is_handed_its_tape_may_need_it_too() -> None:
    helper = (
        "from tensorflow import gradients\n\n\ndef helper(y, xs):\n    return gradients(y, xs)\n"
    )
    user = (
        "import tensorflow as tf\nfrom helping import helper\n\nx = tf.constant(1.0)\n"
        "y = tf.sin(x)\nprint(helper(y, [x]), helper(y, x))\n"
    )
    new = rewritten(helping=helper, using=user)["helping.py"]
    assert imports(new) == (["import tensorflow as tf"], [])
    assert "tape.gradient(y, tf.nest.flatten(xs))" in new


def test_a_function_that_is_handed_its_tape_imports_nothing_in_vain() -> None:
    helper = (
        "from tensorflow import gradients\n\n\ndef helper(y, x):\n    return gradients(y, [x])\n"
    )
    user = (
        "import tensorflow as tf\nfrom helping import helper\n\nx = tf.constant(1.0)\n"
        "y = tf.sin(x)\nprint(helper(y, x))\n"
    )
    new = rewritten(helping=helper, using=user)["helping.py"]
    assert "import" not in new
    assert "tape.gradient(y, [x])" in new
