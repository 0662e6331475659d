"""What a rule says about a file, before it is turned into diagnostics and texts."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar, cast

from tapemigrate.model import Applicability
from tapemigrate.tape.plan import Op, Span

if TYPE_CHECKING:
    from tapemigrate.names import Names
    from tapemigrate.source.notebooks import Notebook
    from tapemigrate.source.positions import Lines

_T = TypeVar("_T")
_N = TypeVar("_N", bound=ast.AST)


@dataclass(slots=True)
class Unit:
    """One parsed file, as the rules see it.

    ``graph`` says that it is written for a v1 graph: it uses what only TensorFlow 1 has. Of a
    ``notebook``, the text and the tree are those of its code cells, one after the other.
    """

    filename: str
    text: str
    tree: ast.Module
    lines: Lines
    names: Names
    parents: dict[ast.AST, ast.AST]
    graph: bool = False
    notebook: Notebook | None = None
    _once: dict[Callable[[Unit], object], object] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    def once(self, make: Callable[[Unit], _T]) -> _T:
        """What ``make`` tells from this file alone: worked out once, and kept with the file."""
        if make not in self._once:
            self._once[make] = make(self)
        return cast("_T", self._once[make])

    def nodes(self, cls: type[_N]) -> list[_N]:
        """The nodes of that very class, in the order of ``parents``."""
        return cast("list[_N]", self.once(_by_class).get(cls, []))


def _by_class(unit: Unit) -> dict[type[ast.AST], list[ast.AST]]:
    found: dict[type[ast.AST], list[ast.AST]] = {}
    for node in unit.parents:
        found.setdefault(node.__class__, []).append(node)
    return found


@dataclass(frozen=True, slots=True)
class Rewrite:
    """Ops that land together or not at all, with how sure they are.

    ``ops`` maps a file's name to what is done to it. ``message`` says what the fix does.
    """

    applicability: Applicability
    message: str
    ops: dict[str, tuple[Op, ...]] = field(hash=False)


@dataclass(frozen=True, slots=True)
class Finding:
    """One diagnostic in the making. Findings that one rewrite mends share the ``rewrite``."""

    code: str
    filename: str
    span: Span
    message: str
    help: str = ""
    rewrite: Rewrite | None = None
