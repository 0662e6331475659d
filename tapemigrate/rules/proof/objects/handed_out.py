"""Which objects an object gives to whoever asks it for its parts: ``Model().net.forward``."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Set

from tapemigrate.flow.functions import NamedFunction
from tapemigrate.flow.paths import path_of
from tapemigrate.rules.callgraph.assigned import assigned_in
from tapemigrate.rules.callgraph.instances import instances_of
from tapemigrate.rules.project import Project
from tapemigrate.rules.proof.kept.kept_results import Class, above, methods_of
from tapemigrate.source.trees import children, walk

# Python runs these without a call of them that could be seen: ``net["a"]``, ``with net as w:``.
_UNNAMED = frozenset(
    {"__getattr__", "__getattribute__", "__getitem__", "__missing__", "__iter__", "__next__"}
    | {"__enter__", "__add__", "__radd__", "__sub__", "__rsub__", "__mul__", "__rmul__"}
    | {"__truediv__", "__rtruediv__", "__matmul__", "__rmatmul__", "__neg__", "__pow__"}
)


def handed_out(project: Project, made: Class, asked: Set[str]) -> Iterator[tuple[Class, set[str]]]:
    """The object itself and those it gives, with what they may be asked: methods and parts."""
    pending, met = [made], {made[1]}
    while pending:
        each = pending.pop()
        lineage = list(above(project, *each))
        names = {*asked, *_unnamed(lineage)}
        yield each, names
        for name in sorted(names):
            for part in _given(project, lineage, name):
                if part[1] not in met:
                    met.add(part[1])
                    pending.append(part)


def parts_kept(project: Project, lineage: list[Class], name: str) -> Iterator[Class]:
    """The classes of the objects that are made where an attribute is set."""
    for unit, cls in lineage:
        for value in assigned_in(unit, cls).get(name, ()):
            view = project.view(unit, project.scope_of(unit, value))
            for call in (n for n in walk(value) if isinstance(n, ast.Call)):
                yield from instances_of(project, view, call).classes


def _given(project: Project, lineage: list[Class], name: str) -> Iterator[Class]:
    """What the object keeps under the name, or what its method of that name gives of it."""
    methods = methods_of(lineage, name, False)
    if not methods:
        yield from parts_kept(project, lineage, name)
    for _, method in methods:
        for attribute in _attributes_given(method):
            yield from parts_kept(project, lineage, attribute)


def gives_parts(project: Project, made: Class, name: str) -> bool:
    """Whether the object has such a method, and it gives what the object keeps."""
    return any(
        any(_attributes_given(method))
        for _, method in methods_of(list(above(project, *made)), name, False)
    )


def _attributes_given(method: NamedFunction) -> Iterator[str]:
    """The attributes that are what a method gives, or an element of it."""
    pending = [n.value for n in walk(method) if isinstance(n, ast.Return) and n.value is not None]
    for each in pending:  # which grows meanwhile
        if isinstance(each, ast.Attribute):
            yield each.attr
        elif not isinstance(each, ast.Call | ast.BinOp):
            pending += [n for n in children(each) if isinstance(n, ast.expr)]
        elif path_of(getattr(each, "func", None)) == ("getattr",):
            yield from (n.attr for n in walk(each) if isinstance(n, ast.Attribute))


def _unnamed(lineage: list[Class]) -> set[str]:
    return {
        stmt.name
        for _, cls in lineage
        for stmt in cls.body
        if isinstance(stmt, NamedFunction) and stmt.name in _UNNAMED
    }
