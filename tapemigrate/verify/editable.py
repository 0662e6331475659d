"""Packages that are installed in place (``pip install -e``): a copy of their folder finds its own.

Runs on whatever Python a command runs, from 3.7 on, and imports nothing of this package.
"""

from __future__ import annotations

import os
import sys
from typing import Any


def turn(tree: str, copy: str) -> None:
    """Has imports find in ``copy`` what they would find in ``tree``."""
    sys.path[:] = [_turned(entry, tree, copy) for entry in sys.path]
    for mapping in mappings():
        mapping.update({name: _turned(path, tree, copy) for name, path in mapping.items()})


def mappings() -> list[dict[str, str]]:
    """Where the packages lie that setuptools has installed in place, by their names."""
    loaded = [module for name, module in sys.modules.items() if name.startswith("__editable__")]
    found: list[Any] = [getattr(module, "MAPPING", None) for module in loaded]
    return [each for each in found if isinstance(each, dict)]


def _turned(path: str, tree: str, copy: str) -> str:
    real = os.path.realpath(path) if path else ""
    if real != tree and not real.startswith(tree + os.sep):
        return path
    inside = copy + real[len(tree) :]
    # An environment may lie in the folder. It is not copied, or is as good where it is.
    environment = real.startswith(os.path.realpath(sys.prefix) + os.sep)
    return inside if os.path.exists(inside) and not environment else path
