"""What a file holds that keeps all of its calls from a tape, or has to be turned on for one."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

from tapemigrate.rules.finding import Unit
from tapemigrate.rules.unseen.reasons import (
    CACHING,
    CHANGED,
    IMPORTING,
    IMPORTS,
    IN_LIBRARIES,
    OP_TYPE,
    OVERRIDING,
    PATCHED,
    REPLACED,
    RUNS_OVERRIDDEN,
    WHOLE_FILE,
)
from tapemigrate.rules.unseen.rewired import REWIRING, rewires
from tapemigrate.rules.unseen.variable_settings import WORDS as SETTING_WORDS
from tapemigrate.rules.unseen.variable_settings import set_by
from tapemigrate.rules.unseen.words import is_defun, last_of, may_hold
from tapemigrate.tape.ops.symbols import short
from tapemigrate.tape.request import Refusal

_NAMES: frozenset[type[ast.AST]] = frozenset({ast.Attribute, ast.Name})
# What of them tells something, and is not looked up as such.
_TOLD = frozenset({*IMPORTING, *CHANGED, *WHOLE_FILE, *REWIRING, "gradients", "hessians"})
_TELLING: frozenset[type[ast.AST]] = frozenset(
    {
        ast.Attribute,
        ast.Name,
        ast.Subscript,
        ast.Call,
        ast.Expr,
        ast.FunctionDef,
    }
)


# Of these, settings of variables.
_SETTING: frozenset[type[ast.AST]] = frozenset({ast.keyword, ast.Dict, ast.Assign, ast.arguments})


@dataclass(slots=True)
class Told:
    """``whole``: why no call of the file can be rewritten, ``imports``: that it imports a graph.

    ``defuns``: whether it has a ``Defun``; ``switches`` are calls of ``disable_v2_behavior``.
    """

    whole: Refusal | None = None
    imports: Refusal | None = None
    defuns: bool = False
    switches: list[ast.stmt] = field(default_factory=list)


def told_by(unit: Unit) -> Told:
    """What the nodes of ``unit`` tell, each by itself."""
    found = Told()
    setting = may_hold(unit, SETTING_WORDS)
    telling = _TELLING | (_SETTING if setting else frozenset())
    telling |= {ast.Constant} if OP_TYPE in unit.text else set()
    for node in unit.parents:
        cls = node.__class__
        if cls not in telling or (cls in _NAMES and last_of(node) not in _TOLD):
            continue
        if _replaces(unit, node):
            found.whole = found.whole or REPLACED
        if isinstance(node, ast.Attribute | ast.Name) and last_of(node) in IMPORTING:
            found.imports = IMPORTS
        elif (word := overriding(unit, node)) is not None:
            found.whole = found.whole or Refusal(f"the file {CHANGED[word]}", OVERRIDING)
        elif (rewired := rewires(unit, node, "the file")) is not None:
            found.whole = found.whole or rewired
        elif isinstance(node, ast.Attribute) and node.attr in WHOLE_FILE:
            found.whole = found.whole or WHOLE_FILE[node.attr]
        elif (why := set_by(node) if setting else None) is not None:
            name = "caching_device" if why is CACHING else "use_resource"
            found.whole = found.whole or WHOLE_FILE[name]
        elif isinstance(node, ast.FunctionDef):
            found.defuns |= any(map(is_defun, node.decorator_list))
        elif isinstance(node, ast.Call):
            found.defuns |= is_defun(node)
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            if short(unit.names.qualified(node.value.func)) == "disable_v2_behavior":
                if isinstance(node.value.func, ast.Attribute):
                    found.switches.append(node)
    found.whole = found.whole or _by_library(unit)
    found.switches.sort(key=lambda s: s.lineno)
    return found


def _by_library(unit: Unit) -> Refusal | None:
    """Whether the file has a library give ops another gradient."""
    if not may_hold(unit, IN_LIBRARIES):
        return None
    for _, path in unit.names.references():
        if done_by(path) == RUNS_OVERRIDDEN:
            return Refusal(f"the file uses `{path}`, {RUNS_OVERRIDDEN}", OVERRIDING)
    return None


def done_by(path: str) -> str | None:
    """What the function of a library does that no tape sees, if ``path`` means such a one."""
    library, does = IN_LIBRARIES.get(path.rpartition(".")[2], (path, None))
    return does if path.startswith(library) else None


def overriding(unit: Unit, node: ast.AST) -> str | None:
    """By which word the node gives ops another gradient, where no public function does."""
    if isinstance(node, ast.Constant) and node.value == OP_TYPE:
        parent = unit.parents.get(node)
        is_read = isinstance(parent, ast.Compare) or (
            isinstance(parent, ast.Call) and last_of(parent.func) == "get_attr"
        )
        return None if is_read else OP_TYPE
    if not isinstance(node, ast.Attribute):
        return None
    if node.attr in ("_gradient_registry", "gradient_registry"):
        parent = unit.parents.get(node)
        if isinstance(parent, ast.Attribute):
            parent = unit.parents.get(parent) if parent.attr == "_registry" else None
        # Whether it holds a name is asked, ``lookup`` is called: nothing changes.
        return None if parent is None or isinstance(parent, ast.Compare) else node.attr
    return "_gradient_override_map" if node.attr == "_gradient_override_map" else None


def _replaces(unit: Unit, node: ast.AST) -> bool:
    """Whether a gradient function of TensorFlow is replaced: by assignment, or by a mock."""
    if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
        if node.attr not in ("gradients", "hessians"):
            return False
        # ``ops.tf.gradients``: the one module is reached by others.
        of = last_of(node.value)
        return of == "tf" or (unit.names.qualified(node) or "").startswith("tensorflow")
    if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store):
        key = node.slice.value if isinstance(node.slice, ast.Constant) else None
        return key in PATCHED and last_of(node.value) == "__dict__"
    if isinstance(node, ast.Call) and last_of(node.func) in ("object", "patch", "setattr"):
        return any(isinstance(a, ast.Constant) and a.value in PATCHED for a in node.args)
    return False
