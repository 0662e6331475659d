"""TM302, TM307, TM309: what a tape is asked to differentiate.

https://www.tensorflow.org/guide/autodiff#getting_a_gradient_of_none
"""

from __future__ import annotations

import ast
from dataclasses import replace

from tapemigrate.flow.definitions import Def, Kind
from tapemigrate.flow.functions import Scope
from tapemigrate.flow.slices import backward, origins
from tapemigrate.rules.finding import Finding, Rewrite, Unit
from tapemigrate.rules.misuse.uses import Ask, Tape, around, gives_gradient
from tapemigrate.rules.misuse.values import Leaf, Value, Values
from tapemigrate.source.trees import walk
from tapemigrate.tape.plan import Insert, Op, ReplaceStatement


def findings(tape: Tape, values: Values) -> list[Finding]:
    """What is to be said of the targets of ``tape``."""
    found: list[Finding] = []
    for ask in tape.asks:
        if ask.target is None or ask.sources is None or expects_none(tape, ask):
            continue
        elements = ask.target.elts if isinstance(ask.target, ast.List) else [ask.target]
        for element in elements:
            found += _outside(tape, ask, element, values)
            found += _variable(tape, ask, element, values)
        found += _row_sums(tape, ask, values)
    if sum(f.rewrite is not None for f in found) > 1:
        # Each move is laid out for the block as it stands.
        return [replace(f, rewrite=None) for f in found]
    return found


def expects_none(tape: Tape, ask: Ask) -> bool:
    """Whether the code shows that None, or zero in its place, is what its author wants to see."""
    if any(k.arg == "unconnected_gradients" for k in ask.call.keywords):
        return True
    unit = tape.view.unit
    for parent in around(unit, ask.call):
        if isinstance(parent, ast.Call) and _name(parent.func) in ("assertIsNone", "assertAllNone"):
            return True
        if parent is ask.stmt:
            break
    names = {
        n.id for t in getattr(ask.stmt, "targets", ()) for n in walk(t) if isinstance(n, ast.Name)
    }
    known = unit.once(_tested)
    if tape.view.scope not in known:
        known[tape.view.scope] = _tested_in(tape.view.scope)
    return not names.isdisjoint(known[tape.view.scope])


def _tested(_: Unit) -> dict[Scope, frozenset[str]]:
    return {}


def _tested_in(scope: Scope) -> frozenset[str]:
    """The names that are asked in the scope whether they are None."""
    found: set[str] = set()
    for node in walk(scope):
        if isinstance(node, ast.Call) and _name(node.func) in ("assertIsNone", "assertAllNone"):
            tested: list[ast.expr] = node.args
        elif isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.Is | ast.IsNot):
            tested = [node.left]
        else:
            continue
        found |= {n.id for each in tested for n in walk(each) if isinstance(n, ast.Name)}
    return frozenset(found)


def _name(node: ast.expr) -> str:
    return getattr(node, "attr", getattr(node, "id", ""))


# -- TM302 --------------------------------------------------------------------------------------


def _outside(tape: Tape, ask: Ask, target: ast.expr, values: Values) -> list[Finding]:
    unit = tape.view.unit
    text = unit.lines.segment(unit.lines.span(target))
    if values.is_new(Value(tape.view, target)):
        if tape.records(ask.stmt):
            return []
        message = f"`{text}` is computed here, where `{tape.name}` no longer records"
        help_text = f"Give it a name in the `with` block, `target = {text}`, and ask for that."
        return [_finding("TM302", tape, ask, f"{message}: the gradient is None", help_text)]
    leaf = _only_leaf(tape, target, values)
    if leaf is None:
        return []
    if not all(values.is_new(v) or gives_gradient(v.view, v.node) for v in leaf.values):
        return []
    if any(d.stmt is None or tape.records(d.stmt) for d in leaf.defs):
        return []
    if _shares(tape, ask, leaf, values):
        return []
    if (lost := _lost(tape, ask, target, values)) is None:
        return []
    lines = sorted({d.stmt.lineno for d in leaf.defs if d.stmt is not None})
    message = (
        f"`{text}` is computed in line {', '.join(map(str, lines))}, outside the block of "
        f"`{tape.name}`: {lost}"
    )
    help_text = f"Compute `{text}` in the `with` block."
    return [_finding("TM302", tape, ask, message, help_text, _moved_in(tape, leaf))]


def _lost(tape: Tape, ask: Ask, target: ast.expr, values: Values) -> str | None:
    """What becomes of the gradient without the target; None where it has no part in it.

    Among several targets, one may well have nothing to do with the sources.
    """
    if not isinstance(ask.target, ast.List) or len(ask.target.elts) == 1:
        return "the gradient is None"
    assert ask.sources is not None
    sources = values.leaves(Value(tape.view, ask.sources))
    behind = backward(tape.view.flow.uses_in(target)).made
    if sources is not None and not any(each.defs & behind for each in sources):
        return None
    return "its part of the gradient is missing"


def _only_leaf(tape: Tape, target: ast.expr, values: Values) -> Leaf | None:
    leaves = values.leaves(Value(tape.view, target))
    return leaves[0] if leaves and len(leaves) == 1 and leaves[0].known else None


