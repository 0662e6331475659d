"""What has a name only to be returned, read as what is returned.

``found = self.net`` and then ``return found`` give ``self.net``. The assignment stays, and the
nodes stand where the name does. Of what calls something there is one: it stays behind its name.
"""

from __future__ import annotations

import ast
import copy
from itertools import pairwise

from tapemigrate.patterns import late
from tapemigrate.source.trees import statements

_FORM = late(r"\n[ \t]+(\w+)[ \t]*=[^\n=][^\n]*\n[ \t]+return[ \t]+\1[ \t]*(?:[\r\n;#]|\Z)")
_PARTS = (ast.Name, ast.Attribute, ast.Subscript, ast.Tuple, ast.List, ast.Constant, ast.UnaryOp)
_CONTEXT = (ast.expr_context, ast.unaryop)
_BLOCKS = ("body", "orelse", "finalbody")


def return_itself(tree: ast.Module, text: str) -> bool:
    """Puts what a name was given where the next statement returns it; whether it did."""
    if _FORM.search(text) is None:
        return False
    done = False
    for node in statements(tree):
        for field in _BLOCKS:
            for made, end in pairwise(getattr(node, field, None) or ()):
                if isinstance(made, ast.Assign) and isinstance(end, ast.Return) and end.value:
                    named = [t.id for t in made.targets if isinstance(t, ast.Name)]
                    same = isinstance(end.value, ast.Name) and [end.value.id] == named
                    if same and len(made.targets) == 1 and _only_reads(made.value):
                        end.value = _placed(made.value, end.value)
                        done = True
    return done


def _only_reads(value: ast.expr) -> bool:
    return all(isinstance(node, (*_PARTS, *_CONTEXT)) for node in ast.walk(value))


def _placed(value: ast.expr, at: ast.expr) -> ast.expr:
    """A value of the same parts, which stand where ``at`` does."""
    new = copy.deepcopy(value)
    for node in ast.walk(new):
        if isinstance(node, ast.expr):
            ast.copy_location(node, at)
    return new
