"""Bad and odd input, on its own and beside a good file: told clearly, never a crash or a hang.

In every case the good file beside it is rewritten, and the odd one is, byte for byte, as it was
apart from a rewrite.
"""

from __future__ import annotations

import ast
import codecs
import os
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from tapemigrate.running.deep import call_with_room
from tests.programs import LOCAL, tapemigrate

Outcome = tuple[int, list[str], bytes]

HEAD = "# first  \t\nimport tensorflow as tf\n\n"
BODY = """\
def slope():
    x = tf.constant(3.0)
    y = x * x
    return tf.gradients(y, x)[0]
"""
TAIL = "\n\nlast = 'end'  \n"


def run(folder: Path, data: bytes, name: str = "odd.py") -> Outcome:
    """``fix`` on a folder with a good file and an odd one: status, what it told, the odd file."""
    (folder / name).write_bytes(data)
    return run_folder(folder, name)


def run_folder(folder: Path, name: str = "odd.py") -> Outcome:
    (folder / "good.py").write_text(LOCAL)
    checked = tapemigrate("check", ".", "--output-format", "concise", cwd=folder)
    assert (folder / "good.py").read_text() == LOCAL
    assert "Traceback" not in checked.stderr.decode()
    fixed = tapemigrate("fix", ".", "--output-format", "concise", cwd=folder)
    assert "Traceback" not in fixed.stderr.decode()
    assert "fault in tapemigrate" not in fixed.stdout.decode()
    assert "tf.GradientTape()" in (folder / "good.py").read_text()
    ast.parse((folder / "good.py").read_text())
    assert (checked.returncode == 2) == (fixed.returncode == 2)
    assert not list(folder.glob(".tapemigrate-*"))
    lines = fixed.stdout.decode().splitlines()
    return fixed.returncode, lines, (folder / name).read_bytes()


def assert_rewritten(folder: Path, head: bytes, body: bytes, tail: bytes) -> bytes:
    """The call in ``body`` becomes a tape, the rest stays, and a second run does nothing."""
    status, lines, after = run(folder, head + body + tail)
    assert (status, lines) == (0, [])
    assert after.startswith(head)
    assert after.endswith(tail)
    ast.parse(after)
    again = tapemigrate("fix", "odd.py", cwd=folder)
    assert again.returncode == 0
    assert (folder / "odd.py").read_bytes() == after
    return after[len(head) : len(after) - len(tail)]


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("bom", [b"", codecs.BOM_UTF8])
def test_newlines_and_signatures(tmp_path: Path, newline: str, bom: bytes) -> None:
    head, body, tail = (text.replace("\n", newline).encode() for text in (HEAD, BODY, TAIL))
    middle = assert_rewritten(tmp_path, bom + head, body, tail)
    assert b"GradientTape" in middle
    plain = middle.decode().replace(newline, "")
    assert "\n" not in plain
    assert "\r" not in plain


