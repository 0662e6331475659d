"""Whether a name or an attribute, at some place, means one function."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from functools import cached_property

from tapemigrate.flow.functions import Function, shared_names
from tapemigrate.flow.paths import Path, is_super, names_class, path_of
from tapemigrate.rules.callgraph.arguments import takes
from tapemigrate.rules.callgraph.classes import PLAIN_BASES, classes, is_of_library
from tapemigrate.rules.callgraph.decorated import runs_as_written
from tapemigrate.rules.callgraph.descent import descends, means_class
from tapemigrate.rules.callgraph.imported import leads_to
from tapemigrate.rules.callgraph.loose_modules import is_loose
from tapemigrate.rules.callgraph.places import import_path
from tapemigrate.rules.callgraph.rebound import is_rebound_before, may_replace
from tapemigrate.rules.callgraph.stars import bound_at_top, brings, star_statements
from tapemigrate.rules.finding import Unit
from tapemigrate.rules.indexes import values_by_path
from tapemigrate.rules.project import CallSite, Mentions, Project
from tapemigrate.source.points import begin
from tapemigrate.source.trees import top_level

# These tell what an object has that its class has not.
_HOOKS = ("__getattr__", "__getattribute__")


class Resolver:
    """Whether a name, at some place, means one function."""

    def __init__(self, project: Project, unit: Unit, function: ast.FunctionDef) -> None:
        self._project = project
        self._unit = unit
        self._function = function
        self._classes = classes(project)
        holder = unit.parents.get(function)
        self._cls = holder if isinstance(holder, ast.ClassDef) else None
        self._enclosing = self._enclosing_function()

    def _enclosing_function(self) -> Function | None:
        node = self._unit.parents.get(self._function)
        while node is not None:
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
                return node
            node = self._unit.parents.get(node)
        return None

    @cached_property
    def _is_replaced(self) -> bool:
        """Whether its name is given another function, at times, in its scope or out of another."""
        unit, name = self._unit, self._function.name
        for value in unit.once(values_by_path).get((name,), ()):
            scope = self._project.scope_of(unit, unit.parents[value])
            here = scope is (self._enclosing or unit.tree) or name in shared_names(scope)
            if here and may_replace(value, name):
                return True
        return False

    def problem(self) -> str:
        """What makes the function one of several of its name."""
        name = self._function.name
        if self._cls is None:
            holder = self._enclosing or self._unit.tree
            same = [
                n
                for n in self._unit.definitions
                if isinstance(n, ast.FunctionDef)
                and n.name == name
                and self._project.scope_of(self._unit, n) is holder
                and not isinstance(self._unit.parents.get(n), ast.ClassDef)
            ]
            return f"`{name}` is defined more than once" if len(same) > 1 else ""
        return ""

    def overridden(self) -> str:
        """Which other class has a method that may be run in place of this one, or this of that."""
        name = self._function.name
        if self._cls is None:
            return ""
        for cls in self._project.family(self._unit, self._cls):
            for stmt in cls.body:
                if isinstance(stmt, ast.FunctionDef) and stmt.name == name:
                    if stmt is not self._function:
                        return f"`{name}` is overridden in another class"
        related = {*self._classes.extending(self._cls.name), *self._classes.above(self._cls.name)}
        for each in sorted(related):
            for unit, cls in self._classes.named(each):
                if any(isinstance(n, ast.FunctionDef) and n.name == name for n in cls.body):
                    where = "another class" if unit is self._unit else unit.filename
                    return f"`{name}` is overridden in {where}"
        return ""

    def is_called_from_outside(self) -> bool:
        """Whether a library may call the method, whose class extends one of that library."""
        if self._cls is None:
            return False
        known = {c.name for c in self._project.family(self._unit, self._cls)}
        for cls in self._project.effects(self._unit).lineage(self._cls):
            for base in cls.bases:
                path = path_of(base)
                last = path[-1].lstrip(".") if path else ""
                if last not in known and last not in PLAIN_BASES:
                    return True
        return False

    def means(self, unit: Unit, node: ast.AST) -> bool | None:
        """None: it cannot be told."""
        key = (self._function, node)
        known = self._project.once(_known)
        if key not in known:
            meant = self._means(unit, node)
            call = unit.parents.get(node)
            if meant is None and isinstance(call, ast.Call) and call.func is node:
                meant = None if takes(self._function, call, self._cls is not None) else False
            known[key] = meant
        return known[key]

    def _means(self, unit: Unit, node: ast.AST) -> bool | None:
        if isinstance(node, ast.Name):
            meant = self._name(unit, node)
            if self._is_doubtful(unit, node, meant):
                return None
            return None if meant and self._is_replaced else meant
        if isinstance(node, ast.Attribute):
            return self._attribute(unit, node)
        return False

    def _name(self, unit: Unit, node: ast.Name) -> bool | None:
        if self._cls is not None:
            return False
        binder = self._project.binder_of(unit, node)
        if unit is self._unit:
            if binder is not (self._enclosing or unit.tree):
                return False
            if self._enclosing is not None:
                return True
            path = unit.names.qualified(node)
            if path is None and isinstance(self._project.scope_of(unit, node), ast.Module):
                return not is_rebound_before(unit, node)
            return path is None
        if self._enclosing is not None:
            return False
        path = unit.names.qualified(node)
        kind = unit.names.reference_kind(node)
        if kind == "either":
            return None
        if path is not None:
            meant = self.is_path(unit, path)
            # The file itself binds it anew after it has imported it.
            return None if meant and kind == "uncertain" else meant
        if binder is not unit.tree:
            return False
        if any(isinstance(n, ast.FunctionDef) and n.name == node.id for n in top_level(unit.tree)):
            return False
        stars = {self.is_path(unit, import_path(n, node.id)) for n in star_statements(unit)}
        return True if True in stars else None if None in stars else False

    def _is_doubtful(self, unit: Unit, node: ast.Name, meant: bool | None) -> bool:
        """Whether a star import gives a name of the module another meaning than ``meant``.

        That is one that comes after what binds the name, or one of several that bring it.
        """
        stars = star_statements(unit) if self._cls is None and self._enclosing is None else []
        if not stars or self._project.binder_of(unit, node) is not unit.tree:
            return False
        bound = unit.once(bound_at_top).get(node.id)
        later = [each for each in stars if bound is None or begin(each) > bound]
        meanings = {
            self.is_path(unit, import_path(each, node.id))
            for each in later
            if brings(self._project, unit, import_path(each, ""), node.id)
        }
        return bool(meanings - {meant})

    def is_path(self, user: Unit, path: str) -> bool | None:
        """Whether an import path ends in this file's module, or its package's, and this name."""
        if self._cls is not None:
            return path.endswith(f"{self._cls.name}.{self._function.name}")
        return leads_to(self._project, path, user, self._unit, self._function.name)

    def _attribute(self, unit: Unit, node: ast.Attribute) -> bool | None:
        path = unit.names.qualified(node)
        if path is not None and self._cls is None:
            either = unit.names.reference_kind(node) == "either"
            return None if either else self.is_path(unit, path)
        if self._cls is None and self._enclosing is None:
            if isinstance(node.value, ast.Name):
                starred = [f"{s}.{node.attr}" for s in unit.names.starred(node.value)]
                if any(self.is_path(unit, each) is not False for each in starred):
                    return None
            return None if self._may_be_of_module(unit, node.value) else False
        if self._cls is None or self._enclosing is not None:
            return False
        if path is not None or isinstance(node.value, ast.Name):
            # ``Base.method(self, x)``
            named = self._classes.named(path.split(".")[-2] if path else _last(node.value))
            verdicts = self._of_classes(unit, node.value, named)
            if True in verdicts and not runs_as_written(self._function):
                return None
            if verdicts or path is not None:
                return verdicts.pop() if len(verdicts) == 1 else None if verdicts else False
        owner = self._project.class_of(unit, self._project.scope_of(unit, node))
        if owner is not None and _is_self(node.value):
            return self._own(unit, owner, isinstance(node.value, ast.Call))
        return self._made(unit, node.value)

    def _may_be_of_module(self, unit: Unit, owner: ast.expr) -> bool:
        """Whether ``owner`` may be the module of the function, which is no object of a class."""
        if not is_loose(self._project, self._unit):
            return False
        return not _is_self(owner) and constructors(unit, owner) is None

    def _made(self, unit: Unit, owner: ast.expr) -> bool | None:
        """A method called on what the file makes as ``owner``: the same wherever it stands."""
        key = (self._function, unit.tree, path_of(owner) or owner)
        known = self._project.once(_known_makers)
        if key not in known:
            made = constructors(unit, owner)
            found = {self._instance(unit, maker) for maker in made or ()}
            known[key] = found.pop() if len(found) == 1 else None
        return known[key]

    def _own(self, unit: Unit, owner: ast.ClassDef, above: bool) -> bool | None:
        """A method of ``owner`` called on ``self``, or on ``super()``: ``above``."""
        assert self._cls is not None
        if above and owner is self._cls:
            return False
        method = self._project.effects(unit).method(owner, self._function.name)
        if method is self._function:
            return True
        if not above and self._cls.name in self._classes.extending(owner.name):
            return True if method is None and self._is_only_one_below(unit, owner) else None
        below = self._classes.extending(self._cls.name)
        apart = owner.name == self._cls.name and not self._classes.joins_namesakes(owner.name)
        if owner.name not in below and not apart and self._classes.extending(owner.name) & below:
            return None  # on objects of a class that extends both
        if method is not None and not above:
            return False
        if owner.name in below:
            return descends(self._project, unit, owner, self._unit, self._cls) or None
        return None if self._classes.has_unseen_bases(unit, owner) else False

    def _is_only_one_below(self, unit: Unit, owner: ast.ClassDef) -> bool:
        """Whether objects that ``owner`` calls the method on have this one, or none at all."""
        known = self._classes
        below = known.extending(owner.name) | {owner.name}
        related = {name for each in below for name in known.above(each)} | below
        found = [each for name in sorted(related) for each in known.named(name)]
        if any(True for each in found for _ in known.unseen_bases(*each)):
            return False
        members = [(cls, stmt) for _, cls in found for stmt in cls.body]
        names = {self._function.name, *_HOOKS}
        given = [cls for cls, stmt in members if getattr(stmt, "name", "") in names]
        return given == [self._cls] and self._project.scope_of(unit, owner) is unit.tree

    def _instance(self, unit: Unit, maker: ast.expr) -> bool | None:
        """A method called on an object of the class that ``maker`` names in ``unit``."""
        assert self._cls is not None
        qualified = unit.names.qualified(maker)
        name = _last(maker) if qualified is None else qualified.split(".")[-1]
        found = self._classes.named(name)
        own = [each for each in found if each[0] is unit] if qualified is None else []
        if not found:
            return False if is_of_library(qualified) else None
        verdicts = self._of_classes(unit, maker, own or found)
        return verdicts.pop() if len(verdicts) == 1 else None

    def _of_classes(
        self, unit: Unit, node: ast.expr, named: Iterable[tuple[Unit, ast.ClassDef]]
    ) -> set[bool | None]:
        """Whether the method is that of one of the classes, as far as ``node`` may mean them."""
        meant = [(means_class(self._project, unit, node, *each), each) for each in named]
        return {self._is_one(*each) if sure else None for sure, each in meant if sure is not False}

    def _is_one(self, home: Unit, cls: ast.ClassDef) -> bool | None:
        assert self._cls is not None
        if cls is self._cls:
            return True
        if cls.name in self._classes.extending(self._cls.name):
            return descends(self._project, home, cls, self._unit, self._cls) or None
        effects = self._project.effects(home)
        if effects.method(cls, self._function.name) is not None:
            return False
        if any(effects.method(cls, hook) is not None for hook in _HOOKS):
            return None  # ``return getattr(self.net, name)``
        return None if self._classes.has_unseen_bases(home, cls) else False


def _known(_: Project) -> dict[tuple[ast.AST, ast.AST], bool | None]:
    return {}


def _known_makers(_: Project) -> dict[tuple[ast.AST, ast.AST, Path | ast.AST], bool | None]:
    return {}


def is_called_from_outside(project: Project, unit: Unit, function: ast.FunctionDef) -> bool:
    """Whether a library may call the method, whose class extends one of that library."""
    return Resolver(project, unit, function).is_called_from_outside()


def meant_by(
    project: Project, unit: Unit, function: ast.FunctionDef, site: CallSite
) -> bool | None:
    """Whether the call is one of ``function``, which stands in ``unit``; None: it may be."""
    return Resolver(project, unit, function).means(site.unit, site.call.func)


def named_mentions(
    project: Project, unit: Unit, function: ast.FunctionDef | ast.AsyncFunctionDef
) -> Mentions:
    """Where the name of ``function`` means it, or may, and no other one."""
    found = project.mentions(function.name)
    if isinstance(function, ast.AsyncFunctionDef):
        return found
    meant = Resolver(project, unit, function).means
    return Mentions(
        [c for c in found.calls if meant(c.unit, c.call.func) is not False],
        [(u, n) for u, n in found.others if meant(u, n) is not False],
    )


def constructors(unit: Unit, owner: ast.expr) -> list[ast.expr] | None:
    """What the file calls to make what ``owner`` names, if that is classes; None if it is not."""
    if isinstance(owner, ast.Call):
        return [owner.func] if names_class(_last(owner.func)) else None
    wanted = path_of(owner)
    if wanted is None:
        return None
    found: list[ast.expr] = []
    for value in unit.once(values_by_path).get(wanted, ()):
        if not isinstance(value, ast.Call) or not names_class(_last(value.func)):
            return None
        found.append(value.func)
    return found or None


def may_make(unit: Unit, owner: ast.expr) -> list[ast.expr]:
    """What the file may call to make what ``owner`` names, as far as that shows: classes."""
    values, met, found = [owner], set[Path](), list[ast.expr]()
    for value in values:  # which grows meanwhile
        path = path_of(value)
        if isinstance(value, ast.Call) and names_class(_last(value.func)):
            found.append(value.func)
        elif path is not None and path not in met:
            met.add(path)
            values += unit.once(values_by_path).get(path, ())
    return found


def _is_self(node: ast.expr) -> bool:
    if isinstance(node, ast.Name):
        return node.id in ("self", "cls")
    return is_super(node)


def _last(node: ast.expr) -> str:
    path = path_of(node)
    return path[-1].lstrip(".") if path else ""
