"""What an expression makes, as far as gradients go: variables, leaves, tensors, Python values."""

from __future__ import annotations

import ast
import builtins
from collections import Counter
from collections.abc import Callable
from enum import Enum

from tapemigrate.flow.changers import CHANGERS
from tapemigrate.flow.definitions import Def
from tapemigrate.flow.effects import Effects
from tapemigrate.flow.functions import NamedFunction, is_of_class, is_static, parameters
from tapemigrate.flow.paths import names_class, path_of
from tapemigrate.names import Names
from tapemigrate.source.trees import arguments_of, walk
from tapemigrate.tape.ops.call_effects import (
    CallEffects,
    is_session,
    name_of_session,
    variables_asked_for,
)
from tapemigrate.tape.ops.op_functions import only_computes
from tapemigrate.tape.ops.plain_calls import makes_none
from tapemigrate.tape.ops.returned import given, gives_what_was, place_of
from tapemigrate.tape.ops.symbols import (
    AFFINE,
    ALWAYS_VARIABLE,
    ANY_VARIABLE_LISTS,
    CHOOSES,
    DECAYS,
    FILTERS,
    FOUND,
    GETTERS,
    HAD_BY_ALL,
    LEAF,
    LEAF_PREFIXES,
    LIBRARIES,
    MAKERS,
    PLACEHOLDERS,
    QUIET,
    SHAPES,
    SPACED,
    STATIC,
    SYMBOLIC,
    VARIABLE,
    VARIABLE_LISTS,
    gives_back,
    short,
)
from tapemigrate.tape.ops.texts import is_text


class Make(Enum):
    """The kind of value that an expression makes."""

    VARIABLES = "a list of trainable variables"
    ANY_VARIABLES = "a list of variables, not all of them trainable"
    VARIABLE = "a trainable variable"
    FROZEN = "a variable that may not be trainable"
    LEAF = "a tensor made from nothing"
    TENSOR = "a tensor made by an op"
    PYTHON = "a Python value"
    UNKNOWN = "unknown"


# What comes of no source: variables are sources themselves.
INDEPENDENT = frozenset(Make) - {Make.TENSOR, Make.UNKNOWN}

_PYTHON_CALLS = frozenset(
    {"len", "int", "float", "str", "bool", "range", "isinstance", "hasattr", "type", "id", "repr"}
    | {"print", "callable", "issubclass", "open", "format", "input"}
)
# What tells how large a tensor is.
_SIZES = frozenset({"get_shape", "as_list", "num_elements"})
# Parts of all tensors that programs have other tensors for: of faces, of networks.
_OTHERWISE = frozenset({"shape", "graph", "ndims", "type"})
_JOINING = frozenset(
    {"stack", "pack", "concat", "concatenate", "hstack", "vstack", "convert_to_tensor", "constant"}
    | {"array", "add_n", "parallel_stack", "reduce_sum", "reduce_mean"}
)
# Built-in functions that are ops where they are given tensors.
_OPERATORS = frozenset({"abs", "min", "max", "round", "sum", "pow", "divmod"})
# What ``tf.get_collection`` gives, by which variables it is asked for.
_COLLECTED = {"any": Make.ANY_VARIABLES, "": Make.UNKNOWN}

_NOT_ITS_OWN = (ast.Yield, ast.YieldFrom, ast.Global, ast.Nonlocal)
# Through how many functions it is looked what they give.
_DEPTH = 3


