"""Who puts something into what other code finds: names of other modules, what functions hand out.

And who sets a name of another module, or a part of a class or function there.
"""

from __future__ import annotations

import ast
import builtins
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from tapemigrate.flow.changers import CHANGERS, INSERTING, changed_by_handed, put_into
from tapemigrate.flow.functions import NamedFunction, free_names, named_defaults
from tapemigrate.flow.paths import names_class, path_of
from tapemigrate.flow.unpacking import each_given, each_written
from tapemigrate.rules.callgraph.classes import is_of_library
from tapemigrate.rules.callgraph.imported import import_paths, leads_to
from tapemigrate.rules.callgraph.places import may_hold, split_path
from tapemigrate.rules.callgraph.set_on_modules import set_unseen
from tapemigrate.rules.callgraph.stars import own_stars
from tapemigrate.rules.finding import Unit
from tapemigrate.rules.indexes import (
    bound_names,
    effects_of,
    given_at_top,
    kinds_of,
    left_to_stars,
    value_given,
)
from tapemigrate.rules.own_names import own_names
from tapemigrate.rules.project import Project
from tapemigrate.rules.units import parsed
from tapemigrate.rules.values.containers.filled_state import HANDING_ON, LOOKING
from tapemigrate.source.trees import arguments_of, kept, parts_of_target, walk
from tapemigrate.tape.ops.kinds import INDEPENDENT

#: Who put it there: the functions, as far as it is known; none where it is not.
Setters = frozenset[ast.AST]


@dataclass(frozen=True, slots=True)
class _Handed:
    """What is handed to a call, the call, and the function in which it stands."""

    value: ast.expr
    call: ast.Call
    scope: ast.AST


class PutElsewhere:
    """Looks for who does so in all files of a project."""

    def __init__(self) -> None:
        self._into: dict[tuple[str, str], Setters] = {}
        self._set: dict[str, list[Unit]] = {}
        self._parts: dict[str, list[Unit]] = {}

    def into(self, project: Project, unit: Unit, name: str) -> Setters:
        """Who, elsewhere, puts something into what has the name in the module ``unit``.

        Or sets it anew, or a part of the class or function that it is.
        """
        key = (unit.filename, name)
        if key not in self._into:
            self._into[key] = self._found(project, unit, name)
        return self._into[key]

    def _found(self, project: Project, unit: Unit, name: str) -> Setters:
        found = Setters()
        if name in holding(unit):
            for known in _names_elsewhere(project, name):
                others = [u for u in project.units.having(known) if u is not unit]
                found = found.union(*(u.once(_put_into_imported).get(known, ()) for u in others))
                for user in [unit, *others]:
                    for handed in user.once(_handed_over).get(known, ()):
                        if _fills(project, user, handed, own=user is unit):
                            found |= {handed.scope}
            for getter in unit.once(_handing_out).get(name, ()):
                users = project.units.having(getter)
                found = found.union(*(u.once(put_through).get(getter, ()) for u in users))
        elif name in unit.once(_code):
            for user in self._setting_parts(project, name):
                if user is not unit:
                    found = found.union(user.once(_put_into_imported).get(name, ()))
        if name in unit.once(given_at_top) or name in unit.once(_code):
            found |= self._on_module(project, unit, name)
        return found

    def _on_module(self, project: Project, home: Unit, name: str) -> Setters:
        """Who sets a name of the module ``home`` from another file: ``utils.scale = s``."""
        if name not in self._set:
            self._set[name] = _of_text(project, name, [_set_as_attribute(name)])
        users = [user for user in self._set[name] if user is not home]
        found = {
            scope
            for user in users
            for module, scope in user.once(_set_on_modules).get(name, ())
            if may_hold(home.filename, module)
        }
        found.update(_scope_of(*each) for each in set_unseen(project, home, name))
        return frozenset(found)

    def _setting_parts(self, project: Project, name: str) -> list[Unit]:
        if name not in self._parts:
            self._parts[name] = _of_text(project, name, _part_set_of(name))
        return self._parts[name]


