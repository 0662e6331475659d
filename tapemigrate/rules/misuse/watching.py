"""TM303, TM304, TM308, TM310: what a tape watches, and what it is asked to differentiate by.

https://www.tensorflow.org/guide/autodiff#controlling_what_the_tape_watches
"""

from __future__ import annotations

import ast

from tapemigrate.flow.blocks import Block
from tapemigrate.flow.definitions import Def, Kind
from tapemigrate.flow.functions import free_names
from tapemigrate.flow.slices import backward
from tapemigrate.rules.finding import Finding, Rewrite
from tapemigrate.rules.misuse.targets import expects_none
from tapemigrate.rules.misuse.uses import Ask, Tape, comes_after
from tapemigrate.rules.misuse.values import Leaf, Value, Values
from tapemigrate.rules.reading import statement_of
from tapemigrate.source.points import begin
from tapemigrate.source.trees import walk
from tapemigrate.tape.ops.symbols import short
from tapemigrate.tape.plan import Insert, Op, ReplaceStatement


def findings(tape: Tape, values: Values) -> list[Finding]:
    """What is to be said of the sources of ``tape``."""
    return [
        *_integers(tape, values),
        *_unwatched(tape, values),
        *_watched_late(tape, values),
        *_unbuilt(tape),
    ]


def _sources(tape: Tape, ask: Ask, values: Values) -> list[Leaf]:
    if ask.sources is None or expects_none(tape, ask):
        return []
    leaves = values.leaves(Value(tape.view, ask.sources))
    return [leaf for leaf in leaves or () if leaf.known]


# -- TM310 --------------------------------------------------------------------------------------


def _integers(tape: Tape, values: Values) -> list[Finding]:
    found = []
    unit = tape.view.unit
    for ask in tape.asks:
        asked = [("source", leaf) for leaf in _sources(tape, ask, values)]
        if ask.target is not None and not expects_none(tape, ask):
            targets = values.leaves(Value(tape.view, ask.target)) or []
            # Beside others in a list, a target that has no gradient adds nothing to theirs.
            asked += [("target", leaf) for leaf in targets if leaf.known and len(targets) == 1]
        for role, leaf in asked:
            if not all(values.is_integer(v) for v in leaf.values):
                continue
            text = _text(tape, leaf.node)
            found.append(
                Finding(
                    "TM310",
                    unit.filename,
                    unit.lines.span(ask.call),
                    f"the {role} `{text}` is of an integer type: the gradient is None",
                    f"Make `{text}` a float, by a decimal point or `dtype=tf.float32`."
                    if role == "source"
                    else f"Differentiate a float that is made before `{text}` is.",
                )
            )
    return found


# -- TM303 --------------------------------------------------------------------------------------


def _unwatched(tape: Tape, values: Values) -> list[Finding]:
    watched = _watched(tape, values)
    if watched is None:
        return []
    unit = tape.view.unit
    missing: dict[frozenset[Def], tuple[Leaf, Ask]] = {}
    for ask in tape.asks:
        for leaf in _sources(tape, ask, values):
            if not leaf.defs & watched and _needs_watch(tape, leaf, values):
                missing.setdefault(leaf.defs, (leaf, ask))
    if not missing:
        return []
    names = [_text(tape, leaf.node) for leaf, _ in missing.values()]
    listed = names[0] if len(names) == 1 else f"[{', '.join(names)}]"
    insert = Insert(unit.lines.span(tape.stmt), "body", f"{tape.name}.watch({listed})")
    rewrite = None
    if all(_is_made_before(tape, leaf) for leaf, _ in missing.values()):
        rewrite = Rewrite("safe", f"Watch `{listed}`", {unit.filename: (insert,)})
    return [
        Finding(
            "TM303",
            unit.filename,
            unit.lines.span(ask.call),
            f"`{tape.name}` does not watch `{name}`, {_what(leaf, values)}: the gradient is None",
            f"Begin the block with `{tape.name}.watch({name})`.",
            rewrite,
        )
        for name, (leaf, ask) in zip(names, missing.values(), strict=True)
    ]


def _watched(tape: Tape, values: Values) -> frozenset[Def] | None:
    """Everything that ``watch`` names; None where that cannot be told."""
    found: set[Def] = set()
    for call in tape.watches:
        if len(call.args) != 1 or call.keywords:
            return None
        argument = call.args[0]
        if isinstance(argument, ast.Attribute) and argument.attr.startswith("trainable_"):
            continue
        leaves = values.leaves(Value(tape.view, argument))
        if leaves is None:
            return None
        for leaf in leaves:
            if not leaf.known or not all(_is_itself(v, values) for v in leaf.values):
                # What the name holds may well be the source under another name.
                return None
            found |= leaf.defs
    return frozenset(found)


