"""What AutoGraph cannot convert once it stands under a tape.

In a function that it turns into a graph, an ``if`` on a tensor is a branch of the graph. It lets it
return, or leave a loop, only where it can move all that comes after it into its other arm, which it
cannot from under a ``with``. And each such branch, or loop, is a graph of its own.
https://github.com/tensorflow/tensorflow/blob/master/tensorflow/python/autograph/g3doc/reference/limitations.md
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tapemigrate.rules.callgraph.converted import may_be_converted
from tapemigrate.rules.project import Project, View
from tapemigrate.source.trees import walk
from tapemigrate.tape.ops.syntax import own_nodes
from tapemigrate.tape.placing.region import Region
from tapemigrate.tape.request import Refusal

_BRANCHES = (ast.If, ast.While, ast.For)


def not_converted(region: Region, project: Project, view: View) -> Refusal | None:
    """Why AutoGraph would make something else of what the tape is round."""
    body = region.block.body[region.first : max(region.last, region.call) + 1]
    loops = (stmt for stmt in body if isinstance(stmt, ast.While | ast.For))
    refusal = _leaves([*body, *(each for loop in loops for each in loop.body)])
    refusal = refusal or _asked_inside(region, view)
    if refusal is None or not may_be_converted(project, view.unit, view.scope):
        return None
    return refusal


def _leaves(body: list[ast.stmt]) -> Refusal | None:
    """That the graph would have to leave the tape on a condition."""
    for does, what, instead in (
        (_returning, "returns", "Give what is returned one name in all branches, and return it"),
        (_leaving, "leaves the loop", "Keep in a name whether to go on, and ask that"),
    ):
        test = next((test for test in does(body) if not _is_python(test)), None)
        if test is not None:
            return Refusal(
                f"AutoGraph makes a branch of the graph of `if {ast.unparse(test)}`, and cannot "
                f"where that {what} from under a `with`",
                f"{instead} at the end.",
            )
    return None


def _asked_inside(region: Region, view: View) -> Refusal | None:
    """That the gradient is asked in a graph that begins after the forward pass does."""
    row = view.blocks.index_in(region.request.stmt, region.block)
    inside = region.block.body[row] if row is not None else None
    if not isinstance(inside, _BRANCHES) or row is None:
        return None
    test = inside.iter if isinstance(inside, ast.For) else inside.test
    asked = any(node is region.request.call for node in walk(test))
    if _is_python(test) or not (asked or region.first < row):
        return None
    return Refusal(
        f"AutoGraph makes a graph of its own of what runs by `{ast.unparse(test)}`, in which "
        "`tf.gradients` does not see what was computed before",
        "Compute what is differentiated where the gradient is asked for.",
    )


def _returning(body: list[ast.stmt]) -> Iterator[ast.expr]:
    """The conditions on which one of the statements returns."""
    for stmt in body:
        if isinstance(stmt, _BRANCHES) and any(isinstance(n, ast.Return) for n in own_nodes(stmt)):
            yield stmt.iter if isinstance(stmt, ast.For) else stmt.test
        elif isinstance(stmt, ast.With):
            yield from _returning(stmt.body)


def _leaving(body: list[ast.stmt]) -> Iterator[ast.expr]:
    """The conditions on which one of the statements leaves the loop around, or its round."""
    for stmt in body:
        if isinstance(stmt, ast.If):
            inner = [*stmt.body, *stmt.orelse]
            if any(isinstance(each, ast.Break | ast.Continue) for each in inner):
                yield stmt.test
            yield from _leaving(inner)
        elif isinstance(stmt, ast.With):
            yield from _leaving(stmt.body)


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
