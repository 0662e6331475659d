"""What a run leaves behind, and its form as JSON: what worker processes, certificates and golden
files hold.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

# Of central differences in float64, whose own error is some 1e-9.
FINITE_TOLERANCE = 1e-5


@dataclass(frozen=True, eq=False)
class Array:
    """The value of a tensor.

    ``indices`` are the rows that an ``IndexedSlices`` holds, None for a dense tensor.
    """

    dtype: str
    values: np.ndarray[Any, Any]
    indices: np.ndarray[Any, Any] | None = None


@dataclass(frozen=True)
class Unseen:
    """A gradient that exists and could not be looked at, and why."""

    reason: str


@dataclass(frozen=True)
class Opaque:
    """A result that is not data: only its type is compared."""

    type: str


@dataclass(frozen=True, eq=False)
class Call:
    """One run of a gradient API: where the program called it and what came back, flattened."""

    api: str
    filename: str
    row: int
    gradients: tuple[Any, ...]
    """Each an ``Array``, an ``Unseen``, or None."""


@dataclass(frozen=True)
class Opinion:
    """What finite differences say of one source of a call: both derivatives in one direction.

    ``reason`` tells why there is no saying; None where there is.
    """

    filename: str
    row: int
    analytic: float = 0.0
    numeric: float = 0.0
    reason: str | None = None

    @property
    def agrees(self) -> bool:
        """Whether the gradient is the derivative. Not to be asked where there is a ``reason``."""
        scale = max(abs(self.analytic), abs(self.numeric), 1e-3)
        return abs(self.analytic - self.numeric) <= FINITE_TOLERANCE * scale


@dataclass(frozen=True, eq=False)
class Observation:
    """What one run of a program returned, or how it failed.

    ``outputs`` is the structure the program returned: lists, tuples, dicts, numbers, strings, None,
    with ``Array`` in place of tensors. ``error`` is the exception's text; ``died`` says that the
    whole process ended.
    """

    outputs: Any = None
    calls: tuple[Call, ...] = ()
    error: str | None = None
    died: bool = False
    opinions: tuple[Opinion, ...] = ()
    """Of finite differences, if they were asked for."""


def array(value: Any, indices: Any = None) -> Array:
    """The ``Array`` of a numpy value.

    Strings are decoded, bfloat16, which numpy alone does not know, is widened.
    """
    data = np.asarray(value)
    name = data.dtype.name
    if data.dtype.kind in "OSU":
        name = "string"
        data = np.array([_text(item) for item in data.ravel()], object).reshape(data.shape)
    elif name == "bfloat16":
        data = data.astype(np.float32)
    return Array(name, data, None if indices is None else np.asarray(indices))


def dump(value: Any) -> Any:
    """``value``, a structure as in ``Observation.outputs``, as JSON data."""
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, Array):
        data: dict[str, Any] = {
            "dtype": value.dtype,
            "shape": list(value.values.shape),
            "values": _numbers(value.values),
        }
        if value.indices is not None:
            data["indices"] = value.indices.tolist()
        return data
    if isinstance(value, Unseen):
        return {"unseen": value.reason}
    if isinstance(value, Opaque):
        return {"opaque": value.type}
    if isinstance(value, list):
        return {"list": [dump(item) for item in value]}
    if isinstance(value, tuple):
        return {"tuple": [dump(item) for item in value]}
    if isinstance(value, dict):
        return {"dict": [[dump(key), dump(item)] for key, item in value.items()]}
    raise TypeError("no JSON form for " + type(value).__name__)


def parse(data: Any) -> Any:
    """The inverse of ``dump``."""
    if not isinstance(data, dict):
        return data
    if "dtype" in data:
        indices = data.get("indices")
        return Array(
            data["dtype"],
            _from_numbers(data["values"], data["dtype"], data["shape"]),
            None if indices is None else np.asarray(indices, dtype=np.int64),
        )
    if "unseen" in data:
        return Unseen(data["unseen"])
    if "opaque" in data:
        return Opaque(data["opaque"])
    if "list" in data:
        return [parse(item) for item in data["list"]]
    if "tuple" in data:
        return tuple(parse(item) for item in data["tuple"])
    return {parse(key): parse(item) for key, item in data["dict"]}


def dump_observation(observation: Observation) -> dict[str, Any]:
    """``observation`` as JSON data."""
    return {
        "outputs": dump(observation.outputs),
        "calls": [
            {
                "api": call.api,
                "filename": call.filename,
                "row": call.row,
                "gradients": [dump(gradient) for gradient in call.gradients],
            }
            for call in observation.calls
        ],
        "error": observation.error,
        "died": observation.died,
        "opinions": [vars(opinion) for opinion in observation.opinions],
    }


def parse_observation(data: dict[str, Any]) -> Observation:
    """The inverse of ``dump_observation``."""
    return Observation(
        outputs=parse(data["outputs"]),
        calls=tuple(
            Call(
                call["api"],
                call["filename"],
                call["row"],
                tuple(parse(gradient) for gradient in call["gradients"]),
            )
            for call in data["calls"]
        ),
        error=data["error"],
        died=data["died"],
        opinions=tuple(Opinion(**opinion) for opinion in data.get("opinions", ())),
    )


def _text(item: Any) -> str:
    return item.decode("utf-8", "backslashreplace") if isinstance(item, bytes) else str(item)


def _numbers(values: np.ndarray[Any, Any]) -> list[Any]:
    flat = values.ravel()
    if flat.dtype.kind == "c":
        return [[number.real, number.imag] for number in flat.tolist()]
    numbers: list[Any] = flat.tolist()
    return numbers


def _from_numbers(values: list[Any], dtype: str, shape: list[int]) -> np.ndarray[Any, Any]:
    if dtype == "string":
        return np.array(values, dtype=object).reshape(shape)
    if dtype.startswith("complex"):
        values = [complex(real, imaginary) for real, imaginary in values]
    return np.array(values, dtype="float32" if dtype == "bfloat16" else dtype).reshape(shape)
