"""What the functions that a region runs read of the module, and of the functions around it.

They may have any name there: an alias, an entry of a table, a method of an object. What cannot be
told apart by its name counts as run.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from tapemigrate.flow.changers import CHANGERS
from tapemigrate.flow.definitions import Def, Kind
from tapemigrate.flow.functions import NamedFunction, free_names, shared_names
from tapemigrate.flow.paths import Path, path_of
from tapemigrate.rules.callgraph.enclosing import outer_definitions
from tapemigrate.rules.finding import Unit
from tapemigrate.rules.project import Project, View
from tapemigrate.rules.proof.imports.imported_values import parts_computed
from tapemigrate.rules.values.objects.captured import captured_functions
from tapemigrate.source.trees import children, walk
from tapemigrate.tape.ops.kinds import Make
from tapemigrate.tape.placing.region import Region

_GIVEN = (Kind.ASSIGN, Kind.ELEMENT, Kind.WITH, Kind.AUGMENT, Kind.MUTATE)


def globals_read(project: Project, region: Region, view: View) -> list[Def]:
    """The names of the module that functions read which the region calls, or has in it."""
    if isinstance(view.scope, ast.Module):
        return []
    nodes, read, outside, _ = _run(project, region, view)
    module = project.view(view.unit, view.unit.tree)
    # By the name of a value that is the scope's own, functions outside of it mean another one.
    known = {d.path[0] for d in region.roots} - outside
    names = sorted(
        name
        for name in read - known
        if module.flow.given(name) or _is_of_a_function_around(project, view, name)
    )
    imported = project.imported(view.unit)
    names += sorted((imported & read.union(*map(_names_in, nodes))) - known)
    if names:
        own = view.flow.own_names - given_late(region, view) - outside
        names = [name for name in names if name not in own]
    paths: list[Path] = [(name,) for name in names]
    if imported:
        here = {d.path for d in region.roots}
        paths += sorted(parts_computed(project, view.unit, nodes) - here)
    cut = {d.path for leaf in region.sources.leaves for d in leaf.defs}
    return [Def(path, Kind.ENTRY, None) for path in paths if path not in cut]


def read_outside(project: Project, region: Region, view: View) -> frozenset[str]:
    """The names of values of the scope by which functions outside of it mean the module's."""
    return (
        frozenset() if isinstance(view.scope, ast.Module) else _run(project, region, view).outside
    )


def read_past_those_around(project: Project, region: Region, view: View) -> list[Def]:
    """The values of the module that are read where a function around means its own by the name."""
    if isinstance(view.scope, ast.Module):
        return []
    return [
        Def((name,), Kind.ENTRY, None) for name in sorted(_run(project, region, view).past_those)
    ]


def given_late(region: Region, view: View) -> set[str]:
    """The names that the scope shares with others, and gives a value only after the region began.

    What is read of them before was made by an earlier run: ``global hint``.
    """
    shared = () if isinstance(view.scope, ast.Module) else shared_names(view.scope)
    before = region.block.body[: region.first + 1]
    return {
        name
        for name in shared
        if not any(
            d.kind is Kind.ASSIGN and d.path == (name,) and d.stmt in before
            for d in view.flow.given(name)
        )
    }


def objects_called(project: Project, region: Region, view: View) -> list[Def]:
    """The names of the module that the region itself calls, and that stand for objects: ``net(x)``.

    What an object was made of enters where it is called. Functions and classes are code.
    """
    if isinstance(view.scope, ast.Module):
        return []
    module = project.view(view.unit, view.unit.tree)
    # A method may have the name, too.
    code = {d.path for d in module.flow.defs.values() if d.kind in (Kind.FUNCTION, Kind.CLASS)}
    return [
        Def((name,), Kind.ENTRY, None)
        for name in called_here(region, view)
        if any(d.kind in _GIVEN for d in module.flow.given(name))
        and (name,) not in code
        and outer_definitions(project, view, (name,)) is None
    ]


def called_here(region: Region, view: View) -> list[str]:
    """The names from outside of the scope that the region itself calls, and reads no values of."""
    known = {d.path[0] for d in region.roots}
    body = region.block.body[region.first : region.last + 1]
    run = (n for each in (*body, region.request.target) for n in walk(each))
    called = {name for n in run if isinstance(n, ast.Call) and (name := _taken_from(n.func))}
    # What a call only changes, ``nonlocal`` names for one, is none of the scope's own.
    bound = {d.path[0] for d in view.flow.defs.values() if d.kind not in (Kind.ENTRY, Kind.MUTATE)}
    return sorted(called - known - bound)


def _taken_from(func: ast.expr) -> str | None:
    """The name of what is called, or of the list or dict out of which it is taken."""
    while isinstance(func, ast.Subscript):
        func = func.value
    return func.id if isinstance(func, ast.Name) else None


def _is_of_a_function_around(project: Project, view: View, name: str) -> bool:
    """Whether a function around gives the name a value; of ``self``, attributes are asked about."""
    around = outer_definitions(project, view, (name,))
    return around is not None and name != around[0].kinds.self_name


