"""What one call gives several of: whether the one may have been made from the other."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from tapemigrate.flow.definitions import Def, Kind, Use
from tapemigrate.flow.paths import path_of
from tapemigrate.flow.slices import backward, origins
from tapemigrate.rules.callgraph.places import may_hold
from tapemigrate.rules.indexes import functions_at_top
from tapemigrate.rules.project import Project, View
from tapemigrate.rules.proof.state.found_aside import functions_run
from tapemigrate.rules.unseen.reasons import LOOKING_UP
from tapemigrate.rules.unseen.words import last_of
from tapemigrate.source.trees import walk
from tapemigrate.tape.names.gradient_siblings import related
from tapemigrate.tape.names.lookups import Lookups
from tapemigrate.tape.names.same import value_may_be
from tapemigrate.tape.ops.kinds import Make
from tapemigrate.tape.ops.returned import element, places_of
from tapemigrate.tape.ops.symbols import ANY_VARIABLE_LISTS, GETTERS, VARIABLE_LISTS
from tapemigrate.tape.ops.syntax import may_give_back
from tapemigrate.tape.sources.filled_lists import added

# What TensorFlow gives several of: parts of one tensor, none of which is made of another.
_OWN_OPS = (Make.LEAF, Make.TENSOR, Make.PYTHON)
_LOOKS_UP = frozenset(
    name.rpartition(".")[2]
    for name in (*VARIABLE_LISTS, *ANY_VARIABLE_LISTS, *GETTERS, *LOOKING_UP)
)
_DISPLAYS = (ast.List, ast.Tuple, ast.Dict, ast.ListComp, ast.DictComp)
_LOOPED = (Kind.LOOP, Kind.COMPREHENSION, Kind.WITH)
# Methods that hand out what a container holds.
_TAKES = frozenset({"pop", "popleft", "popitem", "get", "setdefault", "__getitem__"})


class Siblings:
    """Compares values that are unpacked from one call, by what the function called returns."""

    def __init__(self, project: Project, view: View) -> None:
        self._project = project
        self._view = view

    def apart(self, source: Def, other: Def) -> bool | None:
        """Whether ``other`` was certainly not made from ``source``; None if that cannot be seen."""
        found = [self._in(view, source, other) for view in self._functions(source)]
        if not found or None in found:
            return None
        return all(found)

    def _functions(self, made: Def) -> list[View]:
        """The functions of which the result was unpacked; none where one cannot be told."""
        given = Lookups(self._view.flow, self._view.kinds).given_by(made)
        found = [self._called(each.call) for each in given]
        return [view for views in found for view in views] if all(found) else []

    def _called(self, call: ast.Call) -> list[View]:
        """The function that is called, and those that subclasses have in its place."""
        view, func = self._view, call.func
        effects = self._project.effects(view.unit)
        path = view.kinds.name(func)
        if path is not None:
            return self._imported(path)
        found: list[ast.FunctionDef | ast.AsyncFunctionDef] = []
        if isinstance(func, ast.Name):
            uses = view.flow.reads.get(func, ())
            known = {u.made.kind for u in uses if u.made.path == (func.id,)}
            found = effects.functions(func.id)
            if len(found) > 1 or not known <= {Kind.ENTRY, Kind.FUNCTION}:
                found = []
        elif isinstance(func, ast.Attribute) and view.cls is not None:
            if path_of(func.value) == (view.kinds.self_name,):
                for cls in self._project.family(view.unit, view.cls):
                    method = effects.method(cls, func.attr)
                    if method is not None and method not in found:
                        found.append(method)
        return [self._project.view(view.unit, f) for f in found]

    def _imported(self, path: str) -> list[View]:
        """The function of another file of the project that an import path names."""
        module, _, name = path.rpartition(".")
        found = [
            (unit, stmt)
            for unit in self._project.units.defining(name)
            for stmt in unit.once(functions_at_top).get(name, ())
            if may_hold(unit.filename, module)
        ]
        return [self._project.view(*found[0])] if len(found) == 1 else []

    def _in(self, view: View, source: Def, other: Def) -> bool | None:
        pairs = _returned(view, source, other)
        if pairs is None:
            return None
        for mine, theirs in pairs:
            carried = _carried(self._project, view, mine)
            if carried is None:
                return None
            behind = backward(view.flow.uses_in(theirs)).made
            if carried & behind:
                return False
            if _holders(view, carried) & behind:
                return None  # ``x = points[-1]``, of which ``points[2]`` may be another name
        return True


def given_beside(
    project: Project, view: View, made: frozenset[Def], sources: frozenset[Def]
) -> bool | None:
    """The same of what is unpacked, gone over in a loop, or taken out by number or by name."""
    beside = unpacked_beside(project, view, made, sources)
    if beside is not False:
        return beside
    looped = {d.value for d in sources if d.kind in _LOOPED and not _pairs(d.value)}
    if any(d.kind in _LOOPED and d.value in looped for d in made - sources):
        return None
    holders = {h for d in sources for h in _taken_from(view, d)}
    rest = made - sources
    return None if rest & holders or any(_taken_from(view, d) & holders for d in rest) else False


def _pairs(value: ast.expr | None) -> bool:
    """Whether a loop goes over what was listed apart: ``zip(a, b)``, ``enumerate(a)``."""
    if not isinstance(value, ast.Call) or not isinstance(value.func, ast.Name):
        return False
    return value.func.id in ("zip", "enumerate") and all(
        path_of(a) is not None or _pairs(a) for a in value.args
    )


def _taken_from(view: View, made: Def) -> frozenset[Def]:
    """What calls gave, and what was handed in, that ``made`` is a part of, by no op."""
    found: set[Def] = set()
    stack, seen = [made], {made}
    while stack:
        current = stack.pop()
        whole = _whole(current.value) if current.kind in (Kind.ASSIGN, Kind.ELEMENT) else None
        for each in origins(view.flow.reads.get(whole, ())) if whole is not None else ():
            if each in seen:
                continue
            seen.add(each)
            stack.append(each)
            if whole is not current.value or current.kind is Kind.ELEMENT:
                found.add(each)
    return frozenset(d for d in found if not _is_known(view, d))


def _whole(value: ast.expr | None) -> ast.expr | None:
    """The name of what a value is, or is taken out of."""
    while value is not None and not isinstance(value, ast.Name):
        match value:
            case ast.Subscript() | ast.Attribute() | ast.Starred():
                value = value.value
            case ast.Call(func=ast.Attribute(attr=attr) as func) if attr in _TAKES:
                value = func.value
            case ast.Call(func=ast.Name(id="next" | "list" | "tuple" | "iter"), args=[first, *_]):
                value = first
            case _:
                return None
    return value


def _is_known(view: View, made: Def) -> bool:
    """Whether it is a tensor, parts of which are apart, or nothing that a call gave."""
    if made.kind in (Kind.PARAM, Kind.ELEMENT, *_LOOPED):
        return False
    return (
        made.value is None
        or not isinstance(made.value, ast.Call)
        or view.kinds.make(made.value) in _OWN_OPS
    )


def unpacked_beside(
    project: Project, view: View, made: Iterable[Def], sources: Iterable[Def]
) -> bool | None:
    """Whether some of ``made`` comes out of the call that a source does, and was made of that one.

    None: that cannot be seen.
    """
    siblings, sources = Siblings(project, view), [d for d in sources if d.kind is Kind.ELEMENT]
    pairs = [
        (source, each)
        for each in made
        for source in sources
        if each.kind is Kind.ELEMENT and each is not source and each.value is source.value
    ]
    verdicts = {
        _of_gradients(view, each.value)
        if view.kinds.make(each.value) in _OWN_OPS
        else siblings.apart(source, each)
        for source, each in pairs
        if each.value is not None
    }
    return True if False in verdicts else None if None in verdicts else False


def _of_gradients(view: View, call: ast.expr) -> bool | None:
    """Whether what an op gives is apart: the gradient by one thing may go on into another's."""
    name = view.kinds.tensorflow(call.func) if isinstance(call, ast.Call) else None
    if name is None or not isinstance(call, ast.Call) or name.rpartition(".")[2] != "gradients":
        return True
    found = related(call, view.flow)
    return None if found is None else not found


