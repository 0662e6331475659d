"""What statements of a scope find that others put aside, and the functions that they run."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

from tapemigrate.flow.definitions import Def, Kind
from tapemigrate.flow.functions import NamedFunction, named_defaults
from tapemigrate.flow.paths import path_of, text_of
from tapemigrate.flow.slices import backward
from tapemigrate.flow.states import PARTS
from tapemigrate.rules.callgraph.classes import is_of_library
from tapemigrate.rules.finding import Unit
from tapemigrate.rules.indexes import given_at_top
from tapemigrate.rules.project import Project, View
from tapemigrate.rules.proof.state.bound_alone import bound_alone
from tapemigrate.rules.proof.state.only_set import only_sets
from tapemigrate.rules.proof.state.put_aside import MOST, PutAside, Read, made_by
from tapemigrate.source.trees import walk

_GIVEN = (Kind.ASSIGN, Kind.ELEMENT)


def reads_aside(
    project: Project, view: View, nodes: Iterable[ast.AST], objects: bool = False
) -> bool:
    """Whether ``nodes`` of the scope of ``view`` may find what calls before them put aside.

    ``objects``: what an object reads that is called by its name, ``model(x)``, counts as well.
    """
    run = list(nodes)
    made = backward(use for root in run for use in view.flow.uses_in(root)).made
    run += [d.value for d in made if d.value is not None and d.kind in _GIVEN]
    defaults = {} if isinstance(view.scope, ast.Module) else named_defaults(view.scope.args)
    run += [defaults[d.path[0]] for d in made if d.kind is Kind.PARAM and d.path[0] in defaults]
    named = {n.id for root in run for n in walk(root) if isinstance(n, ast.Name)}
    named -= _stored(run) - {d.path[0] for d in made}
    asked = project.once(_unasked)
    parts: dict[str, None] = {}
    for read in asked.each_read_by(
        project, view.unit, run, bound_alone(project, view, run), objects
    ):
        if read.names or read.inner:
            return True
        parts |= {part: None for (_, part), base in read.parts.items() if _root_of(base) in named}
    return any(asked.is_set_later(project, part) for part in parts)


def functions_run(
    project: Project, view: View, nodes: Iterable[ast.AST]
) -> list[tuple[Unit, NamedFunction]] | None:
    """The functions of all files that ``nodes`` may run; None: there are too many."""
    called = _read_by(project, view, nodes, view.flow.own_names).called
    if len(called) >= MOST:
        return None
    return [(unit, f) for unit, f, _ in called if isinstance(f, NamedFunction)]


def found_aside(project: Project, view: View, nodes: Iterable[ast.AST]) -> set[str]:
    """What ``nodes`` may find that was put aside before the scope ran, and not by them."""
    roots = list(nodes)
    read = _read_by(project, view, roots, _own_names(project, view, roots))
    run = {function for _, function, _ in read.called}
    # What was there is gone where one of the functions that run sets it, whatever it was.
    names = {
        name
        for name, setters in read.names.items()
        if not setters or setters - run or not all(only_sets(f, name) for f in setters)
    }
    asked = project.once(_unasked)
    return names | {
        f"{holder}.{part}"
        for holder, part in _unset(view, roots, read.parts)
        if asked.is_set_later(project, part)
    }


def _own_names(project: Project, view: View, roots: Sequence[ast.AST]) -> frozenset[str]:
    """The names that are followed in the scope itself, where it calls their objects, too."""
    own = view.flow.own_names
    if isinstance(view.scope, ast.Module):
        return own
    given = view.unit.once(given_at_top)
    bound = bound_alone(project, view, roots)
    return bound | {
        name
        for name in own - bound
        if all(_is_object_at_hand(view, value) for value in given.get(name, ()))
    }


def _is_object_at_hand(view: View, value: ast.expr) -> bool:
    if not isinstance(value, ast.Call) or is_of_library(view.unit.names.qualified(value.func)):
        return False
    return view.kinds.makes_object(value)


def _unset(
    view: View, roots: Sequence[ast.AST], parts: Mapping[tuple[str, str], str]
) -> Iterator[tuple[str, str]]:
    """The parts of objects that the ``roots`` neither make nor change before they read them."""
    made = made_by(view.kinds, roots)
    inside = {node for root in roots for node in walk(root) if isinstance(node, ast.stmt)}
    here = {node.attr for root in roots for node in walk(root) if isinstance(node, ast.Attribute)}
    changed: dict[str, set[object]] = defaultdict(set)
    for each in view.flow.defs.values():
        # What only gives the object its name changes none of its parts.
        named = len(each.path) == 1 and each.kind is not Kind.MUTATE
        if each.stmt in inside and each.path != (view.kinds.self_name,) and not named:
            # Called again, a method may read what it read before.
            changed[text_of(each.path)].add(_called_in(each) or each.stmt)
    for (holder, part), base in parts.items():
        if base in made:
            continue
        wholes = _wholes(f"{holder}.{part}")
        changes = set().union(*(changed.get(whole, ()) for whole in wholes))
        # A method that reads the part may itself be what changes its object.
        if len(changes) < (1 if part in here else 2):
            yield holder, part


def _called_in(made: Def) -> frozenset[str]:
    """What the statement calls of the object that it changes, by its methods or itself."""
    calls = (n for n in walk(made.stmt) if isinstance(n, ast.Call)) if made.stmt else ()
    whole = made.path[:-1] if made.path[-1] == PARTS else made.path
    return frozenset(
        ast.unparse(call.func)
        for call in calls
        if (path := path_of(call.func)) is not None and path[: len(whole)] == whole
    )


def _wholes(part: str) -> list[str]:
    """``a``, ``a.b`` and ``a.b.c`` for ``a.b.c``, and what stands for all parts of these."""
    wholes = [part[:i] for i, each in enumerate(part) if each in ".["]
    return [*wholes, *(whole + PARTS for whole in wholes), part]


def _root_of(holder: str) -> str:
    """The name by which an object is reached: ``self`` of ``self.nets[0].body``."""
    return holder.partition(".")[0].partition("[")[0]


def _stored(nodes: Iterable[ast.AST]) -> set[str]:
    inside = (n for root in nodes for n in walk(root) if isinstance(n, ast.Name))
    return {n.id for n in inside if isinstance(n.ctx, ast.Store)}


def _unasked(_: Project) -> PutAside:
    return PutAside()


def _read_by(project: Project, view: View, nodes: Iterable[ast.AST], own: frozenset[str]) -> Read:
    return project.once(_unasked).read_by(project, view.unit, nodes, own)
