"""The same random numbers and the same initial values on both sides.

The seeds that TensorFlow derives depend on how many ops there are, on the kind of execution, and on
the version. Here those of an op depend on how many random ops were made before it, and those of a
variable's initialiser on the variable's name: a rewrite changes neither.
"""

from __future__ import annotations

import collections
import random
import zlib
from typing import Any

import numpy as np

SEED = 7
_LARGEST = 2**31 - 1

# How often an op without a seed of its own (None), or with this one, has been made.
_made: collections.Counter[Any] = collections.Counter()
_variables: collections.Counter[str] = collections.Counter()
# The initialiser that runs, as numbers to begin from; the innermost last.
_initialisers: list[int] = []


def install(tf: Any) -> None:
    """Makes ``tf``, the TensorFlow module, draw its seeds from here."""
    from tensorflow.python.framework import random_seed
    from tensorflow.python.ops import resource_variable_ops, variables

    original = random_seed.get_seed

    def get_seed(op_seed: Any) -> Any:
        if op_seed is not None and not isinstance(op_seed, (int, np.integer)):
            return original(op_seed)
        graph_seed = original(0 if op_seed is None else op_seed)[0]
        if graph_seed in (None, random_seed.DEFAULT_GRAPH_SEED):
            graph_seed = SEED
        return graph_seed, _op_seed(op_seed)

    random_seed.get_seed = get_seed
    classes = [resource_variable_ops.ResourceVariable]
    if hasattr(variables, "RefVariable"):
        classes.append(variables.RefVariable)
    else:
        from tensorflow.python.ops import ref_variable

        classes.append(ref_variable.RefVariable)
    for each in classes:
        each._init_from_args = _naming(each._init_from_args)
    for random_ops in (tf.random, tf.compat.v2.random) if hasattr(tf.compat, "v2") else ():
        for name in ("uniform", "normal", "truncated_normal"):
            _seed_statelessly(tf, random_ops, name)
    lifted = _function_variable()
    lifted.__init__ = _naming(lifted.__init__)


def restart() -> None:
    """Begins anew, as for the first program of a process."""
    _made.clear()
    _variables.clear()
    random.seed(SEED)
    np.random.seed(SEED)


class Point:
    """A point in a program to which its random numbers, but not its variables, can go back."""

    def __init__(self) -> None:
        self._made = _made.copy()
        self._random = random.getstate()
        self._numpy = np.random.get_state()

    def back(self) -> None:
        """Goes back."""
        _made.clear()
        _made.update(self._made)
        random.setstate(self._random)
        np.random.set_state(self._numpy)


def _op_seed(given: Any) -> int:
    if _initialisers:
        _initialisers[-1] = zlib.crc32(repr((_initialisers[-1], given)).encode()) % _LARGEST
        return _initialisers[-1]
    _made[given] += 1
    if given is None:
        return _made[given]
    # Eager execution goes on where an op of the same seed has stopped; a graph begins anew.
    return (int(given) + (_made[given] - 1) * 7919) % _LARGEST


class _Initialiser:
    """A variable's initialiser, which draws its seeds from the variable's name."""

    def __init__(self, name: str, function: Any) -> None:
        self._key = repr((name, _variables[name])).encode()
        self._function = function

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        _initialisers.append(zlib.crc32(self._key))
        try:
            return self._function(*args, **kwargs)
        finally:
            _initialisers.pop()


def _naming(original: Any) -> Any:
    def made(self: Any, initial_value: Any = None, *args: Any, **kwargs: Any) -> Any:
        # A value that a checkpoint has put off is told by its class: no other may take its place.
        if callable(initial_value) and type(initial_value).__name__ not in (
            "_Initialiser",
            "CheckpointInitialValueCallable",
        ):
            name = str(kwargs.get("name"))
            _variables[name] += 1
            initial_value = _Initialiser(name, initial_value)
        return original(self, initial_value, *args, **kwargs)

    return made


def _seed_statelessly(tf: Any, random_ops: Any, name: str) -> None:
    """Has an initialiser of newer layers, which brings its own seed, draw as those of TF 1.x do."""
    stateless = getattr(random_ops, f"stateless_{name}", None)
    if stateless is None:
        return

    def drawn(shape: Any, seed: Any, *args: Any, **kwargs: Any) -> Any:
        if not _initialisers:
            return stateless(shape, seed, *args, **kwargs)
        kwargs.pop("alg", None)
        return getattr(tf.compat.v1.random, name)(shape, *args, **kwargs)

    setattr(random_ops, f"stateless_{name}", drawn)


def _function_variable() -> Any:
    """The class of variables that are made inside a ``tf.function``."""
    from importlib import import_module

    for name in ("polymorphic_function.polymorphic_function", "def_function"):
        try:
            module = import_module("tensorflow.python.eager." + name)
        except ImportError:
            continue
        if hasattr(module, "UnliftedInitializerVariable"):
            return module.UnliftedInitializerVariable
    raise ImportError("TensorFlow has no UnliftedInitializerVariable")
