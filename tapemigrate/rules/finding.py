"""What a rule says about a file, before it is turned into diagnostics and texts."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar, cast

from tapemigrate.model import Applicability
from tapemigrate.names import Names
from tapemigrate.source.positions import Lines
from tapemigrate.source.span import Span
from tapemigrate.source.trees import with_parents
from tapemigrate.tape.plan import Op

if TYPE_CHECKING:
    from tapemigrate.source.notebooks import Notebook

_T = TypeVar("_T")
_N = TypeVar("_N", bound=ast.AST)


_GRAPH_ONLY = (
    *(".placeholder", ".Session", ".get_variable", ".contrib.", ".InteractiveSession"),
    *(".global_variables_initializer", ".disable_v2_behavior", ".disable_eager_execution"),
)


@dataclass(slots=True)
class Unit:
    """One parsed file, as the rules see it.

    What follows from it is worked out when it is first asked for: of most files in which callers
    may stand, that is little. Of a ``notebook``, the text and the tree are those of its code cells,
    one after the other. ``handed_on`` tells what modules of the user's have of TensorFlow.
    """

    filename: str
    text: str
    tree: ast.Module
    notebook: Notebook | None = None
    handed_on: tuple[tuple[str, str], ...] = ()
    users: int = field(default=0, init=False, repr=False, compare=False)
    _once: dict[Callable[[Unit], Any], Any] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )
    _above: dict[ast.AST, ast.AST] | None = field(
        default=None, init=False, repr=False, compare=False
    )
    _meant: Names | None = field(default=None, init=False, repr=False, compare=False)

    def once(self, make: Callable[[Unit], _T]) -> _T:
        """What ``make`` tells from this file alone: worked out once, and kept with the file."""
        # Asked for too often to be looked up twice.
        try:
            found: _T = self._once[make]
        except KeyError:
            found = self._once[make] = make(self)
        return found

    def forget(self) -> None:
        """Drops what was worked out: views and calls refer back, and would keep the file alive."""
        self._once.clear()
        self._above = None
        self._meant = None

    @property
    def lines(self) -> Lines:
        """Positions in the text."""
        return self.once(_lines)

    @property
    def names(self) -> Names:
        """What names mean."""
        # Asked for too often to be looked up in ``_once``, as are the parents.
        if self._meant is None:
            self._meant = Names(self.tree, dict(self.handed_on))
        return self._meant

    @property
    def parents(self) -> dict[ast.AST, ast.AST]:
        """Every node below the tree, with the one that holds it."""
        if self._above is None:
            self._above = with_parents(self.tree)
        return self._above

    @property
    def graph(self) -> bool:
        """Whether it is written for a v1 graph: it uses what only TensorFlow 1 has."""
        return self.once(_graph)

    def is_below(self, node: ast.AST | None, root: ast.AST) -> bool:
        """Whether a node is ``root``, or stands somewhere below it."""
        while node is not None and node is not root:
            node = self.parents.get(node)
        return node is root

    def nodes(self, cls: type[_N]) -> list[_N]:
        """The nodes of that very class, in the order of ``parents``."""
        return cast("list[_N]", self.once(_by_class).get(cls, []))

    @property
    def definitions(self) -> list[ast.FunctionDef | ast.ClassDef]:
        """Its functions and classes, in the order of ``parents``."""
        return self.once(_definitions)


def _lines(unit: Unit) -> Lines:
    return Lines(unit.text)


def _graph(unit: Unit) -> bool:
    return any(
        path.startswith("tensorflow") and any(mark in path + "." for mark in _GRAPH_ONLY)
        for _, path in unit.names.references()
    )


def _by_class(unit: Unit) -> dict[type[ast.AST], list[ast.AST]]:
    found: defaultdict[type[ast.AST], list[ast.AST]] = defaultdict(list)
    for node in unit.parents:
        found[node.__class__].append(node)
    return dict(found)


_DEFINITIONS = frozenset({ast.FunctionDef, ast.ClassDef})


def _definitions(unit: Unit) -> list[ast.FunctionDef | ast.ClassDef]:
    # By their classes, which is quicker than ``isinstance``: all nodes come by.
    found = (node for node in unit.parents if node.__class__ in _DEFINITIONS)
    return cast("list[ast.FunctionDef | ast.ClassDef]", [*found])


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
