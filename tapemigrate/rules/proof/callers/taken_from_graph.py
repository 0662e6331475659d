"""Sources that callers take out of the graph: variables, and what others put into collections.

``grad(tf.trainable_variables()[0], h)``: of what was there before, ``h`` may be made, and no name
shows it.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterable, Iterator

from tapemigrate.flow.definitions import Kind
from tapemigrate.flow.paths import Path, path_of
from tapemigrate.flow.slices import origins
from tapemigrate.rules.callgraph.assigned import attribute_values
from tapemigrate.rules.project import Project, View
from tapemigrate.rules.unseen.found import found_in_graph
from tapemigrate.rules.values.variables.held_variables import given_by_object
from tapemigrate.rules.values.variables.variable_lists import given_list, is_one_variable
from tapemigrate.source.trees import walk
from tapemigrate.tape.ops.kinds import Make

_VARIABLES = frozenset({Make.VARIABLE, Make.FROZEN, Make.VARIABLES, Make.ANY_VARIABLES})
# What is made anew, whatever of.
_NEW = frozenset({Make.TENSOR, Make.LEAF, Make.PYTHON})
_COMPUTING = (ast.Call, ast.BinOp, ast.UnaryOp, ast.Compare)
# What gives something out of a container.
_TAKING = frozenset({"get", "pop", "popitem", "values", "items"})
# Through how many names it is followed.
_DEPTH = 4


def may_be_variables(
    project: Project, caller: View, given: ast.expr, of_objects: bool = False
) -> bool:
    """Whether what a caller passes as source may be variables, which networks read unseen.

    ``of_objects``: one that an object has made for itself counts as well.
    """
    values: list[tuple[View, ast.expr | None]] = [*_values(project, caller, given, _DEPTH)]
    if of_objects:
        values += given_by_object(project, caller, given, listed=False)
    return any(
        isinstance(value, ast.Call | ast.Attribute) and _is_of_variables(project, view, value)
        for view, value in values
    )


def may_be_shared(project: Project, caller: View, given: ast.expr, run: Iterable[ast.AST]) -> bool:
    """Whether it may be a variable that another object reads by the same name: ``tf.exp(a.w)``.

    Objects of one class that reuse variables have the same ones.
    """
    if not isinstance(given, ast.Attribute) or path_of(given) is None:
        return False
    alike = any(
        isinstance(node, ast.Attribute)
        and node.attr == given.attr
        and path_of(node) not in (None, path_of(given))
        for root in run
        for node in walk(root)
    )
    return alike and may_be_variables(project, caller, given, of_objects=True)


def is_looked_up(project: Project, caller: View, given: ast.expr) -> bool:
    """Whether it comes out of a collection, or is looked up by a name."""
    values = _values(project, caller, given, _DEPTH)
    return any(found_in_graph(project, view.unit, [value]) for view, value in values)


def _is_of_variables(project: Project, view: View, node: ast.Call | ast.Attribute) -> bool:
    make = view.kinds.make(node) if isinstance(node, ast.Call) else Make.UNKNOWN
    if make is Make.UNKNOWN:
        make = given_list(project, view, node)
    return make in _VARIABLES or (
        make is Make.UNKNOWN and isinstance(node, ast.Call) and is_one_variable(project, view, node)
    )


def _values(
    project: Project, view: View, given: ast.expr, depth: int
) -> Iterator[tuple[View, ast.expr]]:
    """What an expression stands for, through names; nothing for what is made anew."""
    path = path_of(given)
    if path is not None:
        values = list(_assigned(view, given, path))
        for value in values if depth else ():
            yield from _values(project, view, value, depth - 1)
        if len(path) > 1:
            kept = given_by_object(project, view, given)
            if path[0] == view.kinds.self_name and not values:
                attribute = path[1].lstrip(".")
                kept = [(view, value) for value in attribute_values(project, view, attribute)]
            yield from ((u, v) for u, v in kept if v is not None and path_of(v) is None)
    elif not isinstance(given, _COMPUTING) or view.kinds.make(given) not in _NEW:
        yield view, given
        # What is made anew as an element was read by nobody before.
        for part in (each for each in _parts(given) if not view.kinds.is_new(each)):
            yield from _values(project, view, part, depth)


def _parts(value: ast.expr) -> list[ast.expr]:
    """What an expression may be, or takes its value out of."""
    match value:
        case ast.Subscript(value=whole) | ast.Starred(value=whole):
            return [whole]
        case ast.IfExp(body=body, orelse=orelse):
            return [body, orelse]
        case ast.BoolOp(values=parts) | ast.List(elts=parts) | ast.Tuple(elts=parts):
            return parts
        case ast.Dict(values=parts):
            return parts
        case ast.ListComp() | ast.GeneratorExp() | ast.SetComp():
            return [value.elt, *(each.iter for each in value.generators)]
        case ast.DictComp():
            return [value.value, *(each.iter for each in value.generators)]
        case ast.Call(func=ast.Name(id=name), args=args) if hasattr(builtins, name):
            return args
        case ast.Call(func=ast.Attribute(value=whole, attr=name)) if name in _TAKING:
            return [whole]
    return []


def _assigned(view: View, name: ast.expr, path: Path) -> Iterator[ast.expr]:
    """What a name was given, or what it is an element of."""
    while path[-1].startswith("["):
        path = path[:-1]
    for made in origins(view.flow.uses_in(name)):
        if (
            made.value is not None
            and made.kind is not Kind.MUTATE
            and made.path[: len(path)] == path
        ):
            yield made.value