@pytest.mark.parametrize(
    ("head", "tail", "encoding"),
    [
        ("# -*- coding: latin-1 -*-\n# é\n" + HEAD, "# ÿ\n", "latin-1"),
        ("#!/usr/bin/python\n# coding: cp1251\n# я\n" + HEAD, "# ж\n", "cp1251"),
        ("# coding: shift_jis\n# あ\n" + HEAD, "# ソ\n", "shift_jis"),
        ("# é ∂u/∂t 𝛁\n" + HEAD, "# ü\n", "utf-8"),
        (HEAD + "\x0c\nz = 1\n\x0c\n", TAIL + "\x0c\n", "utf-8"),
        (HEAD + "z = 1\n\x0c", TAIL + "\x0cx = 2\n", "utf-8"),
        (HEAD, TAIL.rstrip("\n"), "utf-8"),
        (HEAD, TAIL.rstrip(), "utf-8"),
        (HEAD + "z = '''a\r\nb'''\n\n", "\nz = '''\x0c\r\n'''\n", "utf-8"),
        (HEAD + "z = 1\r\nw = 2\r\rv = 3\n\n", "\r\nu = 4\n\ru = 5\r", "utf-8"),
        (HEAD + "z = 1 + \\\n    2\n", "\nz = [1,\n  2 ]\\\n  + [3]\n", "utf-8"),
        (HEAD + "if z:\n\tw = 1\n\tif w:\n\t\tv = 1\n", "\nif z:\n\tw = 1\t\n", "utf-8"),
        (HEAD + "x = '\u2028\x85\x0b\x1c'  # \u2029\n", "# \x1c\n", "utf-8"),
        (HEAD + "def f(a):\n    # type: (int) -> int\n    x = []  # type: list\n", "\n", "utf-8"),
        (HEAD + "def f(v):\n    match v:\n        case {'a': 1, **k}: return k\n", "\n", "utf-8"),
        (HEAD + "'\\d'  # not an escape\n", "\n", "utf-8"),
    ],
)  # fmt: skip
def test_what_stands_around_stays_as_it_is(
    tmp_path: Path, head: str, tail: str, encoding: str
) -> None:
    assert_rewritten(tmp_path, head.encode(encoding), BODY.encode(), tail.encode(encoding))


@pytest.mark.parametrize(
    ("since", "text"),
    [
        ((3, 11), "try:\n    pass\nexcept* ValueError:\n    pass\n"),
        ((3, 12), "type A[T] = list[T]\ndef f[T](x: T) -> T:\n    return x\n"),
        ((3, 12), "z = f'{x['a']}'\n"),
        ((3, 14), "z = t'{x}'\n"),
        ((3, 14), "try:\n    pass\nexcept A, B:\n    pass\n"),
    ],
)
def test_new_syntax(tmp_path: Path, since: tuple[int, int], text: str) -> None:
    data = (HEAD + text + BODY).encode()
    status, lines, after = run(tmp_path, data)
    if sys.version_info < since:
        assert status == 2
        assert lines[0].startswith("odd.py:")
        assert after == data
    else:
        assert b"GradientTape" in after


def test_a_body_indented_with_tabs(tmp_path: Path) -> None:
    body = BODY.replace("    ", "\t").encode()
    middle = assert_rewritten(tmp_path, HEAD.encode(), body, TAIL.encode())
    assert b"    " not in middle


def test_stubs(tmp_path: Path) -> None:
    status, lines, _ = run(tmp_path, b"import tensorflow as tf\ndef f() -> int: ...\n", "a.pyi")
    assert (status, lines) == (0, [])


CALL = "import tensorflow as tf\ng = tf.gradients(y, x)\n"


@pytest.mark.parametrize(
    ("data", "place", "code"),
    [
        ((CALL + "h = (\n").encode(), "odd.py:3:5", "TM901"),
        ((CALL + "def f(:\n").encode(), "odd.py:3:", "TM901"),
        ((CALL + "if y:\n\tz = 1\n        w = 2\n").encode(), "odd.py:5:", "TM901"),
        ((CALL + "if y:\n    z = 1\n  w = 2\n").encode(), "odd.py:5:", "TM901"),
        ((CALL + "print 'a'\n").encode(), "odd.py:3:1", "TM902"),
        ((CALL + "try:\n  a\nexcept E, e:\n  b\n").encode(), "odd.py:5:", "TM902"),
        ((CALL + "# \xe9\n").encode("latin-1"), "odd.py:3:3", "TM903"),
        (b"# coding: klingon\n" + CALL.encode(), "odd.py:1:1", "TM903"),
        (b"# coding: hex\n" + CALL.encode(), "odd.py:1:1", "TM903"),
        (CALL.encode("utf-16"), "odd.py:1:1", "TM903"),
        (CALL.encode("utf-16-le"), "odd.py:1:2", "TM901"),
        (CALL.encode("utf-32"), "odd.py:1:1", "TM903"),
        (b"\xef\xbb\xbf# coding: latin-1\n" + CALL.encode(), "odd.py:1:1", "TM903"),
        (CALL.encode() + b"z = '\0'\n", "odd.py:3:6", "TM901"),
        (b"\0" * 5000, "odd.py:1:1", "TM901"),
    ],
)
def test_what_cannot_be_analysed_is_told_with_its_place(
    tmp_path: Path, data: bytes, place: str, code: str
) -> None:
    status, lines, after = run(tmp_path, data)
    assert status == 2
    (line,) = lines
    assert line.startswith(f"{place}")
    assert f": {code} " in line
    assert after == data


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\n",
        b"\r",
        b"# only a comment",
        b"# coding: latin-1",
        b"\xef\xbb\xbf",
        b"\x0c",
        b"   \t\n",
        b"x = '" + b"a" * 1_000_000 + b"'\n",
        b"tf_gradients = gradients = 1\n",
    ],
)
def test_what_holds_nothing_of_ours_is_quietly_passed_over(tmp_path: Path, data: bytes) -> None:
    status, lines, after = run(tmp_path, data)
    assert (status, lines, after) == (0, [], data)


