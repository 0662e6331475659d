"""What may run where another function holds a ``gradient_override_map`` open.

The file that asks for the gradient holds nothing of it, nor need the one that calls it.
"""

from __future__ import annotations

import ast
import builtins
import os
from collections.abc import Iterable, Iterator

from tapemigrate.flow.functions import NamedFunction
from tapemigrate.flow.unpacking import each_given
from tapemigrate.rules.by_text import ByText
from tapemigrate.rules.callgraph.classes import is_of_library
from tapemigrate.rules.callgraph.library_methods import LIBRARY_METHODS
from tapemigrate.rules.finding import Unit
from tapemigrate.rules.project import Project
from tapemigrate.rules.units import parsed
from tapemigrate.rules.unseen.bindings import is_shared, last_name
from tapemigrate.rules.unseen.reasons import OVERRIDE
from tapemigrate.source.trees import top_level, walk

# What Python has by itself calls nothing of a project's, but for these.
_PLAIN = frozenset(dir(builtins)) - {"getattr", "exec", "eval", "map", "filter", "globals"}


class Opened:
    """The functions of a project, by name, that may run where such a map is open.

    ``anywhere``: the place of one that is open where what runs cannot be told.
    """

    def __init__(self, project: Project) -> None:
        self._project = project
        self._under: dict[str, str] = {}
        self._managers: set[str] = set()
        self.anywhere = ""
        self._open(OVERRIDE)

    def may_run(self, unit: Unit, node: ast.AST) -> str:
        """The place of a map that may be open where ``node`` runs; empty for none."""
        if self.anywhere:
            return self.anywhere
        above: ast.AST | None = node
        while above is not None and self._under:
            if isinstance(above, NamedFunction | ast.ClassDef) and above.name in self._under:
                return self._under[above.name]
            above = unit.parents.get(above)
        return ""

    def _open(self, name: str) -> None:
        """Notes what runs where what ``name`` gives is open."""
        for unit in self._project.units.having(name):
            for node in [*unit.nodes(ast.Attribute), *unit.nodes(ast.Name)]:
                if last_name(node) == name and not self.anywhere:
                    place = f"{os.path.basename(unit.filename)}, line {node.lineno}"
                    self._open_at(unit, node, place)

    def _open_at(self, unit: Unit, node: ast.expr, place: str) -> None:
        block: ast.AST | None = node
        while block is not None and not isinstance(block, ast.With | ast.stmt):
            block = unit.parents.get(block)
        if isinstance(block, ast.With) and (name := _opening(unit, block)):
            if name in self._managers:
                return
            self._managers.add(name)
            if self._is_used(name):
                self._open(name)
                return
        if not isinstance(block, ast.With) or not self._follow(unit, block.body, place):
            self.anywhere = place

    def _is_used(self, name: str) -> bool:
        """Whether what opens by that name is called anywhere in sight."""
        calls = (c for unit in self._project.units.having(name) for c in unit.nodes(ast.Call))
        return any(last_name(call.func) == name for call in calls)

    def _follow(self, unit: Unit, body: Iterable[ast.AST], place: str) -> bool:
        """Whether it can be told what of the project runs in ``body``, which is noted."""
        pending: list[tuple[Unit, ast.AST]] = [(unit, each) for each in body]
        for home, root in pending:  # which grows meanwhile
            for node in walk(root):
                if isinstance(node, ast.Yield | ast.YieldFrom):
                    return False
                if isinstance(node, ast.Call) and not self._is_known(home, node.func):
                    return False
                if not isinstance(node, ast.Name | ast.Attribute):
                    continue
                name = last_name(node)
                if isinstance(node, ast.Name) and not is_shared(home, node):
                    continue
                if name not in self._under and not is_of_library(home.names.qualified(node)):
                    meant = list(self._meant(name))
                    if meant:
                        self._under[name] = place
                        pending += meant
        return True

    def _is_known(self, unit: Unit, func: ast.expr) -> bool:
        """Whether all that a call of ``func`` may run is of a library, or noted by its name."""
        path, name = unit.names.qualified(func), last_name(func)
        if isinstance(func, ast.Name) and not is_shared(unit, func):
            return False
        if is_of_library(path) or any(self._meant(name)):
            return True
        if isinstance(func, ast.Name) and path is None:
            return name in _PLAIN
        if isinstance(func, ast.Attribute) and path is None:
            return name in LIBRARY_METHODS
        return isinstance(func, ast.Call)  # which is asked about itself

    def _meant(self, name: str) -> Iterator[tuple[Unit, ast.AST]]:
        """The functions, classes and values of the modules of that name."""
        for file in self._project.units.may_have(name):
            if name in (_GIVEN.of(file) or ()) and (unit := parsed(file)) is not None:
                yield from ((unit, node) for each, node in _given_in(unit) if each == name)


def _given_in(unit: Unit) -> Iterator[tuple[str, ast.AST]]:
    """The functions and classes of a file, and the values of its module, by name."""
    yield from ((each.name, each) for each in unit.definitions)
    for stmt in top_level(unit.tree):
        yield from ((last_name(target), value) for target, value in each_given(stmt))


_GIVEN = ByText(lambda unit: frozenset(name for name, _ in _given_in(unit)))


def _opening(unit: Unit, block: ast.With) -> str:
    """The function that does no more there than to give way to who opens it: ``yield``."""
    above = unit.parents.get(block)
    plain = all(isinstance(s, ast.Expr) and isinstance(s.value, ast.Yield) for s in block.body)
    if not plain or not isinstance(above, NamedFunction):
        return ""
    decorators = (last_name(each) for each in above.decorator_list)
    return above.name if "contextmanager" in decorators else ""


def may_be_open(project: Project, unit: Unit, call: ast.Call) -> str:
    """What has to hold for ``call`` to run under no such map, where one may be open; or empty."""
    place = project.once(Opened).may_run(unit, call)
    return f"it never runs where the `{OVERRIDE}` of {place} is open" if place else ""
