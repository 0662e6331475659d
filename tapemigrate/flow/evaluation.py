"""What expressions read and change, and what assignments give names: abstract execution."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Mapping, Set

from tapemigrate.flow.changers import CHANGERS, changed_by_handed, put_into
from tapemigrate.flow.definitions import HIDDEN, NONE, Def, Effect, Kind, Uses, united
from tapemigrate.flow.functions import Function, defaults, free_names, free_parts
from tapemigrate.flow.objects import calls_one_of, is_object
from tapemigrate.flow.paths import Path, names_class, path_of
from tapemigrate.flow.states import State, States
from tapemigrate.flow.unpacking import pairs, zipped
from tapemigrate.source.trees import arguments_of, children, walk

# What reads names that do not stand there, and gives access to them.
_READING_ALL = frozenset({"eval", "locals"})
_OF_SCOPES = {("globals",), ("locals",), ("vars",)}


class Evaluation:
    """Goes through expressions, and tells ``states`` what they define and read.

    ``effect`` says what a call changes, ``altered`` which outer names a function may give something
    where it runs, or what these hold, and which it hands to what is out of sight. ``complete`` are
    classes whose calls keep what ``effect`` says, and nothing else. ``runs`` tells what a call may
    call by another name, or of what it is handed. Of the paths ``parts_read`` parts are read.
    ``yields`` tells whether there is a ``yield``, and ``met`` what an object is, and its parts are,
    where a method of it is called.
    """

    def __init__(
        self,
        states: States,
        effect: Callable[[ast.Call], Effect],
        altered: Callable[[Function], tuple[frozenset[str], frozenset[str]]],
        complete: Set[str],
        parts_read: Set[Path],
        runs: Callable[[ast.Call, Mapping[ast.AST, Uses]], Iterable[ast.Call]],
    ) -> None:
        self.yields = False
        self.met: dict[ast.AST, State] = {}
        self._states = states
        self._effect = effect
        self._altered = altered
        self._complete = complete
        self._parts_read = parts_read
        self._runs = runs

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
                made.code, made.parts = free_names(node), free_parts(node)
                made.alters, made.hands = self._altered(node)
                self._states.hold(made, defaults(node.args))
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
        found = self._seen_by(call, state)
        unnamed = NONE.union(*state.values()) if reads_all(call) else NONE
        effect, run = self._effect(call), list(self._runs(call, self._states.reads))
        ran = [self._effect(each) for each in run]
        for each in ran:
            effect = effect.joined(each)
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
        bound = self._bound(call, state)
        changes = [*effect.changes, *bound]
        changes += [ast.Name(name, ast.Load()) for name in sorted(altered)]
        handed = {name for use in found for name in use.made.hands} - altered
        for name in sorted(handed):
            if any(map(_is_container, self._states.meant(state, (name,)))):
                changes.append(ast.Name(name, ast.Load()))
        changed = [*bound, *(expr for each in ran for expr in each.changes)]
        self._keep([call, *run], effect, altered, changed, found, state)
        self._change(call, effect, changes, found, state)
        return found

    def _seen_by(self, call: ast.Call, state: State) -> Uses:
        """What a call names."""
        found = self.evaluate(call.func, state)
        if isinstance(call.func, ast.Attribute) and path_of(call.func) is not None:
            # A method sees all of its object, not only the attribute by which it is reached.
            found |= self.evaluate(call.func.value, state)
            self._meet(call.func.value, state)
        for arg in call.args:
            found |= self.evaluate(arg, state)
        for keyword in call.keywords:
            found |= self.evaluate(keyword.value, state)
        return found

    def _keep(
        self,
        calls: list[ast.Call],
        effect: Effect,
        altered: set[str],
        changed: list[ast.expr],
        found: Uses,
        state: State,
    ) -> None:
        """Notes what functions that are kept now will change, and changes what earlier ones do."""
        call = calls[0]
        later = self._kept_by(calls, effect, state) if self._states.kept else set()
        kept = later.union((name,) for name in altered)
        kept |= {path for each in changed if (path := path_of(each)) is not None}
        if kept:
            self._states.kept[call] = frozenset(kept)
        for path in sorted(later):
            self._states.change_everywhere(state, call, path, found)
            self._states.change(state, call, path, found)

    def _change(
        self, call: ast.Call, effect: Effect, changes: list[ast.expr], found: Uses, state: State
    ) -> None:
        """Changes what a call changes, by what it does and what it is handed."""
        copied = {k.value for k in call.keywords if k.arg is None}  # ``**rest``
        alone = self._is_alone(call)
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
                parts = effect.parts if expr in effect.changes else frozenset[str]()
                if any(self._states.is_computed(state, (*path, f".{part}")) for part in parts):
                    parts = frozenset()
                # A list gets another element, and those it has stay what they are.
                held = not put or not all(map(_is_container, self._states.meant(state, path)))
                held = held and not parts
                # A method that is handed on, ``attack(net.forward)``, need not change its object.
                owned = bool(put) or len(path) == 1
                self._states.change_everywhere(state, call, path, found, held, owned)
                if put and len(path) > 1 and path[-1].startswith("."):
                    # What has the object that keeps the list reads the list as well.
                    self._states.change_everywhere(state, call, path[:-1], found)
                for part in sorted(parts):
                    known = (*path, f".{part}")
                    if known in state:
                        self._states.change_everywhere(state, call, known, found, held=True)
                if expr in copied:
                    continue  # what it holds changes, and it does not
                aliases = path[0] not in effect.rebinds
                self._states.change(state, call, path, found, aliases, put, parts)
        for expr in effect.contents:
            path = path_of(expr)
            if path is not None and any(
                _is_container(u.made) for u in self._states.lookup(state, path)
            ):
                self._states.change_everywhere(state, call, path, found)
                self._states.change(state, call, path, found)

    def _kept_by(self, calls: Iterable[ast.Call], effect: Effect, state: State) -> set[Path]:
        """What functions change that the object at hand keeps, or one that is passed."""
        found: set[Path] = set()
        for call in calls:
            owner = call.func.value if isinstance(call.func, ast.Attribute) else call.func
            # What computes and does nothing else runs nothing that it is handed.
            for each in (owner, *(arguments_of(call) if effect.writes_hidden else ())):
                path = path_of(each)
                if isinstance(each, ast.Call):
                    found |= self._states.kept.get(each, frozenset())
                if path is not None:
                    parts = (state.get(p, NONE) for p in self._states.below.get(path, ()))
                    for use in self._states.lookup(state, path).union(*parts):
                        found |= use.made.kept
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
        match call.func:
            case ast.Attribute(value=ast.Call() as owner) if self._is_alone(call):
                # ``Hook(gate).before(x)``: what an object is handed, its method may change.
                handed = arguments_of(owner) if _is_of_class(owner) else []
                found += [each for each in handed if self._is_object(each, state, owned=True)]
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

    def _is_alone(self, call: ast.Call) -> bool:
        """Whether nobody needs the result: it is called for what it does."""
        return isinstance(self._states.stmt, ast.Expr) and self._states.stmt.value is call

    def _is_object(self, expr: ast.expr, state: State, owned: bool = False) -> bool:
        path = path_of(expr)
        if path is None:
            return False
        return any(is_object(made) for made in self._states.meant(state, path, owned))

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

    def _free(self, node: ast.AST, state: State) -> Uses:
        """What a nested scope takes from here. Its own names are not this scope's to read."""
        found: Uses = NONE
        for name in free_names(node):
            if (name,) in state:
                found |= self._states.whole(state, (name,))
        return found


