"""Whether a name stands for one tensor or for a list of them, judged by how it is made and used."""

from __future__ import annotations

import ast

from tapemigrate.flow.definitions import Def, Kind
from tapemigrate.flow.functions import NamedFunction, Scope, parameters
from tapemigrate.flow.paths import Path, path_of
from tapemigrate.flow.slices import origins
from tapemigrate.rules.callgraph.arguments import argument_for
from tapemigrate.rules.callgraph.assigned import attribute_values, element, global_values
from tapemigrate.rules.callgraph.callers import is_called_by_python
from tapemigrate.rules.callgraph.converted import may_be_converted
from tapemigrate.rules.callgraph.enclosing import outer_definitions
from tapemigrate.rules.callgraph.meaning import meant_by
from tapemigrate.rules.callgraph.names_in_texts import replaced
from tapemigrate.rules.callgraph.setters import may_be_of_object
from tapemigrate.rules.project import Project, View
from tapemigrate.rules.values.containers.list_signs import ListSigns
from tapemigrate.source.trees import walk
from tapemigrate.tape.ops.kinds import Make
from tapemigrate.tape.ops.symbols import short
from tapemigrate.tape.sources.made_sources import may_give_list, summands

_ONE = (Make.LEAF, Make.TENSOR, Make.VARIABLE, Make.FROZEN)
_GIVEN = (Kind.ASSIGN, Kind.LOOP, Kind.COMPREHENSION)
_NOT_BOUND = (Kind.ENTRY, Kind.MUTATE)
_TAKEN = (Kind.LOOP, Kind.COMPREHENSION, Kind.WITH)
_MANY = (Make.VARIABLES, Make.ANY_VARIABLES)
_LIST_FUNCTIONS = frozenset({"zip", "len", "enumerate", "list", "tuple", "sorted", "map", "filter"})
# TensorFlow functions that take lists where others take tensors.
_TAKES_LISTS = frozenset(
    {"gradients", "hessians", "group", "tuple", "add_n", "concat", "stack", "global_norm", "cond"}
    | {"clip_by_global_norm", "accumulate_n", "parallel_stack", "while_loop", "map_fn", "scan"}
    | {"control_dependencies", "variables_initializer", "py_func", "Print", "meshgrid", "foldl"}
)
_MOSTLY_TENSOR = frozenset({"get_shape", "shape", "dtype", "set_shape"})
# Who asks what a value is has it be one thing here, and another there.
_ASKING = frozenset({"isinstance", "type", "issubclass", "hasattr", "callable"})

# By scopes, paths in them, and through how many functions one came there.
_Verdicts = dict[tuple[Scope, Path, int], bool | None]


