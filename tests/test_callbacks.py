"""Functions that are handed on as values, and called where they arrive."""

from __future__ import annotations

from pathlib import Path

import pytest

from tapemigrate.api import Result, analyse
from tapemigrate.runner import explain_line, run
from tapemigrate.settings import Settings
from tapemigrate.source.decoding import decode

_MODEL = """\
import tensorflow as tf


class Net(object):
    def __init__(self, operator, scale=1.0):
        self.scale = scale
        self.operator = operator

    def residual(self, x):
        u = tf.sin(x) * x
        return self.operator(u, x)
"""
_SCRIPT = """\
import tensorflow as tf

from model import Net


def slope(u, x):
    return tf.gradients(u, x)[0]


net = Net(slope)
"""
_PASSED = "`slope` is passed on as a value in line 10"


def _fix(model: str = _MODEL, script: str = _SCRIPT, **more: str) -> Result:
    texts = {"script.py": script, "model.py": model}
    texts |= {f"{name}.py": text for name, text in more.items()}
    files = {name: decode(text.encode(), name) for name, text in texts.items()}
    return analyse(files, Settings(unsafe_fixes=True), rewrite=True)


def test_the_call_of_what_is_kept_hands_in_the_tape() -> None:
    fixed = _fix().rewritten
    assert "def slope(u, x, tape):\n    return tape.gradient(u, " in fixed["script.py"]
    assert "return self.operator(u, x, tape=tape)" in fixed["model.py"]


def _edited(text: str, old: str, new: str) -> str:
    assert old in text
    return text.replace(old, new)


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        # What else may be called in its place.
        (
            "net = ",
            "plain = Net(lambda u, x: u)\nnet = ",
            "something else may be called in its place",
        ),
        (
            "net = ",
            "plain = Net(abs)\nnet = ",
            "`abs` may be called in its place, as line 10 has it",
        ),
        (
            "net = ",
            "other = slope if abs(1) else abs\nplain = Net(other)\nnet = ",
            "`other` may be",
        ),
        (
            "net = ",
            "parts = [slope]\nparts.reverse()\nplain = Net(*parts)\nnet = ",
            "what is handed in for it in line 12 is not seen",
        ),
        ("net = ", "make = Net\nnet = ", "`Net` is passed on as a value in script.py, line 10"),
        (
            "net = Net(slope)",
            "net = Net(slope)\nnet.operator = abs",
            "`abs` may be called in its place",
        ),
        ("net = Net(slope)", "net = Net(slope)\ndel net.operator", "`net.operator` is set anew"),
        (
            "net = Net(slope)",
            "net = Net(slope)\nNet.operator = max",
            "`Net` is passed on as a value",
        ),
        (
            "net = Net(slope)",
            "net = Net(slope)\nsetattr(net, 'operator', abs)",
            "`abs` may be called in its place, as line 11 has it",
        ),
        (
            "net = Net(slope)",
            "net = Net(slope)\nfor k, v in []:\n    setattr(net, k, v)",
            "line 12 may put another in its place",
        ),
        (
            "net = Net(slope)",
            "net = Net(slope)\nvars(net)['operator'] = abs",
            "`abs` may be called in its place, as line 11 has it",
        ),
        (
            "net = Net(slope)",
            "net = Net(slope)\nnet.__dict__.update(operator=abs)",
            "line 11 may put",
        ),
        (
            "net = ",
            "class Sub(Net):\n    def __init__(self):\n        self.operator = abs\n\n\nnet = ",
            "`Sub` extends `Net`",
        ),
        ("net = ", "class Sub(Net):\n    operator = abs\n\n\nnet = ", "`Sub` extends `Net`"),
        ("net = ", "__all__ = ['Net']\nnet = ", "`Net` is exported in script.py, line 10"),
        # Where it cannot be followed to.
        ("Net(slope)", "Net([slope])", ""),
        ("Net(slope)", "Net({'a': slope})", ""),
        ("Net(slope)", "tf.map_fn(slope, [1.0])", ""),
        ("Net(slope)", "make(slope)", ""),
        ("Net(slope)", "Net.make(slope)", ""),
        ("Net(slope)", "Net(scale=slope, operator=None)", "which does not call it itself"),
        ("from model import Net", "from models import *", ""),
        ("from model import Net", "from models import Net", ""),
    ],
)
def test_what_hides_the_calls_in_the_script(old: str, new: str, reason: str) -> None:
    result = _fix(script=_edited(_SCRIPT, old, new))
    assert not result.rewritten
    (found,) = result.diagnostics
    assert "`slope` is passed on as a value in line " in found.message
    assert reason in found.message, found.message


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("= operator\n", "= tf.function(operator)\n", "what becomes of it in model.py, line 7"),
        ("= operator\n", "= [operator]\n", "what becomes of it in model.py, line 7"),
        ("= operator\n", "= self.held = operator\n", "which does not call it itself"),
        (
            "= operator\n",
            "= operator\n        self.held, n = operator, 1\n",
            "does not call it itself",
        ),
        (
            "        self.scale",
            "        operator = abs\n        self.scale",
            "`operator` may be another",
        ),
        ("self.operator = operator", "self.__dict__.update(locals())", "`operator` may be another"),
        (
            "= operator\n",
            "= operator\n        self.operator = abs\n",
            "`abs` may be called in its place",
        ),
        (
            "= operator\n",
            "= operator\n        vars(self).update(scale=2)\n",
            "may be another in model.py, line 8",
        ),
        (
            "    def residual",
            "    def __getattr__(self, name): ...\n\n    def residual",
            "may put another",
        ),
        ("    def residual", "    operator = abs\n\n    def residual", "has its own `operator`"),
        (
            "    def residual",
            "    def operator(self): ...\n\n    def residual",
            "has its own `operator`",
        ),
        ("Net(object)", "Net(Base)", "not all of `Net` in model.py, line 4 is seen"),
        ("operator, scale", "operator=abs, scale", None),
        ("self.operator(u, x)", "tf.map_fn(self.operator, u)", "does not call it itself"),
        ("self.operator(u, x)", "getattr(self, 'operator')(u, x)", None),
        ("self.operator(u, x)", "getattr(self, name)(u, x)", "does not call it itself"),
        (
            "self.operator(u, x)",
            "self.operator(u, x)\n\n    def op(self):\n        return self.operator",
            "is not",
        ),
    ],
)
def test_what_hides_the_calls_in_the_class(old: str, new: str, reason: str | None) -> None:
    result = _fix(model=_edited(_MODEL, old, new))
    if reason is None:  # nobody leaves the default as it is
        assert result.rewritten
        return
    assert not result.rewritten
    (found,) = result.diagnostics
    assert _PASSED in found.message
    assert reason in found.message, found.message


