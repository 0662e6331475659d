"""What sets an attribute of ``self`` while a tape records that has to watch it before.

Methods that a region calls are followed into those of classes above and below, in all files, and
into functions that are handed the object.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Set

from tapemigrate.flow.changers import CHANGERS
from tapemigrate.flow.functions import NamedFunction
from tapemigrate.flow.paths import is_super, path_of
from tapemigrate.flow.unpacking import each_given
from tapemigrate.rules.callgraph.classes import classes
from tapemigrate.rules.callgraph.set_without_name import set_without_name
from tapemigrate.rules.callgraph.setters import of_one_object
from tapemigrate.rules.finding import Unit
from tapemigrate.rules.project import Project, View, self_name
from tapemigrate.source.trees import arguments_of, walk

# A method that is called of an object: its name, and where that is written out, the name of the
# class whose method it is, with whether only those of the classes above are meant.
_Call = tuple[str, str, bool]


def set_late(
    project: Project, view: View, rows: Iterable[ast.AST], watched: Set[str]
) -> frozenset[str]:
    """Those of ``watched`` that what the statements ``rows`` of a method call may set.

    What the method itself sets by name is not among them.
    """
    me = view.kinds.self_name
    if me is None or view.cls is None or not watched:
        return frozenset()
    return _Calls(project, view.cls, watched).of(view.unit, view.cls, me, list(rows))


def unseen_calls(project: Project, view: View, rows: Iterable[ast.AST]) -> set[str]:
    """The methods that are called on the object, and that a class out of sight may have."""
    cls, me = view.cls, view.kinds.self_name
    if cls is None or me is None or not classes(project).has_unseen_bases(view.unit, cls):
        return set()
    family = of_one_object(project, cls)
    seen = {stmt.name for _, c in family for stmt in c.body if isinstance(stmt, NamedFunction)}
    calls = [n for root in rows for n in walk(root) if isinstance(n, ast.Call)]
    asked = (
        call for node in calls for each in (node, node.func) for call in _called(cls, me, each)
    )
    return {n for n, _, _ in asked if n not in seen and not any(True for _ in project.stores(n))}


class _Calls:
    """Follows the calls of one object's methods."""

    def __init__(self, project: Project, cls: ast.ClassDef, watched: Set[str]) -> None:
        self._project = project
        self._watched = watched
        self._family = of_one_object(project, cls)
        self._found: set[str] = set()
        self._seen: set[NamedFunction] = set()
        self._pending: list[tuple[Unit, ast.ClassDef, NamedFunction]] = []

    def of(self, unit: Unit, cls: ast.ClassDef, me: str, rows: list[ast.AST]) -> frozenset[str]:
        nodes = [n for row in rows for n in walk(row)]
        self._nameless(unit, me, nodes)
        self._follow(unit, cls, me, nodes)
        while self._pending:
            there, owner, method = self._pending.pop()
            inner = list(walk(method))
            name = method.args.args[0].arg
            self._found |= self._watched & _stored(name, inner)
            self._nameless(there, name, inner)
            self._follow(there, owner, name, inner)
        return frozenset(self._found)

    def _nameless(self, unit: Unit, me: str, nodes: list[ast.AST]) -> None:
        """Takes in what is set by another name than one that stands there: any attribute."""
        owners = {n for n in set_without_name(unit) if path_of(n) == (me,)}
        if not owners.isdisjoint(nodes):
            self._found |= self._watched
        for node in nodes:
            match node:
                case ast.Call(
                    func=ast.Name(id="setattr"),
                    args=[ast.Name(id=owner), ast.Constant(value=str(name)), *_],
                ) if owner == me:
                    self._found |= {name} & self._watched

    def _follow(self, unit: Unit, cls: ast.ClassDef, me: str, nodes: list[ast.AST]) -> None:
        for node in nodes:
            for call in _called(cls, me, node):
                self._method(*call)
            if isinstance(node, ast.Call) and any(path_of(a) == (me,) for a in arguments_of(node)):
                self._found |= self._handed((path_of(node.func) or ("",))[-1].lstrip("."))

    def _method(self, name: str, named: str, above: bool) -> None:
        """Takes up what a method's name means on such an object."""
        known = classes(self._project)
        beneath = {named, *known.extending(named)} if above else set()
        among = {named, *known.above(named)} if named and not above else set()
        for unit, cls in self._family:
            if cls.name in beneath or (among and cls.name not in among):
                continue
            for each in cls.body:
                if isinstance(each, NamedFunction) and each.name == name and each.args.args:
                    if each not in self._seen:
                        self._seen.add(each)
                        self._pending.append((unit, cls, each))

    def _handed(self, name: str) -> Set[str]:
        """What functions, or constructors, of that name set of an object that is handed to them."""
        found: set[str] = set()
        for attribute in self._watched:
            for unit, node in self._project.stores(attribute):
                scope = self._project.scope_of(unit, node)
                owner = self._project.class_of(unit, scope)
                if isinstance(scope, NamedFunction) and isinstance(node.value, ast.Name):
                    last = owner.name if owner and scope.name == "__init__" else scope.name
                    if last == name and node.value.id != self_name(unit, scope):
                        found.add(attribute)
        return found


def _called(cls: ast.ClassDef, me: str, node: ast.AST) -> Iterator[_Call]:
    """The methods of the object that a node asks for: to call them, or to have them called."""
    if isinstance(node, ast.Attribute) and not isinstance(node.ctx, ast.Store):
        if path_of(node.value) == (me,):
            yield node.attr, "", False
        elif is_super(node.value):
            yield node.attr, cls.name, True
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        if node.args and path_of(node.args[0]) == (me,):
            owner = path_of(node.func.value) or ("",)  # ``Base.build(self)``
            yield node.func.attr, owner[-1].lstrip("."), False
    elif isinstance(node, ast.With | ast.AsyncWith):
        if any(path_of(item.context_expr) == (me,) for item in node.items):
            yield from (("__enter__", "", False), ("__exit__", "", False))


def _stored(me: str, nodes: Iterable[ast.AST]) -> set[str]:
    """The attributes of which something is set, be it an element, or a part, by another name."""
    nodes = list(nodes)
    found: set[str] = set()
    named: dict[str, str] = {}
    for node in nodes:
        for target, value in each_given(node):
            attribute = _attribute(me, value)
            if attribute and isinstance(target, ast.Name):
                named[target.id] = attribute
    for node in nodes:
        owner: ast.AST | None = None
        if isinstance(node, ast.Attribute | ast.Subscript) and not isinstance(node.ctx, ast.Load):
            owner = node
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            owner = node.func.value if node.func.attr in CHANGERS else None
        while isinstance(owner, ast.Attribute | ast.Subscript):
            found.add(_attribute(me, owner))
            owner = owner.value
        if isinstance(owner, ast.Name):
            found.add(named.get(owner.id, ""))
    return found


def _attribute(me: str, node: ast.AST) -> str:
    """``x`` of ``self.x``."""
    if isinstance(node, ast.Attribute) and path_of(node.value) == (me,):
        return node.attr
    return ""
