"""Who calls a function that is handed on as a value: where it arrives, it goes by another name.

It is followed into parameters of functions and classes at hand, and into attributes of objects.
What else may be put there has to be in sight as well: a call there would be one of that.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import TypeGuard

from tapemigrate.flow.functions import is_static, parameters
from tapemigrate.flow.paths import path_of
from tapemigrate.model import Handed
from tapemigrate.rules.callgraph.arguments import argument_for
from tapemigrate.rules.callgraph.callers import Callers, is_class_of, named_callers
from tapemigrate.rules.callgraph.classes import bases, classes, is_of_library
from tapemigrate.rules.callgraph.meaning import Resolver, constructors, named_mentions
from tapemigrate.rules.callgraph.names_in_texts import named_in_text, set_by_text
from tapemigrate.rules.callgraph.places import place_of, stem
from tapemigrate.rules.callgraph.set_without_name import SETTING, set_without_name
from tapemigrate.rules.finding import Unit
from tapemigrate.rules.project import CallSite, Mentions, Project
from tapemigrate.source.trees import arguments_of, walk

# Methods by which a class decides itself what its attributes are.
_HOOKS = frozenset({"__getattr__", "__getattribute__", "__setattr__", "__new__"})
# What reaches the names of a scope, or the attributes of an object, by no name of theirs.
_UNNAMED = frozenset({"locals", "vars", "setattr", "delattr", "exec", "eval"})


@dataclass(slots=True)
class Arrival:
    """What becomes of a function that is handed on: the calls of it, and what else may call it.

    ``mates`` are other functions that some of the calls may mean instead.
    """

    calls: list[CallSite] = field(default_factory=list)
    unseen: list[str] = field(default_factory=list)
    mates: list[tuple[Unit, ast.FunctionDef]] = field(default_factory=list)


class _OwnCall(ast.Call):
    func: ast.Attribute


class _Lost(Exception):
    """The function cannot be followed any further."""


def callers(project: Project, unit: Unit, function: ast.FunctionDef) -> Callers:
    """Every call of ``function`` in the files at hand, by whatever name. Nothing may change it."""
    known = project.once(_known_callers)
    if function not in known:
        known[function] = _callers(project, unit, function)
    return known[function]


def _known_callers(_: Project) -> dict[ast.AST, Callers]:
    return {}


def _callers(project: Project, unit: Unit, function: ast.FunctionDef) -> Callers:
    found = named_callers(project, unit, function)
    for there, node in found.passed:
        arrival = _follow(project, unit, function, there, node)
        if isinstance(arrival, str):
            where = place_of(unit, there, node)
            found.unseen.append(f"`{function.name}` is passed on as a value in {where}{arrival}")
        else:
            known = {site.call for site in found.calls}
            found.calls += [site for site in arrival.calls if site.call not in known]
            found.unseen += [reason for reason in arrival.unseen if reason not in found.unseen]
            found.mates += [mate for mate in arrival.mates if mate not in found.mates]
    return found


def mentions_of(
    project: Project, unit: Unit, function: ast.FunctionDef | ast.AsyncFunctionDef
) -> Mentions:
    """Where ``function`` may be called, or be meant in any other way, and no other one is."""
    found = named_mentions(project, unit, function)
    if isinstance(function, ast.AsyncFunctionDef):
        return found
    calls, others = list(found.calls), []
    for there, node in found.others:
        arrival = _follow(project, unit, function, there, node)
        if isinstance(arrival, str) or arrival.unseen:
            others.append((there, node))
        if not isinstance(arrival, str):
            known = {site.call for site in calls}
            calls += [site for site in arrival.calls if site.call not in known]
    return Mentions(calls, others)


def receivers(project: Project, unit: Unit, names: frozenset[str]) -> frozenset[Handed]:
    """What in ``unit`` functions of these names are handed to, and kept as, as values.

    Other files may hand something else to those, or use what is kept.
    """
    found: set[Handed] = set()
    for name in names:
        for _, node in project.mentions(name).others:
            callee = _receiver(project, unit, node)
            if callee is not None:
                last = (path_of(callee) or ("",))[-1].lstrip(".")
                own = bool(project.effects(unit).functions(last))
                anchor = stem(unit.filename) if own else last
                found.add(Handed(last, frozenset({anchor}), followed=True))
    made = [cls for cls in unit.nodes(ast.ClassDef) if cls.name in names]
    for kept in {a for cls in made for a in _called_attributes(cls)}:
        found.add(Handed(kept, frozenset(), followed=True))
        for cls in unit.nodes(ast.ClassDef):
            # Whether another class that keeps such a function is made anywhere.
            if kept in _called_attributes(cls):
                found.add(Handed(cls.name, frozenset({cls.name}), followed=True))
    return frozenset(found)


def _called_attributes(cls: ast.ClassDef) -> frozenset[str]:
    """The attributes that methods of the class are given, and that others of them call."""
    called = {c.func.attr for c in walk(cls) if _is_own_call(c)}
    methods = (method for method in cls.body if isinstance(method, ast.FunctionDef))
    kept = {attribute for method in methods for attribute in _kept_by(method)} if called else set()
    return frozenset(called & kept)


def _receiver(project: Project, unit: Unit, node: ast.AST) -> ast.expr | None:
    """The function or class that ``node``, the name of a function, is handed to in a call.

    Only those whose other uses are looked for: classes, and functions of the same file.
    """
    parent = unit.parents[node]
    call = unit.parents[parent] if isinstance(parent, ast.keyword) else parent
    if not isinstance(call, ast.Call) or not isinstance(node, ast.Name):
        return None
    path, qualified = path_of(call.func), unit.names.qualified(call.func)
    effects = project.effects(unit)
    if path is None or is_of_library(qualified) or call.func is node:
        return None
    if not effects.functions(node.id) and unit.names.qualified(node) is None:
        return None
    last = path[-1].lstrip(".")
    if qualified is None and len(path) > 1:
        return None
    own = qualified is None and bool(effects.functions(last))
    return call.func if own or last != last.lower() else None


def _follow(
    project: Project, home: Unit, function: ast.FunctionDef, unit: Unit, node: ast.AST
) -> Arrival | str:
    """Where the function, for which ``node`` stands, is called; or what hides that, to be added."""
    key = (function, node)
    known = project.once(_known_arrivals)
    if key not in known:
        follower = _Follower(project, home, function)
        try:
            known[key] = follower.follow(unit, node)
        except _Lost as lost:
            known[key] = str(lost)
    return known[key]


def _known_arrivals(_: Project) -> dict[tuple[ast.AST, ast.AST], Arrival | str]:
    return {}


class _Follower:
    """Follows one function from one place at which it is handed on."""

    def __init__(self, project: Project, home: Unit, function: ast.FunctionDef) -> None:
        self._project = project
        self._home = home
        self._function = function
        self._means = Resolver(project, home, function).means
        self._found = Arrival()
        self._attributes: dict[tuple[ast.ClassDef, str], Unit] = {}
        self._kept: set[ast.Assign] = set()

    def follow(self, unit: Unit, node: ast.AST) -> Arrival:
        """Where the function is called then.

        Raises:
            _Lost: with what hides that.
        """
        # Of a bound method, the object is among what it is called with.
        if self._project.class_of(self._home, self._function) is not None:
            raise _Lost
        callee = _receiver(self._project, unit, node)
        if callee is None:
            raise _Lost
        called = (path_of(callee) or ("",))[-1].lstrip(".")
        self._parameter(unit, node, *self._callee(unit, called, callee))
        for (cls, name), home in self._attributes.items():
            self._attribute(home, cls, name)
        unread = self._project.unread({called, *(name for _, name in self._attributes)})
        if unread:
            raise _Lost(f", and {unread} may put another in its place")
        return self._found

    def _where(self, unit: Unit, node: ast.AST) -> str:
        return place_of(self._home, unit, node)

    def _callee(self, unit: Unit, name: str, callee: ast.expr) -> tuple[Unit, ast.FunctionDef]:
        """The one function, or constructor, that a call means."""
        made = [
            (home, cls)
            for home, cls in classes(self._project).named(name)
            if is_class_of(self._project, home, cls, unit, callee) is not False
        ]
        found = [(h, f) for h, c in made for f in c.body if isinstance(f, ast.FunctionDef)]
        found = [(h, f) for h, f in found if f.name == "__init__"]
        for function in self._project.effects(unit).functions(name) if not made else ():
            if isinstance(function, ast.FunctionDef):
                meant = Resolver(self._project, unit, function).means(unit, callee)
                found += [(unit, function)] if meant is not False else []
        if len(found) != 1 or len(made) > 1:
            raise _Lost
        return found[0]

    # -- where it arrives -----------------------------------------------------------------------

    def _parameter(self, there: Unit, node: ast.AST, unit: Unit, function: ast.FunctionDef) -> None:
        """What callers hand in as ``node`` is handed in, and what the function does with it."""
        found = named_callers(self._project, unit, function)
        passed = [f"`{function.name}` is itself passed on as a value"] if found.passed else []
        for reason in filter(None, [found.problem, *found.unseen, *passed]):
            raise _Lost(f", and another may come in its place: {reason}")
        bound = _is_bound(unit, function)
        names = [
            a.arg
            for a in parameters(function.args)
            for site in found.calls
            if argument_for(site.call, function, a.arg, bound) is node
        ]
        if len(names) != 1:
            raise _Lost
        name = names[0]
        for site in found.calls:
            value = argument_for(site.call, function, name, bound)
            if value is None:
                where = self._where(site.unit, site.call)
                raise _Lost(f", and what is handed in for it in {where} is not seen")
            given = arguments_of(site.call)
            self._value(site.unit if any(value is g for g in given) else unit, value)
        for part in (n for stmt in function.body for n in walk(stmt)):
            if _binds(part, name) or (isinstance(part, ast.Name) and part.id in _UNNAMED):
                raise _Lost(f", and `{name}` may be another in {self._where(unit, part)}")
            if isinstance(part, ast.Name) and part.id == name:
                self._use(unit, part)

    def _value(self, unit: Unit, value: ast.expr) -> None:
        """``value`` may stand where the function does."""
        if isinstance(value, ast.Constant) and value.value is None:
            return
        if isinstance(value, ast.Name) and _is_meant(
            self._project, self._home, self._function, unit, value
        ):
            return
        mate = _function_meant(self._project, unit, value)
        if mate is not None:
            self._found.mates.append(mate)
        else:
            text = f"`{ast.unparse(value)}`" if path_of(value) is not None else "something else"
            where = self._where(unit, value)
            raise _Lost(f", and {text} may be called in its place, as {where} has it")

    def _use(self, unit: Unit, node: ast.AST) -> None:
        """What becomes of the function where ``node`` stands for it."""
        parent = unit.parents[node]
        if isinstance(parent, ast.Call) and parent.func is node:
            self._found.calls.append(CallSite(unit, parent))
        elif isinstance(parent, ast.Assign) and isinstance(node, ast.Name):
            for target in parent.targets:
                cls = self._project.class_of(unit, self._project.scope_of(unit, target))
                if (
                    cls is None
                    or not isinstance(target, ast.Attribute)
                    or not _is_self(target.value)
                ):
                    raise _Lost(f", and kept under another name in {self._where(unit, parent)}")
                self._attributes[cls, target.attr] = unit
            self._kept.add(parent)
        elif not _is_asked_about(parent, node):
            raise _Lost(f", and what becomes of it in {self._where(unit, node)} is not seen")

    # -- attributes -----------------------------------------------------------------------------

    def _attribute(self, home: Unit, holder: ast.ClassDef, name: str) -> None:
        """What is put into an attribute, and what is done with it, in all files."""
        family = self._family(holder, name)
        if reason := set_by_text(self._project, self._home, name):
            raise _Lost(f", and {reason}")
        if not any(_is_own_call(n) and n.func.attr == name for n in walk(holder)):
            raise _Lost(f", and kept as `{name}` of `{holder.name}`, which does not call it itself")
        for unit in self._project.units.having(name, *SETTING):
            self._found.unseen += named_in_text(self._home, unit, name)
            for node in unit.nodes(ast.Attribute):
                if node.attr == name:
                    self._touched(home, unit, node, self._is_owned(unit, node.value, family))
            for owner in set_without_name(unit):
                if self._is_owned(unit, owner, family) is not False:
                    raise _Lost(f", and {self._where(unit, owner)} may put another in its place")

    def _touched(self, home: Unit, unit: Unit, node: ast.Attribute, owned: bool | None) -> None:
        """An attribute of that name: of an object at hand, of another one, or who knows."""
        where = self._where(unit, node)
        if isinstance(node.ctx, ast.Load):
            if owned:
                self._use(unit, node)
            elif owned is None:
                shown = f"`{ast.unparse(node)}` in {where}"
                self._found.unseen.append(f"{shown} may be `{self._function.name}`")
            elif _is_self(node.value) and unit is home:
                self._unmade(unit, node)
        elif owned is not False:
            stmt = unit.parents[node]
            if not isinstance(stmt, ast.Assign) or node not in stmt.targets:
                raise _Lost(f", and `{ast.unparse(node)}` is set anew in {where}")
            if stmt not in self._kept:
                self._value(unit, stmt.value)

    def _family(self, holder: ast.ClassDef, attribute: str) -> frozenset[str]:
        """The names of the classes that share the attribute."""
        known = classes(self._project)
        names, pending = set[str](), [holder.name]
        while pending:
            name = pending.pop()
            if name in names or not known.named(name):
                continue
            names.add(name)
            pending += known.extending(name)
            for unit, cls in known.named(name):
                pending += bases(cls)
                where = self._where(unit, cls)
                if cls.decorator_list or cls.keywords or known.has_unseen_bases(unit, cls):
                    raise _Lost(f", and not all of `{name}` in {where} is seen")
                for node in walk(cls):
                    if unit.parents[node] is cls and _gives(node, attribute):
                        raise _Lost(f", and `{name}` in {where} has its own `{attribute}`")
                    called = node.id if isinstance(node, ast.Name) else getattr(node, "attr", "")
                    hook = isinstance(node, ast.FunctionDef) and node.name in _HOOKS
                    if hook or called in _UNNAMED or called == "__dict__":
                        raise _Lost(f", and {self._where(unit, node)} may put another in its place")
        return frozenset(names)

    def _is_owned(self, unit: Unit, owner: ast.expr, family: frozenset[str]) -> bool | None:
        """Whether ``owner`` is an object, or a class, of the family; None: it cannot be told."""
        path = path_of(owner)
        if path is not None and path[-1].lstrip(".") in family:
            return True
        if unit.names.qualified(owner) is not None:
            return False
        known = classes(self._project)
        if _is_self(owner):
            cls = self._project.class_of(unit, self._project.scope_of(unit, owner))
            if cls is not None:
                return cls.name in family or (None if known.has_unseen_bases(unit, cls) else False)
        made = constructors(unit, owner)
        if made is None:
            return None
        verdicts = set[bool | None]()
        for maker in made:
            qualified = unit.names.qualified(maker)
            name = (path_of(maker) or ("",))[-1].lstrip(".")
            name = name if qualified is None else qualified.rpartition(".")[2]
            other = known.named(name) or is_of_library(qualified)
            verdicts.add(True if name in family else False if other else None)
        return verdicts.pop() if len(verdicts) == 1 else None

    def _unmade(self, unit: Unit, node: ast.Attribute) -> None:
        """A class of the same file that nobody makes may be made with the function as well."""
        cls = self._project.class_of(unit, self._project.scope_of(unit, node))
        if cls is None or not _is_own_call(unit.parents[node]):
            return
        for method in cls.body:
            if _keeps(method, node.attr):
                if not named_callers(self._project, unit, method).calls:
                    where = self._where(unit, node)
                    shown = f"`{self._function.name}` in {where}"
                    self._found.unseen.append(
                        f"`{cls.name}`, which nothing here makes, may call {shown}"
                    )
                return


def _is_meant(
    project: Project, home: Unit, function: ast.FunctionDef, unit: Unit, name: ast.Name
) -> bool:
    """Whether the name means the function, and nothing else that the scopes around bind."""
    if name.id != function.name and unit.names.qualified(name) is None:
        return False
    scope: ast.AST = project.scope_of(unit, name)
    while not isinstance(scope, ast.Module):
        if any(_binds(n, name.id) for n in walk(scope) if n is not function):
            return False
        scope = project.scope_of(unit, scope)
    stored = (n for n in unit.nodes(ast.Name) if _binds(n, name.id))
    if any(project.scope_of(unit, n) is scope for n in stored):
        return False
    return Resolver(project, home, function).means(unit, name) is True


def _function_meant(
    project: Project, unit: Unit, value: ast.expr
) -> tuple[Unit, ast.FunctionDef] | None:
    """The one function at hand that the name means; it may be called, and takes what is passed."""
    if not isinstance(value, ast.Name):
        return None
    last = (unit.names.qualified(value) or value.id).rpartition(".")[2]
    found = [
        (home, function)
        for home in project.units.defining(last)
        for function in project.effects(home).functions(last)
        if isinstance(function, ast.FunctionDef) and project.class_of(home, function) is None
        if _is_meant(project, home, function, unit, value)
    ]
    return found[0] if len(found) == 1 else None


def _is_bound(unit: Unit, function: ast.FunctionDef) -> bool:
    """Whether calls of the function leave its first parameter to the object or the class."""
    return isinstance(unit.parents[function], ast.ClassDef) and not is_static(function)


def _is_self(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id in ("self", "cls")


def _is_own_call(node: ast.AST) -> TypeGuard[_OwnCall]:
    """``self.operator(…)``."""
    func = node.func if isinstance(node, ast.Call) else None
    return isinstance(func, ast.Attribute) and _is_self(func.value)


def _keeps(method: ast.AST, attribute: str) -> TypeGuard[ast.FunctionDef]:
    """Whether the method puts a parameter of its own into the attribute of ``self``."""
    return isinstance(method, ast.FunctionDef) and attribute in _kept_by(method)


def _kept_by(method: ast.FunctionDef) -> set[str]:
    """The attributes into which the method puts parameters of its own."""
    taken = {a.arg for a in parameters(method.args)}
    return {
        t.attr
        for n in walk(method)
        if isinstance(n, ast.Assign) and isinstance(n.value, ast.Name) and n.value.id in taken
        for t in n.targets
        if isinstance(t, ast.Attribute)
    }


def _is_asked_about(parent: ast.AST, node: ast.AST) -> bool:
    """``if operator is not None``: nothing is called, and nothing is kept."""
    if isinstance(parent, ast.Compare):
        return all(isinstance(op, ast.Is | ast.IsNot) for op in parent.ops)
    if isinstance(parent, ast.If | ast.IfExp | ast.While | ast.Assert):
        return parent.test is node
    return isinstance(parent, ast.UnaryOp) and isinstance(parent.op, ast.Not)


def _binds(node: ast.AST, name: str) -> bool:
    """Whether the node gives the name a meaning of its own."""
    if isinstance(node, ast.Name):
        return node.id == name and not isinstance(node.ctx, ast.Load)
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.ExceptHandler):
        return node.name == name
    if isinstance(node, ast.Global | ast.Nonlocal):
        return name in node.names
    if isinstance(node, ast.alias):
        return (node.asname or node.name).split(".")[0] == name
    return isinstance(node, ast.arg) and node.arg == name


def _gives(stmt: ast.AST, name: str) -> bool:
    """Whether a statement of a class gives it something of that name."""
    return any(_binds(node, name) for node in walk(stmt)) and (
        not isinstance(stmt, ast.FunctionDef | ast.AsyncFunctionDef) or stmt.name == name
    )