def _shares(tape: Tape, ask: Ask, leaf: Leaf, values: Values) -> bool:
    """Whether a source may be the target itself, by which it has the gradient 1."""
    assert ask.sources is not None
    sources = values.leaves(Value(tape.view, ask.sources))
    if sources is None:
        node = ask.sources
        return not (isinstance(node, ast.Attribute) and node.attr.startswith("trainable_"))
    return any(each.defs & leaf.defs for each in sources)


def _moved_in(tape: Tape, leaf: Leaf) -> Rewrite | None:
    """The statement directly below the block becomes its last."""
    blocks, unit = tape.view.blocks, tape.view.unit
    stmts = [d.stmt for d in leaf.defs]
    stmt = stmts[0]
    if len(stmts) != 1 or not isinstance(stmt, ast.Assign) or not blocks.holds(stmt):
        return None
    here, block = blocks.place(stmt), blocks.place(tape.stmt)
    if here.block is not block.block or here.index != block.index + 1 or not tape.alone:
        return None
    if stmt.lineno != stmt.end_lineno or isinstance(tape.stmt.body[-1], ast.Return | ast.Raise):
        return None
    if any(isinstance(n, ast.Call) and n in {a.call for a in tape.asks} for n in walk(stmt)):
        return None
    ops: tuple[Op, ...] = (
        Insert(
            unit.lines.span(tape.stmt.body[-1]), "after", unit.lines.segment(unit.lines.span(stmt))
        ),
        ReplaceStatement(unit.lines.span(stmt), ""),
    )
    message = "Compute it in the block; right if a gradient is wanted"
    return Rewrite("unsafe", message, {unit.filename: ops})


# -- TM309 --------------------------------------------------------------------------------------


def _variable(tape: Tape, ask: Ask, target: ast.expr, values: Values) -> list[Finding]:
    leaf = _only_leaf(tape, target, values)
    if leaf is None or any(values.is_variable(v) is None for v in leaf.values):
        return []
    if _shares(tape, ask, leaf, values):
        return []
    unit = tape.view.unit
    text = unit.lines.segment(unit.lines.span(target))
    message = f"the target `{text}` is a variable, into which no tape looks: the gradient is None"
    help_text = f"Differentiate the tensor that is assigned to `{text}`."
    return [_finding("TM309", tape, ask, message, help_text)]


# -- TM307 --------------------------------------------------------------------------------------


def _row_sums(tape: Tape, ask: Ask, values: Values) -> list[Finding]:
    """A gradient of a gradient by the same vector, under the name of a Hessian."""
    if ask.method != "gradient" or not ask.plain or not _is_called_hessian(tape, ask):
        return []
    assert ask.target is not None
    assert ask.sources is not None
    first, source = _definition(tape, ask.target), _definition(tape, ask.sources)
    if first is None or source is None or source.value is None:
        return []
    inner = first.value
    if (
        first.kind is not Kind.ASSIGN
        or not isinstance(inner, ast.Call)
        or not isinstance(inner.func, ast.Attribute)
        or inner.func.attr != "gradient"
        or len(inner.args) != 2
        or inner.keywords
        or _definition(tape, inner.args[1]) is not source
    ):
        return []
    if not _is_vector(tape, source.value, values):
        return []
    unit = tape.view.unit
    text = unit.lines.segment(unit.lines.span(ask.target))
    message = f"the gradient of the vector `{text}` is the sum of its rows, not the Hessian"
    by = unit.lines.segment(unit.lines.span(ask.sources))
    help_text = f"`{tape.name}.jacobian({text}, {by})` is the Hessian."
    return [_finding("TM307", tape, ask, message, help_text)]


def _is_called_hessian(tape: Tape, ask: Ask) -> bool:
    stmt = ask.stmt
    if not isinstance(stmt, ast.Assign) or stmt.value is not ask.call or len(stmt.targets) != 1:
        return False
    target = stmt.targets[0]
    # Parts of Hessians go by such names too: their diagonal, or their product with a vector.
    return _name(target).lower().strip("_") in ("hessian", "hess", "hessian_matrix")


def _definition(tape: Tape, node: ast.expr) -> Def | None:
    made = origins(tape.view.flow.reads.get(node, frozenset()))
    return next(iter(made)) if len(made) == 1 else None


def _is_vector(tape: Tape, node: ast.expr, values: Values) -> bool:
    at = Value(tape.view, node)
    if not isinstance(node, ast.Call) or not node.args:
        return False
    if not values.is_constant(at) and values.is_variable(at) is None:
        return False
    first = node.args[0]
    return (
        isinstance(first, ast.List)
        and len(first.elts) > 1
        and all(isinstance(e, ast.Constant | ast.UnaryOp) for e in first.elts)
    )


def _finding(
    code: str, tape: Tape, ask: Ask, message: str, help_text: str, rewrite: Rewrite | None = None
) -> Finding:
    unit = tape.view.unit
    span = unit.lines.span(ask.call)
    return Finding(code, unit.filename, span, message, help_text, rewrite)
