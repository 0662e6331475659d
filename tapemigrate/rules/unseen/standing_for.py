"""What the names of a program may stand for: by last names, whichever function gives them."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property

from tapemigrate.flow.functions import named_defaults
from tapemigrate.flow.unpacking import GIVING, each_given, zipped
from tapemigrate.rules.finding import Unit
from tapemigrate.rules.unseen.bindings import last_name, parts
from tapemigrate.rules.unseen.words import last_of
from tapemigrate.source.trees import walk
from tapemigrate.tape.ops.symbols import short

_PUTTING = frozenset({"append", "add", "extend", "insert", "setdefault", "update"})
_OF_A_DICT = frozenset({"items", "keys", "values", "copy"})

_Given = tuple[Unit, ast.expr]
# The file, of a name, and the name.
_Key = tuple[str, str]
# Whether it is called, and by what it is known.
_Step = tuple[bool, _Key]
#: What is asked of something that stands in a file.
Holds = Callable[[Unit, ast.expr], bool]


class Standing:
    """What is given to names of one file, and to attributes of all files of a program."""

    def __init__(self, homes: Iterable[Unit]) -> None:
        homes = list(homes)
        self._given: defaultdict[_Key, list[_Given]] = defaultdict(list)
        self._put_in: defaultdict[_Key, list[_Given]] = defaultdict(list)
        self._keys: defaultdict[_Key, list[_Given]] = defaultdict(list)
        self._returned: defaultdict[str, list[_Given]] = defaultdict(list)
        self._leading: dict[Holds, set[_Step]] = {}
        functions: defaultdict[str, list[tuple[Unit, ast.FunctionDef]]] = defaultdict(list)
        for home in homes:
            for target, value in _pairs(home):
                self._give(home, target, value)
            for func in home.nodes(ast.FunctionDef):
                cls = home.parents.get(func)
                made = cls.name if isinstance(cls, ast.ClassDef) else ""
                functions[made if func.name == "__init__" else func.name].append((home, func))
                returns = (n.value for n in walk(func) if isinstance(n, ast.Return))
                self._returned[func.name] += ((home, value) for value in returns if value)
        for home in homes:
            for call in home.nodes(ast.Call):
                name = last_of(call.func) or ""
                if isinstance(call.func, ast.Attribute) and name in _PUTTING:
                    where = self._given if name == "update" else self._put_in
                    for each in _targets(call.func.value):
                        where[_key(home, each)] += ((home, arg) for arg in call.args)
                for unit, func in functions.get(name, ()):
                    for parameter, value in _handed(unit, func, call):
                        self._given[unit.filename, parameter].append((home, value))

    def _give(self, home: Unit, target: ast.expr, value: ast.expr) -> None:
        if isinstance(target, ast.Subscript):
            for each in _targets(target.value):
                self._put_in[_key(home, each)].append((home, value))
                self._keys[_key(home, each)].append((home, target.slice))
        elif isinstance(target, ast.Tuple | ast.List):
            for part in target.elts:
                self._give(home, part, value)
        elif isinstance(target, ast.Starred):
            self._give(home, target.value, value)
        else:
            self._given[_key(home, target)].append((home, value))

    def keys_of(self, home: Unit, value: ast.expr) -> Iterator[tuple[Unit, ast.expr, bool]]:
        """The keys of a dict, or what holds them, or what cannot be followed and may be the dict.

        With each, whether it is the dict.
        """
        pending, seen = [(home, value)], set[_Key]()
        while pending:
            unit, node = pending.pop()
            match node:
                case ast.Dict(keys=keys, values=values):
                    yield from ((unit, key, False) for key in keys if key is not None)
                    pairs = zip(keys, values, strict=True)
                    pending += [(unit, inner) for key, inner in pairs if key is None]
                case ast.DictComp(key=one):
                    yield unit, one, False
                case ast.Call(
                    func=ast.Name(id="dict"), args=[ast.Call(func=ast.Name(id="zip"), args=args)]
                ):
                    yield from ((unit, each, False) for each in args[:1])
                case ast.Call(func=ast.Name(id="dict"), args=args):
                    pending += [(unit, each) for each in args]
                case ast.Constant():
                    pass
                case ast.Call() if short(unit.names.qualified(node.func)) is not None:
                    pass  # ``w.eval(tf.Session())``
                case ast.IfExp(body=body, orelse=orelse):
                    pending += [(unit, body), (unit, orelse)]
                case ast.BoolOp(values=values):
                    pending += [(unit, each) for each in values]
                case _:
                    step = self._given_to(unit, node)
                    if step is None:
                        yield unit, node, True
                    elif step[0] not in seen:
                        seen.add(step[0])
                        yield from ((*each, False) for each in self._keys.get(step[0], ()))
                        pending += step[1]

    def may_be(self, home: Unit, value: ast.expr, holds: Holds) -> bool:
        """Whether ``holds`` of something that ``value``, or a part of it, may be.

        It is asked of calls, texts and names that are given nothing, and told once for all values.
        """
        found, steps = self._parts_of(home, value)
        return any(holds(*each) for each in found) or not self._leading_to(holds).isdisjoint(steps)

    def _parts_of(self, unit: Unit, value: ast.expr) -> tuple[list[_Given], list[_Step]]:
        """What the value, or a part, may be, and the names and calls that stand for more of it."""
        found: list[_Given] = []
        steps: list[_Step] = []
        pending = [value]
        while pending:
            for part in parts(pending.pop()):
                func = getattr(part, "func", None)
                if isinstance(part, ast.BinOp):
                    pending += [part.left, part.right]
                elif isinstance(func, ast.Attribute) and func.attr in _OF_A_DICT:
                    pending.append(func.value)
                elif (step := self._given_to(unit, part)) is None:
                    found.append((unit, part))
                elif isinstance(part, ast.Call):
                    steps.append((True, ("", step[0][1])))
                else:
                    steps.append((False, step[0]))
        return found, steps

    @cached_property
    def _known(self) -> Mapping[_Step, tuple[list[_Given], list[_Step]]]:
        """The same of all that stands for something."""
        found: dict[_Step, tuple[list[_Given], list[_Step]]] = {}
        pending: list[_Step] = [(False, key) for key in (*self._given, *self._put_in)]
        pending += ((True, ("", name)) for name in self._returned)
        while pending:
            step = pending.pop()
            if step in found:
                continue
            found[step] = [], []
            is_call, key = step
            given = self._returned[key[1]] if is_call else self._given.get(key, [])
            for each in (*given, *(() if is_call else self._put_in.get(key, ()))):
                ends, further = self._parts_of(*each)
                found[step][0].extend(ends)
                found[step][1].extend(further)
            pending += found[step][1]
        return found

    def _leading_to(self, holds: Holds) -> set[_Step]:
        """What may stand for something of which ``holds`` is true."""
        if holds not in self._leading:
            users: defaultdict[_Step, list[_Step]] = defaultdict(list)
            for step, (_, further) in self._known.items():
                for each in further:
                    users[each].append(step)
            pending = [s for s, (ends, _) in self._known.items() if any(holds(*e) for e in ends)]
            found = set(pending)
            while pending:
                new = [step for step in users.get(pending.pop(), ()) if step not in found]
                found.update(new)
                pending += new
            self._leading[holds] = found
        return self._leading[holds]

    def itself(self, home: Unit, value: ast.expr) -> Iterator[_Given]:
        """The same of the value alone: no element of a list is one."""
        pending, seen = [(home, value)], set[_Key]()
        while pending:
            unit, node = pending.pop()
            if isinstance(node, ast.IfExp):
                pending += [(unit, node.body), (unit, node.orelse)]
            elif (step := self._given_to(unit, node)) is None:
                yield unit, node
            elif step[0] not in seen:
                seen.add(step[0])
                pending += step[1]

    def _given_to(self, unit: Unit, node: ast.expr) -> tuple[_Key, list[_Given]] | None:
        """What a name is given, or what is returned to a call, and by which key that is known."""
        if isinstance(node, ast.Call):
            key, given = _key(unit, node.func), self._returned_by(unit, node)
            return (key, given) if given else None
        if not isinstance(node, ast.Name | ast.Attribute):
            return None
        key = _key(unit, node)
        given = self._given.get(key, [])
        return (key, given) if given or key in self._put_in else None

    def _returned_by(self, unit: Unit, call: ast.Call) -> list[_Given]:
        """What the functions of the program return that have the name of what is called."""
        if short(unit.names.qualified(call.func)) is not None:
            return []
        return self._returned.get(last_of(call.func) or "", [])


def _key(home: Unit, target: ast.expr) -> _Key:
    return "" if isinstance(target, ast.Attribute) else home.filename, last_name(target)


def _targets(target: ast.expr) -> Iterator[ast.expr]:
    """The names and attributes of a target, or those that hold what it is a part of."""
    if isinstance(target, ast.Tuple | ast.List):
        for each in target.elts:
            yield from _targets(each)
    elif isinstance(target, ast.Subscript | ast.Starred):
        yield from _targets(target.value)
    else:
        yield target


def _pairs(home: Unit) -> Iterator[tuple[ast.expr, ast.expr]]:
    for kind in GIVING:
        for node in home.nodes(kind):
            yield from each_given(node)
    loops: list[ast.For | ast.comprehension] = [*home.nodes(ast.For)]
    for loop in [*loops, *home.nodes(ast.comprehension)]:
        yield from zipped(loop.target, loop.iter) or [(loop.target, loop.iter)]
    for item in home.nodes(ast.withitem):
        if item.optional_vars is not None:
            yield item.optional_vars, item.context_expr


def _handed(unit: Unit, func: ast.FunctionDef, call: ast.Call) -> Iterator[tuple[str, ast.expr]]:
    """What a call hands to a function's parameters, and what these are by default."""
    yield from named_defaults(func.args).items()
    names = [arg.arg for arg in (*func.args.posonlyargs, *func.args.args)]
    if isinstance(unit.parents.get(func), ast.ClassDef):
        names = names[1:]
    yield from zip(names, call.args, strict=False)
    yield from ((keyword.arg, keyword.value) for keyword in call.keywords if keyword.arg)
