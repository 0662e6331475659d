"""What the callers of a scope show of a source and of another value that enters it."""

from __future__ import annotations

import ast

from tapemigrate.flow.definitions import Def, Kind
from tapemigrate.flow.paths import path_of, text_of
from tapemigrate.rules.project import CallSite, View
from tapemigrate.rules.proof.asked import Asked
from tapemigrate.rules.proof.callers.independence import Independence
from tapemigrate.rules.proof.verdicts import wrong
from tapemigrate.rules.values.traces import Provenance
from tapemigrate.source.trees import walk
from tapemigrate.tape.leaf import Leaf
from tapemigrate.tape.request import Refusal

#: Stands for the variables of a collection, which no name in the code holds.
VARIABLES = Def(("<variables>",), Kind.ASSIGN, None)


class ByCallers:
    """Asks ``calls`` about one scope. ``linear``: the target is linear in what is asked about."""

    def __init__(self, calls: Independence, view: View) -> None:
        self.calls = calls
        self.linear = False
        self._view = view

    def judge(
        self,
        source: Def,
        text: str,
        parameter: str | None = None,
        attribute: str | None = None,
        traced: Provenance | None = None,
        closure: frozenset[Def] | None = None,
        same: frozenset[Def] = frozenset(),
        part: str = "",
        said: str = "",
        computed: bool = False,
    ) -> str | Refusal | None:
        """Whether every caller passes a source from which the other value was not made.

        ``part``: the source is that part of the object that ``source`` is. ``said``: the name of
        the source in the sentence, where ``source`` is only what it may have been taken from.
        ``computed``: the other may have been used before, where it is the source itself.
        """
        shown = text_of(source.path) if source.kind in (Kind.PARAM, Kind.ENTRY) else ""
        shown = part or shown
        sources = f"`{said or shown}`" if said or shown else "the variables"
        verdict = self.calls.at_all_calls(
            self._view,
            Asked(
                source,
                parameter,
                attribute,
                traced,
                closure,
                same,
                self.linear,
                computed,
                part=bool(part),
            ),
        )
        asked = verdict is not True and parameter and _asks(self._view, parameter)
        if isinstance(verdict, CallSite):
            # Of variables, no more is seen than that an object or a network is asked.
            how = "computed from the source" if shown else "given"
            more = "" if shown else ", out of what may hold variables"
            if asked and shown:
                how = "made of the source, or asked with it,"
            how = f"{how} by the caller in {verdict.place(self._view.unit)}{more}"
            return wrong(text, how, sources, threads=parameter is not None)
        if verdict:
            return None
        plain = f"`{text}`, a parameter," if parameter else f"`{text}`"
        return f"{plain} {'keeps nothing that was' if asked else 'was not'} computed from {sources}"


def _asks(view: View, name: str) -> bool:
    """Whether it is an object of which the scope calls a method, and not only a value."""
    calls = (node for node in walk(view.scope) if isinstance(node, ast.Call))
    return any(
        isinstance(call.func, ast.Attribute)
        and path_of(call.func.value) == (name,)
        and not view.kinds.is_static(f".{call.func.attr}")
        for call in calls
    )


def given_by_a_call(leaf: Leaf) -> str:
    """What the scope calls the source, if a call gave it that may hand back what it was handed."""
    return (leaf.watch or "") if leaf.found else ""
