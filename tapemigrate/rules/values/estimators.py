"""Model functions that Estimators alone call: ``model_fn(features, labels, mode, params)``.

An Estimator makes a new graph for each of its calls, and what it feeds the model function there is
what an input function gives. Where that is data alone, no variable has a part in it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tapemigrate.flow.paths import path_of
from tapemigrate.rules.callgraph.meaning import named_mentions
from tapemigrate.rules.finding import Unit
from tapemigrate.rules.project import CallSite, Project, View
from tapemigrate.rules.values.plain.datasets import gives_data
from tapemigrate.source.trees import walk

# By these names an Estimator hands in what the input function gives.
FED = frozenset({"features", "labels"})
_ESTIMATORS = ("estimator.Estimator", "estimator.tpu.TPUEstimator", "contrib.tpu.TPUEstimator")
_RUNS = frozenset({"train", "evaluate", "predict"})
# What an Estimator can be asked without a run of the model function.
_ASKED = frozenset(
    {"model_dir", "config", "params", "latest_checkpoint", "get_variable_names"}
    | {"get_variable_value", "eval_dir"}
)
_SPECS = ("estimator.TrainSpec", "estimator.EvalSpec")
_MOST_OF_SPEC = 4  # without exporters, which have inputs of their own
_BOTH = "estimator.train_and_evaluate"


def builder_of(project: Project, unit: Unit, function: ast.FunctionDef) -> ast.FunctionDef | None:
    """The function around a model function, which returns it."""
    around = project.scope_of(unit, function)
    if not isinstance(around, ast.FunctionDef) or not FED & {a.arg for a in function.args.args}:
        return None
    returned = (n.value for n in walk(around) if isinstance(n, ast.Return))
    same = any(isinstance(v, ast.Name) and v.id == function.name for v in returned)
    return around if same else None


def input_makers(unit: Unit) -> frozenset[str]:
    """The functions that make the input functions of the Estimators of a file."""
    if "Estimator" not in unit.text:
        return frozenset()
    calls = list(unit.nodes(ast.Call))
    if not any(_is_one_of(unit, call, _ESTIMATORS) for call in calls):
        return frozenset()
    given = [k.value for c in calls for k in c.keywords if k.arg == "input_fn"]
    given += [c.args[0] for c in calls if c.args and path_of(c.func) and _is_run(c)]
    paths = {path_of(each) for each in given} - {None}
    for stmt in unit.nodes(ast.Assign):
        if paths & {path_of(n) for t in stmt.targets for n in walk(t)}:
            given.append(stmt.value)
    called = (path_of(each.func if isinstance(each, ast.Call) else each) for each in given)
    return frozenset(path[-1].lstrip(".") for path in called if path is not None)


def _is_run(call: ast.Call) -> bool:
    return isinstance(call.func, ast.Attribute) and call.func.attr in _RUNS


class _Unseen(Exception):
    """Something may be done with it that cannot be followed."""


def is_fed_data(project: Project, view: View, parameter: str) -> bool:
    """Whether nothing but data is ever handed in as ``parameter``."""
    scope = view.scope
    if parameter not in FED or not isinstance(scope, ast.FunctionDef) or scope.decorator_list:
        return False
    try:
        made = list(_Uses(project).estimators(view.unit, scope))
        return bool(made) and all(_Uses(project).runs_on_data(each) for each in made)
    except _Unseen:
        return False


def runs_in_graphs_of_its_own(project: Project, view: View) -> bool:
    """Whether Estimators alone run the scope: no tensor that was made elsewhere is in its graph."""
    scope = view.scope
    if not isinstance(scope, ast.FunctionDef) or scope.decorator_list:
        return False
    if not FED & {a.arg for a in scope.args.args}:
        return False
    try:
        return bool(list(_Uses(project).estimators(view.unit, scope)))
    except _Unseen:
        return False


class _Uses:
    def __init__(self, project: Project) -> None:
        self._project = project

    def estimators(self, unit: Unit, function: ast.FunctionDef) -> Iterator[CallSite]:
        """The Estimators that are made with a function, which nothing else may be done with."""
        if self._project.class_of(unit, function) or self._project.unread({function.name}):
            raise _Unseen
        found = named_mentions(self._project, unit, function)
        around = self._project.scope_of(unit, function)
        if found.calls:
            raise _Unseen
        for user, node in found.others:
            stmt = user.parents[node]
            if not isinstance(stmt, ast.Return):
                yield self._handed(user, node)
            elif isinstance(around, ast.FunctionDef) and not around.decorator_list:
                for site in self._calls(unit, around):
                    yield from self._given(site)
            else:
                raise _Unseen

    def _calls(self, unit: Unit, builder: ast.FunctionDef) -> list[CallSite]:
        """All calls of what returns a model function, itself no inner function."""
        top = isinstance(unit.parents[builder], ast.Module)
        found = named_mentions(self._project, unit, builder)
        if not top or found.others or self._project.unread({builder.name}):
            raise _Unseen
        return found.calls

    def _given(self, site: CallSite) -> Iterator[CallSite]:
        """The Estimators that are made with what a call gives, there or by one name."""
        stmt = site.unit.parents[site.call]
        if not isinstance(stmt, ast.Assign):
            yield self._handed(site.unit, site.call)
            return
        for node in self._reads(site.unit, stmt):
            yield self._handed(site.unit, node)

    def _handed(self, unit: Unit, node: ast.AST) -> CallSite:
        """The Estimator that is made with a model function."""
        call = unit.parents[node]
        first = isinstance(call, ast.Call) and node in call.args[:1]
        if isinstance(call, ast.keyword) and call.arg == "model_fn":
            call, first = unit.parents[call], True
        if not first or not isinstance(call, ast.Call) or not _is_one_of(unit, call, _ESTIMATORS):
            raise _Unseen
        return CallSite(unit, call)

    def _reads(self, unit: Unit, stmt: ast.Assign) -> Iterator[ast.expr]:
        """Where a value is read to which a statement gives a name, or an attribute of ``self``.

        Nothing else gives the name one but calls of the same function: ``if train: fn = make(a)``
        and ``else: fn = make(b)``.
        """
        path = path_of(stmt.targets[0]) if len(stmt.targets) == 1 else None
        scope = self._project.scope_of(unit, stmt)
        if path is None or len(path) > 2:
            raise _Unseen
        if len(path) == 2:
            yield from self._attribute(unit, stmt, path)
            return
        # A name of the module may be imported by others.
        if isinstance(scope, ast.Module) and len(self._project.units) > 1:
            raise _Unseen
        for node in walk(scope):
            if isinstance(node, ast.Name) and node.id == path[0]:
                if isinstance(node.ctx, ast.Load):
                    yield node
                elif not _is_call_alike(unit.parents[node], stmt):
                    raise _Unseen

    def _attribute(self, unit: Unit, stmt: ast.Assign, path: tuple[str, ...]) -> Iterator[ast.expr]:
        name = path[1].lstrip(".")
        view = self._project.view(unit, self._project.scope_of(unit, stmt))
        if path[0] != view.kinds.self_name or self._project.unread({name}):
            raise _Unseen
        if any(node not in stmt.targets for _, node in self._project.stores(name)):
            raise _Unseen
        for each in self._project.units.having(name):
            for node in each.nodes(ast.Attribute):
                if node.attr == name and isinstance(node.ctx, ast.Load):
                    if each is not unit:
                        raise _Unseen
                    yield node

    def runs_on_data(self, site: CallSite) -> bool:
        """Whether an Estimator runs its model function on data alone."""
        unit, stmt = site.unit, site.unit.parents[site.call]
        if isinstance(stmt, ast.Attribute):
            return self._run(unit, site.call)
        if not isinstance(stmt, ast.Assign):
            return False
        return all(self._run(unit, node) for node in self._reads(unit, stmt))

    def _run(self, unit: Unit, node: ast.expr) -> bool:
        """Whether all that is done with an Estimator at ``node`` feeds it nothing else."""
        parent = unit.parents[node]
        if isinstance(parent, ast.Call) and node in parent.args[:1]:
            if not _is_one_of(unit, parent, (_BOTH,)) or parent.keywords:
                return False
            return all(self._spec(unit, each) for each in parent.args[1:])
        if not isinstance(parent, ast.Attribute):
            return False
        if parent.attr in _ASKED:
            return True
        call = unit.parents[parent]
        return parent.attr in _RUNS and isinstance(call, ast.Call) and self._input(unit, call)

    def _spec(self, unit: Unit, node: ast.expr) -> bool:
        """The same of what says with which input one is trained, or evaluated."""
        if isinstance(node, ast.Name):
            view = self._project.view(unit, self._project.scope_of(unit, node))
            values = [u.made.value for u in view.flow.reads.get(node, ())]
            node = values[0] if len(values) == 1 and values[0] is not None else node
        return (
            isinstance(node, ast.Call)
            and _is_one_of(unit, node, _SPECS)
            and len(node.args) <= _MOST_OF_SPEC
            and not any(k.arg == "exporters" for k in node.keywords)
            and self._input(unit, node)
        )

    def _input(self, unit: Unit, call: ast.Call) -> bool:
        named = [k.value for k in call.keywords if k.arg == "input_fn"]
        given = named or call.args[:1]
        if not given or any(k.arg is None for k in call.keywords):
            return False
        view = self._project.view(unit, self._project.scope_of(unit, call))
        return gives_data(self._project, view, given[0])


def _is_call_alike(other: ast.AST, stmt: ast.Assign) -> bool:
    """Whether it is the statement, or gives one name what the same function makes."""
    if other is stmt:
        return True
    one, same = (each.value if isinstance(each, ast.Assign) else None for each in (stmt, other))
    if not (isinstance(one, ast.Call) and isinstance(same, ast.Call)):
        return False
    return path_of(one.func) is not None and path_of(one.func) == path_of(same.func)


def _is_one_of(unit: Unit, call: ast.Call, names: tuple[str, ...]) -> bool:
    path = unit.names.qualified(call.func) or ""
    return path.startswith("tensorflow.") and path.endswith(tuple(f".{n}" for n in names))
