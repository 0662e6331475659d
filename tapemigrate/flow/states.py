"""What the paths of a scope may hold while its statements are gone through, and how that changes.

A ``State`` maps access paths to the definitions that may hold there.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Set
from itertools import chain, compress
from operator import is_, not_

from tapemigrate.flow.code_held import code_held, paths_held
from tapemigrate.flow.definitions import HIDDEN, NONE, Def, Kind, Use, Uses, united
from tapemigrate.flow.objects import Objects, calls_one_of, is_object, repeats
from tapemigrate.flow.paths import Path, other_name, path_of
from tapemigrate.flow.sharing import Twins
from tapemigrate.source.trees import arguments_of, children, walk

State = dict[Path, Uses]
#: At the end of a path: all parts of an object, which may be none, but a tensor.
PARTS = ".<parts>"
# At the beginning: any object that comes from outside.
_ANY = "<any>"

# Of so many names each is taken for one of an object, without a look at all of them for each other.
_MANY = 30
_FROM_OUTSIDE = (Kind.PARAM, Kind.ENTRY, Kind.MUTATE)
_NO_TWINS = frozenset[str]()
_SET = (Kind.ASSIGN, Kind.ELEMENT, Kind.WITH, Kind.LOOP)


class States:
    """The definitions of one scope, and what they do to a state.

    ``shared`` are the names of other scopes, ``properties`` attributes that methods compute of
    their object, or set on it, ``hooked`` the classes that do so for all, ``twins`` the attributes
    that hold what others do, in whatever method they were given it; what the scope sets itself,
    ``set_here``, does so from then on, ``called`` the paths that are called there. ``reads`` gives,
    for every path that is read, the definitions that may reach it; ``stmt`` and ``loops`` are where
    the statement stands that is gone through; ``below`` are the longer paths that are known, by
    each path that they begin with; ``kept`` are the paths that functions change which a call is
    handed, and what it gives may run later.
    """

    def __init__(
        self,
        shared: Set[str],
        properties: Set[str],
        hooked: Set[str],
        twins: Twins,
        set_here: Set[str],
        called: Set[Path],
    ) -> None:
        self.defs: dict[tuple[ast.AST | None, Path], Def] = {}
        self.reads: dict[ast.AST, Uses] = {}
        #: Of ``reads``, what is not found there, but by a function that is, when it runs.
        self.captured: dict[ast.AST, Uses] = {}
        self.objects = Objects(self.reads)
        self.below: dict[Path, dict[Path, None]] = {}
        self.stmt: ast.stmt | None = None
        self.loops: list[ast.stmt] = []
        self.kept: dict[ast.AST, frozenset[Path]] = {}
        self._shared = shared
        self._properties = properties
        self._hooked = hooked
        self._twins = twins
        self._set_here = set_here
        self._called = called
        # By the loops that they were carried round.
        self._made_uses: dict[frozenset[ast.stmt], dict[Def, Use]] = {}
        self._outside: dict[Def, bool] = {}
        # The names that were given what a path holds.
        self._named: dict[Path, set[Path]] = {}

    def uses_in(self, node: ast.AST) -> Uses:
        """Every definition that an expression has been seen to read."""
        found: set[Use] = set()
        stack = [node]
        while stack:
            n = stack.pop()
            found |= self.reads.get(n, NONE)
            stack.extend(children(n))
        return frozenset(found)

    def use(self, made: Def, carried: frozenset[ast.stmt] = frozenset()) -> Use:
        """The one use of the definition that was carried round these loops."""
        known = self._made_uses.setdefault(carried, {})
        found = known.get(made)
        if found is None:
            found = known[made] = Use(made, carried, sum(loop.lineno for loop in carried))
        return found

    def know(self, path: Path) -> None:
        """Takes the path for one that is known."""
        for end in range(1, len(path)):
            self.below.setdefault(path[:end], {})[path] = None

    def define(self, node: ast.AST | None, path: Path, kind: Kind, value: ast.expr | None) -> Def:
        """The definition that ``node`` makes of a path, one and the same for each of its runs."""
        key = (node, path)
        made = self.defs.get(key)
        if made is None:
            outside = kind in (Kind.PARAM, Kind.ENTRY)
            stmt = None if outside else self.stmt
            made = Def(path, kind, stmt, value, order=len(self.defs))
            if self.loops and not outside:
                made.loops = frozenset(self.loops)
            self.defs[key] = made
            if outside:
                self.objects.bound(made)
        return made

    def bind(
        self,
        state: State,
        node: ast.AST,
        path: Path,
        kind: Kind,
        value: ast.expr | None,
        uses: Uses,
    ) -> None:
        """``node`` gives the path a value, which is made of ``uses``."""
        made = self.define(node, path, kind, value)
        made.uses = united(made.uses, uses)
        if value is not None:
            called = path in self._called
            self._hold(made, code_held(value, called))
            if kind is Kind.AUGMENT:
                self._hold(made, [node])
            if called:
                made.held = united(made.held, paths_held(value))
        if value is not None and self.kept:
            self._keep(made, uses, value)
        if kind is Kind.ASSIGN and value is not None and (other := path_of(value)) is not None:
            self._named.setdefault(other, set()).add(path)
        self.objects.bound(made)
        for known in (*self.below.get(path, ()), (*path, PARTS)):
            state.pop(known, None)
        self.know(path)
        state[path] = frozenset({self.use(made)})

    def change(
        self,
        state: State,
        node: ast.AST,
        path: Path,
        uses: Uses,
        aliases: bool = True,
        put: Iterable[ast.expr] = (),
        parts: Set[str] = frozenset(),
    ) -> None:
        """The object at ``path`` changes in place: what it was made of stays part of it.

        ``put`` is what it may hold from then on, ``parts`` the attributes that may change where
        not all of them may.
        """
        before = self.lookup(state, path)
        made = self.define(node, path, Kind.MUTATE, node if isinstance(node, ast.Call) else None)
        earlier = {use for use in before if use.made is not made}
        if made in self._outside and not earlier <= made.before:
            self._outside.clear()
        made.before = united(made.before, earlier)
        self.objects.changed(made, earlier, put)
        for use in earlier:
            _pass_code_on(use.made, made)
        handed = arguments_of(node) if isinstance(node, ast.Call) else put
        self._hold(made, (held for each in handed for held in code_held(each, False)))
        new = (before | uses) - made.uses
        others = {use for use in new if use.made is not made or use.carried}
        made.uses = united(made.uses, others)
        if self.kept:
            self._keep(made, before | uses, node)
        here = self.use(made)
        for known in self.below.get(path, ()):
            if known in state and self._may_change(state, known, len(path), parts):
                state[known] = state[known] | {here}
        self.know(path)
        state[path] = frozenset({here})
        for use in before if aliases else ():
            alias = path_of(use.made.value) if use.made.value is not None else None
            if use.made.kind is Kind.ASSIGN and alias is not None and alias in state:
                state[alias] = state[alias] | {here}
        for name in self._named.get(path, ()) if aliases else ():
            # What has the object by another name still, and was given it as it was then.
            own = state.get(name, NONE)
            given = {use for u in own if _is_name_of(u.made, path) for use in u.made.uses}
            if (given | own) & before:
                state[name] = own | {here}

    def hold(self, made: Def, values: Iterable[ast.expr]) -> None:
        """Calls of ``made`` may call the functions that these values are, or hold."""
        for value in values:
            self._hold(made, code_held(value, True))
            path = path_of(value)
            made.held = united(made.held, paths_held(value) if path is None else {path})

    def _hold(self, made: Def, functions: Iterable[ast.AST]) -> None:
        for each in functions:
            for use in self.reads.get(each, NONE):
                _pass_code_on(use.made, made)

    def _may_change(self, state: State, path: Path, place: int, parts: Set[str]) -> bool:
        """Whether a part of an object changes where these attributes of it do, or any may."""
        name = path[place]
        if not parts or name == PARTS or not name.startswith("."):
            return True
        return name[1:] in parts or self.is_computed(state, path[: place + 1])

    def _keep(self, made: Def, uses: Uses, node: ast.AST) -> None:
        """``made`` may run later what it is handed: what that changes, it changes."""
        for call in walk(node):
            made.kept = united(made.kept, self.kept.get(call, frozenset()))
        if made.kind is not Kind.ASSIGN or is_object(made) or path_of(node) is not None:
            for use in uses:
                made.kept = united(made.kept, use.made.kept)

    def change_parts(self, state: State, node: ast.Call, path: Path, uses: Uses) -> None:
        """The call ``node`` may set parts of the object at ``path``, whatever they are called."""
        made = self.define(node, (*path, PARTS), Kind.MUTATE, node)
        before = state.get(made.path, NONE)
        made.uses = united(made.uses, {use for use in uses | before if use.made is not made})
        state[made.path] = frozenset({self.use(made)})

    def set_anywhere(
        self, state: State, node: ast.Call, attributes: Iterable[str], uses: Uses
    ) -> None:
        """The call ``node`` may set these attributes on objects that have other names here."""
        for each in sorted(attributes):
            self.change_parts(state, node, (_ANY, f".{each}"), uses)

    def change_everywhere(
        self,
        state: State,
        node: ast.AST,
        path: Path,
        uses: Uses,
        held: bool = False,
        owned: bool = True,
    ) -> None:
        """The object at ``path`` has changed: so it has by its other names, and what holds it.

        ``held``: what it holds may have changed as well. ``owned``: so has the object that made it.
        """
        for end in range(1, len(path)):
            if any(map(repeats, self.meant(state, path[:end]))):
                self.change(state, node, path[:end], uses, aliases=False)
        if self._twins.whole and len(path) > 1:
            self._change_twins(state, node, path, uses)
        before = self.lookup(state, path)
        search = self.objects.reached if held else self.objects.meant
        changed = search(before, path, owned)
        names = self.objects.names(changed)
        for other in names:
            if other == HIDDEN or other[: len(path)] == path or path[: len(other)] == other:
                continue
            there = state.get(other)
            if there and (len(names) > _MANY or self.objects.reaches(there, other, changed)):
                self.change(state, node, other, uses, aliases=False)

    def _change_twins(self, state: State, node: ast.AST, path: Path, uses: Uses) -> None:
        """Has attributes change that hold what changes at ``path``, or a part of it."""
        for end in range(1, len(path)):
            twins = self._twins.whole.get(path[end], _NO_TWINS)
            if end < len(path) - 1:
                twins |= self._twins.parts.get(path[end], _NO_TWINS)
            if twins:
                beside = {(*path[:end], twin) for twin in twins - self._set_here}
                beside |= {known for known in state if known[-1] in twins}
                for other in sorted(beside - {path[: end + 1]}):
                    self.change(state, node, other, uses, aliases=False)

    def lookup(self, state: State, path: Path) -> Uses:
        """What the path itself may hold (not the parts of it that were set on their own)."""
        for end in range(len(path), 0, -1):
            prefix = path[:end]
            found = state.get(prefix)
            if found is None:
                continue
            if end == len(path) or not all(self._is_from_outside(u.made) for u in found):
                return found
            made = self.define(None, path, Kind.ENTRY, None)
            made.uses = united(made.uses, found)
            self.know(path)
            state[path] = frozenset({self.use(made)})
            return state[path]
        root = self.define(None, path[:1], Kind.ENTRY, None)
        self.know(root.path)
        state[root.path] = frozenset({self.use(root)})
        return self.lookup(state, path) if len(path) > 1 else state[root.path]

    def read(self, state: State, node: ast.AST, path: Path) -> Uses:
        """What ``node``, which reads the path, may find there, parts set alone as well."""
        own = self.lookup(state, path)
        found = set(own)
        for known in self.below.get(path, ()):
            found |= state.get(known, NONE)
        for place in range(1, len(path)):
            if (other := other_name(path[place])) is not None:
                found |= state.get((*path[:place], other, *path[place + 1 :]), NONE)
            changed = state.get((*path[:place], PARTS), NONE)
            if changed and not _is_set_after(state.get(path[: place + 1], NONE), changed):
                found |= changed
            elsewhere = state.get((_ANY, path[place], PARTS), NONE)
            if elsewhere and all(self._is_from_outside(u.made) for u in found):
                found |= elsewhere
        for place in range(1, len(path)) if self._properties or self._hooked else ():
            if self.is_computed(state, path[: place + 1]):
                for known in self.below.get(path[:place], ()):
                    found |= state.get(known, NONE)
        itself = found.copy()
        self._captured(state, found)
        result = united(own, found)
        before = self.reads.get(node, NONE)
        if len(found) > len(itself) or node in self.captured:
            earlier = self.captured.get(node, NONE)
            self.captured[node] = (earlier | (found - (before - earlier))) - itself
        self.reads[node] = united(before, result)
        return result

    def _captured(self, state: State, found: set[Use]) -> None:
        """Adds what functions among ``found`` read from here when they run: names bind late."""
        names: set[str] = set()
        parts: set[Path] = set()
        fresh: set[str] = set()
        held: set[Path] = set()
        for use in found:
            if use.made.code:
                fresh |= use.made.code
                parts |= use.made.parts
            held |= use.made.held
        while fresh:
            names |= fresh
            uses: set[Use] = set()
            for name in fresh:
                uses |= self.whole(state, (name,))
            found |= uses
            fresh = set().union(*(u.made.code for u in uses)) - names if uses else set()
            parts = parts.union(*(u.made.parts for u in uses)) if uses else parts
            held = held.union(*(u.made.held for u in uses)) if uses else held
        for path in held:
            # Of another value that the path was given since, it knows nothing.
            for known in (path, *self.below.get(path, ())):
                found |= {u for u in state.get(known, NONE) if _is_change(u.made, path)}
        for path in parts:  # those that are not set here are not among the others
            if path[0] in names:
                found |= self.lookup(state, path)

    def join(self, *states: State | None) -> State | None:
        """What holds where several ways meet; None where none of them goes on."""
        alive = [s for s in states if s is not None]
        if len(alive) < 2:
            return alive[0] if alive else None
        first, *others = alive
        joined: State = dict(first)
        keys = [*dict.fromkeys(chain.from_iterable(alive))]
        # Most are the same on all ways, which is told without a step of Python's for each.
        same = [map(is_, map(first.get, keys), map(other.get, keys)) for other in others]
        for key in compress(keys, map(not_, map(all, zip(*same, strict=True)))):
            held = first.get(key)
            parts = [held, *(s.get(key) for s in others)]
            # Where parts have not changed, there is nothing to look up for them.
            looked_up = key[0] in self._shared if len(key) == 1 else key[-1] != PARTS
            if looked_up and None in parts:
                parts = [self.lookup(s, key) for s in alive]
            merged = NONE.union(*(p for p in parts if p is not None))
            # One and the same where nothing is added: what meets again is told apart at once.
            joined[key] = held if held is not None and len(merged) == len(held) else merged
        return joined

    def is_computed(self, state: State, path: Path) -> bool:
        """Whether a method of the object runs where that part of it is read, or set."""
        if path[-1] in self._properties:
            return True
        objects = self.meant(state, path[:-1]) if self._hooked else ()
        return any(calls_one_of(d, self._hooked) for d in objects)

    def meant(self, state: State, path: Path, owned: bool = False) -> set[Def]:
        """The definitions of the objects that the path may be, or (``owned``) that made it."""
        return self.objects.meant(self.lookup(state, path), path, owned)

    def whole(self, state: State, path: Path) -> Uses:
        """What a path holds, and all that begins as it does."""
        found = set(state.get(path, NONE))
        for known in self.below.get(path[:1], ()):
            found |= state.get(known, NONE)
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


def _is_change(made: Def, path: Path) -> bool:
    """Whether it changes the object that has the path: ``rows.append(h)``, ``net.h = h``."""
    if made.kind is Kind.AUGMENT:
        # Of a number or a tensor, it gives the name another value.
        return isinstance(made.value, ast.List | ast.ListComp)
    return len(made.path) > len(path) or made.kind is Kind.MUTATE


def _is_name_of(made: Def, path: Path) -> bool:
    return made.kind is Kind.ASSIGN and made.value is not None and path_of(made.value) == path


def _pass_code_on(function: Def, made: Def) -> None:
    if function.code or function.alters or function.hands or function.held:
        made.code = united(made.code, function.code)
        made.parts = united(made.parts, function.parts)
        made.alters = united(made.alters, function.alters)
        made.hands = united(made.hands, function.hands)
        made.held = united(made.held, function.held)
