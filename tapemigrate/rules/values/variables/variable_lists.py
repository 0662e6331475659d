"""Functions that give trainable variables: ``def get_vars(scope): return tf.get_collection(…)``."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from tapemigrate.flow.definitions import Def, Kind
from tapemigrate.flow.paths import Path, path_of
from tapemigrate.flow.slices import origins
from tapemigrate.rules.callgraph.assigned import attribute_values
from tapemigrate.rules.callgraph.classes import classes
from tapemigrate.rules.callgraph.given_anew import is_given_anew
from tapemigrate.rules.callgraph.imported import leads_to
from tapemigrate.rules.callgraph.names_in_texts import set_by_text
from tapemigrate.rules.callgraph.stars import brought_from
from tapemigrate.rules.finding import Unit
from tapemigrate.rules.indexes import functions_at_top
from tapemigrate.rules.project import Project, View
from tapemigrate.rules.values.objects.attributes import inherited_values
from tapemigrate.rules.values.variables.ends_taken import ends_taken
from tapemigrate.rules.values.variables.held_variables import given_by_object, kept_by_self
from tapemigrate.source.trees import walk
from tapemigrate.tape.ops.kinds import Make
from tapemigrate.tape.ops.returned import element, place_of

# Through how many such functions one is followed.
_DEPTH = 3
_LISTS = {Make.VARIABLE: Make.VARIABLES, Make.FROZEN: Make.ANY_VARIABLES}


def given_list(
    project: Project, view: View, node: ast.expr, depth: int = _DEPTH, taken: bool = False
) -> Make:
    """What ``node``, in the scope of ``view``, gives, if that is certainly a list of variables.

    Else it is unknown. It is a call, or an attribute of an object. ``taken``: for what is taken out
    of it, one by one.
    """
    if depth <= 0:
        return Make.UNKNOWN
    if given := given_by_object(project, view, node):
        return _either(_list(project, inner, value, depth) for inner, value in given)
    if not isinstance(node, ast.Call) or (found := _given_by(project, view, node)) is None:
        return Make.UNKNOWN
    inner, ends = found
    if not taken and view.kinds.is_new(node) and any(_is_filled(inner, end) for end in ends):
        return Make.UNKNOWN  # new ones are more than that
    if taken and all(
        isinstance(end, ast.ListComp) and is_one_variable(project, inner, end.elt) for end in ends
    ):
        return Make.VARIABLES
    return _either(_list(project, inner, end, depth) for end in ends)


def _either(makes: Iterable[Make]) -> Make:
    """What is one of ``makes``, of which one suffices to be none of trainable variables."""
    found = set(makes)
    if not found or not found <= {Make.VARIABLES, Make.ANY_VARIABLES}:
        return Make.UNKNOWN
    return Make.VARIABLES if found == {Make.VARIABLES} else Make.ANY_VARIABLES


def unpacked(project: Project, view: View, made: Def) -> Make:
    """Whether what is unpacked from a call is one such variable, ``w, b, out = dense(x)``, or a
    list of them, ``y, theta = net(x)``; else it is unknown.
    """
    place = place_of(made)
    if place is None or not isinstance(made.value, ast.Call):
        return Make.UNKNOWN
    found = _given_by(project, view, made.value)
    if found is None:
        return Make.UNKNOWN
    inner, ends = found
    new = view.kinds.is_new(made.value)
    makes = {_element(project, inner, end, place, new) for end in ends}
    return makes.pop() if len(makes) == 1 else Make.UNKNOWN


def _element(project: Project, view: View, end: ast.expr | None, place: int, new: bool) -> Make:
    """What element ``place`` is of what a function gives back.

    ``new``: it is known to make what it gives, which is more than that these are variables.
    """
    if not isinstance(end, ast.Tuple | ast.List) or place >= len(end.elts):
        return Make.UNKNOWN
    if any(isinstance(part, ast.Starred) for part in end.elts):
        return Make.UNKNOWN
    if new and _is_filled(view, end.elts[place]):
        return Make.UNKNOWN
    if not new and is_one_variable(project, view, end.elts[place]):
        return Make.VARIABLE
    listed = _list(project, view, end.elts[place], _DEPTH)
    return listed if listed is Make.VARIABLES else Make.UNKNOWN


def _given_by(
    project: Project, view: View, call: ast.Call
) -> tuple[View, list[ast.expr | None]] | None:
    """What the function that the call means returns, in its own scope; None if unknown."""
    found = function_meant(project, view, call)
    if found is None:
        return None
    unit, function = found
    inner = project.view(unit, function)
    ends = [end.value for end in ends_taken(inner, call)]
    if not ends or inner.flow.yields or function.decorator_list:
        return None
    return inner, ends


def listed_as(project: Project, view: View, value: ast.expr) -> Make:
    """What ``value``, in whatever scope of the file it stands, makes; a list of variables too."""
    make = Make.UNKNOWN
    match value:
        case ast.Call():
            make = given_list(project, view, value)
        case ast.ListComp() | ast.List():
            stands = project.view(view.unit, project.scope_of(view.unit, value))
            make = _list(project, stands, value, _DEPTH)
    return make if make is not Make.UNKNOWN else view.kinds.make(value)


def _list(project: Project, view: View, value: ast.expr | None, depth: int) -> Make:
    """What ``value`` makes, if that is certainly a list of variables; else it is unknown."""
    match value:
        case ast.ListComp(elt=ast.Name(id=name), generators=[ast.comprehension() as each]):
            same = isinstance(each.target, ast.Name) and each.target.id == name
            return _list(project, view, each.iter, depth) if same else Make.UNKNOWN
        case ast.List() if view.cls is None or not any(
            True for _ in classes(project).unseen_bases(view.unit, view.cls)
        ):
            held = _weakest(_one(project, view, each, _DEPTH) for each in value.elts)
            return _LISTS.get(held, Make.UNKNOWN)
        case ast.Name() if (put := _appended(view, value.id)) is not None:
            if put:
                return _filled(project, view, value.id, put)
            made = origins(view.flow.reads.get(value, frozenset()))
            return _either(
                _list(project, view, d.value, depth - isinstance(d.value, ast.ListComp))
                if depth > 0
                and d.kind is Kind.ASSIGN
                and isinstance(d.value, ast.Call | ast.List | ast.ListComp)
                else Make.UNKNOWN
                for d in made
                if not _is_filtered(view, d)
            )
        case ast.Call() if view.kinds.make(value) in (Make.VARIABLES, Make.ANY_VARIABLES):
            return view.kinds.make(value)
        case ast.Attribute() if depth and (kept := kept_by_self(project, view, value)):
            return _either(_list(project, inner, each, depth - 1) for inner, each in kept)
        case ast.Call() | ast.Attribute():
            return given_list(project, view, value, depth - 1)
    return Make.UNKNOWN


def _is_filtered(view: View, made: Def) -> bool:
    """Whether it is what it was in the round before, or a part: ``vs = [v for v in vs if …]``."""
    match made.value:
        case ast.ListComp(elt=ast.Name(id=name), generators=[each]):
            taken = isinstance(each.target, ast.Name) and each.target.id == name
            return taken and made in origins(view.flow.reads.get(each.iter, frozenset()))
    return False


def are_new_variables(project: Project, view: View, value: ast.expr) -> bool:
    """Whether ``value``, in the scope of ``view``, is nothing but variables, lists of them too."""
    return all(
        is_one_variable(project, view, each)
        or _list(project, view, each, _DEPTH) in (Make.VARIABLES, Make.ANY_VARIABLES)
        for each in (value.elts if isinstance(value, ast.Tuple) else [value])
    )


def _is_filled(view: View, value: ast.expr | None) -> bool:
    """Whether it is a list to which something is appended."""
    return isinstance(value, ast.Name) and bool(_appended(view, value.id))


def _filled(project: Project, view: View, name: str, put: list[ast.expr]) -> Make:
    """What a list holds that is begun here, and to which ``put`` is appended, by turns."""
    begun = [d for d in view.flow.given(name) if d.kind is not Kind.MUTATE]
    lists = [d.value for d in begun if d.kind is Kind.ASSIGN and isinstance(d.value, ast.List)]
    if not begun or len(lists) < len(begun):
        return Make.UNKNOWN
    held = [*put, *(each for one in lists for each in one.elts)]
    known = all(is_one_variable(project, view, each) for each in held)
    return Make.VARIABLES if known else Make.UNKNOWN


def are_variables(project: Project, view: View, value: ast.List) -> bool:
    """Whether a list that is written out, in the scope of ``view``, holds trainable variables.

    Where it is kept on an object of a library's class, which wraps lists, it is no plain one.
    """
    return bool(value.elts) and all(is_one_variable(project, view, each) for each in value.elts)


def is_one_variable(project: Project, view: View, value: ast.expr) -> bool:
    """Whether it is one trainable variable: a new one, a name of one, an attribute of ``self``."""
    return _one(project, view, value, _DEPTH) is Make.VARIABLE


def _one(project: Project, view: View, value: ast.expr, depth: int) -> Make:
    """What one variable ``value`` is, trainable or not told to be; else it is unknown."""
    path = path_of(value)
    if path is None:
        return _made(project, view, value, depth) if isinstance(value, ast.Call) else Make.UNKNOWN
    if len(path) == 2 and path[0] == view.kinds.self_name and view.cls is not None:
        name = path[1].lstrip(".")
        values = attribute_values(project, view, name)
        others = project.foreign_stores(view.unit, view.cls, name)
        if others or inherited_values(project, view, name) or set_by_text(project, view.unit, name):
            return Make.UNKNOWN
        return _weakest(_given_to_self(project, view, each, path, depth) for each in values)
    made = origins(view.flow.reads.get(value, frozenset()))
    return _weakest(
        _made(project, view, d.value, depth)
        if d.kind is Kind.ASSIGN and isinstance(d.value, ast.Call) and d.path == path
        else Make.UNKNOWN
        for d in made
    )


def _weakest(makes: Iterable[Make]) -> Make:
    """What is one of ``makes``, of which all are to be variables, and all trainable."""
    found = set(makes)
    if not found or not found <= {Make.VARIABLE, Make.FROZEN}:
        return Make.UNKNOWN
    return Make.VARIABLE if found == {Make.VARIABLE} else Make.FROZEN


def _variable(view: View, value: ast.expr) -> Make:
    """What ``value`` makes; one that is certainly not trainable is none of these variables."""
    make = view.kinds.make(value)
    given = value.keywords if make is Make.FROZEN and isinstance(value, ast.Call) else []
    told = [k.value for k in given if k.arg == "trainable"]
    if make is Make.FROZEN and (not told or isinstance(told[0], ast.Constant)):
        return Make.LEAF
    return make


def _given_to_self(project: Project, view: View, value: ast.expr, path: Path, depth: int) -> Make:
    """What variable an attribute is given, under a name that it had, too: ``self.w = w``."""
    make = _variable(view, value)
    if make in (Make.VARIABLE, Make.FROZEN) or not depth:
        return make
    if isinstance(value, ast.Name):
        stands = project.view(view.unit, project.scope_of(view.unit, value))
        return _one(project, stands, value, depth - 1)
    return _unpacked(project, view, value, path, depth)


def _made(project: Project, view: View, call: ast.Call, depth: int) -> Make:
    """What variable a call gives: ``def weights(shape): return tf.Variable(…)``."""
    make = _variable(view, call)
    if make is not Make.UNKNOWN or not depth:
        return make
    found = _given_by(project, view, call)
    if found is None:
        return Make.UNKNOWN
    inner, ends = found
    return _weakest(Make.UNKNOWN if e is None else _one(project, inner, e, depth - 1) for e in ends)


def _unpacked(project: Project, view: View, value: ast.expr, path: Path, depth: int) -> Make:
    """What an attribute is of several: ``self.w, self.b = self._variables(shape)``."""
    stmt = view.unit.parents.get(value)
    if not isinstance(value, ast.Call) or not isinstance(stmt, ast.Assign):
        return Make.UNKNOWN
    targets = [t for t in stmt.targets if isinstance(t, ast.Tuple | ast.List)]
    parts = [part for t in targets for part in enumerate(t.elts)]
    if len(targets) != len(stmt.targets) or any(isinstance(p, ast.Starred) for _, p in parts):
        return Make.UNKNOWN
    places = [place for place, part in parts if path_of(part) == path]
    found = _given_by(project, view, value)
    if found is None:
        return Make.UNKNOWN
    inner, ends = found
    given = [element(end, (place,)) for end in ends for place in places]
    return _weakest(
        Make.UNKNOWN if e is None else _one(project, inner, e, depth - 1) for e in given
    )


def _appended(view: View, name: str) -> list[ast.expr] | None:
    """What is appended to the list of that name; None if more may be put in, or it be another."""
    found: list[ast.expr] = []
    for node in walk(view.scope):
        if isinstance(node, ast.Global | ast.Nonlocal) and name in node.names:
            return None
        if not isinstance(node, ast.Name) or node.id != name or isinstance(node.ctx, ast.Store):
            continue
        parent = view.unit.parents[node]
        match parent:
            case ast.Return() | ast.Assert():
                continue
            case ast.Tuple() if isinstance(view.unit.parents[parent], ast.Return):
                continue
            case ast.For() | ast.comprehension() if parent.iter is node:
                continue
            case ast.Call(func=ast.Name(id="len")):
                continue
            case ast.Attribute(attr="append"):
                match view.unit.parents[parent]:
                    case ast.Call(args=[ast.expr() as value], keywords=[]) as call if (
                        call.func is parent and not isinstance(value, ast.Starred)
                    ):
                        found.append(value)
                        continue
        return None
    return found


def function_meant(
    project: Project, view: View, call: ast.Call
) -> tuple[Unit, ast.FunctionDef] | None:
    """The one function that the call can mean, of this file or of one that it is imported from."""
    path = view.kinds.name(call.func)
    if path is None and isinstance(call.func, ast.Name):
        path = brought_from(project, view.unit, call.func.id)
    if path is None:
        own = view.kinds.runs_only(call)
        return (
            (view.unit, own)
            if isinstance(own, ast.FunctionDef)
            else _inherited(project, view, call)
        )
    return function_at(project, view.unit, path)


def function_at(project: Project, user: Unit, path: str) -> tuple[Unit, ast.FunctionDef] | None:
    """The one function that a path which ``user`` imports can mean."""
    name = path.rpartition(".")[2]
    found: list[tuple[Unit, ast.FunctionDef]] = []
    for unit in project.units.defining(name):
        for node in unit.once(functions_at_top).get(name, ()):
            meant = leads_to(project, path, user, unit, name)
            if meant is None:
                return None
            if meant:
                found.append((unit, node))
    if len(found) != 1 or is_given_anew(project, *found[0]):
        return None
    return found[0]


def _inherited(project: Project, view: View, call: ast.Call) -> tuple[Unit, ast.FunctionDef] | None:
    """The method of a class above, in another file, where nothing else has a method so called."""
    path, cls = path_of(call.func), view.cls
    if path is None or len(path) != 2 or path[0] != view.kinds.self_name or cls is None:
        return None
    name, known = path[1].lstrip("."), classes(project)
    if set_by_text(project, view.unit, name) or any(True for _ in project.stores(name)):
        return None
    if known.has_unseen_bases(view.unit, cls):
        return None
    above = known.above(cls.name)
    found = [(u, d) for u in project.units.defining(name) for d in u.definitions if d.name == name]
    if len(found) != 1:
        return None
    unit, method = found[0]
    owner = unit.parents.get(method)
    if not isinstance(owner, ast.ClassDef) or owner.name not in above:
        return None
    return (unit, method) if isinstance(method, ast.FunctionDef) else None
