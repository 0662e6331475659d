"""The tapes of a file: how each one is made, what it records, and every use of its name.

Only tapes are read of which all uses are in sight: bound by ``with … as name`` and never passed on,
captured by a function, or entered again.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field

from tapemigrate.flow.definitions import Def, Kind
from tapemigrate.flow.functions import free_names
from tapemigrate.flow.slices import origins
from tapemigrate.rules.finding import Unit
from tapemigrate.rules.project import Project, View
from tapemigrate.rules.reading import statement_of
from tapemigrate.source.points import begin
from tapemigrate.source.trees import walk

ASKING = frozenset({"gradient", "jacobian", "batch_jacobian"})
_KNOWN = ASKING | {"watch", "watched_variables"}
_PATHS = frozenset(
    {"tensorflow.GradientTape", "tensorflow.compat.v1.GradientTape"}
    | {"tensorflow.compat.v2.GradientTape", "tensorflow.contrib.eager.GradientTape"}
    | {"tensorflow.python.eager.backprop.GradientTape"}
)
_NESTED = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


@dataclass(frozen=True, slots=True, eq=False)
class Ask:
    """A call of ``gradient``, ``jacobian`` or ``batch_jacobian``; ``stmt`` is round it."""

    call: ast.Call
    stmt: ast.stmt
    method: str

    @property
    def target(self) -> ast.expr | None:
        """What is differentiated."""
        return self._argument(0, "target")

    @property
    def sources(self) -> ast.expr | None:
        """What it is differentiated by."""
        return self._argument(1, "source" if self.method == "batch_jacobian" else "sources")

    @property
    def plain(self) -> bool:
        """Whether the call has no more than a target and sources."""
        return len(self.call.args) + len(self.call.keywords) == 2 and None not in (
            self.target,
            self.sources,
        )

    def _argument(self, index: int, name: str) -> ast.expr | None:
        if any(isinstance(a, ast.Starred) for a in self.call.args[: index + 1]):
            return None
        if index < len(self.call.args):
            return self.call.args[index]
        return next((k.value for k in self.call.keywords if k.arg == name), None)


@dataclass(slots=True, eq=False)
class Tape:
    """One tape. ``persistent`` and ``watches_variables`` are None where they are not literals."""

    view: View
    made: ast.Call
    stmt: ast.With
    name: str
    binding: Def
    alone: bool
    persistent: bool | None = False
    watches_variables: bool | None = True
    asks: list[Ask] = field(default_factory=list)
    watches: list[ast.Call] = field(default_factory=list)

    def records(self, stmt: ast.stmt) -> bool:
        """Whether ``stmt`` runs in the block of the tape."""
        return self.view.blocks.holds(stmt) and any(
            place.block.owner is self.stmt for place in self.view.blocks.chain(stmt)
        )

    def loop_of(self, node: ast.AST) -> ast.AST | None:
        """The loop or comprehension that may run ``node`` again in one life of the tape."""
        child = node
        for parent in around(self.view.unit, node):
            if parent is self.stmt or parent is self.view.scope:
                return None
            if isinstance(parent, _COMPREHENSIONS) and child is not parent.generators[0]:
                return parent
            if isinstance(parent, ast.For | ast.AsyncFor | ast.While):
                once = child in parent.orelse or child is getattr(parent, "iter", None)
                if not once and not self._within(self.stmt, parent):
                    return parent
            child = parent
        return None

    def _within(self, node: ast.AST, outer: ast.AST) -> bool:
        return any(each is outer for each in around(self.view.unit, node))


def tapes(project: Project, unit: Unit) -> list[Tape]:
    """Every tape of ``unit`` of which all uses are in sight, in the order of the file."""
    found = []
    for expr, path in unit.names.references():
        call = unit.parents.get(expr)
        if path not in _PATHS or not isinstance(call, ast.Call) or call.func is not expr:
            continue
        tape = _tape(project, unit, call)
        if tape is not None and _read_uses(tape):
            found.append(tape)
    return sorted(found, key=lambda t: begin(t.made))


def gives_gradient(view: View, node: ast.expr) -> bool:
    """Whether it is what a tape is asked for: computed there and then, or None.

    What is handed in as ``output_gradients`` may come out as it was.
    """
    func = node.func if isinstance(node, ast.Call) else None
    if not isinstance(node, ast.Call) or not isinstance(func, ast.Attribute):
        return False
    if func.attr not in ASKING or len(node.args) != 2 or node.keywords:
        return False
    made = origins(view.flow.reads.get(func.value, frozenset()))
    return bool(made) and all(
        d.kind is Kind.WITH
        and isinstance(d.value, ast.Call)
        and view.unit.names.qualified(d.value.func) in _PATHS
        for d in made
    )


def around(unit: Unit, node: ast.AST) -> Iterator[ast.AST]:
    """What ``node`` stands in, innermost first."""
    parent = unit.parents.get(node)
    while parent is not None:
        yield parent
        parent = unit.parents.get(parent)


def comes_after(tape: Tape, first: ast.stmt, second: ast.stmt) -> bool:
    """Whether whoever reaches ``second``, in one life of the tape, has run ``first`` before."""
    blocks = tape.view.blocks
    if not (blocks.holds(first) and blocks.holds(second)):
        return False
    for here in blocks.chain(first):
        other = blocks.index_in(second, here.block)
        if other is not None:
            return here.index < other
        owner = here.block.owner
        if not isinstance(owner, ast.With) or not all(
            _is_tape(i.context_expr) for i in owner.items
        ):
            return False
    return False


def _is_tape(node: ast.expr) -> bool:
    func = getattr(node, "func", None)
    return getattr(func, "attr", getattr(func, "id", "")) == "GradientTape"


def _tape(project: Project, unit: Unit, call: ast.Call) -> Tape | None:
    item = unit.parents[call]
    if not isinstance(item, ast.withitem) or not isinstance(item.optional_vars, ast.Name):
        return None
    stmt = unit.parents[item]
    if not isinstance(stmt, ast.With):
        return None
    view = project.view(unit, project.scope_of(unit, stmt))
    name = item.optional_vars.id
    binding = view.flow.defs.get((item.optional_vars, (name,)))
    if binding is None or not view.blocks.holds(stmt):
        return None
    tape = Tape(view, call, stmt, name, binding, alone=len(stmt.items) == 1)
    return tape if _read_options(tape) else None


def _read_options(tape: Tape) -> bool:
    values = dict(zip(("persistent", "watch_accessed_variables"), tape.made.args, strict=False))
    if any(isinstance(a, ast.Starred) for a in tape.made.args):
        return False
    for keyword in tape.made.keywords:
        if keyword.arg is None:
            return False
        values[keyword.arg] = keyword.value
    tape.persistent = _literal(values.get("persistent"), default=False)
    tape.watches_variables = _literal(values.get("watch_accessed_variables"), default=True)
    return True


def _literal(value: ast.expr | None, *, default: bool) -> bool | None:
    if value is None:
        return default
    return bool(value.value) if isinstance(value, ast.Constant) else None


def _read_uses(tape: Tape) -> bool:
    """Fills in the uses; False where some use of the tape is out of sight or of another kind."""
    view, unit = tape.view, tape.view.unit
    for node in walk(view.scope):
        if isinstance(node, _NESTED) and node is not view.scope and tape.name in free_names(node):
            return False
        if isinstance(node, ast.Global | ast.Nonlocal) and tape.name in node.names:
            return False
        if not isinstance(node, ast.Name) or node.id != tape.name:
            continue
        made = origins(view.flow.reads.get(node, frozenset()))
        if tape.binding not in made:
            continue
        if len(made) > 1 or not _read_use(tape, unit, node):
            return False
    tape.asks.sort(key=lambda a: begin(a.call))
    return not any(_expects_failure(unit, a.call, tape) for a in tape.asks)


def _read_use(tape: Tape, unit: Unit, node: ast.Name) -> bool:
    attribute = unit.parents[node]
    call = unit.parents.get(attribute)
    if (
        not isinstance(attribute, ast.Attribute)
        or attribute.attr not in _KNOWN
        or not isinstance(call, ast.Call)
        or call.func is not attribute
    ):
        return False
    if attribute.attr in ASKING:
        tape.asks.append(Ask(call, statement_of(unit, call), attribute.attr))
    elif attribute.attr == "watch":
        tape.watches.append(call)
    return True


def _expects_failure(unit: Unit, node: ast.AST, tape: Tape) -> bool:
    """Whether the code round ``node`` says that it may raise: a test, or a ``try``."""
    child = node
    for parent in around(unit, node):
        if parent is tape.view.scope:
            return False
        if isinstance(parent, ast.Try) and parent.handlers and child in parent.body:
            return True
        if isinstance(parent, ast.With | ast.AsyncWith):
            for item in parent.items:
                func = getattr(item.context_expr, "func", None)
                name = getattr(func, "attr", getattr(func, "id", ""))
                if "raises" in name.lower() or name == "suppress":
                    return True
        child = parent
    return False