def test_a_default_that_is_another_function_may_be_called() -> None:
    model = _edited(_MODEL, "operator, scale", "operator=abs, scale")
    result = _fix(model=model, other="from model import Net\n\nnet = Net(scale=2.0)\n")
    assert not result.rewritten
    (found,) = result.diagnostics
    assert "`abs` may be called in its place, as model.py, line 5 has it" in found.message


def test_another_function_in_its_place_takes_the_tape_as_well() -> None:
    other = "from model import Net\n\n\ndef size(u, x):\n    return u\n\n\nNet(size)\n"
    fixed = _fix(other=other).rewritten
    assert "def slope(u, x, tape):" in fixed["script.py"]
    assert "def size(u, x, tape=None):" in fixed["other.py"]
    assert "self.operator(u, x, tape=tape)" in fixed["model.py"]


def test_all_functions_that_need_the_tape_are_handed_it() -> None:
    script = _SCRIPT + _CURVATURE + "other = Net(operator=curvature)\n"
    fixed = _fix(script=script).rewritten
    assert "def slope(u, x, tape):" in fixed["script.py"]
    assert "def curvature(u, x, scale=2.0, *, tape):" in fixed["script.py"]
    assert "tf.GradientTape(persistent=True)" in fixed["model.py"]


_CURVATURE = """

def curvature(u, x, scale=2.0):
    u_x = tf.gradients(u, x)[0]
    return scale * tf.gradients(u_x, x)[0]


"""


@pytest.mark.parametrize(
    ("other", "reason"),
    [
        ("def size(u, tape):\n    return u\n\n\nNet(size)\n", "something else as `tape`"),
        ("@abs\ndef size(u, x):\n    return u\n\n\nNet(size)\n", "`size` is decorated"),
        (
            "def size(u, x):\n    return u\n\n\nif True:\n"
            "    def size(u, x):\n        return x\n\n\nNet(size)\n",
            "`size` may be called in its place",
        ),
        (
            "class A:\n    def size(u, x):\n        return u\n\n    Net(size)\n",
            "`size` may be called",
        ),
        ("def run(size):\n    Net(size)\n", "`size` may be called in its place"),
        ("from numpy import sum as size\nNet(size)\n", "`size` may be called in its place"),
    ],
)
def test_what_takes_its_place_and_cannot_take_the_tape(other: str, reason: str) -> None:
    result = _fix(other=f"from model import Net\n\n\n{other}")
    assert not result.rewritten
    assert reason in result.diagnostics[0].message, result.diagnostics[0].message


