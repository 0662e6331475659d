"""What in a file keeps a tape from seeing what ``tf.gradients`` sees."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from tapemigrate.rules.finding import Unit
from tapemigrate.rules.unseen.collected import ASKING, COLLECTED, Collected
from tapemigrate.rules.unseen.given import Handed, last_name
from tapemigrate.rules.unseen.methods import may_be_of, methods_of, named_in
from tapemigrate.rules.unseen.objects import is_called, is_used_whole, runs_unnamed, standing_for
from tapemigrate.rules.unseen.rewired import REWIRING, REWIRING_WORDS, rewires
from tapemigrate.source.trees import top_level, walk
from tapemigrate.tape.plan import Insert, Op
from tapemigrate.tape.request import Refusal, Request
from tapemigrate.tape.symbols import short

_OVERRIDING = "Give the op its gradient with `@tf.custom_gradient` instead; then a tape sees it."
_WHOLE_FILE = {
    "gradient_override_map": Refusal(
        "the file uses `gradient_override_map`, which a tape ignores without a word", _OVERRIDING
    ),
    "caching_device": Refusal(
        "the file makes variables with `caching_device`, whose cached copies a tape does not see",
        "Drop `caching_device`; a tape then watches the variables themselves.",
    ),
    "use_resource": Refusal(
        "the file makes reference variables (`use_resource=False`), which no tape can watch",
        "Drop `use_resource=False`: TensorFlow 2 makes resource variables.",
    ),
    "disable_resource_variables": Refusal(
        "the file turns resource variables off, and no tape can watch reference variables",
        "Drop `disable_resource_variables()`.",
    ),
    "disable_control_flow_v2": Refusal(
        "the file turns control flow v2 off, and a tape cannot see through the old control flow",
        "Drop `disable_control_flow_v2()`.",
    ),
}
# Functions of libraries that do what no tape sees: where they come from, and what they do. The
# libraries are rarely at hand themselves.
_RUNS_OVERRIDDEN = "which runs ops under `gradient_override_map`; a tape ignores that"
_IS_DEFUN = "which calls a `Defun`; a tape does not see through that"
_IN_LIBRARIES = {
    **dict.fromkeys(("gradient_override_map", "use_gradient"), ("lucid.", _RUNS_OVERRIDDEN)),
    "as_tensorflow_layer": ("odl.", _RUNS_OVERRIDDEN),
    **dict.fromkeys(("gdn", "GDN"), ("tensorflow.contrib.", _RUNS_OVERRIDDEN)),
    **dict.fromkeys(
        ("scale_gradient", "scaled_softplus", "functional_rnn", "bidirectional_functional_rnn"),
        ("tensorflow.contrib.", _IS_DEFUN),
    ),
}
# What ``gradient_override_map`` does, done by hand; said of a file, or of what it defines.
_OP_TYPE = "_gradient_op_type"
_SET_BY_HAND = "sets by hand which gradient an op has, which a tape ignores without a word"
_CHANGED = {
    "_gradient_override_map": _SET_BY_HAND,
    _OP_TYPE: _SET_BY_HAND,
    **dict.fromkeys(
        ("_gradient_registry", "gradient_registry"),
        "changes which function the registry has for the gradient of an op, and a tape hands that "
        "function no whole op",
    ),
}
_IMPORTS = Refusal(
    "the file imports a graph, whose ops a tape does not record",
    "Keep `tf.compat.v1.gradients` in a v1 graph, or load the model with `tf.saved_model.load` "
    "and call it under a tape.",
)
_IMPORTING = frozenset({"import_graph_def", "import_meta_graph"})
# What makes tensors, or hands them out, where no tape of this place can see it.
_BY_NAME = Refusal(
    "tensors are looked up in the graph, by name or by walking it, and where they were made cannot "
    "be followed",
    "Keep the tensors in variables of your own, and open the tape where they are computed.",
)
_THREADS = Refusal(
    "the forward pass runs in another thread, where a tape does not record",
    "Run the forward pass in the thread that opens the tape.",
)
_RAW_OPS = Refusal(
    "the forward pass makes ops that a tape does not record",
    "Use the Python function of the op, or call a loaded `SavedModel` under the tape.",
)
_KERAS = Refusal(
    "the forward pass is made of symbolic Keras tensors, which no tape can record",
    "Make an input of your own and call the model on it under the tape: "
    "`with tf.GradientTape() as tape: tape.watch(x); y = model(x)`.",
)
#: What finds tensors in the graph by their names.
LOOKING_UP = ("get_operation_by_name", "get_tensor_by_name", "get_operations")
_IMPORTED = replace(_IMPORTS, reason="it imports a graph, whose ops a tape does not record")
_UNSEEN = {
    **dict.fromkeys(_IMPORTING, _IMPORTED),
    "get_tensor_by_name": _BY_NAME,
    "get_operation_by_name": _BY_NAME,
    "get_operations": _BY_NAME,
    "as_graph_element": _BY_NAME,
    "create_op": _RAW_OPS,
    "NodeDef": _RAW_OPS,
    "exec": _RAW_OPS,
    "graph_replace": _RAW_OPS,
    "copy_with_input_replacements": _RAW_OPS,
    "Thread": _THREADS,
    "ThreadPoolExecutor": _THREADS,
    "ThreadPool": _THREADS,
    "Input": _KERAS,
    "total_loss": _KERAS,
}
#: A file without one of these words looks up no tensor by name, and does not walk the graph.
WALKING = tuple(word for word, why in _UNSEEN.items() if why is _BY_NAME)
_KERAS_ENDS = frozenset({"output", "outputs", "input", "inputs"})
_DEFUN = Refusal(
    "it calls what is defined with `Defun`, and a tape does not see through that",
    "Turn the `Defun` into a `tf.function` (with `@tf.custom_gradient` for its own gradient).",
)
# What makes a function that holds it dangerous for the files that import that function.
_SPREADING = {
    "gradient_override_map": Refusal(
        "it runs ops under `gradient_override_map`, which a tape ignores without a word",
        _OVERRIDING,
    ),
    **dict.fromkeys(_IMPORTING, _IMPORTED),
    **dict.fromkeys(LOOKING_UP, _BY_NAME),
}
_OVERRIDE = "gradient_override_map"
#: What is said of a function that is called where a ``with`` statement does such a thing.
UNDER = {
    _OVERRIDE: Refusal(f"under `{_OVERRIDE}`, which a tape ignores without a word", _OVERRIDING),
    "caching_device": Refusal(
        "in a scope with `caching_device`, and a tape does not see the copies that it caches",
        "Drop `caching_device`; a tape then watches the variables themselves.",
    ),
}
#: A file without one of these words holds no such function.
MARKS = (
    frozenset(_SPREADING)
    | frozenset(_CHANGED)
    | frozenset(_IN_LIBRARIES)
    | REWIRING_WORDS
    | {
        *("create_op", "NodeDef", "Operation", "Defun", "tensorflow_hub", "saved_model"),
        *("graph_replace", "copy_with_input_replacements"),
        *ASKING,
    }
)

#: Those of them that are hardly ever meant otherwise: who calls what holds one is followed further.
MAKING = (
    MARKS - ASKING - {"Operation", "saved_model", "tensorflow_hub", "scale_gradient", "quantize"}
)

_HUB_MODULE = "tensorflow_hub.Module"

# In a file without one of these words ``_call``, ``_taint`` and ``hidden`` find nothing.
_MAKING_OPS = ("tensorflow_hub", "saved_model", "Operation")
_TAINTING = (
    *(*_MAKING_OPS, *_IN_LIBRARIES),
    *(word for word, why in _UNSEEN.items() if why is not _KERAS),
)
_BY_HAND = (
    *(*_MAKING_OPS, *_SPREADING, *_CHANGED, *_IN_LIBRARIES, *REWIRING_WORDS, "Defun"),
    *(word for word, why in _UNSEEN.items() if why is _RAW_OPS),
)

#: Why a tape would miss what a name of another file runs.
Foreign = Callable[[ast.expr], Refusal | None]


@dataclass(slots=True)
class Hazards:
    """What one file holds of such things. ``imports``: of a graph; not all calls are about it.

    ``methods`` are those of other files that objects which are made here may have, ``around`` the
    functions that other files call where something is open that a tape ignores.
    """

    unit: Unit
    whole: Refusal | None
    defuns: bool
    switches: list[ast.stmt]
    tainted: dict[str, Refusal]
    foreign: Foreign | None = None
    keras: bool | None = None
    collections: Collected | None = None
    imports: Refusal | None = None
    objects: Mapping[str, Refusal] = field(default_factory=dict)
    methods: Mapping[str, Refusal] = field(default_factory=dict)
    given: Handed = field(default_factory=Handed)
    around: Mapping[str, Refusal] = field(default_factory=dict)

    def refuse(self, request: Request) -> Refusal | None:
        """Why ``request`` cannot go on a tape, whatever its own function looks like."""
        if self.whole is not None:
            return self.whole
        if self.defuns and not self._in_defun(request):
            return Refusal(
                "the file defines functions with `Defun`, and a tape does not see through calls of "
                "them",
                "Turn the `Defun` into a `tf.function` (with `@tf.custom_gradient` for its own "
                "gradient).",
            )
        if self.around and (refusal := self._called_under(request)) is not None:
            return refusal
        for expr in (request.target, request.sources):
            for node in walk(expr):
                if (
                    isinstance(node, ast.Attribute)
                    and node.attr in _KERAS_ENDS
                    and self._is_keras(node)
                ):
                    return Refusal(
                        f"`{ast.unparse(node)}` is a symbolic Keras tensor, which no tape records",
                        "Make an input of your own and call the model on it under the tape: "
                        "`with tf.GradientTape() as tape: tape.watch(x); y = model(x)`.",
                    )
        return None

    def _called_under(self, request: Request) -> Refusal | None:
        node: ast.AST | None = request.call
        while node is not None:
            if isinstance(node, ast.FunctionDef | ast.ClassDef) and node.name in self.around:
                return self.around[node.name]
            node = self.unit.parents.get(node)
        return None

    def looked_up(self, named: bool) -> Refusal | None:
        """Why a call that names its ops cannot lose that name."""
        if (
            named
            and _may_hold(self.unit, LOOKING_UP)
            and any(_last(n) in LOOKING_UP for n in self.unit.parents)
        ):
            return Refusal(
                "it names its ops, and the file looks ops up by name; a tape names its own",
                "Keep the gradient in a variable instead of looking it up.",
            )
        return None

    def unseen(self, nodes: Iterable[ast.AST]) -> Refusal | None:
        """Why a tape would miss what these nodes run, directly or in functions they call."""
        for root in nodes:
            for node in walk(root):
                name = _last(node)
                if name is None:
                    refusal = self._call(node) if isinstance(node, ast.Call) else None
                    if refusal is not None:
                        return refusal
                    continue
                if name in _UNSEEN and self._is_meant(name, node):
                    return _UNSEEN[name]
                if name in _IN_LIBRARIES and (refusal := self.of_library(node)) is not None:
                    return refusal
                if isinstance(node, ast.Attribute) and name in _KERAS_ENDS and self._is_keras(node):
                    return _KERAS
                if name in self.tainted:
                    return self.tainted[name]
                if name in self.objects and is_used_whole(self.unit, node):
                    return self.objects[name]
                if name in self.methods and isinstance(node, ast.Attribute):
                    if may_be_of(self.unit, node, self._makes):
                        return _of_object(node, self.methods[name])
                if (refusal := self._handed_in(node, name)) is not None:
                    return refusal
                if self.foreign is not None and isinstance(node, ast.expr):
                    refusal = self.foreign(node)
                    if refusal is not None and not refusal.gathers:
                        return refusal
        return None

    def _makes(self, maker: ast.expr) -> bool:
        """Whether what ``maker`` gives may have such a method."""
        foreign = self.foreign(maker) if self.foreign is not None else None
        return _last(maker) in self.tainted or (foreign is not None and not foreign.gathers)

    def _handed_in(self, node: ast.AST, name: str) -> Refusal | None:
        """Why a tape would miss what is handed in, if the node calls it, or its method."""
        methods = self.given.methods
        if name in methods and isinstance(node, ast.Attribute):
            if last_name(node.value) in self.given.objects:
                return _of_object(node, methods[name])
        refusal = self.given.called.get(name)
        if refusal is None or not is_called(self.unit, node):
            return None
        what = f"`{ast.unparse(node)}` may be what a caller hands in: {refusal.reason}"
        return replace(refusal, reason=what)

    def walks_graph(self) -> bool:
        """Whether anything in the file looks tensors up in the graph."""
        return _may_hold(self.unit, WALKING)

    def walked(self, values: Iterable[ast.AST]) -> Refusal | None:
        """Whether the values come out of the graph, which may hold what was made of a source."""
        return _BY_NAME if any(self.unseen([v]) is _BY_NAME for v in values) else None

    def symbolic(self, values: Iterable[ast.expr]) -> Refusal | None:
        """Whether one of the values is an input of Keras, which is no tensor."""
        calls = (n for value in values for n in walk(value) if isinstance(n, ast.Call))
        found = any(_last(n.func) == "Input" and self._is_meant("Input", n.func) for n in calls)
        return _KERAS if found else None

    def collected(self, nodes: Iterable[ast.AST]) -> str:
        """What these nodes read out of a graph collection, in words; empty for nothing."""
        if self.collections is None:
            self.collections = Collected(self.unit, self.foreign)
        return self.collections.read_by(nodes)

    def made_by_hand(self, node: ast.AST) -> Refusal | None:
        """Why a tape would miss what ``node`` runs, wherever the tape opens."""
        if isinstance(node, ast.FunctionDef):
            return _DEFUN if any(map(_is_defun, node.decorator_list)) else None
        if isinstance(node, ast.Call):
            if _is_defun(node):
                return _DEFUN
            if not self.unit.once(_may_make_ops):
                return None
            return _RAW_OPS if self._call(node) is _RAW_OPS else None
        word = _last(node) or ""
        if _UNSEEN.get(word) is _RAW_OPS and self._is_meant(word, node):
            return _RAW_OPS
        if (rewired := rewires(self.unit, node, "it")) is not None:
            return rewired
        changed = _overriding(self.unit, node)
        if changed is not None:
            return Refusal(f"it {_CHANGED[changed]}", _OVERRIDING)
        return self.of_library(node) or _SPREADING.get(word)

    def of_library(self, node: ast.AST) -> Refusal | None:
        """Why a tape would miss what ``node`` runs, if it is such a function of a library."""
        if not isinstance(node, ast.Name | ast.Attribute):
            return None
        path = self.unit.names.qualified(node) or ""
        does = _done_by(path)
        return None if does is None else Refusal(f"it uses `{path}`, {does}", _OVERRIDING)

    def by_hand(self, nodes: Iterable[ast.AST]) -> Refusal | None:
        """Why a tape would miss what functions of other files run for these nodes."""
        for root in nodes if self.foreign is not None else ():
            for node in walk(root):
                if isinstance(node, ast.Name | ast.Attribute):
                    refusal = self.foreign(node) if self.foreign is not None else None
                    if refusal is not None and not refusal.gathers:
                        return refusal
        return None

    def _call(self, call: ast.Call) -> Refusal | None:
        path = self.unit.names.qualified(call.func) or ""
        name = short(path) or ""
        if path == _HUB_MODULE or name.startswith("saved_model.load"):
            return _RAW_OPS
        if path.startswith("tensorflow.") and path.endswith(".Operation"):
            return _RAW_OPS
        return None

    def _is_meant(self, name: str, node: ast.AST) -> bool:
        if name == "Input":
            path = self.unit.names.qualified(node) if isinstance(node, ast.expr) else None
            return path is not None and "keras" in path
        if name == "NodeDef":
            # ``isinstance(op, tf.NodeDef)``, as functions for ``tf.device`` ask, makes none.
            parent = self.unit.parents.get(node)
            return isinstance(parent, ast.Call) and parent.func is node
        return name != "total_loss" or self._is_keras_file()

    def _is_keras_file(self) -> bool:
        if self.keras is None:
            references = self.unit.names.references()
            self.keras = any("keras" in path.split(".") for _, path in references)
        return self.keras

    def _is_keras(self, node: ast.Attribute) -> bool:
        if isinstance(node.value, ast.Name) and node.value.id == "self":
            return False
        return self._is_keras_file()

    def _in_defun(self, request: Request) -> bool:
        node: ast.AST | None = request.call
        while node is not None:
            if isinstance(node, ast.FunctionDef):
                if any(map(_is_defun, node.decorator_list)) or node.name in self._wrapped():
                    return True
            node = self.unit.parents.get(node)
        return False

    def _wrapped(self) -> frozenset[str]:
        """The functions that are given to a ``Defun(…)`` by name."""
        calls = self.unit.nodes(ast.Call)
        wraps = [n for n in calls if isinstance(n.func, ast.Call) and _is_defun(n.func)]
        return frozenset(a.id for n in wraps for a in n.args if isinstance(a, ast.Name))

    def ops(self) -> list[Op]:
        """The switches that turn on what a tape needs in a file that turned TensorFlow 2 off."""
        found: list[Op] = []
        for stmt in self.switches:
            assert isinstance(stmt, ast.Expr)
            assert isinstance(stmt.value, ast.Call)
            owner = ast.unparse(stmt.value.func).rsplit(".", 1)[0]
            code = "\n".join(
                f"{owner}.{name}()"
                for name in ("enable_resource_variables", "enable_control_flow_v2")
                if not self._calls(name)
            )
            if code:
                found.append(Insert(self.unit.lines.span(stmt), "after", code))
        return found

    def _calls(self, name: str) -> bool:
        return any((short(path) or "") == name for _, path in self.unit.names.references())


_NAMES: frozenset[type[ast.AST]] = frozenset({ast.Attribute, ast.Name})
# What of them tells something, and is not looked up as such.
_TOLD = frozenset({*_IMPORTING, *_CHANGED, *_WHOLE_FILE, *REWIRING, "gradients", "hessians"})
_TELLING: frozenset[type[ast.AST]] = frozenset(
    {
        ast.Attribute,
        ast.Name,
        ast.Subscript,
        ast.Call,
        ast.keyword,
        ast.Expr,
        ast.FunctionDef,
    }
)


def hazards(
    unit: Unit,
    foreign: Foreign | None = None,
    methods: Mapping[str, Refusal] | None = None,
    given: Handed | None = None,
    around: Mapping[str, Refusal] | None = None,
) -> Hazards:
    """What ``unit`` holds that a tape cannot see or that it needs to be turned on."""
    whole: Refusal | None = None
    imports: Refusal | None = None
    defuns = False
    switches: list[ast.stmt] = []
    telling = _TELLING | ({ast.Constant} if _OP_TYPE in unit.text else set())
    for node in unit.parents:
        cls = node.__class__
        if cls not in telling or (cls in _NAMES and _last(node) not in _TOLD):
            continue
        if _replaces(unit, node):
            whole = whole or _REPLACED
        if isinstance(node, ast.Attribute | ast.Name) and _last(node) in _IMPORTING:
            imports = _IMPORTS
        elif (word := _overriding(unit, node)) is not None:
            whole = whole or Refusal(f"the file {_CHANGED[word]}", _OVERRIDING)
        elif (rewired := rewires(unit, node, "the file")) is not None:
            whole = whole or rewired
        elif isinstance(node, ast.Attribute) and node.attr in _WHOLE_FILE:
            whole = whole or _WHOLE_FILE[node.attr]
        elif isinstance(node, ast.keyword):
            value = node.value
            constant = value.value if isinstance(value, ast.Constant) else value
            if node.arg == "caching_device" and constant is not None:
                whole = whole or _WHOLE_FILE["caching_device"]
            if node.arg == "use_resource" and constant is False:
                whole = whole or _WHOLE_FILE["use_resource"]
        elif isinstance(node, ast.FunctionDef):
            defuns |= any(map(_is_defun, node.decorator_list))
        elif isinstance(node, ast.Call):
            defuns |= _is_defun(node)
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            if short(unit.names.qualified(node.value.func)) == "disable_v2_behavior":
                if isinstance(node.value.func, ast.Attribute):
                    switches.append(node)
    whole = whole or _by_library(unit)
    switches.sort(key=lambda s: s.lineno)
    found = Hazards(
        unit,
        whole,
        defuns,
        switches,
        {},
        foreign,
        imports=imports,
        methods=methods or {},
        given=given or Handed(),
        around=around or {},
    )
    _taint(found)
    return found


def opens(node: ast.AST) -> Refusal | None:
    """What is to say of what runs where a node of this kind stands in a ``with`` statement."""
    if isinstance(node, ast.keyword):
        is_none = isinstance(node.value, ast.Constant) and node.value.value is None
        return None if is_none or node.arg == _OVERRIDE else UNDER.get(node.arg or "")
    return UNDER[_OVERRIDE] if _last(node) == _OVERRIDE else None


def _giving(here: Hazards, call: ast.Call) -> Refusal | None:
    """Why a tape would miss what a function runs that ``call`` makes."""
    return _DEFUN if _is_defun(call) else here.of_library(call.func)


def _by_library(unit: Unit) -> Refusal | None:
    """Whether the file has a library give ops another gradient."""
    if not _may_hold(unit, _IN_LIBRARIES):
        return None
    for _, path in unit.names.references():
        if _done_by(path) == _RUNS_OVERRIDDEN:
            return Refusal(f"the file uses `{path}`, {_RUNS_OVERRIDDEN}", _OVERRIDING)
    return None


def _done_by(path: str) -> str | None:
    """What the function of a library does that no tape sees, if ``path`` means such a one."""
    library, does = _IN_LIBRARIES.get(path.rpartition(".")[2], (path, None))
    return does if path.startswith(library) else None


def _overriding(unit: Unit, node: ast.AST) -> str | None:
    """By which word the node gives ops another gradient, where no public function does."""
    if isinstance(node, ast.Constant) and node.value == _OP_TYPE:
        parent = unit.parents.get(node)
        is_read = isinstance(parent, ast.Compare) or (
            isinstance(parent, ast.Call) and _last(parent.func) == "get_attr"
        )
        return None if is_read else _OP_TYPE
    if not isinstance(node, ast.Attribute):
        return None
    if node.attr in ("_gradient_registry", "gradient_registry"):
        parent = unit.parents.get(node)
        if isinstance(parent, ast.Attribute):
            parent = unit.parents.get(parent) if parent.attr == "_registry" else None
        # Whether it holds a name is asked, ``lookup`` is called: nothing changes.
        return None if parent is None or isinstance(parent, ast.Compare) else node.attr
    return "_gradient_override_map" if node.attr == "_gradient_override_map" else None


def _taint(found: Hazards) -> None:
    """Names the functions and classes that run such things, through each other as well."""
    if found.foreign is None and not _may_hold(found.unit, _TAINTING):
        return
    found.tainted |= dict.fromkeys(_modules(found.unit), _RAW_OPS)
    pending = found.unit.definitions
    imported = _made_elsewhere(found)
    while True:
        rest = []
        for node in pending:
            around = [*node.decorator_list, *getattr(node, "bases", ())]
            refusal = found.unseen([*node.body, *around])
            if refusal is None or refusal is _KERAS:
                rest.append(node)
            else:
                found.tainted[node.name] = refusal
        before = len(found.objects)
        if found.tainted or imported:
            whose = next(iter({**imported, **found.tainted}.values()))
            names = standing_for(found.unit, found.tainted, frozenset(imported))
            found.objects = dict.fromkeys(names, whose)
        if len(rest) == len(pending) and len(found.objects) == before:
            return
        pending = rest


def _of_object(node: ast.Attribute, refusal: Refusal) -> Refusal:
    reason = f"`{ast.unparse(node)}` may be a method {refusal.reason}"
    return replace(refusal, reason=reason)


def _made_elsewhere(found: Hazards) -> dict[str, Refusal]:
    """The imported names of what gives objects whose methods run such things without a name."""
    if found.foreign is None or not any(map(runs_unnamed, found.methods)):
        return {}
    references = [node for node, _ in found.unit.names.references()]
    asked = [(_last(node) or "", found.foreign(node)) for node in references]
    return {name: each for name, each in asked if each is not None and not each.gathers}


def _modules(unit: Unit) -> Iterator[str]:
    """The names of modules from the hub, which import a graph wherever they are called."""
    for node in unit.nodes(ast.Assign) if "tensorflow_hub" in unit.text else ():
        value = node.value
        if isinstance(value, ast.Call) and unit.names.qualified(value.func) == _HUB_MODULE:
            yield from filter(None, map(_last, node.targets))


def _may_make_ops(unit: Unit) -> bool:
    """Whether a call may be one for which ``_call`` gives ``_RAW_OPS``."""
    return _may_hold(unit, _MAKING_OPS)


def _may_hold(unit: Unit, words: Iterable[str]) -> bool:
    return any(word in unit.text for word in words)


def hidden(unit: Unit) -> dict[str, Refusal]:
    """The functions and classes that ``unit`` has for others and that run what no tape records."""
    here = Hazards(unit, None, False, [], {})
    found: dict[str, Refusal] = {}
    defined = [
        top for top in top_level(unit.tree) if isinstance(top, ast.FunctionDef | ast.ClassDef)
    ]
    for top in defined if _may_hold(unit, _BY_HAND) else ():
        for node in walk(top):
            refusal = here.made_by_hand(node)
            if refusal is not None:
                found[top.name] = refusal
    for stmt in top_level(unit.tree) if _may_hold(unit, ("Defun", *_IN_LIBRARIES)) else ():
        if not isinstance(stmt, ast.Assign):
            continue
        refusal = next(filter(None, (_giving(here, call) for call in _calls_in(stmt))), None)
        if refusal is not None:
            found |= dict.fromkeys((t.id for t in stmt.targets if isinstance(t, ast.Name)), refusal)
    tops = {top.name for top in defined}
    asking = dict.fromkeys(sorted(Collected(unit, None).readers() & tops), COLLECTED)
    return asking | with_users(found, uses_of_own(unit) if found else {})


def hidden_methods(unit: Unit) -> dict[str, Refusal]:
    """The methods of ``unit`` that run what no tape records, through each other as well."""
    here = Hazards(unit, None, False, [], {})
    found: dict[str, Refusal] = {}
    names = methods_of(unit) if _may_hold(unit, _BY_HAND) else frozenset()
    for function in unit.definitions if names else ():
        if isinstance(function, ast.FunctionDef):
            refusals = (here.made_by_hand(node) for node in walk(function))
            if (refusal := next(filter(None, refusals), None)) is not None:
                found[function.name] = refusal
    users = with_users(found, named_in(unit)) if found else {}
    return {name: each for name, each in users.items() if name in names}


def uses_of_own(unit: Unit) -> dict[str, frozenset[str]]:
    """Of each function, class and value of ``unit`` what of the module's own it names."""
    tops: list[tuple[str, ast.AST]] = []
    for stmt in top_level(unit.tree):
        if isinstance(stmt, ast.FunctionDef | ast.ClassDef):
            tops.append((stmt.name, stmt))
        elif isinstance(stmt, ast.Assign):
            tops += [(t.id, stmt.value) for t in stmt.targets if isinstance(t, ast.Name)]
    names = {name for name, _ in tops}
    used: dict[str, frozenset[str]] = {}
    for name, top in tops:
        here = frozenset(n.id for n in walk(top) if isinstance(n, ast.Name) and n.id in names)
        used[name] = used.get(name, frozenset()) | here
    return used


