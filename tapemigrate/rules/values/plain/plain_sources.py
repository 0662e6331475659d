"""Sources that are numbers or arrays: ``tf.gradients`` gives None for them, no tape watches them.

Only what the code shows counts: from what is out of sight, sources are taken for tensors.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass

from tapemigrate.flow.definitions import Def, Kind
from tapemigrate.flow.functions import shared_names
from tapemigrate.flow.paths import Path, path_of
from tapemigrate.flow.slices import origins
from tapemigrate.rules.callgraph.arguments import argument_for
from tapemigrate.rules.callgraph.assigned import attribute_values
from tapemigrate.rules.callgraph.callbacks import callers
from tapemigrate.rules.callgraph.decorated import runs_as_written
from tapemigrate.rules.callgraph.enclosing import outer_definitions
from tapemigrate.rules.callgraph.imported import homes_of, import_paths
from tapemigrate.rules.callgraph.places import place_of
from tapemigrate.rules.finding import Unit
from tapemigrate.rules.project import Project, View
from tapemigrate.rules.values.plain.optional import default_of
from tapemigrate.rules.values.variables.module_variables import values_of
from tapemigrate.source.trees import walk
from tapemigrate.tape.ops.plain_calls import makes_none
from tapemigrate.tape.sources.no_tensors import Plain

# Methods of arrays that give another one, or a number.
_METHODS = frozenset(
    {"astype", "reshape", "copy", "flatten", "ravel", "transpose", "squeeze", "repeat", "mean"}
    | {"sum", "min", "max", "std", "clip", "dot", "round"}
)
_NUMBERS = frozenset({"float", "int", "len"})
# Through how many names and functions a value is followed.
_DEPTH = 6


def plain_source(project: Project, view: View, made: Def) -> Plain | None:
    """What of ``made`` is a number or an array; None where nothing shows that it is."""
    if made.path[0] in ("self", "cls") and len(made.path) == 1:
        return None
    reader = _Reader(project)
    match made.kind:
        case Kind.ASSIGN if made.value is not None:
            plain = reader.is_plain(view, made.value)
            return _told(view, view.unit, made.value, True) if plain else None
        case Kind.LOOP | Kind.COMPREHENSION if made.value is not None:
            plain = reader.gives_plain(view, made.value)
            return _told(view, view.unit, made.value, True) if plain else None
        case Kind.PARAM if len(made.path) == 1:
            return _passed(reader, view, made.path[0])
        case Kind.ENTRY:
            values = reader.from_outside(view, made.path)
            return _told(view, *values[0], True) if values else _around(reader, view, made.path)
    return None


def _around(reader: _Reader, view: View, path: Path) -> Plain | None:
    """What the function around was passed for it."""
    found = outer_definitions(reader.project, view, path)
    if found is None or len(path) > 1 or [d.kind for d in found[1]] != [Kind.PARAM]:
        return None
    return _passed(reader, found[0], path[0])


def _told(view: View, unit: Unit, value: ast.expr, always: bool) -> Plain:
    return Plain(ast.unparse(value), place_of(view.unit, unit, value), always)


def _passed(reader: _Reader, view: View, name: str) -> Plain | None:
    """What callers pass, or leave to the default; sometimes, where others may pass a tensor."""
    function = view.scope
    # What decorates it may make tensors of what it is called with.
    if not isinstance(function, ast.FunctionDef) or not runs_as_written(function):
        return None
    found = callers(reader.project, view.unit, function)
    named = {function.name} if view.cls is None else {function.name, view.cls.name} - {"__init__"}
    known = not (found.problem or found.unseen or found.mates or reader.project.unread(named))
    default = default_of(function, name)
    plain: list[tuple[Unit, ast.expr]] = []
    for site in found.calls:
        value = argument_for(site.call, function, name, view.cls is not None)
        caller = reader.project.view(site.unit, reader.project.scope_of(site.unit, site.call))
        if value is not None and value is default:
            plain += [(view.unit, value)] if reader.is_number(view.unit, value) else []
        elif value is not None and reader.is_plain(caller, value):
            plain.append((site.unit, value))
        else:
            known = False
    if not plain and not found.calls and default is not None:
        plain += [(view.unit, default)] if reader.is_number(view.unit, default) else []
        known = False
    if not plain:
        return None
    return _told(view, *plain[0], known)


@dataclass(frozen=True, slots=True)
class _Reader:
    """Tells what is a number or an array, through names."""

    project: Project

    def is_plain(self, view: View, node: ast.expr, depth: int = _DEPTH) -> bool:
        """Whether ``node`` is one, as far as names lead from its place in ``view``."""
        if not depth:
            return False
        match node:
            case ast.Constant():
                return isinstance(node.value, int | float | complex)
            case ast.UnaryOp():
                return self.is_plain(view, node.operand, depth)
            case ast.BinOp():
                sides = (node.left, node.right)
                return all(self.is_plain(view, side, depth) for side in sides)
            case ast.Subscript() if path_of(node) is None:
                return self.is_plain(view, node.value, depth)
            case ast.Call():
                return self._is_plain_call(view, node, depth)
        path = path_of(node)
        if path is None:
            return False
        if isinstance(node, ast.Attribute) and node.attr == "T":
            return self.is_plain(view, node.value, depth)
        made = origins(view.flow.reads.get(node, frozenset()))
        return bool(made) and all(self._is_made_plain(view, d, path, depth - 1) for d in made)

    def _is_made_plain(self, view: View, made: Def, path: Path, depth: int) -> bool:
        if made.kind is Kind.ENTRY and made.path == path:
            return bool(self.from_outside(view, path, depth))
        if made.value is None or made.path != path:
            return False
        if made.kind is Kind.ASSIGN:
            return self.is_plain(view, made.value, depth)
        looped = made.kind in (Kind.LOOP, Kind.COMPREHENSION)
        return looped and self.gives_plain(view, made.value, depth)

    def gives_plain(self, view: View, node: ast.expr, depth: int = _DEPTH) -> bool:
        """Whether each that ``node`` lists is one."""
        if isinstance(node, ast.List | ast.Tuple):
            return bool(node.elts) and all(self.is_plain(view, e, depth) for e in node.elts)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            if node.func.id == "range" and view.unit.names.qualified(node.func) is None:
                return True
        return self.is_plain(view, node, depth)

    def _is_plain_call(self, view: View, call: ast.Call, depth: int) -> bool:
        qualified = view.unit.names.qualified(call.func)
        if qualified is not None:
            return makes_none(qualified, call)
        if isinstance(call.func, ast.Name):
            own = self.project.effects(view.unit).is_own(call.func.id)
            return call.func.id in _NUMBERS and not own
        if isinstance(call.func, ast.Attribute) and call.func.attr in _METHODS:
            return self.is_plain(view, call.func.value, depth)
        return False

    def is_number(self, unit: Unit, default: ast.expr) -> bool:
        """Whether the default of a parameter is one, as it is written, or by a name of the file."""
        return self.is_plain(self.project.view(unit, unit.tree), default)

    def from_outside(
        self, view: View, path: Path, depth: int = _DEPTH
    ) -> list[tuple[Unit, ast.expr]]:
        """What a name of a scope around, of another file, or an attribute is, if all of it is."""
        values = self._values(view, path)
        if values and all(self.is_plain(each, value, depth) for each, value in values):
            return [(each.unit, value) for each, value in values]
        return []

    def _values(self, view: View, path: Path) -> list[tuple[View, ast.expr]]:
        """All that is ever given to it; nothing where some of that is not seen."""
        unit, project = view.unit, self.project
        if len(path) == 2 and path[0] == view.kinds.self_name and view.cls is not None:
            name = path[1].lstrip(".")
            values = attribute_values(project, view, name)
            if not values or project.foreign_stores(unit, view.cls, name):
                return []
            return [(project.view(unit, project.scope_of(unit, v)), v) for v in values]
        if (around := outer_definitions(project, view, path)) is not None:
            holder, made = around
            inner = (n for n in walk(holder.scope) if n is not holder.scope)
            if any(d.kind is not Kind.ASSIGN or d.path != path for d in made) or any(
                path[0] in shared_names(n) for n in inner if isinstance(n, ast.FunctionDef)
            ):
                return []
            return [(holder, d.value) for d in made if d.value is not None]
        if len(path) == 1 and (values := values_of(project, unit, path[0])):
            return [(project.view(unit, unit.tree), v) for v in values]
        return self._imported(view, path)

    def _imported(self, view: View, path: Path) -> list[tuple[View, ast.expr]]:
        imported = import_paths(view.unit).get(path[0])
        if imported is None or len(path) > 2:
            return []
        whole = ".".join([imported, *(part.lstrip(".") for part in path[1:])])
        homes = list(homes_of(self.project, whole))
        found: list[tuple[View, ast.expr]] = []
        for unit, name in homes:
            values = values_of(self.project, unit, name)
            found += [(self.project.view(unit, unit.tree), v) for v in values]
        return found if len(homes) == 1 else []
