"""What runs without being called: properties, hooks for attributes, the ends of ``with`` blocks."""

from __future__ import annotations

import ast

from tapemigrate.flow.functions import NamedFunction, parameters
from tapemigrate.flow.paths import path_of
from tapemigrate.source.trees import statements, walk

_PARTS = (ast.Attribute, ast.Subscript)
# What finds a part of an object, by its name or its key.
_FINDING = frozenset({"__getattr__", "__getattribute__", "__getitem__"})


def decorator_itself(decorator: ast.expr) -> ast.expr:
    """What makes the decorator, or is it."""
    return decorator.func if isinstance(decorator, ast.Call) else decorator


def dispatches(decorator: ast.expr) -> bool:
    """Whether other functions may run in place of the one, by what it is handed."""
    return (path_of(decorator) or ("",))[-1].lstrip(".").startswith("singledispatch")


def is_property(decorator: ast.expr) -> bool:
    """Whether the attribute runs code."""
    path = path_of(decorator)
    return path == ("property",) or (path is not None and path[-1] in (".setter", ".getter"))


def hooks_of(cls: ast.ClassDef) -> list[ast.FunctionDef]:
    """The methods that run where attributes, or elements, of its objects are set."""
    names = ("__setattr__", "__setitem__")
    return [s for s in cls.body if isinstance(s, ast.FunctionDef) and s.name in names]


def names_parts_twice(cls: ast.ClassDef) -> bool:
    """Whether what its objects have is there by two ways: ``d.k`` is ``d["k"]``."""
    for stmt in statements(cls):
        match stmt:
            case ast.Assign(targets=[ast.Name(id=name)]) if name in _FINDING:
                return True
            case ast.Assign(targets=[ast.Attribute(attr="__dict__", value=owner)], value=value):
                if path_of(value) == path_of(owner):
                    return True
    return False


def computes(function: NamedFunction) -> bool:
    """Whether a property gives, or sets, more than one attribute of its object."""
    given = [n.value for n in walk(function) if isinstance(n, ast.Return)]
    return sets_more(function) or any(
        value is not None and path_of(value) is None for value in given
    )


def gives_more(leave: NamedFunction) -> bool:
    """Whether ``__exit__`` may give something other than None and False."""
    return any(
        isinstance(node, ast.Return)
        and node.value is not None
        and not (isinstance(node.value, ast.Constant) and not node.value.value)
        for node in walk(leave)
    )


def yields_in_a_try(function: NamedFunction) -> bool:
    """Whether the function, as a manager of a ``with``, may go on where its body was broken off."""
    return any(isinstance(node, ast.Try) and goes_on(node) for node in walk(function))


def goes_on(stmt: ast.Try) -> bool:
    """Whether it goes on where what it yields in is broken off."""
    inner = (n for each in stmt.body for n in walk(each)) if stmt.handlers else ()
    return any(isinstance(node, ast.Yield) for node in inner)


def is_setter(decorator: ast.expr) -> bool:
    """Whether the attribute runs code where it is set."""
    return (path_of(decorator) or ("",))[-1] == ".setter"


def sets_more(function: NamedFunction) -> bool:
    """Whether it does more on its object than to keep there what it is handed."""
    own = [a.arg for a in parameters(function.args)]
    for node in walk(function):
        match node:
            case ast.Assign(targets=targets, value=value):
                handed = isinstance(value, ast.Name) and value.id in own
                # Of ``self.x, self.h = x, tf.exp(x)``, each is one.
                parts = (n for t in targets for n in walk(t) if isinstance(n, _PARTS))
                if not handed and any(isinstance(n.ctx, ast.Store) for n in parts):
                    return True
            case ast.AugAssign(target=ast.Attribute()) | ast.AnnAssign(target=ast.Attribute()):
                return True
            case ast.Call(func=ast.Attribute(attr="__setattr__" | "__setitem__"), args=[*_, value]):
                if not (isinstance(value, ast.Name) and value.id in own):
                    return True  # ``dict.__setitem__(self, key, tf.exp(value))``
            case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr=attr)):
                if [name] == own[:1] and not attr.startswith("__"):
                    return True
    return False
