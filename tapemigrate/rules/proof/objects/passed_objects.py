"""Which objects the constructor of a class is handed, of classes at hand: ``Model(config)``."""

from __future__ import annotations

from tapemigrate.flow.functions import NamedFunction, parameters
from tapemigrate.rules.callgraph.arguments import argument_for
from tapemigrate.rules.callgraph.callers import constructions, of_class
from tapemigrate.rules.project import Project, View
from tapemigrate.rules.proof.kept.kept_results import Class
from tapemigrate.rules.proof.objects.objects_named import contents_of
from tapemigrate.source.trees import arguments_of


def objects_passed(project: Project, made: Class, constructor: View, name: str) -> list[Class]:
    """The classes of all that is passed for a parameter; none where one is not seen."""
    scope = constructor.scope
    if not isinstance(scope, NamedFunction) or scope.name != "__init__":
        return []
    if name not in {a.arg for a in parameters(scope.args)}:
        return []
    if of_class(project, *made).others or project.unread({made[1].name}):
        return []
    classes: list[Class] = []
    for site in constructions(project, *made):
        value = argument_for(site.call, scope, name, True)
        if value is None or not any(value is a for a in arguments_of(site.call)):
            return []
        caller = project.view(site.unit, project.scope_of(site.unit, site.call))
        found = contents_of(project, caller, value, set())
        if found.is_hidden or found.is_unknown or found.parts or not found.classes:
            return []
        classes += found.classes
    return classes
