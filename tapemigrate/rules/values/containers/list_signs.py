"""Whether a list of tensors may stand where one tensor would do as well.

Most ops pack a list that they are given into a tensor, so what ops do with a value tells nothing.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator, Sequence
from itertools import islice

from tapemigrate.flow.definitions import Def, Kind
from tapemigrate.flow.functions import NamedFunction
from tapemigrate.flow.paths import Path, path_of
from tapemigrate.flow.slices import origins
from tapemigrate.rules.callgraph.arguments import argument_for
from tapemigrate.rules.callgraph.callers import constructions
from tapemigrate.rules.callgraph.enclosing import outer_definitions
from tapemigrate.rules.callgraph.set_without_name import SETTING
from tapemigrate.rules.finding import Unit
from tapemigrate.rules.indexes import given_at_top
from tapemigrate.rules.project import Project, View, self_name
from tapemigrate.rules.values.containers.filled_state import is_container
from tapemigrate.rules.values.containers.named_contents import by_key, key_of, put_in_by_name
from tapemigrate.source.trees import arguments_of, walk
from tapemigrate.tape.ops.kinds import Make
from tapemigrate.tape.ops.returned import place_of
from tapemigrate.tape.ops.symbols import short
from tapemigrate.tape.sources.source_arithmetic import lineage

_FUNCTIONS = frozenset({"list", "tuple", "sorted"})
_OPS = frozenset({"split", "unstack", "unpack", "gradients", "hessians", "meshgrid", "tuple"})
_HANDING_ON = frozenset({"map_fn", "vectorized_map", "scan", "foldl", "foldr"})
_PARTS = frozenset({"values", "keys", "items"})
_GOING_THROUGH = frozenset({"sorted", "list", "tuple", "reversed", "enumerate", "zip", "iter"})
_LOOKING = frozenset({"get", "pop", "setdefault"})
_MANY = (Make.VARIABLES, Make.ANY_VARIABLES)
_PUT_IN = (Kind.ASSIGN, Kind.AUGMENT)
_TAKEN_OUT = (Kind.LOOP, Kind.COMPREHENSION)
_DEPTH = 40
_MOST_STEPS = 60
# Of a function that is called everywhere, so many calls tell enough.
_MOST_CALLS = 40
_MOST_FUNCTIONS = 40
# Of a class, it is looked among so many calls in a file for those of its objects.
_MOST_OBJECTS = 400


class ListSigns:
    """Looks for them in the files of one project, for one question: all is looked at once."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._seen: set[Def] = set()
        self._looked_among: set[ast.expr] = set()
        self._asked: set[str] = set()
        self._run: set[tuple[ast.AST, str]] = set()

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
            case ast.BinOp(op=ast.Mult()):  # ``[None] * n``
                return any(isinstance(each, ast.List) for each in (node.left, node.right))
            case ast.Call():
                return self._call(view, node, depth)
            case ast.Attribute() if depth <= _DEPTH:
                return self.kept(view, node.attr, depth)
            case ast.Subscript(slice=ast.Slice()):
                return self.gives(view, node.value, depth)  # a part of a list is a list
            case ast.Subscript() if depth <= _DEPTH:
                return self._looked_up(view, node.value, node.slice, depth)
            case ast.Name() if depth <= _DEPTH:
                made = {use.made for use in view.flow.reads.get(node, frozenset())}
                return any(self.made(view, each, depth + 1) for each in made)
        return False

    def among(self, view: View, value: ast.expr, depth: int = 0) -> bool:
        """Whether some element of ``value`` may be one: of what is written out, or is put in."""
        if value in self._looked_among:
            return False  # ``d = {"x": d["x"], "t": d["t"]}`` leads back to itself in many ways
        self._looked_among.add(value)
        match value:
            case ast.List() | ast.Tuple() | ast.Set():
                return any(self.gives(view, each, depth) for each in value.elts)
            case ast.Dict():
                return any(self.gives(view, each, depth) for each in value.values)
            case ast.ListComp(elt=each) | ast.GeneratorExp(elt=each) | ast.DictComp(value=each):
                return self.gives(view, each, depth)
            case ast.Call(func=ast.Attribute(value=owner, attr=how)) if how in _PARTS:
                return self.among(view, owner, depth)
            case ast.Call(func=ast.Name(id=name)) if name in _GOING_THROUGH:
                return any(self.among(view, each, depth) for each in value.args)
            case ast.Call() if depth <= _DEPTH:
                run = self._anew(self._run_by(view, value), "among")
                inner = [(self._project.view(view.unit, f), f) for f in run]
                given = [(i, each) for i, f in inner for each in _yielded(f)]
                if any(self.gives(i, each, depth + 1) for i, each in given):
                    return True
                shown = [(i, each) for i, f in inner for each in _returned(f)]
                return any(self.among(i, each, depth + 1) for i, each in shown)
            case ast.Attribute() if depth <= _DEPTH:
                kept = self._project.effects(view.unit).kept(value.attr)
                put = view.unit.once(put_in_by_name).get(value.attr, ())
                return any(self.among(view, each, depth + 1) for each in kept) or any(
                    isinstance(each, ast.List | ast.ListComp | ast.Tuple) for each in put
                )
            case ast.Name() if depth <= _DEPTH:
                # Of ``groups[0]`` the scope reads that part, by a path of its own.
                read = {use.made for use in view.flow.reads.get(value, frozenset())}
                made = read or {d for d in view.flow.given(value.id) if len(d.path) == 1}
                made |= {c for d in made if d.kind is Kind.MUTATE for c in lineage(d)}
                if any(self._is_put_in(view, each, depth) for each in made):
                    return True
                values = [d.value for d in made if d.kind is Kind.ASSIGN and d.value is not None]
                if any(d.kind is Kind.ENTRY for d in made):
                    values += view.unit.once(given_at_top).get(value.id, ())
                return any(self.among(view, each, depth + 1) for each in values)
        return False

    def given(self, view: View, name: str, depth: int = 0) -> bool:
        """Whether a caller of the function of ``view`` may hand in a list as ``name``."""
        scope = view.scope
        if not isinstance(scope, ast.FunctionDef | ast.AsyncFunctionDef) or depth > _DEPTH:
            return False
        mentions = self._project.mentions(scope.name)
        if any(self._is_handed_with_list(unit, node) for unit, node in mentions.others):
            return True
        held = {unit.filename: unit for unit, _ in mentions.others}
        if scope.decorator_list:
            held[view.unit.filename] = view.unit
        method = view.cls is not None
        for unit in held.values():
            if self._is_handed_unseen(unit, scope, name, method, depth):
                return True
        calls = mentions.calls
        if view.cls is not None and scope.name == "__call__":
            if self._is_handed_to_objects(view.cls.name, depth):
                return True
        if view.cls is not None and scope.name == "__init__":
            calls = constructions(self._project, view.unit, view.cls)
        for site in calls[:_MOST_CALLS]:
            if any(isinstance(a, ast.Starred) for a in site.call.args):
                return True  # what stands where is not seen
            argument = argument_for(site.call, scope, name, view.cls is not None)
            if argument is None or isinstance(argument, ast.Constant):
                continue
            caller = self._project.scope_of(site.unit, site.call)
            if caller is not scope and self.gives(
                self._project.view(site.unit, caller), argument, depth + 1
            ):
                return True
        return False

    def _is_handed_to_objects(self, name: str, depth: int) -> bool:
        """Whether what may be an object of the class is called with a list, where that is named."""
        for unit in self._project.units.having(name):
            effects = self._project.effects(unit)
            for call in unit.nodes(ast.Call)[:_MOST_OBJECTS]:
                called = (path_of(call.func) or ("",))[-1].lstrip(".")
                known = effects.functions(called) or effects.class_named(called) is not None
                if known or unit.names.qualified(call.func) is not None:
                    continue
                view = self._project.view(unit, self._project.scope_of(unit, call))
                if any(self.gives(view, each, depth + 1) for each in arguments_of(call)):
                    return True
        return False

    def _is_handed_unseen(
        self, unit: Unit, function: NamedFunction, name: str, method: bool, depth: int
    ) -> bool:
        """Whether a call of what is looked up, or kept under another name, hands in a list."""
        for call in unit.once(_calls_without_names)[:_MOST_CALLS]:
            # Of a method, it is not seen whether its object is among them.
            found = arguments_of(call) if method else [argument_for(call, function, name, False)]
            view = self._project.view(unit, self._project.scope_of(unit, call))
            if any(each is not None and self.gives(view, each, depth + 1) for each in found):
                return True
        return False

    def _is_put_in(self, view: View, made: Def, depth: int) -> bool:
        """Whether a change puts one into what it changes: ``groups.append([x, y])``."""
        if made.kind is not Kind.MUTATE or made.value is None:
            return False
        given = arguments_of(made.value) if isinstance(made.value, ast.Call) else [made.value]
        return any(self.gives(view, each, depth + 1) for each in given)

    def kept(self, view: View, attribute: str, depth: int = 0) -> bool:
        """Whether some object keeps a list by that name, or has a property give one."""
        return self._is_set(attribute, depth) or self._is_given_unseen(view, attribute, depth)

    def kept_beside(self, view: View, attribute: str, depth: int = 0) -> bool:
        """The same, without what methods give that attribute of their own object by itself."""
        return self._is_set(attribute, depth, by_itself=False) or self._is_given_unseen(
            view, attribute, depth
        )

    def _is_set(self, attribute: str, depth: int, by_itself: bool = True) -> bool:
        """Whether an attribute of the name is given one."""
        if attribute in self._asked:
            return False
        self._asked.add(attribute)
        for unit, node in islice(self._project.stores(attribute), _MOST_CALLS):
            parent, scope = unit.parents[node], self._project.scope_of(unit, node)
            if isinstance(parent, ast.Assign):
                if not by_itself and path_of(node.value) == (self_name(unit, scope),):
                    continue
                if self.gives(self._project.view(unit, scope), parent.value, depth + 1):
                    return True
            above = unit.parents[parent]
            if isinstance(parent, ast.Tuple | ast.List) and isinstance(above, ast.Assign):
                here, place = self._project.view(unit, scope), parent.elts.index(node)
                if self._in_place(here, above.value, place, depth + 1):
                    return True
        return False

    def _is_given_unseen(self, view: View, attribute: str, depth: int) -> bool:
        """Whether a property gives it, or what sets attributes under names that are not seen."""
        if self.computed(view, attribute, depth):
            return True
        return any(word in view.unit.text for word in SETTING) and self.under(attribute, depth)

    def computed(self, view: View, attribute: str, depth: int = 0) -> bool:
        """Whether a property of that name gives one."""
        return any(
            self._returns(view, function, depth)
            for function in self._project.effects(view.unit).functions(attribute)
            if function.decorator_list
        )

    def _looked_up(self, view: View, owner: ast.expr, key: ast.expr, depth: int) -> bool:
        """Whether what is looked up in a dict or list may be one."""
        if isinstance(key, ast.Constant) and isinstance(key.value, str):
            return self.under(key.value, depth)
        return self.among(view, owner, depth)

    def under(self, key: str, depth: int = 0) -> bool:
        """Whether some dict at hand holds a list by that name: ``ends["layers"]``."""
        if f"[{key}]" in self._asked:
            return False
        self._asked.add(f"[{key}]")
        return any(
            self.gives(self._project.view(unit, self._project.scope_of(unit, value)), value, depth)
            for unit in self._project.units.having(key)
            for value in unit.once(by_key).get(key, ())
        )

    def _returns(
        self, view: View, function: ast.FunctionDef | ast.AsyncFunctionDef, depth: int
    ) -> bool:
        inner = self._project.view(view.unit, function)
        return any(
            self.gives(inner, each, depth + 1)
            for anew in self._anew([function], "gives")
            for each in _returned(anew)
        )

    def _anew(
        self, functions: Sequence[ast.FunctionDef | ast.AsyncFunctionDef], how: str
    ) -> list[ast.FunctionDef | ast.AsyncFunctionDef]:
        """Those that were not asked so before: what they give does not depend on the call."""
        found = [each for each in functions if (each, how) not in self._run]
        self._run |= {(each, how) for each in found}
        return found

    def _is_handed_with_list(self, unit: Unit, node: ast.AST) -> bool:
        """``map(f, [[a, b]])``, ``run(f, [a, b])``, ``partial(f, 2.0)``"""
        call = unit.parents.get(node)
        if not isinstance(call, ast.Call) or node not in call.args:
            return False
        path = unit.names.qualified(call.func) or ""
        if path.rpartition(".")[2] == "partial":
            return True
        name = short(path)
        if name is not None and name not in _HANDING_ON:
            return False  # ``tf.while_loop`` hands each of them in by itself
        view = self._project.view(unit, self._project.scope_of(unit, call))
        return any(self.gives(view, each) for each in call.args if each is not node)

    def global_may_be(self, view: View, name: str) -> bool:
        """Whether the module gives ``name`` a list that is written out."""
        top = view.unit.once(given_at_top).get(name, ())
        return any(isinstance(each, ast.List | ast.ListComp | ast.Tuple) for each in top)

    def made(self, view: View, made: Def, depth: int = 0) -> bool:
        """Whether what a definition gives may be one."""
        value = made.value
        if depth > _MOST_STEPS or made in self._seen:
            return False
        self._seen.add(made)
        if made.kind is Kind.PARAM:
            return _takes_several(view, made.path[0]) or self.given(view, made.path[0], depth)
        if made.kind is Kind.ENTRY:
            return self._from_outside(view, made.path, depth)
        if made.kind is Kind.MUTATE:
            return any(self.made(view, use.made, depth + 1) for use in made.before)
        if value is None:
            return False
        if made.kind is Kind.ELEMENT:
            return (
                _is_zipped(value)
                or self._element(view, made, value, depth)
                or self._unpacked(view, made, value, depth)
            )
        if made.kind in _TAKEN_OUT:
            return self.among(view, value, depth) or self._unpacked(view, made, value, depth)
        return made.kind in _PUT_IN and self.gives(view, value, depth)

    def _from_outside(self, view: View, path: Path, depth: int) -> bool:
        """Whether a function around, or the module, gives a list by that name."""
        key = key_of(path)
        if key is not None and self.under(key, depth + 1):
            return True
        around = outer_definitions(self._project, view, path[:1])
        if around is None:
            return self.global_may_be(view, path[0])
        return any(self.made(around[0], each, depth + 1) for each in around[1])

    def _unpacked(self, view: View, made: Def, value: ast.expr, depth: int) -> bool:
        """``for name, parts in [("a", [x, y])]``: whether a list is among what has its place."""
        rows = value.elts if isinstance(value, ast.List | ast.Tuple) else []
        shown = [each for row in rows if isinstance(row, ast.List | ast.Tuple) for each in row.elts]
        return len(made.path) == 1 and any(self.gives(view, each, depth) for each in shown)

    def _call(self, view: View, call: ast.Call, depth: int) -> bool:
        name = short(view.unit.names.qualified(call.func))
        if name is not None:
            return name in _OPS or name.endswith("StateTuple") or view.kinds.make(call) in _MANY
        if isinstance(call.func, ast.Name) and call.func.id in _FUNCTIONS:
            return True
        if isinstance(call.func, ast.Attribute) and call.func.attr in _PARTS and not call.args:
            return True
        if isinstance(call.func, ast.Attribute) and call.func.attr in _LOOKING and call.args:
            if any(self.gives(view, each, depth) for each in call.args[1:]):
                return True
            if self._looked_up(view, call.func.value, call.args[0], depth):
                return True
        if view.kinds.keeps_arguments(call):
            return True  # a named tuple
        return depth <= _DEPTH and any(
            self._returns(view, function, depth) for function in self._run_by(view, call)
        )

    def _element(self, view: View, made: Def, value: ast.expr, depth: int) -> bool:
        """Whether what is unpacked may have a list in that place, of what a function gives too."""
        place = place_of(made)
        return place is not None and self._in_place(view, value, place, depth)

    def _in_place(self, view: View, value: ast.expr, place: int, depth: int) -> bool:
        """Whether what is written out, or what a function gives, has a list in that place."""
        if depth > _DEPTH:
            return False
        shown = [(view, value)]
        if isinstance(value, ast.Call):
            run = self._run_by(view, value)
            shown = [(self._project.view(view.unit, f), v) for f in run for v in _returned(f)]
        elif isinstance(value, ast.Name):
            # ``found = [a, b], 2`` and then ``return found``
            made = origins(view.flow.reads.get(value, frozenset()))
            shown = [(view, d.value) for d in made if d.kind is Kind.ASSIGN and d.value is not None]
        further = (each for each in shown if isinstance(each[1], ast.Name | ast.Call))
        if any(
            each[1] is not value and self._in_place(*each, place, depth + 1) for each in further
        ):
            return True
        return any(
            isinstance(each, ast.Tuple | ast.List)
            and place < len(each.elts)
            and self.gives(here, each.elts[place], depth + 1)
            for here, each in shown
        )

    def _run_by(
        self, view: View, call: ast.Call
    ) -> Sequence[ast.FunctionDef | ast.AsyncFunctionDef]:
        """The functions of the file that a call may run."""
        functions = view.kinds.may_run(call)
        if isinstance(call.func, ast.Attribute) and not functions:
            functions = self._project.effects(view.unit).functions(call.func.attr)
        return functions[:_MOST_FUNCTIONS]


