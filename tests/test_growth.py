"""What an analysis does grows with the file, and not with its square: calls counted, not time."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from benchmarks import generated
from tapemigrate.api import analyse
from tapemigrate.settings import Settings
from tapemigrate.source.decoding import decode

WORKLOADS = [
    (generated.statements, 60),
    (generated.calls, 40),
    (generated.calls_on_one_target, 40),
    (generated.lines, 400),
    (generated.lines_without_calls, 400),
    (generated.keras_names, 400),
]


def calls_made(folder: Path, workload: Callable[[Path, int], None], n: int) -> int:
    """How many functions run, written in Python or not, where a file of size ``n`` is analysed."""
    workload(folder, n)
    file = decode((folder / "module.py").read_bytes(), f"{n}.py")
    count = 0

    def counted(frame: object, event: str, argument: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    earlier = sys.getprofile()
    sys.setprofile(counted)
    try:
        analyse({file.filename: file}, Settings(), rewrite=False)
    finally:
        sys.setprofile(earlier)
    return count


@pytest.mark.parametrize(
    ("workload", "n"), WORKLOADS, ids=lambda given: getattr(given, "__name__", None)
)
def test_growth(tmp_path: Path, workload: Callable[[Path, int], None], n: int) -> None:
    calls_made(tmp_path, workload, 5)  # what is done once, whatever the file
    small, middle, large = (calls_made(tmp_path, workload, n * times) for times in (1, 2, 4))
    # Twice as much for twice the size; a square would be four times, and n log n comes to 2.2.
    assert (large - middle) / (middle - small) < 2.3
