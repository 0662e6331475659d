"""Calls of libraries that know no tensors, as far as what they make cannot hold one either."""

from __future__ import annotations

import ast

from tapemigrate.flow.paths import path_of
from tapemigrate.source.trees import walk
from tapemigrate.tape.ops.symbols import gives_no_tensors

# Data types of arrays that take whatever is put into them. See
# https://numpy.org/doc/stable/reference/arrays.scalars.html#numpy.object_
_OBJECTS = frozenset({"object", "object_", "O"})
# What has parts of any kind. Others of these libraries have theirs.
_HOLDERS = frozenset({"argparse.Namespace"})

# What makes no container: numbers, arrays, and objects with a purpose of their own.
_NO_CONTAINERS = (
    *("argparse.ArgumentParser", "optparse.", "logging.", "numpy.", "math.", "time.", "os."),
    *("datetime.", "gym.", "random.", "re.compile"),
)


def makes_container(qualified: str) -> bool:
    """Whether a library without tensors may give a list or dict there, to put anything into."""
    return gives_no_tensors(qualified) and not qualified.startswith(_NO_CONTAINERS)


def makes_none(qualified: str, call: ast.Call) -> bool:
    """Whether a call by this import path makes no tensor, nor what tensors can be put into."""
    if not gives_no_tensors(qualified) or qualified in _HOLDERS:
        return False
    return not (qualified.startswith("numpy.") and _of_objects(call))


def _of_objects(call: ast.Call) -> bool:
    """Whether it may make an array of objects: ``np.empty(3, dtype=object)``, ``array([None])``,
    ``full(3, None)``.
    """
    holding = [*call.args[: 2 if "full" in (path_of(call.func) or ("",))[-1] else 1]]
    holding += [k.value for k in call.keywords if k.arg == "fill_value"]
    if any(isinstance(n, ast.Constant) and n.value is None for a in holding for n in walk(a)):
        return True
    given = [*call.args[1:], *(k.value for k in call.keywords if k.arg in ("dtype", None))]
    texts = {each.value for each in given if isinstance(each, ast.Constant)}
    ends = {path[-1].lstrip(".") for path in map(path_of, given) if path is not None}
    return not _OBJECTS.isdisjoint(texts | ends)
