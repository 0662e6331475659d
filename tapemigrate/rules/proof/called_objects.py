"""What objects that the forward pass calls kept when they were made: ``model(x)``."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterable, Iterator, Set
from dataclasses import dataclass, field, replace

from tapemigrate.flow.definitions import Def, Kind
from tapemigrate.flow.functions import NamedFunction
from tapemigrate.flow.paths import Path, path_of, text_of
from tapemigrate.flow.slices import origins
from tapemigrate.rules.callgraph.classes import classes, is_of_library
from tapemigrate.rules.callgraph.contained import Contents, contained
from tapemigrate.rules.finding import Unit
from tapemigrate.rules.indexes import given_at_top
from tapemigrate.rules.project import Project, View
from tapemigrate.rules.proof.captured import captured_functions
from tapemigrate.rules.proof.globals_read import run_in
from tapemigrate.rules.proof.handed_out import handed_out
from tapemigrate.rules.proof.held import own_methods
from tapemigrate.rules.proof.hidden_reads import state_read
from tapemigrate.rules.proof.kept_results import Class, KeptResults, above, called_in, method_of
from tapemigrate.rules.proof.parts_held import RUN_WHEN_CALLED, Held, PartsHeld
from tapemigrate.rules.proof.verdicts import wrong
from tapemigrate.rules.values.made_objects import making
from tapemigrate.rules.values.module_variables import are_variables
from tapemigrate.rules.values.shape_evidence import attribute_values, global_values, is_opened
from tapemigrate.source.trees import walk
from tapemigrate.tape.leaf import Leaf
from tapemigrate.tape.region import Region
from tapemigrate.tape.request import Refusal
from tapemigrate.tape.symbols import gives_no_tensors

_OUTSIDE = (Kind.PARAM, Kind.ENTRY)
_BUILTIN = frozenset(dir(builtins))


@dataclass(slots=True)
class Keeping:
    """What methods read of what their objects kept. ``assumed`` is what was taken for granted.

    ``shown`` is what the sources are called, ``sources`` are the names of attributes among them;
    ``variables``: they are variables.
    """

    results: KeptResults
    parts: PartsHeld
    assumed: list[str] = field(default_factory=list)
    shown: str = ""
    sources: frozenset[str] = frozenset()
    variables: bool = False

    def is_read(self, made: Class, methods: Iterable[str]) -> bool:
        """Whether methods of an object of the class read what it computed before."""
        parts = handed_out(self.results.project, made, frozenset(methods))
        return any(self._is_read(each, sorted(asked)) for each, asked in parts)

    def _is_read(self, made: Class, names: list[str]) -> bool:
        if any(self.results.read_by(*made, name) for name in names):
            return True
        kept = (self.parts.attribute(*made, name) for name in sorted(self.sources))
        if not self.variables and not any(h in (Held.VARIABLE, Held.OBJECTS) for h in kept):
            return False  # the source is no variable
        read = self.parts.read_by(*made, names, self.sources)
        if read is not None and read.held is Held.UNKNOWN:
            self.assumed.append(f"{read.text} was not computed from {self.shown}")
        return read is not None and read.held is Held.COMPUTED

    def may_be_read(self, project: Project, made: Contents, method: str) -> bool:
        """Whether an object of which the class is not known may have such a method.

        Then its class is one of those at hand that have a method of that name.
        """
        if not made.is_unknown:
            return False
        perhaps = replace(self, assumed=[])
        names = {method}
        if method == "__call__":
            names |= {*RUN_WHEN_CALLED, *made.parts, *_called_by_makers(project, made)}
        known = {
            each: None
            for name in sorted(names)
            for unit in project.units.defining(name)
            for each in unit.once(_having).get(name, ())
        }
        found = ((project.units[home], cls) for home, cls in known)
        return any(perhaps.is_read(each, names) or perhaps.assumed for each in found)

    def may_be_computed(self, project: Project, made: Contents) -> bool:
        """Whether a function gave it, or a part of it, that computes with variables it makes.

        What such a function gives may be a function again, which reads what was computed.
        """
        if not self.variables:
            return False
        for view, call in made.makers:
            if is_opened(view.unit.parents[call]):
                continue  # a part of it may be a variable alone
            name = (path_of(call.func) or ("",))[-1].lstrip(".")
            path = view.unit.names.qualified(call.func)
            if not name or name.lstrip("_")[:1].isupper() or is_of_library(path):
                continue
            homes = [view.unit] if path is None else project.units.defining(name)
            for home in homes:
                for function in project.effects(home).functions(name):
                    maker = project.view(home, function)
                    if self.parts.given_by(maker) is Held.COMPUTED:
                        return True
                    given = list(_functions_given(maker))
                    if _reads_state(project, maker, given):
                        return True
                    if self._calls_objects(project, maker, given):
                        return True
        return False

    def _calls_objects(self, project: Project, maker: View, given: list[ast.AST]) -> bool:
        """Whether functions made in ``maker`` call objects of it, and these read what they kept."""
        inner = {n.name: n for n in walk(maker.scope) if isinstance(n, NamedFunction)}
        perhaps = replace(self, assumed=[])
        for each in given:
            function = inner.get(each.id) if isinstance(each, ast.Name) else each
            if not isinstance(function, NamedFunction | ast.Lambda):
                continue
            called = {*RUN_WHEN_CALLED, *called_in(function), *_parts_read(function)}
            for node in (n for n in walk(function) if isinstance(n, ast.Name)):
                for made_of in _contents(project, maker, node, set()).classes:
                    if perhaps.is_read(made_of, called) or perhaps.assumed:
                        return True
        return False


def _called_by_makers(project: Project, made: Contents) -> set[str]:
    """The methods that are called in the functions that made it: ``lambda x: net.forward(x)``."""
    found: set[str] = set()
    for view, call in made.makers:
        name = call.func.id if isinstance(call.func, ast.Name) else ""
        for function in project.effects(view.unit).functions(name):
            calls = (n for n in walk(function) if isinstance(n, ast.Call))
            found |= {n.func.attr for n in calls if isinstance(n.func, ast.Attribute)}
    return found


def _reads_state(project: Project, view: View, run: list[ast.AST]) -> bool:
    """Whether ``run`` finds what earlier runs of functions put aside, other than variables."""
    names = state_read(project, view, run) if run else ()
    return not all(are_variables(project, view.unit, name) for name in names)


def _functions_given(maker: View) -> Iterator[ast.AST]:
    """What may be functions of what a function gives back, not those that it calls."""
    for node in (n for end in maker.flow.returns if end.value for n in walk(end.value)):
        above = maker.unit.parents[node]
        if isinstance(above, ast.Call) and above.func is node:
            continue
        imported = isinstance(node, ast.Attribute) and maker.unit.names.qualified(node)
        if isinstance(node, ast.Lambda | ast.Name) or imported:
            yield node


def _parts_read(function: ast.AST) -> set[str]:
    """The attributes that a function reads."""
    return {n.attr for n in walk(function) if isinstance(n, ast.Attribute)}


def _having(unit: Unit) -> dict[str, list[tuple[str, ast.ClassDef]]]:
    """The classes by the names of their methods, with the file."""
    found: dict[str, list[tuple[str, ast.ClassDef]]] = {}
    for cls in unit.nodes(ast.ClassDef):
        for stmt in cls.body:
            if isinstance(stmt, NamedFunction):
                found.setdefault(stmt.name, []).append((unit.filename, cls))
    return found


def computed_when_made(
    project: Project,
    results: KeptResults,
    parts: PartsHeld,
    view: View,
    region: Region,
    leaves: list[Leaf],
    recorded: Set[Path] = frozenset(),
) -> Refusal | list[str]:
    """That an object whose variables are the sources, or may be, computed from them before.

    Its method may run in the region itself, or in a function that the region hands it to. Of
    objects whose classes are not at hand it is assumed that they did not. What is ``recorded``
    was made on the tape.
    """
    variables = any(x.variables or x.watch is None for x in leaves)
    if not variables and not _are_parts(leaves):
        return []
    body = region.block.body[region.first : region.last + 1]
    run: list[ast.AST] = [*body, region.request.target, *captured_functions(region, view)]
    named: set[str] | None = None
    made_here = {node for stmt in body for node in walk(stmt)}
    met: set[Path] = set()
    keeping = Keeping(
        results, parts, shown=_shown(leaves), sources=_attributes(leaves), variables=variables
    )
    assumed = keeping.assumed
    for node in (n for each in run for n in walk(each)):
        if not isinstance(node, ast.Name | ast.Attribute) or not isinstance(node.ctx, ast.Load):
            continue
        path = path_of(node)
        if path is None or path in met or any(path[: len(r)] == r for r in recorded):
            continue
        imported = view.unit.names.qualified(node)
        if imported is not None:
            met.add(path)
            held = _of_module(project, imported, made_here)
            for made_of in held.classes:
                named = _called_in(project, view, run) if named is None else named
                if keeping.is_read(made_of, named | held.parts):
                    return _wrong(ast.unparse(node), leaves)
            continue
        whole = path == (view.kinds.self_name,)
        if (whole and not _is_handed_on(view, node)) or _is_method(project, view, path):
            continue
        met.add(path)
        made = origins(view.flow.reads.get(node, frozenset()))
        if any(d.stmt in made_here for d in made) or _is_untouched(project, view, region, made):
            continue
        if all(d.kind in _OUTSIDE for d in made) and all(x.is_new for x in leaves):
            continue
        own = [(view.unit, view.cls)] if whole and view.cls is not None else []
        inner = Contents(own) if own else _contents(project, view, node, made_here)
        if _is_called(view.unit, node):
            method = _method(view, node)
            passed = bool(made) and all(d.kind is Kind.PARAM for d in made)  # judged as such
            perhaps = not passed and (
                keeping.may_be_read(project, inner, method)
                or keeping.may_be_computed(project, inner)
            )
            if perhaps or _is_hidden(project, inner, method):
                assumed.append(_elsewhere(view, node))
        for made_of in inner.classes:
            # Looked for late: it leads into other files.
            named = _called_in(project, view, run) if named is None else named
            if keeping.is_read(made_of, named | inner.parts):
                return _wrong(ast.unparse(_owner(view, node)), leaves)
    read = _read_in_methods(project, keeping, view, run, made_here)
    read = read or _read_of_module(project, keeping, view, region, made_here)
    return _wrong(read, leaves) if read else list(dict.fromkeys(assumed))


def _elsewhere(view: View, node: ast.expr) -> str:
    path = path_of(node) or ()
    whole = text_of(path[: 2 if path[:1] == (view.kinds.self_name,) else 1])
    return f"`{whole}` runs its forward pass where it is called, not where it was made"


def _is_hidden(project: Project, contents: Contents, method: str) -> bool:
    """Whether an object's class is not at hand, or one from which it has the method."""
    return contents.is_hidden or any(
        method_of(list(above(project, *each)), method)[1] is None
        and classes(project).has_unseen_bases(*each)
        for each in contents.classes
    )


