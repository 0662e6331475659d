"""Access paths: ``x``, ``self.x``, ``d['k']`` as tuples of strings."""

from __future__ import annotations

import ast
from functools import lru_cache
from typing import Any

from tapemigrate.source.trees import kept, walk

Path = tuple[str, ...]
_OWN = (
    *("variables", "vars", "weights", "params", "parameters", "scope", "name", "kernel", "bias"),
    *("var_list", "collection", "shape", "size", "dim", "dtype", "layers", "optimizer", "config"),
)


def names_class(name: str) -> bool:
    """Whether a name, or a step of a path, is written as those of classes are: ``_Encoder``."""
    return name.lstrip("._")[:1].isupper()


def path_of(node: Any) -> Path | None:
    """The path that an expression names, or None where it is more than a path.

    >>> path_of(ast.parse("self.net['w']", mode="eval").body)
    ('self', '.net', "['w']")
    """
    cls = node.__class__  # this is asked for more than anything else
    if cls is ast.Name:
        return (node.id,)
    if cls is ast.Attribute:
        owner = node.value
        if owner.__class__ is ast.Name:
            return (owner.id, "." + node.attr)
    elif cls is not ast.Subscript:
        return None
    steps: list[str] = []
    while True:
        if cls is ast.Name:
            steps.append(node.id)
            return tuple(reversed(steps))
        if cls is ast.Attribute:
            steps.append("." + node.attr)
            node = node.value
        elif cls is ast.Subscript and isinstance(node.slice, ast.Constant):
            steps.append(f"[{node.slice.value!r}]")
            node = node.value
        else:
            return None
        cls = node.__class__


@lru_cache(maxsize=4096)
def other_name(step: str) -> str | None:
    """By what a dict that has its keys for attributes knows the same element.

    >>> other_name(".x"), other_name("['x']"), other_name("[0]")
    ("['x']", '.x', None)
    """
    if step.startswith("."):
        return f"[{step[1:]!r}]"
    name = step[2:-2]
    return f".{name}" if step[1:2] in "'\"" and name.isidentifier() else None


def parts_read(root: ast.AST) -> frozenset[Path]:
    """The paths of which parts are read in ``root``, and not only called as methods.

    What objects have of their own, variables and names say, is no part that a call may leave.
    """
    return kept(root, _parts_read)


def _parts_read(root: ast.AST) -> frozenset[Path]:
    called: set[ast.AST] = set()
    found: set[Path] = set()
    for node in walk(root):
        if isinstance(node, ast.Call):
            called.add(node.func)
        elif isinstance(node, ast.Attribute) and node not in called and not _is_own(node.attr):
            path = path_of(node.value) if isinstance(node.ctx, ast.Load) else None
            if path is not None:
                found.add(path)
    return frozenset(found)


def _is_own(attr: str) -> bool:
    return attr.endswith(_OWN)


def looked_up(node: ast.AST) -> ast.Attribute | None:
    """``o.h`` for ``getattr(o, "h")``, ``vars(o)["h"]`` and the like.

    >>> ast.unparse(looked_up(ast.parse("getattr(self, 'h', None)", mode="eval").body))
    'self.h'
    """
    match node:
        case ast.Call(func=ast.Name(id="getattr"), args=[owner, ast.Constant(value=str(name)), *_]):
            pass
        case ast.Subscript(
            value=ast.Attribute(value=owner, attr="__dict__")
            | ast.Call(func=ast.Name(id="vars"), args=[owner]),
            slice=ast.Constant(value=str(name)),
            ctx=ast.Load(),
        ):
            pass
        case ast.Call(
            func=ast.Call(
                func=ast.Name(id="attrgetter") | ast.Attribute(attr="attrgetter"),
                args=[ast.Constant(value=str(name))],
            ),
            args=[owner],
        ):
            pass
        case _:
            return None
    return ast.copy_location(ast.Attribute(owner, name, ast.Load()), node)


def is_super(owner: ast.expr) -> bool:
    """``super()``, ``super(Net, self)``: what a class above has is meant."""
    return isinstance(owner, ast.Call) and path_of(owner.func) == ("super",)


def text_of(path: Path) -> str:
    """The path as Python writes it."""
    return "".join(path)
