"""What ``tapemigrate check`` costs: beside its peers, on nothing to do, and as files grow.

    python benchmarks/check.py FOLDER

FOLDER is any tree of Python files. Peers are used where they are installed. Nothing of it is
changed: ``fix`` runs with ``--diff``.
"""

from __future__ import annotations

import argparse
import ast
import math
import os
import re
import shutil
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Iterable, Iterator
from pathlib import Path

from generated import WORKLOADS, Workload, files
from measure import TAPEMIGRATE, Cost, interleaved, machine, median, run, table

# Not one of them may be loaded on a tree with nothing to do.
HEAVY = ("libcst", "rich", "tensorflow", "numpy", "pathspec", "concurrent.futures.process")

# Seconds.
_LITTLE = 1.0

_READ = """
import os, sys
for folder, _, names in os.walk(sys.argv[1]):
    for name in names:
        if name.endswith((".py", ".pyi")):
            try:
                open(os.path.join(folder, name), "rb").read()
            except OSError:
                pass
"""
_STAT = """
import os, sys
for folder, _, names in os.walk(sys.argv[1]):
    for name in names:
        if name.endswith((".py", ".pyi")):
            try:
                os.stat(os.path.join(folder, name))
            except OSError:
                pass
"""
_PARSE = """
import ast, os, sys
from tapemigrate.running.reading import tells_something
for folder, _, names in os.walk(sys.argv[1]):
    for name in names:
        if name.endswith((".py", ".pyi")):
            path = os.path.join(folder, name)
            try:
                data = open(path, "rb").read()
                if tells_something(path, data, ()):
                    ast.parse(data)
            except Exception:
                pass
"""
_IMPORTED = """
import sys
from tapemigrate.cli import main
try:
    main(["check", "--quiet", "--no-cache", sys.argv[1]])
except SystemExit as done:
    print(done.code)
print(len(sys.modules), *[name for name in sys.argv[2:] if name in sys.modules])
"""


# Every file by itself: no callers are read, and no tape is handed from function to function.
_ALONE = """
import sys
from tapemigrate.rules.handing.threads import Threads
from tapemigrate.running import gathering

solve = Threads.solve
gathering.with_others = lambda tasks, *_: (tasks, True)
Threads.solve = lambda self, scopes, alone: solve(self, scopes, True)

from tapemigrate.cli import main
main(["check", "--quiet", "--no-cache", sys.argv[1]])
"""


def peers(folder: Path, cache: Path) -> dict[str, list[str]]:
    """Commands that look at every file of ``folder``, by name, the floors first.

    No program in Python that starts anew can do with less: before anything is analysed, what may
    matter is parsed, and before a file is known to be as it was, its times are asked for.

    Each of ours stands before the ones that it is compared with. What they keep goes to ``cache``.
    """
    check = [*TAPEMIGRATE, "check", "--quiet", str(folder)]
    commands = {
        "reading all bytes": [sys.executable, "-c", _READ, str(folder)],
        "parsing what may matter": [sys.executable, "-W", "ignore", "-c", _PARSE, str(folder)],
        "finding the files, and their times": [sys.executable, "-c", _STAT, str(folder)],
        "tapemigrate check": [*check, "--no-cache"],
    }
    ruff = shutil.which("ruff", path=_path())
    if ruff:
        npy = [ruff, "check", "--isolated", "--select", "NPY201", "--config", "exclude=[]"]
        commands["ruff --select NPY201"] = [*npy, "--no-cache", str(folder)]
    torchfix = shutil.which("torchfix", path=_path())
    if torchfix:
        commands["torchfix"] = [torchfix, str(folder)]
    commands["tapemigrate check, again"] = [*check, "--cache-dir", str(cache / "own")]
    if ruff:
        commands["ruff, again"] = [*npy, "--cache-dir", str(cache / "ruff"), str(folder)]
    return commands


def fixers(folder: Path, twins: Path) -> dict[str, list[str]]:
    """Commands that work out what to write into the files of ``folder``, and do not write it.

    Those of another library's tool have ``twins`` of these files.
    """
    fix = [*TAPEMIGRATE, "fix", "--diff", "--unsafe-fixes", "--no-cache"]
    commands = {"tapemigrate fix --diff --unsafe-fixes": [*fix, str(folder)]}
    torchfix = shutil.which("torchfix", path=_path())
    if torchfix:
        commands["torchfix"] = [torchfix, "--select", "ALL", str(twins)]
    return commands


