"""Parts of objects that code reads, and that constructors computed from variables before.

``gradients(Input(x))``, where ``Input`` keeps ``x * scale`` and ``gradients`` reads it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Set

from tapemigrate.flow.definitions import Kind
from tapemigrate.flow.functions import NamedFunction
from tapemigrate.flow.paths import looked_up, path_of
from tapemigrate.flow.slices import backward
from tapemigrate.rules.callgraph.assigned import assigned_in, attribute_values, global_values
from tapemigrate.rules.callgraph.classes import is_of_library
from tapemigrate.rules.callgraph.imported import homes_of
from tapemigrate.rules.project import Project, View
from tapemigrate.rules.proof.kept.kept_results import Class, above, method_of
from tapemigrate.rules.proof.objects.held_values import HeldValues
from tapemigrate.rules.proof.objects.holding import Held
from tapemigrate.rules.proof.objects.objects_named import contents_of
from tapemigrate.source.trees import top_level, walk
from tapemigrate.tape.ops.kinds import Make

# What gives what containers hold.
_TAKING_OUT = frozenset(
    {"get", "pop", "setdefault", "values", "items", "next", "iter", "zip", "enumerate", "list"}
    | {"tuple", "reversed", "sorted", "popleft", "getattr"}
)
_TAKEN = (Kind.ELEMENT, Kind.LOOP, Kind.COMPREHENSION, Kind.WITH)
# Through how many objects a part is looked for.
_DEPTH = 3


def computed_parts(
    project: Project,
    view: View,
    roots: Iterable[ast.AST],
    inside: Set[ast.AST] = frozenset(),
    also: Held = Held.COMPUTED,
) -> Iterator[ast.expr]:
    """The parts of objects that are read in ``roots`` and were computed, not made ``inside``.

    Those that are ``also``, say variables, count as well. The parts of the object of the method
    itself are told by others.
    """
    values = project.once(HeldValues)
    made = {node for node in inside if _makes(node)}
    met: set[str] = set()
    for node, read in _reads(view, roots):
        text = ast.unparse(read)
        if text in met or _is_own(view, read.value):
            continue
        met.add(text)
        found = _objects(project, view, read.value, made, _DEPTH)
        if any(_is_computed(project, values, each, read.attr, also) for each in found):
            yield node


def gives_computed_part(
    project: Project,
    view: View,
    values: Iterable[ast.expr],
    also: Held = Held.COMPUTED,
) -> bool:
    """Whether values are made of such parts, by functions that they call as well."""
    pending = [(view, list(values))]
    seen: set[ast.AST] = set()
    while pending:
        inner, run = pending.pop()
        run = [each for each in run if each not in seen]
        seen.update(run)
        if any(True for _ in computed_parts(project, inner, run, also=also)):
            return True
        nodes = (node for each in run for node in walk(each))
        pending += (given for node in nodes for given in _behind(project, inner, node))
    return False


def _behind(project: Project, view: View, node: ast.AST) -> Iterator[tuple[View, list[ast.expr]]]:
    """What functions that are called give, and names that others gave a value, each in its scope.

    Those of the scope itself were gone through.
    """
    found: list[tuple[View, ast.expr]] = []
    if isinstance(node, ast.Call):
        for inner in _called(project, view, node):
            found += ((inner, end.value) for end in inner.flow.returns if end.value is not None)
    elif isinstance(node, ast.Attribute) and _is_own(view, node.value):
        found = _in_scopes(project, view, attribute_values(project, view, node.attr))
    elif isinstance(node, ast.Name) and node.id not in view.flow.own_names:
        found = _in_scopes(project, view, global_values(view.unit, node.id))
    for inner, value in found:
        made = backward(inner.flow.uses_in(value)).made
        yield inner, [value, *(d.value for d in made if d.value is not None)]


def _in_scopes(
    project: Project, view: View, values: Iterable[ast.expr]
) -> list[tuple[View, ast.expr]]:
    unit = view.unit
    return [(project.view(unit, project.scope_of(unit, value)), value) for value in values]


def _called(project: Project, view: View, call: ast.Call) -> Iterator[View]:
    """The functions at hand that a call may run, by their names."""
    function = view.kinds.called(call)
    if function is not None:
        yield project.view(view.unit, function)
        return
    path = view.unit.names.qualified(call.func) or ""
    for home, name in homes_of(project, path) if "." in path and not is_of_library(path) else ():
        for stmt in top_level(home.tree):
            if isinstance(stmt, NamedFunction) and stmt.name == name:
                yield project.view(home, stmt)


def _objects(
    project: Project, view: View, owner: ast.expr, inside: set[ast.AST], depth: int
) -> list[Class]:
    """The classes of what ``owner`` may be, or hold; of a part of an object, those of the part."""
    found = contents_of(project, view, owner, inside).classes
    if isinstance(owner, ast.Name) and owner not in view.flow.reads:
        taken = [d for d in view.flow.defs.values() if d.path == (owner.id,) and d.kind in _TAKEN]
        values = [d.value for d in taken if d.value is not None and d.value not in inside]
        found = [
            *found,
            *(c for v in values for c in contents_of(project, view, v, inside).classes),
        ]
    if not isinstance(owner, ast.Attribute) or _is_own(view, owner.value) or not depth:
        return found
    for each in _objects(project, view, owner.value, inside, depth - 1):
        for unit, cls in above(project, *each):
            for value in assigned_in(unit, cls).get(owner.attr, ()):
                inner = project.view(unit, project.scope_of(unit, value))
                found = [*found, *contents_of(project, inner, value, set()).classes]
    return found


def _makes(node: ast.AST) -> bool:
    """Whether a call may make objects, and does not only take some out of a container."""
    if not isinstance(node, ast.Call):
        return False
    return (path_of(node.func) or ("",))[-1].lstrip(".") not in _TAKING_OUT


def _reads(view: View, roots: Iterable[ast.AST]) -> Iterator[tuple[ast.expr, ast.Attribute]]:
    for node in (n for root in roots for n in walk(root)):
        read = looked_up(node) or node
        if not isinstance(read, ast.Attribute) or not isinstance(read.ctx, ast.Load):
            continue
        above = view.unit.parents.get(node)
        is_called = isinstance(above, ast.Call) and above.func is node
        if is_called or view.kinds.make(read) is Make.PYTHON:
            continue
        if view.unit.names.qualified(read) is None:
            assert isinstance(node, ast.expr)
            yield node, read


def _is_own(view: View, owner: ast.expr) -> bool:
    return path_of(owner) == (view.kinds.self_name,)


def _is_computed(project: Project, values: HeldValues, made: Class, name: str, also: Held) -> bool:
    """Whether an object of the class has a part of that name that was computed from variables."""
    _, method = method_of(list(above(project, *made)), name)
    if method is None:
        return values.attribute(*made, name) in (Held.COMPUTED, also)
    return bool(method.decorator_list) and _reads_computed(project, values, made, method)


def _reads_computed(
    project: Project, values: HeldValues, made: Class, method: NamedFunction
) -> bool:
    """The same of a property, which runs where it is read: of what it reads of its object."""
    own = [a.arg for a in method.args.args[:1]]
    names = {n.attr for n in walk(method) if isinstance(n, ast.Attribute) and _named(n.value, own)}
    return any(
        values.attribute(*made, each) is Held.COMPUTED
        for each in sorted(names)
        if method_of(list(above(project, *made)), each)[1] is None
    )


def _named(node: ast.expr, names: list[str]) -> bool:
    return isinstance(node, ast.Name) and node.id in names
