"""What methods keep of their first call for the next ones: ``if self.y is None: self.y = …``.

Where the function with the gradient call runs again, its tape has not seen what the first run made.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from tapemigrate.flow.changers import CHANGERS
from tapemigrate.flow.definitions import Def, Kind
from tapemigrate.flow.paths import names_class, path_of
from tapemigrate.flow.slices import origins
from tapemigrate.rules.callgraph.instances import instances_of
from tapemigrate.rules.finding import Unit
from tapemigrate.rules.project import Project, View
from tapemigrate.rules.proof.kept.kept_results import leads_up, methods_of
from tapemigrate.rules.proof.objects.contained import contained
from tapemigrate.rules.proof.verdicts import names_of
from tapemigrate.rules.values.objects.captured import captured_functions
from tapemigrate.source.trees import arguments_of, walk
from tapemigrate.tape.leaf import Leaf
from tapemigrate.tape.names.same import is_new
from tapemigrate.tape.ops.kinds import INDEPENDENT
from tapemigrate.tape.ops.symbols import RUN_WHEN_CALLED
from tapemigrate.tape.placing.region import Region


def kept_by_calls(project: Project, view: View, region: Region, leaves: list[Leaf]) -> list[str]:
    """What is assumed of objects that outlive the function and are asked again in the region."""
    # What a run has made anew, an earlier one has computed nothing of.
    leaves = [leaf for leaf in leaves if not _is_new(leaf, view)]
    if isinstance(view.scope, ast.Module) or not leaves:
        return []
    body = region.block.body[region.first : region.last + 1]
    run: list[ast.AST] = [*body, region.request.target, *captured_functions(region, view)]
    found: dict[str, None] = {}
    for node in (n for each in run for n in walk(each)):
        for owner, methods in _asked(node):
            if path_of(owner) == (view.kinds.self_name,) or not _outlives(view, owner):
                continue
            for unit, cls in instances_of(project, view, owner).classes:
                if any(_keeps(project, unit, cls, name) for name in methods):
                    text = ast.unparse(node.func if isinstance(node, ast.Call) else node)
                    found[text] = None
    return [
        f"`{text}` gives nothing that an earlier call computed from {names_of(leaves)}"
        for text in found
    ]


def _is_new(leaf: Leaf, view: View) -> bool:
    return leaf.is_new and all(is_new(made, view.flow, view.kinds) for made in leaf.defs)


def _asked(node: ast.AST) -> Iterator[tuple[ast.expr, tuple[str, ...]]]:
    """The objects that are asked there, and the names of the methods that run."""
    if isinstance(node, ast.Call) and path_of(node.func) is not None:
        yield node.func, RUN_WHEN_CALLED
    elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
        yield node.value, (node.attr,)


def _outlives(view: View, owner: ast.expr) -> bool:
    """Whether the object may be there before the function runs, and after it."""
    if path_of(owner) is None or view.unit.names.qualified(owner) is not None:
        return False
    made = origins(view.flow.reads.get(owner, frozenset()))
    return not made or any(d.kind in (Kind.PARAM, Kind.ENTRY) for d in made)


def _keeps(project: Project, unit: Unit, cls: ast.ClassDef, name: str) -> bool:
    """Whether the method uses what an earlier call of it put on the object, by itself or others."""
    lineage = [(unit, each) for each in project.effects(unit).lineage(cls)]
    pending, met, upward = [name], set[ast.AST](), set[str]()
    while pending:
        each = pending.pop()
        methods = [m for _, m in methods_of(lineage, each, each in upward) if m not in met]
        if not methods:
            continue
        pending.append(each)
        method = methods[0]
        met.add(method)
        view = project.view(unit, method)
        me = view.kinds.self_name
        set_here = set(_set(project, view, me))
        for node in walk(method):
            if isinstance(node, ast.Attribute) and leads_up(lineage, node.value):
                upward.add(node.attr)
                pending.append(node.attr)
            if not isinstance(node, ast.Attribute) or path_of(node.value) != (me,):
                continue
            if isinstance(node.ctx, ast.Load):
                pending.append(node.attr)
                if node.attr in set_here and _is_read_of_before(view, node):
                    return True
    return False


def _set(project: Project, view: View, me: str | None) -> Iterator[str]:
    """The attributes that a method sets to what may be a tensor."""
    for made in view.flow.defs.values():
        if len(made.path) < 2 or made.path[0] != me or made.kind in (Kind.PARAM, Kind.ENTRY):
            continue
        if made.kind is Kind.MUTATE and _is_left_alone(project, view, made.value):
            continue
        if any(_may_be_tensor(view, value) for value in _values(made)):
            yield made.path[1].lstrip(".")


def _is_left_alone(project: Project, view: View, call: ast.expr | None) -> bool:
    """Whether a part of the object is asked by a method that changes no object in any file."""
    func = call.func if isinstance(call, ast.Call) else None
    if not isinstance(func, ast.Attribute) or func.attr in CHANGERS:
        return False
    if project.changing(func.attr):
        return False
    asked = contained(project, view, func.value, frozenset())
    return not asked.is_hidden and any(
        project.effects(unit).method(cls, func.attr) is not None for unit, cls in asked.classes
    )


def _values(made: Def) -> Iterable[ast.expr]:
    value = made.value
    if made.kind is Kind.MUTATE and isinstance(made.stmt, ast.Expr):
        value = made.stmt.value
        if isinstance(value, ast.Call):
            return arguments_of(value)
    return [] if value is None else [value]


def _may_be_tensor(view: View, value: ast.expr) -> bool:
    if isinstance(value, ast.Call) and view.kinds.makes_object(value):
        return False
    name = view.unit.names.qualified(value.func) if isinstance(value, ast.Call) else None
    if name is not None and names_class(name.rpartition(".")[2]):
        return False  # a layer, or another object
    return view.kinds.make(value) not in INDEPENDENT


def _is_read_of_before(view: View, node: ast.Attribute) -> bool:
    """Whether what is read may stem from an earlier call, and is not only told to be there."""
    above = view.unit.parents.get(node)
    if isinstance(above, ast.Compare) and all(isinstance(o, ast.Is | ast.IsNot) for o in above.ops):
        return False
    if isinstance(above, ast.If | ast.IfExp | ast.While) and above.test is node:
        return False
    if isinstance(above, ast.UnaryOp) and isinstance(above.op, ast.Not):
        return False
    if isinstance(above, ast.Attribute) and above.attr in CHANGERS:
        return False
    made = view.flow.reads.get(node, frozenset())
    return any(use.made.kind in (Kind.ENTRY, Kind.MUTATE) for use in made)
