"""Which definitions a value may be, or hold, the very tensors of: nothing shows that it is new.

A tensor that goes by two names is watched by one of them: what was computed of it before, by the
other, a tape that is told of the first one has not seen.
"""

from __future__ import annotations

import ast

from tapemigrate.flow.definitions import HIDDEN, Def, Kind, Use
from tapemigrate.flow.defuse import Flow
from tapemigrate.flow.paths import Path, path_of
from tapemigrate.flow.slices import origins
from tapemigrate.source.trees import arguments_of, walk
from tapemigrate.tape.ops.kinds import Kinds, Make
from tapemigrate.tape.ops.symbols import CHOOSES, short
from tapemigrate.tape.ops.syntax import PARAMETERS_BY_NAME, SETTINGS, may_give_back, only_iterates

_TAKEN = (Kind.ELEMENT, Kind.LOOP, Kind.COMPREHENSION, Kind.WITH)
_LISTED = (ast.List, ast.Tuple, ast.Set, ast.ListComp)
_NEW = (Make.TENSOR, Make.LEAF, Make.PYTHON)
_NO_TENSORS = (Kind.IMPORT, Kind.FUNCTION, Kind.CLASS)
# Through how many names it is asked what gave something.
_DEPTH = 3
# Ops that give a list of tensors: what is taken out of it is no new one.
_LISTS = frozenset({"split", "unstack", "unpack", "meshgrid", "gradients", "dynamic_partition"})


def may_be(made: Def, flow: Flow, kinds: Kinds) -> frozenset[Def]:
    """The other definitions whose tensors ``made`` may be, or hold."""
    search = _Search(flow, kinds)
    search.definition(made, False)
    return search.tensors() - {made}


def asked_for(made: Def, flow: Flow, kinds: Kinds) -> frozenset[Def]:
    """The objects whose methods may have given ``made``: it may be one of their attributes."""
    search = _Search(flow, kinds)
    search.definition(made, False)
    return frozenset(d for d in search.holders if d.kind not in _NO_TENSORS)


def is_new(made: Def, flow: Flow, kinds: Kinds) -> bool:
    """Whether an op certainly makes the tensor where it is given its name.

    Whatever was there before is older then, and made of nothing of it.
    """
    if made.kind is not Kind.ASSIGN or made.value is None:
        return False
    arithmetic = isinstance(made.value, ast.BinOp) and not _may_join(made.value, kinds, flow)
    computed = isinstance(made.value, ast.Call) and kinds.only_computes(made.value)
    if not (arithmetic or computed) and kinds.make(made.value) not in (Make.TENSOR, Make.LEAF):
        return False
    return not may_be(made, flow, kinds) and not asked_for(made, flow, kinds)


def _may_join(value: ast.BinOp, kinds: Kinds, flow: Flow) -> bool:
    """Whether it may add up lists, or repeat one: by no float, and no number is added to one."""
    sides = (value.left, value.right)
    if any(isinstance(side, ast.Call) and _gives_number(side, kinds) for side in sides):
        return False
    if _is_no_list(value, kinds, flow, _DEPTH):
        return False
    if isinstance(value.op, ast.Add):
        return not any(map(_is_number, sides))
    floats = (isinstance(s, ast.Constant) and isinstance(s.value, float) for s in sides)
    return isinstance(value.op, ast.Mult) and not any(floats)


def _is_no_list(node: ast.expr, kinds: Kinds, flow: Flow, depth: int) -> bool:
    """Whether arithmetic that lists do not have gave it: ``real + alpha * (fake - real)``."""
    match node:
        case ast.BinOp(op=ast.Sub() | ast.Div() | ast.Pow() | ast.MatMult()):
            return True
        case ast.BinOp(op=ast.Add()):  # to what is no list, none is added
            return any(_is_no_list(s, kinds, flow, depth) for s in (node.left, node.right))
        case ast.BinOp(op=ast.Mult()):  # a number repeats one
            return all(_is_no_list(s, kinds, flow, depth) for s in (node.left, node.right))
        case ast.Call():
            return kinds.make(node) is Make.LEAF
    path = path_of(node)
    known = origins(flow.reads.get(node, frozenset())) if path is not None and depth else ()
    # Functions that it may hold are none of it.
    made = [d for d in known if path is not None and d.path[0] == path[0]]
    return bool(made) and all(
        d.kind is Kind.ASSIGN
        and d.path == path
        and d.value is not None
        and _is_no_list(d.value, kinds, flow, depth - 1)
        for d in made
    )