def nested(depth: int) -> str:
    return f"z = {'(' * depth}1{')' * depth}\n"


def chain(link: str, length: int) -> str:
    return f"def f():\n    return a{link * length}\n"


DEEP = {
    "90 parentheses": (nested(90), 0),
    "300 parentheses": (nested(300), 2),
    "2,000 parentheses": (nested(2_000), 2),
    "500 terms": (f"z = {' + '.join(['w'] * 500)}\n", 0),
    "3,000 terms": (f"z = {' + '.join(['w'] * 3_000)}\n", 0),
    "20,000 terms": (f"z = {' + '.join(['w'] * 20_000)}\n", None),
    "1,000 attributes": (chain(".b", 1_000), 0),
    "1,000 calls": (chain("(1)", 1_000), 0),
    "1,000 method calls": (chain(".b(c)", 1_000), 0),
    "2,000 elifs": ("if w == 0:\n    z = 0\n" + "elif w == 1:\n    z = 1\n" * 2_000, 0),
    "95 ifs": ("".join(f"{'  ' * n}if w:\n" for n in range(95)) + "  " * 95 + "z = 1\n", 0),
    "99 ifs": ("".join(f"{'  ' * n}if w:\n" for n in range(98)) + "  " * 98 + "z = 1\n", None),
    "150 ifs": ("".join(f"{' ' * n}if w:\n" for n in range(150)) + " " * 150 + "z = 1\n", 2),
    "1,000 nots": (f"z = {'not ' * 1_000}w\n", 0),
    "1,000 lambdas": (f"z = {'lambda: ' * 1_000}w\n", 0),
    "20 loops": ("".join(f"{' ' * n}for i in w:\n" for n in range(20)) + " " * 20 + "z = 1\n", 0),
}


@pytest.mark.parametrize("name", DEEP)
def test_deep_nesting(tmp_path: Path, name: str) -> None:
    text, expected = DEEP[name]
    data = (HEAD + text + BODY).encode()
    status, lines, after = run(tmp_path, data)
    if expected is None:
        # Some versions of Python parse it and some do not.
        assert status in (0, 2)
    elif sys.version_info < (3, 12):
        assert status == expected, lines
    if status == 2:
        assert lines[0].startswith("odd.py:")
        assert ": TM901 " in lines[0]
        assert after == data
    else:
        assert after.startswith((HEAD + text).encode())
        assert b"GradientTape" in after


@pytest.mark.parametrize(
    "expression",
    [" + ".join(["x"] * 3_000), "tf.sin(" * 80 + "x" + ")" * 80, "tf.sin(x)" + ".numpy()" * 1_000],
    ids=["terms", "calls", "chain"],
)
def test_deep_nesting_on_the_way_to_the_call(tmp_path: Path, expression: str) -> None:
    data = (HEAD + BODY.replace("x * x", expression)).encode()
    status, lines, after = run(tmp_path, data)
    assert status in (0, 1), lines
    call_with_room(partial(ast.parse, after))
    assert expression.encode() in after


