"""What knows no tensors: the module's ``parser = argparse.ArgumentParser()``, what is made of
numbers by a function, ``def sizes(): return HParams(n=1)``, or by one that is handed nothing and
reads nothing that may hold one, ``def arguments(): …; return parser.parse_args()``.
"""

from __future__ import annotations

import ast
import builtins

from tapemigrate.flow.changers import CHANGERS
from tapemigrate.flow.paths import path_of
from tapemigrate.rules.callgraph.assigned import global_values
from tapemigrate.rules.finding import Unit
from tapemigrate.rules.indexes import bound_names
from tapemigrate.rules.project import Project, View
from tapemigrate.rules.values.variables.variable_lists import function_meant
from tapemigrate.source.trees import walk
from tapemigrate.tape.ops.kinds import Kinds, Make
from tapemigrate.tape.ops.plain_calls import makes_container, makes_none
from tapemigrate.tape.ops.symbols import gives_no_tensors

# What may bring anything into a function, or leave it there.
_RUNNING = frozenset({"globals", "locals", "vars", "eval", "exec", "__import__", "getattr"})
_NOT_ITS_OWN = (
    *(ast.Global, ast.Nonlocal, ast.ClassDef, ast.Import, ast.ImportFrom),
    *(ast.Yield, ast.YieldFrom, ast.Await),
)


def is_plain_object(project: Project, unit: Unit, name: str) -> bool:
    """Whether the module gives it its name, and nothing else may, of a library without tensors.

    Or of a number or text that is written there. A dict that a library read may be put tensors in.
    """
    values = global_values(unit, name)
    if not values or any(arg.arg == name for arg in unit.nodes(ast.arg)):
        return False
    stored = (n for n in unit.nodes(ast.Name) if not isinstance(n.ctx, ast.Load))
    if sum(n.id == name for n in stored) != len(values):
        return False
    if not all(_is_plain(unit, value) for value in values):
        return False
    if all(_takes_nothing(unit, value) for value in values):
        return True
    known = project.once(_known_filled)
    if name not in known:
        known[name] = any(_is_filled(each, name) for each in project.units.having(name))
    return not known[name]


def _known_filled(_: Project) -> dict[str, bool]:
    return {}


def _takes_nothing(unit: Unit, value: ast.expr) -> bool:
    """Whether what is made is no list, dict or object into which the code may put anything."""
    if not isinstance(value, ast.Call):
        return True
    return not makes_container(unit.names.qualified(value.func) or "")


def _is_filled(unit: Unit, name: str) -> bool:
    """Whether something may be put into what has the name, there or by way of its module."""
    parts: list[ast.Subscript | ast.Attribute] = [*unit.nodes(ast.Subscript)]
    parts += unit.nodes(ast.Attribute)
    if any(not isinstance(n.ctx, ast.Load) and _ends_with(n.value, name) for n in parts):
        return True
    for call in unit.nodes(ast.Call):
        func = call.func
        if isinstance(func, ast.Attribute) and func.attr in CHANGERS:
            if _ends_with(func.value, name):
                return True
        elif path_of(func) == ("setattr",) and call.args and _ends_with(call.args[0], name):
            return True
    return False


def _ends_with(node: ast.expr, name: str) -> bool:
    """Whether it is ``name``, ``module.name``, or an element of such."""
    while isinstance(node, ast.Subscript):
        node = node.value
    last = node.attr if isinstance(node, ast.Attribute) else ""
    return name == (node.id if isinstance(node, ast.Name) else last)


def _is_plain(unit: Unit, value: ast.expr) -> bool:
    if isinstance(value, ast.Constant):
        return value.value is not None
    known = unit.names.qualified(value.func) if isinstance(value, ast.Call) else None
    return known is not None and isinstance(value, ast.Call) and makes_none(known, value)


def gives_numbers(project: Project, view: View, call: ast.Call) -> bool:
    """Whether a function of the user's is called that gives numbers, or an object made of such."""
    found = function_meant(project, view, call)
    if found is None or found[1].decorator_list:
        return False
    inner = project.view(*found)
    ends = [end.value for end in inner.flow.returns]
    if not ends or inner.flow.yields or None in ends:
        return False
    numbers = all(end is not None and inner.kinds.make(end) is Make.PYTHON for end in ends)
    # Methods are handed their object.
    alone = not (call.args or call.keywords) and found[0].parents.get(found[1]) is found[0].tree
    return numbers or (alone and _meets_no_tensors(project, *found, inner.kinds, frozenset()))


def _meets_no_tensors(
    project: Project,
    unit: Unit,
    function: ast.FunctionDef,
    kinds: Kinds,
    seen: frozenset[ast.AST],
) -> bool:
    """Whether all that a function of the module reads, beside what it is handed, has no tensors."""
    nodes = list(walk(function))
    if function.decorator_list or any(isinstance(n, _NOT_ITS_OWN) for n in nodes):
        return False
    defaults = [*function.args.defaults, *function.args.kw_defaults]
    if not all(d is None or isinstance(d, ast.Constant) for d in defaults):
        return False
    names = [n for n in nodes if isinstance(n, ast.Name)]
    own = {n.id for n in names if not isinstance(n.ctx, ast.Load)}
    own |= {n.arg for n in nodes if isinstance(n, ast.arg)}
    others = (n for n in names if n.id not in own)
    return all(_has_no_tensors(project, unit, n, kinds, seen | {function}) for n in others)


def _has_no_tensors(
    project: Project, unit: Unit, node: ast.Name, kinds: Kinds, seen: frozenset[ast.AST]
) -> bool:
    """Whether what a name of the module, or of Python, means is known to have none."""
    path = kinds.name(node)
    if path is not None:
        return gives_no_tensors(path)
    if is_plain_object(project, unit, node.id):
        return True
    found = [d for d in unit.definitions if d.name == node.id]
    if node.id in unit.once(bound_names):
        return False
    if not found and hasattr(builtins, node.id):
        return node.id not in _RUNNING
    function = found[0] if len(found) == 1 else None
    if not isinstance(function, ast.FunctionDef) or unit.parents.get(function) is not unit.tree:
        return False
    return function in seen or _meets_no_tensors(project, unit, function, kinds, seen)
