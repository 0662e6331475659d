"""Imports of a program's own modules, read by the names that things have in their own files.

``from layers import *`` says nothing of ``dense``, and after ``from layers import dense as d`` a
call says ``d``. Where the file that is meant is at hand, a star import gets the names that its own
file reads and binds nowhere, and functions and classes go by their own names. Star and other names
stay beside them, in the import.
"""

from __future__ import annotations

import ast
import builtins
import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from tapemigrate.patterns import late
from tapemigrate.source.decoding import SourceError
from tapemigrate.source.parsing import parse
from tapemigrate.source.trees import top_level, walk

_STAR = late(r"^[ \t]*from[ \t]+([.\w]+)[ \t]+import[ \t]+\*", re.MULTILINE)
_TENSORFLOW = late(r"^[ \t]*(?:import|from)[ \t]+tensorflow\b", re.MULTILINE)
_SECOND = late(r"^\w+[ \t]*=[ \t]*[A-Za-z_]\w*[ \t]*$", re.MULTILINE)
_FROM = late(r"^[ \t]*from[ \t]+([.\w]+)[ \t]+import\b", re.MULTILINE)
_FROM_NAMES = late(
    r"^[ \t]*from[ \t]+([.\w]+)[ \t]+import[ \t]+(\w[\w ]*(?:,[ \t]*\w[\w ]*)*)", re.MULTILINE
)
_IMPORT = late(r"^[ \t]*import[ \t]+([.\w][.\w ]*(?:,[ \t]*[.\w][.\w ]*)*)", re.MULTILINE)
_ASKED = late(
    r"^[ \t]*from[ \t]+([.\w]+)[ \t]+import\b(?=[ \t]*(?:\*|[(\\]|.*[ \t]as[ \t]))", re.MULTILINE
)


# What a file asks of TensorFlow that is of interest where it has that from another one.
_ASKED_FOR = ("gradient", "hessians", "jacobian", "make_vjp")
# The names that lead there, or turn off what a tape needs, which a star import of it brings.
_STARRED = (
    *("gradients", "hessians", "contrib"),
    *("disable_v2_behavior", "disable_resource_variables", "disable_control_flow_v2"),
)


@dataclass(frozen=True, slots=True)
class Offered:
    """What a module has for others: what ``import *`` brings, and its functions and classes.

    ``handed_on`` is what it imports itself, by module and name, and may hand on; ``libraries`` are
    the names that it has for modules of TensorFlow and what is in them, with the paths.
    """

    starred: frozenset[str]
    code: frozenset[str]
    handed_on: frozenset[tuple[str, str]] = frozenset()
    libraries: frozenset[tuple[str, str]] = frozenset()


def starred_modules(text: str) -> list[str]:
    """The modules of which a text may import all names; relative ones have their dots."""
    return list(dict.fromkeys(_STAR.findall(text))) if "*" in text else []


def asked_modules(text: str) -> list[str]:
    """Those, and the modules of which it may have something under another name, or TensorFlow."""
    if "import" not in text:
        return []
    pattern = _FROM if _SECOND.search(text) else _ASKED
    found = pattern.findall(text)
    if _TENSORFLOW.search(text) is None and any(word in text for word in _ASKED_FOR):
        for line in _IMPORT.findall(text):
            found += [part.split(" as ")[0].strip() for part in line.split(",")]
        for module, names in _FROM_NAMES.findall(text):
            found.append(module)
            dot = "" if module.endswith(".") else "."
            found += [f"{module}{dot}{n.split(' as ')[0].strip()}" for n in names.split(",")]
    return list(dict.fromkeys(found))


@lru_cache(maxsize=256)
def offered(text: str, filename: str) -> Offered:
    """What a module offers, as far as it binds that itself; nothing where it does not parse."""
    try:
        tree = parse(text, filename)
    except SourceError:
        return Offered(frozenset(), frozenset())
    bound = frozenset(name for stmt in top_level(tree) for name in _bound(stmt))
    code = frozenset(s.name for s in tree.body if isinstance(s, ast.FunctionDef | ast.ClassDef))
    listed = _listed(tree)
    public = frozenset(n for n in bound if not n.startswith("_"))
    handed_on = frozenset(
        (module_of(stmt), alias.name)
        for stmt in top_level(tree)
        if isinstance(stmt, ast.ImportFrom)
        for alias in stmt.names
        if alias.asname in (None, alias.name)
    )
    starred = public if listed is None else bound & listed
    return Offered(starred, code, handed_on, frozenset(_of_tensorflow(tree, bound)))


def _of_tensorflow(tree: ast.Module, bound: Collection[str]) -> Iterator[tuple[str, str]]:
    """The names that a module has for TensorFlow's, and their paths; ``bound`` are all its names.

    Of those that a star brings, the names that lead to gradient calls.
    """
    for stmt in top_level(tree):
        if isinstance(stmt, ast.Import):
            for alias in stmt.names:
                if alias.name.split(".")[0] == "tensorflow":
                    yield alias.asname or "tensorflow", alias.name if alias.asname else "tensorflow"
        elif isinstance(stmt, ast.ImportFrom) and not stmt.level:
            module = stmt.module or ""
            if module.split(".")[0] == "tensorflow":
                names = (a for a in stmt.names if a.name != "*")
                yield from ((a.asname or a.name, f"{module}.{a.name}") for a in names)
                if any(a.name == "*" for a in stmt.names):
                    yield from ((n, f"{module}.{n}") for n in _STARRED if n not in bound)


