"""What functions read that earlier calls put where no name of the scope shows it.

A list or dict of some module, an object that a function hands out, a function that keeps what it
made: whoever is called later may find there what was made of a source before the tape opens.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from tapemigrate.flow.changers import CHANGERS
from tapemigrate.flow.functions import NamedFunction, free_names, named_defaults, parameters
from tapemigrate.flow.memory import is_cached, remembers_objects
from tapemigrate.flow.paths import is_super, looked_up, names_class, path_of
from tapemigrate.flow.sharing import last_of
from tapemigrate.flow.unpacking import each_given
from tapemigrate.patterns import late
from tapemigrate.rules.callgraph.classes import classes, is_of_library
from tapemigrate.rules.callgraph.descriptors import getters
from tapemigrate.rules.callgraph.imported import homes_of
from tapemigrate.rules.callgraph.places import is_module
from tapemigrate.rules.callgraph.stars import brought_from
from tapemigrate.rules.finding import Unit
from tapemigrate.rules.indexes import effects_of, given_at_top, kinds_of, values_by_path
from tapemigrate.rules.project import Project
from tapemigrate.rules.proof.kept.kept_results import above
from tapemigrate.rules.proof.objects.parts_read import (
    is_of_no_class,
    is_of_shape,
    is_of_size,
    is_only_filled,
    is_own,
    is_part_of_part,
    name_at_root,
    set_before,
)
from tapemigrate.rules.proof.state.functions_named import functions_named, is_run
from tapemigrate.rules.proof.state.keeping_objects import (
    KeepingObjects,
    bound_in,
    kept_by_inner,
    reads_kept,
)
from tapemigrate.rules.proof.state.parts_of_imported import is_part_of_imported, set_on_classes
from tapemigrate.rules.proof.state.put_elsewhere import Setters, holding, put_elsewhere, put_through
from tapemigrate.rules.units import Later, parsed
from tapemigrate.rules.values.containers.filled_state import filled_state
from tapemigrate.rules.values.objects.keeping import keeping, set_by_methods
from tapemigrate.rules.values.objects.set_later import may_be_computed_later
from tapemigrate.source.trees import calls_in, kept, top_level, walk
from tapemigrate.tape.ops.kinds import Kinds
from tapemigrate.tape.ops.returned import gives_what_was
from tapemigrate.tape.ops.symbols import QUIET, RUN_WHEN_CALLED, gives_no_tensors

# So many functions are gone through, and a method is followed that so many classes have.
MOST = 2000
_NAMESAKES = 6


_UNKNOWN: Setters = frozenset()
_Called = tuple[Unit, NamedFunction, str]
_Run = tuple[Unit, NamedFunction | ast.Lambda, str]


_OF_MODULES = "__getattr__"
# What is set on a library, by the names that those have.
_LIBRARY = r"(?:tf|np|tensorflow|numpy|keras|K)"
_ON_LIBRARY = late(rf"(?m)^[ \t]*{_LIBRARY}(?:\.\w+)*\.(\w+)[ \t]*=(?!=)")
_BY_SETATTR = late(rf"\bsetattr\([ \t]*{_LIBRARY}(?:\.\w+)*[ \t]*,[ \t]*[\"'](\w+)[\"']")
# One of these stands in a file that has properties.
_PROPERTIES = ("property", ".setter", ".getter")


@dataclass(slots=True)
class Read:
    """What of such a kind some code reads itself, and the functions that it calls.

    ``inner`` are names of a function in which what it gives back keeps something; ``parts`` what
    objects have, by the texts of these and their own names, each with the name of what the object
    is found by: whether a part is set after that was made takes long, and is asked by who needs it.
    A function that is called goes with what its object is called there; none if it is ``self``.
    """

    names: dict[str, Setters] = field(default_factory=dict)
    inner: set[str] = field(default_factory=set)
    parts: dict[tuple[str, str], str] = field(default_factory=dict)
    called: list[_Run] = field(default_factory=list)


class PutAside:
    """Looks for it in all files of a project."""

    def __init__(self) -> None:
        self._read: dict[tuple[ast.AST, frozenset[str], str], Read] = {}
        self._getters: dict[str, Setters | None] = {}
        self._methods: dict[str, list[_Called]] = {}
        self._keeping: dict[str, list[_Called]] = {}
        self._later: dict[str, bool] = {}
        self._computing: dict[str, list[tuple[Unit, NamedFunction]]] = {}
        # By a file, and a name of its module; by the file, and what it imports.
        self._set: dict[tuple[str, str], Setters | None] = {}
        self._meant: dict[tuple[str, str], tuple[Setters | None, list[_Called]]] = {}
        self._with_properties: list[Unit | Later] | None = None

    def read_by(
        self, project: Project, unit: Unit, nodes: Iterable[ast.AST], own: frozenset[str]
    ) -> Read:
        """What ``nodes``, in a scope with its ``own`` names, read so, by themselves or others."""
        found = Read()
        seen: dict[ast.AST, _Run] = {}
        for each in self.each_read_by(project, unit, nodes, own):
            found.names |= each.names
            found.inner |= each.inner
            found.parts |= each.parts
            seen |= {called[1]: called for called in each.called}
        found.called = list(seen.values())
        return found

    def each_read_by(
        self,
        project: Project,
        unit: Unit,
        nodes: Iterable[ast.AST],
        own: frozenset[str],
        objects: bool = False,
    ) -> Iterator[Read]:
        """The same, one node or function after the other; ``objects``: also of those called."""
        met: set[tuple[ast.AST, bool]] = set()
        pending: list[tuple[Unit, ast.AST, frozenset[str], str]]
        pending = [(unit, n, own | _bound_by(n), "") for n in nodes]
        called = (n for _, root, _, _ in [*pending] for n in calls_in(root)) if objects else ()
        names = {call.func.id for call in called if isinstance(call.func, ast.Name)}
        for name in sorted(names - set(dir(builtins))):
            if not any(True for _ in _functions(project, unit, name)):
                pending += self._objects_called(project, name)
        while pending and len(met) < MOST:
            home, node, bound, owner = pending.pop()
            if (node, bool(owner)) in met:
                continue
            met.add((node, bool(owner)))
            key = (node, bound, owner)
            if key not in self._read:
                self._read[key] = self._read_in(project, home, *key)
            yield self._read[key]
            pending += [(each, f, _names_of(f), of) for each, f, of in self._read[key].called]

    def _read_in(
        self, project: Project, unit: Unit, root: ast.AST, bound: frozenset[str], owner: str
    ) -> Read:
        found = Read()
        if isinstance(root, NamedFunction):
            found.inner |= kept_by_inner(root)
            if root.name in unit.once(filled_state):
                found.names[root.name] = _UNKNOWN
        own = set_before(unit, root) if owner else frozenset[ast.Attribute]()
        inner = frozenset[str]()
        if isinstance(root, NamedFunction):
            inner = bound & made_by(unit.once(kinds_of), [root])
        for node in walk(root):
            if isinstance(node, ast.Call) and not is_of_library(unit.names.qualified(node.func)):
                getter = (path_of(node.func) or ("",))[-1].lstrip(".")
                setters = self._put_through(project, getter) if getter else None
                if setters is not None:
                    found.names[f"{getter}()"] = setters
            if isinstance(node, ast.Call):
                found.called += self._run_by_element(project, unit, root, node.func)
            if (part := looked_up(node)) is not None:
                self._part(project, unit, part, owner, inner, found)
                found.called += self._methods_named(project, part.attr)
            if not isinstance(node, ast.Name | ast.Attribute) or not isinstance(node.ctx, ast.Load):
                continue
            path = unit.names.qualified(node)
            if path is None and isinstance(node, ast.Name):
                path = brought_from(project, unit, node.id)
            if path is not None:
                self._imported(project, unit, node, path, found)
                if isinstance(node, ast.Attribute) and is_part_of_imported(project, unit, path):
                    self._part(project, unit, node, owner, inner, found)
            # ``ACTIVATION = tf.nn.relu`` is imported, and a name of the module all the same.
            values = unit.once(given_at_top).get(node.id, ()) if isinstance(node, ast.Name) else ()
            named = bool(values) and all(unit.names.qualified(each) for each in values)
            if self._is_closure(project, unit, node):
                found.names[ast.unparse(node)] = _UNKNOWN
            if isinstance(node, ast.Name) and (path is None or named):
                if node.id not in bound:
                    setters = self._setters(project, unit, node.id)
                    if setters is not None:
                        found.names[node.id] = setters
            if path is not None:
                continue
            if isinstance(node, ast.Name):
                found.called += [*_functions(project, unit, node.id), *_listed(unit, node.id)]
                found.called += _given_code(project, unit, node) if node.id not in bound else ()
            elif node.attr in unit.once(set_on_classes) or (
                isinstance(root, NamedFunction)
                and is_part_of_part(node)
                and any(
                    node.attr in each.once(set_by_methods)
                    for each in project.units.having(node.attr)
                )
            ):
                found.names[ast.unparse(node)] = _UNKNOWN
            else:
                self._part(project, unit, node, owner if node not in own else "", inner, found)
        return found

    def _part(
        self,
        project: Project,
        unit: Unit,
        node: ast.Attribute,
        owner: str,
        inner: frozenset[str],
        found: Read,
    ) -> None:
        """A part of an object that is read, or a method that is called.

        What has an ``inner`` name of a function that is called is made in there.
        """
        if is_super(node.value):
            found.called += [(home, f, owner) for home, f in _above(project, unit, node)]
            return
        own = is_own(node.value)
        holder = owner if own else ast.unparse(node.value)
        parent = unit.parents.get(node)
        if not isinstance(parent, ast.Call) or parent.func is not node:
            local = name_at_root(node.value) in inner
            known = not holder or local or is_of_size(node) or is_only_filled(unit, node)
            if not known:
                found.parts[holder, node.attr] = owner if own else name_at_root(node.value)
            if not is_of_shape(node):
                run = self._run_for(project, node.attr)
                found.called += [(u, f, holder or "self") for u, f in run]
        else:
            own_class = effects_of(unit).class_named(name_at_root(node.value)) is not None
            common = node.attr in QUIET or node.attr in CHANGERS
            called = _constructors(project, node) or self._methods_named(project, node.attr)
            if own and holder and not called:
                called = self._keeping_named(project, node.attr)
            if common and not (own or own_class):
                # Containers and tensors have such methods: the user's are called as theirs are.
                called = [each for each in called if _fits(each[1], parent)]
                if called and is_of_no_class(unit, node.value):
                    called = []
            if called or own or own_class or not common:
                if any(f".{f.name}" in effects_of(home).properties for home, f, _ in called):
                    # What a property gives is called.
                    objects = self._methods_named(project, "__call__")
                    objects = objects or self._keeping_named(project, "__call__")
                    found.called += [(home, f, ast.unparse(node)) for home, f, _ in objects]
                if not called:
                    if holder:
                        found.parts[holder, node.attr] = owner if own else name_at_root(node.value)
                    # What is called is an object, and reads parts of its own.
                    called = self._methods_named(project, "__call__")
                    called = called or self._keeping_named(project, "__call__")
                    holder = ast.unparse(node)
                found.called += [(home, function, holder) for home, function, _ in called]

    def _run_by_element(
        self, project: Project, unit: Unit, root: ast.AST, func: ast.expr
    ) -> Iterator[_Called]:
        """What runs where an element of something is called, or a method of it: ``layers[0](x)``.

        Of methods that many classes have, those that find what they kept.
        """
        names: tuple[str, ...] = RUN_WHEN_CALLED
        if isinstance(func, ast.Attribute) and _is_element(unit, root, func.value):
            names, func = (func.attr,), func.value
        elif not _is_element(unit, root, func):
            return
        for name in names:
            named = self._methods_named(project, name) or self._keeping_named(project, name)
            yield from ((home, f, ast.unparse(func)) for home, f, _ in named)

    def _keeping_named(self, project: Project, name: str) -> list[_Called]:
        """The methods that find what they kept, of classes that have one of that name."""
        if name not in self._keeping:
            self._keeping[name] = [
                (unit, method, "")
                for unit in project.units.defining(name)
                for cls in unit.nodes(ast.ClassDef)
                if effects_of(unit).method(cls, name) is not None
                for each in effects_of(unit).lineage(cls)
                for method in each.body
                if isinstance(method, NamedFunction)
                and method.name in unit.once(keeping)
                and reads_kept(unit, method)
            ]
        return self._keeping[name]

    def _is_closure(self, project: Project, unit: Unit, node: ast.Name | ast.Attribute) -> bool:
        """Whether a name of the module, or an attribute of ``self``, is one; see below."""
        if isinstance(node, ast.Name):
            values = unit.once(given_at_top).get(node.id, ())
        else:
            own = is_own(node.value)
            values = unit.once(values_by_path).get(path_of(node) or (), ()) if own else ()
        return bool(values) and self._are_closures(project, values)

    def _are_closures(self, project: Project, values: Iterable[ast.expr]) -> bool:
        """Whether one of ``values`` is what a function made, and keeps something: ``memo(f)``."""
        calls = (n for value in values for n in walk(value) if isinstance(n, ast.Call))
        names = {last_of(call.func) for call in calls} - {""}
        return any(
            kept_by_inner(function)
            for name in sorted(names)
            for _, function, _ in self._methods_named(project, name)
        )

    def _objects_called(
        self, project: Project, name: str
    ) -> Iterator[tuple[Unit, ast.AST, frozenset[str], str]]:
        """What runs where the object of that name is called, of whatever class it is."""
        for each in RUN_WHEN_CALLED:
            for home, function, _ in self._methods_named(project, each):
                yield home, function, bound_in(function), name

    def is_set_later(self, project: Project, name: str) -> bool:
        """Whether a part of that name may be given what an op gave once its object is made."""
        if name not in self._later:
            self._later[name] = may_be_computed_later(project, name)
        return self._later[name]

    def _methods_named(self, project: Project, name: str) -> list[_Called]:
        """The functions and methods of a name in all files; none of those that many have."""
        if name not in self._methods:
            named = [
                (unit, f, "")
                for unit in project.units.defining(name)
                for f in effects_of(unit).functions(name)
            ]
            if name == "__call__":
                aliased = project.units.having(name)
                named += [(u, f, "") for u in aliased for f in u.once(_called_by_another_name)]
            self._methods[name] = named if len(named) <= _NAMESAKES else []
        return self._methods[name]

    def _run_for(self, project: Project, name: str) -> list[tuple[Unit, NamedFunction]]:
        """What runs where an attribute of that name is read: properties, and descriptors."""
        if name not in self._computing:
            if self._with_properties is None:
                files = (file for _, file in project.units.files())
                self._with_properties = [f for f in files if any(p in f.text for p in _PROPERTIES)]
            homes = (
                parsed(file)
                for file in self._with_properties
                if isinstance(file, Unit) or file.may_define(name)
            )
            found = [
                (unit, each)
                for unit in homes
                if unit is not None and f".{name}" in effects_of(unit).properties
                for each in effects_of(unit).functions(name)
            ]
            found += getters(project, name)
            self._computing[name] = found if len(found) <= _NAMESAKES else []
        return self._computing[name]

    def _imported(
        self, project: Project, unit: Unit, node: ast.expr, path: str, found: Read
    ) -> None:
        if is_of_library(path) or gives_no_tensors(path):
            if path.rpartition(".")[2] in project.once(_set_on_libraries):
                found.names[ast.unparse(node)] = _UNKNOWN
            return
        if (unit.filename, path) not in self._meant:
            self._meant[unit.filename, path] = self._of_imported(project, unit, path)
        setters, called = self._meant[unit.filename, path]
        if setters is not None:
            found.names[ast.unparse(node)] = setters
        found.called += called
        found.called += _given_code(project, unit, node, path)

    def _of_imported(
        self, project: Project, unit: Unit, path: str
    ) -> tuple[Setters | None, list[_Called]]:
        """Who puts something into what the file imports by the path, and what that runs."""
        module, _, name = path.rpartition(".")
        homes = [(home, there) for home, there in homes_of(project, path) if home is not unit]
        put = [self._setters(project, home, there) for home, there in homes]
        made = [c for h in homes for c in (*_functions(project, *h), *_listed(*h))]
        for home in project.units.holding(module, _OF_MODULES) if module and not made else ():
            # What a module has no name for is asked of a function there.
            meant = is_module(unit.filename, module, home.filename)
            if meant and home is not unit and name not in home.once(given_at_top):
                functions = (s for s in top_level(home.tree) if isinstance(s, NamedFunction))
                made += [(home, f, "") for f in functions if f.name == _OF_MODULES]
        given = [v for home, there in homes for v in home.once(given_at_top).get(there, ())]
        if self._are_closures(project, given):
            put.append(_UNKNOWN)
        setters = next((each for each in reversed(put) if each is not None), None)
        # A package hands on what one of its modules has.
        return setters, made or self._methods_named(project, name)

    def _setters(self, project: Project, unit: Unit, name: str) -> Setters | None:
        """Who puts something into what has the name in the module ``unit``; None: nobody does."""
        if (unit.filename, name) not in self._set:
            self._set[unit.filename, name] = _setters(project, unit, name)
        return self._set[unit.filename, name]

    def _put_through(self, project: Project, getter: str) -> Setters | None:
        """Who puts something into what functions of that name hand out, kept before; or None."""
        if getter not in self._getters:
            put: Setters = frozenset()
            if self._gives_kept(project, getter):
                units = project.units.having(getter)
                put = put.union(*(u.once(put_through).get(getter, ()) for u in units))
            self._getters[getter] = put or None
        return self._getters[getter]

    def _gives_kept(self, project: Project, name: str) -> bool:
        """Whether a function of the name may give what was there, or what another one gives so."""
        pending, seen = [name], set[str]()
        while pending:
            each = pending.pop()
            if each in seen:
                continue
            seen.add(each)
            for _, function, _ in self._methods_named(project, each):
                if _gives_kept(function):
                    return True
                ends = (n.value for n in walk(function) if isinstance(n, ast.Return))
                pending += (last_of(e.func) or "" for e in ends if isinstance(e, ast.Call))
        return False


def _names_of(function: NamedFunction | ast.Lambda) -> frozenset[str]:
    """The names that a function has of its own."""
    if isinstance(function, ast.Lambda):
        return frozenset(each.arg for each in parameters(function.args))
    return bound_in(function)


def _bound_by(node: ast.AST) -> frozenset[str]:
    """The names that are a function's own, if it is one; not those that its defaults read."""
    if not isinstance(node, NamedFunction):
        return frozenset()
    read = (n for value in named_defaults(node.args).values() for n in walk(value))
    return bound_in(node) - {n.id for n in read if isinstance(n, ast.Name)}


