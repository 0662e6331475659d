"""The gradient calls of one file, by the scope that they stand in."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import TypeGuard

from tapemigrate.flow.functions import Scope
from tapemigrate.rules import arguments, catalog
from tapemigrate.rules.finding import Finding, Unit
from tapemigrate.rules.project import Project
from tapemigrate.rules.reading import Reading, read
from tapemigrate.tape.request import Refusal, Request

APIS = frozenset({"gradients", "hessians", "jacobian", "batch_jacobian"})
# TensorFlow's own, private and without a place in TensorFlow 2's API.
_PRODUCT = "hessian_vector_product"
_PRODUCT_REFUSAL = Refusal(
    "it is private to TensorFlow, and made of two calls of `tf.gradients`",
    "Record the forward pass on two tapes, the gradient on the outer one: `with tf.GradientTape() "
    "as outer:`, in it `with tf.GradientTape() as inner: y = f(x)` and `grads = "
    "inner.gradient(y, xs)`; then ask `outer.gradient(grads, xs, output_gradients=v)`.",
)
_READ_RECIPE = "Write its arguments out by keyword; then it can be read, and rewritten."


@dataclass(slots=True)
class Calls:
    """Those that can be read, with what each one's arguments lose.

    ``others`` are findings on what cannot be read as a call.
    """

    readings: dict[Request, Reading] = field(default_factory=dict)
    rules: dict[Request, str] = field(default_factory=dict)
    by_scope: dict[Scope, list[Request]] = field(default_factory=dict)
    others: list[Finding] = field(default_factory=list)


def collect(project: Project, unit: Unit) -> Calls:
    """Every call of a gradient function in ``unit``."""
    calls = Calls()
    for expr, path in unit.names.references():
        symbol = catalog.lookup(path, project.aliases)
        if symbol is None or symbol.api not in (*APIS, _PRODUCT):
            continue
        parent = unit.parents.get(expr)
        kind = unit.names.reference_kind(expr)
        bare = isinstance(expr, ast.Name) and kind == "star"
        if kind in ("getattr", "uncertain") or bare or not _is_called(parent, expr):
            calls.others += arguments.reference(unit, expr, symbol, kind)
            continue
        if symbol.api == _PRODUCT:
            calls.others.append(refused(unit, parent, symbol.rule, _PRODUCT_REFUSAL))
            continue
        reading = read(unit, parent, symbol.api, symbol.version)
        if reading.ambiguous is not None:
            calls.others.append(arguments.ambiguous(unit, parent, reading))
        if reading.request is None:
            rule = "TM904" if reading.starred else symbol.rule
            calls.others.append(refused(unit, parent, rule, Refusal(reading.problem, _READ_RECIPE)))
            continue
        calls.readings[reading.request] = reading
        calls.rules[reading.request] = symbol.rule
        scope = project.scope_of(unit, parent)
        calls.by_scope.setdefault(scope, []).append(reading.request)
    return calls


def _is_called(parent: ast.AST | None, expr: ast.expr) -> TypeGuard[ast.Call]:
    return isinstance(parent, ast.Call) and parent.func is expr


def _name_of(unit: Unit, call: ast.Call) -> str:
    return unit.lines.segment(unit.lines.span(call.func))


def refused(unit: Unit, call: ast.Call, rule: str, refusal: Refusal) -> Finding:
    """What is said of a call that stays as it is."""
    return Finding(
        rule,
        unit.filename,
        unit.lines.span(call),
        f"{trouble(unit, call, rule)}, and is left as it is: {refusal.reason}",
        refusal.recipe,
    )


def trouble(unit: Unit, call: ast.Call, rule: str) -> str:
    """What is wrong with the call under TensorFlow 2, as measured on 2.21."""
    what = {"TM103": "silently gives None", "TM104": "fails"}.get(rule, "raises")
    return f"`{_name_of(unit, call)}` {what} in eager execution"
