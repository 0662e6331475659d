"""What one training step costs before the rewrite, with ``tf.gradients``, and after, with tapes.

    python benchmarks/tapes.py

Every program of ``programs/`` is rewritten by the tool, here and now. Its step runs under
``tf.function``, both sides in turn in one process; they must give equal numbers. Memory is
measured in processes of their own, one side in each.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from measure import machine, table

PROGRAMS = Path(__file__).parent / "programs"
SIDES = ("before", "after")

# Rounding: the two sides add up the same terms, not always in the same order.
TOLERANCE = 1e-5
WARM_UP = 3


@dataclass(slots=True)
class Side:
    """One side of a comparison: a traced step, ready to be called, and its variables."""

    call: Callable[[], Any]
    weights: list[Any]
    nodes: int


@dataclass(slots=True)
class Timing:
    """Seconds per step, round by round, on the clock and on the cores."""

    wall: list[float]
    cpu: list[float]


def rewritten(text: str, filename: str) -> str:
    """What ``tapemigrate fix --unsafe-fixes`` makes of a program.

    Raises:
        SystemExit: when a call of ``tf.gradients`` is left, so that there is nothing to compare.
    """
    from tapemigrate.api import analyse
    from tapemigrate.settings import Settings
    from tapemigrate.source import SourceFile

    files = {filename: SourceFile(filename, text)}
    result = analyse(files, Settings(unsafe_fixes=True), rewrite=True)
    new = result.rewritten.get(filename, text)
    if "tf.gradients" in new:
        raise SystemExit(f"{filename}: not rewritten: {[d.message for d in result.diagnostics]}")
    return new


def load(program: str, side: str) -> ModuleType:
    """A program as a module; from a file, since AutoGraph reads the text of what it traces."""
    path = PROGRAMS / f"{program}.py"
    text = path.read_text(encoding="utf-8")
    if side == "after":
        text = rewritten(text, path.name)
    copy = Path(tempfile.mkdtemp(prefix="tapemigrate-")) / f"{program}_{side}.py"
    copy.write_text(text, encoding="utf-8")
    spec = importlib.util.spec_from_file_location(copy.stem, copy)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def prepare(program: str, side: str, points: int) -> Side:
    """Traces a step, and counts the operations of its graph before any is optimised away."""
    import tensorflow as tf

    module = load(program, side)
    weights = module.make_weights()
    batch = module.make_batch(points)

    def step(x: Any, t: Any, u: Any) -> Any:
        return module.step(weights, x, t, u)

    traced = tf.function(step)
    graph = traced.get_concrete_function(*batch).graph.as_graph_def()
    nodes = len(graph.node) + sum(len(f.node_def) for f in graph.library.function)
    return Side(lambda: traced(*batch).numpy(), weights, nodes)


def compare_times(program: str, points: int, rounds: int) -> tuple[list[Side], list[Timing], float]:
    """Both sides in turn; the largest relative difference of losses and weights as well.

    Raises:
        SystemExit: when the two sides do not compute the same.
    """
    sides = [prepare(program, side, points) for side in SIDES]
    worst = 0.0
    for _ in range(WARM_UP):
        losses = [side.call() for side in sides]
        worst = max(worst, _difference(losses[0], losses[1]))
    timings = [Timing([], []) for _ in sides]
    for n in range(rounds):
        # Whoever goes second finds the caches warm: take turns at that too.
        for k in (0, 1) if n % 2 == 0 else (1, 0):
            wall, cpu = time.perf_counter(), time.process_time()
            sides[k].call()
            timings[k].wall.append(time.perf_counter() - wall)
            timings[k].cpu.append(time.process_time() - cpu)
    for old, new in zip(sides[0].weights, sides[1].weights, strict=True):
        worst = max(worst, _difference(old.numpy(), new.numpy()))
    if worst > TOLERANCE:
        raise SystemExit(f"{program}: the two sides differ by {worst:.1e}")
    return sides, timings, worst


def memory(program: str, side: str, points: int) -> dict[str, float]:
    """MiB of resident memory in a process of its own: what tracing and running add to it."""
    command = [sys.executable, __file__, "--points", str(points), "--measure", program, side]
    output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    made: dict[str, float] = json.loads(output.splitlines()[-1])
    return made


def measure_here(program: str, side: str, points: int, steps: int = 10) -> None:
    """Prints this process's memory, for ``memory`` of another process."""
    import tensorflow as tf

    if side == "after":
        rewritten("", "")  # imports what rewriting imports, so that it does not count
    tf.linalg.matmul(tf.ones([points, 20]), tf.ones([20, 20])).numpy()  # starts the thread pools
    start = _status("VmRSS")
    made = prepare(program, side, points)
    traced = _status("VmRSS")
    Path("/proc/self/clear_refs").write_text("5", encoding="utf-8")  # forgets the peak so far
    for _ in range(steps):
        made.call()
    print(json.dumps({"tracing": traced - start, "steps": _status("VmHWM") - traced}))


