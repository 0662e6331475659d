"""Whether a value may be, or hold, what an op gave, followed through files and callers."""

from __future__ import annotations

import ast
from enum import IntEnum

from tapemigrate.flow.changers import CHANGERS
from tapemigrate.flow.definitions import Def, Kind
from tapemigrate.flow.fixpoint import Fixpoint
from tapemigrate.flow.functions import NamedFunction, named_defaults, parameters
from tapemigrate.flow.paths import Path, names_class, path_of
from tapemigrate.rules.callgraph.arguments import argument_for
from tapemigrate.rules.callgraph.assigned import attribute_values, global_values
from tapemigrate.rules.callgraph.enclosing import outer_definitions
from tapemigrate.rules.finding import Unit
from tapemigrate.rules.project import CallSite, Project, View
from tapemigrate.rules.values.objects.attributes import contents, inherited_values
from tapemigrate.rules.values.objects.operators import is_operator
from tapemigrate.rules.values.objects.put_in import calls_of
from tapemigrate.rules.values.plain.optional import default_of
from tapemigrate.source.trees import arguments_of, calls_in, kept
from tapemigrate.tape.ops.kinds import Make
from tapemigrate.tape.ops.symbols import short
from tapemigrate.tape.ops.syntax import own_nodes

_TENSORS = (Make.TENSOR, Make.LEAF)
_VARIABLES = (Make.VARIABLE, Make.FROZEN, Make.VARIABLES, Make.ANY_VARIABLES)


class Given(IntEnum):
    """What counts beside what an op made of other tensors."""

    NOTHING = 0
    #: A tensor that no op made of others, and a variable: it was handed to a function.
    TENSORS = 1
    #: Also what nobody knows: arithmetic is done with it.
    UNKNOWN = 2


