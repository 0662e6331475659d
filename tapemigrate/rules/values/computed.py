"""Whether a value may be, or hold, what an op gave, followed through files and callers."""

from __future__ import annotations

import ast
from itertools import islice

from tapemigrate.flow.definitions import Def, Kind
from tapemigrate.flow.paths import Path, path_of
from tapemigrate.flow.slices import origins
from tapemigrate.rules.finding import Unit
from tapemigrate.rules.project import CallSite, Project, View
from tapemigrate.rules.values.attributes import contents, inherited_values
from tapemigrate.rules.values.optional import default_of
from tapemigrate.rules.values.put_in import calls_of
from tapemigrate.rules.values.shape_evidence import argument_for, attribute_values
from tapemigrate.source.trees import walk
from tapemigrate.tape.kinds import Make, short

# Names, calls and callers that are followed one after the other.
_DEEPEST = 5
_TENSORS = (Make.TENSOR, Make.LEAF)
_VARIABLES = (Make.VARIABLE, Make.FROZEN, Make.VARIABLES, Make.ANY_VARIABLES)
# Parameters that are not looked into further than so many of their callers.
_CALLERS = 6


class Computed:
    """Looks at expressions of all files, each of which is asked about once."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._known: dict[tuple[ast.expr, bool], bool] = {}

    def may_be(self, unit: Unit, value: ast.expr) -> bool:
        """Whether the value of an expression in ``unit`` may hold what an op gave."""
        view = self._project.view(unit, self._project.scope_of(unit, value))
        return self._holds(view, value, given=False, depth=0)

    def _holds(self, view: View, node: ast.expr, given: bool, depth: int) -> bool:
        """``given``: a tensor counts as well that no op made of others, and a variable."""
        key = (node, given)
        if key not in self._known and depth <= _DEEPEST:
            self._known[key] = False  # what is made of itself is no more for that
            self._known[key] = self._is(view, node, given, depth + 1)
        return self._known.get(key, False)

    def _is(self, view: View, node: ast.expr, given: bool, depth: int) -> bool:
        make = view.kinds.make(node)
        if make is Make.TENSOR:
            return True
        if make is not Make.UNKNOWN:
            return given and make in (*_TENSORS, *_VARIABLES)
        parts: list[ast.expr] = []
        match node:
            case ast.Name() | ast.Attribute() | ast.Lambda():
                return self._named(view, node, given, depth)
            case ast.BinOp() | ast.UnaryOp():
                # What arithmetic makes of a tensor, an op has made.
                given = True
                parts = [n for n in ast.iter_child_nodes(node) if isinstance(n, ast.expr)]
            case ast.Subscript(value=inner):
                if path_of(node) is not None:
                    return self._named(view, node, True, depth)
                given, parts = True, [inner]
            case ast.IfExp():
                parts = [node.body, node.orelse]
            case ast.BoolOp():
                parts = node.values
            case ast.NamedExpr() | ast.Starred():
                parts = [node.value]
            case ast.List() | ast.Tuple() | ast.Set():
                parts = node.elts
            case ast.Dict():
                parts = node.values
            case ast.ListComp() | ast.SetComp() | ast.GeneratorExp():
                parts = [node.elt]
            case ast.DictComp():
                parts = [node.value]
            case ast.Call():
                return self._called(view, node, given, depth)
        return any(self._holds(view, each, given, depth) for each in parts)

    def _named(self, view: View, node: ast.expr, given: bool, depth: int) -> bool:
        stack, seen = list(origins(view.flow.reads.get(node, frozenset()))), set[Def]()
        while stack:
            made = stack.pop()
            if made in seen:
                continue
            seen.add(made)
            if made.kind in (Kind.PARAM, Kind.ENTRY):
                if self._from_outside(view, made.path, given, depth):
                    return True
            elif made.kind is Kind.FUNCTION:  # what it reads of the scope around
                stack += [use.made for use in made.uses]
            elif made.value is not None and self._holds(view, made.value, given, depth):
                return True
        return False

    def _from_outside(self, view: View, path: Path, given: bool, depth: int) -> bool:
        if path[0] == view.kinds.self_name:
            return len(path) > 1 and self._kept(view, path[1].lstrip("."), given, depth)
        return self._passed(view, path[0], given, depth)

    def _kept(self, view: View, attribute: str, given: bool, depth: int) -> bool:
        values = [(view.unit, v) for v in attribute_values(self._project, view, attribute)]
        values += contents(self._project, view, attribute)
        values += inherited_values(self._project, view, attribute)
        return any(
            self._holds(
                self._project.view(unit, self._project.scope_of(unit, value)), value, given, depth
            )
            for unit, value in values
        )

    def _passed(self, view: View, name: str, given: bool, depth: int) -> bool:
        """Whether a caller passes a tensor for a parameter, or nobody knows who calls."""
        scope = view.scope
        if not isinstance(scope, ast.FunctionDef):
            return False
        calls = list(islice(calls_of(self._project, view, scope), _CALLERS))
        if not calls:
            return given and default_of(scope, name) is None
        for site in calls:
            value = argument_for(site.call, scope, name, view.cls is not None)
            if value is not None and self._holds(self._at(site), value, given, depth):
                return True
        return False

    def _at(self, site: CallSite) -> View:
        return self._project.view(site.unit, self._project.scope_of(site.unit, site.call))

    def _called(self, view: View, call: ast.Call, given: bool, depth: int) -> bool:
        """What a call gives that TensorFlow is not seen to make: by what it is handed."""
        if short(view.kinds.name(call.func)) is not None:
            return False  # nothing of TensorFlow's that gives a tensor
        function = view.kinds.called(call)
        if function is not None:
            inner = self._project.view(view.unit, function)
            ends = [n.value for n in walk(function) if isinstance(n, ast.Return) and n.value]
            if any(self._holds(inner, end, given, depth) for end in ends):
                return True
        passed = [*call.args, *(k.value for k in call.keywords)]
        if isinstance(call.func, ast.Attribute):
            passed.append(call.func.value)
        return any(
            self._holds(view, a.value if isinstance(a, ast.Starred) else a, True, depth)
            for a in passed
        )
