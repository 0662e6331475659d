"""Forward passes that run in steps: ``self.add_network(); self.add_loss()``.

What the steps that a tape records give ``self``, and read of it later, was not there before.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from tapemigrate.flow.definitions import Kind
from tapemigrate.flow.functions import NamedFunction
from tapemigrate.flow.paths import path_of
from tapemigrate.flow.slices import backward
from tapemigrate.rules.callgraph.assigned import attribute_values
from tapemigrate.rules.callgraph.names_in_texts import set_by_text
from tapemigrate.rules.callgraph.setters import runs_of_setters, runs_once
from tapemigrate.rules.finding import Unit
from tapemigrate.rules.project import Project, View
from tapemigrate.rules.proof.kept.set_late import set_late, unseen_calls
from tapemigrate.rules.proof.objects.constructor_above import Above, constructor_above
from tapemigrate.rules.proof.objects.not_set_yet import is_first_to_run, of_class
from tapemigrate.rules.proof.objects.properties import asked_for_within
from tapemigrate.rules.proof.objects.replacements import in_its_place
from tapemigrate.rules.values.objects.unnamed import sets_without_name
from tapemigrate.source.trees import walk
from tapemigrate.tape.placing.region import Region
from tapemigrate.tape.recipes import SOURCE
from tapemigrate.tape.request import Refusal

# How deep methods that a step calls are followed.
_DEPTH = 4
_RETURNS = (ast.Return, ast.Raise, ast.Yield, ast.YieldFrom, ast.Await)
# What may read any attribute.
_ANYTHING = "*"


class Steps:
    """What the statements of one region give ``self``, and what they read that was there before."""

    def __init__(self, project: Project, view: View, region: Region) -> None:
        self._project = project
        self._view = view
        rows = region.block.body[region.first : max(region.last + 1, region.call)]
        self._given: set[str] = set()
        self._before: set[str] = set()
        # The same without what stands between the forward pass and the call.
        self._within: set[str] = set()
        self._late: frozenset[str] = frozenset()
        self._unseen: list[str] = []
        self._anew = asked_for_within(project, view, region)
        self._region = region
        self._confined: dict[str, bool] = {}
        # The file and the class whose constructor is gone through, which may be one above.
        self._at: tuple[Unit, ast.ClassDef] | None = None
        me = view.kinds.self_name
        if me is None or view.cls is None or view.flow.yields or region.given or region.resumes:
            return
        if isinstance(view.scope, ast.FunctionDef) and view.scope.name == "__init__":
            self._at = view.unit, view.cls
        inside = region.block.body[region.first : region.last + 1]
        runs = self._run(me, inside, self._given, self._within, _DEPTH)
        self._before |= self._within
        self._run(me, rows[len(inside) :], self._given, self._before, _DEPTH, runs)
        target = [region.request.target, region.request.stmt]
        read = self._read(me, target, _DEPTH) - self._given
        read |= self._read(me, _ahead(view, region, rows), _DEPTH) - {_ANYTHING}
        self._before |= read
        self._within |= read
        watched = self._watched(me, region)
        late = set_late(project, view, [*rows, *target], watched & self._asked_for(me, region))
        made = [d.value for leaf in region.sources.leaves for d in leaf.defs if d.value is not None]
        self._late = late & _named(me, [region.request.sources, *made]) or late
        entered = _entered(me, region, rows)
        self._late = self._late or self._not_set_yet(entered, region, rows)
        self._unseen = [
            f"`{name}`, which is not seen here, does not set `self.{attribute}`"
            for name in sorted(unseen_calls(project, view, rows) if entered else ())
            for attribute in sorted(entered)
        ]
        if self._given & watched:
            self._before.add(_ANYTHING)  # what a step makes cannot be watched before it
            self._within.add(_ANYTHING)

    def made_late(self) -> Refusal | None:
        """That a source is set by a method which runs while the tape records."""
        if not self._late:
            return None
        return Refusal(
            f"`self.{min(self._late)}` is set by a method that the forward pass calls, and a tape "
            "has to watch it before",
            SOURCE,
        )

    def set_out_of_sight(self) -> list[str]:
        """What is assumed of calls whose methods a class out of sight has."""
        return self._unseen

    def _not_set_yet(
        self, entered: set[str], region: Region, rows: list[ast.stmt]
    ) -> frozenset[str]:
        """Those of the attributes watched on entry that what the constructor calls has to set.

        Its object has none of them, whether the classes above are seen or not.
        """
        chain = self._view.blocks.chain(region.block.body[region.first]) if rows else []
        before = [stmt for place in chain for stmt in place.block.body[: place.index]]
        if not rows or not is_first_to_run(self._view, before):
            return frozenset()
        named = {n.attr for b in before for n in walk(b) if isinstance(n, ast.Attribute)}
        return frozenset(a for a in entered - named if not of_class(self._project, self._view, a))

    def _watched(self, me: str, region: Region) -> set[str]:
        """The attributes that have to be watched, by themselves or under another name."""
        leaves = [leaf for leaf in region.sources.leaves if leaf.watch is not None]
        if not leaves:
            return set()
        behind = backward(self._view.flow.uses_in(region.request.sources)).made
        behind |= {d for leaf in leaves for d in leaf.defs}
        made: list[ast.AST] = [d.value for d in behind if d.value is not None]
        named = _named(me, [region.request.sources, *made])
        return named | {d.path[1].lstrip(".") for d in behind if d.path[0] == me and d.path[1:]}

    def _asked_for(self, me: str, region: Region) -> set[str]:
        """The attributes that the sources are, whatever those were made of."""
        defs = {d for leaf in region.sources.leaves for d in leaf.defs}
        values: list[ast.AST] = [d.value for d in defs if d.kind is not Kind.MUTATE and d.value]
        values = [v for v in values if isinstance(v, ast.Name | ast.Attribute | ast.List)]
        named = _named(me, [region.request.sources, *values])
        return named | {d.path[1].lstrip(".") for d in defs if d.path[0] == me and d.path[1:]}

    def settle(self, name: str) -> bool:
        """Whether ``self.name`` is nothing but what the region has given it, or runs in it."""
        if name in self._anew or (name in self._given and not self._before & {name, _ANYTHING}):
            return True
        scope = self._view.scope
        once = isinstance(scope, ast.FunctionDef) and runs_once(self._project, self._view, scope)
        return once and self._is_confined(name)

    def left_over(self, name: str) -> str:
        """What is assumed of ``self.name`` that only the region sets, which may run again."""
        scope = self._view.scope
        if not isinstance(scope, ast.FunctionDef) or not self._is_confined(name):
            return ""
        return f"`self.{name}` is not left over from an earlier run of `{scope.name}`"

    def _is_confined(self, name: str) -> bool:
        if name not in self._confined:
            self._confined[name] = self._confine(name)
        return self._confined[name]

    def _confine(self, name: str) -> bool:
        """Whether nothing but what runs in the region, or after it, sets ``self.name``.

        What is read of it then was computed there, is not there, or is left from an earlier run.
        """
        view, region = self._view, self._region
        scope, cls = view.scope, view.cls
        if cls is None or not isinstance(scope, ast.FunctionDef):
            return False
        if region.given or region.resumes or self._project.foreign_stores(view.unit, cls, name):
            return False
        runs = runs_of_setters(self._project, view.unit, cls, [name], {scope}, computed=True)
        inside = {node for row in region.block.body[region.first :] for node in walk(row)}
        return (
            not isinstance(runs, str)
            and bool(runs)
            and all(node in inside for _, node in runs)
            and not set_by_text(self._project, view.unit, name)
            and not sets_without_name(self._project, view)
        )

    def leave_out(self, name: str) -> bool:
        """Whether a parameter is but kept on ``self``, where nothing in the region reads it."""
        unit, me = self._view.unit, self._view.kinds.self_name
        read = self._project.uses_of(unit, self._view.scope, (name,))
        for node in read:
            stmt = unit.parents[node]
            if not isinstance(stmt, ast.Assign):
                return False
            for target in stmt.targets:
                path = path_of(target)
                if path is None or len(path) != 2 or path[0] != me:
                    return False
                if (self._within | self._given) & {path[1].lstrip("."), _ANYTHING}:
                    return False
        return bool(self._given) and bool(read)

    def _run(
        self,
        me: str,
        body: Iterable[ast.stmt],
        given: set[str],
        before: set[str],
        depth: int,
        runs: bool = True,
    ) -> bool:
        """Adds what the statements read and give, one after the other; whether all of them run.

        ``runs``: whether the first does.
        """
        for stmt in body:
            if isinstance(stmt, ast.With) and all(self._is_plain(i) for i in stmt.items):
                before |= self._read(me, [i.context_expr for i in stmt.items], depth) - given
                inner = given if runs else set(given)
                runs &= self._run(me, stmt.body, inner, before, depth)
                continue
            if isinstance(stmt, ast.If):
                before |= self._read(me, [stmt.test], depth) - given
                ways = [set(given), set(given)]
                ends = [
                    self._run(me, body, way, before, depth)
                    for body, way in zip((stmt.body, stmt.orelse), ways, strict=True)
                ]
                runs &= all(ends)
                given |= ways[0] & ways[1] if runs else set()
                continue
            before |= self._read(me, [stmt], depth) - given
            runs &= not any(isinstance(n, _RETURNS) for n in walk(stmt))
            if runs:
                given |= self._gives(me, stmt, depth)
        return runs

    def _is_plain(self, item: ast.withitem) -> bool:
        """Whether a context of TensorFlow's own is entered, which lets every error pass."""
        call = item.context_expr
        if self._at is not None and self._at[0] is not self._view.unit:
            return False
        return isinstance(call, ast.Call) and self._view.kinds.tensorflow(call.func) is not None

    def _read(self, me: str, nodes: Iterable[ast.AST], depth: int) -> set[str]:
        """The attributes that may be read, by methods as well, before these nodes give them."""
        found: set[str] = set()
        parents = (self._at[0] if self._at is not None else self._view.unit).parents
        owners: set[ast.AST] = set()  # also of what does not stand in the file
        known: set[ast.AST] = set()
        for node in (n for root in nodes for n in walk(root)):
            above = self._above(node) if depth else None
            if above is not None and isinstance(node, ast.Call):
                self._run_method(above, set(), found, depth)
                known |= {*walk(node.func), *(a for a in node.args if path_of(a) == (me,))}
            if isinstance(node, ast.Attribute):
                owners.add(node.value)
            if isinstance(node, ast.Name) and node not in known:
                part = node in owners or isinstance(parents.get(node), ast.Attribute)
                whole = node.id == me and not part
                if whole or node.id == "super":
                    found.add(_ANYTHING)
            if not isinstance(node, ast.Attribute) or path_of(node.value) != (me,):
                continue
            parent = parents.get(node)
            if isinstance(node.ctx, ast.Store) and not isinstance(parent, ast.AugAssign):
                continue
            method = self._method(node.attr)
            if isinstance(method, ast.FunctionDef) and depth:
                self._run_method(method, set(), found, depth)
            elif method is None and (self._is_kept(node.attr) or not _is_called(node, parent)):
                found.add(node.attr)
            else:
                found.add(_ANYTHING)
        return found

    def _is_kept(self, name: str) -> bool:
        return bool(attribute_values(self._project, self._view, name))

    def _gives(self, me: str, stmt: ast.stmt, depth: int) -> set[str]:
        """The attributes that certainly have a new value once the statement has run."""
        if not isinstance(stmt, ast.Assign | ast.Expr):
            return set()
        found = {
            part.attr
            for target in (stmt.targets if isinstance(stmt, ast.Assign) else [])
            for part in _targets(target)
            if isinstance(part, ast.Attribute) and path_of(part.value) == (me,)
        }
        call = stmt.value
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and depth:
            method = self._above(call) or self._method(call.func.attr)
            own = isinstance(method, Above) or path_of(call.func.value) == (me,)
            if isinstance(method, ast.FunctionDef | Above) and own:
                given: set[str] = set()
                self._run_method(method, given, set(), depth)
                found |= given
        return found

    def _above(self, node: ast.AST) -> Above | None:
        """The constructor of a class above that a call of the constructor runs."""
        if self._at is None or not isinstance(node, ast.Call):
            return None
        return constructor_above(self._project, *self._at, node)

    def _run_method(
        self, method: ast.FunctionDef | Above, given: set[str], before: set[str], depth: int
    ) -> None:
        """Goes through what a method does, or a constructor above."""
        known = self._project.once(_known_methods)
        above = isinstance(method, Above)
        body = method.method if isinstance(method, Above) else method
        key = (self._view.cls, body, above, depth)
        if key not in known:
            # Methods that all call each other are led to in as many ways as there are rows of them.
            known[key] = set(), set()
            at = self._at
            self._at = (method.unit, method.cls) if isinstance(method, Above) else None
            self._run(_self_of(body), body.body, *known[key], depth - 1)
            self._at = at
        given |= known[key][0]
        before |= known[key][1]

    def _method(self, name: str) -> ast.FunctionDef | str | None:
        """The method of the class that runs, and can be no other, when its name is called.

        A text where it may be another one, None where there is none.
        """
        unit, cls = self._view.unit, self._view.cls
        assert cls is not None
        method = self._project.effects(unit).method(cls, name)
        if method is None:
            return None
        if not isinstance(method, ast.FunctionDef) or not method.args.args:
            return name
        if [d for d in method.decorator_list if path_of(d) != ("property",)]:
            return name
        if any(isinstance(n, ast.Yield | ast.YieldFrom) for n in walk(method)):
            return name  # a generator does not run where it is called
        if any(True for _ in self._project.stores(name)):
            return name
        return in_its_place(self._project, unit, cls, name) or method