def _is_itself(value: Value, values: Values) -> bool:
    known = values.is_new(value) or values.is_constant(value)
    return known or values.is_variable(value) is not None


def _needs_watch(tape: Tape, leaf: Leaf, values: Values) -> bool:
    if any(values.is_integer(v) for v in leaf.values):
        return False
    for value, made in zip(leaf.values, leaf.defs, strict=True):
        if values.is_constant(value) or values.is_variable(value) is False:
            continue
        inside = made.stmt is not None and tape.records(made.stmt)
        if inside or not values.is_new(value):
            return False
    return True


def _is_made_before(tape: Tape, leaf: Leaf) -> bool:
    if not isinstance(leaf.node, ast.Name):
        return False
    for made in leaf.defs:
        if made.stmt is None or made.kind is not Kind.ASSIGN:
            return False
        if leaf.node.id != made.path[0]:
            return False
        here = tape.view.blocks.holds(made.stmt)
        if here and not comes_after(tape, made.stmt, tape.stmt):
            return False
    return True


def _what(leaf: Leaf, values: Values) -> str:
    if all(values.is_variable(v) is False for v in leaf.values):
        return "a variable with `trainable=False`"
    return "a tensor"


# -- TM304 --------------------------------------------------------------------------------------


def _watched_late(tape: Tape, values: Values) -> list[Finding]:
    found = []
    unit = tape.view.unit
    for call in tape.watches:
        stmt = statement_of(unit, call)
        if len(call.args) != 1 or not isinstance(call.args[0], ast.Name):
            continue
        leaves = values.leaves(Value(tape.view, call.args[0])) or []
        if len(leaves) != 1 or not leaves[0].known or not tape.view.blocks.holds(stmt):
            continue
        leaf = leaves[0]
        if not _needs_watch(tape, leaf, values) or _watched_earlier(tape, leaf, call, values):
            continue
        use = _first_use(tape, leaf, stmt, values)
        if use is None:
            continue
        name = _text(tape, call.args[0])
        found.append(
            Finding(
                "TM304",
                unit.filename,
                unit.lines.span(call),
                f"`{name}` is watched after its use in line {use.lineno}, which the gradient lacks",
                f"Watch `{name}` at the top of the block.",
                _watch_first(tape, stmt, use),
            )
        )
    return found


def _watched_earlier(tape: Tape, leaf: Leaf, call: ast.Call, values: Values) -> bool:
    for other in tape.watches:
        if other is call or begin(other) > begin(call):
            continue
        leaves = values.leaves(Value(tape.view, other.args[0])) if other.args else None
        if leaves is None or any(each.defs & leaf.defs or not each.known for each in leaves):
            return True
    return False


def _first_use(tape: Tape, leaf: Leaf, watch: ast.stmt, values: Values) -> ast.stmt | None:
    """The first statement above ``watch`` by which a target that is asked for depends on it."""
    found: list[ast.stmt] = []
    for ask in tape.asks:
        if ask.target is None or expects_none(tape, ask):
            continue
        if not any(each.defs == leaf.defs for each in _sources(tape, ask, values)):
            continue
        made = backward(tape.view.flow.uses_in(ask.target)).made
        for each in made:
            if (
                each.stmt is not None
                and each.value is not None
                and each.kind is Kind.ASSIGN
                and tape.records(each.stmt)
                and comes_after(tape, each.stmt, watch)
                and not tape.view.blocks.loops_around(each.stmt, _body(tape))
                and _differentiates(tape, each.value, leaf.defs, values)
            ):
                found.append(each.stmt)
    return min(found, key=begin, default=None)


def _body(tape: Tape) -> Block:
    return tape.view.blocks.place(tape.stmt.body[0]).block


def _differentiates(tape: Tape, node: ast.expr, defs: frozenset[Def], values: Values) -> bool:
    """Whether ops with a gradient lead from what ``defs`` made to the value of ``node``."""
    if isinstance(node, ast.Name):
        return bool({u.made for u in tape.view.flow.reads.get(node, ())} & defs)
    if isinstance(node, ast.BinOp):
        # Whole division and remainder have steps in place of slopes.
        if not isinstance(node.op, ast.Add | ast.Sub | ast.Mult | ast.Div | ast.Pow | ast.MatMult):
            return False
        sides = (node.left, node.right)
        return any(_differentiates(tape, s, defs, values) for s in sides)
    if isinstance(node, ast.UnaryOp):
        return _differentiates(tape, node.operand, defs, values)
    if isinstance(node, ast.Call) and values.is_new(Value(tape.view, node)):
        return bool(node.args) and _differentiates(tape, node.args[0], defs, values)
    return False


