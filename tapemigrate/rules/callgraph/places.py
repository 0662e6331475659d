"""Where a module lies, by the steps of its path, and where something stands in it."""

from __future__ import annotations

import ast
import os
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tapemigrate.rules.finding import Unit


def stem(filename: str) -> str:
    """The name of a module: that of its file, without the ending."""
    return os.path.splitext(os.path.basename(filename))[0]


@lru_cache(maxsize=1024)
def steps_of(filename: str) -> tuple[str, ...]:
    """The folders above a module, the outermost first, and its name."""
    folders = os.path.dirname(filename).replace(os.sep, "/")
    return (*(step for step in folders.split("/") if step not in ("", ".")), stem(filename))


def import_path(stmt: ast.ImportFrom, name: str) -> str:
    """The path of a name that the statement imports, with the dots of a relative one."""
    return "." * stmt.level + ".".join(filter(None, [stmt.module, name]))


def split_path(path: str) -> tuple[str, str]:
    """The module, with its dots, and the name: ``.ops.grad`` is ``grad`` of ``.ops``."""
    plain = path.lstrip(".")
    module, _, name = plain.rpartition(".")
    return path[: len(path) - len(plain)] + module, name


def is_module(user: str, module: str, filename: str) -> bool | None:
    """Whether the file at ``user`` may mean the one at ``filename`` by ``module``.

    An absolute import begins in any folder. None: the folders that would tell are not in the path.
    """
    here = _module(filename)
    level, steps = _level_and_steps(module)
    if steps and here and steps[-1] != here[-1]:
        return False  # asked of all files: most end here
    around = steps_of(user)[:-1]
    known = os.path.isabs(user) == os.path.isabs(filename)
    if level and known and level - 1 <= len(around):
        return here == (*around[: len(around) - level + 1], *steps)
    if not level and here[-len(steps) :] == steps:
        return bool(steps)
    most = min(len(here), len(steps))
    return None if most < len(steps) + bool(level) and _ends_alike(here, steps, most) else False


def may_hold(filename: str, module: str) -> bool:
    """Whether a name imported from ``module`` may be made in the file: by the folders' names."""
    # A package hands on what its modules make.
    return lies_in(filename, tuple(step for step in module.split(".") if step))


def lies_in(filename: str, steps: tuple[str, ...]) -> bool:
    """Whether a module lies below the folders ``steps``, or is the last of them."""
    places = _module(filename)
    if not steps or steps[0] not in places:
        return not steps
    return any(places[k : k + len(steps)] == steps for k in range(len(places) - len(steps) + 1))


def nearness(user: str, module: str, filename: str) -> int:
    """How near the folder in which an absolute import begins is to its user: -1 is elsewhere."""
    root = _module(filename)[: -module.count(".") - 1]
    return len(root) if steps_of(user)[:-1][: len(root)] == root else -1


@lru_cache(maxsize=1024)
def _level_and_steps(module: str) -> tuple[int, tuple[str, ...]]:
    """How many dots an import path begins with, and what stands between the others."""
    level = len(module) - len(module.lstrip("."))
    return level, tuple(step for step in module.split(".") if step)


@lru_cache(maxsize=1024)
def _module(filename: str) -> tuple[str, ...]:
    *folders, own = steps_of(filename)
    return tuple(folders) if own == "__init__" else (*folders, own)


def _ends_alike(one: tuple[str, ...], two: tuple[str, ...], most: int) -> bool:
    return one[len(one) - most :] == two[len(two) - most :]


def place_of(home: Unit, unit: Unit, node: ast.AST) -> str:
    """Where ``node`` stands, told in ``home``."""
    line = f"line {getattr(node, 'lineno', 0)}"
    return line if unit is home else f"{unit.filename}, {line}"