def _set_on_libraries(project: Project) -> frozenset[str]:
    """The names that the project sets on modules of libraries: ``tf.features = {}``."""
    texts = [file.text for _, file in project.units.files()]
    patterns = (_ON_LIBRARY, _BY_SETATTR)
    return frozenset(name for each in patterns for text in texts for name in each.findall(text))


def _above(
    project: Project, unit: Unit, node: ast.Attribute
) -> Iterator[tuple[Unit, NamedFunction]]:
    """What ``super().build`` means, by the classes at hand above the one that it stands in."""
    cls: ast.AST | None = node
    while cls is not None and not isinstance(cls, ast.ClassDef):
        cls = unit.parents.get(cls)
    for home, each in above(project, unit, cls) if cls is not None else ():
        for stmt in each.body if each is not cls else ():
            if isinstance(stmt, NamedFunction) and stmt.name == node.attr:
                yield home, stmt


def _constructors(project: Project, node: ast.Attribute) -> list[_Called]:
    """What ``Base.__init__`` means; nothing where that is no class at hand."""
    name = (path_of(node.value) or ("",))[-1].lstrip(".")
    found = classes(project).named(name) if node.attr == "__init__" else []
    return [
        (home, stmt, "")
        for unit, cls in found
        for home, each in above(project, unit, cls)
        for stmt in each.body
        if isinstance(stmt, NamedFunction) and stmt.name == "__init__"
    ]


