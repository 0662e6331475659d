"""The statements of a scope, gone through one after the other: abstract execution.

Loops are run twice, so that a value carried round is seen; a use that came round a loop says so.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Mapping, Set
from typing import cast

from tapemigrate.flow.changers import CHANGERS, changed_by_handed, put_into
from tapemigrate.flow.definitions import HIDDEN, NONE, Def, Effect, Kind, Uses, united
from tapemigrate.flow.functions import Function, defaults, free_names
from tapemigrate.flow.objects import calls_one_of, is_object
from tapemigrate.flow.paths import Path, path_of
from tapemigrate.flow.states import State, States
from tapemigrate.flow.unpacking import named_first, pairs, zipped
from tapemigrate.source.trees import arguments_of, children, walk

Loop = ast.For | ast.AsyncFor | ast.While
# What reads names that do not stand there, and gives access to them.
_READING_ALL = frozenset({"eval", "locals"})
_OF_SCOPES = {("globals",), ("locals",), ("vars",)}


# What goes on where an exception was raised: of the standard library, and of tests.
_SWALLOWING = frozenset(
    {"suppress", "ignored", "raises", "assertRaises", "assertRaisesRegex", "assertRaisesRegexp"}
)


class Execution:
    """Goes through statements and expressions, and tells ``states`` what they define and read.

    ``effect`` says what a call changes, ``altered`` which outer names a function may give something
    where it runs, or what these hold, and which it hands to what is out of sight, ``swallowing``
    what goes on, entered by a ``with``, where an exception was raised. ``complete`` are classes
    whose calls keep what ``effect`` says, and nothing else. ``runs`` tells what a call may call by
    another name, or of what it is handed. Of the paths ``parts_read`` parts are
    read. ``returns`` lists the return statements, ``yields`` tells whether there is a ``yield``,
    and ``met`` what an object is, and its parts are, where a method of it is called.
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
        self.returns: list[ast.Return] = []
        self.yields = False
        self.met: dict[ast.AST, State] = {}
        self._states = states
        self._effect = effect
        self._altered = altered
        self._swallowing = swallowing
        self._complete = complete
        self._parts_read = parts_read
        self._runs = runs
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

    def _statement(self, stmt: ast.stmt, state: State) -> State | None:
        match stmt:
            case ast.Assign():
                uses, value = self.evaluate(stmt.value, state), stmt.value
                if isinstance(value, ast.NamedExpr):
                    value = value.target
                    uses = self._states.read(state, value, (value.id,))
                for target in named_first(stmt):
                    self._assign(target, value, uses, state, Kind.ASSIGN)
                    path = path_of(target)
                    if path is not None and _is_made(value) and len(stmt.targets) > 1:
                        # ``a = b = tf.sin(x)``: the other targets are names of the same value.
                        value = target
                        uses = self._states.read(state, value, path)
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
            case ast.Match():
                return self._match(stmt, state)
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                uses = NONE
                for expr in [*stmt.decorator_list, *defaults(stmt.args)]:
                    uses |= self.evaluate(expr, state)
                self._capture(stmt, (stmt.name,), Kind.FUNCTION, uses, state)
                if stmt.decorator_list:
                    self._decorate(stmt, uses, state)
            case ast.ClassDef():
                uses = NONE
                for expr in [*stmt.decorator_list, *stmt.bases, *(k.value for k in stmt.keywords)]:
                    uses |= self.evaluate(expr, state)
                self._capture(stmt, (stmt.name,), Kind.CLASS, uses, state)
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
                for target in stmt.targets:
                    path = path_of(target)
                    if path is not None and len(path) == 1:
                        state.pop(path, None)
                    else:
                        self.evaluate(target, state)
            case ast.Try():
                return self._try(stmt, state)
            case _ if hasattr(stmt, "finalbody"):
                # ``except*``: a class of its own, that Python 3.10 does not have.
                return self._try(cast("ast.Try", stmt), state)
            case _:
                for child in children(stmt):
                    self.evaluate(child, state)
        return state

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
        for _ in range(2):
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
        self._states.loops.pop()
        if after is None:
            return None
        return {p: self._settle(uses, stmt) for p, uses in after.items()}

    def _carry(self, uses: Uses, loop: ast.stmt) -> Uses:
        inside = [u for u in uses if loop in u.made.loops]
        if not inside:
            return uses
        carried = {self._states.use(u.made, u.carried | {loop}) for u in inside}
        return uses.difference(inside).union(carried)

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

    def _assign(
        self, target: ast.expr, value: ast.expr, uses: Uses, state: State, kind: Kind
    ) -> None:
        if isinstance(target, ast.Starred):
            self._assign(target.value, value, uses, state, Kind.ELEMENT)
            return
        if isinstance(target, ast.Tuple | ast.List):
            parts = pairs(target, value) if kind is Kind.ASSIGN else None
            if parts is not None:
                for part, expr in parts:
                    self._assign(part, expr, self._states.uses_in(expr), state, kind)
            else:
                inner = Kind.ELEMENT if kind is Kind.ASSIGN else kind
                for part in target.elts:
                    self._assign(part, value, uses, state, inner)
            return
        path = path_of(target)
        if path is not None:
            if len(path) > 1:
                self._states.lookup(state, path[:-1])
                owner = path[: path.index(".__dict__")] if ".__dict__" in path else path[:-1]
                self._states.change_everywhere(state, target, owner, uses)
                computed = self._states.is_computed(state, path)
                if owner != path[:-1] or computed:
                    self._states.change(state, target, owner, uses)
                if computed:
                    return
            if kind is Kind.AUGMENT and any(is_object(d) for d in self._states.meant(state, path)):
                self._states.change_everywhere(state, target, path, uses)
            self._states.bind(state, target, path, kind, value, uses)
            return
        base = target
        while isinstance(base, ast.Subscript | ast.Attribute) and path_of(base) is None:
            if isinstance(base, ast.Subscript):
                uses |= self.evaluate(base.slice, state)
            base = base.value
        if isinstance(base, ast.Call) and path_of(base.func) == ("vars",) and base.args:
            base = base.args[0]
        elif isinstance(base, ast.Call) and path_of(base.func) in _OF_SCOPES:
            for known in list(state):
                self._states.change(state, target, known, uses, aliases=False)
            return
        if isinstance(base, ast.Call):
            # ``d.setdefault(k, {})[i] = h``: what is given may be a part of the object.
            self.evaluate(base, state)
            while isinstance(base, ast.Call | ast.Attribute | ast.Subscript) and not path_of(base):
                base = base.func if isinstance(base, ast.Call) else base.value
            base = base.value if isinstance(base, ast.Attribute) else base
        path = path_of(base)
        if path is not None:
            self._states.change_everywhere(state, target, path, uses)
            self._states.change(state, target, path, uses, put=[value])
        else:
            self.evaluate(base, state)

    def _take(
        self, target: ast.expr, iterated: ast.expr, uses: Uses, state: State, kind: Kind
    ) -> None:
        """``for a, b in zip(c, d)`` takes ``a`` from ``c`` alone, and ``b`` from ``d``."""
        parts = zipped(target, iterated)
        if parts is None:
            self._assign(target, iterated, uses, state, kind)
        else:
            for part, expr in parts:
                self._take(part, expr, self._states.uses_in(expr), state, kind)

    # -- expressions ----------------------------------------------------------------------------

    def evaluate(self, node: ast.AST, state: State) -> Uses:
        """What the value of an expression is made of."""
        path = path_of(node) if isinstance(node, ast.expr) else None
        if path is not None:
            return self._states.read(state, node, path)
        match node:
            case ast.Constant():
                return NONE
            case ast.Call():
                return self._call(node, state)
            case ast.BinOp():
                operands: list[ast.expr] = []
                while isinstance(node, ast.BinOp):
                    operands.append(node.right)
                    node = node.left
                found = self.evaluate(node, state)
                for operand in reversed(operands):
                    found |= self.evaluate(operand, state)
                return found
            case ast.NamedExpr():
                uses = self.evaluate(node.value, state)
                self._assign(node.target, node.value, uses, state, Kind.ASSIGN)
                return self._states.read(state, node.target, (node.target.id,))
            case ast.Lambda():
                made = self._states.define(node, ("<lambda>",), Kind.FUNCTION, node)
                for expr in defaults(node.args):
                    made.uses = united(made.uses, self.evaluate(expr, state))
                made.uses = united(made.uses, self._free(node, state))
                made.code = free_names(node)
                made.alters, made.hands = self._altered(node)
                self._states.reads[node] = frozenset({self._states.use(made)})
                return self._states.reads[node]
            case ast.ListComp() | ast.SetComp() | ast.GeneratorExp() | ast.DictComp():
                return self._comprehension(node, state)
            case ast.Yield() | ast.YieldFrom():
                self.yields = True
        found = NONE
        for child in children(node):
            found |= self.evaluate(child, state)
        return found

    def _call(self, call: ast.Call, state: State) -> Uses:
        found = self.evaluate(call.func, state)
        unnamed = NONE.union(*state.values()) if reads_all(call) else NONE
        if isinstance(call.func, ast.Attribute) and path_of(call.func) is not None:
            # A method sees all of its object, not only the attribute by which it is reached.
            found |= self.evaluate(call.func.value, state)
            self._meet(call.func.value, state)
        for arg in call.args:
            found |= self.evaluate(arg, state)
        for keyword in call.keywords:
            found |= self.evaluate(keyword.value, state)
        effect = self._effect(call)
        for each in self._runs(call, self._states.reads):
            effect = effect.joined(self._effect(each))
        if effect.above and isinstance(call.func, ast.Attribute):
            # ``super().build()`` sees all of the object, which it does not name.
            found |= self._states.read(state, call.func.value, (effect.above,))
        if effect.reads_hidden:
            unnamed |= self._states.lookup(state, HIDDEN)
        if unnamed:
            # What it finds that no name in the call shows.
            self._states.reads[call] = unnamed | self._states.reads.get(call, NONE)
            found |= unnamed
        if effect.writes_hidden:
            self._states.change(state, call, HIDDEN, found)
        # Functions that are handed on may run as well as the one that is called.
        altered = {name for use in found for name in use.made.alters}
        changes = [*effect.changes, *self._bound(call, state)]
        changes += [ast.Name(name, ast.Load()) for name in sorted(altered)]
        handed = {name for use in found for name in use.made.hands} - altered
        for name in sorted(handed):
            if any(map(_is_container, self._states.meant(state, (name,)))):
                changes.append(ast.Name(name, ast.Load()))
        copied = {k.value for k in call.keywords if k.arg is None}  # ``**rest``
        alone = isinstance(self._states.stmt, ast.Expr) and self._states.stmt.value is call
        for expr in effect.objects:
            path = path_of(expr)
            if self._is_object(expr, state):
                changes.append(expr)
            elif path is not None and alone and expr not in copied:
                # What nobody needs the result of is called for what it does to what it is handed.
                self._states.change_parts(state, call, path, found)
        self._states.set_anywhere(state, call, effect.sets, found)
        path = path_of(effect.called)
        if path is not None and path in self._parts_read and not self._is_complete(state, path):
            self._states.change_parts(state, call, path, found)
        for expr in changes:
            path = path_of(expr)
            if path is not None:
                if ".__dict__" in path:
                    path = path[: path.index(".__dict__")]
                put = _put(call, expr)
                # A list gets another element, and those it has stay what they are.
                held = not put or not all(map(_is_container, self._states.meant(state, path)))
                self._states.change_everywhere(state, call, path, found, held=held)
                if expr in copied:
                    continue  # what it holds changes, and it does not
                self._states.change(
                    state, call, path, found, aliases=path[0] not in effect.rebinds, put=put
                )
        for expr in effect.contents:
            path = path_of(expr)
            if path is not None and any(
                _is_container(u.made) for u in self._states.lookup(state, path)
            ):
                self._states.change_everywhere(state, call, path, found)
                self._states.change(state, call, path, found)
        return found

    def _is_complete(self, state: State, path: Path) -> bool:
        made = self._states.lookup(state, path)
        return bool(made) and all(calls_one_of(use.made, self._complete) for use in made)

    def _meet(self, owner: ast.expr, state: State) -> None:
        path = path_of(owner)
        assert path is not None
        above = (path[:end] for end in range(1, len(path) + 1))
        here = {p: state[p] for p in (*above, *self._states.below.get(path, ())) if p in state}
        self.met[owner] = self._states.join(self.met.get(owner), here) or here

    def _bound(self, call: ast.Call, state: State) -> list[ast.expr]:
        """What methods change that are passed on, or have a name: ``map(found.append, x)``.

        And functions that hold some of their arguments already: ``partial(f, out=found)``.
        """
        found, partials = changed_by_handed(call), [call.func, *arguments_of(call)]
        if isinstance(call.func, ast.Name):
            made = (u.made for u in self._states.reads.get(call.func, NONE))
            for value in (d.value for d in made if d.kind is Kind.ASSIGN):
                if isinstance(value, ast.Attribute):
                    found += put_into(ast.Call(value, call.args, call.keywords))
                elif isinstance(value, ast.Call):  # ``add = partial(list.append, rows)``
                    found += changed_by_handed(value)
                    partials.append(value)
        for each in partials:
            if isinstance(each, ast.Call) and _is_partial(each):
                effect = self._effect(ast.Call(each.args[0], each.args[1:], each.keywords))
                found += [
                    *effect.changes,
                    *(e for e in effect.objects if self._is_object(e, state)),
                ]
        return found

    def _is_object(self, expr: ast.expr, state: State) -> bool:
        path = path_of(expr)
        return path is not None and any(is_object(d) for d in self._states.meant(state, path))

    def _comprehension(
        self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp, state: State
    ) -> Uses:
        inner = dict(state)
        found: Uses = NONE
        for generator in node.generators:
            uses = self.evaluate(generator.iter, inner)
            found |= uses
            self._take(generator.target, generator.iter, uses, inner, Kind.COMPREHENSION)
            for test in generator.ifs:
                self.evaluate(test, inner)
        parts = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
        for part in parts:
            found |= self.evaluate(part, inner)
        bound = {n.id for g in node.generators for n in walk(g.target) if isinstance(n, ast.Name)}
        for path, uses in inner.items():
            if path[0] not in bound:
                state[path] = uses
        return found

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
        made.code = free_names(node)
        if not isinstance(node, ast.ClassDef):
            made.alters, made.hands = self._altered(node)

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

    def _free(self, node: ast.AST, state: State) -> Uses:
        """What a nested scope takes from here. Its own names are not this scope's to read."""
        found: Uses = NONE
        for name in free_names(node):
            if (name,) in state:
                found |= self._states.whole(state, (name,))
        return found


