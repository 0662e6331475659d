"""TM301, TM305, TM306, TM311: how often, and where, a tape is asked.

https://www.tensorflow.org/guide/autodiff#using_a_persistent_tape
"""

from __future__ import annotations

import ast

from tapemigrate.flow.paths import path_of
from tapemigrate.flow.slices import origins
from tapemigrate.rules.finding import Finding, Rewrite, Unit
from tapemigrate.rules.misuse.uses import Ask, Tape, around, comes_after
from tapemigrate.rules.misuse.values import Value, Values
from tapemigrate.source.points import begin, end
from tapemigrate.source.trees import children, walk
from tapemigrate.tape.placing.graph_gradients import asking_graph, may_run_graph
from tapemigrate.tape.plan import Insert, Op, Replace, ReplaceStatement

_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_CONDITIONAL = (ast.IfExp, ast.BoolOp, *_COMPREHENSIONS)


def findings(tape: Tape, values: Values) -> list[Finding]:
    """What is to be said of the calls of ``tape``."""
    if tape.persistent is False:
        return _asked_again(tape)
    if tape.persistent is None:
        return []
    needless = _needlessly_persistent(tape)
    return [*(needless or _inside(tape)), *_row_by_row(tape, values)]


# -- TM301 --------------------------------------------------------------------------------------


def _asked_again(tape: Tape) -> list[Finding]:
    found = []
    rewrite = _persistence(tape, persistent=True)
    moved = _moved_out(tape, _idle(tape))
    if moved is not None:
        # Inside its block a tape that is not persistent stops recording; a persistent one goes on.
        name = tape.view.unit.filename
        rewrite = Rewrite("safe", rewrite.message, {name: (*rewrite.ops[name], *moved.ops[name])})
    for index, ask in enumerate(tape.asks):
        first = next((a for a in tape.asks[:index] if _certainly_first(tape, a, ask)), None)
        if first is not None:
            why = f"`{tape.name}` has been asked in line {first.call.lineno}"
        elif _in_endless_loop(tape, ask):
            why = f"`{tape.name}` is asked again on the second round of the loop"
        else:
            continue
        message = f"{why}, and is not persistent: RuntimeError"
        help_text = "Make the tape persistent."
        if first is not None and _same_target(tape, first, ask):
            help_text = "Ask once, with a list of sources; or make the tape persistent."
        unit = tape.view.unit
        span = unit.lines.span(ask.call)
        found.append(Finding("TM301", unit.filename, span, message, help_text, rewrite))
    return found


def _certainly_first(tape: Tape, first: Ask, second: Ask) -> bool:
    if not _is_unconditional(tape.view.unit, first):
        return False
    if first.stmt is second.stmt:
        # The header of a compound statement runs first; its body is other statements.
        return True
    return comes_after(tape, first.stmt, second.stmt)


def _is_unconditional(unit: Unit, ask: Ask) -> bool:
    for parent in around(unit, ask.call):
        if parent is ask.stmt:
            return True
        if isinstance(parent, _CONDITIONAL):
            return False
    return False


def _in_endless_loop(tape: Tape, ask: Ask) -> bool:
    """Whether a loop asks on every round, for as long as there is something to go through."""
    loop = tape.loop_of(ask.call)
    if isinstance(loop, ast.ListComp | ast.DictComp | ast.SetComp):
        generators = loop.generators
        return not _is_conditional(tape, ask, loop) and not any(
            g.ifs or _is_short(g.iter) for g in generators
        )
    if not isinstance(loop, ast.For) or _is_short(loop.iter):
        return False
    ends = (ast.Break, ast.Return, ast.Raise, ast.Yield, ast.YieldFrom, ast.Continue)
    return (
        ask.stmt in loop.body
        and _is_unconditional(tape.view.unit, ask)
        and not any(isinstance(n, ends) for n in walk(loop))
    )


def _is_conditional(tape: Tape, ask: Ask, loop: ast.AST) -> bool:
    for parent in around(tape.view.unit, ask.call):
        if parent is loop:
            return False
        if isinstance(parent, _CONDITIONAL):
            return True
    return True


def _is_short(node: ast.expr) -> bool:
    """Whether going through it may well be over after one round."""
    return isinstance(node, ast.List | ast.Tuple) and len(node.elts) < 2


def _same_target(tape: Tape, first: Ask, second: Ask) -> bool:
    one, other = first.target, second.target
    if not (isinstance(one, ast.Name) and isinstance(other, ast.Name)):
        return False
    reads = tape.view.flow.reads
    return (
        first.method == second.method == "gradient"
        and first.plain
        and second.plain
        and origins(reads.get(one, frozenset())) == origins(reads.get(other, frozenset()))
    )