class ShapeEvidence:
    """Answers for the names of one scope."""

    def __init__(self, project: Project, view: View) -> None:
        self._project = project
        self._view = view
        # Functions that all call each other are led to in as many ways as there are rows of them.
        self._known, self._used = project.once(_known)

    def __call__(self, text: str, node: ast.expr) -> bool | None:
        """True: one tensor. False: a list. None: the code does not tell."""
        path = path_of(node)
        return None if path is None else self._judge(self._view, path, 0)

    def _judge(self, view: View, path: Path, depth: int) -> bool | None:
        if depth > 3:
            return None
        key = (view.scope, path, depth)
        if key not in self._known:
            self._known[key] = self._judged(view, path, depth)
        return self._known[key]

    def _judged(self, view: View, path: Path, depth: int) -> bool | None:
        found = self._by_use(view, path, depth)
        if found is not None and self._may_be_another(view, path, found):
            return None
        if found is None:
            found = self._by_making(view, path)
        if found is None and len(path) == 1 and self._is_given_one(view, path, depth):
            found = True
        if found is None and len(path) == 1:
            found = self._by_callers(view, path[0], depth)
        return found

    def _may_be_another(self, view: View, path: Path, one: bool) -> bool:
        """Whether what is done with it in one place does not hold for all that is put there."""
        for root in self._bodies(view, path):
            for node in self._project.uses_of(view.unit, root, path):
                call = view.unit.parents.get(node)
                if isinstance(call, ast.Call) and node in call.args[:1]:
                    if isinstance(call.func, ast.Name) and call.func.id in _ASKING:
                        return True
        if len(path) == 1:
            made = [d for d in view.flow.defs.values() if d.path == path]
            values = [d.value for d in made if d.kind in _GIVEN and d.value is not None]
            lists = ListSigns(self._project)
            if one and any(lists.made(view, d) for d in made if d.kind is not Kind.ASSIGN):
                return True
        else:
            given = attribute_values(self._project, view, path[-1].lstrip("."))
            values = [v for v in given if not is_opened(view.unit.parents[v])]
        if one:
            return self._may_be_list(view, path, values)
        return any(view.kinds.make(v) in _ONE for v in values)

    def _may_be_list(self, view: View, path: Path, values: list[ast.expr]) -> bool:
        """Whether one of ``values``, or what a caller hands in, shows itself to be a list."""
        lists = ListSigns(self._project)
        if len(path) > 1:
            attribute = path[-1].lstrip(".")
            known = lists.kept_beside if path[0] == view.kinds.self_name else lists.kept
            if known(view, attribute):
                return True
        for value in values:
            parent = view.unit.parents.get(value)
            taken = isinstance(parent, ast.For | ast.comprehension) and parent.iter is value
            if taken and not isinstance(value, ast.List | ast.Tuple):
                continue
            parts = value.elts if taken and isinstance(value, ast.List | ast.Tuple) else [value]
            scope = self._project.scope_of(view.unit, value)
            here = view if scope is view.scope else self._project.view(view.unit, scope)
            if any(lists.gives(here, part) for part in parts):
                return True
        return False

    def _bodies(self, view: View, path: Path) -> list[ast.AST]:
        """Where the path means the same."""
        if len(path) > 1 and path[0] == view.kinds.self_name and view.cls is not None:
            return list(self._project.effects(view.unit).lineage(view.cls))
        return [view.scope]

    def _by_use(self, view: View, path: Path, depth: int) -> bool | None:
        key = (view.scope, path, depth)
        if key not in self._used:
            uses = (
                self._use(view, node, depth)
                for root in self._bodies(view, path)
                for node in self._project.uses_of(view.unit, root, path)
            )
            self._used[key] = next((verdict for verdict in uses if verdict is not None), None)
        return self._used[key]

    def _use(self, view: View, node: ast.expr, depth: int) -> bool | None:
        unit = view.unit
        parent = unit.parents.get(node)
        match parent:
            case ast.BinOp(op=ast.Add()) if self._are_sources(view, parent):
                return None
            case ast.BinOp(op=ast.Add()):
                return True if self._is_arithmetic(view, parent, node) else None
            case ast.BinOp():
                other = parent.right if parent.left is node else parent.left
                if isinstance(parent.op, ast.Mult) and _is_int(other):
                    return None
                return True
            case ast.UnaryOp():
                return True if isinstance(parent.op, ast.USub) else None
            case ast.Attribute() if parent.attr in _MOSTLY_TENSOR:
                return True
            case ast.Subscript() if parent.value is node and isinstance(parent.slice, ast.Tuple):
                return True
            case ast.Subscript() if parent.value is node and isinstance(parent.slice, ast.Slice):
                # A part of it is handed to an op: parts of lists are lists.
                return True if self._in_op(view, parent) else None
            case ast.For() | ast.comprehension() if parent.iter is node:
                return None if self._is_converted(view) else False
            case ast.Dict() if any(k is node for k in parent.keys):
                return True
            case ast.List() | ast.Tuple():
                return self._in_list(view, parent)
            case ast.keyword():
                call = unit.parents[parent]
                if isinstance(call, ast.Call):
                    return self._argument(view, call, node, parent.arg, depth)
            case ast.Call() if parent.func is not node:
                return self._argument(view, parent, node, None, depth)
        return None

    def _is_converted(self, view: View) -> bool:
        """Whether AutoGraph lets tensors be gone over in a ``for``, and asked for their ``len``."""
        return may_be_converted(self._project, view.unit, view.scope)

    def _is_arithmetic(self, view: View, joined: ast.BinOp, node: ast.expr) -> bool:
        """Whether something is added to ``node`` that is no list: lists are joined so as well."""
        while isinstance(above := view.unit.parents.get(joined), ast.BinOp):
            if not isinstance(above.op, ast.Add):
                return True
            joined = above
        return any(
            (isinstance(each, ast.BinOp) and not _repeats(each))
            or isinstance(each, ast.UnaryOp)
            or (isinstance(each, ast.Constant) and not _is_int(each))
            or view.kinds.make(each) in _ONE
            for each in summands(joined)
            if each is not node
        )

    def _are_sources(self, view: View, joined: ast.BinOp) -> bool:
        """``tf.gradients(y, a + b)``: nothing depends on a sum that is made there, but on lists."""
        call = view.unit.parents.get(joined)
        return (
            isinstance(call, ast.Call)
            and joined in call.args[1:2]
            and short(view.unit.names.qualified(call.func)) == "gradients"
        )

    def _in_op(self, view: View, part: ast.expr) -> bool:
        call = view.unit.parents.get(part)
        if isinstance(call, ast.BinOp):
            return True
        if not isinstance(call, ast.Call) or part not in call.args[:1]:
            return False
        name = short(view.unit.names.qualified(call.func))
        return name is not None and name.split(".")[-1] not in _TAKES_LISTS

    def _in_list(self, view: View, display: ast.List | ast.Tuple) -> bool | None:
        """``tf.concat([x, t], 1)``: what stands in such a list is one tensor."""
        call = view.unit.parents.get(display)
        if isinstance(call, ast.keyword):
            call = view.unit.parents.get(call)
        if not isinstance(call, ast.Call):
            return None
        name = short(view.unit.names.qualified(call.func))
        return True if name in ("concat", "stack", "add_n", "concat_v2") else None

    def _argument(
        self, view: View, call: ast.Call, node: ast.expr, keyword: str | None, depth: int
    ) -> bool | None:
        qualified = view.unit.names.qualified(call.func)
        name = short(qualified)
        if name is not None:
            last = name.split(".")[-1]
            if name.startswith(("nest.", "train.", "contrib.eager")) or last in _TAKES_LISTS:
                return None
            return True if call.args and call.args[0] is node else None
        if isinstance(call.func, ast.Name) and call.func.id in _LIST_FUNCTIONS:
            return None if self._is_converted(view) else False
        return self._in_callee(view, call, node, keyword, depth)

    def _in_callee(
        self, view: View, call: ast.Call, node: ast.expr, keyword: str | None, depth: int
    ) -> bool | None:
        func = call.func
        effects = self._project.effects(view.unit)
        functions: list[ast.FunctionDef | ast.AsyncFunctionDef] = []
        bound = 0
        if isinstance(func, ast.Name):
            functions = effects.functions(func.id)
        elif isinstance(func, ast.Attribute) and view.cls is not None:
            method = effects.method(view.cls, func.attr)
            if method is not None and path_of(func.value) == (view.kinds.self_name,):
                functions, bound = [method], 1
        if len(functions) != 1:
            return None
        function = functions[0]
        args = list(parameters(function.args))
        if keyword is None:
            place = next((i for i, a in enumerate(call.args) if a is node), None)
            if place is None or place + bound >= len(args):
                return None
            keyword = args[place + bound].arg
        elif keyword not in {a.arg for a in args}:
            return None
        if function is view.scope:
            return None
        return self._by_use_or_more(view, function, keyword, depth)

    def _by_use_or_more(
        self, view: View, function: ast.FunctionDef | ast.AsyncFunctionDef, name: str, depth: int
    ) -> bool | None:
        if depth > 2:
            return None
        return self._by_use(self._project.view(view.unit, function), (name,), depth + 1)

    def _by_making(self, view: View, path: Path) -> bool | None:
        if len(path) == 2 and path[0] == view.kinds.self_name and view.cls is not None:
            attribute = path[1].lstrip(".")
            values = attribute_values(self._project, view, attribute)
            if any(is_opened(view.unit.parents[value]) for value in values):
                return self._by_unpacking(view, path, values)
        elif len(path) == 1 and self._is_of_module(view, path):
            values = global_values(view.unit, path[0])
        else:
            return None
        return self._verdict(view, values)

    def _by_unpacking(self, view: View, path: Path, values: list[ast.expr]) -> bool | None:
        """``self.x, self.y = self.network()``: what a method, which nothing replaces, returns."""
        found: set[bool | None] = set()
        for value in values:
            stmt, method = view.unit.parents[value], self._own_method(view, value)
            targets = stmt.targets if isinstance(stmt, ast.Assign) else []
            if method is None or len(targets) != 1 or not isinstance(targets[0], ast.Tuple):
                return None
            places = [i for i, each in enumerate(targets[0].elts) if path_of(each) == path]
            inner = self._project.view(view.unit, method)
            returned = [end.value for end in inner.flow.returns]
            if len(places) != 1 or inner.flow.yields or not returned:
                return None
            for each in returned:
                if not isinstance(each, ast.Tuple) or len(each.elts) != len(targets[0].elts):
                    return None
                one = self._is_one(inner, each.elts[places[0]], 1)
                listed = isinstance(each.elts[places[0]], ast.List | ast.ListComp)
                found.add(True if one else False if listed else None)
        return found.pop() if len(found) == 1 else None

    def _own_method(self, view: View, call: ast.expr) -> ast.FunctionDef | None:
        """The method of ``self`` that is called, if objects of the class can have no other."""
        func = call.func if isinstance(call, ast.Call) else None
        if not isinstance(func, ast.Attribute) or view.cls is None:
            return None
        if path_of(func.value) != (view.kinds.self_name,):
            return None
        if replaced(self._project, view.unit, func.attr, method=True):
            return None
        named = [
            node
            for unit in self._project.units.defining(func.attr)
            for node in unit.nodes(ast.FunctionDef)
            if node.name == func.attr and may_be_of_object(self._project, unit, node, view.cls)
        ]
        own = len(named) == 1 and not named[0].decorator_list
        return named[0] if own and named[0] in view.cls.body else None

    def _is_of_module(self, view: View, path: Path) -> bool:
        """Whether a function reads the module's name: neither its own, nor of one around it."""
        own = (d.path == path and d.kind not in _NOT_BOUND for d in view.flow.defs.values())
        if isinstance(view.scope, ast.Module) or any(own):
            return False
        return outer_definitions(self._project, view, path) is None

    def _is_given_one(self, view: View, path: Path, depth: int) -> bool:
        """Whether functions in sight give it, and each of them one tensor, on all its ways."""
        made = [d for d in view.flow.defs.values() if d.path == path and d.kind is not Kind.MUTATE]
        return bool(made) and all(
            d.kind is Kind.ASSIGN
            and isinstance(d.value, ast.Call)
            and self._gives_one(view, d.value, depth)
            for d in made
        )

    def _gives_one(self, view: View, call: ast.Call, depth: int) -> bool:
        function = self._named_function(view, call)
        if function is None or function is view.scope or function.decorator_list or depth > 2:
            return False
        inner = self._project.view(view.unit, function)
        if inner.flow.yields or not inner.flow.returns:
            return False
        return all(self._is_one(inner, end.value, depth + 1) for end in inner.flow.returns)

    def _named_function(self, view: View, call: ast.Call) -> NamedFunction | None:
        """The function that the call means; of several with that name, the one made here."""
        if isinstance(call.func, ast.Name):
            read = origins(view.flow.reads.get(call.func, frozenset()))
            # A function's own name comes with those that it reads from around.
            made = [d.stmt for d in read if d.path == (call.func.id,)]
            if len(made) == 1 and isinstance(made[0], NamedFunction):
                return made[0]
        return view.kinds.runs_only(call)

    def _is_one(self, view: View, value: ast.expr | None, depth: int) -> bool:
        """Whether a value is what arithmetic makes of tensors, which joins no lists."""
        if isinstance(value, ast.BinOp):
            whole = not isinstance(value.op, ast.Add | ast.Mult)
            return whole or any(self._is_one(view, v, depth) for v in (value.left, value.right))
        if isinstance(value, ast.UnaryOp):
            return isinstance(value.op, ast.USub)
        if isinstance(value, ast.Call):
            one = view.kinds.make(value) in _ONE and not may_give_list(view.kinds, value)
            return one or self._gives_one(view, value, depth)
        if not isinstance(value, ast.Name):
            return False
        made = origins(view.flow.uses_in(value))
        return bool(made) and all(
            d.kind is Kind.ASSIGN and self._is_one(view, d.value, depth) for d in made
        )

    def _verdict(self, view: View, values: list[ast.expr]) -> bool | None:
        makes = {view.kinds.make(v) for v in values}
        if makes and all(m in _ONE for m in makes):
            return True
        if makes and all(m in _MANY for m in makes):
            return False
        if values and all(isinstance(v, ast.List | ast.ListComp) for v in values):
            return False
        return None

    def _by_callers(self, view: View, name: str, depth: int) -> bool | None:
        scope = view.scope
        if not isinstance(scope, ast.FunctionDef):
            return None
        if is_called_by_python(scope) or _is_rebound(view, name):
            return None
        found: set[bool | None] = set()
        calls = [
            (site, meant)
            for site in self._project.mentions(scope.name).calls
            if (meant := meant_by(self._project, view.unit, scope, site)) is not False
        ]
        if not any(meant for _, meant in calls):
            return None  # `session.run([a, b])` hands nothing to a `run` of one's own
        for site, _ in calls:
            argument = argument_for(site.call, scope, name, view.cls is not None)
            if argument is None or len(found) > 1:
                return None
            caller = self._project.view(site.unit, self._project.scope_of(site.unit, site.call))
            verdict = self._verdict(caller, [argument])
            path = path_of(argument)
            if verdict is None and path is not None and caller.scope is not scope:
                verdict = self._made_in(caller, argument)
                if verdict is None:
                    verdict = self._judge(caller, path, depth + 1)
            found.add(verdict)
        return found.pop() if len(found) == 1 else None

    def _made_in(self, view: View, node: ast.expr) -> bool | None:
        uses = view.flow.reads.get(node, frozenset())
        given = [_given_to(u.made, path_of(node) or ()) for u in uses]
        values = [value for value in given if value is not None]
        if not values or len(values) != len(uses):
            return None
        return self._verdict(view, values)


