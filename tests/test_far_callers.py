"""Callers some way off, in files that are not rewritten along with the rest, count as well."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tapemigrate.runner import run
from tapemigrate.running import context
from tapemigrate.settings import Settings

HELPER = "import tensorflow as tf\n\n\ndef slope(y, x):\n    return tf.gradients(y, x)[0]\n"
PROBE = """\
import tensorflow as tf
from helper import slope


def probe(h, x):
    y = tf.reduce_sum(h * x)
    return slope(y, x)
"""
HAND_ON = "from probes import probe\n\n\ndef again(h, x):\n    return probe(h, x)\n"
USE = """\
import tensorflow as tf
from {module} import {name}

x = tf.constant(2.0)
h = {made}
result = {name}(h, x)
"""
PROBED = {"module": "probes", "name": "probe"}
AGAIN = {"module": "others.more", "name": "again"}
APART, BESIDE = "tf.constant(3.0)", "tf.exp(x)"


def notebook(text: str) -> str:
    cell = {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None}
    return json.dumps(
        {"cells": [{**cell, "source": text}], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    )


def fixes(folder: Path, texts: dict[str, str]) -> list[str]:
    """How the helper's call can be fixed, where files in ``others`` have settings of their own."""
    for name, text in {"helper.py": HELPER, "probes.py": PROBE, **texts}.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)

    def settings(path: str) -> Settings:
        return Settings(target="v1-graph") if "others" in path else Settings()

    found = [
        d for r in run([str(folder)], settings, mode="check", jobs=1).results for d in r.diagnostics
    ]
    return [d.message for d in found if d.fix is not None and d.fix.applicability == "safe"]


@pytest.mark.parametrize("made", [APART, BESIDE])
def test_a_notebook_calls_the_caller(tmp_path: Path, made: str) -> None:
    texts = {
        "main.py": USE.format(made=APART, **PROBED),
        "others/main.ipynb": notebook(USE.format(made=made, **PROBED)),
    }
    (message,) = fixes(tmp_path, texts)
    assert ("there may be none to hand on" in message) == (made == BESIDE)


@pytest.mark.parametrize("made", [APART, BESIDE])
def test_who_calls_a_file_that_is_not_asked_about_is_not_known(tmp_path: Path, made: str) -> None:
    texts = {
        "main.py": USE.format(made=APART, **PROBED),
        "others/more.py": HAND_ON + USE.format(made=APART, **AGAIN),
        "main.ipynb": notebook(USE.format(made=made, **AGAIN)),
    }
    assert not fixes(tmp_path, texts)


@pytest.mark.parametrize(("limit", "told"), [(3, True), (4, False)])
def test_files_are_not_looked_at_without_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: int, told: bool
) -> None:
    monkeypatch.setattr(context, "_MOST_MENTIONS", limit)
    for name in ("helper", *(f"use_{k}" for k in range(3))):
        text = HELPER if name == "helper" else PROBE.replace("probe", name)
        (tmp_path / f"{name}.py").write_text(text)
    outcome = run([str(tmp_path)], lambda path: Settings(), mode="check", jobs=1)
    messages = [d.message for r in outcome.results for d in r.diagnostics]
    assert len(messages) == 1
    assert ("one of more files than are looked at may call it" in messages[0]) == told


