"""Tapes that objects keep for code that is handed them: ``tf.gradients(model.loss, model.x)``.

The class that computes the target opens the tape and keeps it beside the target, for all its
objects. Whoever differentiates it asks the object for its tape.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass

from tapemigrate.flow.definitions import Kind
from tapemigrate.flow.paths import Path, is_super, path_of, text_of
from tapemigrate.flow.slices import backward
from tapemigrate.rules.callgraph.classes import classes
from tapemigrate.rules.callgraph.instances import Instances, instances
from tapemigrate.rules.callgraph.names_in_texts import set_by_text
from tapemigrate.rules.callgraph.places import place_of
from tapemigrate.rules.callgraph.set_without_name import SETTING, set_without_name
from tapemigrate.rules.finding import Unit
from tapemigrate.rules.handing.fixed import fixed_by
from tapemigrate.rules.handing.kept import (
    Kept,
    assignments,
    is_filled,
    is_none,
    kept_request,
    known_sources,
    part_given,
    precede,
    tape_name,
)
from tapemigrate.rules.handing.made_here import MadeHere
from tapemigrate.rules.handing.shared_lists import changed_elsewhere
from tapemigrate.rules.project import Project, View
from tapemigrate.rules.proof.objects.one_object import certain_paths, names_outside
from tapemigrate.source.points import begin
from tapemigrate.source.trees import arguments_of, walk
from tapemigrate.tape.leaf import Sources
from tapemigrate.tape.ops.kinds import Make
from tapemigrate.tape.request import Refusal, Request

_OUTSIDE = (Kind.PARAM, Kind.ENTRY)
# Methods by which a class decides what an object is, or what its attributes are.
_HOOKS = frozenset({"__new__", "__getattribute__", "__setattr__"})
_LEAVES = (Make.LEAF, Make.PYTHON, Make.VARIABLE, Make.FROZEN)


@dataclass(frozen=True, slots=True)
class Held:
    """A tape that ``owner``, an object, can keep for a request, whatever its class: of what.

    ``names`` are the attributes that each of the ``producers`` has to record, ``recorded`` those
    that the request reads and that are settled by that.
    """

    producers: tuple[Producer, ...]
    owner: Path
    names: tuple[frozenset[str], ...]
    recorded: frozenset[Path]
    assumptions: tuple[str, ...]

    @property
    def single(self) -> bool:
        """Whether the source is certainly one tensor."""
        return all(producer.gives_one_tensor() for producer in self.producers)

    @property
    def tape(self) -> str:
        """The tape, as the function calls it that asks it."""
        return f"{text_of(self.owner)}.{self.producers[0].tape}"

    def wanted(self, producer: Producer) -> frozenset[str]:
        """The attributes that this class has to record; none, if it is not one of them."""
        own = [n for p, n in zip(self.producers, self.names, strict=True) if p.key == producer.key]
        return frozenset[str]().union(*own)


def keep_on_object(
    project: Project, view: View, request: Request, sources: Sources, here: MadeHere | None = None
) -> Held | str | None:
    """How the class of the object records the target; why it cannot; None if it is no part of one.

    ``request``, in the scope of ``view``, is differentiated by ``sources``. ``here``: the scope
    makes the object itself.
    """
    if request.unfit_for_others():
        return None
    found = _owner(view, sources)
    if found is None:
        return None
    owner, names = found
    read = _read(view, request, owner) - set(names)
    if not read:
        return None
    made = here.instances if here is not None else instances(project, view, owner)
    shown = f"`{text_of(owner)}`"
    if not made.classes:
        return f"of which class {shown} is cannot be seen"
    if made.other:
        return f"{shown} may be something else, or unfinished, in {made.other}"
    producers = tuple(Producer(project, home, cls, names) for home, cls in made.classes)
    if here is not None and not all(producer.takes_tensors() for producer in producers):
        return None
    if len({producer.tape for producer in producers}) > 1:
        return f"{shown} may be of several classes, which cannot keep it under one name"
    if any(a.is_akin_to(b) for a in producers for b in producers if a is not b):
        return f"{shown} may be of several classes, which have methods in common"
    wanted = list[frozenset[str]]()
    settled = read
    for producer in producers:
        problem = producer.problem(read) or ("" if here is not None else _is_called(view, owner))
        if problem:
            return problem
        needed = {name: producer.needs(name) for name in read}
        wanted.append(frozenset(name for name, need in needed.items() if need))
        if not wanted[-1]:
            return f"`{producer.name}` does not compute the target"
        settled = {name for name in settled if needed[name] is not None}
    assumptions = _assumptions(shown, made)
    for home, cls in made.classes:
        if classes(project).has_unseen_bases(home, cls):
            assumptions.append(f"what `{cls.name}` extends keeps attributes as they are set")
    recorded = frozenset((*owner, f".{name}") for name in settled)
    return Held(producers, owner, tuple(wanted), recorded, tuple(assumptions))


def _assumptions(shown: str, made: Instances) -> list[str]:
    if not made.unseen and not made.stray:
        return []
    which = " or ".join(f"a `{cls.name}` of {home.filename}" for home, cls in made.classes)
    where = f"{shown} is always {which}"
    return [f"{where}, also in {made.stray}" if made.stray else f"{where} ({made.unseen[0]})"]


def _owner(view: View, sources: Sources) -> tuple[Path, list[str]] | None:
    """The object of which all sources are attributes, and their names."""
    owners: set[Path] = set()
    names: list[str] = []
    for leaf in sources.leaves:
        paths = certain_paths(leaf, view)
        if leaf.watch is None or len(paths) != 1:
            return None
        path = next(iter(paths))
        if len(path) < 2 or not path[-1].startswith("."):
            return None
        owners.add(path[:-1])
        names.append(path[-1].lstrip("."))
    if len(owners) != 1 or owners == {(view.kinds.self_name,)}:
        return None
    return owners.pop(), list(dict.fromkeys(names))


def _read(view: View, request: Request, owner: Path) -> set[str]:
    """The attributes of the object of which the target is made."""
    behind = backward(view.flow.uses_in(request.target)).made
    named = names_outside(view, request.target)
    return {p[-1].lstrip(".") for p in named if p[:-1] == owner and p[-1].startswith(".")} | {
        d.path[len(owner)].lstrip(".")
        for d in behind
        if d.kind in _OUTSIDE
        and len(d.path) == len(owner) + 1
        and d.path[: len(owner)] == owner
        and d.path[-1].startswith(".")
    }


def _is_called(view: View, owner: Path) -> str:
    """Whether the scope runs code that may compute the target anew, and open another tape."""
    for node in walk(view.scope):
        if not isinstance(node, ast.Call):
            continue
        given = arguments_of(node)
        path = path_of(node.func)
        if path is not None and len(path) > len(owner) and path[: len(owner)] == owner:
            return f"`{text_of(path)}` is called here, which may compute the target anew"
        if any(path_of(g) == owner for g in given):
            return f"`{text_of(owner)}` is handed on here, and may compute the target anew there"
    return ""


class Producer:
    """A class that computes targets: which method does, and what else may set them."""

    def __init__(self, project: Project, unit: Unit, cls: ast.ClassDef, names: list[str]) -> None:
        self._project = project
        self._unit = unit
        self._cls = cls
        self._sources = names
        self.tape = tape_name(project, unit, cls, "_".join(names))

    @property
    def key(self) -> tuple[ast.ClassDef, str]:
        """The same for all requests that share a tape."""
        return self._cls, self.tape

    @property
    def name(self) -> str:
        """The name of the class."""
        return self._cls.name

    def is_akin_to(self, other: Producer) -> bool:
        """Whether one method may be a method of both classes."""
        return bool(self._lineage() & other._lineage())

    def is_method(self, view: View) -> bool:
        """Whether the scope is a method of the class."""
        return view.cls in self._lineage()

    def _lineage(self) -> set[ast.ClassDef]:
        return set(self._project.effects(self._unit).lineage(self._cls))

    def problem(self, read: set[str]) -> str:
        """Why no tape can be kept on objects of the class."""
        project, unit, cls = self._project, self._unit, self._cls
        if unit.filename not in project.asked:
            return f"`{cls.name}` stands in a file that is not changed along with this one"
        if cls.decorator_list or cls.keywords:
            return f"`{cls.name}` may not take an attribute more, as it is made"
        if name := fixed_by(project, unit, cls, read):
            return f"`{cls.name}` may not take an attribute more, for `{name}`"
        methods = {
            m.name for c in self._lineage() for m in c.body if isinstance(m, ast.FunctionDef)
        }
        if methods & _HOOKS:
            return f"`{cls.name}` decides itself what its objects are"
        for name in (cls.name, "__init__"):
            for user, store in project.stores(name):
                return f"`{name}` is set anew in {place_of(unit, user, store)}"
        if any(n.id == cls.name and isinstance(n.ctx, ast.Store) for n in unit.nodes(ast.Name)):
            return f"`{cls.name}` is defined more than once"
        for user in project.units.having(*SETTING):
            for node in set_without_name(user):
                owner = project.class_of(user, project.scope_of(user, node))
                own = (path_of(node) == ("self",) or is_super(node)) and owner is not None
                if not own or owner in project.family(unit, cls):
                    return (
                        "attributes are set by `setattr` or `__dict__`, under names that cannot be "
                        f"seen, in {place_of(unit, user, node)}"
                    )
        for name in (*self._sources, *sorted(read)):
            if project.foreign_stores(unit, cls, name):
                return f"other code sets `{name}` on the object"
            if again := set_by_text(project, unit, name):
                return again
        return ""

    def gives_one_tensor(self) -> bool:
        """Whether there is one source, and it is one tensor."""
        made = self._made(self._sources[0])
        value = part_given(made[0], self._sources[0]) if len(made) == 1 else None
        if value is None or len(self._sources) > 1:
            return False
        view = self._project.view(self._unit, self._project.scope_of(self._unit, made[0]))
        return view.kinds.make(value) in (Make.LEAF, Make.TENSOR)

    def takes_tensors(self) -> bool:
        """Whether no source can be variables, which code in sight of no name may have made."""
        for name in self._sources:
            for stmt in self._made(name):
                value = part_given(stmt, name)
                scope = self._project.scope_of(self._unit, stmt)
                kinds = self._project.view(self._unit, scope).kinds
                plain = isinstance(value, ast.Name) or (
                    value is not None and kinds.make(value) in (Make.LEAF, Make.TENSOR)
                )
                if not plain and not (isinstance(value, ast.Call) and kinds.gives_tensors(value)):
                    return False
        return True

    def needs(self, name: str) -> bool | None:
        """Whether a tape has to record the attribute: not if nothing can have been made for it.

        None: that cannot be told, and whoever judges the target has to know it otherwise.
        """
        project, unit = self._project, self._unit
        made = self._made(name)
        scope = project.scope_of(unit, made[0]) if len(made) == 1 else None
        if not isinstance(scope, ast.FunctionDef):
            return None
        value = part_given(made[0], name)
        return value is None or project.view(unit, scope).kinds.make(value) not in _LEAVES

    def kept(self, names: frozenset[str], request: Request) -> Kept | str:
        """Where a tape that is kept records all these attributes, or why none can."""
        places = sorted(((self._made(n)[0], n) for n in names), key=lambda p: begin(p[0]))
        scopes = {self._project.scope_of(self._unit, stmt) for stmt, _ in places}
        if len(scopes) > 1:
            return f"several methods of `{self._cls.name}` compute what the target is made of"
        producer = self._project.view(self._unit, scopes.pop())
        values: list[ast.expr] = []
        for stmt, name in places:
            if problem := self._unfit(producer, stmt, name):
                return problem
            value = part_given(stmt, name)
            if value is None and isinstance(stmt.value, ast.Call):
                value = stmt.value if precede(producer, stmt, self._sources) else None
            if value is None:
                return f"`{name}` of `{self._cls.name}` is one of several values"
            values.append(value)
        known = known_sources(self._project, producer, places[0][0], self._sources)
        if isinstance(known, Refusal):
            return known.reason
        target = values[0] if len(values) == 1 else ast.List(values, ast.Load())
        asked = kept_request(request, places[-1][0], target, known)
        asked.beside = tuple(stmt for stmt, _ in places[:-1])
        return Kept(producer, asked, self.tape)

    def _made(self, name: str) -> list[ast.Assign]:
        found = assignments(self._project, self._unit, self._cls, name)
        return [a for a in found if not is_none(a.value)]

    def _unfit(self, producer: View, stmt: ast.Assign, name: str) -> str:
        """Why what is computed in the method is not what the object has when it is asked."""
        project, unit, cls = self._project, self._unit, self._cls
        scope = producer.scope
        assert isinstance(scope, ast.FunctionDef)
        if unit.parents[scope] not in self._lineage():
            return f"`{name}` is not computed by a method of `{cls.name}`"
        if project.effects(unit).method(cls, scope.name) is not scope:
            return f"`{scope.name}` is overridden in `{cls.name}`"
        if project.foreign_stores(unit, cls, scope.name) or self._made(scope.name):
            return f"`{scope.name}` is set anew"
        for source in self._sources:
            if len(made := self._made(source)) != 1:
                return f"`{source}` of `{cls.name}` is set in {len(made) or 'no'} places"
        me = producer.kinds.self_name
        targets = [t for t in walk(stmt) if isinstance(t, ast.Attribute) and t.attr == name]
        if any(path_of(t.value) != (me,) for t in targets if isinstance(t.ctx, ast.Store)):
            return f"`{name}` is set on another object there"
        if isinstance(stmt, ast.Assign) and is_filled(project, producer, stmt, name):
            return f"`{name}` may be filled or changed once it is made"
        if isinstance(stmt, ast.Assign):
            if changed := changed_elsewhere(project, producer, stmt, name):
                return changed
        if producer.flow.yields or producer.blocks.loops_around(stmt):
            return f"`{name}` is computed in a loop, or by a generator"
        if scope.name != "__init__" and not self._always(stmt, scope):
            return f"`{scope.name}` may run again, and leave `{name}` as it was"
        return ""

    def _always(self, stmt: ast.stmt, scope: ast.FunctionDef) -> bool:
        """Whether the attribute is given its value whenever the method runs."""
        node: ast.AST = stmt
        while node is not scope:
            node = self._unit.parents[node]
            if not isinstance(node, ast.With | ast.FunctionDef):
                return False
        first = [n for n in walk(scope) if isinstance(n, ast.Return)]
        return not any(begin(n) < begin(stmt) for n in first)