def test_a_call_at_the_deepest_level(tmp_path: Path) -> None:
    # One more level, for the tape, and Python could not read it any longer.
    for depth in (90, 99):
        lines = [f"{' ' * n}if w:" for n in range(depth)]
        lines += [" " * depth + "x = tf.constant(1.0)", " " * depth + "y = x * x"]
        lines += [" " * depth + "g = tf.gradients(y, x)[0]"]
        data = (HEAD + "\n".join(lines) + "\n").encode()
        status, _, after = run(tmp_path, data)
        assert status in (0, 1)
        ast.parse(after)


def test_a_line_of_a_million_characters(tmp_path: Path) -> None:
    calls = "g = [" + "tf.gradients(y, x), " * 1_000 + "'" + "é" * 1_000_000 + "']\n"
    data = (HEAD + calls).encode()
    status, _, after = run(tmp_path, data)
    assert status in (0, 1)
    ast.parse(after)
    full = tapemigrate("check", "odd.py", cwd=tmp_path)
    assert max(map(len, full.stdout.decode().splitlines()), default=0) < 500


def in_a_link_loop(folder: Path) -> None:
    (folder / "round").symlink_to(".")
    (folder / "a").mkdir()
    (folder / "a" / "up").symlink_to("..")


def with_a_folder_named_like_a_file(folder: Path) -> None:
    (folder / "x.py").mkdir()
    (folder / "x.py" / "inner.py").write_text("x = 1\n")


def with_a_pipe(folder: Path) -> None:
    os.mkfifo(folder / "pipe.py")


def with_odd_names(folder: Path) -> None:
    for name in (
        b"a b.py",
        b"new\nline.py",
        b"byte\xff.py",
        b"-x.py",
        b"--diff.py",
        b"\xc3\xa9.py",
    ):
        (folder / os.fsdecode(name)).write_text(LOCAL)


def with_foreign_folders(folder: Path) -> None:
    for name in (".git", ".hidden", "node_modules", "venv", "lib/site-packages"):
        (folder / name).mkdir(parents=True)
        (folder / name / "a.py").write_text("import tensorflow as tf\ng = tf.gradients(\n")
    (folder / "venv" / "pyvenv.cfg").write_text("")


@pytest.mark.skipif(os.name != "posix", reason="file systems are otherwise there")
@pytest.mark.parametrize(
    "make",
    [
        in_a_link_loop,
        with_a_folder_named_like_a_file,
        with_a_pipe,
        with_odd_names,
        with_foreign_folders,
    ],
)
def test_odd_folders(tmp_path: Path, make: Callable[[Path], None]) -> None:
    make(tmp_path)
    status, lines, _ = run_folder(tmp_path, "good.py")
    assert (status, lines) == (0, [])
    for path in tmp_path.iterdir():
        if path.suffix == ".py" and path.is_file():
            assert b"GradientTape" in path.read_bytes()


@pytest.mark.skipif(os.name != "posix", reason="links are otherwise there")
def test_dangling_links(tmp_path: Path) -> None:
    (tmp_path / "gone.py").symlink_to("nowhere.py")
    (tmp_path / "round.py").symlink_to("round.py")
    status, lines, _ = run_folder(tmp_path, "good.py")
    assert status == 2
    assert lines == [
        "gone.py:1:1: TM903 is a link to a file that does not exist",
        "round.py:1:1: TM903 cannot be read: Too many levels of symbolic links",
    ]


@pytest.mark.skipif(os.name != "posix", reason="links are otherwise there")
def test_a_link_to_a_file_elsewhere(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere.py"
    elsewhere.write_text(LOCAL)
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "link.py").symlink_to(elsewhere)
    status, _, _ = run_folder(folder, "link.py")
    assert status == 0
    assert (folder / "link.py").is_symlink()
    assert "GradientTape" in elsewhere.read_text()


