"""Makes an input that shows a difference smaller, as long as it shows one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from tapemigrate.verify import wire

Inputs = Mapping[str, wire.Array]

ATTEMPTS = 40


def shrink(inputs: Inputs, fails: Callable[[Inputs], bool], attempts: int = ATTEMPTS) -> Inputs:
    """The smallest inputs found for which ``fails`` still holds, by trying ``attempts`` of them."""
    left = attempts
    progress = True
    while progress:
        progress = False
        for smaller in _candidates(inputs):
            if not left:
                return inputs
            left -= 1
            if fails(smaller):
                inputs = smaller
                progress = True
                break
    return inputs


def _candidates(inputs: Inputs) -> Iterator[Inputs]:
    """Smaller inputs: fewer elements first, then simpler ones."""
    shapes = {name: array.values.shape for name, array in inputs.items()}
    # A dimension that several inputs share has to stay the same for all of them.
    lengths = {length for shape in shapes.values() for length in shape if length > 1}
    for length in sorted(lengths, reverse=True):
        for shorter in sorted({1, length // 2}):
            yield {name: _cut(array, length, shorter) for name, array in inputs.items()}
    for simplify in (np.ones_like, np.round, _one_decimal):
        for name, array in inputs.items():
            if array.values.dtype.kind not in "fc":
                continue
            simple = simplify(array.values).astype(array.values.dtype)
            if _size(simple) < _size(array.values):
                yield {**inputs, name: wire.Array(array.dtype, simple)}


def _cut(array: wire.Array, length: int, shorter: int) -> wire.Array:
    slices = tuple(slice(shorter if each == length else None) for each in array.values.shape)
    return wire.Array(array.dtype, array.values[slices])


def _one_decimal(values: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    rounded: np.ndarray[Any, Any] = np.round(values, 1)
    return rounded


def _size(values: np.ndarray[Any, Any]) -> int:
    """How much there is to read in an array."""
    return sum(len(f"{value:.9g}") for value in values.ravel().view(values.real.dtype))