def _names_elsewhere(project: Project, name: str) -> list[str]:
    """The name, and those by which files import it and hand it on: ``import ROWS as rows``."""
    names = [name]
    for each in names:  # which grows meanwhile
        for unit in project.units.having(each):
            names += unit.once(_renamed).get(each, set()) - set(names)
    return names


def _renamed(unit: Unit) -> dict[str, set[str]]:
    """By what is imported by its name: the other names that it has in the file."""
    found: dict[str, set[str]] = defaultdict(set)
    for stmt in unit.nodes(ast.ImportFrom):
        for alias in stmt.names:
            if alias.asname is not None and alias.asname != alias.name:
                found[alias.name].add(alias.asname)
    return found


def put_elsewhere(project: Project) -> PutElsewhere:
    """That of a project, made once."""
    return project.once(_unasked)


def _unasked(_: Project) -> PutElsewhere:
    return PutElsewhere()


def _of_text(project: Project, name: str, patterns: Iterable[re.Pattern[str]]) -> list[Unit]:
    """The files with the name in whose text one of the patterns is found."""
    files = (file for file in project.units.may_have(name) if name in file.text)
    found = [parsed(f) for f in files if any(each.search(f.text) for each in patterns)]
    return [unit for unit in found if unit is not None]


def _set_as_attribute(name: str) -> re.Pattern[str]:
    known = re.escape(name)
    return re.compile(rf"\.\s*{known}\s*(?:(?:[-+*/@]|//)?=(?!=)|,)|[\"'.]{known}[\"']")


def _part_set_of(name: str) -> list[re.Pattern[str]]:
    # Each begins with letters: what does is looked for many times as fast.
    known, changed = re.escape(name), "|".join(sorted(CHANGERS))
    is_set = r"(?:\[[^\]\n]*\])*\s*(?:[-+*/@,]|//)?(?:=(?!=)|,)"
    return [
        re.compile(rf"{known}(?<!\w{known})\.\w+(?:{is_set}|\.(?:{changed})\b)"),
        re.compile(rf"setattr(?<!\wsetattr)\(\s*(?:\w+\.)*{known}\b"),
    ]


def holding(unit: Unit) -> frozenset[str]:
    """The names of the module that something may be put into."""
    return unit.once(_holding)


def _holding(unit: Unit) -> frozenset[str]:
    makes = ast.Call | ast.Dict | ast.List | ast.Set | ast.DictComp | ast.ListComp | ast.BinOp
    given = unit.once(given_at_top)
    return frozenset(n for n in given if any(isinstance(value, makes) for value in given[n]))


def _code(unit: Unit) -> frozenset[str]:
    """The functions and classes of the module."""
    return frozenset(stmt.name for stmt in unit.definitions if unit.parents.get(stmt) is unit.tree)


# -- what one file tells -----------------------------------------------------------------------


def _put_into_imported(unit: Unit) -> dict[str, set[ast.AST]]:
    """By the last names of what is imported: who puts something into it that may be a tensor.

    It may stand by another name there: ``self.rows = ROWS``, ``for row in ROWS:``.
    """
    found: dict[str, set[ast.AST]] = {}
    others = unit.once(_other_names)
    for owner, scope in puts(unit):
        whole: ast.expr = owner
        while isinstance(whole, ast.Subscript | ast.Attribute | ast.Name):
            name = None if isinstance(whole, ast.Subscript) else _imported(unit, whole)
            if name is not None:
                found.setdefault(name, set()).add(scope)
                above = _imported(unit, whole.value) if isinstance(whole, ast.Attribute) else None
                if above is not None and names_class(above):  # a class, and no module
                    found.setdefault(above, set()).add(scope)
                break
            for each in others.get(_last(whole), ()):
                found.setdefault(each, set()).add(scope)
            if isinstance(whole, ast.Name):
                break
            whole = whole.value
    return found


