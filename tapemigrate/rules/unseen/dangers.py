"""What a file runs that no tape records, with what it has from others and is handed by them."""

from __future__ import annotations

import ast
from dataclasses import replace
from functools import partial

from tapemigrate.flow.functions import NamedFunction
from tapemigrate.rules.callgraph.changed_below import beside, bound_in
from tapemigrate.rules.finding import Unit
from tapemigrate.rules.project import Project
from tapemigrate.rules.unseen.elsewhere import Elsewhere, elsewhere, of_file
from tapemigrate.rules.unseen.givers import Givers
from tapemigrate.rules.unseen.hazards import Hazards, hazards
from tapemigrate.source.trees import walk
from tapemigrate.tape.request import Refusal


def dangers(project: Project, unit: Unit) -> Hazards:
    """The hazards of ``unit``, those included that it imports from other files."""
    known = project.once(_known_dangers)
    if unit.filename not in known:
        others = elsewhere(project)
        given, around = project.once(Givers).given(unit), others.around(project, unit)
        gives = partial(others.gives, unit)
        replaced, below = _run_instead(project, unit, others)
        if others.may_be_named_in(unit) or below:
            methods = {**below, **others.methods(unit)}
            given = replace(given, running=others.running(unit, {**given.methods, **methods}))
            refuse = partial(others.refuse, unit)
            known[unit.filename] = hazards(
                unit, gives, refuse, methods, given, around, replaced, others.is_computed
            )
        else:
            given = replace(given, running=others.running(unit, given.methods))
            known[unit.filename] = hazards(unit, gives, given=given, around=around)
    return known[unit.filename]


def _run_instead(
    project: Project, unit: Unit, others: Elsewhere
) -> tuple[frozenset[str], dict[str, Refusal]]:
    """What classes of other files have in the place of what those of ``unit`` have.

    And the methods that run what no tape records of the objects that they have, or make.
    """
    replaced, methods, seen = set[str](), dict[str, Refusal](), set[str]()
    for cls in unit.nodes(ast.ClassDef):
        for home, each in beside(project, cls):
            methods = {**_of_class(others, home, each), **methods}
            if home is not unit:
                replaced |= bound_in(each)
                if home.filename not in seen:
                    seen.add(home.filename)
                    methods = {**others.methods_and_own(home), **methods}
    return frozenset(replaced), methods


def _of_class(others: Elsewhere, home: Unit, cls: ast.ClassDef) -> dict[str, Refusal]:
    """Which methods of a class run such things that they have from functions, by each other too."""
    members: dict[str, ast.AST] = {}
    for stmt in cls.body:
        if isinstance(stmt, NamedFunction):
            members[stmt.name] = stmt
        elif isinstance(stmt, ast.Assign):
            members |= {t.id: stmt.value for t in stmt.targets if isinstance(t, ast.Name)}
    found: dict[str, Refusal] = {}
    for name, root in members.items():
        nodes = (node for node in walk(root) if isinstance(node, ast.Name | ast.Attribute))
        run = next((why for node in nodes if (why := others.runs(home, node)) is not None), None)
        if run is not None:
            found[name] = of_file(home.filename, run)
    before = -1
    while before < len(found):
        before = len(found)
        for name, root in members.items():
            parts = (node.attr for node in walk(root) if isinstance(node, ast.Attribute))
            run = next((found[part] for part in parts if part in found), None)
            if run is not None:
                found.setdefault(name, run)
    return found


def _known_dangers(_: Project) -> dict[str, Hazards]:
    return {}