# -- TM306 --------------------------------------------------------------------------------------


def _needlessly_persistent(tape: Tape) -> list[Finding]:
    if len(tape.asks) != 1 or tape.loop_of(tape.asks[0].call) is not None:
        return []
    ask = tape.asks[0]
    if not ask.plain and ask.method != "gradient":
        return []  # a Jacobian without pfor needs a persistent tape
    if any(isinstance(n, _COMPREHENSIONS) for n in around(tape.view.unit, ask.call)):
        return []
    first, asked = begin(tape.stmt), begin(ask.call)
    if any(first <= begin(call) < asked for call in asking_graph(children(tape.view.scope))):
        return []  # in a graph, a branch keeps more for its gradient once that was asked for
    unit = tape.view.unit
    if unit.graph and any(
        begin(tape.stmt) <= begin(call) < asked for call in may_run_graph(_behind(tape))
    ):
        return []  # so does one that a session has run
    if unit.notebook is not None:
        cells = {unit.notebook.cell_of(each.lineno) for each in (tape.made, ask.call)}
        if len(cells) > 1:
            return []  # a cell may be run again, and then asks again
    return [
        Finding(
            "TM306",
            unit.filename,
            unit.lines.span(tape.made),
            f"`{tape.name}` is persistent and asked only once, in line {ask.call.lineno}: "
            "it keeps all that it recorded",
            "",
            _persistence(tape, persistent=False),
        )
    ]


def _behind(tape: Tape) -> list[ast.stmt]:
    """The statements behind the block of the tape."""
    body = [s for s in walk(tape.view.scope) if isinstance(s, ast.stmt)]
    return [s for s in body if begin(s) > end(tape.stmt)]


def _persistence(tape: Tape, *, persistent: bool) -> Rewrite:
    unit = tape.view.unit
    source = [unit.lines.segment(unit.lines.span(a)) for a in tape.made.args[1:]]
    options = [f"watch_accessed_variables={text}" for text in source]
    options += [
        f"{k.arg}={unit.lines.segment(unit.lines.span(k.value))}"
        for k in tape.made.keywords
        if k.arg != "persistent"
    ]
    if persistent:
        options.insert(0, "persistent=True")
    name = unit.lines.segment(unit.lines.span(tape.made.func))
    op = Replace(unit.lines.span(tape.made), f"{name}({', '.join(options)})")
    message = "Make the tape persistent" if persistent else "Make the tape an ordinary one"
    return Rewrite("safe", message, {unit.filename: (op,)})


# -- TM305 --------------------------------------------------------------------------------------


def _inside(tape: Tape) -> list[Finding]:
    """Calls under recording, of which nothing that the tape is asked for later can be made."""
    idle = _idle(tape)
    unit = tape.view.unit
    rewrite = _moved_out(tape, idle)
    return [
        Finding(
            "TM305",
            unit.filename,
            unit.lines.span(ask.call),
            f"`{tape.name}` records this backward pass too, and nothing differentiates it again",
            "Ask below the `with` block.",
            rewrite,
        )
        for ask in idle
    ]


def _idle(tape: Tape) -> list[Ask]:
    if not tape.alone or len(tape.asks) == 1:
        return []
    recorded = [a for a in tape.asks if tape.records(a.stmt) and not _is_in_another(tape, a)]
    return [
        a
        for a in recorded
        if not (_may_be_needed(tape, a) or _is_made_beside(tape, a) or _reads_what_is_beside(a))
    ]


def _reads_what_is_beside(ask: Ask) -> bool:
    """Whether the target is made of a name that its own statement gives: ``(g := …), …``."""
    given = {n.target.id for n in walk(ask.stmt) if isinstance(n, ast.NamedExpr)}
    read = (n for n in walk(ask.target) if isinstance(n, ast.Name)) if ask.target else ()
    return any(n.id in given for n in read)


def _is_made_beside(tape: Tape, ask: Ask) -> bool:
    """Whether the target is computed in the branch in which the call stands, and has to be there.

    To leave the block, the call would have to leave the branch.
    """
    parents = tape.view.unit.parents
    branch: ast.AST = ask.stmt
    while parents[branch] is not tape.stmt:
        branch = parents[branch]
    if branch is ask.stmt:
        return False
    targets = ask.target.elts if isinstance(ask.target, ast.List) else [ask.target]
    inside = set(walk(branch))
    return any(
        target is not None
        and (
            path_of(target) is None
            or any(d.stmt in inside for d in origins(tape.view.flow.reads.get(target, ())))
        )
        for target in targets
    )