def _is_of_class(call: ast.Call) -> bool:
    path = path_of(call.func)
    return path is not None and names_class(path[-1].lstrip("."))


def _is_partial(call: ast.Call) -> bool:
    """``functools.partial(f, x)``."""
    path = path_of(call.func)
    return path is not None and path[-1].lstrip(".") == "partial" and bool(call.args)


def reads_all(call: ast.Call) -> bool:
    """Whether the call may read names that do not stand there."""
    return isinstance(call.func, ast.Name) and call.func.id in _READING_ALL


def _is_container(made: Def) -> bool:
    if made.kind is Kind.MUTATE:
        return True
    value = made.value
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Name):
        return value.func.id in ("list", "dict", "set", "defaultdict", "OrderedDict", "deque")
    return made.kind is Kind.ASSIGN and isinstance(
        value, ast.List | ast.Dict | ast.Set | ast.ListComp | ast.DictComp | ast.SetComp
    )


def _put(call: ast.Call, owner: ast.expr) -> list[ast.expr]:
    """What the call passes that may be in ``owner`` from then on: ``found.append(x)``."""
    match call.func:
        case ast.Attribute(value=value, attr=attr) if value is owner and attr in CHANGERS:
            return arguments_of(call)
        case ast.Name(id="setattr"):
            return call.args[2:]
    return []
