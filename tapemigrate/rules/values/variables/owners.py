"""Objects that give the variables asked for: the tensors they hold were made of these."""

from __future__ import annotations

import ast
import re

from tapemigrate.flow.definitions import Def
from tapemigrate.flow.paths import path_of
from tapemigrate.rules.project import View
from tapemigrate.source.trees import calls_in, walk
from tapemigrate.tape.placing.region import Region

# What such an object holds beside tensors, by its name.
_SETTING = re.compile(r"name|scope|size|shape|dim|num_|config|rate|flag|type")


def is_part_of_owner(root: Def, region: Region, view: View) -> bool:
    """Whether ``root`` is ``net.loss`` where the sources are ``net.parameters()``."""
    if any(path_of(call.func) == root.path for call in calls_in(view.scope)):
        return False  # a method, which runs where it is called
    given = [region.request.sources]
    for leaf in region.sources.leaves:
        given += [d.value for d in leaf.defs if leaf.variables and d.value is not None]
    owners = {
        path[:-1]
        for value in given
        for node in walk(value)
        if isinstance(node, ast.Attribute) and (path := path_of(node)) is not None
    }
    holders = {root.path[:n] for n in range(1, len(root.path))} - {(view.kinds.self_name,)}
    return bool(owners & holders) and not _SETTING.search(root.path[-1])
