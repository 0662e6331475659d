"""Whether a value was made of a source, over functions, methods and the module, by any name.

The tests of single pairs look where a source is named. This one goes back from both ends: from the
source to all that it may be another name of, and from the value to all that it may be made of.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterable, Iterator
from enum import Enum
from typing import NamedTuple

from tapemigrate.flow.definitions import Def, Kind
from tapemigrate.flow.functions import NamedFunction, Scope, named_defaults
from tapemigrate.flow.memory import FILLING
from tapemigrate.flow.paths import Path, looked_up, path_of
from tapemigrate.rules.callgraph.arguments import argument_for
from tapemigrate.rules.callgraph.assigned import attribute_values
from tapemigrate.rules.callgraph.callbacks import mentions_of
from tapemigrate.rules.callgraph.classes import classes, is_of_library
from tapemigrate.rules.callgraph.enclosing import outer_definitions
from tapemigrate.rules.callgraph.imported import homes_of, import_paths, module_steps
from tapemigrate.rules.callgraph.instances import instances_at, instances_of
from tapemigrate.rules.callgraph.stars import brought_from
from tapemigrate.rules.finding import Unit
from tapemigrate.rules.indexes import given_at_top, sharing_names, value_given
from tapemigrate.rules.project import CallSite, Project, View, self_name
from tapemigrate.rules.proof.aliases import named_by
from tapemigrate.rules.values.objects.attributes import contents, inherited_values
from tapemigrate.rules.values.objects.put_in import calls_of, put_in_by_methods, put_in_by_others
from tapemigrate.rules.values.provenance import Tracer
from tapemigrate.source.trees import arguments_of, top_level, walk
from tapemigrate.tape.names.same import value_may_be
from tapemigrate.tape.ops.kinds import Make
from tapemigrate.tape.ops.returned import place_of
from tapemigrate.tape.ops.syntax import chosen_from


class _Way(Enum):
    """How far it is gone back."""

    NAMES = "only from a name to what has it"
    SAME = "to what it is the very tensor of"
    PERHAPS = "to what it may be the very tensor of"
    MADE = "to all that it is made of"


# What is met: definitions, values that have no name, and import paths.
_Met = Def | ast.expr | str
_CODE = (Kind.FUNCTION, Kind.CLASS, Kind.IMPORT)
# So many definitions are gone back to; what leads further is left to other tests.
_MOST = 4000


class _Step(NamedTuple):
    """A definition, or a value, to go back from.

    ``called``: callers of its scope do not count. ``place``: the element of the value, where it
    was unpacked; of several that come out of one value, -1 where that cannot be told.
    """

    view: View
    made: Def | None
    value: ast.expr | None
    called: bool
    place: int | None = None


class Ancestry:
    """Goes back from values of one project."""

    def __init__(self, project: Project, tracer: Tracer) -> None:
        self._project = project
        self._tracer = tracer
        self._met: dict[tuple[ast.AST, Def | ast.expr, _Way, bool], set[_Met]] = {}
        self._related: dict[ast.ClassDef, set[str]] = {}
        self._kept: dict[tuple[ast.AST, str, _Way], list[_Step]] = {}

    def leads_to(self, view: View, root: Def, sources: Iterable[Def]) -> bool | None:
        """Whether ``root`` was made of a source. None: of what only may be one."""
        known = self._project.imported(view.unit)
        followed = [
            d for d in sources if _is_simple(d, view, known) and not _are_handed_both(d, root, view)
        ]
        if not followed:
            return False
        named = self._back(view, root, _Way.NAMES)
        behind = self._back(view, root, _Way.MADE, across=False) - named
        if any(behind & self._back(view, each, _Way.SAME) for each in followed):
            return True
        # What another object keeps, it may have been given since.
        behind = self._back(view, root, _Way.MADE) - named
        if any(behind & self._back(view, each, _Way.PERHAPS) for each in followed):
            return None
        return None if self._are_imported(view, root, followed) else False

    def is_filled_with(self, view: View, root: Def, sources: Iterable[Def]) -> bool:
        """Whether something that was made of a source is put into a list or dict of the module."""
        name = root.path[0]
        if root.kind is not Kind.ENTRY or name not in view.unit.once(given_at_top):
            return False
        behind: set[_Met] = set()
        for call in view.unit.once(_puts).get(name, ()):
            inner = self._project.view(view.unit, self._project.scope_of(view.unit, call))
            if inner.scope is view.unit.tree or _is_of_module(self._project, inner, (name,)):
                behind = behind.union(
                    *(self._back(inner, v, _Way.MADE) for v in arguments_of(call))
                )
        simple = (d for d in sources if _is_simple(d, view, frozenset()))
        return bool(behind) and any(behind & self._back(view, d, _Way.SAME) for d in simple)

    def made_of(self, view: View, value: ast.expr, sources: Iterable[Def]) -> bool | None:
        """Whether ``value`` was made of a source, a part of the scope's object."""
        sources = list(sources)
        named = self._back(view, value, _Way.NAMES)
        behind = (self._back(view, value, _Way.MADE) | self._given_by(view, value)) - named
        simple = (d for d in sources if _is_simple(d, view, frozenset()))
        if any(behind & self._back(view, each, _Way.SAME) for each in simple):
            return True
        return None if any(behind & self._back(view, d, _Way.PERHAPS) for d in sources) else False

    def comes_of(self, view: View, names: Iterable[str], sources: Iterable[Def]) -> bool:
        """Whether one of the names from outside is a source, or was made of one."""
        simple = [d for d in sources if _is_simple(d, view, frozenset())]
        same = {met for each in simple for met in self._back(view, each, _Way.SAME)}
        return any(
            same & self._back(view, Def((name,), Kind.ENTRY, None), _Way.MADE, across=False)
            for name in sorted(names)
        )

    def _given_by(self, view: View, value: ast.expr) -> set[_Met]:
        """All of which is made what ``value``, a method of the object's own, gives when called."""
        path = path_of(value)
        if path is None or len(path) != 2 or path[0] != view.kinds.self_name or view.cls is None:
            return set()
        method = self._project.effects(view.unit).method(view.cls, path[1].lstrip("."))
        if method is None or method.decorator_list:
            return set()
        inner = self._project.view(view.unit, method)
        return self._met_from(_Step(inner, None, v, True) for v in _given_back(inner, None))

    def made_with(self, view: View, value: ast.expr, objects: Iterable[Def]) -> bool:
        """Whether ``value`` may be made of what an object was, one that the scope's object keeps.

        Or be a part of it: which, it does not tell.
        """
        behind = {step.made or step.value for step in self._steps_from(view, value)}
        return any(
            _is_tensor(step) and (step.made or step.value) in behind
            for each in objects
            for step in self._steps_from(view, each)
        )

    def _steps_from(self, view: View, start: Def | ast.expr) -> Iterator[_Step]:
        return self._steps(_begun(view, start), _Way.MADE, across=False)

    def _are_imported(self, view: View, root: Def, sources: Iterable[Def]) -> bool:
        """Whether value and source are imported, and the file of the value is not at hand."""
        path = self._imported(view, root)
        if path is None or any(self._outer(view, root)):
            return False
        calls = (n for n in walk(view.scope) if isinstance(n, ast.Call))
        if any((path_of(call.func) or ("",))[0] == root.path[0] for call in calls):
            return False  # code, and no tensor
        return any(
            isinstance(met, str) for each in sources for met in self._back(view, each, _Way.PERHAPS)
        )

    def _back(self, view: View, start: Def | ast.expr, way: _Way, across: bool = True) -> set[_Met]:
        """All that is met on the way back, without what only stands for something else."""
        known = self._met.get((view.scope, start, way, across))
        if known is not None:
            return known
        found = self._met_from([_begun(view, start)], way, across)
        self._met[view.scope, start, way, across] = found
        return found

    def _met_from(
        self, starts: Iterable[_Step], way: _Way = _Way.MADE, across: bool = True
    ) -> set[_Met]:
        """The same from several places on."""
        found: set[_Met] = set()
        for step in (step for start in starts for step in self._steps(start, way, across)):
            if step.made is not None:
                if not _is_outside(step):
                    found.add(step.made)
                elif (path := self._imported(step.view, step.made)) is not None:
                    found.add(path)
            elif step.value is not None and step.place is None:
                if not _is_holder(step.value, step.view):
                    found.add(step.value)
        return found

    def values_behind(self, view: View, value: ast.expr) -> list[tuple[View, ast.expr]] | None:
        """All values of which one is made, itself among them; None: there are too many.

        What other objects keep, or give when they are asked, is left to who asks.
        """
        steps = list(self._steps(_Step(view, None, value, False), _Way.MADE, across=False))
        if len(steps) == _MOST:
            return None
        return [(step.view, step.value) for step in steps if step.value is not None]

    def _steps(self, start: _Step, way: _Way, across: bool = True) -> Iterator[_Step]:
        """All that is met on the way back, ``across`` other objects too."""
        done: set[tuple[Def | ast.expr | None, bool]] = set()
        steps = [start]
        while steps and len(done) < _MOST:
            step = steps.pop()
            key = (step.made or step.value, step.called)
            if key in done:
                continue
            done.add(key)
            yield step
            if step.made is not None:
                steps += self._definition(step, step.made, way)
            elif step.value is not None:
                steps += self._value(step, way)
                if across and (way is not _Way.NAMES or path_of(step.value) is not None):
                    steps += self._of_another(step.view, step.value, way)

    def _value(self, step: _Step, way: _Way) -> Iterator[_Step]:
        view, value = step.view, step.value
        assert value is not None
        yield from (_Step(view, d, None, step.called) for d in self._before(view, value, way))
        if way is _Way.NAMES:
            return
        yield from (
            _Step(view, None, each, step.called) for each in chosen_from(value) if each is not value
        )
        if way is not _Way.SAME:
            inside = _elements_of(value)
            yield from (_Step(view, None, each, step.called) for each in inside)
        for call in walk(value) if way is _Way.MADE else [value]:
            function = view.kinds.called(call) if isinstance(call, ast.Call) else None
            if function is None or function is view.scope:
                continue
            inner = self._project.view(view.unit, function)
            place = step.place if call is value else None
            yield from (_Step(inner, None, v, True) for v in _given_back(inner, place))
            if way is not _Way.SAME and isinstance(call, ast.Call):
                yield from self._defaults(inner, call, place)

    def _of_another(self, view: View, value: ast.expr, way: _Way) -> Iterator[_Step]:
        """What another object keeps, or gives when it is asked: ``net.x``, ``net.inputs()``."""
        asks = isinstance(value, ast.Call)
        node: ast.expr = value.func if isinstance(value, ast.Call) else value
        if isinstance(value, ast.Call) and (part := looked_up(value)) is not None:
            node, asks = part, False  # ``getattr(net, "x")``
        while isinstance(node, ast.Subscript):
            node = node.value
        if not isinstance(node, ast.Attribute) or view.unit.names.qualified(node) is not None:
            return
        if path_of(node.value) in (None, (view.kinds.self_name,)):
            return
        if isinstance(value, ast.Call) and not asks:
            found = instances_of(self._project, view, node.value)
        else:
            found = instances_at(self._project, view, node, node if asks else value)
        known = found.classes
        if found.stray and way is _Way.PERHAPS:
            known = [*known, *self._keeping(node.attr)]
        for unit, cls in known:
            method = next((s for s in cls.body if isinstance(s, ast.FunctionDef)), None)
            if method is None:
                continue
            inner = self._project.view(unit, method)
            if not asks:
                yield from self._attribute(inner, node.attr, way)
            elif (asked := self._project.effects(unit).method(cls, node.attr)) is not None:
                there = self._project.view(unit, asked)
                yield from (_Step(there, None, v, True) for v in _given_back(there, None))

    def _keeping(self, name: str) -> list[tuple[Unit, ast.ClassDef]]:
        """The classes whose methods set an attribute of that name."""
        found: list[tuple[Unit, ast.ClassDef]] = []
        for unit, node in self._project.stores(name):
            cls = self._project.class_of(unit, self._project.scope_of(unit, node))
            if cls is not None and (unit, cls) not in found:
                found.append((unit, cls))
        return found

    def _defaults(self, inner: View, call: ast.Call, place: int | None) -> Iterator[_Step]:
        """What a function gives back of what it has where ``call`` does not pass it."""
        function = inner.scope
        if not isinstance(function, NamedFunction):
            return
        holder = self._project.view(inner.unit, self._project.scope_of(inner.unit, function))
        given = named_defaults(function.args)
        for value in _given_back(inner, place) if given else ():
            for name in {d.path[0] for d in self._tracer.behind(inner, value)} & given.keys():
                passed = argument_for(call, function, name, inner.cls is not None)
                if passed is None or passed is given[name]:
                    yield _Step(holder, None, given[name], True)

    def _before(self, view: View, value: ast.expr, way: _Way) -> Iterable[Def]:
        if way is _Way.MADE:
            return self._tracer.behind(view, value)
        if way is _Way.PERHAPS:
            return value_may_be(value, view.flow, view.kinds)
        path = path_of(value)
        if way is not _Way.SAME and path is None:
            return ()
        named = named_by(value, view)
        if path is not None and path[1:] and any(d.kind is Kind.IMPORT for d in named):
            return [Def(path, Kind.ENTRY, None)]  # a value of another module, and not all of it
        return named

    def _definition(self, step: _Step, made: Def, way: _Way) -> Iterator[_Step]:
        """Where a definition has its value from."""
        view, called = step.view, step.called
        me = view.kinds.self_name
        if made.path == (me,) or (made.kind in _CODE and made.kind is not Kind.IMPORT):
            return
        if made.kind is Kind.PARAM or _is_part_of_handed(made, view):
            if not called:
                yield from self._handed_in(view, made, way)
        elif made.kind is Kind.ENTRY and made.path[0] == me:
            yield from self._attribute(view, made.path[1].lstrip("."), way)
        elif made.kind in (Kind.ENTRY, Kind.IMPORT):
            yield from self._outer(view, made)
        elif made.kind is Kind.MUTATE:
            yield from (_Step(view, u.made, None, called) for u in made.before)
        elif made.value is not None:
            place = place_of(made)
            taken = made.kind not in (Kind.ASSIGN, Kind.AUGMENT)
            yield _Step(view, None, made.value, called, -1 if taken and place is None else place)

    def _handed_in(self, view: View, made: Def, way: _Way) -> Iterator[_Step]:
        scope = view.scope
        if not isinstance(scope, ast.FunctionDef | ast.AsyncFunctionDef):
            return
        sites: Iterable[CallSite] = ()
        if isinstance(scope, ast.FunctionDef) and view.cls is not None and scope.name == "__init__":
            sites = calls_of(self._project, view, scope)
        else:
            sites = mentions_of(self._project, view.unit, scope).calls
        default = named_defaults(scope.args).get(made.path[0])
        if default is not None and (way is _Way.MADE or path_of(default) is not None):
            holder = self._project.view(view.unit, self._project.scope_of(view.unit, scope))
            # Of what methods are made with, no flow tells.
            names = {n.id for n in walk(default) if isinstance(n, ast.Name)}
            named = [d for name in sorted(names) for d in holder.flow.given(name)]
            yield from (_Step(holder, each, None, False) for each in named)
        for site in sites:
            given = argument_for(site.call, scope, made.path[0], view.cls is not None)
            if given is not None and given is not default:
                caller = self._project.scope_of(site.unit, site.call)
                part = _part_of(given, made.path[1:])
                yield _Step(self._project.view(site.unit, caller), None, part, False)

    def _attribute(self, view: View, name: str, way: _Way) -> list[_Step]:
        """What an attribute of the object may hold, whose method is ``view``'s."""
        key = (view.scope, name, way)
        if key not in self._kept:
            self._kept[key] = [*self._held(view, name, way)]
        return self._kept[key]

    def _held(self, view: View, name: str, way: _Way) -> Iterator[_Step]:
        project = self._project
        if view.cls is None:
            return
        method = project.effects(view.unit).method(view.cls, name)
        if method is not None:
            inner = project.view(view.unit, method)
            values = _given_back(inner, None) if method.decorator_list else ()
            yield from (_Step(inner, None, value, True) for value in values)
            return
        given = [(view.unit, value) for value in attribute_values(project, view, name)]
        given += inherited_values(project, view, name)
        given += contents(project, view, name)
        for unit, value in given:
            yield self._set(unit, value)
        # What a call is handed may be put in, or be nothing but read.
        put = [] if way is _Way.SAME else [*put_in_by_methods(project, view, name)]
        put += [] if way is _Way.SAME else put_in_by_others(project, view, name)
        yield from (_Step(inner, None, value, False) for inner, value in put)
        family = set(project.family(view.unit, view.cls))
        for unit, node in project.stores(name):
            stored = value_given(unit, node)
            scope = project.scope_of(unit, node)
            if stored is None or project.class_of(unit, scope) in family:
                continue
            if not self._is_strangers(view, unit, node, scope):
                yield self._set(unit, stored)

    def _is_strangers(self, view: View, unit: Unit, node: ast.Attribute, method: Scope) -> bool:
        """Whether a method sets it on its own object, which is none of the class of ``view``."""
        owner, cls = unit.parents.get(method), view.cls
        if not isinstance(owner, ast.ClassDef) or cls is None:
            return False
        if path_of(node.value) != (self_name(unit, method),):
            return False
        if f"{owner.name}." in view.unit.text:
            return False  # ``Other.method(self)``
        if owner.name == cls.name:
            # In another file, one of the same name is a stranger, if neither extends the other.
            return cls.name not in classes(self._project).extending(cls.name)
        return owner.name not in self._kin(cls)

    def _kin(self, cls: ast.ClassDef) -> set[str]:
        """The classes that may have an object in common with ``cls``: a mixin has, with a base."""
        if cls not in self._related:
            known = classes(self._project)
            self._related[cls], pending = {cls.name}, [cls.name]
            while pending:
                name = pending.pop()
                more = (known.extending(name) | known.above(name)) - self._related[cls]
                self._related[cls] |= more
                pending += more
        return self._related[cls]

    def _set(self, unit: Unit, value: ast.expr) -> _Step:
        view = self._project.view(unit, self._project.scope_of(unit, value))
        opened = isinstance(unit.parents[value], ast.Assign) and [
            d for d in view.flow.defs.values() if d.value is value and d.kind is Kind.ELEMENT
        ]
        # What one call gives several of is told apart by what takes each.
        return _Step(view, opened[0] if opened else None, value, False)

    def _outer(self, view: View, made: Def) -> Iterator[_Step]:
        """What a name of a function around, or of the module, holds."""
        outer = outer_definitions(self._project, view, made.path)
        if outer is not None:
            yield from (_Step(outer[0], d, None, False) for d in outer[1])
            return
        if (imported := self._imported(view, made)) is not None:
            for unit, name in homes_of(self._project, imported):
                inner = self._project.view(unit, unit.tree)
                yield from (_Step(inner, d, None, False) for d in inner.flow.given(name))
                yield from self._returned(unit, name)
            return
        if isinstance(view.scope, ast.Module):
            return
        name = made.path[0]
        views = [self._project.view(view.unit, view.unit.tree)]
        sharing = view.unit.once(sharing_names).get(name, ())
        views += [self._project.view(view.unit, function) for function in sharing]
        for inner in views:
            for each in inner.flow.given(name):
                if each.path[: len(made.path)] == made.path[: len(each.path)]:
                    yield _Step(inner, each, None, False)
        for node in view.unit.once(_elements).get(made.path, ()) if made.path[1:] else ():
            inner = self._project.view(view.unit, self._project.scope_of(view.unit, node))
            put = (d for d in inner.flow.given(name) if d.path == made.path)
            yield from (_Step(inner, d, None, False) for d in put)

    def _returned(self, unit: Unit, name: str) -> Iterator[_Step]:
        """What a function of another file gives, beside what it is handed."""
        for stmt in top_level(unit.tree):
            if isinstance(stmt, ast.FunctionDef) and stmt.name == name:
                inner = self._project.view(unit, stmt)
                yield from (_Step(inner, None, v, True) for v in _given_back(inner, None))

    def _imported(self, view: View, made: Def) -> str | None:
        """The import path of a value of the user's that is read there."""
        if made.kind not in (Kind.ENTRY, Kind.IMPORT):
            return None
        steps = module_steps(view.unit, made.path)
        if steps:
            path: str | None = "".join(made.path[:steps])
            path = None if is_of_library(path) else path
        else:
            path, steps = self._import_path(view.unit, made.path[0]), 1
        if path is None:
            return None
        part = made.path[steps : steps + 1]
        return path + (part[0] if part and part[0][0] == "." else "")

    def _import_path(self, unit: Unit, name: str) -> str | None:
        """By which path a file imports a name, if that is no library's."""
        path = import_paths(unit).get(name) or brought_from(self._project, unit, name)
        return None if path is None or is_of_library(path) else path


