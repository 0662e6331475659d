"""How code reads a part of an object: ``self.h``, ``net.encoder.skip``, ``h.shape[-1].value``."""

from __future__ import annotations

import ast

from tapemigrate.flow.changers import CHANGERS
from tapemigrate.flow.functions import NamedFunction, parameters, shared_names
from tapemigrate.flow.paths import path_of
from tapemigrate.patterns import late
from tapemigrate.rules.finding import Unit
from tapemigrate.rules.indexes import bound_names, effects_of
from tapemigrate.source.points import Point, begin, end
from tapemigrate.source.trees import walk
from tapemigrate.tape.ops.symbols import short
from tapemigrate.tape.sources.source_arithmetic import DISPLAYS

# Names of sizes, which are no tensors, and of what has only such parts. ``h_reshaped`` is none.
_SIZE = late(r"num_\w+|(?:\w+_)?(?:sizes?|dims?)|(?:get_)?shape")
_SESSIONS = frozenset({"Session", "InteractiveSession", "get_default_session"})


def is_own(node: ast.expr) -> bool:
    """``self``, ``super()``"""
    named = node.func if isinstance(node, ast.Call) else node
    return isinstance(named, ast.Name) and named.id in ("self", "super")


def is_of_size(node: ast.Attribute) -> bool:
    """``net.batch_size``, ``h.get_shape()[-1].value``"""
    names = (each.attr for each in walk(node) if isinstance(each, ast.Attribute))
    return any(map(_SIZE.fullmatch, names))


def is_of_shape(node: ast.Attribute) -> bool:
    """``h.shape[-1].value``: no class of the user's has that part."""
    match node.value:
        case ast.Subscript(value=ast.Attribute(attr="shape")):
            return True
        case ast.Subscript(value=ast.Call(func=ast.Attribute(attr="get_shape"))):
            return True
    return False


def is_only_filled(unit: Unit, node: ast.Attribute) -> bool:
    """``self.rows.append(x)``, ``self.rows[i] = x``: what it held before is not read there."""
    above = unit.parents.get(node)
    match above:
        case ast.Subscript():
            return isinstance(above.ctx, ast.Store)
        case ast.Attribute(attr=method) if method in CHANGERS:
            call = unit.parents.get(above)
            return isinstance(call, ast.Call) and isinstance(unit.parents.get(call), ast.Expr)
    return False


def is_of_no_class(unit: Unit, node: ast.expr) -> bool:
    """Whether what methods are called on is none of the user's objects."""
    return _is_written_container(unit, node) or _is_session_of_call(unit, node)


def _is_written_container(unit: Unit, node: ast.expr) -> bool:
    """Whether the name is given nothing but lists, dicts and sets, as the function writes them."""
    function = _function_around(unit, node)
    if not isinstance(node, ast.Name) or function is None:
        return False
    if node.id in shared_names(function) or node.id in {a.arg for a in parameters(function.args)}:
        return False
    stores = unit.once(bound_names).get(node.id, ())
    given = [unit.parents[n] for n in stores if _function_around(unit, n) is function]
    return bool(given) and all(
        isinstance(stmt, ast.Assign) and isinstance(stmt.value, DISPLAYS) for stmt in given
    )


def _is_session_of_call(unit: Unit, node: ast.expr) -> bool:
    """``tf.get_default_session()``: what is called on it are methods of TensorFlow's own."""
    called = unit.names.qualified(node.func) if isinstance(node, ast.Call) else None
    return short(called) in _SESSIONS


def _function_around(unit: Unit, node: ast.AST) -> NamedFunction | None:
    above = unit.parents.get(node)
    while above is not None and not isinstance(above, NamedFunction | ast.Lambda):
        above = unit.parents.get(above)
    return above if isinstance(above, NamedFunction) else None


def name_at_root(node: ast.expr) -> str:
    """``s`` of ``s.parts[0]``"""
    while isinstance(node, ast.Attribute | ast.Subscript):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def is_part_of_part(node: ast.Attribute) -> bool:
    """``self.encoder.skip``: what another object has, and may be given in between."""
    path = path_of(node)
    return path is not None and len(path) > 2 and path[0] == "self"


def set_before(unit: Unit, function: ast.AST) -> frozenset[ast.Attribute]:
    """The parts of its own object that a function reads below where it, or a method, sets them."""
    first: dict[str, Point] = {}
    for stmt in getattr(function, "body", []):
        match stmt:
            case ast.Expr(value=ast.Call(func=ast.Attribute(value=own, attr=name))) if is_own(own):
                methods = effects_of(unit).functions(name)
                inner = [s for method in methods[:1] for s in method.body]
            case _:
                inner = [stmt]
        for target in (t for s in inner if isinstance(s, ast.Assign) for t in s.targets):
            if isinstance(target, ast.Attribute) and is_own(target.value):
                first.setdefault(target.attr, end(stmt))
    parts = (n for n in walk(function) if isinstance(n, ast.Attribute) and is_own(n.value))
    return frozenset(n for n in parts if begin(n) >= first.get(n.attr, end(n)))