def _method(view: View, node: ast.expr) -> str:
    """The method that is called of the object there."""
    whole = view.unit.parents.get(node)
    if isinstance(whole, ast.Attribute):
        return whole.attr
    path = path_of(node) or ()
    least = 2 if path[:1] == (view.kinds.self_name,) else 1
    return path[-1].lstrip(".") if len(path) > least else "__call__"


def _is_called(unit: Unit, node: ast.expr) -> bool:
    """Whether the object is called, or a method of it, or perhaps an element."""
    above = unit.parents.get(node)
    while isinstance(above, ast.Attribute | ast.Subscript):
        node, above = above, unit.parents.get(above)
    if isinstance(above, ast.For | ast.comprehension):
        return above.iter is node
    return isinstance(above, ast.Call) and above.func is node


def _owner(view: View, node: ast.expr) -> ast.expr:
    """The object of a method that is called there."""
    above = view.unit.parents.get(node)
    if isinstance(above, ast.Call) and above.func is node and isinstance(node, ast.Attribute):
        return node if path_of(node.value) == (view.kinds.self_name,) else node.value
    return node


def _wrong(text: str, leaves: list[Leaf]) -> Refusal:
    return wrong(text, "computed where its object was made", _shown(leaves))


def _read_in_methods(
    project: Project,
    keeping: Keeping,
    view: View,
    run: list[ast.AST],
    made_here: set[ast.AST],
) -> str:
    """What methods of the object that run there read of objects which it was given before, or ''.

    ``self.net.forward(x)`` in ``self.build()``: the network was made before, and may have computed
    what ``forward`` reads.
    """
    methods = [m for m in own_methods(project, view, run) if isinstance(m, NamedFunction)]
    if view.cls is None or not methods:
        return ""
    inside = made_here | {n for method in methods for n in walk(method)}
    called: set[str] | None = None
    met: set[str] = set()
    for method in methods:
        inner = project.view(view.unit, method)
        me = inner.kinds.self_name
        nodes = [n for n in walk(method) if isinstance(n, ast.Attribute)]
        parts = {n.attr for n in nodes if path_of(n.value) != (me,)}
        for node in nodes:
            if path_of(node.value) != (me,) or node.attr in met:
                continue
            met.add(node.attr)
            values = attribute_values(project, view, node.attr)
            if not values or all(value in inside for value in values):
                continue
            found = contained(project, inner, node, inside)
            if _is_called(view.unit, node):
                names = {_method(inner, node)}
            elif found.is_unknown and isinstance(view.unit.parents.get(node), ast.Return):
                # Whoever asks the method for it may call it.
                called = _called_in(project, view, [*run, *methods]) if called is None else called
                names = called
            else:
                names = set()
            if any(
                _is_hidden(project, found, name) or keeping.may_be_read(project, found, name)
                for name in sorted(names)
            ):
                keeping.assumed.append(_elsewhere(view, node))
            if keeping.may_be_computed(project, found):
                keeping.assumed.append(
                    f"`{ast.unparse(node)}` was not computed from {keeping.shown}"
                )
            for made_of in found.classes:
                # Looked for late: it leads into other files.
                called = _called_in(project, view, [*run, *methods]) if called is None else called
                if keeping.is_read(made_of, called | found.parts):
                    return ast.unparse(node)
                if any(keeping.results.is_kept_by(*made_of, part) for part in sorted(parts)):
                    return ast.unparse(node)
    return ""


