"""What a method of a class above, in another file, reads of the object: ``self.net_u(x)``."""

from __future__ import annotations

import ast
import builtins

from tapemigrate.flow.functions import NamedFunction, defaults, free_names
from tapemigrate.rules.callgraph.changed_below import beside
from tapemigrate.rules.callgraph.classes import classes, is_of_library
from tapemigrate.rules.callgraph.imported import import_paths
from tapemigrate.rules.callgraph.names_in_texts import set_by_text
from tapemigrate.rules.finding import Unit
from tapemigrate.rules.indexes import functions_at_top
from tapemigrate.rules.project import Project, View
from tapemigrate.rules.proof.kept.kept_results import Class, above, method_of
from tapemigrate.source.trees import walk
from tapemigrate.tape.ops.kinds import Make

# What gives an object attributes that nobody set, or sees what is set.
_ANSWERING = frozenset({"__getattr__", "__getattribute__", "__setattr__"})
# Built-in functions that give more than they are handed.
_TELLING = frozenset({"globals", "locals", "vars", "eval", "exec", "getattr", "setattr", "super"})


def read_above(project: Project, view: View, name: str) -> frozenset[str] | None:
    """The attributes that the method reads, with the methods that it calls of the object.

    None: it cannot be told, or they do more than read: they set attributes, hand on the object, ask
    objects that it keeps, or read values of their module.
    """
    cls = view.cls
    if cls is None or beside(project, cls):
        return None
    if any(True for _ in classes(project).unseen_bases(view.unit, cls)):
        return None
    lineage = list(above(project, view.unit, cls))
    if len({each.name for _, each in lineage}) < len(lineage):
        return None  # of namesakes, one is meant
    read, met = set[str](), set[str]()
    pending = [name]
    while pending:
        each = pending.pop()
        if each in met:
            continue
        met.add(each)
        home, method = method_of(lineage, each)
        if home is None or method is None or not _is_plain(method):
            return None
        parts = _parts_read(home, method)
        if parts is None or not _reads_no_values(project, home, method):
            return None
        called, kept = parts
        pending += called
        read |= kept
    own = {part for part in read if method_of(lineage, part)[1] is not None}
    return None if own or not _are_as_written(project, lineage, met) else frozenset(read)


def _is_plain(method: NamedFunction) -> bool:
    """Whether it is called with its object, and what it was made with are literals."""
    literal = all(isinstance(each, ast.Constant) for each in defaults(method.args))
    return literal and not method.decorator_list and bool(method.args.args)


def _are_as_written(project: Project, lineage: list[Class], names: set[str]) -> bool:
    """Whether nothing but ``def`` gives objects of the classes what is called by the names."""
    members = {
        stmt.name for _, cls in lineage for stmt in cls.body if isinstance(stmt, NamedFunction)
    }
    return members.isdisjoint(_ANSWERING) and not any(
        any(True for _ in project.stores(name))
        or any(set_by_text(project, unit, name) for unit, _ in lineage)
        for name in names
    )


def _parts_read(unit: Unit, method: NamedFunction) -> tuple[list[str], set[str]] | None:
    """The methods of its object that a method calls, and the attributes that it reads."""
    me = method.args.args[0].arg
    called: list[str] = []
    kept: set[str] = set()
    for node in walk(method):
        if not isinstance(node, ast.Name) or node.id != me:
            continue
        part = unit.parents.get(node)
        if not isinstance(part, ast.Attribute) or not isinstance(part.ctx, ast.Load):
            return None
        around = unit.parents.get(part)
        if isinstance(around, ast.Call) and around.func is part:
            called.append(part.attr)
        elif isinstance(around, ast.Attribute) or _is_set(around):
            return None
        else:
            kept.add(part.attr)
    return called, kept


def _is_set(node: ast.AST | None) -> bool:
    """``self.kept[0] = …``, ``self.kept += …``"""
    return isinstance(node, ast.AugAssign) or (
        isinstance(node, ast.Subscript) and not isinstance(node.ctx, ast.Load)
    )


def _reads_no_values(project: Project, unit: Unit, method: NamedFunction) -> bool:
    """Whether all that it names of its module are functions, libraries and Python values."""
    top = project.view(unit, unit.tree)
    pending, met = [*free_names(method)], set[str]()
    while pending:
        name = pending.pop()
        if name in _TELLING:
            return False
        if name in met or hasattr(builtins, name):
            continue
        met.add(name)
        functions = unit.once(functions_at_top).get(name, ())
        given = top.flow.given(name)
        pending += [free for function in functions for free in free_names(function)]
        if any(not _is_plain(function) for function in functions):
            return False
        values = [made.value for made in given]
        if any(v is None or top.kinds.make(v) is not Make.PYTHON for v in values):
            return False
        if not values and not functions and not is_of_library(import_paths(unit).get(name)):
            return False
    return True
