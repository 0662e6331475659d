"""Which folders above a file are packages: only these hand on what is made in it."""

from __future__ import annotations

import os
from collections.abc import Collection
from dataclasses import replace
from pathlib import PurePath

from tapemigrate.model import Handed


class Packages:
    """The folders of one run, each looked at once."""

    def __init__(self) -> None:
        self._known: dict[str, bool] = {}

    def narrowed(self, filename: str, functions: Collection[Handed]) -> frozenset[Handed]:
        """The functions of a file, without the folders among their anchors that are no packages.

        Whoever reaches the function through such a folder names its module as well.
        """
        file = PurePath(filename)
        module = "" if file.stem == "__init__" else file.stem
        packages = {folder.name for folder in file.parents if self._is_package(str(folder))}
        idle = {folder.name for folder in file.parents} - packages - {module}
        return frozenset(
            # A class, which stands alone, may be called as a folder is.
            replace(each, anchors=each.anchors - idle)
            if not each.followed and len(each.anchors) > 1 and each.anchors - idle
            else each
            for each in functions
        )

    def _is_package(self, folder: str) -> bool:
        if folder not in self._known:
            names = ("__init__.py", "__init__.pyi")
            self._known[folder] = any(os.path.exists(os.path.join(folder, n)) for n in names)
        return self._known[folder]
