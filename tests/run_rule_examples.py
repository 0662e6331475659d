"""Runs one side of every rule's example under TensorFlow; see ``test_rules_examples.py``.

``before`` runs with TF1's names put back on the TensorFlow module; ``after`` runs on TensorFlow 2
as it is. Prints one JSON object: for each code the results by name, or the exception's name.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import Any

import tensorflow as tf

from tapemigrate.rules import catalog
from tapemigrate.verify import shim


def plain(value: Any) -> Any:
    """``value`` as nested lists of numbers, as JSON has them."""
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if value is None or isinstance(value, (int, float)):
        return value
    return value.numpy().tolist() if hasattr(value, "numpy") else value.tolist()


def eager(text: str, results: list[str]) -> list[Any]:
    """The results of ``text`` in eager execution."""
    names: dict[str, Any] = {}
    exec(text, names)
    return [plain(names[name]) for name in results]


def graph(text: str, results: list[str]) -> list[Any]:
    """The results of ``text`` in a graph of TensorFlow 1 with a session."""
    names: dict[str, Any] = {}
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        exec(text, names)
        session.run(tf.compat.v1.global_variables_initializer())
        return [plain(session.run(names[name])) for name in results]


def v1_behavior(text: str, results: list[str]) -> list[Any]:
    """Like ``graph``, with the static shapes of TensorFlow 1."""
    tf.compat.v1.disable_v2_tensorshape()
    try:
        return graph(text, results)
    finally:
        tf.compat.v1.enable_v2_tensorshape()


RUN: dict[str, Callable[[str, list[str]], list[Any]]] = {
    "eager": eager,
    "graph": graph,
    "v1-behavior": v1_behavior,
}


def attempt(run: Callable[[str, list[str]], list[Any]], text: str, results: list[str]) -> Any:
    """What ``run`` gives, or the name of the exception that it ends with."""
    try:
        return run(text, results)
    except Exception as error:  # whatever it is, it is the result
        return type(error).__name__


def main(side: str) -> None:
    if side == "before":
        shim.install(tf)
    found: dict[str, Any] = {}
    for rule in catalog.rules():
        example = rule.example
        if example is None:
            continue
        results = list(example.results)
        if side == "before":
            found[rule.code] = attempt(RUN[example.before_runs], example.before, results)
            if example.in_eager:
                found[f"{rule.code} eager"] = attempt(eager, example.before, results)
        else:
            found[rule.code] = attempt(RUN[example.after_runs], example.after, results)
            if example.before_runs != "eager":
                found[f"{rule.code} graph"] = attempt(graph, example.after, results)
    print(json.dumps(found))


if __name__ == "__main__":
    main(sys.argv[1])