def with_and_without_callers(folder: Path) -> dict[str, list[str]]:
    """``check`` as it is, and reading every file by itself."""
    return {
        "tapemigrate check": [*TAPEMIGRATE, "check", "--quiet", "--no-cache", str(folder)],
        "the same, every file by itself": [sys.executable, "-c", _ALONE, str(folder)],
    }


def against_peers(title: str, folder: Path, commands: dict[str, list[str]], rounds: int) -> None:
    """Prints the table of one tree; the ratios are to the last command of ours above."""
    for command in commands.values():
        run(command)  # so that the bytes are in memory, and what is kept is kept, for all of them
    costs = interleaved(commands, rounds)
    rows = []
    ours = costs[next(name for name in costs if name.startswith("tapemigrate"))]
    own, own_cpu = median(ours), median(ours, lambda cost: cost.cpu)
    for name, each in costs.items():
        memory = max(cost.memory for cost in each)
        cpu = median(each, lambda cost: cost.cpu)
        if name.startswith("tapemigrate"):
            own, own_cpu = median(each), cpu
        ratios = [f"{own / median(each):.2f}", f"{own_cpu / max(cpu, 1e-3):.2f}"]
        rows.append([name, f"{median(each):.2f} s", f"{cpu:.2f} s", f"{memory:.0f} MiB", *ratios])
    print(f"{title}: {sum(1 for _ in python_files(folder))} files\n")
    head = ["command", "clock", "cores", "memory", "tapemigrate / this, clock", "cores"]
    print(table(head, rows))


def start_up(folder: Path, rounds: int) -> None:
    """Prints what one small file costs, with a gradient call and without."""
    small, large = folder / "small.py", folder / "call.py"
    small.write_text("print('nothing to do')\n", encoding="utf-8")
    large.write_text(
        "import tensorflow as tf\n\n\ndef f(x):\n    return tf.gradients(x * x, x)[0]\n",
        encoding="utf-8",
    )
    check = [*TAPEMIGRATE, "check", "--quiet"]
    commands = {
        "python -c pass": [sys.executable, "-c", "pass"],
        "tapemigrate --version": [*TAPEMIGRATE, "--version"],
        "check, a file with nothing to do": [*check, "--no-cache", str(small)],
        "check, a file with a gradient call": [*check, "--no-cache", str(large)],
        "the same, again": [*check, "--cache-dir", str(folder / "cache"), str(large)],
        "fix --diff, the same": [*TAPEMIGRATE, "fix", "--diff", "--quiet", str(large)],
    }
    costs = interleaved(commands, rounds)
    rows = [
        [name, f"{median(c):.3f} s", f"{median(c, lambda each: each.cpu):.3f} s"]
        for name, c in costs.items()
    ]
    print(table(["command", "clock", "cores"], rows))


def imports(folder: Path) -> None:
    """Prints what is loaded on a tree with nothing to do.

    Raises:
        SystemExit: when it is something that has no business there.
    """
    repository = str(Path(__file__).resolve().parent.parent)
    command = [sys.executable, "-c", _IMPORTED, str(folder), *HEAVY]
    output = subprocess.run(command, check=True, capture_output=True, text=True, cwd=repository)
    status, loaded = output.stdout.splitlines()[-2:]
    count, *heavy = loaded.split()
    if status != "0" or heavy:
        raise SystemExit(f"check of a tree with nothing to do: exit code {status}, loads {heavy}")
    print(f"{count} modules loaded; none of {', '.join(HEAVY)}.\n")


def scaling(workload: Workload, arguments: tuple[str, ...], limit: float) -> list[list[str]]:
    """How time grows with size: table rows, one for each size.

    Growth is that of the time on the cores, less that of a file of a few lines. ``n log n`` is how
    much more than for the smallest size would be allowed.
    """
    rows = []
    start, first = _few_lines(arguments), 0.0
    for n in workload.sizes:
        with tempfile.TemporaryDirectory() as name:
            workload.make(Path(name), n)
            cost = _typical([*TAPEMIGRATE, *arguments, "--quiet", "--no-cache", name], limit)
        row = [f"`{arguments[0]}`", workload.name, f"{n:,}", f"{cost.wall:.2f} s"]
        row += [f"{cost.cpu:.2f} s", f"{cost.memory:.0f} MiB"]
        net = max(cost.cpu - start, 1e-3)
        first = first or net
        if cost.status not in (0, 1):
            rows.append([*row, "stopped" if cost.status is None else "failed", ""])
            break
        smallest = workload.sizes[0]
        allowed = n * math.log(n) / (smallest * math.log(smallest))
        rows.append([*row, f"{net / first:.1f}", f"{allowed:.1f}"])
    return rows


