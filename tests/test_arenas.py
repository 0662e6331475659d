"""Threads of one process take memory from one place, of which little is lost when they end."""

from __future__ import annotations

import ctypes
import subprocess
import sys

import pytest

PROGRAM = """
import ctypes, sys, threading
from tapemigrate.running import arenas

if sys.argv[1] == "one":
    arenas.share_one()

def work():
    held.append([bytes(10_000) for _ in range(100)])

held = []
thread = threading.Thread(target=work)
thread.start()
thread.join()
libc = ctypes.CDLL(None)
libc.fdopen.restype = ctypes.c_void_p
out = ctypes.c_void_p(libc.fdopen(1, b"w"))
libc.malloc_info(0, out)
libc.fflush(out)
"""


@pytest.mark.skipif(
    sys.platform != "linux" or not hasattr(ctypes.CDLL(None), "mallopt"), reason="not glibc"
)
@pytest.mark.parametrize(("how", "expected"), [("many", 2), ("one", 1)])
def test_threads_share_one(how: str, expected: int) -> None:
    command = [sys.executable, "-c", PROGRAM, how]
    told = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert told.count("<heap nr=") == expected


HOLES = """
import os
from tapemigrate.running import arenas

def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

held = [bytes(10_000) for _ in range(5_000)]
kept = held[-1]
del held
before = resident()
arenas.give_back()
print(before - resident())
"""


@pytest.mark.skipif(
    sys.platform != "linux" or not hasattr(ctypes.CDLL(None), "malloc_trim"), reason="not glibc"
)
def test_what_lies_before_something_that_is_kept_goes_back() -> None:
    told = subprocess.run([sys.executable, "-c", HOLES], capture_output=True, text=True, check=True)
    assert int(told.stdout) > 40_000_000
