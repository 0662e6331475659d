"""Branches and lists of the graph, which TensorFlow cannot vectorise where a tape recorded them.

``tape.jacobian`` asks for all rows at once, by ``pfor``. That has no converter for the call in
which a tape keeps the gradient of a ``tf.cond``, nor for all that is done to the lists of tensors
that loops fill, and raises (python/eager/backprop.py, python/ops/parallel_for/pfor.py). Row by row,
in a loop as ``tf.hessians`` does it, it can be had.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable

from tapemigrate.rules.finding import Unit
from tapemigrate.rules.project import Project
from tapemigrate.source.trees import walk

_BRANCHES = frozenset(
    {
        *("cond", "case", "switch_case", "smart_cond", "smart_case", "smart_constant_value"),
        *("switch", "in_train_phase", "in_test_phase"),
        # Functions in which an ``if`` may become one.
        *("function", "defun", "to_graph", "convert"),
    }
)
# What fills lists of tensors round by round.
_LISTS = frozenset({"map_fn", "scan", "TensorArray", "dynamic_rnn", "rnn"})
# Layers that ask whether they are trained.
_LAYERS = frozenset({"batch_normalization", "BatchNormalization", "batch_norm", "dropout"})


def runs_branches(nodes: Iterable[ast.AST], unit: Unit, project: Project) -> bool:
    """Whether ``nodes``, functions that they name, or anything in their file may run one."""
    if unit.once(_has_branches):
        return True
    pending = [(unit, node) for node in nodes]
    seen = set[str]()
    while pending:
        home, root = pending.pop()
        for node in walk(root):
            if not isinstance(node, ast.Name | ast.Attribute):
                continue
            path = home.names.qualified(node)
            if path is not None and _is_branch(path):
                return True
            name = node.id if isinstance(node, ast.Name) else node.attr
            if name in seen or (path is not None and path.startswith("tensorflow.")):
                continue
            seen.add(name)
            for other in project.units.defining(name):
                pending += [(other, each) for each in other.definitions if each.name == name]
    return False


def _has_branches(unit: Unit) -> bool:
    return any(_is_branch(path) for _, path in unit.names.references())


def _is_branch(path: str) -> bool:
    name = path.rpartition(".")[2]
    if not path.startswith("tensorflow."):
        return False
    return name in _BRANCHES | _LISTS or (name in _LAYERS and ".layers." in path)
