"""Sources that callers take out of the graph: variables, and what others put into collections.

``grad(tf.trainable_variables()[0], h)``: of what was there before, ``h`` may be made, and no name
shows it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from tapemigrate.flow.definitions import Kind
from tapemigrate.flow.paths import path_of
from tapemigrate.flow.slices import origins
from tapemigrate.rules.callgraph.assigned import attribute_values
from tapemigrate.rules.project import Project, View
from tapemigrate.rules.unseen.found import found_in_graph
from tapemigrate.rules.values.held_variables import given_by_object
from tapemigrate.rules.values.variable_lists import given_list, is_one_variable
from tapemigrate.source.trees import walk
from tapemigrate.tape.kinds import Make

_VARIABLES = frozenset({Make.VARIABLE, Make.FROZEN, Make.VARIABLES, Make.ANY_VARIABLES})
# What is made anew, whatever of.
_NEW = frozenset({Make.TENSOR, Make.LEAF, Make.PYTHON})
# Through how many names it is followed.
_DEPTH = 4


def may_be_variables(project: Project, caller: View, given: ast.expr) -> bool:
    """Whether what a caller passes as source may be variables, which networks read unseen."""
    return any(
        _is_of_variables(project, view, node)
        for view, value in _values(project, caller, given, _DEPTH)
        for node in walk(value)
        if isinstance(node, ast.Call | ast.Attribute)
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
    return alike and may_be_variables(project, caller, given)


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
    if path is None:
        computed = isinstance(given, ast.Call) and view.kinds.gives_tensors(given)
        if view.kinds.make(given) not in _NEW and not computed:
            yield view, given
            names = [n for n in walk(given) if isinstance(n, ast.Name)] if depth else []
            for name in names:
                if not isinstance(name.ctx, ast.Load):
                    continue
                for value in _assigned(view, name):
                    yield from _values(project, view, value, depth - 1)
        return
    values = list(_assigned(view, given))
    for value in values if depth else ():
        yield from _values(project, view, value, depth - 1)
    if len(path) > 1:
        kept = given_by_object(project, view, given)
        if path[0] == view.kinds.self_name and not values:
            attribute = path[1].lstrip(".")
            kept = [(view, value) for value in attribute_values(project, view, attribute)]
        yield from ((u, v) for u, v in kept if v is not None and path_of(v) is None)


def _assigned(view: View, name: ast.expr) -> Iterator[ast.expr]:
    for made in origins(view.flow.uses_in(name)):
        if made.value is not None and made.kind is not Kind.MUTATE:
            yield made.value
