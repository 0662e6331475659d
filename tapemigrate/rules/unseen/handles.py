"""What finds the handle of a resource variable, or another op, where it found a variable's value.

A fix that turns resource variables on turns them on for the whole program, and code that has
nothing to do with the gradient may notice: of a resource variable, ``w:0`` is a handle, a feed of
it reaches no read, and each read is another tensor
(``tensorflow/python/ops/resource_variable_ops.py``).
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence, Set
from dataclasses import dataclass
from functools import partial

from tapemigrate.patterns import late
from tapemigrate.rules.callgraph.places import place_of
from tapemigrate.rules.finding import Unit
from tapemigrate.rules.project import Project
from tapemigrate.rules.unseen.bindings import with_second_names
from tapemigrate.rules.unseen.keeping_branches import branches_that_keep
from tapemigrate.rules.unseen.old_variables import MAKING
from tapemigrate.rules.unseen.standing_for import Holds, Standing
from tapemigrate.rules.unseen.words import last_of
from tapemigrate.source.trees import arguments_of
from tapemigrate.tape.ops.symbols import short

_LOOKING_UP = frozenset({"get_tensor_by_name", "get_operation_by_name", "as_graph_element"})
_RUNNING = frozenset({"run", "partial_run", "partial_run_setup", "eval", "make_callable"})
_FED = frozenset({"feed_dict", "feed_list", "feeds"})
_ASKING = frozenset({"isinstance", "issubclass"})
_V1_CLASS = "tensorflow.compat.v1.Variable"
# What a variable of the old kind has, or gives, that is another thing of the new one.
_OLD_PARTS = frozenset({"_ref", "value", "convert_to_tensor"})
_OLD_MARKS = frozenset({"_snapshot", "_is_ref_dtype"})
_OF_OPS = frozenset({"outputs", "inputs"})
_WORDS = ("dtype", "type", "VariableV2", "RefVariable", "cond", "while_loop", "case")
_TELLING = (*_LOOKING_UP, *_RUNNING, *_OLD_PARTS, *_OLD_MARKS, *_OF_OPS, *_ASKING, *_WORDS)
_GIVING = (*MAKING, "placeholder", "placeholder_with_default")
_HANDLE = "of a resource variable that gives the handle"
# ``w:0`` and ``{}/read:0``, and no device or address.
_OUTPUT = late(r"(?!.*(?:pu|job|task|device|localhost|\.\d+):)[\w./{}%()-]*:\d{1,2}")
_OLD_OPS = late(r"(Ref)?Variable|Assign|Switch|Merge|Enter|Exit|NextIteration|LoopCond")
_BRANCH = "with `enable_control_flow_v2()` it has a graph of its own"
_IS_NONE = ("is no variable", "has none among its keys")
_NOTHING = "nothing depends on"


def told_of_old_variables(project: Project, unit: Unit, program: Set[str]) -> Iterator[str]:
    """What is assumed of code that would find something else where variables are of the new kind.

    Of what runs in one ``program`` with ``unit``; each once.
    """
    found_in = project.units.having(*_TELLING, *_GIVING)
    homes = [home for home in found_in if home is unit or home.filename in program]
    found: set[str] = set()
    for told in _told(project.once(_Programs).of(homes), homes, unit):
        if told not in found:
            found.add(told)
            yield told


@dataclass(frozen=True, slots=True)
class _Program:
    """What its ``names`` stand for, those of its ``ops``, and what ``may_be_one`` of variables."""

    names: Standing
    ops: frozenset[str]
    may_be_one: Holds


class _Programs:
    """What is known of programs: one file of theirs after the other asks for it."""

    def __init__(self, project: Project) -> None:
        self._known: dict[frozenset[str], _Program] = {}

    def of(self, homes: Sequence[Unit]) -> _Program:
        """The same of the program of these files."""
        key = frozenset(home.filename for home in homes)
        if key not in self._known:
            ops = frozenset[str]().union(*(home.once(_names_of_ops) for home in homes))
            may_be_one = partial(_may_be_one, ops=ops)
            self._known[key] = _Program(Standing(homes), ops, may_be_one)
        return self._known[key]


def _told(program: _Program, homes: Sequence[Unit], unit: Unit) -> Iterator[str]:
    names, ops = program.names, program.ops
    for home in homes:
        for branch in branches_that_keep(home):
            shown = f"`{_named(branch)}` in {place_of(unit, home, branch)}"
            yield f"nothing that {shown} makes is used outside of it: {_BRANCH}"
        running = with_second_names(home, _RUNNING)
        for call in home.nodes(ast.Call):
            name = last_of(call.func) or ""
            if name in _LOOKING_UP and not all(_are_of_ops(a, ops) for a in arguments_of(call)[:1]):
                shown = f"`{ast.unparse(call.func)}(…)` in {place_of(unit, home, call)}"
                yield f"{shown} finds no variable: {_HANDLE}"
            elif name in _ASKING and _asks_for_class(names, home, call):
                shown = f"`{ast.unparse(call)}` in {place_of(unit, home, call)}"
                yield f"{_NOTHING} {shown}, which is False of a resource variable"
            elif name in running and _is_of_object(home, call):
                place = place_of(unit, home, call)
                if any(names.may_be(home, each, _is_name) for each in _fetched(call)):
                    shown = f"`{ast.unparse(call.func)}(…)` in {place}"
                    yield f"{shown} fetches no variable by its name: {_HANDLE}"
                for fed, is_dict in _fed(names, home, call, program.may_be_one):
                    told = f"`{ast.unparse(fed)}`, fed in {place}, {_IS_NONE[is_dict]}"
                    yield f"{told}: no resource variable can be fed"
            elif name in _OLD_PARTS and _reads_anew(names, home, call):
                what = f"`{ast.unparse(call)}` in {place_of(unit, home, call)}"
                yield f"{_NOTHING} {what}, which is another tensor each time"
        for stmt in home.nodes(ast.AugAssign):
            found_behind = names.itself(home, stmt.target)
            if any(_is_made(*each, MAKING.__contains__) for each in found_behind):
                shown = f"`{ast.unparse(stmt)}` in {place_of(unit, home, stmt)}"
                yield f"{shown} is of no variable: of a resource variable it raises"
        for part in home.nodes(ast.Attribute):
            if part.attr in _OF_OPS and last_of(part.value) == "op":
                shown = f"`{ast.unparse(part)}` in {place_of(unit, home, part)}"
                yield f"{shown} is of no variable: {_HANDLE}"
        for node, why in (*_texts(home, ops), *_kinds(names, home)):
            yield f"{_NOTHING} `{ast.unparse(node)}` in {place_of(unit, home, node)}, {why}"


def _named(branch: ast.FunctionDef | ast.Lambda) -> str:
    return branch.name if isinstance(branch, ast.FunctionDef) else ast.unparse(branch)


def _is_of_object(unit: Unit, call: ast.Call) -> bool:
    """Whether it may be a method of some object, and no function of a module: ``os.run``."""
    return unit.names.qualified(call.func) is None


def _reads_anew(names: Standing, unit: Unit, call: ast.Call) -> bool:
    """Whether it gave the one tensor of a variable: ``w.value()``, ``tf.convert_to_tensor(w)``."""
    if not call.args:
        return _is_of_object(unit, call)
    made = short(unit.names.qualified(call.func)) is not None
    return made and names.may_be(unit, call.args[0], _is_variable)


def _names_of_ops(unit: Unit) -> frozenset[str]:
    """The names that the file gives ops other than variables: ``tf.placeholder(…, name="x")``."""
    calls = (c for c in unit.nodes(ast.Call) if short(unit.names.qualified(c.func)) is not None)
    keywords = (k for c in calls if last_of(c.func) not in MAKING for k in c.keywords)
    values = (k.value for k in keywords if k.arg == "name")
    texts = (v.value for v in values if isinstance(v, ast.Constant))
    return frozenset(text for text in texts if isinstance(text, str))


def _are_of_ops(node: ast.expr, names: Set[str]) -> bool:
    """Whether it is the text of such a name: ``"model/x:0"``."""
    text = node.value if isinstance(node, ast.Constant) else None
    return isinstance(text, str) and text.partition(":")[0].rpartition("/")[2] in names


def _asks_for_class(names: Standing, unit: Unit, call: ast.Call) -> bool:
    """Whether it asks for the class that reference variables alone have."""
    return any(names.may_be(unit, each, _is_class) for each in call.args[1:2])


def _is_class(unit: Unit, node: ast.expr) -> bool:
    return unit.names.qualified(node) == _V1_CLASS


def _fetched(call: ast.Call) -> list[ast.expr]:
    return [*call.args[:1], *(k.value for k in call.keywords if k.arg == "fetches")]


def _is_name(unit: Unit, node: ast.expr) -> bool:
    """Whether it is the name of something: ``v.name``."""
    return isinstance(node, ast.Attribute) and node.attr == "name"


def _fed(
    names: Standing, unit: Unit, call: ast.Call, may_be_one: Holds
) -> Iterator[tuple[ast.expr, bool]]:
    """What a run is fed that may be a variable, or is not known to be none, or holds them."""
    given = [k.value for k in call.keywords if k.arg in _FED]
    given += call.args[:1] if last_of(call.func) == "eval" else call.args[1:2]
    for value in given:
        if isinstance(value, ast.List | ast.Tuple):
            keys = [(unit, each, False) for each in value.elts]
        else:
            keys = list(names.keys_of(unit, value))
        for home, key, is_dict in keys:
            if is_dict or names.may_be(home, key, may_be_one):
                yield key, is_dict


def _may_be_one(unit: Unit, node: ast.expr, ops: Set[str]) -> bool:
    """Whether it is not known to be no variable. ``ops`` are names of others."""
    if isinstance(node, ast.Constant):
        return isinstance(node.value, str) and not _are_of_ops(node, ops)
    if not isinstance(node, ast.Call):
        return True
    name = last_of(node.func) or ""
    if name in _LOOKING_UP:
        return not all(_are_of_ops(arg, ops) for arg in arguments_of(node)[:1])
    made = short(unit.names.qualified(node.func))
    return made is None or _gives_variables(name)


def _gives_variables(name: str) -> bool:
    return name in MAKING or name.endswith("_variables")


def _is_variable(unit: Unit, node: ast.expr) -> bool:
    """Whether the program shows it to be one, or one of several."""
    return _is_made(unit, node, _gives_variables)


def _is_made(unit: Unit, node: ast.expr, gives: Callable[[str], bool]) -> bool:
    if not isinstance(node, ast.Call) or short(unit.names.qualified(node.func)) is None:
        return False
    return gives(last_of(node.func) or "")


def _texts(unit: Unit, ops: Set[str]) -> Iterator[tuple[ast.expr, str]]:
    """What may be put together to the name of a variable's output: ``"{}:0".format(name)``."""
    for node in unit.nodes(ast.Constant):
        text = node.value
        if not isinstance(text, str):
            continue
        if text.endswith("/read") or (_OUTPUT.fullmatch(text) and not _are_of_ops(node, ops)):
            yield node, f"if that names a variable: {_HANDLE}"


