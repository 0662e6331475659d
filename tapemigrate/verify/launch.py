"""Runs a user's command with probes in it."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from tapemigrate.verify.log import Reader
from tapemigrate.verify.pool import PACKAGE, Device, environment

# How often somebody who waits is told that it goes on.
TICK_SECONDS = 0.25
# Bytes of gradients that are kept of one run.
BUDGET = 256 * 1024 * 1024
_PYTHON = re.compile(r"(?:.*[/\\])?python(?:\d+(?:\.\d+)?)?(?:\.exe)?", re.IGNORECASE)
# What TensorFlow 2 says to a program that was written for graphs.
_NEEDS_GRAPH = re.compile(
    r"not compatible with eager execution"
    r"|not supported when eager execution is enabled"
    r"|must be called in graph mode"
    r"|The Session graph is empty"
)
_TRACEBACK = "Traceback (most recent call last):"
_ERROR = re.compile(r"(?:[A-Za-z_]\w*\.)*[A-Z]\w*(?:Error|Exception|Interrupt|Exit)\b(?::|$)")


@dataclass(frozen=True)
class Side:
    """How to run the command: in ``folder``, a copy of ``root``, to which its paths are turned."""

    root: Path
    folder: Path
    python: str | None = None
    device: Device = "cpu"
    graph: bool = False
    budget: int = BUDGET


@dataclass(frozen=True)
class Ran:
    """How a run ended. ``status`` is None when it took longer than it was given."""

    status: int | None
    output: str
    log: Reader
    seconds: float

    @property
    def failed(self) -> bool:
        """Whether the command did not come to a good end."""
        return self.status != 0

    @property
    def needs_graph(self) -> bool:
        """Whether it failed because TensorFlow 2 executes eagerly."""
        return self.failed and _NEEDS_GRAPH.search(self.output) is not None

    def why(self) -> str:
        """How it failed, in one line."""
        if self.status is None:
            return f"it was stopped after {self.seconds:.0f} s (--timeout gives it more)"
        lines = [line for line in self.output.splitlines() if line.strip()]
        # The message of an error may go on for lines.
        raised = [line for line in lines if _ERROR.match(line)] if _TRACEBACK in lines else []
        last = f": {' '.join((raised or lines)[-1].split())[:300]}" if lines else ""
        last = advised(last)
        if self.status < 0:
            name = signal.Signals(-self.status).name
            fatal = [line for line in lines if line.startswith("F")]
            last = f": {fatal[-1][:300]}" if fatal else last
            return f"it was ended by {name}{last}"
        return f"it ended with status {self.status}{last}"


def run(command: Sequence[str], side: Side, timeout: float, tick: Callable[[], None]) -> Ran:
    """Runs ``command`` to its end, or for ``timeout`` seconds. ``tick`` is called meanwhile.

    Raises:
        OSError: when the command cannot be started.
    """
    start = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="tapemigrate-log-") as log, _output() as output:
        process = subprocess.Popen(
            arguments(command, side),
            cwd=side.folder,
            env=_environment(side, log),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        status = None
        try:
            while status is None and time.monotonic() - start < timeout:
                try:
                    status = process.wait(TICK_SECONDS)
                except subprocess.TimeoutExpired:
                    tick()
        finally:
            if status is None:
                _kill(process)
        output.seek(0)
        text = output.read().decode("utf-8", "replace")
        return Ran(status, text, Reader(log), time.monotonic() - start)


def arguments(command: Sequence[str], side: Side) -> list[str]:
    """``command`` with paths turned to the copy of the folder, and Python to the one asked for."""
    turned = _turned(command, side)
    if _PYTHON.fullmatch(turned[0]):
        if side.python is not None:
            turned[0] = side.python
        elif turned[0] in ("python", "python3"):
            # The one that runs this tool has its TensorFlow.
            turned[0] = sys.executable
    return turned


def advised(error: str) -> str:
    """``error`` with what to do about it, where that is known."""
    if "not available with Keras 3" not in error:
        return error
    return f"{error} (`pip install tf_keras`, and set TF_USE_LEGACY_KERAS=1)"


def _turned(parts: Sequence[str], side: Side) -> list[str]:
    root = str(side.root)
    return [
        str(side.folder) + part[len(root) :]
        if part == root or part.startswith(root + os.sep)
        else part
        for part in parts
    ]


def _output() -> tempfile._TemporaryFileWrapper[bytes]:
    return tempfile.NamedTemporaryFile(prefix="tapemigrate-output-")


def _environment(side: Side, log: str) -> dict[str, str]:
    settings = {
        "package": str(PACKAGE),
        "tree": str(side.root),
        "root": str(side.folder),
        "log": log,
        "budget": side.budget,
        "graph": side.graph,
        "parent": os.getpid(),
    }
    base = environment(side.device)
    path = [str(PACKAGE / "verify" / "inject")]
    if base.get("PYTHONPATH"):
        path += _turned(base["PYTHONPATH"].split(os.pathsep), side)
    return {
        **base,
        "PYTHONPATH": os.pathsep.join(path),
        "PYTHONDONTWRITEBYTECODE": "1",
        "TAPEMIGRATE_VERIFY": json.dumps(settings),
    }


def _kill(process: subprocess.Popen[bytes]) -> None:
    """Ends the command with everything that it has started."""
    if hasattr(os, "killpg"):
        os.killpg(process.pid, signal.SIGKILL)
    else:
        process.kill()
    process.wait()
