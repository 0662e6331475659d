"""Worker processes: started when needed, each runs many programs, and one that dies costs only the
program it ran.
"""

from __future__ import annotations

import contextlib
import json
import os
import queue
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from tapemigrate.verify import wire

Mode = Literal["graph", "function", "eager"]
Device = Literal["cpu", "gpu"]

PACKAGE = Path(__file__).resolve().parent.parent
# The package is loaded by its path: putting its folder on sys.path would bring this interpreter's
# site-packages into another one.
BOOTSTRAP = """
import importlib.util, sys
path = sys.argv[1]
spec = importlib.util.spec_from_file_location(
    "tapemigrate", path + "/__init__.py", submodule_search_locations=[path])
package = importlib.util.module_from_spec(spec)
sys.modules["tapemigrate"] = package
spec.loader.exec_module(package)
from tapemigrate.verify import worker
worker.main()
"""
# Graphs and compiled functions of programs long done stay in TensorFlow's caches.
PROGRAMS_PER_PROCESS = 300


@dataclass(frozen=True)
class Task:
    """One program to run in one mode.

    ``files`` are the program's texts by their path, or ``folder`` is where it lies, a copy of
    ``tree``. Of it ``module`` is imported, from its folder ``place``, and its ``entry`` called.
    ``isolated`` asks for a process of its own, for programs that change TensorFlow for good
    (``disable_v2_behavior()``). ``double`` runs it in float64, as far as it names float32 itself;
    ``finite`` asks for finite differences as well.
    """

    files: Mapping[str, str]
    module: str
    mode: Mode
    folder: str | None = None
    tree: str = ""
    place: str = ""
    entry: str = "run"
    inputs: Mapping[str, wire.Array] | None = None
    arrays: bool = False
    double: bool = False
    finite: bool = False
    isolated: bool = False

    def request(self) -> str:
        """The line that a worker is sent."""
        inputs = self.inputs
        return json.dumps(
            {
                "do": "observe",
                "files": dict(self.files),
                "folder": self.folder,
                "tree": self.tree,
                "place": self.place,
                "module": self.module,
                "mode": self.mode,
                "entry": self.entry,
                "inputs": None
                if inputs is None
                else {name: wire.dump(value) for name, value in inputs.items()},
                "arrays": self.arrays,
                "double": self.double,
                "finite": self.finite,
            }
        )


class WorkerError(Exception):
    """How a worker process ended instead of answering."""


class UnusableError(Exception):
    """Why an interpreter cannot run programs on the device."""


