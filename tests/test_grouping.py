"""Which files are rewritten together: those that may call a function that is handed a tape."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Collection, Iterable
from pathlib import Path

import pytest

from tapemigrate.model import Handed, Links
from tapemigrate.runner import run
from tapemigrate.running import grouping
from tapemigrate.running.grouping import grouped
from tapemigrate.running.modules import Modules
from tapemigrate.running.projects import Projects
from tapemigrate.running.words import Words
from tapemigrate.settings import Settings
from tests.programs import some_fixtures

MODEL = "class Model:\n    def loss(self, y, x):\n        return tf.gradients(y, x)[0]\n"


def tied(folder: Path, texts: dict[str, str], handed: Handed) -> set[str]:
    """The files that go together with ``net/model.py``."""
    texts = {"net/model.py": MODEL, **texts}
    for name, text in texts.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    find = Words([str(folder / name) for name in texts])

    def places(words: Collection[str]) -> dict[str, list[str]]:
        return find(words)

    def hand_on(asked: list[tuple[str, frozenset[str]]]) -> Iterable[frozenset[Handed]]:
        return [frozenset() for _ in asked]

    model = str(folder / "net/model.py")
    links = {model: Links(frozenset({"loss"}), frozenset({handed}))}
    projects = Projects([], map)
    modules = Modules([str(folder / name) for name in texts], projects)
    groups = grouped(links, places, hand_on, lambda one, two: True, projects, modules)
    return {Path(name).relative_to(folder).as_posix() for name in groups.of(model)}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("def f(model, y, x):\n    return model.loss(y, x)\n", False),
        ("from m import Model\nprint('loss')\n", False),
        ("Model = 1\nx.loss(Model)\n", False),
        ("from m import Model\nModel().loss(y, x)\n", True),
        ("import m\nm.Model().loss(y, x)\n", True),
        ("from m import Model\nrun(Model().loss)\n", True),
        ("from m import *\nModel().loss(y, x)\n", True),
    ],
)
def test_a_caller_may_mean_the_class(tmp_path: Path, text: str, expected: bool) -> None:
    handed = Handed("loss", frozenset({"Model"}))
    assert tied(tmp_path, {"main.py": text}, handed) == {
        "net/model.py",
        *(["main.py"] if expected else []),
    }


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("from far.model import Model\nModel().loss(y, x)\n", False),
        ("from model import Model\nModel().loss(y, x)\n", False),
        ("from .model import Model as Own\nModel = Own\nModel().loss(y, x)\n", False),
        ("from far.model import Model\nimport net.model\nnet.model.Model().loss(y, x)\n", True),
        ("from far.model import Model\nfrom net.model import *\nModel().loss(y, x)\n", True),
        ("from far.handing import Model\nModel().loss(y, x)\n", True),
        ("from far.extending import Model\nModel().loss(y, x)\n", True),
        ("from elsewhere.model import Model\nModel().loss(y, x)\n", True),
        ("from net import model\nmodel.Model().loss(y, x)\n", True),
    ],
)
def test_a_class_of_another_module_is_not_meant(tmp_path: Path, text: str, expected: bool) -> None:
    texts = {
        "far/main.py": text,
        "far/model.py": "class Model:\n    pass\n",
        "far/handing.py": "from net.model import Model\n",
        "far/extending.py": "from net.model import Model as Base\nclass Model(Base):\n    pass\n",
    }
    ours = {"net/model.py", *(["far/main.py"] if expected else [])}
    found = tied(tmp_path, texts, Handed("loss", frozenset({"Model"})))
    assert found - {"far/handing.py", "far/extending.py"} == ours


def test_a_method_that_any_may_call_ties_who_makes_tensors(tmp_path: Path) -> None:
    call = "def f(model, y, x):\n    return model.loss(y, x)\n"
    texts = {
        "able.py": "import tensorflow as tf\n" + call,
        "other.py": call,
        "passing.py": "import tensorflow as tf\n# A loss (of sorts).\nprint(history.loss)\n",
        "own.py": "import tensorflow as tf\n\n\ndef loss(y):\n    return y\n\n\nloss(1)\n",
    }
    handed = Handed("loss", frozenset({"Model"}), shared=True)
    assert tied(tmp_path, texts, handed) == {"net/model.py", "able.py", "own.py"}


def test_methods_of_a_common_name_are_tied_near_who_calls_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = "class Other:\n    def loss(self, y, x):\n        return x\n"
    texts = {
        "net/other.py": other,
        "far/other.py": other,
        "train/main.py": "import tensorflow as tf\nmodel.loss(y, x)\n",
        "train/other.py": other,
    }
    handed = Handed("loss", frozenset({"Model"}), shared=True)
    near = {"net/model.py", "net/other.py", "train/main.py", "train/other.py"}
    assert tied(tmp_path, texts, handed) == {*near, "far/other.py"}
    monkeypatch.setattr(grouping, "_MOST_NAMESAKES", 2)
    assert tied(tmp_path, texts, handed) == near


def test_what_half_the_tree_uses_ties_nothing(tmp_path: Path) -> None:
    texts = {f"{n}.py": "from m import Model\nModel().loss(y, x)\n" for n in range(70)}
    assert tied(tmp_path, texts, Handed("loss", frozenset({"Model"}))) == {"net/model.py"}


def test_what_goes_together_does_not_depend_on_hashes(tmp_path: Path) -> None:
    """In a tree with more namesakes than may go together, the order decides which do."""
    some_fixtures(tmp_path)
    command = [sys.executable, "-m", "tapemigrate", "check", "--no-cache", "."]
    command += ["--output-format", "json", "--jobs", "1"]
    reports = {
        subprocess.run(
            command,
            cwd=tmp_path,
            env={
                **os.environ,
                "PYTHONPATH": str(Path(__file__).parents[1]),
                "PYTHONHASHSEED": seed,
            },
            capture_output=True,
            text=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(reports) == 1
    assert len(json.loads(reports.pop())) > 100


HOME = """\
import tensorflow as tf


class Net:
    def __init__(self, scale):
        self.x = tf.placeholder(tf.float32, [None, 3])
        self.w = tf.Variable(tf.ones([3]))
        self.loss = tf.reduce_sum(self.x * self.w / scale)
        self.slope = tf.gradients(self.loss, tf.trainable_variables())[0]
"""


def test_of_many_folders_with_the_same_modules_each_is_its_own(tmp_path: Path) -> None:
    """Experiments that were copied, each a package of its own: more than are read for a name."""
    for number in range(70):
        folder = tmp_path / f"try_{number}"
        folder.mkdir()
        (folder / "net.py").write_text(HOME)
        scale = "tf.exp(tf.Variable(1.0))" if number == 3 else "3.0"
        use = f"import tensorflow as tf\nfrom try_{number}.net import Net\nnet = Net({scale})\n"
        (folder / "main.py").write_text(use)
    outcome = run([str(tmp_path)], lambda path: Settings(), mode="check", jobs=1)
    fixes = {
        Path(result.filename).parent.name: [d.fix and d.fix.applicability for d in found]
        for result in outcome.results
        if (found := result.diagnostics)
    }
    assert len(fixes) == 70
    assert [name for name, each in fixes.items() if each != ["safe"]] == ["try_3"]
