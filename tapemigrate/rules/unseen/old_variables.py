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
_RUNNING = frozenset({"run", "partial_run", "eval", "make_callable"})
_MAKING = frozenset({"Variable", "get_variable"})
_V1_CLASS = "tensorflow.compat.v1.Variable"
_OP_TYPE = "VariableV2"
# What a variable of the old kind has, or gives, that is another thing of the new one.
_OLD_PARTS = frozenset({"_ref", "_snapshot", "value"})
_OF_OPS = frozenset({"outputs", "inputs"})
_TELLING = (*_LOOKING_UP, *_RUNNING, *_OLD_PARTS, *_OF_OPS, "isinstance", _OP_TYPE)
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
        home for home in project.units.having(*_TELLING) if home is unit or home.filename in program
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
            elif name in _RUNNING and _is_of_object(home, call):
                fetched = [*call.args[:1], *(k.value for k in call.keywords if k.arg == "fetches")]
                if any(_is_name(home, each, ops) for each in fetched):
                    found[f"{shown} fetches no variable by its name: {_HANDLE}"] = None
                for fed in _fed(home, call, ops):
                    told = f"`{ast.unparse(fed)}`, fed in {place}, is no variable"
                    found[f"{told}: no resource variable can be fed"] = None
            elif name in _OLD_PARTS and not call.args and _is_of_object(home, call):
                what = f"`{ast.unparse(call)}` in {place}"
                found[f"nothing depends on {what}, which is another tensor each time"] = None
        for part in home.nodes(ast.Attribute):
            if part.attr in _OF_OPS and last_of(part.value) == "op":
                shown = f"`{ast.unparse(part)}` in {place_of(unit, home, part)}"
                found[f"{shown} is of no variable: {_HANDLE}"] = None
        for node in home.nodes(ast.Constant) if _OP_TYPE in home.text else ():
            if node.value == _OP_TYPE:
                shown = f"`{_OP_TYPE}` in {place_of(unit, home, node)}"
                found[f"nothing is looked for by {shown}: resource variables have another op"] = (
                    None
                )
    return list(found)


def _is_of_object(unit: Unit, call: ast.Call) -> bool:
    """Whether it is a method of some object, and no function of a module: ``subprocess.run``."""
    return isinstance(call.func, ast.Attribute) and unit.names.qualified(call.func) is None


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


def _behind(unit: Unit, value: ast.expr) -> Iterator[ast.AST]:
    """What stands in a value, and in what the names in it are given in the file."""
    pending: list[ast.AST] = [value]
    seen = set[Path]()
    while pending:
        node = pending.pop()
        yield node
        if isinstance(node, ast.Call):
            continue
        path = path_of(node) if isinstance(node, ast.Name | ast.Attribute) else None
        if path is not None and path not in seen:
            seen.add(path)
            pending += unit.once(values_by_path).get(path, ())
            pending += unit.once(_put_into).get(path, ())
        pending += ast.iter_child_nodes(node)


def _is_name(unit: Unit, fetched: ast.expr, ops: Set[str]) -> bool:
    """Whether something may be fetched by its name: ``"w:0"``, ``[v.name for v in found]``."""
    return any(
        (isinstance(node, ast.Attribute) and node.attr == "name")
        or (
            isinstance(node, ast.Constant) and ":" in str(node.value) and not _are_of_ops(node, ops)
        )
        for node in _behind(unit, fetched)
    )


def _are_variables(unit: Unit, value: ast.expr) -> bool:
    """Whether it is, or goes over, what the file shows to be variables."""
    calls = (node for node in _behind(unit, value) if isinstance(node, ast.Call))
    names = (last_of(call.func) or "" for call in calls)
    return any(name in _MAKING or name.endswith("_variables") for name in names)


def _is_variable(unit: Unit, named: ast.expr) -> bool:
    """Whether what has that name is a variable itself, by the names that it is given in turn."""
    pending, seen = [named], set[Path]()
    while pending:
        value = pending.pop()
        if isinstance(value, ast.Call) and last_of(value.func) in _MAKING:
            return True
        path = path_of(value)
        if path is not None and path not in seen:
            seen.add(path)
            pending += unit.once(values_by_path).get(path, ())
    return False


def _fed(unit: Unit, call: ast.Call, ops: Set[str]) -> Iterator[ast.expr]:
    """What a run is fed that may be variables: by their names, or as the file shows them made."""
    given = [k.value for k in call.keywords if k.arg == "feed_dict"]
    given += call.args[:1] if last_of(call.func) == "eval" else call.args[1:2]
    for value in given:
        path = path_of(value)
        named = unit.once(values_by_path).get(path, ()) if path is not None else ()
        keys = list(unit.once(_keys_set).get(path, ())) if path is not None else []
        for each in (value, *named):
            keys += _keys_of(each)
        for key in keys:
            if _is_name(unit, key, ops) or _are_variables(unit, key):
                yield key


def _keys_of(fed: ast.expr) -> Iterator[ast.expr]:
    """The keys of a dict, or what they come from: ``dict(zip(ws, values))``."""
    match fed:
        case ast.Dict(keys=keys):
            yield from (key for key in keys if key is not None)
        case ast.Call(
            func=ast.Name(id="dict"), args=[ast.Call(func=ast.Name(id="zip"), args=args)]
        ):
            yield from args[:1]
        case ast.DictComp(key=key, generators=[ast.comprehension(target=target, iter=over)]):
            if isinstance(target, ast.Tuple) and isinstance(over, ast.Call):
                pairs = zip(target.elts, over.args, strict=False)
                yield from (arg for name, arg in pairs if path_of(name) == path_of(key))
            else:
                yield over


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