def joins(value: ast.expr | None, flow: Flow) -> bool:
    """Whether it is a list, joined of two or repeated: the elements are the same tensors."""
    added = isinstance(value, ast.BinOp) and isinstance(value.op, ast.Add | ast.Mult)
    return added and _is_list(value, flow, set())


def is_joined(made: Def, flow: Flow) -> bool:
    """Whether the definition adds a list to another one: ``params += layer.params``."""
    if made.kind is not Kind.AUGMENT:
        return made.kind is Kind.ASSIGN and joins(made.value, flow)
    adds = isinstance(made.stmt, ast.AugAssign) and isinstance(made.stmt.op, ast.Add)
    return adds and _is_list_by(made, flow, set())


def _is_list(node: ast.expr | None, flow: Flow, seen: set[Def]) -> bool:
    match node:
        case ast.List() | ast.Tuple() | ast.ListComp():
            return True
        case ast.BinOp(op=ast.Add() | ast.Mult()):
            sides = (node.left, node.right)
            if isinstance(node.op, ast.Add) and any(map(_is_number, sides)):
                return False  # nothing else can be added to a list
            return any(_is_list(side, flow, seen) for side in sides)
        case ast.Call(func=ast.Name(id="list" | "tuple" | "sorted")):
            return True
        case ast.Attribute() if PARAMETERS_BY_NAME.search(node.attr):
            return True
        case ast.expr() if (path := path_of(node)) is not None:
            made = origins(flow.reads.get(node, frozenset()))
            return any(d.path == path and _is_list_by(d, flow, seen) for d in made)
    return False


def _is_list_by(made: Def, flow: Flow, seen: set[Def]) -> bool:
    """Whether a definition shows that the name stands for a list; not by what is in ``seen``."""
    if made in seen or made.kind not in (Kind.ASSIGN, Kind.AUGMENT):
        return False
    seen.add(made)
    if _is_list(made.value, flow, seen):
        return True
    if made.kind is not Kind.AUGMENT or _is_number(made.value):
        return False
    before = (u for u in made.uses if u.made.path == made.path)
    return any(_is_list_by(d, flow, seen) for d in origins(before))


def _is_number(node: ast.expr | None) -> bool:
    """Whether arithmetic, or a literal, shows that it is a number or a tensor, and no list."""
    match node:
        case ast.Constant() | ast.UnaryOp():
            return True
        case ast.BinOp(op=ast.Mult()):
            sides = (node.left, node.right)
            return any(isinstance(s, ast.Constant) and isinstance(s.value, float) for s in sides)
        case ast.BinOp():
            return not isinstance(node.op, ast.Add)
    return False


def _gives_number(call: ast.Call, kinds: Kinds) -> bool:
    """The same of what a function of the file gives, whatever it is handed."""
    function = kinds.runs_only(call)
    ends = [n.value for n in walk(function) if isinstance(n, ast.Return)] if function else []
    given: dict[Path | None, bool] = {}
    for stmt in function.body if function is not None else ():
        match stmt:
            case ast.Assign(targets=[target], value=value):
                given[path_of(target)] = _is_number(value)
            case ast.AugAssign(target=target, op=op):
                given[path_of(target)] = not isinstance(op, ast.Add | ast.Mult)
            case ast.Expr() | ast.Return():
                pass
            case _:
                given.clear()
    return bool(ends) and all(_is_number(each) or given.get(path_of(each), False) for each in ends)


def value_may_be(value: ast.expr, flow: Flow, kinds: Kinds) -> frozenset[Def]:
    """The same of a value that has no name."""
    search = _Search(flow, kinds)
    search.value(value, False)
    return search.tensors()


