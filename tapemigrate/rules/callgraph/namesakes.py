"""Methods of one name in several classes, where a call may be one of any of them.

A call that is to hand a tape to one of them hands it to whichever runs: all of them take it.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

from tapemigrate.flow.paths import names_class, path_of
from tapemigrate.rules.callgraph.callbacks import callers
from tapemigrate.rules.callgraph.callers import Callers, may_be_another
from tapemigrate.rules.callgraph.classes import classes
from tapemigrate.rules.callgraph.library_methods import LIBRARY_METHODS
from tapemigrate.rules.callgraph.meaning import meant_by
from tapemigrate.rules.callgraph.places import place_of
from tapemigrate.rules.finding import Unit
from tapemigrate.rules.project import CallSite, Project
from tapemigrate.source.named_lambdas import may_define
from tapemigrate.source.points import begin

# Objects of programs for these are not handed to programs for TensorFlow.
_OTHER_FRAMEWORKS = frozenset({"theano", "lasagne", "torch", "chainer", "mxnet", "jax", "autograd"})


@dataclass(slots=True)
class Namesakes:
    """Methods of one name, and the calls that mean at least one of them.

    ``guessed`` are those of the calls of which no class is known; ``unseen`` says what may call
    the methods besides, as they are. ``meant`` are the methods that a call may mean, where that
    follows from more than its name.
    """

    members: list[tuple[Unit, ast.FunctionDef]] = field(default_factory=list)
    calls: list[CallSite] = field(default_factory=list)
    guessed: list[CallSite] = field(default_factory=list)
    unseen: list[str] = field(default_factory=list)
    meant: dict[ast.Call, set[ast.FunctionDef]] = field(default_factory=dict)

    @property
    def functions(self) -> frozenset[ast.FunctionDef]:
        """The methods."""
        return frozenset(function for _, function in self.members)

    def admit(self, project: Project, unit: Unit, function: ast.FunctionDef) -> Callers | None:
        """Who calls one more of them; None where it is among them already."""
        if function in self.functions:
            return None
        self.members.append((unit, function))
        self.members.sort(key=lambda m: (m[0].filename, begin(m[1])))
        return callers(project, unit, function)


def namesakes(project: Project, unit: Unit, function: ast.FunctionDef) -> Namesakes | str:
    """``function`` and the methods that a call of it may mean as well, or why one takes no tape."""
    pool = _methods(project, function.name)
    found = Namesakes()
    pending = [(unit, function)]
    seen: set[ast.Call] = set()
    while pending:
        home, member = pending.pop()
        each = found.admit(project, home, member)
        if each is None:
            continue
        if each.problem:
            return each.problem
        unsure = {may_be_another(home, member.name, site) for site in each.unsure}
        found.unseen += [u for u in each.unseen if u not in unsure and u not in found.unseen]
        for site in (*each.calls, *each.unsure):
            if site.call in seen:
                continue
            seen.add(site.call)
            meant = {m: meant_by(project, u, m, site) for u, m in pool}
            sure = True in meant.values()
            if not sure and (function.name in LIBRARY_METHODS or _is_no_object(site)):
                found.unseen.append(may_be_another(unit, function.name, site))
                continue
            found.calls.append(site)
            if not sure:
                found.guessed.append(site)
            pending += [(u, m) for u, m in pool if meant[m] is not False]
    return _without_tape(project, unit, found, function.name) or found


def _without_tape(project: Project, home: Unit, found: Namesakes, name: str) -> str:
    """What else than a method a call may mean by that name, and would hand a tape to as well."""
    known = classes(project)
    own = {c.name for u, m in found.members if (c := project.class_of(u, m)) is not None}
    related = {each for n in own for each in (*known.extending(n), *known.above(n))}
    for unit in project.units.having(name):
        if name not in unit.text or _is_of_another(unit):
            continue
        for cls in unit.nodes(ast.ClassDef):
            if cls.name in related or (found.guessed and cls.name not in own):
                for stmt in cls.body:
                    if _is_no_method(stmt, name):
                        return f"`{name}` is no plain method in {place_of(home, unit, stmt)}"
    return ""


def _is_no_method(stmt: ast.stmt, name: str) -> bool:
    """Whether a statement of a class gives it a property or a coroutine of that name."""
    match stmt:
        case ast.FunctionDef(decorator_list=decorators):
            properties = (("property",), ("cached_property",), ("functools", ".cached_property"))
            return stmt.name == name and any(path_of(d) in properties for d in decorators)
        case ast.AsyncFunctionDef():
            return stmt.name == name
    return False


def _methods(project: Project, name: str) -> list[tuple[Unit, ast.FunctionDef]]:
    return [
        (unit, stmt)
        for unit in project.units.defining(name)
        if may_define(unit.text, name) and not _is_of_another(unit)
        for cls in unit.nodes(ast.ClassDef)
        for stmt in cls.body
        if isinstance(stmt, ast.FunctionDef) and stmt.name == name
    ]


def _is_no_object(site: CallSite) -> bool:
    """Whether the call is one of another framework's, or has the class in the object's place."""
    owner = site.call.func.value if isinstance(site.call.func, ast.Attribute) else None
    path = path_of(owner) if owner is not None else None
    return _is_of_another(site.unit) or (path is not None and names_class(path[-1]))


def _is_of_another(unit: Unit) -> bool:
    """Whether the file is written for another framework, and not for TensorFlow."""
    tops = unit.once(_tops)
    return bool(tops & _OTHER_FRAMEWORKS) and "tensorflow" not in tops


def _tops(unit: Unit) -> frozenset[str]:
    """The packages that the file imports from."""
    names = [alias.name for stmt in unit.nodes(ast.Import) for alias in stmt.names]
    names += [stmt.module or "" for stmt in unit.nodes(ast.ImportFrom) if not stmt.level]
    return frozenset(name.partition(".")[0] for name in names)