def _fits(function: NamedFunction, call: ast.Call) -> bool:
    """Whether a call of a method passes what the function asks for."""
    args = function.args
    names = [a.arg for a in (*args.posonlyargs, *args.args)]
    if names[:1] != ["self"]:
        return False
    passed = {*names[1 : 1 + len(call.args)], *(k.arg for k in call.keywords)}
    needed = set(names[1 : len(names) - len(args.defaults)])
    return needed <= passed and (len(call.args) < len(names) or args.vararg is not None)


def _setters(project: Project, unit: Unit, name: str) -> Setters | None:
    keeping_objects = project.once(KeepingObjects)
    if name in unit.once(filled_state) or name in keeping_objects.of(unit):
        return _UNKNOWN
    if any(_fills_itself(project, unit, value) for value in unit.once(given_at_top).get(name, ())):
        return _UNKNOWN
    cls = effects_of(unit).class_named(name)
    if cls is not None and _remembers(project, unit, cls):
        return _UNKNOWN
    found = put_elsewhere(project).into(project, unit, name)
    for stmt in cls.body if cls is not None else ():
        # What the class has by a name of its own is the module's: ``rows = ROWS``.
        if isinstance(stmt, ast.Assign) and isinstance(stmt.value, ast.Name):
            if stmt.value.id in holding(unit):
                there = _setters(project, unit, stmt.value.id)
                if there == _UNKNOWN:
                    return _UNKNOWN
                found |= there or frozenset()
    return found or None


