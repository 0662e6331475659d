"""From the tapes of one scope to the ops that put them into its file."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence

from tapemigrate.flow.definitions import Def, Kind
from tapemigrate.flow.paths import Path, path_of, text_of
from tapemigrate.source.brackets import with_argument
from tapemigrate.source.entry_names import in_another_name
from tapemigrate.source.points import Point, begin
from tapemigrate.source.trees import parts_of_target, statements, walk
from tapemigrate.tape.leaf import Leaf
from tapemigrate.tape.ops.syntax import binds
from tapemigrate.tape.placing.region import Region
from tapemigrate.tape.placing.room import behind_stop
from tapemigrate.tape.placing.rounds import of_this_round
from tapemigrate.tape.plan import Insert, Op, Replace, ReplaceStatement, Wrap
from tapemigrate.tape.planner import Layout, Tape, life
from tapemigrate.tape.request import Request
from tapemigrate.tape.sources.filled_sources import is_part
from tapemigrate.tape.writing.asking import Asking, is_made_over_lines, several
from tapemigrate.tape.writing.merging import Merging, assigned, one_source
from tapemigrate.tape.writing.named_inside import is_watched_by_name
from tapemigrate.tape.writing.surroundings import Surroundings


class Emitter:
    """Writes the tapes of one layout."""

    def __init__(self, layout: Layout, around: Surroundings) -> None:
        self._around = around
        self._layout = layout
        self._taken = set(around.taken)
        self._tape_of = {g.request: t for t in layout.tapes for g in t.regions}
        self._region_of = {g.request: g for t in layout.tapes for g in t.regions}
        self._targets: dict[Request, str] = {}
        self._anew: dict[tuple[Tape, ast.stmt, Path], bool] = {}
        self._asking = Asking(around, self._tape_of, self._region_of, self._targets)
        merging = Merging(layout.tapes, around)
        runs = merging.runs()
        merging.shrink(runs)
        self._merged = {g.request: run for run in runs for g in run}
        for tape in layout.tapes:
            asked = {id(self._merged.get(g.request, g)) for g in tape.regions}
            if len(tape.regions) > 1:
                tape.persistent = len(asked) > 1 or self._repeated(tape)
            if any(g.request.api == "hessians" and several(g) for g in tape.regions):
                tape.persistent = True
            if any(g.request.extras or g.request.often or g.by_rows for g in tape.regions):
                tape.persistent = True
            if (
                tape.late
                or (tape.run and around.branches)
                or (not tape.empty and self._is_asked_elsewhere(tape))
            ):
                tape.persistent = True
        self._name_tapes()
        for region in sorted(self._region_of.values(), key=lambda g: begin(g.request.call)):
            if region.hoist or region.request.ahead:
                self._targets[region.request] = self._fresh(_target_names(region.request))

    def ops(self) -> list[Op]:
        """Everything that is to be done to the file, for all tapes of the scope."""
        found: list[Op] = []
        exits, before = self._virtuals()
        for tape in self._layout.tapes:
            if tape.given:
                continue
            entry, inner = self._watches(tape)
            found += inner
            for region in tape.regions:
                found += self._stopped(tape, region)
            if not tape.empty:
                found += self._wraps(tape, entry, exits.get(tape, ""))
        found += before
        found += self._computed_ahead()
        found += self._lent()
        done: set[int] = set()
        for request in self._region_of:
            run = self._merged.get(request)
            if request.api == "kept":
                continue
            if run is not None:
                if id(run) not in done:
                    done.add(id(run))
                    found += self._merge_ops(run)
            elif not self._asking.inside_another(request):
                found += self._references(request)
                span = self._around.lines.span(request.node)
                code = self._asking.either(request)
                cut = "\n" in code and not is_made_over_lines(code)
                found.append(Replace(span, code, verbatim=cut))
        return found

    def _is_asked_elsewhere(self, tape: Tape) -> bool:
        """Whether another cell asks it, which may be run again."""
        cell = self._around.cell
        start = cell(tape.block.body[tape.first_real].lineno)
        return any(cell(g.request.call.lineno) != start for g in tape.regions)

    def _wraps(self, tape: Tape, entry: list[str], exit_: str) -> list[Op]:
        """The tape's block: one for each cell, the later ones going on with the same tape."""
        body, pieces = tape.block.body, self._pieces(tape)
        found: list[Op] = []
        for first, last in pieces:
            begins, ends = (first, last) == pieces[0], (first, last) == pieces[-1]
            found.append(
                Wrap(
                    self._around.lines.span(body[first]),
                    self._around.lines.span(body[last]),
                    self._header(tape) if begins else f"with {tape.name}:",
                    "\n".join(entry) if begins else "",
                    exit_ if ends else "",
                )
            )
        return found

    def _pieces(self, tape: Tape) -> list[tuple[int, int]]:
        """The runs of statements that the tape records, by the cells that they stand in."""
        pieces: list[tuple[int, int]] = []
        needed = {s for g in tape.regions for s in (*g.needed, g.request.stmt)}
        # What is watched where it is made needs the tape there.
        made = [d.stmt for g in tape.regions for leaf in g.sources.leaves for d in leaf.defs]
        needed.update(s for s in made if s is not None and self._around.blocks.holds(s))
        cell = None
        for index in range(tape.first_real, tape.last_real + 1):
            here = self._around.cell(tape.block.body[index].lineno)
            if here == cell:
                pieces[-1] = (pieces[-1][0], index)
            else:
                pieces.append((index, index))
            cell = here
        if len(pieces) == 1:
            return pieces
        # What is not recorded stays as it is: a whole cell, and what a cell begins and ends with,
        # for an expression in its last line is shown only if it stands there by itself.
        rows = {self._around.blocks.index_in(s, tape.block) for s in needed}
        used: list[tuple[int, int]] = []
        for first, last in pieces:
            inside = [r for r in rows if r is not None and first <= r <= last]
            if inside:
                start = first if first == tape.first_real else min(inside)
                used.append((start, last if last == tape.last_real else max(inside)))
        return used

    def _references(self, request: Request) -> list[Op]:
        """``variable._ref()`` becomes the variable: resource variables have no reference."""
        lines = self._around.lines
        inside = set(walk(request.node))
        return [
            Replace(lines.span(call), self._asking.render(call.func.value))
            for call in self._region_of[request].sources.references
            if call not in inside and isinstance(call.func, ast.Attribute)
        ]

    def _computed_ahead(self) -> list[Op]:
        """The targets that stand before the inner functions that ask of them, each in its block."""
        found: list[Op] = []
        for request, region in self._region_of.items():
            if request.ahead and not region.hoist:
                code = f"{self._targets[request]} = {self._hoisted_code(request)}"
                found.append(self._above(request.stmt, code))
            if request.ahead is not None and request.ahead.stmt is not None:
                if not self._asking.is_optional(request):
                    span = self._around.lines.span(request.ahead.stmt)
                    found.append(ReplaceStatement(span, ""))
        return found

    def _above(self, stmt: ast.stmt, code: str) -> Op:
        # A function stands apart from what is above it.
        gap = "\n\n" if isinstance(stmt, ast.FunctionDef) else ""
        return Insert(self._around.lines.span(stmt), "before", code + gap)

    def _lent(self) -> list[Op]:
        """The calls that are handed a tape, to watch the sources that they make."""
        calls = {
            x.lent.call: with_argument(
                self._asking.render(x.lent.call), f"{x.lent.parameter}={tape.name}"
            )
            for tape in self._layout.tapes
            for g in tape.regions
            for x in g.sources.leaves
            if x.lent is not None
        }
        return [Replace(self._around.lines.span(call), code) for call, code in calls.items()]

    # -- names ----------------------------------------------------------------------------------

    def _fresh(self, wishes: Sequence[str]) -> str:
        wishes = [in_another_name(wish) for wish in wishes]
        for wish in wishes:
            if wish not in self._taken:
                self._taken.add(wish)
                return wish
        number = 2
        while f"{wishes[0]}{number}" in self._taken:
            number += 1
        self._taken.add(f"{wishes[0]}{number}")
        return f"{wishes[0]}{number}"

    def _name_tapes(self) -> None:
        several = len({t.order for t in self._layout.tapes if not t.given}) > 1
        lives: list[tuple[str, Point, Point]] = []
        for tape in sorted(
            self._layout.tapes, key=lambda t: (t.order, life(t, self._around.blocks))
        ):
            start, end = life(tape, self._around.blocks)
            tape.name = tape.kept or tape.resumes or tape.name
            if tape.given or tape.kept or tape.resumes:
                self._taken.add(tape.name)
                lives.append((tape.name, start, end))
                continue
            wishes = [f"tape{tape.order}"] if several else ["tape"]
            target = path_of(tape.regions[0].request.target)
            if target is not None:
                # ``self.outs[0]``: the last step that is a name.
                step = next(s for s in reversed(target) if not s.startswith("["))
                wishes.append(in_another_name(f"{step.lstrip('.')}_tape"))
                if not tape.empty and self._is_asked_elsewhere(tape):
                    # Whatever makes the target anew makes this tape anew, in what order ever.
                    wishes.reverse()
            for wish in wishes:
                clash = any(n == wish and start <= e and s <= end for n, s, e in lives)
                ours = any(n == wish for n, _, _ in lives)
                if not clash and (ours or wish not in self._taken):
                    tape.name = wish
                    self._taken.add(wish)
                    break
            else:
                tape.name = self._fresh(wishes[:1])
            lives.append((tape.name, start, end))

    # -- statements round the tape --------------------------------------------------------------

    def _header(self, tape: Tape) -> str:
        if tape.resumes:
            return f"with {tape.name}:"
        request = tape.regions[0].request
        tf = self._around.tensorflow(request.node if tape.kept else request.call)
        options = "persistent=True" if tape.persistent else ""
        return f"with {tf}.GradientTape({options}) as {tape.name}:"

    def _watches(self, tape: Tape) -> tuple[list[str], list[Op]]:
        entry: list[str] = []
        inner: list[Op] = []
        placed: set[tuple[str, ast.stmt]] = set()
        watched = [(g, x) for g in tape.regions for x in g.sources.leaves if x.watch]
        for region, leaf in watched:
            if tape.resumes and all(d.kind is Kind.ENTRY or _is_alias(d) for d in leaf.defs):
                continue  # watched where the tape was opened
            if (name := of_this_round(leaf, tape.block, self._around.blocks)) is not None:
                entry += [name] if name not in entry else []
                continue
            named = [d for d in leaf.defs if d.kind not in (Kind.LOOP, Kind.COMPREHENSION)]
            called = [d for d in named if d.path == (leaf.watch,)]
            if called and all(self._where(tape, d, region) == "entry" for d in called):
                # ``x = x[0]`` has run: what it was made of may mean something else by now.
                named = called
            if leaf.now and all(self._where(tape, d, region) == "entry" for d in leaf.defs):
                # ``self.z = x; x = tf.exp(x)``
                entry += [leaf.now] if leaf.now not in entry else []
                continue
            for made in sorted(named or leaf.defs, key=lambda d: d.begin):
                text = leaf.watch or ""
                own = text_of(made.path)
                if text.isidentifier() and own != text:
                    text = _part_of(own, leaf) or own
                where = self._where(tape, made, region)
                if where == "entry" and own != leaf.watch and self._is_further_down(tape, made):
                    if any(text_of(d.path) == leaf.watch for d in leaf.defs):
                        continue  # another name for it, which nothing has on the first round
                if text != own and not text.isidentifier() and not is_part(made.path, text):
                    # ``x = tf.sin(x); self.h = x``: the part is not there yet.
                    parts = (d for d in leaf.defs if text_of(d.path) == text)
                    late = any(self._where(tape, d, region) == "inside" for d in parts)
                    text = own if late else text
                if where == "entry":
                    recorded = tape.block.body[tape.first_real : tape.last_real + 1]
                    if text not in entry and not is_watched_by_name(made, leaf, recorded):
                        entry.append(text)
                elif where == "inside" and made.stmt is not None:
                    if (text, made.stmt) not in placed:
                        placed.add((text, made.stmt))
                        inner.append(self._watch_after(tape, made, made.stmt, text))
            if not leaf.defs and leaf.watch not in entry:
                entry.append(leaf.watch or "")
        first = self._uncached(tape)
        if not entry:
            return first, inner
        listed = entry[0] if len(entry) == 1 else f"[{', '.join(entry)}]"
        return [*first, f"{tape.name}.watch({listed})"], inner

    def _uncached(self, tape: Tape) -> list[str]:
        """What has variables made without a cache, unless a tape that opens first says so."""
        ours = [t for t in self._layout.tapes if any(g.uncached for g in t.regions)]
        first = [
            t
            for t in ours
            if t.block is tape.block and (t.start, -t.order) < (tape.start, -tape.order)
        ]
        if tape not in ours or first:
            return []
        v1 = self._around.v1(tape.regions[0].request.call)
        return [
            "# A tape does not see variables that are read through a cache.",
            f"{v1}.get_variable_scope().set_custom_getter(",
            "    lambda getter, *args, **kwargs: "
            'getter(*args, **{**kwargs, "caching_device": None})',
            ")",
        ]

    def _where(self, tape: Tape, made: Def, region: Region) -> str:
        """When a definition gives its value, as the tape sees it."""
        if made.stmt is None or not self._around.blocks.holds(made.stmt):
            return "entry"
        index = self._around.blocks.index_in(made.stmt, tape.block)
        if index is None or index < tape.first_real:
            return "entry"
        if index <= tape.last_real:
            return "inside"
        # Made further down: too late to matter, or on the round of a loop before this one.
        call = region.request.stmt
        again = not self._around.blocks.comes_before(made.stmt, call, tape.block)
        key = tape, call, made.path
        if again and key not in self._anew:
            self._anew[key] = self._is_given_anew(*key)
        anew = again and self._anew[key]
        return "entry" if again and not anew else "late"

    def _is_given_anew(self, tape: Tape, call: ast.stmt, path: Path) -> bool:
        """Whether the path gets a value on every way from the tape to the call.

        What it had on the round before is gone then.
        """
        for place in self._around.blocks.chain(call):
            own = place.block is tape.block
            between = place.block.body[tape.last_real + 1 if own else 0 : place.index]
            giving: set[ast.stmt] = {
                stmt
                for each in between
                for stmt in statements(each)
                if isinstance(stmt, ast.Assign) and path in _given(stmt)
            }
            if binds(between, giving):
                return True
            if own:
                break
        return False

    def _is_further_down(self, tape: Tape, made: Def) -> bool:
        index = None if made.stmt is None else self._around.blocks.index_in(made.stmt, tape.block)
        return index is not None and index > tape.last_real

    def _watch_after(self, tape: Tape, made: Def, stmt: ast.stmt, text: str) -> Op:
        stopped = {d.stmt for g in tape.regions for d in g.stops}
        if stmt in stopped:
            behind = behind_stop(self._around.blocks, stmt, stopped, tape.block, tape.last_real)
            assert behind is not None
            return Insert(self._around.lines.span(behind), "before", f"{tape.name}.watch({text})")
        place = "body" if made.kind in (Kind.LOOP, Kind.WITH) else "after"
        return Insert(
            self._around.lines.span(stmt),
            "body" if place == "body" else "after",
            f"{tape.name}.watch({text})",
        )

    def _stopped(self, tape: Tape, region: Region) -> list[Op]:
        found: list[Op] = []
        for stop in region.stops:
            if stop.stmt is not None and self._where(tape, stop, region) == "inside":
                span = self._around.lines.span(stop.stmt)
                found.append(Wrap(span, span, f"with {tape.name}.stop_recording():"))
        return found

    def _virtuals(self) -> tuple[dict[Tape, str], list[Op]]:
        """The statements made from targets that were written inside their calls."""
        exits: dict[Tape, str] = {}
        before: list[Op] = []
        for (block_id, index), queue in self._layout.hoisted.items():
            tapes = [t for t in self._layout.tapes if id(t.block) == block_id and not t.given]
            place = 0
            closing = [t for t in tapes if not t.empty and t.last_real == index - 1]
            # Of tapes that end together the inner one comes first: what it needs must be inside it.
            for tape in sorted(closing, key=lambda t: (t.end, -t.start[0], -t.start[1], t.order)):
                if tape.end[0] != index:
                    continue
                exits[tape] = self._text(tapes, index, queue, place, tape.end[1])
                place = tape.end[1] + 1
            if place < len(queue):
                code = self._text(tapes, index, queue, place, len(queue) - 1)
                before.append(self._above(tapes[0].block.body[index], code))
        return exits, before

    def _text(
        self, tapes: Iterable[Tape], index: int, queue: list[Region], first: int, last: int
    ) -> str:
        """The statements ``first`` to ``last`` of a queue, with the tapes that record only them."""
        lines: list[str] = []
        only = [
            t
            for t in tapes
            if t.empty and t.start[0] == index and first <= t.start[1] and t.end <= (index, last)
        ]
        place = first
        while place <= last:
            opening = [t for t in only if t.start[1] == place]
            if opening:
                tape = max(opening, key=lambda t: (t.end, t.order))
                rest = [t for t in only if t is not tape]
                lines.append(self._header(tape))
                body = self._watches(tape)[0]
                body += self._text(rest, index, queue, place, tape.end[1]).split("\n")
                lines += [f"    {line}" for line in body]
                place = tape.end[1] + 1
                continue
            request = queue[place].request
            lines.append(f"{self._targets[request]} = {self._hoisted_code(request)}")
            place += 1
        return "\n".join(lines)

    def _hoisted_code(self, request: Request) -> str:
        if request.api == "hessians":
            inner = next(iter(self._region_of[request].lower))
            return self._asking.call(inner)
        code = self._asking.render(request.target)
        if request.ahead:
            return self._moved(code, request.target)
        region = self._region_of[request]
        if region.itself:
            tf = self._around.tensorflow(request.call)
            if region.sources.single:
                return f"{tf}.identity({code})"
            return f"{tf}.nest.map_structure({tf}.identity, {code})"
        wrapped = "\n" in code or isinstance(request.target, ast.NamedExpr)
        return f"({code})" if wrapped else code

    def _moved(self, code: str, target: ast.expr) -> str:
        """``code``, which stands further in than the statement that it becomes."""
        row = self._around.lines.row(target.lineno)
        margin = row[: len(row) - len(row.lstrip())]
        first, *rest = code.split("\n")
        code = "\n".join([first, *(line.removeprefix(margin) for line in rest)])
        return f"({code})" if rest and not isinstance(target, ast.Call) else code

    def _merge_ops(self, run: list[Region]) -> list[Op]:
        names = ", ".join(assigned(g.request.stmt) for g in run)
        sources = ", ".join(self._asking.render(one_source(g) or g.request.sources) for g in run)
        first = run[0].request
        target = self._asking.render(first.target)
        code = f"{names} = {self._tape_of[first].name}.gradient({target}, [{sources}])"
        lines = self._around.lines
        ops: list[Op] = [ReplaceStatement(lines.span(first.stmt), code)]
        ops += [ReplaceStatement(lines.span(g.request.stmt), "") for g in run[1:]]
        return ops

    def _repeated(self, tape: Tape) -> bool:
        blocks = self._around.blocks
        return any(blocks.loops_around(g.request.stmt, tape.block) for g in tape.regions)


def _target_names(request: Request) -> list[str]:
    if request.api == "hessians":
        return ["gradients", "first_order"]
    if request.ahead is not None and request.ahead.function.isidentifier():
        return ["target", f"{request.ahead.function.lstrip('_')}_target"]
    return ["target", "y", "output"] if not isinstance(request.target, ast.List) else ["targets"]


def _part_of(name: str, leaf: Leaf) -> str:
    """The part of ``name`` that the source is another name for, if it is one: ``net.weights``."""
    given = (path_of(d.value) for d in leaf.defs if d.value is not None)
    parts = sorted(text_of(path) for path in given if path is not None)
    return next((p for p in parts if p.startswith((f"{name}.", f"{name}["))), "")


def _is_alias(made: Def) -> bool:
    """Whether the definition is another name of what was there."""
    return made.kind is Kind.ASSIGN and made.value is not None and path_of(made.value) is not None


def _given(stmt: ast.Assign) -> list[Path | None]:
    return [path_of(part) for target in stmt.targets for part in parts_of_target(target)]
