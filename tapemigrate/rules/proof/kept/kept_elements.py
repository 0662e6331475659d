"""A source that is an element of a list or dict of the object, and another element of it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import NamedTuple

from tapemigrate.flow.paths import Path, path_of, text_of
from tapemigrate.flow.slices import origins
from tapemigrate.rules.callgraph.assigned import attribute_values
from tapemigrate.rules.finding import Unit
from tapemigrate.rules.project import Project, View
from tapemigrate.rules.proof.verdicts import wrong
from tapemigrate.rules.values.objects.attributes import bases_elsewhere, inherited_values
from tapemigrate.rules.values.objects.put_in import put_in_by_methods, put_in_by_others
from tapemigrate.rules.values.provenance import Tracer
from tapemigrate.rules.values.traces import Provenance
from tapemigrate.source.trees import walk
from tapemigrate.tape.names.same import value_may_be
from tapemigrate.tape.ops.kinds import INDEPENDENT, Make
from tapemigrate.tape.request import Refusal


class _Element(NamedTuple):
    """What may be an element; ``step`` is how it is asked for, None where that is not written."""

    view: View
    step: str | None
    value: ast.expr


def made_of_element(
    project: Project, tracer: Tracer, view: View, text: str, source: Path
) -> str | Refusal | None:
    """What is known of ``text``, which comes out of the container of the element ``source``."""
    container = text_of(source[:2])
    path = path_of(ast.parse(text, mode="eval").body) or source[:2]
    other = path[2] if len(path) > 2 else None
    if other == source[2]:
        return None
    elements = list(_elements(project, view, source[1].lstrip(".")))
    own = [e for e in elements if e.step in (None, source[2])]
    unsure = False
    for each in elements:
        if each.step not in (None, other) and other is not None:
            continue
        if each.step == source[2] or each.view.kinds.make(each.value) in INDEPENDENT:
            continue
        traced = tracer.value(each.view, each.value)
        if any(_is_made_of(each, traced, mine) for mine in own if mine is not each) or any(
            made.path[:3] == source for made in traced.defs
        ):
            shown = f"{container}{each.step}" if other is None and each.step else text
            return wrong(shown, f"put into `{container}` before", f"`{text_of(source)}`")
        reads_container = source[1].lstrip(".") in traced.attributes
        unsure |= traced.blind or reads_container or each in own
    return f"`{text}` was not computed from `{text_of(source)}`" if unsure else None


def is_new_element(project: Project, view: View, source: Path) -> bool:
    """Whether all that may be the element ``source`` is what ops give, and slices, put in there."""
    own = [
        e for e in _elements(project, view, source[1].lstrip(".")) if e.step in (None, source[2])
    ]
    return bool(own) and all(_is_new(each) for each in own)


def _is_new(each: _Element) -> bool:
    value, kinds = each.value, each.view.kinds
    cut = isinstance(value, ast.Subscript) and isinstance(value.slice, ast.Tuple)
    if not cut and kinds.make(value) not in (Make.TENSOR, Make.LEAF):
        return False
    return not value_may_be(value, each.view.flow, kinds)


def _is_made_of(each: _Element, traced: Provenance, source: _Element) -> bool:
    """Whether an element was made of what another one is another name of."""
    path = path_of(source.value)
    if path is None:
        return False
    if origins(source.view.flow.uses_in(source.value)) & traced.defs:
        return True
    own = path[0] == source.view.kinds.self_name and len(path) > 1
    return own and path[1].lstrip(".") in traced.attributes


def _elements(project: Project, view: View, name: str) -> Iterator[_Element]:
    """All that is put into ``self.name`` in sight."""
    given = [(view.unit, value) for value in attribute_values(project, view, name)]
    for unit, value in [*given, *inherited_values(project, view, name)]:
        inner = project.view(unit, project.scope_of(unit, value))
        for step, each in _listed(value):
            yield _Element(inner, step, each)
    set_so: set[ast.expr] = set()
    for unit, cls in _classes(project, view):
        for stmt in walk(cls):
            for target in stmt.targets if isinstance(stmt, ast.Assign) else ():
                path = path_of(target)
                if isinstance(stmt, ast.Assign) and path is not None and path[1:2] == (f".{name}",):
                    if len(path) == 3 and path[2].startswith("["):
                        set_so.add(stmt.value)
                        inner = project.view(unit, project.scope_of(unit, stmt))
                        yield _Element(inner, path[2], stmt.value)
    for put in (put_in_by_methods, put_in_by_others):
        for inner, value in put(project, view, name):
            if value not in set_so:
                for step, each in _listed(value):
                    yield _Element(inner, step if isinstance(value, ast.Dict) else None, each)


def _classes(project: Project, view: View) -> list[tuple[Unit, ast.ClassDef]]:
    if view.cls is None:
        return []
    family = [(view.unit, cls) for cls in project.family(view.unit, view.cls)]
    return [*family, *bases_elsewhere(project, view)]


def _listed(value: ast.expr) -> Iterator[tuple[str | None, ast.expr]]:
    """The elements of a display, with how they are asked for; else the value, that holds some."""
    match value:
        case ast.Dict(keys=keys, values=values):
            for key, each in zip(keys, values, strict=True):
                step = f"[{key.value!r}]" if isinstance(key, ast.Constant) else None
                yield step, each
        case ast.List(elts=elts) | ast.Tuple(elts=elts):
            yield from ((f"[{place}]", each) for place, each in enumerate(elts))
        case ast.Call(func=ast.Name(id="dict"), args=[], keywords=keywords):
            for word in keywords:
                yield (f"[{word.arg!r}]" if word.arg is not None else None), word.value
        case _:
            yield None, value