def _fills_itself(project: Project, unit: Unit, value: ast.expr) -> bool:
    """Whether it makes a dict whose class gives it what is missing as that is read."""
    if not isinstance(value, ast.Call) or not names_class(last_of(value.func)):
        return False
    return any(
        isinstance(stmt, NamedFunction) and stmt.name == "__missing__"
        for home, cls in classes(project).named(last_of(value.func))
        for _, each in above(project, home, cls)
        for stmt in each.body
    )


def _remembers(project: Project, unit: Unit, cls: ast.ClassDef) -> bool:
    """Whether the class, or one above it, gives objects that were made before."""

    def named(name: str) -> list[NamedFunction]:
        homes = map(effects_of, project.units.defining(name))
        return [each for home in homes for each in home.functions(name)]

    def called(name: str) -> list[NamedFunction]:
        homes = map(effects_of, project.units.defining(name))
        return [method for home in homes for method in home.called_on(name)]

    return any(remembers_objects(each, named, called) for _, each in above(project, unit, cls))


def _given_code(project: Project, unit: Unit, node: ast.expr, path: str = "") -> Iterator[_Run]:
    """The code that a name of a module was given, ``net = partial(body, 2)``, where it may run.

    ``path`` is that of a name of another module.
    """
    if not is_run(unit, node):
        return
    homes = homes_of(project, path) if path else [(unit, last_of(node))]
    for home, name in homes:
        if not path or home is not unit:
            yield from ((there, each, "") for there, each in functions_named(project, home, name))


