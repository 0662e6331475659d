"""From the tapes of one scope to the ops that put them into its file."""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from tapemigrate.flow.blocks import Blocks
from tapemigrate.flow.defuse import Def, Kind
from tapemigrate.flow.paths import path_of, text_of
from tapemigrate.source.brackets import with_argument
from tapemigrate.source.positions import Lines
from tapemigrate.tape.plan import Insert, Op, Replace, ReplaceStatement, Wrap
from tapemigrate.tape.planner import Layout, Tape
from tapemigrate.tape.region import Region
from tapemigrate.tape.request import Request
from tapemigrate.tape.sources import Leaf

# Beyond this column a choice between two calls takes a line for each.
_WIDTH = 88


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What emission needs to know of the file around the scope.

    ``cell`` gives the notebook cell of a row, in which a ``with`` has to end.
    """

    lines: Lines
    blocks: Blocks
    parents: dict[ast.AST, ast.AST]
    taken: frozenset[str]
    tensorflow: Callable[[ast.expr], str]
    cell: Callable[[int], int]


class Emitter:
    """Writes the tapes of one layout."""

    def __init__(self, layout: Layout, around: Surroundings) -> None:
        self._around = around
        self._layout = layout
        self._taken = set(around.taken)
        self._tape_of = {g.request: t for t in layout.tapes for g in t.regions}
        self._region_of = {g.request: g for t in layout.tapes for g in t.regions}
        self._targets: dict[Request, str] = {}
        self._merged = {g.request: run for run in self._runs() for g in run}
        for tape in layout.tapes:
            runs = {id(self._merged.get(g.request, g)) for g in tape.regions}
            if len(tape.regions) > 1:
                tape.persistent = len(runs) > 1 or self._repeated(tape)
            if any(g.request.api == "hessians" and several(g) for g in tape.regions):
                tape.persistent = True
            if any(g.request.extras or g.request.often for g in tape.regions):
                tape.persistent = True
            if not tape.empty and self._is_asked_elsewhere(tape):
                tape.persistent = True
        self._name_tapes()
        for region in sorted(self._region_of.values(), key=lambda g: g.request.call.lineno):
            if region.hoist:
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
            elif not self._inside_another(request):
                found += self._references(request)
                span = self._around.lines.span(request.node)
                code = self._either(request)
                cut = "\n" in code and not code.startswith("(\n")
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
        rows = {self._around.blocks.index_in(s, tape.block) for s in needed}
        used = [p for p in pieces if any(p[0] <= r <= p[1] for r in rows if r is not None)]
        # A cell in which nothing is recorded stays as it is.
        return used if len(pieces) > 1 else pieces

    def _references(self, request: Request) -> list[Op]:
        """``variable._ref()`` becomes the variable: resource variables have no reference."""
        lines = self._around.lines
        inside = set(ast.walk(request.node))
        return [
            Replace(lines.span(call), self._render(call.func.value))
            for call in self._region_of[request].sources.references
            if call not in inside and isinstance(call.func, ast.Attribute)
        ]

    def _lent(self) -> list[Op]:
        """The calls that are handed a tape, to watch the sources that they make."""
        calls = {
            x.lent.call: with_argument(self._render(x.lent.call), f"{x.lent.parameter}={tape.name}")
            for tape in self._layout.tapes
            for g in tape.regions
            for x in g.sources.leaves
            if x.lent is not None
        }
        return [Replace(self._around.lines.span(call), code) for call, code in calls.items()]

    # -- names ----------------------------------------------------------------------------------

    def _fresh(self, wishes: Sequence[str]) -> str:
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
        lives: list[tuple[str, int, int]] = []
        for tape in sorted(self._layout.tapes, key=lambda t: (t.order, self._life(t))):
            start, end = self._life(tape)
            tape.name = tape.kept or tape.resumes or tape.name
            if tape.given or tape.kept or tape.resumes:
                self._taken.add(tape.name)
                lives.append((tape.name, start, end))
                continue
            wishes = [f"tape{tape.order}"] if several else ["tape"]
            target = path_of(tape.regions[0].request.target)
            if target is not None:
                wishes.append(f"{target[-1].lstrip('.')}_tape")
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

    def _life(self, tape: Tape) -> tuple[int, int]:
        body = tape.block.body
        start = body[min(tape.start[0], len(body) - 1)].lineno
        ends = [g.request.stmt.end_lineno or 0 for g in tape.regions]
        if any(g.request.late for g in tape.regions):
            ends.append(sys.maxsize)
        last = body[tape.last_real].end_lineno or 0 if not tape.empty else start
        return start, max(*ends, last)

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
            named = [d for d in leaf.defs if d.kind not in (Kind.LOOP, Kind.COMPREHENSION)]
            for made in sorted(named or leaf.defs, key=_row):
                text = leaf.watch or ""
                own = text_of(made.path)
                if text.isidentifier() and not text.startswith((f"{own}.", f"{own}[")):
                    text = _part_of(own, leaf) or own
                where = self._where(tape, made, region)
                if where == "entry":
                    if text not in entry:
                        entry.append(text)
                elif where == "inside" and made.stmt is not None:
                    if (text, made.stmt) not in placed:
                        placed.add((text, made.stmt))
                        inner.append(self._watch_after(tape, made, made.stmt, text))
            if not leaf.defs and leaf.watch not in entry:
                entry.append(leaf.watch or "")
        if not entry:
            return [], inner
        listed = entry[0] if len(entry) == 1 else f"[{', '.join(entry)}]"
        return [f"{tape.name}.watch({listed})"], inner

    def _where(self, tape: Tape, made: Def, region: Region) -> str:
        if made.stmt is None or not self._around.blocks.holds(made.stmt):
            return "entry"
        index = self._around.blocks.index_in(made.stmt, tape.block)
        if index is None or index < tape.first_real:
            return "entry"
        if index <= tape.last_real:
            return "inside"
        # Made further down: too late to matter, or on the round of a loop before this one.
        again = tape.block.owner is not None and index >= region.call
        return "entry" if again else "late"

    def _watch_after(self, tape: Tape, made: Def, stmt: ast.stmt, text: str) -> Op:
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
                anchor = self._around.lines.span(tapes[0].block.body[index])
                code = self._text(tapes, index, queue, place, len(queue) - 1)
                before.append(Insert(anchor, "before", code))
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
            return self._call(inner)
        code = self._render(request.target)
        if self._region_of[request].itself:
            return f"{self._around.tensorflow(request.call)}.identity({code})"
        wrapped = "\n" in code or isinstance(request.target, ast.NamedExpr)
        return f"({code})" if wrapped else code

    # -- the calls ------------------------------------------------------------------------------

    def _inside_another(self, request: Request) -> bool:
        """Whether the call's text becomes part of another one's."""
        if any(request in self._region_of[o].lower for o in self._region_of if o.api == "hessians"):
            return True
        node: ast.AST | None = self._around.parents.get(request.node)
        while node is not None and not isinstance(node, ast.stmt):
            for other in self._region_of:
                if other.node is node:
                    return True
            node = self._around.parents.get(node)
        return False

    def _render(self, node: ast.expr, itself: bool = True) -> str:
        """The source text of ``node``, with the gradient calls inside it rewritten."""
        lines = self._around.lines
        span = lines.span(node)
        start = lines.offset(span.row, span.column)
        text = lines.segment(span)
        edits: list[tuple[int, int, str]] = []
        stack: list[ast.AST] = [node]
        by_node = {r.node: r for r in self._region_of if r.api != "hessians" or r.node is not None}
        while stack:
            current = stack.pop()
            request = by_node.get(current) if isinstance(current, ast.expr) else None
            if request is not None and (itself or current is not node):
                inner = lines.span(request.node)
                first = lines.offset(inner.row, inner.column) - start
                last = lines.offset(inner.end_row, inner.end_column) - start
                code = self._either(request)
                if self._is_optional(request) and not code.startswith("("):
                    code = f"({code})"
                edits.append((first, last, code))
                continue
            stack.extend(ast.iter_child_nodes(current))
        for first, last, code in sorted(edits, reverse=True):
            text = text[:first] + code + text[last:]
        return text

    def _is_optional(self, request: Request) -> bool:
        return self._tape_of[request].optional and request.api != "threaded"

    def _either(self, request: Request) -> str:
        """The call; where callers may hand in no tape, the old one stays for them."""
        code = self._call(request)
        if not self._is_optional(request):
            return code
        lines, node = self._around.lines, request.node
        old, test = lines.segment(lines.span(node)), f"{self._tape_of[request].name} is not None"
        parent = self._around.parents.get(node)
        code = f"{code} if {test} else {old}"
        plain = isinstance(parent, ast.Assign | ast.AugAssign | ast.AnnAssign | ast.Return)
        listed = isinstance(parent, ast.keyword | ast.List) or _is_argument(node, parent)
        if "\n" not in code and lines.span(node).column + len(code) <= _WIDTH:
            return code if plain or listed else f"({code})"
        parts = [self._call(request), f"if {test}", f"else {old}"]
        return "\n".join(["(", *(f"    {p}" for p in parts), ")"])

    def _call(self, request: Request) -> str:
        tape = self._tape_of[request]
        region = self._region_of[request]
        if request.api == "hessians":
            return self._hessians(request, tape, region)
        if request.api == "threaded":
            return with_argument(
                self._render(request.call, itself=False), f"{request.parameter}={tape.name}"
            )
        target = self._targets.get(request) or self._render(request.target)
        if request.api in ("jacobian", "batch_jacobian"):
            arguments = [target, self._render(request.sources)]
            arguments += [f"{k}={self._render(v)}" for k, v in request.extras.items()]
            return f"{tape.name}.{request.api}({', '.join(arguments)})"
        sources, index = self._sources(request, region)
        if request.gated and request.first and not index:
            # ``tf.tuple`` takes and gives lists.
            sources, index = f"[{sources}]", "[0]"
        code = f"{tape.name}.gradient({target}, {sources}{self._options(request)})"
        if request.gated:
            code = f"{self._around.tensorflow(request.call)}.tuple({code})"
        return code + index

    def _options(self, request: Request) -> str:
        code = ""
        if request.output_gradients is not None:
            code += f", output_gradients={self._output_gradients(request)}"
        if request.unconnected is not None:
            code += f", unconnected_gradients={self._render(request.unconnected)}"
        return code

    def _output_gradients(self, request: Request) -> str:
        given = request.output_gradients
        assert given is not None
        if not isinstance(given, ast.List | ast.Tuple):
            return self._render(given)
        targets = request.target.elts if isinstance(request.target, ast.List | ast.Tuple) else None
        parts = []
        for place, part in enumerate(given.elts):
            if isinstance(part, ast.Constant) and part.value is None:
                one = targets[place] if targets else request.target
                tf = self._around.tensorflow(request.call)
                parts.append(f"{tf}.ones_like({self._render(one)})")
            elif isinstance(part, ast.List | ast.Tuple):
                tf = self._around.tensorflow(request.call)
                parts.append(f"{tf}.constant({self._render(part)})")
            else:
                parts.append(self._render(part))
        return f"[{', '.join(parts)}]"

    def _sources(self, request: Request, region: Region) -> tuple[str, str]:
        """The sources as the tape takes them, and the index behind the call."""
        node = request.sources
        if isinstance(node, ast.List | ast.Tuple):
            if request.first and len(node.elts) == 1 and not isinstance(node.elts[0], ast.Starred):
                return self._render(node.elts[0]), ""
            inner = ", ".join(self._render(e) for e in node.elts)
            text = self._render(node)
            listed = text if isinstance(node, ast.List) else f"[{inner}]"
            return listed, "[0]" if request.first else ""
        text = self._render(node)
        single = region.sources.single
        if single is True:
            return (text, "") if request.first else (f"[{text}]", "")
        is_list = region.sources.listed and single is False
        if (not request.first and not is_list and not self._taken_apart(request)) or (
            request.first and single is None
        ):
            text = f"{self._around.tensorflow(request.call)}.nest.flatten({text})"
        return text, "[0]" if request.first else ""

    def _taken_apart(self, request: Request) -> bool:
        """Whether the result is unpacked or zipped, so that the sources must be several."""
        parent = self._around.parents.get(request.node)
        if isinstance(parent, ast.Assign) and len(parent.targets) == 1:
            target = parent.targets[0]
            return isinstance(target, ast.Tuple | ast.List) and len(target.elts) > 1
        if isinstance(parent, ast.Call) and isinstance(parent.func, ast.Name):
            same = ast.dump(request.sources)
            return parent.func.id == "zip" and any(ast.dump(a) == same for a in parent.args)
        return bool(
            isinstance(parent, ast.Call) and self._region_of[request].sources.single is False
        )

    def _hessians(self, request: Request, tape: Tape, region: Region) -> str:
        inner = next(iter(region.lower))
        gradients = self._targets.get(request) or self._call(inner)
        if not several(region):
            source = self._single_source(request)
            code = f"{tape.name}.jacobian({gradients}, {source})"
            return code if request.first else f"[{code}]"
        text = self._render(request.sources)
        if region.sources.single is None and not isinstance(request.sources, ast.List | ast.Tuple):
            text = f"{self._around.tensorflow(request.call)}.nest.flatten({text})"
        code = f"[{tape.name}.jacobian(g, x) for g, x in zip({gradients}, {text})]"
        return f"{code}[0]" if request.first else code

    def _single_source(self, request: Request) -> str:
        node = request.sources
        return self._render(node.elts[0] if isinstance(node, ast.List | ast.Tuple) else node)

    # -- calls of one target that become one ----------------------------------------------------

    def _runs(self) -> list[list[Region]]:
        """Runs of neighbouring ``name = tf.gradients(same target, …)[0]`` on one tape."""
        runs: list[list[Region]] = []
        for tape in self._layout.tapes:
            ready = [g for g in tape.regions if self._mergeable(g)]
            ready.sort(key=lambda g: (g.request.stmt.lineno, g.request.stmt.col_offset))
            run: list[Region] = []
            for region in ready:
                if run and self._follows(run, region):
                    run.append(region)
                    continue
                if len(run) > 1:
                    runs.append(run)
                run = [region]
            if len(run) > 1:
                runs.append(run)
        return runs

    def _mergeable(self, region: Region) -> bool:
        request = region.request
        stmt = request.stmt
        return (
            request.api == "gradients"
            and request.first
            and not request.gated
            and not self._is_optional(request)
            and isinstance(stmt, ast.Assign)
            and stmt.value is request.node
            and len(stmt.targets) == 1
            and isinstance(stmt.targets[0], ast.Name)
            and path_of(request.target) is not None
            and not region.hoist
            and request.output_gradients is None
            and request.unconnected is None
            and self._one_source(request, region) is not None
        )

    def _one_source(self, request: Request, region: Region) -> ast.expr | None:
        node = request.sources
        if isinstance(node, ast.List | ast.Tuple) and len(node.elts) == 1:
            node = node.elts[0]
        elif region.sources.single is not True:
            return None
        return node if path_of(node) is not None else None

    def _follows(self, run: list[Region], region: Region) -> bool:
        last, stmt = run[-1].request.stmt, region.request.stmt
        blocks = self._around.blocks
        here, there = blocks.place(last), blocks.place(stmt)
        if here.block is not there.block or there.index != here.index + 1:
            return False
        if ast.dump(run[0].request.target) != ast.dump(region.request.target):
            return False
        bound = {_assigned(g.request.stmt) for g in run}
        read = {n.id for n in ast.walk(region.request.call) if isinstance(n, ast.Name)}
        if bound & read or _assigned(stmt) in bound:
            return False
        between = self._between(last, stmt)
        after = self._around.lines.row(stmt.end_lineno or 0)
        end = self._around.lines.span(stmt).end_column
        return not between.strip() and not after[end:].strip()

    def _between(self, before: ast.stmt, after: ast.stmt) -> str:
        lines = self._around.lines
        start, end = lines.span(before), lines.span(after)
        first = lines.offset(start.end_row, start.end_column)
        return lines.text[first : lines.offset(end.row, end.column)]

    def _merge_ops(self, run: list[Region]) -> list[Op]:
        names = ", ".join(_assigned(g.request.stmt) for g in run)
        sources = ", ".join(
            self._render(self._one_source(g.request, g) or g.request.sources) for g in run
        )
        first = run[0].request
        target = self._render(first.target)
        code = f"{names} = {self._tape_of[first].name}.gradient({target}, [{sources}])"
        lines = self._around.lines
        ops: list[Op] = [ReplaceStatement(lines.span(first.stmt), code)]
        ops += [ReplaceStatement(lines.span(g.request.stmt), "") for g in run[1:]]
        return ops

    def _repeated(self, tape: Tape) -> bool:
        blocks = self._around.blocks
        return any(blocks.loops_around(g.request.stmt, tape.block) for g in tape.regions)


def _is_argument(node: ast.expr, parent: ast.AST | None) -> bool:
    return isinstance(parent, ast.Call) and any(a is node for a in parent.args)


def _assigned(stmt: ast.stmt) -> str:
    target = stmt.targets[0] if isinstance(stmt, ast.Assign) else None
    return target.id if isinstance(target, ast.Name) else ""


def several(region: Region) -> bool:
    """Whether the sources are, or may be, more than one tensor."""
    node = region.request.sources
    if isinstance(node, ast.List | ast.Tuple):
        return len(node.elts) != 1 or isinstance(node.elts[0], ast.Starred)
    return region.sources.single is not True


def _target_names(request: Request) -> list[str]:
    if request.api == "hessians":
        return ["gradients", "first_order"]
    return ["target", "y", "output"] if not isinstance(request.target, ast.List) else ["targets"]


def _part_of(name: str, leaf: Leaf) -> str:
    """The part of ``name`` that the source is another name for, if it is one: ``net.weights``."""
    given = (path_of(d.value) for d in leaf.defs if d.value is not None)
    parts = sorted(text_of(path) for path in given if path is not None)
    return next((p for p in parts if p.startswith((f"{name}.", f"{name}["))), "")


def _is_alias(made: Def) -> bool:
    """Whether the definition is another name of what was there."""
    return made.kind is Kind.ASSIGN and made.value is not None and path_of(made.value) is not None


def _row(made: Def) -> int:
    return made.stmt.lineno if made.stmt is not None else 0
