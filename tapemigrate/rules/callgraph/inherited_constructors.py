"""Which calls run a constructor through subclasses: ``class Net(Base)``, and then ``Net(x)``."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tapemigrate.flow.paths import is_super, names_class, path_of
from tapemigrate.rules.callgraph.callers import has_constructor, of_class
from tapemigrate.rules.callgraph.classes import Classes, bases, classes
from tapemigrate.rules.finding import Unit
from tapemigrate.rules.project import CallSite, Mentions, Project
from tapemigrate.source.trees import calls_in


def made_by(project: Project, unit: Unit, cls: ast.ClassDef) -> Mentions:
    """Where the constructor of a class may run: where it is called, or meant, or a subclass is.

    Where that cannot be told of a subclass, what names the class as its base is left among what
    means it in another way.
    """
    own, below = of_class(project, unit, cls), heirs(project, cls)
    own = Mentions(own.calls, [*own.others, *_made_again(project)])
    leading = [_leads_up(classes(project), heir, cls) for _, heir in below]
    if not below or None in leading:
        return own
    found = Mentions([*own.calls], [each for each in own.others if not _is_base(*each)])
    for (home, heir), is_next in zip(below, leading, strict=True):
        if is_next and has_constructor(heir):
            asking = list(_asks_above(heir))
            found.calls += [CallSite(home, call) for call in asking]
            # ``Base.__init__(self, x)`` means the class there, and nothing else by it.
            named = {call.func.value for call in asking if isinstance(call.func, ast.Attribute)}
            found.others = [each for each in found.others if each[1] not in named]
        elif is_next:
            there = of_class(project, home, heir)
            found.calls += there.calls
            found.others += [each for each in there.others if not _is_base(*each)]
    return found


def heirs(project: Project, cls: ast.ClassDef) -> list[tuple[Unit, ast.ClassDef]]:
    """The classes at hand that extend ``cls``, or those that do."""
    known = classes(project)
    names = sorted(known.extending(cls.name) - {cls.name})
    return [each for name in names for each in known.named(name)]


def _leads_up(known: Classes, heir: ast.ClassDef, cls: ast.ClassDef) -> bool | None:
    """Whether the next constructor above ``heir`` is that of ``cls``; None: it cannot be told."""
    above, met = heir, {heir}
    while True:
        if above.decorator_list or above.keywords or len(above.bases) != 1:
            return None
        found = [each for _, each in known.named(bases(above)[0])]
        if len(found) != 1 or found[0] in met:
            return None
        above = found[0]
        met.add(above)
        if above is cls or has_constructor(above):
            return above is cls


def _made_again(project: Project) -> list[tuple[Unit, ast.AST]]:
    """Where a constructor is called of an object that is there: ``net.__init__(x)``."""
    return [
        (site.unit, site.call.func)
        for site in project.mentions("__init__").calls
        if isinstance(site.call.func, ast.Attribute)
        and not is_super(site.call.func.value)
        and not names_class((path_of(site.call.func.value) or ("",))[-1])
    ]


def _asks_above(heir: ast.ClassDef) -> Iterator[ast.Call]:
    """The calls by which a class runs the constructor above its own."""
    for call in calls_in(heir):
        if isinstance(call.func, ast.Attribute) and call.func.attr == "__init__":
            yield call


def _is_base(unit: Unit, node: ast.AST) -> bool:
    return isinstance(unit.parents.get(node), ast.ClassDef)
