"""Tapes that a class keeps on its objects, for code of other files that is handed these."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from tapemigrate.api import analyse
from tapemigrate.cli import main
from tapemigrate.settings import Settings
from tapemigrate.source.decoding import decode

_MODEL = """\
import tensorflow as tf


class Model(object):
    def __init__(self, x):
        self.x = tf.identity(x)
        self.logits = tf.tanh(self.x)
        self.xent = tf.reduce_sum(self.logits)
"""
_ATTACK = """\
import tensorflow as tf


def slope(model):
    return tf.gradients(model.xent, model.x)[0]
"""
_MAIN = """\
from attack import slope
from model import Model


def run(x):
    return slope(Model(x))
"""
_FILES = {"model.py": _MODEL, "attack.py": _ATTACK, "main.py": _MAIN}


def fix(unsafe: bool = False, **changed: str) -> tuple[str, dict[str, str]]:
    """The one message, and the files that change."""
    texts = _FILES | {f"{name}.py": text for name, text in changed.items()}
    files = {name: decode(text.encode(), name) for name, text in texts.items()}
    found = analyse(files, Settings(unsafe_fixes=unsafe), rewrite=True)
    (diagnostic,) = found.diagnostics
    how = diagnostic.fix.applicability if diagnostic.fix else "left"
    return f"{how}: {diagnostic.message}", dict(found.rewritten)


def test_the_files_change_together() -> None:
    message, fixed = fix()
    assert message.startswith("safe: ")
    assert message.endswith(
        "a tape kept as `model._x_tape` where the target is computed gives the same"
    )
    assert set(fixed) == {"model.py", "attack.py"}
    assert "with tf.GradientTape(persistent=True) as self._x_tape:" in fixed["model.py"]
    assert "return model._x_tape.gradient(model.xent, model.x)" in fixed["attack.py"]


@pytest.mark.parametrize(
    ("main", "reason"),
    [
        ("from model import Model\n", "of which class `model` is cannot be seen"),
        (_MAIN.replace("Model(x)", "Other(x)"), "of which class `model` is cannot be seen"),
        (
            _MAIN + "\n\ndef more(x):\n    return slope(Other(x))\n",
            "`model` may be something else, or unfinished, in main.py, line 10",
        ),
        (
            _MAIN + "\n\ndef more(model):\n    model.xent = model.xent * 2.0\n",
            "other code sets `xent` on the object",
        ),
        (
            _MAIN + '\n\ndef more(model):\n    setattr(model, "xent", model.xent * 2.0)\n',
            "other code sets `xent` on the object",
        ),
    ],
)
def test_what_keeps_no_tape_is_told(main: str, reason: str) -> None:
    message, fixed = fix(unsafe=True, main=main)
    assert message.startswith("left: ")
    assert message.endswith(f", and no tape can be kept on it: {reason}")
    assert not fixed


def test_what_cannot_be_followed_is_assumed() -> None:
    main = _MAIN + "\n\ndef more(models):\n    return slope(models.pop())\n"
    message, fixed = fix(main=main)
    assert message.startswith("unsafe: ")
    assert message.endswith(
        "right if `model` is always a `Model` of model.py, also in main.py, line 10"
    )
    assert not fixed
    assert set(fix(unsafe=True, main=main)[1]) == {"model.py", "attack.py"}


def test_a_file_that_only_holds_the_class_is_found(tmp_path: Path) -> None:
    for name, text in _FILES.items():
        (tmp_path / name).write_text(text)
    (tmp_path / "beside.py").write_text("xent = 1\n")
    result = CliRunner().invoke(main, ["fix", "--no-cache", str(tmp_path)])
    assert result.exit_code == 0, result.output
    assert "self._x_tape" in (tmp_path / "model.py").read_text()
    assert "model._x_tape" in (tmp_path / "attack.py").read_text()
    assert (tmp_path / "main.py").read_text() == _MAIN


def test_who_hands_the_object_on_may_stand_in_a_third_file(tmp_path: Path) -> None:
    attack = _ATTACK.replace("def slope(model):\n", "class Attack:\n  def __init__(self, model):\n")
    attack = attack.replace("return ", "self.grad = ")
    both = "from attack import Attack\n\n\nclass Both:\n    def __init__(self, model):\n"
    both += "        self.attack = Attack(model)\n"
    start = "from both import Both\nfrom model import Model\n\nboth = Both(Model(x))\n"
    for name, text in {"model": _MODEL, "attack": attack, "both": both, "start": start}.items():
        (tmp_path / f"{name}.py").write_text(text)
    CliRunner().invoke(main, ["fix", "--no-cache", str(tmp_path)])
    assert "self.grad = model._x_tape.gradient(" in (tmp_path / "attack.py").read_text()
    assert "self._x_tape" in (tmp_path / "model.py").read_text()


def test_a_comment_that_silences_the_call_holds_both_files_back(tmp_path: Path) -> None:
    silenced = _ATTACK.replace("[0]\n", "[0]  # noqa: TM101\n")
    for name, text in (_FILES | {"attack.py": silenced}).items():
        (tmp_path / name).write_text(text)
    CliRunner().invoke(main, ["fix", "--no-cache", str(tmp_path)])
    assert (tmp_path / "model.py").read_text() == _MODEL
    assert (tmp_path / "attack.py").read_text() == silenced


_SCRIPT = """\
import tensorflow as tf

