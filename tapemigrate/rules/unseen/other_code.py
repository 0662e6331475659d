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
_PIECES = ("exec", "runpy", "import *", "globals(", "locals(", "vars(", "get_ipython")
# Of IPython, what runs code that is handed in as a text, or sets names of the module.
_OF_IPYTHON = frozenset({"run_cell_magic", "run_line_magic", "magic", "run_cell", "ex", "push"})
# Magics that run no Python with the names of the module, but for ``pylab``, which makes no tensors.
_QUIET = frozenset(
    {"matplotlib", "pylab", "load_ext", "reload_ext", "autoreload", "config", "cd", "pwd", "ls"}
    | {"pip", "conda", "env", "set_env", "bash", "sh", "html", "HTML", "javascript", "latex"}
    | {"tensorflow_version", "writefile", "file", "script", "markdown", "svg", "mkdir", "who"}
)
# Functions that only look at a table of names.
_LOOKING = frozenset({"len", "list", "sorted", "dict", "print", "set"})


def runs_other_code(view: View, region: Region) -> Refusal | None:
    """Why the scope may compute with the sources where nothing shows it."""
    if not view.unit.once(_may_run):
        return None
    made = [d.begin for leaf in region.sources.leaves for d in leaf.defs]
    first = min(made, default=_begin(view))
    last = end(region.request.stmt)
    loops = view.blocks.loops_around(region.request.stmt)
    for node, what in _running(view):
        table = isinstance(node, ast.Call) and path_of(node.func) in _OF_SCOPE
        since = AHEAD if table else first
        if not since <= begin(node) < last and not any(
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
                elif isinstance(func, ast.Attribute) and _is_magic(func, node):
                    yield node, f"`{func.attr}`"
                elif path_of(func) in _OF_SCOPE and not node.args and _is_filled(view, node):
                    yield node, f"`{ast.unparse(node)}`"
            case ast.ImportFrom(names=[ast.alias(name="*")], module=module):
                if not is_of_library(module):
                    yield node, "an import of all names"


def _is_magic(func: ast.Attribute, call: ast.Call) -> bool:
    """Whether IPython runs a text there, ``get_ipython().run_cell_magic("time", "", code)``."""
    if func.attr not in _OF_IPYTHON:
        return False
    if func.attr in ("ex", "push", "run_cell") and "get_ipython" not in ast.unparse(func.value):
        return False
    first = call.args[0] if call.args else None
    text = first.value if isinstance(first, ast.Constant) else None
    return not isinstance(text, str) or not _QUIET.issuperset(text.split()[:1])


def _is_filled(view: View, table: ast.Call) -> bool:
    """Whether names of the module may be set by the table of them: ``fill(globals())``."""
    if not isinstance(view.scope, ast.Module):
        return False
    above = view.unit.parents[table]
    match above:
        case ast.Compare() | ast.Subscript(ctx=ast.Load()):
            return False
        case ast.Subscript(slice=ast.Constant()):
            return False  # that is seen
        case ast.Attribute(attr=method):
            return method not in ("get", "keys", "items", "values", "copy")
        case ast.Call(func=ast.Name(id=name)):
            return name not in _LOOKING
    return True
