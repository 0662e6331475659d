"""The plain data that every layer shares: positions, edits, fixes, diagnostics."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Applicability = Literal["safe", "unsafe", "display"]
Verdict = Literal["VERIFIED", "UNVERIFIED", "REFUTED"]
#: Said of a fix that rewrites a call for some callers, and leaves it to be reported for others.
OLD_CALL_STAYS = "the old call stays for those that hand in none"


@dataclass(frozen=True, slots=True, order=True)
class Position:
    """A place in a text: ``row`` and ``column`` count from one, in characters."""

    row: int
    column: int


@dataclass(frozen=True, slots=True)
class Edit:
    """``content`` takes the place of the text from ``start`` up to ``end`` of ``filename``.

    In a notebook they are places in a ``cell``.
    """

    filename: str
    start: Position
    end: Position
    content: str
    cell: int | None = None


@dataclass(frozen=True, slots=True)
class Fix:
    """What would mend a diagnostic. The edits land together or not at all."""

    applicability: Applicability
    message: str
    edits: tuple[Edit, ...] = ()


@dataclass(frozen=True, slots=True)
class Proof:
    """What running both sides of a rewrite has shown, and why.

    ``inputs``, ``before`` and ``after`` are the smallest inputs found for which the two sides
    differ, and what each gave, as text; empty where there are none.
    """

    verdict: Verdict
    detail: str
    inputs: str = ""
    before: str = ""
    after: str = ""

    @property
    def example(self) -> list[str]:
        """The lines that tell where the two sides differ."""
        told = {"smallest inputs found": self.inputs, "before": self.before, "after": self.after}
        return [f"{what}: {value}" for what, value in told.items() if value]


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One finding: where it is, which rule says so, why, and what to do about it.

    ``message`` is one line. ``help`` (may have several lines) is the recipe for what no fix covers.
    ``cell`` is the notebook cell, counted from one, and None in plain Python files.
    ``comment_row`` is the row for a suppression comment, where the first row cannot hold one.
    ``in_file`` is where it begins and ends in the text of a notebook's file, which is JSON.
    """

    code: str
    message: str
    filename: str
    location: Position
    end_location: Position
    help: str = ""
    fix: Fix | None = None
    cell: int | None = None
    comment_row: int | None = None
    proof: Proof | None = None
    in_file: tuple[Position, Position] | None = None

    @property
    def noqa_row(self) -> int:
        """The row on which a suppression comment for this diagnostic stands."""
        return self.location.row if self.comment_row is None else self.comment_row


#: Before a name: where an attribute of that name is given a value.
SET = "="


@dataclass(frozen=True, slots=True)
class Handed:
    """A function that may be handed a tape.

    A file that calls it names it, and one of ``anchors``: its module, package or class.
    ``followed``: such a function is handed to it as a value. Without anchors, it is an attribute.
    ``shared``: a method that goes by its name alone, for a call of it on some object may be one of
    another class's. Where the names begin with ``SET``, an attribute of a target that a
    file sets which computes it may be handed a tape.
    """

    name: str
    anchors: frozenset[str]
    followed: bool = False
    shared: bool = False


@dataclass(frozen=True, slots=True)
class Links:
    """What in other files concerns a file: ``names`` whose callers decide about its fixes.

    ``imports`` are the modules, packages and names that it imports, ``givers`` the modules of the
    functions and classes that give what it differentiates by, that are handed the objects in which
    it does so, that its classes extend, and of what else it uses, as imports write them. After a
    colon may stand the name that it uses of the module.
    """

    names: frozenset[str] = frozenset()
    handed: frozenset[Handed] = frozenset()
    imports: frozenset[str] = frozenset()
    givers: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Hidden:
    """What a file holds that makes ops which no tape records.

    ``names`` are its functions and classes that do, ``uses`` the names of all that it imports and
    uses, one of which may be such a function of another file.
    """

    names: frozenset[str] = frozenset()
    uses: frozenset[str] = frozenset()
