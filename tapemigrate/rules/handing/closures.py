"""Gradients asked for in an inner function, by and of what the function around it computed.

``def grads(): return tf.gradients(loss, x)`` computes nothing that a tape would have to record. So
the call is read as one of the function around, where the tape is opened, or handed in; the inner
function reads its name from there. It may run later, and more than once.

What it would compute for the call itself is computed before it is made, where that gives the same.
"""

from __future__ import annotations

import ast
from dataclasses import replace

from tapemigrate.flow.changers import CHANGERS
from tapemigrate.flow.definitions import Def, Kind
from tapemigrate.flow.defuse import Flow
from tapemigrate.flow.functions import free_names, parameters
from tapemigrate.flow.paths import path_of
from tapemigrate.rules.calls import Calls
from tapemigrate.rules.finding import Unit
from tapemigrate.rules.handing.ahead import early_value, may_be_missing, names_of, rest_on
from tapemigrate.rules.handing.bodies import component_of, run_at_once
from tapemigrate.rules.handing.placed import TAPE
from tapemigrate.rules.project import Project, View
from tapemigrate.source.points import begin
from tapemigrate.source.trees import kept, walk
from tapemigrate.tape.request import Ahead, Request

Inner = ast.FunctionDef | ast.Lambda

_BOUND = (Kind.PARAM, Kind.ASSIGN, Kind.ELEMENT, Kind.AUGMENT, Kind.WITH, Kind.MUTATE)
_LISTS = (ast.List, ast.ListComp, ast.Dict, ast.DictComp, ast.Set, ast.SetComp)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def adopt(project: Project, unit: Unit, calls: Calls) -> None:
    """Moves such calls to the function around, where all of the inner function's are such."""
    for scope in list(calls.by_scope):
        if not isinstance(scope, ast.FunctionDef | ast.Lambda):
            continue
        around = _around(project, unit, scope)
        requests = calls.by_scope[scope]
        if around is None or not all(_is_simple(r) for r in requests):
            continue
        outer, inner = project.view(unit, around), project.view(unit, scope)
        moved = _Mover(outer, inner, scope, run_at_once(outer, scope)).moved(requests)
        if moved is None:
            continue
        del calls.by_scope[scope]
        calls.by_scope.setdefault(around, []).extend(moved)
        for old, new in zip(requests, moved, strict=True):
            calls.rules[new] = calls.rules.pop(old)
            calls.readings[new] = replace(calls.readings.pop(old), request=new)


def _around(project: Project, unit: Unit, scope: Inner) -> ast.FunctionDef | None:
    """The function whose names the inner one reads, in which it is made once each time."""
    node: ast.AST = unit.parents[scope]
    while not isinstance(node, ast.FunctionDef):
        if isinstance(node, ast.Module | ast.ClassDef | ast.Lambda | ast.AsyncFunctionDef):
            return None
        if isinstance(node, (*_COMPREHENSIONS, ast.For, ast.While)):
            return None
        node = unit.parents[node]
    return node if project.scope_of(unit, scope) is node else None


def _is_simple(request: Request) -> bool:
    return request.api == "gradients" and request.stop is None


def _is_plain(request: Request) -> bool:
    """Whether the target is nothing but names, so that nothing is computed in the call."""
    targets = request.target.elts if isinstance(request.target, ast.List) else [request.target]
    return bool(targets) and all(isinstance(t, ast.Name) for t in targets)


