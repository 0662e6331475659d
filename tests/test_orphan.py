"""Nothing goes on when the tool is killed."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(os.name != "posix", reason="kill -9 is POSIX's")

POOL = """
import time
from tapemigrate.running.workers import pool

with pool(2) as processes:
    for _ in range(2):
        processes.submit(time.sleep, 0.2)
    print(*processes._processes, flush=True)
    time.sleep(60)
"""
CHILDREN = """
import os, subprocess, sys, time

code = "from tapemigrate.running.orphan import end_with; import sys, time; "
code += "end_with(int(sys.argv[1])); time.sleep(60)"
child = subprocess.Popen([sys.executable, "-c", code, str(os.getpid())])
# A process of which this one is not the parent.
shell = f"{sys.executable} -c '{code}' {os.getpid()} & echo $!; wait"
beyond = subprocess.Popen(["sh", "-c", shell], stdout=subprocess.PIPE, text=True)
print(child.pid, beyond.stdout.readline().strip(), flush=True)
time.sleep(60)
"""


@pytest.mark.parametrize("program", [POOL, CHILDREN], ids=["pool", "children"])
def test_what_a_killed_process_has_started_ends(program: str) -> None:
    root = str(Path(__file__).parents[1])
    with subprocess.Popen(
        [sys.executable, "-c", program],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": root},
    ) as parent:
        assert parent.stdout is not None
        started = [int(number) for number in parent.stdout.readline().split()]
        assert len(started) == 2
        assert all(map(alive, started))
        time.sleep(2)
        assert all(map(alive, started))
        parent.kill()
    deadline = time.monotonic() + 20
    while any(map(alive, started)) and time.monotonic() < deadline:
        time.sleep(0.1)
    left = [process for process in started if alive(process)]
    for process in left:
        with contextlib.suppress(ProcessLookupError):
            os.kill(process, signal.SIGKILL)
    assert not left


def alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    # One that has ended, and that nobody has asked for, is not alive.
    with contextlib.suppress(OSError), open(f"/proc/{process}/stat") as file:
        return file.read().rpartition(")")[2].split()[0] != "Z"
    return True
