"""Sources that are numbers or arrays: ``tf.gradients`` gives None, and no tape watches them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from tapemigrate.tape.leaf import Leaf, assuming
from tapemigrate.tape.recipes import MADE_TENSOR, SOURCE

PYTHON_VALUE = "the source is a Python value, not a tensor"


@dataclass(frozen=True, slots=True)
class Plain:
    """``text``, a number or an array and no tensor, that a source is given at ``where``.

    ``always``: it is given nothing else.
    """

    text: str
    where: str
    always: bool


def no_tensor(text: str, elsewhere: Plain | None) -> str:
    """Why nothing is differentiated by ``text``, which is given its value ``elsewhere``."""
    reason = PYTHON_VALUE.replace("source", f"source `{text}`")
    return f"{reason}: it is `{elsewhere.text}` in {elsewhere.where}" if elsewhere else reason


def recipe_of(refusal: str | None) -> str:
    """What to write by hand where sources cannot be watched."""
    ends = PYTHON_VALUE.removeprefix("the source")
    return MADE_TENSOR if refusal is not None and ends in refusal else SOURCE


def if_tensors(leaves: list[Leaf], text: str, plains: Iterable[Plain | None]) -> list[Leaf]:
    """The leaves of ``text``, if it is none of ``plains`` where it is watched."""
    plain = next((each for each in plains if each is not None), None)
    if plain is None:
        return leaves
    sentence = (
        f"`{text}` is a tensor wherever this runs (it is `{plain.text}` in {plain.where}, which no "
        "tape watches)"
    )
    return [assuming(x, sentence) if x.watch else x for x in leaves]
