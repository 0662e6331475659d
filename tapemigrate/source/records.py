"""Classes of a file whose objects hold what they are called with, and no more."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from tapemigrate.source.trees import walk


@dataclass(frozen=True)
class Record:
    """The parts that an object has, in the order of the arguments; a named tuple lists them."""

    fields: tuple[str, ...]
    is_tuple: bool


def records(tree: ast.Module) -> dict[str, Record]:
    """Named tuples, dataclasses and classes whose ``__init__`` keeps its arguments, by name."""
    found: dict[str, Record] = {}
    for node in tree.body:
        match node:
            case ast.Assign(
                targets=[ast.Name(id=name)],
                value=ast.Call(func=func, args=[_, listed], keywords=[]),
            ) if _last(func) == "namedtuple":
                fields = _listed(listed)
                if fields is not None:
                    found[name] = Record(fields, is_tuple=True)
            case ast.ClassDef(name=name):
                record = _of_class(node)
                if record is not None:
                    found[name] = record
    return {name: each for name, each in found.items() if _is_one(tree, name)}


def _is_one(tree: ast.Module, name: str) -> bool:
    """Whether a name is given one meaning in the file, and nothing is put into what it names."""
    given = 0
    for node in walk(tree):
        match node:
            case ast.Name(id=known, ctx=ast.Store() | ast.Del()) | ast.arg(arg=known):
                given += known == name
            case ast.ClassDef(name=known) | ast.FunctionDef(name=known):
                given += known == name
            case ast.Attribute(value=ast.Name(id=known), ctx=ast.Store() | ast.Del()):
                given += 2 * (known == name)
            case ast.alias():
                given += (node.asname or node.name) == name
    return given == 1


def _listed(listed: ast.expr) -> tuple[str, ...] | None:
    match listed:
        case ast.Constant(value=str() as text):
            return tuple(text.replace(",", " ").split())
        case ast.List(elts=elts) | ast.Tuple(elts=elts):
            texts = [each.value for each in elts if isinstance(each, ast.Constant)]
            names = tuple(text for text in texts if isinstance(text, str))
            return names if len(names) == len(elts) else None
    return None


def _of_class(cls: ast.ClassDef) -> Record | None:
    body = [stmt for stmt in cls.body if not _is_text(stmt)]
    bases = [_last(base) for base in cls.bases]
    marks = [_last(mark) for mark in cls.decorator_list]
    if (bases, marks) in ((["NamedTuple"], []), ([], ["dataclass"])):
        fields = [_annotated(stmt) for stmt in body]
        return _record(fields, is_tuple=not marks)
    if marks or bases not in ([], ["object"]) or cls.keywords or len(body) != 1:
        return None
    match body[0]:
        case ast.FunctionDef(
            name="__init__",
            args=ast.arguments(args=args, vararg=None, kwarg=None, kwonlyargs=[], posonlyargs=[]),
            decorator_list=[],
        ):
            kept = [_kept(stmt) for stmt in body[0].body if not _is_text(stmt)]
            if sorted(map(str, kept)) == sorted(each.arg for each in args[1:]):
                return _record([each.arg for each in args[1:]], is_tuple=False)
    return None


def _record(fields: list[str | None], *, is_tuple: bool) -> Record | None:
    known = tuple(each for each in fields if each is not None)
    return Record(known, is_tuple) if len(known) == len(fields) else None


def _annotated(stmt: ast.stmt) -> str | None:
    match stmt:
        case ast.AnnAssign(target=ast.Name(id=name), annotation=kind):
            return None if "ClassVar" in ast.dump(kind) else name
    return None


def _kept(stmt: ast.stmt) -> str | None:
    """The name of ``self.name = name``."""
    match stmt:
        case ast.Assign(
            targets=[ast.Attribute(value=ast.Name(id="self"), attr=attr)], value=ast.Name(id=name)
        ) if attr == name:
            return name
    return None


def _is_text(stmt: ast.stmt) -> bool:
    return isinstance(stmt, ast.Expr) and isinstance(stmt.value, ast.Constant)


def _last(node: ast.expr) -> str:
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""