def _kinds(names: Standing, unit: Unit) -> Iterator[tuple[ast.expr, str]]:
    """What asks for the type of a variable, or of an op that old variables alone have."""
    for compared in unit.nodes(ast.Compare):
        for side in (compared.left, *compared.comparators):
            if names.may_be(unit, side, _is_class):
                yield compared, "which is False of a resource variable"
            elif isinstance(side, ast.Attribute) and side.attr == "dtype":
                if names.may_be(unit, side.value, _is_variable):
                    yield compared, "which was False of a variable of the old kind"
    for part in unit.nodes(ast.Attribute):
        if part.attr in _OLD_MARKS:
            yield part, "which variables of the old kind alone have"
        elif part.attr == "name" and isinstance(of := part.value, ast.Attribute):
            if of.attr == "dtype" and names.may_be(unit, of.value, _is_variable):
                yield part, "which was another one of a variable of the old kind"
    for node in unit.nodes(ast.Constant):
        if isinstance(node.value, str) and _OLD_OPS.match(node.value) and _is_of_type(unit, node):
            yield node, "as ops of other types take the place of those"


def _is_of_type(unit: Unit, node: ast.Constant) -> bool:
    """Whether a text is held against the type of an op, as it seems."""
    if node.value in ("VariableV2", "RefVariable"):
        return True
    above = unit.parents.get(node)
    while isinstance(above, ast.expr) and not isinstance(above, ast.Compare | ast.Call):
        above = unit.parents.get(above)
    parts = ast.walk(above) if isinstance(above, ast.expr) else ()
    return any(isinstance(each, ast.Attribute) and each.attr == "type" for each in parts)
