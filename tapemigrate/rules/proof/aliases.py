"""Which definitions are, or may be, merely another name of others."""

from __future__ import annotations

import ast

from tapemigrate.flow.definitions import Def, Kind
from tapemigrate.flow.paths import Path, path_of
from tapemigrate.flow.slices import meant, origins
from tapemigrate.rules.finding import Unit
from tapemigrate.rules.project import View
from tapemigrate.rules.proof.objects.given_out import given_out
from tapemigrate.tape.names.same import may_be
from tapemigrate.tape.ops.returned import element, places_of
from tapemigrate.tape.ops.syntax import given_back


def with_aliases(made: frozenset[Def], view: View) -> frozenset[Def]:
    """The definitions, and those of which they are, or may be, merely another name."""
    found, stack = set(made), list(made)
    while stack:
        current = stack.pop()
        if current.value is None:
            continue
        values = [current.value] if current.kind is Kind.ASSIGN else []
        if current.kind in (Kind.LOOP, Kind.COMPREHENSION):
            values = _listed(current.value, view)
        if current.kind is Kind.ELEMENT:
            values = _unpacked(current, view)
        for value in values:
            new = named_by(value, view) - found
            found |= new
            stack += new
    return frozenset(found)


def perhaps(made: frozenset[Def], view: View) -> frozenset[Def]:
    """The definitions, and those whose tensors they may be as far as anything shows."""
    return made.union(*(may_be(d, view.flow, view.kinds) for d in made))


def _listed(value: ast.expr, view: View) -> list[ast.expr]:
    """The elements of what a loop goes over, where they are written: ``for v in [x, y]``."""
    lists = [value]
    if path_of(value) is not None:
        made = meant(view.flow.reads.get(value, frozenset()), view.flow.reads)
        lists = [d.value for d in made if d.kind is Kind.ASSIGN and d.value is not None]
    return [e for each in lists if isinstance(each, ast.List | ast.Tuple) for e in each.elts]


def _unpacked(made: Def, view: View) -> list[ast.expr]:
    """What an element is that is unpacked from what is written out: ``both = [x, y]; a, b = both``.

    All that is listed, where its place cannot be told.
    """
    value, places = made.value, places_of(made)
    if value is None:
        return []
    whole = value
    if isinstance(value, ast.Subscript) and isinstance(value.slice, ast.Constant):
        place = value.slice.value
        places = (place, *places) if places is not None and type(place) is int else None
        value = value.value
    lists = [value]
    if path_of(value) is not None:
        reads = view.flow.reads
        named = meant(reads.get(value) or reads.get(whole, frozenset()), reads)
        lists = [d.value for d in named if d.kind is Kind.ASSIGN and d.value is not None]
    found: list[ast.expr] = []
    for each in lists:
        if isinstance(each, ast.ListComp | ast.GeneratorExp):
            found.append(each.elt)
        elif isinstance(each, ast.List | ast.Tuple):
            one = element(each, places) if places is not None else None
            found += [one] if one is not None else each.elts
    return found


def named_by(value: ast.expr, view: View) -> frozenset[Def]:
    """What a value may be another name of."""
    names = given_back(value, view.kinds)
    found = frozenset(d for n in names for d in origins(view.flow.reads.get(n, frozenset())))
    return found | _given_out(value, view)


def _given_out(value: ast.expr, view: View) -> frozenset[Def]:
    """The parts of the object that a method of its own gives as they are: ``self.get_x()``."""
    me = view.kinds.self_name
    if not isinstance(value, ast.Call) or view.cls is None or me is None:
        return frozenset()
    # In one order: those that the scope does not read are made here, and all hash alike.
    return frozenset(_entry(view, (me, *part)) for part in sorted(given_out(value, view)))


def _entry(view: View, path: Path) -> Def:
    """A part of the object as the scope found it, one that it reads nowhere as well."""
    read = (d for d in view.flow.defs.values() if d.path == path and d.kind is Kind.ENTRY)
    made = next(read, None)
    if made is None:
        known = view.unit.once(_entries)
        made = known.setdefault((view.scope, path), Def(path, Kind.ENTRY, None))
    return made


def _entries(_: Unit) -> dict[tuple[ast.AST, Path], Def]:
    return {}
