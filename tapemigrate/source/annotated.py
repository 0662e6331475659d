"""Annotated assignments, read as the plain ones which they are: ``y: tf.Tensor = f(x)``.

Those of a class stay, where an annotation makes a field, and those of a file that may have symbols
in annotations which TensorFlow 2 has under other names.
"""

from __future__ import annotations

import ast
import re

from tapemigrate.patterns import late
from tapemigrate.source.trees import put_for, statements

_FORM = late(r"^[ \t]*[A-Za-z_][\w.]*[ \t]*:(?=[^\n]*=)", re.MULTILINE)
_RENAMED = ("contrib", "eager")


def plainly_assigned(tree: ast.Module, text: str) -> bool:
    """Puts plain assignments in the place of annotated ones; whether there were any."""
    if _FORM.search(text) is None or any(word in text for word in _RENAMED):
        return False
    done = False
    for parent in [*statements(tree)]:
        for stmt in ast.iter_child_nodes(parent) if not isinstance(parent, ast.ClassDef) else ():
            if isinstance(stmt, ast.AnnAssign) and stmt.value is not None:
                named = isinstance(stmt.target, ast.Name) and not isinstance(stmt.value, ast.Call)
                if named and any(isinstance(n, ast.Lambda) for n in ast.walk(stmt.value)):
                    continue  # a lambda with a name is written anew, together with its statement
                plain = ast.copy_location(ast.Assign([stmt.target], stmt.value), stmt)
                put_for(parent, stmt, plain)
                done = True
    return done