@pytest.mark.parametrize("folder", ["", "others"])
def test_of_too_many_callers_those_beside_are_looked_at(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, folder: str
) -> None:
    """``get`` may be of anything; who hands in what a network gave is seen all the same."""
    monkeypatch.setattr(context, "_MOST_MENTIONS", 3)
    head = "import tensorflow as tf\n\n\n"
    objective = "class Objective:\n    def get(self, probs):\n"
    objective += '        scale = tf.compat.v1.get_variable("scale", [])\n'
    objective += "        loss = tf.reduce_mean(probs) * scale\n"
    objective += "        return tf.gradients(loss, tf.compat.v1.trainable_variables())\n"
    model = "class Model:\n    def __init__(self, objective, x):\n"
    model += "        self.objective = objective\n        w = tf.Variable([1.0])\n"
    model += "        self.probs = tf.nn.softmax(x * w)\n\n    def setup(self):\n"
    model += "        return self.objective.get(self.probs)\n"
    texts = {"objective.py": objective, f"{folder}/model.py".lstrip("/"): model}
    texts |= {f"far/use_{k}.py": "def f(d):\n    return d.get(1)\n" for k in range(4)}
    for name, text in texts.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(head + text)
    outcome = run([str(tmp_path)], lambda path: Settings(), mode="check", jobs=1)
    (found,) = [d for r in outcome.results for d in r.diagnostics if d.code == "TM101"]
    assert (found.fix is None) == (not folder), found.message


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        ("old.ipynb", "from helper import slope\nprint 'slope', slope(1, 2)\n", "old.ipynb`"),
        ("old.ipynb", "from helper import slopes\nprint 'slopes', slopes(1, 2)\n", None),
        ("old.py", "# coding: klingon\nfrom helper import slope\nslope(1, 2)\n", "old.py`"),
    ],
)
def test_a_file_that_cannot_be_read_is_named(
    tmp_path: Path, name: str, text: str, told: str | None
) -> None:
    (tmp_path / "helper.py").write_text(HELPER)
    (tmp_path / "probes.py").write_text(PROBE)
    whole = notebook(text) if name.endswith(".ipynb") else text
    (tmp_path / name).write_text(whole)
    outcome = run([str(tmp_path)], lambda path: Settings(), mode="check", jobs=1)
    (message,) = [d.message for r in outcome.results for d in r.diagnostics if d.code == "TM101"]
    assert told is None or f"{told}, which cannot be read, may call it" in message, message
    assert "more files than are looked at" not in message


@pytest.mark.parametrize("elsewhere", [True, False])
def test_a_caller_in_another_file_is_told_with_that_file(tmp_path: Path, elsewhere: bool) -> None:
    """Whether it hands in what it made of the source, or sets it on an object with the source."""
    helper = (
        "import tensorflow as tf\n\n\ndef own(h, x):\n    if x is None:\n        x = tf.ones([1])\n"
    )
    helper += "    y = h * x\n    return tf.gradients(y, x)[0]\n"
    kept = "\n\nclass Kept:\n    def __init__(self, h, x):\n        self.h, self.x = h, x\n\n"
    kept += "    def slope(self):\n        y = self.h * self.x\n"
    kept += "        return tf.gradients(y, self.x)[0]\n"
    use = "x = tf.constant(2.0)\nown(tf.exp(x), x)\nKept(tf.exp(x), x).slope()\n"
    imports = "import tensorflow as tf\nfrom helper import Kept, own\n\n"
    (tmp_path / "helper.py").write_text(helper + kept + ("" if elsewhere else f"\n\n{use}"))
    (tmp_path / "main.py").write_text(imports + use if elsewhere else "import tensorflow as tf\n")
    outcome = run([str(tmp_path)], lambda path: Settings(), mode="check", jobs=1)
    found = [d.message for r in outcome.results for d in r.diagnostics if d.code == "TM101"]
    lines = [5, 6] if elsewhere else [21, 22]
    where = f"{tmp_path / 'main.py'}, " if elsewhere else ""
    assert len(found) == 2
    for message, line in zip(found, lines, strict=True):
        assert f"by the caller in {where}line {line}, so it may depend" in message, message