def _read_of_module(
    project: Project,
    keeping: Keeping,
    view: View,
    region: Region,
    made_here: set[ast.AST],
) -> str:
    """Which object of the module functions read that run there, after it computed that, or ''."""
    objects = view.unit.once(_objects)
    if not objects or isinstance(view.scope, ast.Module):
        return ""
    run, read = run_in(project, region, view)
    module = project.view(view.unit, view.unit.tree)
    called: set[str] | None = None
    for name in sorted(objects & read):
        held = contained(project, module, ast.Name(name, ast.Load()), made_here)
        if keeping.may_be_computed(project, held):
            keeping.assumed.append(f"`{name}` was not computed from {keeping.shown}")
        for made_of in held.classes:
            called = _called_in(project, view, run) if called is None else called
            if keeping.is_read(made_of, called | held.parts):
                return name
    return ""


def _objects(unit: Unit) -> frozenset[str]:
    """The names of the module that may stand for objects of classes, or for what holds some."""
    made = [
        node
        for node in unit.nodes(ast.Call)
        if ((path_of(node.func) or ("",))[-1].lstrip(".")[:1].isupper())
        and not is_of_library(unit.names.qualified(node.func))
    ]
    found = {
        name
        for name, values in unit.once(given_at_top).items()
        for value in values
        if isinstance(value, ast.Call) and not is_of_library(unit.names.qualified(value.func))
    }
    for node in made:
        above: ast.AST | None = node
        while above is not None and not isinstance(above, ast.stmt):
            above = unit.parents.get(above)
        if above is not None:
            found |= {n.id for n in walk(above) if isinstance(n, ast.Name)}
    return frozenset(found)


