"""Every rule's example pair, run under TensorFlow: both sides compute the same, or the first fails.

Also that the symbols which the data names for TensorFlow 2 exist there.
"""

from __future__ import annotations

import importlib.util
import inspect
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tapemigrate.rules import catalog

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("tensorflow") is None, reason="needs TensorFlow"
)

RUNNER = Path(__file__).with_name("run_rule_examples.py")
CODES = [rule.code for rule in catalog.rules() if rule.example is not None]


def run(side: str) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, str(RUNNER), side],
        capture_output=True,
        check=False,
        cwd=RUNNER.parents[1],
        env={**_environment(), "PYTHONPATH": str(RUNNER.parents[1])},
        text=True,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def _environment() -> dict[str, str]:
    import os

    return {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": ""}


@pytest.fixture(scope="module")
def before() -> dict[str, Any]:
    return run("before")


@pytest.fixture(scope="module")
def after() -> dict[str, Any]:
    return run("after")


def close(first: Any, second: Any) -> bool:
    if isinstance(first, list) and isinstance(second, list):
        return len(first) == len(second) and all(map(close, first, second))
    if isinstance(first, (int, float)) and isinstance(second, (int, float)):
        return abs(first - second) <= 1e-5 * max(1.0, abs(first))
    return bool(first == second)


@pytest.mark.parametrize("code", CODES)
def test_example(code: str, before: dict[str, Any], after: dict[str, Any]) -> None:
    example = catalog.rule(code).example
    assert example is not None
    assert isinstance(after[code], list), f"`after` raised {after[code]}"
    if example.before_runs != "eager":
        assert close(after[f"{code} graph"], after[code])
    if example.before_raises:
        assert before[code] == example.before_raises
        return
    assert isinstance(before[code], list), f"`before` raised {before[code]}"
    assert close(before[code], after[code]) == (example.outcome == "equal"), (
        before[code],
        after[code],
    )


@pytest.mark.parametrize(
    "code", [rule.code for rule in catalog.rules() if rule.example and rule.example.in_eager]
)
def test_before_in_eager_execution(code: str, before: dict[str, Any]) -> None:
    example = catalog.rule(code).example
    assert example is not None
    found = before[f"{code} eager"]
    assert ("None" if found == [None] else found) == example.in_eager


def resolve(path: str) -> Any:
    import builtins

    import tensorflow as tf

    root, *attributes = path.split(".")
    found: Any = {"tensorflow": tf, "builtins": builtins}[root]
    for attribute in attributes:
        found = getattr(found, attribute)
    return found


def test_successors_exist_in_tensorflow_2() -> None:
    for path, symbol in catalog.symbols().items():
        if symbol.becomes:
            assert callable(resolve(symbol.becomes)), path
        if symbol.call:
            import tensorflow as tf

            eval(symbol.call.format(tf="tf"), {"tf": tf})


def test_orders_of_parameters_are_those_of_tensorflow() -> None:
    from tensorflow.python.eager import backprop
    from tensorflow.python.ops import gradients_impl
    from tensorflow.python.ops.parallel_for import gradients as parallel_for

    paths = {
        "tensorflow.compat.v1.gradients": (gradients_impl.gradients, "v1"),
        "tensorflow.gradients": (gradients_impl.gradients_v2, "v2"),
        "tensorflow.compat.v1.hessians": (gradients_impl.hessians, "v1"),
        "tensorflow.hessians": (gradients_impl.HessiansV2, "v2"),
        "tensorflow.python.ops.parallel_for.gradients.jacobian": (parallel_for.jacobian, "v1"),
        "tensorflow.python.ops.parallel_for.gradients.batch_jacobian": (
            parallel_for.batch_jacobian,
            "v1",
        ),
        "tensorflow.contrib.eager.gradients_function": (backprop.gradients_function, "v1"),
        "tensorflow.contrib.eager.value_and_gradients_function": (
            backprop.val_and_grad_function,
            "v1",
        ),
        "tensorflow.contrib.eager.implicit_gradients": (backprop.implicit_grad, "v1"),
        "tensorflow.contrib.eager.implicit_value_and_gradients": (
            backprop.implicit_val_and_grad,
            "v1",
        ),
        "tensorflow.contrib.eager.make_vjp": (backprop.make_vjp, "v1"),
    }
    for path, (function, version) in paths.items():
        symbol = catalog.lookup(path)
        assert symbol is not None
        assert list(symbol.parameters[version]) == list(inspect.signature(function).parameters)


def test_methods_are_those_of_the_optimizers() -> None:
    import tensorflow as tf

    for method in catalog.methods().values():
        function = getattr(tf.compat.v1.train.Optimizer, method.name)
        assert ["self", *method.parameters] == list(inspect.signature(function).parameters)
        for receiver in method.receivers:
            assert hasattr(tf.compat.v1.train, receiver.rpartition(".")[2])


def test_keywords_that_a_successor_lacks_are_really_lacking() -> None:
    for path, symbol in catalog.symbols().items():
        if symbol.lacks:
            parameters = inspect.signature(resolve(symbol.becomes)).parameters
            assert not set(symbol.lacks) & set(parameters), path
