"""Whether the target was made of what stands beside a source, where no path to it is in sight."""

from __future__ import annotations

import ast
from collections.abc import Callable

from tapemigrate.flow.blocks import Blocks
from tapemigrate.flow.definitions import Def, Kind, Use
from tapemigrate.flow.defuse import Flow
from tapemigrate.flow.paths import Path, path_of, text_of
from tapemigrate.flow.slices import origins
from tapemigrate.source.trees import children, walk
from tapemigrate.tape.aliases import Aliases
from tapemigrate.tape.gradient_siblings import related
from tapemigrate.tape.kinds import Kinds, Make
from tapemigrate.tape.leaf import Leaf, Sources, taken_for_variables
from tapemigrate.tape.lookups import Lookups
from tapemigrate.tape.operands import Operands
from tapemigrate.tape.ops import Ops
from tapemigrate.tape.recipes import SOURCE
from tapemigrate.tape.region import Region
from tapemigrate.tape.request import Refusal, Request
from tapemigrate.tape.same import asked_for, may_be
from tapemigrate.tape.syntax import (
    SETTINGS,
    STATIC,
    VARIABLES_BY_NAME,
    container_of,
    gives_data,
    holds_one_of,
    is_display,
    is_named_after_variables,
    may_give_back,
    only_iterates,
)

#: Whether the second of two values that one call gave was certainly not made from the first.
Apart = Callable[[Def, Def], "bool | None"]

_OUTSIDE = (Kind.PARAM, Kind.ENTRY)
_USED = "`{}` comes out of a call that may have used it already, where nothing could watch it"
_COUNTED = (Kind.LOOP, Kind.COMPREHENSION)
_TAKEN = (*_COUNTED, Kind.WITH)


