"""Tensors that come out of a graph collection, directly or through functions that ask for one.

A tape sees those that are made while it records: it has to open before whatever may fill the
collection, and what was put there before is lost. The ``losses`` of a layer are such, too.
https://www.tensorflow.org/api_docs/python/tf/compat/v1/get_collection
https://www.tensorflow.org/api_docs/python/tf/keras/layers/Layer#losses
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from tapemigrate.flow.functions import NamedFunction
from tapemigrate.flow.paths import path_of
from tapemigrate.rules.callgraph.by_other_names import is_own_value, run_by_other_names
from tapemigrate.rules.finding import Unit
from tapemigrate.rules.unseen.objects import standing_for
from tapemigrate.source.trees import walk
from tapemigrate.tape.ops.symbols import GETTERS, short
from tapemigrate.tape.request import Refusal

COLLECTED = Refusal(
    "tensors come from a graph collection, and any code may have filled it",
    "Return the tensors from where they are made, and open the tape there.",
    gathers=True,
)

#: A file without one of these words asks for no collection.
ASKING = frozenset(
    {*GETTERS, "get_total_loss", "get_losses", ".losses"}
    | {"get_regularization_loss", "get_regularization_losses"}
)
_LOSSES = ".losses` gives"
_HARMLESS_KEYS = ("VARIABLES", "variables", "UPDATE_OPS", "SUMMARIES", "GLOBAL_STEP", "INIT_OP")


def collected_by(what: str) -> Refusal:
    """The same, saying by what they come; ``what`` is what ``Collected.read_by`` says."""
    if what.endswith(_LOSSES):
        reason = "what layers gathered when they were called, and any code may have called them"
    elif what.endswith("gives"):
        reason = "tensors out of a graph collection, and any code may have filled it"
    else:
        reason = "tensors, and any code may have put them there"
    return replace(COLLECTED, reason=f"{what} {reason}")


class Collected:
    """What one file reads out of collections.

    ``foreign`` tells of a name what its function, of another file, has of such kinds.
    """

    def __init__(self, unit: Unit, foreign: Callable[[ast.expr], Refusal | None] | None) -> None:
        self._unit = unit
        self._foreign = foreign
        self._may_ask = any(word in unit.text for word in ASKING)
        self._readers: frozenset[str] | None = None
        self._objects = frozenset[str]()

    def readers(self) -> frozenset[str]:
        """The functions and classes of the file that ask for one, through each other too."""
        if self._readers is None:
            tops = self._unit.definitions
            found = {n.name for n in tops if self._reads_itself(n)}
            uses = {n: self._runs(n) for n in tops if found}
            while new := {n.name for n in uses if uses[n] & found} - found:
                found |= new
            self._readers = frozenset(found)
            self._objects = standing_for(self._unit, self._readers)
        return self._readers

    def read_by(self, nodes: Iterable[ast.AST]) -> str:
        """What ``nodes`` read out of a collection, in words; empty for nothing."""
        if not self._may_ask and self._foreign is None:
            return ""
        functions, through = self.readers(), ""
        for root in nodes:
            for node in walk(root):
                if self._asks(node):
                    return f"`{ast.unparse(node)}` gives"
            for name in self._names_in(root) if not through else ():
                last = _last(name)
                if last in functions or last in self._objects or self._is_foreign(name):
                    through = ast.unparse(name)
                    break
            if functions and not through:
                through = min(functions & run_by_other_names(self._unit, root), default="")
        return through and f"the graph collection that `{through}` asks for holds"

    def _names_in(self, root: ast.AST) -> Iterator[ast.Name | ast.Attribute]:
        """The longest chains: of ``Model.defaults`` the attribute counts, ``Model`` does not."""
        parents = self._unit.parents
        for node in walk(root):
            if isinstance(node, ast.Name | ast.Attribute):
                if not isinstance(parents.get(node), ast.Attribute) and not is_own_value(
                    self._unit, node
                ):
                    yield node

    def _runs(self, root: ast.AST) -> set[str | None]:
        """The last names of what ``root`` runs, or may run."""
        return {*map(_last, self._names_in(root)), *run_by_other_names(self._unit, root)}

    def _reads_itself(self, root: ast.AST) -> bool:
        """Whether ``root`` asks for one without another function of the file."""
        if self._may_ask and any(map(self._asks, walk(root))):
            return True
        return self._foreign is not None and any(map(self._is_foreign, self._names_in(root)))

    def _asks(self, node: ast.AST) -> bool:
        if isinstance(node, ast.Attribute):
            return node.attr == "losses" and self._is_of_layer(node)
        if not isinstance(node, ast.Call):
            return False
        name = short(self._unit.names.qualified(node.func)) or ""
        if name.startswith("losses.get_"):
            return True
        return _last(node.func) in GETTERS and not is_harmless(node)

    def _is_of_layer(self, node: ast.Attribute) -> bool:
        """Whether a layer may have gathered them where it was called, out of sight from here."""
        unit, path = self._unit, path_of(node.value)
        if path is None or unit.names.qualified(node) is not None or unit.once(_has_own_losses):
            return False
        scope: ast.AST | None = node
        while scope is not None and not isinstance(scope, NamedFunction):
            scope = unit.parents.get(scope)
        # What is made, and called, where they are read is seen to change.
        return scope is None or not any(
            isinstance(n, ast.Assign)
            and isinstance(n.value, ast.Call)
            and path in map(path_of, n.targets)
            for n in walk(scope)
        )

    def _is_foreign(self, node: ast.expr) -> bool:
        refusal = self._foreign(node) if self._foreign is not None else None
        return refusal is not None and refusal.gathers


def _has_own_losses(unit: Unit) -> bool:
    """Whether something of the file has what it calls its losses."""
    stored = (n for n in unit.nodes(ast.Attribute) if isinstance(n.ctx, ast.Store))
    return any(n.attr == "losses" for n in stored) or any(
        n.name == "losses" for n in unit.nodes(ast.FunctionDef)
    )


def is_harmless(call: ast.Call) -> bool:
    """Whether the collection that the call asks for holds no tensors of a forward pass."""
    keys = [*call.args[:1], *(k.value for k in call.keywords if k.arg == "key")]
    return any(word in ast.dump(key) for key in keys for word in _HARMLESS_KEYS)


def _last(node: ast.AST) -> str | None:
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else None