def _returned(view: View, one: Def, other: Def) -> list[tuple[ast.expr, ast.expr]] | None:
    """What the function returns in the two places, at each of its ends."""
    mine, theirs = places_of(one), places_of(other)
    if mine is None or theirs is None or not view.flow.returns or view.flow.yields:
        return None
    found: list[tuple[ast.expr, ast.expr]] = []
    for end in view.flow.returns:
        first, second = element(end.value, mine), element(end.value, theirs)
        if first is None or second is None:
            return None
        found.append((first, second))
    return found


def _carried(project: Project, view: View, node: ast.expr) -> frozenset[Def] | None:
    """The definitions of a returned value, of what it is another name of, and of its elements."""
    if path_of(node) is None:
        if _looks_up(project, view, node):
            return None
        # Made in the ``return``: nothing else can be made of it, only of what it names.
        parts = node.elts if isinstance(node, ast.List | ast.Tuple) else []
        found: set[Def] = set()
        for part in parts:
            inner = _carried(project, view, part)
            if inner is None:
                return None
            found |= inner
        return frozenset(found)
    found = set()
    stack = [u.made for u in view.flow.reads.get(node, ())]
    while stack:
        made = stack.pop()
        if made in found:
            continue
        found.add(made)
        if made.kind is Kind.MUTATE:
            put_in = added(made.value) if isinstance(made.value, ast.Call) else None
            stack += [u.made for u in made.before]
            if put_in is None:
                stack += [u.made for u in made.uses]
            for each in put_in or ():
                stack += _may_be(view, each, view.flow.uses_in(each))
        elif made.kind in (Kind.ENTRY, Kind.ELEMENT, Kind.WITH, Kind.EXCEPT):
            return None
        elif made.value is not None:
            if _looks_up(project, view, made.value):
                return None
            stack += _may_be(view, made.value, made.uses)
    return frozenset(found)


