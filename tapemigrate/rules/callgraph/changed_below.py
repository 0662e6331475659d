"""Methods that change their object where a class of another file runs another in their place."""

from __future__ import annotations

import ast

from tapemigrate.flow.effects import Effects
from tapemigrate.flow.functions import NamedFunction
from tapemigrate.flow.paths import path_of
from tapemigrate.flow.touched import ALL_PARTS, NO_PARTS
from tapemigrate.rules.callgraph.classes import bases, classes
from tapemigrate.rules.finding import Unit
from tapemigrate.rules.project import Project
from tapemigrate.source.trees import calls_in


def parts_below(project: Project, unit: Unit, cls: ast.ClassDef, name: str) -> frozenset[str]:
    """The attributes that ``self.name(…)``, in ``cls``, may change of objects of other files.

    Or what it calls of its object in turn: a template method calls what others write.
    """
    others = [(u, other) for u, other in beside(project, cls) if u is not unit]
    if not others:
        return NO_PARTS
    effects, found = project.effects(unit), set[str]()
    own = _called_for(effects, cls, name)
    done, pending = set[str](), sorted(own)
    while pending:
        each = pending.pop()
        if each in done:
            continue
        done.add(each)
        bound = [(project.effects(u), c) for u, c in others if each in bound_in(c)]
        if any(there.method(c, each) is None for there, c in bound):
            return ALL_PARTS  # it is called so, and is no method
        told = [there.touched.told(c, each) for there, c in bound]
        if each not in own:  # it is a class of another file that calls it
            if effects.method(cls, each) is not None:
                told.append(effects.touched.told(cls, each))
                pending += sorted(_called_for(effects, cls, each))
            elif not told:
                return ALL_PARTS
        for one in told:
            found |= one.written
            pending += sorted(one.unseen)
    return frozenset(found)


def beside(project: Project, cls: ast.ClassDef) -> list[tuple[Unit, ast.ClassDef]]:
    """The subclasses, and what else these extend, which may come before ``cls``."""
    known = classes(project)
    below = known.extending(cls.name)
    mixed = {name for each in below for name in known.above(each)}
    # A namesake of it may extend others than it does.
    own = frozenset(bases(cls)).union(*map(known.above, bases(cls)))
    others = (below | mixed) - (own - below)
    if not known.joins_namesakes(cls.name):
        others -= {cls.name}  # what extends another class of the name does not extend this one
    found = [each for name in sorted(others) for each in known.named(name)]
    return [(unit, other) for unit, other in found if other is not cls]


def _called_for(effects: Effects, cls: ast.ClassDef, name: str) -> set[str]:
    """The method, and the others that it calls of its object in turn, here and in classes above."""
    found, pending = set[str](), [name]
    while pending:
        each = pending.pop()
        if each in found:
            continue
        found.add(each)
        method = effects.method(cls, each)
        above = effects.methods_above(cls, each)
        for function in above if method is None else [method, *above]:
            pending += _own_calls(function)
    return found


def _own_calls(method: NamedFunction) -> list[str]:
    """What a method calls of its object."""
    me = next((a.arg for a in (*method.args.posonlyargs, *method.args.args)), None)
    paths = (path_of(call.func) for call in calls_in(method))
    return [p[1].lstrip(".") for p in paths if p is not None and len(p) == 2 and p[0] == me]


def bound_in(cls: ast.ClassDef) -> set[str]:
    """The methods of a class itself, and what else it gives a name that may be called."""
    found: set[str] = set()
    for stmt in cls.body:
        if isinstance(stmt, NamedFunction):
            found.add(stmt.name)
        elif isinstance(stmt, ast.Assign) and not isinstance(stmt.value, ast.Constant):
            found |= {target.id for target in stmt.targets if isinstance(target, ast.Name)}
    return found
