"""Arguments that a name carries to a call, read as the arguments which they are.

``given = [x, ends]`` and then ``f(*given)``; ``given = SimpleNamespace(x=x)``, ``f(given.x)``;
``later = partial(f, x)``, ``later(y)``: these are ``f(x, ends)``, ``f(x)`` and ``f(x, y)`` in all
but the text, as long as the name is given nothing else and nothing is put into what it names. So is
``later = self.f``, ``later(x)``.

What is carried goes by its own name where that means the same in both places; otherwise by one that
is an expression in the text, ``given[0]``, and is given to it in the display.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Set

from tapemigrate.source.carriers import (
    Carrier,
    Imports,
    carriers,
    holds,
    is_called,
    made_by_libraries,
    root_of,
)
from tapemigrate.source.points import begin, end
from tapemigrate.source.records import Record
from tapemigrate.source.trees import children, put_for, statements, walk, with_parents

_DECLARING = (ast.Global, ast.Nonlocal)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_INNER = (*_FUNCTIONS, ast.Lambda, ast.ClassDef)
_LOOPS = (ast.For, ast.AsyncFor, ast.While)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
# What may run other code.
_RUNNING = (ast.Call, ast.For, ast.While, ast.With, ast.Await, ast.Yield, ast.Delete, ast.AugAssign)
_PLAIN = (ast.Name, ast.Constant)
# Builtins that put nothing into what they are called with.
_READING = frozenset({"len", "list", "tuple", "dict", "zip", "enumerate", "reversed", "print"})


def spell_out_carried(
    tree: ast.Module, imports: Imports, known: dict[str, Record], starred: Set[str], taken: bool
) -> bool:
    """Puts what names carry in the place of the names, and of what is asked for parts at once.

    ``known``: what the file's classes hold. ``starred``: the names behind a star. ``taken``: parts
    of displays may be asked for, or called. Returns whether anything is another now.
    """
    holding = bool(known or imports.partials or imports.namespaces)
    names = None if holding or taken or imports.functions else starred
    changed = (holding or taken) and _take_out(tree, imports, known)
    found = [
        (scope, each)
        for scope, each in carriers(tree, imports, known, names)
        if each.name in starred or each.parts or each.func is not None or (each.items and taken)
    ]
    if not found:
        return changed
    uses = _Uses(tree)
    foreign = imports.libraries | set(made_by_libraries(tree, imports))
    filled = [_Places(scope, carrier, uses, foreign).fill() for scope, carrier in found]
    return changed or any(filled)


def _take_out(tree: ast.Module, imports: Imports, known: dict[str, Record]) -> bool:
    """Reads ``Pair(x, y).x``, and ``[x, y][0]``, as ``x``; whether there are any."""
    changed = False
    for node in walk(tree):
        for child in children(node):
            if not isinstance(child, ast.Attribute | ast.Subscript) or not _is_read(child):
                continue
            held = Carrier(ast.Assign([], child.value), "")
            if not holds(held, child.value, imports, known) or held.func is not None:
                continue
            values: dict[object, ast.expr] = dict(enumerate(held.listed.values()))
            values |= {key: value for key, (_, value) in held.items.items()}
            if isinstance(child, ast.Attribute):
                values = {key: value for key, (_, value) in held.parts.items()}
                key: object = child.attr
            else:
                key = child.slice.value if isinstance(child.slice, ast.Constant) else None
            found = values.pop(key, None)
            if found is not None and all(isinstance(v, _PLAIN) for v in values.values()):
                put_for(node, child, found)
                changed = True
    return changed


def _own(scope: ast.AST) -> Iterator[ast.AST]:
    """What stands in a scope, and in no function, lambda or class inside it."""
    pending = list(children(scope))
    while pending:
        node = pending.pop()
        yield node
        if not isinstance(node, _INNER):
            pending += children(node)


class _Uses:
    """Where the names of a file are read, and given values."""

    def __init__(self, tree: ast.Module) -> None:
        self.parents = with_parents(tree)
        declared = (node for node in statements(tree) if isinstance(node, _DECLARING))
        #: The names of other scopes that some function sets.
        self.shared = frozenset(name for node in declared for name in node.names)
        self._reads: dict[str, list[ast.Name]] = {}
        for node in walk(tree):
            if isinstance(node, ast.Name) and _is_read(node):
                self._reads.setdefault(node.id, []).append(node)
        self._stores: dict[ast.AST, dict[str, list[ast.AST]]] = {}

    def reads(self, scope: ast.AST, name: str) -> list[ast.Name]:
        """Where a name is read below ``scope``."""
        return [node for node in self._reads.get(name, ()) if self._is_below(node, scope)]

    def _is_below(self, node: ast.AST, scope: ast.AST) -> bool:
        above: ast.AST | None = node
        while above is not None and above is not scope:
            above = self.parents.get(above)
        return above is scope

    def stores(self, scope: ast.AST, name: str) -> list[ast.AST]:
        """What gives a name of the scope a value."""
        if scope not in self._stores:
            found = self._stores[scope] = {}
            for each, node in _given(scope):
                found.setdefault(each, []).append(node)
        return [*self._stores[scope].get(name, ()), *self._stores[scope].get("*", ())]


def _given(scope: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    """The names that a scope gives values, and where; a star import may give any: ``*``."""
    arguments = getattr(scope, "args", None)
    if isinstance(arguments, ast.arguments):
        yield from ((a.arg, a) for a in children(arguments) if isinstance(a, ast.arg))
    for node in _own(scope):
        match node:
            case ast.Name(id=name) if not _is_read(node):
                yield name, node
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                yield name, node
            case ast.AsyncFunctionDef(name=name):
                yield name, node
            case ast.alias():
                yield node.asname or node.name.split(".")[0], node
            case (
                ast.ExceptHandler(name=str() as name)
                | ast.MatchAs(name=str() as name)
                | ast.MatchStar(name=str() as name)
            ):
                yield name, node


class _Places:
    """Where a carrier is used, and what is put there."""

    def __init__(self, scope: ast.AST, carrier: Carrier, uses: _Uses, foreign: Set[str]) -> None:
        self._scope, self._carrier, self._uses, self._foreign = scope, carrier, uses, foreign
        self._parents, self._shared = uses.parents, uses.shared
        self._given: dict[str, str] = {}

    def fill(self) -> bool:
        """Puts what is carried in the places where it is used; whether anything is another now."""
        carrier = self._carrier
        uses = self._uses.reads(self._scope, carrier.name)
        if carrier.name in self._shared or not any(map(self._is_place, uses)):
            return False
        if len(self._uses.stores(self._scope, carrier.name)) != 1:
            return False
        if not carrier.fixed and not all(map(self._only_reads, uses)):
            return False
        followed = [use for use in uses if self._follows(use)]
        for use in followed:
            self._replace(use)
        if carrier.func is carrier.stmt.value and not any(map(self._is_still_called, uses)):
            nothing = ast.copy_location(ast.Constant(None), carrier.stmt.value)
            carrier.stmt.value = nothing  # who has it by that name is seen now
            return True
        return bool(followed)

    def _is_still_called(self, use: ast.Name) -> bool:
        """Whether what calls it, or has it otherwise, does so by the name."""
        parent = self._parents[use]
        return not isinstance(parent, ast.Call) or parent.func is use or use in parent.args

    def _only_reads(self, use: ast.Name) -> bool:
        """Whether nothing is put there into what the carrier names, and it gets no other name."""
        parent = self._parents[use]
        match parent:
            case ast.Subscript(value=value) | ast.Attribute(value=value):
                above = self._parents[parent]
                called = isinstance(above, ast.Call) and above.func is parent
                known = isinstance(parent, ast.Subscript) or parent.attr in self._carrier.parts
                return value is use and isinstance(parent.ctx, ast.Load) and (known or not called)
            case ast.Starred() | ast.comprehension() | ast.For() | ast.keyword(arg=None):
                return True
            case ast.Assign(targets=[ast.Tuple() | ast.List()]):
                return True
            case ast.Call(func=func):
                return root_of(func) in self._foreign or is_called(func, _READING)
        return False

    def _follows(self, use: ast.Name) -> bool:
        """Whether what ``use`` names is what the carrier was given last, in every case."""
        block = _block_of(self._parents[self._carrier.stmt], self._carrier.stmt)
        node: ast.AST = use
        while node is not self._scope:
            above = self._parents[node]
            if isinstance(node, _INNER) or (
                isinstance(node, _COMPREHENSIONS) and self._hides(node)
            ):
                return False
            if isinstance(node, ast.stmt) and any(node is each for each in block):
                return block.index(self._carrier.stmt) < block.index(node)
            node = above
        return False

    def _hides(self, comprehension: ast.AST) -> bool:
        """Whether one of the names that may be put there means something else in it."""
        own = {n.id for n in walk(comprehension) if isinstance(n, ast.Name) and not _is_read(n)}
        named = [each for each in self._values() if isinstance(each, ast.Name)]
        return any(each.id in own for each in named)

    def _values(self) -> list[ast.expr]:
        carrier = self._carrier
        named = [value for _, value in (*carrier.items.values(), *carrier.parts.values())]
        return [*carrier.listed.values(), *named, *([carrier.func] if carrier.func else [])]

    def _is_place(self, use: ast.Name) -> bool:
        """Whether a use may be one at which something is put."""
        carrier, parent = self._carrier, self._parents[use]
        match parent:
            case ast.Call(func=func):
                return func is use and carrier.func is not None
            case ast.Starred() | ast.keyword(arg=None):
                return carrier.func is None and isinstance(self._parents[parent], ast.Call)
            case ast.Attribute(attr=attr):
                return attr in carrier.parts
            case ast.Subscript(slice=ast.Constant(value=key)):
                above = self._parents[parent]
                return key in carrier.items and isinstance(above, ast.Call) and above.func is parent
        return False

    def _replace(self, use: ast.Name) -> None:
        carrier, parent = self._carrier, self._parents[use]
        match parent:
            case ast.Call(func=func, args=args, keywords=keywords) if (
                func is use and carrier.func is not None
            ):
                given = {keyword.arg for keyword in keywords}
                meant = self._function(carrier.func, use)
                if None in given or given & carrier.items.keys() or meant is None:
                    return
                parent.func = meant
                parent.args = [*self._all(use), *args]
                parent.keywords = [*self._keywords(use), *keywords]
            case ast.Starred() if carrier.listed or isinstance(carrier.stmt.value, ast.Tuple):
                call = self._parents[parent]
                if carrier.func is None and isinstance(call, ast.Call) and self._is_own(call):
                    place = call.args.index(parent)
                    call.args[place : place + 1] = self._all(parent)
            case ast.keyword(arg=None) if carrier.items and carrier.func is None:
                call = self._parents[parent]
                if isinstance(call, ast.Call) and self._is_own(call):
                    place = call.keywords.index(parent)
                    call.keywords[place : place + 1] = self._keywords(parent)
            case ast.Attribute(attr=attr, ctx=ast.Load()) if attr in carrier.parts:
                self._put(parent, self._read(*carrier.parts[attr], parent))
            case ast.Subscript(slice=ast.Constant(value=str() as key)) if key in carrier.items:
                above = self._parents[parent]
                meant = self._function(carrier.items[key][1], use)
                if isinstance(above, ast.Call) and above.func is parent and meant is not None:
                    above.func = meant

    def _is_own(self, call: ast.Call) -> bool:
        return root_of(call.func) not in self._foreign | {""}

    def _is_still(self, place: ast.AST) -> bool:
        """Whether nothing runs between the carrier and ``place`` that may set parts of objects."""
        stmt = self._carrier.stmt
        block = _block_of(self._parents[stmt], stmt)
        node = place
        above: list[ast.AST] = []
        while not any(node is each for each in block):
            node = self._parents[node]
            above.append(node)
        first, last = block.index(stmt), block.index(node)  # type: ignore[arg-type]
        made = [n for each in block[first:last] for n in walk(each) if _may_set(n)]
        # What an assignment sets, it sets after it has read.
        whole = [node.value] if isinstance(node, ast.Assign) else [node]
        here = [n for each in whole for n in walk(each) if _may_set(n) and n not in above]
        begun = begin(place)  # type: ignore[arg-type]
        return set(made) <= {stmt.value} and all(end(each) > begun for each in here)  # type: ignore[arg-type]

    def _function(self, func: ast.expr, use: ast.AST) -> ast.expr | None:
        """What is called at ``use``, where it has the same meaning there."""
        if not root_of(func) or not self._is_stable(root_of(func), use):
            return None
        return _placed(func, use)

    def _all(self, place: ast.AST) -> list[ast.expr]:
        return [self._read(text, value, place) for text, value in self._carrier.listed.items()]

    def _keywords(self, place: ast.AST) -> list[ast.keyword]:
        return [
            ast.copy_location(ast.keyword(key, self._read(text, value, place)), place)
            for key, (text, value) in self._carrier.items.items()
        ]

    def _read(self, text: str, value: ast.expr, place: ast.AST) -> ast.expr:
        """What stands for a value at ``place``."""
        if text not in self._given and isinstance(value, ast.Constant):
            return ast.copy_location(ast.Constant(value.value), place)
        if text not in self._given and isinstance(value, ast.Name):
            if self._is_stable(value.id, place):
                return ast.copy_location(ast.Name(value.id, ast.Load()), place)
        if text not in self._given and isinstance(value, ast.Attribute):
            if self._function(value, place) is not None and self._is_still(place):
                return _placed(value, place)
        if text not in self._given:
            self._given[text] = text
            target = ast.copy_location(ast.Name(text, ast.Store()), value)
            holder = self._parents[value]
            self._put(value, ast.copy_location(ast.NamedExpr(target, value), value))
            self._parents[target] = holder
        return ast.copy_location(ast.Name(text, ast.Load()), place)

    def _put(self, old: ast.expr, new: ast.expr) -> None:
        """Puts a node where another one stands."""
        parent = self._parents[old]
        put_for(parent, old, new)
        self._parents[new] = parent

    def _is_stable(self, name: str, place: ast.AST) -> bool:
        """Whether a name is given nothing between the carrier and ``place``."""
        if not name or name in self._shared:
            return False
        first = self._carrier.stmt
        last = place
        node = place
        while node is not self._scope:
            if isinstance(node, _LOOPS) and first not in walk(node):
                last = node
            node = self._parents[node]
        return not any(
            end(first) <= begin(each) <= end(last)  # type: ignore[arg-type]
            for each in self._uses.stores(self._scope, name)
            if not isinstance(each, ast.arg)
        )


def _may_set(node: ast.AST) -> bool:
    """Whether a part of an object may get another value there."""
    return isinstance(node, _RUNNING) or (isinstance(node, ast.Attribute) and not _is_read(node))


def _placed(path: ast.expr, place: ast.AST) -> ast.expr:
    """An access path again, at another place."""
    match path:
        case ast.Attribute(value=value, attr=attr):
            again: ast.expr = ast.Attribute(_placed(value, place), attr, ast.Load())
        case _:
            again = ast.Name(root_of(path), ast.Load())
    return ast.copy_location(again, place)


def _is_read(node: ast.Name | ast.Attribute | ast.Subscript) -> bool:
    return isinstance(node.ctx, ast.Load)


def _block_of(holder: ast.AST, stmt: ast.stmt) -> list[ast.stmt]:
    """The list of statements in which one stands."""
    for _, value in ast.iter_fields(holder):
        if isinstance(value, list) and any(each is stmt for each in value):
            return value
    return []
