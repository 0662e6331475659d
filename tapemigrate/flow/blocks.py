"""Where statements stand: their block, their place in it, and the blocks around it."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from tapemigrate.flow.functions import Scope
from tapemigrate.source.points import begin, end


@dataclass(frozen=True, slots=True, eq=False)
class Block:
    """One list of statements; ``owner`` is the compound statement around it, None at the top."""

    body: list[ast.stmt]
    owner: ast.stmt | None
    field: str

    def whole(self, first: int, last: int) -> tuple[int, int]:
        """The statements from ``first`` to ``last``, and those that stand in the same places."""
        body = self.body
        while first > 0 and end(body[first - 1]) > begin(body[first]):
            first -= 1
        while last + 1 < len(body) and begin(body[last + 1]) < end(body[last]):
            last += 1
        return first, last


@dataclass(frozen=True, slots=True)
class Place:
    """A statement's block and its index there."""

    block: Block
    index: int


class Blocks:
    """The block structure of one scope; nested functions and classes count as plain statements."""

    def __init__(self, scope: Scope) -> None:
        self._places: dict[ast.stmt, Place] = {}
        self._statement: dict[ast.AST, ast.stmt] = {}
        if not isinstance(scope, ast.Lambda):
            self.top = Block(scope.body, None, "body")
            self._read(self.top)

    def _read(self, top: Block) -> None:
        stack = [top]
        while stack:
            block = stack.pop()
            for index, stmt in enumerate(block.body):
                self._places[stmt] = Place(block, index)
                stack.extend(inner_blocks(stmt))

    def place(self, stmt: ast.stmt) -> Place:
        """Where ``stmt`` stands. KeyError if it is not a statement of this scope."""
        return self._places[stmt]

    def stands_alone(self, stmt: ast.stmt) -> bool:
        """Whether the text has nothing else in the place of ``stmt``, as ``a, b = 1, 2`` has."""
        place = self._places[stmt]
        return place.block.whole(place.index, place.index) == (place.index, place.index)

    def statements(self) -> Iterable[ast.stmt]:
        """All statements of this scope."""
        return self._places

    def holds(self, stmt: ast.stmt) -> bool:
        """Whether ``stmt`` is a statement of this scope."""
        return stmt in self._places

    def chain(self, stmt: ast.stmt) -> list[Place]:
        """The places of ``stmt`` and of every statement around it, innermost first."""
        found = []
        current: ast.stmt | None = stmt
        while current is not None:
            place = self._places[current]
            found.append(place)
            current = place.block.owner
        return found

    def common(self, stmts: Iterable[ast.stmt]) -> tuple[Block, dict[ast.stmt, int]]:
        """The innermost block that holds all ``stmts``, and the index of each one there."""
        chains = {s: self.chain(s) for s in stmts}
        first = next(iter(chains.values()))
        for place in first:
            indices = {s: _index(chain, place.block) for s, chain in chains.items()}
            if all(i is not None for i in indices.values()):
                return place.block, {s: i for s, i in indices.items() if i is not None}
        raise KeyError("statements of different scopes")

    def index_in(self, stmt: ast.stmt, block: Block) -> int | None:
        """The index in ``block`` of the statement that is, or holds, ``stmt``."""
        return _index(self.chain(stmt), block)

    def comes_before(self, made: ast.stmt, read: ast.stmt, block: Block) -> bool:
        """Whether what ``made`` gives ``read`` can only be what it gave since ``block`` began.

        Both stand in ``block``. No loop round it takes a value from one time to the next.
        """
        if not self.loops_around(block.body[0]):
            return True
        place = self.place(made)
        return any(p.block is place.block and place.index < p.index for p in self.chain(read))

    def after(self, stmt: ast.stmt) -> Iterator[Place]:
        """The places that follow on ``stmt`` whenever it has run, in its block, and out of it."""
        for place in self.chain(stmt):
            for index in range(place.index + 1, len(place.block.body)):
                yield Place(place.block, index)
            if not isinstance(place.block.owner, ast.With | ast.AsyncWith):
                return

    def loops_around(self, stmt: ast.stmt, inside: Block | None = None) -> list[ast.stmt]:
        """The loops whose body holds ``stmt``, innermost first, up to the block ``inside``."""
        found: list[ast.stmt] = []
        for place in self.chain(stmt):
            if place.block is inside or place.block.owner is None:
                break
            owner = place.block.owner
            if (
                isinstance(owner, ast.For | ast.AsyncFor | ast.While)
                and place.block.field == "body"
            ):
                found.append(owner)
        return found


def _index(chain: list[Place], block: Block) -> int | None:
    return next((p.index for p in chain if p.block is block), None)


def inner_blocks(stmt: ast.stmt) -> Iterator[Block]:
    """The blocks of a compound statement that belong to the same scope as the statement itself."""
    if isinstance(stmt, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return
    for field in ("body", "orelse", "finalbody"):
        body = getattr(stmt, field, None)
        if body and isinstance(body, list):
            yield Block(body, stmt, field)
    for handler in getattr(stmt, "handlers", ()):
        yield Block(handler.body, stmt, "handler")
    for case in getattr(stmt, "cases", ()):
        yield Block(case.body, stmt, "case")
