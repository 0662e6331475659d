"""Projects that lie side by side in one tree are analysed as if each lay there alone."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from tapemigrate.runner import run
from tapemigrate.running.cache import Cache
from tapemigrate.running.projects import Projects
from tapemigrate.settings import Settings

LICENSED = {"a/LICENSE": "", "b/setup.py": "", "b/lib/net.py": "", "a/net.py": ""}


def laid(folder: Path, texts: dict[str, str]) -> list[str]:
    """Writes files, and gives the paths of those in Python."""
    for name, text in texts.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return sorted(str(folder / name) for name in texts if name.endswith(".py"))


def seen_from(folder: Path, texts: dict[str, str], name: str) -> tuple[set[str], set[str]]:
    """The files near one, and among them those that may use it."""
    paths = laid(folder, texts)
    projects = Projects(paths, map)

    def short(found: object) -> set[str]:
        assert isinstance(found, list)
        return {Path(path).relative_to(folder).as_posix() for path in found}

    return (
        short(projects.near(str(folder / name), paths)),
        short(projects.using(str(folder / name), paths)),
    )


@pytest.mark.parametrize(
    "texts",
    [
        {},  # no import leads from one to the other
        {"a/net.py": "import lost\nfrom . import lib\nimport os\n"},
        {"a/net.py": "import lib.net\n", "a/lib/net.py": ""},  # its own is nearer
        {"a/p/__init__.py": "", "a/p/lib.py": "", "a/p/q.py": "import lib.net\n"},
        {"a/net.py": "import lib\n"},  # a folder that is no package has nothing but modules
        {"a/net.py": "import tests\n", "b/tests/__init__.py": ""},
        {"b/lib/__init__.py": "", "a/net.py": "import net as _, ops\n", "b/lib/ops.py": ""},
        {"a/net.py": "print('../b/lib', 'lib.net')\n"},
        {"b/queue.py": "", "a/net.py": "import queue\n"},
    ],
)
def test_projects_that_know_nothing_of_each_other(tmp_path: Path, texts: dict[str, str]) -> None:
    near, using = seen_from(tmp_path, LICENSED | texts, "b/lib/net.py")
    assert near == using == {name for name in LICENSED | texts if name[0] == "b"}


@pytest.mark.parametrize(
    "text",
    [
        "import lib\n",
        "import lib.net as n\n",
        "from lib import *\n",
        "def f():\n    from lib import net\n",
        "from importlib import import_module\nn = import_module('lib.net')\n",
        "from importlib import import_module\nn = import_module(f'lib.{name}')\n",
        "import sys\nsys.path.append('../b')\nimport net\n",
        "import sys\nsys.path.append(os.path.join(HOME, 'b', 'lib'))\n",
        "exec(open(__file__ + '/../../b/run.py').read())\nexecfile('../b/run.py')\n",
    ],
)
def test_imports_that_lead_to_another_project(tmp_path: Path, text: str) -> None:
    texts = LICENSED | {"b/lib/__init__.py": "", "a/net.py": text}
    paths = {name for name in texts if name.endswith(".py")}
    near, using = seen_from(tmp_path, texts, "b/lib/net.py")
    assert near == using == paths
    near, using = seen_from(tmp_path, texts, "a/net.py")
    assert (near, using) == (paths, {"a/net.py"})


@pytest.mark.parametrize("text", ["import lib.net\n", "from lib import (\n    net as n,\n)\n"])
def test_imports_from_a_folder_that_is_no_package(tmp_path: Path, text: str) -> None:
    near, _ = seen_from(tmp_path, LICENSED | {"a/net.py": text}, "b/lib/net.py")
    assert "a/net.py" in near


INSTALLED = {"c/one/__init__.py": "", "c/two/__init__.py": "", "c/two/deep/net.py": ""}


@pytest.mark.parametrize(
    ("texts", "seen"),
    [
        ({}, {"c/one/__init__.py"}),
        ({"c/one/__init__.py": "import two\n"}, INSTALLED.keys()),
        ({"a/net.py": "import one, two.deep\n"}, {*INSTALLED, "a/net.py"}),
        ({"c/main.py": ""}, {*INSTALLED, "c/main.py"}),
        ({"c/__init__.py": ""}, {*INSTALLED, "c/__init__.py"}),
        ({"c/three/net.py": ""}, {*INSTALLED, "c/three/net.py"}),
    ],
)
def test_packages_that_are_installed(tmp_path: Path, texts: dict[str, str], seen: set[str]) -> None:
    near, _ = seen_from(tmp_path, LICENSED | INSTALLED | texts, "c/one/__init__.py")
    assert near == seen


def test_what_lies_in_other_packages_is_not_of_the_same_project(tmp_path: Path) -> None:
    paths = laid(tmp_path, LICENSED | INSTALLED)
    projects = Projects(paths, map)
    one, two, deep = (str(tmp_path / name) for name in sorted(INSTALLED))
    assert projects.own(one, paths) == [one]
    assert projects.own(two, paths) == [two, deep]


def test_notebooks_are_not_imported(tmp_path: Path) -> None:
    texts = LICENSED | {"b/notebooks/board.ipynb": "", "a/net.py": "import board\n"}
    paths = [*laid(tmp_path, texts), str(tmp_path / "b/notebooks/board.ipynb")]
    projects = Projects(paths, map)
    assert str(tmp_path / "a/net.py") not in projects.near(paths[-1], paths)


def test_the_folder_of_a_project_is_no_package_to_its_scripts(tmp_path: Path) -> None:
    texts = LICENSED | {"b/__init__.py": "", "b/tool.py": "", "a/net.py": "import tool\n"}
    near, _ = seen_from(tmp_path, texts, "b/lib/net.py")
    assert "a/net.py" in near


def test_a_third_one_may_have_both(tmp_path: Path) -> None:
    texts = LICENSED | {"c/LICENSE": "", "c/both.py": "import lib.net\nimport net\n"}
    near, using = seen_from(tmp_path, texts, "b/lib/net.py")
    assert near == {"a/net.py", "b/lib/net.py", "b/setup.py", "c/both.py"}
    assert using == {"b/lib/net.py", "b/setup.py", "c/both.py"}


@pytest.mark.parametrize(
    "texts",
    [
        {"a/net.py": "", "b/lib/net.py": ""},
        {"a/LICENSE": "", "a/net.py": "", "b/lib/net.py": ""},
        {"a/README.md": "", "a/net.py": "", "b/README.md": "", "b/lib/net.py": ""},
        LICENSED | {"main.py": ""},
    ],
)
def test_folders_that_may_be_of_one_project(tmp_path: Path, texts: dict[str, str]) -> None:
    paths = laid(tmp_path, texts)
    projects = Projects(paths, map)
    assert projects.near(str(tmp_path / "b/lib/net.py"), paths) is paths
    assert projects.worth_reading(paths[:1]) is paths


@pytest.mark.parametrize(
    ("text", "worth"),
    [
        ("", False),
        ("import numpy\n", False),
        ("import net\n", True),
        ("import keras\n", True),
        ("import tf_slim\n", True),
    ],
)
def test_libraries_that_are_worth_reading(tmp_path: Path, text: str, worth: bool) -> None:
    paths = laid(tmp_path, LICENSED | {"c/LICENSE": "", "c/tool.py": text})
    found = Projects(paths, map).worth_reading([str(tmp_path / "a/net.py")])
    assert (str(tmp_path / "c/tool.py") in found) == worth
    assert str(tmp_path / "b/lib/net.py") not in found


def test_what_a_process_could_not_tell_is_asked_again(tmp_path: Path) -> None:
    paths = laid(tmp_path, LICENSED | {"a/net.py": "import lib.net\n"})
    projects = Projects(paths, lambda function, chunks: [None for _ in chunks])
    assert projects.near(str(tmp_path / "a/net.py"), paths) == paths


NET = """\
import tensorflow as tf


