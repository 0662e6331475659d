"""What AutoGraph cannot convert once it stands under a tape.

In a function that it turns into a graph, an ``if`` on a tensor is a branch of the graph. It lets it
return only where it can move all that comes after it into its other arm, which it cannot from under
a ``with``.
https://github.com/tensorflow/tensorflow/blob/master/tensorflow/python/autograph/g3doc/reference/limitations.md
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tapemigrate.rules.callgraph.converted import may_be_converted
from tapemigrate.rules.project import Project, View
from tapemigrate.tape.region import Region
from tapemigrate.tape.request import Refusal
from tapemigrate.tape.syntax import own_nodes

_BRANCHES = (ast.If, ast.While, ast.For)


def returns_from_tape(region: Region, project: Project, view: View) -> Refusal | None:
    """Why AutoGraph could not convert what the tape would be round."""
    ways = _returning(region.block.body[region.first : region.last + 1])
    test = next((test for test in ways if not _is_python(test)), None)
    if test is None or not may_be_converted(project, view.unit, view.scope):
        return None
    return Refusal(
        f"AutoGraph makes a branch of the graph of `if {ast.unparse(test)}`, and cannot where that "
        "returns from under a `with`",
        "Give what is returned one name in all branches, and return it at the end.",
    )


def _returning(body: list[ast.stmt]) -> Iterator[ast.expr]:
    """The conditions on which one of the statements returns."""
    for stmt in body:
        if isinstance(stmt, _BRANCHES) and any(isinstance(n, ast.Return) for n in own_nodes(stmt)):
            yield stmt.iter if isinstance(stmt, ast.For) else stmt.test
        elif isinstance(stmt, ast.With):
            yield from _returning(stmt.body)


def _is_python(test: ast.expr) -> bool:
    """Whether it is certainly no tensor: ``mask is None``."""
    match test:
        case ast.Compare(ops=ops):
            return all(isinstance(op, ast.Is | ast.IsNot) for op in ops)
        case ast.BoolOp(values=values):
            return all(map(_is_python, values))
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return _is_python(operand)
        case ast.Call(func=ast.Name(id="isinstance" | "hasattr" | "callable")):
            return True
    return isinstance(test, ast.Constant)
