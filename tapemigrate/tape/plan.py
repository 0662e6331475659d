"""What a rewrite will do to a file, as plain data: made by the planner, applied by the codemods."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from tapemigrate.source.entry_names import as_written
from tapemigrate.source.span import Span


@dataclass(frozen=True, slots=True)
class Replace:
    """The expression at ``span`` becomes the expression ``code``. Replacements never overlap.

    ``verbatim``: the lines of ``code`` were cut out of the text there, and keep their margins.
    """

    span: Span
    code: str
    verbatim: bool = False


@dataclass(frozen=True, slots=True)
class ReplaceStatement:
    """The statement at ``span`` becomes the statements ``code``; empty code deletes it.

    Comments above the statement stay. A body that would be left empty gets a ``pass``.
    """

    span: Span
    code: str


@dataclass(frozen=True, slots=True)
class Insert:
    """New statements beside the statement at ``anchor``, or as the first ones of its ``body``.

    They stand directly at the anchor: inside every ``Wrap`` that holds the anchor. Several inserts
    with one anchor and one place keep the order in which the plan lists them.
    """

    anchor: Span
    where: Literal["before", "after", "body"]
    code: str


@dataclass(frozen=True, slots=True)
class Wrap:
    """The statements from ``first`` to ``last`` of one block go under ``header``.

    ``header`` is a ``with`` line that ends in a colon. ``entry`` and ``exit`` are statements that
    come first and last in the new block. Wraps nest and never cross; of two with the same range
    the one that the plan lists first is the outer one.
    """

    first: Span
    last: Span
    header: str
    entry: str = ""
    exit: str = ""


@dataclass(frozen=True, slots=True)
class AddParameter:
    """The function at ``span`` gets the parameter ``name``: ``optional``, with None for default."""

    span: Span
    name: str
    optional: bool = False


Op = Replace | ReplaceStatement | Insert | Wrap | AddParameter


def in_text(op: Op) -> Op:
    """The operation as a text has it, with entries in the place of their names."""
    match op:
        case Wrap():
            entry, exit_ = as_written(op.entry), as_written(op.exit)
            return replace(op, header=as_written(op.header), entry=entry, exit=exit_)
        case AddParameter():
            return op
        case _:
            return replace(op, code=as_written(op.code))
