"""Notebooks: the code cells as one text, and changes of it back into the JSON, byte for byte."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tapemigrate.model import Position
from tapemigrate.source import SourceError, decode, encode
from tapemigrate.source.magics import TornError
from tapemigrate.source.notebooks import Notebook, flattened

PYTHON3 = {"kernelspec": {"language": "python", "name": "python3"}}


def code(source: Any, **more: Any) -> dict[str, Any]:
    return {"cell_type": "code", "metadata": {}, "outputs": [], "source": source, **more}


def markdown(text: str) -> dict[str, Any]:
    return {"cell_type": "markdown", "metadata": {}, "source": [text]}


def notebook(*cells: Any, **more: Any) -> dict[str, Any]:
    return {"cells": list(cells), "metadata": PYTHON3, "nbformat": 4, "nbformat_minor": 5, **more}


def data(*cells: Any, **more: Any) -> bytes:
    return (json.dumps(notebook(*cells, **more), indent=1) + "\n").encode()


def opened(data: bytes) -> Notebook:
    found = decode(data, "a.ipynb").notebook
    assert found is not None
    return found


BROKEN = [
    (b'{"cells": [', "TM901", None, 1, "is not valid JSON: Expecting value"),
    (b'{"cells": []\n,}', "TM901", None, 2, "is not valid JSON"),
    (b'{"cells": [] "a": 1}', "TM901", None, 1, "is not valid JSON: Expecting ',' delimiter"),
    (b'{"cells" []}', "TM901", None, 1, "is not valid JSON: Expecting ':' delimiter"),
    (b'{"cells": []} x', "TM901", None, 1, "is not valid JSON: Extra data"),
    (b'{"cells": [{"source": ["a" "b"]}]}', "TM901", None, 1, "is not valid JSON"),
    (b"", "TM901", None, 1, "is not valid JSON"),
    (b"x = 1\n", "TM901", None, 1, "is not valid JSON"),
    (b'{"a":' + b"[" * 200_000, "TM901", None, 1, "is nested too deeply to read"),
    (b'{"a": ' + b"1" * 5000 + b"}", "TM901", None, 1, "cannot be read: Exceeds the limit"),
    (b"[]", "TM903", None, 1, "is not a notebook: its JSON is no object"),
    (b"{}", "TM903", None, 1, "is not a notebook: it has no `cells`"),
    (b'{"cells": null}', "TM903", None, 1, "is not a notebook: its `cells` are no list"),
    (b'{"cells": {}}', "TM903", None, 1, "is not a notebook: its `cells` are no list"),
    (data(markdown("a"), 3), "TM903", 2, 1, "its cell 2 is no object"),
    (data({"source": "a"}), "TM903", 1, 1, "its cell 1 has no `cell_type`"),
    (data(code(3)), "TM903", 1, 1, "its cell 1 has no `source` that is a string or"),
    (data(code(None)), "TM903", 1, 1, "its cell 1 has no `source`"),
    (data(code(["a", 3])), "TM903", 1, 1, "its cell 1 has no `source`"),
    (data({"cell_type": "code"}), "TM903", 1, 1, "its cell 1 has no `source`"),
    (data(nbformat=3), "TM903", None, 1, "is a notebook of format 3"),
    (
        b'{"worksheets": [{"cells": [{"cell_type": "code", "input": "x"}]}], "nbformat": 3}',
        *("TM903", None, 1, "is a notebook of format 3, which is not read; convert it with "),
    ),
    (b'{"cells": ["\xff"]}', "TM903", None, 1, "byte 0xff is not utf-8"),
    ("{}".encode("utf-16"), "TM903", None, 1, "is UTF-16; a notebook has to be UTF-8"),
    (data(code("x = 1"), code("\nprint 'a'")), "TM902", 2, 2, "is Python 2"),
    (
        data(code("x = = 1"), metadata={"kernelspec": {"name": "python2"}}),
        *("TM902", 1, 1, "is a notebook for Python 2 (does not parse"),
    ),
    (
        data(code("x = = 1"), metadata={"language_info": {"version": "2.7.6"}}),
        *("TM902", 1, 1, "is a notebook for Python 2 (does not parse"),
    ),
]


@pytest.mark.parametrize(("raw", "code", "cell", "row", "message"), BROKEN)
def test_a_broken_notebook_is_told_in_one_line(
    raw: bytes, code: str, cell: int | None, row: int, message: str
) -> None:
    with pytest.raises(SourceError) as caught:
        decode(raw, "a.ipynb")
    error = caught.value
    assert (error.code, error.cell, error.row) == (code, cell, row)
    assert message in error.message
    assert "\n" not in error.message


def test_a_cell_that_does_not_parse_counts_as_empty() -> None:
    raw = data(code("x = 1"), code("y ="), code("z = 3"))
    found = opened(raw)
    problems = [cell.reading.problem for cell in found.cells]
    assert [problem and (problem.code, problem.cell, problem.row) for problem in problems] == [
        None,
        ("TM901", 2, 1),
        None,
    ]
    changed = found.text.replace("z = 3", "z = 4")
    assert found.written(changed).encode() == raw.replace(b"z = 3", b"z = 4")


@pytest.mark.parametrize(
    "metadata",
    [
        {"kernelspec": {"language": "R", "name": "ir"}},
        {"language_info": {"name": "julia", "version": "1.1"}},
    ],
)
def test_a_notebook_in_another_language_is_none_of_ours(metadata: dict[str, Any]) -> None:
    assert opened(data(code("x <- 1"), metadata=metadata)).cells == ()


@pytest.mark.parametrize("metadata", [{}, None, 3, {"kernelspec": 3}, {"kernelspec": {"name": 3}}])
def test_a_notebook_that_names_no_language_is_python(metadata: Any) -> None:
    assert opened(data(code("x = 1"), metadata=metadata)).text.endswith("\nx = 1\n")


def test_a_cell_in_another_language_is_passed_over() -> None:
    cells = (code("x <- 1", metadata={"vscode": {"languageId": "r"}}), code("x = 1"))
    assert [cell.number for cell in opened(data(*cells)).cells] == [2]


def test_cells_are_counted_as_the_reader_sees_them() -> None:
    found = opened(data(markdown("# a"), code("x = 1"), markdown("b"), code(["y = 2\n", "z = 3"])))
    assert [cell.number for cell in found.cells] == [2, 4]
    rows = {line: row for row, line in enumerate(found.text.splitlines(), 1)}
    assert found.place(rows["z = 3"], 5) == (4, Position(2, 5))
    assert found.row_of(4, 2) == rows["z = 3"]
    assert found.row_of(3, 1) is None


def test_places_are_those_of_the_cell_as_it_is_written() -> None:
    found = opened(data(code("  %time y = f(x)\n  z = %time g(y)\n\n  w = 1")))
    rows = found.text.splitlines()
    for row, word in ((1, "y ="), (2, "g(y)"), (4, "w =")):
        column = rows[row].index(word) + 1
        written = found.cells[0].text.splitlines()[row - 1]
        assert found.place(row + 1, column) == (1, Position(row, written.index(word) + 1))


def test_places_in_the_file_are_those_of_the_json() -> None:
    text = 'x = "é\\n\U0001f600"; y = 1'
    for source in (["a = 1\n", text], "a = 1\n" + text):
        for ascii_only in (True, False):
            raw = json.dumps(notebook(code(source)), indent=2, ensure_ascii=ascii_only)
            found = opened(raw.encode())
            place = found.in_file(1, Position(2, text.index("y =") + 1))
            line = raw.split("\n")[place.row - 1]
            assert line[place.column - 1 :].startswith("y = 1")


def test_a_message_speaks_of_the_rows_of_the_cell() -> None:
    found = opened(data(code("a\nb"), markdown("m"), code("%time c = 1\nd\ne")))
    row = found.row_of(3, 2)
    assert row is not None
    for told, expected in (
        (f"in line {row}", "in line 2 of cell 3"),
        (f"round lines {row} to {row + 1} here", "round lines 2 to 3 of cell 3 here"),
        (f"lines 2 to {row}", "line 1 of cell 1 to line 2 of cell 3"),
        (f"line 2, {row}", "line 1 of cell 1, line 2 of cell 3"),
        ("`line 2` of line 3", "`line 2` of line 2 of cell 1"),
    ):
        assert found.in_words(told) == expected
    assert found.in_words(f"in lines {row} and {row + 1}", 3) == "in lines 2 and 3"
    statement = found.text.splitlines()[row - 2]
    assert found.in_words(f"`{statement}` is odd") == "`%time c = 1` is odd"


def test_words_of_a_notebook_stand_apart() -> None:
    words = flattened(data(code("a\nimport b\n'c'"), code(["d\n", "e(", 'f("g"']))).split()
    assert {b"import", b"b", b"'c'\"", b'"d', b'e(",', b'"f("g""'} <= set(words)


def test_pictures_hold_no_words() -> None:
    shown = b'"data": {"image/png": "tf+tf", "text/html": "<img src=\'data:;base64,%b=\'>"}'
    assert b"tf" not in flattened(shown % (b"tf+" * 100))
    source = '"image/png": "tf.gradients"; \'"image/png": "\'; a = b;base64,c = f(x)'
    assert source.encode() in flattened(data(code(source)))


def test_a_lost_cell_is_told() -> None:
    found = opened(data(code("x = 1"), code("y = 2")))
    marker = found.text.splitlines()[2]
    for text in (
        found.text.replace(marker + "\n", ""),
        found.text.replace(marker, "    " + marker),
        "x\n" + found.text,
        found.text + marker + "\n",
    ):
        with pytest.raises(TornError, match="the beginning of a cell"):
            found.written(text)


def test_text_that_looks_like_a_mark_is_only_text() -> None:
    text = "# %% _ipython_ 1\n_ipython__1_0_ = '_ipython_1_0_'\n%time x = 1"
    raw = data(code(text), code("# %% _ipython_ 2\n!ls"))
    found = opened(raw)
    assert found.written(found.text).encode() == raw
    new = found.text.replace("x = 1", "x = 2")
    assert found.written(new).encode() == raw.replace(b"x = 1", b"x = 2")


def test_lines_that_stay_keep_their_way_of_escaping() -> None:
    raw = (
        '{"cells":[{"cell_type":"code","source":[\n\t"a = \\"\\u003c\\/\\u00e9\\"\\n",\r\n\t"b"\n'
        '\t]}],"metadata":{}}'
    )
    found = opened(raw.encode())
    new = found.written(found.text.replace("\nb", "\nc = 'é'\nd"))
    assert new == raw.replace(',\r\n\t"b"', ',\r\n\t"c = \'\\u00e9\'\\n",\r\n\t"d"')


def test_other_characters_are_written_as_the_file_writes_them() -> None:
    for ascii_only in (True, False):
        cells = notebook(code(["x = 1\n", "y"]), markdown("é"))
        raw = json.dumps(cells, ensure_ascii=ascii_only, indent=4)
        found = opened(raw.encode())
        cells["cells"][0]["source"] = ["x = 1\n", "y = 'é'"]
        expected = json.dumps(cells, ensure_ascii=ascii_only, indent=4)
        assert found.written(found.text.replace("\ny", "\ny = 'é'")) == expected


@pytest.mark.parametrize("indent", [None, 1, 4, "\t"])
def test_a_source_of_one_line_grows_in_its_own_style(indent: Any) -> None:
    cells = notebook(code(["x"]))
    found = opened(json.dumps(cells, indent=indent).encode())
    cells["cells"][0]["source"] = ["x\n", "y\n", "z"]
    new = found.written(found.text.replace("\nx", "\nx\ny\nz"))
    assert new == json.dumps(cells, indent=indent)


TEXTS = st.text(
    st.sampled_from("ax=1 \t\"'\\\n\r\x0c\x1f\x85\u2028/<é€😀#%!?();"), max_size=30
) | st.sampled_from(["x = 1\n", "%time x = 1", "!ls\ny = 2", "%%bash\nls", "\n\n", "  a\n  b"])


def as_source(text: str, form: str) -> Any:
    if form == "text":
        return text
    return text.splitlines(keepends=True) if form == "lines" else [*text]


CELLS = st.lists(
    st.tuples(
        st.sampled_from(["code", "code", "markdown", "raw"]),
        TEXTS,
        st.sampled_from(["text", "lines", "characters"]),
        TEXTS,
    ),
    max_size=5,
)


@st.composite
def notebooks(draw: st.DrawFn) -> bytes:
    cells = [
        {
            **draw(st.sampled_from([{}, {"id": "1"}, {"execution_count": None}])),
            "cell_type": kind,
            "metadata": draw(st.sampled_from([{}, {"source": "x"}, {"tags": ["a", {}]}])),
            "outputs": [{"text": [output], "source": ["y"], "n": 1e400}],
            "source": as_source(text, form),
        }
        for kind, text, form, output in draw(CELLS)
    ]
    made = {"cells": cells, **draw(st.sampled_from([{}, {"metadata": {"cells": [1]}}]))}
    if draw(st.booleans()):
        made = dict(reversed(list(made.items())))
    raw = json.dumps(
        made,
        indent=draw(st.sampled_from([None, 0, 1, 2, "\t"])),
        ensure_ascii=draw(st.booleans()),
        separators=draw(st.sampled_from([None, (",", ":"), (" , ", " : ")])),
    ) + draw(st.sampled_from(["", "\n", "\n\n", " "]))
    if draw(st.booleans()):
        raw = raw.replace("\n", "\r\n")
    return draw(st.sampled_from([b"", b"\xef\xbb\xbf"])) + raw.encode()


def opened_if_python_3(raw: bytes) -> Any:
    try:
        return decode(raw, "a.ipynb")
    except SourceError:
        return None


@settings(max_examples=300)
@given(notebooks())
def test_nothing_changes_where_nothing_is_changed(raw: bytes) -> None:
    file = opened_if_python_3(raw)
    if file is None:
        return
    assert encode(file, file.text) == raw
    # Every source, written anew, says the same.
    for cell in file.notebook.cells:
        assert "".join(json.loads(file.notebook._source(cell, cell.text))) == cell.text


@settings(max_examples=300)
@given(notebooks(), st.data(), TEXTS)
def test_a_change_of_one_cell_leaves_every_other_byte(raw: bytes, draw: Any, new: str) -> None:
    file = opened_if_python_3(raw)
    cells = [] if file is None else [c for c in file.notebook.cells if not c.reading.stand_ins]
    cells = [cell for cell in cells if not cell.reading.indent]
    if not cells:
        return
    cell = draw.draw(st.sampled_from(cells))
    mark = f"# %% {file.notebook.mark} {cell.number}\n"
    text = file.text.replace(f"{mark}{cell.reading.code}\n", f"{mark}{new}\n", 1)
    old_raw, new_raw = file.notebook.raw, file.notebook.written(text)
    assert new_raw.startswith(old_raw[: cell.start])
    assert new_raw.endswith(old_raw[cell.end :])
    source = new_raw[cell.start : len(new_raw) - len(old_raw) + cell.end]
    assert source[0] == old_raw[cell.start]
    assert "".join(json.loads(source)) == new