class _Search:
    def __init__(self, flow: Flow, kinds: Kinds) -> None:
        self._flow = flow
        self._kinds = kinds
        self._found: set[Def] = set()
        self._done: set[tuple[Def, bool]] = set()
        self.holders: set[Def] = set()

    def tensors(self) -> frozenset[Def]:
        """What was found, without what certainly is no tensor, and holds none."""
        named = self._named()
        held = {d for d in named if self._may_hold(d)}
        # What is filled in place is found by its first definition where it is read.
        first = {o for d in held if d.kind is Kind.MUTATE for o in origins([Use(d)])}
        return frozenset(held | (first & set(named)))

    def _may_hold(self, made: Def) -> bool:
        """Whether it may be a tensor, or hold one, with all that was put into it since."""
        seen: set[Def] = set()
        left = [made]
        while left:
            each = left.pop()
            if each in seen:
                continue
            seen.add(each)
            if each.kind is not Kind.MUTATE:
                if not self._is_plain(each):
                    return True
                continue
            left.extend(use.made for use in each.before)
            if not (self._puts_in_plain(each) if _is_put_in(each) else self._is_no_list(each)):
                return True
        return False

    def _is_no_list(self, made: Def) -> bool:
        """Whether what a function is handed is no list: such a one may be filled with anything."""
        return not any(isinstance(o.value, ast.List) for o in origins([Use(made)]))

    def _puts_in_plain(self, made: Def) -> bool:
        """Whether a container takes in nothing but numbers, texts and the like."""
        value = made.value
        given = arguments_of(value) if isinstance(value, ast.Call) else [value]
        for each in given:
            if each is None:
                return False
            if path_of(each) is None or each not in self._flow.reads:
                if not self._is_python(each):
                    return False
            elif not all(self._is_plain(o) for o in origins(self._flow.reads[each])):
                return False
        return True

    def _named(self) -> list[Def]:
        me = (self._kinds.self_name,)
        return [d for d in self._found if d.path not in (me, HIDDEN) and d.path[0] not in SETTINGS]

    def _is_plain(self, made: Def) -> bool:
        """Whether it holds no tensor; what is taken out of lists may come round to itself."""
        seen: set[Def] = set()
        left = [made]
        while left:
            each = left.pop()
            if each in seen or each.kind in _NO_TENSORS:
                continue
            seen.add(each)
            if each.value is None or each.kind is Kind.MUTATE:
                return False
            if each.kind in _TAKEN and self._only_lists(each.value):
                search = _Search(self._flow, self._kinds)
                search.value(each.value, False)
                left.extend(o for d in search._named() for o in origins([Use(d)]))
            elif not self._is_python(each.value):
                return False
        return True

    def _is_python(self, value: ast.expr) -> bool:
        literal = not any(
            isinstance(n, ast.Call) or (isinstance(n, ast.Name) and self._kinds.name(n) is None)
            for n in walk(value)
        )
        return literal or self._kinds.make(value) is Make.PYTHON

    def _only_lists(self, value: ast.expr) -> bool:
        """Whether nothing but what is written there can come out: ``zip(a, b)``, ``[x, y]``."""
        if not isinstance(value, ast.Call):
            return isinstance(value, (*_LISTED, ast.Dict)) or path_of(value) is not None
        known = (self._kinds.name(value.func) or "").startswith("itertools.")
        return known or only_iterates(value)

    def definition(self, made: Def, part: bool) -> None:
        """Follows a definition; ``part``: it is an element, or an attribute, that is meant."""
        if (made, part) in self._done or made.path == (self._kinds.self_name,):
            return
        self._done.add((made, part))
        if made.kind is Kind.MUTATE and not _is_put_in(made):
            for use in made.before:
                self._add(use.made, part)
        elif made.kind in (Kind.MUTATE, Kind.FUNCTION, Kind.CLASS) or (
            made.value is None and made.kind is not Kind.ENTRY
        ):
            for use in (*made.before, *made.uses):
                # What a function reads of the module is looked at by itself.
                if made.kind is Kind.MUTATE or use.made.kind is not Kind.ENTRY:
                    self._add(use.made, part)
        elif made.value is not None:
            if made.kind is Kind.AUGMENT:
                for use in made.uses:
                    self._add(use.made, part)
            self.value(made.value, part or made.kind in _TAKEN)

    def _add(self, made: Def, part: bool) -> None:
        self._found.add(made)
        self.definition(made, part)

    def value(self, node: ast.expr, part: bool) -> None:
        """Follows what an expression hands on as it is."""
        path = path_of(node)
        if path is not None and node in self._flow.reads:
            for use in self._flow.reads[node]:
                made = use.made
                below = len(made.path) < len(path)
                if not (below and isinstance(node, ast.Subscript) and self._is_tensor(made)):
                    self._add(made, part or below)
            return
        match node:
            case ast.Call():
                self._call(node)
            case ast.BinOp() if self._kinds.make(node) not in _NEW:
                if part or joins(node, self._flow):
                    self.value(node.left, True)
                    self.value(node.right, True)
            case ast.Subscript(slice=ast.Tuple()):
                pass  # only a tensor is indexed so, which gives another one
            case ast.Subscript(slice=ast.Slice()) if not part:
                pass  # of a list, a list
            case ast.Subscript() | ast.Attribute():
                self.value(node.value, True)
            case ast.Lambda():
                for use in self._flow.reads.get(node, ()):
                    self.definition(use.made, True)
            case ast.Starred() | ast.NamedExpr():
                self.value(node.value, part)
            case ast.IfExp():
                self.value(node.body, part)
                self.value(node.orelse, part)
            case ast.BoolOp() | ast.Dict():
                # Of a display, the elements are meant as they are.
                for each in node.values:
                    self.value(each, False)
            case ast.List() | ast.Tuple() | ast.Set():
                for each in node.elts:
                    self.value(each, False)
            case ast.ListComp() | ast.SetComp() | ast.GeneratorExp():
                self.value(node.elt, False)
            case ast.DictComp():
                self.value(node.value, False)

    def _call(self, call: ast.Call) -> None:
        if self._is_new(call):
            return
        func, name = call.func, self._kinds.tensorflow(call.func)
        given = arguments_of(call)
        chooses = name is not None and name.rpartition(".")[2] in CHOOSES
        if name is not None and not name.startswith("nest.") and not chooses:
            given = given[:1]
        for each in given:
            self.value(each, True)
        if self._kinds.name(func) is not None:
            return
        owner = func.value if isinstance(func, ast.Attribute) else func
        if path_of(owner) is None:
            self.value(owner, True)
        me = (self._kinds.self_name,)
        own = _attributes_read(self._kinds.runs_only(call)) if path_of(owner) == me else None
        for use in self._flow.reads.get(owner, ()):
            if own is None:
                self._holder(use.made)
            elif len(use.made.path) > 1 and use.made.path[1].lstrip(".") in own:
                self._add(use.made, True)

    def _holder(self, made: Def) -> None:
        """What an object was made of, or what a function reads where it stands."""
        if made in self.holders or made.path == (self._kinds.self_name,):
            return
        self.holders.add(made)
        if made.kind is Kind.MUTATE:
            for use in made.before:
                self._holder(use.made)
            for use in made.uses - made.before if _is_put_in(made) else ():
                self._add(use.made, True)
        else:
            self.definition(made, True)

    def _is_new(self, call: ast.Call) -> bool:
        """Whether nothing that was there before can be what the call gives."""
        make = self._kinds.make(call)
        if make is Make.UNKNOWN:
            return self._kinds.is_new(call) or self._kinds.gives_tensors(call)
        return not may_give_back(call, self._kinds)

    def _is_tensor(self, made: Def) -> bool:
        """Whether it is a tensor, an element of which is another one."""
        value = made.value
        if made.kind is not Kind.ASSIGN or value is None:
            return False
        if self._kinds.make(value) not in (Make.TENSOR, Make.LEAF):
            return False
        return not isinstance(value, ast.Call) or short(self._kinds.name(value.func)) not in _LISTS


def _is_put_in(made: Def) -> bool:
    """Whether the container itself is told to take something in."""
    call = made.value
    if not isinstance(call, ast.Call):
        return True
    return isinstance(call.func, ast.Attribute) and path_of(call.func.value) == made.path


def _attributes_read(method: ast.FunctionDef | ast.AsyncFunctionDef | None) -> frozenset[str]:
    """The attributes that a method reads: one of them may be what it gives."""
    nodes = walk(method) if method is not None else ()
    return frozenset(n.attr for n in nodes if isinstance(n, ast.Attribute))