def _is_partial(call: ast.Call) -> bool:
    """``functools.partial(f, x)``."""
    path = path_of(call.func)
    return path is not None and path[-1].lstrip(".") == "partial" and bool(call.args)


def reads_all(call: ast.Call) -> bool:
    """Whether the call may read names that do not stand there."""
    return isinstance(call.func, ast.Name) and call.func.id in _READING_ALL


def _is_made(value: ast.expr) -> bool:
    """Whether evaluating it again would give another object."""
    return not isinstance(value, ast.Constant) and path_of(value) is None


def _is_container(made: Def) -> bool:
    if made.kind is Kind.MUTATE:
        return True
    value = made.value
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Name):
        return value.func.id in ("list", "dict", "set", "defaultdict", "OrderedDict", "deque")
    return made.kind is Kind.ASSIGN and isinstance(
        value, ast.List | ast.Dict | ast.Set | ast.ListComp | ast.DictComp | ast.SetComp
    )


def _is_true(test: ast.expr) -> bool:
    return isinstance(test, ast.Constant) and bool(test.value)


def _put(call: ast.Call, owner: ast.expr) -> list[ast.expr]:
    """What the call passes that may be in ``owner`` from then on: ``found.append(x)``."""
    match call.func:
        case ast.Attribute(value=value, attr=attr) if value is owner and attr in CHANGERS:
            return arguments_of(call)
        case ast.Name(id="setattr"):
            return call.args[2:]
    return []