def test_a_lambda_with_a_name_that_takes_its_place_takes_a_tape() -> None:
    fixed = _fix(other="from model import Net\n\n\nsize = lambda u, x: u\nNet(size)\n").rewritten
    assert "size = lambda u, x, tape=None: u" in fixed["other.py"]


def test_what_takes_its_place_and_is_called_without_a_tape_as_well() -> None:
    script = _SCRIPT + _CURVATURE + "other = Net(curvature)\nhandle(curvature)\n"
    fixed = _fix(script=script).rewritten
    assert "def slope(u, x, tape=None):" in fixed["script.py"]
    assert "def curvature(u, x, scale=2.0, tape=None):" in fixed["script.py"]


def test_what_takes_its_place_stands_in_a_file_that_is_not_changed_along() -> None:
    other = "from model import Net\n\n\ndef size(u, x):\n    return u\n\n\nNet(size)\n"
    files = {name: decode(text.encode(), name) for name, text in _FILES.items()}
    context = {"other.py": decode(other.encode(), "other.py")}
    result = analyse(files, Settings(unsafe_fixes=True), rewrite=True, context=context)
    assert not result.rewritten
    assert "is not changed along with this one" in result.diagnostics[0].message


_FILES = {"script.py": _SCRIPT, "model.py": _MODEL}


@pytest.mark.parametrize(
    "call",
    [
        "def report(held, x):\n    return held.operator(x * x, x)\n",
        "def report(name, held, x):\n    return getattr(held, 'operator')(x, x)\n",
    ],
)
def test_who_may_call_it_besides_is_left_the_old_call(call: str) -> None:
    result = _fix(other=call)
    assert "def slope(u, x, tape=None):" in result.rewritten["script.py"]
    assert "self.operator(u, x, tape=tape)" in result.rewritten["model.py"]
    assert "other.py" not in result.rewritten
    assert "the old call stays for those that hand in none: " in result.diagnostics[0].message


_WAVE = """

class Wave(object):
    def __init__(self, operator):
        self.operator = operator

    def residual(self, x):
        return self.operator(x * x, x)
"""


def test_a_class_beside_that_nobody_makes_is_left_the_old_call() -> None:
    result = _fix(model=_MODEL + _WAVE)
    assert "def slope(u, x, tape=None):" in result.rewritten["script.py"]
    assert result.rewritten["model.py"].count("tape=tape") == 1
    (found,) = result.diagnostics
    assert (
        "`Wave`, which nothing here makes, may call `slope` in model.py, line 19" in found.message
    )


def test_a_class_beside_that_is_made_with_another_function() -> None:
    result = _fix(model=_MODEL + _WAVE, other="import model\n\nwave = model.Wave(abs)\n")
    assert "def slope(u, x, tape):" in result.rewritten["script.py"]


@pytest.mark.parametrize(
    "other",
    [
        "import operator\n\nprint(operator.add(1, 2))\n",
        "class Sampler(object):\n    def __init__(self, f):\n        self.operator = f\n\n"
        "    def sample(self, x):\n        return self.operator(x)\n\n\nSampler(abs).sample(1)\n",
    ],
)
def test_another_thing_of_that_name_changes_nothing(other: str) -> None:
    assert "def slope(u, x, tape):" in _fix(other=other).rewritten["script.py"]


def test_an_object_called_from_outside_hands_in_a_tape_as_well() -> None:
    other = "from model import Net\nfrom script import slope\n\n\ndef report(x):\n"
    other += "    net = Net(slope)\n    y = x * x\n    return net.operator(y, x)\n"
    fixed = _fix(other=other).rewritten
    assert "net.operator(y, x, tape=tape)" in fixed["other.py"]
    assert "def slope(u, x, tape):" in fixed["script.py"]


def test_a_suppression_withholds_all_of_it() -> None:
    script = _edited(_SCRIPT, "[0]\n", "[0]  # noqa: TM101\n")
    assert not _fix(script=script).rewritten


def test_a_file_that_is_not_changed_along() -> None:
    files = {"script.py": decode(_SCRIPT.encode(), "script.py")}
    context = {"model.py": decode(_MODEL.encode(), "model.py")}
    result = analyse(files, Settings(unsafe_fixes=True), rewrite=True, context=context)
    assert not result.rewritten
    (found,) = result.diagnostics
    assert "and is not changed along with this one" in found.message


@pytest.mark.parametrize("name", ["Net", "operator"])
def test_a_file_that_cannot_be_read_may_hand_in_another(name: str) -> None:
    result = _beside_what_cannot_be_read(f"print 'no'\n{name}\n")
    assert not result.rewritten
    reason = "`old.py`, which cannot be read, may put another in its place"
    assert reason in result.diagnostics[0].message