class Computed:
    """Looks at expressions of all files, each of which is asked about once.

    ``strict``: what a parameter is given counts where nothing in sight gives it anything.
    """

    def __init__(self, project: Project, strict: bool = False) -> None:
        self._project = project
        self._strict = strict
        self._holding = Fixpoint[tuple[View, ast.expr, Given], bool](False, most=True)

    def may_be(self, unit: Unit, value: ast.expr) -> bool:
        """Whether the value of an expression in ``unit`` may hold what an op gave."""
        view = self._project.view(unit, self._project.scope_of(unit, value))
        # What is added to something is arithmetic, whatever is written.
        added = isinstance(unit.parents.get(value), ast.AugAssign)
        return self._holds(view, value, Given.UNKNOWN if added else Given.NOTHING)

    def may_be_tensor(self, unit: Unit, value: ast.expr) -> bool:
        """Whether it may hold any tensor, or a variable."""
        view = self._project.view(unit, self._project.scope_of(unit, value))
        return self._holds(view, value, Given.TENSORS)

    def is_given(self, view: View, made: Def) -> bool:
        """Whether a definition of the scope may give its name what an op gave."""
        return self._is_made(view, made, Given.NOTHING)

    def enters(self, view: View, path: Path) -> bool:
        """Whether what comes into the scope by that path may hold what an op gave."""
        return self._from_outside(view, path, Given.NOTHING)

    def _holds(self, view: View, node: ast.expr, given: Given) -> bool:
        return self._holding.of((view, node, given), self._is)

    def _is(self, key: tuple[View, ast.expr, Given]) -> bool:
        view, node, given = key
        make = view.kinds.make(node)
        if make is Make.TENSOR:
            return True
        if make is not Make.UNKNOWN:
            return given > Given.NOTHING and make in (*_TENSORS, *_VARIABLES)
        parts: list[ast.expr] = []
        match node:
            case ast.Name() | ast.Attribute():
                if view.kinds.tensorflow(node) is not None:
                    return False  # a name of the library's own: ``tf.float32``
                return self._named(view, node, given)
            case ast.Lambda(args=ast.arguments(defaults=defaults, kw_defaults=more)):
                if self._named(view, node, given):
                    return True
                parts = [*defaults, *(each for each in more if each is not None)]
            case ast.BinOp() | ast.UnaryOp():
                # What arithmetic makes of a tensor, an op has made.
                given = Given.UNKNOWN
                parts = [n for n in ast.iter_child_nodes(node) if isinstance(n, ast.expr)]
            case ast.Subscript(value=inner):
                if path_of(node) is not None:
                    return self._named(view, node, Given.UNKNOWN)
                given, parts = Given.UNKNOWN, [inner]
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
                return self._called(view, node, given)
        return any(self._holds(view, each, given) for each in parts)

    def _named(self, view: View, node: ast.expr, given: Given) -> bool:
        uses = view.flow.reads.get(node)
        path = path_of(node)
        if uses is not None:
            stack = [use.made for use in uses]
        else:  # in a lambda, which reads what its scope has by the name
            stack = [d for d in view.flow.defs.values() if path and d.path == path[: len(d.path)]]
        seen = set[Def]()
        while stack:
            made = stack.pop()
            if made in seen:
                continue
            seen.add(made)
            if made.kind in (Kind.PARAM, Kind.ENTRY):
                if self._from_outside(view, made.path, given):
                    return True
            elif made.kind is Kind.FUNCTION:  # what it reads of the scope around
                stack += [use.made for use in made.uses]
                if any(self._holds(view, each, given) for each in _defaults(made)):
                    return True
            elif made.kind is Kind.MUTATE and made.stmt is not None:
                stack += [use.made for use in made.before]
                # Into parts of the object at hand, all its methods may: see ``_kept``.
                own = made.path[0] == view.kinds.self_name
                if not own and self._is_put_in(view, made.stmt, given):
                    return True
            elif made.value is not None and self._holds(view, made.value, given):
                return True
        return False

    def _is_put_in(self, view: View, stmt: ast.stmt, given: Given) -> bool:
        """Whether a statement may put what an op gave into what it changes.

        A method of a list or a dict puts in what it is handed, other code what it makes of it.
        """
        if isinstance(stmt, ast.Assign | ast.AugAssign | ast.AnnAssign) and stmt.value is not None:
            if self._holds(view, stmt.value, given):
                return True
        for call in calls_in(stmt):
            if short(view.kinds.name(call.func)) is None:
                puts = (path_of(call.func) or ("",))[-1].lstrip(".") in CHANGERS
                least = given if puts else max(given, Given.TENSORS)
                if any(self._holds(view, each, least) for each in arguments_of(call)):
                    return True
        return False

    def _from_outside(self, view: View, path: Path, given: Given) -> bool:
        if path[0] == view.kinds.self_name:
            return len(path) > 1 and self._kept(view, path[1].lstrip("."), given)
        around = outer_definitions(self._project, view, path)
        own = isinstance(view.scope, NamedFunction) and path[0] in view.flow.own_names
        if around is not None and not own:
            return any(self._is_made(around[0], made, given) for made in around[1])
        return self._passed(view, path[0], given)

    def _is_made(self, view: View, made: Def, given: Given) -> bool:
        if made.kind is Kind.PARAM:
            return self._passed(view, made.path[0], given)
        return made.value is not None and self._holds(view, made.value, given)

    def _kept(self, view: View, attribute: str, given: Given) -> bool:
        values = [(view.unit, v) for v in attribute_values(self._project, view, attribute)]
        values += contents(self._project, view, attribute)
        values += inherited_values(self._project, view, attribute)
        return any(
            self._holds(self._project.view(unit, self._project.scope_of(unit, value)), value, given)
            for unit, value in values
        )

    def _passed(self, view: View, name: str, given: Given) -> bool:
        """Whether a caller passes a tensor for a parameter, or nobody knows who calls."""
        scope = view.scope
        if not isinstance(scope, ast.FunctionDef):
            return False
        if name not in {a.arg for a in parameters(scope.args)}:
            return self._of_module(view, name, given)
        if is_operator(scope.name):
            return True  # no call shows what it is handed
        calls = list(calls_of(self._project, view, scope))
        if not calls:
            unknown = self._strict or given is Given.UNKNOWN
            return unknown and default_of(scope, name) is None
        for site in calls:
            value = argument_for(site.call, scope, name, view.cls is not None)
            if value is not None and self._holds(self._at(site), value, given):
                return True
        return False

    def _of_module(self, view: View, name: str, given: Given) -> bool:
        """Whether the module gives the name a tensor; what others of its own fill is not asked."""
        module = self._project.view(view.unit, view.unit.tree)
        return any(self._holds(module, v, given) for v in global_values(view.unit, name))

    def _at(self, site: CallSite) -> View:
        return self._project.view(site.unit, self._project.scope_of(site.unit, site.call))

    def _called(self, view: View, call: ast.Call, given: Given) -> bool:
        """What a call gives that TensorFlow is not seen to make: by what it is handed."""
        if short(view.kinds.name(call.func)) is not None:
            return False  # nothing of TensorFlow's that gives a tensor
        functions = self._functions(view, call)
        for home, function in functions:
            inner = self._project.view(home, function)
            if any(self._holds(inner, end, given) for end in kept(function, _given_back)):
                return True
        passed = arguments_of(call)
        if isinstance(call.func, ast.Attribute):
            passed.append(call.func.value)
        runs = (path_of(call.func) or ("",))[-1].lstrip(".") != "partial"
        if runs and not functions:  # what those at hand make of it, they were asked
            # A function that is handed in may be an op itself: ``step(tf.sin, q)``.
            handed = any(use.made.kind is Kind.PARAM for use in view.flow.uses_in(call.func))
            by_name = isinstance(call.func, ast.Name) and handed
            given = Given.UNKNOWN if by_name else max(given, Given.TENSORS)
        return any(
            self._holds(view, a.value if isinstance(a, ast.Starred) else a, given) for a in passed
        )

    def _functions(self, view: View, call: ast.Call) -> list[tuple[Unit, NamedFunction]]:
        """The functions that a call may run, of other files as well."""
        own = view.kinds.called(call)
        if own is not None:
            return [(view.unit, own)]
        name = (path_of(call.func) or ("",))[-1].lstrip(".")
        if not name or view.unit.names.qualified(call.func) is None:
            return []
        return [
            (unit, each)
            for unit in self._project.units.defining(name)
            for each in self._project.effects(unit).functions(name)
        ]


def _given_back(function: ast.AST) -> tuple[ast.expr, ...]:
    """What the function returns."""
    body: list[ast.stmt] = getattr(function, "body", [])
    nodes = (n for stmt in body for n in own_nodes(stmt))
    return tuple(n.value for n in nodes if isinstance(n, ast.Return) and n.value)


def _defaults(made: Def) -> list[ast.expr]:
    """The defaults of a function, which are computed where it is made."""
    if not isinstance(made.stmt, NamedFunction):
        return []
    return list(named_defaults(made.stmt.args).values())


def makes_objects(value: ast.expr) -> bool:
    """Whether what is called has the name of a class."""
    path = path_of(value.func) if isinstance(value, ast.Call) else None
    return path is not None and names_class(path[-1])
