"""Modules of one name in several folders: which of them an import means."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tapemigrate.rules.callgraph.meaning import named_mentions
from tapemigrate.rules.callgraph.places import import_path, is_module, split_path
from tapemigrate.rules.kept_units import unit
from tapemigrate.rules.project import Project
from tapemigrate.runner import run, write
from tapemigrate.settings import Settings
from tapemigrate.source.decoding import SourceFile

OURS = "import tensorflow as tf\n\n\ndef pen(u, x):\n    return tf.gradients(u, x)[0]\n"
THEIRS = "def pen(u, x):\n    return u * x\n"
USE = """\
import tensorflow as tf
from {module} import pen

x = tf.constant(2.0)
u = tf.sin(x)
result = pen(u, x)
"""


def fixed(folder: Path, ours: str, user: str, module: str, *theirs: str) -> str:
    """The text of ``user``, which imports ``pen`` from ``module``, after the fix."""
    texts = {ours: OURS, user: USE.format(module=module), **dict.fromkeys(theirs, THEIRS)}
    for name, text in texts.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    outcome = run([str(folder)], lambda path: Settings(), mode="fix", jobs=1)
    write(outcome.results)
    return (folder / user).read_text()


@pytest.mark.parametrize(
    ("ours", "user", "module", "theirs"),
    [
        ("lib/utils.py", "main.py", "utils", ["utils.py"]),
        ("lib/utils.py", "main.py", "other.utils", ["other/utils.py"]),
        ("lib/utils.py", "other/main.py", ".utils", ["other/utils.py"]),
        ("utils.py", "main.py", "installed.utils", []),
        ("two/models/utils.py", "one/main.py", "models.utils", ["one/models/utils.py"]),
        ("lib/utils.py", "run/main.py", "utils", ["src/utils.py"]),
        ("lib/utils.py", "other/main.py", ".", ["other/__init__.py"]),
    ],
)
def test_a_namesake_gets_no_tape(
    tmp_path: Path, ours: str, user: str, module: str, theirs: list[str]
) -> None:
    assert fixed(tmp_path, ours, user, module, *theirs) == USE.format(module=module)


@pytest.mark.parametrize(
    ("ours", "user", "module", "theirs"),
    [
        ("utils.py", "main.py", "utils", ["lib/utils.py"]),
        ("lib/utils.py", "main.py", "lib.utils", ["utils.py", "other/utils.py"]),
        ("lib/utils.py", "lib/main.py", ".utils", ["other/utils.py", "utils.py"]),
        ("lib/utils.py", "lib/deep/main.py", "..utils", ["lib/deep/utils.py"]),
        ("lib/utils.py", "lib/main.py", "utils", ["utils.py"]),
        ("src/lib/utils.py", "run/main.py", "lib.utils", ["src/utils.py"]),
        ("src/utils.py", "main.py", "utils", []),
        ("lib/__init__.py", "main.py", "lib", ["other/__init__.py"]),
    ],
)
def test_the_one_that_is_meant_is_handed_a_tape(
    tmp_path: Path, ours: str, user: str, module: str, theirs: list[str]
) -> None:
    assert "pen(u, x, tape=tape)" in fixed(tmp_path, ours, user, module, *theirs)


@pytest.mark.parametrize(
    ("user", "module", "filename", "meant"),
    [
        ("a/b.py", ".c", "a/c.py", True),
        ("a/b.py", "..c", "c.py", True),
        ("a/b.py", "...c", "c.py", None),
        ("a/b.py", "...c", "d.py", False),
        ("a/b.py", ".", "a/__init__.py", True),
        ("a/b.py", ".", "c/__init__.py", False),
        ("a/b.py", "a.c", "a/c.py", True),
        ("b.py", "a.c", "c.py", None),
        ("b.py", "a.c", "d/c.py", False),
        ("/w/a/b.py", ".c", "c.py", None),
    ],
)
def test_what_a_module_means(user: str, module: str, filename: str, meant: bool | None) -> None:
    assert is_module(user, module, filename) is meant


@pytest.mark.parametrize("path", [".pen", "..pen", ".utils.pen", "lib.utils.pen"])
def test_a_path_taken_apart(path: str) -> None:
    module, name = split_path(path)
    (stmt,) = ast.parse(f"from {module} import {name}").body
    assert isinstance(stmt, ast.ImportFrom)
    assert import_path(stmt, name) == path


_BUILT = "class {0}(object):\n    def {1}(self):\n        return 1\n"
_USE = "from net import Net\n\nnet = Net()\nprint(net.build())\n"


@pytest.mark.parametrize(
    ("beside", "calls"),
    [
        ({"two/net.py": _BUILT.format("Net", "build")}, 0),
        ({"one/net.py": _BUILT.format("Net", "other")}, 0),
        ({"two/net.py": "from model import Model as Net\n"}, 1),
    ],
)
def test_a_method_of_a_namesake_is_no_other(beside: dict[str, str], calls: int) -> None:
    texts = {
        "model.py": _BUILT.format("Model", "build"),
        "three/net.py": _BUILT.format("Net", "other"),
        "two/net.py": _BUILT.format("Net", "build"),
        "two/use.py": _USE,
        **beside,
    }
    project = Project({name: unit(SourceFile(name, text)) for name, text in texts.items()})
    home = project.units["model.py"]
    (method,) = home.nodes(ast.FunctionDef)
    assert len(named_mentions(project, home, method).calls) == calls
