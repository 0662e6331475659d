"""Entries of a function's dicts, lists and tuples, read as the names which they might have been.

``made = {"h": tf.sin(x)}`` and ``made["k"] = h``, of which no more is read than ``made["h"]`` and
``made["k"]``, give values to two names, which are written so. What is returned as a whole is made
of them besides.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from tapemigrate.patterns import late
from tapemigrate.source.apart import is_whole, stand_for
from tapemigrate.source.bound import INNER, Function, bound, functions, own_blocks, shows_names
from tapemigrate.source.entry_names import Key, entry_name, is_key
from tapemigrate.source.trees import children, put_for, walk

# ``a["v"]``, ``a[0]``, or ``b, c = a``
_FORM = late(r"""\w\[(?:["']|-?\d)|,[^,=\n]*=[ \t]*[A-Za-z_]\w*[ \t]*(?:[\r\n;#]|\Z)""")
_QUOTED = late(r'([A-Za-z_]\w*)\["')


def name_entries(tree: ast.Module, text: str) -> bool:
    """Puts names in the place of entries; whether there are any."""
    if _FORM.search(text) is None or shows_names(text):
        return False
    quoted = set(_QUOTED.findall(text))
    found = [each for function in functions(tree) for each in _containers(function, quoted)]
    # What is written out in one may be an entry of another.
    for container in found:
        container.name_parts()
    made = [(each, container) for container in found for each in container.made]
    # From the end, so that the places of those before stay what they are.
    for each, container in sorted(made, key=lambda pair: pair[0].place, reverse=True):
        if each.keys:
            stand_for(tree, each.block, each.place, *container.given(each))
    return bool(found)


@dataclass(frozen=True)
class _Made:
    """A statement that writes a container out, and what is in there by keys."""

    block: list[ast.stmt]
    place: int
    stmt: ast.Assign
    keys: tuple[Key, ...]
    is_row: bool


@dataclass
class _Container:
    """What a name stands for, whose entries are read and set one by one."""

    called: str
    quote: str
    made: list[_Made] = field(default_factory=list)
    #: What reads an entry, or is given it, or takes all of them, and what that is a part of.
    parts: list[tuple[ast.expr, ast.AST]] = field(default_factory=list)
    returned: int = 0

    def keys(self, node: ast.expr) -> tuple[Key, ...]:
        """Which entries a part is; nothing where that cannot be told."""
        first = self.made[0]
        match node:
            case ast.Subscript(slice=ast.Constant(value=key)):
                return (key,) if is_key(key) else ()
            case ast.Subscript(slice=ast.UnaryOp(ast.USub(), ast.Constant(value=int() as back))):
                keys = first.keys[-back:][:1] if back <= len(first.keys) else ()
            case ast.Name():
                keys = first.keys
            case _:
                return ()
        return keys if all(each.is_row and each.keys == first.keys for each in self.made) else ()

    def is_plain(self) -> bool:
        """Whether names can stand for the entries."""
        known = {key for each in self.made for key in each.keys}
        for node, _ in self.parts:
            if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store):
                known.update(self.keys(node))
        for node, parent in self.parts:
            keys = self.keys(node)
            if not keys or not known.issuperset(keys):
                return False
            match node, parent:
                case ast.Subscript(ctx=ast.Load()), _:
                    pass
                case ast.Subscript(), ast.Assign(value=value):
                    if is_whole(value):
                        return False
                case ast.Subscript(), _ if self.returned:
                    return False
                case ast.Name(), ast.Assign(targets=[ast.Tuple(elts=elts) | ast.List(elts=elts)]):
                    if len(elts) != len(keys):
                        return False
        return True

    def name_parts(self) -> None:
        """Puts names in the place of what is read and set."""
        for node, parent in self.parts:
            context = node.ctx if isinstance(node, ast.Subscript) else ast.Load()
            names = [self._name(key, node, context) for key in self.keys(node)]
            if self.returned and isinstance(parent, ast.Assign) and node in parent.targets:
                parent.targets += names
            elif isinstance(node, ast.Subscript):
                put_for(parent, node, names[0])
            else:
                put_for(parent, node, ast.copy_location(ast.Tuple(names, context), node))

    def given(self, made: _Made) -> list[ast.stmt]:
        """What gives the names what is written out."""
        (target,), value = made.stmt.targets, made.stmt.value
        values = [*(_entries(value) or {}).values()]
        targets = [self._name(key, target, ast.Store()) for key in made.keys]
        row = ast.copy_location(ast.Tuple(values, ast.Load()), value)
        names = ast.copy_location(ast.Tuple(targets, ast.Store()), target)
        alone = len(targets) == 1
        new = [ast.Assign(targets, values[0]) if alone else ast.Assign([names], row)]
        if self.returned:
            pairs = zip(made.keys, values, strict=True)
            parts = [self._name(key, each, ast.Load()) for key, each in pairs]
            whole = ast.copy_location(_of(value, parts), value)
            new.append(ast.Assign([target], whole))
        return [ast.copy_location(stmt, made.stmt) for stmt in new]

    def _name(self, key: Key, at: ast.expr, context: ast.expr_context) -> ast.expr:
        return ast.copy_location(ast.Name(entry_name(self.called, key, self.quote), context), at)


def _containers(function: Function, quoted: set[str]) -> Iterator[_Container]:
    """Those whose entries a function, and what is in it, reads and sets one by one.

    ``quoted``: those of which the text writes an entry in two quotation marks.
    """
    found: dict[str, _Container] = {}
    for name, made in _written_out(function):
        quote = '"' if name in quoted else "'"
        found.setdefault(name, _Container(name, quote)).made.append(made)
    if not found:
        return
    given = Counter(bound(function))
    inside = {
        node
        for each in walk(function)
        if isinstance(each, INNER) and each is not function
        for node in walk(each)
    }
    reads = Counter[str]()
    for parent in walk(function):
        for node in children(parent):
            match node:
                case ast.Name(id=name, ctx=ast.Load()) if name in found:
                    reads[name] += 1
                    if _takes_apart(parent, node):
                        found[name].parts.append((node, parent))
                case ast.Subscript(value=ast.Name(id=name), ctx=ctx) if name in found:
                    if isinstance(ctx, ast.Load) or (
                        isinstance(ctx, ast.Store) and node not in inside
                    ):
                        found[name].parts.append((node, parent))
                case ast.Return(value=value) if node not in inside:
                    whole = value.elts if isinstance(value, ast.Tuple) else [value]
                    for part in whole:
                        if isinstance(part, ast.Name) and part.id in found:
                            found[part.id].returned += 1
    for name, container in found.items():
        is_whole_read = reads[name] > len(container.parts) + container.returned
        if given[name] == len(container.made) and not is_whole_read:
            if container.parts and container.is_plain():
                yield container


def _takes_apart(parent: ast.AST, node: ast.expr) -> bool:
    """``a, b = made``"""
    match parent:
        case ast.Assign(targets=[ast.Tuple(elts=elts) | ast.List(elts=elts)], value=value):
            return value is node and not any(isinstance(each, ast.Starred) for each in elts)
    return False


def _written_out(function: Function) -> Iterator[tuple[str, _Made]]:
    for block in own_blocks(function):
        for place, stmt in enumerate(block):
            match stmt:
                case ast.Assign(targets=[ast.Name(id=name)], value=value) if not is_whole(value):
                    entries = _entries(value)
                    if entries is not None:
                        is_row = isinstance(value, ast.List | ast.Tuple)
                        yield name, _Made(block, place, stmt, (*entries,), is_row)


def _entries(value: ast.expr) -> dict[Key, ast.expr] | None:
    """What is in a container that is written out, by key; None where that cannot be told."""
    match value:
        case ast.List(elts=elts) | ast.Tuple(elts=elts):
            if not any(isinstance(each, ast.Starred) for each in elts):
                return dict(enumerate(elts))
        case ast.Dict(keys=keys, values=values):
            found: dict[Key, ast.expr] = {}
            for key, each in zip(keys, values, strict=True):
                if isinstance(key, ast.Constant) and is_key(key.value):
                    found[key.value] = each
            if len(found) == len(keys):
                return found
        case ast.Call(func=ast.Name(id="dict"), args=[], keywords=keywords):
            if all(keyword.arg for keyword in keywords):
                return {keyword.arg or "": keyword.value for keyword in keywords}
        case ast.Call(
            func=ast.Name(id="OrderedDict") | ast.Attribute(attr="OrderedDict"),
            args=[],
            keywords=[],
        ):
            return {}
    return None


def _of(value: ast.expr, names: list[ast.expr]) -> ast.expr:
    """A container like ``value``, with the names in it."""
    match value:
        case ast.Dict(keys=keys):
            return ast.Dict(keys, names)
        case ast.Call(func=func, keywords=keywords):
            pairs = zip(keywords, names, strict=True)
            return ast.Call(func, [], [ast.keyword(each.arg, name) for each, name in pairs])
        case ast.List():
            return ast.List(names, ast.Load())
    return ast.Tuple(names, ast.Load())