def run_in(project: Project, region: Region, view: View) -> tuple[list[ast.AST], frozenset[str]]:
    """All that may run in the region, with the functions of the file, and what they read."""
    ran = _run(project, region, view)
    return ran.nodes, ran.read


def read_of_module(project: Project, unit: Unit, roots: Iterable[ast.AST]) -> frozenset[str]:
    """The names of values of the module that functions and classes read which run below roots."""
    below = project.once(_Below)
    pending, seen, read = [*roots], set[ast.AST](), set[str]()
    while pending:
        runs = below.runs(project, unit, pending.pop())
        read |= runs.read
        for each in runs.called:
            if each not in seen:
                seen.add(each)
                read |= free_names(each)
                pending += each.body
        made = [v for each in runs.called for v in made_with(each)]
        made += [v for each in runs.classes if each not in seen for v in computed_in(each)]
        seen.update(runs.classes)
        for value in made:
            if value not in seen:
                seen.add(value)
                read |= _names_in(value)
                pending.append(value)
    module = project.view(unit, unit.tree)
    return frozenset(name for name in read if module.flow.given(name))


class _Ran(NamedTuple):
    """What runs in a region, and what it reads by name.

    ``outside``: names of the scope by which functions outside of it mean the module's.
    ``past_those``: those of functions around it, by which such ones do.
    """

    nodes: list[ast.AST]
    read: frozenset[str]
    outside: frozenset[str]
    past_those: frozenset[str]


def _run(project: Project, region: Region, view: View) -> _Ran:
    below = project.once(_Below)
    here = view.flow.own_names
    begin = [*region.block.body[region.first : region.last + 1], region.request.target]
    begin += captured_functions(region, view)
    # Each with the names that come from outside of it; of an expression of the module, all.
    pending = [(node, below.runs(project, view.unit, node).names - here) for node in begin]
    found: list[ast.AST] = []
    seen: set[ast.AST] = {view.scope}
    read: set[str] = set()
    outer: set[str] = set()
    past: set[str] = set()
    named: set[str] = set()
    around = {each: _bound_in(each) for each in _functions_around(view, view.scope) - {view.scope}}
    while pending:
        root, outside = pending.pop()
        found.append(root)
        runs = below.runs(project, view.unit, root)
        read |= runs.read
        for each in runs.called:
            if each not in seen:
                seen.add(each)
                free = below.seen_from(project, view, each)
                read |= free
                theirs = _functions_around(view, each)
                if view.scope not in theirs:
                    outer |= free
                past |= _past(around, theirs, free)
                pending += [(stmt, free) for stmt in each.body]
                names = [(v, below.runs(project, view.unit, v).names) for v in made_with(each)]
                pending += names
                read = read.union(*(inner for _, inner in names))
        for cls in runs.classes:
            if cls not in seen:
                seen.add(cls)
                values = [(v, below.runs(project, view.unit, v).names) for v in computed_in(cls)]
                pending += values
                read = read.union(*(inner for _, inner in values))
        for name in (runs.names & outside) - named:
            named.add(name)
            for value in below.may_hold_functions(project, view, name):
                held = below.runs(project, view.unit, value)
                pending.append((value, held.names))
                read |= held.names
                theirs = _functions_around(view, value)
                if view.scope not in theirs:
                    outer |= held.read
                past |= _past(around, theirs, held.read)
    outer &= view.flow.own_names
    if (outer or past) and not isinstance(view.scope, ast.Module):
        given = project.view(view.unit, view.unit.tree).flow.given
        outer = {name for name in outer - shared_names(view.scope) if given(name)}
        past = {name for name in past if any(d.kind in _GIVEN for d in given(name))}
    return _Ran(found, frozenset(read), frozenset(outer), frozenset(past))


class _Runs(NamedTuple):
    """What may run below a node: functions of the file. ``read`` is what lambdas there read.

    ``names`` are all names that stand there. The bodies of ``classes`` ran before.
    """

    called: tuple[NamedFunction, ...]
    read: frozenset[str]
    names: frozenset[str]
    classes: tuple[ast.ClassDef, ...]


