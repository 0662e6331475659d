"""Functions that give data alone: a ``tf.data.Dataset``, or what an iterator takes out of one.

No gradient leads through that, whatever the elements were made of.
"""

from __future__ import annotations

import ast

from tapemigrate.flow.definitions import Def, Kind
from tapemigrate.flow.paths import path_of
from tapemigrate.flow.slices import origins
from tapemigrate.rules.callgraph.assigned import attribute_values
from tapemigrate.rules.callgraph.meaning import Resolver
from tapemigrate.rules.finding import Unit
from tapemigrate.rules.project import Project, View
from tapemigrate.source.trees import walk

# What makes a dataset, and what makes another one of it.
_MADE_BY = frozenset(
    {"Dataset", "Dataset.from_tensor_slices", "Dataset.from_tensors", "Dataset.from_generator"}
    | {"Dataset.list_files", "Dataset.range", "Dataset.zip", "TFRecordDataset", "TextLineDataset"}
    | {"FixedLengthRecordDataset", "experimental.make_csv_dataset"}
)
_KEPT_BY = frozenset(
    {"apply", "batch", "cache", "concatenate", "enumerate", "filter", "flat_map", "interleave"}
    | {"map", "padded_batch", "prefetch", "repeat", "shard", "shuffle", "skip", "take", "window"}
    | {"with_options", "unbatch"}
)
_OF_FUNCTIONS = frozenset({Kind.FUNCTION, Kind.ENTRY, Kind.IMPORT})
_ITERATORS = frozenset({"make_one_shot_iterator", "make_initializable_iterator"})
# Through how many functions one is followed to where it is made.
_DEPTH = 6


def gives_data(project: Project, view: View, value: ast.expr) -> bool:
    """Whether ``value``, in the scope of ``view``, is a function that gives nothing but data."""
    return _Reader(project).gives_data(view, value, None, 0)


