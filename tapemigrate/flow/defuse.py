"""Definitions and uses inside one scope, by abstract execution of its statements.

Every value that a statement makes is a ``Def``; its ``uses`` are the definitions that reach it. The
states that flow along the statements map access paths to the definitions that may hold there.
Loops are run twice, so that a value carried round is seen; a use that came round a loop says so.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Sequence, Set
from typing import cast

from tapemigrate.flow.definitions import HIDDEN, Def, Effect, Kind, Use, Uses
from tapemigrate.flow.effects import CHANGERS
from tapemigrate.flow.functions import Scope, _defaults, free_names, parameters, shared_names
from tapemigrate.flow.objects import Objects, calls_one_of, is_object
from tapemigrate.flow.paths import Path, path_of
from tapemigrate.flow.slices import backward
from tapemigrate.source.trees import children, walk

Loop = ast.For | ast.AsyncFor | ast.While
# What reads names that do not stand there, and gives access to them.
_READING_ALL = frozenset({"eval", "locals"})
_OF_SCOPES = {("globals",), ("locals",), ("vars",)}
# Of so many names each is taken for one of an object, without a look at all of them for each other.
_MANY = 30
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


State = dict[Path, Uses]
_NONE: Uses = frozenset()
# At the end of a path: all parts of an object, which may be none, but a tensor.
_PARTS = ".<parts>"


_NO_VALUES = (Kind.PARAM, Kind.ENTRY, Kind.IMPORT, Kind.FUNCTION, Kind.CLASS)
_FROM_OUTSIDE = (Kind.PARAM, Kind.ENTRY, Kind.MUTATE)
_SET = (Kind.ASSIGN, Kind.ELEMENT, Kind.WITH, Kind.LOOP)
_CHANGES = (Kind.ASSIGN, Kind.AUGMENT, Kind.MUTATE)


class Flow:
    """The definitions and uses of one scope.

    ``effect`` says what a call changes, ``properties`` are attributes that methods compute of their
    object, or set on it, ``hooked`` the classes that do so for all. ``reads`` gives, for every path
    that is read, the definitions that may reach it; ``returns`` lists the return statements.
    """

    def __init__(
        self,
        scope: Scope,
        effect: Callable[[ast.Call], Effect],
        properties: Set[str] = frozenset(),
        hooked: Set[str] = frozenset(),
    ) -> None:
        self.scope = scope
        self._properties = properties
        self._hooked = hooked
        self.reads: dict[ast.AST, Uses] = {}
        self.returns: list[ast.Return] = []
        self.yields = False
        self.defs: dict[tuple[ast.AST | None, Path], Def] = {}
        self._given: dict[str, list[Def]] | None = None
        self._effect = effect
        # What an object is, and its parts are, where a method of it is called.
        self._met: dict[ast.AST, State] = {}
        self._objects = Objects(self.reads)
        # The longer paths that are known, by each path that they begin with.
        self._below: dict[Path, set[Path]] = {}
        self._outside: dict[Def, bool] = {}
        # The names that were given what a path holds.
        self._named: dict[Path, set[Path]] = {}
        self._loops: list[Loop] = []
        self._exits: list[tuple[list[State], list[State]]] = []
        self._shared = shared_names(scope)
        self._stmt: ast.stmt | None = None
        state: State = {}
        if not isinstance(scope, ast.Module):
            for arg in parameters(scope.args):
                made = self._define(arg, (arg.arg,), Kind.PARAM, None)
                state[made.path] = frozenset({Use(made)})
                self._know(made.path)
        if isinstance(scope, ast.Lambda):
            self._eval(scope.body, state)
        else:
            self._block(scope.body, state)

    def given(self, name: str) -> Sequence[Def]:
        """What statements of this scope give a name, or a part of it: values, and no functions."""
        if self._given is None:
            self._given = {}
            for made in self.defs.values():
                if made.kind not in _NO_VALUES:
                    self._given.setdefault(made.path[0], []).append(made)
        return self._given.get(name, ())

    def uses_in(self, node: ast.AST) -> Uses:
        """Every definition that an expression of this scope reads."""
        found: set[Use] = set()
        stack = [node]
        while stack:
            n = stack.pop()
            found |= self.reads.get(n, _NONE)
            stack.extend(children(n))
        return frozenset(found)

    def read_late(self, node: ast.AST, path: Path, holder: Def) -> None:
        """Has the body of a nested function, which ``holder`` defines, read a path of this scope.

        What it reads when it runs is what reached its definition.
        """
        state: dict[Path, set[Use]] = {}
        for use in holder.uses:
            state.setdefault(use.made.path, set()).add(use)
        self._read({path: frozenset(uses) for path, uses in state.items()}, node, path)

    def run_early(self, node: ast.expr, holder: Def, stmt: ast.stmt) -> None:
        """Has an expression of a nested function run where ``holder`` defines that, in ``stmt``."""
        state: dict[Path, set[Use]] = {}
        for use in holder.uses:
            state.setdefault(use.made.path, set()).add(use)
        outer, self._stmt = self._stmt, stmt
        self._eval(node, {path: frozenset(uses) for path, uses in state.items()})
        self._stmt = outer

    def read_at(self, node: ast.AST, path: Path, owner: ast.expr) -> bool:
        """Has ``node`` read a part of the object ``owner`` as it is where a method of it is called.

        False where no such call is.
        """
        state = self._met.get(owner)
        if state is None:
            return False
        self._read(dict(state), node, path)
        return True

    def changes_of(self, node: ast.expr) -> list[Def]:
        """By what the object that ``node`` reads changes in this scope, but for what it reads.

        Methods of what holds the object are left out.
        """
        path, uses = path_of(node), self.reads.get(node, _NONE)
        if path is None:
            return []
        known = backward(uses).made
        objects = self._objects.reached(uses, path)
        names = {path} | {
            made.path
            for made in self.defs.values()
            if made.path != HIDDEN
            and not objects.isdisjoint(self._objects.meant({Use(made)}, made.path))
        }
        found: list[Def] = []
        for made in self.defs.values():
            if made in known or made.kind not in _CHANGES:
                continue
            if made.kind is Kind.ASSIGN:
                changes = any(made.path[:end] in names for end in range(1, len(made.path)))
            else:
                changes = made.path in names and _is_handed(made.value, names)
            if changes:
                found.append(made)
        return found

    def read_as(self, node: ast.AST, path: Path, value: ast.expr | None, stmt: ast.stmt) -> None:
        """Has a name of a nested function, made in ``stmt`` of this scope, read as its value."""
        made = Def(path, Kind.ASSIGN, stmt, value, order=len(self.defs))
        made.uses |= self.uses_in(value) if value is not None else _NONE
        self.reads[node] = frozenset({Use(made)})

    # -- states ---------------------------------------------------------------------------------

    def _know(self, path: Path) -> None:
        for end in range(1, len(path)):
            self._below.setdefault(path[:end], set()).add(path)

    def _define(self, node: ast.AST | None, path: Path, kind: Kind, value: ast.expr | None) -> Def:
        key = (node, path)
        made = self.defs.get(key)
        if made is None:
            outside = kind in (Kind.PARAM, Kind.ENTRY)
            loops = frozenset[ast.stmt]() if outside else frozenset[ast.stmt](self._loops)
            stmt = None if outside else self._stmt
            made = Def(path, kind, stmt, value, loops=loops, order=len(self.defs))
            self.defs[key] = made
            if outside:
                self._objects.bound(made)
        return made

    def _bind(
        self,
        state: State,
        node: ast.AST,
        path: Path,
        kind: Kind,
        value: ast.expr | None,
        uses: Uses,
    ) -> None:
        made = self._define(node, path, kind, value)
        made.uses |= uses
        if value is not None and _passes_code_on(value):
            made.code = made.code.union(*(u.made.code for u in uses))
        if kind is Kind.ASSIGN and value is not None and (other := path_of(value)) is not None:
            self._named.setdefault(other, set()).add(path)
        self._objects.bound(made)
        for known in (*self._below.get(path, ()), (*path, _PARTS)):
            state.pop(known, None)
        self._know(path)
        state[path] = frozenset({Use(made)})

    def _change(
        self, state: State, node: ast.AST, path: Path, uses: Uses, aliases: bool = True
    ) -> None:
        """The object at ``path`` changes in place: what it was made of stays part of it."""
        before = self._lookup(state, path)
        made = self._define(node, path, Kind.MUTATE, node if isinstance(node, ast.Call) else None)
        earlier = {use for use in before if use.made is not made}
        if made in self._outside and not earlier <= made.before:
            self._outside.clear()
        made.before |= earlier
        self._objects.changed(made, earlier)
        made.uses |= {use for use in before | uses if use.made is not made or use.carried}
        here = Use(made)
        for known in self._below.get(path, ()):
            if known in state:
                state[known] = state[known] | {here}
        self._know(path)
        state[path] = frozenset({here})
        for use in before if aliases else ():
            alias = path_of(use.made.value) if use.made.value is not None else None
            if use.made.kind is Kind.ASSIGN and alias is not None and alias in state:
                state[alias] = state[alias] | {here}
        for name in self._named.get(path, ()) if aliases else ():
            # What has the object by another name still, and was given it as it was then.
            own = state.get(name, _NONE)
            given = {use for u in own if _is_name_of(u.made, path) for use in u.made.uses}
            if (given | own) & before:
                state[name] = own | {here}

    def _change_everywhere(
        self, state: State, node: ast.AST, path: Path, uses: Uses, held: bool = False
    ) -> None:
        """The object at ``path`` has changed: so it has by its other names, and what holds it.

        ``held``: what it holds may have changed as well.
        """
        before = self._lookup(state, path)
        search = self._objects.reached if held else self._objects.meant
        changed = search(before, path)
        names = self._objects.names(changed)
        for other in names:
            if other == HIDDEN or other[: len(path)] == path or path[: len(other)] == other:
                continue
            there = state.get(other)
            if there and (
                len(names) > _MANY or not changed.isdisjoint(self._objects.reached(there, other))
            ):
                self._change(state, node, other, uses, aliases=False)

    def _lookup(self, state: State, path: Path) -> Uses:
        """What the path itself may hold (not the parts of it that were set on their own)."""
        for end in range(len(path), 0, -1):
            prefix = path[:end]
            found = state.get(prefix)
            if found is None:
                continue
            if end == len(path) or not all(self._is_from_outside(u.made) for u in found):
                return found
            made = self._define(None, path, Kind.ENTRY, None)
            made.uses |= found
            self._know(path)
            state[path] = frozenset({Use(made)})
            return state[path]
        root = self._define(None, path[:1], Kind.ENTRY, None)
        self._know(root.path)
        state[root.path] = frozenset({Use(root)})
        return self._lookup(state, path) if len(path) > 1 else state[root.path]

    def _read(self, state: State, node: ast.AST, path: Path) -> Uses:
        found = set(self._lookup(state, path))
        for known in self._below.get(path, ()):
            found |= state.get(known, _NONE)
        for place in range(1, len(path)):
            changed = state.get((*path[:place], _PARTS), _NONE)
            if changed and not _is_set_after(state.get(path[: place + 1], _NONE), changed):
                found |= changed
        for place in range(1, len(path)) if self._properties or self._hooked else ():
            if self._is_computed(state, path[: place + 1]):
                for known in self._below.get(path[:place], ()):
                    found |= state.get(known, _NONE)
        self._captured(state, found)
        result = frozenset(found) | self.reads.get(node, _NONE)
        self.reads[node] = result
        return frozenset(found)

    def _captured(self, state: State, found: set[Use]) -> None:
        """Adds what functions among ``found`` read from here when they run: names bind late."""
        names: set[str] = set()
        fresh: set[str] = set()
        for use in found:
            if use.made.code:
                fresh |= use.made.code
        while fresh:
            names |= fresh
            uses: set[Use] = set()
            for name in fresh:
                uses |= self._whole(state, (name,))
            found |= uses
            fresh = set().union(*(u.made.code for u in uses)) - names if uses else set()

    def _join(self, *states: State | None) -> State | None:
        alive = [s for s in states if s is not None]
        if len(alive) < 2:
            return alive[0] if alive else None
        joined: State = {}
        for key in set().union(*alive):
            parts = [s.get(key) for s in alive]
            if parts[0] is not None and all(p is parts[0] for p in parts):
                joined[key] = parts[0]
                continue
            if any(p is None for p in parts) and (len(key) > 1 or key[0] in self._shared):
                parts = [self._lookup(s, key) for s in alive]
            joined[key] = _NONE.union(*(p for p in parts if p is not None))
        return joined

    # -- statements -----------------------------------------------------------------------------

    def _block(self, body: Iterable[ast.stmt], state: State | None) -> State | None:
        for stmt in body:
            if state is None:
                # Nothing reaches here; it is read all the same, so that no call stays unseen.
                state = {}
            outer, self._stmt = self._stmt, stmt
            state = self._statement(stmt, state)
            self._stmt = outer
        return state

    def _statement(self, stmt: ast.stmt, state: State) -> State | None:
        match stmt:
            case ast.Assign():
                uses = self._eval(stmt.value, state)
                for target in stmt.targets:
                    self._assign(target, stmt.value, uses, state, Kind.ASSIGN)
            case ast.AnnAssign():
                if stmt.value is not None:
                    uses = self._eval(stmt.value, state)
                    self._assign(stmt.target, stmt.value, uses, state, Kind.ASSIGN)
            case ast.AugAssign():
                uses = self._eval(stmt.value, state) | self._eval(stmt.target, state)
                self._assign(stmt.target, stmt.value, uses, state, Kind.AUGMENT)
            case ast.If():
                self._eval(stmt.test, state)
                other = dict(state)
                return self._join(self._block(stmt.body, state), self._block(stmt.orelse, other))
            case ast.For() | ast.AsyncFor() | ast.While():
                return self._loop(stmt, state)
            case ast.With() | ast.AsyncWith():
                for item in stmt.items:
                    uses = self._eval(item.context_expr, state)
                    if item.optional_vars is not None:
                        self._assign(item.optional_vars, item.context_expr, uses, state, Kind.WITH)
                return self._block(stmt.body, state)
            case ast.Match():
                return self._match(stmt, state)
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                uses = _NONE
                for expr in [*stmt.decorator_list, *_defaults(stmt.args)]:
                    uses |= self._eval(expr, state)
                self._capture(stmt, (stmt.name,), Kind.FUNCTION, uses, state)
            case ast.ClassDef():
                uses = _NONE
                for expr in [*stmt.decorator_list, *stmt.bases, *(k.value for k in stmt.keywords)]:
                    uses |= self._eval(expr, state)
                self._capture(stmt, (stmt.name,), Kind.CLASS, uses, state)
            case ast.Import() | ast.ImportFrom():
                for alias in stmt.names:
                    name = (alias.asname or alias.name).split(".")[0]
                    self._bind(state, alias, (name,), Kind.IMPORT, None, _NONE)
            case ast.Return():
                self.returns.append(stmt)
                if stmt.value is not None:
                    self._eval(stmt.value, state)
                return None
            case ast.Raise():
                for child in children(stmt):
                    self._eval(child, state)
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
                        self._eval(target, state)
            case ast.Try():
                return self._try(stmt, state)
            case _ if hasattr(stmt, "finalbody"):
                # ``except*``: a class of its own, that Python 3.10 does not have.
                return self._try(cast("ast.Try", stmt), state)
            case _:
                for child in children(stmt):
                    self._eval(child, state)
        return state

    def _loop(self, stmt: Loop, state: State) -> State | None:
        iterated = _NONE if isinstance(stmt, ast.While) else self._eval(stmt.iter, state)
        self._loops.append(stmt)
        entry: State = dict(state)
        after: State | None = None
        for _ in range(2):
            head = dict(entry)
            breaks: list[State] = []
            continues: list[State] = []
            self._exits.append((breaks, continues))
            if isinstance(stmt, ast.While):
                self._eval(stmt.test, head)
            else:
                self._take(stmt.target, stmt.iter, iterated, head, Kind.LOOP)
            body = self._block(stmt.body, dict(head))
            self._exits.pop()
            back = self._join(body, *continues)
            if back is not None:
                back = {p: _carry(uses, stmt) for p, uses in back.items()}
            entry = self._join(entry, back) or entry
            always = isinstance(stmt, ast.While) and _is_true(stmt.test)
            end = None if always else self._block(stmt.orelse, dict(entry))
            after = self._join(end, *breaks)
        self._loops.pop()
        if after is None:
            return None
        return {p: _settle(uses, stmt) for p, uses in after.items()}

    def _try(self, stmt: ast.Try, state: State) -> State | None:
        seen: State = dict(state)
        current: State | None = state
        for inner in stmt.body:
            current = self._block([inner], current)
            seen = self._join(seen, dict(current) if current is not None else None) or seen
        ends = [self._block(stmt.orelse, current) if current is not None else None]
        for handler in stmt.handlers:
            entry = dict(seen)
            if handler.type is not None:
                self._eval(handler.type, entry)
            if handler.name:
                self._bind(entry, handler, (handler.name,), Kind.EXCEPT, None, _NONE)
            ends.append(self._block(handler.body, entry))
        end = self._join(*ends)
        if not stmt.finalbody:
            return end
        through = self._block(stmt.finalbody, dict(end) if end is not None else dict(seen))
        return through if end is not None else None

    def _match(self, stmt: ast.Match, state: State) -> State | None:
        uses = self._eval(stmt.subject, state)
        ends: list[State | None] = [dict(state)]
        for case in stmt.cases:
            entry = dict(state)
            for node in walk(case.pattern):
                name = getattr(node, "name", None) or getattr(node, "rest", None)
                if isinstance(name, str):
                    self._bind(entry, node, (name,), Kind.ELEMENT, stmt.subject, uses)
            if case.guard is not None:
                self._eval(case.guard, entry)
            ends.append(self._block(case.body, entry))
        return self._join(*ends)

    def _assign(
        self, target: ast.expr, value: ast.expr, uses: Uses, state: State, kind: Kind
    ) -> None:
        if isinstance(target, ast.Starred):
            self._assign(target.value, value, uses, state, Kind.ELEMENT)
            return
        if isinstance(target, ast.Tuple | ast.List):
            parts = _pairs(target, value) if kind is Kind.ASSIGN else None
            if parts is not None:
                for part, expr in parts:
                    self._assign(part, expr, self.uses_in(expr), state, kind)
            else:
                inner = Kind.ELEMENT if kind is Kind.ASSIGN else kind
                for part in target.elts:
                    self._assign(part, value, uses, state, inner)
            return
        path = path_of(target)
        if path is not None:
            if len(path) > 1:
                self._lookup(state, path[:-1])
                owner = path[: path.index(".__dict__")] if ".__dict__" in path else path[:-1]
                self._change_everywhere(state, target, owner, uses)
                computed = self._is_computed(state, path)
                if owner != path[:-1] or computed:
                    self._change(state, target, owner, uses)
                if computed:
                    return
            if kind is Kind.AUGMENT and any(is_object(d) for d in self._meant(state, path)):
                self._change_everywhere(state, target, path, uses)
            self._bind(state, target, path, kind, value, uses)
            return
        base = target
        while isinstance(base, ast.Subscript | ast.Attribute) and path_of(base) is None:
            if isinstance(base, ast.Subscript):
                uses |= self._eval(base.slice, state)
            base = base.value
        if isinstance(base, ast.Call) and path_of(base.func) == ("vars",) and base.args:
            base = base.args[0]
        elif isinstance(base, ast.Call) and path_of(base.func) in _OF_SCOPES:
            for known in list(state):
                self._change(state, target, known, uses, aliases=False)
            return
        path = path_of(base)
        if path is not None:
            self._change_everywhere(state, target, path, uses)
            self._change(state, target, path, uses)
        else:
            self._eval(base, state)

    def _is_computed(self, state: State, path: Path) -> bool:
        """Whether a method of the object runs where that part of it is read, or set."""
        if path[-1] in self._properties:
            return True
        objects = self._meant(state, path[:-1]) if self._hooked else ()
        return any(calls_one_of(d, self._hooked) for d in objects)

    def _meant(self, state: State, path: Path) -> set[Def]:
        return self._objects.meant(self._lookup(state, path), path)

    def _take(
        self, target: ast.expr, iterated: ast.expr, uses: Uses, state: State, kind: Kind
    ) -> None:
        """``for a, b in zip(c, d)`` takes ``a`` from ``c`` alone, and ``b`` from ``d``."""
        parts = _zipped(target, iterated)
        if parts is None:
            self._assign(target, iterated, uses, state, kind)
        else:
            for part, expr in parts:
                self._take(part, expr, self.uses_in(expr), state, kind)

    # -- expressions ----------------------------------------------------------------------------

    def _eval(self, node: ast.AST, state: State) -> Uses:
        path = path_of(node) if isinstance(node, ast.expr) else None
        if path is not None:
            return self._read(state, node, path)
        match node:
            case ast.Constant():
                return _NONE
            case ast.BinOp():
                found: Uses = _NONE
                while isinstance(node, ast.BinOp):
                    found |= self._eval(node.right, state)
                    node = node.left
                return found | self._eval(node, state)
            case ast.Call():
                return self._call(node, state)
            case ast.NamedExpr():
                uses = self._eval(node.value, state)
                self._assign(node.target, node.value, uses, state, Kind.ASSIGN)
                return uses
            case ast.Lambda():
                made = self._define(node, ("<lambda>",), Kind.FUNCTION, node)
                for expr in _defaults(node.args):
                    made.uses |= self._eval(expr, state)
                made.uses |= self._free(node, state)
                made.code = free_names(node)
                self.reads[node] = frozenset({Use(made)})
                return self.reads[node]
            case ast.ListComp() | ast.SetComp() | ast.GeneratorExp() | ast.DictComp():
                return self._comprehension(node, state)
            case ast.Yield() | ast.YieldFrom():
                self.yields = True
        found = _NONE
        for child in children(node):
            found |= self._eval(child, state)
        return found

    def _call(self, call: ast.Call, state: State) -> Uses:
        found = self._eval(call.func, state)
        if isinstance(call.func, ast.Name) and call.func.id in _READING_ALL:
            found = found.union(*state.values())
        if isinstance(call.func, ast.Attribute) and path_of(call.func) is not None:
            # A method sees all of its object, not only the attribute by which it is reached.
            found |= self._eval(call.func.value, state)
            self._meet(call.func.value, state)
        for arg in call.args:
            found |= self._eval(arg, state)
        for keyword in call.keywords:
            found |= self._eval(keyword.value, state)
        effect = self._effect(call)
        if effect.reads_hidden:
            found |= self._lookup(state, HIDDEN)
        if effect.writes_hidden:
            self._change(state, call, HIDDEN, found)
        changes = [*effect.changes, *self._bound(call)]
        alone = isinstance(self._stmt, ast.Expr) and self._stmt.value is call
        for expr in effect.objects:
            path = path_of(expr)
            if path is not None and any(is_object(d) for d in self._meant(state, path)):
                changes.append(expr)
            elif path is not None and alone:
                # What nobody needs the result of is called for what it does to what it is handed.
                made = self._define(call, (*path, _PARTS), Kind.MUTATE, call)
                made.uses |= found
                state[made.path] = frozenset({Use(made)})
        for expr in changes:
            path = path_of(expr)
            if path is not None:
                if ".__dict__" in path:
                    path = path[: path.index(".__dict__")]
                self._change_everywhere(state, call, path, found, held=True)
                self._change(state, call, path, found, aliases=path[0] not in effect.rebinds)
        for expr in effect.contents:
            path = path_of(expr)
            if path is not None and any(_is_container(u.made) for u in self._lookup(state, path)):
                self._change_everywhere(state, call, path, found)
                self._change(state, call, path, found)
        return found

    def _meet(self, owner: ast.expr, state: State) -> None:
        path = path_of(owner)
        assert path is not None
        above = (path[:end] for end in range(1, len(path) + 1))
        here = {p: state[p] for p in (*above, *self._below.get(path, ())) if p in state}
        self._met[owner] = self._join(self._met.get(owner), here) or here

    def _bound(self, call: ast.Call) -> list[ast.expr]:
        """What methods change that are passed on, or have a name: ``map(found.append, x)``."""
        given: list[ast.expr] = [*call.args, *(k.value for k in call.keywords)]
        if isinstance(call.func, ast.Name):
            made = (u.made for u in self.reads.get(call.func, _NONE))
            given += [d.value for d in made if d.value is not None and d.kind is Kind.ASSIGN]
        return [e.value for e in given if isinstance(e, ast.Attribute) and e.attr in CHANGERS]

    def _comprehension(
        self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp, state: State
    ) -> Uses:
        inner = dict(state)
        found: Uses = _NONE
        for generator in node.generators:
            uses = self._eval(generator.iter, inner)
            found |= uses
            self._take(generator.target, generator.iter, uses, inner, Kind.COMPREHENSION)
            for test in generator.ifs:
                self._eval(test, inner)
        parts = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
        for part in parts:
            found |= self._eval(part, inner)
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
        self._bind(state, node, path, kind, None, uses)
        self.defs[node, path].code = free_names(node)

    def _free(self, node: ast.AST, state: State) -> Uses:
        """What a nested scope takes from here. Its own names are not this scope's to read."""
        found: Uses = _NONE
        for name in free_names(node):
            if (name,) in state:
                found |= self._whole(state, (name,))
        return found

    def _whole(self, state: State, path: Path) -> Uses:
        found = set(state.get(path, _NONE))
        for known in self._below.get(path[:1], ()):
            found |= state.get(known, _NONE)
        return frozenset(found)

    def _is_from_outside(self, made: Def) -> bool:
        """Whether the scope only ever changed it in place. What is known holds until ``_change``
        adds to what an earlier definition was.
        """
        known = self._outside
        seen: set[Def] = set()
        stack = [made]
        while stack:
            current = stack.pop()
            if current in seen or known.get(current) is True:
                continue
            seen.add(current)
            if known.get(current) is False or current.kind not in _FROM_OUTSIDE:
                known[made] = False
                return False
            stack.extend(u.made for u in current.before)
        known.update(dict.fromkeys(seen, True))
        return True


