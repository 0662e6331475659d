"""Values that are counts, because TensorFlow takes nothing else where they stand.

``tf.zeros([n, 3])`` raises for a tensor ``n`` that is no whole number, and none of those carries a
gradient.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from tapemigrate.flow.blocks import Block
from tapemigrate.flow.definitions import Def, Kind
from tapemigrate.flow.functions import NamedFunction
from tapemigrate.flow.paths import path_of
from tapemigrate.rules.callgraph.names_in_texts import (
    replaced,
    set_by_text,
    texts_and_imports,
)
from tapemigrate.rules.callgraph.setters import of_one_object
from tapemigrate.rules.indexes import bound_names
from tapemigrate.rules.project import Project, View
from tapemigrate.rules.values.attributes import inherited_values, set_below, sets_without_name
from tapemigrate.rules.values.shape_evidence import argument_for, attribute_values
from tapemigrate.source.trees import children, walk

# What takes a shape, with its place and name.
_SHAPED = {
    **dict.fromkeys(("get_variable", "placeholder", "reshape"), (1, "shape")),
    **dict.fromkeys(("zeros", "ones", "random_normal", "random_uniform"), (0, "shape")),
    **dict.fromkeys(("truncated_normal", "random.normal", "random.uniform"), (0, "shape")),
    "random.truncated_normal": (0, "shape"),
    "fill": (0, "dims"),
    "tile": (1, "multiples"),
}
# What takes a single count: https://www.tensorflow.org/versions/r1.15/api_docs/python/tf/layers
_COUNTED = {
    "one_hot": (1, "depth"),
    "layers.dense": (1, "units"),
    "contrib.layers.fully_connected": (1, "num_outputs"),
    "contrib.slim.fully_connected": (1, "num_outputs"),
}
# Of these, what is no whole number gives none, or raises.
_ARITHMETIC = (ast.Add, ast.Sub, ast.Mult, ast.FloorDiv, ast.Mod)
_SIMPLE = (ast.Assign, ast.AnnAssign, ast.Expr, ast.Return)
# What may leave a part of it undone.
_LATER = (ast.Lambda, ast.IfExp, ast.BoolOp, ast.ListComp, ast.SetComp, ast.DictComp)
# Through how many names, and functions, a count is followed.
_DEPTH = 4


class Counts:
    """The counts of one scope, told once of each of its blocks."""

    def __init__(self, project: Project, view: View) -> None:
        self._project = project
        self._view = view
        self._of: dict[Block, dict[Def, int]] = {}

    def before(self, stmt: ast.stmt) -> frozenset[Def]:
        """What enters the scope and has to be a whole number, or ``stmt`` is never reached."""
        return frozenset(
            made
            for place in self._view.blocks.chain(stmt)
            for made, index in self._in(place.block).items()
            if index < place.index
        )

    def _in(self, block: Block) -> dict[Def, int]:
        """The counts that statements of a block tell, each with the index of the first one."""
        if block not in self._of:
            found = self._of[block] = {}
            for index, stmt in enumerate(block.body):
                for made in self._known_by(stmt):
                    found.setdefault(made, index)
        return self._of[block]

    def _known_by(self, stmt: ast.stmt) -> Iterator[Def]:
        for call in (call for each in _run([stmt]) for call in _calls_in(each)):
            for size in _sizes(self._project, self._view, call, _DEPTH):
                yield from _made_of(self._project, self._view, size, _DEPTH)


def _sizes(project: Project, view: View, call: ast.Call, depth: int) -> Iterator[ast.expr]:
    """What has to be a whole number in a call: elements of a shape that is written there."""
    name = view.kinds.tensorflow(call.func) or ""
    if name in _COUNTED:
        if (size := _argument(call, *_COUNTED[name])) is not None:
            yield size
    elif name in _SHAPED:
        yield from _elements(_argument(call, *_SHAPED[name]))
    elif name == "" and depth:
        function = _called(project, view, call)
        for parameter in _shapes_of(project, view, function, depth) if function else ():
            method = isinstance(call.func, ast.Attribute)
            if isinstance(function, ast.FunctionDef):
                yield from _elements(argument_for(call, function, parameter, method))


def _argument(call: ast.Call, place: int, name: str) -> ast.expr | None:
    if any(isinstance(a, ast.Starred) for a in call.args):
        return None
    named = [k.value for k in call.keywords if k.arg == name]
    return next(iter(named or call.args[place : place + 1]), None)


def _elements(shape: ast.expr | None) -> list[ast.expr]:
    return list(shape.elts) if isinstance(shape, ast.List | ast.Tuple) else []


def _called(project: Project, view: View, call: ast.Call) -> NamedFunction | None:
    """The function of this file that runs there, whatever the object is."""
    function = view.kinds.called(call)
    if function is None or function.decorator_list:
        return None
    name = function.name
    if isinstance(call.func, ast.Attribute):
        kin = of_one_object(project, view.cls) if view.cls is not None else []
        members = (stmt for _, cls in kin for stmt in cls.body)
        if any(getattr(m, "name", "") == name and m is not function for m in members):
            return None
    if replaced(project, view.unit, name, method=isinstance(call.func, ast.Attribute)):
        return None
    if name in view.unit.once(bound_names):
        return None
    texts = (n for u in project.units.having(name) for n in u.once(texts_and_imports).get(name, ()))
    return None if any(isinstance(n, ast.Constant) for n in texts) else function


def _shapes_of(project: Project, view: View, function: NamedFunction, depth: int) -> Iterator[str]:
    """The parameters of a function that it takes for a whole shape, before anything else."""
    if not function.body:
        return
    inner = project.view(view.unit, function)
    for stmt in function.body:
        if not isinstance(stmt, _SIMPLE):
            return
        for call in _calls_in(stmt):
            name = inner.kinds.tensorflow(call.func) or ""
            shape = _argument(call, *_SHAPED[name]) if name in _SHAPED else None
            if isinstance(shape, ast.Name):
                made = {u.made for u in inner.flow.reads.get(shape, ())}
                if [d.kind for d in made] == [Kind.PARAM]:
                    yield shape.id


def _made_of(project: Project, view: View, size: ast.expr, depth: int) -> Iterator[Def]:
    """What ``size`` is by another name, or is reckoned from."""
    if not depth:
        return
    if isinstance(size, ast.BinOp) and isinstance(size.op, _ARITHMETIC):
        for side in (size.left, size.right):
            yield from _made_of(project, view, side, depth - 1)
    if path_of(size) is None:
        return
    made = {u.made for u in view.flow.reads.get(size, ())}
    value: ast.expr | None = None
    if any(d.kind is Kind.MUTATE for d in made):
        value = _only_value(project, view, size)
    elif len(made) == 1 and (one := made.pop()).path == path_of(size):
        if one.kind is Kind.ASSIGN:
            value = one.value
        else:
            yield one
    if value is not None and value in view.unit.parents:
        yield from _made_of(project, view, value, depth - 1)


def _only_value(project: Project, view: View, node: ast.expr) -> ast.expr | None:
    """What an attribute of ``self`` is given by the scope, if nothing gives it anything else."""
    if not isinstance(node, ast.Attribute) or path_of(node.value) != (view.kinds.self_name,):
        return None
    name, cls = node.attr, view.cls
    values = attribute_values(project, view, name)
    if cls is None or len(values) != 1 or values[0] not in set(walk(view.scope)):
        return None
    if project.foreign_stores(view.unit, cls, name) or inherited_values(project, view, name):
        return None
    if set_below(project, view, name) or sets_without_name(project, view):
        return None
    return None if set_by_text(project, view.unit, name) else values[0]


def _calls_in(stmt: ast.stmt) -> Iterator[ast.Call]:
    """The calls that run wherever the statement does."""
    stack: list[ast.AST] = [stmt]
    while stack:
        node = stack.pop()
        if isinstance(node, ast.Call):
            yield node
        if not isinstance(node, (*_LATER, ast.GeneratorExp)):
            stack.extend(children(node))


def _run(body: Iterable[ast.stmt]) -> Iterator[ast.stmt]:
    """The simple statements of a block, those under ``with`` among them."""
    for stmt in body:
        if isinstance(stmt, ast.With):
            yield from _run(stmt.body)
        elif isinstance(stmt, _SIMPLE):
            yield stmt
