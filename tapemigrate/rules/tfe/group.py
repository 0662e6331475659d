"""What one rewrite of a file is made of."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

from tapemigrate.model import Applicability
from tapemigrate.rules.conditions import right_if
from tapemigrate.rules.finding import Rewrite, Unit
from tapemigrate.rules.tfe.block import Block
from tapemigrate.rules.tfe.imports import import_tensorflow, is_optional
from tapemigrate.rules.tfe.sites import Site
from tapemigrate.rules.tfe.symbols import Use
from tapemigrate.tape.plan import Insert, Op


@dataclass(eq=False, slots=True)
class Group:
    """Sites that one rewrite mends, and the nodes that it replaces.

    New statements go above ``stmt``, or into its place. ``assumed`` is what the sites rest on.
    """

    stmt: ast.stmt | None = None
    block: Block | None = None
    in_place: bool = False
    ops: list[Op] = field(default_factory=list)
    sites: list[Site] = field(default_factory=list)
    uses: list[Use] = field(default_factory=list)
    nodes: set[ast.AST] = field(default_factory=set)
    needs_import: bool = False
    assumed: list[str] = field(default_factory=list)
    rewrite: Rewrite | None = None

    def assumptions(self) -> list[str]:
        """What must hold for the rewrite to be right."""
        uses = [u.assumes for u in self.uses if u.assumes]
        return list(dict.fromkeys([*self.assumed, *uses]))

    def finish(self, unit: Unit) -> None:
        """Makes the rewrite."""
        assumptions = self.assumptions()
        if self.needs_import:
            home = self._home(unit) if is_optional(unit) else unit.tree
            if isinstance(home, ast.FunctionDef | ast.AsyncFunctionDef):
                self.ops.append(Insert(unit.lines.span(home), "body", "import tensorflow as tf"))
            else:
                self.ops.append(import_tensorflow(unit))
            if home is None:
                assumptions.append("TensorFlow is there wherever this file is imported")
        kind: Applicability = "unsafe" if assumptions else "safe"
        message = "Use `tf.GradientTape`" if self.sites else "Use what TensorFlow 2 has"
        self.rewrite = Rewrite(
            kind, message + right_if(assumptions), {unit.filename: tuple(self.ops)}
        )

    def _home(self, unit: Unit) -> ast.AST | None:
        """The one function in which all of it stands."""
        homes = {_outermost(unit, node) for node in self.nodes}
        return homes.pop() if len(homes) == 1 else None


def _outermost(unit: Unit, node: ast.AST) -> ast.AST | None:
    """The function round a node that stands in no other one."""
    found: ast.AST | None = None
    parent = unit.parents.get(node)
    while parent is not None:
        if isinstance(parent, ast.FunctionDef | ast.AsyncFunctionDef):
            found = parent
        parent = unit.parents.get(parent)
    return found
