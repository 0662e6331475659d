"""Names that carry what calls are handed: lists, dicts, namespaces, records, ``partial``."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Set
from dataclasses import dataclass, field

from tapemigrate.source.records import Record
from tapemigrate.source.trees import blocks, walk


@dataclass(frozen=True)
class Imports:
    """Names of modules and of what libraries give, and names that two of their functions go by.

    ``functions`` are those of the file, and its methods, that may be given another name.
    """

    libraries: frozenset[str]
    partials: frozenset[str]
    namespaces: frozenset[str]
    functions: frozenset[str] = frozenset()


@dataclass
class Carrier:
    """What a name was given: values with the text that reads each, by their place or by a name."""

    stmt: ast.Assign
    name: str
    listed: dict[str, ast.expr] = field(default_factory=dict)
    items: dict[str, tuple[str, ast.expr]] = field(default_factory=dict)
    parts: dict[str, tuple[str, ast.expr]] = field(default_factory=dict)
    func: ast.expr | None = None
    fixed: bool = True


def root_of(func: ast.expr) -> str:
    """The name that an access path begins with, or nothing."""
    while isinstance(func, ast.Attribute):
        func = func.value
    return func.id if isinstance(func, ast.Name) else ""


def is_called(func: ast.expr, names: Set[str]) -> bool:
    """Whether a function goes by one of the names, which may have a module in front."""
    match func:
        case ast.Name(id=name):
            return name in names
        case ast.Attribute(value=ast.Name(id=owner), attr=name):
            return f"{owner}.{name}" in names
    return False


def made_by_libraries(tree: ast.Module, imports: Imports) -> Iterator[str]:
    """Names of what calls of libraries give: what they make of arguments is not ours to read."""
    for node in walk(tree):
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call(func=func)):
                if root_of(func) in imports.libraries and not is_called(func, imports.partials):
                    yield name


def carriers(
    tree: ast.Module, imports: Imports, known: dict[str, Record], names: Set[str] | None
) -> Iterator[tuple[ast.AST, Carrier]]:
    """Which of ``names``, or of all, carry something in a scope, and that: module or function."""
    pending: list[tuple[ast.AST, ast.AST | None]] = [(tree, tree)]
    for node, scope in pending:  # which grows meanwhile
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if scope is not None:
                found = Carrier(node, name)
                if (names is None or name in names) and holds(found, value, imports, known):
                    yield scope, found
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                scope = node
            case ast.ClassDef():
                scope = None
        pending += [(each, scope) for each in blocks(node)]


def holds(found: Carrier, value: ast.expr, imports: Imports, known: dict[str, Record]) -> bool:
    """Whether ``value`` holds what it is written with, and nothing else. Tells ``found`` what."""
    name = found.name
    match value:
        case ast.List(elts=elts) | ast.Tuple(elts=elts) if not _unpacks(elts):
            found.listed = {f"{name}[{i}]": each for i, each in enumerate(elts)}
            found.fixed = isinstance(value, ast.Tuple)
            return True
        case ast.Dict(keys=keys, values=values):
            texts = [key.value for key in keys if isinstance(key, ast.Constant)]
            pairs = dict(zip((t for t in texts if isinstance(t, str)), values, strict=False))
            found.items, found.fixed = _by_key(name, pairs), False
            return len(pairs) == len(values)
        case ast.Attribute(attr=called) | ast.Name(id=called) if called in imports.functions:
            found.func = value
            return root_of(value) not in imports.libraries | {"", name}
        case ast.Call(func=func, args=args, keywords=keywords) if not _unpacks(args):
            pairs = {k.arg: k.value for k in keywords if k.arg is not None}
            if len(pairs) < len(keywords):
                return False
            if args and is_called(func, imports.partials):
                # A call of a gradient function is rewritten as it stands: what a partial binds for
                # it stands elsewhere.
                if root_of(args[0]) in imports.libraries:
                    return False
                found.func = args[0]
                found.listed = {f"{name}.args[{i}]": each for i, each in enumerate(args[1:])}
                found.items = _by_key(f"{name}.keywords", pairs)
                return True
            if not args and is_called(func, {"dict"}):
                found.items, found.fixed = _by_key(name, pairs), False
                return True
            if not args and is_called(func, imports.namespaces):
                found.parts, found.fixed = _by_name(name, pairs), False
                return True
            record = known.get(func.id) if isinstance(func, ast.Name) else None
            if record is not None and len(args) + len(pairs) == len(record.fields):
                pairs = dict(zip(record.fields, args, strict=False)) | pairs
                found.parts, found.fixed = _by_name(name, pairs), record.is_tuple
                if record.is_tuple and pairs.keys() == set(record.fields):
                    found.listed = dict(found.parts[each] for each in record.fields)
                return pairs.keys() == set(record.fields)
    return False


def _unpacks(elements: list[ast.expr]) -> bool:
    return any(isinstance(each, ast.Starred) for each in elements)


def _by_key(name: str, pairs: dict[str, ast.expr]) -> dict[str, tuple[str, ast.expr]]:
    return {key: (f"{name}[{key!r}]", value) for key, value in pairs.items()}


def _by_name(name: str, pairs: dict[str, ast.expr]) -> dict[str, tuple[str, ast.expr]]:
    return {key: (f"{name}.{key}", value) for key, value in pairs.items()}
