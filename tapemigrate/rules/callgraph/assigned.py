"""What attributes, by the methods of a class, and names, by the top of a file, are given."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterable, Iterator

from tapemigrate.flow.functions import NamedFunction, parameters
from tapemigrate.flow.paths import names_class, path_of
from tapemigrate.flow.unpacking import each_given, given_to_each
from tapemigrate.rules.finding import Unit
from tapemigrate.rules.indexes import effects_of, given_at_top
from tapemigrate.rules.project import Project, View
from tapemigrate.source.trees import arguments_of, children, top_level, walk

_DISPLAYS = (ast.List, ast.Tuple, ast.Dict, ast.ListComp, ast.DictComp)


def attribute_values(project: Project, view: View, attribute: str) -> list[ast.expr]:
    """What the class of ``view`` assigns to ``self.attribute``, in all of its methods."""
    found: list[ast.expr] = []
    if view.cls is None:
        return found
    for cls in project.family(view.unit, view.cls):
        found += assigned_in(view.unit, cls).get(attribute, ())
    return found


def waits(values: Iterable[ast.expr]) -> bool:
    """Whether an attribute is given nothing but None: code that is not read fills it, if any."""
    return {isinstance(each, ast.Constant) and each.value is None for each in values} == {True}


def assigned_in(unit: Unit, cls: ast.ClassDef) -> dict[str, list[ast.expr]]:
    """What methods of ``cls``, a class of ``unit``, assign to attributes, by their names.

    Functions that methods hand their object assign to it as well.
    """
    assigned = unit.once(_assigned)
    if cls not in assigned:
        assigned[cls] = _assigned_in([cls, *_handed_objects(unit, cls)])
    return assigned[cls]


def _assigned(unit: Unit) -> dict[ast.ClassDef, dict[str, list[ast.expr]]]:
    return {}


def _handed_objects(unit: Unit, cls: ast.ClassDef) -> list[ast.AST]:
    """The functions of the file to which methods hand their object: ``build(self, x)``."""
    effects = effects_of(unit)
    found: dict[ast.AST, None] = {}
    for method in (stmt for stmt in cls.body if isinstance(stmt, NamedFunction)):
        me = {a.arg for a in method.args.args[:1]}
        for call in (n for n in walk(method) if isinstance(n, ast.Call)):
            if isinstance(call.func, ast.Name):
                if any(isinstance(a, ast.Name) and a.id in me for a in arguments_of(call)):
                    found.update(dict.fromkeys(effects.functions(call.func.id)))
    return [each for each in found if not unit.is_below(each, cls)]


def _assigned_in(roots: list[ast.AST]) -> dict[str, list[ast.expr]]:
    """What is assigned to attributes in a class and in what its objects are handed to, by names."""
    found: dict[str, list[ast.expr]] = {}
    for root in roots:
        only = _only_named(root)
        for node in walk(root):
            for target, given in _bindings(node):
                for name, value in _assigned_values(target, given):
                    found.setdefault(name, []).append(only.get(value, value))
            for name, value in _set_by_text(node):
                found.setdefault(name, []).append(only.get(value, value))
    return found


def _only_named(root: ast.AST) -> dict[ast.expr, ast.expr]:
    """What names of functions stand for, by where they are read, or are given it.

    Those are objects and lists into which nothing is put by the name. What is read was given once.
    """
    found: dict[ast.expr, ast.expr] = {}
    for function in (n for n in walk(root) if isinstance(n, NamedFunction)):
        handed = {a.arg for a in parameters(function.args)}
        values: dict[str, ast.expr] = {}
        given = Counter[str]()
        reads: list[ast.Name] = []
        stores: dict[ast.Name, ast.expr] = {}
        changing: set[str] = set()
        for parent in walk(function):
            for node in children(parent):
                if not isinstance(node, ast.Name):
                    continue
                if isinstance(node.ctx, ast.Load):
                    reads.append(node)
                    changing |= set() if _only_reads(parent) else {node.id}
                else:
                    given[node.id] += 1
                    if isinstance(parent, ast.Assign) and _holds(parent.value):
                        values[node.id] = stores[node] = parent.value
        for node in reads:
            if node.id in values and given[node.id] == 1 and node.id not in handed | changing:
                found[node] = values[node.id]
        found |= {node: value for node, value in stores.items() if node.id not in changing}
    return found


def _only_reads(parent: ast.AST) -> bool:
    """Whether what is read there gets nothing put into it, and no other name."""
    match parent:
        case ast.Assign(targets=targets):
            return all(isinstance(target, ast.Attribute) for target in targets)
        case ast.Call(func=ast.Name(id="len" | "print" | "isinstance")) | ast.Compare():
            return True
    return False


def _holds(value: ast.expr) -> bool:
    """Whether it is an object, or a list or a dict, as it is written there."""
    path = path_of(value.func) if isinstance(value, ast.Call) else None
    return isinstance(value, _DISPLAYS) or (path is not None and names_class(path[-1]))


def _set_by_text(node: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    """What is set without an attribute: ``self.__dict__["h"] = h``, ``vars(self).update(h=h)``."""
    match node:
        case ast.Assign(targets=[ast.Subscript(value=owner, slice=ast.Constant(value=str(name)))]):
            if is_dict_of_object(owner):
                yield name, node.value
        case ast.Call(func=ast.Attribute(value=owner, attr="update"), keywords=handed):
            if is_dict_of_object(owner):
                yield from ((each.arg, each.value) for each in handed if each.arg is not None)
        case ast.Call(func=ast.Name(id="setattr"), args=[_, ast.Constant(value=str(name)), value]):
            yield name, value


def is_dict_of_object(node: ast.expr) -> bool:
    """``o.__dict__``, ``vars(o)``"""
    named = node.func if isinstance(node, ast.Call) else node
    return (path_of(named) or ("",))[-1].lstrip(".") in ("__dict__", "vars")


def _bindings(node: ast.AST) -> Iterator[tuple[ast.expr, ast.expr | None]]:
    """What a statement gives a value, and that value, or what it comes out of."""
    match node:
        case ast.Assign():
            yield from given_to_each(node)
        case ast.AnnAssign() | ast.AugAssign():
            yield node.target, node.value
        case ast.For() | ast.AsyncFor() | ast.comprehension():
            parts = node.iter.elts if isinstance(node.iter, ast.List | ast.Tuple) else [node.iter]
            yield from ((node.target, element(part)) for part in parts)
        case ast.withitem() if node.optional_vars is not None:
            yield node.optional_vars, node.context_expr


def _assigned_values(target: ast.expr, value: ast.expr | None) -> Iterator[tuple[str, ast.expr]]:
    if value is None:
        return
    if isinstance(target, ast.Tuple | ast.List):
        pairs = isinstance(value, ast.Tuple | ast.List) and len(value.elts) == len(target.elts)
        for place, part in enumerate(target.elts):
            inner = (
                value.elts[place]
                if pairs and isinstance(value, ast.Tuple | ast.List)
                else element(value)
            )
            yield from _assigned_values(part, inner)
    elif isinstance(target, ast.Starred):
        yield from _assigned_values(target.value, value)
    elif isinstance(target, ast.Attribute):
        yield target.attr, value


def given_in_body(cls: ast.ClassDef, name: str) -> list[ast.expr]:
    """What the body of a class, with its branches, gives the name."""
    return [
        value
        for stmt in top_level(cls)
        for target, value in each_given(stmt)
        if any(n.id == name and isinstance(n.ctx, ast.Store) for n in _names(target))
    ]


def _names(target: ast.expr) -> Iterator[ast.Name]:
    return (n for n in walk(target) if isinstance(n, ast.Name))


def element(value: ast.expr) -> ast.expr:
    """``[a, b] = [f(n) for n in names]``: each is one of those that are listed."""
    return value.elt if isinstance(value, ast.ListComp) else value


def global_values(unit: Unit, name: str) -> list[ast.expr]:
    """What module-level statements assign to ``name``."""
    return unit.once(given_at_top).get(name, [])
