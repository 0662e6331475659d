"""What subclasses write in place of a method, and what of their object it reads there."""

from __future__ import annotations

import ast

from tapemigrate.flow.paths import path_of
from tapemigrate.rules.callgraph.changed_below import beside
from tapemigrate.rules.project import Project, View
from tapemigrate.rules.proof.kept.kept_results import Class, KeptResults, above, methods_of
from tapemigrate.rules.values.objects.attributes import filled_by
from tapemigrate.source.trees import walk
from tapemigrate.tape.placing.region import Region


def kept_below(
    project: Project, results: KeptResults, view: View, region: Region, name: str
) -> tuple[str, str] | None:
    """The attribute with an earlier result of a network that the method reads, and the class.

    What other methods that run in the region set of it is not older.
    """
    if view.cls is None or view.kinds.self_name is None:
        return None
    rows = region.block.body[region.first : region.last + 1]
    run = set().union(*(_asked_for(view.kinds.self_name, row) for row in rows)) if rows else set()
    for unit, cls in beside(project, view.cls):
        attribute = results.read_by(unit, cls, name)
        if attribute and attribute not in _set_by(project, list(above(project, unit, cls)), run):
            return attribute, cls.name
    return None


def _set_by(project: Project, lineage: list[Class], names: set[str]) -> set[str]:
    """What methods of these names set, and those of the object that they call in turn."""
    found, seen, pending = set[str](), set[str](), sorted(names)
    while pending:
        each = pending.pop()
        if each in seen:
            continue
        seen.add(each)
        for unit, method in methods_of(lineage, each, inherited=True):
            me = project.view(unit, method).kinds.self_name or ""
            pending += sorted(_asked_for(me, method))
            found |= filled_by(method)
            found |= {
                node.attr
                for node in walk(method)
                if isinstance(node, ast.Attribute)
                and not isinstance(node.ctx, ast.Load)
                and path_of(node.value) == (me,)
            }
    return found


def _asked_for(me: str, code: ast.AST) -> set[str]:
    """The attributes of its object, methods among them, that the code reads."""
    return {
        node.attr
        for node in walk(code)
        if isinstance(node, ast.Attribute)
        and isinstance(node.ctx, ast.Load)
        and path_of(node.value) == (me,)
    }
