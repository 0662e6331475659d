"""What an argument of a call is: another name of a value, a result, the other argument itself."""

from __future__ import annotations

import ast

from tapemigrate.flow.definitions import Def, Kind
from tapemigrate.flow.functions import parameters
from tapemigrate.flow.paths import Path, names_class, path_of
from tapemigrate.flow.slices import origins
from tapemigrate.rules.callgraph.arguments import argument_for
from tapemigrate.rules.indexes import given_at_top
from tapemigrate.rules.project import Project, View
from tapemigrate.rules.proof.aliases import named_by, with_aliases
from tapemigrate.rules.values.plain.plain_objects import is_plain_object
from tapemigrate.source.points import Point, begin
from tapemigrate.source.trees import walk
from tapemigrate.tape.ops.kinds import Make
from tapemigrate.tape.ops.plain_calls import makes_none
from tapemigrate.tape.ops.returned import given, place_of
from tapemigrate.tape.ops.syntax import run_in

#: What is computed from no tensor that is handed in.
PLAIN = (Make.PYTHON, Make.LEAF, Make.VARIABLE, Make.FROZEN)

# They tell what an object is, and read none of its parts.
_TELLING = frozenset({"len", "isinstance", "type", "id"})
_CODE = (Kind.FUNCTION, Kind.CLASS, Kind.IMPORT)

# Through how many methods it is followed what a call gives.
_DEPTH = 3
# Methods that are handed the texts of a command line, and give what these say.
_PARSING = frozenset({"parse_args", "parse_known_args"})


def changed_behind(view: View, value: ast.expr, place: Point) -> bool:
    """Whether an object that has a name in a value is changed in the scope, further down."""
    names = {n.id for n in walk(value) if isinstance(n, ast.Name)}
    return any(
        d.path[0] in names and d.begin > place
        for d in (view.flow.defs.values() if names else ())
        if len(d.path) > 1 or d.kind in (Kind.MUTATE, Kind.AUGMENT)
        if d.stmt is not None
    )


def another_name(value: ast.expr, view: View) -> frozenset[Def]:
    """What an argument may be another name of: ``f(tf.convert_to_tensor(x))``."""
    return with_aliases(named_by(value, view), view)


def handed_to_itself(
    caller: View, scope: ast.AST, other: ast.expr | None, parameter: str, method: bool
) -> ast.expr | None:
    """What the function was handed where the argument is a result of its own."""
    if other is None or not isinstance(scope, ast.FunctionDef):
        return other
    made = origins(caller.flow.reads.get(other, frozenset()))
    values = [d.value for d in made]
    value = other if isinstance(other, ast.Call) else values[0] if len(values) == 1 else None
    if not isinstance(value, ast.Call):
        return other
    name = value.func.attr if isinstance(value.func, ast.Attribute) else None
    name = value.func.id if isinstance(value.func, ast.Name) else name
    return argument_for(value, scope, parameter, method) if name == scope.name else other


def is_called_in_turn(scope: ast.AST, other: ast.expr) -> bool:
    """Whether what is passed is the result of a call, and is called in turn."""
    if isinstance(other, ast.Lambda) or not isinstance(scope, ast.FunctionDef):
        return False
    called = {
        n.func.id for n in walk(scope) if isinstance(n, ast.Call) and isinstance(n.func, ast.Name)
    }
    return bool(called & {a.arg for a in parameters(scope.args)})


def names_code(project: Project, caller: View, function: ast.Lambda) -> bool:
    """Whether it reads nothing from around but functions, classes and modules."""
    effects, top = project.effects(caller.unit), caller.unit.once(given_at_top)
    imported = project.imported(caller.unit)
    return all(
        d.kind in _CODE
        or (
            d.kind is Kind.ENTRY
            and len(d.path) == 1
            and d.path[0] not in top
            and bool(d.path[0] in imported or effects.functions(d.path[0]))
        )
        for d in (use.made for use in caller.flow.uses_in(function))
    )


def is_passed_twice(cut: frozenset[Def], caller: View, given: ast.expr, other: ast.expr) -> bool:
    """Whether the other argument is the source itself, passed twice."""
    if path_of(other) is None or not origins(caller.flow.uses_in(other)) <= cut:
        return False
    return bool(_names(caller, given) & _names(caller, other))