class Beside:
    """Looks at what calls, containers and objects gave besides the sources of one scope."""

    def __init__(
        self, flow: Flow, blocks: Blocks, kinds: Kinds, operands: Operands, ops: Ops, apart: Apart
    ) -> None:
        self._flow = flow
        self._blocks = blocks
        self._kinds = kinds
        self._ops = ops
        self._aliases = Aliases(flow, kinds, operands)
        self._lookups = Lookups(flow, kinds)
        self._apart = apart

    def assumed(
        self, request: Request, target: frozenset[Use], sources: Sources, stops: list[Def]
    ) -> list[str] | Refusal:
        """What is assumed of sources out of calls, with no path to the target in sight."""
        found: list[str] = []
        for leaf in sources.leaves:
            holder = self._looked_up_beside(request, target, leaf, stops)
            if holder is not None and (len(holder) > 1 or not self._is_counted(request, leaf)):
                return _together(text_of(holder))
            if holder is not None:
                own = leaf.watch in (None, holder[0])
                part = "the source" if own else f"`{leaf.watch}`"
                found.append(f"no other part of `{holder[0]}` was computed from {part}")
            me = self._kinds.self_name
            if me is not None and (leaf.watch or "").startswith(f"{me}."):
                if (me,) in self._read_for(request, target, stops):
                    return _together(me)
            picked = self._picked_beside(request, target, leaf, stops)
            if picked is not None:
                return _together(text_of(picked))
            made = [d for d in leaf.defs if d.kind not in _OUTSIDE]
            if not made or leaf.watch is None:
                continue
            same = self._may_be_another(target, leaf, stops)
            if isinstance(same, Refusal):
                return same
            if same:
                found.append(same)
            taken = self._taken_out_of(target, leaf, stops)
            if taken is not None:
                return _together(text_of(taken.path))
            if self._reads_beside(request, target, leaf, stops):
                return _together(text_of(min(made, key=lambda d: d.path).path))
            beside = self._unpacked_beside(target, leaf, stops) or self._looped_beside(
                target, leaf, stops
            )
            if isinstance(beside, Refusal):
                return beside
            if beside:
                found.append(beside)
            if leaf.fresh:
                continue
            held = self._held_together(target, leaf, stops)
            if isinstance(held, Refusal):
                return held
            if held:
                found.append(held)
                continue
            sliced = self._ops.cut(target, leaf.defs, frozenset(stops))
            if sliced.made & leaf.defs:
                continue
            calls = [d for d in made if isinstance(_given(d), ast.Call)]
            unknown = [d for d in calls if self._gives_unknown(d)]
            if any(d.kind is Kind.ELEMENT for d in unknown):
                return Refusal(_USED.format(leaf.watch), SOURCE, lends=True)
            if unknown and self._share_a_part(request, target, leaf, stops):
                return _together(leaf.watch)
            if unknown and not all(is_named_after_variables(d) for d in unknown):
                return Refusal(
                    f"nothing here computes the target from `{leaf.watch}`, which an unknown "
                    "function gives",
                    SOURCE,
                )
            if unknown:
                found.append(taken_for_variables(leaf.watch))
        return found

    def _gives_unknown(self, made: Def) -> bool:
        """Whether what a call gives, for every element where it lists some, cannot be told."""
        call = _given(made)
        if call is None or call is made.value:
            return self._ops.make(made) is Make.UNKNOWN
        return self._kinds.make(call) is Make.UNKNOWN and not self._kinds.is_new(call)

    def named_twice(
        self, region: Region, target: frozenset[Use], stops: list[Def]
    ) -> Refusal | None:
        """Whether a source has another name, by which the target was made of it unseen."""
        for leaf in region.sources.leaves:
            for made in leaf.defs if leaf.watch is not None else ():
                if not self._aliases.are_followed(made):
                    continue
                behind = self._ops.cut(target, leaf.defs, frozenset(stops)).made - leaf.defs
                names = self._aliases.ahead(self._aliases.behind(made) - leaf.defs, behind)
                own = {made} if self._aliases.holds_several(made) else set()
                for user in own | behind:
                    if user is not made and self._is_recorded_after(user, made, region):
                        continue
                    if not self._ops.is_barren(user) and self._aliases.computes(user, names):
                        return _together(text_of(min(names, key=lambda d: d.path).path))
        return None

    def perhaps_named_twice(
        self, region: Region, target: frozenset[Use], stops: list[Def]
    ) -> list[str]:
        """What is assumed of sources that nothing shows to be new tensors where they are named."""
        found: list[str] = []
        for leaf in region.sources.leaves:
            own = [d for d in leaf.defs if leaf.watch is not None and d.kind not in _OUTSIDE]
            if leaf.fresh or not own:
                continue
            behind = self._ops.cut(target, leaf.defs, frozenset(stops)).made - leaf.defs
            for made in own:
                looped = made.kind in _COUNTED and text_of(made.path) != leaf.watch
                if looped or (made.value is not None and self._makes_variable(made.value)):
                    continue
                names = may_be(made, self._flow, self._kinds) - leaf.defs
                owners = asked_for(made, self._flow, self._kinds) - leaf.defs
                for user in behind if names or owners else ():
                    given = user.value is made.value and isinstance(made.value, ast.Call)
                    if given or self._is_recorded_after(user, made, region):
                        continue
                    if self._ops.is_barren(user) or not self._ops.makes_ops(user):
                        continue
                    if met := self._works_on(user, names, owners):
                        found.append(f"`{leaf.watch}` is another tensor than `{met}`")
        return list(dict.fromkeys(found))

    def _works_on(self, user: Def, names: frozenset[Def], owners: frozenset[Def]) -> str:
        """Which of ``names``, or what part of ``owners``, an op works on where ``user`` is made."""
        value = user.value
        if value is None or any(u.made.kind is Kind.FUNCTION for u in user.uses):
            used = origins(user.uses) & names
            return text_of(min(used, key=lambda d: d.path).path) if used else ""
        if names and self._aliases.computes(user, set(names), but=self._kinds.reads_no_object):
            return text_of(min(names, key=lambda d: d.path).path)
        for node in self._ops.value_paths(value) if owners else ():
            path = path_of(node) or ()
            met = origins(self._flow.reads.get(node, frozenset())) & owners
            if any(len(d.path) < len(path) and path[-1] not in STATIC for d in met):
                return text_of(path)
        return ""

    def _is_recorded_after(self, user: Def, made: Def, region: Region) -> bool:
        """Whether the tape records ``user``, after it was told of the source ``made``."""
        if user.stmt is None or made.stmt is None or user.stmt.lineno <= made.stmt.lineno:
            return False
        row = self._blocks.index_in(user.stmt, region.block)
        return row is not None and region.first <= row <= region.last

    def _held_together(
        self, target: frozenset[Use], leaf: Leaf, stops: list[Def]
    ) -> str | Refusal | None:
        """Whether the target comes out of the very container or object that holds the source."""
        parts = [leaf.watch or ""]
        for part in parts:  # ``w = net.w; again = w``: the names before it as well
            named = [d for d in leaf.defs if text_of(d.path) == part and d.value is not None]
            paths = [path_of(d.value) for d in named if d.value is not None]
            parts += [text_of(p) for p in paths if p is not None and text_of(p) not in parts]
        own = {d for d in leaf.defs if text_of(d.path) in parts}
        holders = {
            d
            for d in leaf.defs - own
            if d.kind not in _OUTSIDE and not is_display(d) and holds_one_of(d, parts)
        }
        if not holders:
            return None
        sliced = self._ops.cut(target, frozenset(own), frozenset(stops)).made
        if not sliced & holders:
            return None
        name = text_of(min(holders, key=lambda d: d.path).path)
        if sliced & own:
            return f"no other part of `{name}` was computed from `{leaf.watch}`"
        return _together(name)

    def _may_be_another(
        self, target: frozenset[Use], leaf: Leaf, stops: list[Def]
    ) -> str | Refusal | None:
        """Whether the source may be the very tensor that it is made of, which the target reads."""
        behind = None
        for made in leaf.defs:
            value = made.value
            if made.kind not in (Kind.ASSIGN, Kind.WITH) or value is None:
                continue
            known = may_give_back(value, self._kinds)
            unknown = isinstance(value, ast.Call) and self._ops.make(made) is Make.UNKNOWN
            if self._kinds.is_new(value) or (not known and not unknown):
                continue
            if unknown and self._makes_variable(value):
                continue
            if behind is None:
                behind = self._ops.cut(target, leaf.defs, frozenset(stops)).made
            twin = next((d for d in self._twins(made, behind) if self._is_passed(d, value)), None)
            if known and twin is not None:
                return _together(text_of(twin.path))
            given = {
                d
                for u in made.uses
                for d in origins([u])
                if not self._ops.is_barren(d) and d in behind
            }
            given = {d for d in given if self._is_passed(d, value) and d.path[0] not in SETTINGS}
            given = {d for d in given if self._is_used_before(d, made, behind)}
            again = unknown and not gives_data(value)
            if again and any(_calls_as(d, value) for d in behind - {made}):
                return f"`{leaf.watch}` is another tensor than `{ast.unparse(value)}` gave before"
            if given:
                name = text_of(min(given, key=lambda d: d.path).path)
                if known:
                    return _together(name)
                if name == leaf.watch and isinstance(value, ast.Call):
                    called = ast.unparse(value.func)
                    return f"what `{called}` gives is another tensor than `{name}`"
                return f"`{leaf.watch}` is another tensor than `{name}`"
        return None

    def _makes_variable(self, value: ast.expr) -> bool:
        """Whether a function of the file is called that gives nothing but a variable of its own."""
        function = self._kinds.called(value) if isinstance(value, ast.Call) else None
        if function is None or function.decorator_list:
            return False
        nodes = [n for stmt in function.body for n in walk(stmt)]
        if any(
            isinstance(n, ast.FunctionDef | ast.Lambda | ast.Yield | ast.YieldFrom) for n in nodes
        ):
            return False
        ends = [n.value for n in nodes if isinstance(n, ast.Return)]
        return bool(ends) and all(
            isinstance(end, ast.Call) and self._kinds.tensorflow(end.func) == "Variable"
            for end in ends
        )

    def _twins(self, made: Def, behind: frozenset[Def]) -> list[Def]:
        """What was unpacked beside a part of the target, and may be the same as that part."""
        return [
            d
            for u in sorted(made.uses, key=lambda u: u.made.path)
            for d in origins([u])
            if d.kind is Kind.ELEMENT
            and isinstance(d.value, ast.Call)
            and self._ops.make(d) is Make.UNKNOWN
            and any(
                other.kind is Kind.ELEMENT and other.value is d.value and not self._apart(d, other)
                for other in behind - {d}
            )
        ]

    def _is_used_before(self, given: Def, made: Def, behind: frozenset[Def]) -> bool:
        """Whether something was made of it before the other definition, which is ``made`` of it."""
        line = made.stmt.lineno if made.stmt is not None else 0
        return any(
            user.stmt is not None
            and user is not made
            and (
                user.stmt.lineno < line
                or (user.stmt is made.stmt and user.kind is Kind.MUTATE)
                or bool(self._blocks.loops_around(user.stmt))
            )
            and not self._ops.is_barren(user)
            and (user.value is None or not self._kinds.is_new(user.value))
            and any(u.made is given for u in user.uses)
            for user in behind
        )

    def _is_passed(self, made: Def, value: ast.expr) -> bool:
        """Whether the value of the definition is an operand by itself."""
        known = isinstance(value, ast.Call) and may_give_back(value, self._kinds)
        operands: list[ast.expr] = []
        match value:
            case ast.Call():
                operands = value.args[:1] if known else value.args
            case ast.IfExp() | ast.BoolOp():
                operands = _choices(value)
        return any(
            u.made is made
            for operand in operands
            if path_of(operand) is not None
            for u in self._flow.reads.get(operand, ())
        )

    def _taken_out_of(self, target: frozenset[Use], leaf: Leaf, stops: list[Def]) -> Def | None:
        """What a source was looked up in, if the target comes out of it too, or was made there."""
        holders = {h for d in leaf.defs for h in self._lookups.holders(d)} - leaf.defs
        if not holders:
            return None
        behind = self._ops.cut(target, leaf.defs, frozenset(stops)).made
        values = {d.value for d in behind if d.kind is Kind.ELEMENT}
        found = [
            h for h in holders if h in behind or (h.kind is Kind.ELEMENT and h.value in values)
        ]
        return min(found, key=lambda d: d.path, default=None)

    def _reads_beside(
        self, request: Request, target: frozenset[Use], leaf: Leaf, stops: list[Def]
    ) -> bool:
        """Whether the target is made of the object that holds the source, or of another part."""
        own = [
            d for d in leaf.defs if d.kind not in _OUTSIDE and holds_one_of(d, [leaf.watch or ""])
        ]
        if not own:
            return False
        read = self._read_for(request, target, stops)
        if any(
            len(path) > len(holder)
            and path[: len(holder)] == holder
            and text_of(path) != leaf.watch
            and path[-1] not in STATIC
            for path in read
            for holder in {d.path for d in own}
        ):
            return True
        if VARIABLES_BY_NAME.search((leaf.watch or "").rpartition(".")[2]):
            return False  # variables watch themselves, also where the object is made
        # A function that is handed an object whole may read any part of it, and what an object was
        # made of may be a part of another.
        for made in self._objects(own):
            given = set() if made in own else self._parts_given(made, own)
            if made not in own and not _is_object(made, given):
                continue
            for path in read:
                if path[: len(made.path)] == made.path and path not in given:
                    if path == made.path or (made not in own and path[-1] not in STATIC):
                        return True
        return False

    def _objects(self, holders: list[Def]) -> set[Def]:
        """The holders that unknown calls gave, and the objects of which such calls made them."""
        found: set[Def] = set()
        stack = list(holders)
        while stack:
            made = stack.pop()
            unknown = isinstance(made.value, ast.Call) and self._ops.make(made) is Make.UNKNOWN
            if made.kind is Kind.ASSIGN and unknown and made not in found:
                if made.path[0] not in SETTINGS:
                    found.add(made)
                    stack += origins(made.uses)
        return found

    def _parts_given(self, made: Def, holders: list[Def]) -> set[Path]:
        """The parts of an object of which the holders were made."""
        paths = self._ops.paths_read([d.value for d in holders])
        return {path for path in paths if path[: len(made.path)] == made.path}

    def _read_for(self, request: Request, target: frozenset[Use], stops: list[Def]) -> set[Path]:
        """What is read on the way to the target."""
        behind = self._ops.cut(target, frozenset(), frozenset(stops)).made
        return self._ops.paths_read([request.target, *(d.value for d in behind)])

    def _looked_up_beside(
        self, request: Request, target: frozenset[Use], leaf: Leaf, stops: list[Def]
    ) -> Path | None:
        """The container in which the source is looked up, if the target reads others from it."""
        values = [d.value for d in leaf.defs if d.kind is Kind.ASSIGN and d.value is not None]
        xs = request.sources
        values += xs.elts if isinstance(xs, ast.List | ast.Tuple) else [xs]
        holders = {
            path
            for value in values
            if isinstance(value, ast.Subscript) and (path := container_of(value)) is not None
            if any(
                d.kind in _OUTSIDE
                or (isinstance(d.value, ast.Call) and self._ops.make(d) is Make.UNKNOWN)
                for d in origins(self._flow.reads.get(value.value, frozenset()))
            )
        }
        if not holders or leaf.watch is None:
            return None
        behind = self._ops.cut(target, leaf.defs, frozenset(stops)).made - leaf.defs
        read = self._ops.paths_read([request.target, *(d.value for d in behind)])
        beside = [h for h in holders if any(p[: len(h)] == h and p[-1] not in STATIC for p in read)]
        return min(beside) if beside else None

    def _is_counted(self, request: Request, leaf: Leaf) -> bool:
        """Whether the source is looked up by numbers: in a list of inputs, not by its name."""
        xs = request.sources
        parts = [*(xs.elts if isinstance(xs, ast.List | ast.Tuple) else [xs])]
        parts += [d.value for d in leaf.defs if d.value is not None]
        found = [p.slice for p in parts if isinstance(p, ast.Subscript)]
        return all(
            isinstance(index.value, int)
            if isinstance(index, ast.Constant)
            else any(u.made.kind in _COUNTED for u in self._flow.reads.get(index, ()))
            for index in found
        )

    def _picked_beside(
        self, request: Request, target: frozenset[Use], leaf: Leaf, stops: list[Def]
    ) -> Path | None:
        """The list of whose elements the sources are one part, and the target another one.

        ``ys = [p[k][0] for k in range(n)]; xs = [p[k][1] for k in range(n)]``
        """
        own: set[Def] = set()
        picks: list[ast.expr] = []
        stack: list[ast.AST] = [request.sources]
        while stack:
            node = stack.pop()
            match node:
                case ast.ListComp(elt=elt) | ast.GeneratorExp(elt=elt):
                    picks.append(elt)
                case ast.List() | ast.Tuple() | ast.Call() | ast.BinOp() | ast.Starred():
                    stack += children(node)
            for made in origins(self._flow.reads.get(node, ())) if path_of(node) else ():
                if made.kind is Kind.ASSIGN and made.value is not None and made not in own:
                    own.add(made)
                    stack.append(made.value)
        chosen = [each for pick in picks if (each := self._indices(pick)) is not None]
        if not chosen:
            return None
        behind = self._ops.cut(target, leaf.defs | own, frozenset(stops)).made - own
        for root in [request.target, *(d.value for d in behind if d.value is not None)]:
            for node in walk(root):
                read = self._indices(node) if isinstance(node, ast.Subscript) else None
                for held, indices in chosen if read is not None else ():
                    if read is not None and held & read[0] and _are_other(indices, read[1]):
                        return min(held, key=lambda d: d.path).path
        return None

    def _indices(self, node: ast.expr) -> tuple[frozenset[Def], list[ast.expr]] | None:
        """What ``p[k][1]`` looks up in what: the definitions of ``p``, and ``k`` and ``1``."""
        indices: list[ast.expr] = []
        while isinstance(node, ast.Subscript):
            indices.insert(0, node.slice)
            node = node.value
        if not indices or path_of(node) is None:
            return None
        return frozenset(origins(self._flow.reads.get(node, frozenset()))), indices

    def _unpacked_beside(
        self, target: frozenset[Use], leaf: Leaf, stops: list[Def]
    ) -> str | Refusal | None:
        """Whether the target is made of what a call gave beside the source, and made from it."""
        for made in sorted(leaf.defs, key=lambda d: d.path):
            given = self._lookups.given_by(made) if made.kind is Kind.ELEMENT else None
            if given is None:
                continue
            call = given.call
            gradients = self._kinds.tensorflow(call.func) == "gradients"
            if self._maps(call) or not (gradients or self._kinds.make(call) is Make.UNKNOWN):
                continue
            behind = self._ops.cut(target, leaf.defs, frozenset(stops)).made
            beside = {d for d in behind - leaf.defs if d.value is made.value}
            if gradients:
                verdict = related(call, self._flow) if beside else False
                if verdict:
                    return Refusal(_USED.format(leaf.watch), SOURCE)
                if beside and verdict is None:
                    first = text_of(min(d.path for d in beside))
                    return f"`{first}` was not computed from `{leaf.watch}`"
                continue
            if given.names and self._is_read_whole(given.names, beside | leaf.defs, behind, target):
                return _together(text_of(min(given.names, key=lambda d: d.path).path))
            verdicts = {d: self._apart(made, d) if given.in_order else None for d in beside}
            if False in verdicts.values() or (None in verdicts.values() and not gives_data(call)):
                return Refusal(_USED.format(leaf.watch), SOURCE, lends=made.value is call)
            for other in sorted(d.path for d, apart in verdicts.items() if apart is None):
                return f"`{text_of(other)}` was not computed from `{leaf.watch}`"
        return None

    def _looped_beside(self, target: frozenset[Use], leaf: Leaf, stops: list[Def]) -> str:
        """What is assumed of what a loop, or a ``with``, takes the source and more out of."""
        loops = {
            d.value
            for d in leaf.defs
            if d.kind in _TAKEN and d.value is not None and not self._lists_apart(d.value)
        }
        behind = self._ops.cut(target, leaf.defs, frozenset(stops)).made if loops else frozenset()
        beside = [d.path for d in behind - leaf.defs if d.kind in _TAKEN and d.value in loops]
        return f"`{text_of(min(beside))}` was not computed from `{leaf.watch}`" if beside else ""

    def _lists_apart(self, value: ast.expr) -> bool:
        """Whether what a loop takes out together was listed apart, or is data by its name."""
        if isinstance(value, ast.Call) and only_iterates(value):
            return not any(isinstance(a, ast.Starred) for a in value.args)
        path = path_of(value)
        if gives_data(value) or (path is not None and "data" in path[-1].lower()):
            return True
        made = origins(self._flow.reads.get(value, frozenset())) if path is not None else ()
        # What each element is made of is seen there.
        return all(
            isinstance(each, ast.List | ast.Tuple)
            and all(isinstance(e, ast.List | ast.Tuple) for e in each.elts)
            for each in ([d.value for d in made] if path is not None else [value])
        )

    def _is_read_whole(
        self, names: frozenset[Def], parts: set[Def], behind: frozenset[Def], target: frozenset[Use]
    ) -> bool:
        """Whether what was unpacked is also read by the name that it had before."""
        users = [d for d in behind if d not in parts and d not in names]
        read = {u.made for d in users for u in d.uses} | {u.made for u in target}
        return bool(names & read)

    def _maps(self, call: ast.expr | None) -> bool:
        """``map(f, [x, y])``: each is made of its own."""
        return (
            isinstance(call, ast.Call)
            and isinstance(call.func, ast.Name)
            and call.func.id == "map"
            and self._kinds.called(call) is None
        )

    def _share_a_part(
        self, request: Request, target: frozenset[Use], leaf: Leaf, stops: list[Def]
    ) -> bool:
        """Whether target and source are both looked up in one part of one object."""
        behind = self._ops.cut(target, frozenset(), frozenset(stops)).made
        mine = self._ops.paths_read([request.target, *(d.value for d in behind)])
        theirs = self._ops.paths_read([d.value for d in leaf.defs])
        parts = [{p[:2] for p in each if len(p) > 1} for each in (mine, theirs)]
        return bool(parts[0] & parts[1])