def with_users(found: dict[str, Refusal], uses: Mapping[str, frozenset[str]]) -> dict[str, Refusal]:
    """``found``, functions and classes of a file, with those that use them, and so on."""
    found = dict(found)
    pending = list(found)
    while pending:
        name = pending.pop()
        for user in [u for u, names in uses.items() if name in names and u not in found]:
            found[user] = found[name]
            pending.append(user)
    return found


def _last(node: Any) -> str | None:
    cls = node.__class__
    if cls is ast.Name:
        return node.id  # type: ignore[no-any-return]  # it is a name's
    return node.attr if cls is ast.Attribute else None


def _replaces(unit: Unit, node: ast.AST) -> bool:
    """Whether a gradient function of TensorFlow is replaced: by assignment, or by a mock."""
    if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
        return node.attr in ("gradients", "hessians") and (
            unit.names.qualified(node) or ""
        ).startswith("tensorflow")
    if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store):
        key = node.slice.value if isinstance(node.slice, ast.Constant) else None
        return key in _PATCHED and _last(node.value) == "__dict__"
    if isinstance(node, ast.Call) and _last(node.func) in ("object", "patch", "setattr"):
        return any(isinstance(a, ast.Constant) and a.value in _PATCHED for a in node.args)
    return False


_PATCHED = ("gradients", "hessians", "tensorflow.gradients", "tensorflow.compat.v1.gradients")
_REPLACED = Refusal(
    "the file replaces the gradient function by another one, so what the call means is not fixed",
    "Remove the replacement first.",
)


def _calls_in(stmt: ast.stmt) -> Iterator[ast.Call]:
    return (node for node in walk(stmt) if isinstance(node, ast.Call))


def _is_defun(node: ast.expr) -> bool:
    target = node.func if isinstance(node, ast.Call) else node
    name = target.attr if isinstance(target, ast.Attribute) else getattr(target, "id", "")
    return name == "Defun"
