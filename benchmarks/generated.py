"""Sources of a chosen size, each kind hard for one part of the tool."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

_IMPORT = "import tensorflow as tf\n\n\n"


@dataclass(frozen=True, slots=True)
class Workload:
    """Something that comes in sizes: ``make`` writes it into a folder."""

    name: str
    sizes: tuple[int, ...]
    make: Callable[[Path, int], None]


def files(folder: Path, n: int) -> None:
    """``n`` files of 30 lines with a gradient call each; no name stands in two of them."""
    for k in range(n):
        body = [
            f"def residual_{k}(x):",
            "    u = tf.tanh(x)",
            "    u_x = tf.gradients(u, x)[0]",
            "    return u * u_x",
            "",
        ]
        body += [f"SETTING_{k}_{row} = {row}" for row in range(22)]
        (folder / f"module_{k}.py").write_text(_IMPORT + "\n".join(body) + "\n", encoding="utf-8")


def statements(folder: Path, n: int) -> None:
    """One function of ``n`` statements, every one of them between source and target."""
    body = ["def residual(x):", "    h_0 = x"]
    body += [f"    h_{k} = tf.tanh(h_{k - 1}) * {k}.0" for k in range(1, n - 1)]
    body += [f"    return tf.gradients(h_{n - 2}, x)[0]"]
    _write(folder, body)


def calls(folder: Path, n: int) -> None:
    """One function with ``n`` gradient calls, each with a target of its own."""
    body = ["def residual(x):", "    made = []"]
    for k in range(n):
        body += [f"    y_{k} = tf.sin({k}.0 * x)", f"    made.append(tf.gradients(y_{k}, x)[0])"]
    _write(folder, [*body, "    return made"])


def calls_on_one_target(folder: Path, n: int) -> None:
    """One function with ``n`` gradient calls on the same target."""
    body = ["def residual(x):", "    made = []", "    y = tf.sin(x)"]
    body += [f"    made.append(tf.gradients(y, x)[0] * {k}.0)" for k in range(n)]
    _write(folder, [*body, "    return made"])


def lines(folder: Path, n: int) -> None:
    """A file of ``n`` lines; every ten are a function with a gradient call."""
    body = []
    for k in range(n // 10):
        body += [
            f"def residual_{k}(x):",
            "    if x is None:",
            "        return None",
            "    h = tf.tanh(x)",
            "    y = tf.square(h)",
            f"    y = y + {k}.0",
            "    y_x = tf.gradients(y, x)[0]",
            "    return y_x",
            "",
            "",
        ]
    _write(folder, body)


def lines_without_calls(folder: Path, n: int) -> None:
    """A file of ``n`` lines of other code, and one gradient call."""
    body = ["def residual(x):", "    return tf.gradients(tf.square(x), x)[0]", ""]
    for k in range(n // 10):
        body += [f"def other_{k}(a, b):", *[f"    a = a * b + {row}" for row in range(7)]]
        body += ["    return a", ""]
    _write(folder, body)


def keras_names(folder: Path, n: int) -> None:
    """A file of ``n`` lines in which every second ends in a name that Keras has too."""
    body = ["def residual(x):", "    return tf.gradients(tf.square(x), x)[0]", ""]
    for k in range(n // 10):
        body += [f"def other_{k}(layer):"]
        body += [
            f"    a = tf.identity(layer.output)\n    b = tf.add(a, {row}.0)" for row in range(4)
        ]
        body += ["    return b"]
    _write(folder, body)


def _write(folder: Path, body: list[str]) -> None:
    (folder / "module.py").write_text(_IMPORT + "\n".join(body) + "\n", encoding="utf-8")


WORKLOADS = (
    Workload("files, a call in each", (100, 1000), files),
    Workload("statements in one function", (500, 1500, 5000), statements),
    Workload("calls in one function", (100, 300, 1000), calls),
    Workload("calls on one target", (100, 300, 1000), calls_on_one_target),
    Workload("lines, a call in every ten", (10_000, 30_000, 100_000), lines),
    Workload("lines, one call in all", (10_000, 30_000, 100_000), lines_without_calls),
    Workload("lines, names like Keras's", (1000, 3000, 10_000), keras_names),
)