def _given(made: Def) -> ast.expr | None:
    """The value, or that of every element of a comprehension."""
    match made.value:
        case ast.ListComp(elt=value) | ast.SetComp(elt=value) | ast.DictComp(value=value):
            return value
    return made.value


def _is_object(made: Def, given: set[Path]) -> bool:
    """Whether a class gave it, or parts of it were handed on: it is no tensor then."""
    func = made.value.func if isinstance(made.value, ast.Call) else None
    last = (path_of(func) or ("",))[-1].lstrip(".") if func is not None else ""
    return last[:1].isupper() or any(len(path) > len(made.path) for path in given)


def _calls_as(made: Def, call: ast.expr) -> bool:
    """Whether the definition asks an object once more for what ``call`` asks it."""
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute):
        return False
    same = ast.dump(call)
    nodes = walk(made.value) if made.value is not None else ()
    return any(isinstance(n, ast.Call) and n is not call and ast.dump(n) == same for n in nodes)


def _are_other(one: list[ast.expr], two: list[ast.expr]) -> bool:
    """Whether the indices differ in a constant, so that they name parts which are not the same."""
    return any(
        isinstance(mine, ast.Constant)
        and isinstance(theirs, ast.Constant)
        and mine.value != theirs.value
        for mine, theirs in zip(one, two, strict=False)
    )


def _choices(value: ast.expr) -> list[ast.expr]:
    """What a choice may give, however deep it is nested."""
    match value:
        case ast.IfExp():
            return [*_choices(value.body), *_choices(value.orelse)]
        case ast.BoolOp():
            return [c for part in value.values for c in _choices(part)]
    return [value]


def _together(name: str) -> Refusal:
    return Refusal(
        f"the source and the target both come out of `{name}`, where one may have been made from "
        "the other before a tape could watch it",
        SOURCE,
    )
