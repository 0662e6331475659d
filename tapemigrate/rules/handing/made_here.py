"""Objects that a function makes itself: ``model = Model()``, ``tf.gradients(model.loss, …)``.

The class computes the target where no tape of this function could watch the source before. It keeps
a tape beside it, as it does for whoever is handed such an object.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

from tapemigrate.flow.definitions import Def, Kind, Use, Uses
from tapemigrate.flow.paths import Path, path_of
from tapemigrate.flow.slices import origins
from tapemigrate.rules.callgraph.instances import Instances, instances_of
from tapemigrate.rules.project import Project, View
from tapemigrate.source.trees import walk
from tapemigrate.tape.kinds import Make
from tapemigrate.tape.request import Request

_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


@dataclass(slots=True)
class MadeHere:
    """An object that is made in the scope: what ``owner`` is an instance of.

    ``nodes`` read its attributes in the call of a gradient, ``before`` is what they read.
    """

    view: View
    owner: Path
    instances: Instances
    nodes: dict[ast.AST, Path]
    before: dict[ast.AST, Uses] = field(default_factory=dict)

    def read_from_outside(self) -> None:
        """Has the call read the attributes as if another function had made the object.

        In one call, all of them are read at once: whatever ran since, they belong together.
        """
        reads = self.view.flow.reads
        order = len(self.view.flow.defs)
        entries = {path: Def(path, Kind.ENTRY, None, order=order) for path in self.nodes.values()}
        for node, path in self.nodes.items():
            self.before[node] = reads[node]
            reads[node] = frozenset({Use(entries[path])})

    def read_as_before(self) -> None:
        """Takes that back."""
        self.view.flow.reads.update(self.before)
        self.before.clear()


def made_here(project: Project, view: View, request: Request) -> MadeHere | None:
    """The object of which all that ``request`` is about are attributes, if the scope makes it.

    Not if the target is made of anything else: that may have come from the source as well, through
    what the object was made of.
    """
    sources = request.sources
    parts = sources.elts if isinstance(sources, ast.List | ast.Tuple) else [sources]
    paths = [_attribute(part) for part in parts]
    owners = {path[:-1] for path in paths if path is not None}
    if len(owners) != 1 or None in paths:
        return None
    owner = owners.pop()
    nodes: dict[ast.AST, Path] = {}
    for node in (*walk(request.target), *walk(sources)):
        path = _attribute(node)
        if path is not None and path[:-1] == owner:
            nodes[node] = path
        elif not _is_neutral(view, node):
            return None
    found = frozenset[Def]().union(*(origins(view.flow.reads.get(n, frozenset())) for n in nodes))
    made = next(iter(found)) if len(found) == 1 else None
    if made is None or made.kind is not Kind.ASSIGN or made.path != owner:
        return None
    if not isinstance(made.value, ast.Call) or _is_bound_elsewhere(view, owner):
        return None
    if not all(view.flow.reads.get(node) for node in nodes):
        return None
    return MadeHere(view, owner, instances_of(project, view, made.value), nodes)


def _attribute(node: ast.AST) -> Path | None:
    """The path of an attribute of an object that has a name, or is kept on another."""
    path = path_of(node) if isinstance(node, ast.Attribute) else None
    return path if path is not None and len(path) in (2, 3) and path[-1].startswith(".") else None


def _is_neutral(view: View, node: ast.AST) -> bool:
    """Whether it brings no tensor with it but those that it is handed."""
    if isinstance(node, ast.Call):
        return view.kinds.make(node) is Make.TENSOR
    if view.flow.reads.get(node):
        name = view.kinds.name(node) if isinstance(node, ast.expr) else None
        return name is not None and name.split(".")[0] == "tensorflow"
    return not isinstance(node, (*_COMPREHENSIONS, ast.Lambda, ast.NamedExpr, ast.Starred))


def _is_bound_elsewhere(view: View, owner: Path) -> bool:
    """Whether an inner function may give the name another value."""
    inner = (n for n in walk(view.scope) if isinstance(n, ast.Nonlocal | ast.Global))
    return any(owner[0] in node.names for node in inner)