def _is_in_another(tape: Tape, ask: Ask) -> bool:
    """Whether the call would leave another context as well, a scope for names perhaps."""
    parents = tape.view.unit.parents
    node: ast.AST = ask.stmt
    while node is not tape.stmt:
        if isinstance(node, ast.With | ast.AsyncWith):
            return True
        node = parents[node]
    return False


def _may_be_needed(tape: Tape, ask: Ask) -> bool:
    if tape.loop_of(ask.call) is not None:
        return True
    return any(not _was_made_before(tape, other, ask) for other in tape.asks if other is not ask)


def _was_made_before(tape: Tape, other: Ask, ask: Ask) -> bool:
    """Whether the target of ``other`` is made, for good, before ``ask`` runs."""
    targets = other.target.elts if isinstance(other.target, ast.List) else [other.target]
    if tape.loop_of(other.call) is not None:
        return False
    for target in targets:
        if not isinstance(target, ast.Name):
            return False
        for made in origins(tape.view.flow.reads.get(target, frozenset())):
            if made.stmt is None:
                continue
            if not comes_after(tape, made.stmt, ask.stmt):
                return False
    return True


def _moved_out(tape: Tape, idle: list[Ask]) -> Rewrite | None:
    """The last statements of the block go below it, where they are nothing but those calls."""
    unit = tape.view.unit
    calls = {a.call for a in idle}
    tail: list[ast.stmt] = []
    for stmt in reversed(tape.stmt.body):
        if not (
            isinstance(stmt, ast.Assign)
            and stmt.value in calls
            and stmt.lineno == stmt.end_lineno
            and len(stmt.targets) == 1
            and isinstance(stmt.targets[0], ast.Name | ast.Tuple)
        ):
            break
        tail.insert(0, stmt)
    if not idle or len(tail) != len(idle) or len(tail) == len(tape.stmt.body):
        return None
    code = "\n".join(unit.lines.segment(unit.lines.span(s)) for s in tail)
    ops: list[Op] = [ReplaceStatement(unit.lines.span(s), "") for s in tail]
    ops.append(Insert(unit.lines.span(tape.stmt), "after", code))
    return Rewrite("safe", "Ask below the block", {unit.filename: tuple(ops)})


# -- TM311 --------------------------------------------------------------------------------------


def _row_by_row(tape: Tape, values: Values) -> list[Finding]:
    found = []
    unit = tape.view.unit
    for ask in tape.asks:
        rows = _rows(tape, ask, values) if ask.method == "gradient" and ask.plain else None
        if rows is None:
            continue
        found.append(
            Finding(
                "TM311",
                unit.filename,
                unit.lines.span(ask.call),
                f"one backward pass for each entry of `{rows}`: together they are its Jacobian",
                f"Ask once: `{tape.name}.jacobian({rows}, …)` holds the gradient of every entry, "
                "one row each.",
            )
        )
    return found


def _rows(tape: Tape, ask: Ask, values: Values) -> str | None:
    """The tensor over whose rows the call is repeated, and whose gradients are stacked."""
    unit = tape.view.unit
    loop = unit.parents.get(ask.call)
    if not isinstance(loop, ast.ListComp) or loop.elt is not ask.call:
        return None
    stack = unit.parents.get(loop)
    if not isinstance(stack, ast.Call) or not (unit.names.qualified(stack.func) or "").endswith(
        ("tensorflow.stack", "tensorflow.compat.v1.stack")
    ):
        return None
    if len(loop.generators) != 1 or loop.generators[0].ifs or len(stack.args) > 1:
        return None
    row, over = loop.generators[0].target, loop.generators[0].iter
    if not isinstance(row, ast.Name) or any(k.arg == "axis" for k in stack.keywords):
        return None
    target = ask.target
    if isinstance(target, ast.Name) and target.id == row.id:
        return _unstacked(tape, over)
    if (
        isinstance(target, ast.Subscript)
        and isinstance(target.slice, ast.Name)
        and target.slice.id == row.id
        and isinstance(over, ast.Call)
        and isinstance(over.func, ast.Name)
        and over.func.id == "range"
        and values.is_tensor(Value(tape.view, target.value))
    ):
        return unit.lines.segment(unit.lines.span(target.value))
    return None


def _unstacked(tape: Tape, over: ast.expr) -> str | None:
    unit = tape.view.unit
    if isinstance(over, ast.Name):
        made = origins(tape.view.flow.reads.get(over, frozenset()))
        over = (
            next((d.value for d in made if d.value is not None), over) if len(made) == 1 else over
        )
    if (
        isinstance(over, ast.Call)
        and (unit.names.qualified(over.func) or "").endswith(".unstack")
        and len(over.args) == 1
        and not over.keywords
    ):
        return unit.lines.segment(unit.lines.span(over.args[0]))
    return None