class _Below:
    """What may run below nodes: told once, for all regions that they are part of.

    It is kept with the project, and does not refer back: a circle would keep all of it alive.
    """

    def __init__(self, _: Project) -> None:
        self._runs: dict[ast.AST, _Runs] = {}
        self._seen: dict[tuple[ast.AST, ast.AST], frozenset[str]] = {}
        self._held: dict[tuple[ast.AST, str], list[ast.expr]] = {}

    def runs(self, project: Project, unit: Unit, root: ast.AST) -> _Runs:
        """What may run below the node."""
        found = self._runs.get(root)
        if found is None:
            called: dict[NamedFunction, None] = {}
            classes: dict[ast.ClassDef, None] = {}
            read: set[str] = set()
            effects = project.effects(unit)
            for node in walk(root):
                if isinstance(node, ast.Lambda):
                    read |= free_names(node)
                called.update(dict.fromkeys(_may_run(project, unit, node)))
                cls = effects.class_named(node.id) if isinstance(node, ast.Name) else None
                classes.update(dict.fromkeys(effects.lineage(cls) if cls is not None else ()))
            found = _Runs(tuple(called), frozenset(read), _names_in(root), tuple(classes))
            self._runs[root] = found
        return found

    def seen_from(self, project: Project, view: View, function: NamedFunction) -> frozenset[str]:
        """The free names of a function that mean the same where the scope of ``view`` reads."""
        key = view.scope, function
        if key not in self._seen:
            module = project.view(view.unit, view.unit.tree)
            self._seen[key] = _seen_from(view, module, function)
        return self._seen[key]

    def may_hold_functions(self, project: Project, view: View, name: str) -> list[ast.expr]:
        """What a name from outside of the scope was given, unless that is what an op made."""
        key = view.scope, name
        if key not in self._held:
            module = project.view(view.unit, view.unit.tree)
            self._held[key] = _may_hold_functions(project, view, module, name)
        return self._held[key]


def _seen_from(view: View, module: View, function: NamedFunction) -> frozenset[str]:
    free = free_names(function)
    theirs, ours = _functions_around(view, function), _functions_around(view, view.scope)
    for around in theirs - ours:
        free -= _bound_in(around)
    for around in ours - theirs - {view.scope}:
        free -= {name for name in _bound_in(around) if not module.flow.given(name)}
    return free


def _past(
    around: Mapping[ast.AST, set[str]], theirs: set[ast.AST], names: frozenset[str]
) -> set[str]:
    """Those of the names that functions ``around`` bind, which are not among ``theirs``."""
    return {name for a, bound in around.items() if a not in theirs for name in names & bound}


def _functions_around(view: View, node: ast.AST) -> set[ast.AST]:
    found: set[ast.AST] = {node} if node is view.scope else set()
    above = view.unit.parents.get(node)
    while above is not None:
        if isinstance(above, NamedFunction):
            found.add(above)
        above = view.unit.parents.get(above)
    return found


def _bound_in(function: ast.AST) -> set[str]:
    bound = {n.id for n in walk(function) if isinstance(n, ast.Name) and not _is_read(n)}
    return bound | {n.arg for n in walk(function) if isinstance(n, ast.arg)}


def _is_read(name: ast.Name) -> bool:
    return isinstance(name.ctx, ast.Load)


def _names_in(value: ast.AST) -> frozenset[str]:
    return frozenset(n.id for n in walk(value) if isinstance(n, ast.Name))


def made_with(function: NamedFunction) -> list[ast.expr]:
    """What was computed where the function was made."""
    args = function.args
    made = [*function.decorator_list, *args.defaults, *args.kw_defaults]
    return [value for value in made if value is not None]


def computed_in(cls: ast.ClassDef) -> list[ast.expr]:
    """What is computed as the body of a class runs, but for what makes its functions."""
    found: list[ast.expr] = []
    pending: list[ast.AST] = [*cls.body]
    for node in pending:  # which grows meanwhile
        if isinstance(node, ast.expr):
            found.append(node)
        elif not isinstance(node, NamedFunction | ast.ClassDef):
            pending += children(node)
    return found


def _may_hold_functions(project: Project, view: View, module: View, name: str) -> list[ast.expr]:
    around = outer_definitions(project, view, (name,))
    holder, made = around if around is not None else (module, module.flow.given(name))
    if name == holder.kinds.self_name:
        return []  # its attributes are followed by their class
    values = [d.value for d in made if d.kind in _GIVEN and not _is_incidental(d)]
    return [v for v in values if v is not None and holder.kinds.make(v) is Make.UNKNOWN]


def _is_incidental(made: Def) -> bool:
    """Whether a call that may have changed it puts nothing in by itself."""
    func = made.value.func if isinstance(made.value, ast.Call) else None
    return made.kind is Kind.MUTATE and getattr(func, "attr", "") not in CHANGERS


def _may_run(project: Project, unit: Unit, node: ast.AST) -> Sequence[NamedFunction]:
    """The functions and methods of the file that may run where the node stands."""
    effects = project.effects(unit)
    if isinstance(node, ast.Name):
        cls = effects.class_named(node.id)
        found = effects.functions(node.id)
        if cls is None:
            return found
        members = [s for each in effects.lineage(cls) for s in each.body]
        made = [s for s in members if isinstance(s, NamedFunction) and s.name.startswith("__")]
        return [*found, *made]
    if isinstance(node, ast.Attribute) and unit.names.qualified(node) is None:
        return effects.functions(node.attr)
    if isinstance(node, ast.Call) and unit.names.qualified(node.func) is None:
        last = (path_of(node.func) or ("",))[-1].lstrip(".")
        known = effects.functions(last) or effects.class_named(last) or hasattr(builtins, last)
        return () if known else effects.functions("__call__")
    return ()