def _functions(project: Project, unit: Unit, name: str) -> Iterator[_Called]:
    """The functions of a name, and what runs where an object of a class of that name is made.

    Of the module's own objects as well: ``total = Total()`` is called by its name, and what keeps
    something is ``layers = [Dense()]``, or ``encode = Net().encode``.
    """
    effects = effects_of(unit)
    yield from ((unit, each, "") for each in effects.functions(name))
    given = [n for value in unit.once(given_at_top).get(name, ()) for n in walk(value)]
    asked = {n.attr for n in given if isinstance(n, ast.Attribute)}
    for named in sorted({name, *(last_of(n) for n in given if isinstance(n, ast.expr))}):
        cls = effects.class_named(named)
        found = [(unit, c) for c in effects.lineage(cls)] if cls is not None else []
        if cls is None and named != name and names_class(named):
            found = classes(project).named(named)
        for home, each in found:
            for stmt in each.body:
                if isinstance(stmt, NamedFunction) and (
                    stmt.name.startswith("__") or stmt.name in asked
                ):
                    yield home, stmt, "" if named == name else name


def _listed(unit: Unit, name: str) -> Iterator[_Called]:
    """The functions that the module has in a list or dict: ``READERS = {"last": last}``."""
    for value in unit.once(given_at_top).get(name, ()):
        if isinstance(value, ast.Dict | ast.List | ast.Tuple | ast.Set):
            for each in (n.id for n in walk(value) if isinstance(n, ast.Name)):
                yield from ((unit, f, "") for f in effects_of(unit).functions(each))