def _imported(unit: Unit, node: ast.expr) -> str | None:
    """The last name of what the expression means of another file of the user's."""
    path = unit.names.qualified(node)
    if path is not None:
        return None if is_of_library(path) else path.rpartition(".")[2]
    if isinstance(node, ast.Name) and own_stars(unit) and node.id in left_to_stars(unit):
        return node.id
    return None


def _other_names(unit: Unit) -> dict[str, set[str]]:
    """By the last step of names: what is imported that they stand for, or for what is in there."""
    found: dict[str, set[str]] = defaultdict(set)
    given: list[tuple[ast.expr | str, ast.expr]] = []
    for assign in unit.nodes(ast.Assign):
        given += each_given(assign)
    given += [(loop.target, loop.iter) for loop in unit.nodes(ast.For)]
    given += [(loop.target, loop.iter) for loop in unit.nodes(ast.comprehension)]
    for args in unit.nodes(ast.arguments):
        given += named_defaults(args).items()
    for target, value in given:
        meant = set(_meant(unit, value))
        for part in [target] if isinstance(target, str) else parts_of_target(target):
            if meant:
                found[part if isinstance(part, str) else _last(part)] |= meant
    return found


def _meant(unit: Unit, value: ast.expr) -> Iterator[str]:
    """The names of what is imported that a value is, is in, or has the elements of."""
    while isinstance(value, ast.Subscript | ast.Starred):
        value = value.value
    if isinstance(value, ast.Call):
        if path_of(value.func) in HANDING_ON:
            yield from (name for each in value.args for name in _meant(unit, each))
        elif isinstance(value.func, ast.Attribute) and value.func.attr in LOOKING:
            yield from _meant(unit, value.func.value)
    elif isinstance(value, ast.Name | ast.Attribute):
        name = _imported(unit, value)
        if name is not None:
            yield name
        elif isinstance(value, ast.Attribute):
            yield from _meant(unit, value.value)