def handed_on(brought: Iterable[tuple[str, Offered]]) -> tuple[tuple[str, str], ...]:
    """What modules of one's own have of TensorFlow, by the paths by which a file means it."""
    return tuple(
        (f"{module}{'' if module.endswith('.') else '.'}{name}", path)
        for module, there in brought
        for name, path in sorted(there.libraries)
    )


def module_of(stmt: ast.ImportFrom) -> str:
    """The module of the statement, with the dots of a relative one."""
    return "." * stmt.level + (stmt.module or "")


def name_imports(tree: ast.Module, brought: tuple[tuple[str, Offered], ...]) -> bool:
    """Gives what is imported its own names; whether there may be anything."""
    if not brought:
        return False
    by_module = dict(brought)
    read: defaultdict[str, list[ast.Name]] = defaultdict(list)
    known: list[str] = [*vars(builtins)]
    whole: set[str] = set()
    for node in walk(tree):
        if isinstance(node, ast.Name):
            if isinstance(node.ctx, ast.Load):
                read[node.id].append(node)
            else:
                known.append(node.id)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            known.append(node.name)
        elif isinstance(node, ast.arg):
            known.append(node.arg)
        elif isinstance(node, ast.alias):
            known.append((node.asname or node.name).split(".")[0])
        elif isinstance(node, ast.Attribute | ast.Subscript):
            whole |= {node.value.id} if isinstance(node.value, ast.Name) else set()
        elif isinstance(node, ast.arguments):
            whole |= {each.id for each in walk(node) if isinstance(each, ast.Name)}
    code: set[str] = set()
    for stmt in top_level(tree):
        if isinstance(stmt, ast.ImportFrom):
            there = by_module.get(module_of(stmt))
            if there is not None:
                _name_starred(stmt, there.starred.intersection(read).difference(known))
                _name_renamed(stmt, there.code.difference(read), read, known, whole)
                code |= _own_names(stmt, there.code)
    for stmt in tree.body:
        _name_second(stmt, code, read, known, whole)
    return True


def _name_starred(stmt: ast.ImportFrom, names: Collection[str]) -> None:
    """Adds to a star import the names that it may bring."""
    star = stmt.names[0]
    if star.name == "*":
        stmt.names += [ast.copy_location(ast.alias(name), star) for name in sorted(names)]


def _name_renamed(
    stmt: ast.ImportFrom,
    code: Collection[str],
    read: Mapping[str, list[ast.Name]],
    known: list[str],
    whole: Collection[str],
) -> None:
    """Has functions and classes go by the names that they have in their file.

    ``code`` are those whose names nothing else has here, ``whole`` the names of what must not be
    taken for one: a part of it is read, or it stands among parameters, which are written anew.
    """
    for alias in [*stmt.names]:
        other = alias.asname
        free = alias.name in code and alias.name not in known
        if free and other is not None and known.count(other) == 1 and other not in whole:
            for node in read.get(other, ()):
                node.id = alias.name
            known.append(alias.name)
            stmt.names.append(ast.copy_location(ast.alias(alias.name), alias))


def _own_names(stmt: ast.ImportFrom, code: Collection[str]) -> set[str]:
    """The functions and classes that the file has by their own names, or goes by them now."""
    return {each.name for each in stmt.names if each.asname is None and each.name in code}


def _name_second(
    stmt: ast.stmt,
    code: Collection[str],
    read: Mapping[str, list[ast.Name]],
    known: Sequence[str],
    whole: Collection[str],
) -> None:
    """The same for a second name that the module gives such a thing: ``d = dense``."""
    match stmt:
        case ast.Assign(targets=[ast.Name(id=other)], value=ast.Name(id=name)):
            if name in code and known.count(other) == 1 and other not in whole:
                for node in read.get(other, ()):
                    node.id = name


def _bound(stmt: ast.stmt) -> list[str]:
    """The names that a statement of a module binds, those in its blocks apart."""
    targets: list[ast.expr] = []
    match stmt:
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            return [stmt.name]
        case ast.Import() | ast.ImportFrom():
            return [(each.asname or each.name).split(".")[0] for each in stmt.names]
        case ast.Assign():
            targets = stmt.targets
        case ast.AnnAssign(value=ast.expr()) | ast.For() | ast.AsyncFor():
            targets = [stmt.target]
        case ast.With() | ast.AsyncWith():
            targets = [i.optional_vars for i in stmt.items if i.optional_vars is not None]
    parts = (node for target in targets for node in ast.walk(target))
    return [n.id for n in parts if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)]


def _listed(tree: ast.Module) -> frozenset[str] | None:
    """The texts of ``__all__``; None where there is none, or not all of it is seen."""
    given = [s for s in top_level(tree) if "__all__" in _bound(s)]
    if len(given) != 1 or not isinstance(given[0], ast.Assign):
        return None
    value = given[0].value
    if not isinstance(value, ast.List | ast.Tuple):
        return None
    texts = [e.value for e in value.elts if isinstance(e, ast.Constant)]
    return frozenset(t for t in texts if isinstance(t, str))
