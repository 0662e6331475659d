"""What becomes of a function that a transformer made and an assignment named."""

from __future__ import annotations

import ast
from collections.abc import Set
from dataclasses import dataclass, replace

from tapemigrate.rules.tfe.block import hoistable
from tapemigrate.rules.tfe.callers import Callers
from tapemigrate.rules.tfe.scopes import NameUses, Scopes
from tapemigrate.rules.tfe.sites import Kind, Site
from tapemigrate.source.points import begin, end


@dataclass(frozen=True, slots=True)
class Made:
    """The name, who calls it, and its one call where a tape can stand there."""

    name: str
    callers: Callers
    only_call: ast.Call | None


def made_name(scopes: Scopes, site: Site, functions: Set[ast.AST]) -> Made | None:
    """The name that takes what ``site`` makes; None where it is not simply assigned to one.

    ``functions`` are those that transformers are given which call them with tensors set apart.
    """
    stmt = scopes.unit.parents[site.node]
    if isinstance(stmt, ast.Assign) and len(stmt.targets) == 1:
        target: ast.expr = stmt.targets[0]
    elif isinstance(stmt, ast.AnnAssign):
        target = stmt.target
    else:
        return None
    if not isinstance(target, ast.Name) or scopes.in_class_body(stmt):
        return None
    uses = scopes.uses(target.id, stmt)
    # What another transformer takes is called with tensors that are apart, and without ``dy``.
    alone = [n for n in uses.others if n not in functions]
    nested = [n for n in uses.nested if n not in functions]
    fed = len(alone) + len(nested) < len(uses.others) + len(uses.nested)
    uses = replace(uses, others=alone, nested=nested)
    callers = callers_of(scopes, target.id, stmt, uses)
    call = uses.calls[0] if len(uses.calls) == 1 else None
    if call is not None and (
        fed
        or _importable(scopes, target.id, stmt, uses)
        or not _replaceable(scopes, site, stmt, uses, call)
    ):
        call = None
    return Made(target.id, callers, call)


def callers_of(scopes: Scopes, name: str, stmt: ast.stmt, uses: NameUses) -> Callers:
    """Who calls the function that ``stmt`` gives to ``name``."""
    calls = list(uses.calls)
    others = bool(uses.others)
    for mention in uses.nested:
        parent = scopes.unit.parents[mention]
        if isinstance(parent, ast.Call) and parent.func is mention:
            calls.append(parent)
        else:
            others = True
    elsewhere = uses.mixed and scopes.binder(name, stmt) is not scopes.scope_of(stmt)
    seen = not others and not elsewhere and not _importable(scopes, name, stmt, uses)
    loops = set(scopes.loops(stmt))
    local = not others and not uses.nested
    for call in uses.calls:
        inside = loops <= set(scopes.loops(scopes.statement(call)))
        local = local and inside and begin(call) >= begin(stmt)
    return Callers(seen, calls, local)


def _importable(scopes: Scopes, name: str, stmt: ast.stmt, uses: NameUses) -> bool:
    """Whether other files may import the name: a module that uses it when it is run is a script."""
    if scopes.scope_of(stmt) is not scopes.unit.tree or name.startswith("_"):
        return False
    if scopes.exported(name) or scopes.may_be_wanted(name):
        return True
    run = [c for c in uses.calls if not _only_as_main(scopes, c)]
    return not run and not _only_as_main(scopes, stmt)


def _only_as_main(scopes: Scopes, node: ast.AST) -> bool:
    """Whether ``node`` stands under ``if __name__ == "__main__"``."""
    for parent in scopes.parents(node):
        if isinstance(parent, ast.If):
            names = {n.id for n in ast.walk(parent.test) if isinstance(n, ast.Name)}
            if "__name__" in names:
                return True
    return False


def _replaceable(
    scopes: Scopes, site: Site, stmt: ast.stmt, uses: NameUses, call: ast.Call
) -> bool:
    """Whether the tape can stand at the one call, and the assignment go."""
    if uses.others or uses.nested or uses.mixed or site.kind is Kind.VJP:
        return False
    target = scopes.statement(call)
    if begin(call) < end(stmt):
        return False
    if not set(scopes.loops(stmt)) <= set(scopes.loops(target)):
        return False
    if not hoistable(scopes, call, target, set()):
        return False
    assert site.f is not None
    if isinstance(site.f, ast.Lambda):
        return not [d for d in [*site.f.args.defaults, *site.f.args.kw_defaults] if d is not None]
    if not isinstance(site.f, ast.Name | ast.Attribute) or scopes.computes(site.f):
        return False
    if any(
        isinstance(n, ast.Attribute) and scopes.is_assigned_attribute(n.attr)
        for n in ast.walk(site.f)
    ):
        return False
    return all(scopes.unchanged(name, stmt, target) for name in scopes.names_in(site.f))
