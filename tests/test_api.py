"""Texts in, findings and texts out: what is withheld, what lands together, what settings change."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tapemigrate.api import analyse, links, why
from tapemigrate.settings import Settings
from tapemigrate.source import SourceFile

BURGERS = """import tensorflow as tf

def residual(x):
    x = tf.identity(x)
    u = tf.sin(x)
    u_x = tf.gradients(u, x)[0]
    u_xx = tf.gradients(u_x, x)[0]{comment}
    return u_xx
"""
WRAPPED = """from mylib import grad
import tensorflow as tf

def f():
    x = tf.ones([2])
    y = tf.sin(x)
    return grad(y, x)[0]
"""
GRAPH = """import tensorflow.compat.v1 as tf
x = tf.placeholder(tf.float32)
y = tf.sin(x)
g = tf.gradients(y, x)[0]
"""


def run(text: str, settings: Settings | None = None, rewrite: bool = True) -> tuple[list[str], str]:
    files = {"a.py": SourceFile("a.py", text)}
    result = analyse(files, settings or Settings(), rewrite=rewrite)
    return [d.code for d in result.diagnostics], result.rewritten.get("a.py", text)


def test_a_clean_file_has_nothing_to_say() -> None:
    assert run("import tensorflow as tf\nprint(tf.__version__)\n")[0] == []


def test_a_suppressed_part_withholds_the_whole_rewrite() -> None:
    text = BURGERS.format(comment="  # noqa: TM101")
    codes, after = run(text)
    assert codes == ["TM101"]
    assert after == text


def test_without_the_comment_both_orders_land() -> None:
    codes, after = run(BURGERS.format(comment=""))
    assert codes == ["TM101", "TM101"]
    assert "tf.gradients" not in after
    assert run(after) == ([], after)


def test_an_unused_suppression_goes() -> None:
    codes, after = run("import tensorflow as tf  # tapemigrate: ignore[TM101]\n")
    assert codes == ["TM910"]
    assert after == "import tensorflow as tf\n"


def test_ignored_codes_are_not_told_and_not_mended() -> None:
    text = BURGERS.format(comment="")
    assert run(text, Settings(ignore=("TM101",))) == ([], text)


def test_an_alias_of_the_users_own() -> None:
    assert run(WRAPPED)[0] == []
    codes, after = run(WRAPPED, Settings(aliases={"mylib.grad": "tensorflow.gradients"}))
    assert codes == ["TM101"]
    assert "tape.gradient(y, x)" in after


def test_a_v1_graph_may_stay_as_it_is() -> None:
    assert run(GRAPH)[0] == ["TM101"]
    assert run(GRAPH, Settings(target="v1-graph")) == ([], GRAPH)


def test_unsafe_fixes_are_applied_only_on_demand() -> None:
    text = (
        "import tensorflow as tf\n\n\ndef f(x, z):\n    y = tf.sin(x) * z\n"
        "    return tf.gradients(y, x)[0]\n"
    )
    assert run(text)[1] == text
    assert "GradientTape" in run(text, Settings(unsafe_fixes=True))[1]


def test_edits_reproduce_the_rewrite() -> None:
    text = BURGERS.format(comment="")
    files = {"a.py": SourceFile("a.py", text)}
    result = analyse(files, Settings(), rewrite=True, edits=True)
    fix = result.diagnostics[0].fix
    assert fix is not None
    assert fix.edits
    lines = text.splitlines(keepends=True)
    for edit in sorted(fix.edits, key=lambda e: e.start, reverse=True):
        before = (
            "".join(lines[: edit.start.row - 1])
            + _cut(lines, edit.start.row)[: edit.start.column - 1]
        )
        rest = _cut(lines, edit.end.row)[edit.end.column - 1 :] + "".join(lines[edit.end.row :])
        lines = (before + edit.content + rest).splitlines(keepends=True)
    assert "".join(lines) == result.rewritten["a.py"]


def test_why_names_the_nearest_calls_where_none_stands_on_the_row() -> None:
    text = "import tensorflow as tf\nx = tf.constant(1.0)\n{0}\ny = x * x\n{0}\n"
    files = {"a.py": SourceFile("a.py", text.format("g = tf.gradients(x * x, x)[0]"))}
    told = why(files, "a.py", 4, settings=Settings())
    assert told == "a.py:4: no gradient call stands here; the nearest: a.py:3 and a.py:5"
    assert why(files, "a.py", 9, settings=Settings()).endswith("the nearest: a.py:5")
    assert why({"b.py": SourceFile("b.py", "x = 1\n")}, "b.py", 1, settings=Settings()) == (
        "b.py:1: no gradient call stands here"
    )


def _cut(lines: list[str], row: int) -> str:
    return lines[row - 1] if row <= len(lines) else ""


def test_the_functions_whose_callers_decide() -> None:
    assert links(SourceFile("a.py", BURGERS.format(comment=""))).names == {"residual"}


def test_why_tells_what_the_text_has() -> None:
    text = (
        "import tensorflow as tf\n\n\ndef slope(x, noisy):\n"
        "    point = tf.sin(x) if noisy else x\n    y = point * point\n    loss = y\n"
        '    return tf.gradients(loss,\n                        [point], name="slope")[0]\n'
    )
    told = why({"a.py": SourceFile("a.py", text)}, "a.py", 8, settings=Settings())
    assert 'a.py:8: tf.gradients(loss, [point], name="slope")\n' in told
    assert "  sources  [point]  (`point`: assignment in line 5)\n" in told
    assert "  watch    point\n" in told


@pytest.mark.parametrize(
    ("row", "expected"), [(6, "region   line 5 has"), (7, "of line 6"), (1, "no gradient call")]
)
def test_why_tells_the_region(row: int, expected: str) -> None:
    files = {"a.py": SourceFile("a.py", BURGERS.format(comment=""))}
    assert expected in why(files, "a.py", row, settings=Settings())


def test_a_caller_in_another_file_bears_the_assumption_out() -> None:
    helper = "import tensorflow as tf\n\ndef slope(x, z):\n    return tf.gradients(x * z, x)[0]\n"
    caller = (
        "import tensorflow as tf\nfrom a import slope\n\n\ndef main():\n"
        "    x = tf.ones([2])\n    return slope(x, {other})\n"
    )
    for other, applicability in (("tf.zeros([2])", "safe"), ("tf.exp(x)", None)):
        result = analyse(
            {"a.py": SourceFile("a.py", helper)},
            Settings(),
            rewrite=False,
            context={"b.py": SourceFile("b.py", caller.format(other=other))},
        )
        fix = result.diagnostics[0].fix
        assert (fix.applicability if fix else None) == applicability


THREADED = """\
import tensorflow as tf