def _called_by_another_name(unit: Unit) -> list[NamedFunction]:
    """The methods that run where an object is called: ``__call__ = forward``."""
    members = (stmt for cls in unit.nodes(ast.ClassDef) for stmt in cls.body)
    names = {
        stmt.value.id
        for stmt in members
        if isinstance(stmt, ast.Assign)
        and isinstance(stmt.value, ast.Name)
        and any(isinstance(t, ast.Name) and t.id == "__call__" for t in stmt.targets)
    }
    return [f for name in sorted(names) for f in effects_of(unit).functions(name)]


def _is_element(unit: Unit, root: ast.AST, func: ast.expr) -> bool:
    """Whether what is called is taken out of something: ``layers[0](x)``, or one by one.

    Or a function gives it, which may have it from there: ``self.layer("a")(x)``.
    """
    if isinstance(func, ast.Name):
        given = kept(root, _given_by_calls).get(func.id, ())
        return func.id in kept(root, _taken_one_by_one) or any(_hands_out(unit, c) for c in given)
    return isinstance(func, ast.Subscript) or (
        isinstance(func, ast.Call) and _hands_out(unit, func)
    )


def _taken_one_by_one(root: ast.AST) -> frozenset[str]:
    targets = [n.target for n in walk(root) if isinstance(n, ast.For | ast.comprehension)]
    return frozenset(n.id for each in targets for n in walk(each) if isinstance(n, ast.Name))


