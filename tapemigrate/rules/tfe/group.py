"""What one rewrite of a file is made of."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

from tapemigrate.model import Applicability
from tapemigrate.rules.conditions import right_if
from tapemigrate.rules.finding import Rewrite, Unit
from tapemigrate.rules.tfe.block import Block
from tapemigrate.rules.tfe.imports import import_tensorflow
from tapemigrate.rules.tfe.sites import Site
from tapemigrate.rules.tfe.symbols import Use
from tapemigrate.tape.plan import Op


@dataclass(eq=False, slots=True)
class Group:
    """Sites that one rewrite mends, and the nodes that it replaces.

    New statements go above ``stmt``, or into its place.
    """

    stmt: ast.stmt | None = None
    block: Block | None = None
    in_place: bool = False
    ops: list[Op] = field(default_factory=list)
    sites: list[Site] = field(default_factory=list)
    uses: list[Use] = field(default_factory=list)
    nodes: set[ast.AST] = field(default_factory=set)
    needs_import: bool = False
    rewrite: Rewrite | None = None

    def assumptions(self) -> list[str]:
        """What must hold for the rewrite to be right."""
        return list(dict.fromkeys(u.assumes for u in self.uses if u.assumes))

    def finish(self, unit: Unit) -> None:
        """Makes the rewrite."""
        assumptions = self.assumptions()
        kind: Applicability = "unsafe" if assumptions else "safe"
        message = "Use `tf.GradientTape`" if self.sites else "Use what TensorFlow 2 has"
        if self.needs_import:
            self.ops.append(import_tensorflow(unit))
        self.rewrite = Rewrite(
            kind, message + right_if(assumptions), {unit.filename: tuple(self.ops)}
        )
