"""What IPython reads beside Python: replaced by Python of as many rows, and put back unharmed."""

from __future__ import annotations

import ast

import pytest

from tapemigrate.source.magics import Reading, TornError, read, repeated, restored, shown

MARK = "_ipython_1_"


def reading(text: str) -> Reading:
    return read(text, MARK, "a.ipynb")


@pytest.mark.parametrize(
    "text",
    [
        "x = a \\\n  % b\n",
        "x = (a\n% b)\n",
        "s = '''\n%time\n!ls\n'''\n",
        "print('x = %d' % 3)\n",
        "x = 5 # what?\n",
        "def f():\n    '''\n    %%bash\n    '''\n",
        "plt.plot(x);",
        "await f()",
        "",
        "# only a comment",
    ],
)
def test_what_is_python_stays_as_it_is(text: str) -> None:
    assert reading(text) == Reading(text)


@pytest.mark.parametrize(
    "line",
    [
        "x = (a\n% b)",
        "s = '''\n%time\n!ls\n'''",
        "print('x = %d' % 3)",
        "print('it = !', \"y = %s\" % d['a = %'])",
        "f(a, '''b = %r''' % c)",
        "x = 1  # it's = %",
    ],
)
def test_python_beside_a_magic_stays_as_it_is(line: str) -> None:
    found = reading(f"%matplotlib inline\n{line}\n!ls it's\n{line}\n")
    assert found.problem is None
    assert [each.original for each in found.stand_ins] == ["%matplotlib inline", "!ls it's"]


@pytest.mark.parametrize("text", ["x = = 1", "if x:\n", "x = 1 +\\", "!ls\nx = \n", "(", "  x\n y"])
def test_what_is_neither_is_told(text: str) -> None:
    found = reading(text)
    assert found.problem is not None
    assert found.problem.code == "TM901"
    assert found.code.count("\n") == text.count("\n")
    ast.parse(found.code)
    assert restored(found, found.code) == text


def test_what_cannot_be_read_binds_what_is_assigned_in_it() -> None:
    text = "what is = int\nb.c = 3\na, *d[0] = f(x == 1)\nfor i in y: e += 1\nn: int = 2"
    body = ast.parse(reading(text).code).body
    assert (
        ast.unparse(body[0]) == "a, b, d, e, i, n = _ipython_1_0_(a, b, d, e, f, i, n, what, x, y)"
    )
    # It may have imported anything.
    assert isinstance(body[1], ast.ImportFrom)


def test_python_2_is_told_as_such() -> None:
    problem = reading("%matplotlib inline\nprint 'loss', 1\n").problem
    assert problem is not None
    assert (problem.code, problem.row) == ("TM902", 2)


MAGICS = [
    "%matplotlib inline",
    "!pip install -q tf-nightly==1.15 'a b'  # it's",
    "!pip install a \\\n    b",
    "!!ls",
    "?print",
    "print?",
    "tf.gradients??",
    "%timeit?",
    "/f a",
    ";f a b",
    ",f a b",
    "files = !ls {folder}",
    "a, b = !ls",
    "d['k'] = !ls",
    "self.x = %env HOME",
    "%run setup.ipynb",
    "for i in y:\n    %run a.py\n    !echo {i}\n    x = !ls",
    "%time y = f(x)",
    "%timeit -n 10 -r3 f(x)",
    "%time",
    "%lsmagic  # all of them",
    "y = %time f(x)",
    "y = %time f(x)  # slow",
    "%%time\ny = f(x)\n!ls",
    "\n%%capture out\ny = f(x)",
    "%%timeit setup = 3\ny = f(x)",
    "%%bash\necho it's",
    "%%writefile a.py\nimport tensorflow as tf\n",
    "    x = 1\n    %time y = 2\n\n    '''\n    text'''",
    "%load_ext autoreload\r\n%autoreload 2\r\nx = 1\r\n",
    "x = 1\r!ls\r%time y = 2\r",
]


@pytest.mark.parametrize("text", MAGICS)
@pytest.mark.parametrize("after", ["", "\nz = 1  # é"])
def test_magics_become_python_of_as_many_rows_and_come_back(text: str, after: str) -> None:
    after = after.replace("\n", "\n    ") if text.startswith("    ") else after
    found = reading(text + after)
    assert found.problem is None
    ast.parse(found.code)
    assert found.code.count("\n") == (text + after).count("\n")
    assert restored(found, found.code) == text + after
    if found.foreign is None:
        assert all("%" not in line and "!" not in line for line in found.code.splitlines())


