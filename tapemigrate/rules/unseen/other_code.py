"""Code that runs where it does not stand: what ``exec`` is given, a module that brings its names.

Between a source and the call it may compute with the source, or give the target another value.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tapemigrate.flow.functions import Function
from tapemigrate.flow.paths import path_of
from tapemigrate.rules.callgraph.classes import is_of_library
from tapemigrate.rules.finding import Unit
from tapemigrate.rules.project import View
from tapemigrate.source.points import AHEAD, Point, begin, end
from tapemigrate.source.trees import children
from tapemigrate.tape.placing.region import Region
from tapemigrate.tape.request import Refusal

_RUNNING = frozenset({"exec", "execfile", "runpy.run_module", "runpy.run_path"})
_OF_SCOPE = frozenset({("globals",), ("locals",), ("vars",)})
_MAKING_NONE = (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.ClassDef)
#: In a file without one of these pieces nothing of the kind runs.
_PIECES = ("exec", "runpy", "import *", "globals(", "locals(", "vars(")


def runs_other_code(view: View, region: Region) -> Refusal | None:
    """Why the scope may compute with the sources where nothing shows it."""
    if not view.unit.once(_may_run):
        return None
    made = [d.begin for leaf in region.sources.leaves for d in leaf.defs]
    first = min(made, default=_begin(view))
    last = end(region.request.stmt)
    loops = view.blocks.loops_around(region.request.stmt)
    for node, what in _running(view):
        if not first <= begin(node) < last and not any(
            begin(loop) <= begin(node) < end(loop) for loop in loops
        ):
            continue
        return Refusal(
            f"{what} in line {node.lineno} runs code that does not stand there, and that may "
            "compute with the source, or set what the target is made of",
            "Write what it runs where it runs, or make a function of it that is called.",
        )
    return None


def _begin(view: View) -> Point:
    """The place before which the scope has made no variables: it does nothing but import."""
    body = getattr(view.scope, "body", None)
    rest = (s for s in body if not isinstance(s, _MAKING_NONE)) if isinstance(body, list) else ()
    return next(map(begin, rest), AHEAD)


def _may_run(unit: Unit) -> bool:
    return any(piece in unit.text for piece in _PIECES)


def _running(view: View) -> Iterator[tuple[ast.expr | ast.stmt, str]]:
    """Where the scope itself runs such code, and by what."""
    names = view.unit.names
    pending: list[ast.AST] = list(children(view.scope))
    while pending:
        node = pending.pop()
        if isinstance(node, Function | ast.ClassDef):
            continue
        pending += children(node)
        match node:
            case ast.Call(func=func):
                name = names.qualified(func) or ".".join(path_of(func) or ())
                if name in _RUNNING:
                    yield node, f"`{name}`"
                elif isinstance(func, ast.Attribute) and func.attr == "update":
                    if isinstance(func.value, ast.Call) and path_of(func.value.func) in _OF_SCOPE:
                        if not func.value.args:
                            yield node, f"`{ast.unparse(func)}`"
            case ast.ImportFrom(names=[ast.alias(name="*")], module=module):
                if not is_of_library(module):
                    yield node, "an import of all names"
