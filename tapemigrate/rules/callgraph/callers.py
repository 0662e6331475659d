"""Who calls a function, and whether all of its callers are in sight."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field

from tapemigrate.flow.functions import NamedFunction
from tapemigrate.flow.paths import path_of
from tapemigrate.rules.callgraph.classes import PLAIN_BASES, bases, classes, is_of_library
from tapemigrate.rules.callgraph.imported import MOST_PACKAGES, leads_to
from tapemigrate.rules.callgraph.looked_up import looked_up
from tapemigrate.rules.callgraph.loose_modules import gone_over
from tapemigrate.rules.callgraph.meaning import Resolver
from tapemigrate.rules.callgraph.names_in_texts import by_another_name, named_in_text, replaced
from tapemigrate.rules.callgraph.places import place_of, steps_of
from tapemigrate.rules.callgraph.stars import brought_from
from tapemigrate.rules.finding import Unit
from tapemigrate.rules.indexes import bound_names
from tapemigrate.rules.project import CallSite, Mentions, Project
from tapemigrate.source.trees import walk

_SIGNATURES = frozenset({"signature", "getargspec", "getfullargspec"})
_PLAIN = frozenset({"staticmethod", "classmethod", "abstractmethod"})


@dataclass(slots=True)
class Callers:
    """The calls of one function.

    ``problem`` says why a parameter more would break some of them, ``unseen`` what may call the
    function besides, as it is. ``passed`` is where it is handed on as a value; ``mates``
    are functions of other names that a call may mean for that. ``unsure`` are calls of it or of
    another of its name, which stand among the unseen as well; ``overridden`` says where another one
    takes its place.
    """

    calls: list[CallSite] = field(default_factory=list)
    passed: list[tuple[Unit, ast.AST]] = field(default_factory=list)
    problem: str = ""
    unseen: list[str] = field(default_factory=list)
    unsure: list[CallSite] = field(default_factory=list)
    mates: list[tuple[Unit, ast.FunctionDef]] = field(default_factory=list)
    overridden: str = ""


def has_plain_decorators(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether what is called is the function as it stands."""
    return all(
        (path_of(each) or ("",))[-1].lstrip(".") in _PLAIN for each in function.decorator_list
    )


def named_callers(project: Project, unit: Unit, function: ast.FunctionDef) -> Callers:
    """Every call of ``function`` by its name in the files at hand."""
    found = Callers()
    if not has_plain_decorators(function):
        found.problem = f"`{function.name}` is decorated"
        return found
    if function.name == "__init__":
        return _constructions(project, unit, function, found)
    if is_called_by_python(function):
        found.problem = f"`{function.name}` is called by Python itself"
        return found
    resolver = Resolver(project, unit, function)
    method = project.class_of(unit, function) is not None
    inner = _is_inner(unit, function)
    found.problem = resolver.problem()
    if not inner:
        found.problem = found.problem or replaced(project, unit, function.name, method)
    if private := name_outside(project, unit, function):
        found.problem = found.problem or replaced(project, unit, private, True)
        found.unseen += _named_outside(project, unit, private)
    found.overridden = resolver.overridden()
    mentions = project.mentions(function.name)
    named = [*mentions.others, *((site.unit, site.call.func) for site in mentions.calls)]
    in_module = isinstance(unit.parents[function], ast.Module)
    asked = not in_module or any(
        isinstance(node, ast.Attribute) and resolver.means(user, node) is not True
        for user, node in named
    )
    found.unseen += by_another_name(project, unit, function.name, resolver.is_path, inner, asked)
    found.unseen += looked_up(project, unit, function)
    if in_module:
        found.unseen += gone_over(project, unit)
    for unit_, node in mentions.others:
        if resolver.means(unit_, node) is not False:
            found.passed.append((unit_, node))
            if _shows_parameters(unit_.parents[node]):
                where = place_of(unit, unit_, node)
                found.problem = found.problem or f"its parameters are looked at in {where}"
    for site in mentions.calls:
        meant = resolver.means(site.unit, site.call.func)
        if meant:
            found.calls.append(site)
        elif meant is None:
            found.unsure.append(site)
            found.unseen.append(may_be_another(unit, function.name, site))
    return found


