"""Variables that a library function makes inside its loop in a v1 graph, and reads through a cache.

`dynamic_rnn`, `map_fn` and their like set the `caching_device` of their variable scope there. A
tape does not see that such a variable is read: it gives None, without a word, where `tf.gradients`
gave the gradient. A custom getter of the scope around them takes the device out again
(tensorflow/python/ops/variable_scope.py): what is inside of it inherits it, unless it was opened
before.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence

from tapemigrate.rules.finding import Unit
from tapemigrate.rules.project import Project, View
from tapemigrate.rules.unseen.made_in_loops import loop_round, run_by_a_loop_too
from tapemigrate.rules.unseen.new_cells import are_new
from tapemigrate.rules.unseen.recurrent import direct, run_by, runs_in
from tapemigrate.rules.unseen.words import last_of
from tapemigrate.source.points import Point, begin, end
from tapemigrate.source.trees import walk
from tapemigrate.tape.leaf import Leaf, taken_for_variables
from tapemigrate.tape.placing.region import Region
from tapemigrate.tape.request import Refusal

# What sets a getter of its own, or keeps the scope in which variables are made.
_SCOPES_OF_THEIR_OWN = ("custom_getter", "set_custom_getter", "make_template", "sonnet")
# What has `get_variable` give a variable that is there.
_REUSING = ("reuse", "reuse_variables", "AUTO_REUSE")
_SCOPES = ("variable_scope", "variable_op_scope")
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.Module)
_ONE_VARIABLE = frozenset({"get_variable", "Variable", "VariableV1"})


def settle(
    region: Region, nodes: Sequence[ast.AST], view: View, project: Project
) -> Region | Refusal:
    """``region``, if a tape round ``nodes`` sees all variables among its sources.

    It may have to have them made without a cache.
    """
    unit = view.unit
    around = loop_round(region, view, project)
    if around is not None:
        return _made_in(around)
    leaves = _variables(region)
    if not (region.request.variables or any(map(_may_be_made_anywhere, leaves))):
        return region
    name = _first(nodes, unit, project)
    if name is None:
        return _found_again(region, nodes, view, project)
    before = _before(view.scope, begin(region.block.body[region.first]))
    if _stands(project, _SCOPES_OF_THEIR_OWN) or _may_have_made_them(before, nodes, unit, project):
        return _made_in(name)
    entered = _entered_around(region, unit)
    inside = (n for node in nodes for n in walk(node) if n not in entered)
    if any(_enters_a_graph(n) for n in inside):
        return Refusal(
            f"variables that are made inside `{name}` are read through a cache, in a graph that is "
            "entered only while the tape would record",
            "Open the tape inside of that graph, round the forward pass and the gradient call.",
        )
    region.uncached = True
    on_tape = [*region.block.body[region.first : region.last + 1], region.request.target]
    beside = (n for n in nodes if not _is_within(n, on_tape, unit))
    if are_new(on_tape, view, project) and _first(beside, unit, project) is None:
        return region
    region.assumptions.append(
        f"the variables that `{name}` reads are made on the tape, in scopes that are new there"
    )
    return region


def _found_again(
    region: Region, nodes: Sequence[ast.AST], view: View, project: Project
) -> Region | Refusal:
    """The region, where no loop was the first to make the variables that ``nodes`` find again."""
    leaves = _variables(region)
    # What a name of a function around holds was made in plain sight there.
    found_again = region.request.variables or any(
        not leaf.defs or any(made.value is not None for made in leaf.defs) for leaf in leaves
    )
    if not found_again or not _stands(project, _REUSING):
        return region
    found = run_by_a_loop_too(nodes, project)
    if found is None:
        return region
    function, name = found
    first = begin(region.block.body[region.first])
    if any(direct(n, view.unit) for node in _before(view.scope, first) for n in ast.walk(node)):
        return _made_in(name)
    if not any(direct(n, view.unit) for n in ast.walk(view.scope)):
        region.assumptions.append(
            f"the variables that `{function}` reads were not made inside `{name}`, which runs it "
            "as well"
        )
    return region


def _made_in(name: str) -> Refusal:
    return Refusal(
        f"variables that are made inside `{name}` are read through a cache in a v1 graph, and a "
        "tape gives None for them without a word",
        f"Make the variables before `{name}` runs (`cell.build(input_shape)`, or the layer called "
        "once outside) and differentiate by them by name; or write the loop with `tf.keras`.",
    )


def _entered_around(region: Region, unit: Unit) -> set[ast.AST]:
    """What the ``with`` statements enter that the tape would stand in."""
    found: set[ast.AST] = set()
    node: ast.AST = region.block.body[region.first]
    while (above := unit.parents.get(node)) is not None and not isinstance(above, _FUNCTIONS):
        node = above
        if isinstance(node, ast.With):
            found.update(n for item in node.items for n in walk(item.context_expr))
    return found


def _enters_a_graph(node: ast.AST) -> bool:
    """Whether the scopes of another graph, which inherit nothing, may hold from there on."""
    if not isinstance(node, ast.Call):
        return False
    if isinstance(node.func, ast.Attribute) and node.func.attr == "as_default":
        return "sess" not in ast.unparse(node.func.value).lower()
    is_session = (last_of(node.func) or "").endswith("Session")
    return is_session and (
        len(node.args) > 1 or any(k.arg in (None, "graph") for k in node.keywords)
    )


def _is_within(node: ast.AST, roots: Sequence[ast.AST], unit: Unit) -> bool:
    above: ast.AST | None = node
    while above is not None and above not in roots:
        above = unit.parents.get(above)
    return above is not None


def _may_have_made_them(
    before: list[ast.AST], nodes: Sequence[ast.AST], unit: Unit, project: Project
) -> bool:
    """Whether what ran ``before`` may have made variables that ``nodes`` use again."""
    if any(direct(n, unit) is not None for node in before for n in walk(node)):
        return True
    if not _stands(project, _REUSING) or _first(before, unit, project) is None:
        return False
    one, other = _scopes(before, unit, project), _scopes(nodes, unit, project)
    return None in one or None in other or not one.isdisjoint(other)


def _scopes(nodes: Iterable[ast.AST], unit: Unit, project: Project) -> set[str | None]:
    """The names of the outermost scopes in which ``nodes`` make variables; None is no such name."""
    cells = [node for root in nodes for node, _ in runs_in(root, unit, project)]
    return {_outermost_scope(node, unit) for node in cells}


def _outermost_scope(node: ast.AST, unit: Unit) -> str | None:
    """``"local"`` of ``with tf.variable_scope("local"):`` round ``node``, in its function."""
    calls: list[ast.Call] = []
    while (parent := unit.parents.get(node)) is not None and not isinstance(parent, _FUNCTIONS):
        if isinstance(parent, ast.With) and node in parent.body:
            opened = [item.context_expr for item in reversed(parent.items)]
            calls += [c for c in opened if isinstance(c, ast.Call) and last_of(c.func) in _SCOPES]
        node = parent
    firsts = [c.args[0] if c.args else None for c in calls]
    names = [f.value if isinstance(f, ast.Constant) else None for f in firsts]
    # One that is opened by its object may be anywhere.
    if not calls or not all(isinstance(name, str) for name in names):
        return None
    outermost, name = calls[-1], names[-1]
    alone = len(outermost.args) == 1 and not outermost.keywords
    return name if alone and isinstance(name, str) and "/" not in name else None


def _stands(project: Project, words: Sequence[str]) -> bool:
    """Whether one of the words stands in a file."""
    return any(word in file.text for _, file in project.units.files() for word in words)


def _before(node: ast.AST, place: Point) -> list[ast.AST]:
    """What runs in a scope before the statement at ``place``: not what is in the other branch."""
    found: list[ast.AST] = []
    children = ast.iter_child_nodes(node)
    if isinstance(node, ast.If):
        children = iter(node.orelse if end(node.body[-1]) <= place else node.body)
    for child in children:
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.arguments):
            continue
        is_before = isinstance(child, ast.stmt | ast.expr) and end(child) <= place
        found += [child] if is_before else _before(child, place)
    return found


def _first(nodes: Iterable[ast.AST], unit: Unit, project: Project) -> str | None:
    """The first function of that kind that ``nodes`` run."""
    return next((n for node in nodes for n in [run_by(node, unit, project)] if n is not None), None)


def _variables(region: Region) -> list[Leaf]:
    """The leaves that are variables, or are taken for such, by a name that this is said of."""
    said = region.assumptions
    return [
        leaf
        for leaf in region.sources.leaves
        if leaf.variables or taken_for_variables(leaf.watch or "") in said
    ]


def _may_be_made_anywhere(leaf: Leaf) -> bool:
    """Whether the leaf, which is variables, is not certainly made in plain sight."""
    values = [made.value for made in leaf.defs]
    return not values or not all(
        isinstance(value, ast.Call) and last_of(value.func) in _ONE_VARIABLE for value in values
    )
