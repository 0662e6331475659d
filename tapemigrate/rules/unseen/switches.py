"""What statements turn on again after one that turns version 2 behaviour off."""

from __future__ import annotations

import ast
import builtins

from tapemigrate.rules.finding import Unit
from tapemigrate.source.trees import walk
from tapemigrate.tape.ops.symbols import short
from tapemigrate.tape.plan import Insert

#: What a tape needs: ``disable_v2_behavior`` turns them off.
NEEDED = ("enable_resource_variables", "enable_control_flow_v2")

_BUILTINS = frozenset(dir(builtins))
_HARMLESS = (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.ClassDef)


def turning_on(unit: Unit, call: ast.Call) -> Insert | None:
    """What turns on, after a call that turns version 2 off, what a tape needs of it, if it is off.

    The call is a statement of its own, of a function that a module has.
    """
    stmt = unit.parents[call]
    assert isinstance(stmt, ast.Expr)
    known = turned_on_after(unit, call)
    owner = ast.unparse(call.func).rpartition(".")[0]
    code = "\n".join(f"{owner}.{name}()" for name in NEEDED if name not in known)
    return Insert(unit.lines.span(stmt), "after", code) if code else None


def turned_on_after(unit: Unit, call: ast.Call) -> frozenset[str]:
    """The names of TensorFlow's switches that are called after ``call``, in the same block.

    What stands before it, or in a function, may not run after it, and what is called after code
    that may make ops or variables is too late for these.
    """
    stmt = unit.parents[call]
    blocks = (getattr(unit.parents.get(stmt), name, None) for name in ("body", "orelse"))
    block = next((b for b in blocks if isinstance(b, list) and stmt in b), [])
    later = block[block.index(stmt) + 1 :] if block else []
    found = set[str]()
    for each in later:
        if isinstance(each, ast.Expr) and isinstance(each.value, ast.Call):
            name = short(unit.names.qualified(each.value.func))
            if name is not None and not _is_late(name):
                found.add(name)
                continue
        if not isinstance(each, _HARMLESS) and any(map(_may_make, walk(each))):
            break
    return frozenset(found)


def _may_make(node: ast.AST) -> bool:
    """Whether it is a call that may make ops: of anything but a builtin."""
    return isinstance(node, ast.Call) and getattr(node.func, "id", "") not in _BUILTINS


def _is_late(name: str) -> bool:
    return not name.startswith(("enable_", "disable_", "logging.", "set_random_seed"))
