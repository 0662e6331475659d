"""Whether those above a scope, its callers or the function around, made one value of another."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from dataclasses import replace

from tapemigrate.flow.definitions import Def, Kind, Use
from tapemigrate.flow.functions import NamedFunction, parameters
from tapemigrate.flow.slices import backward
from tapemigrate.rules.callgraph.enclosing import definitions_around, outer_definitions
from tapemigrate.rules.project import CallSite, Project, View
from tapemigrate.rules.proof.aliases import perhaps, with_aliases
from tapemigrate.rules.proof.asked import Answers, Asked
from tapemigrate.rules.proof.kept.shared_origin import share
from tapemigrate.rules.values.provenance import Tracer
from tapemigrate.tape.ops.kinds import Make

#: How a value comes into a scope that does not make it.
OUTSIDE = (Kind.PARAM, Kind.ENTRY)

#: Through how many callers two values are followed.
DEPTH = 4

#: What brings no tensors along by itself.
CODE = (Kind.FUNCTION, Kind.CLASS, Kind.IMPORT)


class Above:
    """Goes up from a scope to those that hand it its values."""

    def __init__(
        self,
        project: Project,
        tracer: Tracer,
        at_all_calls: Callable[[View, Asked, int], bool | CallSite],
        is_called_by_none: Callable[[View], bool],
    ) -> None:
        """``at_all_calls``: whether two values are independent at all calls of a scope."""
        self._project = project
        self._tracer = tracer
        self._at_all_calls = at_all_calls
        self._is_called_by_none = is_called_by_none
        self._answers = project.once(Answers)

    def around(
        self, caller: View, asked: Asked, upward: list[Def], behind: frozenset[Def], depth: int
    ) -> bool | CallSite:
        """Whether a function is handed the source beside what the one around it made of it.

        Or what the module made of it.
        """
        for each in behind:
            if each.kind is not Kind.ENTRY or each.path[0] == caller.kinds.self_name:
                continue
            found = definitions_around(self._project, caller, each.path)
            made = [d for d in found[1] if d.kind not in CODE] if found is not None else []
            if found is None or all(
                d.value and found[0].kinds.make(d.value) is Make.PYTHON for d in made
            ):
                continue
            closure = backward([u for d in made for u in (Use(d), *d.uses)]).made
            for above in upward:
                if above.kind is Kind.PARAM and above.path != (caller.kinds.self_name,):
                    beside = replace(asked, source=above, parameter=None, closure=closure)
                    further = self._at_all_calls(caller, beside, depth - 1)
                    if isinstance(further, CallSite):
                        return further
                    of_module = isinstance(found[0].scope, ast.Module)
                    # Who calls from out of sight has nothing of the module's to hand in.
                    if not further and not (of_module and self._is_called_by_none(caller)):
                        return True
        return False

    def of_callers(self, view: View, asked: Asked, depth: int) -> bool | CallSite:
        """``at_all_calls``, where the source may be a part of a parameter: ``items[0]``."""
        source, scope = asked.source, view.scope
        if isinstance(scope, NamedFunction) and source.path[0] != view.kinds.self_name:
            if source.kind is Kind.ENTRY and len(source.path) > 1:
                if source.path[0] in {a.arg for a in parameters(scope.args)}:
                    whole = self._answers.whole(scope, source.path[0])
                    asked = replace(asked, source=whole, part=True)
        return self._at_all_calls(view, asked, depth)

    def apart(
        self, view: View, sources: Iterable[Def], others: Iterable[Def], depth: int = DEPTH
    ) -> bool:
        """Whether nobody makes one of ``others`` of a source, where both come into the scope.

        As parameters, of its callers; or of the function around.
        """
        sources = list(sources)
        mine = [d for d in sources if d.kind in OUTSIDE and d.path[0] != view.kinds.self_name]
        kept = [d for d in sources if _is_of_object(view, d)]
        theirs = [d for d in others if d.kind in OUTSIDE and d.path[0] != view.kinds.self_name]
        return all(
            self._is_apart(view, source, other, depth)
            for source in mine
            for other in theirs
            if other.kind is source.kind and other.path != source.path
        ) and all(self._is_apart_around(view, kept, other) for other in theirs if kept)

    def _is_apart_around(self, view: View, kept: list[Def], other: Def) -> bool:
        """Whether the function around makes ``other`` of nothing of the object but the sources."""
        found = outer_definitions(self._project, view, other.path)
        if found is None or other.kind is not Kind.ENTRY:
            return True
        holder, made = found
        behind = backward([u for d in made for u in (Use(d), *d.uses) if d.kind not in CODE]).made
        return self._are_kept_apart(holder, kept, behind)

    def _is_apart(self, view: View, source: Def, other: Def, depth: int) -> bool:
        if source.kind is Kind.PARAM:
            asked = Asked(source, other.path[0], computed=True)
            return depth > 0 and self._at_all_calls(view, asked, depth - 1) is True
        found = definitions_around(self._project, view, other.path)
        if found is None:
            return True  # of another file
        holder, made = found
        made = [d for d in made if d.kind not in CODE]
        behind = backward([u for d in made for u in (Use(d), *d.uses)]).made
        defs = holder.flow.defs.values()
        mine = with_aliases(
            frozenset(d for d in defs if d.path == source.path[: len(d.path)]), holder
        )
        if (mine | perhaps(mine, holder)) & behind:
            return False
        if not mine and outer_definitions(self._project, view, source.path) is None:
            # Of the module: those who call the function around may have made something of it.
            me = (holder.kinds.self_name,)
            passed = {d.path[0] for d in behind if d.kind is Kind.PARAM and d.path != me}
            return all(
                depth > 0
                and self._at_all_calls(holder, Asked(source, name, computed=True), depth - 1)
                is True
                for name in sorted(passed)
            )
        return self._are_kept_apart(holder, mine, behind) and self.apart(
            holder, mine, behind, depth
        )

    def _are_kept_apart(self, view: View, sources: Iterable[Def], others: Iterable[Def]) -> bool:
        """The same of what both are of the object: ``h, x = self.h, self.x``."""
        for name in {d.path[1].lstrip(".") for d in others if _is_of_object(view, d)}:
            traced = self._tracer.attribute(view, name)
            for mine in {d.path[1].lstrip(".") for d in sources if _is_of_object(view, d)}:
                if mine == name:
                    continue
                if mine in traced.attributes or traced.blind:
                    return False
                if share(self._project, self._tracer, view, mine, traced):
                    return False
        return True

    def kept_apart(
        self, caller: View, asked: Asked, upward: list[Def], names: set[str], depth: int
    ) -> bool | CallSite:
        """Whether what the caller's object keeps was made of nothing that it is passed as well."""
        passed = [d for d in upward if d.kind is Kind.PARAM and d.path[0] != caller.kinds.self_name]
        for name in sorted(names) if caller.cls is not None and depth > 0 else ():
            traced = self._tracer.attribute(caller, name)
            for above in passed if traced.outside or traced.parameters else ():
                further = self.of_callers(
                    caller,
                    replace(asked, source=above, parameter=None, attribute=name, traced=traced),
                    depth - 1,
                )
                if further is not True:
                    return further
        return True


def _is_of_object(view: View, made: Def) -> bool:
    own = made.path[0] == view.kinds.self_name
    return own and made.kind is Kind.ENTRY and len(made.path) > 1
