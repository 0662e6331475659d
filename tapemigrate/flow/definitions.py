"""Definitions, and the uses by which they reach others: the data of ``defuse``."""

from __future__ import annotations

import ast
from collections.abc import Set
from dataclasses import dataclass, replace
from enum import Enum
from typing import TypeAlias, TypeVar

from tapemigrate.flow.paths import Path
from tapemigrate.source.points import AHEAD, Point, begin

_T = TypeVar("_T")


class Kind(Enum):
    """How a definition came about."""

    PARAM = "parameter"
    ENTRY = "from outside"
    ASSIGN = "assignment"
    ELEMENT = "unpacked"
    AUGMENT = "augmented assignment"
    MUTATE = "changed in place"
    LOOP = "loop variable"
    WITH = "with target"
    COMPREHENSION = "comprehension variable"
    IMPORT = "import"
    FUNCTION = "function"
    CLASS = "class"
    EXCEPT = "exception"


Uses: TypeAlias = "frozenset[Use]"
NONE: Uses = frozenset()


@dataclass(eq=False, slots=True)
class Def:
    """One definition of ``path``; ``stmt`` is the statement that makes it, None at entry.

    ``value`` is the expression it holds (for ELEMENT, LOOP, COMPREHENSION and WITH: the one it was
    taken from). ``uses`` are the definitions that its value is made of, ``before`` those that were
    at its path until it changed in place. ``code`` are the outer names that it reads when called,
    ``parts`` the attributes of these, ``alters`` those that it may give something then, or whose
    objects it may change, and ``hands`` those that it hands to what is out of sight. ``held`` are
    the paths of objects that it may have kept and reads when called, as they are then. ``kept`` are
    the paths that functions may change which it was handed, and may run later. ``order`` counts the
    definitions of the scope.
    """

    path: Path
    kind: Kind
    stmt: ast.stmt | None
    value: ast.expr | None = None
    uses: Uses = NONE
    before: Uses = NONE
    loops: frozenset[ast.stmt] = frozenset()
    code: frozenset[str] = frozenset()
    parts: frozenset[Path] = frozenset()
    alters: frozenset[str] = frozenset()
    hands: frozenset[str] = frozenset()
    held: frozenset[Path] = frozenset()
    kept: frozenset[Path] = frozenset()
    order: int = 0

    @property
    def begin(self) -> Point:
        """Where the statement begins that makes it; ahead of all of them for what enters."""
        return AHEAD if self.stmt is None else begin(self.stmt)

    def __hash__(self) -> int:
        # Sets of definitions are gone through in the same order in every run.
        return self.order


@dataclass(slots=True)
class Use:
    """A definition that reaches a place, and the loops round which it was carried to get there.

    Nobody changes one. It is not ``frozen``, as so many are made, and that takes much longer. Each
    that a flow makes is made once (``States.use``), and ``rows``, the sum of the loops' rows, keeps
    apart those of one definition: what looks the same to a set has to be compared in Python.
    """

    made: Def
    carried: frozenset[ast.stmt] = frozenset()
    rows: int = 0

    def __hash__(self) -> int:
        return self.made.order + (self.rows << 16)


def united(known: frozenset[_T], more: Set[_T]) -> frozenset[_T]:
    """Both; one of the two themselves, as far as may be, for so many sets are kept."""
    if isinstance(more, frozenset) and known.issubset(more):
        return more
    return known if known.issuperset(more) else known.union(more)


@dataclass(frozen=True, slots=True)
class Effect:
    """What a call changes in place, and whether it touches the state that no name shows.

    ``contents`` are arguments that change only where they are lists, dicts or sets, ``objects``
    those that change where they are of a class that the scope shows, ``called`` what may keep parts
    of what it is called with, ``sets`` the attributes that are set on whatever object; ``rebinds``
    are names that get another value, while the object they had stays what it was. ``above`` is the
    object at hand, where a method is called that a class above has. ``parts`` are the attributes
    that a method of its own sets, or changes in place, where it leaves the others as they are.
    """

    changes: tuple[ast.expr, ...] = ()
    rebinds: frozenset[str] = frozenset()
    contents: tuple[ast.expr, ...] = ()
    objects: tuple[ast.expr, ...] = ()
    called: ast.expr | None = None
    sets: frozenset[str] = frozenset()
    writes_hidden: bool = False
    reads_hidden: bool = False
    above: str = ""
    parts: frozenset[str] = frozenset()

    def joined(self, other: Effect) -> Effect:
        """What a call changes that makes another one as well."""
        return replace(
            self,
            changes=(*self.changes, *other.changes),
            parts=frozenset() if other.changes else self.parts,
            rebinds=self.rebinds | other.rebinds,
            contents=(*self.contents, *other.contents),
            objects=(*self.objects, *other.objects),
            called=self.called or other.called,
            sets=self.sets | other.sets,
            writes_hidden=self.writes_hidden or other.writes_hidden,
        )


HIDDEN: Path = ("<hidden state>",)
