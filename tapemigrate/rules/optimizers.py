"""TM121, TM122: a TensorFlow 1 optimizer that is given a loss tensor in eager execution.

In a v1 graph these calls work, and their gate keeps an update from being seen by the gradients of
others; there, and wherever execution is not certainly eager, nothing is said of them.
https://www.tensorflow.org/api_docs/python/tf/compat/v1/train/Optimizer#compute_gradients
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, replace

from tapemigrate.rules import catalog
from tapemigrate.rules.branches import runs_branches
from tapemigrate.rules.eager import runs_eagerly
from tapemigrate.rules.finding import Finding, Rewrite, Unit
from tapemigrate.rules.handing.placing import Places
from tapemigrate.rules.misuse.values import Value, Values
from tapemigrate.rules.project import Project, View
from tapemigrate.rules.reading import statement_of
from tapemigrate.rules.tensorflow_name import TensorFlowName
from tapemigrate.rules.values.provenance import Tracer
from tapemigrate.tape.placing.region import Region
from tapemigrate.tape.plan import Op, Replace
from tapemigrate.tape.planner import lay_out
from tapemigrate.tape.request import Request
from tapemigrate.tape.writing.emit import Emitter
from tapemigrate.tape.writing.surroundings import Surroundings

_RECIPE = (
    "Compute the loss under `with tf.GradientTape() as tape:`, then apply "
    "`zip(tape.gradient(loss, variables), variables)`; or pass the optimizer a function that "
    "computes the loss."
)


@dataclass(frozen=True, slots=True)
class _Call:
    """One call with its arguments by name; ``first``: only TensorFlow 1 has the optimizer."""

    node: ast.Call
    method: catalog.Method
    arguments: dict[str, ast.expr]
    first: bool


def findings(project: Project, unit: Unit) -> list[Finding]:
    """What is to be said of the optimizers of ``unit``."""
    values = Values(project)
    by_scope: dict[ast.AST, list[tuple[View, _Call]]] = {}
    for node in unit.nodes(ast.Call):
        if isinstance(node.func, ast.Attribute):
            method = catalog.methods().get(node.func.attr)
            if method is None:
                continue
            view = project.view(unit, project.scope_of(unit, node))
            call = _read(view, node, method, values)
            if call is not None and runs_eagerly(project, unit, node, first=call.first):
                by_scope.setdefault(view.scope, []).append((view, call))
    found = []
    for calls in by_scope.values():
        alone = len(calls) == 1 and not _asks_for_gradients(unit)
        for view, call in calls:
            rewrite = _rewrite(project, view, call) if alone else None
            found.append(_finding(unit, call, rewrite))
    return found


def _read(view: View, node: ast.Call, method: catalog.Method, values: Values) -> _Call | None:
    assert isinstance(node.func, ast.Attribute)
    made_by = values.constructor(Value(view, node.func.value))
    if made_by not in method.receivers:
        return None
    if any(isinstance(a, ast.Starred) for a in node.args) or None in [k.arg for k in node.keywords]:
        return None
    arguments = dict(zip(method.parameters, node.args, strict=False))
    arguments |= {k.arg: k.value for k in node.keywords if k.arg is not None}
    loss = arguments.get("loss")
    if loss is None or not _is_tensor(view, loss, values):
        return None
    return _Call(node, method, arguments, first=".compat.v1." not in made_by)


def _is_tensor(view: View, loss: ast.expr, values: Values) -> bool:
    """Whether the loss is certainly a value, not a function that computes one."""
    if isinstance(loss, ast.BinOp | ast.UnaryOp) or values.is_tensor(Value(view, loss)):
        return True
    if isinstance(loss, ast.Call) and isinstance(loss.func, ast.Name):
        functions = view.unit.names.qualified(loss.func) is None and [
            s
            for s in view.unit.tree.body
            if isinstance(s, ast.FunctionDef) and s.name == loss.func.id and not s.decorator_list
        ]
        if not functions or len(functions) != 1:
            return False
        returned = [n.value for n in ast.walk(functions[0]) if isinstance(n, ast.Return)]
        inner = values.view_of(view, functions[0])
        return bool(returned) and all(
            r is not None
            and (isinstance(r, ast.BinOp | ast.UnaryOp) or values.is_tensor(Value(inner, r)))
            for r in returned
        )
    if not isinstance(loss, ast.Name):
        return False
    leaves = values.leaves(Value(view, loss)) or []
    return (
        len(leaves) == 1
        and leaves[0].known
        and all(
            not isinstance(v.node, ast.Name) and _is_tensor(v.view, v.node, values)
            for v in leaves[0].values
        )
    )


def _asks_for_gradients(unit: Unit) -> bool:
    """Whether other rules lay tapes in this file, with which this one would have to be nested."""
    for _, path in unit.names.references():
        symbol = catalog.lookup(path)
        if symbol is not None and symbol.rule < "TM116":
            return True
    return False


def _finding(unit: Unit, call: _Call, rewrite: Rewrite | None) -> Finding:
    message = f"`{call.method.name}` raises in eager execution, where a loss has to be a function"
    return Finding(
        call.method.rule,
        unit.filename,
        unit.lines.span(call.node),
        message if rewrite else f"{message}, and is left as it is",
        "" if rewrite else _RECIPE,
        rewrite,
    )


def _rewrite(project: Project, view: View, call: _Call) -> Rewrite | None:
    unit = view.unit
    variables = call.arguments.get("var_list")
    if variables is None or not _is_repeatable(variables) or isinstance(view.scope, ast.Lambda):
        return None
    stmt = statement_of(unit, call.node)
    request = Request(call.node, call.node, stmt, "gradients", call.arguments["loss"], variables)
    request.output_gradients = call.arguments.get("grad_loss")
    places = Places(project, view, Tracer(project))
    region = places.find([request], lambda _: False, "", {})[request]
    if not isinstance(region, Region) or region.sources.single is not False:
        return None
    layout = lay_out({request: region}, view.blocks, unit.parents)
    if layout.refused:
        return None
    tensorflow = TensorFlowName(unit, view.scope)
    around = Surroundings(
        unit.lines,
        view.blocks,
        unit.parents,
        unit.names.bound_names(view.scope),
        tensorflow.at,
        tensorflow.v1_at,
        lambda row: 0 if unit.notebook is None else unit.notebook.cell_of(row),
        runs_branches(project, unit),
    )
    span = unit.lines.span(call.node)
    ops: list[Op] = [
        replace(op, code=_applied(unit, call, op.code, variables))
        if isinstance(op, Replace) and op.span == span
        else op
        for op in Emitter(layout, around).ops()
    ]
    ops += tensorflow.imports
    message = "Record the loss on a tape"
    if region.assumptions:
        message += f"; right if {' and '.join(region.assumptions)}"
    return Rewrite("unsafe" if region.assumptions else "safe", message, {unit.filename: tuple(ops)})


def _is_repeatable(node: ast.expr) -> bool:
    """Whether evaluating it twice is the same as once, and costs nothing."""
    if isinstance(node, ast.List | ast.Tuple):
        return bool(node.elts) and all(_is_repeatable(e) for e in node.elts)
    while isinstance(node, ast.Attribute):
        node = node.value
    return isinstance(node, ast.Name)


def _applied(unit: Unit, call: _Call, gradients: str, variables: ast.expr) -> str:
    listed = unit.lines.segment(unit.lines.span(variables))
    pairs = f"zip({gradients}, {listed})"
    if call.method.name == "compute_gradients":
        return f"list({pairs})"
    assert isinstance(call.node.func, ast.Attribute)
    optimizer = unit.lines.segment(unit.lines.span(call.node.func.value))
    options = "".join(
        f", {name}={unit.lines.segment(unit.lines.span(call.arguments[name]))}"
        for name in ("global_step", "name")
        if name in call.arguments
    )
    return f"{optimizer}.apply_gradients({pairs}{options})"
