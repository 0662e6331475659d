"""Whether a source has another name, by which the target was made of it where nothing watched."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable

from tapemigrate.flow.blocks import Blocks
from tapemigrate.flow.definitions import Def, Kind, Use
from tapemigrate.flow.defuse import Flow
from tapemigrate.flow.paths import path_of, text_of
from tapemigrate.flow.slices import origins
from tapemigrate.source.trees import walk
from tapemigrate.tape.leaf import Leaf, taken_for_variables
from tapemigrate.tape.names.aliases import Aliases
from tapemigrate.tape.names.parts_of_elements import PartsOfElements
from tapemigrate.tape.names.same import asked_for, is_joined, may_be
from tapemigrate.tape.ops.kinds import Kinds, Make
from tapemigrate.tape.ops.operands import Operands
from tapemigrate.tape.ops.ops import Ops
from tapemigrate.tape.ops.syntax import SETTINGS, gives_data, giving, may_give_back
from tapemigrate.tape.placing.outside import together
from tapemigrate.tape.placing.region import Region
from tapemigrate.tape.request import Refusal

#: Whether the second of two values that one call gave was certainly not made from the first.
Apart = Callable[[Def, Def], "bool | None"]

_OUTSIDE = (Kind.PARAM, Kind.ENTRY)
_COUNTED = (Kind.LOOP, Kind.COMPREHENSION)


class SecondNames:
    """Looks for the second names of the sources of one scope."""

    def __init__(
        self, flow: Flow, blocks: Blocks, kinds: Kinds, operands: Operands, ops: Ops, apart: Apart
    ) -> None:
        self._flow = flow
        self._blocks = blocks
        self._kinds = kinds
        self._ops = ops
        self._aliases = Aliases(flow, kinds, operands)
        self._parts = PartsOfElements(flow, kinds)
        self._apart = apart

    def named_twice(
        self, region: Region, target: frozenset[Use], stops: list[Def]
    ) -> Refusal | None:
        """Whether a source has another name, by which the target was made of it unseen."""
        for leaf in region.sources.leaves:
            for made in leaf.defs if leaf.watch is not None else ():
                if not self._aliases.are_followed(made) or self._is_no_object(made, leaf):
                    continue
                behind = self._ops.cut(target, leaf.defs, frozenset(stops)).made - leaf.defs
                names = self._aliases.ahead(self._aliases.behind(made) - leaf.defs, behind)
                own = {made} if self._aliases.holds_several(made) else set()
                for user in own | behind:
                    if user is not made and self._is_recorded_after(user, made, region):
                        continue
                    if not self._ops.is_barren(user) and self._aliases.computes(user, names):
                        return together(text_of(min(names, key=lambda d: d.path).path))
        return None

    def _is_no_object(self, made: Def, leaf: Leaf) -> bool:
        """Whether a function gives the source, whatever its name: an object is none."""
        return (
            text_of(made.path) == leaf.watch
            and isinstance(made.value, ast.Call)
            and self._kinds.may_keep_arguments(made.value)
            and not self._kinds.keeps_arguments(made.value)
        )

    def held(self, leaf: Leaf) -> set[Def]:
        """What the object, or the list, that holds the source was made of as it was."""
        followed = [d for d in leaf.defs if self._aliases.are_followed(d)]
        return {h for d in followed for h in self._aliases.behind(d)} - leaf.defs

    def perhaps_named_twice(
        self, region: Region, target: frozenset[Use], stops: list[Def]
    ) -> list[str] | Refusal:
        """What is assumed of sources that nothing shows to be new tensors where they are named."""
        found: list[str] = []
        for leaf in region.sources.leaves:
            request = region.request
            behind = self._ops.cut(target, leaf.defs, frozenset(stops)).made - leaf.defs
            values = [request.target, *(d.value for d in behind)]
            if holder := self._parts.read_beside(request.sources, values):
                return together(text_of(holder.path))
            own = [d for d in leaf.defs if leaf.watch is not None and d.kind not in _OUTSIDE]
            if leaf.fresh or not own:
                continue
            for made in own:
                looped = made.kind in _COUNTED and text_of(made.path) != leaf.watch
                if looped or (made.value is not None and self._makes_variable(made.value)):
                    continue
                summed = self._summed(made) if region.sources.single is not True else frozenset()
                joined = bool(summed) or is_joined(made, self._flow)
                names = may_be(made, self._flow, self._kinds) - leaf.defs | summed
                names = frozenset(d for d in names if not self._ops.is_number(d))
                owners = asked_for(made, self._flow, self._kinds) - leaf.defs
                elements = self._aliases.elements(made)
                if names and (holder := self._parts.read_beside(made.value, values)):
                    return together(text_of(holder.path))
                beside = {d.value for d in names if d.kind is Kind.ELEMENT} if joined else set()
                for user in behind if names or owners or elements else ():
                    given = user.value is made.value and isinstance(made.value, ast.Call)
                    if given or self._is_recorded_after(user, made, region):
                        continue
                    if self._ops.is_barren(user) or not self._ops.makes_ops(user):
                        continue
                    met = self._aliases.works_on(user, elements) if elements else ""
                    if whole := self._works_on_all(user, made, names):
                        return together(whole)
                    met = met or self._works_on(user, names, owners)
                    unpacked = user.value in beside and user.kind is Kind.ELEMENT
                    if unpacked or (joined and user in names and self._gives_several(user)):
                        met = met or text_of(user.path)
                    if met and joined and not self._is_recorded(user, region):
                        return together(met)
                    if met:
                        found.append(_of_list(leaf) if joined else _apart(leaf, made, met))
        return list(dict.fromkeys(found))

    def may_be_another(
        self, target: frozenset[Use], leaf: Leaf, stops: list[Def]
    ) -> str | Refusal | None:
        """Whether the source may be the very tensor that it is made of, which the target reads."""
        behind = None
        for made in leaf.defs:
            value = giving(made.value)
            if made.kind not in (Kind.ASSIGN, Kind.WITH) or value is None:
                continue
            known = may_give_back(value, self._kinds)
            part = value is not made.value
            make = self._kinds.make(value) if part else self._ops.make(made)
            unknown = isinstance(value, ast.Call) and make is Make.UNKNOWN
            if self._kinds.is_new(value) or (not known and not unknown):
                continue
            if unknown and self._makes_variable(value):
                continue
            if isinstance(value, ast.Call) and self._kinds.only_computes(value):
                continue
            if behind is None:
                behind = self._ops.cut(target, leaf.defs, frozenset(stops)).made
            twin = next((d for d in self._twins(made, behind) if self._is_passed(d, value)), None)
            if known and twin is not None:
                return together(text_of(twin.path))
            given = {
                d
                for u in made.uses
                for d in origins([u])
                if not self._ops.is_barren(d) and d in behind
            }
            given = {d for d in given if self._is_passed(d, value) and d.path[0] not in SETTINGS}
            given = {d for d in given if self._is_used_before(d, made, behind)}
            again = unknown and (not gives_data(value) or self._gives_what_was(value))
            again = again and isinstance(value, ast.Call) and not self._makes_anew(value)
            if again and any(_calls_as(d, value) for d in behind - {made}):
                return f"`{leaf.watch}` is another tensor than `{ast.unparse(value)}` gave before"
            if given:
                name = text_of(min(given, key=lambda d: d.path).path)
                if known:
                    return together(name)
                if name == leaf.watch and isinstance(value, ast.Call):
                    called = ast.unparse(value.func)
                    return f"what `{called}` gives is another tensor than `{name}`"
                return f"`{leaf.watch}` is another tensor than `{name}`"
        return None

    def _summed(self, made: Def) -> frozenset[Def]:
        """What unknown calls gave, of which the value is a sum: of tensors, or of lists."""
        value = made.value if made.kind is Kind.ASSIGN else None
        if not isinstance(value, ast.BinOp) or not isinstance(value.op, ast.Add):
            return frozenset()
        sides = [origins(self._flow.reads.get(s, frozenset())) for s in (value.left, value.right)]
        if all(sides) and all(self._is_given(d) for side in sides for d in side):
            return frozenset().union(*sides)
        return frozenset()

    def _is_given(self, made: Def) -> bool:
        """Whether an unknown call gave it: a tensor, or a list."""
        if made.kind is Kind.ELEMENT:
            return self._kinds.element(made) is Make.UNKNOWN and isinstance(made.value, ast.Call)
        return made.kind is Kind.ASSIGN and self._gives_several(made)

    def _gives_several(self, made: Def) -> bool:
        """Whether an unknown call gives a list, say, that holds what it computed as well."""
        call = made.value
        if not isinstance(call, ast.Call) or self._kinds.make(call) is not Make.UNKNOWN:
            return False
        return not (self._kinds.is_new(call) or self._kinds.makes_object(call))

    def _makes_anew(self, call: ast.Call) -> bool:
        """Whether a call gives what its ops make, or a container of what it is handed."""
        if self._kinds.gives_tensors(call):
            return True
        name = call.func.id if isinstance(call.func, ast.Name) else ""
        return hasattr(builtins, name) and self._kinds.called(call) is None

    def _gives_what_was(self, value: ast.expr) -> bool:
        return isinstance(value, ast.Call) and self._kinds.gives_what_was(value)

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
            if any(len(d.path) < len(path) for d in met) and not self._kinds.is_static(path[-1]):
                return text_of(path)
        return ""

    def _works_on_all(self, user: Def, made: Def, names: frozenset[Def]) -> str:
        """What an op works through, one element after the other, of which ``made`` takes one."""
        taken, value = made.value, user.value
        if made.kind is not Kind.ASSIGN or not isinstance(taken, ast.Subscript) or value is None:
            return ""
        listed = origins(self._flow.reads.get(taken.value, frozenset())) & names
        picked = {n.value for n in walk(value) if isinstance(n, ast.Subscript | ast.Attribute)}
        for node in self._ops.value_paths(value) if listed else ():
            whole = not isinstance(node, ast.Subscript) and node not in picked
            if whole and origins(self._flow.reads.get(node, frozenset())) & listed:
                return ast.unparse(node)
        return ""

    def _is_recorded_after(self, user: Def, made: Def, region: Region) -> bool:
        """Whether the tape records ``user``, after it was told of the source ``made``."""
        if user.stmt is None or made.stmt is None or user.begin <= made.begin:
            return False
        return self._is_recorded(user, region)

    def _is_recorded(self, user: Def, region: Region) -> bool:
        """Whether the tape records ``user``."""
        row = self._blocks.index_in(user.stmt, region.block) if user.stmt is not None else None
        return row is not None and region.first <= row <= region.last

    def _makes_variable(self, value: ast.expr) -> bool:
        """Whether a function of the file is called that gives nothing but a variable of its own."""
        function = self._kinds.runs_only(value) if isinstance(value, ast.Call) else None
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
        return any(
            user.stmt is not None
            and user is not made
            and (
                user.begin < made.begin
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


def _calls_as(made: Def, call: ast.expr) -> bool:
    """Whether the definition asks an object, or a function, once more for what ``call`` asks it."""
    if not isinstance(call, ast.Call):
        return False
    same = ast.dump(call)
    nodes = walk(made.value) if made.value is not None else ()
    return any(isinstance(n, ast.Call) and n is not call and ast.dump(n) == same for n in nodes)


def _choices(value: ast.expr) -> list[ast.expr]:
    """What a choice may give, however deep it is nested."""
    match value:
        case ast.IfExp():
            return [*_choices(value.body), *_choices(value.orelse)]
        case ast.BoolOp():
            return [c for part in value.values for c in _choices(part)]
    return [value]


def _of_list(leaf: Leaf) -> str:
    """What is assumed of a list whose elements were used before they were put in.

    Whatever goes by another name then, a watch comes too late; variables need none.
    """
    return taken_for_variables(leaf.watch or "")


def _apart(leaf: Leaf, made: Def, met: str) -> str:
    """What is assumed of a source that may be ``met``, of which the target is made."""
    if isinstance(made.value, ast.Call) and path_of(made.value.func) == ("next",):
        # A generator may have computed what it gives later, before it gave the source.
        return f"nothing else that `{met}` gives was computed from `{leaf.watch}`"
    other = "it was before" if met == leaf.watch else f"`{met}`"
    return f"`{leaf.watch}` is another tensor than {other}"
