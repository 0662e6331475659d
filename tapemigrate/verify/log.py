"""The log of a program's gradient calls: written while it runs, read afterwards.

A file holds one entry after the other: a line of JSON, then the bytes of its arrays. What a program
that dies has written until then can be read.
"""

from __future__ import annotations

import contextlib
import json
import os
import threading
from typing import TYPE_CHECKING, Any

import numpy as np

from tapemigrate.verify import wire

if TYPE_CHECKING:
    from collections.abc import Sequence

# Of a larger array an evenly spread sample is kept: enough to tell a wrong term from a right one.
SAMPLE = 16384


class Writer:
    """Writes to ``path`` until ``budget`` bytes of arrays are there; after that it only counts."""

    def __init__(self, path: str, budget: int) -> None:
        self._file = open(path, "ab")  # noqa: SIM115 - open as long as the program runs
        self._left = budget
        self._lock = threading.Lock()

    def built(self, call: wire.Call) -> None:
        """Notes that a call was built into a graph; its ``gradients`` do not matter."""
        self._write(call, {"event": "built"}, [])

    def unseen(self, call: wire.Call, reason: str) -> None:
        """Notes that the results of a call cannot be looked at."""
        self._write(call, {"event": "unseen", "reason": reason}, [])

    def ran(self, call: wire.Call) -> None:
        """Notes one execution of a call."""
        leaves, arrays = [], []
        for gradient in call.gradients:
            leaf, parts = _leaf(gradient)
            leaves.append(leaf)
            arrays += parts
        size = sum(part.nbytes for part in arrays)
        if size > self._left:
            self._left = 0
            self._write(call, {"event": "dropped"}, [])
        else:
            self._left -= size
            self._write(call, {"event": "ran", "leaves": leaves}, arrays)

    def _write(
        self, call: wire.Call, entry: dict[str, Any], arrays: Sequence[np.ndarray[Any, Any]]
    ) -> None:
        entry.update(api=call.api, filename=call.filename, row=call.row)
        with self._lock:
            self._file.write(json.dumps(entry).encode() + b"\n")
            for array in arrays:
                self._file.write(array.tobytes())
            self._file.flush()


class Reader:
    """What the files in a folder hold.

    ``calls`` are the executions whose gradients were kept; ``sites`` counts all executions at a
    place, ``(filename, row, api)``; ``idle`` tells of a place why there may be none. ``whole`` says
    that nothing was dropped.
    """

    def __init__(self, folder: str) -> None:
        self.calls: list[wire.Call] = []
        self.sites: dict[tuple[str, int, str], int] = {}
        self.idle: dict[tuple[str, int, str], str] = {}
        self.whole = True
        for name in sorted(os.listdir(folder)):
            # A program that was killed may have been writing an entry.
            with open(os.path.join(folder, name), "rb") as file, contextlib.suppress(ValueError):
                self._read(file)

    def _read(self, file: Any) -> None:
        for line in iter(file.readline, b""):
            entry = json.loads(line)
            site = (entry["filename"], entry["row"], entry["api"])
            event = entry["event"]
            self.sites[site] = self.sites.get(site, 0) + (event in ("ran", "dropped"))
            if event == "built":
                self.idle.setdefault(site, "the program builds it and never runs it")
            elif event == "unseen":
                self.idle[site] = entry["reason"]
            elif event == "dropped":
                self.whole = False
            else:
                gradients = tuple(_parse_leaf(leaf, file) for leaf in entry["leaves"])
                self.calls.append(wire.Call(site[2], site[0], site[1], gradients))


def _leaf(gradient: Any) -> tuple[Any, list[np.ndarray[Any, Any]]]:
    if not isinstance(gradient, wire.Array):
        return wire.dump(gradient), []
    leaf: dict[str, Any] = {"dtype": gradient.dtype, "shape": gradient.values.shape}
    if gradient.dtype == "string":
        return wire.dump(gradient), []
    if gradient.indices is not None:
        # Sampling would tear rows from their indices.
        leaf["rows"] = len(gradient.indices)
        return leaf, [gradient.values, gradient.indices.astype(np.int64)]
    flat: np.ndarray[Any, Any] = gradient.values.ravel()
    step = -(-flat.size // SAMPLE)
    if step > 1:
        flat = flat[::step]
        leaf["sampled"] = flat.size
    return leaf, [flat]


def _parse_leaf(leaf: Any, file: Any) -> Any:
    if not isinstance(leaf, dict) or "dtype" not in leaf or "values" in leaf:
        return wire.parse(leaf)
    dtype = np.dtype("float32" if leaf["dtype"] == "bfloat16" else leaf["dtype"])
    shape = tuple(leaf["shape"])
    size = leaf.get("sampled", int(np.prod(shape, dtype=np.int64)))
    values = _array(file, dtype, size)
    if "rows" in leaf:
        rows = _array(file, np.dtype(np.int64), leaf["rows"])
        return wire.Array(leaf["dtype"], values.reshape(shape), rows)
    # A sample is compared with the sample of an array of the same shape, or with none.
    form = (*(1 for _ in shape), size) if "sampled" in leaf else shape
    return wire.Array(leaf["dtype"], values.reshape(form))


def _array(file: Any, dtype: np.dtype[Any], size: int) -> np.ndarray[Any, Any]:
    data = file.read(dtype.itemsize * size)
    return np.frombuffer(data, dtype, size)
