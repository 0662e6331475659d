"""Code that takes all names of a function at once, where a tape is one more of them."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tapemigrate.rules.project import Project, View
from tapemigrate.source.points import begin
from tapemigrate.source.trees import walk
from tapemigrate.tape.placing.region import Region

_LISTING = frozenset({"locals", "vars", "dir"})


def tape_among_names(project: Project, view: View, region: Region) -> list[str]:
    """What is assumed of ``build(**locals())``, which hands the tape on as well."""
    unit, scope = view.unit, view.scope
    if not any(f"{name}()" in unit.text for name in _LISTING):
        return []
    first = begin(region.block.body[region.first])
    return [
        f"`{ast.unparse(call)}` in line {call.lineno} may hold the tape as well"
        for call in _lists(scope)
        if (region.given or begin(call) >= first) and project.scope_of(unit, call) is scope
        if not all(_asks_by_name(use, unit.parents) for use in _uses(call, scope, unit.parents))
    ]


def _lists(scope: ast.AST) -> Iterator[ast.Call]:
    for node in walk(scope):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and not node.args:
            if node.func.id in _LISTING:
                yield node


def _uses(call: ast.Call, scope: ast.AST, parents: dict[ast.AST, ast.AST]) -> list[ast.expr]:
    """Where the names are used: as called, or by the name that they are given together."""
    match parents[call]:
        case ast.Assign(targets=[ast.Name(id=name)]):
            named = (n for n in walk(scope) if isinstance(n, ast.Name) and n.id == name)
            return [n for n in named if isinstance(n.ctx, ast.Load)]
    return [call]


def _asks_by_name(call: ast.expr, parents: dict[ast.AST, ast.AST]) -> bool:
    """``locals()["x"]``, ``"x" in locals()``, ``"%(x)s" % locals()``, ``"{x}".format(**locals())``

    These are given what they ask for by its name, however many names there are. So is what is
    handed those of the module as well: ``callback(locals(), globals())``.
    """
    above = parents[call]
    if isinstance(above, ast.Call):
        funcs = [a.func for a in above.args if isinstance(a, ast.Call)]
        return any(isinstance(f, ast.Name) and f.id == "globals" for f in funcs)
    if isinstance(above, ast.keyword):
        called = parents[above]
        func = called.func if isinstance(called, ast.Call) else None
        return isinstance(func, ast.Attribute) and func.attr == "format"
    if isinstance(above, ast.Attribute):
        return above.attr in {"get", "setdefault", "pop"}
    if isinstance(above, ast.Compare):
        return all(isinstance(op, ast.In | ast.NotIn) for op in above.ops)
    return isinstance(above, ast.Subscript | ast.BinOp)