def _known_methods(
    _: Project,
) -> dict[tuple[ast.ClassDef | None, ast.FunctionDef, bool, int], tuple[set[str], set[str]]]:
    return {}


def _is_called(node: ast.Attribute, parent: ast.AST | None) -> bool:
    return isinstance(parent, ast.Call) and parent.func is node


def _self_of(method: ast.FunctionDef) -> str:
    return method.args.args[0].arg


def _ahead(view: View, region: Region, rows: list[ast.stmt]) -> list[ast.AST]:
    """What statements before these rows name, and of which the target is made: functions, too."""
    inside = {stmt for row in rows for stmt in walk(row)}
    made = backward(view.flow.uses_in(region.request.target)).made
    before = [d for d in made if d.stmt not in inside]
    functions = [d.stmt for d in before if isinstance(d.stmt, NamedFunction)]
    return [*functions, *(d.value for d in before if d.value is not None)]


def _entered(me: str, region: Region, rows: list[ast.stmt]) -> set[str]:
    """The attributes that are watched where the tape opens."""
    inside = {stmt for row in rows for stmt in walk(row)}
    paths = {
        leaf.path
        for leaf in region.sources.leaves
        if leaf.watch is not None and not any(d.stmt in inside for d in leaf.defs)
    }
    return {path[1].lstrip(".") for path in paths if path and path[0] == me and path[1:]}


def _named(me: str, roots: Iterable[ast.AST]) -> set[str]:
    nodes = (n for root in roots for n in walk(root))
    return {n.attr for n in nodes if isinstance(n, ast.Attribute) and path_of(n.value) == (me,)}


def _targets(target: ast.expr) -> Iterator[ast.expr]:
    if isinstance(target, ast.Tuple | ast.List):
        for part in target.elts:
            yield from _targets(part)
    else:
        yield target