@pytest.mark.skipif(os.name != "posix", reason="links are otherwise there")
def test_hard_links(tmp_path: Path) -> None:
    outside = tmp_path / "outside.py"
    outside.write_text(LOCAL)
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "a.py").write_text(LOCAL)
    os.link(folder / "a.py", folder / "b.py")
    os.link(outside, folder / "c.py")
    (folder / "good.py").write_text(LOCAL)
    fixed = tapemigrate("fix", ".", cwd=folder)
    assert fixed.returncode == 0
    a, b = folder / "a.py", folder / "b.py"
    assert "GradientTape" in a.read_text()
    assert a.stat().st_ino == b.stat().st_ino
    # The other name lies outside of what was to be fixed.
    assert outside.read_text() == LOCAL
    assert b"c.py: has other names (hard links), which keep the old text" in fixed.stderr
    assert b"a.py: has other names" not in fixed.stderr


@pytest.mark.skipif(os.name != "posix", reason="modes are otherwise there")
@pytest.mark.parametrize("mode", [0o755, 0o600, 0o664, 0o2755])
def test_modes_stay(tmp_path: Path, mode: int) -> None:
    (tmp_path / "odd.py").write_text(LOCAL)
    (tmp_path / "odd.py").chmod(mode)
    assert run_folder(tmp_path)[0] == 0
    assert (tmp_path / "odd.py").stat().st_mode & 0o7777 == mode


@pytest.mark.skipif(os.name != "posix", reason="modes are otherwise there")
@pytest.mark.parametrize("mode", [0o000, 0o444])
def test_what_may_not_be_read_or_written(tmp_path: Path, mode: int) -> None:
    path = tmp_path / "odd.py"
    path.write_text(LOCAL)
    path.chmod(mode)
    if os.access(path, os.W_OK):
        pytest.skip("whoever runs this may do anything")
    (tmp_path / "good.py").write_text(LOCAL)
    fixed = tapemigrate("fix", ".", "--output-format", "concise", cwd=tmp_path)
    assert fixed.returncode == 2
    assert b"odd.py:1:1: TM903 " in fixed.stdout
    assert "GradientTape" in (tmp_path / "good.py").read_text()
    path.chmod(0o644)
    assert path.read_text() == LOCAL


def test_what_is_not_there_among_others(tmp_path: Path) -> None:
    (tmp_path / "good.py").write_text(LOCAL)
    fixed = tapemigrate("fix", "no.py", "good.py", "--output-format", "concise", cwd=tmp_path)
    assert fixed.returncode == 2
    assert fixed.stdout == b"no.py:1:1: TM903 does not exist\n"
    assert "GradientTape" in (tmp_path / "good.py").read_text()
    alone = tapemigrate("fix", "no.py", cwd=tmp_path)
    assert alone.returncode == 2


@pytest.mark.slow
def test_ten_megabytes_of_data(tmp_path: Path) -> None:
    rows = "    (1.5, 'abcdef', -2, [3, 4]),\n" * 320_000
    data = f"{HEAD}TABLE = [\n{rows}]\n{BODY}".encode()
    status, _, after = run(tmp_path, data)
    assert status in (0, 1)
    assert after.startswith(data[: len(data) - len(BODY)])


@pytest.mark.slow
def test_ten_megabytes_of_gradient_calls(tmp_path: Path) -> None:
    calls = "".join(f"g{n} = tf.gradients(loss, [a, b], name='{n}')\n" for n in range(170_000))
    data = (HEAD + calls).encode()
    (tmp_path / "odd.py").write_bytes(data)
    done = tapemigrate("check", "odd.py", "--statistics", cwd=tmp_path, timeout=300)
    assert done.returncode == 1
    assert b"170000" in done.stdout