def slope(y, x):
    return tf.gradients(y, x)[0]


def middle(y, x):
    return slope(2.0 * y, x)


def run(x):
    y = tf.square(x)
    return middle(y, x)
"""


def test_why_tells_through_which_hands_a_tape_comes() -> None:
    files = {"a.py": SourceFile("a.py", THREADED)}
    told = why(files, "a.py", 5, settings=Settings())
    assert "a.py:9: passes on the one that it is handed" in told
    assert "a.py:14: lines 13 to 14 have to run under the tape" in told


def test_a_suppression_withholds_what_belongs_together_over_files() -> None:
    helper = (
        "import tensorflow as tf\n\n\ndef slope(y, x):\n"
        "    return tf.gradients(y, x)[0]  # noqa: TM101\n"
    )
    caller = (
        "import tensorflow as tf\nfrom helper import slope\n\n\ndef run(x):\n    y = x * x\n"
        "    g = tf.gradients(y, x)[0]\n    return g, slope(y, x)\n"
    )
    files = {n: SourceFile(n, t) for n, t in {"helper.py": helper, "caller.py": caller}.items()}
    result = analyse(files, Settings(), rewrite=True)
    assert result.rewritten == {}
    assert [d.filename for d in result.diagnostics] == ["caller.py"]
    assert result.diagnostics[0].message.endswith("is suppressed in helper.py, line 5")
    told = why(files, "caller.py", 7, settings=Settings())
    assert "no fix" in told
    assert "is suppressed in helper.py, line 5" in told


@pytest.mark.parametrize(
    ("settings", "wanted"),
    [
        (Settings(per_file_ignores={"helper.py": ("TM101",)}), False),
        (Settings(per_file_ignores={"helper.py": ("TM204",)}), True),
        (Settings(ignore=("TM204",)), True),
    ],
)
def test_a_file_in_which_a_code_is_ignored_is_not_changed_for_another(
    settings: Settings, wanted: bool
) -> None:
    helper = (
        "import tensorflow as tf\n\n\ndef slope(y, x):\n"
        '    return tf.gradients(y, x, name="slope")[0]\n'
    )
    caller = (
        "import tensorflow as tf\nfrom helper import slope\n\n\ndef run():\n"
        "    x = tf.constant(1.0)\n    y = x * x\n"
        "    g = tf.gradients(y, x)[0]\n    return g, slope(y, x)\n"
    )
    files = {n: SourceFile(n, t) for n, t in {"helper.py": helper, "caller.py": caller}.items()}
    result = analyse(files, replace(settings, unsafe_fixes=True), rewrite=True)
    assert set(result.rewritten) == ({"helper.py", "caller.py"} if wanted else set())
    reason = "it mends TM101 in `helper.py`, where that is ignored"
    assert wanted or result.diagnostics
    assert all(d.message.endswith(reason) for d in result.diagnostics if not wanted)