def _given_by_calls(root: ast.AST) -> dict[str, list[ast.Call]]:
    """The names that get what calls give, each with these."""
    found: dict[str, list[ast.Call]] = {}
    for target, value in (pair for node in walk(root) for pair in each_given(node)):
        if isinstance(target, ast.Name) and isinstance(value, ast.Call):
            found.setdefault(target.id, []).append(value)
    return found


def _hands_out(unit: Unit, call: ast.Call) -> bool:
    """Whether the user's function gives it, and no class makes it; ``super()`` is the object."""
    if is_super(call):
        return False
    name = last_of(call.func)
    library = is_of_library(unit.names.qualified(call.func))
    return bool(name) and not (names_class(name) or library)


def made_by(kinds: Kinds, nodes: Iterable[ast.AST]) -> frozenset[str]:
    """The names to which ``nodes`` give nothing but what calls and ops give them.

    What a loop goes over, or what is a part of something, is older than the name. So is what a
    function was handed and gives back.
    """
    inside = [node for root in nodes for node in walk(root)]
    made = {
        name
        for node in inside
        if isinstance(node, ast.Assign) and _is_result(kinds, node.value)
        for target in node.targets
        for name in walk(target)
    }
    given = {n for n in inside if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    older = {n.id for n in given - made} | {n.arg for n in inside if isinstance(n, ast.arg)}
    return frozenset({n.id for n in given & made} - older)


def _is_result(kinds: Kinds, value: ast.expr) -> bool:
    if isinstance(value, ast.Tuple):
        return all(_is_result(kinds, each) for each in value.elts)
    if isinstance(value, ast.Call):
        # In a graph, what is a tensor already stays the one that it is.
        return last_of(value.func) != "convert_to_tensor" and not kinds.gives_what_was(value)
    return isinstance(value, ast.BinOp)


def _gives_kept(function: NamedFunction) -> bool:
    """Whether it may give what was there before it was called."""
    if gives_what_was(function) or is_cached(function):
        return True
    free = free_names(function)
    return any(
        (path_of(stmt.value) or ("",))[0] in free
        for stmt in walk(function)
        if isinstance(stmt, ast.Return) and stmt.value is not None
    )
