"""Parts of objects that a text names, read as the plain attributes which they are.

``getattr(self, "x")`` and ``self.__dict__["x"]`` are ``self.x``, and ``setattr(self, "x", h)`` is
``self.x = h``. The nodes keep their places. What imports give stays as it is looked up: whoever
hides a function of a library so is told.
"""

from __future__ import annotations

import ast
import keyword

from tapemigrate.patterns import late
from tapemigrate.source.called_plainly import imported_names
from tapemigrate.source.carriers import root_of
from tapemigrate.source.trees import children, put_for, walk

# One of these stands wherever the form does, and is looked for many times as fast.
_WORDS = ("attr(", "__dict__", "vars(")
_FORM = late(r"""\b(?:get|set)attr\(|(?:\b__dict__|\bvars\([\w.]+\))\[["']""")


def name_parts(tree: ast.Module, text: str) -> bool:
    """Puts attributes in the place of what is looked up; whether there may be any."""
    if not any(word in text for word in _WORDS) or _FORM.search(text) is None:
        return False
    kept = imported_names(tree) | {""}
    # What stands inside of another look-up comes first.
    for node in reversed([*walk(tree)]):
        for child in children(node):
            plain = _plain(child)
            if plain is not None and root_of(_owner(plain)) not in kept:
                put_for(node, child, plain)
    return True


def _plain(node: ast.AST) -> ast.Attribute | ast.Assign | None:
    """``self.x`` or ``self.x = h`` for a node that says the same by a text."""
    match node:
        case ast.Call(
            func=ast.Name(id="getattr"),
            args=[owner, ast.Constant(value=str(name))],
            keywords=[],
        ):
            context: ast.expr_context = ast.Load()
        case ast.Subscript(
            value=ast.Attribute(value=owner, attr="__dict__")
            | ast.Call(func=ast.Name(id="vars"), args=[owner], keywords=[]),
            slice=ast.Constant(value=str(name)),
            ctx=context,
        ):
            pass
        case ast.Expr(
            value=ast.Call(
                func=ast.Name(id="setattr"),
                args=[owner, ast.Constant(value=str(name)), value],
                keywords=[],
            )
        ):
            context = ast.Store()
        case _:
            return None
    # What begins with two underscores has another name inside of a class.
    if not name.isidentifier() or keyword.iskeyword(name) or name.startswith("__"):
        return None
    part = ast.copy_location(ast.Attribute(owner, name, context), node)
    if isinstance(node, ast.Expr):
        return ast.copy_location(ast.Assign([part], value), node)
    return part


def _owner(plain: ast.Attribute | ast.Assign) -> ast.expr:
    part = plain.targets[0] if isinstance(plain, ast.Assign) else plain
    assert isinstance(part, ast.Attribute)
    return part.value
