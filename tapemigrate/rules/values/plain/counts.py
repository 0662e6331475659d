"""Values that are counts, because TensorFlow takes nothing else where they stand.

``tf.zeros([n, 3])`` raises for a tensor ``n`` that is no whole number, and none of those carries a
gradient.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from tapemigrate.flow.blocks import Block
from tapemigrate.flow.definitions import Def, Kind
from tapemigrate.flow.functions import NamedFunction
from tapemigrate.flow.paths import path_of
from tapemigrate.rules.callgraph.arguments import argument_for
from tapemigrate.rules.callgraph.assigned import attribute_values
from tapemigrate.rules.callgraph.names_in_texts import (
    replaced,
    set_by_text,
    texts_and_imports,
)
from tapemigrate.rules.callgraph.setters import of_one_object
from tapemigrate.rules.indexes import bound_names
from tapemigrate.rules.project import Project, View
from tapemigrate.rules.values.objects.attributes import inherited_values, set_below
from tapemigrate.rules.values.objects.unnamed import sets_without_name
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
_RANGES = ("builtins.range", "six.moves.range", "six.moves.xrange")
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
            for name in _counted_by(self._project, self._view, call):
                value = _only_value(self._project, self._view, name)
                if value is not None and value in self._view.unit.parents:
                    yield from _made_of(self._project, self._view, value, _DEPTH)


def is_count_in(project: Project, view: View, name: str, attribute: str) -> bool:
    """Whether the method of that name takes ``self.attribute`` for a count, if for anything.

    The constructor alone has to give the attribute its value, so that it is one number for all.
    """
    made = _of_constructor(project, view, attribute)
    return made and attribute in _read_in(project, view, name, _DEPTH).counts


def _counted_by(project: Project, view: View, call: ast.Call) -> frozenset[str]:
    """The attributes that a method of the object takes for counts, if ``call`` is one of it."""
    path = path_of(call.func)
    if path is None or len(path) != 2 or path[0] != view.kinds.self_name:
        return frozenset()
    return _read_in(project, view, path[1].lstrip("."), _DEPTH).counts


@dataclass(frozen=True, slots=True)
class _Read:
    """The attributes that a method reads, and those that it calls in turn.

    ``sure`` are taken for counts on every run, ``likely`` wherever they are read, ``other``
    elsewhere as well. ``blind``: it may read more than can be seen.
    """

    sure: frozenset[str] = frozenset()
    likely: frozenset[str] = frozenset()
    other: frozenset[str] = frozenset()
    blind: bool = True

    @property
    def counts(self) -> frozenset[str]:
        return self.sure if self.blind else self.sure | self.likely


def _read_in(project: Project, view: View, name: str, depth: int) -> _Read:
    if view.cls is None or not depth:
        return _Read()
    method = project.effects(view.unit).method(view.cls, name)
    if method is None or method is view.scope:
        return _Read()
    known = project.once(_known_reads)
    key = (view.cls, method, depth)
    if key not in known:
        known[key] = _read_by(project, view, view.cls, method, depth)
    return known[key]


def _known_reads(_: Project) -> dict[tuple[ast.ClassDef, NamedFunction, int], _Read]:
    return {}


def _read_by(
    project: Project, view: View, cls: ast.ClassDef, method: NamedFunction, depth: int
) -> _Read:
    if not _runs_as_it_stands(project, view, method, True):
        return _Read()
    own, inner = project.effects(view.unit), project.view(view.unit, method)
    me = inner.kinds.self_name
    calls = [call for each in _surely_run(method.body) for call in _calls_in(each)]
    sizes = [p for call in calls for s in _sizes(project, inner, call, depth) for p in _parts(s)]
    nodes = [n for n in walk(method) if isinstance(n, ast.Attribute)]
    owned = [n for n in nodes if path_of(n.value) == (me,)]
    seen = {n.value for n in owned}
    blind = any(
        isinstance(n, ast.Name) and n.id in (me, "super") and n not in seen for n in walk(method)
    )
    names = {n.attr for n in owned}
    methods = {n for n in names if own.method(cls, n) is not None}
    below = {each: _read_in(project, inner, each, depth - 1) for each in sorted(methods)}
    always = [below[n.attr] for n in owned if n.attr in below and any(n is c.func for c in calls)]
    sure = {n.attr for n in owned if n in sizes}.union(*(each.sure for each in always))
    other = (names - methods).union(*(each.other for each in below.values())) - sure
    likely = set[str]().union(*(each.sure | each.likely for each in below.values()))
    blind = blind or any(each.blind for each in below.values())
    return _Read(frozenset(sure), frozenset(likely - other - sure), frozenset(other), blind)


def _parts(size: ast.expr) -> Iterator[ast.expr]:
    """What has to be a whole number for ``size`` to be one."""
    yield size
    if isinstance(size, ast.BinOp) and isinstance(size.op, _ARITHMETIC):
        for side in (size.left, size.right):
            yield from _parts(side)


def _surely_run(body: Iterable[ast.stmt]) -> Iterator[ast.AST]:
    """What runs in every call of a function that comes to its end."""
    for stmt in body:
        if isinstance(stmt, ast.With):
            yield from _surely_run(stmt.body)
        else:
            yield from _run([stmt])
        if any(isinstance(node, ast.Return) for node in walk(stmt)):
            return


def _of_constructor(project: Project, view: View, name: str) -> bool:
    """Whether nothing but one statement of the constructor gives ``self.name`` a value."""
    values = attribute_values(project, view, name)
    if view.cls is None or len(values) != 1 or not _is_alone(project, view, view.cls, name):
        return False
    return getattr(project.scope_of(view.unit, values[0]), "name", "") == "__init__"


def _sizes(project: Project, view: View, call: ast.Call, depth: int) -> Iterator[ast.expr]:
    """What has to be a whole number in a call: elements of a shape that is written there."""
    name = view.kinds.tensorflow(call.func) or ""
    if name in _COUNTED:
        if (size := _argument(call, *_COUNTED[name])) is not None:
            yield size
    elif name in _SHAPED:
        yield from _elements(_argument(call, *_SHAPED[name]))
    elif _is_range(view, call.func):
        yield from call.args
    elif name == "" and depth:
        function = _called(project, view, call)
        for parameter in _shapes_of(project, view, function, depth) if function else ():
            method = isinstance(call.func, ast.Attribute)
            if isinstance(function, ast.FunctionDef):
                yield from _elements(argument_for(call, function, parameter, method))


def _is_range(view: View, func: ast.expr) -> bool:
    """Whether it is Python's own, which takes nothing but whole numbers."""
    if (name := view.kinds.name(func)) is not None:
        return name in _RANGES
    bound = view.unit.once(bound_names)
    return path_of(func) in (("range",), ("xrange",)) and not {"range", "xrange"} & set(bound)