def may_be_container(project: Project, view: View, value: ast.expr) -> bool:
    """Whether a value may be a list, dict or set, into which others may put more."""
    if isinstance(value, ast.Call) and view.kinds.tensorflow(value.func) is not None:
        return False  # nobody else has what an op gives
    return is_container(value) or ListSigns(project).gives(view, value)


def _calls_without_names(unit: Unit) -> list[ast.Call]:
    """The calls of what no import, function or class of the file has the name of: ``f[0](xs)``."""
    nodes = list(walk(unit.tree))
    named = {n.name for n in nodes if isinstance(n, NamedFunction | ast.ClassDef)}
    return [
        n
        for n in nodes
        if isinstance(n, ast.Call)
        and (n.args or n.keywords)
        and unit.names.qualified(n.func) is None
        and (path_of(n.func) or ("",))[-1].lstrip(".") not in named
        and not (isinstance(n.func, ast.Name) and hasattr(builtins, n.func.id))
    ]


def _takes_several(view: View, name: str) -> bool:
    """Whether the parameter takes all further arguments: ``*parts``."""
    args = getattr(view.scope, "args", None)
    return isinstance(args, ast.arguments) and args.vararg is not None and args.vararg.arg == name


def _is_zipped(value: ast.expr) -> bool:
    """``xs, ys = zip(*pairs)``: tuples are unpacked from it."""
    return isinstance(value, ast.Call) and path_of(value.func) == ("zip",)


def _yielded(function: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[ast.expr]:
    return (n.value for n in walk(function) if isinstance(n, ast.Yield) and n.value is not None)


def _returned(function: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[ast.expr]:
    return (n.value for n in walk(function) if isinstance(n, ast.Return) and n.value is not None)