def python_files(folder: Path) -> Iterator[Path]:
    """The files with Python's suffixes below ``folder``."""
    return (path for path in folder.rglob("*.py*") if path.suffix in (".py", ".pyi"))


def without_tensorflow(folder: Path, target: Path) -> Path:
    """A copy of the files that do not mention TensorFlow or its names for gradients."""
    for path in python_files(folder):
        if not path.is_file():
            continue
        data = path.read_bytes()
        if b"tensorflow" not in data and b"gradient" not in data and b"TM" not in data:
            copy = target / path.relative_to(folder)
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_bytes(data)
    return target


def calling(folder: Path, target: Path) -> None:
    """Copies the files with gradient calls, as text tells them, if Python 3 can read them."""
    for path in python_files(folder):
        if path.is_file() and b"tf.gradients(" in path.read_bytes() and _parses(path):
            copy = target / path.relative_to(folder)
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_bytes(path.read_bytes())


def twins_of(folder: Path, target: Path) -> None:
    """The same files, written for torch: their gradient calls are ones that torchfix rewrites."""
    for path in python_files(folder):
        text = path.read_bytes().replace(b"tf.gradients(", b"torch.qr(")
        text = re.sub(rb"import tensorflow(?:\.[\w.]+)? as tf\b", b"import torch", text)
        text = re.sub(rb"\btf\.", b"torch.", text).replace(b"tensorflow", b"torch")
        copy = target / path.relative_to(folder)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes(text)


def _parses(path: Path) -> bool:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(path.read_bytes())
    except (SyntaxError, ValueError):
        return False
    return True


def _typical(command: list[str], limit: float) -> Cost:
    """One run; of those that take little, so that noise counts for much, the one in the middle."""
    costs = [run(command, limit=limit)]
    if costs[0].wall < _LITTLE:
        costs += [run(command, limit=limit) for _ in range(4)]
    return sorted(costs, key=lambda each: each.cpu)[len(costs) // 2]


def _few_lines(arguments: Iterable[str]) -> float:
    """What one gradient call costs, imports and all: seconds on the cores."""
    with tempfile.TemporaryDirectory() as name:
        files(Path(name), 1)
        command = [*TAPEMIGRATE, *arguments, "--no-cache", name]
        return _typical(command, 600.0).cpu


def _path() -> str:
    """Where commands are looked for: those beside this Python first."""
    return os.pathsep.join((str(Path(sys.executable).parent), os.environ.get("PATH", "")))


def main() -> None:
    """Prints the tables."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path, help="a tree of Python files")
    parser.add_argument("--rounds", type=int, default=5, help="runs of each command")
    parser.add_argument("--limit", type=float, default=240, help="seconds for one size")
    options = parser.parse_args()
    print(f"{machine()}\n\n## Beside peers\n")
    with tempfile.TemporaryDirectory() as name:
        bare = without_tensorflow(options.folder, Path(name) / "bare")
        few, twins = Path(name) / "calling", Path(name) / "twins"
        calling(options.folder, few)
        twins_of(few, twins)
        for title, folder in (("The whole tree", options.folder), ("Without TensorFlow", bare)):
            cache = Path(name) / title
            against_peers(title, folder, peers(folder, cache), options.rounds)
        against_peers("With gradient calls", few, fixers(few, twins), options.rounds)
        callers = with_and_without_callers(options.folder)
        against_peers("With callers and without", options.folder, callers, options.rounds)
        print("## Imports\n")
        imports(bare)
    print("## Start-up\n")
    with tempfile.TemporaryDirectory() as name:
        start_up(Path(name), options.rounds)
    print("## Growth\n")
    rows = []
    for arguments in (("check",), ("fix", "--diff")):
        for workload in WORKLOADS:
            rows += scaling(workload, arguments, options.limit)
    head = ["command", "size in", "n", "clock", "cores", "memory", "growth", "n log n"]
    print(table(head, rows))


if __name__ == "__main__":
    main()