def _argument(call: ast.Call, place: int, name: str) -> ast.expr | None:
    if any(isinstance(a, ast.Starred) for a in call.args):
        return None
    named = [k.value for k in call.keywords if k.arg == name]
    return next(iter(named or call.args[place : place + 1]), None)


def _elements(shape: ast.expr | None) -> list[ast.expr]:
    return list(shape.elts) if isinstance(shape, ast.List | ast.Tuple) else []


def _called(project: Project, view: View, call: ast.Call) -> NamedFunction | None:
    """The function of this file that runs there, whatever the object is."""
    function = view.kinds.runs_only(call)
    if function is None:
        return None
    method = isinstance(call.func, ast.Attribute)
    return function if _runs_as_it_stands(project, view, function, method) else None


def _runs_as_it_stands(project: Project, view: View, function: NamedFunction, method: bool) -> bool:
    """Whether nothing wraps the function, and nothing comes in its place."""
    if function.decorator_list:
        return False
    name = function.name
    if method:
        kin = of_one_object(project, view.cls) if view.cls is not None else []
        members = (stmt for _, cls in kin for stmt in cls.body)
        if any(getattr(m, "name", "") == name and m is not function for m in members):
            return False
    if replaced(project, view.unit, name, method=method):
        return False
    if name in view.unit.once(bound_names):
        return False
    texts = (n for u in project.units.having(name) for n in u.once(texts_and_imports).get(name, ()))
    return not any(isinstance(n, ast.Constant) for n in texts)


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
        if isinstance(size, ast.Attribute) and path_of(size.value) == (view.kinds.self_name,):
            value = _only_value(project, view, size.attr)
    elif len(made) == 1 and (one := made.pop()).path == path_of(size):
        if one.kind is Kind.ASSIGN:
            value = one.value
        else:
            yield one
    if value is not None and value in view.unit.parents:
        yield from _made_of(project, view, value, depth - 1)


def _only_value(project: Project, view: View, name: str) -> ast.expr | None:
    """What an attribute of ``self`` is given by the scope, if nothing gives it anything else."""
    cls = view.cls
    values = attribute_values(project, view, name)
    if cls is None or len(values) != 1 or values[0] not in set(walk(view.scope)):
        return None
    return values[0] if _is_alone(project, view, cls, name) else None


def _is_alone(project: Project, view: View, cls: ast.ClassDef, name: str) -> bool:
    """Whether the class alone gives ``self.name`` its values, by statements that name it."""
    if project.foreign_stores(view.unit, cls, name) or inherited_values(project, view, name):
        return False
    if set_below(project, view, name) or sets_without_name(project, view):
        return False
    return not set_by_text(project, view.unit, name)


def _calls_in(stmt: ast.AST) -> Iterator[ast.Call]:
    """The calls that run wherever the statement does."""
    stack: list[ast.AST] = [stmt]
    while stack:
        node = stack.pop()
        if isinstance(node, ast.Call):
            yield node
        if not isinstance(node, (*_LATER, ast.GeneratorExp)):
            stack.extend(children(node))


def _run(body: Iterable[ast.stmt]) -> Iterator[ast.AST]:
    """The simple statements of a block, those under ``with`` among them, and what loops go over."""
    for stmt in body:
        if isinstance(stmt, ast.With):
            yield from _run(stmt.body)
        elif isinstance(stmt, ast.For):
            yield stmt.iter
        elif isinstance(stmt, _SIMPLE):
            yield stmt
