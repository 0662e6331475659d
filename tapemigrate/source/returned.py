"""What has a name only to be returned, read as what is returned.

``found = self.net`` and then ``return found`` give ``self.net``. The assignment stays, and the
nodes stand where the name does. Of what calls something there is one, and what imports give is
looked for where it stands: both stay behind their names.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Set
from itertools import pairwise

from tapemigrate.patterns import late
from tapemigrate.source.called_plainly import imported_names
from tapemigrate.source.carriers import root_of
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
    imported = _imported(tree)
    for node in statements(tree):
        for field in _BLOCKS:
            for made, end in pairwise(getattr(node, field, None) or ()):
                if isinstance(made, ast.Assign) and isinstance(end, ast.Return) and end.value:
                    named = [t.id for t in made.targets if isinstance(t, ast.Name)]
                    same = isinstance(end.value, ast.Name) and [end.value.id] == named
                    if same and len(made.targets) == 1 and _only_reads(made.value, imported):
                        end.value = _placed(made.value, end.value)
                        done = True
    return done


def _imported(tree: ast.Module) -> Set[str]:
    """The names of what imports give, those that assignments give to it among them."""
    found, given = set(imported_names(tree)), list[tuple[str, str]]()
    for stmt in statements(tree):
        if isinstance(stmt, ast.Assign):
            root = root_of(stmt.value)
            given += [(t.id, root) for t in stmt.targets if root and isinstance(t, ast.Name)]
    while new := {name for name, root in given if root in found} - found:
        found |= new
    return found


def _only_reads(value: ast.expr, imported: Set[str]) -> bool:
    """Whether it is made of names alone. What imports give is told where it stands, and once."""
    nodes = [*ast.walk(value)]
    names = {node.id for node in nodes if isinstance(node, ast.Name)}
    return imported.isdisjoint(names) and all(isinstance(n, (*_PARTS, *_CONTEXT)) for n in nodes)


def _placed(value: ast.expr, at: ast.expr) -> ast.expr:
    """A value of the same parts, which stand where ``at`` does."""
    new = copy.deepcopy(value)
    for node in ast.walk(new):
        if isinstance(node, ast.expr):
            ast.copy_location(node, at)
    return new
