"""Places for new statements: before a statement, or in a function that is being written."""

from __future__ import annotations

import ast
from collections.abc import Sequence, Set
from dataclasses import dataclass, field

from tapemigrate.flow.definitions import Kind as DefKind
from tapemigrate.flow.functions import free_names
from tapemigrate.flow.memory import FILLING
from tapemigrate.flow.slices import origins
from tapemigrate.rules.finding import Unit
from tapemigrate.rules.tfe.scopes import COMPREHENSIONS, Scopes, targets_of
from tapemigrate.source.entry_names import in_another_name
from tapemigrate.source.points import begin, end
from tapemigrate.source.trees import walk

_PLAIN = (ast.Expr, ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Return, ast.Assert)
# Calls that neither change anything nor see what a forward pass changes.
_QUIET_CALLS = frozenset({"format", "join", "len", "str", "int", "float", "range", "repr"})


@dataclass(eq=False, slots=True)
class Block:
    """Statements that go before ``root``, a statement, or make up a body that ends in ``root``.

    ``taken`` are names that new ones must not be; ``used`` those that this very place was given;
    ``own`` those of a new function's parameters, which may get new values. ``nested``: it stands
    under a tape.
    """

    root: ast.AST
    taken: set[str]
    lines: list[str] = field(default_factory=list)
    used: set[str] = field(default_factory=set)
    own: set[str] = field(default_factory=set)
    nested: bool = False

    def inside(self, root: ast.AST, names: set[str]) -> Block:
        """A block under a tape of this one, which uses ``names``."""
        return Block(root, self.taken | self.used | names, nested=True)


class Naming:
    """New names in the scopes of one file."""

    def __init__(self, scopes: Scopes) -> None:
        self._scopes = scopes

    def fresh(self, block: Block, wishes: Sequence[str]) -> str:
        """A name for a value that is used only by the statements of this block."""
        wishes = [in_another_name(wish) for wish in wishes]
        for wish in wishes:
            if wish in block.used:
                continue
            free = wish not in block.taken or wish in block.own
            if free or self._reusable(wish, block):
                block.used.add(wish)
                return wish
        number = 2
        while f"{wishes[0]}{number}" in block.taken | block.used:
            number += 1
        name = f"{wishes[0]}{number}"
        block.used.add(name)
        return name

    def _reusable(self, name: str, block: Block) -> bool:
        """Whether nothing after the block reads what ``name`` holds before it."""
        stmt = block.root
        if not isinstance(stmt, ast.stmt) or self._scopes.loops(stmt):
            return False
        scope = self._scopes.scope_of(stmt)
        if self._scopes.binder(name, stmt) is not scope:
            return False
        definitions = self._scopes.definitions(name, scope)
        if not definitions or any(d.stmt is not None and _kept(d.stmt) for d in definitions):
            return False
        if scope is self._scopes.unit.tree and any(d.kind is not DefKind.WITH for d in definitions):
            return False  # other files may import it
        mentions = self._scopes.mentions(name, scope)
        if not any(isinstance(node.ctx, ast.Load) for node in mentions):
            return False  # what reads it goes by a first name of the same
        for node in mentions:
            if self._scopes.scope_of(node) is not scope:
                return False
            if not isinstance(node.ctx, ast.Load) or self._scopes.comprehension_of(node):
                continue
            if begin(node) < begin(stmt):
                continue
            reaching = origins(self._scopes.flow(scope).reads.get(node, ()))
            if not reaching or any(d.stmt is None or begin(d.stmt) < end(stmt) for d in reaching):
                return False
        return True


def _kept(stmt: ast.stmt) -> bool:
    return isinstance(
        stmt, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Import | ast.ImportFrom
    )


def host(scopes: Scopes, node: ast.AST, root: ast.AST) -> ast.AST | None:
    """The outermost lambda or comprehension between ``node`` and ``root``."""
    found: ast.AST | None = None
    child = node
    for parent in scopes.parents(node):
        if child is root:
            break
        in_body = isinstance(parent, ast.Lambda) and child is parent.body
        if in_body or isinstance(parent, COMPREHENSIONS):
            found = parent
        child = parent
    return found


def names_between(scopes: Scopes, node: ast.AST, root: ast.AST) -> set[str]:
    """The variables of the lambdas and comprehensions between ``node`` and ``root``."""
    found: set[str] = set()
    child = node
    for parent in scopes.parents(node):
        if child is root:
            break
        if isinstance(parent, ast.Lambda) and child is parent.body:
            found |= set(scopes.bound(parent))
        elif isinstance(parent, COMPREHENSIONS):
            found |= targets_of(parent)
        child = parent
    return found


