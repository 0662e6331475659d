"""Sources that a branch of ``tf.cond`` hands back as they are.

In a graph a conditional gives a new tensor. Executed eagerly, it gives the very tensor that the
branch gave: a gradient by it takes in all that was made of that by its own name.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tapemigrate.flow.definitions import Def, Kind
from tapemigrate.flow.defuse import Flow
from tapemigrate.flow.paths import Path, path_of, text_of
from tapemigrate.flow.slices import backward, origins
from tapemigrate.source.trees import arguments_of, walk
from tapemigrate.tape.kinds import Kinds
from tapemigrate.tape.region import Region

_BRANCHING = frozenset({"cond", "case", "switch_case"})


def handed_back(region: Region, flow: Flow, kinds: Kinds) -> list[str]:
    """What is assumed of sources that may be another tensor of the target, executed eagerly."""
    found: dict[str, None] = {}
    for leaf in region.sources.leaves:
        sources = frozenset(leaf.defs)
        paths = {path for made in leaf.defs for path in _given_back(made, flow, kinds)}
        if not paths or leaf.watch is None:
            continue
        behind = backward(flow.uses_in(region.request.target), sources).made - sources
        for path in sorted(paths.intersection(d.path for d in behind)):
            found[
                f"`{leaf.watch}` is not `{text_of(path)}` itself, which a branch hands back as it "
                "is where execution is eager"
            ] = None
    return list(found)


def _given_back(made: Def, flow: Flow, kinds: Kinds) -> Iterator[Path]:
    """The names whose tensors the branches give that a conditional runs."""
    call = made.value
    if not isinstance(call, ast.Call):
        return
    if (kinds.tensorflow(call.func) or "").rpartition(".")[2] not in _BRANCHING:
        return
    for argument in arguments_of(call):
        for node in walk(argument):
            if isinstance(node, ast.Lambda):
                yield from _paths(node.body)
            elif isinstance(node, ast.Name):
                for each in origins(flow.reads.get(node, frozenset())):
                    if each.kind is Kind.FUNCTION and each.stmt is not None:
                        ends = (n for n in walk(each.stmt) if isinstance(n, ast.Return))
                        for end in ends:
                            yield from _paths(end.value)


def _paths(value: ast.expr | None) -> Iterator[Path]:
    parts = value.elts if isinstance(value, ast.Tuple | ast.List) else [value]
    yield from (path for path in map(path_of, parts) if path is not None)
