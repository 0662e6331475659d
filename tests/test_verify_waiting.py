"""What somebody who waits sees."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """
import time
from tapemigrate.verify.waiting import waiting

with waiting() as tick:
    for _ in range(3):
        tick("before the rewrite")
        time.sleep(0.2)
"""
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1]), "TERM": "xterm"}


@pytest.mark.skipif(os.name != "posix", reason="a terminal of POSIX's")
def test_a_terminal_shows_what_is_running() -> None:
    ours, theirs = os.openpty()
    subprocess.run([sys.executable, "-c", PROGRAM], stderr=theirs, env=ENVIRONMENT, check=True)
    os.close(theirs)
    shown = os.read(ours, 65536).decode()
    os.close(ours)
    assert "Running before the rewrite: 0 s" in shown


def test_a_file_gets_nothing() -> None:
    ran = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, env=ENVIRONMENT, check=True
    )
    assert (ran.stdout, ran.stderr) == (b"", b"")
