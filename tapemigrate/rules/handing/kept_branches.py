"""Targets on ``self`` that one method computes in several statements.

They set it in branches, or bit by bit, or fill a list with it. One tape records all of them, and is
kept beside the target.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tapemigrate.flow.definitions import Kind
from tapemigrate.flow.paths import path_of
from tapemigrate.rules.finding import Unit
from tapemigrate.rules.handing.kept import (
    Kept,
    is_filled,
    is_none,
    kept_request,
    known_sources,
    refused,
    set_within,
    tape_name,
    unfit,
    wanted_by,
)
from tapemigrate.rules.handing.run_again import runs_again
from tapemigrate.rules.handing.set_elsewhere import set_elsewhere
from tapemigrate.rules.handing.shared_lists import changed_elsewhere
from tapemigrate.rules.project import Project, View
from tapemigrate.rules.values.objects.attributes import contents
from tapemigrate.source.points import begin
from tapemigrate.source.trees import walk
from tapemigrate.tape.leaf import Sources
from tapemigrate.tape.request import Refusal, Request


def keep_branches(
    project: Project, view: View, request: Request, name: str, sources: Sources
) -> Kept | Refusal | None:
    """How ``self.name``, which one method computes in several statements, can be recorded there.

    None if it is not computed so.
    """
    cls, unit = view.cls, view.unit
    if cls is None or unfit(project, view, request, name) is not None:
        return None
    if project.effects(unit).method(cls, name) is not None:
        return None  # a property
    found = list(_stores(project, unit, cls, name))
    made = [stmt for stmt in found if stmt is not None]
    scopes = {project.scope_of(unit, stmt) for stmt in made}
    scope = scopes.pop() if len(scopes) == 1 else None
    if len(made) < len(found) or not isinstance(scope, ast.FunctionDef) or scope is view.scope:
        return None
    producer = project.view(unit, scope)
    puts = _puts(project, producer, name, made[0]) if len(made) == 1 else []
    if len(made) == 1 and not puts:
        return None
    if again := runs_again(project, view, request, name, scope):
        return refused(again)
    plain = [stmt for stmt in made if isinstance(stmt, ast.Assign) and not puts]
    if any(is_filled(project, producer, stmt, name) for stmt in plain):
        return refused(f"`self.{name}` may be filled or changed once it is made")
    changed = [changed_elsewhere(project, producer, stmt, name, but=puts) for stmt in made]
    if any(changed):
        return refused(max(changed))
    made = sorted([*made, *puts], key=begin)
    loops = [set(producer.blocks.loops_around(stmt)) for stmt in made]
    if producer.flow.yields or set.intersection(*loops):
        return refused(f"`self.{name}` is set in a loop, or by a generator")
    wanted = wanted_by(project, view, sources)
    if isinstance(wanted, Refusal):
        return wanted
    if problem := set_elsewhere(project, view, [name, *filter(None, wanted)]):
        return refused(problem)
    known = known_sources(project, producer, made[0], wanted)
    if isinstance(known, Refusal):
        return known
    target = ast.List([value for stmt in made for value in _values(stmt)], ast.Load())
    asked = kept_request(request, made[-1], target, known)
    asked.beside = tuple(made[:-1])
    # ``self.h -= y`` computes, though neither of the two does.
    asked.records = isinstance(made[-1], ast.AugAssign)
    return Kept(producer, asked, tape_name(project, unit, cls, name), bool(puts))


def _stores(
    project: Project, unit: Unit, cls: ast.ClassDef, name: str
) -> Iterator[ast.stmt | None]:
    """The statements that set the attribute; None for one that cannot be followed."""
    for node in set_within(project, unit, cls, name):
        stmt = unit.parents[node]
        if isinstance(stmt, ast.Assign) and node in stmt.targets:
            if not is_none(stmt.value):
                yield stmt
        else:
            yield stmt if isinstance(stmt, ast.AugAssign) else None


def _puts(project: Project, producer: View, name: str, first: ast.stmt) -> list[ast.stmt]:
    """What puts something into the list or dict that ``first`` makes; nothing if others do too."""
    path = (producer.kinds.self_name or "", f".{name}")
    value = first.value if isinstance(first, ast.Assign) else None
    if not isinstance(value, ast.List | ast.Dict) or _values(first):
        return []
    found = [
        stmt for stmt in walk(producer.scope) if isinstance(stmt, ast.stmt) and _owner(stmt) == path
    ]
    put = {id(each) for _, each in contents(project, producer, name)}
    changed = {
        made.stmt
        for made in producer.flow.defs.values()
        if made.path[:2] == path and (made.kind is Kind.MUTATE or len(made.path) > 2)
        if made.kind is not Kind.ENTRY
    }
    seen = put == {id(value) for stmt in found for value in _values(stmt)}
    return found if seen and changed <= {first, *found} else []


def _owner(stmt: ast.stmt) -> tuple[str, ...] | None:
    """The path of the list or dict into which the statement puts something."""
    match stmt:
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=owner, attr="append"), args=[_])):
            return path_of(owner)
        case ast.Assign(targets=[ast.Subscript(value=owner)]):
            return path_of(owner)
    return None


def _values(stmt: ast.stmt) -> list[ast.expr]:
    """What the statement makes the target of."""
    match stmt:
        case ast.Assign(value=ast.List(elts=[]) | ast.Dict(values=[])):
            return []
        case ast.Assign(value=value) | ast.AugAssign(value=value):
            return [value]
        case ast.Expr(value=ast.Call(args=[value])):
            return [value]
    return []