def _is_set_after(uses: Uses, changed: Uses) -> bool:
    """Whether all values of a part were set after the object that it belongs to had changed."""
    last = max(use.made.order for use in changed)
    return bool(uses) and all(
        use.made.kind in _SET and not use.carried and use.made.order > last for use in uses
    )


def _is_handed(call: ast.expr | None, names: Set[Path]) -> bool:
    """Whether one of ``names`` is handed to a method, or its object; True of all else."""
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute):
        return True
    parts = [call.func.value, *call.args, *(k.value for k in call.keywords)]
    return any(path_of(n) in names for part in parts for n in walk(part))


def _is_name_of(made: Def, path: Path) -> bool:
    return made.kind is Kind.ASSIGN and made.value is not None and path_of(made.value) == path


def _pairs(target: ast.Tuple | ast.List, value: ast.expr) -> list[tuple[ast.expr, ast.expr]] | None:
    if not isinstance(value, ast.Tuple | ast.List) or len(value.elts) != len(target.elts):
        return None
    if any(isinstance(e, ast.Starred) for e in [*target.elts, *value.elts]):
        return None
    return list(zip(target.elts, value.elts, strict=True))


def _zipped(target: ast.expr, iterated: ast.expr) -> list[tuple[ast.expr, ast.expr]] | None:
    if not isinstance(target, ast.Tuple | ast.List) or not isinstance(iterated, ast.Call):
        return None
    func, args = iterated.func, iterated.args
    if not isinstance(func, ast.Name) or any(
        isinstance(e, ast.Starred) for e in [*target.elts, *args]
    ):
        return None
    if func.id == "enumerate" and len(target.elts) == 2 and len(args) == 1:
        return [(target.elts[1], args[0]), (target.elts[0], ast.Constant(0))]
    if func.id == "zip" and len(args) == len(target.elts):
        return list(zip(target.elts, args, strict=True))
    return None


def _carry(uses: Uses, loop: ast.stmt) -> Uses:
    if not any(loop in u.made.loops for u in uses):
        return uses
    return frozenset(Use(u.made, u.carried | {loop}) if loop in u.made.loops else u for u in uses)


def _settle(uses: Uses, loop: ast.stmt) -> Uses:
    if not any(loop in u.carried for u in uses):
        return uses
    return frozenset(Use(u.made, u.carried - {loop}) for u in uses)


def _passes_code_on(value: ast.expr) -> bool:
    """Whether calling the value may call a function that it is made of."""
    if isinstance(value, ast.Call):
        name = value.func.attr if isinstance(value.func, ast.Attribute) else None
        name = value.func.id if isinstance(value.func, ast.Name) else name
        return name in ("partial", "make_template", "function", "defun", "recompute_grad")
    return isinstance(value, ast.Lambda) or path_of(value) is not None


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
