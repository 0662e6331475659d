"""What a file of cases is written with: functions whose names begin with ``case_``.

A case's body calls the code to verify and returns what it computes; the defaults of its parameters
are its inputs, arrays or ``draw``::

    import numpy as np
    from tapemigrate.verify.case import draw


    def case_residual(x=draw(8, 1), t=draw(8, 1, low=0.0)):
        from burgers import net_f

        return net_f(x, t)


    def case_hessian_vector(v=np.ones(3, "float32")):
        ...
"""

from __future__ import annotations

import inspect
import zlib
from typing import Any

import numpy as np

PREFIX = "case_"


class draw:
    """An input of this shape, drawn evenly from ``low`` to ``high``; integers end below it."""

    def __init__(
        self, *shape: int, dtype: str = "float32", low: float = -1.0, high: float = 1.0
    ) -> None:
        self.shape = shape
        self.dtype = np.dtype(dtype)
        self.low = low
        self.high = high

    def array(self, random: np.random.RandomState) -> Any:
        """One drawing."""
        if self.dtype.kind in "iu":
            return random.randint(int(self.low), int(self.high), self.shape).astype(self.dtype)
        if self.dtype.kind == "b":
            return random.rand(*self.shape) < 0.5
        values = random.uniform(self.low, self.high, self.shape)
        if self.dtype.kind == "c":
            values = values + 1j * random.uniform(self.low, self.high, self.shape)
        return np.asarray(values, self.dtype)


def names(module: Any) -> list[str]:
    """The cases in ``module``, in their order."""
    return [
        name for name, value in vars(module).items() if name.startswith(PREFIX) and callable(value)
    ]


def inputs(function: Any, seed: int) -> dict[str, Any]:
    """The inputs of a case, drawn with ``seed``.

    Raises:
        TypeError: when a parameter has no default.
    """
    found = {}
    for name, parameter in inspect.signature(function).parameters.items():
        default = parameter.default
        if default is parameter.empty:
            raise TypeError(f"{function.__name__}: {name} has no default to take its input from")
        if isinstance(default, draw):
            # By the name as well: inputs of the same shape must not be equal.
            default = default.array(np.random.RandomState([seed, zlib.crc32(name.encode())]))
        found[name] = np.asarray(default)
    return found