def taken_beside(
    caller: View, given: ast.expr, other: ast.expr, shared: frozenset[Def], behind: frozenset[Def]
) -> bool:
    """Whether the source is an element of ``shared``, of which others are read for ``other``.

    ``x, t = v["x"], v["t"]``, and each was made by itself: ``v = {k: tf.placeholder(…) for …}``.
    """
    if not all(_are_new(caller, d) for d in shared):
        return False
    named = {path for path, _ in _names(caller, given)}
    for element in sorted(path for path in named if path[-1].startswith("[")):
        if any(len(d.path) >= len(element) or d.path != element[: len(d.path)] for d in shared):
            continue
        held = max((d.path for d in shared), key=len)
        roots = [other, *(d.value for d in behind - shared if d.value is not None)]
        read = {
            path[: len(element)]
            for root in roots
            for n in walk(root)
            if isinstance(n, ast.expr) and (path := _whole_path(caller, n))[: len(held)] == held
        }
        if read and all(len(p) > len(held) and p != element and p[-1][0] == "[" for p in read):
            return True
    return False


def _whole_path(caller: View, node: ast.expr) -> Path:
    """The path of an expression that is no part of a longer one."""
    parent = caller.unit.parents.get(node)
    longer = isinstance(parent, ast.Attribute | ast.Subscript) and parent.value is node
    return () if longer and path_of(parent) is not None else path_of(node) or ()


def _are_new(caller: View, made: Def) -> bool:
    """Whether a comprehension gives it, and makes each element by itself: placeholders."""
    value = made.value if made.kind is Kind.ASSIGN else None
    if isinstance(value, ast.DictComp):
        return caller.kinds.make(value.value) in PLAIN
    return isinstance(value, ast.ListComp) and caller.kinds.make(value.elt) in PLAIN


def _names(caller: View, node: ast.expr) -> set[tuple[Path, frozenset[Def]]]:
    """The names that a value goes by, each with its definitions; a part of a value is no name."""
    found = set[tuple[Path, frozenset[Def]]]()
    current: ast.expr | None = node
    named: ast.stmt | None = None
    while current is not None:
        path = path_of(current)
        made = origins(caller.flow.uses_in(current))
        if path is None or (path, made) in found:
            break
        if named is not None and not _stays(caller, made, named, node):
            break
        found.add((path, made))
        only = next(iter(made)) if len(made) == 1 else None
        if only is None or only.kind is not Kind.ASSIGN or only.path != path:
            break  # of several it is one in one round, and another in the next
        current, named = only.value, only.stmt
    return found


def _names_on_any_way(caller: View, node: ast.expr) -> set[Path]:
    """The names that a value may go by: in one branch that, and in another one this."""
    found, seen = set[Path](), set[ast.expr]()
    stack = [node]
    while stack:
        current = stack.pop()
        path = path_of(current)
        if path is None or current in seen:
            continue
        seen.add(current)
        found.add(path)
        stack += [
            made.value
            for made in origins(caller.flow.uses_in(current))
            if made.kind is Kind.ASSIGN and made.path == path and made.value is not None
        ]
    return found


def _stays(caller: View, made: frozenset[Def], named: ast.stmt, node: ast.expr) -> bool:
    """Whether what ``made`` gives stays what it was at ``named`` until ``node``: ``z = x``.

    What a loop gives anew between the two has the definitions it had, and is another value.
    """
    outer, inner = _loops(caller, named), _loops(caller, node)
    if not outer <= inner:
        return False
    if outer and not _leads_to(caller, named, node):
        return False
    further = inner - outer
    for stmt in (d.stmt for d in made if d.stmt is not None):
        if outer and begin(named) < begin(stmt) < begin(node):
            return False
        if further & _loops(caller, stmt):
            return False
    return True


def _leads_to(caller: View, named: ast.stmt, node: ast.expr) -> bool:
    """Whether ``named`` runs before ``node`` whenever that does."""
    block, inside = caller.unit.parents[named], begin(named) < begin(node)
    above: ast.AST = node
    while inside and above is not caller.scope:
        below, above = above, caller.unit.parents[above]
        if above is block:
            bodies = (v for _, v in ast.iter_fields(block) if isinstance(v, list))
            return any(named in body and below in body for body in bodies)
    return False


def _loops(caller: View, node: ast.AST) -> set[ast.AST]:
    """The loops of the scope round ``node``."""
    found = set[ast.AST]()
    while node is not caller.scope and node in caller.unit.parents:
        node = caller.unit.parents[node]
        if isinstance(node, ast.For | ast.AsyncFor | ast.While):
            found.add(node)
    return found