def _shows_parameters(parent: ast.AST) -> bool:
    """``inspect.signature(loss)``, ``loss.__code__``: one more would be seen there."""
    if isinstance(parent, ast.Attribute):
        return parent.attr in ("__code__", "func_code", "__signature__")
    path = path_of(parent.func) if isinstance(parent, ast.Call) else None
    return path is not None and path[-1].lstrip(".") in _SIGNATURES


def is_called_by_python(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether it may be called where its name does not stand, as ``__call__`` is."""
    name = function.name
    return name.startswith("__") and name.endswith("__") and name != "__init__"


def _is_inner(unit: Unit, function: ast.AST) -> bool:
    """Whether it stands in another function, and is no method of a class there."""
    above = unit.parents.get(function)
    while above is not None and not isinstance(above, NamedFunction | ast.ClassDef):
        above = unit.parents.get(above)
    return isinstance(above, NamedFunction)


def name_outside(
    project: Project, unit: Unit, function: ast.FunctionDef | ast.AsyncFunctionDef
) -> str:
    """By what code outside of its class reaches a private method: ``_Net__loss``."""
    cls = project.class_of(unit, function)
    name = function.name
    if cls is None or not name.startswith("__") or name.endswith("__"):
        return ""
    return f"_{cls.name.lstrip('_')}{name}"


def _named_outside(project: Project, unit: Unit, private: str) -> Iterator[str]:
    mentions = project.mentions(private)
    for user, node in [*((c.unit, c.call) for c in mentions.calls), *mentions.others]:
        yield f"`{private}` is used in {place_of(unit, user, node)}"
    for user in project.units.having(private):
        yield from named_in_text(unit, user, private)


def may_be_another(home: Unit, name: str, site: CallSite) -> str:
    """That a call may be one of the method of that name in ``home``, or of some other."""
    where = place_of(home, site.unit, site.call)
    return f"the call in {where} may be one of `{name}`, or of another"


def _constructions(
    project: Project, unit: Unit, function: ast.FunctionDef, found: Callers
) -> Callers:
    """Where objects of the class are made: ``Class(…)``; its subclasses call as they like."""
    cls = unit.parents.get(function)
    if not isinstance(cls, ast.ClassDef) or isinstance(unit.parents.get(cls), ast.FunctionDef):
        found.problem = "`__init__` is called by Python itself"
        return found
    found.problem = replaced(project, unit, cls.name)
    if cls.decorator_list or cls.keywords:
        found.problem = f"`{cls.name}` is made by more than its own `__init__`"
    for each in sorted(classes(project).extending(cls.name)):
        found.unseen.append(f"`{each}` extends `{cls.name}`")
    if any(makes_its_like(node) for node in walk(cls)):
        found.unseen.append(f"`{cls.name}` makes objects of its own class, whichever that is")
    found.unseen += by_another_name(
        project, unit, cls.name, lambda user, path: leads_to(project, path, user, unit, cls.name)
    )
    found.unseen += looked_up(project, unit, function)
    mentions = project.mentions(cls.name)
    for unit_, node in mentions.others:
        parent = unit_.parents.get(node)
        meant = is_class_of(project, unit, cls, unit_, node)
        if not isinstance(parent, ast.ClassDef) and meant is not False:
            where = place_of(unit, unit_, node)
            found.unseen.append(f"`{cls.name}` is passed on as a value in {where}")
    for site in mentions.calls:
        meant = is_class_of(project, unit, cls, site.unit, site.call.func)
        if meant:
            found.calls.append(site)
        elif meant is None:
            found.unsure.append(site)
            found.unseen.append(may_be_another(unit, cls.name, site))
    return found


def makes_its_like(node: ast.AST) -> bool:
    """``cls(…)``, ``type(self)(…)``, ``self.__class__(…)``."""
    func = node.func if isinstance(node, ast.Call) else None
    if isinstance(func, ast.Call):
        return isinstance(func.func, ast.Name) and func.func.id == "type"
    if isinstance(func, ast.Attribute):
        return func.attr == "__class__"
    return isinstance(func, ast.Name) and func.id == "cls"


def is_class_of(
    project: Project, home: Unit, cls: ast.ClassDef, unit: Unit, node: ast.AST
) -> bool | None:
    """Whether the node, which bears the name of the class, means it; None: it cannot be told."""
    path = unit.names.qualified(node) if isinstance(node, ast.expr) else None
    if path is None and isinstance(node, ast.Name):
        if unit is home:
            return project.binder_of(unit, node) is project.scope_of(home, cls)
        path = brought_from(project, unit, node.id)
    return path is not None and leads_to(project, path, unit, home, cls.name)


def of_class(project: Project, unit: Unit, cls: ast.ClassDef) -> Mentions:
    """Where a class of ``unit`` is called, or meant in any other way, and not a namesake of it.

    A namesake that extends it counts as well: its objects are made by the same constructor.
    """
    known = project.once(_known_mentions)
    if cls not in known:
        known[cls] = _of_class(project, unit, cls)
    return known[cls]


def _known_mentions(_: Project) -> dict[ast.ClassDef, Mentions]:
    return {}


def _of_class(project: Project, unit: Unit, cls: ast.ClassDef) -> Mentions:
    found = project.mentions(cls.name)
    if cls.name in classes(project).extending(cls.name):
        return found
    return Mentions(
        [s for s in found.calls if not _is_namesake(project, unit, cls, s.unit, s.call.func)],
        [(u, n) for u, n in found.others if not _is_namesake(project, unit, cls, u, n)],
    )


def constructions(project: Project, unit: Unit, cls: ast.ClassDef) -> list[CallSite]:
    """The calls that may run the constructor of ``cls``: of it, of classes that have none of
    their own, and through ``super()``.
    """
    found = list(of_class(project, unit, cls).calls)
    known = classes(project)
    for name in sorted(known.extending(cls.name) - {cls.name}):
        if not all(has_constructor(each) for _, each in known.named(name)):
            found += project.mentions(name).calls
    inherited = known.extending(cls.name)
    found += [
        site
        for site in (project.mentions("__init__").calls if inherited else ())
        if (around := project.class_of(site.unit, project.scope_of(site.unit, site.call)))
        is not None
        and around.name in inherited
    ]
    return found


def has_constructor(cls: ast.ClassDef) -> bool:
    """Whether the class has a constructor of its own."""
    return any(isinstance(n, ast.FunctionDef) and n.name == "__init__" for n in cls.body)


def _is_namesake(
    project: Project, home: Unit, cls: ast.ClassDef, unit: Unit, node: ast.AST
) -> bool:
    """Whether the node certainly means another class of that name, or a library's."""
    path = unit.names.qualified(node) if isinstance(node, ast.expr) else None
    if is_of_library(path) and path is not None:
        return path.split(".")[0] not in steps_of(home.filename)
    if path is None and unit is not home and isinstance(node, ast.Name):
        if cls.name in unit.once(_own_classes):
            return True
        path = brought_from(project, unit, node.id)
    return path is not None and leads_to(project, path, unit, home, cls.name) is False


def _own_classes(unit: Unit) -> frozenset[str]:
    """The names that mean nothing but a class of the file, which makes objects of its own."""
    handed = {a.arg for a in unit.nodes(ast.arg)}
    imported = {a.asname or a.name for a in unit.nodes(ast.alias)}
    if "*" in imported:
        return frozenset()
    named: defaultdict[str, list[ast.ClassDef]] = defaultdict(list)
    for cls in unit.nodes(ast.ClassDef):
        named[cls.name].append(cls)
    others = {*unit.once(bound_names), *handed, *imported}
    return frozenset(
        name
        for name, own in named.items()
        if name not in others and len(own) == 1 and _makes_its_own(unit, own[0])
    )


def _makes_its_own(unit: Unit, cls: ast.ClassDef) -> bool:
    if cls not in unit.tree.body or any(getattr(s, "name", "") == "__new__" for s in cls.body):
        return False
    return all(
        base in PLAIN_BASES or is_of_library(unit.names.qualified(node))
        for base, node in zip(bases(cls), cls.bases, strict=True)
    )


def anchors(
    project: Project, unit: Unit, function: ast.FunctionDef | ast.AsyncFunctionDef
) -> frozenset[str]:
    """The names one of which a file has to hold in order to call ``function``."""
    cls = project.class_of(unit, function)
    *folders, module = steps_of(unit.filename)
    own = cls is None or function.name == "__init__"
    # A package that hands the name on may lie above.
    above = folders[-MOST_PACKAGES:]
    found = {module, *above} if own or cls is None else {cls.name}
    return frozenset(found - {"", "__init__"})
