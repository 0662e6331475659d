"""Who calls a function that a transformer made."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field


@dataclass(slots=True)
class Callers:
    """``known`` says that all calls are seen; ``local`` that they stand in the same round of the
    loops around the place where the function is made.
    """

    known: bool = False
    calls: list[ast.Call] = field(default_factory=list)
    local: bool = False

    @property
    def dy(self) -> bool:
        """Whether a call may pass ``dy``."""
        return not self.known or any(k.arg in ("dy", None) for c in self.calls for k in c.keywords)

    @property
    def keywords(self) -> bool:
        """Whether a call passes another keyword, for which TensorFlow raises."""
        return any(k.arg != "dy" for c in self.calls for k in c.keywords)

    @property
    def count(self) -> int | None:
        """How many arguments every call passes, where that can be said."""
        counts = {len(c.args) for c in self.calls}
        starred = any(isinstance(a, ast.Starred) for c in self.calls for a in c.args)
        return counts.pop() if self.known and len(counts) == 1 and not starred else None
