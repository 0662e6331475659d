"""Calls of an object's methods that give tensors: what a class was handed, and hands back."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from tapemigrate.flow.definitions import Kind
from tapemigrate.flow.paths import path_of
from tapemigrate.flow.slices import origins
from tapemigrate.rules.callgraph.arguments import argument_for
from tapemigrate.rules.callgraph.assigned import attribute_values
from tapemigrate.rules.finding import Unit
from tapemigrate.rules.project import CallSite, Project, View
from tapemigrate.rules.values.variables.held_variables import given_by_object
from tapemigrate.tape.ops.kinds import Make

# Through how many names, attributes and constructors a value is followed.
_DEPTH = 5


def may_give_tensor(project: Project, view: View, node: ast.expr) -> bool:
    """Whether the call of an object's method, all of whose results are known, may give a tensor.

    A list of tensors, too.
    """
    given = given_by_object(project, view, node) if isinstance(node, ast.Call) else []
    finder = _Finder(project, view.scope)
    return any(finder.is_tensor(inner, value, _DEPTH) for inner, value in given if value)


@dataclass(frozen=True, slots=True)
class _Finder:
    """Follows values; of the objects of a class, those that are made in ``home`` come first."""

    project: Project
    home: ast.AST

    def is_tensor(self, view: View, value: ast.expr, depth: int) -> bool:
        if view.kinds.make(value) in (Make.TENSOR, Make.LEAF):
            return True
        if isinstance(value, ast.List | ast.Tuple):
            return any(self.is_tensor(view, each, depth) for each in value.elts)
        path = path_of(value)
        if path is None or not depth:
            return False
        if len(path) == 2 and path[0] == view.kinds.self_name and view.cls is not None:
            return any(
                self.is_tensor(self._scope(view.unit, each), each, depth - 1)
                for each in attribute_values(self.project, view, path[1].lstrip("."))
            )
        for made in origins(view.flow.reads.get(value, frozenset())):
            if made.kind is Kind.ASSIGN and made.path == path and made.value is not None:
                if self.is_tensor(view, made.value, depth - 1):
                    return True
            if made.kind is Kind.PARAM and made.path == path:
                if self._is_handed_in(view, path[0], depth - 1):
                    return True
        return False

    def _is_handed_in(self, view: View, name: str, depth: int) -> bool:
        """Whether who makes an object hands a tensor to its constructor as that parameter."""
        scope = view.scope
        if view.cls is None or not isinstance(scope, ast.FunctionDef) or scope.name != "__init__":
            return False
        sites = [(self._scope(s.unit, s.call), s.call) for s in self._made(view.cls)]
        here = [(caller, call) for caller, call in sites if caller.scope is self.home]
        handed = ((caller, argument_for(call, scope, name, True)) for caller, call in here or sites)
        return any(given and self.is_tensor(caller, given, depth) for caller, given in handed)

    def _made(self, cls: ast.ClassDef) -> list[CallSite]:
        return self.project.mentions(cls.name).calls

    def _scope(self, unit: Unit, node: ast.AST) -> View:
        return self.project.view(unit, self.project.scope_of(unit, node))