def hoistable(scopes: Scopes, node: ast.expr, root: ast.AST, sites: Set[ast.AST]) -> bool:
    """Whether ``node`` is evaluated once, always, and before anything else in ``root`` that acts.

    Calls among ``sites`` do not count: they are hoisted as well, in their order.
    """
    if isinstance(root, ast.stmt):
        if isinstance(root, ast.If):
            outer = scopes.unit.parents[root]
            is_elif = (
                isinstance(outer, ast.If)
                and outer.orelse == [root]
                and (root.col_offset == outer.col_offset)
            )
            if is_elif:
                return False
        elif isinstance(root, ast.For):
            if not _within(node, root.iter):
                return False
        elif isinstance(root, ast.With):
            if not _within(node, root.items[0].context_expr):
                return False
        elif not isinstance(root, _PLAIN):
            return False
    child: ast.AST = node
    for parent in scopes.parents(node):
        if child is root:
            break
        if isinstance(parent, (ast.Lambda, *COMPREHENSIONS, ast.Await, ast.Yield, ast.YieldFrom)):
            return False
        if isinstance(parent, ast.IfExp) and child is not parent.test:
            return False
        if isinstance(parent, ast.BoolOp) and child is not parent.values[0]:
            return False
        if isinstance(parent, ast.Compare) and child not in (parent.left, parent.comparators[0]):
            return False
        child = parent
    return not _acts_before(root, node, sites) and not _reads_before(scopes, root, node)


def _within(node: ast.AST, holder: ast.AST) -> bool:
    return any(n is node for n in ast.walk(holder))


def _acts_before(root: ast.AST, node: ast.expr, sites: Set[ast.AST]) -> bool:
    start = begin(node)
    stack: list[ast.AST] = [root]
    while stack:
        current = stack.pop()
        if current is node or current in sites:
            continue
        if isinstance(current, ast.Lambda):
            continue
        if isinstance(current, ast.Assign | ast.AnnAssign):
            # The value is evaluated before the targets are.
            if current.value is not None:
                stack.append(current.value)
            continue
        if isinstance(current, ast.stmt) and current is not root:
            continue
        if isinstance(current, ast.Call | ast.Await | ast.Yield | ast.YieldFrom | ast.NamedExpr):
            if end(current) <= start and not _quiet(current):
                return True
        stack.extend(ast.iter_child_nodes(current))
    return False


def _reads_before(scopes: Scopes, root: ast.AST, node: ast.expr) -> bool:
    """Whether ``root`` reads before ``node`` what a function of the file changes: a counter."""
    changed = scopes.unit.once(_changed_by_functions)
    start, parents = begin(node), scopes.unit.parents
    if isinstance(root, ast.AugAssign) and _last_name(root.target) in changed:
        return True
    for read in ast.walk(root) if changed else ():
        if not isinstance(read, ast.Name | ast.Attribute) or not isinstance(read.ctx, ast.Load):
            continue
        if _last_name(read) not in changed:
            continue
        parent = parents[read]
        above = parents[parent] if isinstance(parent, ast.Attribute) else None
        called = isinstance(parent, ast.Call) and parent.func is read
        called |= isinstance(above, ast.Call) and above.func is parent  # ``found.append(…)``
        if end(read) <= start and not called and not _within(read, node):
            return True
    return False


def _last_name(node: ast.AST) -> str | None:
    """``calls`` of ``calls`` and ``self.calls``."""
    return node.id if isinstance(node, ast.Name) else getattr(node, "attr", None)


def _outside(held: ast.expr, free: Set[str]) -> set[str]:
    """The last name of what is changed, if that is not a function's own."""
    name = _last_name(held)
    own = isinstance(held, ast.Name) and held.id not in free
    return set() if own or name is None else {name}


def _changed_by_functions(unit: Unit) -> frozenset[str]:
    """The last names of what functions, when they are called, change outside of themselves."""
    found: set[str] = set()
    for function in unit.nodes(ast.FunctionDef):
        if function.name == "__init__":
            continue
        shared, free = set[str](), free_names(function)
        for node in walk(function):
            match node:
                case ast.Global(names=names) | ast.Nonlocal(names=names):
                    shared |= set(names)
                case ast.Attribute(attr=name, ctx=ast.Store()):
                    found.add(name)
                case ast.Subscript(value=held, ctx=ast.Store()):
                    found |= _outside(held, free)
                case ast.Call(func=ast.Attribute(value=held, attr=name)):
                    if name in FILLING or name.startswith("assign"):
                        found |= _outside(held, free)
        found |= shared
    return frozenset(found)


def _quiet(node: ast.AST) -> bool:
    if not isinstance(node, ast.Call):
        return False
    name = node.func.attr if isinstance(node.func, ast.Attribute) else None
    if isinstance(node.func, ast.Name):
        name = node.func.id
    return name in _QUIET_CALLS
