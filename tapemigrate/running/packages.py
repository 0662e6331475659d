"""Which folders above a file are packages: only these hand on what is made in it."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator
from dataclasses import replace

from tapemigrate.model import Handed


class Packages:
    """The folders of one run, each looked at once."""

    def __init__(self) -> None:
        self._known: dict[str, bool] = {}

    def narrowed(self, filename: str, functions: Collection[Handed]) -> frozenset[Handed]:
        """The functions of a file, without the folders among their anchors that are no packages.

        Whoever reaches the function through such a folder names its module as well.
        """
        module = os.path.splitext(os.path.basename(filename))[0]
        folders = list(_above(filename))
        packages = {os.path.basename(folder) for folder in folders if self._is_package(folder)}
        idle = {os.path.basename(folder) for folder in folders} - packages - {module}
        return frozenset(
            # A class, which stands alone, may be called as a folder is.
            replace(each, anchors=each.anchors - idle)
            if not each.followed and len(each.anchors) > 1 and each.anchors - idle
            else each
            for each in functions
        )

    def _is_package(self, folder: str) -> bool:
        if folder not in self._known:
            self._known[folder] = is_package(folder)
        return self._known[folder]


def is_package(folder: str) -> bool:
    """Whether Python imports modules of the folder by its name."""
    names = ("__init__.py", "__init__.pyi")
    return any(os.path.exists(os.path.join(folder, name)) for name in names)


def _above(filename: str) -> Iterator[str]:
    """The folders in which a file lies, the nearest first."""
    folder = os.path.dirname(filename)
    while os.path.basename(folder):
        yield folder
        folder = os.path.dirname(folder)
