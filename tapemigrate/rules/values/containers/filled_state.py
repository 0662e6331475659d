"""What functions of a file put into things that outlive them."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator

from tapemigrate.flow.changers import CHANGERS, INSERTING, changed_by_handed
from tapemigrate.flow.effects import Effects
from tapemigrate.flow.functions import (
    Function,
    NamedFunction,
    free_names,
    named_defaults,
    parameters,
)
from tapemigrate.flow.paths import path_of
from tapemigrate.flow.sharing import last_of
from tapemigrate.flow.unpacking import all_given, each_given, given_to_each
from tapemigrate.rules.by_text import ByText
from tapemigrate.rules.callgraph.classes import is_of_library
from tapemigrate.rules.finding import Unit
from tapemigrate.rules.indexes import effects_of, given_at_top, kinds_of
from tapemigrate.rules.values.containers.held_together import held_together, made_at_top
from tapemigrate.rules.values.variables.variable_values import PLAIN, VARIABLE, root_of
from tapemigrate.source.trees import arguments_of, parts_of_target, top_level, walk
from tapemigrate.tape.ops.kinds import Kinds, Make
from tapemigrate.tape.ops.plain_calls import makes_container

# What ``filled_state`` looks at.
_FILLING = frozenset(
    {ast.Assign, ast.AnnAssign, ast.AugAssign, ast.NamedExpr, ast.Call, ast.FunctionDef, ast.For}
    | {ast.withitem}
)
_DEFINING = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
# What a call makes into which something may be put.
_CONTAINERS = frozenset(
    {"dict", "list", "set", "defaultdict", "OrderedDict", "deque", "fromkeys", "ChainMap", "local"}
    | {"Queue", "LifoQueue", "PriorityQueue", "SimpleNamespace", "Namespace", "WeakValueDictionary"}
    | {"WeakKeyDictionary", "empty", "full", "partial", "UserDict", "UserList"}
)
#: What looks into a container.
LOOKING = frozenset({"get", "setdefault", "values", "items"})
#: What gives the elements of what it is given.
HANDING_ON = (
    *(("enumerate",), ("zip",), ("reversed",), ("list",), ("tuple",), ("sorted",), ("iter",)),
    *(("next",), ("filter",), ("itertools", ".chain"), ("chain",)),
)
_TYPES = (("list",), ("dict",), ("set",))
# Ahead of a name that is set on the module: no name of Python's holds it.
_OF_MODULE = "."


def filled_state(unit: Unit) -> frozenset[str]:
    """What functions put values into that outlives them, other than variables.

    Dicts, lists and objects at module level, classes, also those that give objects which were made
    before, and functions that have a list for a default, or attributes.
    """
    return _FILLED_STATE.of(unit) or frozenset()


def _filled_state(unit: Unit) -> frozenset[str]:
    top = top_level(unit.tree)
    effects = effects_of(unit)
    kinds = unit.once(kinds_of)
    names = {
        name
        for name, values in unit.once(given_at_top).items()
        if any(_holds_values(value, kinds) for value in values)
    }
    names |= {
        name
        for name, values in unit.once(made_at_top).items()
        if any(isinstance(value, ast.Call) and _is_own(value, effects) for value in values)
    }
    names |= held_together(unit, names)
    names |= {stmt.name for stmt in top if isinstance(stmt, ast.ClassDef)}
    functions = {stmt.name for stmt in top if isinstance(stmt, ast.FunctionDef)}
    methods = {
        (cls.name, f".{each.name}")
        for cls in top
        if isinstance(cls, ast.ClassDef)
        for each in cls.body
        if isinstance(each, ast.FunctionDef)
        and [path_of(d) for d in each.decorator_list] in ([], [("staticmethod",)])
    }
    pushing = {
        name: root
        for name, values in unit.once(given_at_top).items()
        for value in values
        for root in _pushes_into(value)
        if root in names
    }
    found = {
        stmt.name
        for stmt in top
        if isinstance(stmt, ast.ClassDef) and effects.remembers_objects(stmt)
    }
    given = unit.once(given_at_top)
    found |= {name for name, values in given.items() if any(map(effects.is_remembering, values))}
    for function in top:
        if not isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            continue
        shared = {n for s in walk(function) if isinstance(s, ast.Global) for n in s.names}
        found |= {d.name for d in walk(function) if isinstance(d, _DEFINING) and d.name in shared}
        other_names = _other_names(function, names, unit.once(_handed_out))
        pushes = pushing | {
            name: root
            for name, into in _pushing(function).items()
            for root in other_names.get(into, {into}) & names
        }
        for node in walk(function):
            if node.__class__ not in _FILLING:
                continue
            for target, value in _targets_of(node) if shared else ():
                if kinds.make(value) not in (*VARIABLE, *PLAIN):
                    names_given = (t.id for t in parts_of_target(target) if isinstance(t, ast.Name))
                    found |= shared.intersection(names_given)
            if isinstance(function, ast.ClassDef) and any(
                not _is_uncomputed(unit, value, function, shared, kinds)
                for value in _put_into_class(node)
            ):
                found.add(function.name)
            if isinstance(node, ast.Call) and path_of(node.func) in methods:
                # What it puts into the class stands in its own body.
                filled = list(_filled_by(unit, node, last_of(node.func), bound=1))
            else:
                filled = list(_filled(unit, node))
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                if node.func.id in pushes:
                    filled.append((_OF_MODULE + pushes[node.func.id], arguments_of(node)))
            for named, values in filled:
                by_another = named in other_names and _changes(node)
                for name in other_names[named] if by_another else {named}:
                    if name.startswith(_OF_MODULE):
                        keeps = True
                    else:
                        keeps = name in names
                        keeps |= name in functions and isinstance(node, ast.Assign)
                        # What is its own, the module has something else by.
                        keeps = keeps and (by_another or name in free_names(function))
                    if keeps and not all(
                        _is_uncomputed(unit, v, function, shared, kinds) for v in values
                    ):
                        found.add(name.removeprefix(_OF_MODULE))
            if isinstance(node, ast.FunctionDef) and (
                _fills_a_default(unit, node) or effects.remembers(node)
            ):
                found.add(node.name)
    tops = unit.once(given_at_top)
    found |= {name for name, values in tops.items() if any(map(_is_bound_container, values))}
    return frozenset(held_together(unit, found))


_FILLED_STATE = ByText(_filled_state)


def _put_into_class(node: ast.AST) -> Iterator[ast.expr]:
    """What a method puts into the class of its object: ``type(self).h = h``."""
    if not isinstance(node, ast.Assign):
        return
    for target in node.targets:
        for each in parts_of_target(target):
            while isinstance(each, ast.Subscript | ast.Attribute):
                each = each.value
                if isinstance(each, ast.Attribute) and each.attr == "__class__":
                    yield node.value
            if isinstance(each, ast.Call) and path_of(each.func) == ("type",):
                yield node.value


def _targets_of(node: ast.AST) -> list[tuple[ast.expr, ast.expr]]:
    """What the node gives values, and which."""
    match node:
        case ast.Assign() | ast.AnnAssign() | ast.NamedExpr():
            return each_given(node)
        case ast.AugAssign(target=target, value=value):
            return [(target, value)]
        case ast.For(target=target, iter=value):
            return [(target, value)]
        case ast.withitem(context_expr=value, optional_vars=ast.expr() as target):
            return [(target, value)]
    return []


def _pushing(function: ast.AST) -> dict[str, str]:
    """By the names that a function calls: into what they put something, ``put = ROWS.append``."""
    given = [(t, value) for t, value in all_given(function) if isinstance(t, ast.Name)]
    found = {path_of(t): root for t, value in given for root in _pushes_into(value)}
    new = True
    while new:  # by another name: ``put = add``
        more = {path_of(t): found[path] for t, v in given if (path := path_of(v)) in found}
        new = not more.keys() <= found.keys()
        found = more | found
    return {path[0]: root for path, root in found.items() if path is not None}


def _pushes_into(value: ast.expr) -> Iterator[str]:
    """Into what a call of the value puts something: ``ROWS.append``, ``lambda h: ROWS.add(h)``"""
    partial = isinstance(value, ast.Call) and (path_of(value.func) or ("",))[-1].endswith("partial")
    for node in walk(value) if partial or isinstance(value, ast.Attribute | ast.Lambda) else ():
        if isinstance(node, ast.Attribute) and node.attr in CHANGERS:
            root = root_of(node)
            if root is not None:
                yield root


def _handed_out(unit: Unit) -> dict[str, set[str]]:
    """By functions and methods: the names of the module that they may give back as they are.

    So does one that gives what such a function gives it.
    """
    given = unit.once(given_at_top)
    found: dict[str, set[str]] = {}
    called: dict[str, set[str]] = {}
    top = top_level(unit.tree)
    for function in [*top, *(m for cls in top if isinstance(cls, ast.ClassDef) for m in cls.body)]:
        if not isinstance(function, ast.FunctionDef):
            continue
        for end in (n.value for n in walk(function) if isinstance(n, ast.Return)):
            if isinstance(end, ast.Name) and end.id in given:
                found.setdefault(function.name, set()).add(end.id)
            elif isinstance(end, ast.Call):
                called.setdefault(last_of(end.func) or "", set()).add(function.name)
    pending = list(found)
    while pending:
        name = pending.pop()
        for other in called.get(name, ()):
            known = found.setdefault(other, set())
            if not found[name] <= known:
                known |= found[name]
                pending.append(other)
    return found


def _other_names(
    function: ast.AST, names: set[str], handed_out: dict[str, set[str]]
) -> dict[str, set[str]]:
    """Names by which a function has what ``names`` stand for, or what is in there."""
    found: dict[str, set[str]] = {}
    inner = {each.name: each for each in walk(function) if isinstance(each, NamedFunction)}
    for node in walk(function):
        match node:
            case ast.arguments():
                for name, default in named_defaults(node).items():
                    if isinstance(default, ast.Name) and default.id in names:
                        found.setdefault(name, set()).add(default.id)
                continue
            case ast.For(target=target, iter=value) | ast.comprehension(target=target, iter=value):
                given = _given_to(target, value)
            case ast.Assign() | ast.AnnAssign() | ast.NamedExpr():
                given = [pair for each in each_given(node) for pair in _given_to(*each)]
            case ast.Call(args=[handed, *values]):
                given = _gone_over(inner, handed, values)
            case _:
                continue
        for name, value in given:
            called = last_of(value.func) if isinstance(value, ast.Call) else ""
            out = handed_out.get(called, ())
            for root in (*_roots(value), *out):
                meant = found.get(root, {root}) & names
                if meant:
                    found.setdefault(name, set()).update(meant)
    return found


def _given_to(target: ast.expr, value: ast.expr) -> list[tuple[str, ast.expr]]:
    match target, value:
        case ast.Tuple(elts=elts), ast.Call(func=ast.Name(id="zip"), args=values) if len(
            elts
        ) == len(values):
            return [
                pair
                for each, one in zip(elts, values, strict=True)
                for pair in _given_to(each, one)
            ]
        case ast.Tuple(elts=[_, each]), ast.Call(func=ast.Name(id="enumerate"), args=[one, *_]):
            return _given_to(each, one)
    names = [each for each in parts_of_target(target) if isinstance(each, ast.Name)]
    return [(each.id, value) for each in names]


def _gone_over(
    inner: dict[str, NamedFunction], handed: ast.expr, values: list[ast.expr]
) -> list[tuple[str, ast.expr]]:
    """The parameters of a function that goes over values: ``map(lambda row: …, ROWS)``."""
    function = inner.get(handed.id) if isinstance(handed, ast.Name) else handed
    if not isinstance(function, Function):
        return []
    return [(a.arg, value) for a, value in zip(parameters(function.args), values, strict=False)]


def _roots(value: ast.expr) -> Iterator[str]:
    """The names of what a value is, is in, or has the elements of: ``enumerate(ROWS)``."""
    if isinstance(value, ast.BinOp):
        yield from (*_roots(value.left), *_roots(value.right))
    elif isinstance(value, ast.Call) and path_of(value.func) in HANDING_ON:
        yield from (root for each in value.args for root in _roots(each))
    elif (root := root_of(value)) is not None and not _computes(value):
        yield root


def _computes(value: ast.expr) -> bool:
    """Whether something is called that is no look into a container."""
    calls = (node for node in walk(value) if isinstance(node, ast.Call))
    return any(getattr(call.func, "attr", "") not in LOOKING for call in calls)


def _changes(node: ast.AST) -> bool:
    """Whether it is no call, or one that puts something into its object."""
    func = node.func if isinstance(node, ast.Call) else None
    return not isinstance(func, ast.Attribute) or func.attr in CHANGERS


def _is_uncomputed(
    unit: Unit, value: ast.expr, function: ast.AST, shared: set[str], kinds: Kinds
) -> bool:
    """Whether it is a number, a variable, or a name that the function gives to variables alone."""
    if kinds.make(value) in (*VARIABLE, *PLAIN) or is_of_library(unit.names.qualified(value)):
        return True
    if not isinstance(value, ast.Name) or value.id in shared:
        return False
    nodes = walk(function)
    bound: list[ast.AST] = [n for n in nodes if isinstance(n, ast.arg) and n.arg == value.id]
    names = (n for n in nodes if isinstance(n, ast.Name) and n.id == value.id)
    bound += [n for n in names if not isinstance(n.ctx, ast.Load)]
    given = [
        stmt.value
        for stmt in nodes
        if isinstance(stmt, ast.Assign) and any(target in bound for target in stmt.targets)
    ]
    # A list by a name may have something else put into it.
    alone = all(kinds.make(each) in (Make.VARIABLE, Make.FROZEN) for each in given)
    return 0 < len(bound) == len(given) and alone


def _fills_a_default(unit: Unit, function: ast.FunctionDef) -> bool:
    defaults = named_defaults(function.args)
    lists = {name for name, default in defaults.items() if is_container(default)}
    return bool(lists) and any(
        name in lists for node in walk(function) for name, _ in _filled(unit, node)
    )


def _is_bound_container(value: ast.expr) -> bool:
    """Whether a partial has a new container of its own: ``partial(add, [])``."""
    return (
        isinstance(value, ast.Call)
        and last_of(value.func) == "partial"
        and any(map(is_container, arguments_of(value)[1:]))
    )


def _is_own(call: ast.Call, effects: Effects) -> bool:
    """Whether a function or named tuple of the file makes it: what it gives may keep something."""
    name = (path_of(call.func) or ("",))[-1].lstrip(".")
    return name in effects.tuples or bool(effects.functions(name))


def _holds_values(value: ast.expr, kinds: Kinds) -> bool:
    if is_container(value):
        return True
    if not isinstance(value, ast.Call):
        return False
    return kinds.makes_object(value) or makes_container(kinds.name(value.func) or "")


def is_container(value: ast.expr) -> bool:
    """Whether it is a new list, dict or the like, or a call that gives one."""
    if isinstance(value, ast.Call):
        return (path_of(value.func) or ("",))[-1].lstrip(".") in _CONTAINERS
    if isinstance(value, ast.BinOp):
        return is_container(value.left) or is_container(value.right)
    return isinstance(
        value, ast.Dict | ast.List | ast.Set | ast.DictComp | ast.ListComp | ast.SetComp
    )


def _filled(unit: Unit, node: ast.AST) -> Iterator[tuple[str, list[ast.expr]]]:
    """The names of what is put into, and the values; those of the module itself are marked."""
    if isinstance(node, ast.Call):
        handed = changed_by_handed(node)
        yield from ((root_of(each) or "", arguments_of(node)) for each in handed)
    match node:
        case ast.AugAssign(target=ast.Name(id=name), value=ast.List() | ast.ListComp() as value):
            yield name, [value]  # a list is made longer, and no other one bound
        case ast.Assign():
            for target, value in given_to_each(node):
                yield from _put_by(target, value)
        case ast.AugAssign():
            yield from _put_by(node.target, node.value)
        case (
            ast.For(target=target, iter=value)
            | ast.withitem(context_expr=value, optional_vars=ast.expr() as target)
        ):
            yield from _put_by(target, value)
        case ast.Call(func=ast.Name(id="setattr"), args=[owner, ast.Constant(value=key), value]):
            yield _owner(owner, str(key)), [value]
        case ast.Call(func=ast.Attribute() as func) if node.args or node.keywords:
            if is_own_module(func.value):
                for keyword in node.keywords:
                    yield _owner(func.value, keyword.arg or ""), [keyword.value]
            elif unit.names.qualified(func) in INSERTING:
                yield root_of(node.args[0]) or "", node.args[1:]
            elif path_of(func.value) in _TYPES:
                yield root_of(arguments_of(node)[0]) or "", arguments_of(node)[1:]
            else:
                yield root_of(func) or "", arguments_of(node)
                yield from _filled_by(unit, node, func.attr, bound=1)
        case ast.Call(func=ast.Name(id=name)):
            yield from _filled_by(unit, node, name)
            if node.args and isinstance(function := node.args[0], ast.Name):
                # ``map(put, ROWS, values)``
                call = ast.Call(function, node.args[1:], [])
                yield from _filled_by(unit, call, function.id)


def _filled_by(
    unit: Unit, call: ast.Call, name: str, bound: int = 0
) -> Iterator[tuple[str, list[ast.expr]]]:
    """What functions of the name put something into, of what the call hands them."""
    handed = effects_of(unit).filled(call, name, bound).surely
    for each in handed if handed and not _puts_numbers(unit, name) else ():
        yield root_of(each) or "", [each]


def _put_by(target: ast.expr, value: ast.expr) -> Iterator[tuple[str, list[ast.expr]]]:
    """The names of what a target stands in, and what it is given."""
    for each in parts_of_target(target):
        if isinstance(each, ast.Subscript | ast.Attribute):
            yield _owner(each.value, _key(each)), [value]


def _puts_numbers(unit: Unit, name: str) -> bool:
    """Whether the functions of a name put nothing but numbers and texts into anything.

    ``counters[layer] += 1`` counts the layers of a name.
    """
    known = unit.once(_putting_numbers)
    if name not in known:
        known[name] = _put_numbers(unit, name)
    return known[name]


def _putting_numbers(unit: Unit) -> dict[str, bool]:
    return {}


def _put_numbers(unit: Unit, name: str) -> bool:
    kinds = unit.once(kinds_of)
    for node in (n for function in effects_of(unit).functions(name) for n in walk(function)):
        if isinstance(node, ast.Call):
            if not isinstance(node.func, ast.Name) or not hasattr(builtins, node.func.id):
                return False
        elif isinstance(node, ast.Assign | ast.AugAssign) and kinds.make(node.value) not in PLAIN:
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            if any(not isinstance(t, ast.Name) for each in targets for t in parts_of_target(each)):
                return False
    return True


def _key(target: ast.Subscript | ast.Attribute) -> str:
    if isinstance(target, ast.Attribute):
        return target.attr
    return str(target.slice.value) if isinstance(target.slice, ast.Constant) else ""


def _owner(owner: ast.expr, key: str) -> str:
    """The name of what has ``key`` set: of the module, that is the key."""
    return _OF_MODULE + key if is_own_module(owner) else root_of(owner) or ""


def is_own_module(owner: ast.expr) -> bool:
    """``globals()``, ``sys.modules[__name__]``"""
    match owner:
        case ast.Call(func=ast.Name(id="globals")):
            return True
        case ast.Call(func=ast.Name(id="vars"), args=[inner]):
            return is_own_module(inner)
        case ast.Subscript(value=ast.Attribute(attr="modules"), slice=ast.Name(id="__name__")):
            return True
        case ast.Attribute(attr="__dict__", value=inner):
            return is_own_module(inner)
    return False
