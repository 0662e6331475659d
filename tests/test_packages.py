"""Which of a file's folders a caller may name instead of its module."""

from __future__ import annotations

from pathlib import Path

import pytest

from tapemigrate.model import Handed
from tapemigrate.running.packages import Packages


@pytest.mark.parametrize(
    ("anchors", "left"),
    [
        ({"ops", "net", "project"}, {"ops", "net"}),
        ({"project"}, {"project"}),  # a class of that name
        ({"ops", "net"}, {"ops", "net"}),
        ({"ops", "other"}, {"ops", "other"}),
    ],
)
def test_only_packages_hand_on(tmp_path: Path, anchors: set[str], left: set[str]) -> None:
    folder = tmp_path / "project" / "net"
    folder.mkdir(parents=True)
    (folder / "__init__.py").touch()
    (handed,) = Packages().narrowed(str(folder / "ops.py"), [Handed("f", frozenset(anchors))])
    assert handed.anchors == left


def test_the_file_of_a_package_goes_by_the_package(tmp_path: Path) -> None:
    folder = tmp_path / "project" / "net"
    folder.mkdir(parents=True)
    (folder / "__init__.py").touch()
    given = Handed("f", frozenset({"net", "project"}))
    (handed,) = Packages().narrowed(str(folder / "__init__.py"), [given])
    assert handed.anchors == {"net"}


def test_a_module_that_is_called_as_its_folder_stays(tmp_path: Path) -> None:
    given = Handed("f", frozenset({"net", "project"}))
    (handed,) = Packages().narrowed(str(tmp_path / "project" / "net" / "net.py"), [given])
    assert handed.anchors == {"net"}


def test_what_a_function_is_handed_to_stays(tmp_path: Path) -> None:
    given = Handed("f", frozenset({"net", "project"}), followed=True)
    assert Packages().narrowed(str(tmp_path / "project" / "net.py"), [given]) == {given}