from model import Model


def run(x):
    model = Model(x)
    loss = 2.0 * model.xent
    {between}
    return tf.gradients(loss, model.x)[0]
"""


def test_an_object_that_is_made_where_the_gradient_is_asked_for() -> None:
    message, fixed = fix(attack="", main=_SCRIPT.format(between="print(loss)"))
    assert message.startswith("safe: ")
    assert "    with model._x_tape:\n        loss = 2.0 * model.xent\n" in fixed["main.py"]
    assert "return model._x_tape.gradient(loss, model.x)" in fixed["main.py"]
    assert "as self._x_tape:" in fixed["model.py"]


@pytest.mark.parametrize(
    "between",
    [
        "model.__init__(x)",
        "model = Model(x)",
        "loss += tf.exp(x)",
        "loss = loss + tf.exp(x)",
        "weights = tf.gradients(loss, tf.trainable_variables())",
    ],
)
def test_an_object_that_is_made_anew_or_not_all_of_it(between: str) -> None:
    text = _SCRIPT.format(between=between)
    texts = {"model.py": _MODEL, "main.py": text}
    files = {name: decode(each.encode(), name) for name, each in texts.items()}
    found = analyse(files, Settings(unsafe_fixes=True), rewrite=True)
    assert "return tf.gradients(loss, model.x)[0]" in found.rewritten.get("main.py", text)


_OTHER = _MODEL.replace("class Model", "class Other").replace("tf.tanh", "tf.sin")
_BOTH = """\
from attack import slope
from model import Model
from other import Other


def run(x):
    return slope(Model(x)), slope(Other(x))
"""


def test_objects_of_several_classes_keep_a_tape_each() -> None:
    told, changed = fix(other=_OTHER, main=_BOTH)
    assert told.startswith("safe: ")
    assert set(changed) == {"attack.py", "model.py", "other.py"}
    for name in ("model.py", "other.py"):
        assert "as self._x_tape:" in changed[name]


def test_a_class_that_computes_it_elsewhere_keeps_none_for_both() -> None:
    other = _OTHER.replace("        self.xent =", "    def judge(self):\n        self.xent =")
    told, changed = fix(other=other, main=_BOTH)
    assert told.startswith("left: ")
    assert not changed


def test_classes_with_methods_in_common() -> None:
    other = "from model import Model\n\n\nclass Other(Model):\n    pass\n"
    told, changed = fix(other=other, main=_BOTH)
    assert told.startswith("left: ")
    assert not changed
