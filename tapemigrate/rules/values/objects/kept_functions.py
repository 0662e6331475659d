"""Functions that objects keep, and what these know of the parts of the object."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tapemigrate.flow.paths import path_of
from tapemigrate.flow.slices import origins
from tapemigrate.rules.project import View
from tapemigrate.source.trees import walk


def is_function_of_parts(value: ast.expr) -> bool:
    """Whether it is a function that is made of others, and of what they are handed."""
    if isinstance(value, ast.Call):
        return (path_of(value.func) or ("",))[-1].lstrip(".") == "partial"
    return isinstance(value, ast.Lambda)


def parts_known(view: View, value: ast.expr) -> Iterator[str]:
    """The attributes of the object of ``view`` that such a function knows, by whichever name."""
    me = view.kinds.self_name
    named = [path_of(n) for n in walk(value) if isinstance(n, ast.Attribute)]
    functions = origins(view.flow.uses_in(value))
    captured = {d for each in functions if each.code for d in origins(each.uses)}
    for made in functions | captured:
        # ``state = self.state = {}``
        named += map(path_of, made.stmt.targets) if isinstance(made.stmt, ast.Assign) else ()
    yield from (path[1].lstrip(".") for path in named if path and len(path) == 2 and path[0] == me)
