"""Records what every gradient call of a program returned.

Only the outermost call counts: ``tf.hessians`` calls ``tf.gradients`` itself, and a comparison is
about what the program asked for.
"""

from __future__ import annotations

import contextlib
import functools
import gc
import inspect
import os
import sys
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


#: Methods of optimizers, which ask for gradients that are no call of the program's.
OPTIMIZING = frozenset({"minimize", "compute_gradients"})


@dataclass
class Recorded:
    """A gradient call as it happened: ``results`` are TensorFlow's own objects, flattened, None
    kept.
    """

    api: str
    filename: str
    row: int
    results: list[Any]
    request: dict[str, Any] | None = None
    """The arguments of ``tf.gradients`` by name; None for other APIs."""


class Recorder:
    """Collects the calls made from files under ``root``."""

    def __init__(self, root: str) -> None:
        self.root = os.path.realpath(root) + os.sep
        self.calls: list[Recorded] = []

    def add(self, call: Recorded) -> None:
        """Notes a call that has just returned."""
        self.calls.append(call)

    def site(self) -> tuple[str, int]:
        """Where the program is: its innermost frame, or the one that AutoGraph made a copy of."""
        frame: Any = sys._getframe()
        copies: list[tuple[str, int]] = []
        while frame is not None:
            name, row = frame.f_code.co_filename, frame.f_lineno
            if "__autograph_generated_file" in name:
                # A branch or a loop is a function of its own in the copy.
                copies.append((name, row))
                found = [_original(frame.f_code, *copy) for copy in copies]
                name, row = next((place for place in found if place), (name, row))
            path = os.path.realpath(name)
            if path.startswith(self.root):
                return os.path.relpath(path, self.root).replace(os.sep, "/"), row
            frame = frame.f_back
        return "", 0


def _original(code: Any, filename: str, row: int) -> tuple[str, int] | None:
    """The place that AutoGraph converted into ``row`` of its ``filename``.

    Only the converted function, of which ``code`` is the body, knows.
    """
    for function in gc.get_referrers(code):
        for place, origin in getattr(function, "ag_source_map", {}).items():
            if (place.filename, place.lineno) == (filename, row):
                return origin.loc.filename, origin.loc.lineno
    return None


_active: Recorder | None = None
_depth = threading.local()


def start(recorder: Recorder) -> None:
    """Sends what the probes see to ``recorder`` from now on."""
    global _active
    _active = recorder


@contextlib.contextmanager
def recording(recorder: Recorder) -> Iterator[None]:
    """Sends what the probes see to ``recorder`` meanwhile."""
    global _active
    before, _active = _active, recorder
    try:
        yield
    finally:
        _active = before


def install(tf: Any) -> None:
    """Puts probes on every gradient API, under every name by which a loaded module knows it."""
    from tensorflow.python.eager import backprop
    from tensorflow.python.ops import gradients_impl
    from tensorflow.python.ops.parallel_for import gradients as parallel_gradients

    flatten = functools.partial(_flatten, tf)
    probes = [
        (gradients_impl, "gradients", functools.partial(_probe, flatten)),
        (gradients_impl, "gradients_v2", functools.partial(_probe, flatten)),
        (gradients_impl, "hessians", functools.partial(_probe, flatten)),
        (gradients_impl, "HessiansV2", functools.partial(_probe, flatten)),
        (parallel_gradients, "jacobian", functools.partial(_probe, flatten)),
        (parallel_gradients, "batch_jacobian", functools.partial(_probe, flatten)),
        (backprop, "gradients_function", functools.partial(_maker_probe, flatten)),
        (backprop, "val_and_grad_function", functools.partial(_maker_probe, flatten, part=1)),
        (backprop, "implicit_grad", functools.partial(_maker_probe, flatten, pairs=True)),
        (
            backprop,
            "implicit_val_and_grad",
            functools.partial(_maker_probe, flatten, part=1, pairs=True),
        ),
        (backprop, "make_vjp", functools.partial(_vjp_probe, flatten)),
    ]
    replacements = {}
    for module, name, probe in probes:
        original = getattr(module, name, None)
        if original is not None:
            replacements[id(original)] = (original, probe(original))
    _replace_everywhere(replacements)
    for method in ("gradient", "jacobian", "batch_jacobian"):
        original = getattr(backprop.GradientTape, method)
        setattr(backprop.GradientTape, method, _probe(flatten, original, "tape." + method))


def _replace_everywhere(replacements: dict[int, Any]) -> None:
    for module_name, module in list(sys.modules.items()):
        if not module_name.startswith("tensorflow") or module is None:
            continue
        for name, value in list(vars(module).items()):
            found = replacements.get(id(value))
            if found is not None and found[0] is value:
                setattr(module, name, found[1])


def _flatten(tf: Any, results: Any) -> list[Any]:
    flat: list[Any] = tf.nest.flatten(results)
    return flat


@contextlib.contextmanager
def _nested() -> Iterator[bool]:
    """Gives whether this is the outermost gradient call."""
    depth = getattr(_depth, "value", 0)
    _depth.value = depth + 1
    try:
        yield depth == 0
    finally:
        _depth.value = depth


def _probe(
    flatten: Callable[[Any], list[Any]],
    original: Any,
    api: str | None = None,
    site: tuple[str, int] | None = None,
) -> Callable[..., Any]:
    named = getattr(original, "__name__", "") in ("gradients", "gradients_v2")
    signature = inspect.signature(original) if named else None

    @functools.wraps(original)
    def probed(*args: Any, **kwargs: Any) -> Any:
        with _nested() as outermost:
            results = original(*args, **kwargs)
        if outermost and _active is not None:
            place = site or _active.site()
            request = None if signature is None else signature.bind(*args, **kwargs).arguments
            asked = api or _asked_by() or original.__name__
            call = Recorded(asked, *place, flatten(results), request)
            _active.add(call)
        return results

    return probed


def _asked_by() -> str:
    """The method of an optimizer's that the program calls, where that asks for the gradient."""
    frame: Any = sys._getframe()
    while frame is not None and frame.f_globals.get("__name__") == __name__:
        frame = frame.f_back
    name = ""
    while frame is not None and str(frame.f_globals.get("__name__")).startswith("tensorflow."):
        name = frame.f_code.co_name
        frame = frame.f_back
    return name if name in OPTIMIZING else ""


def _maker_probe(
    flatten: Callable[[Any], list[Any]], original: Any, part: int | None = None, pairs: bool = False
) -> Callable[..., Any]:
    """For functions that return a function: ``part`` is where in its result the gradients are.

    What is rewritten is the call that makes the function, so that is the site.
    """

    def gradients(result: Any) -> list[Any]:
        chosen = result if part is None else result[part]
        return flatten([pair[0] for pair in chosen] if pairs else chosen)

    @functools.wraps(original)
    def made(*args: Any, **kwargs: Any) -> Any:
        site = None if _active is None else _active.site()
        return _probe(gradients, original(*args, **kwargs), original.__name__, site)

    return made


def _vjp_probe(flatten: Callable[[Any], list[Any]], original: Any) -> Callable[..., Any]:
    @functools.wraps(original)
    def made(*args: Any, **kwargs: Any) -> Any:
        site = None if _active is None else _active.site()
        forward = original(*args, **kwargs)

        @functools.wraps(forward)
        def probed(*inputs: Any, **named: Any) -> Any:
            value, vjp = forward(*inputs, **named)
            return value, _probe(flatten, vjp, "make_vjp", site)

        return probed

    return made