def _watch_first(tape: Tape, watch: ast.stmt, use: ast.stmt) -> Rewrite | None:
    unit, blocks = tape.view.unit, tape.view.blocks
    if blocks.place(watch).block is not blocks.place(use).block or not isinstance(watch, ast.Expr):
        return None
    code = unit.lines.segment(unit.lines.span(watch))
    ops: tuple[Op, ...] = (
        Insert(unit.lines.span(use), "before", code),
        ReplaceStatement(unit.lines.span(watch), ""),
    )
    message = "Watch it before its first use; right if that use is meant to count"
    return Rewrite("unsafe", message, {unit.filename: ops})


# -- TM308 --------------------------------------------------------------------------------------

# Keras layers that make their variables on the first call, whatever they are constructed with.
_LAZY = frozenset(
    {"Dense", "Conv1D", "Conv2D", "Conv3D", "Conv2DTranspose", "DepthwiseConv2D", "LSTM", "GRU"}
    | {"SeparableConv2D", "SimpleRNN", "BatchNormalization", "LayerNormalization", "Bidirectional"}
)
_VARIABLES = frozenset({"trainable_variables", "trainable_weights", "variables", "weights"})
_NESTED = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
_SHAPED = frozenset({"input_shape", "batch_input_shape", "input_dim", "weights"})


def _unbuilt(tape: Tape) -> list[Finding]:
    if tape.watches_variables is not False:
        return []
    found = []
    unit = tape.view.unit
    for call in tape.watches:
        argument = call.args[0] if call.args else None
        if not isinstance(argument, ast.Attribute) or argument.attr not in _VARIABLES:
            continue
        layer = argument.value
        if not isinstance(layer, ast.Name) or not _is_untouched(tape, layer):
            continue
        found.append(
            Finding(
                "TM308",
                unit.filename,
                unit.lines.span(call),
                f"`{layer.id}` has no variables before its first call, so nothing is watched: "
                "the gradient is None",
                "Leave out `watch_accessed_variables=False`: the tape watches by itself. Or call "
                f"`{layer.id}` once, or `{layer.id}.build(shape)`, before the tape opens.",
            )
        )
    return found


def _is_untouched(tape: Tape, layer: ast.Name) -> bool:
    """Whether the layer is made in this scope, lazily, and read here for the first time."""
    made = {u.made for u in tape.view.flow.reads.get(tape.view.unit.parents[layer], ())}
    if len(made) != 1:
        return False
    (definition,) = made
    if definition.kind is not Kind.ASSIGN or definition.value is None or definition.loops:
        return False
    if definition.path != (layer.id,) or not _is_lazy(tape, definition.value):
        return False
    for node in walk(tape.view.scope):
        nested = isinstance(node, _NESTED) and node is not tape.view.scope
        if nested and layer.id in free_names(node):
            return False
        if not isinstance(node, ast.Name) or node.id != layer.id or node is layer:
            continue
        early = begin(node) < begin(layer)
        if early and isinstance(node.ctx, ast.Load):
            return False
    place = tape.view.blocks
    if definition.stmt is None or not place.holds(definition.stmt):
        return False
    # A loop may come back to the tape when the layer has been called.
    return not place.loops_around(tape.stmt) and tape.loop_of(layer) is None


def _is_lazy(tape: Tape, node: ast.expr) -> bool:
    if not isinstance(node, ast.Call):
        return False
    name = short(tape.view.unit.names.qualified(node.func)) or ""
    module, _, last = name.rpartition(".")
    if any(k.arg is None or k.arg in _SHAPED for k in node.keywords):
        return False
    if module == "keras.layers" and last in _LAZY:
        return True
    if name in ("keras.Sequential", "keras.models.Sequential") and len(node.args) == 1:
        layers = node.args[0]
        return (
            isinstance(layers, ast.List)
            and bool(layers.elts)
            and all(_is_lazy(tape, layer) for layer in layers.elts)
        )
    return False


def _text(tape: Tape, node: ast.expr) -> str:
    unit = tape.view.unit
    return unit.lines.segment(unit.lines.span(node))
