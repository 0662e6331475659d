"""How objects are called where a scope names them: itself, by a method, or by who is handed it."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterable, Iterator
from functools import cached_property

from tapemigrate.flow.functions import NamedFunction
from tapemigrate.flow.paths import is_super, looked_up, path_of
from tapemigrate.rules.callgraph.classes import is_of_library
from tapemigrate.rules.finding import Unit
from tapemigrate.rules.indexes import functions_at_top, value_given
from tapemigrate.rules.project import Project, View, self_name
from tapemigrate.rules.proof.objects.constructors_above import constructors_above
from tapemigrate.source.trees import arguments_of, walk

_BUILTIN = frozenset(dir(builtins))
# Of Python's ``operator``: what they are made with are names of parts of objects.
_GETTERS = frozenset({"attrgetter", "itemgetter", "methodcaller"})


def method_called(view: View, node: ast.expr) -> str:
    """The method that is called of the object there."""
    whole = view.unit.parents.get(node)
    if isinstance(whole, ast.Attribute):
        return whole.attr
    path = path_of(node) or ()
    least = 2 if path[:1] == (view.kinds.self_name,) else 1
    return path[-1].lstrip(".") if len(path) > least else "__call__"


def is_called(unit: Unit, node: ast.expr) -> bool:
    """Whether the object is called, or a method of it, or perhaps an element."""
    above = unit.parents.get(node)
    while isinstance(above, ast.Attribute | ast.Subscript):
        node, above = above, unit.parents.get(above)
    if isinstance(above, ast.For | ast.comprehension):
        return above.iter is node
    return isinstance(above, ast.Call) and above.func is node


def owner_of(view: View, node: ast.expr) -> ast.expr:
    """The object of a method that is called there."""
    above = view.unit.parents.get(node)
    if isinstance(above, ast.Call) and above.func is node and isinstance(node, ast.Attribute):
        return node if path_of(node.value) == (view.kinds.self_name,) else node.value
    return node


def is_handed_on(view: View, node: ast.expr) -> bool:
    """Whether the object of the method is an argument, and so called by another function.

    Of ``super(Net, self)`` it is none: that gives but what the classes above have.
    """
    above = view.unit.parents.get(node)
    if isinstance(above, ast.keyword):
        above = view.unit.parents.get(above)
    return isinstance(above, ast.Call) and above.func is not node and not is_super(above)


class Reached:
    """What runs, and behind it the functions at hand that are called, by their names.

    Whatever is called may call an object that it is handed, or read a part of it.
    """

    def __init__(self, project: Project, view: View, run: list[ast.AST]) -> None:
        self._project = project
        self._run = [(view.unit, each) for each in run]

    @cached_property
    def methods(self) -> set[str]:
        """The names of the methods that run, also in functions of other files, and ``__call__``."""
        found: set[str] = set()
        for unit, root in (*self._run, *self.behind):
            for node in walk(root):
                if not isinstance(node, ast.Call):
                    continue
                found.add("__call__")
                if isinstance(node.func, ast.Attribute) and unit.names.qualified(node.func) is None:
                    found.add(node.func.attr)
        return found.union(*(unit.once(_got_by_text) for unit in self._units()))

    def _units(self) -> Iterable[Unit]:
        return {unit.filename: unit for unit, _ in (*self._run, *self.behind)}.values()

    @cached_property
    def parts(self) -> set[str]:
        """The attributes that functions read which run, of whatever object but their own."""
        made = [
            (unit, node)
            for unit, root in self._run
            for node in walk(root)
            if isinstance(node, ast.Lambda | NamedFunction)
        ]
        found: set[str] = set()
        for unit, root in (*made, *self.behind):
            me = self_name(unit, root) if isinstance(root, NamedFunction) else None
            for node in (looked_up(n) or n for n in walk(root)):
                if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
                    if me is None or path_of(node.value) != (me,):
                        found.add(node.attr)
        return found.union(*(unit.once(_got_by_text) for unit in self._units()))

    @cached_property
    def behind(self) -> list[tuple[Unit, ast.AST]]:
        """The functions at hand that are called, each with its file."""
        found: list[tuple[Unit, ast.AST]] = []
        seen: set[ast.AST] = set()
        pending = list(self._run)
        for unit, root in pending:  # which grows meanwhile
            new = [f for f in _functions_run(self._project, unit, root) if f[1] not in seen]
            seen |= {each for _, each in new}
            found += new
            pending += new
        return found


def _functions_run(project: Project, unit: Unit, root: ast.AST) -> list[tuple[Unit, ast.AST]]:
    """The functions at hand that are called by ``root`` itself."""
    known = project.once(_known_functions)
    if root not in known:
        calls = (node for node in walk(root) if isinstance(node, ast.Call))
        run = (found for call in calls for found in _run_by(project, unit, call))
        known[root] = list({each: (home, each) for home, each in run}.values())
    return known[root]


def _known_functions(_: Project) -> dict[ast.AST, list[tuple[Unit, ast.AST]]]:
    return {}


def _got_by_text(unit: Unit) -> frozenset[str]:
    """What functions that the file makes get, or call, of objects: ``attrgetter("net.h")``."""
    found: set[str] = set()
    for call in unit.nodes(ast.Call):
        if (path_of(call.func) or ("",))[-1].lstrip(".") in _GETTERS:
            texts = (a.value for a in call.args if isinstance(a, ast.Constant))
            found |= {step for text in texts if isinstance(text, str) for step in text.split(".")}
    return frozenset(found)


def _run_by(project: Project, unit: Unit, call: ast.Call) -> Iterator[tuple[Unit, ast.AST]]:
    """The functions at hand that a call may run: by their names, kept, handed on, constructors."""
    path = unit.names.qualified(call.func)
    last = call.func.attr if isinstance(call.func, ast.Attribute) else ""
    name = (path or last or (path_of(call.func) or ("",))[-1]).split(".")[-1]
    effects = project.effects(unit)
    others = {each for a in arguments_of(call) for each in effects.callables.handed(a)}
    bases = constructors_above(project, unit, call)
    if path is None and bases is None:
        others |= effects.callables.called(call.func)
    yield from ((unit, each) for other in sorted(others) for each in effects.functions(other))
    if not name or name in _BUILTIN or is_of_library(path):
        return
    if bases is not None:
        yield from bases
        return
    yield from _set_on_module(project, unit, name) if path is None and not last else ()
    for home in [unit] if path is None else project.units.defining(name):
        known = project.effects(home)
        yield from ((home, each) for each in known.functions(name))
        cls = known.class_named(name)
        for stmt in cls.body if cls is not None else ():
            if isinstance(stmt, NamedFunction) and stmt.name == "__init__":
                yield home, stmt


def _set_on_module(project: Project, unit: Unit, name: str) -> Iterator[tuple[Unit, ast.AST]]:
    """What other files have a function of the module be: ``net.penalty = lambda: …``."""
    if unit.once(functions_at_top).get(name):
        for home, node in project.stores(name):
            value = value_given(home, node) if home.names.qualified(node) is not None else None
            if isinstance(value, ast.Lambda):
                yield home, value
            elif value is not None:
                known = project.effects(home).functions((path_of(value) or ("",))[-1].lstrip("."))
                yield from ((home, each) for each in known)
