"""Makes TF1's names work on a TensorFlow 2 that no longer has them, so that a TF1 program runs
there as it stands.

Both sides of a comparison run with it: a rewrite changes gradient calls, not ``tf.placeholder``.
"""

from __future__ import annotations

import importlib
import sys
import types
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

SUBMODULES = (
    "data",
    "distribute",
    "errors",
    "image",
    "io",
    "linalg",
    "math",
    "nn",
    "random",
    "saved_model",
    "sparse",
    "strings",
    "summary",
    "test",
    "train",
)


def install(tf: Any) -> None:
    """Adds to ``tf``, the TensorFlow module, the names that it lacks.

    Real TF 1.x is left as it is.
    """
    if tf.__version__.startswith("1."):
        # TF 1.15 fails to import tensorflow.contrib.eager under an alias until an attribute of it
        # has been read.
        tf.contrib.eager.Variable  # noqa: B018
        return
    _add_missing(tf, tf.compat.v1)
    for name in SUBMODULES:
        _add_missing(getattr(tf, name), getattr(tf.compat.v1, name))
    _install_contrib(tf)


def _add_missing(module: Any, old: Any) -> None:
    for name in dir(old):
        if name.startswith("_") or hasattr(module, name):
            continue
        try:
            setattr(module, name, getattr(old, name))
        except (AttributeError, ImportError):
            # A lazy module whose package is not installed (tf_keras behind tf.layers): it stays
            # missing.
            continue


def _install_contrib(tf: Any) -> None:
    contrib = _module("tensorflow.contrib")
    eager = _module("tensorflow.contrib.eager")
    python = _module("tensorflow.contrib.eager.python")
    tfe = _module("tensorflow.contrib.eager.python.tfe")
    metrics = _module("tensorflow.contrib.eager.metrics")
    for name, value in _eager_names(tf).items():
        setattr(eager, name, value)
        setattr(tfe, name, value)
    metrics.Mean = tf.keras.metrics.Mean
    metrics.Accuracy = tf.keras.metrics.Accuracy
    eager.metrics = tfe.metrics = metrics
    contrib.eager = eager
    eager.python = python
    python.tfe = tfe
    # ``import tensorflow.compat.v1`` loads a module of its own beside ``tf.compat.v1``.
    beside: Any = importlib.import_module("tensorflow.compat.v1")
    tf.contrib = tf.compat.v1.contrib = beside.contrib = contrib


def _module(name: str) -> Any:
    module = types.ModuleType(name)
    module.__path__ = []
    sys.modules[name] = module
    return module


def _eager_names(tf: Any) -> dict[str, Any]:
    """What ``tensorflow/contrib/eager/python/tfe.py`` of TF 1.15 exported, as far as TF2 still has
    it.
    """
    from tensorflow.python.eager import backprop
    from tensorflow.python.ops import variable_scope

    v1 = tf.compat.v1
    return {
        "gradients_function": backprop.gradients_function,
        "value_and_gradients_function": backprop.val_and_grad_function,
        "implicit_gradients": backprop.implicit_grad,
        "implicit_value_and_gradients": backprop.implicit_val_and_grad,
        "make_vjp": backprop.make_vjp,
        "GradientTape": tf.GradientTape,
        "Variable": tf.Variable,
        "TensorSpec": tf.TensorSpec,
        "EagerVariableStore": variable_scope.EagerVariableStore,
        "Checkpoint": tf.train.Checkpoint,
        "Checkpointable": tf.Module,
        "CheckpointableSaver": tf.train.Checkpoint,
        "Saver": v1.train.Saver,
        "Iterator": iter,
        "custom_gradient": tf.custom_gradient,
        "defun": _defun(tf),
        "function": tf.function,
        "make_template": v1.make_template,
        "py_func": tf.py_function,
        "enable_eager_execution": v1.enable_eager_execution,
        "executing_eagerly": tf.executing_eagerly,
        "in_eager_mode": tf.executing_eagerly,
        "num_gpus": lambda: len(tf.config.list_logical_devices("GPU")),
        "list_devices": lambda: [device.name for device in tf.config.list_logical_devices()],
        "DEVICE_PLACEMENT_EXPLICIT": 0,
        "DEVICE_PLACEMENT_WARN": 1,
        "DEVICE_PLACEMENT_SILENT": 2,
        "SYNC": 0,
        "ASYNC": 1,
    }


def _defun(tf: Any) -> Callable[..., Any]:
    def defun(
        func: Any = None, input_signature: Any = None, autograph: bool = False, **_: Any
    ) -> Any:
        return tf.function(func, input_signature=input_signature, autograph=autograph)

    return defun
