"""What functions set in what they are handed, or put into it: the arguments that a call changes."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import NamedTuple, TypeAlias

from tapemigrate.flow.changers import CHANGERS, changed_by_handed, put_into
from tapemigrate.flow.fixpoint import Fixpoint
from tapemigrate.flow.functions import Function, NamedFunction, is_of_class, is_static, parameters
from tapemigrate.flow.paths import path_of
from tapemigrate.flow.run_by_calls import CALLING
from tapemigrate.flow.unpacking import all_given
from tapemigrate.source.trees import arguments_of, walk

#: Whether methods of a name set parts of their object.
Sets: TypeAlias = Callable[[str], bool]


class Filled(NamedTuple):
    """The arguments of a call in which the function sets or puts something; those in which it may
    do so, by what they hold or what holds them; and those that it hands on to what is not seen.
    """

    surely: list[ast.expr]
    perhaps: list[ast.expr]
    unseen: list[ast.expr]


class _Parameters(NamedTuple):
    """The same of the parameters of a function; ``any``: perhaps each of them."""

    surely: frozenset[str]
    any: bool
    unseen: frozenset[str]


class _Told(NamedTuple):
    """What is told of functions that are called and handed things alike."""

    own: tuple[str, ...]
    is_static: bool
    is_of_class: bool
    filled: _Parameters


_NEW_CONTAINER = (ast.List, ast.Dict, ast.Set, ast.ListComp, ast.DictComp)
_NONE = _Parameters(frozenset(), False, frozenset())


class FilledArguments:
    """Looks at the functions of one file, of which each is asked about once.

    ``harmless`` and ``joins`` are those of ``Effects``, which has this one and is not kept by it:
    what methods set is handed in with each question.
    """

    def __init__(
        self,
        functions: Mapping[str, list[NamedFunction]],
        classes: Mapping[str, ast.ClassDef],
        harmless: Callable[[ast.Call], bool],
        joins: Callable[[ast.Call], bool],
    ) -> None:
        self._functions = functions
        self._classes = classes
        self._harmless = harmless
        self._joins = joins
        # By function, and by the name of all that have it: what calls it asks for the name, and
        # does not go through all namesakes each time.
        self._told = Fixpoint[NamedFunction | str, tuple[_Told, ...]](())

    def by(
        self, function: NamedFunction | str, call: ast.Call, bound: int, sets_parts: Sets
    ) -> Filled:
        """What the function, or those of that name, set or put into the arguments of ``call``.

        ``bound``: how many parameters a call of it does not pass.
        """
        found = Filled([], [], [])
        for told in self._told.of(function, partial(self._tell, sets_parts)):
            filled = told.filled
            own = told.own[0 if bound and self._is_handed_all(told, call) else bound :]
            passed = [(a, own[i] if i < len(own) else "") for i, a in enumerate(call.args)]
            starred = next((i for i, a in enumerate(call.args) if isinstance(a, ast.Starred)), None)
            if starred is not None:  # from there on, any parameter may be meant
                passed[starred:] = [(a, "") for a, _ in passed[starred:]]
            # Of what is handed over by ``**``, the function has a dict of its own, with the same
            # values.
            passed += [(k.value, k.arg or "") for k in call.keywords]
            for value, parameter in passed:
                if parameter in filled.surely:
                    found.surely.append(value)
                elif filled.any or parameter not in own:
                    found.perhaps.append(value)
                elif parameter in filled.unseen:
                    found.unseen.append(value)
        return found

    def _tell(self, sets_parts: Sets, function: NamedFunction | str) -> tuple[_Told, ...]:
        if isinstance(function, str):
            make = partial(self._tell, sets_parts)
            named = (self._told.of(each, make) for each in self._functions.get(function, ()))
            return tuple(dict.fromkeys(told for each in named for told in each))
        filled = self._filled_in(sets_parts, function)
        if filled == _NONE:
            return ()
        own = tuple(a.arg for a in parameters(function.args))
        return (_Told(own, is_static(function), is_of_class(function), filled),)

    def defaults(self, function: Function, sets_parts: Sets) -> Iterator[ast.expr]:
        """What a function that is handed nothing else puts something into: ``def f(x, to=out)``."""
        if isinstance(function, ast.Lambda):
            return
        told = self._told.of(function, partial(self._tell, sets_parts))
        filled = told[0].filled if told else _NONE
        args = function.args
        plain = [*args.posonlyargs, *args.args]
        given = [*zip(reversed(plain), reversed(args.defaults), strict=False)]
        given += [
            (a, d) for a, d in zip(args.kwonlyargs, args.kw_defaults, strict=True) if d is not None
        ]
        for parameter, value in given:
            if filled.any or parameter.arg in filled.surely:
                yield value

    def _is_handed_all(self, told: _Told, call: ast.Call) -> bool:
        """Whether the call of a method passes each of its parameters, its object among them."""
        owner = path_of(call.func.value) if isinstance(call.func, ast.Attribute) else None
        of_class = owner is not None and len(owner) == 1 and owner[0] in self._classes
        return told.is_static or (of_class and not told.is_of_class)

    def _filled_in(self, sets_parts: Sets, function: NamedFunction) -> _Parameters:
        own = {a.arg for a in walk(function.args) if isinstance(a, ast.arg)}
        bound = own | {
            n.id for n in walk(function) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
        }
        surely: set[str] = set()
        unseen: set[str] = set()
        named: list[ast.expr] = []
        for node in walk(function):
            changed: list[ast.expr] = []
            match node:
                case ast.Attribute(ctx=ast.Store()) | ast.Subscript(ctx=ast.Store()):
                    changed = [node]
                case ast.AugAssign(target=ast.Name() as target, value=ast.List() | ast.ListComp()):
                    changed = [target]  # a list is made longer, and no other one bound
                case ast.Call():
                    changed, handed = self._changed_by(node, own, sets_parts)
                    unseen |= {
                        root for each in handed if (root := root_name(each)) in bound and root
                    }
            for each in changed:
                root = root_name(each)
                if root in own:
                    surely.add(root or "")
                elif root in bound:
                    named.append(each)
        new = self._containers_made(function) if named else set()
        parts = _names_of_parts(function) if named or unseen - own else {}
        # ``step = net.step; step(x)``
        unseen = {each for name in unseen for each in (name, *_behind(name, parts))} & own
        for each in named:
            if _container(each) not in new:
                # ``rows = net.rows; rows.append(h)``
                surely |= {"*", *(_behind(root_name(each) or "", parts) & own)}
        return _Parameters(frozenset(surely - {"*"}), "*" in surely, frozenset(unseen))

    def _containers_made(self, function: ast.AST) -> set[str]:
        """The names that a function gives nothing but lists and dicts that it makes itself.

        Or makes one tensor of such a list: ``rows = tf.stack(rows)``.
        """
        stored = Counter(
            n.id for n in walk(function) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
        )
        made: Counter[str] = Counter()
        listed: set[str] = set()
        for stmt in walk(function):
            if not isinstance(stmt, ast.Assign) or not isinstance(stmt.targets[0], ast.Name):
                continue
            if isinstance(stmt.value, _NEW_CONTAINER):
                listed.add(stmt.targets[0].id)
            elif not isinstance(stmt.value, ast.Call) or not self._joins(stmt.value):
                continue
            made[stmt.targets[0].id] += 1
        return {name for name in listed if made[name] == stored[name]}

    def _changed_by(
        self, call: ast.Call, own: set[str], sets_parts: Sets
    ) -> tuple[list[ast.expr], list[ast.expr]]:
        """What a call in a function with parameters ``own`` changes, and what it hands on."""
        match call.func:
            case ast.Name(id="setattr" | "vars") if call.args:
                return call.args[:1], []
            case ast.Attribute(attr=attr) if attr in CHANGERS:
                return put_into(call), []
            case ast.Attribute(value=value, attr=name):
                mine = isinstance(value, ast.Name) and value.id in own and sets_parts(name)
                changed, bound = [value] if mine else [], 1
            case ast.Name(id=name):
                changed, bound = [], 0
            case _:
                name, changed, bound = "", [], 0
        if self._functions.get(name):
            inner = self.by(name, call, bound, sets_parts)
            return [*changed, *inner.surely, *inner.perhaps], inner.unseen
        changed += changed_by_handed(call)
        if self._harmless(call) and name not in CALLING:
            return changed, []
        return changed, [call.func, *arguments_of(call)]


def _names_of_parts(function: ast.AST) -> dict[str, set[str]]:
    """By the names that a function gives: the names of what they are, or of what has them."""
    found: dict[str, set[str]] = {}
    for target, value in all_given(function, loops=True):
        root = root_name(value)
        if isinstance(target, ast.Name) and root is not None:
            found.setdefault(target.id, set()).add(root)
    return found


def _behind(name: str, parts: Mapping[str, set[str]]) -> set[str]:
    """The names that lead to a name, through any number of others."""
    found: set[str] = set()
    pending = {name}
    while pending:
        pending = set().union(*(parts.get(each, ()) for each in pending)) - found
        found |= pending
    return found


def _container(node: ast.expr) -> str:
    """The name of what is changed itself, as by ``a[k] = …``; not of what an element holds."""
    if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def root_name(node: ast.expr) -> str | None:
    """The name at the beginning of ``a.b[0]``; None where there is none."""
    while isinstance(node, ast.Attribute | ast.Subscript):
        node = node.value
    return node.id if isinstance(node, ast.Name) else None