class _Mover:
    """Reads the calls of one inner function as those of the function around it."""

    def __init__(self, outer: View, inner: View, scope: Inner, run: ast.stmt | None) -> None:
        """``run``: the statement in which a loop runs the function, there and then."""
        self._outer = outer
        self._flow: Flow = outer.flow
        self._run = run
        self._inner = inner
        self._scope = scope
        self._free = free_names(scope)
        stmt: ast.AST = scope
        while not isinstance(stmt, ast.stmt):
            stmt = outer.unit.parents[stmt]
        self._stmt: ast.stmt = stmt
        self._name = scope.name if isinstance(scope, ast.FunctionDef) else "<lambda>"
        self._holder = self._flow.defs.get((scope, (self._name,)))
        self._unbound = kept(outer.scope, _changed_inside)

    def moved(self, requests: list[Request]) -> list[Request] | None:
        """The requests as ones of the function around; None where one of them cannot be."""
        if self._holder is None or self._holder.loops or self._names_a_tape():
            return None
        for request in requests:
            if not self._is_of_closure(request):
                return None
        return [self._read(request) for request in requests]

    def _names_a_tape(self) -> bool:
        """Whether the inner function knows something else by the name that a tape gets."""
        names = (n for n in walk(self._scope) if isinstance(n, ast.Name | ast.arg))
        return TAPE in {n.id if isinstance(n, ast.Name) else n.arg for n in names}

    def _is_of_closure(self, request: Request) -> bool:
        targets = {n.id for n in walk(request.target) if isinstance(n, ast.Name)}
        if (early := self._early(request)) is not None:
            targets = self._names_of(early[0])
            if not targets or any(may_be_missing(self._outer, name) for name in targets):
                return False
            if not any(map(self._is_computed, targets)):
                return False  # a tape of the inner function's own records all there is
        elif (part := self._component(request)) is not None:
            # The component is taken under the tape of the function around, which still records.
            whole, value = part
            if self._made_here(request.sources):
                return False
            args = {a.arg for a in parameters(self._scope.args)}
            names = {n.id for n in walk(value) if isinstance(n, ast.Name)}
            known = {
                n.id for n in walk(value) if isinstance(n, ast.Name) and self._outer.kinds.name(n)
            }
            targets = names - known - (args - {whole.id})
        elif not _is_plain(request):
            return False
        if not all(self._is_settled(name, needed=True) for name in targets):
            return False
        made = self._made_here(request.sources)
        sources = request.sources if made is None else made.value
        if sources is None:
            return False
        if any(isinstance(n, (*_COMPREHENSIONS, ast.Lambda, ast.NamedExpr)) for n in walk(sources)):
            return False
        names = {n.id for n in walk(sources) if isinstance(n, ast.Name)}
        return not names & targets and all(self._is_settled(name, needed=False) for name in names)

    def _component(self, request: Request) -> tuple[ast.Name, ast.expr] | None:
        """Of what the body of a loop takes one component for its target, and how."""
        made = self._made_here(request.target)
        value = request.target if made is None else made.value
        if self._run is None or value is None:
            return None
        whole = component_of(value, self._outer.kinds)
        return None if whole is None else (whole, value)

    def _early(self, request: Request) -> tuple[ast.expr, ast.stmt | None] | None:
        """What makes the target, if it is to run before the function is made, and where."""
        local = isinstance(request.target, ast.Name) and request.target.id not in self._free
        if self._run is not None or (_is_plain(request) and not local):
            return None
        return early_value(self._inner, request)

    def _names_of(self, value: ast.expr) -> set[str]:
        """The names of the function around that ``value`` is made of, by pure functions alone."""
        calls = (n.func for n in walk(value) if isinstance(n, ast.Call))
        called = {f.id for f in calls if isinstance(f, ast.Name)}
        if any(d.path[0] in called and d.kind is not Kind.ENTRY for d in self._flow.defs.values()):
            return set()
        return names_of(value, self._outer.kinds)

    def _is_computed(self, name: str) -> bool:
        """Whether the function around gives the name what may be the result of ops."""
        return any(
            d.path[0] == name and d.value is not None and not self._outer.kinds.is_barren(d.value)
            for d in self._flow.defs.values()
        )

    def _is_settled(self, name: str, needed: bool) -> bool:
        """Whether a free name means, whenever the function runs, what it meant when it was made.

        ``needed``: it has to be a name of the function around.
        """
        if name not in self._free or name in self._unbound:
            return False
        made = [
            d for d in self._flow.defs.values() if d.path[0] == name and d.kind is not Kind.ENTRY
        ]
        if not made:
            return not needed
        if needed and any(isinstance(d.value, _LISTS) for d in made):
            return False  # whoever has it as well may put more into it
        return all(
            d.kind in _BOUND
            and (not d.loops or d.kind is Kind.MUTATE)
            and (d.stmt is None or begin(d.stmt) < begin(self._stmt))
            for d in made
        )

    def _made_here(self, sources: ast.expr) -> Def | None:
        """The one definition of sources that the inner function gives a name first."""
        if not isinstance(sources, ast.Name) or sources.id in self._free:
            return None
        found = [u.made for u in self._inner.flow.reads.get(sources, ())]
        plain = len(found) == 1 and found[0].kind is Kind.ASSIGN and found[0].value is not None
        return found[0] if plain else None

    def _read(self, request: Request) -> Request:
        made = self._made_here(request.sources)
        early, ahead = self._early(request), None
        run = self._run if self._run is not None else self._stmt
        taken = self._made_here(request.target) if self._component(request) else None
        if taken is not None and taken.value is not None:
            self._read_names(taken.value)
            self._flow.read_as(request.target, taken.path, taken.value, run)
        elif early is None:
            self._read_names(request.target)
        else:
            assert self._holder is not None
            self._flow.run_early(early[0], self._holder, self._stmt)
            loose = rest_on(self._outer, self._names_of(early[0]), self._name)
            ahead = Ahead(self._name, request.target, early[1], loose)
        self._read_names(request.sources if made is None or made.value is None else made.value)
        if made is not None:
            self._flow.read_as(request.sources, made.path, made.value, self._stmt)
        return replace(
            request,
            target=request.target if early is None else early[0],
            stmt=run,
            often=True,
            records=taken is not None,
            late=self._run is None,
            ahead=ahead,
        )

    def _read_names(self, root: ast.expr) -> None:
        assert self._holder is not None
        stack: list[ast.AST] = [root]
        while stack:
            node = stack.pop()
            path = path_of(node) if isinstance(node, ast.expr) else None
            if path is not None:
                self._flow.read_late(node, path, self._holder)
            else:
                stack.extend(ast.iter_child_nodes(node))


def _changed_inside(scope: ast.AST) -> frozenset[str]:
    """The names that inner functions may give other values or elements, and those of the module."""
    found: set[str] = set()
    for inner in walk(scope):
        if isinstance(inner, ast.Global | ast.Nonlocal):
            found.update(inner.names)
        if inner is scope or not isinstance(inner, ast.FunctionDef | ast.Lambda):
            continue
        for node in walk(inner):
            match node:
                case ast.Attribute(value=holder, attr=attr) if attr in CHANGERS:
                    found.update((path_of(holder) or ())[:1])
                case ast.Subscript(value=holder, ctx=ast.Store() | ast.Del()):
                    found.update((path_of(holder) or ())[:1])
    return frozenset(found)