def _of_module(project: Project, path: str, inside: set[ast.AST]) -> Contents:
    """What objects another module of the user's holds under an import path."""
    module, _, name = path.rpartition(".")
    if not module or is_of_library(path) or gives_no_tensors(path):
        return Contents()
    homes = project.units.holding(module, name)
    value = ast.Name(name, ast.Load())
    return _all(
        contained(project, project.view(home, home.tree), value, inside)
        for home in homes
        if global_values(home, name)
    )


def _all(contents: Iterable[Contents]) -> Contents:
    found = list(contents)
    return Contents(
        [each for one in found for each in one.classes],
        any(one.is_hidden for one in found),
        any(one.is_unknown for one in found),
        [each for one in found for each in one.makers],
        frozenset().union(*(one.parts for one in found)),
    )


def _contents(project: Project, view: View, node: ast.expr, inside: set[ast.AST]) -> Contents:
    name = (path_of(node) or ("",))[0]
    own = isinstance(node, ast.Name) or name in view.flow.own_names
    if origins(view.flow.reads.get(node, frozenset())) or not own:
        return contained(project, view, node, inside)
    # A lambda reads it, or an inner function, where it is called.
    defs = view.flow.defs.values()
    made = [d for d in defs if d.path == (name,) and d.stmt not in inside]
    values = [d.value for d in made if d.kind is Kind.ASSIGN and d.value is not None]
    if any(d.kind in (Kind.PARAM, Kind.ENTRY) for d in made):
        return contained(project, view, node, inside)
    return _all(contained(project, view, value, inside) for value in values)


