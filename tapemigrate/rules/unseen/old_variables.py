"""What programs do with variables of the old kind that resource variables do not, or otherwise.

``disable_v2_behavior()`` has a program make reference variables, which no tape sees. A fix turns
resource variables on again, and code that has nothing to do with the gradient may notice: of a
resource variable, ``w:0`` is a handle (``tensorflow/python/ops/resource_variable_ops.py``).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Set

from tapemigrate.flow.paths import Path, path_of
from tapemigrate.rules.callgraph.places import place_of
from tapemigrate.rules.finding import Unit
from tapemigrate.rules.indexes import values_by_path
from tapemigrate.rules.project import Project
from tapemigrate.rules.unseen.words import last_of
from tapemigrate.source.trees import arguments_of, walk
from tapemigrate.tape.ops.symbols import short
from tapemigrate.tape.request import Refusal

_CHANGEABLE = "TensorShape(None)"
# What only variables of the old kind do, and what to write in its place.
_RAISING = {
    "initialized_value": "Take `initial_value` of the variable in its place",
    "assign": f"Make the variable with `shape=tf.{_CHANGEABLE}`",
}
_APPLYING = ("_apply_dense", "_apply_sparse")
_NEW_KIND = "resource variables that a tape needs, and that `disable_v2_behavior()` turns off"
_LOOKING_UP = frozenset({"get_tensor_by_name", "get_operation_by_name", "as_graph_element"})
_RUNNING = frozenset({"run", "partial_run", "eval"})
_MAKING = frozenset({"Variable", "get_variable"})
_V1_CLASS = "tensorflow.compat.v1.Variable"
_OP_TYPE = "VariableV2"
_HANDLE = "of a resource variable that gives the handle"


def asks_for_old_variables(project: Project, unit: Unit, program: Set[str]) -> Refusal | None:
    """Why variables have to be of the old kind where ``unit`` runs: of the new one, it raises."""
    for home in project.units.having(*_RAISING, *_MAKING, *_APPLYING):
        if home is unit or home.filename in program:
            for node, raises, mend in (*_optimizers(home), *_statements(home), *_calls(home)):
                return Refusal(
                    f"{raises} in {place_of(unit, home, node)} raises for the {_NEW_KIND}",
                    f"{mend}, and run this again.",
                )
    return None


_Raising = tuple[ast.AST, str, str]


def _optimizers(unit: Unit) -> Iterator[_Raising]:
    for cls in unit.nodes(ast.ClassDef):
        methods = {getattr(stmt, "name", "") for stmt in cls.body}
        for name in _APPLYING:
            if name in methods and f"_resource{name}" not in methods:
                yield cls, f"`{cls.name}.apply_gradients`", f"Give it a `_resource{name}`"


def _statements(unit: Unit) -> Iterator[_Raising]:
    """``v += 1``, which makes a new tensor of a variable of the old kind."""
    for stmt in unit.nodes(ast.AugAssign):
        if _is_variable(unit, stmt.target):
            name = ast.unparse(stmt.target)
            yield stmt, f"`{ast.unparse(stmt)}`", f"Write `{name} = {name} …` in its place"


def _calls(unit: Unit) -> Iterator[_Raising]:
    for call in unit.nodes(ast.Call):
        name = last_of(call.func) or ""
        if name == "assign":
            settings = {each.arg: each.value for each in call.keywords}
            by_place = call.args[2] if len(call.args) > 2 else None
            checked = getattr(settings.get("validate_shape", by_place), "value", True)
            if checked is False and _CHANGEABLE not in unit.text:
                yield call, "`assign(…, validate_shape=False)`", _RAISING[name]
        elif name in _RAISING:
            yield call, f"`{name}()`", _RAISING[name]


def told_of_old_variables(project: Project, unit: Unit, program: Set[str]) -> list[str]:
    """What is assumed of code that would find something else where variables are of the new kind.

    Of what runs in one ``program`` with ``unit``.
    """
    homes = [
        home
        for home in project.units.having(*_LOOKING_UP, *_RUNNING, "isinstance", _OP_TYPE)
        if home is unit or home.filename in program
    ]
    ops = frozenset[str]().union(*(home.once(_names_of_ops) for home in homes))
    found: dict[str, None] = {}
    for home in homes:
        for call in home.nodes(ast.Call):
            place = place_of(unit, home, call)
            shown = f"`{ast.unparse(call.func)}(…)` in {place}"
            name = last_of(call.func) or ""
            if name in _LOOKING_UP and not all(_are_of_ops(a, ops) for a in arguments_of(call)[:1]):
                found[f"{shown} finds no variable: {_HANDLE}"] = None
            elif name == "isinstance" and _asks_for_class(home, call):
                shown = f"`{ast.unparse(call)}` in {place}"
                found[f"nothing depends on {shown}, which is False of a resource variable"] = None
            elif name in _RUNNING and isinstance(call.func, ast.Attribute):
                fetched = [*call.args[:1], *(k.value for k in call.keywords if k.arg == "fetches")]
                if any(_is_name(home, each, ops) for each in fetched):
                    found[f"{shown} fetches no variable by its name: {_HANDLE}"] = None
                for fed in _fed(home, call, ops):
                    told = f"`{ast.unparse(fed)}`, fed in {place}, is no variable"
                    found[f"{told}: no resource variable can be fed"] = None
        for node in home.nodes(ast.Constant) if _OP_TYPE in home.text else ():
            if node.value == _OP_TYPE:
                shown = f"`{_OP_TYPE}` in {place_of(unit, home, node)}"
                found[f"nothing is looked for by {shown}: resource variables have another op"] = (
                    None
                )
    return list(found)


def _names_of_ops(unit: Unit) -> frozenset[str]:
    """The names that the file gives ops other than variables: ``tf.placeholder(…, name="x")``."""
    calls = (c for c in unit.nodes(ast.Call) if short(unit.names.qualified(c.func)) is not None)
    keywords = (k for c in calls if last_of(c.func) not in _MAKING for k in c.keywords)
    values = (k.value for k in keywords if k.arg == "name")
    texts = (v.value for v in values if isinstance(v, ast.Constant))
    return frozenset(text for text in texts if isinstance(text, str))


def _are_of_ops(node: ast.expr, names: Set[str]) -> bool:
    """Whether it is the text of such a name: ``"model/x:0"``."""
    text = node.value if isinstance(node, ast.Constant) else None
    return isinstance(text, str) and text.partition(":")[0].rpartition("/")[2] in names


def _asks_for_class(unit: Unit, call: ast.Call) -> bool:
    """Whether it asks for the class that reference variables alone have."""
    nodes = (n for n in walk(call) if isinstance(n, ast.Attribute | ast.Name))
    return any(unit.names.qualified(node) == _V1_CLASS for node in nodes)


def _is_name(unit: Unit, fetched: ast.expr, ops: Set[str]) -> bool:
    """Whether something may be fetched by its name: ``"w:0"``, ``[v.name for v in found]``."""
    pending: list[ast.AST] = [fetched]
    seen = set[Path]()
    while pending:
        node = pending.pop()
        if isinstance(node, ast.Call):
            continue
        if isinstance(node, ast.Attribute) and node.attr == "name":
            return True
        if isinstance(node, ast.Constant) and ":" in str(node.value) and not _are_of_ops(node, ops):
            return True
        path = path_of(node) if isinstance(node, ast.Name | ast.Attribute) else None
        if path is not None and path not in seen:
            seen.add(path)
            pending += unit.once(values_by_path).get(path, ())
            pending += unit.once(_put_into).get(path, ())
        pending += ast.iter_child_nodes(node)
    return False


def _fed(unit: Unit, call: ast.Call, ops: Set[str]) -> Iterator[ast.expr]:
    """What a run is fed that may be variables: by their names, or as the file shows them made."""
    given = [k.value for k in call.keywords if k.arg == "feed_dict"]
    known = unit.once(values_by_path)
    for value in [*given, *call.args[:2]]:
        path = path_of(value)
        for each in [value, *(known.get(path, ()) if path is not None else ())]:
            for key in each.keys if isinstance(each, ast.Dict) else ():
                if key is not None and (_is_name(unit, key, ops) or _is_variable(unit, key)):
                    yield key
            if isinstance(each, ast.DictComp) and _goes_over_variables(each):
                yield each.key
        for key in unit.once(_keys_set).get(path, ()) if path is not None else ():
            if _is_name(unit, key, ops) or _is_variable(unit, key):
                yield key


def _goes_over_variables(comp: ast.DictComp) -> bool:
    """``{v: 0.0 for v in tf.trainable_variables()}``."""
    calls = (n for each in comp.generators for n in walk(each.iter) if isinstance(n, ast.Call))
    return any((last_of(call.func) or "").endswith("_variables") for call in calls)


def _put_into(unit: Unit) -> dict[Path, list[ast.expr]]:
    """What lists are given by ``append``, and the names of loops are given one after the other."""
    found: dict[Path, list[ast.expr]] = {}
    for call in unit.nodes(ast.Call):
        func = call.func
        if isinstance(func, ast.Attribute) and func.attr == "append" and path_of(func.value):
            found.setdefault(path_of(func.value) or (), []).extend(call.args)
    for loop in unit.nodes(ast.For):
        if (path := path_of(loop.target)) is not None:
            found.setdefault(path, []).append(loop.iter)
    return found


def _keys_set(unit: Unit) -> dict[Path, list[ast.expr]]:
    """The keys by which dicts are given values: ``feed[w] = 1.0``."""
    found: dict[Path, list[ast.expr]] = {}
    for target in unit.nodes(ast.Subscript):
        if isinstance(target.ctx, ast.Store) and (path := path_of(target.value)) is not None:
            found.setdefault(path, []).append(target.slice)
    return found


def _is_variable(unit: Unit, fed: ast.expr) -> bool:
    made = unit.once(values_by_path).get(path_of(fed) or (), ())
    calls = (value for value in made if isinstance(value, ast.Call))
    return any(short(unit.names.qualified(call.func)) in _MAKING for call in calls)
