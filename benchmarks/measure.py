"""Running other processes, and what they cost."""

from __future__ import annotations

import os
import signal
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

TAPEMIGRATE = (sys.executable, "-m", "tapemigrate")


@dataclass(frozen=True, slots=True)
class Cost:
    """What one run of a process took.

    ``cpu`` counts the processes it started as well. ``memory`` is the peak of the largest of them,
    in MiB. ``status`` is its exit code, None where it was stopped for taking too long.
    """

    wall: float
    cpu: float
    memory: float
    status: int | None


def run(command: Sequence[str], *, limit: float = 600.0) -> Cost:
    """Runs ``command`` to its end or for ``limit`` seconds, its output thrown away."""
    start = time.perf_counter()
    process = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        # Python keeps what it has compiled, as it does for an installed program.
        env={**_without(os.environ, "PYTHONDONTWRITEBYTECODE"), "PYTHONPATH": _repository()},
        start_new_session=True,
    )
    status: int | None = None
    while True:
        pid, code, usage = os.wait4(process.pid, os.WNOHANG)
        if pid:
            break
        if time.perf_counter() - start > limit:
            os.killpg(process.pid, signal.SIGKILL)  # the processes it started as well
            _, code, usage = os.wait4(process.pid, 0)
            break
        time.sleep(0.001)
    wall = time.perf_counter() - start
    process.returncode = os.waitstatus_to_exitcode(code)
    if wall <= limit:
        status = process.returncode
    return Cost(wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, status)


def interleaved(commands: Mapping[str, Sequence[str]], rounds: int) -> dict[str, list[Cost]]:
    """Runs all ``commands`` in turn, ``rounds`` times, so that a busy machine is busy for all."""
    costs: dict[str, list[Cost]] = {name: [] for name in commands}
    for _ in range(rounds):
        for name, command in commands.items():
            costs[name].append(run(command))
    return costs


def median(costs: Iterable[Cost], of: Callable[[Cost], float] = lambda cost: cost.wall) -> float:
    """The median of one quantity, by default of the time on the clock."""
    return statistics.median(of(cost) for cost in costs)


def machine() -> str:
    """The processor, the cores and the Python, in one line."""
    model = "unknown processor"
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as stream:
            models = [line.partition(":")[2].strip() for line in stream if "model name" in line]
        model = models[0] if models else model
    except OSError:
        pass  # not Linux
    version = ".".join(map(str, sys.version_info[:3]))
    return f"{model}, {os.cpu_count()} cores, {sys.platform}, Python {version}"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


def _without(environment: Mapping[str, str], name: str) -> dict[str, str]:
    return {key: value for key, value in environment.items() if key != name}


def _repository() -> str:
    return os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
