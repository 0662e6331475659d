"""Variables that stand at module level: ``W = tf.Variable(…)``, a list or a dict of such.

A forward pass reads them while the tape records, so that no part of a gradient can be missed.
"""

from __future__ import annotations

import ast

from tapemigrate.flow.paths import path_of
from tapemigrate.rules.callgraph.names_in_texts import set_by_text
from tapemigrate.rules.callgraph.set_on_modules import set_unseen
from tapemigrate.rules.finding import Unit
from tapemigrate.rules.indexes import bound_names
from tapemigrate.rules.project import Project, View
from tapemigrate.rules.values.containers.filled_state import is_own_module
from tapemigrate.rules.values.variables.variable_values import is_variable, parts
from tapemigrate.source.points import begin
from tapemigrate.source.trees import walk
from tapemigrate.tape.ops.kinds import Make
from tapemigrate.tape.ops.plain_calls import makes_container
from tapemigrate.tape.ops.symbols import short

_ASKING = frozenset({"keys", "values", "items", "get"})
_READERS = frozenset({"len", "zip", "enumerate", "list", "tuple", "sorted", "reversed"})
# By these, a name can be given a value that does not stand beside it.
_UNSEEN = frozenset({"globals", "vars", "locals", "exec", "eval"})


def are_variables(project: Project, unit: Unit, name: str) -> bool:
    """Whether the module-level ``name`` of ``unit`` is a variable, or holds nothing but such."""
    known = project.once(_known)
    key = (unit.filename, name)
    if key not in known:
        known[key] = _are_variables(project, unit, name)
    return known[key]


def _known(_: Project) -> dict[tuple[str, str], bool]:
    return {}


def is_trainable(project: Project, unit: Unit, name: str) -> bool:
    """Whether the module-level ``name`` of ``unit`` is one variable, which tapes watch unasked."""
    if not are_variables(project, unit, name):
        return False
    module = project.view(unit, unit.tree)
    values = [d.value for d in module.flow.defs.values() if d.path == (name,)]
    return bool(values) and all(v is not None and _is_new(module, v) for v in values)


def _is_new(module: View, value: ast.expr) -> bool:
    return isinstance(value, ast.Call) and module.kinds.make(value) is Make.VARIABLE


def _are_variables(project: Project, unit: Unit, name: str) -> bool:
    module = project.view(unit, unit.tree)
    values = values_of(project, unit, name)
    if not values or not all(is_variable(module, part) for v in values for part in parts(v)):
        return False
    # What a library read may be a dict, into which more is put.
    single = all(parts(v) == [v] and not _may_be_filled(module, v) for v in values)
    return single or is_only_looked_up(project, unit, name)


def _may_be_filled(module: View, value: ast.expr) -> bool:
    called = module.kinds.name(value.func) if isinstance(value, ast.Call) else None
    return called is not None and makes_container(called)


def values_of(project: Project, unit: Unit, name: str) -> list[ast.expr]:
    """All that the module-level ``name`` is ever given; empty where some of it is not seen."""
    values: list[ast.expr] = []
    for node in unit.once(bound_names).get(name, ()):
        if project.scope_of(unit, node) is not unit.tree:
            continue
        stmt = unit.parents[node]
        if not isinstance(stmt, ast.Assign) or node not in stmt.targets:
            return []
        values.append(stmt.value)
    if name in unit.once(_bound_otherwise):
        return []
    stars = [alias for alias in unit.nodes(ast.alias) if alias.name == "*"]
    first = min(map(begin, values), default=None)
    if first is not None and any(begin(star) > first for star in stars):
        return []
    return values if values and not may_be_set_unseen(project, unit, name) else []


def _bound_otherwise(unit: Unit) -> frozenset[str]:
    """The names that are given values by other means than an assignment."""
    found = {(alias.asname or alias.name).split(".")[0] for alias in unit.nodes(ast.alias)}
    found |= {name for stmt in unit.nodes(ast.Global) for name in stmt.names}
    found |= {node.name for node in unit.nodes(ast.AsyncFunctionDef)}
    return frozenset(found | {node.name for node in unit.definitions})


def _looks_up(unit: Unit) -> bool:
    """Whether names of the module may be given values without being written."""
    return any(node.id in _UNSEEN for node in unit.nodes(ast.Name))


def may_be_set_unseen(project: Project, unit: Unit, name: str) -> bool:
    """Whether another file sets it, ``model.W = …``, or something that does not write its name."""
    if unit.once(_looks_up) or set_by_text(project, unit, name):
        return True
    if any(
        user.names.qualified(node.value) or (user is unit and is_own_module(node.value))
        for user, node in project.stores(name)
    ):
        return True
    return any(True for _ in set_unseen(project, unit, name))


def is_only_looked_up(project: Project, unit: Unit, name: str) -> bool:
    """Whether nothing can be put into the list or dict, under any name."""
    for other in project.units.having(name):
        for node in walk(other.tree) if name in other.text else ():
            if other is unit and isinstance(node, ast.Name) and node.id == name:
                if isinstance(node.ctx, ast.Load) and not is_read(unit, node):
                    return False
            elif isinstance(node, ast.alias) and name == node.name:
                return False
            elif isinstance(node, ast.Attribute) and node.attr == name:
                if other.names.qualified(node) is not None:
                    return False
    return True


def is_read(unit: Unit, node: ast.Name) -> bool:
    """Whether the list or dict is read there, and neither changed nor given another name."""
    parent = unit.parents[node]
    match parent:
        case ast.Subscript(ctx=ast.Load()):
            return parent.value is node
        case ast.For() | ast.comprehension():
            return parent.iter is node
        case ast.Attribute():
            call = unit.parents[parent]
            return parent.attr in _ASKING and isinstance(call, ast.Call) and call.func is parent
        case ast.Call():
            reader = path_of(parent.func)
            if reader is not None and len(reader) == 1 and reader[0] in _READERS:
                return True
            return short(unit.names.qualified(parent.func)) is not None
    return False
