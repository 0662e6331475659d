"""What the search for regions is told of one scope: its values, sources and siblings."""

from __future__ import annotations

from tapemigrate.flow.definitions import Kind
from tapemigrate.flow.paths import Path
from tapemigrate.rules.callgraph.assigned import attribute_values
from tapemigrate.rules.callgraph.enclosing import outer_definitions
from tapemigrate.rules.handing.shared_lists import filled_by_call
from tapemigrate.rules.project import Project, View
from tapemigrate.rules.proof.callers.siblings import Siblings
from tapemigrate.rules.proof.kept.kept_results import KeptResults
from tapemigrate.rules.proof.sources.found_new import may_find_new
from tapemigrate.rules.values.containers.list_signs import ListSigns
from tapemigrate.rules.values.containers.own_lists import is_filled_here
from tapemigrate.rules.values.containers.shape_evidence import ShapeEvidence, is_opened
from tapemigrate.rules.values.deferred import deferred
from tapemigrate.rules.values.objects.attributes import contents
from tapemigrate.rules.values.objects.set_anew import may_be_set_anew
from tapemigrate.rules.values.parts_apart import parts_apart
from tapemigrate.rules.values.plain.optional import given_for
from tapemigrate.rules.values.plain.plain_objects import gives_numbers, is_plain_object
from tapemigrate.rules.values.plain.plain_sources import plain_source
from tapemigrate.rules.values.provenance import Tracer
from tapemigrate.rules.values.variables.fillers import fills
from tapemigrate.rules.values.variables.made_objects import making
from tapemigrate.rules.values.variables.module_variables import are_variables, is_trainable
from tapemigrate.rules.values.variables.named_variables import named_variables
from tapemigrate.rules.values.variables.trainable import trainable
from tapemigrate.rules.values.variables.variable_lists import (
    given_list,
    is_one_variable,
    listed_as,
    unpacked,
)
from tapemigrate.rules.values.variables.variable_values import holds_variables
from tapemigrate.rules.values.variables.variables_around import variables_around
from tapemigrate.tape.leaf import Sources
from tapemigrate.tape.ops.kinds import Make
from tapemigrate.tape.placing.regions import RegionFinder
from tapemigrate.tape.sources.source_evidence import SourceEvidence
from tapemigrate.tape.sources.sources import SourceReader


def finder_of(project: Project, view: View, tracer: Tracer, by_name: bool = False) -> RegionFinder:
    """Finds regions in the scope; ``by_name``: parameters called so count as variables."""
    return RegionFinder(
        view.flow,
        view.blocks,
        view.kinds,
        _reader_of(project, view, tracer, by_name),
        view.unit.parents,
        Siblings(project, view).apart,
        lambda path, source: parts_apart(project, view, path, source),
        lambda path: _is_own_variable(project, tracer, view, path),
        deferred(project, view),
        lambda name: is_plain_object(project, view.unit, name),
        lambda call: gives_numbers(project, view, call),
        lambda value, source: may_find_new(project, view, value, source),
    )


def _reader_of(project: Project, view: View, tracer: Tracer, by_name: bool = False) -> SourceReader:
    unit = view.unit
    evidence = SourceEvidence(
        segment=lambda n: unit.lines.segment(unit.lines.span(n)),
        single=ShapeEvidence(project, view),
        holds_variables=lambda path: _holds_variables(project, tracer, view, path),
        kept_values=lambda path: kept_values(project, view, path),
        listed=lambda node: given_list(project, view, node),
        elements=lambda node: given_list(project, view, node, taken=True),
        gives_variable=lambda node: is_one_variable(project, view, node),
        unpacks=lambda made: unpacked(project, view, made),
        set_anew=lambda attribute, calls: may_be_set_anew(project, view, attribute, calls),
        fills=lambda call, path: fills(project, view, call, path),
        trainable=lambda node: (
            trainable(project, view, node)
            or (named_variables(project, view, node) if by_name else None)
        ),
        making=lambda made: making(project, view, made),
        filled_here=lambda path: is_filled_here(project, view, path),
        holds_lists=lambda node: ListSigns(project).among(view, node),
        around=lambda path: _around(project, tracer, view, path),
        plain=lambda made: plain_source(project, view, made),
        by_name=by_name,
    )
    return SourceReader(view.flow, view.kinds, evidence)


def _around(project: Project, tracer: Tracer, view: View, path: Path) -> Sources | None:
    return variables_around(project, view, path, lambda x: _reader_of(project, x, tracer))


def _is_own_variable(project: Project, tracer: Tracer, view: View, path: Path) -> bool:
    """Whether the path, from outside of the scope, leads to a variable of its class or module."""
    if path[0] == view.kinds.self_name:
        return len(path) > 1 and holds_variables(project, view, path[1].lstrip("."))
    if view.scope is view.unit.tree:
        return False
    return are_variables(project, view.unit, path[0]) or bool(
        _around(project, tracer, view, path[:1])
    )


def _holds_variables(project: Project, tracer: Tracer, view: View, path: Path) -> bool:
    """Whether an attribute of ``self`` is made of variables that the class makes."""
    if view.cls is None or len(path) != 2 or path[0] != view.kinds.self_name:
        return False
    if kept_values(project, view, path) == {Make.TENSOR}:
        return False  # what an op makes is watched, whatever it is made of
    name = path[1].lstrip(".")
    computed = KeptResults(project, tracer).keeps(view, name)
    return not computed and tracer.attribute(view, name).network


def kept_values(project: Project, view: View, path: Path) -> frozenset[Make]:
    """What the methods of the class assign to an attribute of ``self``; empty if others do too.

    For an optional parameter: what callers give. A variable of the module is nothing else.
    """
    if len(path) == 1:
        if _is_of_module(project, view, path) and is_trainable(project, view.unit, path[0]):
            return frozenset({Make.VARIABLE})
        return given_for(project, view, path[0])
    if view.cls is None or len(path) != 2 or path[0] != view.kinds.self_name:
        return frozenset()
    name = path[1].lstrip(".")
    if project.foreign_stores(view.unit, view.cls, name):
        return frozenset()
    values = attribute_values(project, view, name)
    if any(is_opened(view.unit.parents[value]) for value in values):
        return frozenset()
    if contents(project, view, name) or filled_by_call(project, view, name):
        return frozenset()  # more is put into it
    return frozenset(listed_as(project, view, value) for value in values)


def _is_of_module(project: Project, view: View, path: Path) -> bool:
    """Whether a name that the scope does not set is one of the module's."""
    unset = (Kind.ENTRY, Kind.MUTATE)
    own = any(d.path == path and d.kind not in unset for d in view.flow.defs.values())
    around = outer_definitions(project, view, path) is not None
    return view.scope is not view.unit.tree and not own and not around
