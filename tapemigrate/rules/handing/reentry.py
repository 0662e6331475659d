"""Tapes that would have to go on while they record already: ``with self._u_tape:`` raises there."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from tapemigrate.flow.functions import Scope
from tapemigrate.rules.finding import Unit
from tapemigrate.rules.handing.placed import Placed
from tapemigrate.rules.project import Project
from tapemigrate.source.trees import walk
from tapemigrate.tape.planner import Layout, Tape
from tapemigrate.tape.request import Request

# Methods that run where the class is named, or an object of it.
_OF_CLASS = frozenset({"__init__", "__new__", "__call__"})


def entered_twice(
    project: Project, touched: Mapping[Scope, Placed], layouts: Mapping[Scope, Layout]
) -> Iterator[tuple[Placed, Request, str]]:
    """The requests for which a tape would go on inside of itself, and where."""
    found = [(s, t) for s, layout in layouts.items() for t in layout.tapes if t.kept or t.resumes]
    for scope, inner in found:
        if not inner.resumes:
            continue
        ways: set[ast.AST] | None = None
        for around, outer in found:
            if _attribute(outer) != _attribute(inner):
                continue
            nodes = _recorded(outer)
            if around is scope and outer is not inner and _recorded(inner)[0] in nodes:
                reason = f"`{outer.resumes}` goes on there already"
                yield from ((touched[around], g.request, reason) for g in outer.regions)
                continue
            ways = _ways_to(project, touched[scope].view.unit, scope) if ways is None else ways
            if not ways.isdisjoint(nodes):
                reason = f"it may run while `{outer.kept or outer.resumes}` records"
                yield from ((touched[scope], g.request, reason) for g in inner.regions)


def _attribute(tape: Tape) -> str:
    return (tape.kept or tape.resumes).rpartition(".")[2]


def _recorded(tape: Tape) -> list[ast.AST]:
    """All that stands in the statements that the tape records, in order."""
    rows = tape.block.body[tape.first_real : tape.last_real + 1]
    # One that records only what is written in a call stands before the statement.
    rows = rows or tape.block.body[tape.first_real : tape.first_real + 1]
    return [node for stmt in rows for node in walk(stmt)]


def _ways_to(project: Project, unit: Unit, scope: Scope) -> set[ast.AST]:
    """Every place at which something is named that may lead to the function being called."""
    found: set[ast.AST] = set()
    names: set[str] = set()
    work: list[tuple[Unit, ast.AST]] = [(unit, scope)]
    while work:
        for name in _names_around(*work.pop()) - names:
            names.add(name)
            mentions = project.mentions(name)
            work += [(c.unit, c.call.func) for c in mentions.calls] + mentions.others
            found |= {c.call.func for c in mentions.calls} | {n for _, n in mentions.others}
    return found


def _names_around(unit: Unit, node: ast.AST) -> set[str]:
    """The functions in which it stands, and the class that such a function sets up."""
    names: set[str] = set()
    here: ast.AST | None = node
    while here is not None:
        of_class = isinstance(here, ast.ClassDef) and names & _OF_CLASS
        if of_class or isinstance(here, ast.FunctionDef | ast.AsyncFunctionDef):
            names.add(getattr(here, "name", ""))
        here = unit.parents.get(here)
    return names - _OF_CLASS
