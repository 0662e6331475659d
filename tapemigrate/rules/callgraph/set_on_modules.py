"""Names of a module that other files set though its own does not stand there: ``put(utils, s)``."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tapemigrate.flow.paths import path_of
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
            if named or (loose and _may_be_module(user, owner)):
                yield user, owner
    for user, node in project.stores(name) if loose else ():
        if user is not home and _may_be_module(user, node.value):
            yield user, node


def _may_be_module(unit: Unit, owner: ast.expr) -> bool:
    """Whether it is no import, no object that the file makes, and not ``self``."""
    if unit.names.qualified(owner) is not None or path_of(owner) in (("self",), ("cls",)):
        return False
    return constructors(unit, owner) is None
