"""Whether the target was made of what stands beside a source, where no path to it is in sight."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence

from tapemigrate.flow.definitions import HIDDEN, Def, Kind, Use
from tapemigrate.flow.defuse import Flow
from tapemigrate.flow.objects import calls_one_of
from tapemigrate.flow.paths import Path, names_class, path_of, text_of
from tapemigrate.flow.slices import origins
from tapemigrate.flow.states import PARTS
from tapemigrate.source.trees import arguments_of, walk
from tapemigrate.tape.leaf import Leaf, Sources, taken_for_variables
from tapemigrate.tape.names.given_by_objects import GivenByObjects
from tapemigrate.tape.names.gradient_siblings import related
from tapemigrate.tape.names.lookups import Given, Lookups
from tapemigrate.tape.names.picked import Picked
from tapemigrate.tape.names.same import may_be
from tapemigrate.tape.names.second_names import Apart, SecondNames
from tapemigrate.tape.ops.kinds import Kinds, Make
from tapemigrate.tape.ops.ops import Ops
from tapemigrate.tape.ops.symbols import RUN_WHEN_CALLED
from tapemigrate.tape.ops.syntax import (
    SETTINGS,
    VARIABLES_BY_NAME,
    gives_data,
    holds_one_of,
    is_display,
    is_named_after_variables,
    only_iterates,
    run_in,
)
from tapemigrate.tape.placing.outside import found_in_graph, together
from tapemigrate.tape.recipes import SOURCE
from tapemigrate.tape.request import Refusal, Request

_OUTSIDE = (Kind.PARAM, Kind.ENTRY)
# What finds tensors in the graph.
_BY_NAME = frozenset({"get_tensor_by_name", "as_graph_element"})
_USED = "`{}` comes out of a call that may have used it already, where nothing could watch it"
_FILLED = (
    "`{0}` comes out of a call that also puts something into {1}, and may have used `{0}` for "
    "that, where nothing could watch it"
)
_SET = (
    "`{0}` is given to a part of `{1}` in the same statement, where code runs that may use it, and "
    "nothing could watch it"
)
_COUNTED = (Kind.LOOP, Kind.COMPREHENSION)
_TAKEN = (*_COUNTED, Kind.WITH)
_GIVEN = (Kind.ASSIGN, Kind.ELEMENT, *_COUNTED)


class Beside:
    """Looks at what calls, containers and objects gave besides the sources of one scope."""

    def __init__(
        self,
        flow: Flow,
        kinds: Kinds,
        ops: Ops,
        names: SecondNames,
        apart: Apart,
        parts_apart: Callable[[Path, Path], bool],
    ) -> None:
        self._flow = flow
        self._kinds = kinds
        self._ops = ops
        self._picked = Picked(flow, kinds, ops)
        self._objects_asked = GivenByObjects(flow, kinds, ops)
        self._names = names
        self._lookups = Lookups(flow, kinds)
        self._apart = apart
        self._parts_apart = parts_apart

    def assumed(
        self, request: Request, target: frozenset[Use], sources: Sources, stops: list[Def]
    ) -> list[str] | Refusal:
        """What is assumed of sources out of calls, with no path to the target in sight."""
        found: list[str] = []
        for leaf in sources.leaves:
            for told in self._of_leaf(request, target, leaf, stops):
                if isinstance(told, Refusal):
                    return told
                if told:
                    found.append(told)
        return found

    def _of_leaf(
        self, request: Request, target: frozenset[Use], leaf: Leaf, stops: list[Def]
    ) -> Iterator[str | Refusal | None]:
        """What is assumed of one source, until something refuses it."""
        if leaf.variables and leaf.fresh and leaf.many is False:
            return  # nothing was made of it before its statement
        yield from self._of_holder(request, target, leaf, stops)
        made = [d for d in leaf.defs if d.kind not in _OUTSIDE]
        if not made or leaf.watch is None:
            return
        yield self._names.may_be_another(target, leaf, stops)
        asked = self._objects_asked.read_beside(request, target, leaf, stops)
        if asked is not None:
            yield f"`{text_of(asked)}` keeps nothing that was computed from `{leaf.watch}`"
        taken = self._taken_out_of(target, leaf, stops)
        if taken is not None:
            yield together(text_of(taken.path))
        holder = self._taken_out_of(target, leaf, stops, by_name=False)
        if holder is not None and holder.kind in _OUTSIDE:
            yield f"`{text_of(holder.path)}` keeps nothing that was computed from `{leaf.watch}`"
        if self._reads_beside(request, target, leaf, stops):
            yield together(text_of(min(made, key=lambda d: d.path).path))
        yield self._unpacked_beside(target, leaf, stops) or self._looped_beside(target, leaf, stops)
        yield self._filled_beside(target, leaf, stops)
        yield from self._kept_on_handed(request, target, leaf, stops)
        if not leaf.fresh:
            yield self._heldtogether(target, leaf, stops) or self._of_calls(
                request, target, leaf, leaf.watch, stops
            )

    def _of_holder(
        self, request: Request, target: frozenset[Use], leaf: Leaf, stops: list[Def]
    ) -> Iterator[str | Refusal]:
        """What is assumed of what a source is a part of."""
        holder = self._picked.looked_up_beside(request, target, leaf, stops)
        if holder is not None and (len(holder) > 1 or not self._picked.is_counted(request, leaf)):
            yield together(text_of(holder))
        elif holder is not None:
            own = leaf.watch in (None, holder[0])
            part = "the source" if own else f"`{leaf.watch}`"
            yield f"no other part of `{holder[0]}` was computed from {part}"
        me = self._kinds.self_name
        named = any(len(d.path) > 1 and d.path[0] == me for d in self._same(leaf))
        itself = (leaf.watch or "").startswith(f"{me}.")
        if me is not None and (named or itself) and (me,) in self._read_for(request, target, stops):
            kept = f"`{me}` keeps nothing that was computed from `{leaf.watch}`"
            yield together(me) if itself else kept
        picked = self._picked.picked_beside(request, target, leaf, stops)
        if picked is not None:
            yield together(text_of(picked))

    def _same(self, leaf: Leaf) -> frozenset[Def]:
        """The definitions of a source, and those whose very tensors it may be."""
        return leaf.defs.union(*(may_be(d, self._flow, self._kinds) for d in leaf.defs))

    def _of_calls(
        self, request: Request, target: frozenset[Use], leaf: Leaf, watch: str, stops: list[Def]
    ) -> str | Refusal | None:
        """What is assumed of a source that calls have given."""
        if self._ops.cut(target, leaf.defs, frozenset(stops)).made & leaf.defs:
            return None
        made = [d for d in leaf.defs if d.kind not in _OUTSIDE]
        calls = [d for d in made if isinstance(_given(d), ast.Call)]
        unknown = [d for d in calls if self._gives_unknown(d)]
        if not unknown:
            return None
        if any(d.kind is Kind.ELEMENT for d in unknown):
            return Refusal(_USED.format(watch), SOURCE, lends=True, unwatched=True)
        shared = self._picked.shared_part(request, target, leaf, stops)
        if shared is not None:
            return together(text_of(shared))
        if not all(is_named_after_variables(d) for d in unknown):
            if any(calls_one_of(d, _BY_NAME) for d in unknown):
                return found_in_graph(watch)
            return Refusal(
                f"nothing here computes the target from `{watch}`, which an unknown function gives",
                SOURCE,
            )
        return taken_for_variables(watch)

    def _gives_unknown(self, made: Def) -> bool:
        """Whether what a call gives, for every element where it lists some, cannot be told."""
        call = _given(made)
        if call is None or call is made.value:
            return self._ops.make(made) is Make.UNKNOWN
        return self._kinds.make(call) is Make.UNKNOWN and not self._kinds.is_new(call)

    def _heldtogether(
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
        return together(name)

    def _taken_out_of(
        self, target: frozenset[Use], leaf: Leaf, stops: list[Def], by_name: bool = True
    ) -> Def | None:
        """What a source was looked up in, if the target comes out of it too, or was made there."""
        holders = {h for d in leaf.defs for h in self._lookups.holders(d, by_name=by_name)}
        holders -= leaf.defs
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
            and not self._kinds.is_static(path[-1])
            and not self._is_apart(path, leaf)
            for path in read
            for holder in {d.path for d in own}
        ):
            return True
        if VARIABLES_BY_NAME.search((leaf.watch or "").rpartition(".")[2]):
            return False  # variables watch themselves, also where the object is made
        # A function that is handed an object whole may read any part of it, and what an object was
        # made of may be a part of another.
        named = _behind_names(own)
        for made in self._objects(named):
            given = set() if made in named else self._parts_given(made, named)
            if made not in named and not _is_object(made, given):
                continue
            for path in read:
                if path[: len(made.path)] == made.path and path not in given:
                    if path == made.path:
                        return True
                    if made not in named and not self._kinds.is_static(path[-1]):
                        return True
        return False

    def _is_apart(self, path: Path, leaf: Leaf) -> bool:
        """Whether it is a part of an object that was made of no other, nor was the source."""
        return leaf.path is not None and self._parts_apart(path, leaf.path)

    def _objects(self, holders: list[Def]) -> set[Def]:
        """The holders that unknown calls gave, and the objects of which such calls made them."""
        found: set[Def] = set()
        stack = list(holders)
        while stack:
            made = stack.pop()
            unknown = isinstance(made.value, ast.Call) and self._ops.make(made) is Make.UNKNOWN
            if made.kind is Kind.ASSIGN and (unknown or _is_name(made)) and made not in found:
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
        values: list[ast.AST | None] = []
        for value in (request.target, *(d.value for d in behind)):
            if isinstance(value, ast.Call) and self._kinds.is_above(value):
                # ``Base.build(self, x)`` is a call of a method, as ``self.build(x)`` is.
                me = self._kinds.self_name
                values += [v for v in arguments_of(value) if path_of(v) != (me,)]
            else:
                values.append(value)
        code = (d for d in behind if d.kind is Kind.FUNCTION)
        values += [part for each in code for part in run_in(each)]
        return self._ops.paths_read(values)

    def _unpacked_beside(
        self, target: frozenset[Use], leaf: Leaf, stops: list[Def]
    ) -> str | Refusal | None:
        """Whether the target is made of what a call gave beside the source, and made from it."""
        held = self._names.held(leaf)
        for made in sorted(leaf.defs | held, key=lambda d: d.path):
            for given in self._lookups.given_by(made) if made.kind is Kind.ELEMENT else ():
                told = self._given_beside(target, leaf, stops, made, given, held)
                if told is not None:
                    return told
        return None

    def _given_beside(
        self,
        target: frozenset[Use],
        leaf: Leaf,
        stops: list[Def],
        made: Def,
        given: Given,
        held: set[Def],
    ) -> str | Refusal | None:
        """The same of one call, of which ``made`` was unpacked."""
        call = given.call
        gradients = self._kinds.tensorflow(call.func) == "gradients"
        if self._maps(call) or not (gradients or self._kinds.make(call) is Make.UNKNOWN):
            return None
        behind = self._ops.cut(target, leaf.defs, frozenset(stops)).made
        beside = {d for d in behind - leaf.defs - held if d.value is made.value}
        if gradients:
            verdict = related(call, self._flow) if beside else False
            if verdict:
                return Refusal(_USED.format(leaf.watch), SOURCE, unwatched=True)
            if beside and verdict is None:
                first = text_of(min(d.path for d in beside))
                return f"`{first}` was not computed from `{leaf.watch}`"
            return None
        if given.names and self._is_read_whole(given.names, beside | leaf.defs, behind, target):
            return together(text_of(min(given.names, key=lambda d: d.path).path))
        verdicts = {d: self._apart(made, d) if given.in_order else None for d in beside}
        if False in verdicts.values() or (None in verdicts.values() and not gives_data(call)):
            return Refusal(
                _USED.format(leaf.watch), SOURCE, lends=made.value is call, unwatched=True
            )
        for other in sorted(d.path for d, apart in verdicts.items() if apart is None):
            return f"`{text_of(other)}` was not computed from `{leaf.watch}`"
        return None

    def _filled_beside(
        self, target: frozenset[Use], leaf: Leaf, stops: list[Def]
    ) -> str | Refusal | None:
        """Whether the target is made of what the call that gives the source puts elsewhere.

        ``net = encoder(x, end_points)``, where ``end_points`` is filled with what ``net`` is made
        into on the way.
        """
        given = [_given(d) for d in leaf.defs if d.kind in _GIVEN]
        calls = {c for value in given for c in self._giving(value)}
        calls = {c for c in calls if self._kinds.make(c) is Make.UNKNOWN}
        entered = {d.stmt for d in leaf.defs if d.kind is Kind.WITH}
        chained = any(isinstance(d.stmt, ast.Assign) and d.stmt.targets[1:] for d in leaf.defs)
        if not calls and not entered and not chained:
            return None
        # What a method keeps of it on the object at hand, others look for.
        owners = {path[0] for c in calls if (path := path_of(c.func)) is not None}
        behind = self._ops.cut(target, leaf.defs, frozenset(stops)).made
        changed = [d for d in behind - leaf.defs if d.kind is Kind.MUTATE]
        stmts = {d.stmt for d in leaf.defs if d.kind is Kind.ASSIGN}
        for made in sorted(changed, key=lambda d: d.path):
            if made.stmt in stmts and made.value is None and self._runs_code(made.stmt):
                return Refusal(_SET.format(leaf.watch, text_of(made.path)), SOURCE, unwatched=True)
            if made.stmt in entered and made.value is None:  # ``with net as z``
                return f"`{text_of(made.path)}` keeps nothing that was computed from `{leaf.watch}`"
        put = [d for d in changed if d.value in calls]
        for made in sorted(put, key=lambda d: d.path):
            path = made.path[:-1] if made.path[-1] == PARTS else made.path
            if path[0] in owners:
                if path[0] == self._kinds.self_name or not self._keeps_parts(made.value):
                    continue
                return f"`{text_of(path)}` keeps nothing that was computed from `{leaf.watch}`"
            if path == made.path:
                into = "the graph" if path == HIDDEN else f"`{text_of(path)}`"
                return Refusal(_FILLED.format(leaf.watch, into), SOURCE, unwatched=True)
            return f"`{text_of(path)}` holds nothing that was computed from `{leaf.watch}`"
        return None

    def _giving(self, value: ast.expr | None) -> list[ast.Call]:
        """The calls of which the value is the result, or a part of it: ``list(map(f, xs))[0]``."""
        parts: Sequence[ast.expr] = ()
        match value:
            case ast.Call():
                known = self._kinds.make(value) is not Make.UNKNOWN or self._kinds.is_new(value)
                parts = () if known else arguments_of(value)
                return [value, *(c for each in parts for c in self._giving(each))]
            case ast.Subscript() | ast.Attribute() | ast.Starred() | ast.NamedExpr():
                parts = [value.value]
            case ast.IfExp():
                parts = [value.body, value.orelse]
            case ast.BoolOp() | ast.Dict():
                parts = value.values
            case ast.List() | ast.Tuple() | ast.Set():
                parts = value.elts
            case ast.ListComp() | ast.SetComp() | ast.GeneratorExp():
                parts = [value.elt]
            case ast.DictComp():
                parts = [value.value]
        return [c for each in parts for c in self._giving(each)]

    def _kept_on_handed(
        self, request: Request, target: frozenset[Use], leaf: Leaf, stops: list[Def]
    ) -> Iterator[str]:
        """Objects that a call was handed which gives the source, and which the target reads too.

        ``h = encode(model, x)``: what is out of sight may keep on ``model`` what it made of ``h``.
        """
        given = [_given(d) for d in leaf.defs if d.kind in _GIVEN]
        calls = {c for value in given for c in self._giving(value)}
        calls = {c for c in calls if self._kinds.make(c) is Make.UNKNOWN}
        handed = {
            path
            for c in calls
            if self._kinds.called(c) is None
            for argument in arguments_of(c)
            if (path := path_of(argument)) is not None and self._is_unknown_object(argument, path)
        }
        behind = self._ops.cut(target, frozenset(), frozenset(stops)).made if handed else ()
        values = [request.target, *(d.value for d in behind if d.value is not None)]
        read = {
            path_of(node.value)
            for value in values
            for node in walk(value)
            if isinstance(node, ast.Attribute) and not self._kinds.is_static(f".{node.attr}")
        }
        for path in sorted(handed):
            if path in read:
                yield f"`{text_of(path)}` keeps nothing that was computed from `{leaf.watch}`"

    def _is_unknown_object(self, argument: ast.expr, path: Path) -> bool:
        """Whether it is what a function out of sight gave, and neither data nor settings."""
        made = origins(self._flow.reads.get(argument, frozenset()))
        return path[0] not in SETTINGS and any(
            d.kind is Kind.ASSIGN
            and isinstance(d.value, ast.Call)
            and not gives_data(d.value)
            and self._ops.make(d) is Make.UNKNOWN
            for d in made
        )

    def _runs_code(self, stmt: ast.stmt | None) -> bool:
        """Whether the user's code runs where one of several targets is given the value."""
        targets = stmt.targets if isinstance(stmt, ast.Assign) and stmt.targets[1:] else ()
        parts = [path for each in targets if (path := path_of(each)) is not None and path[1:]]
        effects, elsewhere = self._kinds.effects, self._kinds.set_elsewhere
        names, classes = elsewhere() if parts and elsewhere is not None else ((), ())
        computed, hooked = effects.set_by_code.union(names), {*effects.setting, *classes}
        return any(
            path[-1] in computed
            or any(
                calls_one_of(d, hooked)
                for d in self._flow.defs.values()
                if hooked and d.path == path[:-1]
            )
            for path in parts
        )

    def _keeps_parts(self, call: ast.expr | None) -> bool:
        """Whether a method of that name sets parts of its object, in any file."""
        func = call.func if isinstance(call, ast.Call) else None
        names = (func.attr,) if isinstance(func, ast.Attribute) else RUN_WHEN_CALLED
        return any(map(self._kinds.changes_object, names))

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
    return names_class(last) or any(len(path) > len(made.path) for path in given)


def _behind_names(holders: list[Def]) -> list[Def]:
    """The holders, and what those are that are second names: ``net = made``."""
    found = dict.fromkeys(holders)
    stack = list(holders)
    while stack:
        made = stack.pop()
        behind = origins(made.uses) if _is_name(made) else ()
        new = [each for each in behind if each not in found and each.kind is Kind.ASSIGN]
        found |= dict.fromkeys(new)
        stack += new
    return list(found)


def _is_name(made: Def) -> bool:
    return made.kind is Kind.ASSIGN and made.value is not None and path_of(made.value) is not None
