"""Where a file uses the function transformers of ``tf.contrib.eager``, and how."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum

from tapemigrate.rules.finding import Unit
from tapemigrate.rules.tfe.symbols import Reference, symbol_of


class Kind(Enum):
    """The five transformers."""

    GRADIENTS = "TM111"
    VALUE_AND_GRADIENTS = "TM112"
    IMPLICIT = "TM113"
    VALUE_AND_IMPLICIT = "TM114"
    VJP = "TM115"

    @property
    def implicit(self) -> bool:
        """Whether the gradients are those of the variables that the function reads."""
        return self in (Kind.IMPLICIT, Kind.VALUE_AND_IMPLICIT)

    @property
    def with_value(self) -> bool:
        """Whether the made function returns the value of the function too."""
        return self in (Kind.VALUE_AND_GRADIENTS, Kind.VALUE_AND_IMPLICIT, Kind.VJP)


# https://www.tensorflow.org/versions/r1.15/api_docs/python/tf/contrib/eager
_PARAMETERS = {
    Kind.GRADIENTS: ("f", "params"),
    Kind.VALUE_AND_GRADIENTS: ("f", "params"),
    Kind.IMPLICIT: ("f",),
    Kind.VALUE_AND_IMPLICIT: ("f",),
    Kind.VJP: ("f", "params", "persistent"),
}

#: How functions that take the place of theirs are named.
SUFFIX = {
    Kind.GRADIENTS: "grad",
    Kind.VALUE_AND_GRADIENTS: "value_and_grad",
    Kind.IMPLICIT: "grads",
    Kind.VALUE_AND_IMPLICIT: "value_and_grads",
    Kind.VJP: "vjp",
}


@dataclass(eq=False, slots=True)
class Site:
    """One use of a transformer: a call of it, or a decorator (then ``call`` is None)."""

    kind: Kind
    node: ast.expr
    f: ast.expr | None
    params: ast.expr | None = None
    persistent: bool = True
    decorated: ast.FunctionDef | ast.AsyncFunctionDef | None = None

    @property
    def sets_apart(self) -> bool:
        """Whether the function is called with tensors of which no two are one."""
        return not self.kind.implicit and self.params is None


@dataclass(frozen=True, slots=True)
class Stray:
    """A use that no rewrite can follow, and why."""

    code: str
    node: ast.expr
    reason: str


def find(
    unit: Unit, references: Iterable[Reference], aliases: Mapping[str, str] | None = None
) -> Iterator[Site | Stray]:
    """Every use of a transformer among the references, in no order."""
    for expr, path in references:
        symbol = symbol_of(path, aliases)
        if symbol is None or symbol.rule not in {kind.value for kind in Kind}:
            continue
        found = _read(unit, expr, Kind(symbol.rule))
        if found is not None:
            yield found


def _read(unit: Unit, node: ast.expr, kind: Kind) -> Site | Stray | None:
    parent = unit.parents[node]
    how = unit.names.reference_kind(node)
    if not isinstance(getattr(node, "ctx", ast.Load()), ast.Load):
        return Stray("TM904", node, "it is replaced by something else here")
    if how == "getattr":
        return Stray("TM904", node, "it is looked up by a string")
    if how == "uncertain":
        return Stray(kind.value, node, "the name may mean something else here as well")
    if isinstance(parent, ast.Call) and parent.func is node:
        return _read_call(parent, kind)
    if isinstance(parent, ast.FunctionDef | ast.AsyncFunctionDef) and node in parent.decorator_list:
        return Site(kind, node, None, decorated=parent)
    if unit.names.alias_definition(node) is not None:
        return None  # followed to the places where the alias is used
    return Stray("TM904", node, "it is passed on as a value, and what calls it is not seen")


def _read_call(call: ast.Call, kind: Kind) -> Site | Stray:
    if any(isinstance(a, ast.Starred) for a in call.args) or any(
        k.arg is None for k in call.keywords
    ):
        return Stray("TM904", call, "its arguments are passed as `*args` or `**kwargs`")
    order = _PARAMETERS[kind]
    values = dict(zip(order, call.args, strict=False))
    for keyword in call.keywords:
        if keyword.arg in values or keyword.arg not in order:
            return Stray(kind.value, call, f"it has no single argument `{keyword.arg}`")
        values[keyword.arg or ""] = keyword.value
    if "f" not in values or len(call.args) > len(order):
        return Stray(kind.value, call, "its arguments are not the function's")
    params = values.get("params")
    if isinstance(params, ast.Constant) and params.value is None:
        params = None
    persistent = values.get("persistent")
    if persistent is not None and not isinstance(persistent, ast.Constant):
        return Stray(kind.value, call, "`persistent` is computed")
    keep = bool(persistent.value) if isinstance(persistent, ast.Constant) else True
    return Site(kind, call, values["f"], params, keep)