def _status(key: str) -> float:
    """A line of /proc/self/status, in MiB."""
    for line in Path("/proc/self/status").read_text(encoding="utf-8").splitlines():
        if line.startswith(f"{key}:"):
            return int(line.split()[1]) / 1024
    raise SystemExit("memory is measured on Linux only")


def _difference(old: Any, new: Any) -> float:
    import numpy as np

    largest = float(np.max(np.abs(old)))
    return float(np.max(np.abs(old - new))) / (largest or 1.0)


def _ratio(old: list[float], new: list[float]) -> float:
    """The median of the ratios of the rounds: both halves of a round met the same machine."""
    return statistics.median(b / a for a, b in zip(old, new, strict=True))


def main() -> None:
    """Prints the tables."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--points", type=int, default=10_000, help="size of the batch")
    parser.add_argument("--rounds", type=int, default=60, help="steps of each side")
    parser.add_argument("--processes", type=int, default=3, help="for memory, of each side")
    parser.add_argument("--measure", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
    if options.measure:
        program, side = options.measure
        measure_here(program, side, options.points)
        return
    import tensorflow as tf

    print(f"{machine()}, TensorFlow {tf.__version__}, {options.points} points\n")
    times, sizes = [], []
    for path in sorted(PROGRAMS.glob("*.py")):
        sides, (old, new), worst = compare_times(path.stem, options.points, options.rounds)
        for what, a, b in (("clock", old.wall, new.wall), ("cores", old.cpu, new.cpu)):
            middle = [f"{statistics.median(each) * 1e3:.1f} ms" for each in (a, b)]
            fastest = [f"{min(each) * 1e3:.1f} ms" for each in (a, b)]
            row = [path.stem, what, *middle, f"{_ratio(a, b):.3f}", *fastest, f"{worst:.1e}"]
            times.append(row)
        runs: dict[str, list[dict[str, float]]] = {side: [] for side in SIDES}
        for _ in range(options.processes):
            for side in SIDES:
                runs[side].append(memory(path.stem, side, options.points))
        before, after = sides
        sizes.append([path.stem, "nodes", *_sizes(before.nodes, after.nodes)])
        for what in ("tracing", "steps"):
            mib = [statistics.median(run[what] for run in runs[side]) for side in SIDES]
            sizes.append([path.stem, f"{what}, MiB", *_sizes(*mib)])
    head = ["program", "time", "tf.gradients", "tapes", "ratio", "min", "min", "difference"]
    print(table(head, times))
    print(table(["program", "memory", "tf.gradients", "tapes", "ratio"], sizes))


def _sizes(old: float, new: float) -> list[str]:
    return [f"{old:.0f}", f"{new:.0f}", f"{new / old:.3f}"]


if __name__ == "__main__":
    sys.path.insert(1, str(Path(__file__).resolve().parent.parent))
    main()
