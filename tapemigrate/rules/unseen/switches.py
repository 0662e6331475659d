"""What statements turn on again after one that turns version 2 behaviour off."""

from __future__ import annotations

import ast

from tapemigrate.rules.finding import Unit
from tapemigrate.tape.ops.symbols import short


def turned_on_after(unit: Unit, call: ast.Call) -> frozenset[str]:
    """The names of TensorFlow's switches that are called further down in the block of ``call``.

    What stands before it, or in a function, may not run after it.
    """
    stmt = unit.parents[call]
    blocks = (getattr(unit.parents.get(stmt), name, None) for name in ("body", "orelse"))
    block = next((b for b in blocks if isinstance(b, list) and stmt in b), [])
    later = block[block.index(stmt) + 1 :] if block else []
    calls = (s.value for s in later if isinstance(s, ast.Expr) and isinstance(s.value, ast.Call))
    names = (short(unit.names.qualified(each.func)) for each in calls)
    return frozenset(name for name in names if name is not None)
