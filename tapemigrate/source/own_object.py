"""A method's own object by a second name, read by its first: ``me = self; me.x`` is ``self.x``.

The name has to stand for that alone, wherever the method and the functions in it say it. Then
nothing reads it any more, and giving it a value does not read the object.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tapemigrate.patterns import late
from tapemigrate.source.trees import statements, walk

_FORM = late(r"=[ \t]*self[ \t]*(?:[\r\n;#]|\Z)")
_ME = "self"


def name_own_object(tree: ast.Module, text: str) -> bool:
    """Has the object go by its first name; whether it had a second one."""
    if _FORM.search(text) is None:
        return False
    done = False
    for method in _methods(tree):
        bound = [*_bound(method)]
        if bound.count(_ME) > 1:
            continue
        for stmt in walk(method):
            match stmt:
                case ast.Assign(targets=[ast.Name(id=name)], value=ast.Name(id="self")):
                    if bound.count(name) == 1:
                        done = True
                        stmt.value = ast.copy_location(ast.Constant(None), stmt.value)
                        for node in walk(method):
                            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
                                node.id = _ME if node.id == name else node.id
    return done


def _methods(tree: ast.Module) -> Iterator[ast.FunctionDef]:
    for cls in (node for node in statements(tree) if isinstance(node, ast.ClassDef)):
        for stmt in cls.body:
            if isinstance(stmt, ast.FunctionDef) and [a.arg for a in stmt.args.args[:1]] == [_ME]:
                yield stmt


def _bound(method: ast.FunctionDef) -> Iterator[str]:
    """Every name that is given a value in the method, as often as that is done."""
    for node in walk(method):
        match node:
            case ast.Name(id=name, ctx=ast.Store() | ast.Del()):
                yield name
            case ast.arg(arg=name) | ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                yield name
            case ast.ClassDef(name=name) | ast.ExceptHandler(name=str(name)):
                yield name
            case ast.Global(names=names) | ast.Nonlocal(names=names):
                yield from names
            case ast.alias(name=name, asname=asname):
                yield asname or name.partition(".")[0]
