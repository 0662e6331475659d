"""Sources that are variables made while a loop of TensorFlow's runs the function round the tape.

`caches` knows loops that run on a tape. Here the tape is opened in what the loop runs: in the
function that is handed to `map_fn`, in what that one calls, or in a cell. The scope has its
`caching_device` by then, so that a getter inside of the tape comes too late for what was made
before it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from tapemigrate.flow.definitions import Def, Kind
from tapemigrate.flow.functions import Scope
from tapemigrate.flow.paths import path_of
from tapemigrate.flow.slices import origins
from tapemigrate.rules.callgraph.arguments import argument_for
from tapemigrate.rules.callgraph.assigned import attribute_values
from tapemigrate.rules.finding import Unit
from tapemigrate.rules.indexes import defined
from tapemigrate.rules.project import Project, View
from tapemigrate.rules.unseen.recurrent import CELLS, LOOPS, called, makes_variables
from tapemigrate.rules.unseen.words import last_of
from tapemigrate.source.trees import kept, parts_of_target, walk
from tapemigrate.tape.placing.region import Region

_WORDS = (*CELLS, *LOOPS)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
# What `dynamic_rnn` and `dynamic_decode` call of the objects that they are handed, and their kinds.
_CALLED_OF_CELLS = frozenset({"call", "__call__", "build", "step", "initialize", "next_inputs"})
_KINDS_OF_CELLS = ("Cell", "Decoder", "Helper", "Attention", "AttentionMechanism", "CellWrapper")
# What finds a variable again by its name, made by whoever was first.
_MAKING = frozenset({"get_variable", "layers", "slim", "dense"})
# What only hands on what it holds: a copy is not made of other variables.
_COPYING = frozenset({"dict", "list", "tuple", "sorted", "values", "items", "copy", "OrderedDict"})
# Through how many functions, and values, is followed.
_MOST = 400


def loop_round(region: Region, view: View, project: Project) -> str | None:
    """The loop that runs the scope, if a variable among the sources may be made while it does."""
    if not project.once(_has_loops) or isinstance(view.scope, ast.Module):
        return None
    search = _Search(project)
    collected = any(leaf.variables and not leaf.defs for leaf in region.sources.leaves)
    if (region.request.variables or collected) and makes_variables(view.scope, view.unit):
        return search.loop(view.unit, view.scope)
    defs = [d for leaf in region.sources.leaves for d in leaf.defs]
    return next((name for d in defs if (name := search.made_in(d, view)) is not None), None)


def run_by_a_loop_too(nodes: Iterable[ast.AST], project: Project) -> tuple[str, str] | None:
    """A function that ``nodes`` run and that makes variables, with a loop that runs it too."""
    if not project.once(_has_loops):
        return None
    search = _Search(project)
    for unit, function in _makers(nodes, project):
        name = search.loop(unit, function)
        if name is not None:
            return function.name, name
    return None


def _makers(nodes: Iterable[ast.AST], project: Project) -> Iterator[tuple[Unit, ast.FunctionDef]]:
    """The functions that ``nodes`` run, by their names, if they make variables themselves."""
    pending = [_called_names(node) for node in nodes]
    seen: set[ast.AST] = set()
    while pending and len(seen) < _MOST:
        for name in pending.pop():
            for unit in project.units.defining(name):
                for each in unit.once(defined).get(name, ()):
                    if isinstance(each, ast.FunctionDef) and each not in seen:
                        seen.add(each)
                        pending.append(kept(each, _called_names))
                        if kept(each, _finds_or_makes):
                            yield unit, each


def _called_names(root: ast.AST) -> list[str]:
    names = {last_of(n.func) for n in walk(root) if isinstance(n, ast.Call)}
    return sorted(name for name in names if name is not None)


def _finds_or_makes(function: ast.AST) -> bool:
    return any(last_of(n) in _MAKING for n in walk(function))


def _has_loops(project: Project) -> bool:
    """Whether a file has one of the words at all."""
    return any(word in file.text for _, file in project.units.files() for word in _WORDS)


class _Search:
    """Which loops run which functions, and what is made while they do."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._loops: dict[ast.AST, str | None] = {}
        self._seen: set[Def] = set()

    def made_in(self, made: Def, view: View) -> str | None:
        """The loop in which the variables were made that ``made`` may be."""
        if made in self._seen or len(self._seen) > _MOST:
            return None
        self._seen.add(made)
        if made.kind is Kind.PARAM:
            return self._passed(made, view)
        if made.kind is Kind.ENTRY:
            return self._from_around(made, view)
        if made.value is None:
            return None
        if _is_copy(made.value):
            return self._first((d, view) for d in origins(made.uses))
        if makes_variables(made.value, view.unit):
            return self.loop(view.unit, view.scope)
        return None

    def _first(self, pairs: Iterable[tuple[Def, View]]) -> str | None:
        return next((n for d, view in pairs if (n := self.made_in(d, view)) is not None), None)

    def _passed(self, made: Def, view: View) -> str | None:
        """The loop in which what callers hand in for a parameter was made, if it runs them."""
        scope = view.scope
        if not isinstance(scope, ast.FunctionDef):
            return None
        for site in self._project.mentions(scope.name).calls:
            caller = self._project.view(site.unit, self._project.scope_of(site.unit, site.call))
            if isinstance(caller.scope, ast.Module):
                continue
            passed = argument_for(site.call, scope, made.path[0], view.cls is not None)
            around = _function_round(site.unit, site.call)
            loop = self.loop(caller.unit, around) if passed is not None and around else None
            if passed is None or loop is None:
                continue
            if path_of(passed) is None and makes_variables(passed, caller.unit):
                return loop
            found = self._first((d, caller) for d in origins(caller.flow.uses_in(passed)))
            if found is not None:
                return found
        return None

    def _from_around(self, made: Def, view: View) -> str | None:
        """What a name of a function around, or an attribute of the object, was made in."""
        unit, name = view.unit, made.path[0]
        if len(made.path) > 1 and name == view.kinds.self_name:
            for value in attribute_values(self._project, view, made.path[1].lstrip(".")):
                if makes_variables(value, unit):
                    found = self.loop(unit, self._project.scope_of(unit, value))
                    if found is not None:
                        return found
            return None
        node = unit.parents.get(view.scope)
        while node is not None:
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                outer = self._project.view(unit, node)
                given = [d for d in outer.flow.defs.values() if d.path == (name,)]
                given = [d for d in given if d.kind is not Kind.ENTRY]
                if given:
                    return self._first((d, outer) for d in given)
            node = unit.parents.get(node)
        return None

    def loop(self, unit: Unit, scope: Scope | ast.Lambda) -> str | None:
        """The loop that may run ``scope``: it is handed it, or something that calls it."""
        if scope not in self._loops:
            # What calls itself is run by what else calls it.
            self._loops[scope] = None
            self._loops[scope] = self._find(unit, scope)
        return self._loops[scope]

    def _find(self, unit: Unit, scope: Scope | ast.Lambda) -> str | None:
        if len(self._loops) > _MOST or isinstance(scope, ast.Module):
            return None
        if isinstance(scope, ast.Lambda):
            return self._used(unit, scope)
        if scope.name in _CALLED_OF_CELLS and _is_of_cells(unit.parents.get(scope)):
            return "dynamic_rnn"
        return self._named(scope.name)

    def _named(self, name: str) -> str | None:
        """The loop that runs a function which is meant by ``name``."""
        mentions = self._project.mentions(name)
        for used, node in mentions.others:
            found = self._used(used, node)
            if found is not None:
                return found
        for site in mentions.calls:
            around = _function_round(site.unit, site.call)
            found = None if around is None else self.loop(site.unit, around)
            if found is not None:
                return found
        return None

    def _used(self, unit: Unit, node: ast.AST) -> str | None:
        """The loop that is handed a function: there and then, bound, or by another name."""
        parent = unit.parents.get(node)
        while isinstance(parent, ast.keyword | ast.IfExp | ast.BoolOp | ast.Tuple | ast.List):
            node, parent = parent, unit.parents.get(parent)
        if isinstance(parent, ast.Call) and parent.func is not node:
            name = called(parent, unit)
            if name == "partial":
                return self._used(unit, parent)
            path = unit.names.qualified(parent.func) or ""
            is_loop = name in LOOPS and path.startswith("tensorflow.")
            return name if is_loop or name in CELLS else None
        if isinstance(parent, ast.NamedExpr) and (found := self._used(unit, parent)) is not None:
            return found
        if isinstance(parent, ast.Assign | ast.AnnAssign | ast.NamedExpr):
            return self._by_another_name(unit, parent)
        return None

    def _by_another_name(
        self, unit: Unit, stmt: ast.Assign | ast.AnnAssign | ast.NamedExpr
    ) -> str | None:
        """The loop that is handed what a statement gives a name."""
        if stmt in self._loops or len(self._loops) > _MOST:
            return self._loops.get(stmt)
        self._loops[stmt] = None
        given = stmt.targets if isinstance(stmt, ast.Assign) else [stmt.target]
        targets = [part for target in given for part in parts_of_target(target)]
        names = {target.id for target in targets if isinstance(target, ast.Name)}
        uses = (n for n in unit.nodes(ast.Name) if n.id in names and isinstance(n.ctx, ast.Load))
        found = next((f for n in uses if (f := self._used(unit, n)) is not None), None)
        attributes = [target.attr for target in targets if isinstance(target, ast.Attribute)]
        found = found or next((f for a in attributes if (f := self._named(a)) is not None), None)
        self._loops[stmt] = found
        return found


def _function_round(unit: Unit, node: ast.AST) -> Scope | ast.Lambda | None:
    """The innermost function or lambda that a node stands in."""
    above = unit.parents.get(node)
    while above is not None and not isinstance(above, _FUNCTIONS):
        above = unit.parents.get(above)
    return above if isinstance(above, _FUNCTIONS) else None


def _is_of_cells(cls: ast.AST | None) -> bool:
    if not isinstance(cls, ast.ClassDef):
        return False
    return any((last_of(base) or "").endswith(_KINDS_OF_CELLS) for base in cls.bases)


def _is_copy(value: ast.expr) -> bool:
    """Whether it is names, or a plain holder of what has names."""
    match value:
        case ast.Name() | ast.Attribute() | ast.Constant():
            return True
        case ast.Call():
            return last_of(value.func) in _COPYING and all(map(_is_copy, value.args))
        case ast.List() | ast.Tuple() | ast.Set():
            return all(map(_is_copy, value.elts))
        case ast.Dict():
            return all(map(_is_copy, value.values))
        case ast.Subscript() | ast.Starred():
            return _is_copy(value.value)
    return False
