"""The variables of a model: ``model.trainable_variables``, or a list that it keeps of its own."""

from __future__ import annotations

import ast

from tapemigrate.rules.callgraph.classes import classes
from tapemigrate.rules.callgraph.instances import instances_at
from tapemigrate.rules.callgraph.names_in_texts import set_by_text
from tapemigrate.rules.finding import Unit
from tapemigrate.rules.project import Project, View
from tapemigrate.rules.values.variables.held_variables import given_by_object
from tapemigrate.rules.values.variables.variable_lists import are_variables
from tapemigrate.tape.leaf import TRAINABLE, Trainable
from tapemigrate.tape.ops.kinds import Make

_LIBRARIES = ("tensorflow.", "keras.", "sonnet.", "tensorflow_probability.")
# https://www.tensorflow.org/api_docs/python/tf/Module#trainable_variables is a tuple,
# https://www.tensorflow.org/api_docs/python/tf/keras/layers/Layer#trainable_variables a list.
_LISTS = ("tensorflow.keras.", "keras.", "tensorflow.layers.", "tensorflow.compat.v1.layers.")


def trainable(project: Project, view: View, node: ast.Attribute) -> Trainable | None:
    """What ``node`` gives, if that is trainable variables, or has their name and nothing else."""
    if node.attr not in TRAINABLE or _is_own(project, view.unit, node.attr):
        given = given_by_object(project, view, node, listed=False)
        if given and all(_is_new_variable(inner, value) for inner, value in given):
            return Trainable(sure=True, listed=False, single=True)
        given = given_by_object(project, view, node)
        kept = given and all(_are_listed(project, inner, value) for inner, value in given)
        return Trainable(sure=True, listed=False) if kept else None
    libraries = [_library(project, unit, cls) for unit, cls in _classes(project, view, node)]
    if not libraries or "" in libraries:
        return Trainable(sure=False, listed=False)
    return Trainable(sure=True, listed=all(path.startswith(_LISTS) for path in libraries))


def _are_listed(project: Project, view: View, value: ast.expr | None) -> bool:
    """``[self.w, self.b]`` of variables, or ``tf.trainable_variables()``."""
    if isinstance(value, ast.List):
        return are_variables(project, view, value)
    return isinstance(value, ast.Call) and view.kinds.make(value) is Make.VARIABLES


def _is_new_variable(view: View, value: ast.expr | None) -> bool:
    return isinstance(value, ast.Call) and view.kinds.make(value) is Make.VARIABLE


def _is_own(project: Project, home: Unit, name: str) -> bool:
    """Whether a class at hand defines an attribute of that name, or something sets one."""
    if any(True for _ in project.stores(name)) or set_by_text(project, home, name):
        return True
    return any(
        getattr(stmt, "name", "") == name or _sets(stmt, name)
        for unit in project.units.having(name)
        for cls in unit.nodes(ast.ClassDef)
        for stmt in cls.body
    )


def _sets(stmt: ast.stmt, name: str) -> bool:
    targets = stmt.targets if isinstance(stmt, ast.Assign) else [getattr(stmt, "target", None)]
    return any(isinstance(target, ast.Name) and target.id == name for target in targets)


def _classes(project: Project, view: View, node: ast.Attribute) -> list[tuple[Unit, ast.ClassDef]]:
    """The classes of the object; none where one of them is not known."""
    if isinstance(node.value, ast.Name) and node.value.id == view.kinds.self_name:
        return [(view.unit, view.cls)] if view.cls is not None else []
    found = instances_at(project, view, node)
    return [] if found.stray or found.other or found.unseen else found.classes


def _library(project: Project, unit: Unit, cls: ast.ClassDef) -> str:
    """The library's class that ``cls`` extends, if it extends no other that is out of sight."""
    paths = classes(project).unseen_bases(unit, cls)
    known = {path or "" for path in paths}
    return known.pop() if len(known) == 1 and all(p.startswith(_LIBRARIES) for p in known) else ""