def _elements(unit: Unit) -> dict[Path, list[ast.Subscript]]:
    """Where elements of containers are set."""
    found: dict[Path, list[ast.Subscript]] = defaultdict(list)
    for node in unit.nodes(ast.Subscript):
        path = path_of(node) if isinstance(node.ctx, ast.Store) else None
        if path is not None:
            found[path].append(node)
    return found


def _puts(unit: Unit) -> dict[str, list[ast.Call]]:
    """The calls that put something into what a name holds, by the name."""
    found: dict[str, list[ast.Call]] = defaultdict(list)
    for call in unit.nodes(ast.Call):
        if isinstance(call.func, ast.Attribute) and call.func.attr in FILLING:
            path = path_of(call.func.value)
            if path is not None:
                found[path[0]].append(call)
    return found


def _is_of_module(project: Project, view: View, path: Path) -> bool:
    """Whether a function reads the name of the module."""
    read = (Kind.ENTRY, Kind.MUTATE)
    own = any(d.path[0] == path[0] and d.kind not in read for d in view.flow.defs.values())
    return not own and outer_definitions(project, view, path) is None


def _given_back(view: View, place: int | None) -> Iterator[ast.expr]:
    """What a function returns, or an element of it."""
    for end in view.flow.returns:
        value = end.value
        if place is not None and isinstance(value, ast.Tuple | ast.List):
            if 0 <= place < len(value.elts):
                yield value.elts[place]
        elif value is not None:
            yield value


