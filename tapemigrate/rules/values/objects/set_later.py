"""Parts of objects that are set after their making: by methods, functions, or whoever has them."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Sequence

from tapemigrate.flow.changers import put_into
from tapemigrate.flow.functions import NamedFunction
from tapemigrate.flow.paths import names_class, path_of
from tapemigrate.rules.callgraph.assigned import is_dict_of_object
from tapemigrate.rules.finding import Unit
from tapemigrate.rules.indexes import kinds_of, reads
from tapemigrate.rules.project import Project
from tapemigrate.rules.values.computed import Computed
from tapemigrate.source.trees import arguments_of, children, kept, walk
from tapemigrate.tape.ops.kinds import INDEPENDENT

# Through how many methods it is looked whether constructors alone call them.
_DEPTH = 4


def may_be_computed_later(project: Project, name: str) -> bool:
    """Whether a part of that name is set, after its object was made, to what an op may have given.

    Who does so need not call the method by its name: ``len(s)``, ``with s:``, ``tasks.put(s.f)``.
    """
    computed = project.once(Computed)
    units = project.units.having(name)
    found = [(unit, *each) for unit in units for each in unit.once(_set_later).get(name, ())]
    # ``proxy.assign = var.assign``: of what others have by that name, some of it is made there.
    copied = any(_is_copy(value, name) for _, _, value in found)
    return any(
        (copied or not _is_constructor(project, method))
        and (value is None or _is_op(unit, value) or computed.may_be(unit, value))
        for unit, method, value in found
        if not _is_copy(value, name) and (copied or method != "__init__")
    )


def _is_copy(value: ast.expr | None, name: str) -> bool:
    return isinstance(value, ast.Attribute) and value.attr == name


def _is_constructor(project: Project, method: str, depth: int = _DEPTH) -> bool:
    """Whether methods of a name are called by nothing but constructors, on the object made."""
    if method == "__init__":
        return True
    if method.startswith("__") or not depth:
        return False
    calling = [
        (node, scope)
        for unit in project.units.having(method)
        for node in unit.once(reads).get(method, ())
        if isinstance(node, ast.Attribute)
        for scope in [_scope(unit, node)]
    ]
    return bool(calling) and all(
        scope is not None
        and _is_on_self(node, scope)
        and _is_constructor(project, scope.name, depth - 1)
        for node, scope in calling
    )


def _is_op(unit: Unit, value: ast.expr) -> bool:
    """Whether arithmetic is done with what is unknown."""
    kinds = unit.once(kinds_of)
    pending: list[ast.AST] = [value]
    while pending:
        node = pending.pop()
        if isinstance(node, ast.expr) and kinds.make(node) in INDEPENDENT:
            continue  # ``open(folder + name)``
        if isinstance(node, ast.BinOp):
            return True
        pending += children(node)
    return False


def _set_later(unit: Unit) -> dict[str, list[tuple[str, ast.expr | None]]]:
    """By the names of parts: what they are set to, and by which method, if it is of the object.

    None where no single value stands there.
    """
    found: dict[str, list[tuple[str, ast.expr | None]]] = defaultdict(list)
    for node in unit.nodes(ast.Attribute):
        if isinstance(node.ctx, ast.Store):
            scope = _scope(unit, node)
            own = scope is not None and _is_on_self(node, scope)
            method = scope.name if scope is not None and own else ""
            found[node.attr].append((method, _value(unit, node)))
    for sub in unit.nodes(ast.Subscript):
        if not isinstance(sub.ctx, ast.Store):
            continue
        if isinstance(sub.slice, ast.Constant) and is_dict_of_object(sub.value):
            found[str(sub.slice.value)].append(("", _value(unit, sub)))
        _put_into(unit, sub.value, [_value(unit, sub)], found)
    for call in unit.nodes(ast.Call):
        for owner in put_into(call):
            _put_into(unit, owner, arguments_of(call), found)
        match call:
            case ast.Call(func=ast.Name(id="setattr"), args=[_, name, value]):
                pass
            case ast.Call(func=ast.Attribute(attr="__setattr__"), args=[*_, name, value]):
                pass
            case ast.Call(func=ast.Attribute(value=owner, attr="update"), keywords=handed):
                for each in handed if is_dict_of_object(owner) else ():
                    found[each.arg or ""].append(("", each.value))
                continue
            case _:
                continue
        if isinstance(name, ast.Constant):
            found[str(name.value)].append(("", value))
    return dict(found)


def _put_into(
    unit: Unit,
    owner: ast.expr,
    values: Sequence[ast.expr | None],
    found: dict[str, list[tuple[str, ast.expr | None]]],
) -> None:
    """Adds what a method puts into a container that is a part of an object: ``graph.kept``."""
    while isinstance(owner, ast.Subscript):
        owner = owner.value
    scope = _scope(unit, owner)
    parts = [owner] if isinstance(owner, ast.Attribute) else []
    if isinstance(owner, ast.Name) and scope is not None:
        parts = kept(scope, _parts_named).get(owner.id, [])
    # What a class holds is a name of its module.
    for part in (p for p in parts if not names_class((path_of(p.value) or ("",))[-1])):
        own = scope is not None and _is_on_self(part, scope)
        method = scope.name if scope is not None and own else ""
        found[part.attr] += [(method, value) for value in values]


def _parts_named(function: ast.AST) -> dict[str, list[ast.Attribute]]:
    """The names that a function has for parts of objects: ``feats = graph.feats``."""
    found: dict[str, list[ast.Attribute]] = {}
    for stmt in (n for n in walk(function) if isinstance(n, ast.Assign)):
        same = [each for each in (*stmt.targets, stmt.value) if isinstance(each, ast.Attribute)]
        for target in (each for each in stmt.targets if isinstance(each, ast.Name)):
            found.setdefault(target.id, []).extend(same)
    return found


def _scope(unit: Unit, node: ast.AST) -> NamedFunction | None:
    scope: ast.AST | None = unit.parents.get(node)
    while scope is not None and not isinstance(scope, NamedFunction):
        scope = unit.parents.get(scope)
    return scope


def _is_on_self(node: ast.Attribute, scope: NamedFunction) -> bool:
    own = scope.args.args
    return bool(own) and path_of(node.value) == (own[0].arg,)


def _value(unit: Unit, target: ast.expr) -> ast.expr | None:
    parent = unit.parents.get(target)
    match parent:
        case ast.Assign(targets=targets, value=value) if target in targets:
            return value
        case ast.AugAssign(value=value) | ast.AnnAssign(value=value):
            return value
        case ast.Tuple(elts=elts):
            match unit.parents.get(parent):
                case ast.Assign(value=ast.Tuple(elts=values)) if len(values) == len(elts):
                    return values[elts.index(target)]
    return None