@pytest.mark.parametrize(
    "text", ["cd PINNs/main (AC)/", "pip install -q deepxde\n", "\nls ../data\n"]
)
def test_a_line_magic_that_is_all_of_a_cell_needs_no_sign(text: str) -> None:
    found = reading(text)
    assert found.problem is None
    assert [each.original for each in found.stand_ins] == [text.strip()]
    ast.parse(found.code)
    assert found.code.count("\n") == text.count("\n")
    assert restored(found, found.code) == text


@pytest.mark.parametrize("text", ["cd a\nx = 1", "x = 1\nls ..", "cd = = 1", "cat, b c", "cdx y"])
def test_elsewhere_it_is_no_python(text: str) -> None:
    assert reading(text).problem is not None


def test_what_python_can_read_is_no_line_magic() -> None:
    for text in ("ls", "cd = 1", "ls -l", "env.reset()", "more (x)"):
        assert reading(text) == Reading(text)


def test_a_statement_under_a_line_magic_is_seen() -> None:
    found = reading("x = 1\n%time y = f(x)\nz = %time g(y)\n")
    assert ast.unparse(ast.parse(found.code)).splitlines() == [
        "x = 1",
        "'_ipython_1_0_'",
        "y = f(x)",
        "z = _ipython_1_1_(g(y), _ipython_1_1_end)",
    ]
    assert shown(found, found.code.splitlines()[1]) == "%time y = f(x)"


def test_what_runs_over_and_over_is_no_statement_of_the_cell() -> None:
    found = reading("%timeit -n 10 -r3 f(x)\n%timeit\ny = %memit f(x)\n%time f(x)")
    assert [repeated(each) for each in found.stand_ins] == [
        ("%timeit", "f(x)"),
        None,
        ("%memit", "f(x)"),
        None,
    ]
    # It says what names are used, to whoever asks whether a tape is.
    assert found.code.splitlines()[0] == "_ipython_1_0_(f, x)"


def test_a_script_that_is_run_may_define_anything() -> None:
    assert isinstance(ast.parse(reading("%run a.py").code).body[0], ast.ImportFrom)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("%mystery y = f(x)", '"_ipython_1_0_"; y = f(x)'),
        ("%mystery f(x)", '"_ipython_1_0_"'),
        ("%env X=1", '"_ipython_1_0_"; X=1'),
        ("%%mystery\ny = f(x)\n", "y = _ipython_1_0_(\n\nf, x)"),
        ("%%mystery\ny = f(x)\nz = 1\n", "y, z = _ipython_1_0_(\n\n\nf, x)"),
        ("%%timeit -n 3 x = 1\nlen(x)", "_ipython_1_0_(\nx)"),
        # Its names are its own.
        ("%%timeit\ny = f(x)\n", "_ipython_1_0_(\n\nf, x)"),
        ("%timeit y = f(x)", "_ipython_1_0_(f, x)"),
        ("%memit y = f(x)", "y = _ipython_1_0_(f, x)"),
        ("%%writefile a.py\ny = f(x)\n", '"""_ipython_1_0_\n\n"""'),
        ("%%mystery\nno Python", '"""_ipython_1_0_\n"""'),
    ],
)
def test_what_a_magic_may_bind_and_use_is_seen(text: str, code: str) -> None:
    found = reading(text)
    assert found.code == code
    assert restored(found, found.code) == text


def test_a_cell_of_another_language_is_known_by_its_magic() -> None:
    assert reading("%%R -i x\nx <- 1").foreign == "R"
    assert reading("%%time\nx = 1").foreign is None
    assert reading("%%timeit -n 10\nf(x)").foreign is None
    assert reading("%%timeit -n 10\nx = 1").foreign == "timeit"
    assert reading("%%timeit -n 10 y = 2\nx = 1").foreign == "timeit"


def test_what_a_rewrite_moves_comes_back_where_it_is() -> None:
    found = reading("%matplotlib inline\nx = 1")
    moved = "with a:\n    " + found.code.replace("\n", "\n    ")
    assert restored(found, moved) == "with a:\n    %matplotlib inline\n    x = 1"


@pytest.mark.parametrize(
    ("text", "change", "named"),
    [
        ("%time y = f(x)", ("; ", "\n"), "%time"),
        ("!ls\nx = 1", ("\n", "; "), "!ls"),
        ("!ls\nx = 1", ('"_ipython_1_0_"\n', ""), "!ls"),
        ("!ls\nx = 1", ("x", '"_ipython_1_0_"; x'), "!ls"),
        ("%%time\nx = 1", ('"', 'y = 1\n"'), "%%time"),
        ("%%time\nx = 1", ("\nx = 1", '\n"_ipython_1_0_"'), "%%time"),
    ],
)
def test_a_magic_that_a_rewrite_tears_is_told(
    text: str, change: tuple[str, str], named: str
) -> None:
    found = reading(text)
    with pytest.raises(TornError, match=named):
        restored(found, found.code.replace(*change, 1))
