"""The loop of a worker process: one JSON request a line in, one JSON observation a line out."""

from __future__ import annotations

import contextlib
import json
import logging
import os
import platform
import sys
import tempfile
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from tapemigrate.running import orphan
from tapemigrate.verify import modes, probes, seeds, shim, wire

if TYPE_CHECKING:
    from collections.abc import Iterator


def main() -> None:
    """Serves requests from standard input until it ends.

    What the programs print goes to standard error, so that standard output carries the protocol
    alone.
    """
    orphan.end_with(os.getppid())
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    tf = _tensorflow()
    for line in sys.stdin:
        answer = _answer(tf, json.loads(line))
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


def _tensorflow() -> Any:
    warnings.filterwarnings("ignore")
    import tensorflow as tf

    logging.getLogger("tensorflow").setLevel(logging.FATAL)
    shim.install(tf)
    seeds.install(tf)
    probes.install(tf)
    return tf


def _answer(tf: Any, request: dict[str, Any]) -> Any:
    if request["do"] == "versions":
        return {
            "python": platform.python_version(),
            "numpy": np.__version__,
            "tensorflow": tf.__version__,
            "gpus": len(tf.config.experimental.list_physical_devices("GPU")),
            "gpu_build": _for_gpus(tf),
        }
    if request["do"] == "cases":
        return _cases(request)
    with _folder(request) as folder:
        try:
            return wire.dump_observation(_observe(tf, request, folder))
        except SystemExit as error:
            return wire.dump_observation(wire.Observation(error="SystemExit: " + str(error)))


def _for_gpus(tf: Any) -> bool:
    """Whether this TensorFlow was built for GPUs of any kind."""
    if hasattr(tf.test, "is_built_with_gpu_support"):
        return bool(tf.test.is_built_with_gpu_support())
    return bool(tf.test.is_built_with_cuda())


def _cases(request: dict[str, Any]) -> Any:
    try:
        found = modes.cases(
            request["folder"],
            request["tree"],
            request["place"],
            request["module"],
            request["seed"],
        )
    except (Exception, SystemExit) as error:
        return {"error": type(error).__name__ + ": " + " ".join(str(error).split())}
    return {
        "cases": [
            [name, {key: wire.dump(wire.array(value)) for key, value in inputs.items()}]
            for name, inputs in found.items()
        ]
    }


@contextlib.contextmanager
def _folder(request: dict[str, Any]) -> Iterator[str]:
    """Where the program lies; one that comes as texts is put into a folder of its own."""
    if request["folder"] is not None:
        yield request["folder"]
        return
    with tempfile.TemporaryDirectory(prefix="tapemigrate-") as made:
        folder = os.path.realpath(made)
        for name, text in request["files"].items():
            path = os.path.join(folder, name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w", encoding="utf-8", newline="") as file:
                file.write(text.replace("float32", "float64") if request["double"] else text)
        yield folder


def _observe(tf: Any, request: dict[str, Any], folder: str) -> wire.Observation:
    inputs = request["inputs"]
    return modes.observe(
        tf,
        modes.Run(
            folder=folder,
            module=request["module"],
            mode=request["mode"],
            tree=request["tree"],
            place=request["place"],
            entry=request["entry"],
            inputs=None
            if inputs is None
            else {name: wire.parse(value).values for name, value in inputs.items()},
            arrays=request["arrays"],
            double=request["double"],
            finite=request["finite"],
        ),
    )
