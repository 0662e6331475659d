"""TM201–TM206, TM312, TM904: arguments that a tape does not take, references that are no calls."""

from __future__ import annotations

import ast

from tapemigrate.rules.catalog import Symbol
from tapemigrate.rules.finding import Finding, Rewrite, Unit
from tapemigrate.rules.reading import Reading
from tapemigrate.tape.request import Request

_DROPPED = {
    "colocate_gradients_with_ops": (
        "TM201",
        "has no counterpart on a tape; it only ever placed ops, and no value changes",
    ),
    "gate_gradients": ("TM202", "has no counterpart on a tape; {gate}"),
    "aggregation_method": (
        "TM203",
        "has no counterpart on a tape; sums may differ in the last digits",
    ),
    "name": (
        "TM204",
        "has no counterpart on a tape; the gradient ops get other names, so look none up by name",
    ),
}


def dropped(unit: Unit, request: Request, reading: Reading, rewrite: Rewrite) -> list[Finding]:
    """One finding for each argument that the rewrite maps or leaves out."""
    found = [
        Finding(code, unit.filename, unit.lines.span(value), message, "", rewrite)
        for code, value, message in (
            ("TM205", request.output_gradients, "`grad_ys` becomes `output_gradients`"),
            ("TM206", request.stop, "a tape has no `stop_gradients`: it must not record that part"),
        )
        if value is not None
    ]
    for name, value in reading.dropped.items():
        code, sentence = _DROPPED[name]
        gate = (
            "`tf.tuple` keeps the gradients together in a v1 graph"
            if request.gated
            else "in eager execution and `tf.function` gradients are complete before they are used"
        )
        found.append(
            Finding(
                code,
                unit.filename,
                unit.lines.span(value),
                f"`{name}` {sentence.format(gate=gate)}",
                "",
                rewrite,
            )
        )
    return found


def ambiguous(unit: Unit, call: ast.Call, reading: Reading) -> Finding:
    """The fifth positional argument, which TensorFlow 1 and 2 read differently."""
    assert reading.ambiguous is not None
    return Finding(
        "TM312",
        unit.filename,
        unit.lines.span(reading.ambiguous),
        "the fifth positional argument is `colocate_gradients_with_ops` in TensorFlow 1 and "
        "`gate_gradients` in TensorFlow 2",
        "Pass it by keyword.",
    )


def reference(unit: Unit, expr: ast.expr, symbol: Symbol, kind: str | None) -> list[Finding]:
    """A gradient function that is not called where it is named."""
    parent = unit.parents.get(expr)
    if unit.names.alias_definition(expr) is not None and kind != "getattr":
        return []
    how = "is passed on as a value"
    if kind == "uncertain":
        how = "may mean something else here as well"
    if kind == "star":
        how = "comes from a star import"
    if isinstance(parent, ast.Assign) and expr in parent.targets:
        how = "is replaced by another function"
    elif kind == "getattr":
        how = "is reached by a string, or through an import that is a call"
    return [
        Finding(
            "TM904",
            unit.filename,
            unit.lines.span(expr),
            f"`{unit.lines.segment(unit.lines.span(expr))}` {how}, where no rewrite can follow it",
            "Call it where the forward pass runs, or pass a function that opens a "
            "`tf.GradientTape` of its own.",
        )
    ]