class Kinds(CallEffects):
    """Reads off the source of one file what its expressions make, beside what its calls change."""

    def __init__(
        self,
        names: Names,
        effects: Effects,
        changing: Callable[[str], bool] | None = None,
    ) -> None:
        """``changing`` tells whether a method of that name changes its object, in any file."""
        super().__init__(names, effects, changing)
        self._tensors: dict[str, bool] = {}
        self._computing: dict[ast.AST, bool] = {}
        #: Which function of another file an import path means, and the kinds of that file.
        self.elsewhere: Callable[[str], tuple[Kinds, ast.FunctionDef] | None] | None = None
        #: What ``set_by_code`` and ``setting`` of ``effects`` are in all files together.
        self.set_elsewhere: Callable[[], tuple[frozenset[str], frozenset[str]]] | None = None
        #: Whether another file may have another function run in place of one, a method of a class.
        self.replaced: Callable[[ast.ClassDef | None, NamedFunction], bool] | None = None
        #: Whether some code of the program may give tensors a name that tensors have for a part.
        self.alike: Callable[[str], bool] | None = None
        #: Whether a collection is asked for variables of a scope that are all trainable.
        self.built_trainable: Callable[[ast.Call], bool] | None = None

    def is_barren(self, node: ast.expr) -> bool:
        """Whether no gradient flows through ``node``: a number, a constant, a new variable."""
        return self.make(node) in _BARREN

    def make(self, node: ast.expr) -> Make:
        """What ``node`` makes, read from its own text alone."""
        match node:
            case ast.Constant() | ast.JoinedStr() | ast.Compare():
                return Make.PYTHON
            case ast.UnaryOp():
                # ``-tf.get_variable(…)`` is a tensor that was made of one.
                made = self.make(node.operand)
                return Make.TENSOR if made in (Make.VARIABLE, Make.FROZEN) else made
            case ast.BinOp():
                return self._arithmetic(node)
            case ast.Attribute() if node.attr in SHAPES and not self._keeps_tensors(node.attr):
                return Make.PYTHON
            case ast.Attribute(attr="trainable_variables" | "trainable_weights" as name):
                return self._called_trainable(name, Make.VARIABLES)
            case ast.Attribute() if node.attr in ("variables", "weights"):
                return Make.ANY_VARIABLES
            case ast.Subscript():
                return Make.PYTHON if self.make(node.value) is Make.PYTHON else Make.UNKNOWN
            case ast.Call():
                return self._call(node)
        return Make.UNKNOWN

    def is_static(self, step: str) -> bool:
        """Whether a part of something is what a tensor knows of itself, by its name."""
        return step in STATIC and not self._keeps_tensors(step.lstrip("."))

    def _keeps_tensors(self, attribute: str) -> bool:
        """Whether classes of the file have tensors by the name of a part of all tensors."""
        if attribute not in self._tensors:
            self._tensors[attribute] = False
            self._tensors[attribute] = any(
                self.make(value) not in (Make.PYTHON, Make.UNKNOWN)
                for value in self._effects.kept(attribute)
            ) or (attribute in _OTHERWISE and self._is_alike(attribute))
        return self._tensors[attribute]

    def _is_alike(self, name: str) -> bool:
        """Whether it may be the name of other tensors, in whatever file."""
        return self.alike is not None and self.alike(name)

    def _arithmetic(self, node: ast.expr) -> Make:
        if is_text(node):
            return Make.PYTHON
        parts: list[ast.expr] = []
        while isinstance(node, ast.BinOp):
            parts.append(node.right)
            node = node.left
        return self._joint([*parts, node])

    def _joint(self, parts: list[ast.expr]) -> Make:
        """What an operator makes of ``parts``."""
        makes = {self.make(p) for p in parts}
        if makes <= {Make.PYTHON}:
            return Make.PYTHON
        if makes <= {Make.PYTHON, Make.LEAF}:
            return Make.LEAF
        return Make.TENSOR if makes & _TENSORS else Make.UNKNOWN

    def _call(self, call: ast.Call) -> Make:
        qualified = self._names.qualified(call.func)
        name = short(qualified)
        if name is None:
            return self._other_call(call, qualified)
        if name.startswith("nest.") or name in SYMBOLIC or name in FOUND:
            return Make.UNKNOWN
        if name.rpartition(".")[2] in CHOOSES:
            return Make.UNKNOWN
        if name in VARIABLE_LISTS:
            return self._trainable_ones
        if name in ANY_VARIABLE_LISTS:
            return Make.ANY_VARIABLES
        if name in GETTERS:
            asked = variables_asked_for(call)
            if asked == "any" and self.built_trainable is not None and self.built_trainable(call):
                asked = "trainable"
            return self._trainable_ones if asked == "trainable" else _COLLECTED[asked]
        if name in VARIABLE:
            if self._effects.has_creators:
                return Make.UNKNOWN
            if name not in ALWAYS_VARIABLE and self._effects.has_getters:
                return Make.UNKNOWN
            frozen = name.endswith("local_variable") or not _trainable(call)
            frozen |= name not in ALWAYS_VARIABLE and self._effects.finds_frozen
            return Make.FROZEN if frozen else Make.VARIABLE
        if name in FILTERS:
            listed = self.make(call.args[0]) if call.args else Make.UNKNOWN
            return listed if listed in (Make.VARIABLES, Make.ANY_VARIABLES) else Make.UNKNOWN
        if name in LEAF or name.startswith(LEAF_PREFIXES):
            return self._leaf(call, name)
        if name == "contrib.training.HParams":
            plain = all(self.make(a) is Make.PYTHON for a in arguments_of(call))
            return Make.PYTHON if plain else Make.UNKNOWN
        if name.startswith(MAKERS) or name in SPACED:
            given = arguments_of(call)
            plain = all(self.make(a) is Make.PYTHON for a in given)
            return Make.LEAF if plain else Make.TENSOR
        return Make.TENSOR

    def _leaf(self, call: ast.Call, name: str) -> Make:
        """What an op gives through which no gradient flows, but by some arguments of some."""
        last = name.rpartition(".")[2]
        stepped = name.startswith("train.") and last in DECAYS
        if not stepped and "normal" not in last and "uniform" not in last:
            return Make.LEAF
        named = (k for k in call.keywords if k.arg not in ("global_step", "x"))
        given = [k.value for k in named if stepped or k.arg in AFFINE or k.arg is None]
        step = 0 if last.startswith("piecewise") else 1
        given += [*call.args[:step], *call.args[step + 1 :]] if stepped else call.args[1:3]
        given += [each for each in call.args if isinstance(each, ast.Starred)]
        plain = all(self.make(a) in (Make.PYTHON, Make.LEAF) or self._is_tf(a) for a in given)
        return Make.LEAF if plain else Make.TENSOR

    def _is_tf(self, node: ast.expr) -> bool:
        return short(self._names.qualified(node)) is not None

    def fills(self, attribute: str, scope: ast.AST) -> bool:
        """Whether a method other than ``scope`` puts something into an attribute of self."""
        lineage = [] if self.cls is None else list(self._effects.lineage(self.cls))
        nodes = (n for c in lineage for m in c.body if m is not scope for n in walk(m))
        for node in nodes:
            match node:
                case ast.Subscript(value=ast.Attribute(attr=name), ctx=ast.Store() | ast.Del()):
                    found = name
                case ast.AugAssign(target=ast.Attribute(attr=name)):
                    found = name
                case ast.Call(func=ast.Attribute(value=ast.Attribute(attr=name), attr=method)):
                    found = name if method in CHANGERS else ""
                case _:
                    continue
            if found == attribute:
                return True
        return False

    def keeps_arguments(self, call: ast.Call) -> bool:
        """Whether the call makes a named tuple, or an object of a class of this file."""
        name = call.func.id if isinstance(call.func, ast.Name) else ""
        return name in self._effects.tuples or self._effects.class_named(name) is not None

    def may_keep_arguments(self, call: ast.Call) -> bool:
        """Whether what is called is named as classes are, and cannot be seen here to be none."""
        path = path_of(call.func)
        name = path[-1].lstrip(".") if path else ""
        if self._effects.functions(name) or self.tensorflow(call.func) is not None:
            return False
        return names_class(name) and name != name.upper()

    def makes_object(self, call: ast.Call) -> bool:
        """Whether the call makes an object of a class of this file, or of an imported one.

        Functions may have the name of a class: many a network is called ``Generator``.
        """
        path = path_of(call.func)
        name = path[-1].lstrip(".") if path else ""
        if name in self._effects.tuples or self._effects.functions(name):
            return False
        if self._effects.class_named(name) is not None:
            return True
        known = self._names.qualified(call.func)
        if known is None or known.startswith(".") or known == f"collections.{name}":
            return False
        if not names_class(name) or name == name.upper():
            return False
        return self.elsewhere is None or self.elsewhere(known) is None

    def is_new(self, value: ast.expr) -> bool:
        """Whether the call certainly makes new variables, rather than finding old ones."""
        if not isinstance(value, ast.Call):
            return False
        if self._makes_variable(value):
            return True
        function = self.runs_only(value)
        if function is None or gives_what_was(function):
            return False
        return any(isinstance(n, ast.Call) and self._makes_variable(n) for n in walk(function))

    def _makes_variable(self, call: ast.Call) -> bool:
        if self._call(call) not in (Make.VARIABLE, Make.FROZEN):
            return False
        return not self._effects.reuses_variables or self.tensorflow(call.func) in ALWAYS_VARIABLE

    def gives_tensors(self, call: ast.Call, depth: int = _DEPTH) -> bool:
        """Whether a function of the user's is called that gives nothing but what its ops make."""
        if self.only_computes(call):
            return True
        function = self.runs_only(call)
        if function is None or function.decorator_list:
            return False
        nodes = list(walk(function))
        # What is kept outside may be what an earlier call has made.
        if any(isinstance(n, _NOT_ITS_OWN) for n in nodes):
            return False
        taken = Counter(n.arg for n in nodes if isinstance(n, ast.arg))
        taken += Counter(
            n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
        )
        made: dict[str, list[ast.expr]] = {}
        for node in nodes:
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
                made.setdefault(node.targets[0].id, []).append(node.value)
        given = [n.value for n in nodes if isinstance(n, ast.Return) and n.value is not None]
        seen: set[str] = set()
        while given:
            value = given.pop()
            if isinstance(value, ast.Tuple | ast.List):
                given += value.elts
            elif isinstance(value, ast.Name) and value.id in made:
                if taken[value.id] > len(made[value.id]):
                    return False
                if value.id not in seen:
                    seen.add(value.id)
                    given += made[value.id]
            elif not self.is_op(value, depth) and not (
                isinstance(value, ast.BinOp) and self._is_computed(value, made, taken)
            ):
                return False
        return True

    def _is_computed(
        self, value: ast.expr, made: dict[str, list[ast.expr]], taken: Counter[str]
    ) -> bool:
        """Whether arithmetic gives something new, in a function with values ``made`` by name.

        Lists are added and repeated, and hold what they held; no tensor is a list.
        """
        if isinstance(value, ast.Name):
            given = made.get(value.id, [])
            plain = bool(given) and taken[value.id] == len(given)
            return plain and all(self.make(each) is Make.TENSOR for each in given)
        if not isinstance(value, ast.BinOp):
            return self.make(value) is Make.TENSOR
        if self._effects.has_operators:
            return False  # they may give anything
        sides = (value.left, value.right)
        listless = isinstance(value.op, ast.Sub | ast.Div | ast.Pow | ast.MatMult)
        return listless or any(self._is_computed(side, made, taken) for side in sides)

    def is_op(self, value: ast.expr, depth: int = _DEPTH) -> bool:
        """Whether the value is what an op makes, in a function that is called for it too."""
        if isinstance(value, ast.Call):
            name = self.tensorflow(value.func)
            if name is not None and gives_back(name):
                return False
            if depth and self.make(value) is Make.UNKNOWN:
                return self.gives_tensors(value, depth - 1)
        return self.make(value) in (Make.TENSOR, Make.LEAF, Make.PYTHON)

    def only_computes(self, call: ast.Call) -> bool:
        """Whether a function is called that gives a new tensor, and does no more than ops would."""
        kinds, function = self, self.runs_only(call)
        qualified = self._names.qualified(call.func) if function is None else None
        if qualified is not None and self.elsewhere is not None and short(qualified) is None:
            kinds, function = self.elsewhere(qualified) or (self, None)
        if function is None:
            return False
        if function not in self._computing:
            self._computing[function] = False  # for those that call themselves
            self._computing[function] = only_computes(function, kinds)
        return self._computing[function]

    def is_number(self, node: ast.expr) -> bool:
        """Whether it is a number, or another value without tensors."""
        return self.make(node) is Make.PYTHON

    def is_value(self, node: ast.expr) -> bool:
        """Whether it is a number, or what an op gives."""
        return self.make(node) in (Make.TENSOR, Make.LEAF, Make.PYTHON)

    def reads_no_object(self, call: ast.Call) -> bool:
        """Whether a method is called that, in every class of this file, makes no use of self."""
        if not isinstance(call.func, ast.Attribute):
            return False
        methods = self._effects.functions(call.func.attr)
        return bool(methods) and not any(
            isinstance(n, ast.Name) and n.id in {a.arg for a in method.args.args[:1]}
            for method in methods
            for n in walk(method)
        )

    def gives_what_was(self, call: ast.Call) -> bool:
        """Whether the call may give what was there before: of a function of this file, or what
        TensorFlow has for all.
        """
        name = (path_of(call.func) or ("",))[-1].lstrip(".")
        return name in HAD_BY_ALL or any(map(gives_what_was, self._effects.functions(name)))

    def _called_trainable(self, name: str, given: Make) -> Make:
        """What has such a name; it may be another thing, or give other variables."""
        if self._is_alike(name):
            return Make.UNKNOWN
        return Make.ANY_VARIABLES if self._effects.lists_others else given

    @property
    def _trainable_ones(self) -> Make:
        """What the collection of trainable variables holds: others where the file puts some in."""
        filled = self._effects.fills_trainable
        return Make.ANY_VARIABLES if filled else Make.VARIABLES

    def element(self, made: Def) -> Make:
        """What is unpacked from the call of a function of this file, which tells what it gives."""
        place = place_of(made)
        function = self.runs_only(made.value) if isinstance(made.value, ast.Call) else None
        values = [] if function is None or place is None else given(function, place)
        makes = {self.make(v) for v in values}
        return makes.pop() if len(makes) == 1 else Make.UNKNOWN

    def hands_back(self, made: Def) -> bool:
        """Whether what is unpacked may be, or hold, what the function was called with."""
        if not isinstance(made.value, ast.Call):
            return isinstance(made.value, ast.IfExp | ast.Tuple)
        place, function = place_of(made), self.called(made.value)
        if function is None or place is None:
            return False
        own = {a.arg for a in parameters(function.args)} - {self.self_name}
        return any(
            isinstance(part, ast.Name) and part.id in own
            for value in given(function, place)
            for part in (value.elts if isinstance(value, ast.List | ast.Tuple) else [value])
        )

    def called(self, call: ast.Call) -> ast.FunctionDef | ast.AsyncFunctionDef | None:
        """The function of this file that the call means, if it can mean no other."""
        path = path_of(call.func)
        if path is None or self._names.qualified(call.func) is not None:
            return None
        if len(path) == 2 and path[0] == self.self_name and self.cls is not None:
            name = path[1].lstrip(".")
            if self._effects.is_overridden(self.cls, name):
                return None
            return self._effects.method(self.cls, name)
        if len(path) == 2 and path[1].startswith("."):
            return self._called_on_class(call.func, path[0], path[1][1:])
        functions = self._effects.functions(path[0]) if isinstance(call.func, ast.Name) else []
        if len(functions) != 1 or [a.arg for a in functions[0].args.args[:1]] == ["self"]:
            return None  # a method is not called by its name alone
        # A parameter, or another value, may have the name there.
        assert isinstance(call.func, ast.Name)
        return functions[0] if self._names.may_mean(call.func, functions[0]) else None

    def runs_only(self, call: ast.Call) -> NamedFunction | None:
        """The function that the call means, if no other file may have another one run instead."""
        function = self.called(call)
        if function is None or self.replaced is None:
            return function
        owner = call.func.value if isinstance(call.func, ast.Attribute) else None
        cls = self._effects.class_named(owner.id) if isinstance(owner, ast.Name) else None
        if owner is not None and path_of(owner) == (self.self_name,):
            cls = self.cls
        return None if self.replaced(cls, function) else function

    def _called_on_class(
        self, func: ast.expr, owner: str, name: str
    ) -> ast.FunctionDef | ast.AsyncFunctionDef | None:
        """The method that ``Tools.name`` means, where it is called on no object."""
        cls = self._effects.class_named(owner)
        function = self._effects.method(cls, name) if cls is not None else None
        if cls is None or function is None or self._effects.is_overridden(cls, name):
            return None
        bare = is_static(function) or is_of_class(function)
        assert isinstance(func, ast.Attribute)
        assert isinstance(func.value, ast.Name)
        return function if bare and self._names.may_mean(func.value, cls) else None

    def may_run(self, call: ast.Call) -> list[NamedFunction]:
        """The functions of this file that the call is seen to run, by their names or by others."""
        if (function := self.called(call)) is not None:
            return [function]
        path = path_of(call.func)
        if path is None or self._names.qualified(call.func) is not None:
            return []
        names = self._effects.callables.named(path[-1].lstrip("."))
        return [each for name in sorted(names) for each in self._effects.functions(name)]

    def _other_call(self, call: ast.Call, qualified: str | None) -> Make:
        if qualified is not None and makes_none(qualified, call):
            return Make.PYTHON
        if qualified in PLACEHOLDERS:
            return Make.LEAF
        func = call.func
        if isinstance(func, ast.Name) and qualified is None:
            own = self._effects.is_own(func.id)
            if func.id in _PYTHON_CALLS and hasattr(builtins, func.id) and not own:
                # A class that is made by a call holds what it is handed.
                makes_class = func.id == "type" and len(call.args) > 1
                return Make.UNKNOWN if makes_class else Make.PYTHON
            if func.id in _OPERATORS and not own:
                return self._joint(call.args)
        if isinstance(func, ast.Attribute):
            if func.attr in _SIZES and not self._effects.functions(func.attr):
                return Make.UNKNOWN if self._is_alike(func.attr) else Make.PYTHON
            if is_session(func) and not self._effects.keeps_own_object(name_of_session(func)):
                return Make.PYTHON
            if func.attr == "format" and isinstance(func.value, ast.Constant):
                return Make.PYTHON
            if func.attr in GETTERS and variables_asked_for(call) == "trainable":
                return self._trainable_ones
            if func.attr in ("trainable_variables", "get_trainable_variables"):
                return self._called_trainable(func.attr, self._trainable_ones)
        return Make.UNKNOWN


