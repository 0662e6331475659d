"""What is read of an object that is handed on, or named anew, as a whole: ``half(self)``."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass, field

from tapemigrate.flow.functions import NamedFunction, parameters
from tapemigrate.flow.paths import looked_up
from tapemigrate.flow.unpacking import each_given
from tapemigrate.rules.project import View
from tapemigrate.source.trees import walk

# What reads no part of the object that it is handed.
_READING_NONE = frozenset({"super", "isinstance", "issubclass", "type", "id", "hasattr"})
# What runs a method of the object by an operator is told by ``operators``.
_OPERATED = ast.BinOp | ast.UnaryOp | ast.Compare | ast.Subscript | ast.For | ast.AugAssign
# Through how many functions an object is followed.
_DEPTH = 3


@dataclass(slots=True)
class Whole:
    """``parts`` are names, and whether they are called; ``unseen``: more may be read."""

    parts: dict[tuple[str, bool], None] = field(default_factory=dict)
    unseen: bool = False


def read_of_whole(view: View, nodes: Iterable[ast.AST]) -> Whole:
    """What ``nodes`` read of the object of a method otherwise than as ``self.x``."""
    found = Whole()
    me = view.kinds.self_name
    if me is not None and view.cls is not None:
        inside = list(nodes)
        _read(view, inside, me, found, 0)
        for other in _names_around(view, me):
            _read(view, inside, other, found, 1)
    return found


def _names_around(view: View, me: str) -> list[str]:
    """The names that functions around the scope give the object."""
    found: list[str] = []
    node = view.unit.parents.get(view.scope)
    while node is not None and not isinstance(node, ast.ClassDef):
        inside = walk(node) if isinstance(node, NamedFunction) else ()
        given = [pair for each in inside for pair in each_given(each)]
        names = [me]
        for name in names:  # which grows meanwhile
            for target, value in given:
                named = isinstance(value, ast.Name) and value.id == name
                if named and isinstance(target, ast.Name) and target.id not in (*names, *found):
                    names.append(target.id)
        found += names[1:]
        node = view.unit.parents.get(node)
    return found


def _read(view: View, nodes: list[ast.AST], name: str, found: Whole, depth: int) -> None:
    parents = view.unit.parents
    for node in nodes:
        if not isinstance(node, ast.Name) or node.id != name or not isinstance(node.ctx, ast.Load):
            continue
        match parent := parents.get(node):
            case ast.Attribute():
                if depth:
                    above = parents.get(parent)
                    called = isinstance(above, ast.Call) and above.func is parent
                    found.parts[parent.attr, called] = None
            case ast.Assign(targets=[ast.Name(id=other)]) if depth < _DEPTH:
                _read(view, [n for n in walk(view.scope) if n is not node], other, found, depth + 1)
            case ast.Call(func=ast.Name(id=called)) if called in _READING_NONE:
                pass
            case ast.Call():
                _handed(view, parent, node, found, depth)
            case ast.keyword():
                call = parents.get(parent)
                if isinstance(call, ast.Call):
                    _handed(view, call, node, found, depth)
            case ast.Return() | ast.Expr() | ast.If() | ast.Assert():
                pass
            case _:
                found.unseen |= not isinstance(parent, _OPERATED)


def _handed(view: View, call: ast.Call, node: ast.Name, found: Whole, depth: int) -> None:
    """What a call reads of the object that it is handed as ``node``."""
    if (part := looked_up(call)) is not None:
        found.parts[part.attr, False] = None
        return
    function = view.kinds.called(call)
    own = _parameter(function, call, node) if function is not None else None
    if function is None or own is None or depth >= _DEPTH:
        found.unseen = True
    else:
        _read(view, [*walk(function)], own, found, depth + 1)


def _parameter(function: NamedFunction, call: ast.Call, node: ast.Name) -> str | None:
    """The parameter for which ``node`` is passed."""
    own = [a.arg for a in parameters(function.args)]
    own = own[1:] if isinstance(call.func, ast.Attribute) else own
    for place, value in enumerate(call.args):
        if value is node and not any(isinstance(a, ast.Starred) for a in call.args[:place]):
            return own[place] if place < len(own) else None
    return next((k.arg for k in call.keywords if k.value is node), None)
