"""Attributes of ``self`` that a tape is kept for, and that other code may set."""

from __future__ import annotations

import ast

from tapemigrate.rules.callgraph.names_in_texts import set_by_text
from tapemigrate.rules.project import Project, View
from tapemigrate.rules.values.objects.attributes import inherited_values, set_below
from tapemigrate.rules.values.objects.unnamed import WITHOUT_NAME, sets_without_name


def set_elsewhere(project: Project, view: View, names: list[str]) -> str:
    """Where one of the attributes may be given another tensor than the methods here give it."""
    assert view.cls is not None
    for name in names:
        others = project.foreign_stores(view.unit, view.cls, name)
        others += [value for _, value in inherited_values(project, view, name)]
        if any(not isinstance(value, ast.Constant) for value in others):
            return f"other code sets `{name}` on the object"
        if set_below(project, view, name):
            return f"a class that extends this one sets `{name}`"
        if problem := set_by_text(project, view.unit, name):
            return problem
    return WITHOUT_NAME if sets_without_name(project, view) else ""
