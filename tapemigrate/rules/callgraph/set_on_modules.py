"""Names of a module that other files set though its own does not stand there: ``put(utils, s)``."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tapemigrate.flow.paths import path_of
from tapemigrate.rules.callgraph.arguments import argument_for
from tapemigrate.rules.callgraph.loose_modules import is_loose
from tapemigrate.rules.callgraph.meaning import constructors
from tapemigrate.rules.callgraph.places import is_module
from tapemigrate.rules.callgraph.set_without_name import SETTING, set_without_name
from tapemigrate.rules.finding import Unit
from tapemigrate.rules.project import Project


def set_unseen(project: Project, home: Unit, name: str) -> Iterator[tuple[Unit, ast.AST]]:
    """Where code of other files may set ``name`` of the module ``home``.

    On what may be the module, ``import_module("utils").scale = s``, or by a name that cannot be
    seen, ``setattr(utils, key, s)``.
    """
    loose = is_loose(project, home)
    for user in project.units.having(*SETTING):
        for owner in set_without_name(user) if user is not home else ():
            module = user.names.qualified(owner)
            named = module is not None and is_module(user.filename, module, home.filename)
            if named or (
                loose and _may_be_module(user, owner) and not _shows(project, user, owner)
            ):
                yield user, owner
    for user, node in project.stores(name) if loose else ():
        if user is not home and _may_be_module(user, node.value):
            yield user, node


def _may_be_module(unit: Unit, owner: ast.expr) -> bool:
    """Whether it is no import, no object that the file makes, and not ``self``."""
    if unit.names.qualified(owner) is not None or path_of(owner) in (("self",), ("cls",)):
        return False
    return constructors(unit, owner) is None


def _shows(project: Project, unit: Unit, owner: ast.expr) -> bool:
    """Whether callers hand in the name that is set: ``put(utils, "scale", s)``; it stands there."""
    call, scope = unit.parents[owner], project.scope_of(unit, owner)
    name = call.args[1] if isinstance(call, ast.Call) and len(call.args) > 1 else None
    if not isinstance(name, ast.Name) or not isinstance(scope, ast.FunctionDef):
        return False
    method = project.class_of(unit, scope) is not None
    sites = project.mentions(scope.name).calls
    passed = [argument_for(site.call, scope, name.id, method) for site in sites]
    return bool(passed) and all(isinstance(value, ast.Constant) for value in passed)
