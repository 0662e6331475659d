"""Sources that are imported: what else is imported may have been made of them, out of sight."""

from __future__ import annotations

import ast

from tapemigrate.flow.definitions import Kind
from tapemigrate.rules.callgraph.classes import is_of_library
from tapemigrate.rules.callgraph.import_chains import import_chains, imports_below
from tapemigrate.rules.callgraph.imported import homes_of
from tapemigrate.rules.project import Project, View
from tapemigrate.rules.proof.state.globals_read import run_in
from tapemigrate.tape.ops.kinds import Make
from tapemigrate.tape.ops.symbols import gives_no_tensors
from tapemigrate.tape.ops.syntax import given_back
from tapemigrate.tape.placing.region import Region

_NO_VALUES = (Kind.FUNCTION, Kind.CLASS)


def imported_beside(project: Project, view: View, region: Region) -> list[str]:
    """What is assumed of the user's functions and values that the region imports beside sources."""
    made = [d.value for leaf in region.sources.leaves for d in leaf.defs if d.value is not None]
    chains = import_chains(view.unit)
    listed = [
        part
        for root in (region.request.sources, *made)
        for part in (root, *given_back(root, view.kinds))
    ]
    sources = [
        (part, chains[part])
        for part in dict.fromkeys(listed)
        if _is_of_user(chains.get(part, "tensorflow"))
    ]
    if not sources:
        return []
    roots, _ = run_in(project, region, view)
    used = [each for root in roots for each in imports_below(project, view.unit, root)]
    found: dict[str, None] = {}
    for source, own in sources:
        for expr, path in used:
            if path == own or path.startswith(f"{own}.") or not _is_of_user(path):
                continue
            parent = view.unit.parents[expr]
            is_called = isinstance(parent, ast.Call) and parent.func is expr
            if is_called or not _is_plain(project, path):
                how = "reads nothing that was" if is_called else "was not"
                found[f"`{ast.unparse(expr)}` {how} computed from `{ast.unparse(source)}`"] = None
    return list(found)


def _is_of_user(path: str) -> bool:
    """Whether a path leads to no library that is known."""
    return not is_of_library(path) and not gives_no_tensors(path)


def _is_plain(project: Project, path: str) -> bool:
    """Whether a file at hand shows that it is a function, a class or a Python value."""
    for unit, name in homes_of(project, path):
        flow, kinds = (top := project.view(unit, unit.tree)).flow, top.kinds
        if made := [d for d in flow.defs.values() if d.path == (name,)]:
            return all(
                d.kind in _NO_VALUES or (d.value is not None and kinds.make(d.value) is Make.PYTHON)
                for d in made
            )
    return False
