"""What objects that the forward pass calls kept when they were made: ``model(x)``."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Set

from tapemigrate.flow.definitions import Def, Kind
from tapemigrate.flow.functions import NamedFunction, parameters
from tapemigrate.flow.paths import Path, path_of, text_of
from tapemigrate.flow.slices import backward, origins
from tapemigrate.rules.callgraph.assigned import attribute_values
from tapemigrate.rules.callgraph.classes import classes
from tapemigrate.rules.project import Project, View
from tapemigrate.rules.proof.kept.computed_parts import computed_parts
from tapemigrate.rules.proof.kept.held import own_methods
from tapemigrate.rules.proof.kept.keeping import Keeping
from tapemigrate.rules.proof.kept.kept_results import Class, KeptResults, above, method_of
from tapemigrate.rules.proof.kept.parts_held import PartsHeld
from tapemigrate.rules.proof.objects.calls_of_objects import (
    Reached,
    is_called,
    is_handed_on,
    method_called,
    owner_of,
)
from tapemigrate.rules.proof.objects.contained import Contents, contained
from tapemigrate.rules.proof.objects.holding import Held
from tapemigrate.rules.proof.objects.objects_named import (
    contents_of,
    contents_of_module,
    objects_of_module,
)
from tapemigrate.rules.proof.state.globals_read import run_in
from tapemigrate.rules.proof.verdicts import wrong
from tapemigrate.rules.values.objects.captured import captured_functions
from tapemigrate.rules.values.variables.made_objects import making
from tapemigrate.source.points import begin, end
from tapemigrate.source.trees import walk
from tapemigrate.tape.leaf import Leaf
from tapemigrate.tape.placing.region import Region
from tapemigrate.tape.request import Refusal

_OUTSIDE = (Kind.PARAM, Kind.ENTRY)


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
    reached = Reached(project, view, run)  # looked for late: it leads into other files
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
            held = contents_of_module(project, imported, made_here)
            for made_of in held.classes:
                if keeping.is_read(made_of, reached.methods | held.parts):
                    return _wrong(ast.unparse(node), leaves)
            continue
        whole = path == (view.kinds.self_name,)
        if (whole and not is_handed_on(view, node)) or _is_method(project, view, path):
            continue
        met.add(path)
        made = origins(view.flow.reads.get(node, frozenset()))
        if any(d.stmt in made_here for d in made) or _is_untouched(project, view, region, made):
            continue
        if _is_older(made, leaves):
            continue
        named = [d for d in made if d.path == path]
        if named and all(map(_is_function, named)):
            continue  # what is in it is gone through by itself
        own = [(view.unit, view.cls)] if whole and view.cls is not None else []
        inner = Contents(own) if own else contents_of(project, view, node, made_here)
        passed = bool(made) and all(d.kind is Kind.PARAM for d in made)
        if is_called(view.unit, node):
            method = method_called(view, node)
            # What is passed is judged as such.
            perhaps = not passed and (
                keeping.may_be_read(project, inner, method)
                or keeping.may_be_computed(project, inner)
            )
            if perhaps or _is_hidden(project, inner, method):
                assumed.append(_elsewhere(view, node))
        for made_of in inner.classes:
            if keeping.is_read(made_of, reached.methods | inner.parts):
                keeps = _kept_by_self(view, node)
                return _wrong(ast.unparse(owner_of(view, node)), leaves, keeps=keeps)
            if keeping.is_handed(made_of, reached.parts, reached.methods):
                return _wrong(ast.unparse(node), leaves, passed)
    before = _parts_before(project, view, region, run, made_here, leaves)
    for part in before if keeping.variables else ():
        return _wrong(ast.unparse(part), leaves, True)
    text = _read_in_methods(project, keeping, view, run, made_here)
    text = text or _read_of_module(project, keeping, view, region, made_here)
    return _wrong(text, leaves) if text else list(dict.fromkeys(assumed))


def _parts_before(
    project: Project,
    view: View,
    region: Region,
    run: list[ast.AST],
    made_here: set[ast.AST],
    leaves: list[Leaf],
) -> Iterator[ast.expr]:
    """What the target is made of parts of objects that were computed before, made elsewhere.

    A source that is such a part is watched itself.
    """
    sources = frozenset(d for x in leaves for d in x.defs)
    behind = backward(view.flow.uses_in(region.request.target), sources).made - sources
    before = [d.value for d in behind if d.value is not None and d.value not in made_here]
    watched = {x.watch for x in leaves}
    for part in computed_parts(project, view, [*run, *before], made_here):
        if ast.unparse(part) not in watched and _is_of_parameter(view, part):
            yield part


def _is_of_parameter(view: View, part: ast.expr) -> bool:
    """Whether it is taken out of what is passed; what else objects keep, others tell."""
    if isinstance(view.scope, ast.Module):
        return False
    passed = {a.arg for a in parameters(view.scope.args)} - {view.kinds.self_name}
    nodes = [n for n in walk(part) if isinstance(n, ast.expr)]
    made = backward([u for n in nodes for u in view.flow.reads.get(n, ())]).made
    return any(d.kind in _OUTSIDE and d.path[0] in passed for d in made)


def _is_function(made: Def) -> bool:
    """Whether it is a ``def`` of the scope, and nothing that a decorator made of one."""
    return (
        made.kind is Kind.FUNCTION
        and isinstance(made.stmt, NamedFunction)
        and not made.stmt.decorator_list
    )


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


def _wrong(text: str, leaves: list[Leaf], passed: bool = False, keeps: str = "") -> Refusal:
    shown = _shown(leaves)
    return wrong(text, "computed where its object was made", shown, threads=passed, keeps=keeps)


def _kept_by_self(view: View, node: ast.expr) -> str:
    """The attribute of ``self`` whose method is called: ``self.pi.entropy()``."""
    path = path_of(owner_of(view, node)) or ()
    return path[1].lstrip(".") if len(path) == 2 and path[0] == view.kinds.self_name else ""


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
    reached = Reached(project, view, [*run, *methods])
    met: set[str] = set()
    for method in methods:
        inner = project.view(view.unit, method)
        me = inner.kinds.self_name
        selves = (n for n in walk(method) if isinstance(n, ast.Name) and n.id == me)
        if me is not None and any(is_handed_on(inner, each) for each in selves):
            # What the scope itself sets stands in the region, or makes the tape open before it.
            run_here = reached.methods | {getattr(view.scope, "name", "")}
            if keeping.is_handed((view.unit, view.cls), reached.parts, run_here):
                return me
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
            if is_called(view.unit, node):
                names = {method_called(inner, node)}
            elif found.is_unknown and isinstance(view.unit.parents.get(node), ast.Return):
                # Whoever asks the method for it may call it.
                names = reached.methods
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
                if keeping.is_read(made_of, reached.methods | found.parts):
                    return ast.unparse(node)
                if any(_is_computed(keeping, made_of, part) for part in sorted(parts)):
                    return ast.unparse(node)
    return ""


def _is_computed(keeping: Keeping, made_of: Class, part: str) -> bool:
    """Whether a part of such an object is what networks gave, or was made of variables else."""
    if keeping.results.is_kept_by(*made_of, part):
        return True
    return keeping.variables and keeping.parts.values.attribute(*made_of, part) is Held.COMPUTED


def _read_of_module(
    project: Project,
    keeping: Keeping,
    view: View,
    region: Region,
    made_here: set[ast.AST],
) -> str:
    """Which object of the module functions read that run there, after it computed that, or ''."""
    objects = view.unit.once(objects_of_module)
    if not objects or isinstance(view.scope, ast.Module):
        return ""
    run, read = run_in(project, region, view)
    module = project.view(view.unit, view.unit.tree)
    reached = Reached(project, view, run)
    for name in sorted(objects & read):
        held = contained(project, module, ast.Name(name, ast.Load()), made_here)
        if keeping.may_be_computed(project, held):
            keeping.assumed.append(f"`{name}` was not computed from {keeping.shown}")
        for made_of in held.classes:
            if keeping.is_read(made_of, reached.methods | held.parts):
                return name
    return ""


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


def _is_older(made: frozenset[Def], leaves: list[Leaf]) -> bool:
    """Whether it was there before any of the sources was made, or is one of them."""
    if not all(x.is_new for x in leaves):
        return False
    sources = {d for x in leaves for d in x.defs}
    places = [d.stmt for d in sources]
    return all(
        d.kind in _OUTSIDE
        or d in sources
        or (d.stmt is not None and all(s is not None and end(d.stmt) <= begin(s) for s in places))
        for d in made
    )


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