class Net:
    def slope(self, y, x):
        return tf.gradients(y, x)[0]


def train(x):
    y = x * x
    return Net().slope(y, x)
"""
ELSEWHERE = """\
import tensorflow as tf


def late(net, x):
    return net.slope(tf.exp(x), x)
"""


def found_in(folder: Path, cache: Cache | None = None) -> list[str]:
    outcome = run(
        [str(folder)], lambda path: Settings(), mode="check", jobs=1, edits=True, cache=cache
    )
    return [
        f"{d.filename} {d.message} {d.fix}" for each in outcome.results for d in each.diagnostics
    ]


def test_what_is_said_of_a_project_is_the_same_beside_others(tmp_path: Path) -> None:
    laid(tmp_path, {"a/LICENSE": "", "a/net.py": NET, "b/LICENSE": "", "b/far.py": ELSEWHERE})
    assert found_in(tmp_path) == found_in(tmp_path / "a") != []


def test_what_is_said_of_folders_that_may_be_of_one_project(tmp_path: Path) -> None:
    laid(tmp_path, {"a/net.py": NET, "b/far.py": ELSEWHERE})
    assert found_in(tmp_path) != found_in(tmp_path / "a") != []


def test_a_cache_knows_what_was_a_project(tmp_path: Path) -> None:
    laid(tmp_path / "tree", {"a/net.py": NET, "b/far.py": ELSEWHERE})
    kept = partial(found_in, tmp_path / "tree", Cache(str(tmp_path / "cache")))
    before = kept()
    laid(tmp_path / "tree", {"a/LICENSE": "", "b/LICENSE": ""})
    assert kept() == found_in(tmp_path / "tree") != before


@pytest.mark.parametrize(
    ("file", "own"),
    [
        ("a/net.py", {"a/net.py", "a/ops/six.py"}),
        ("c/main.py", {"c/main.py"}),  # of no project, as the library below ``site`` is
        ("site/six.py", {"site/six.py"}),
    ],
)
def test_what_lies_below_another_folder_is_not_its_own(
    tmp_path: Path, file: str, own: set[str]
) -> None:
    texts = {"a/net.py": "import six\n", "a/ops/six.py": "", "c/main.py": "import six\n"}
    paths = laid(tmp_path, LICENSED | texts | {"site/six.py": ""})
    found = Projects(paths, map).own(str(tmp_path / file), paths)
    assert {Path(path).relative_to(tmp_path).as_posix() for path in found} == own


def test_one_project_has_all_files_for_its_own(tmp_path: Path) -> None:
    paths = laid(tmp_path, {"net.py": "import six\n", "lib/six.py": ""})
    assert Projects(paths, map).own(str(tmp_path / "net.py"), paths) == paths
