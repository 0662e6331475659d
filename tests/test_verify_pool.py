"""Workers of a pool: TensorFlow is imported once in each, and they run side by side.

Processes that only meet each other stand in for those with TensorFlow in them.
"""

from __future__ import annotations

import contextlib
import tempfile
from pathlib import Path

import pytest

from tapemigrate.verify import pool
from tapemigrate.verify.pool import Pool, Task
from tapemigrate.verify.wire import Observation, dump_observation

# Of two programs each waits until the other one runs; one alone fails.
WORKER = """
import json, os, sys, time
folder, right = {folder!r}, {right!r}
open(os.path.join(folder, f"start-{{os.getpid()}}"), "x").close()
for line in sys.stdin:
    pair, me = json.loads(line)["entry"].split("-")
    open(os.path.join(folder, f"{{pair}}-{{me}}"), "x").close()
    other = os.path.join(folder, f"{{pair}}-{{1 - int(me)}}")
    limit = time.monotonic() + 20
    while not os.path.exists(other) and time.monotonic() < limit:
        time.sleep(0.01)
    print(json.dumps({{**right, "outputs": os.path.exists(other)}}), flush=True)
"""

# Writes where temporary files go, says so in the folder above, and never answers.
HANGING = """
import os, tempfile, time
folder = tempfile.mkdtemp(prefix="tapemigrate-")
open(os.path.join(folder, "program.py"), "x").close()
open(os.path.join(os.path.dirname(os.path.dirname(folder)), "written"), "x").close()
time.sleep(60)
"""


@pytest.mark.parametrize("size", [2, 3])
def test_each_worker_starts_once_and_none_waits_for_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    right = dump_observation(Observation())
    script = WORKER.format(folder=str(tmp_path), right=right)
    monkeypatch.setattr(pool, "BOOTSTRAP", script)
    tasks = [Task({}, "m", "eager", entry=f"{pair}-{me}") for pair in range(6) for me in (0, 1)]
    with contextlib.closing(Pool(size=size)) as workers:
        results = [future.result() for future in [workers.submit(task) for task in tasks]]
    assert [each.outputs for each in results] == [True] * len(tasks)
    assert len(list(tmp_path.glob("start-*"))) == size


def test_a_worker_that_is_killed_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(pool, "BOOTSTRAP", HANGING)
    with contextlib.closing(Pool(timeout=5)) as workers:
        told = workers.submit(Task({}, "m", "eager")).result()
        assert told.died
        assert (tmp_path / "written").is_file()
    assert [path.name for path in tmp_path.iterdir()] == ["written"]
