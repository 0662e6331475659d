"""The statements of a scope, gone through one after the other: abstract execution.

Loops are run twice, so that a value carried round is seen; a use that came round a loop says so.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Mapping, Set
from typing import cast

from tapemigrate.flow.definitions import NONE, Effect, Kind, Uses, united
from tapemigrate.flow.evaluation import Evaluation
from tapemigrate.flow.functions import Function, defaults, free_names, free_parts
from tapemigrate.flow.hooks import decorator_itself
from tapemigrate.flow.objects import is_object
from tapemigrate.flow.paths import Path, path_of
from tapemigrate.flow.states import State, States
from tapemigrate.flow.unpacking import is_made, named_first
from tapemigrate.source.trees import children, kept, walk

Loop = ast.For | ast.AsyncFor | ast.While
# In so many loops all that may happen in their rounds is told apart, which doubles with each.
_DEEP = 4
# What goes on where an exception was raised: of the standard library, and of tests.
_SWALLOWING = frozenset(
    {"suppress", "ignored", "raises", "assertRaises", "assertRaisesRegex", "assertRaisesRegexp"}
)


class Execution(Evaluation):
    """Goes through statements, and tells ``states`` what they define and read.

    ``swallowing`` is what goes on, entered by a ``with``, where an exception was raised;
    ``returns`` lists the return statements. For the rest see ``Evaluation``.
    """

    def __init__(
        self,
        states: States,
        effect: Callable[[ast.Call], Effect],
        altered: Callable[[Function], tuple[frozenset[str], frozenset[str]]],
        swallowing: Set[str],
        complete: Set[str],
        parts_read: Set[Path],
        runs: Callable[[ast.Call, Mapping[ast.AST, Uses]], Iterable[ast.Call]],
    ) -> None:
        super().__init__(states, effect, altered, complete, parts_read, runs)
        self.returns: list[ast.Return] = []
        self._swallowing = swallowing
        self._first_round = False
        self._exits: list[tuple[list[State], list[State]]] = []
        # What may hold where the statements that are gone through are broken off, outermost first.
        self._broken_off: list[State] = []

    def block(self, body: Iterable[ast.stmt], state: State | None) -> State | None:
        """What holds behind statements, before which ``state`` does; None: nothing gets there."""
        for stmt in body:
            if state is None:
                # Nothing reaches here; it is read all the same, so that no call stays unseen.
                state = {}
            outer, self._states.stmt = self._states.stmt, stmt
            state = self._statement(stmt, state)
            self._states.stmt = outer
            if state is not None and self._broken_off:
                here = dict(state)
                self._broken_off = [self._states.join(s, here) or s for s in self._broken_off]
        return state

    def _breakable(self, body: Iterable[ast.stmt], state: State) -> tuple[State | None, State]:
        """What holds behind statements, and where an exception breaks them off, however deep."""
        self._broken_off.append(dict(state))
        end = self.block(body, state)
        return end, self._broken_off.pop()

    # One case for each kind of statement.
    def _statement(self, stmt: ast.stmt, state: State) -> State | None:  # noqa: C901
        match stmt:
            case ast.Assign():
                self._assignment(stmt, state)
            case ast.Expr():
                uses = self.evaluate(stmt.value, state)
                if isinstance(stmt.value, ast.BinOp):
                    # Nobody needs what ``net << layer`` gives.
                    self._pass(stmt.value.left, uses, state)
            case ast.AnnAssign():
                if stmt.value is not None:
                    uses = self.evaluate(stmt.value, state)
                    self._assign(stmt.target, stmt.value, uses, state, Kind.ASSIGN)
            case ast.AugAssign():
                uses = self.evaluate(stmt.value, state) | self.evaluate(stmt.target, state)
                self._assign(stmt.target, stmt.value, uses, state, Kind.AUGMENT)
            case ast.If():
                self.evaluate(stmt.test, state)
                other = dict(state)
                return self._states.join(
                    self.block(stmt.body, state), self.block(stmt.orelse, other)
                )
            case ast.For() | ast.AsyncFor() | ast.While():
                return self._loop(stmt, state)
            case ast.With() | ast.AsyncWith():
                return self._with(stmt, state)
            case ast.Match():
                return self._match(stmt, state)
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                self._define(stmt, state)
            case ast.ClassDef():
                uses = NONE
                for expr in [*stmt.decorator_list, *stmt.bases, *(k.value for k in stmt.keywords)]:
                    uses |= self.evaluate(expr, state)
                self._capture(stmt, (stmt.name,), Kind.CLASS, uses, state)
                self._hand_to_decorators(stmt, state)
            case ast.Import() | ast.ImportFrom():
                for alias in stmt.names:
                    name = (alias.asname or alias.name).split(".")[0]
                    self._states.bind(state, alias, (name,), Kind.IMPORT, None, NONE)
            case ast.Return():
                self.returns.append(stmt)
                if stmt.value is not None:
                    self.evaluate(stmt.value, state)
                return None
            case ast.Raise():
                for child in children(stmt):
                    self.evaluate(child, state)
                return None
            case ast.Break() | ast.Continue():
                if self._exits:
                    breaks, continues = self._exits[-1]
                    (breaks if isinstance(stmt, ast.Break) else continues).append(state)
                return None
            case ast.Delete():
                self._delete(stmt, state)
            case ast.Try():
                return self._try(stmt, state)
            case _ if hasattr(stmt, "finalbody"):
                # ``except*``: a class of its own, that Python 3.10 does not have.
                return self._try(cast("ast.Try", stmt), state)
            case _:
                for child in children(stmt):
                    self.evaluate(child, state)
        return state

    def _assignment(self, stmt: ast.Assign, state: State) -> None:
        uses, value = self.evaluate(stmt.value, state), stmt.value
        if isinstance(value, ast.Await):
            value = value.value  # what the call gives, once it has
        if isinstance(value, ast.NamedExpr):
            value = value.target
            uses = self._states.read(state, value, (value.id,))
        for target in named_first(stmt):
            self._assign(target, value, uses, state, Kind.ASSIGN)
            path = path_of(target)
            if path is not None and is_made(value) and len(stmt.targets) > 1:
                # ``a = b = tf.sin(x)``: the other targets are names of the same value.
                value = target
                uses = self._states.read(state, value, path)

    def _delete(self, stmt: ast.Delete, state: State) -> None:
        for target in stmt.targets:
            path = path_of(target)
            if path is not None and len(path) == 1:
                state.pop(path, None)
            else:
                self.evaluate(target, state)

    def _define(self, stmt: ast.FunctionDef | ast.AsyncFunctionDef, state: State) -> None:
        uses = NONE
        for expr in [*stmt.decorator_list, *defaults(stmt.args)]:
            uses |= self.evaluate(expr, state)
        self._capture(stmt, (stmt.name,), Kind.FUNCTION, uses, state)
        if stmt.decorator_list:
            self._decorate(stmt, uses, state)
        self._hand_to_decorators(stmt, state)

    def _with(self, stmt: ast.With | ast.AsyncWith, state: State) -> State | None:
        for item in stmt.items:
            uses = self.evaluate(item.context_expr, state)
            self._pass(item.context_expr, uses, state)
            if item.optional_vars is not None:
                self._assign(item.optional_vars, item.context_expr, uses, state, Kind.WITH)
        if any(map(self._may_swallow, stmt.items)):
            end = self._states.join(*self._breakable(stmt.body, state))
        else:
            end = self.block(stmt.body, state)
        for item in stmt.items if end is not None else ():
            self._pass(item.context_expr, self._states.uses_in(item.context_expr), end)
        return end

    def _may_swallow(self, item: ast.withitem) -> bool:
        """Whether what is entered may go on where an exception broke the statements off."""
        made = item.context_expr
        path = path_of(made.func) if isinstance(made, ast.Call) else None
        name = path[-1].lstrip(".") if path is not None else ""
        return name in _SWALLOWING or name in self._swallowing

    def _pass(self, manager: ast.expr, uses: Uses, state: State | None) -> None:
        """Has an object changed, where that is entered, or left, or is an operand for what the
        operator does: all run code of its own.
        """
        path = path_of(manager)
        if path is not None and state is not None:
            if any(is_object(d) for d in self._states.meant(state, path)):
                self._states.change_everywhere(state, manager, path, uses)
                self._states.change(state, manager, path, uses)

    def _loop(self, stmt: Loop, state: State) -> State | None:
        iterated = NONE if isinstance(stmt, ast.While) else self.evaluate(stmt.iter, state)
        self._states.loops.append(stmt)
        entry: State = dict(state)
        after: State | None = None
        once = len(self._states.loops) > _DEEP and self._first_round
        around = self._first_round
        for self._first_round in (True,) if once else (True, False):
            head = dict(entry)
            breaks: list[State] = []
            continues: list[State] = []
            self._exits.append((breaks, continues))
            if isinstance(stmt, ast.While):
                self.evaluate(stmt.test, head)
            else:
                self._take(stmt.target, stmt.iter, iterated, head, Kind.LOOP)
            body = self.block(stmt.body, dict(head))
            self._exits.pop()
            back = self._states.join(body, *continues)
            if back is not None:
                back = {p: self._carry(uses, stmt) for p, uses in back.items()}
            entry = self._states.join(entry, back) or entry
            always = isinstance(stmt, ast.While) and _is_true(stmt.test)
            end = None if always else self.block(stmt.orelse, dict(entry))
            after = self._states.join(end, *breaks)
        self._first_round = around
        self._states.loops.pop()
        if after is None:
            return None
        return {p: self._settle(uses, stmt) for p, uses in after.items()}

    def _carry(self, uses: Uses, loop: ast.stmt) -> Uses:
        inside = [u for u in uses if loop in u.made.loops]
        if not inside:
            return uses
        carried = {self._states.use(u.made, self._rounds(u.carried | {loop})) for u in inside}
        return uses.difference(inside).union(carried)

    def _rounds(self, carried: frozenset[ast.stmt]) -> frozenset[ast.stmt]:
        """Of the deeper loops the outermost alone: of all there are as many sets as powers of two.

        What is carried round one further in is so without the others as well.
        """
        deep = [loop for loop in self._states.loops[_DEEP:] if loop in carried]
        return carried.difference(deep[1:])

    def _settle(self, uses: Uses, loop: ast.stmt) -> Uses:
        carried = [u for u in uses if loop in u.carried]
        if not carried:
            return uses
        settled = {self._states.use(u.made, u.carried - {loop}) for u in carried}
        return uses.difference(carried).union(settled)

    def _try(self, stmt: ast.Try, state: State) -> State | None:
        current, seen = self._breakable(stmt.body, state)
        ends = [self.block(stmt.orelse, current) if current is not None else None]
        for handler in stmt.handlers:
            entry = dict(seen)
            if handler.type is not None:
                self.evaluate(handler.type, entry)
            if handler.name:
                self._states.bind(entry, handler, (handler.name,), Kind.EXCEPT, None, NONE)
            ends.append(self.block(handler.body, entry))
        end = self._states.join(*ends)
        if not stmt.finalbody:
            return end
        through = self.block(stmt.finalbody, dict(end) if end is not None else dict(seen))
        return through if end is not None else None

    def _match(self, stmt: ast.Match, state: State) -> State | None:
        uses = self.evaluate(stmt.subject, state)
        ends: list[State | None] = [dict(state)]
        for case in stmt.cases:
            entry = dict(state)
            for node in walk(case.pattern):
                name = getattr(node, "name", None) or getattr(node, "rest", None)
                if isinstance(name, str):
                    self._states.bind(entry, node, (name,), Kind.ELEMENT, stmt.subject, uses)
            if case.guard is not None:
                self.evaluate(case.guard, entry)
            ends.append(self.block(case.body, entry))
        return self._states.join(*ends)

    def _capture(
        self,
        node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef,
        path: Path,
        kind: Kind,
        uses: Uses,
        state: State,
    ) -> None:
        uses |= self._free(node, state)
        self._states.bind(state, node, path, kind, None, uses)
        made = self._states.defs[node, path]
        made.code, made.parts = free_names(node), free_parts(node)
        if isinstance(node, ast.ClassDef):
            # What methods of a class above read, those of this one may as well.
            names = (n.id for base in node.bases for n in walk(base) if isinstance(n, ast.Name))
            made.code |= frozenset(names)
        else:
            made.alters, made.hands = self._altered(node)
            self._states.hold(made, [*node.decorator_list, *defaults(node.args)])

    def _hand_to_decorators(
        self, stmt: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef, state: State
    ) -> None:
        """Has decorators do what they do to their objects: ``@net.register``, ``@hooks.append``."""
        for call in reversed(kept(stmt, _decorators_called)):
            self.evaluate(call, state)
            # It stands nowhere in the text.
            for part in (call, *call.args):
                self._states.reads.pop(part, None)
            for (node, _), made in self._states.defs.items():
                if node is call:
                    made.value = None

    def _decorate(
        self, node: ast.FunctionDef | ast.AsyncFunctionDef, uses: Uses, state: State
    ) -> None:
        """What decorators change that functions of this scope are: they may run ``node``."""
        made = self._states.defs[node, (node.name,)]
        for use in uses:
            made.alters = united(made.alters, use.made.alters)
            made.hands = united(made.hands, use.made.hands)
        altered = {name for use in uses for name in use.made.alters}
        for name in sorted(altered - {node.name}):
            self._states.change_everywhere(state, node, (name,), uses | made.uses)
            self._states.change(state, node, (name,), uses | made.uses)


def _decorators_called(stmt: ast.AST) -> tuple[ast.Call, ...]:
    """The calls of its decorators that a definition makes: ``net.register(hook)``.

    Functions by their names keep what they are handed where others look for it.
    """
    assert isinstance(stmt, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
    return tuple(
        ast.copy_location(
            ast.Call(each, [ast.copy_location(ast.Name(stmt.name, ast.Load()), each)], []), each
        )
        for each in stmt.decorator_list
        if (path_of(decorator_itself(each)) or ("", ""))[1:]
        or path_of(decorator_itself(each)) == ("partial",)
    )


def _is_true(test: ast.expr) -> bool:
    return isinstance(test, ast.Constant) and bool(test.value)
