"""Whether an object was made and filled of nothing that a source, which a caller passes, gave."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator

from tapemigrate.flow.definitions import Def, Kind
from tapemigrate.flow.functions import Function, NamedFunction, free_names, parameters
from tapemigrate.flow.paths import path_of
from tapemigrate.flow.slices import backward, origins
from tapemigrate.rules.callgraph.arguments import argument_for
from tapemigrate.rules.callgraph.callers import of_class
from tapemigrate.rules.callgraph.classes import classes
from tapemigrate.rules.callgraph.enclosing import outer_definitions
from tapemigrate.rules.callgraph.handed_unseen import only_named
from tapemigrate.rules.finding import Unit
from tapemigrate.rules.project import CallSite, Project, View
from tapemigrate.rules.proof.aliases import with_aliases
from tapemigrate.rules.proof.callers.siblings import given_beside
from tapemigrate.rules.unseen.found import found_in_graph
from tapemigrate.rules.values.provenance import Tracer
from tapemigrate.rules.values.traces import Provenance
from tapemigrate.source.points import begin
from tapemigrate.source.trees import arguments_of, calls_in, kept, walk
from tapemigrate.tape.ops.kinds import Make
from tapemigrate.tape.ops.symbols import short

_PLAIN = (Make.PYTHON, Make.LEAF, Make.VARIABLE, Make.FROZEN)
_CODE = (Kind.FUNCTION, Kind.CLASS, Kind.IMPORT)
# What may give a tensor that was made of others, or is kept somewhere.
_COMPUTING = (ast.Call, ast.BinOp, ast.UnaryOp, ast.Attribute, ast.Subscript)
_ARITHMETIC = (ast.BinOp, ast.UnaryOp)
_MAKERS = frozenset({"__init__", "__new__"})
# Ops that may give back what they are given.
_SAME = frozenset({"convert_to_tensor", "cast", "to_float", "to_double", "identity"})


class Construction:
    """Looks for what is passed to the methods that fill the objects of one class."""

    def __init__(
        self,
        project: Project,
        tracer: Tracer,
        view: View,
        apart_above: Callable[[View, Iterable[Def], Iterable[Def]], bool],
    ) -> None:
        """``apart_above``: whether those who hand in one value made it of none of the others."""
        assert view.cls is not None
        self._project = project
        self._tracer = tracer
        self._view = view
        self._apart_above = apart_above
        known = classes(project)
        names = {view.cls.name, *known.above(view.cls.name), *known.extending(view.cls.name)}
        self._classes = [
            (unit, cls)
            for name in sorted(names)
            for unit, cls in known.named(name)
            if cls is view.cls or name != view.cls.name
        ]
        self._methods = {
            stmt: (unit, cls)
            for unit, cls in self._classes
            for stmt in cls.body
            if isinstance(stmt, ast.FunctionDef)
        }

    def is_apart(
        self, traced: Provenance, caller: View, site: CallSite, cut: frozenset[Def]
    ) -> bool | None:
        """False: an object was made of ``cut``. None: it cannot be seen."""
        me = self._view.kinds.self_name
        passed = {d for d in traced.defs if d.kind is Kind.PARAM and d.path != (me,)}
        verdict: bool | None = True
        work = [(m, d.path[0]) for m in self._taking(passed) for d in passed]
        seen = set(work)
        fresh = self._is_fresh(caller, site, cut) if work else True
        while work:
            method, name = work.pop()
            if name not in {a.arg for a in parameters(method.args)}:
                continue
            for each in self._calls(method):
                given = argument_for(each.call, method, name, True) if each else None
                if each is None or given is None:
                    verdict = verdict if fresh else None
                    continue
                scope = self._project.scope_of(each.unit, each.call)
                inner = self._project.view(each.unit, scope)
                if scope is caller.scope:
                    mine = with_aliases(origins(caller.flow.uses_in(given)), caller)
                    behind = self._tracer.behind(caller, given)
                    behind |= self._set_later(caller, given, each.call)
                    beside = given_beside(self._project, caller, mine | behind, cut)
                    if mine & cut or cut & behind or beside:
                        return False
                    run = [given, *(d.value for d in behind if d.value is not None)]
                    if beside is None or found_in_graph(self._project, inner.unit, run):
                        verdict = None
                    if not self._apart_above(caller, cut, mine | behind):
                        verdict = None
                elif isinstance(scope, ast.FunctionDef) and scope in self._methods:
                    for made in self._tracer.behind(inner, given):
                        step = (scope, made.path[0])
                        if made.kind is Kind.PARAM and step not in seen:
                            seen.add(step)
                            work.append(step)
                elif fresh or self._is_plain(inner, given, handed=_is_handed(caller, method, cut)):
                    continue
                elif each.call is site.call or not self._is_run_by(caller, method, cut):
                    verdict = None
                elif (same := self._beside(inner, each, caller, cut, given)) is not True:
                    return same
        return verdict

    def _set_later(self, caller: View, given: ast.expr, call: ast.Call) -> frozenset[Def]:
        """What the caller gives, after the call, to what a function reads that it hands in.

        ``net = Net(lambda v: v * k)``, and then ``k = k * x``: the function runs later.
        """
        found = set[Def]()
        for made in (d for name in _read_later(caller, given) for d in caller.flow.given(name)):
            if made.stmt is not None and begin(made.stmt) > begin(call):
                found |= {made, *backward(made.uses).made}
        return frozenset(found)

    def _taking(self, passed: set[Def]) -> Iterator[ast.FunctionDef]:
        """The methods that have one of the parameters."""
        names = {d.path[0] for d in passed}
        for method, (unit, _) in self._methods.items():
            if method is self._view.scope or not names & {a.arg for a in parameters(method.args)}:
                continue
            if passed & set(self._project.view(unit, method).flow.defs.values()):
                yield method

    def _calls(self, method: ast.FunctionDef) -> Iterator[CallSite | None]:
        """Where the method is called, by what makes an object as well; None: somewhere else too."""
        home, cls = self._methods[method]
        if method.name not in _MAKERS:
            mentions = self._project.mentions(method.name)
            yield from mentions.calls
            yield from (None for _ in mentions.others[:1])
            return
        for name in sorted({cls.name, *classes(self._project).extending(cls.name)}):
            mentions = self._project.mentions(name)
            if name == cls.name:
                mentions = of_class(self._project, home, cls)
            yield from (site for site in mentions.calls if not self._is_another(site.unit, name))
            for unit, node in mentions.others:
                if not only_named(unit, node) and not self._is_another(unit, name):
                    yield None
        for other, (unit, _) in self._methods.items():
            first = other.args.args[0].arg if other.args.args else ""
            for call in calls_in(other):
                func = call.func
                made_by = isinstance(func, ast.Attribute) and func.attr == method.name
                made_by |= isinstance(func, ast.Name) and func.id == first
                if made_by or (isinstance(func, ast.Attribute) and func.attr == "__class__"):
                    yield CallSite(unit, call)

    def _is_plain(self, view: View, given: ast.expr, handed: bool) -> bool:
        """Whether no tensor is passed, nor what a function has made.

        Of a source that is ``handed`` to the same call, what ops made of it is asked there.
        """
        if view.kinds.make(given) in _PLAIN:
            return True
        made = self._tracer.value(view, given)
        if made.parameters or made.attributes or made.calls or made.blind or made.foreign:
            return False
        behind = (d.value for d in self._tracer.behind(view, given) if d.value is not None)
        if not handed and any(_may_be_computed(each, view) for each in (given, *behind)):
            return False
        module = self._project.view(view.unit, view.unit.tree)
        named = [
            outer_definitions(self._project, view, (name,))
            or (module, [d for d in module.flow.defs.values() if d.path == (name,)])
            for name in made.globals
        ]
        return not made.network and all(
            d.kind in _CODE or (d.value is not None and _is_literal(d.value, holder))
            for holder, given_there in named
            for d in given_there
        )

    def _is_run_by(self, caller: View, method: ast.FunctionDef, cut: frozenset[Def]) -> bool:
        """Whether the caller is the method, or the constructor of a class above that it runs.

        What was handed to the one below was there before the one above made its sources.
        """
        if caller.scope is method:
            return True
        made_here = not any(d.kind in (Kind.PARAM, Kind.ENTRY) for d in cut)
        constructs = {method.name, getattr(caller.scope, "name", "")} == {"__init__"}
        above = caller.cls is not None and caller.cls.name in classes(self._project).above(
            self._methods[method][1].name
        )
        return made_here and constructs and above

    def _beside(
        self, maker: View, made: CallSite, caller: View, cut: frozenset[Def], given: ast.expr
    ) -> bool | None:
        """The same where the caller is the constructor: of what it is handed together."""
        assert isinstance(caller.scope, ast.FunctionDef)
        mine = with_aliases(origins(maker.flow.uses_in(given)), maker)
        mine |= self._tracer.behind(maker, given)
        for each in cut:
            if each.kind is not Kind.PARAM:
                continue
            other = argument_for(made.call, caller.scope, each.path[0], True)
            if other is None:
                return None
            if mine & with_aliases(origins(maker.flow.uses_in(other)), maker):
                return False
        new = (d.kind is not Kind.ENTRY and not _may_be_old(caller, d) for d in cut)
        return all(new) or None

    def _is_another(self, unit: Unit, name: str) -> bool:
        """Whether a file has a class of that name for itself, which extends no other such."""
        if name in classes(self._project).extending(name):
            return False
        own = [each for each in classes(self._project).named(name) if each[0] is unit]
        return bool(own) and all(cls is not known for _, cls in own for _, known in self._classes)

    def _is_fresh(self, caller: View, site: CallSite, cut: frozenset[Def]) -> bool:
        """Whether the caller makes the source, and hands it to nothing but this call."""
        for made in cut:
            value = made.value
            if made.kind is not Kind.ASSIGN or value is None:
                return False
            new = isinstance(value, ast.BinOp)
            if not new and caller.kinds.make(value) not in (Make.TENSOR, Make.LEAF):
                return False
            if isinstance(value, ast.Call) and short(caller.kinds.name(value.func)) in _SAME:
                return False
        again = any(isinstance(n, ast.For | ast.While) for n in walk(caller.scope))
        for node in walk(caller.scope):
            if not isinstance(node, ast.Call) or node is site.call:
                continue
            if begin(node) > begin(site.call) and not again:
                continue
            given = arguments_of(node)
            if caller.kinds.make(node) is Make.UNKNOWN and any(
                cut & self._tracer.behind(caller, g) for g in given
            ):
                return False
        return bool(cut)


def _read_later(caller: View, given: ast.expr) -> set[str]:
    """The names that functions read which are handed in, and those of the objects of methods."""
    functions = kept(caller.scope, _functions_in)
    nodes = list(walk(given))
    found = {path[0] for n in nodes if isinstance(n, ast.Attribute) and (path := path_of(n))}
    pending: list[ast.AST | None] = [n for n in nodes if isinstance(n, ast.Lambda)]
    pending += [functions.get(n.id) for n in nodes if isinstance(n, ast.Name)]
    while pending:
        code = pending.pop()
        if isinstance(code, Function):
            new = free_names(code) - found
            found |= new
            pending += [functions.get(name) for name in new]
    return found


def _functions_in(scope: ast.AST) -> dict[str, ast.AST]:
    found: dict[str, ast.AST] = {}
    for node in walk(scope):
        if isinstance(node, NamedFunction):
            found[node.name] = node
        elif isinstance(node, ast.Assign) and isinstance(node.value, ast.Lambda):
            found |= {t.id: node.value for t in node.targets if isinstance(t, ast.Name)}
    return found


def _is_literal(value: ast.expr, view: View) -> bool:
    made_of = walk(value)
    plain = not any(isinstance(n, ast.Name | ast.Call) for n in made_of)
    return plain or view.kinds.make(value) in _PLAIN


def _may_be_old(view: View, made: Def) -> bool:
    """Whether what a name is given may be a tensor that was there before: ``current().x``."""
    value = made.value
    if made.kind is not Kind.ASSIGN or value is None or path_of(value) is not None:
        return False  # what it is another name of is asked as well
    return not isinstance(value, _ARITHMETIC) and view.kinds.make(value) is Make.UNKNOWN


def _is_handed(caller: View, method: ast.FunctionDef, cut: frozenset[Def]) -> bool:
    """Whether the method itself is the caller, and the source is a parameter of it."""
    kinds = {d.kind for d in cut}
    return caller.scope is method and Kind.PARAM in kinds and Kind.ENTRY not in kinds


def _may_be_computed(value: ast.expr, view: View) -> bool:
    """Whether ops may have made it, or it may be a part of an object: of the source, then."""
    if view.kinds.make(value) in _PLAIN or view.kinds.name(value) is not None:
        return False
    if isinstance(value, _COMPUTING):
        return True
    inner = (n for n in ast.iter_child_nodes(value) if isinstance(n, ast.expr))
    return any(_may_be_computed(each, view) for each in inner)