class Worker:
    """One process with TensorFlow in it."""

    def __init__(self, python: str, device: Device) -> None:
        self.served = 0
        self._noise = tempfile.TemporaryFile()  # noqa: SIM115
        # A process that is killed leaves what it wrote: its programs, what AutoGraph made of them.
        self._scratch = tempfile.TemporaryDirectory(prefix="tapemigrate-")
        self._process = subprocess.Popen(
            [python, "-c", BOOTSTRAP, str(PACKAGE)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._noise,
            env={**environment(device), "TMPDIR": self._scratch.name},
            encoding="utf-8",
        )

    def run(self, task: Task, timeout: float) -> wire.Observation:
        """Runs ``task``; a process that dies or exceeds ``timeout`` seconds is a result too."""
        try:
            return wire.parse_observation(self.ask(task.request(), timeout))
        except WorkerError as error:
            return wire.Observation(error=str(error), died=True)

    def ask(self, request: str, timeout: float) -> Any:
        """Sends a line and gives the answer.

        Raises:
            WorkerError: when the process ends, or takes longer than ``timeout`` seconds.
        """
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        expired = threading.Event()

        def stop() -> None:
            expired.set()
            self._process.kill()

        timer = threading.Timer(timeout, stop)
        timer.start()
        try:
            self._process.stdin.write(request + "\n")
            self._process.stdin.flush()
            answer = self._process.stdout.readline()
        except OSError:
            answer = ""
        finally:
            timer.cancel()
        self.served += 1
        if answer:
            return json.loads(answer)
        raise WorkerError(
            f"no result within {timeout:g} s" if expired.is_set() else self._epitaph()
        )

    @property
    def alive(self) -> bool:
        """Whether it can run more programs."""
        return self._process.poll() is None

    def close(self) -> None:
        """Ends the process."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        with contextlib.suppress(OSError):
            self._process.stdin.close()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process.stdout.close()
        self._noise.close()
        self._scratch.cleanup()

    def _epitaph(self) -> str:
        code = self._process.wait()
        self._noise.seek(0)
        lines = self._noise.read().decode("utf-8", "replace").strip().splitlines()
        # A failed CHECK of TensorFlow's C++ is logged as F; anything else says it in its last line.
        fatal = [line for line in lines if line.startswith("F")] or lines
        return f"the process ended with status {code}" + (f": {fatal[-1][:300]}" if fatal else "")


@dataclass
class Pool:
    """Up to ``size`` workers of one interpreter. For ``contextlib.closing``."""

    python: str = sys.executable
    size: int = 1
    timeout: float = 180.0
    device: Device = "cpu"
    _idle: queue.SimpleQueue[Worker] = field(default_factory=queue.SimpleQueue, init=False)
    _threads: ThreadPoolExecutor = field(init=False)

    def __post_init__(self) -> None:
        self._threads = ThreadPoolExecutor(self.size)

    def close(self) -> None:
        """Ends the workers; programs that have not been started are left out."""
        self._threads.shutdown(cancel_futures=True)
        with contextlib.suppress(queue.Empty):
            while True:
                self._idle.get_nowait().close()

    def submit(self, task: Task) -> Future[wire.Observation]:
        """Runs ``task`` on the next worker that is free."""
        return self._threads.submit(self._run, task)

    def versions(self) -> dict[str, Any]:
        """The versions of Python, numpy and TensorFlow in the workers, how many GPUs it sees, and
        whether it was built for any.

        Raises:
            UnusableError: when there is no TensorFlow, or none that sees the device.
        """
        try:
            found: dict[str, Any] = self._ask({"do": "versions"})
        except (WorkerError, OSError) as error:
            hint = "; `pip install 'tapemigrate[tensorflow]'` installs it"
            hint = hint if "No module named" in str(error) else ""
            raise UnusableError(f"{self.python} cannot run TensorFlow: {error}{hint}") from None
        if self.device == "gpu" and not found["gpus"]:
            why = (
                "is built for GPUs and sees none: is there a driver, and are the CUDA libraries "
                "there (`pip install 'tensorflow[and-cuda]'`)?"
                if found["gpu_build"]
                else "is a build without GPU support; `pip install 'tensorflow[and-cuda]'` has it"
            )
            version = found["tensorflow"]
            raise UnusableError(f"--device gpu: TensorFlow {version} of {self.python} {why}")
        return found

    def cases(
        self, folder: str, tree: str, place: str, module: str, seed: int
    ) -> list[tuple[str, dict[str, wire.Array]]]:
        """The cases in a module of the program in ``folder``, a copy of ``tree``, each with inputs
        drawn by ``seed``.

        Raises:
            WorkerError: when the module cannot be read.
        """
        request = {
            "do": "cases",
            "folder": folder,
            "tree": tree,
            "place": place,
            "module": module,
            "seed": seed,
        }
        answer = self._ask(request)
        if "error" in answer:
            raise WorkerError(answer["error"])
        return [
            (name, {key: wire.parse(value) for key, value in inputs.items()})
            for name, inputs in answer["cases"]
        ]

    def _ask(self, request: dict[str, Any]) -> Any:
        with self._worker(False) as worker:
            return worker.ask(json.dumps(request), self.timeout)

    def _run(self, task: Task) -> wire.Observation:
        with self._worker(task.isolated) as worker:
            return worker.run(task, self.timeout)

    @contextlib.contextmanager
    def _worker(self, fresh: bool) -> Iterator[Worker]:
        worker = None
        if not fresh:
            with contextlib.suppress(queue.Empty):
                worker = self._idle.get_nowait()
        worker = worker or Worker(self.python, self.device)
        try:
            yield worker
        finally:
            if fresh or not worker.alive or worker.served >= PROGRAMS_PER_PROCESS:
                worker.close()
            else:
                self._idle.put(worker)


def environment(device: Device) -> dict[str, str]:
    """The environment for a process with TensorFlow in it: quiet, and the same numbers on every
    run.
    """
    settings: dict[str, Any] = {
        "TF_CPP_MIN_LOG_LEVEL": "2",
        "TF_ENABLE_ONEDNN_OPTS": "0",
        "PYTHONHASHSEED": "0",
    }
    if device == "cpu":
        settings.update(TF_DETERMINISTIC_OPS="1", CUDA_VISIBLE_DEVICES="")
    else:
        # Deterministic kernels are missing for many ops there. TF32 has three digits. The first
        # process would take all of the memory.
        settings.update(NVIDIA_TF32_OVERRIDE="0", TF_FORCE_GPU_ALLOW_GROWTH="true")
    return {**os.environ, **settings}
