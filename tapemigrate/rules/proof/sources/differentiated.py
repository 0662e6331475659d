"""Values that the code itself differentiates by a source: they were computed from it."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from tapemigrate.flow.definitions import Def
from tapemigrate.flow.functions import parameters
from tapemigrate.flow.paths import Path, text_of
from tapemigrate.flow.slices import backward
from tapemigrate.rules.project import View
from tapemigrate.rules.proof.verdicts import names_of, wrong
from tapemigrate.tape.placing.region import Region
from tapemigrate.tape.request import Refusal, Request


class Differentiated:
    """What one scope asks for its gradient by what: also where the calls stay as they are."""

    def __init__(self, view: View) -> None:
        self._view = view
        self._asked: dict[ast.Call, None] = {}
        # By a source: the names of what targets are made of, each with the first calls of such.
        self._by_source: dict[Def, dict[frozenset[str], list[ast.Call]]] = {}
        args = None if isinstance(view.scope, ast.Module) else view.scope.args
        named = parameters(args) if args is not None else ()
        self._handed = frozenset(a.arg for a in named) - {view.kinds.self_name}

    def add(self, requests: Iterable[Request]) -> None:
        """Takes note of what is asked for."""
        flow = self._view.flow
        for request in requests:
            if request.call in self._asked:
                continue
            self._asked[request.call] = None
            behind = frozenset(d.path[0] for d in backward(flow.uses_in(request.target)).made)
            for use in flow.uses_in(request.sources):
                first = self._by_source.setdefault(use.made, {}).setdefault(behind, [])
                first += [request.call] if len(first) < 2 else []

    def refuse(self, region: Region, recorded: frozenset[Path]) -> Refusal | None:
        """That what is handed in is asked for its gradient by one of the sources of the region.

        ``u_x = gradient(outputs["u"], x)``, ahead of ``u_xx = gradient(u_x, x)``. Of what is
        ``recorded`` elsewhere, the tape knows.
        """
        me = self._view.kinds.self_name
        entering = {
            root.path[0]: root
            for root in sorted(region.roots, key=lambda d: d.path, reverse=True)
            if root.path[0] in self._handed
            and not any(root.path[: len(path)] == path for path in recorded)
        }
        for leaf in region.sources.leaves if entering else ():
            own = {d.path[0] for d in leaf.defs}
            if leaf.variables or not own <= self._handed:
                continue
            for behind, calls in (p for d in leaf.defs for p in self._by_source.get(d, {}).items()):
                # The target is made of what is handed in alone, and of none of the sources.
                names = behind & self._handed
                if len(names) != 1 or own & behind or me in behind:
                    continue
                root = entering.get(next(iter(names)))
                other = next((each for each in calls if each is not region.request.call), None)
                if root is not None and other is not None:
                    how = f"differentiated by the source in line {other.lineno}"
                    return wrong(text_of(root.path), how, names_of([leaf]), threads=True)
        return None
