"""What a value has to do with variables, and what becomes of that in ops and in objects."""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum


class Held(IntEnum):
    """What a value has to do with variables; of several, the highest counts."""

    NOTHING = 0
    OBJECTS = 1  # variables may be among them, or among what they hold
    VARIABLE = 2
    UNKNOWN = 3
    COMPUTED = 4


def of_op(given: Iterable[Held]) -> Held:
    """What an op makes of values."""
    of = list(given)
    if Held.VARIABLE in of:
        return Held.COMPUTED
    most = max(of, default=Held.NOTHING)
    return most if most in (Held.NOTHING, Held.UNKNOWN) else Held.COMPUTED


def of_object(given: Iterable[Held]) -> Held:
    """What an object holds, or a container, that is handed the values."""
    most = max(given, default=Held.NOTHING)
    return Held.OBJECTS if most <= Held.VARIABLE else most
