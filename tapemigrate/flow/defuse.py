"""Definitions and uses inside one scope, by abstract execution of its statements.

Every value that a statement makes is a ``Def``; its ``uses`` are the definitions that reach it.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Mapping, Sequence, Set

from tapemigrate.flow.code_held import paths_called
from tapemigrate.flow.definitions import HIDDEN, NONE, Def, Effect, Kind, Use, Uses
from tapemigrate.flow.execution import Execution
from tapemigrate.flow.functions import Function, Scope, parameters, shared_names
from tapemigrate.flow.paths import Path, parts_read, path_of
from tapemigrate.flow.sharing import Twins
from tapemigrate.flow.slices import backward
from tapemigrate.flow.states import State, States
from tapemigrate.source.trees import walk

_NO_VALUES = (Kind.PARAM, Kind.ENTRY, Kind.IMPORT, Kind.FUNCTION, Kind.CLASS)
_NO_TWINS = Twins({}, {})
_CHANGES = (Kind.ASSIGN, Kind.AUGMENT, Kind.MUTATE)


def _alters_nothing(function: Function) -> tuple[frozenset[str], frozenset[str]]:
    return frozenset(), frozenset()


def _runs_nothing(call: ast.Call, reads: Mapping[ast.AST, Uses]) -> tuple[ast.Call, ...]:
    return ()


class Flow:
    """The definitions and uses of one scope.

    ``effect`` says what a call changes, ``properties`` are attributes that methods compute of their
    object, or set on it, ``hooked`` the classes that do so for all, ``swallowing`` what goes
    on, entered by a ``with``, where an exception was raised, ``complete`` the classes of which the
    file shows all, ``altered`` which outer names a function of the scope may give something, or
    what these hold, and which it hands to what is out of sight, ``runs`` what a call may call by
    another name, or of what it is handed, ``twins`` the attributes that hold what others do.
    ``reads`` gives, for every path that is read, the definitions that may reach it, ``captured``
    those of them that only a function reads which the value holds; ``returns`` lists the return
    statements.
    """

    def __init__(
        self,
        scope: Scope,
        effect: Callable[[ast.Call], Effect],
        properties: Set[str] = frozenset(),
        hooked: Set[str] = frozenset(),
        swallowing: Set[str] = frozenset(),
        complete: Set[str] = frozenset(),
        altered: Callable[[Function], tuple[frozenset[str], frozenset[str]]] = _alters_nothing,
        runs: Callable[[ast.Call, Mapping[ast.AST, Uses]], Iterable[ast.Call]] = _runs_nothing,
        twins: Twins = _NO_TWINS,
    ) -> None:
        self.scope = scope
        set_here = _parts_set(scope) if twins.whole else frozenset[str]()
        self._states = States(
            shared_names(scope), properties, hooked, twins, set_here, paths_called(scope)
        )
        self.reads = self._states.reads
        self.captured = self._states.captured
        self.defs = self._states.defs
        #: Another number once definitions, or what they use, have changed.
        self.version = 0
        #: The same of ``reads`` as well: what was told by them no longer holds then.
        self.reading = 0
        self._users: tuple[int, dict[Def, list[Def]]] | None = None
        self._names: dict[Def, set[Path]] | None = None
        self._given: dict[str, list[Def]] | None = None
        self._own: frozenset[str] | None = None
        state: State = {}
        if not isinstance(scope, ast.Module):
            for arg in parameters(scope.args):
                made = self._states.define(arg, (arg.arg,), Kind.PARAM, None)
                state[made.path] = frozenset({self._states.use(made)})
                self._states.know(made.path)
        self._execution = Execution(
            self._states, effect, altered, swallowing, complete, parts_read(scope), runs
        )
        if isinstance(scope, ast.Lambda):
            self._execution.evaluate(scope.body, state)
        else:
            self._execution.block(scope.body, state)
        self.returns = self._execution.returns
        self.yields = self._execution.yields

    def let_go(self) -> None:
        """Ends its use: what a loop carries round is made of itself, and would not be freed."""
        for made in self.defs.values():
            made.uses = made.before = NONE

    def given(self, name: str) -> Sequence[Def]:
        """What statements of this scope give a name, or a part of it: values, and no functions."""
        if self._given is None:
            self._given = {}
            for made in self.defs.values():
                if made.kind not in _NO_VALUES:
                    self._given.setdefault(made.path[0], []).append(made)
        return self._given.get(name, ())

    @property
    def own_names(self) -> frozenset[str]:
        """The names that this scope gives values, or is handed them."""
        if self._own is None:
            made = (d for d in self.defs.values() if d.kind is not Kind.ENTRY)
            self._own = frozenset(d.path[0] for d in made)
        return self._own

    def uses_in(self, node: ast.AST) -> Uses:
        """Every definition that an expression of this scope reads."""
        return self._states.uses_in(node)

    def made_of(self, cut: Iterable[Def]) -> set[Def]:
        """The definitions that are made of one in ``cut``, and these."""
        if self._users is None or self._users[0] != self.version:
            users: dict[Def, list[Def]] = {}
            for made in self.defs.values():
                for use in made.uses:
                    users.setdefault(use.made, []).append(made)
            self._users = self.version, users
        found, pending = set(cut), list(cut)
        while pending:
            for user in self._users[1].get(pending.pop(), ()):
                if user not in found:
                    found.add(user)
                    pending.append(user)
        return found

    def read_late(self, node: ast.AST, path: Path, holder: Def) -> None:
        """Has the body of a nested function, which ``holder`` defines, read a path of this scope.

        What it reads when it runs is what reached its definition.
        """
        self._states.read(_at_definition(holder), node, path)
        self.reread()

    def run_early(self, node: ast.expr, holder: Def, stmt: ast.stmt) -> None:
        """Has an expression of a nested function run where ``holder`` defines that, in ``stmt``."""
        outer, self._states.stmt = self._states.stmt, stmt
        self._execution.evaluate(node, _at_definition(holder))
        self._states.stmt = outer
        self.version += 1
        self.reread()

    def read_at(self, node: ast.AST, path: Path, owner: ast.expr) -> bool:
        """Has ``node`` read a part of the object ``owner`` as it is where a method of it is called.

        False where no such call is.
        """
        state = self._execution.met.get(owner)
        if state is None:
            return False
        self._states.read(dict(state), node, path)
        self.reread()
        return True

    def changes_of(self, node: ast.expr) -> list[Def]:
        """By what the object that ``node`` reads changes in this scope, but for what it reads.

        Methods of what holds the object are left out.
        """
        path, uses = path_of(node), self.reads.get(node, NONE)
        if path is None:
            return []
        known = backward(uses).made
        objects = self._states.objects.reached(uses, path)
        meaning = self._meaning()
        names = {path}.union(*(meaning.get(each, ()) for each in objects))
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

    def _meaning(self) -> Mapping[Def, Set[Path]]:
        """For each object the paths by which it is meant somewhere in the scope."""
        if self._names is None:
            self._names = {}
            for made in self.defs.values():
                if made.path != HIDDEN:
                    for each in self._states.objects.meant({Use(made)}, made.path):
                        self._names.setdefault(each, set()).add(made.path)
        return self._names

    def reread(self) -> None:
        """Has to be called where ``reads``, or uses of definitions, have been changed."""
        self._names = None
        self.reading += 1

    def read_as(self, node: ast.AST, path: Path, value: ast.expr | None, stmt: ast.stmt) -> None:
        """Has a name of a nested function, made in ``stmt`` of this scope, read as its value."""
        made = Def(path, Kind.ASSIGN, stmt, value, order=len(self.defs))
        made.uses = self.uses_in(value) if value is not None else NONE
        self.reads[node] = frozenset({Use(made)})
        self.captured.pop(node, None)
        self.reread()


def _parts_set(scope: Scope) -> frozenset[str]:
    """The attributes that the scope gives values, as steps of paths."""
    parts = (n for n in walk(scope) if isinstance(n, ast.Attribute))
    return frozenset(f".{n.attr}" for n in parts if isinstance(n.ctx, ast.Store))


def _at_definition(holder: Def) -> State:
    """What a nested function may read of this scope where it is defined."""
    state: dict[Path, set[Use]] = {}
    for use in holder.uses:
        state.setdefault(use.made.path, set()).add(use)
    return {path: frozenset(uses) for path, uses in state.items()}


def _is_handed(call: ast.expr | None, names: Set[Path]) -> bool:
    """Whether one of ``names`` is handed to a method, or its object; True of all else."""
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute):
        return True
    parts = [call.func.value, *call.args, *(k.value for k in call.keywords)]
    return any(path_of(n) in names for part in parts for n in walk(part))
