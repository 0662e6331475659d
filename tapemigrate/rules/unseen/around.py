"""Functions that are called under what a tape ignores: ``with guided(): attack(x)``.

The file that asks for the gradients does not name it.
"""

from __future__ import annotations

import ast
import os
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import replace

from tapemigrate.flow.functions import NamedFunction
from tapemigrate.rules.callgraph.library_methods import LIBRARY_METHODS
from tapemigrate.rules.finding import Unit
from tapemigrate.rules.project import Project
from tapemigrate.rules.unseen.bindings import last_name
from tapemigrate.rules.unseen.given import may_mean
from tapemigrate.source.trees import walk
from tapemigrate.tape.request import Refusal

#: Why a tape would ignore what is open where a node of a file stands in a ``with`` statement.
Ignored = Callable[[Unit, ast.AST], Refusal | None]


def called_under(
    project: Project, unit: Unit, users: Iterable[Unit], ignored: Ignored
) -> dict[str, Refusal]:
    """The functions of ``unit`` that ``users`` call there, and those that these call."""
    own = {f.name: f for f in unit.definitions}
    found: dict[str, Refusal] = {}
    for user in users:
        for block in user.nodes(ast.With) if own else ():
            why = next(filter(None, (ignored(user, n) for n in _opened(block))), None)
            if why is None:
                continue
            for func in _run(project, user, block.body, own):
                name = last_name(func)
                if name in own and name not in found and _is_meant(project, unit, user, func):
                    place = f"{os.path.basename(user.filename)}, line {func.lineno}"
                    reason = f"`{name}` is called in {place}, {why.reason}"
                    found[name] = replace(why, reason=reason)
    pending = list(found)
    while pending:
        name = pending.pop()
        for func in _run(project, unit, [own[name]], own):
            called = last_name(func)
            if called in own and called not in found:
                found[called] = found[name]
                pending.append(called)
    return found


def names_opened(unit: Unit) -> frozenset[str]:
    """The names that stand in what ``with`` statements open, and those for which they stand."""
    found: set[str] = set()
    for block in unit.nodes(ast.With):
        for node in _opened(block):
            if isinstance(node, ast.keyword):
                found.add(node.arg or "")
            elif isinstance(node, ast.Name | ast.Attribute):
                path = unit.names.qualified(node) or ""
                found |= {last_name(node), path.rpartition(".")[2]}
    return frozenset(found)


def _opened(block: ast.With) -> Iterator[ast.AST]:
    return (node for item in block.items for node in walk(item.context_expr))


def _run(
    project: Project, user: Unit, roots: Iterable[ast.AST], wanted: Collection[str]
) -> Iterator[ast.expr]:
    """What is called below ``roots``, and in the functions of the file that run there.

    Or, of the ``wanted`` and those of the file, handed on to what may call it: ``timed(attack)``.
    """
    own = {f.name: f for f in user.definitions if isinstance(f, NamedFunction)}
    pending, seen = list(roots), set[str]()
    while pending:
        for node in walk(pending.pop()):
            func = node.func if isinstance(node, ast.Call) else node
            name = last_name(func) if isinstance(func, ast.Name | ast.Attribute) else ""
            if func is node and not (
                (name in wanted or name in own) and _is_handed_on(project, name, node)
            ):
                continue
            assert isinstance(func, ast.expr)
            yield func
            if name in own and name not in seen and name not in LIBRARY_METHODS:
                seen.add(name)
                pending.append(own[name])


def _is_handed_on(project: Project, name: str, node: ast.AST) -> bool:
    """Whether it may mean a function at hand, and is no call of that."""
    return any(each is node for _, each in project.mentions(name).others)


def _is_meant(project: Project, unit: Unit, user: Unit, func: ast.expr) -> bool:
    if isinstance(func, ast.Attribute) and func.attr in LIBRARY_METHODS:
        if user.names.qualified(func) is None:
            return False
    return may_mean(project, unit, user, func)
