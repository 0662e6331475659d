"""What is found out about values that are made of attributes, methods and functions of a class."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import Enum, auto

from tapemigrate.flow.definitions import Def
from tapemigrate.rules.project import View


@dataclass(slots=True)
class Provenance:
    """What a value may be made of, as far as the code shows.

    ``attributes`` of ``self``, ``parameters`` of the function at hand, ``globals``; ``network``:
    it passes through variables or layers; ``calls``: through calls that may use some; ``outside``:
    it was passed to another function; ``blind``: something on the way cannot be seen; ``foreign``:
    it is set on the object from outside of its class; ``filled``: a call may have put into it what
    cannot be seen. ``defs`` are all definitions that were met,
    ``values`` what was assigned to the attributes among them.
    """

    attributes: set[str] = field(default_factory=set)
    parameters: set[str] = field(default_factory=set)
    globals: set[str] = field(default_factory=set)
    network: bool = False
    calls: bool = False
    outside: bool = False
    blind: bool = False
    foreign: bool = False
    filled: bool = False
    defs: set[Def] = field(default_factory=set)
    values: set[ast.expr] = field(default_factory=set)

    def add(self, other: Provenance) -> None:
        """Takes in all that ``other`` found, but for the parameters of another function."""
        self.attributes |= other.attributes
        self.globals |= other.globals
        self.network |= other.network
        self.calls |= other.calls
        self.outside |= other.outside or bool(other.parameters)
        self.blind |= other.blind
        self.foreign |= other.foreign
        self.filled |= other.filled
        self.defs |= other.defs
        self.values |= other.values

    def add_all(self, others: Iterable[Provenance]) -> None:
        """Takes in what each of them found, once where it is the same one."""
        for other in {id(each): each for each in others}.values():
            self.add(other)


class Traced(Enum):
    """What of a class, or of a file, is traced."""

    ATTRIBUTE = auto()
    METHOD = auto()
    FUNCTION = auto()


# An attribute, method or function, of the class and the file of a view.
Key = tuple[Traced, View, str]


@dataclass(slots=True)
class Steps:
    """What stands in one place: what it tells by itself, and what is traced for the rest."""

    own: Provenance = field(default_factory=Provenance)
    further: dict[Key, None] = field(default_factory=dict)

    def take(self, other: Steps) -> None:
        """Adds what ``other`` tells, but for the parameters of another function."""
        self.own.add(other.own)
        self.further |= other.further
