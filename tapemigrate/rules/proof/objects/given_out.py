"""Which parts of its object a method may give as they are: ``self.get_x()``."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from tapemigrate.flow.functions import NamedFunction
from tapemigrate.flow.paths import Path, is_super, path_of
from tapemigrate.rules.project import View
from tapemigrate.source.trees import arguments_of, walk
from tapemigrate.tape.ops.kinds import Make
from tapemigrate.tape.ops.syntax import may_give_back

_NEW = (Make.TENSOR, Make.LEAF)


def given_out(call: ast.Call, view: View) -> frozenset[Path]:
    """The parts, as paths below the object, that a call of its own method may give.

    What the method computes anew is none of them.
    """
    path, method = path_of(call.func), view.kinds.called(call)
    if method is None or path is None or path[:-1] != (view.kinds.self_name,):
        return frozenset()
    found = _GivenOut(view)
    found.method(method)
    return frozenset(found.parts)


class _GivenOut:
    """Follows what methods return, through those of the object that they call."""

    def __init__(self, view: View) -> None:
        assert view.cls is not None
        self._kinds = view.kinds
        self._cls = view.cls
        self._seen: set[NamedFunction] = set()
        self.parts: set[Path] = set()

    def method(self, method: NamedFunction) -> None:
        """Adds what ``method`` may give."""
        if method not in self._seen:
            self._seen.add(method)
            _Body(self, method).give(n.value for n in walk(method) if isinstance(n, ast.Return))

    def attribute(self, path: Path) -> None:
        """Adds a part, or what a property gives in its place."""
        asked = self._kinds.effects.method(self._cls, path[0].lstrip("."))
        if asked is None:
            self.parts.add(path)
        else:
            self.method(asked)

    def whole(self) -> None:
        """Adds all that the class, and those above it in the file, set."""
        for cls in self._kinds.effects.lineage(self._cls):
            for node in walk(cls):
                if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
                    self.parts.add((f".{node.attr}",))

    def called(self, func: ast.expr, me: str | None) -> list[NamedFunction]:
        """The methods of the object that a call runs, and no other function."""
        effects = self._kinds.effects
        if isinstance(func, ast.Attribute) and is_super(func.value):
            return effects.methods_above(self._cls, func.attr)
        path = path_of(func)
        if path is None or len(path) != 2 or path[0] != me:
            return []
        method = effects.method(self._cls, path[1].lstrip("."))
        return [] if method is None else [method]

    def is_new(self, value: ast.Call) -> bool:
        """Whether an op computes the value, and cannot hand on what it was given."""
        return self._kinds.make(value) in _NEW and not may_give_back(value, self._kinds)


class _Body:
    """The expressions of one method, and the names that it gives values."""

    def __init__(self, found: _GivenOut, method: NamedFunction) -> None:
        self._found = found
        self._method = method
        self._me = next((a.arg for a in method.args.args), None)
        self._names: set[str] = set()

    def give(self, values: Iterable[ast.expr | None]) -> None:
        """Adds what the values may be."""
        stack = [value for value in values if value is not None]
        while stack:
            stack += self._behind(stack.pop())

    def _behind(self, value: ast.expr) -> list[ast.expr]:
        path = path_of(value)
        if path is not None and len(path) > 1 and path[0] == self._me:
            self._found.attribute(path[1:])
            return []
        match value:
            case ast.Name(id=name):
                return self._named(name)
            case ast.Call():
                return self._called(value)
            case ast.BinOp() | ast.UnaryOp() | ast.Compare() | ast.Constant():
                return []
            case ast.IfExp():
                return [value.body, value.orelse]
            case ast.Subscript() | ast.Attribute() | ast.Starred():
                return [value.value]
        return [each for each in ast.iter_child_nodes(value) if isinstance(each, ast.expr)]

    def _named(self, name: str) -> list[ast.expr]:
        if name == self._me:
            self._found.whole()
            return []
        if name in self._names:
            return []
        self._names.add(name)
        return list(_assigned(self._method, name))

    def _called(self, call: ast.Call) -> list[ast.expr]:
        if self._found.is_new(call):
            return []
        methods = self._found.called(call.func, self._me)
        for method in methods:
            self._found.method(method)
        # What a function is handed it may give; so may an object what it keeps.
        return arguments_of(call) if methods else [*arguments_of(call), call.func]


def _assigned(method: NamedFunction, name: str) -> Iterator[ast.expr]:
    """What a name is given anywhere in a method: of a function, what it gives."""
    for node in walk(method):
        match node:
            case ast.FunctionDef() if node.name == name and node is not method:
                yield from (
                    n.value for n in walk(node) if isinstance(n, ast.Return) and n.value is not None
                )
            case ast.Assign():
                parts = (n for target in node.targets for n in walk(target))
                if any(isinstance(n, ast.Name) and n.id == name for n in parts):
                    yield node.value
            case ast.For() | ast.comprehension():
                if any(isinstance(n, ast.Name) and n.id == name for n in walk(node.target)):
                    yield node.iter
            case ast.AnnAssign() | ast.NamedExpr():
                if isinstance(node.target, ast.Name) and node.target.id == name and node.value:
                    yield node.value
            case ast.withitem(optional_vars=ast.Name(id=given)) if given == name:
                yield node.context_expr