def puts_nothing(names: Names, call: ast.Call) -> bool:
    """Whether the call is known to put nothing into what it is handed, and to set no part of it."""
    path = names.qualified(call.func)
    if path is not None:
        return short(path) is not None or path.split(".")[0] in LIBRARIES
    if isinstance(call.func, ast.Attribute):
        return call.func.attr in QUIET
    return isinstance(call.func, ast.Name) and hasattr(builtins, call.func.id)


def joins(names: Names, call: ast.Call) -> bool:
    """Whether the call makes one tensor or array of what it is handed: ``tf.stack(rows)``."""
    path = names.qualified(call.func)
    if path is None or path.rpartition(".")[2] not in _JOINING:
        return False
    return short(path) is not None or path.startswith("numpy.")


_BARREN = {Make.PYTHON, Make.LEAF, Make.VARIABLE, Make.FROZEN}
_TENSORS = {Make.TENSOR, Make.LEAF, Make.VARIABLE, Make.FROZEN}


# Where ``trainable`` stands among the arguments.
_PLACES_OF_TRAINABLE = {"Variable": 1, "get_variable": 5}


def _trainable(call: ast.Call) -> bool:
    """Whether the variable certainly is: a watch that is not needed does no harm."""
    # ``**options`` may hold it, too.
    given = [k.value for k in call.keywords if k.arg in ("trainable", None)]
    if any(k.arg == "synchronization" for k in call.keywords):
        return False  # ``ON_READ`` makes it one that is not
    if isinstance(call.func, ast.Attribute | ast.Name):
        name = call.func.attr if isinstance(call.func, ast.Attribute) else call.func.id
        place = _PLACES_OF_TRAINABLE.get(name)
        given += call.args[place : place + 1] if place is not None else []
    return all(isinstance(value, ast.Constant) and bool(value.value) for value in given)
