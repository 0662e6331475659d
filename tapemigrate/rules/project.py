"""The files that are read together: their functions, classes, flows, and who calls whom."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any, TypeVar

from tapemigrate.flow.blocks import Blocks
from tapemigrate.flow.definitions import Kind
from tapemigrate.flow.defuse import Flow
from tapemigrate.flow.effects import Effects
from tapemigrate.flow.functions import NamedFunction, Scope, is_static
from tapemigrate.flow.members import HOOKS
from tapemigrate.flow.paths import Path, path_of
from tapemigrate.flow.touched import NO_PARTS
from tapemigrate.rules.callgraph.import_reach import ImportReach
from tapemigrate.rules.finding import Unit
from tapemigrate.rules.indexes import (
    bound_names,
    effects_of,
    extending,
    imported_names,
    kinds_of,
    left_to_stars,
    reads,
    set_attributes,
    value_given,
)
from tapemigrate.rules.own_names import is_of_comprehension, own_names
from tapemigrate.rules.said_elsewhere import SaidElsewhere
from tapemigrate.rules.units import Later, Units
from tapemigrate.source.decoding import UNKNOWN
from tapemigrate.source.trees import walk
from tapemigrate.tape.ops.kinds import Kinds
from tapemigrate.tape.ops.symbols import QUIET

_T = TypeVar("_T")

# Longer chains of attributes are no names of tensors.
_LONGEST_PATH = 8
_ONE_OF_MANY = "one of more files than are looked at"
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


#: Which function of other files, and of which, a path means that a file imports.
FunctionAt = Callable[["Project", Unit, str], tuple[Unit, ast.FunctionDef] | None]
NamedAlike = Callable[["Project", str], bool]
#: Whether what a method of a class calls of its object may be another file's, and change it.
PartsBelow = Callable[["Project", Unit, ast.ClassDef, str], frozenset[str]]
#: Whether another file may have another function run in place of one, a method of the class.
Replaced = Callable[["Project", Unit, ast.ClassDef | None, NamedFunction], bool]
#: Whether an import path means what a file gave one of its names.
GivenAt = Callable[["Project", str], bool]
#: Whether a collection of variables is asked for those of a scope that are all trainable.
BuiltTrainable = Callable[["Project", Unit, ast.Call], bool]


@dataclass(eq=False)
class View:
    """One scope of one file with all that was found out about it.

    What its values are is often told without going through its statements: those follow late.
    """

    unit: Unit
    scope: Scope
    cls: ast.ClassDef | None
    kinds: Kinds
    _follow: Callable[[Unit, Scope, Kinds], Flow] = field(repr=False)

    @cached_property
    def flow(self) -> Flow:
        """Its definitions and uses."""
        return self._follow(self.unit, self.scope, self.kinds)

    def let_go(self) -> None:
        """Ends the use of its flow, if it has one."""
        if "flow" in self.__dict__:
            self.flow.let_go()

    @cached_property
    def blocks(self) -> Blocks:
        """The blocks of its statements."""
        return Blocks(self.scope)


@dataclass(slots=True)
class CallSite:
    """A call of some function, and the file it stands in."""

    unit: Unit
    call: ast.Call

    def place(self, unit: Unit) -> str:
        """Where it stands, as a message about ``unit`` says it."""
        line = f"line {self.call.lineno}"
        return line if self.unit is unit else f"{self.unit.filename}, {line}"


@dataclass(slots=True)
class Mentions:
    """Where a name is called, and where it is used in any other way."""

    calls: list[CallSite] = field(default_factory=list)
    others: list[tuple[Unit, ast.AST]] = field(default_factory=list)

    def within(self, place: tuple[Unit, ast.AST] | None) -> Mentions:
        """Only those inside one function of one file; all of them where ``place`` is None."""
        if place is None:
            return self
        unit, root = place
        return Mentions(
            [c for c in self.calls if c.unit is unit and unit.is_below(c.call, root)],
            [(u, n) for u, n in self.others if u is unit and unit.is_below(n, root)],
        )


class Project:
    """Units by filename, with lazily made views and an index of calls.

    ``unread`` are names and texts of files that may hold callers and do not parse, as far as that
    is known; where there is no name, the text is not known either. ``aliases``: the user's own
    names for known functions. ``keeps_graphs``: v1 graph files keep ``tf.gradients``.
    ``asked`` are the files that are asked about; the others only show who calls their functions.
    ``idle`` are those of them in which nothing is to be found. ``functions`` tells which function
    of another file an import path means, ``alike`` whether tensors may have a name in the program
    that is one of a part of tensors, ``below`` whether a method of a class changes its object where
    a class of another file has one of its own in its place, ``replaced`` whether another file may
    have another function run in place of one, ``given`` whether a path means what a file made,
    ``trainable`` whether a collection is asked for trainable variables alone.
    """

    def __init__(
        self,
        units: Mapping[str, Unit | Later] | Units,
        unread: Iterable[tuple[str, str | Later]] = (),
        aliases: Mapping[str, str] | None = None,
        keeps_graphs: bool = False,
        asked: Iterable[str] | None = None,
        idle: frozenset[str] = frozenset(),
        functions: FunctionAt | None = None,
        alike: NamedAlike | None = None,
        below: PartsBelow | None = None,
        replaced: Replaced | None = None,
        given: GivenAt | None = None,
        trainable: BuiltTrainable | None = None,
    ) -> None:
        self.units = units if isinstance(units, Units) else Units(units)
        self.asked = tuple(self.units if asked is None else asked)
        self.idle = idle
        self._functions = functions
        self._alike = alike
        self._below = below
        self._replaced = replaced
        self._given = given
        self._trainable = trainable
        self._parts_below: dict[tuple[ast.ClassDef, str], frozenset[str]] = {}
        self._unread = tuple(unread)
        self.aliases = aliases or {}
        self.keeps_graphs = keeps_graphs
        self._once: dict[Callable[[Project], Any], Any] = {}
        # Which methods change their objects, files of the project tell; so no unit keeps its views.
        self._views: dict[Scope, View] = {}
        self._effects: dict[str, tuple[Effects, Effects]] = {}
        self._mentions: dict[str, Mentions] = {}
        self._methods: dict[str, bool] = {}
        self._said = SaidElsewhere(self.units)
        self._hooks: tuple[frozenset[str], frozenset[str]] | None = None
        self._assigned: dict[
            str, list[tuple[Unit, ast.Attribute, ast.expr, ast.ClassDef | None]]
        ] = {}

    @property
    def imports(self) -> ImportReach:
        """Which file imports which."""
        return self._said.imports

    def forget(self) -> None:
        """Drops what knows the project: no circle may keep all of it alive."""
        self._once.clear()
        for view in self._views.values():
            view.let_go()
        self._views.clear()
        self._effects.clear()

    def once(self, make: Callable[[Project], _T]) -> _T:
        """What ``make`` tells of all files: worked out once, and kept with the project."""
        if make not in self._once:
            self._once[make] = make(self)
        found: _T = self._once[make]
        return found

    def with_unit(self, unit: Unit) -> Project:
        """The same files, ``unit`` in place of the one of its name."""
        units = self.units.with_unit(unit)
        other = Project(
            units,
            self._unread,
            self.aliases,
            self.keeps_graphs,
            self.asked,
            self.idle,
            self._functions,
            self._alike,
            self._below,
            self._replaced,
            self._given,
            self._trainable,
        )
        # Of the file itself, the trees may share scopes, which mean something else in each.
        kept = ((scope, v) for scope, v in self._views.items() if v.unit.filename != unit.filename)
        other._views = dict(kept)
        return other

    def unread(self, names: Iterable[str]) -> str:
        """What may use one of these names and is not seen, as a subject; empty if there is none."""
        named = frozenset(names)
        wanted = re.compile(rf"\b(?:{'|'.join(map(re.escape, named))})\b")
        for filename, file in self._unread:
            if isinstance(file, Later):
                asked = file.text == UNKNOWN or file.is_parsed or file.may_have(named)
                if not asked or file.unit is not None:
                    continue
                text = file.text
            else:
                text = file
            if text == UNKNOWN or (any(name in text for name in named) and wanted.search(text)):
                return f"`{filename}`, which cannot be read," if filename else _ONE_OF_MANY
        return ""

    def effects(self, unit: Unit) -> Effects:
        """What the functions and classes of ``unit`` change."""
        own = effects_of(unit)
        if self._effects.get(unit.filename, (None,))[0] is not own:
            said = partial(self._said.holds, filename=unit.filename)
            self._effects[unit.filename] = own, own.among(self._changing, said)
        return self._effects[unit.filename][1]

    def _changing(self, method: str) -> bool:
        return method not in QUIET and self.changing(method)

    def imported(self, unit: Unit) -> frozenset[str]:
        """Every name that some import statement of ``unit`` binds, or may bind: of all names."""
        return unit.once(_imported)

    def scope_of(self, unit: Unit, node: ast.AST) -> Scope:
        """The innermost function, lambda or module whose code runs ``node``."""
        child: ast.AST = node
        parents = unit.parents
        parent = parents.get(node)
        while parent is not None:
            if isinstance(parent, ast.Lambda) and child is parent.body:
                return parent
            if isinstance(parent, ast.FunctionDef | ast.AsyncFunctionDef):
                # Decorators, defaults and annotations run in the scope around.
                if isinstance(child, ast.stmt):
                    return parent
            child, parent = parent, parents.get(parent)
        return unit.tree

    def class_of(self, unit: Unit, scope: Scope) -> ast.ClassDef | None:
        """The class whose method ``scope`` is, or is nested in."""
        node: ast.AST | None = scope
        while node is not None:
            parent = unit.parents.get(node)
            if isinstance(parent, ast.ClassDef) and isinstance(node, _FUNCTIONS):
                return parent
            node = parent
        return None

    def view(self, unit: Unit, scope: Scope) -> View:
        """The view of ``scope``, made once."""
        if scope not in self._views:
            kinds = kinds_of(unit, self.changing, self.effects(unit))
            kinds.cls = self.class_of(unit, scope)
            kinds.self_name = self_name(unit, scope)
            kinds.elsewhere = partial(self._elsewhere, unit)
            kinds.set_elsewhere = self._computing
            kinds.below = partial(self.parts_below, unit)
            if self._replaced is not None:
                kinds.replaced = partial(self._replaced, self, unit)
            kinds.alike = None if self._alike is None else partial(self._alike, self)
            kinds.given_elsewhere = None if self._given is None else partial(self._given, self)
            if self._trainable is not None:
                kinds.built_trainable = partial(self._trainable, self, unit)
            self._views[scope] = View(unit, scope, kinds.cls, kinds, self._flow)
        return self._views[scope]

    def _elsewhere(self, unit: Unit, path: str) -> tuple[Kinds, ast.FunctionDef] | None:
        """The function of another file that a path means, beside the kinds of that file."""
        found = None if self._functions is None else self._functions(self, unit, path)
        return None if found is None else (self.view(*found).kinds, found[1])

    def _flow(self, unit: Unit, scope: Scope, kinds: Kinds) -> Flow:
        effects = self.effects(unit)
        properties, hooked = self._computing()
        return Flow(
            scope,
            kinds.effect,
            effects.properties | properties,
            effects.hooked | hooked,
            effects.swallowing,
            effects.complete,
            effects.altered,
            kinds.runs,
            effects.twins,
        )

    def _computing(self) -> tuple[frozenset[str], frozenset[str]]:
        """The attributes that run code of any file where they are set, and the classes of which
        all do so."""
        if self._hooks is None:
            files = self.units.with_text(HOOKS)
            found = [self.effects(each) for each in files if any(h in each.text for h in HOOKS)]
            self._hooks = (
                frozenset(name for each in found for name in each.set_by_code),
                frozenset(name for each in found for name in each.setting),
            )
        return self._hooks

    def changing(self, method: str) -> bool:
        """Whether a method of that name changes its object, in any file."""
        if method not in self._methods:
            self._methods[method] = any(
                self.effects(unit).sets_parts(method) or self._is_set_below(unit, method)
                for unit in self.units.defining(method)
            )
        return self._methods[method]

    def _is_set_below(self, unit: Unit, method: str) -> bool:
        return any(self.parts_below(unit, c, method) for c in self.effects(unit).having(method))

    def parts_below(self, unit: Unit, cls: ast.ClassDef, method: str) -> frozenset[str]:
        """What of its object a method may change by what it calls of that, of other files."""
        if self._below is None:
            return NO_PARTS
        if (cls, method) not in self._parts_below:
            self._parts_below[cls, method] = self._below(self, unit, cls, method)
        return self._parts_below[cls, method]

    def uses_of(self, unit: Unit, root: ast.AST, path: Path) -> list[ast.expr]:
        """Every place below ``root`` at which ``path`` stands, indexed once for each root."""
        indexes = unit.once(_by_path)
        if root not in indexes:
            found: dict[Path, list[ast.expr]] = {}
            for node in walk(root):
                if isinstance(node, ast.Name | ast.Attribute):
                    own = path_of(node)
                    if own is not None and len(own) <= _LONGEST_PATH:
                        found.setdefault(own, []).append(node)
            indexes[root] = found
        return indexes[root].get(path, [])

    def mentions(self, name: str) -> Mentions:
        """Every place, in all files, at which a function or method of that name is meant."""
        found = self._mentions.get(name)
        if found is None:
            found = self._mentions[name] = Mentions()
            for each in self.units.having(name):
                of_unit = self._mentions_in(each, name)
                found.calls += of_unit.calls
                found.others += of_unit.others
        return found

    def stores(self, attribute: str) -> Iterator[tuple[Unit, ast.Attribute]]:
        """Every place at which an attribute of that name is set."""
        units = self.units.having(attribute)
        set_there = ((u, n) for u in units for n in u.once(set_attributes).get(attribute, ()))
        return ((u, n) for u, n in set_there if isinstance(n.ctx, ast.Store))

    def foreign_stores(self, unit: Unit, cls: ast.ClassDef, attribute: str) -> list[ast.expr]:
        """What code outside of ``cls`` and its relatives assigns to an attribute of that name."""
        own = set(self.family(unit, cls))
        found = []
        for each, node, value, owner in self._stored_in(attribute):
            if owner not in own and not self._is_of_another(each, node.value, unit, cls):
                found.append(value)
        return found

    def _stored_in(
        self, attribute: str
    ) -> list[tuple[Unit, ast.Attribute, ast.expr, ast.ClassDef | None]]:
        """What is assigned to attributes of the name, where, and in which class; on no own ones."""
        if attribute not in self._assigned:
            self._assigned[attribute] = [
                (unit, node, value, cls)
                for unit, node in self.stores(attribute)
                if (value := value_given(unit, node)) is not None
                and not _is_of_no_class(unit, scope := self.scope_of(unit, node))
                and (
                    (cls := self.class_of(unit, scope)) is None
                    or path_of(node.value) != (self_name(unit, scope),)
                )
            ]
        return self._assigned[attribute]

    def _is_of_another(self, unit: Unit, owner: ast.expr, home: Unit, cls: ast.ClassDef) -> bool:
        """Whether the file makes ``owner`` as an object of a class that is no relative of ``cls``.

        Its class stands in that file, and extends nothing; or it is TensorFlow's.
        """
        if (unit.names.qualified(owner) or "").startswith("tensorflow."):
            return True
        made = _made_by(unit, owner.id) if isinstance(owner, ast.Name) else None
        if not made:
            return False
        above = {base for each in self.effects(home).lineage(cls) for base in _bases(each)}
        named = {cls.name, *above}
        plain = {each.name for each in unit.nodes(ast.ClassDef) if _is_plain(each)}
        bound = {n.id for n in unit.nodes(ast.Name) if not isinstance(n.ctx, ast.Load)}
        bound |= {alias.asname or alias.name for alias in unit.nodes(ast.alias)}
        return "*" not in bound and made <= plain - named - bound

    def family(self, unit: Unit, cls: ast.ClassDef) -> list[ast.ClassDef]:
        """``cls``, its bases and its subclasses with all of theirs, as far as this file shows them.

        What a class is mixed with has a share in the same objects.
        """
        effects = self.effects(unit)
        related = dict.fromkeys(effects.lineage(cls))
        for below in unit.once(extending).get(cls, ()):
            related |= dict.fromkeys([below, *effects.lineage(below)])
        return list(related)

    def _means_something_else(self, unit: Unit, node: ast.Name | ast.Attribute) -> bool:
        """Whether the name is a local variable here, or belongs to a library."""
        if isinstance(node, ast.Attribute):
            if (path_of(node) or ("",))[0] == "self":
                return False  # told without the meaning of all names, which takes long
            return (unit.names.qualified(node) or "").startswith(_FOREIGN)
        scope = self.scope_of(unit, node)
        if isinstance(scope, ast.Module):
            if node.id not in unit.once(bound_names):
                return False
            made = {u.made.kind for u in self.view(unit, scope).flow.reads.get(node, ())}
            return bool(made) and not made & _CALLABLE
        binder = self.binder_of(unit, node)
        if binder is None or (binder is scope and self._is_given_anew(unit, node)):
            return True
        return not isinstance(binder, ast.Module) and node.id not in own_names(binder).code

    def _is_given_anew(self, unit: Unit, node: ast.Name) -> bool:
        """Whether the name of a function inside another one is that of a value by then.

        ``def update(x): …``, and later ``update = tf.group(*found)``, made of no such name.
        """
        made = {u.made for u in self.view(unit, self.scope_of(unit, node)).flow.reads.get(node, ())}
        return bool(made) and all(
            d.kind is Kind.ASSIGN
            and d.value is not None
            and not any(isinstance(n, ast.Name) and n.id == node.id for n in walk(d.value))
            for d in made
        )

    def binder_of(self, unit: Unit, node: ast.Name) -> Scope | None:
        """The scope to which a name belongs that stands in a function; None: a comprehension's.

        It is the module's, or a builtin, where no function around the name binds it.
        """
        inner: ast.AST = node
        scope = self.scope_of(unit, node)
        while not is_of_comprehension(node, inner, _up_to(unit, inner, scope)):
            if isinstance(scope, ast.Module):
                return scope
            own = own_names(scope)
            how = own.declared.get(node.id)
            if how == "global":
                return unit.tree
            if how is None and (node.id in own.values or node.id in own.code):
                return scope
            inner, scope = scope, self.scope_of(unit, scope)
        return None

    def _mentions_in(self, unit: Unit, name: str) -> Mentions:
        found = Mentions()
        for node in unit.once(reads).get(name, ()):
            if self._means_something_else(unit, node):
                continue
            parent = unit.parents[node]
            if isinstance(parent, ast.Call) and parent.func is node:
                found.calls.append(CallSite(unit, parent))
            elif not is_looked_at(parent):
                found.others.append((unit, node))
        return found


# What a file tells by itself; see ``Unit.once``.


def _up_to(unit: Unit, node: ast.AST, scope: Scope) -> Iterator[ast.AST]:
    """What stands around ``node`` inside of ``scope``, from the inside out."""
    around = unit.parents.get(node)
    while around is not None and around is not scope:
        yield around
        around = unit.parents.get(around)


def _by_path(unit: Unit) -> dict[ast.AST, dict[Path, list[ast.expr]]]:
    return {}


_CALLABLE = frozenset({Kind.FUNCTION, Kind.CLASS, Kind.IMPORT, Kind.ENTRY, Kind.ASSIGN})
_FOREIGN = ("tensorflow.", "numpy.", "scipy.", "keras.", "torch.", "os.", "math.")


def _is_of_no_class(unit: Unit, scope: Scope) -> bool:
    """Whether it is a constructor that stands outside of any class, where nothing runs it."""
    return (
        isinstance(scope, ast.FunctionDef)
        and scope.name == "__init__"
        and unit.parents[scope] is unit.tree
        and not any(n.id == scope.name for n in unit.nodes(ast.Name))
    )


def _made_by(unit: Unit, name: str) -> set[str]:
    """The names of what is called for the values of ``name``; none if it may have others."""
    found = set[str]()
    bound = 0
    for node in unit.nodes(ast.Assign):
        targets = [t for t in node.targets if isinstance(t, ast.Name) and t.id == name]
        if targets:
            func = node.value.func if isinstance(node.value, ast.Call) else None
            if not isinstance(func, ast.Name):
                return set()
            found.add(func.id)
            bound += len(targets)
    stores = [n for n in unit.nodes(ast.Name) if n.id == name and not isinstance(n.ctx, ast.Load)]
    aliases = (a.asname or a.name for a in unit.nodes(ast.alias))
    others = [*(a.arg for a in unit.nodes(ast.arg)), *aliases]
    others += [h.name or "" for h in unit.nodes(ast.ExceptHandler)]
    return set() if name in others or len(stores) != bound else found


def _is_plain(cls: ast.ClassDef) -> bool:
    """Whether it extends nothing, and calling it makes an object of it."""
    if cls.decorator_list or cls.keywords or not set(_bases(cls)) <= {"object"}:
        return False
    return not any(getattr(stmt, "name", "") == "__new__" for stmt in cls.body)


def _bases(cls: ast.ClassDef) -> list[str]:
    return [(path_of(base) or ("",))[-1].lstrip(".") for base in cls.bases]


_LOOKING = frozenset({"print", "str", "repr", "type", "isinstance", "issubclass", "id", "super"})


def is_looked_at(parent: ast.AST) -> bool:
    """``print(loss)``, ``isinstance(x, Model)``: nothing is called, and nothing is kept."""
    func = parent.func if isinstance(parent, ast.Call) else None
    return isinstance(func, ast.Name) and func.id in _LOOKING


def self_name(unit: Unit, scope: Scope) -> str | None:
    """What the method that ``scope`` is, or is nested in, calls its object."""
    node: ast.AST | None = scope
    while node is not None:
        parent = unit.parents.get(node)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and isinstance(
            parent, ast.ClassDef
        ):
            return node.args.args[0].arg if node.args.args and not is_static(node) else None
        node = parent
    return None


def _imported(unit: Unit) -> frozenset[str]:
    named = imported_names(unit)
    return named | left_to_stars(unit) if unit.names.stars else named
