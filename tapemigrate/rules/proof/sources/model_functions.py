"""Tapes that open where the model function of an Estimator begins to compute.

An Estimator makes a new graph for each run of its model function, and no op takes tensors of two
graphs. What is kept elsewhere can have been computed from the variables of this one by what fed the
function, or by the function before the tape opens.
https://github.com/tensorflow/estimator/blob/master/tensorflow_estimator/python/estimator/estimator.py
"""

from __future__ import annotations

import ast
import builtins

from tapemigrate.flow.functions import NamedFunction
from tapemigrate.rules.callgraph.decorated import runs_as_written
from tapemigrate.rules.callgraph.given_anew import is_given_anew
from tapemigrate.rules.project import Project, View
from tapemigrate.rules.values.estimators import FED, is_fed_data, runs_in_graphs_of_its_own
from tapemigrate.rules.values.imported_functions import function_as_written
from tapemigrate.source.points import begin
from tapemigrate.source.trees import arguments_of, top_level
from tapemigrate.tape.ops.kinds import Make
from tapemigrate.tape.ops.symbols import gives_no_tensors
from tapemigrate.tape.ops.syntax import own_nodes
from tapemigrate.tape.placing.region import Region

# Through how many functions one is followed that do nothing but write logs, or the like.
_DEPTH = 3
# Functions of TensorFlow that make no variable and keep nothing, by how their names begin or end.
_BESIDE = ("logging.", "gfile.", "io.gfile.", "train.latest_checkpoint")
_SCOPES = ("variable_scope", "name_scope", "device")
_COMPUTED = (Make.LEAF, Make.PYTHON, Make.TENSOR)
# Python's own functions, but for those that may find anything, or go on with what was begun.
_BUILTIN = frozenset(vars(builtins)) - frozenset(
    {"eval", "exec", "getattr", "setattr", "next", "iter", "__import__"}
)
# Methods of lists, dicts, texts and files.
_CONTAINED = frozenset(
    {"append", "get", "items", "keys", "values", "format", "join", "split", "copy", "lower"}
    | {"upper", "startswith", "endswith", "replace", "strip", "write", "flush", "as_list"}
)


def opens_with_model(project: Project, region: Region, view: View) -> bool:
    """Whether nothing that is kept outside of the scope can be made of the variables yet."""
    if region.given or region.resumes or not runs_in_graphs_of_its_own(project, view):
        return False
    if not all(leaf.variables for leaf in region.sources.leaves):
        return False
    entering = {root.path[0] for root in region.roots}
    if not any(name in entering or is_fed_data(project, view, name) for name in FED):
        return False
    first = region.block.body[min(region.first, region.call)]
    owners = [place.block.owner for place in view.blocks.chain(first)]
    if any(isinstance(owner, ast.For | ast.AsyncFor | ast.While) for owner in owners):
        return False
    assert isinstance(view.scope, ast.FunctionDef)
    before = [
        node
        for stmt in view.scope.body
        if begin(stmt) < begin(first)
        for node in own_nodes(stmt)
        if not isinstance(node, ast.expr | ast.stmt) or begin(node) < begin(first)
    ]
    return _is_idle(project, view, before, _DEPTH)


def _is_idle(project: Project, view: View, nodes: list[ast.AST], depth: int) -> bool:
    """Whether the code calls nothing that could compute with variables and keep what it made."""
    return all(
        _is_idle_call(project, view, node, depth)
        if isinstance(node, ast.Call)
        else not (isinstance(node, ast.Attribute) and _is_property(project, node.attr))
        for node in nodes
    )


def _is_property(project: Project, name: str) -> bool:
    """Whether a class at hand has a method of that name, which may run where it is only read."""
    return any(
        isinstance(node, ast.FunctionDef) and node.name == name and node.decorator_list
        for unit in project.units.defining(name)
        for node in unit.nodes(ast.FunctionDef)
    )


def _is_idle_call(project: Project, view: View, call: ast.Call, depth: int) -> bool:
    func = call.func
    if any(_is_function(view, each) for each in arguments_of(call)):
        return False
    path, short = view.kinds.name(func), view.kinds.tensorflow(func)
    if short is not None:
        return short.startswith(_BESIDE) or short in _SCOPES or view.kinds.make(call) in _COMPUTED
    if path is not None and gives_no_tensors(path):
        return True
    if isinstance(func, ast.Name) and path is None and func.id in _BUILTIN:
        return not view.kinds.effects.is_own(func.id)
    if isinstance(func, ast.Attribute) and path is None and func.attr in _CONTAINED:
        # What an Estimator hands in is a dict, or a tensor.
        fed = isinstance(func.value, ast.Name) and func.value.id in FED
        units = project.units.defining(func.attr)
        return fed or not any(project.effects(unit).functions(func.attr) for unit in units)
    called = _function(project, view, func) if depth else None
    if called is None or not isinstance(called.scope, ast.FunctionDef):
        return False
    nodes = [node for stmt in called.scope.body for node in own_nodes(stmt)]
    return _is_idle(project, called, nodes, depth - 1)


def _is_function(view: View, node: ast.expr) -> bool:
    """Whether it may be a function of the user's, to be called: ``tf.map_fn(f, xs)``."""
    if isinstance(node, ast.Name) and view.kinds.effects.functions(node.id):
        return True
    path = view.kinds.name(node)
    named = path is not None and view.kinds.tensorflow(node) is None and not gives_no_tensors(path)
    return named or isinstance(node, ast.Lambda)


def _function(project: Project, view: View, func: ast.expr) -> View | None:
    """The function of a module that the name certainly means."""
    if (found := function_as_written(project, view, func)) is not None:
        return found
    if not isinstance(func, ast.Name):
        return None
    own = [s for s in top_level(view.unit.tree) if isinstance(s, NamedFunction)]
    named = [s for s in own if s.name == func.id]
    made = [u.made.value for u in view.flow.reads.get(func, ())]
    if len(named) != 1 or any(value is not None for value in made):
        return None
    (function,) = named
    if not isinstance(function, ast.FunctionDef) or not runs_as_written(function):
        return None
    return (
        None if is_given_anew(project, view.unit, function) else project.view(view.unit, function)
    )