def _last(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


def _set_on_modules(unit: Unit) -> dict[str, list[tuple[str, ast.AST]]]:
    """By names: the modules, or classes, on which they are set to what may be a tensor, and who."""
    found: dict[str, list[tuple[str, ast.AST]]] = defaultdict(list)
    for owner, scope in puts(unit, parts=True):
        path = unit.names.qualified(owner) if isinstance(owner, ast.Attribute) else None
        given = _given_to(unit, owner)
        if given and all(_is_plain_function(unit, value) for value in given):
            continue
        if path is not None and not is_of_library(path):
            module, name = split_path(path)
            found[name].append((module, scope))
    for target in unit.nodes(ast.Attribute):
        scope = _scope_of(unit, target)
        if isinstance(target.ctx, ast.Store) and _are_closures(scope, _given_to(unit, target)):
            path = unit.names.qualified(target)
            if path is not None and not is_of_library(path):
                module, name = split_path(path)
                found[name].append((module, scope))
    for node in unit.nodes(ast.Subscript):
        match node:
            case ast.Subscript(
                value=ast.Attribute(value=on, attr="__dict__"),
                slice=ast.Constant(value=str(name)),
                ctx=ast.Store(),
            ):
                path = unit.names.qualified(on)
                if path is not None and not is_of_library(path):
                    found[name].append((path, _scope_of(unit, node)))
    for call in unit.nodes(ast.Call):
        for module, name in _set_by_call(unit, call):
            found[name].append((module, _scope_of(unit, call)))
    return found


def _set_by_call(unit: Unit, call: ast.Call) -> Iterator[tuple[str, str]]:
    """The module and the name there that a call may set: ``patch.object(layers, "net", f)``.

    Any function may do so that is handed both, beside what may be a tensor or carry one.
    """
    last = _last(call.func)
    match call.args:
        case [on, ast.Constant(value=str(name)), *_] if last != "getattr" and name.isidentifier():
            module = unit.names.qualified(on)
        case [ast.Constant(value=str(path)), *_] if last == "patch":
            module, name = split_path(path)
        case _:
            return
    given = [value for value in arguments_of(call) if value not in call.args[:2]]
    if last == "patch" and isinstance(call.args[0], ast.Constant):
        given += call.args[1:2]
    if (
        module
        and not is_of_library(module)
        and (last == "setattr" or _may_carry(unit, call, given))
    ):
        yield module, name


def _may_carry(unit: Unit, call: ast.Call, given: list[ast.expr]) -> bool:
    """Whether one of the values that a call hands on may be a tensor, or read one when called."""
    kinds, scope = unit.once(kinds_of), _scope_of(unit, call)
    may_be = any(kinds.make(value) not in INDEPENDENT for value in given)
    return may_be or _are_closures(scope, given)


def _is_plain_function(unit: Unit, value: ast.expr) -> bool:
    """Whether a value is an op, or a function that reads only libraries and its arguments."""
    if isinstance(value, ast.Name):
        named = [each for each in unit.definitions if each.name == value.id]
        if len(named) == 1 and named[0] in unit.tree.body and not named[0].decorator_list:
            return isinstance(named[0], ast.FunctionDef) and _reads_libraries_only(unit, named[0])
    if isinstance(value, ast.Lambda):
        return _reads_libraries_only(unit, value)
    return (unit.names.qualified(value) or "").startswith("tensorflow.")


def _reads_libraries_only(unit: Unit, function: ast.FunctionDef | ast.Lambda) -> bool:
    paths = import_paths(unit)
    known = {name for name, path in paths.items() if is_of_library(path)} | vars(builtins).keys()
    bound = unit.once(bound_names).keys() | unit.once(_code)
    return not named_defaults(function.args) and free_names(function) <= known - bound


def _are_closures(scope: ast.AST, given: Iterable[ast.expr]) -> bool:
    """Whether a function is among what is given that reads what the one around it has computed."""
    if not isinstance(scope, NamedFunction):
        return False
    inner = {f.name: f for f in walk(scope) if isinstance(f, NamedFunction) and f is not scope}
    own = own_names(scope).values
    values = (inner.get(each.id) if isinstance(each, ast.Name) else each for each in given)
    return any(
        isinstance(value, NamedFunction | ast.Lambda) and not own.isdisjoint(free_names(value))
        for value in values
    )


def _handed_over(unit: Unit) -> dict[str, list[_Handed]]:
    """What a module has that is handed to functions, beside what may be a tensor."""
    found: dict[str, list[_Handed]] = defaultdict(list)
    own, kinds = holding(unit), unit.once(kinds_of)
    for call in unit.nodes(ast.Call):
        if is_of_library(unit.names.qualified(call.func) or "."):
            continue
        handed = {}
        for each in arguments_of(call):
            name = _imported(unit, each)
            if name is None and isinstance(each, ast.Name) and each.id in own:
                name = each.id
            if name is not None:
                handed[each] = name
        if not handed:
            continue
        others = [kinds.make(a) for a in arguments_of(call) if a not in handed]
        scope = _scope_of(unit, call)
        if isinstance(scope, NamedFunction) and not INDEPENDENT.issuperset(others):
            for each, name in handed.items():
                found[name].append(_Handed(each, call, scope))
    return found


def _fills(project: Project, user: Unit, handed: _Handed, own: bool) -> bool:
    """Whether the function puts something into it. ``own``: it is of the file itself.

    What functions of that file do to it is known there.
    """
    call = handed.call
    path = user.names.qualified(call.func)
    if path is None:
        called = _last(call.func)
        bound = int(isinstance(call.func, ast.Attribute))
        return not own and handed.value in effects_of(user).filled(call, called, bound).surely
    called = path.rpartition(".")[2]
    return any(
        handed.value in effects_of(home).filled(call, called).surely
        and leads_to(project, path, user, home, called) is not False
        for home in project.units.defining(called)
    )


def put_through(unit: Unit) -> dict[str, set[ast.AST]]:
    """By the names of functions: who puts something into their results that may be a tensor."""
    found: dict[str, set[ast.AST]] = {}
    for owner, scope in puts(unit):
        while isinstance(owner, ast.Subscript | ast.Attribute):
            owner = owner.value
        for call in [owner] if isinstance(owner, ast.Call) else _named_so(scope, owner):
            name = (path_of(call.func) or ("",))[-1].lstrip(".")
            if name and not is_of_library(unit.names.qualified(call.func) or "."):
                found.setdefault(name, set()).add(scope)
    return found


def _handing_out(unit: Unit) -> dict[str, set[str]]:
    """By names that something may be put into: the functions that give what has the name."""
    found: dict[str, set[str]] = defaultdict(set)
    for stmt in unit.nodes(ast.Return):
        scope = _scope_of(unit, stmt)
        if isinstance(stmt.value, ast.Name) and isinstance(scope, NamedFunction):
            if stmt.value.id in holding(unit):
                found[stmt.value.id].add(scope.name)
    return found


def _named_so(scope: ast.AST, owner: ast.expr) -> Sequence[ast.Call]:
    """The calls whose results have the name in a function."""
    return kept(scope, _named_calls).get(owner.id, ()) if isinstance(owner, ast.Name) else ()


def _named_calls(scope: ast.AST) -> dict[str, list[ast.Call]]:
    found: dict[str, list[ast.Call]] = defaultdict(list)
    for stmt in (n for n in walk(scope) if isinstance(n, ast.Assign)):
        for target, value in each_written(stmt):
            if isinstance(target, ast.Name) and isinstance(value, ast.Call):
                found[target.id].append(value)
    return found


def puts(unit: Unit, parts: bool = False) -> Iterator[tuple[ast.expr, ast.AST]]:
    """Into what functions put values that may be tensors, and the functions.

    ``parts``: where an attribute is set, that, and not what it is set on.
    """
    kinds = unit.once(kinds_of)
    nodes: Sequence[ast.Attribute | ast.Subscript | ast.Call]
    nodes = (*unit.nodes(ast.Attribute), *unit.nodes(ast.Subscript), *unit.nodes(ast.Call))
    for node in nodes:
        owners: list[ast.expr] = []
        values: list[ast.expr] = []
        if not isinstance(node, ast.Call) and isinstance(node.ctx, ast.Store):
            owners = [_of_vars(node) or (node if parts else node.value)]
            values = _given_to(unit, node)
        elif isinstance(node, ast.Call) and _is_setattr(node):
            owners, values = [] if parts else node.args[:1], node.args[2:]
        elif isinstance(node, ast.Call) and (node.args or node.keywords):
            owners, values = [*put_into(node), *changed_by_handed(node)], arguments_of(node)
            if unit.names.qualified(node.func) in INSERTING:
                owners += values[:1]
        if owners and not all(kinds.make(value) in INDEPENDENT for value in values):
            yield from ((owner, _scope_of(unit, node)) for owner in owners)


def _of_vars(target: ast.Attribute | ast.Subscript) -> ast.expr | None:
    """What ``vars(flags)["scale"] = s`` sets a part of."""
    match target:
        case ast.Subscript(value=ast.Call(func=ast.Name(id="vars"), args=[owner])):
            return owner
    return None


def _is_setattr(call: ast.Call) -> bool:
    return isinstance(call.func, ast.Name) and call.func.id == "setattr" and len(call.args) == 3


def _given_to(unit: Unit, target: ast.expr) -> list[ast.expr]:
    value = value_given(unit, target)
    return [value] if value is not None else []


def _scope_of(unit: Unit, node: ast.AST) -> ast.AST:
    scope = unit.parents[node]
    while not isinstance(scope, NamedFunction | ast.Module):
        scope = unit.parents[scope]
    return scope
