"""The whole tool on notebooks: what is found, told and rewritten, and what stays as it is."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tapemigrate.model import Position
from tapemigrate.reports import FORMATS, Report, render
from tapemigrate.runner import FileResult, Mode, run, run_text, write
from tapemigrate.settings import Settings
from tests.test_notebooks import BROKEN, code, data, markdown

PLAIN = Settings()
UNSAFE = Settings(unsafe_fixes=True)
IMPORT = "import tensorflow as tf\nx = tf.constant(2.0)"
FORWARD = "y = x * x"
GRADIENT = "g = tf.gradients(y, x)[0]"
TOGETHER = f"{FORWARD}\n{GRADIENT}"
REWRITTEN = (
    "with tf.GradientTape() as tape:\n    tape.watch(x)\n    y = x * x\ng = tape.gradient(y, x)"
)


def found(
    *cells: Any, mode: Mode = "check", settings: Settings = PLAIN, edits: bool = False, **more: Any
) -> FileResult:
    made = [code(cell.splitlines(True)) if isinstance(cell, str) else cell for cell in cells]
    return run_text(data(*made, **more), "a.ipynb", settings, mode=mode, edits=edits)


def sources(raw: bytes | None) -> list[str]:
    assert raw is not None
    return ["".join(cell["source"]) for cell in json.loads(raw)["cells"]]


def places(result: FileResult) -> list[tuple[str, int | None, int, int]]:
    return [(d.code, d.cell, d.location.row, d.location.column) for d in result.diagnostics]


def tapemigrate(*arguments: str, cwd: Path, stdin: bytes = b"") -> tuple[int, str, str]:
    done = subprocess.run(
        [sys.executable, "-m", "tapemigrate", *arguments], input=stdin, cwd=cwd, capture_output=True
    )
    return done.returncode, done.stdout.decode(), done.stderr.decode()


# -- what must not be rewritten --


def test_a_target_that_is_written_in_the_call_cannot_become_a_part_of_an_earlier_cell() -> None:
    # ``b`` was computed from ``x``: a tape in the last cell alone would drop its term.
    cells = (IMPORT, markdown("# m"), "b = x * 3.0", "g = tf.gradients(b * x, x)")
    result = found(*cells, mode="fix", settings=UNSAFE)
    (flag,) = result.diagnostics
    assert result.new is None
    assert places(result) == [("TM101", 4, 1, 5)]
    assert flag.message.endswith(
        "the forward pass begins in cell 3 and the gradient is asked for in cell 4, and a tape "
        "cannot record over the end of a cell"
    )
    assert flag.help == "Put the forward pass and the gradient into one cell, or into one function."


def test_no_block_goes_round_a_cell_that_is_not_read() -> None:
    cells = (IMPORT, "b = x * 3.0", "%%mystery\nb = b * x", f"y = b * x\n{GRADIENT}")
    result = found(*cells, mode="fix", settings=UNSAFE)
    assert result.new is None
    assert result.diagnostics[0].message.endswith(
        "the rewrite would reach into a `%%mystery` cell, which is not read"
    )


@pytest.mark.parametrize(
    "cells",
    [
        (IMPORT, FORWARD, "type X = int\ny = y * x", GRADIENT),
        (IMPORT, "w = tf.constant(3.0)", "type X = int\nw = x * x", f"y = w * x\n{GRADIENT}"),
        (f"type X = int\n{IMPORT}\nw = x * x", f"y = w * x\n{GRADIENT}"),
        (IMPORT, "w = x * x", "type X = int\nw, *v = w, w", f"y = w * x\n{GRADIENT}"),
    ],
)
def test_a_cell_that_does_not_parse_may_have_made_what_it_names(cells: tuple[str, ...]) -> None:
    cells = tuple(each.replace("type X = int", "type 1 = int") for each in cells)
    result = found(*cells, mode="fix")
    assert result.new is None
    assert [each.code for each in result.diagnostics] == ["TM901", "TM101"]


def test_a_cell_that_does_not_parse_leaves_other_names_alone() -> None:
    result = found("type 1 = int\nz = 3", IMPORT, f"w = z\n{TOGETHER}", "= y", mode="fix")
    assert sources(result.new)[2] == f"w = z\n{REWRITTEN}"


@pytest.mark.parametrize("again", ["%%timeit\ny = x * 3.0", "%timeit y = x * 3.0"])
def test_what_timeit_makes_stays_in_there(again: str) -> None:
    result = found(IMPORT, FORWARD, again, GRADIENT, mode="fix")
    assert sources(result.new)[1:] == [
        "with tf.GradientTape(persistent=True) as y_tape:\n    y_tape.watch(x)\n    y = x * x",
        again,
        "g = y_tape.gradient(y, x)",
    ]


def test_a_definition_under_a_line_magic_counts() -> None:
    # ``y`` is not what the first line made, but what ``%time`` ran.
    result = found(IMPORT, f"y = x + 1\n%time y = x * x\n%time {GRADIENT}", mode="fix")
    assert sources(result.new)[1] == (
        "y = x + 1\nwith tf.GradientTape() as tape:\n    tape.watch(x)\n    %time y = x * x\n"
        "%time g = tape.gradient(y, x)"
    )


def test_a_magic_keeps_the_statement_that_it_runs() -> None:
    cells = (
        IMPORT,
        "def f(z):\n    %time y = z * z; g = tf.gradients(y, z)[0]\n    return g\nf(x)",
    )
    result = found(*cells, mode="fix")
    assert result.new is None
    assert result.diagnostics[-1].message.endswith(
        "is left as it is: the rewrite would part `%time` from what it is for"
    )
    # And ``check`` does not promise what ``fix`` would not do.
    assert found(*cells).diagnostics == result.diagnostics


def test_what_a_magic_runs_over_and_over_is_flagged() -> None:
    result = found(IMPORT, f"{FORWARD}\n%timeit -n 10 tf.gradients(y, x)", mode="fix")
    assert result.new is None
    (flag,) = result.diagnostics
    assert places(result) == [("TM904", 2, 2, 1)]
    assert flag.end_location == Position(2, 33)
    assert "stands in a `%timeit` line" in flag.message


def test_the_text_that_a_magic_writes_to_a_file_is_flagged() -> None:
    cell = f"%%writefile a.py\n{IMPORT}\n\n{TOGETHER}"
    result = found("%%bash\necho tf.gradients(y, x)", cell, "%%html\n<b>tf.gradients</b>")
    assert places(result) == [("TM904", 2, 6, 5)]
    assert "`tf.gradients` stands in a `%%writefile` cell" in result.diagnostics[0].message


def test_what_a_later_cell_makes_was_there_before() -> None:
    # ``a`` depends on ``x``, if the notebook runs at all.
    result = found(IMPORT, f"y = a * x\n{GRADIENT}", "a = x * 3", mode="fix", settings=UNSAFE)
    assert result.new is None
    assert "`a` is made in cell 3, further down" in result.diagnostics[0].message


def test_a_tape_that_a_magic_asks_is_in_use() -> None:
    asked = (
        "with tf.GradientTape(persistent=True) as t:\n    t.watch(x)\n    y = x * x\n"
        "g = t.gradient(y, x)"
    )
    for use in ("%timeit t.gradient(y, x)", "%%mystery\nt.gradient(y, x)"):
        result = found(IMPORT, asked, use, mode="fix", settings=UNSAFE)
        assert (result.new, result.diagnostics) == (None, ())
    assert [each.code for each in found(IMPORT, asked).diagnostics] == ["TM306"]
    # A cell that asks may be run again.
    assert not found(IMPORT, *asked.rsplit("\n", 1)).diagnostics


def test_names_that_a_script_defines_are_taken_for_what_they_usually_mean(tmp_path: Path) -> None:
    cells = map(code, ("%run setup.ipynb", f"x = tf.constant(2.0)\n{TOGETHER}"))
    (tmp_path / "a.ipynb").write_bytes(data(*cells))
    outcome = run([str(tmp_path)], lambda path: PLAIN, mode="check", jobs=1)
    assert [each.code for each in outcome.diagnostics] == ["TM101"]


def test_a_cell_that_does_not_parse_may_hold_a_caller() -> None:
    function = "def f(x, a):\n    y = a * x\n    return tf.gradients(y, x)[0]\n"
    whole = found(IMPORT, function, "f(x, tf.constant(1.0))")
    assert [each.fix and each.fix.applicability for each in whole.diagnostics] == ["safe"]
    result = found(IMPORT, function, "f(x, tf.constant(1.0))", "f(x, x *)", mode="fix")
    assert result.new is None
    assert places(result) == [("TM101", 2, 3, 12), ("TM901", 4, 1, 9)]
    fix = result.diagnostics[0].fix
    assert fix is not None
    assert fix.applicability == "unsafe"


@pytest.mark.parametrize(("raw", "code", "cell", "row", "message"), BROKEN)
def test_a_broken_notebook_is_told_and_the_others_are_done(
    tmp_path: Path, raw: bytes, code: str, cell: int | None, row: int, message: str
) -> None:
    text = b"import tensorflow as tf; tf.gradients(y, x)"
    raw += ".gradients".encode("utf-16") if raw[:1] == b"\xff" else b"\n" + text
    result = run_text(raw, "a.ipynb", PLAIN, mode="fix")
    (told,) = result.diagnostics
    assert result.new is None
    assert told.code in ("TM901", code)  # what follows the notebook may be what is wrong first
    (tmp_path / "a.ipynb").write_bytes(raw)
    (tmp_path / "b.py").write_text(f"{IMPORT}\n{TOGETHER}\n")
    settings = run([str(tmp_path)], lambda path: PLAIN, mode="fix", jobs=1)
    assert [r.new is not None for r in settings.results] == [False, True]


def test_a_broken_notebook_ends_with_2_and_one_line(tmp_path: Path) -> None:
    (tmp_path / "a.ipynb").write_bytes(data(code("import tensorflow as tf\ntf.gradients"), code(3)))
    status, out, _ = tapemigrate("check", "-q", "--output-format", "concise", ".", cwd=tmp_path)
    assert (status, out.count("\n")) == (2, 1)
    assert out.startswith("a.ipynb:cell 2:1:1: TM903 is not a notebook: its cell 2 has no `source`")


def test_the_summary_counts_cells_that_do_not_parse(tmp_path: Path) -> None:
    (tmp_path / "a.ipynb").write_bytes(data(*map(code, (IMPORT, TOGETHER, "y ="))))
    status, _, err = tapemigrate("fix", ".", cwd=tmp_path)
    assert (status, err) == (2, "Rewrote 1 call in 1 file; 1 cell could not be read.\n")


def test_a_notebook_in_another_language_is_passed_over() -> None:
    kernel = {"kernelspec": {"language": "R", "name": "ir"}}
    assert not found("x <- tf.gradients(y, x)", metadata=kernel).diagnostics


def test_checkpoints_are_left_out_and_notebooks_are_found(tmp_path: Path) -> None:
    folder = tmp_path / ".ipynb_checkpoints"
    folder.mkdir()
    for path in (tmp_path / "a.ipynb", folder / "a-checkpoint.ipynb"):
        path.write_bytes(data(code(f"{IMPORT}\n{TOGETHER}")))
    (tmp_path / "b.ipynb").write_bytes(data(code("x = 1")))
    outcome = run([str(tmp_path)], lambda path: PLAIN, mode="check", jobs=1)
    assert [Path(each.filename).name for each in outcome.diagnostics] == ["a.ipynb"]
    assert [Path(name).name for name in outcome.files] == ["a.ipynb", "b.ipynb"]


@pytest.mark.parametrize("form", ["lines", "text"])
def test_a_name_at_the_beginning_of_a_line_is_not_passed_over(tmp_path: Path, form: str) -> None:
    text = "from tensorflow import (\n    gradients)\nimport tensorflow as tf\n" + (
        "x = tf.constant(1.)\ny = x * x\ngradients(y, x)"
    )
    source = text if form == "text" else text.splitlines(keepends=True)
    (tmp_path / "a.ipynb").write_bytes(data(code(source)))
    outcome = run([str(tmp_path)], lambda path: PLAIN, mode="check", jobs=1)
    assert [each.code for each in outcome.diagnostics] == ["TM101"]


# -- what is rewritten --


def test_a_tape_of_one_cell_is_asked_in_another() -> None:
    result = found(IMPORT, FORWARD, GRADIENT, TOGETHER, mode="fix")
    opened = "with tf.GradientTape(persistent=True) as y_tape:\n    y_tape.watch(x)\n    y = x * x"
    # The second cell may be run again, and after the last one: its tape has a name of its own.
    assert sources(result.new) == [IMPORT, opened, "g = y_tape.gradient(y, x)", REWRITTEN]
    assert places(result) == []


def test_a_tape_goes_on_in_the_next_cell() -> None:
    result = found(IMPORT, "b = x * 3.0", "# nothing", f"%%time\ny = b * x\n{GRADIENT}", mode="fix")
    assert sources(result.new)[1:] == [
        "with tf.GradientTape(persistent=True) as y_tape:\n    y_tape.watch(x)\n    b = x * 3.0",
        "# nothing",
        "%%time\nwith y_tape:\n    y = b * x\ng = y_tape.gradient(y, x)",
    ]
    assert run_text(result.new or b"", "a.ipynb", PLAIN, mode="fix").new is None


def test_what_a_cell_shows_stays_its_last_line() -> None:
    asked = "import os\nwith tf.Session():\n    g = tf.gradients(y[0], x)[0]\ng"
    result = found(IMPORT, "y = x * 3.0\nx, y", asked, "z = tf.sin(y)\nz", GRADIENT, mode="fix")
    assert sources(result.new)[1:] == [
        "with tf.GradientTape(persistent=True) as y_tape:\n    y_tape.watch(x)\n    y = x * 3.0\n"
        "x, y",
        "import os\nwith y_tape:\n    with tf.Session():\n        g = y_tape.gradient(y[0], x)\ng",
        "z = tf.sin(y)\nz",
        "g = y_tape.gradient(y, x)",
    ]


def test_the_second_order_of_a_gradient_in_an_earlier_cell() -> None:
    result = found(IMPORT, TOGETHER, "gg = tf.gradients(g, x)[0]", mode="fix")
    assert sources(result.new)[1:] == [
        "with tf.GradientTape(persistent=True) as g_tape:\n    g_tape.watch(x)\n"
        "    with tf.GradientTape() as tape1:\n        tape1.watch(x)\n        y = x * x\n"
        "    g = tape1.gradient(y, x)",
        "gg = g_tape.gradient(g, x)",
    ]


def test_only_the_source_of_the_cell_changes() -> None:
    outputs = [{"output_type": "stream", "text": ["tf.gradients(y, x)\n"]}]
    cells = [
        markdown("# `tf.gradients` é"),
        code(["%matplotlib inline\n", *IMPORT.splitlines(True)], execution_count=3),
        code(TOGETHER.splitlines(True), outputs=outputs, execution_count=4),
        {"cell_type": "raw", "metadata": {}, "source": TOGETHER},
    ]
    old = data(*cells)
    result = run_text(old, "a.ipynb", PLAIN, mode="fix")
    cells[2]["source"] = REWRITTEN.splitlines(True)
    assert result.new == data(*cells)
    assert places(result) == []
    again = run_text(result.new, "a.ipynb", PLAIN, mode="fix")
    assert (again.new, again.diagnostics) == (None, ())


def test_magics_in_the_forward_pass_go_with_it() -> None:
    cell = "%%time\nz = x * 3.0  # it's\n!ls \\\n    {x}\n%time y = z * z\ng = tf.gradients(y, x);"
    result = found(IMPORT, cell, mode="fix")
    assert sources(result.new)[1] == (
        "%%time\nwith tf.GradientTape() as tape:\n    tape.watch(x)\n    z = x * 3.0  # it's\n"
        "    !ls \\\n    {x}\n    %time y = z * z\ng = tape.gradient(y, [x]);"
    )


def test_an_indented_cell_stays_indented() -> None:
    cell = "\n".join(f"  {line}" for line in ["", *TOGETHER.splitlines(), "s = '''", "t'''"])
    result = found(IMPORT, cell, mode="fix")
    expected = f"\n{REWRITTEN}\ns = '''\nt'''".replace("\n", "\n  ")
    assert sources(result.new)[1] == f"  {expected}"


def test_an_import_lands_in_the_cell_of_the_imports() -> None:
    cell = "from tensorflow import constant, gradients\nx = constant(2.0)"
    result = found("print(1)", cell, "y = x * x\ng = gradients(y, x)[0]", mode="fix")
    assert sources(result.new)[:2] == ["print(1)", f"import tensorflow as tf\n{cell}"]
    assert sources(result.new)[2] == REWRITTEN


def test_a_function_is_handed_a_tape_from_another_cell() -> None:
    helper = "def grad(y, x):\n    return tf.gradients(y, x)[0]"
    result = found(IMPORT, helper, "y = x * x\ng = grad(y, x)", mode="fix")
    assert sources(result.new)[1:] == [
        "def grad(y, x, tape):\n    return tape.gradient(y, x)",
        "with tf.GradientTape() as tape:\n    tape.watch(x)\n    y = x * x\n"
        "g = grad(y, x, tape=tape)",
    ]
    apart = found(IMPORT, "b = x * 3", helper, "g = grad(b * x, x)", mode="fix")
    assert sources(apart.new)[1] == (
        "with tf.GradientTape(persistent=True) as tape:\n    tape.watch(x)\n    b = x * 3"
    )
    assert sources(apart.new)[3] == "with tape:\n    g = grad(b * x, x, tape=tape)"


def test_edits_are_places_in_their_cells() -> None:
    cell = "from tensorflow import constant, gradients\nx = constant(2.0)"
    result = found("print(1)", cell, "y = x * x\ng = gradients(y, x)[0]", edits=True)
    fix = result.diagnostics[0].fix
    assert fix is not None
    assert [(e.cell, e.start, e.end) for e in fix.edits] == [
        (2, Position(1, 1), Position(1, 1)),
        (3, Position(1, 1), Position(2, 23)),
    ]


def test_a_percent_script_is_plain_python() -> None:
    text = f"# %%\n{IMPORT}\n\n# %% [markdown]\n# # Title\n\n# %%\n{TOGETHER}\n"
    result = run_text(text.encode(), "a.py", PLAIN, mode="fix")
    assert result.new == text.replace(TOGETHER, REWRITTEN).encode()


# -- suppressions --


def test_suppressions_in_cells() -> None:
    assert not found(IMPORT, FORWARD, f"{GRADIENT}  # noqa: TM101").diagnostics
    assert not found(IMPORT, "# tapemigrate: ignore-file[TM101]", FORWARD, GRADIENT).diagnostics
    unused = found(IMPORT, "x = 1\ny = 2  # noqa: TM101, E501", mode="fix")
    assert sources(unused.new)[1] == "x = 1\ny = 2  # noqa: E501"
    assert [(each.code, each.cell) for each in unused.mended] == [("TM910", 2)]
    told = found(IMPORT, "x = 1\ny = 2  # noqa: TM101", edits=True).diagnostics[0]
    assert (told.cell, told.location) == (2, Position(2, 8))
    assert told.fix is not None
    assert told.fix.edits[0].start == Position(2, 8)


def test_add_noqa_writes_into_the_cells(tmp_path: Path) -> None:
    path = tmp_path / "a.ipynb"
    foreign = f"%%writefile a.py\n{IMPORT}\n{TOGETHER}"
    cells = [IMPORT, FORWARD, f"%time {GRADIENT}", foreign, "y ="]
    path.write_bytes(data(*map(code, cells)))
    status, out, _ = tapemigrate("check", "--add-noqa", ".", cwd=tmp_path)
    cells[2] += "  # noqa: TM101"
    assert path.read_bytes() == data(*map(code, cells))
    assert status == 2
    assert "a.ipynb:cell 4" in out
    assert "a.ipynb:cell 5" in out


# -- how it is told --


def test_every_format_names_the_cell() -> None:
    result = found(IMPORT, FORWARD, GRADIENT, "x = = 1")
    lines = {("a.ipynb", *place): line for place, line in result.lines.items()}
    assert lines["a.ipynb", 3, 1] == GRADIENT
    report = Report(result.diagnostics, lines)
    cells = [code(cell.splitlines(True)) for cell in (IMPORT, FORWARD, GRADIENT, "x = = 1")]
    raw = data(*cells).decode().split("\n")
    row = next(row for row, line in enumerate(raw, 1) if "tf.gradients(" in line)
    column = raw[row - 1].index("tf.gradients") + 1
    told = {name: render(name, report) for name in FORMATS}
    assert "a.ipynb:cell 3:1:5: TM101" in told["concise"]
    assert " --> a.ipynb:cell 3:1:5\n  |\n1 | g = tf.gradients(y, x)[0]\n" in told["full"]
    assert [item["cell"] for item in json.loads(told["json"])] == [3, 4]
    (one, _) = json.loads(told["sarif"])["runs"][0]["results"]
    region = one["locations"][0]["physicalLocation"]["region"]
    assert (region["startLine"], region["startColumn"]) == (row, column)
    assert one["message"]["text"].splitlines()[0].endswith("(cell 3, line 1)")
    (one, _) = json.loads(told["gitlab"])
    assert one["location"]["positions"]["begin"] == {"line": row, "column": column}
    assert one["description"].endswith("(cell 3, line 1)")
    assert f"line={row},endLine={row},col={column}," in told["github"]
    assert "::a.ipynb:cell 3:1:5: TM101" in told["github"]
    assert 'name="TM101 in cell 3, line 1, column 5"' in told["junit"]
    assert f'line="{row}"' in told["junit"]


def test_what_is_left_after_a_fix_is_told_of_the_new_file(tmp_path: Path) -> None:
    path = tmp_path / "a.ipynb"
    flagged = "%time h = tf.gradients(y * y, x)"
    path.write_bytes(data(*map(code, (IMPORT, TOGETHER, FORWARD, flagged))))
    outcome = run([str(path)], lambda path: PLAIN, mode="fix", jobs=1)
    write(outcome.results)
    (left,) = outcome.diagnostics
    assert (left.cell, left.location) == (4, Position(1, 11))
    assert left.in_file is not None
    line = path.read_text().split("\n")[left.in_file[0].row - 1]
    assert line[left.in_file[0].column - 1 :].startswith("tf.gradients(y * y, x)")


def test_diff_shows_the_cells(tmp_path: Path) -> None:
    path = tmp_path / "a b.ipynb"
    path.write_bytes(data(*map(code, (IMPORT, TOGETHER, "z = 1", TOGETHER))))
    before = path.read_bytes()
    status, out, _ = tapemigrate("fix", "--diff", ".", cwd=tmp_path)
    assert (status, path.read_bytes()) == (1, before)
    diff = "@@ -1,2 +1,4 @@\n-y = x * x\n-g = tf.gradients(y, x)[0]\n" + "".join(
        f"+{line}\n" for line in REWRITTEN.splitlines()
    )
    heads = [f"--- a b.ipynb:cell {n}\n+++ a b.ipynb:cell {n}\n" for n in (2, 4)]
    assert out == "".join(head + diff for head in heads)


def test_standard_input_may_be_a_notebook(tmp_path: Path) -> None:
    raw = data(*map(code, (IMPORT, TOGETHER)))
    status, out, _ = tapemigrate("fix", "-", "--stdin-filename", "a.ipynb", cwd=tmp_path, stdin=raw)
    assert (status, sources(out.encode())) == (0, [IMPORT, REWRITTEN])
    status, out, _ = tapemigrate("fix", "-", "--stdin-filename", "a.py", cwd=tmp_path, stdin=raw)
    assert out.encode() == raw
    status, out, err = tapemigrate("fix", "-", cwd=tmp_path, stdin=raw)
    assert (status, out.encode()) == (2, raw)
    assert "is a notebook; say so with --stdin-filename NAME.ipynb" in err


def test_why_takes_a_cell_and_a_line_of_it(tmp_path: Path) -> None:
    (tmp_path / "a.ipynb").write_bytes(data(*map(code, (IMPORT, "", TOGETHER))))
    for place in ("a.ipynb:3:2", "a.ipynb:cell 3:2", "a.ipynb:cell 3:2:5"):
        status, out, _ = tapemigrate("why", place, cwd=tmp_path)
        assert status == 0
        assert out.startswith("a.ipynb:cell 3:2: tf.gradients(y, x)\n")
        assert "x  (`x`: assignment in line 2 of cell 1)" in out
        assert "line 1 of cell 3" in out
    assert "no gradient call stands here" in tapemigrate("why", "a.ipynb:1:1", cwd=tmp_path)[1]
    for place, told in (
        ("a.ipynb:3", "'a.ipynb:3' is not FILE:CELL:LINE"),
        ("a.ipynb:9:1", "a.ipynb:1:1: TM903 has no code cell 9 (all cells are counted, from one)"),
    ):
        status, out, err = tapemigrate("why", place, cwd=tmp_path)
        assert (status, out, err) == (2, "", f"tapemigrate: {told}\n")


def test_no_comment_is_added_to_a_magic(tmp_path: Path) -> None:
    path = tmp_path / "a.ipynb"
    line = "%timeit tf.gradients(y, x)"
    path.write_bytes(data(*map(code, (IMPORT, TOGETHER, line, f"%time {GRADIENT}"))))
    status, out, err = tapemigrate("check", "--add-noqa", ".", cwd=tmp_path)
    assert (status, "TM904 `tf.gradients` stands in a `%timeit` line" in out) == (1, True)
    assert "Silenced 2 problems in 1 file; 1 needs a look:" in err
    assert sources(path.read_bytes())[1:] == [
        f"{TOGETHER}  # noqa: TM101",
        line,
        f"%time {GRADIENT}  # noqa: TM101",
    ]


def test_a_baseline_knows_what_stands_in_cells(tmp_path: Path) -> None:
    path = tmp_path / "a.ipynb"
    path.write_bytes(data(*map(code, (IMPORT, FORWARD, GRADIENT))))
    assert tapemigrate("check", "--write-baseline", "b.json", ".", cwd=tmp_path)[0] == 0
    path.write_bytes(data(*map(code, ("# new", IMPORT, "", FORWARD, f"\n{GRADIENT}"))))
    assert tapemigrate("check", "--baseline", "b.json", ".", cwd=tmp_path)[0] == 0
    path.write_bytes(data(*map(code, (IMPORT, FORWARD, GRADIENT, "h = tf.gradients(y, [x])"))))
    assert tapemigrate("check", "--baseline", "b.json", ".", cwd=tmp_path)[0] == 1


def test_the_rewritten_cells_compute_the_same() -> None:
    tf = pytest.importorskip("tensorflow")
    cells = [
        "import tensorflow as tf\nimport numpy as np",
        "x = tf.constant([[0.5, -1.0]])\nw = tf.constant([[2.0], [3.0]])\nb = tf.sin(x)",
        "%time h = tf.tanh(tf.matmul(x, w))\ny = h * h",
        "u = tf.tanh(tf.matmul(x, w))\n!ls\nu_x = tf.gradients(u, x)[0]\n"
        "u_xx = tf.gradients(u_x, x)[0]",
        "v = tf.reduce_sum(b * tf.exp(x))\ng = tf.gradients(v, [b, w])",
    ]
    result = found(*cells, mode="fix")
    new = sources(result.new)
    assert [a != b for a, b in zip(cells, new, strict=True)] == [False, False, False, True, True]

    def values(sources: list[str]) -> list[Any]:
        plain = "\n".join(sources).replace("%time ", "").replace("    !ls", "    pass")
        with tf.Graph().as_default(), tf.compat.v1.Session() as session:
            names: dict[str, Any] = {}
            exec(plain.replace("\n!ls", ""), names)
            wanted = [names["u_x"], names["u_xx"], names["g"][0], names["y"]]
            assert names["g"][1] is None
            return [value.tolist() for value in session.run(wanted)]

    assert values(new) == values(cells)


def test_verify_says_that_it_runs_no_notebooks(tmp_path: Path) -> None:
    pytest.importorskip("tensorflow")
    (tmp_path / "a.ipynb").write_bytes(data(*map(code, (IMPORT, TOGETHER))))
    program = "import tensorflow as tf\nx = tf.constant(2.0)\n"
    (tmp_path / "p.py").write_text(f"{program}with tf.Graph().as_default():\n    print(1)\n")
    status, out, _ = tapemigrate("verify", "--", sys.executable, "p.py", cwd=tmp_path)
    assert status == 1
    assert "a.ipynb:cell 2:2 TM101" in out
    assert "notebooks are not run" in out