def _elements_of(value: ast.expr) -> list[ast.expr]:
    """What a list or dict, as it is written, holds."""
    if isinstance(value, ast.List | ast.Tuple):
        return value.elts
    return value.values if isinstance(value, ast.Dict) else []


def _begun(view: View, start: Def | ast.expr) -> _Step:
    if isinstance(start, Def):
        return _Step(view, start, None, False)
    return _Step(view, None, start, False)


def _is_tensor(step: _Step) -> bool:
    """Whether it is a tensor, or handed in."""
    if step.made is not None and step.made.kind is Kind.PARAM:
        return not _is_outside(step)
    value = step.value if step.made is None else step.made.value
    return value is not None and step.view.kinds.make(value) in (Make.LEAF, Make.TENSOR)


def _is_outside(step: _Step) -> bool:
    """Whether it only stands for a value that was made elsewhere."""
    made, view = step.made, step.view
    assert made is not None
    if made.kind is Kind.PARAM:
        return step.called or made.path == (view.kinds.self_name,)
    return made.kind is Kind.ENTRY or made.kind in _CODE


def _is_simple(made: Def, view: View, imported: frozenset[str]) -> bool:
    """Whether it is a value, and no part of an object, or a container."""
    within = int(
        made.path[0] == view.kinds.self_name
        or (made.kind is Kind.ENTRY and made.path[0] in imported)
    )
    within = max(within, module_steps(view.unit, made.path))
    if made.kind is Kind.ENTRY and not within and made.path[1:]:
        return all(step.startswith("[") for step in made.path[1:])  # ``TENSORS["x"]``
    steps = max(1, len(made.path) - within)
    return steps == 1 and not made.path[-1].startswith(("[", "<"))


