"""Which files are read beside a file: those that may call its functions, and hardly any other."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tapemigrate import api
from tapemigrate.model import Handed, Hidden, Links
from tapemigrate.running.context import Choice, home_of, words
from tapemigrate.running.modules import Modules
from tapemigrate.running.projects import Projects
from tapemigrate.running.texts import CALLED, FOREIGN, HOME, USED
from tapemigrate.running.words import Search, Words, words_in
from tapemigrate.source.decoding import SourceFile

ONE_PROJECT = Projects([], map)
NO_MODULES = Modules([], ONE_PROJECT)
METHOD = Links(frozenset({"loss"}), frozenset({Handed("loss", frozenset({"Model"}))}))


def holds(folder: Path, text: str, word: str) -> bool:
    path = folder / "other.py"
    path.write_text(text, encoding="utf-8")
    return words_in(Search([str(path)], frozenset({word})))[0] == [[word]]


def reaches_out(folder: Path, text: str) -> bool:
    return holds(folder, text, FOREIGN + "loss")


@pytest.mark.parametrize(
    "text",
    [
        "def loss(x):\n    return x\n\n\nloss(1)\n",
        "loss = 1\nprint(f(loss), loss)\n",
        "x = 1  # the loss of it\n",
        "x = '''\nthe loss of it\n'''\n",
        "import losses\nlosses.run()\nloss = 2\n",
        "import os; loss = 1\n",
        "from os import (path,  # (one)\n    sep)\nloss = 3\n",
        "self.my_loss = x.loss_of\n",
        "loss = 1\nself.loss_of(x)\n",
        "print('loss is', loss)\n",
        "loss = 1\nself.globals['x'] = loss\n",
    ],
)
def test_a_name_of_the_file_itself_is_none_of_another(tmp_path: Path, text: str) -> None:
    assert not reaches_out(tmp_path, text)


@pytest.mark.parametrize(
    "text",
    [
        "model.loss(x)\n",
        "model . loss(x)\n",
        "(model\n    .loss)(x)\n",
        "(model.\n    loss)(x)\n",
        "(model.  # of it\n    # all\n    loss)(x)\n",
        "model.\\\n    loss(x)\n",
        "getattr(model, 'loss')\n",
        'getattr(model, r"""loss""")\n',
        "patch('helper.loss')\n",
        "getattr(model, f'loss{number}')\n",
        "from helper import loss\n",
        "from helper import other, loss as it\n",
        "from helper import loss\r\n",
        "from helper import other, \\\n    loss\n",
        "from helper import (\n    other,  # (one)\n    loss,\n)\n",
        "from.import loss\n",
        "from helper import(loss)\n",
        "import helper.loss\n",
        "from helper import *\nloss(x)\n",
        "from helper import(*)\nloss(x)\n",
        "from helper import \\\n    *\nloss(x)\n",
        "exec(open('helper.py').read())\nloss(x)\n",
        "globals().update(vars(helper))\nloss(x)\n",
        "loss(x)\n%run helper.py\n",
    ],
)
def test_a_name_that_may_come_from_another_file(tmp_path: Path, text: str) -> None:
    assert reaches_out(tmp_path, text)


@pytest.mark.parametrize(
    ("text", "used"),
    [
        ("from helper import loss\nrun(loss)\n", True),
        ("from helper import loss as it\nit(x)\n", False),
        ("def loss(x):\n    return x\n\n\nloss(x)\n", False),
        ("from helper import loss\n", False),
        ("from helper import loss_of, loss\nloss_of(x)\n", False),
        ("from helper import my_loss, loss\nmy_loss(x)\n", False),
        ("from helper import loss\nloss(x)\n", True),
        ("model.loss (x)\n", True),
        ("model.loss \\\n(x)\n", True),
        ("(model.loss  # of it\n(x))\n", True),
        ("from helper import *\nloss(x)\n", True),
    ],
)
def test_what_is_called_or_passed_on(tmp_path: Path, text: str, used: bool) -> None:
    assert holds(tmp_path, text, USED + "loss") is used


@pytest.mark.parametrize(
    ("text", "called"),
    [
        ("loss(x)\n", False),
        ("run(model.loss)\n", False),
        ("model.loss_of(x)\n", False),
        ("# Text. The loss, (x)\n", False),
        ("model.loss(x)\n", True),
        ("model.loss \\\n    (x)\n", True),
        ("(model\n    .loss(x))\n", True),
        ("super().loss(x)\n", True),
    ],
)
def test_what_is_called_as_a_method(tmp_path: Path, text: str, called: bool) -> None:
    assert holds(tmp_path, text, CALLED + "loss") is called


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("helper = 1\nhelper()\n", False),
        ("def f(helper):\n    return helper\n", False),
        ("# from the helper\nimport os\n", False),
        ("print('from helper')\n", False),
        ("import helper\n", True),
        ("import package.helper as h\n", True),
        ("from helper import loss\n", True),
        ("from helper.more import loss\n", True),
        ("from .helper import(loss)\n", True),
        ("from package import helper\n", True),
        ("from \\\n    helper import loss\n", True),
        ("from\thelper\timport *\n", True),
        ("import_module('helper')\n", True),
        ("x = package.helper\n", True),
        ("from other import *\nhelper.loss()\n", True),
    ],
)
def test_what_may_be_a_module_or_class_of_another_file(
    tmp_path: Path, text: str, meant: bool
) -> None:
    assert holds(tmp_path, text, HOME + "helper") is meant


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("import helper\n", False),
        ("import helper\nhelper.losses()\n", False),
        ("helper = loss = 1\n", False),
        ("import helper\nhelper.loss()\n", True),
        ("import helper\nloss = 1\n", True),
        ("import loss\nloss.helper()\n", True),
    ],
)
def test_a_module_counts_where_the_name_stands_as_well(
    tmp_path: Path, text: str, meant: bool
) -> None:
    assert holds(tmp_path, text, home_of("loss", "helper")) is meant


def test_the_name_of_a_file_that_is_no_name_stands_nowhere(tmp_path: Path) -> None:
    text = "import a, helper\nhelper.loss()\n"
    assert not holds(tmp_path, text, home_of("loss", "a helper"))
    assert not holds(tmp_path, text, "a helper")


def test_a_name_in_too_many_files_has_callers_out_of_sight() -> None:
    many = [f"{number}.py" for number in range(100)]
    found = {"main": many, FOREIGN + "main": many, "rare": ["a.py"], FOREIGN + "rare": ["a.py"]}
    choice = Choice(found, ONE_PROJECT, NO_MODULES)
    assert list(choice.callers("net.py", Links(frozenset({"main", "rare"})))) == ["", "a.py"]


def test_files_in_which_a_name_means_their_own_do_not_count() -> None:
    many = [f"{number}.py" for number in range(100)]
    home = home_of("loss", "Model")
    places = {"loss": many, FOREIGN + "loss": ["7.py"], "Model": [], home: []}
    choice = Choice(places, ONE_PROJECT, NO_MODULES)
    assert list(choice.callers("net.py", METHOD)) == ["7.py"]


def test_a_subclass_may_have_the_method_anew_and_say_its_name_nowhere_else(tmp_path: Path) -> None:
    path = tmp_path / "sub.py"
    path.write_text("from m import Model\n\n\nclass Sub(Model):\n    def loss(self): ...\n")
    choice = Choice(Words([str(path)])(words([METHOD])), ONE_PROJECT, NO_MODULES)
    assert list(choice.callers("net.py", METHOD)) == [str(path)]


def test_what_makes_ops_by_hand_counts_where_its_name_stands(tmp_path: Path) -> None:
    texts = {
        "ops.py": "def made(x):\n    return g.create_op(x)\n\n\ndef plain(x):\n    return x\n",
        "more.py": "from ops import made\nS = tf.saved_model\n\n\ndef twice(x):\n    made(x)\n",
        "uses.py": "from ops import made\n",
        "plain.py": "from ops import plain\n\nmade = 1\n",
        "further.py": "from more import twice\n",
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    paths = {name: str(tmp_path / name) for name in texts}
    known = {
        paths["ops.py"]: Hidden(frozenset({"made"})),
        paths["more.py"]: Hidden(frozenset(), frozenset({"made"})),
    }
    links = {
        paths[name]: Links(frozenset({"f"}), imports=frozenset({module, "made", "plain", "twice"}))
        for name, module in {"uses.py": "ops", "plain.py": "ops", "further.py": "more"}.items()
    }

    def hidden_in(asked: list[str]) -> Iterator[Hidden | None]:
        return map(known.get, asked)

    choice = Choice(Words(list(paths.values()))(words(links.values())), ONE_PROJECT, NO_MODULES)
    assert choice.marked(links, hidden_in) == {
        paths["uses.py"]: [paths["ops.py"]],
        paths["plain.py"]: [],
        paths["further.py"]: [paths["more.py"]],
    }
    links[paths["uses.py"]] = Links(frozenset({"f"}), imports=frozenset({"ops", "more"}))
    (tmp_path / "uses.py").write_text("from ops import made\nfrom more import twice\n")
    assert choice.marked(links, hidden_in)[paths["uses.py"]] == [paths["ops.py"], paths["more.py"]]
    # Of a file that does not parse nothing is known.
    assert choice.marked(links, lambda asked: [None for _ in asked])[paths["plain.py"]] == [
        paths["ops.py"]
    ]


@pytest.mark.parametrize(
    ("parameters", "target", "shared"),
    [
        ("self", "self.loss", True),
        ("self", "2.0 * self.loss", True),
        ("self", "tf.exp(W)", False),
        ("self, loss", "loss", True),
        ("self, params", "self.loss", True),
    ],
)
def test_callers_that_name_no_class_count_where_they_pass_something(
    parameters: str, target: str, shared: bool
) -> None:
    text = f"""\
import tensorflow as tf


class Model(object):
    def slopes({parameters}):
        return tf.gradients({target}, self.x)
"""
    found = api.links(SourceFile("model.py", text)).handed
    assert [each.shared for each in found if each.name == "slopes"] == [shared]