def reads_beside(caller: View, name: Path, other: ast.expr, behind: frozenset[Def]) -> bool:
    """Whether another part is read of the object, or the dict, of which the source is one.

    By the argument, or by what was computed for it: one part may be made of the other. Whatever is
    handed the whole may read any part.
    """
    if any(
        d.kind is Kind.ENTRY
        and len(d.path) > 1
        and d.path[0] == name[0]
        and d.path[: len(name)] != name[: len(d.path)]
        for d in behind
    ):
        return True
    values = [other, *(d.value for d in behind if d.value is not None)]
    called = {u.made for value in values for u in caller.flow.uses_in(value)}
    code = (part for d in called if d.kind is Kind.FUNCTION for part in run_in(d))
    roots = [*values, *code]
    return any(
        path[0] == name[0] and path[: len(name)] != name and not _is_counted(caller, n)
        for root in roots
        for n in walk(root)
        if isinstance(n, ast.expr) and (path := _whole_path(caller, n))
    )


def _is_counted(caller: View, node: ast.expr) -> bool:
    """``len(parts)``, ``isinstance(net, Net)``"""
    parent = caller.unit.parents.get(node)
    return (
        isinstance(parent, ast.Call)
        and isinstance(parent.func, ast.Name)
        and parent.func.id in _TELLING
        and node in parent.args
    )


def taken_out_beside(
    caller: View, given: ast.expr, run: list[ast.expr], behind: frozenset[Def]
) -> bool:
    """Whether the source was taken out of a list, dict or object of which ``run`` reads more.

    By a name of its own: ``x = pair[0]; t = pair[1]``. What its own object keeps is told by others.
    """
    named = _names_on_any_way(caller, given) - {path_of(given) or ()}
    return any(
        reads_beside(caller, path, each, behind)
        for path in named
        if len(path) > 1 and path[0] != caller.kinds.self_name
        for each in run
    )


def asks_one_object(caller: View, given: ast.expr, run: list[ast.expr]) -> bool:
    """Whether the source is what an object gives that ``run`` asks as well: ``ends("x")``.

    What is called there may hand out what it has kept, and what was made of it.
    """
    whole = given
    while isinstance(whole, ast.Subscript | ast.Attribute):
        whole = whole.value
    if not isinstance(whole, ast.Call) or caller.kinds.called(whole) is not None:
        return False
    path = path_of(whole.func)
    if path is None or caller.kinds.name(whole.func) is not None or names_class(path[-1]):
        return False
    return any(
        (path_of(node) or ())[: len(path)] == path
        for root in run
        for node in walk(root)
        if isinstance(node, ast.Name | ast.Attribute)
    )


def is_output_of_object(
    project: Project, caller: View, node: ast.expr, depth: int = _DEPTH
) -> bool:
    """Whether a value is what an object makes of others: ``model.get_probs(x)``, ``self.net(x)``.

    Such objects are networks more often than not. It may be a method at hand that gives it.
    """
    made = origins(caller.flow.uses_in(node)) if path_of(node) is not None else frozenset[Def]()
    found = [(node, None), *((d.value, place_of(d)) for d in made)]
    for call, place in found:
        if not isinstance(call, ast.Call):
            continue
        if _is_of_object(project, caller, call):
            return True
        function = caller.kinds.called(call) if depth > 0 else None
        if function is None:
            continue
        inner = project.view(caller.unit, function)
        returned = [end.value for end in inner.flow.returns if end.value is not None]
        values = returned if place is None else given(function, place)
        if any(is_output_of_object(project, inner, each, depth - 1) for each in values):
            return True
    return False


def _is_of_object(project: Project, caller: View, call: ast.Call) -> bool:
    if not isinstance(call.func, ast.Attribute) or caller.kinds.name(call.func) is not None:
        return False
    effects, name = caller.kinds.effects, call.func.attr
    if name in _PARSING and _is_parser(project, caller, call.func.value):
        return False  # ``parser.parse_args(argv)``
    own = path_of(call.func.value) == (caller.kinds.self_name,)
    if own and (effects.functions(name) or not effects.kept(name)):
        return False  # a method
    return caller.kinds.make(call) is Make.UNKNOWN and any(
        caller.kinds.make(a) not in PLAIN for a in call.args
    )


def _is_parser(project: Project, caller: View, owner: ast.expr) -> bool:
    """Whether it is an object of a library without tensors that is made in sight."""
    made = origins(caller.flow.uses_in(owner)) if isinstance(owner, ast.Name) else frozenset[Def]()
    return bool(made) and all(
        is_plain_object(project, caller.unit, d.path[0])
        if d.kind is Kind.ENTRY
        else d.kind is Kind.ASSIGN
        and isinstance(d.value, ast.Call)
        and makes_none(caller.unit.names.qualified(d.value.func) or "", d.value)
        for d in made
    )
