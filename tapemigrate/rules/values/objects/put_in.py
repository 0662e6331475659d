"""What is put into objects that attributes hold: by their class, and by other code."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field

from tapemigrate.flow.changers import CHANGERS, INSERTING, changed_by_handed, is_of_class, put_into
from tapemigrate.flow.definitions import Def, Kind
from tapemigrate.flow.functions import NamedFunction, Scope
from tapemigrate.flow.paths import Path, path_of
from tapemigrate.flow.sharing import Twins
from tapemigrate.flow.unpacking import each_given
from tapemigrate.rules.callgraph.arguments import argument_for
from tapemigrate.rules.callgraph.assigned import attribute_values
from tapemigrate.rules.callgraph.callers import of_class
from tapemigrate.rules.callgraph.classes import classes, is_of_library
from tapemigrate.rules.finding import Unit
from tapemigrate.rules.indexes import assigned
from tapemigrate.rules.project import CallSite, Project, View
from tapemigrate.rules.values.objects.attributes import bases_elsewhere
from tapemigrate.rules.values.objects.keeping import keeps
from tapemigrate.source.trees import arguments_of, walk
from tapemigrate.tape.names.same import value_may_be
from tapemigrate.tape.ops.kinds import Make
from tapemigrate.tape.ops.symbols import QUIET, gives_no_tensors

# Through how many callers an object is followed that is handed in.
_DEPTH = 6

# Into a tensor nothing is put.
_TENSORS = frozenset({Make.TENSOR, Make.LEAF})
_PUTTING: frozenset[type[ast.AST]] = frozenset(
    {ast.Attribute, ast.Subscript, ast.Call, ast.AugAssign}
)

Given = tuple[View, ast.expr]
_Elements = dict[tuple[ast.AST | None, str], dict[ast.AST, list[ast.Attribute]]]


def put_in_by_methods(project: Project, view: View, name: str) -> Iterator[Given]:
    """What the class itself puts into what ``self.name`` holds, and where that stands."""
    return (given for given, own in _put_in(project, view, name) if own)


def put_in_by_others(project: Project, view: View, name: str) -> Iterator[Given]:
    """What other code puts into what ``self.name`` holds.

    ``model.losses.append(x)``, ``model.state.gate = x``; or by the name of what was handed in:
    ``model = Model(gates); gates.append(x)``.
    """
    yield from (given for given, own in _put_in(project, view, name) if not own)
    for value in attribute_values(project, view, name):
        inner = project.view(view.unit, project.scope_of(view.unit, value))
        for made in value_may_be(value, inner.flow, inner.kinds):
            yield from _put_into_argument(project, inner, made, _DEPTH)
        for node in _kept_by_name(value):
            if node.id != inner.kinds.self_name:
                yield from ((inner, each) for each in _put_into(project, inner, node))


def put_in_by_another_name(view: View, value: ast.expr, name: str) -> list[ast.expr]:
    """What is put into a list or dict that ``self.name`` keeps, where it has another name."""
    own, path = (view.kinds.self_name, f".{name}"), path_of(value)
    if path is None and not isinstance(value, ast.List | ast.Dict | ast.Set):
        return []
    found: list[ast.expr] = []
    for made in view.flow.defs.values():
        if made.kind is not Kind.MUTATE or made.path not in (own, path):
            continue
        if isinstance(made.value, ast.Call):
            found += arguments_of(made.value)
            if any(made.path[0] in use.made.alters for use in made.uses):
                found.append(made.value)
        elif isinstance(made.stmt, ast.Assign | ast.AugAssign):
            found.append(made.stmt.value)
    return found


def handed_in(project: Project, unit: Unit) -> Mapping[Scope, AbstractSet[str]]:
    """The attributes to which a scope itself hands what may be kept there.

    Of these it is told by its own statements, and less than other scopes of its class by
    ``put_in_by_methods`` and ``put_in_by_others``.
    """
    known = project.once(_known_handed)
    if unit.filename not in known:
        known[unit.filename] = _handed_by_scopes(project, unit)
    return known[unit.filename]


def _known_handed(_: Project) -> dict[str, dict[Scope, set[str]]]:
    return {}


def _handed_by_scopes(project: Project, unit: Unit) -> dict[Scope, set[str]]:
    found: dict[Scope, set[str]] = {}
    effects = project.effects(unit)
    for name, handed in unit.once(_handed).items():
        others = effects.twins.whole.get(f".{name}", frozenset())
        others |= effects.twins.parts.get(f".{name}", frozenset())
        for node, _, method in handed:
            scope = project.scope_of(unit, node)
            cls = project.class_of(unit, scope)
            if cls is None:
                continue
            # A method is no attribute that holds something.
            names = {name} if effects.method(cls, name) is None else set[str]()
            names |= {step[1:] for step in others}
            if not names <= found.get(scope, set()) and keeps(project, method):
                found.setdefault(scope, set()).update(names)
    return found


def _kept_by_name(value: ast.expr) -> Iterator[ast.Name]:
    """What its scope has by a name, and may still change: ``self.steps = steps``, ``[steps]``."""
    if isinstance(value, ast.Name):
        yield value
    elif isinstance(value, ast.List | ast.Tuple | ast.Set | ast.Dict | ast.IfExp | ast.BoolOp):
        for each in ast.iter_child_nodes(value):
            if isinstance(each, ast.expr):
                yield from _kept_by_name(each)


def _put_in(project: Project, view: View, name: str) -> Iterator[tuple[Given, bool]]:
    """What is put in where the attribute stands; whether it is done on ``self``."""
    family = set(project.family(view.unit, view.cls)) if view.cls is not None else set()
    family |= {cls for _, cls in bases_elsewhere(project, view)}
    if not family:
        return
    yield from ((given, own) for given, own, _ in _put_where(project, view, name, family))
    for other, deep in sorted(_others(project.effects(view.unit).twins, name)):
        for (at, value), own, node in _put_where(project, view, other, family):
            if not deep or _is_of_part(at.unit, node):
                yield (at, value), own


def _others(twins: Twins, name: str) -> set[tuple[str, bool]]:
    """The attributes by which something gets into what one holds; whether into a part of them."""
    step = f".{name}"
    found = {(other[1:], False) for other, changed in twins.whole.items() if step in changed}
    return found | {(o[1:], True) for o, changed in twins.parts.items() if step in changed}


def _is_of_part(unit: Unit, node: ast.expr) -> bool:
    """Whether it is something in what ``node`` is into which something is put."""
    parts = (ast.Attribute, ast.Subscript)
    above = unit.parents[node]
    return isinstance(above, parts) and isinstance(unit.parents[above], parts)


def _put_where(
    project: Project, view: View, name: str, family: set[ast.ClassDef]
) -> Iterator[tuple[Given, bool, ast.expr]]:
    """What is put in, whether on ``self``, and the attribute that stands there."""
    for place in _places(project, name):
        there, node, own = place.view, place.node, place.own
        if own and there.cls not in family:
            continue
        if place.value is None:
            put = _put_into(project, there, node) or _put_by_function(project, there, node)
            yield from (((there, value), own, node) for value in put)
        elif not place.method or (there.scope is not view.scope and keeps(project, place.method)):
            yield (there, place.value), own, node


@dataclass(frozen=True, slots=True)
class _Place:
    """Where an attribute stands into which something may be put.

    ``own``: it is one of ``self``. ``value`` is put in, by a ``method`` only where that keeps it;
    None: by another name, or by a function.
    """

    view: View
    node: ast.Attribute
    own: bool
    value: ast.expr | None
    method: str = ""


def _places(project: Project, name: str) -> list[_Place]:
    """The places at which an attribute of that name may be filled, found once for all classes."""
    known = project.once(_known_places)
    if name not in known:
        known[name] = [
            _Place(view, node, path_of(node.value) == (view.kinds.self_name,), value, method)
            for unit in project.units.having(name)
            for node, value, method in _filled_in(unit, name)
            for view in (project.view(unit, project.scope_of(unit, node)),)
        ]
    return known[name]


def _filled_in(unit: Unit, name: str) -> Iterator[tuple[ast.Attribute, ast.expr | None, str]]:
    yield from ((node, value, "") for node, value in unit.once(_put).get(name, ()))
    yield from unit.once(_handed).get(name, ())
    yield from ((node, None, "") for node in unit.once(_named_anew).get(name, ()))


def _known_places(_: Project) -> dict[str, list[_Place]]:
    return {}


def _put_into_argument(project: Project, view: View, made: Def, depth: int) -> list[Given]:
    """What callers put into an object after they have handed it in as the parameter ``made``."""
    scope = view.scope
    if made.kind is not Kind.PARAM or not isinstance(scope, ast.FunctionDef) or depth == 0:
        return []
    if made.path == (view.kinds.self_name,):
        return []
    known = project.once(_known_put)
    key = (scope, made.path, depth)
    if key not in known:
        # Constructors of a long line of classes may all call each other.
        known[key] = list(dict.fromkeys(_put_by_callers(project, view, scope, made, depth)))
    return known[key]


def _known_put(_: Project) -> dict[tuple[Scope, Path, int], list[Given]]:
    return {}


def _put_by_callers(
    project: Project, view: View, scope: ast.FunctionDef, made: Def, depth: int
) -> Iterator[Given]:
    for site in calls_of(project, view, scope):
        given = argument_for(site.call, scope, made.path[0], view.cls is not None)
        if given is None or path_of(given) is None:
            continue
        caller = project.view(site.unit, project.scope_of(site.unit, site.call))
        yield from ((caller, value) for value in _put_into(project, caller, given))
        if isinstance(given, ast.Attribute) and path_of(given.value) == (caller.kinds.self_name,):
            # The caller's own object may fill it by its name, in any method.
            values = attribute_values(project, caller, given.attr)
            if not values or {caller.kinds.make(each) for each in values} - _TENSORS:
                yield from (put for put, _ in _put_in(project, caller, given.attr))
        for use in caller.flow.reads.get(given, ()):
            if caller.scope is not scope:
                yield from _put_into_argument(project, caller, use.made, depth - 1)


def calls_of(project: Project, view: View, scope: ast.FunctionDef) -> Iterator[CallSite]:
    """The calls of the function by its name, those that make an object by that of its class."""
    if view.cls is None or scope.name != "__init__":
        yield from project.mentions(scope.name).calls
        return
    known = classes(project)
    below = known.extending(view.cls.name)
    for name in sorted({view.cls.name, *below}):
        if name != view.cls.name and all(map(_has_own, known.named(name))):
            continue  # its constructor calls this one, if at all
        # Other files may have a class of that name for themselves, if it does not extend this one.
        others = known.named(name) if name not in below else ()
        own = {unit.filename for unit, _ in others} - {view.unit.filename}
        # Or it may import a namesake.
        plain = name == view.cls.name and name not in below
        found = of_class(project, view.unit, view.cls) if plain else project.mentions(name)
        yield from (s for s in found.calls if s.unit.filename not in own)
    for site in project.mentions("__init__").calls if below else ():
        cls = project.class_of(site.unit, project.scope_of(site.unit, site.call))
        if cls is not None and cls.name in below:
            yield site


def _has_own(named: tuple[Unit, ast.ClassDef]) -> bool:
    return any(
        isinstance(stmt, ast.FunctionDef) and stmt.name == "__init__" for stmt in named[1].body
    )


def _put_into(project: Project, view: View, node: ast.expr) -> Sequence[ast.expr]:
    """What a scope puts into the object that ``node`` is, elsewhere than before that is read."""
    known = project.once(_known_into).setdefault(view.scope, _Into())
    if known.reading != view.flow.reading:
        known.reading, known.put, known.renamed = view.flow.reading, {}, None
    if node not in known.put:
        known.put[node] = _found_into(project, view, node, known)
    return known.put[node]


@dataclass(slots=True)
class _Into:
    """What is told of one scope, as long as what it reads stays the same.

    ``put``: what goes into the object that a node is. ``renamed``: names, and what they are given.
    """

    reading: int = 0
    put: dict[ast.expr, list[ast.expr]] = field(default_factory=dict)
    renamed: list[tuple[Path, Path]] | None = None


def _known_into(_: Project) -> dict[Scope, _Into]:
    return {}


def _found_into(project: Project, view: View, node: ast.expr, known: _Into) -> list[ast.expr]:
    found: list[ast.expr] = []
    names = _names_of(view, node, known)
    for made in view.flow.changes_of(node):
        if made.kind is Kind.AUGMENT and not isinstance(made.value, ast.List | ast.ListComp):
            continue  # a tensor: the name has another one now
        if made.kind is not Kind.MUTATE and made.value is not None:
            found.append(made.value)
        elif isinstance(made.value, ast.Call):
            if _is_for_effect(project, view, made.value, names):
                given = arguments_of(made.value)
                own = {*names, (view.kinds.self_name,)}
                found += [value for value in given if path_of(value) not in own]
        elif isinstance(made.stmt, ast.Assign | ast.AugAssign):
            found.append(made.stmt.value)
    return found


def _put_by_function(project: Project, view: View, node: ast.Attribute) -> list[ast.expr]:
    """What a function is handed that changes what is in ``node``: ``fill(model.rows, x)``."""
    call = view.unit.parents[node]
    if isinstance(call, ast.keyword):
        call = view.unit.parents[call]
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name | ast.Attribute):
        return []
    method = isinstance(call.func, ast.Attribute) and view.kinds.name(call.func) is None
    name = call.func.attr if isinstance(call.func, ast.Attribute) else call.func.id
    for home in project.units.defining(name):
        filled = project.effects(home).filled(call, name, bound=int(method))
        if node in (*filled.surely, *filled.perhaps):
            return [each for each in arguments_of(call) if each is not node]
    return []


def _is_for_effect(project: Project, view: View, call: ast.Call, names: set[Path]) -> bool:
    """Whether the call is made to change what has ``names``: others give what they compute."""
    func, name = call.func, view.kinds.name(call.func)
    if name is not None and (is_of_library(name) or gives_no_tensors(name)):
        return False
    method = func.attr if isinstance(func, ast.Attribute) else ""
    if method in CHANGERS:
        return True
    # What is taken out of something that holds it as well is hardly ever that very object.
    parts = [func, *call.args, *(k.value for k in call.keywords)]
    if method in QUIET or method.startswith("assert"):
        return False
    if not any(path_of(n) in names for part in parts for n in walk(part)):
        return False
    alone = isinstance(view.unit.parents[call], ast.Expr)
    if view.kinds.called(call) is not None:
        own = func.id if isinstance(func, ast.Name) else method
        filled = view.kinds.effects.filled(call, own, bound=int(bool(method)))
        return bool(filled.surely or filled.perhaps or (alone and filled.unseen))
    return alone or keeps(project, method or "__call__")


def _names_of(view: View, node: ast.expr, known: _Into) -> set[Path]:
    """By what names the object goes: its own, and those that are given it as such."""
    names = {path for path in [path_of(node)] if path is not None}
    if known.renamed is None:
        known.renamed = [
            (made.path, other)
            for made in view.flow.defs.values()
            if made.kind is Kind.ASSIGN
            and made.value is not None
            and (other := path_of(made.value)) is not None
        ]
    before = 0
    while len(names) > before:
        before = len(names)
        for path, other in known.renamed:
            if path in names or other in names:
                names |= {path, other}
    return names


def _put(unit: Unit) -> dict[str, list[tuple[ast.Attribute, ast.expr]]]:
    """By the names of attributes: where something is put into what they hold, and what."""
    found: dict[str, list[tuple[ast.Attribute, ast.expr]]] = {}
    elements = _elements_named(unit)
    for node in unit.parents:
        if node.__class__ not in _PUTTING:
            continue
        owners: list[ast.expr] = []
        values: list[ast.expr] = []
        match node:
            case ast.Attribute(ctx=ast.Store()) | ast.Subscript(ctx=ast.Store()):
                owners = [node.value]
                values = _given_to(unit, node)
            case ast.AugAssign(target=ast.Name() as name, value=ast.List() | ast.ListComp()):
                # A list is made longer, and no other one bound.
                owners, values = [name], [node.value]
            case ast.Attribute(value=value, attr=method) if method in CHANGERS:
                owners, values = [value], _put_by_name(unit, node)
                if isinstance(above := unit.parents[node], ast.Call) and is_of_class(node):
                    owners = changed_by_handed(above)
            case ast.Call(args=[owner, *values]) if unit.names.qualified(node.func) in INSERTING:
                owners = [owner]
            case ast.Call(func=ast.Attribute(value=value, attr=method), args=args):
                alone = isinstance(unit.parents[node], ast.Expr) and method not in QUIET
                # ``package.model.Model.__init__(self)``: a module holds no part of an object.
                imported = unit.names.qualified(node.func) is not None
                if method in CHANGERS or (alone and not imported):
                    owners = put_into(node) or [value]
                    values = [*args, *(k.value for k in node.keywords)]
        for owner in owners:
            inside = not isinstance(node, ast.Attribute) or isinstance(node.ctx, ast.Load)
            while isinstance(owner, ast.Attribute | ast.Subscript | ast.Call):
                if isinstance(owner, ast.Call):
                    # ``self.net.add(a).add(b)``: a method may give the object that it is one of.
                    if not isinstance(owner.func, ast.Attribute):
                        break
                    owner = owner.func.value
                    continue
                if isinstance(owner, ast.Attribute) and owner.attr != "__dict__":
                    found.setdefault(owner.attr, []).extend((owner, each) for each in values)
                    inside = False
                owner = owner.value
            if inside and isinstance(owner, ast.Name):
                for holder in _held_in(unit, owner, elements):
                    found.setdefault(holder.attr, []).extend((holder, each) for each in values)
    return found


def _elements_named(unit: Unit) -> _Elements:
    """The attributes of which names of a scope have elements: ``for row in self.rows``.

    By what gives them: a loop's own target is meant inside of it.
    """
    found: _Elements = {}
    for node in unit.parents:
        match node:
            case ast.For(target=target, iter=whole) | ast.comprehension(target=target, iter=whole):
                pairs = [(target, whole)]
            case ast.Assign() | ast.AnnAssign() | ast.NamedExpr():
                pairs = [(t, v) for t, v in each_given(node) if isinstance(v, ast.Subscript)]
            case _:
                continue
        for target, whole in pairs:
            holders = [
                each
                for each in walk(whole)
                if isinstance(each, ast.Attribute) and not _is_called(unit, each)
            ]
            for name in walk(target):
                if isinstance(name, ast.Name):
                    found.setdefault((_scope(unit, name), name.id), {})[node] = holders
    for (scope, first), more in unit.once(_more_names).items() if found else ():
        for each in more if (scope, first) in found else ():
            known = found.setdefault((scope, each), {})
            known |= {n: h for n, h in found[scope, first].items() if n not in known}
    return found


def _more_names(unit: Unit) -> dict[tuple[ast.AST | None, str], set[str]]:
    """By what has a name in a scope: by what further names it goes there."""
    known: dict[tuple[ast.AST | None, str], set[str]] = {}
    for target, value in unit.once(assigned):
        if isinstance(target, ast.Name) and isinstance(value, ast.Name):
            known.setdefault((_scope(unit, target), value.id), set()).add(target.id)
    for (scope, _), more in known.items():
        pending = list(more)
        while pending:
            new = known.get((scope, pending.pop()), set()) - more
            more |= new
            pending += new
    return known


def _held_in(unit: Unit, name: ast.Name, elements: _Elements) -> list[ast.Attribute]:
    scope = _scope(unit, name)
    given = elements.get((scope, name.id), {})
    above: ast.AST | None = name
    while given and above is not None and above is not scope:
        if above in given and isinstance(above, ast.For):
            return given[above]
        above = unit.parents.get(above)
    return [holder for holders in given.values() for holder in holders]


def _is_called(unit: Unit, node: ast.Attribute) -> bool:
    above = unit.parents[node]
    return isinstance(above, ast.Call) and above.func is node


def _scope(unit: Unit, node: ast.AST) -> ast.AST | None:
    scope: ast.AST | None = unit.parents.get(node)
    while scope is not None and not isinstance(scope, NamedFunction):
        scope = unit.parents.get(scope)
    return scope


def _given_to(unit: Unit, target: ast.expr) -> list[ast.expr]:
    """What a statement gives a target, which may stand in a list of several."""
    stmt = unit.parents[target]
    while isinstance(stmt, ast.Tuple | ast.List | ast.Starred):
        stmt = unit.parents[stmt]
    given = (getattr(stmt, field, None) for field in ("value", "iter", "context_expr"))
    return [each for each in given if isinstance(each, ast.expr)]


def _put_by_name(unit: Unit, method: ast.Attribute) -> list[ast.expr]:
    """What a method puts that is not called where it stands: ``map(steps.append, found)``."""
    above = unit.parents[method]
    if isinstance(above, ast.keyword):  # ``Thread(target=steps.append, args=(x,))``
        above = unit.parents[above]
    if isinstance(above, ast.Call) and above.func is not method:
        return [each for each in arguments_of(above) if each is not method]
    if isinstance(above, ast.List | ast.Tuple | ast.Set | ast.Dict):
        return [method]  # who takes it out there hands it what is not seen
    named = unit.once(_methods_by_name).get(method, ())
    calls = [c for c in unit.nodes(ast.Call) if path_of(c.func) in named] if named else []
    return [each for call in calls for each in arguments_of(call)]


def _methods_by_name(unit: Unit) -> dict[ast.expr, set[Path]]:
    """By methods that put something somewhere: the names that they are given, to be called by."""
    more = unit.once(_more_names)
    found: dict[ast.expr, set[Path]] = {}
    for target, value in unit.once(assigned):
        if isinstance(value, ast.Attribute) and value.attr in CHANGERS:
            path = path_of(target)
            if path is not None:
                others = more.get((_scope(unit, target), path[0]), ()) if len(path) == 1 else ()
                found.setdefault(value, set()).update([path], ((each,) for each in others))
    return found


def _handed(unit: Unit) -> dict[str, list[tuple[ast.Attribute, ast.expr, str]]]:
    """By the names of attributes: what methods of what they hold are handed, and which ones.

    Those that are called for their result as well; what is called itself has ``__call__``.
    """
    found: dict[str, list[tuple[ast.Attribute, ast.expr, str]]] = {}
    for call in unit.nodes(ast.Call):
        func = call.func
        if not isinstance(func, ast.Attribute) or isinstance(unit.parents[call], ast.Expr):
            continue
        owners = [(func, "__call__"), (func.value, func.attr)]
        for owner, method in owners:
            if isinstance(owner, ast.Attribute):
                given = arguments_of(call)
                found.setdefault(owner.attr, []).extend((owner, v, method) for v in given)
    return found


def _named_anew(unit: Unit) -> dict[str, list[ast.Attribute]]:
    """By the names of attributes: where what they hold gets a name of its own, or is handed on."""
    found: dict[str, list[ast.Attribute]] = {}
    for _, value in unit.once(assigned):
        if isinstance(value, ast.Attribute) and path_of(value) is not None:
            found.setdefault(value.attr, []).append(value)
    for alone in unit.nodes(ast.Expr):
        for each in arguments_of(alone.value) if isinstance(alone.value, ast.Call) else ():
            if isinstance(each, ast.Attribute) and path_of(each) is not None:
                found.setdefault(each.attr, []).append(each)
    return found
