"""Objects that a function makes itself: ``model = Model()``, ``tf.gradients(model.loss, model.x)``.

The class computes the target where no tape of this function could watch the source before. It keeps
a tape beside it, as it does for whoever is handed such an object.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass, field

from tapemigrate.flow.definitions import Def, Kind, Use, Uses
from tapemigrate.flow.paths import Path, path_of
from tapemigrate.flow.slices import backward, origins
from tapemigrate.rules.callgraph.instances import Instances, instances_of
from tapemigrate.rules.project import Project, View
from tapemigrate.source.trees import children, walk
from tapemigrate.tape.ops.kinds import Make
from tapemigrate.tape.request import Request

_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_LEAVES = (Make.LEAF, Make.PYTHON)


@dataclass(slots=True)
class MadeHere:
    """An object that is made in the scope: what ``owner`` is an instance of.

    ``nodes`` read its attributes for the target and the sources of a gradient, ``made`` is made of
    them on the way.
    """

    view: View
    owner: Path
    instances: Instances
    nodes: dict[ast.AST, Path]
    made: frozenset[Def]
    _reads: dict[ast.AST, Uses] = field(default_factory=dict)
    _uses: dict[Def, Uses] = field(default_factory=dict)

    def read_from_outside(self) -> None:
        """Has the attributes read as if another function had made the object."""
        flow = self.view.flow
        order = len(flow.defs)
        entries = {path: Def(path, Kind.ENTRY, None, order=order) for path in self.nodes.values()}
        for node, path in self.nodes.items():
            self._reads[node] = flow.reads[node]
            flow.reads[node] = frozenset({Use(entries[path])})
        for made in self.made:
            assert made.value is not None
            self._uses[made] = made.uses
            made.uses = flow.uses_in(made.value)
        flow.reread()

    def read_as_before(self) -> None:
        """Takes that back."""
        self.view.flow.reads.update(self._reads)
        for made, uses in self._uses.items():
            made.uses = uses
        self.view.flow.reread()
        self._reads.clear()
        self._uses.clear()


def made_here(
    project: Project, view: View, request: Request, others: Sequence[Request]
) -> MadeHere | None:
    """The object of which all that ``request`` is about are attributes, if the scope makes it.

    Not if the target is made of anything else that may have come from the source, through what the
    object was made of; nor if what is made on the way is asked about by ``others`` as well.
    """
    sources = request.sources
    parts = sources.elts if isinstance(sources, ast.List | ast.Tuple) else [sources]
    paths = [_attribute(part) for part in parts]
    owners = {path[:-1] for path in paths if path is not None}
    if len(owners) != 1 or None in paths:
        return None
    reader = _Reader(view, owners.pop())
    if not all(reader.is_of_object(root) for root in (request.target, sources)):
        return None
    nodes, owner = reader.nodes, reader.owner
    states = {view.flow.reads.get(node, frozenset()) for node in nodes}
    # Between them, nothing may have computed the target anew, with another tape.
    found = origins(states.pop()) if len(states) == 1 else frozenset()
    made = next(iter(found)) if len(found) == 1 else None
    if made is None or made.kind is not Kind.ASSIGN or made.path != owner:
        return None
    if not isinstance(made.value, ast.Call) or _is_bound_elsewhere(view, owner):
        return None
    on_the_way = frozenset(d for d, of_object in reader.seen.items() if of_object)
    for other in others if on_the_way else ():
        if other is not request and on_the_way & backward(view.flow.uses_in(other.target)).made:
            return None
    return MadeHere(view, owner, instances_of(project, view, made.value), nodes, on_the_way)


class _Reader:
    """Reads what values are made of, back to the attributes of one object."""

    def __init__(self, view: View, owner: Path) -> None:
        self._view = view
        self.owner = owner
        self.nodes: dict[ast.AST, Path] = {}
        self.seen: dict[Def, bool] = {}

    def is_of_object(self, value: ast.expr) -> bool | None:
        """Whether ``value`` is made of attributes of the object; None if of others as well."""
        found = False
        stack: list[ast.AST] = [value]
        while stack:
            node = stack.pop()
            path = _attribute(node)
            if path is not None and path[:-1] == self.owner:
                self.nodes[node] = path
                found = True
                continue
            if isinstance(node, ast.Call) and self._view.kinds.make(node) is Make.LEAF:
                continue
            of_object = self._node(node)
            if of_object is None:
                return None
            found |= of_object
            stack += children(node)
        return found

    def _node(self, node: ast.AST) -> bool | None:
        if isinstance(node, ast.Call):
            return False if self._view.kinds.make(node) is Make.TENSOR else None
        reads = self._view.flow.reads.get(node)
        if not reads:
            strange = (*_COMPREHENSIONS, ast.Lambda, ast.NamedExpr, ast.Starred)
            return None if isinstance(node, strange) else False
        if isinstance(node, ast.expr) and self._view.kinds.name(node) is not None:
            return False
        found = [self._definition(use.made, node) for use in reads]
        return None if None in found else any(found)

    def _definition(self, made: Def, node: ast.AST) -> bool | None:
        """The same of a local name, which has one value; what is made elsewhere is none."""
        if made in self.seen:
            return self.seen[made]
        value = made.value
        plain = made.kind is Kind.ASSIGN and isinstance(node, ast.Name) and not made.loops
        if not plain or value is None or made.path != (getattr(node, "id", ""),):
            return None
        self.seen[made] = False
        of_object = self.is_of_object(value)
        if of_object is None or not (of_object or self._view.kinds.make(value) in _LEAVES):
            return None
        self.seen[made] = of_object
        return of_object


def _attribute(node: ast.AST) -> Path | None:
    """The path of an attribute of an object that has a name, or is kept on another."""
    path = path_of(node) if isinstance(node, ast.Attribute) else None
    return path if path is not None and len(path) in (2, 3) and path[-1].startswith(".") else None


def _is_bound_elsewhere(view: View, owner: Path) -> bool:
    """Whether an inner function may give the name another value."""
    inner = (n for n in walk(view.scope) if isinstance(n, ast.Nonlocal | ast.Global))
    return any(owner[0] in node.names for node in inner)