class _Reader:
    def __init__(self, project: Project) -> None:
        self._project = project
        self._entered: set[ast.AST] = set()

    # -- functions ------------------------------------------------------------------------------

    def gives_data(self, view: View, value: ast.expr, part: int | None, depth: int) -> bool:
        """Whether ``value``, or its element ``part``, is such a function."""
        if depth > _DEPTH:
            return False
        match value:
            case ast.Constant(value=None):
                return True  # nothing can be fed then
            case ast.Tuple() if part is not None:
                return part < len(value.elts) and self.gives_data(
                    view, value.elts[part], None, depth + 1
                )
            case ast.Lambda() if part is None:
                inner = self._project.view(view.unit, value)
                return self._is_data(inner, value.body, set())
            case ast.Call():
                if view.unit.names.qualified(value.func) == "functools.partial":
                    return bool(value.args) and self.gives_data(view, value.args[0], part, depth)
                return self._made_by(view, value, part, depth)
            case ast.Name() | ast.Attribute():
                return self._named(view, value, part, depth)
        return False

    def _named(self, view: View, value: ast.Name | ast.Attribute, part: int | None, d: int) -> bool:
        function = self._function(view, value)
        if function is not None:
            return part is None and self._returns_data(*function)
        path = path_of(value)
        if path is not None and len(path) == 2 and path[0] == view.kinds.self_name:
            return self._kept(view, path[1].lstrip("."), part, d)
        made = _made_for(view, value)
        return bool(made) and all(self._defined(view, each, part, d) for each in made)

    def _defined(self, view: View, made: Def, part: int | None, depth: int) -> bool:
        if made.kind is Kind.ASSIGN and made.value is not None:
            return self.gives_data(view, made.value, part, depth + 1)
        if made.kind is Kind.ELEMENT and part is None and isinstance(made.stmt, ast.Assign):
            place = _place(made.stmt, made.path)
            return place is not None and self.gives_data(view, made.stmt.value, place, depth + 1)
        return False

    def _kept(self, view: View, name: str, part: int | None, depth: int) -> bool:
        """The same of ``self.name``, which no one else may set."""
        stores = self._project.stores(name)
        own = attribute_values(self._project, view, name)
        if view.cls is None or not own or self._project.foreign_stores(view.unit, view.cls, name):
            return False
        for unit, node in stores:
            stmt = unit.parents[node]
            place = None
            if isinstance(stmt, ast.Tuple):
                place = stmt.elts.index(node)
                stmt = unit.parents[stmt]
            if unit is not view.unit or not isinstance(stmt, ast.Assign) or part is not None:
                return False
            inner = self._project.view(unit, self._project.scope_of(unit, stmt))
            if not self.gives_data(inner, stmt.value, place, depth + 1):
                return False
        return True

    def _made_by(self, view: View, call: ast.Call, part: int | None, depth: int) -> bool:
        """Whether a function that is called returns such a function."""
        found = self._function(view, call.func)
        if found is None:
            return False
        inner = self._project.view(*found)
        values = [r.value for r in inner.flow.returns]
        return bool(values) and all(
            v is not None and self.gives_data(inner, v, part, depth + 1) for v in values
        )

    def _function(self, view: View, node: ast.expr) -> tuple[Unit, ast.FunctionDef] | None:
        """The one function that a name means here: of this file, or of another."""
        if not isinstance(node, ast.Name | ast.Attribute):
            return None
        name = node.id if isinstance(node, ast.Name) else node.attr
        if isinstance(node, ast.Name):
            made = {u.made.kind for u in view.flow.reads.get(node, ()) if u.made.path == (name,)}
            if not made <= _OF_FUNCTIONS:
                return None
        sure: list[tuple[Unit, ast.FunctionDef]] = []
        for unit in self._project.units.defining(name):
            for each in unit.nodes(ast.FunctionDef):
                if each.name != name:
                    continue
                meant = Resolver(self._project, unit, each).means(view.unit, node)
                if meant is None or (meant and (each.decorator_list or self._is_set(unit, each))):
                    return None
                if meant:
                    sure.append((unit, each))
        return sure[0] if len(sure) == 1 else None

    def _is_set(self, unit: Unit, function: ast.FunctionDef) -> bool:
        """Whether the name of a function gets another value as well, where it is made."""
        scope, name = self._project.scope_of(unit, function), function.name
        return any(
            isinstance(n, ast.Name)
            and n.id == name
            and isinstance(n.ctx, ast.Store)
            and self._project.scope_of(unit, n) is scope
            for n in walk(scope)
        )

    # -- what they return -----------------------------------------------------------------------

    def _returns_data(self, unit: Unit, function: ast.FunctionDef, whole: bool = False) -> bool:
        """``whole``: datasets, and nothing else."""
        inner = self._project.view(unit, function)
        values = [r.value for r in inner.flow.returns]
        if not values or inner.flow.yields or function in self._entered:
            return False
        self._entered.add(function)
        data = all(v is not None and self._is_data(inner, v, set(), whole) for v in values)
        self._entered.discard(function)
        return data

    def _is_data(self, view: View, value: ast.expr, seen: set[Def], whole: bool = False) -> bool:
        """Whether it is a dataset, or holds nothing but what an iterator gives.

        ``whole``: it has to be a dataset; into anything else something else may have been put.
        """
        match value:
            case ast.Tuple() | ast.List() if not whole:
                return all(self._is_data(view, each, seen) for each in value.elts)
            case ast.Name():
                made = _made_for(view, value)
                if made and all(self._holds_data(view, d, set(seen), True) for d in made):
                    return True
                left_alone = not whole and _is_only_returned(view, value.id)
                return (
                    bool(made)
                    and left_alone
                    and all(self._holds_data(view, d, seen, False) for d in made)
                )
            case ast.Call(func=ast.Attribute(value=inner, attr="get_next")) if not whole:
                return self._is_iterator(view, inner, seen)
            case ast.Call():
                return self._is_dataset(view, value, seen)
        return False

    def _holds_data(self, view: View, made: Def, seen: set[Def], whole: bool) -> bool:
        if made in seen:
            return True  # round a loop: what it was before tells
        seen.add(made)
        kinds = (Kind.ASSIGN,) if whole else (Kind.ASSIGN, Kind.ELEMENT)
        return (
            made.kind in kinds
            and len(made.path) == 1
            and made.value is not None
            and self._is_data(view, made.value, seen, whole)
        )

    def _is_iterator(self, view: View, value: ast.expr, seen: set[Def]) -> bool:
        if isinstance(value, ast.Name):
            made = _made_for(view, value)
            values = [d.value for d in made if d.kind is Kind.ASSIGN and len(d.path) == 1]
            return len(values) == len(made) == 1 and (
                isinstance(values[0], ast.Call) and self._is_iterator(view, values[0], seen)
            )
        if not isinstance(value, ast.Call):
            return False
        path = view.unit.names.qualified(value.func) or ""
        if path.startswith("tensorflow.") and path.rpartition(".")[2] in _ITERATORS:
            return len(value.args) == 1 and self._is_data(view, value.args[0], seen, True)
        func = value.func
        return (
            isinstance(func, ast.Attribute)
            and func.attr in _ITERATORS
            and self._is_data(view, func.value, seen, True)
        )

    def _is_dataset(self, view: View, call: ast.Call, seen: set[Def]) -> bool:
        path = view.unit.names.qualified(call.func) or ""
        if path.startswith("tensorflow."):
            return ".data." in path and path.partition(".data.")[2] in _MADE_BY
        func = call.func
        if isinstance(func, ast.Attribute) and func.attr in _KEPT_BY:
            if self._is_data(view, func.value, seen, True):
                return True
        function = self._function(view, func)
        return function is not None and self._returns_data(*function, whole=True)


def _made_for(view: View, value: ast.Name | ast.Attribute) -> list[Def]:
    """What gives the name its value; what functions that it holds would read is none of that."""
    path = path_of(value) or ("",)
    return [d for d in origins(view.flow.reads.get(value, ())) if d.path[0] == path[0]]


def _is_only_returned(view: View, name: str) -> bool:
    """Whether nothing is done with what is called so but to return it, as it is or among others.

    Whoever else gets it may put something into it.
    """
    for node in walk(view.scope):
        if isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load):
            parent = view.unit.parents[node]
            if isinstance(parent, ast.Tuple | ast.List):
                parent = view.unit.parents[parent]
            if not isinstance(parent, ast.Return):
                return False
    return True


def _place(stmt: ast.Assign, path: tuple[str, ...]) -> int | None:
    """Which element of the value ``path`` is given: ``f, _ = make()``."""
    target = stmt.targets[0] if len(stmt.targets) == 1 else None
    if not isinstance(target, ast.Tuple) or any(isinstance(e, ast.Starred) for e in target.elts):
        return None
    found = [i for i, each in enumerate(target.elts) if path_of(each) == path]
    return found[0] if len(found) == 1 else None