@pytest.mark.parametrize("use", ["", APART])
def test_what_hands_on_and_is_not_called_shows_nothing(tmp_path: Path, use: str) -> None:
    """Whoever calls it, out of sight, may make the one of the other, as with the first function."""
    text = "import tensorflow as tf\n\n\ndef hand_on(h, x):\n    return own(h, x)\n\n\n"
    text += "def own(h, x):\n    y = h * x\n    return tf.gradients(y, x)[0]\n"
    (tmp_path / "helper.py").write_text(text)
    if use:
        made = USE.format(module="helper", name="hand_on", made=use)
        (tmp_path / "main.py").write_text(made)
    outcome = run([str(tmp_path)], lambda path: Settings(), mode="check", jobs=1)
    (found,) = [d for r in outcome.results for d in r.diagnostics if d.code == "TM101"]
    assert (found.fix is not None and found.fix.applicability == "safe") == bool(use), found.message
    assert bool(use) or "`h`, a parameter, was not computed from `x`" in found.message


METHODS = """\
import tensorflow as tf


class Model(object):
    def __init__(self, config):
        self.build(config)

    def build(self, config):
        self.w = tf.get_variable("w", initializer=[1.0, 2.0])


class Policy(Model):
    def __init__(self, config, baseline=None):
        self.baseline = baseline
        super(Policy, self).__init__(config)

    def build(self, config):
        super(Policy, self).build(config)
        self.out = tf.tanh(self.w)
        if self.baseline is not None:
            self.baseline.build({handed})


class Trpo(Policy):
    def build(self, config):
        super(Trpo, self).build(config)
        loss = tf.reduce_sum(self.out) * config.scale
        self.grads = tf.gradients(loss, tf.trainable_variables())
"""


@pytest.mark.parametrize("handed", ["config", "config.baseline", "self.out"])
def test_methods_that_call_others_of_their_name_are_followed_to_an_end(
    tmp_path: Path, handed: str
) -> None:
    """What each hands in is what it was handed: the callers lead to themselves, again and again."""
    (tmp_path / "models.py").write_text(METHODS.format(handed=handed))
    outcome = run([str(tmp_path)], lambda path: Settings(), mode="check", jobs=1)
    (found,) = [d for r in outcome.results for d in r.diagnostics]
    assert found.code == "TM101", found.message
    assert found.fix is None or found.fix.applicability == "unsafe"


INSTALLED = """\
import tensorflow as tf
{head}

x = tf.constant(2.0)
y = x * x
result = {call}(y, x)
"""


@pytest.mark.parametrize(
    ("head", "call", "told"),
    [
        ("import lab.field as field", "field.slope", "use.py, line 6 may be one of `slope`"),
        ("from lab.field import slope", "slope", "use.py, line 6 may be one of `slope`"),
        ("import lab.field.helper", "lab.field.helper.slope", "right if `lab.field.helper` is "),
        ("from lab.field.helper import slope as s", "s", "under another name in "),
        ("from lab.other import slope", "slope", "every caller of `slope` hands in a tape"),
        ("from sklearn.field import slope", "slope", "every caller of `slope` hands in a tape"),
    ],
)
@pytest.mark.parametrize("package", [True, False])
def test_a_call_by_an_installed_name_takes_no_tape_that_it_is_not_given(
    tmp_path: Path, head: str, call: str, told: str, package: bool
) -> None:
    folder = tmp_path / "field"
    folder.mkdir()
    (folder / "helper.py").write_text(HELPER)
    if package:
        (folder / "__init__.py").write_text("from lab.field.helper import *\n")
    (tmp_path / "use.py").write_text(INSTALLED.format(head=head, call=call))
    options = Settings(unsafe_fixes=True)
    results = run([str(tmp_path)], lambda path: options, mode="preview", jobs=1).results
    found = {Path(each.filename).name: each for each in results}
    helper, use = found["helper.py"], found.get("use.py")
    [message] = [d.message for d in (*helper.diagnostics, *helper.mended)]
    assert told in message
    threaded = use is not None and use.new is not None and b"tape=tape" in use.new
    assert threaded == told.startswith("right if")
    assert (helper.new is None) == told.startswith(("use.py", "under"))