def test_a_file_that_cannot_be_read_may_call_it() -> None:
    result = _beside_what_cannot_be_read("from script import slope\nprint 'no'\n")
    assert "def slope(u, x, tape=None):" in result.rewritten["script.py"]
    assert "`old.py`, which cannot be read, may call it" in result.diagnostics[0].message


def test_a_file_that_cannot_be_read_and_names_nothing_of_it() -> None:
    result = _beside_what_cannot_be_read("print 'Nets', operators, slope_of\n")
    assert "def slope(u, x, tape):" in result.rewritten["script.py"]


def _beside_what_cannot_be_read(text: str) -> Result:
    files = {"script.py": _SCRIPT, "model.py": _MODEL}
    decoded = {name: decode(text.encode(), name) for name, text in files.items()}
    broken = {"old.py": decode(text.encode(), "old.py")}
    return analyse(decoded, Settings(unsafe_fixes=True), rewrite=True, context=broken)


def _fixed_tree(folder: Path, **texts: str) -> dict[str, str]:
    for name, text in texts.items():
        (folder / f"{name}.py").write_text(text, encoding="utf-8")
    outcome = run([str(folder)], lambda path: Settings(), mode="fix", jobs=1)
    return {Path(each.filename).stem: each.new.decode() for each in outcome.results if each.new}


_KEPT = _MODEL.replace("self.operator", "self.kept")
_OTHERS = {
    "makes the class": "import model\n\nnet = model.Net(abs)\n",
    "calls what is kept": "def report(held, x):\n    return held.kept(x * x, x)\n",
    "extends the class": "from model import Net\n\n\nclass Sub(Net):\n    pass\n",
}


def test_files_are_read_together_by_what_the_function_is_handed_to(tmp_path: Path) -> None:
    fixed = _fixed_tree(tmp_path, script=_SCRIPT, model=_KEPT)
    assert "def slope(u, x, tape):" in fixed["script"]
    assert "self.kept(u, x, tape=tape)" in fixed["model"]


@pytest.mark.parametrize("other", _OTHERS.values(), ids=_OTHERS)
def test_files_that_do_not_name_the_function_are_read_as_well(tmp_path: Path, other: str) -> None:
    fixed = _fixed_tree(tmp_path, script=_SCRIPT, model=_KEPT, other=other)
    assert "def slope(u, x, tape):" not in fixed.get("script", "")


@pytest.mark.parametrize("other", _OTHERS.values(), ids=_OTHERS)
def test_the_function_may_stand_in_a_third_file(tmp_path: Path, other: str) -> None:
    slope = "import tensorflow as tf\n\n\ndef slope(u, x):\n    return tf.gradients(u, x)[0]\n"
    script = "from model import Net\nfrom slopes import slope\n\nnet = Net(slope)\n"
    texts = {"slopes": slope, "script": script, "model": _KEPT}
    assert "def slope(u, x, tape):" in _fixed_tree(tmp_path, **texts)["slopes"]
    (tmp_path / "slopes.py").unlink()
    fixed = _fixed_tree(tmp_path, **texts, other=other)
    assert "def slope(u, x, tape):" not in fixed.get("slopes", "")


def test_a_class_beside_is_looked_for_where_it_is_made(tmp_path: Path) -> None:
    texts = {"script": _SCRIPT, "model": _MODEL + _WAVE}
    assert "def slope(u, x, tape=None):" in _fixed_tree(tmp_path, **texts)["script"]
    (tmp_path / "script.py").unlink()
    other = "import model\n\nwave = model.Wave(abs)\n"
    assert "def slope(u, x, tape):" in _fixed_tree(tmp_path, **texts, other=other)["script"]


def test_the_story_is_told_over_files(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(_SCRIPT, encoding="utf-8")
    (tmp_path / "model.py").write_text(_KEPT, encoding="utf-8")
    told = explain_line([str(tmp_path)], str(tmp_path / "script.py"), 7, Settings())
    assert "model.py:11: line 10 has to run under the tape" in told
    (tmp_path / "model.py").write_text("print 'no'\n", encoding="utf-8")
    told = explain_line([str(tmp_path)], str(tmp_path / "script.py"), 7, Settings())
    assert "no fix: " in told


def test_a_function_of_a_function_is_followed_as_well() -> None:
    script = """\
import tensorflow as tf

from model import Net


def main(x):
    def slope(u, x):
        return tf.gradients(u, x)[0]

    return Net(slope).residual(x)


def other(x):
    slope = abs
    return slope(x)
"""
    fixed = _fix(script=script).rewritten
    assert "    def slope(u, x, tape):" in fixed["script.py"]
    assert "return Net(slope).residual(x)" in fixed["script.py"]
    result = _fix(script=script.replace("= abs", "= Net(abs)"))
    assert not result.rewritten
    assert "`abs` may be called in its place" in result.diagnostics[0].message