def _holders(view: View, made: frozenset[Def]) -> frozenset[Def]:
    """The lists and dicts written out, in which the values were looked up by a number or a key.

    What is cut out of a tensor is a new one.
    """
    values = (d.value for d in made if isinstance(d.value, ast.Subscript))
    held = (d for value in values for d in origins(view.flow.uses_in(value)))
    return frozenset(d for d in held if isinstance(d.value, _DISPLAYS))


def _looks_up(project: Project, view: View, value: ast.expr) -> bool:
    """Whether the graph is asked for what is there, which anything may have used: variables, say.

    By the value itself, or by functions that it calls, also of other files.
    """
    calls = [n for n in walk(value) if isinstance(n, ast.Call)]
    if any(last_of(call.func) in _LOOKS_UP for call in calls):
        return True
    run = functions_run(project, view, calls)
    return run is None or any(last_of(part) in _LOOKS_UP for _, f in run for part in walk(f))


def _may_be(view: View, value: ast.expr, uses: Iterable[Use]) -> Iterable[Def]:
    """What a value may be another name of, or holds; ``uses`` are those that it makes."""
    if _names_others(value):
        return [u.made for u in uses]
    return value_may_be(value, view.flow, view.kinds) if _may_give_back(view, value) else ()


def _may_give_back(view: View, value: ast.expr) -> bool:
    """Whether an op, or a function of the file, may give what it is given."""
    own = isinstance(value, ast.Call) and view.kinds.called(value) is not None
    return own or may_give_back(value, view.kinds)


def _names_others(value: ast.expr) -> bool:
    """Whether a value is another name of something, or holds some."""
    return path_of(value) is not None or isinstance(
        value, ast.List | ast.Tuple | ast.Dict | ast.IfExp | ast.BoolOp
    )
