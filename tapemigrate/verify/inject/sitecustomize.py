"""Loaded by every Python that a verified command starts: puts in probes once TensorFlow is there.

Runs on whatever Python the command runs, from 3.7 on.
"""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.util
import json
import os
import sys
from typing import Any

HERE = os.path.dirname(os.path.abspath(__file__))


class _Loader(importlib.abc.Loader):
    """Loads TensorFlow as its own loader does, then prepares it."""

    def __init__(self, loader: Any) -> None:
        self._loader = loader

    def create_module(self, spec: Any) -> Any:
        return self._loader.create_module(spec)

    def exec_module(self, module: Any) -> None:
        self._loader.exec_module(module)
        settings = json.loads(os.environ["TAPEMIGRATE_VERIFY"])
        # By its path: the tool's other packages are not for the program, nor for this Python.
        folder = settings["package"]
        spec: Any = importlib.util.spec_from_file_location(
            "tapemigrate", os.path.join(folder, "__init__.py"), submodule_search_locations=[folder]
        )
        sys.modules["tapemigrate"] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules["tapemigrate"])
        live = importlib.import_module("tapemigrate.verify.live")
        live.install(sys.modules["tensorflow"], settings)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loader, name)


class _Finder(importlib.abc.MetaPathFinder):
    """Finds TensorFlow, once."""

    def find_spec(self, fullname: str, path: Any, target: Any = None) -> Any:
        if fullname != "tensorflow":
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(fullname)
        if spec is not None and spec.loader is not None:
            spec.loader = _Loader(spec.loader)
        return spec


def _load_the_one_behind() -> None:
    """Runs the ``sitecustomize`` that this one stands before on the path."""
    mine = [entry for entry in sys.path if os.path.abspath(entry or os.curdir) == HERE]
    sys.path[:] = [entry for entry in sys.path if entry not in mine]
    own = sys.modules.pop("sitecustomize")
    try:
        importlib.import_module("sitecustomize")
    except ImportError:
        sys.modules["sitecustomize"] = own
    finally:
        # It may have put something there.
        sys.path[:0] = mine


def _find_packages_in_the_copy() -> None:
    settings = json.loads(os.environ["TAPEMIGRATE_VERIFY"])
    file = os.path.join(settings["package"], "verify", "editable.py")
    spec: Any = importlib.util.spec_from_file_location("tapemigrate_editable", file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.turn(settings["tree"], settings["root"])


if "TAPEMIGRATE_VERIFY" in os.environ:
    sys.meta_path.insert(0, _Finder())
    _load_the_one_behind()
    _find_packages_in_the_copy()
