"""By what name the code of a tape reaches TensorFlow, and the import that it may take."""

from __future__ import annotations

import ast
from itertools import chain, count

from tapemigrate.flow.functions import Scope
from tapemigrate.rules.finding import Unit
from tapemigrate.rules.tfe.imports import import_tensorflow, is_optional
from tapemigrate.tape.plan import Insert

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


class TensorFlowName:
    """TensorFlow's name in one scope; ``imports`` is what the names that were given rest on."""

    def __init__(self, unit: Unit, scope: Scope) -> None:
        self._unit = unit
        self._scope = scope
        self.imports: list[Insert] = []

    def at(self, node: ast.expr) -> str:
        """The name for the place of the gradient call ``node``."""
        names = self._unit.names
        known = names.tensorflow_alias(getattr(node, "func", node))
        if known is not None:
            return known
        scope, local = self._scope, isinstance(self._scope, _FUNCTIONS) and is_optional(self._unit)
        taken = names.bound_names(scope)
        if not local:
            for outer in self._around():
                taken |= names.bound_names(outer)
        wishes = chain(("tf", "tensorflow"), (f"tf_{number}" for number in count(2)))
        name = next(wish for wish in wishes if wish not in taken)
        code = "import tensorflow" + (f" as {name}" if name != "tensorflow" else "")
        self.imports = [
            Insert(self._unit.lines.span(scope), "body", code)
            if local and isinstance(scope, _FUNCTIONS)
            else import_tensorflow(self._unit, code)
        ]
        return name

    def v1_at(self, node: ast.expr) -> str:
        """What has the functions for v1 graphs there: ``tf``, or ``tf.compat.v1``."""
        name = self.at(node)
        is_v1 = self._unit.names.is_v1(name, getattr(node, "func", node))
        return name if is_v1 else f"{name}.compat.v1"

    def _around(self) -> list[ast.AST]:
        """The functions and the module whose names can be read in the scope."""
        found: list[ast.AST] = []
        node = self._unit.parents.get(self._scope)
        while node is not None:
            if isinstance(node, (*_FUNCTIONS, ast.Lambda, ast.Module)):
                found.append(node)
            node = self._unit.parents.get(node)
        return found
