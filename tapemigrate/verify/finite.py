"""The third opinion: the old side's gradients against finite differences, in a v1 graph.

Any tensor of a graph can be fed, so a source is moved where it stands, inputs and intermediate
tensors alike, and a tensor that ``stop_gradients`` names is fed the value that it has.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tapemigrate.verify import wire

if TYPE_CHECKING:
    from tapemigrate.verify.probes import Recorded

STEP = 1e-6
# Their gradient is not their derivative: by intention, or because it is none.
NOT_DERIVATIVES = frozenset(
    {"StopGradient", "PreventGradient", "IdentityN", "PyFunc", "EagerPyFunc", "PyFuncStateless"}
    | {"CheckNumericsV2", "ArgMax", "ArgMin", "Round", "Floor", "Ceil", "Sign", "Cast"}
)


def opinions(
    tf: Any, session: Any, feeds: dict[Any, Any], calls: list[Recorded]
) -> list[wire.Opinion]:
    """An opinion for every source of every ``tf.gradients`` among ``calls``."""
    found = []
    for call in calls:
        if call.request is None:
            continue
        sources = tf.nest.flatten(call.request["xs"])
        for source, result in zip(sources, call.results):  # noqa: B905 - Python 3.7
            try:
                told = _opinion(tf, session, feeds, call.request, source, result)
            except (tf.errors.OpError, TypeError, ValueError) as error:
                told = type(error).__name__
            if isinstance(told, str):
                found.append(wire.Opinion(call.filename, call.row, reason=told))
            else:
                found.append(wire.Opinion(call.filename, call.row, *told))
    return found


def _is_no_derivative(op: Any) -> bool:
    return (
        op.type in NOT_DERIVATIVES
        # gradient_override_map, and Defun with a gradient of its own.
        or "_gradient_op_type" in op.node_def.attr
        or op.graph._is_function(op.type)
    )


def _opinion(
    tf: Any, session: Any, feeds: dict[Any, Any], request: dict[str, Any], source: Any, result: Any
) -> str | tuple[float, float]:
    """The derivative in one direction, as it was given and as it is; or why there is none."""
    if not isinstance(source, tf.Tensor) or source.dtype != tf.float64:
        return "the source is not a tensor of float64"
    targets = [y for y in tf.nest.flatten(request["ys"]) if y.dtype == tf.float64]
    if len(targets) < len(tf.nest.flatten(request["ys"])):
        return "a target is not of float64"
    if any(_is_no_derivative(op) for op in source.graph.get_operations()):
        return "the program has ops whose gradient is not their derivative"
    # TensorFlow stops at the whole op that made such a tensor.
    stopped = [
        output
        for tensor in tf.nest.flatten(request.get("stop_gradients") or [])
        if isinstance(tensor, tf.Tensor)
        for output in tensor.op.outputs
        if output is not source
    ]
    seeds = request.get("grad_ys")
    seeds = [None] * len(targets) if seeds is None else tf.nest.flatten(seeds)
    given = [seed for seed in seeds if isinstance(seed, tf.Tensor)]
    if any(seed is not None and not isinstance(seed, tf.Tensor) for seed in seeds):
        return "a seed is not a tensor"
    if len(seeds) != len(targets):
        return "a seed is a list of tensors"
    gradient = [] if result is None else [tf.convert_to_tensor(result)]
    values = session.run([[source], targets, stopped, given, gradient], feeds)
    (at,), bases, held, given_values, gradients = values
    weights = iter(given_values)
    factors = [1.0 if seed is None else next(weights) for seed in seeds]
    fixed = dict(feeds)
    for tensor, value in zip(stopped, held):  # noqa: B905 - Python 3.7
        fixed[tensor] = value

    def total(moved: Any) -> float:
        fixed[source] = moved
        outputs = session.run(targets, fixed)
        return float(sum(np.sum(f * y) for f, y in zip(factors, outputs)))  # noqa: B905

    if total(at) != float(sum(np.sum(f * y) for f, y in zip(factors, bases))):  # noqa: B905
        return "the target is not the same on two runs"
    direction = np.random.RandomState(len(bases)).uniform(0.5, 1.5, at.shape)
    numeric = (total(at + STEP * direction) - total(at - STEP * direction)) / (2 * STEP)
    analytic = float(np.sum(gradients[0] * direction)) if gradients else 0.0
    return analytic, numeric
