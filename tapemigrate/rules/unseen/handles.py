"""What finds the handle of a resource variable, or another op, where it found a variable's value.

A fix that turns resource variables on turns them on for the whole program, and code that has
nothing to do with the gradient may notice: of a resource variable, ``w:0`` is a handle, a feed of
it reaches no read, and each read is another tensor
(``tensorflow/python/ops/resource_variable_ops.py``).
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Set

from tapemigrate.patterns import late
from tapemigrate.rules.callgraph.places import place_of
from tapemigrate.rules.finding import Unit
from tapemigrate.rules.project import Project
from tapemigrate.rules.unseen.bindings import with_second_names
from tapemigrate.rules.unseen.keeping_branches import branches_that_keep
from tapemigrate.rules.unseen.old_variables import MAKING
from tapemigrate.rules.unseen.standing_for import Standing
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


def told_of_old_variables(project: Project, unit: Unit, program: Set[str]) -> list[str]:
    """What is assumed of code that would find something else where variables are of the new kind.

    Of what runs in one ``program`` with ``unit``.
    """
    found_in = project.units.having(*_TELLING, *_GIVING)
    homes = [home for home in found_in if home is unit or home.filename in program]
    names = Standing(homes)
    ops = frozenset[str]().union(*(home.once(_names_of_ops) for home in homes))
    found: dict[str, None] = {}
    for home in homes:
        for branch in branches_that_keep(home):
            shown = f"`{_named(branch)}` in {place_of(unit, home, branch)}"
            found[f"nothing that {shown} makes is used outside of it: {_BRANCH}"] = None
        running = with_second_names(home, _RUNNING)
        for call in home.nodes(ast.Call):
            place = place_of(unit, home, call)
            shown = f"`{ast.unparse(call.func)}(…)` in {place}"
            name = last_of(call.func) or ""
            if name in _LOOKING_UP and not all(_are_of_ops(a, ops) for a in arguments_of(call)[:1]):
                found[f"{shown} finds no variable: {_HANDLE}"] = None
            elif name in _ASKING and _asks_for_class(names, home, call):
                shown = f"`{ast.unparse(call)}` in {place}"
                found[f"{_NOTHING} {shown}, which is False of a resource variable"] = None
            elif name in running and _is_of_object(home, call):
                if any(_is_name(names, home, each) for each in _fetched(call)):
                    found[f"{shown} fetches no variable by its name: {_HANDLE}"] = None
                for fed, is_dict in _fed(names, home, call, ops):
                    told = f"`{ast.unparse(fed)}`, fed in {place}, {_IS_NONE[is_dict]}"
                    found[f"{told}: no resource variable can be fed"] = None
            elif name in _OLD_PARTS and _reads_anew(names, home, call):
                what = f"`{ast.unparse(call)}` in {place}"
                found[f"{_NOTHING} {what}, which is another tensor each time"] = None
        for stmt in home.nodes(ast.AugAssign):
            if _holds_variable(names.itself(home, stmt.target), MAKING.__contains__):
                shown = f"`{ast.unparse(stmt)}` in {place_of(unit, home, stmt)}"
                found[f"{shown} is of no variable: of a resource variable it raises"] = None
        for part in home.nodes(ast.Attribute):
            if part.attr in _OF_OPS and last_of(part.value) == "op":
                shown = f"`{ast.unparse(part)}` in {place_of(unit, home, part)}"
                found[f"{shown} is of no variable: {_HANDLE}"] = None
        for node, why in (*_texts(home, ops), *_kinds(names, home)):
            found[f"{_NOTHING} `{ast.unparse(node)}` in {place_of(unit, home, node)}, {why}"] = None
    return list(found)


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
    return made and _may_be_variable(names, unit, call.args[0])


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
    return any(_is_class(names, unit, each) for each in call.args[1:2])


def _is_class(names: Standing, unit: Unit, value: ast.expr) -> bool:
    found = names.behind(unit, value)
    return any(home.names.qualified(node) == _V1_CLASS for home, node in found)


def _fetched(call: ast.Call) -> list[ast.expr]:
    return [*call.args[:1], *(k.value for k in call.keywords if k.arg == "fetches")]


def _is_name(names: Standing, unit: Unit, fetched: ast.expr) -> bool:
    """Whether something may be fetched by its name: ``[v.name for v in found]``."""
    found = names.behind(unit, fetched)
    return any(isinstance(node, ast.Attribute) and node.attr == "name" for _, node in found)


def _fed(
    names: Standing, unit: Unit, call: ast.Call, ops: Set[str]
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
            behind = names.behind(home, key)
            if is_dict or not all(_is_no_variable(*each, ops) for each in behind):
                yield key, is_dict


def _is_no_variable(unit: Unit, node: ast.expr, ops: Set[str]) -> bool:
    if isinstance(node, ast.Constant):
        return not isinstance(node.value, str) or _are_of_ops(node, ops)
    if not isinstance(node, ast.Call):
        return False
    name = last_of(node.func) or ""
    if name in _LOOKING_UP:
        return all(_are_of_ops(arg, ops) for arg in arguments_of(node)[:1])
    made = short(unit.names.qualified(node.func))
    return made is not None and not _gives_variables(name)


def _gives_variables(name: str) -> bool:
    return name in MAKING or name.endswith("_variables")


def _may_be_variable(names: Standing, unit: Unit, node: ast.expr) -> bool:
    """Whether the program shows it to be one, or one of several."""
    return _holds_variable(names.behind(unit, node))


def _holds_variable(
    found: Iterable[tuple[Unit, ast.expr]], gives: Callable[[str], bool] = _gives_variables
) -> bool:
    return any(
        isinstance(node, ast.Call)
        and short(home.names.qualified(node.func)) is not None
        and gives(last_of(node.func) or "")
        for home, node in found
    )


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
            if _is_class(names, unit, side):
                yield compared, "which is False of a resource variable"
            elif isinstance(side, ast.Attribute) and side.attr == "dtype":
                if _may_be_variable(names, unit, side.value):
                    yield compared, "which was False of a variable of the old kind"
    for part in unit.nodes(ast.Attribute):
        if part.attr in _OLD_MARKS:
            yield part, "which variables of the old kind alone have"
        elif part.attr == "name" and isinstance(of := part.value, ast.Attribute):
            if of.attr == "dtype" and _may_be_variable(names, unit, of.value):
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
