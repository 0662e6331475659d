"""Tapes that are kept on ``self``: one method computes the target, another one differentiates it.

The tape is opened where the target is computed, and is kept beside it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from tapemigrate.flow.definitions import Def, Kind
from tapemigrate.flow.functions import NamedFunction
from tapemigrate.flow.paths import path_of, text_of
from tapemigrate.flow.slices import origins
from tapemigrate.flow.unpacking import each_written
from tapemigrate.rules.callgraph.assigned import given_in_body
from tapemigrate.rules.callgraph.classes import classes
from tapemigrate.rules.callgraph.places import place_of
from tapemigrate.rules.finding import Unit
from tapemigrate.rules.handing.fixed import fixed_by
from tapemigrate.rules.handing.run_again import runs_again
from tapemigrate.rules.handing.set_before import set_too_late
from tapemigrate.rules.handing.set_elsewhere import set_elsewhere
from tapemigrate.rules.handing.shared_lists import changed_elsewhere, filled_by_call
from tapemigrate.rules.indexes import set_attributes
from tapemigrate.rules.project import Project, View
from tapemigrate.rules.values.objects.attributes import contents, inherited_values
from tapemigrate.rules.values.variables.variable_lists import listed_as
from tapemigrate.source.points import begin
from tapemigrate.source.trees import kept, walk
from tapemigrate.tape.leaf import Leaf, Sources
from tapemigrate.tape.ops.kinds import Make
from tapemigrate.tape.request import Refusal, Request

RECIPE = (
    "Open the tape in the method that computes the target and keep it beside the target: "
    "`with tf.GradientTape(persistent=True) as self._tape:`; here, ask `self._tape`."
)


CONTAINERS = (ast.List, ast.Tuple, ast.Dict, ast.ListComp, ast.DictComp)


@dataclass(frozen=True, slots=True)
class Kept:
    """Where the tape has to be opened: ``request`` stands there, in the scope of ``view``.

    ``tape`` is the attribute that keeps it. ``several``: the target is a list or a dict.
    """

    view: View
    request: Request
    tape: str
    several: bool = False


def keep(
    project: Project, view: View, request: Request, name: str, sources: Sources
) -> Kept | Refusal:
    """How ``self.name``, of which the target is made, can be recorded by the method that sets it.

    ``request`` is differentiated by ``sources``.
    """
    cls, unit = view.cls, view.unit
    refusal = unfit(project, view, request, name)
    if refusal is not None or cls is None:
        return refusal or refused("there is no object beside it that could keep a tape")
    stmt = set_once(project, view, name)
    if project.effects(unit).method(cls, name) is not None:
        reason = f"`self.{name}` reads of its object what may have been made of the source before"
        return Refusal(reason, RECIPE)
    if isinstance(stmt, Refusal):
        return stmt
    scope = project.scope_of(unit, stmt)
    if scope is view.scope:
        reason = f"`self.{name}` may come of an earlier run of this method, which sets it in line"
        return Refusal(f"{reason} {stmt.lineno}, where no tape is left of it", RECIPE)
    if not isinstance(scope, ast.FunctionDef):
        return refused(f"`self.{name}` is not set by a method of this file")
    if again := runs_again(project, view, request, name, scope):
        return refused(again)
    producer = project.view(unit, scope)
    if is_filled(project, producer, stmt, name):
        return refused(f"`self.{name}` may be filled or changed once it is made")
    if changed := changed_elsewhere(project, producer, stmt, name):
        return refused(changed)
    wanted = wanted_by(project, view, sources)
    if isinstance(wanted, Refusal):
        return wanted
    if problem := set_elsewhere(project, view, [name, *filter(None, wanted)]):
        return refused(problem)
    tape = tape_name(project, unit, cls, name)
    value = part_given(stmt, name)
    if value is None and isinstance(stmt.value, ast.Call) and precede(producer, stmt, wanted):
        value, tape = stmt.value, tape_name(project, unit, cls, _first(stmt) or name)
    if value is not None:
        known = known_sources(project, producer, stmt, wanted)
        if isinstance(known, Refusal):
            return known
        several = isinstance(value, CONTAINERS)
        return Kept(producer, kept_request(request, stmt, value, known), tape, several)
    return _returned(project, producer, stmt, name, wanted, request, tape)


def unfit(project: Project, view: View, request: Request, name: str) -> Refusal | None:
    """Why no method of the class can keep a tape for ``request``, of ``self.name``."""
    cls, unit = view.cls, view.unit
    if cls is None:
        return refused("there is no object beside it that could keep a tape")
    if reason := request.unfit_for_others():
        return refused(reason)
    if name_of_what := fixed_by(project, unit, cls, {name}):
        return refused(f"its class may not take an attribute more, for `{name_of_what}`")
    if project.foreign_stores(unit, cls, name):
        return refused(f"other code sets `{name}` on the object")
    return None


def refused(reason: str) -> Refusal:
    """That no method keeps a tape, and why."""
    return Refusal(f"the target was computed in another method, and {reason}", RECIPE)


def assignments(project: Project, unit: Unit, cls: ast.ClassDef, name: str) -> Iterator[ast.Assign]:
    """Where the class gives the attribute a value; twice what is no plain assignment."""
    for node in set_within(project, unit, cls, name):
        stmt: ast.AST = node
        while not isinstance(stmt, ast.stmt):
            stmt = unit.parents[stmt]
        # What is no plain assignment counts twice: it cannot be followed.
        yield from [stmt] if isinstance(stmt, ast.Assign) else [_NEVER, _NEVER]


def set_once(project: Project, view: View, name: str) -> ast.Assign | Refusal:
    """The one place at which the class gives the attribute a value, or that there is no such."""
    assert view.cls is not None
    if _is_set_in_a_body(project, view.unit, view.cls, name):
        return refused(f"the body of a class has a `{name}` of its own, which has no tape")
    found = assignments(project, view.unit, view.cls, name)
    made = [a for a in found if not is_none(part_given(a, name) or a.value)]
    if len(made) == 1:
        return made[0]
    above = [place_of(view.unit, *each) for each in inherited_values(project, view, name)]
    places = f"in {above[0]}, by a class above" if above else "in no place of its class"
    return refused(f"`self.{name}` is set {'in more than one place' if made else places}")


def _is_set_in_a_body(project: Project, unit: Unit, cls: ast.ClassDef, name: str) -> bool:
    """Whether the body of the class, or of one that extends it or that it extends, has the name."""
    known = classes(project)
    related = {cls.name, *known.extending(cls.name), *known.above(cls.name)}
    family = {*project.family(unit, cls), *(c for each in related for _, c in known.named(each))}
    return any(
        any(not is_none(value) for value in given_in_body(each, name))
        or any(isinstance(s, NamedFunction) and s.name == name for s in each.body)
        for each in family
    )


def set_within(
    project: Project, unit: Unit, cls: ast.ClassDef, name: str
) -> Iterator[ast.Attribute]:
    """Where the class, and those that it extends or that extend it, set or delete the attribute."""
    family = set(project.family(unit, cls))
    for node in unit.once(set_attributes).get(name, ()):
        above: ast.AST | None = node
        while above is not None and above not in family:
            above = unit.parents.get(above)
        if above is not None:
            yield node


_NEVER = ast.Assign([], ast.Name("never", ast.Load()))


def is_filled(project: Project, producer: View, stmt: ast.Assign, name: str) -> bool:
    """Whether something is put into the attribute after ``stmt``, where its tape has ended."""
    if contents(project, producer, name):
        return True
    value = part_given(stmt, name) or stmt.value
    given = [target for target, each in each_written(stmt) if each is value]
    names = [path_of(node) for node in (*given, value)]
    return any(
        path is not None
        and d.path[: len(path)] == path
        and (d.kind is Kind.MUTATE or len(d.path) > len(path))
        and d.kind is not Kind.ENTRY
        and d.stmt is not None
        and begin(d.stmt) > begin(stmt)
        for path in names
        for d in producer.flow.defs.values()
    )


def is_none(value: ast.expr) -> bool:
    """Whether it is a None that is written there."""
    return isinstance(value, ast.Constant) and value.value is None


def wanted_by(project: Project, view: View, sources: Sources) -> list[str] | Refusal:
    """The attributes that are differentiated by; variables watch themselves."""
    found: list[str] = []
    cls = view.cls
    assert cls is not None
    for leaf in sources.leaves:
        if leaf.watch is None:
            continue
        # ``x = self.x`` is another name of it; that it is set once is looked at below.
        paths = {
            path_of(d.value) if d.kind is Kind.ASSIGN and d.value is not None else d.path
            for d in leaf.defs
        }
        path = next(iter(paths)) if len(paths) == 1 else ()
        entry = all(d.kind in (Kind.ENTRY, Kind.ASSIGN) for d in leaf.defs)
        if path is None or len(path) != 2 or path[0] != view.kinds.self_name or not entry:
            return refused(f"`{leaf.watch}` cannot be watched there")
        name = path[1].lstrip(".")
        stmt = set_once(project, view, name)
        if isinstance(stmt, Refusal):
            return stmt
        if filled := filled_by_call(project, view, name):
            return refused(filled)
        found.append(name)
    if any(leaf.variables for leaf in sources.leaves):
        found.append("")
    return found


def part_given(stmt: ast.Assign, name: str) -> ast.expr | None:
    """What the statement gives the attribute by itself; None where a call gives several values.

    ``self.state, self.out = state, out`` gives each its own.
    """
    for target, value in each_written(stmt):
        if isinstance(target, ast.Attribute) and target.attr == name:
            return value
    return None


def _first(stmt: ast.Assign) -> str:
    """The first attribute that is given a part of what the statement unpacks."""
    nodes = (n for target in stmt.targets for n in walk(target))
    return next((n.attr for n in nodes if isinstance(n, ast.Attribute)), "")


def _place(stmt: ast.Assign, name: str) -> int | None:
    """Which element of what is unpacked the attribute is given."""
    for target in stmt.targets:
        if isinstance(target, ast.Tuple | ast.List):
            for place, part in enumerate(target.elts):
                if isinstance(part, ast.Attribute) and part.attr == name:
                    return place
    return None


def known_sources(
    project: Project, producer: View, stmt: ast.stmt, wanted: list[str]
) -> Sources | Refusal:
    """The sources, attributes of ``self``, as the method that computes the target sees them."""
    known = Sources(single=False, listed=True)
    me = producer.kinds.self_name or "self"
    for name in wanted:
        if not name:
            known.leaves.append(Leaf(frozenset(), None, True, True, variables=True))
            continue
        path = (me, f".{name}")
        made = [d for d in producer.flow.defs.values() if d.path == path]
        own = [d for d in made if d.kind not in (Kind.ENTRY, Kind.MUTATE)]
        filled = contents(project, producer, name)
        variables = None if filled else _variables(project, producer, own, f"{me}.{name}")
        if variables is not None:
            known.leaves.append(variables)
            continue
        if any(isinstance(d.value, ast.List | ast.Dict | ast.Set) for d in own):
            return refused(f"the elements of `self.{name}` go by other names there")
        if (local := _named_before(producer, own)) is not None:
            known.leaves.append(Leaf(frozenset({local}), text_of(local.path), False, None))
            continue
        if len(own) > 1 or any(d.stmt is None or begin(d.stmt) > begin(stmt) for d in own):
            return refused(f"`self.{name}` is set after the target")
        if not own and (late := set_too_late(project, producer, name)):
            return refused(late)
        entry = [d for d in made if d.kind is Kind.ENTRY] or [Def(path, Kind.ENTRY, None)]
        # ``self.x = x``: the forward pass may use the one name as well as the other.
        same = [d for d in own if d.value is not None and path_of(d.value) is not None]
        others = frozenset(o for d in same for o in origins(d.uses))
        defs = frozenset(own or entry) | others
        outside = not own or any(o.kind in (Kind.PARAM, Kind.ENTRY) for o in others)
        known.leaves.append(Leaf(defs, f"{me}.{name}", outside, None))
    return known


def _named_before(producer: View, own: list[Def]) -> Def | None:
    """``x = tf.identity(z); y = f(x); self.x = x``: the source by the name that it is used by."""
    made = own[0] if len(own) == 1 and own[0].kind is Kind.ASSIGN else None
    if made is None or not isinstance(made.value, ast.Name):
        return None
    found = origins(made.uses)
    local = next(iter(found)) if len(found) == 1 else None
    if local is None or local.kind is not Kind.ASSIGN or local.path != path_of(made.value):
        return None
    if len([d for d in producer.flow.defs.values() if d.path == local.path]) > 1:
        return None  # the name may be given something else, or what it holds be changed
    uses = (d for d in producer.flow.defs.values() if local in {u.made for u in d.uses})
    return local if any(d.order < made.order and d is not made for d in uses) else None


def precede(producer: View, stmt: ast.Assign, wanted: list[str]) -> bool:
    """Whether the sources are trainable variables, or were made in the same method before."""
    if wanted == [""]:
        return True
    for name in wanted:
        path = (producer.kinds.self_name or "self", f".{name}")
        made = [d for d in producer.flow.defs.values() if d.path == path]
        places = [begin(d.stmt) for d in made if d.kind is Kind.ASSIGN and d.stmt is not None]
        if not places or max(places) >= begin(stmt):
            return False
    return True


def _variables(project: Project, producer: View, own: list[Def], text: str) -> Leaf | None:
    """What a tape watches by itself, wherever it is looked up."""
    if len(own) != 1 or own[0].kind is not Kind.ASSIGN or own[0].value is None:
        return None
    value, made = own[0].value, origins(own[0].uses)
    if isinstance(value, ast.Name) and len(made) == 1:
        named = next(iter(made))
        if named.kind is Kind.ASSIGN and named.path == path_of(value) and named.value is not None:
            value = named.value
    make = listed_as(project, producer, value)
    if make not in (Make.VARIABLES, Make.ANY_VARIABLES):
        return None
    sentence = f"every variable in `{text}` is trainable" if make is Make.ANY_VARIABLES else None
    return Leaf(frozenset(), None, True, True, variables=True, assumption=sentence)


def kept_request(
    request: Request, stmt: ast.stmt, target: ast.expr, known: Sources | None = None
) -> Request:
    """What the tape has to record, as if it were asked for where it is computed."""
    return Request(
        request.call,
        stmt.targets[0] if isinstance(stmt, ast.Assign) else request.node,
        stmt,
        "kept",
        target,
        ast.List([], ast.Load()),
        often=True,
        known=known,
    )


def _returned(
    project: Project,
    producer: View,
    stmt: ast.Assign,
    name: str,
    wanted: list[str],
    request: Request,
    tape: str,
) -> Kept | Refusal:
    """The method that returns target and sources together, and is called for that alone."""
    call, place = stmt.value, _place(stmt, name)
    path = path_of(call.func) if isinstance(call, ast.Call) else None
    if not isinstance(call, ast.Call):
        return refused(f"`self.{name}` is set beside others in line {stmt.lineno}")
    if place is None or path is None or len(path) != 2 or path[0] != producer.kinds.self_name:
        return refused(f"`self.{name}` is one of several values that a call gave")
    assert producer.cls is not None
    method = path[1].lstrip(".")
    function = project.effects(producer.unit).method(producer.cls, method)
    if not isinstance(function, ast.FunctionDef) or _mentions(project, producer, method) != 1:
        return refused(f"`{method}`, which gives it, is called more than once")
    view = project.view(producer.unit, function)
    returns = view.flow.returns
    value = returns[0].value if len(returns) == 1 else None
    if not isinstance(value, ast.Tuple | ast.List) or view.kinds.self_name is None:
        return refused(f"`{method}` does not return it in one place")
    if view.flow.yields or place >= len(value.elts):
        return refused(f"`{method}` does not return it in one place")
    found: list[ast.expr] = []
    for each in wanted:
        there = _place(stmt, each) if each else None
        if each and (there is None or there >= len(value.elts)):
            return refused(f"`self.{each}` is not made beside it")
        if there is not None:
            found.append(value.elts[there])
    made = kept_request(request, returns[0], value.elts[place])
    made.sources, made.variables = ast.List(found, ast.Load()), "" in wanted
    return Kept(view, made, tape)


def _mentions(project: Project, view: View, method: str) -> int:
    """How often the method may be meant: on ``self`` of another class, another one is."""
    assert view.cls is not None
    found = project.mentions(method)
    places = [(c.unit, c.call.func) for c in found.calls] + list(found.others)
    family = project.family(view.unit, view.cls)
    count = 0
    for unit, node in places:
        cls = project.class_of(unit, project.scope_of(unit, node))
        owner = node.value if isinstance(node, ast.Attribute) else None
        own = isinstance(owner, ast.Name) and owner.id in ("self", view.kinds.self_name)
        elsewhere = cls is not None and cls not in family and not _extends(cls, family)
        count += not (own and elsewhere)
    return count


def _extends(cls: ast.ClassDef, family: list[ast.ClassDef]) -> bool:
    names = {each.name for each in family}
    return any((path_of(base) or ("",))[-1].lstrip(".") in names for base in cls.bases)


def tape_name(project: Project, unit: Unit, cls: ast.ClassDef, target: str) -> str:
    """``_loss_tape``, or a name of its own where the class has such an attribute already."""
    taken = frozenset().union(*(kept(each, _attributes) for each in project.family(unit, cls)))
    wish, number = f"_{target.lstrip('_')}_tape", 2
    while wish in taken:
        wish, number = f"_{target.lstrip('_')}_tape{number}", number + 1
    return wish


def _attributes(cls: ast.AST) -> frozenset[str]:
    """The names of all attributes that stand in a class."""
    return frozenset(node.attr for node in walk(cls) if isinstance(node, ast.Attribute))