def _are_handed_both(source: Def, root: Def, view: View) -> bool:
    """Whether a call hands in both: each call is looked at by itself."""
    handed = root.kind is Kind.PARAM or _is_part_of_handed(root, view)
    return source.kind is Kind.PARAM and handed


def _is_part_of_handed(made: Def, view: View) -> bool:
    """Whether it is what a parameter holds, and no part of the method's own object."""
    base = made.path[:1]
    if made.kind is not Kind.ENTRY or base == (view.kinds.self_name,):
        return False
    return any(u.made.kind is Kind.PARAM and u.made.path == base for u in made.uses)


def _part_of(value: ast.expr, steps: Path) -> ast.expr:
    """What stands at ``["x"]`` of a dict that is written out; all of any other value."""
    if len(steps) == 1 and isinstance(value, ast.Dict):
        for key, each in zip(value.keys, value.values, strict=True):
            if isinstance(key, ast.Constant) and f"[{key.value!r}]" == steps[0]:
                return each
    return value


def _is_holder(value: ast.expr, view: View) -> bool:
    """Whether it is no new tensor: a name, a container, an object, a number."""
    if path_of(value) is not None:
        return True
    if isinstance(value, ast.List | ast.Tuple | ast.Dict | ast.Set | ast.Lambda | ast.Constant):
        return True
    make = view.kinds.make(value)
    if isinstance(value, ast.Call) and view.kinds.makes_object(value):
        return make is not Make.VARIABLE
    return make is Make.PYTHON
