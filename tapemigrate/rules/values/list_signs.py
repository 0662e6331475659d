"""Whether a list of tensors may stand where one tensor would do as well.

Most ops pack a list that they are given into a tensor, so what ops do with a value tells nothing.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tapemigrate.flow.definitions import Def, Kind
from tapemigrate.flow.functions import parameters
from tapemigrate.rules.callgraph.callers import constructions
from tapemigrate.rules.indexes import given_at_top
from tapemigrate.rules.project import Project, View
from tapemigrate.source.trees import walk
from tapemigrate.tape.kinds import Make
from tapemigrate.tape.symbols import short

_FUNCTIONS = frozenset({"list", "tuple", "sorted"})
_OPS = frozenset({"split", "unstack", "unpack", "gradients", "hessians", "meshgrid", "tuple"})
_MANY = (Make.VARIABLES, Make.ANY_VARIABLES)
_PUT_IN = (Kind.ASSIGN, Kind.AUGMENT)
_TAKEN_OUT = (Kind.LOOP, Kind.COMPREHENSION)
_DEPTH = 3
_MOST_STEPS = 8
# Of a function that is called everywhere, so many calls tell enough.
_MOST_CALLS = 40


class ListSigns:
    """Looks for them in the files of one project."""

    def __init__(self, project: Project) -> None:
        self._project = project

    def gives(self, view: View, node: ast.expr, depth: int = 0) -> bool:
        """Whether the code shows that ``node``, in ``view``, may be a list."""
        match node:
            case ast.List() | ast.ListComp() | ast.Tuple():
                return True
            case ast.IfExp():
                return any(self.gives(view, each, depth) for each in (node.body, node.orelse))
            case ast.BoolOp():
                return any(self.gives(view, each, depth) for each in node.values)
            case ast.BinOp(op=ast.Add()):
                return any(self.gives(view, each, depth) for each in (node.left, node.right))
            case ast.Call():
                return self._call(view, node, depth)
            case ast.Name() if depth <= _DEPTH:
                made = {use.made for use in view.flow.reads.get(node, frozenset())}
                return any(self.made(view, each, depth + 1) for each in made)
        return False

    def given(self, view: View, name: str, depth: int = 0) -> bool:
        """Whether a caller of the function of ``view`` may hand in a list as ``name``."""
        scope = view.scope
        if not isinstance(scope, ast.FunctionDef | ast.AsyncFunctionDef) or depth > _DEPTH:
            return False
        from tapemigrate.rules.values.shape_evidence import argument_for

        calls = self._project.mentions(scope.name).calls
        if view.cls is not None and scope.name == "__init__":
            calls = constructions(self._project, view.unit, view.cls)
        for site in calls[:_MOST_CALLS]:
            argument = argument_for(site.call, scope, name, view.cls is not None)
            if argument is None or isinstance(argument, ast.Constant):
                continue
            caller = self._project.scope_of(site.unit, site.call)
            if caller is not scope and self.gives(
                self._project.view(site.unit, caller), argument, depth + 1
            ):
                return True
        return False

    def global_may_be(self, view: View, name: str) -> bool:
        """Whether the module gives ``name`` a list that is written out."""
        top = view.unit.once(given_at_top).get(name, ())
        return any(isinstance(each, ast.List | ast.ListComp | ast.Tuple) for each in top)

    def made(self, view: View, made: Def, depth: int = 0) -> bool:
        """Whether what a definition gives may be one."""
        value = made.value
        if depth > _MOST_STEPS:
            return False
        if made.kind is Kind.PARAM:
            return self.given(view, made.path[0], depth)
        if made.kind is Kind.ENTRY:
            return self.global_may_be(view, made.path[0])
        if made.kind is Kind.MUTATE:
            return any(self.made(view, use.made, depth + 1) for use in made.before)
        if value is None:
            return False
        if made.kind in _TAKEN_OUT:
            return isinstance(value, ast.List | ast.Tuple) and any(
                self.gives(view, each, depth) for each in value.elts
            )
        return made.kind in _PUT_IN and self.gives(view, value, depth)

    def _call(self, view: View, call: ast.Call, depth: int) -> bool:
        name = short(view.unit.names.qualified(call.func))
        if name is not None:
            return name in _OPS or view.kinds.make(call) in _MANY
        if isinstance(call.func, ast.Name) and call.func.id in _FUNCTIONS:
            return True
        function = view.kinds.called(call) if depth <= _DEPTH else None
        if function is None:
            return False
        inner = self._project.view(view.unit, function)
        return any(self.gives(inner, each, depth + 1) for each in _returned(function))


def is_parameter(view: View, name: str) -> bool:
    """Whether the function of ``view`` is handed something by that name."""
    scope = view.scope
    return not isinstance(scope, ast.Module) and name in {a.arg for a in parameters(scope.args)}


def _returned(function: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[ast.expr]:
    return (n.value for n in walk(function) if isinstance(n, ast.Return) and n.value is not None)
