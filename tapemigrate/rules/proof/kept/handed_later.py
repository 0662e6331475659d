"""Values that methods keep of what they are handed, after their object was made."""

from __future__ import annotations

from collections.abc import Iterable

from tapemigrate.flow.definitions import Def, Kind
from tapemigrate.flow.functions import NamedFunction, parameters
from tapemigrate.rules.callgraph.arguments import argument_for
from tapemigrate.rules.callgraph.handed_unseen import may_be_handed_unseen
from tapemigrate.rules.callgraph.setters import of_one_object
from tapemigrate.rules.finding import Unit
from tapemigrate.rules.project import Project, View
from tapemigrate.rules.values.objects.operators import is_operator
from tapemigrate.tape.ops.kinds import INDEPENDENT


def may_be_tensors(project: Project, view: View, made: Iterable[Def]) -> bool:
    """Whether among ``made``, which ``self`` keeps, is what a method was handed that may be one.

    ``self.put(self.w * self.w)``. Who makes an object has no variables of its yet.
    """
    handed = [d for d in made if d.kind is Kind.PARAM]
    if not handed or view.cls is None:
        return False
    return any(
        _may_be_tensor(project, unit, method, each)
        for unit, cls in of_one_object(project, view.cls)
        for method in cls.body
        if isinstance(method, NamedFunction) and method.name != "__init__"
        for names in [{a.arg for a in list(parameters(method.args))[1:]}]
        for each in handed
        if each.path[0] in names
    )


def _may_be_tensor(project: Project, unit: Unit, method: NamedFunction, made: Def) -> bool:
    if made not in project.view(unit, method).flow.defs.values():
        return False
    if is_operator(method.name) or may_be_handed_unseen(project, unit, method, made.path[0]):
        return True
    for site in project.mentions(method.name).calls:
        value = argument_for(site.call, method, made.path[0], True)
        there = project.view(site.unit, project.scope_of(site.unit, site.call))
        if value is None or there.kinds.make(value) not in INDEPENDENT:
            return True
    return False
