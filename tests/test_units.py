"""Files that are parsed only once something is looked for that may stand in them."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import pytest

from tapemigrate import api
from tapemigrate.rules.finding import Unit
from tapemigrate.rules.project import Project
from tapemigrate.rules.units import Later, Units
from tapemigrate.settings import Settings
from tapemigrate.source import SourceError, SourceFile, parse
from tapemigrate.source.decoding import UNKNOWN

MODEL = """\
import tensorflow as tf


class Model:
    def loss(self, y, x):
        return tf.gradients(y, x)[0]
"""
CALLER = """\
from model import Model


def run(y, x):
    return Model().loss(y, x)
"""
BROKEN = "def loss(:\n"


class Files:
    """Files that are parsed later, and the names of those that were."""

    def __init__(self, texts: dict[str, str]) -> None:
        self.parsed: list[str] = []
        self.later = {name: Later(text, self._parse(name, text)) for name, text in texts.items()}
        self.units = Units(self.later)

    def _parse(self, name: str, text: str) -> Callable[[], Unit | None]:
        def made() -> Unit | None:
            self.parsed.append(name)
            try:
                return Unit(name, text, parse(text, name))
            except SourceError:
                return None

        return made


def names(found: Iterable[Unit]) -> list[str]:
    return [unit.filename for unit in found]


@pytest.mark.parametrize(
    "text",
    [
        "loss = 1\n",
        "x.loss(y)\n",
        "from m import loss as term\n",
        "import loss.more\n",
        "getattr(x, 'loss')\n",
        'getattr(x, """loss""")\n',
        "x = 1if loss else 2\n",
        "def \\\n    loss(): ...\n",
        "ｌｏｓｓ = 1\n",
        "é = loſs\n",
    ],
)
def test_a_file_that_may_have_a_name_is_parsed(text: str) -> None:
    files = Files({"a.py": text})
    assert names(files.units.having("other", "loss")) == ["a.py"]


@pytest.mark.parametrize("text", ["", "losses = 1\n", "my_loss = x.loss_\n", "print('losses')\n"])
def test_a_file_that_has_no_such_name_is_not(text: str) -> None:
    files = Files({"a.py": text})
    assert names(files.units.having("loss")) == []
    assert files.parsed == []


@pytest.mark.parametrize(
    ("text", "defines"),
    [
        ("def loss(): ...\n", True),
        ("class A:\n    async def loss(self): ...\n", True),
        ("class  loss(A): ...\n", True),
        ("def \\\n  loss(): ...\n", True),
        ("def ｌoss(): ...\n", True),
        ("# A helper class\ndef loss(): ...\n", True),
        ("# The loss of this class\nclass loss: ...\n", True),
        ("x = class_def\ndef loss(): ...\n", True),
        ("loss = 1\n", False),
        ("def losses(): return loss\n", False),
        ("undef loss\n", False),
    ],
)
def test_definitions(text: str, defines: bool) -> None:
    files = Files({"a.py": text})
    list(files.units.defining("loss"))
    assert files.parsed == (["a.py"] if defines else [])


def test_what_is_no_name_may_stand_anywhere() -> None:
    files = Files({"a.py": "x = 1\n"})
    assert names(files.units.having("a.b")) == ["a.py"]


def test_files_keep_their_order_and_are_parsed_once() -> None:
    files = Files({"c.py": "x = 1\n", "a.py": "y = 1\n", "b.py": "x = y\n"})
    assert names(files.units.having("x")) == ["c.py", "b.py"]
    assert names(files.units.having("y")) == ["a.py", "b.py"]
    assert names(files.units.having("x")) == ["c.py", "b.py"]
    assert list(files.units) == ["c.py", "a.py", "b.py"]
    assert files.parsed == ["c.py", "b.py", "a.py"]
    other = files.units.with_unit(Unit("a.py", "", parse("", "a.py")))
    assert other["b.py"] is files.units["b.py"]
    assert other["a.py"] is not files.units["a.py"]


def test_what_does_not_parse_is_none_of_them() -> None:
    files = Files({"a.py": BROKEN, "b.py": "x = 1\n"})
    assert names(files.units.having("loss", "x")) == ["b.py"]
    assert "a.py" not in files.units
    assert len(files.units) == 1
    with pytest.raises(KeyError):
        files.units["a.py"]


def test_pieces_and_places() -> None:
    files = Files({"a.py": "xy = 1\n", "b.py": "z = 1\n", "c.py": "z = 2\n"})
    assert names(files.units.with_text(["x", "w"])) == ["a.py"]
    assert names(files.units.at(lambda name: name == "c.py")) == ["c.py"]
    assert files.parsed == ["a.py", "c.py"]


def test_one_after_the_other_is_parsed() -> None:
    files = Files({"a.py": "def x(): ...\n", "b.py": "x = 1\n", "c.py": "def x(): ...\n"})
    assert next(iter(files.units.having("x"))).filename == "a.py"
    assert next(iter(files.units.defining("x"))).filename == "a.py"
    assert files.parsed == ["a.py"]
    assert names(files.units.defining("x")) == ["a.py", "c.py"]


@pytest.mark.parametrize(
    ("texts", "told"),
    [
        ({"a.py": "loss(x)\n"}, ""),
        ({"a.py": "def losses(:\n"}, ""),
        ({"a.py": "def losses(:\n", "b.py": BROKEN}, "`b.py`, which cannot be read,"),
        ({"": UNKNOWN}, "one of more files than are looked at"),
        ({"a.py": UNKNOWN}, "`a.py`, which cannot be read,"),
        ({"a.py": UNKNOWN + "print loss(x)"}, "`a.py`, which cannot be read,"),
        ({"a.py": UNKNOWN + "print gloss(x)"}, ""),
    ],
)
def test_who_may_call_and_cannot_be_read(texts: dict[str, str], told: str) -> None:
    files = Files(texts)
    project = Project(files.units, list(files.later.items()))
    assert project.unread(["loss"]) == told
    assert project.unread(["loss"]) == told


def analysed(
    texts: dict[str, str], context: dict[str, str], idle: frozenset[str]
) -> tuple[list[str], dict[str, str]]:
    result = api.analyse(
        {name: SourceFile(name, text) for name, text in texts.items()},
        Settings(),
        rewrite=True,
        context={name: SourceFile(name, text) for name, text in context.items()},
        idle=idle,
    )
    return [d.message for d in result.diagnostics], result.rewritten


@pytest.mark.parametrize("other", ["", "x = 1\n", "def loss(x):\n    return x\n", CALLER])
def test_idle_files_change_nothing(other: str) -> None:
    texts = {"model.py": MODEL, "other.py": other, "main.py": CALLER}
    everything = analysed(texts, {}, frozenset())
    assert analysed(texts, {}, frozenset({"other.py", "main.py"})) == everything


def test_an_idle_file_that_calls_is_rewritten() -> None:
    caller = "import tensorflow as tf\n" + CALLER.replace("(y, x)", "(x)").replace(
        "loss(x)", "loss(tf.square(x), x)"
    )
    _, rewritten = analysed({"model.py": MODEL, "main.py": caller}, {}, frozenset({"main.py"}))
    assert set(rewritten) == {"model.py", "main.py"}


def test_an_idle_file_that_cannot_be_parsed_is_told_once_it_is_asked_about() -> None:
    texts = {"model.py": MODEL, "other.py": BROKEN}
    with pytest.raises(SourceError):
        analysed(texts, {}, frozenset({"other.py"}))
    texts["other.py"] = "def it(:\n"
    analysed(texts, {}, frozenset({"other.py"}))


def test_what_is_beside_is_parsed_only_where_it_may_matter(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    parsed = []
    real = api.unit

    def counted(file: SourceFile, *, one_of_many: bool = False) -> Unit:
        parsed.append(file.filename)
        return real(file, one_of_many=one_of_many)

    monkeypatch.setattr(api, "unit", counted)
    context = {"b.py": CALLER, "c.py": "from model import Model\n\n\nprint(Model.other)\n" * 2}
    texts = {"model.py": MODEL.replace("class Model", "class Net").replace("Model", "Net")}
    analysed({**texts, "a.py": "def it():\n    return 1\n"}, context, frozenset({"a.py"}))
    assert parsed == ["model.py", "b.py"]


def test_statements_are_gone_through_where_that_is_asked_for() -> None:
    unit = Unit("model.py", MODEL, parse(MODEL, "model.py"))
    project = Project({"model.py": unit})
    view = project.view(unit, unit.tree)
    assert not {"flow", "blocks"} & vars(view).keys()
    assert view.flow is view.flow is project.view(unit, unit.tree).flow