def _is_untouched(project: Project, view: View, region: Region, made: frozenset[Def]) -> bool:
    """Whether an object is made before the region, computes nothing then, and does nothing else."""
    before = region.block.body[: region.first]
    for each in made:
        if each.stmt not in before or len(each.path) > 1:
            return False
        found = making(project, view, each)
        if not (found.quiet and found.seen):
            return False
        between = (n for stmt in before[before.index(each.stmt) + 1 :] for n in walk(stmt))
        if any(isinstance(n, ast.Name) and n.id == each.path[0] for n in between):
            return False
    return bool(made)


def _is_method(project: Project, view: View, path: Path) -> bool:
    """Whether it is a method of the object itself, which nothing else takes the place of."""
    if path[0] != view.kinds.self_name or len(path) < 2 or view.cls is None:
        return False
    name = path[1].lstrip(".")
    if attribute_values(project, view, name) or project.foreign_stores(view.unit, view.cls, name):
        return False
    known = classes(project)
    below = [each for cls in known.extending(view.cls.name) for each in known.named(cls)]
    lines = [above(project, view.unit, view.cls), *([each] for each in below)]
    return any(method_of(list(line), name)[1] is not None for line in lines)


def _is_handed_on(view: View, node: ast.expr) -> bool:
    """Whether the object of the method is an argument, and so called by another function."""
    above = view.unit.parents.get(node)
    if isinstance(above, ast.keyword):
        above = view.unit.parents.get(above)
    return isinstance(above, ast.Call) and above.func is not node


def _called_in(project: Project, view: View, run: list[ast.AST]) -> set[str]:
    """The names of the methods that run, also in functions of other files, and ``__call__``.

    Whatever is called may call an object that it is handed.
    """
    found: set[str] = set()
    seen: set[ast.AST] = set()
    pending = [(view.unit, each) for each in run]
    while pending:
        unit, root = pending.pop()
        for node in walk(root):
            if not isinstance(node, ast.Call):
                continue
            found.add("__call__")
            path = unit.names.qualified(node.func)
            name = (path or (path_of(node.func) or ("",))[-1]).split(".")[-1]
            if path is None and isinstance(node.func, ast.Attribute):
                found.add(node.func.attr)
            if not name or name in _BUILTIN or is_of_library(path):
                continue
            homes = [unit] if path is None else project.units.defining(name)
            for home in homes:
                functions = [f for f in project.effects(home).functions(name) if f not in seen]
                seen |= set(functions)
                pending += [(home, each) for each in functions]
    return found


def _are_parts(leaves: list[Leaf]) -> bool:
    """Whether a source is an attribute of an object, and may be one of its variables."""
    return any(len(d.path) > 1 for x in leaves for d in x.defs)


def _attributes(leaves: list[Leaf]) -> frozenset[str]:
    """The names of attributes that are sources."""
    steps = {d.path[-1] for x in leaves for d in x.defs if len(d.path) > 1}
    steps |= {x.watch.rpartition(".")[2] for x in leaves if x.watch and "." in x.watch}
    return frozenset(step.lstrip(".") for step in steps)


def _shown(leaves: list[Leaf]) -> str:
    if any(x.variables for x in leaves):
        return "the variables"
    return f"`{leaves[0].watch}`" if leaves[0].watch else "the variables"
