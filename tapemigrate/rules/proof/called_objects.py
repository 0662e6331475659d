"""What objects that the forward pass calls kept when they were made: ``model(x)``."""

from __future__ import annotations

import ast
import builtins

from tapemigrate.flow.slices import origins
from tapemigrate.rules.callgraph.instances import Instances, instances_of
from tapemigrate.rules.project import Project, View
from tapemigrate.rules.proof.kept_results import KeptResults
from tapemigrate.rules.proof.verdicts import wrong
from tapemigrate.source.trees import walk
from tapemigrate.tape.leaf import Leaf
from tapemigrate.tape.region import Region
from tapemigrate.tape.request import Refusal

_BUILTIN = frozenset(dir(builtins))


def computed_when_made(
    project: Project, results: KeptResults, view: View, region: Region, leaves: list[Leaf]
) -> Refusal | None:
    """That an object whose variables are the sources, or may be, computed from them before.

    Its method may run in the region itself, or in a function that the region hands it to.
    """
    if not any(x.variables or x.watch is None for x in leaves) and not _are_parts(leaves):
        return None
    body = region.block.body[region.first : region.last + 1]
    run: list[ast.AST] = [*body, region.request.target]
    named = _called_in(project, view, run)
    if not named:
        return None
    made_here = {node for stmt in body for node in walk(stmt)}
    met: set[str] = set()
    for node in (n for each in run for n in walk(each)):
        if not isinstance(node, ast.Name | ast.Attribute) or not isinstance(node.ctx, ast.Load):
            continue
        text = ast.unparse(node)
        whole = text == view.kinds.self_name
        if text in met or (whole and not _is_handed_on(view, node)):
            continue
        met.add(text)
        if any(d.stmt in made_here for d in origins(view.flow.reads.get(node, frozenset()))):
            continue
        own = [(view.unit, view.cls)] if whole and view.cls is not None else []
        for unit, cls in own or _classes(project, view, node).classes:
            for name in sorted(named):
                if results.read_by(unit, cls, name):
                    return wrong(text, "computed where its object was made", _shown(leaves))
    return None


def _classes(project: Project, view: View, node: ast.expr) -> Instances:
    made = origins(view.flow.reads.get(node, frozenset()))
    return instances_of(project, view, node) if made else Instances()


def _is_handed_on(view: View, node: ast.expr) -> bool:
    """Whether the object of the method is an argument, and so called by another function."""
    above = view.unit.parents.get(node)
    if isinstance(above, ast.keyword):
        above = view.unit.parents.get(above)
    return isinstance(above, ast.Call) and above.func is not node


def _called_in(project: Project, view: View, run: list[ast.AST]) -> set[str]:
    """The names of the methods that run, and ``__call__`` where an object itself is called."""
    unit, effects = view.unit, project.effects(view.unit)
    found: set[str] = set()
    seen: set[ast.AST] = set()
    pending = list(run)
    while pending:
        for node in walk(pending.pop()):
            if not isinstance(node, ast.Call) or unit.names.qualified(node.func) is not None:
                continue
            if isinstance(node.func, ast.Attribute):
                name = node.func.attr
                found.add(name)
            elif isinstance(node.func, ast.Name) and node.func.id not in _BUILTIN:
                name = node.func.id
            else:
                continue
            # An object may bear the name of a function that stands elsewhere in the file.
            found.add("__call__")
            functions = [f for f in effects.functions(name) if f not in seen]
            seen |= set(functions)
            pending += functions
    return found


def _are_parts(leaves: list[Leaf]) -> bool:
    """Whether a source is an attribute of an object, and may be one of its variables."""
    return any(len(d.path) > 1 for x in leaves for d in x.defs)


def _shown(leaves: list[Leaf]) -> str:
    if any(x.variables for x in leaves):
        return "the variables"
    return f"`{leaves[0].watch}`" if leaves[0].watch else "the variables"