def _known(_: Project) -> tuple[_Verdicts, _Verdicts]:
    return {}, {}


def _is_rebound(view: View, name: str) -> bool:
    """Whether the function gives the parameter another value."""
    kept = (Kind.PARAM, Kind.ENTRY, Kind.MUTATE)
    return any(d.path == (name,) and d.kind not in kept for d in view.flow.defs.values())


def _given_to(made: Def, path: Path) -> ast.expr | None:
    """What the path was given there; None where that is no value of its own in the code."""
    if made.kind in _TAKEN:
        return None  # what is gone through holds it
    if made.value is None or made.path == path:
        return _unpacked(made, path) if made.kind is Kind.ELEMENT else made.value
    # ``hs[0]``, of ``hs = [a, b]``
    listed, steps = made.value, path[len(made.path) :]
    if made.kind is not Kind.ASSIGN or not isinstance(listed, ast.List | ast.Tuple):
        return None
    places = {f"[{place}]": part for place, part in enumerate(listed.elts)}
    return places.get(steps[0]) if len(steps) == 1 else None


def _repeats(value: ast.BinOp) -> bool:
    """``[None] * 3``."""
    return isinstance(value.left, ast.List) or isinstance(value.right, ast.List)


def _is_int(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, int)


def is_opened(parent: ast.AST) -> bool:
    """Whether what stands there is unpacked, iterated over or entered, and not kept as it is."""
    if isinstance(parent, ast.Assign):
        return any(isinstance(target, ast.Tuple | ast.List) for target in parent.targets)
    return isinstance(parent, ast.For | ast.AsyncFor | ast.comprehension | ast.withitem)


def _unpacked(made: Def, path: Path) -> ast.expr | None:
    """The value of one of what was unpacked; None where only all of it together has one."""
    if made.value is None or not isinstance(made.stmt, ast.Assign):
        return made.value
    starred = [n for t in made.stmt.targets for n in walk(t) if isinstance(n, ast.Starred)]
    if any(path_of(n.value) == path for n in starred):
        return made.value  # ``*rest``, which is a list itself
    if made.value is not made.stmt.value:
        return element(made.value)
    return made.value.elt if isinstance(made.value, ast.ListComp) else None
