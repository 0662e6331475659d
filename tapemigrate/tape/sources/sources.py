"""What the sources of a gradient call are: which tensors or variables, and where they come from."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import replace

from tapemigrate.flow.definitions import NONE, Def, Kind
from tapemigrate.flow.defuse import Flow
from tapemigrate.flow.paths import Path, path_of, text_of
from tapemigrate.flow.slices import origins
from tapemigrate.source.points import AHEAD, end
from tapemigrate.source.trees import walk
from tapemigrate.tape.leaf import (
    Leaf,
    Sources,
    Trainable,
    assuming,
    beside_variables,
    merged,
    renamed,
    taken_for_variables,
)
from tapemigrate.tape.ops.kinds import Kinds, Make
from tapemigrate.tape.sources.asked_properties import given, is_beside
from tapemigrate.tape.sources.filled_sources import FILLED, FilledSources, is_part
from tapemigrate.tape.sources.followed import Followed, listed_by
from tapemigrate.tape.sources.holders import LEFT_OUT, PART_OF_EACH, asks_whole
from tapemigrate.tape.sources.made_sources import FRESH, MadeSources
from tapemigrate.tape.sources.no_tensors import PYTHON_VALUE, Plain, if_tensors, no_tensor
from tapemigrate.tape.sources.object_parts import ObjectParts
from tapemigrate.tape.sources.set_in_scope import set_here
from tapemigrate.tape.sources.source_arithmetic import SourceArithmetic, lineage
from tapemigrate.tape.sources.source_evidence import SourceEvidence

_OUTSIDE = (Kind.PARAM, Kind.ENTRY)
_KNOWN_BEFORE = (Kind.PARAM, Kind.ENTRY, Kind.IMPORT, Kind.FUNCTION, Kind.CLASS)
_TAKEN_FROM = (Kind.LOOP, Kind.COMPREHENSION)
_MADE_HERE = (Kind.ASSIGN, Kind.ELEMENT, Kind.AUGMENT, Kind.WITH, *_TAKEN_FROM)
CHOSEN = (
    "the call itself chooses between sources, which a tape has to watch before they are used; "
    "give what is chosen a name ahead of the forward pass"
)
SET_BY_A_CALL = "`{}` may be given another value by what is called {}, where nothing can watch it"
UNWATCHABLE = "`{}` is made where nothing can watch it"


_MADE_OF_NONE = frozenset({Make.LEAF, Make.PYTHON, Make.VARIABLE, Make.FROZEN, Make.VARIABLES})


class SourceReader:
    """Resolves the ``xs`` of a call through names, lists, comprehensions and loops."""

    def __init__(self, flow: Flow, kinds: Kinds, evidence: SourceEvidence) -> None:
        self._flow = flow
        self._kinds = kinds
        self._evidence = evidence
        self._made = MadeSources(
            flow, kinds, evidence.single, evidence.listed, evidence.gives_variable
        )
        self._plains: dict[Def, Plain | None] = {}
        self._parts = ObjectParts(flow, kinds, self._made, evidence.making, evidence.by_name)
        self._named: dict[tuple[ast.expr, int], Sources] = {}
        self._place = AHEAD

    @property
    def _followed(self) -> Followed:
        return Followed(self._flow, self._kinds, self._made, self.read)

    @property
    def _arithmetic(self) -> SourceArithmetic:
        # Made anew: kept, it and this one would keep each other, and the tree, alive.
        return SourceArithmetic(
            self._flow,
            self._kinds,
            self.read,
            lambda made, depth: self._definition(made, text_of(made.path), depth, None),
        )

    def is_made_of_none(self, path: Path) -> bool:
        """Whether what is kept there was made of nothing: placeholders, variables, numbers."""
        makes = self._evidence.kept_values(path)
        return bool(makes) and makes <= _MADE_OF_NONE

    def read(self, node: ast.expr, depth: int = 0) -> Sources:
        """What ``node`` stands for at its place."""
        if depth == 0:
            # A list that is put together for a helper has no place of its own.
            parts = (n for n in walk(node) if isinstance(n, ast.expr) and hasattr(n, "lineno"))
            self._place = max(map(end, parts), default=AHEAD)
            self._named.clear()  # what is known of classes may have grown since
        if depth > 12:
            return Sources(refusal="the sources pass through too many names to follow")
        match node:
            case ast.List() | ast.Tuple():
                return self._display(node, depth)
            case ast.Dict():
                return self._display(ast.List(node.values, ast.Load()), depth)
            case ast.Starred():
                return self.read(node.value, depth + 1)
            case ast.ListComp() | ast.GeneratorExp():
                return self._comprehension(node, depth)
            case ast.DictComp():
                return self._comprehension(ast.ListComp(node.value, node.generators), depth)
            case ast.BinOp():
                if (made := self._arithmetic.result(node, depth)) is not None:
                    return made
            case ast.Call():
                return self._call(node, depth)
            case ast.IfExp():
                return self._chosen([node.body, node.orelse], depth)
            case ast.BoolOp():
                return self._chosen(node.values, depth)
            case ast.Constant():
                return Sources(refusal=PYTHON_VALUE)
        path = path_of(node)
        if path is None:
            if isinstance(node, ast.Subscript):
                base = self.read(node.value, depth + 1)
                whole = isinstance(node.slice, ast.Slice)
                if base.single is True and not base.refusal:
                    return Sources(refusal=FRESH)
                if base.used:
                    return base
                base.leaves = [
                    replace(x, looked_up=x.watch is not None and _is_kept(x)) for x in base.leaves
                ]
                return Sources(base.leaves, False if whole else None, base.refusal, base.listed)
            if isinstance(node, ast.Attribute) and not self._is_made_there(node.value):
                return Sources(
                    refusal=f"`{ast.unparse(node)}` has no name by which a tape could watch it "
                    "before it is used"
                )
            return Sources(refusal=FRESH)
        # A name that is given its own value again, on several ways, is met once more on each.
        known = self._named.get((node, depth))
        if known is None:
            known = self._named[node, depth] = self._path(node, text_of(path), depth)
        return replace(known, leaves=[*known.leaves], references=[*known.references])

    def _is_made_there(self, owner: ast.expr) -> bool:
        """Whether it is what an op or a class gives where it stands: ``Net(x)`` of ``Net(x).h``."""
        if not isinstance(owner, ast.Call):
            return False
        made = self._kinds.make(owner)
        return made in (Make.TENSOR, Make.LEAF) or self._kinds.makes_object(owner)

    def _display(self, node: ast.List | ast.Tuple, depth: int) -> Sources:
        found = Sources(single=False, listed=isinstance(node, ast.List))
        for elt in node.elts:
            part = self.read(elt, depth + 1)
            found.leaves += [] if part.refusal else part.leaves
            found.refusal = found.refusal or part.refusal
            found.nested |= part.single is False
            found.used |= part.used
        return found

    def _chosen(self, ways: list[ast.expr], depth: int) -> Sources:
        """Sources of which a condition takes one, known ahead if they are variables, each of them.

        Anything else would be watched, and may be missing where the condition takes the other.
        """
        parts = [self.read(way, depth + 1) for way in ways]
        leaves = [leaf for part in parts for leaf in part.leaves]
        if all(part.refusal == FRESH for part in parts):
            return Sources(refusal=FRESH)
        if any(p.refusal or p.nested or p.used for p in parts) or any(x.watch for x in leaves):
            return Sources(refusal=CHOSEN)
        singles = {part.single for part in parts}
        references = [node for part in parts for node in part.references]
        listed = all(part.listed for part in parts)
        return Sources(
            leaves, singles.pop() if len(singles) == 1 else None, None, listed, references
        )

    def _comprehension(self, node: ast.ListComp | ast.GeneratorExp, depth: int) -> Sources:
        generator = node.generators[0]
        if (
            len(node.generators) == 1
            and isinstance(node.elt, ast.Name)
            and isinstance(generator.target, ast.Name)
            and node.elt.id == generator.target.id
        ):
            base = self.read(generator.iter, depth + 1)
            left_out = next((t for t in generator.ifs if asks_whole(t, node.elt.id)), None)
            if left_out is not None and any(_is_watched(x) for x in base.leaves):
                return _some(generator.iter, left_out)
            return Sources(
                base.leaves, False, base.refusal, True, nested=base.nested, used=base.used
            )
        part = self.read(node.elt, depth + 1)
        nested = part.single is False
        leaves = part.leaves
        if any(each.ifs for each in node.generators):
            # ``v for k, v in parts.items() if k in names``
            leaves = [
                assuming(x, f"`{x.watch}` holds nothing but tensors") if _is_given_whole(x) else x
                for x in leaves
            ]
        return Sources(leaves, False, part.refusal, True, part.references, nested, part.used)

    def _call(self, node: ast.Call, depth: int) -> Sources:
        func = node.func
        if (given := listed_by(self._kinds, node)) is not None:
            base = self.read(given, depth + 1)
            if _drops_any(node) and any(_is_watched(x) for x in base.leaves):
                return _some(given, node)
            listed = not isinstance(func, ast.Name) or func.id in ("list", "sorted")
            return Sources(
                base.leaves, False, base.refusal, listed, nested=base.nested, used=base.used
            )
        if isinstance(func, ast.Name) and func.id in ("zip", "enumerate"):
            parts = [self.read(a, depth + 1) for a in node.args]
            leaves = [x for p in parts if not p.refusal for x in p.leaves]
            refusal = None if leaves else next((p.refusal for p in parts if p.refusal), None)
            for given in (a.value for a in node.args if isinstance(a, ast.Starred)):
                if any(map(_is_given_whole, leaves)):
                    return Sources(refusal=PART_OF_EACH.format(ast.unparse(given)), used=True)
            return Sources(leaves, False, refusal, nested=any(p.nested for p in parts))
        if isinstance(func, ast.Attribute) and func.attr == "items" and not node.args:
            return self.read(func.value, depth + 1)
        if any(u.made.kind not in _KNOWN_BEFORE for a in node.args for u in self._flow.uses_in(a)):
            name = ast.unparse(func)
            if self._kinds.make(node) is Make.UNKNOWN:
                return Sources(refusal=f"what `{name}(…)` gives cannot be seen")
        if isinstance(func, ast.Attribute) and func.attr == "values" and not node.args:
            base = self.read(func.value, depth + 1)
            leaves = [replace(x, many=True) for x in base.leaves]
            return Sources(leaves, False, base.refusal, nested=base.nested, used=base.used)
        if isinstance(func, ast.Attribute) and func.attr == "_ref" and not node.args:
            found = self.read(func.value, depth + 1)
            return replace(found, references=[*found.references, node])
        return self._made.of(
            node,
            frozenset(),
            self._evidence.segment(node),
            lambda n: self._arithmetic.is_number(n, depth),
        )

    def _path(self, node: ast.expr, text: str, depth: int) -> Sources:
        uses = self._flow.reads.get(node)
        if not uses:
            return Sources(refusal=f"`{text}` is not defined where the call reads it")
        if isinstance(node, ast.Attribute):
            make = self._evidence.listed(node)
            if make is not Make.UNKNOWN:
                return self._made.variables(make, frozenset(), text)
        known = self._evidence.trainable(node) if isinstance(node, ast.Attribute) else None
        if known is not None and not any(_is_made_here(d) for d in origins(uses)):
            sentence = None if known.sure else taken_for_variables(text)
            many = not known.single
            leaf = Leaf(frozenset(), None, True, many, variables=True, assumption=sentence)
            return Sources([leaf], known.single, None, known.listed)
        # Parts that were read on their own (``theta[2]``), what a property may compute of what else
        # its object holds, or a function read that was handed on with it, are no sources of their
        # own.
        path = path_of(node) or ()
        uses -= self._flow.captured.get(node, NONE)
        uses = frozenset(
            use
            for use in uses
            if use.made.kind is not Kind.ENTRY or use.made.path == path[: len(use.made.path)]
        )
        uses = given(self._kinds.effects, uses, path)
        uses, again = set_here(self._flow, self._kinds, self._evidence.set_anew, uses, path)
        appended = [u.made for u in uses if u.made.kind is Kind.MUTATE]
        anew = [d for d in _changes(appended) if self._sets_anew(d, path)]
        if anew:
            rows = [d.stmt.lineno for d in anew if d.stmt is not None]
            where = f"in line {min(rows)}" if rows else "before"
            return Sources(refusal=SET_BY_A_CALL.format(text, where))
        if appended:
            filled = FilledSources(
                path_of(node),
                text,
                self._evidence.fills,
                lambda element: self.read(element, depth + 1),
                lambda made: self._definition(made, text, depth, known),
                known is not None or self._evidence.by_name,
                self._evidence.filled_here,
            )
            return filled.read(uses)
        found = self.held(origins(uses), text, depth, known)
        ways = {use.made.path for use in uses}
        if len(ways) > 1 and any(is_beside(way, path) for way in ways):
            # Which of its parts the property gives is not seen: it may be one to be watched.
            found.leaves = merged([_watched(x, text) for x in found.leaves])
        if again:
            sentence = f"nothing that is called here sets `{text}` anew"
            found.leaves = [replace(x, assumption=x.assumption or sentence) for x in found.leaves]
        if found.single is None and not found.nested:
            found.single = self._evidence.single(text, node)
        return found

    def held(
        self, defs: Iterable[Def], text: str, depth: int = 0, known: Trainable | None = None
    ) -> Sources:
        """What ``text`` is, whichever of ``defs`` gave it its value."""
        found = Sources()
        defs = list(defs)
        plains = [self._plain_of(made) for made in defs]
        if defs and all(self._is_number(d, text, p) for d, p in zip(defs, plains, strict=True)):
            here = any(made.kind in _MADE_HERE for made in defs)
            return Sources(refusal=no_tensor(text, None if here else plains[0]))
        singles: set[bool | None] = set()
        listed: set[bool] = set()
        ways = sorted(defs, key=lambda d: d.begin)
        for made in ways:
            part = self._definition(made, text, depth, known)
            found.leaves += part.leaves
            found.refusal = found.refusal or part.refusal
            found.references += part.references
            found.nested |= part.nested
            found.used |= part.used
            singles.add(part.single)
            listed.add(part.listed)
        found.listed = listed == {True}
        if len(ways) > 1:
            found.leaves = beside_variables(found.leaves, text)
        found.leaves = merged(found.leaves)
        found.leaves = if_tensors(found.leaves, text, plains)
        found.single = singles.pop() if len(singles) == 1 else None
        return found

    def _plain_of(self, made: Def) -> Plain | None:
        if made not in self._plains:
            self._plains[made] = self._evidence.plain(made)
        return self._plains[made]

    def _is_number(self, made: Def, text: str, plain: Plain | None) -> bool:
        """Whether it is a number, or an array of such: nothing that a tape could watch."""
        if plain is not None:
            return plain.always
        if made.kind is not Kind.ASSIGN or text_of(made.path) != text or made.value is None:
            return False
        ends = [end for end in _chosen(made.value) if not _is_none(end)]
        return bool(ends) and all(self._kinds.make(end) is Make.PYTHON for end in ends)

    def _sets_anew(self, made: Def, path: Path) -> bool:
        """Whether a call gives the name another value, in a function that declares it shared."""
        return isinstance(made.value, ast.Call) and bool(
            path[:1] and path[0] in self._kinds.effect(made.value).rebinds
        )

    def _definition(self, made: Def, text: str, depth: int, known: Trainable | None) -> Sources:
        """What ``made`` gives; ``known``: what the class of the object tells of its attribute."""
        defs = frozenset({made})
        part = text_of(made.path) != text and is_part(made.path, text)
        if part and made.kind is Kind.AUGMENT and text.endswith("]"):
            return Sources(refusal=FILLED.format(text))
        if part and (variable := self._made.element(made, text)) is not None:
            return variable
        if part and made.kind in _MADE_HERE:
            held = self._parts.of(made, text, known)
            if made.kind is Kind.COMPREHENSION and any(x.watch for x in held.leaves):
                return Sources(refusal=UNWATCHABLE.format(text))
            return held
        if isinstance(made.value, ast.Constant):
            return Sources()  # ``x = None`` is no tensor, and must not be watched
        if made.kind in _OUTSIDE:
            return self._from_outside(made, text)
        if made.kind is Kind.ASSIGN and made.value is not None:
            inner = self._followed.through(made, text, self._place, depth)
            if inner is not None:
                return inner
            return self._made.of(
                made.value, defs, text, lambda n: self._arithmetic.is_number(n, depth)
            )
        if made.kind in _TAKEN_FROM and made.value is not None:
            return self._taken(made, made.value, text, depth)
        if made.kind is Kind.AUGMENT:
            if not part and (joined_variables := self._variables_added(made, text, depth)):
                return joined_variables
            # A list to which something is added, or that is repeated, stays one.
            begun = self._arithmetic.begun(made, depth)
            changes = lineage(made)
            joined = True not in begun and any(isinstance(d.value, ast.List) for d in changes)
            listed = not part and (begun == {False} or joined)
            old = listed and any(map(self._parts.takes_in_old, changes))
            leaf = Leaf(defs, text, outside=old, many=None, found=old)
            return Sources([leaf], False if listed else None)
        make = self._kinds.element(made)
        if make in (Make.VARIABLES, Make.ANY_VARIABLES, Make.VARIABLE):
            return self._made.variables(make, defs, text)
        if made.kind is Kind.ELEMENT and text_of(made.path) == text:
            make = self._evidence.unpacks(made)
            if make is not Make.UNKNOWN:
                return self._made.variables(make, defs, text)
        if made.kind is Kind.ELEMENT and (several := self._made.unpacked(made, text)) is not None:
            return several
        value = made.value
        tensor = isinstance(value, ast.Call) and self._kinds.make(value) is Make.TENSOR
        new = value is not None and self._kinds.is_new(value)
        found = value is not None and self._made.may_find(value)
        found |= made.kind is Kind.ELEMENT and self._kinds.hands_back(made)
        leaf = Leaf(defs, text, new, None, variables=new, fresh=new, found=found)
        return Sources([leaf], True if tensor else None)

    def _variables_added(self, made: Def, text: str, depth: int) -> Sources | None:
        """``params += [w]``: variables that watch themselves, each of them, or None."""
        found = Sources(single=False, listed=True)
        for each in sorted(lineage(made), key=lambda d: d.begin):
            if each.kind is not Kind.AUGMENT:
                given = self._definition(each, text, depth + 1, None)
            elif each.value is not None and _adds(each):
                given = self.read(each.value, depth + 1)
            else:
                return None
            if given.single is not False or given.refusal or given.nested or given.used:
                return None
            if given.references or any(x.watch or not x.variables for x in given.leaves):
                return None
            found.leaves += given.leaves
        found.leaves = merged(found.leaves)
        return found if found.leaves else None

    def _from_outside(self, made: Def, text: str) -> Sources:
        """What a parameter gives, or a name that is made elsewhere."""
        defs = frozenset({made})
        makes = self._evidence.kept_values(made.path)
        if made.kind is Kind.PARAM and makes:
            makes -= {Make.PYTHON}
            if not makes:
                return Sources()  # it is None, whoever calls
        if makes and makes <= {Make.VARIABLES, Make.ANY_VARIABLES}:
            make = Make.VARIABLES if makes == {Make.VARIABLES} else Make.ANY_VARIABLES
            return self._made.variables(make, defs, text)
        if makes == {Make.VARIABLE} and len(made.path) == 1:
            return self._made.variables(Make.VARIABLE, defs, text)
        around = self._evidence.around(made.path) if made.kind is Kind.ENTRY else None
        if around is not None:
            return replace(around, leaves=[replace(renamed(x), defs=defs) for x in around.leaves])
        variables = self._evidence.holds_variables(made.path)
        # Of a module, it may be put there by what is called.
        entry = made.kind is Kind.ENTRY and text.endswith("]") and "." in text
        kept = entry and made.path[0] != self._kinds.self_name
        return Sources([Leaf(defs, text, True, None, variables, looked_up=kept)], None)

    def _taken(self, made: Def, value: ast.expr, text: str, depth: int) -> Sources:
        """What is taken out of ``value``, one by one."""
        defs = frozenset({made})
        if listing := self._lists_of_variables(value):
            new = all(d.value is not None and self._kinds.is_new(d.value) for d in listing)
            found = self._made.variables(Make.VARIABLE, defs | listing, text)
            return replace(found, leaves=[replace(x, fresh=new) for x in found.leaves])
        base = self.read(value, depth + 1)
        if not base.refusal and base.leaves and base.single is not True:
            leaves = [replace(renamed(x), defs=x.defs | defs) for x in base.leaves]
            # What an unknown call gives may hold lists as well as tensors.
            called = base.single is None and any(
                isinstance(d.value, ast.Call) for x in base.leaves for d in x.defs
            )
            over = value.args if isinstance(value, ast.Call) else [value]
            paths = {path_of(part) for part in over}
            # So may what a caller gives, and what objects keep.
            passed = any(
                d.kind is Kind.PARAM and d.path in paths and not x.variables
                for x in base.leaves
                for d in x.defs
            )
            kept = any(d.kind is Kind.ENTRY for x in base.leaves for d in x.defs)
            lists = kept and any(map(self._evidence.holds_lists, over))
            parts = any(d.value and _lists_parts(d.value) for x in base.leaves for d in x.defs)
            unsure = called or passed or lists or parts or base.nested
            return Sources(leaves, None if unsure else True)
        if base.used:
            return base
        if made.kind is Kind.COMPREHENSION:
            return Sources(refusal=UNWATCHABLE.format(text))
        leaf = Leaf(defs, text, outside=False, many=None)
        return Sources([leaf], None if base.nested else True)

    def _lists_of_variables(self, value: ast.expr) -> frozenset[Def]:
        """The calls of this scope that gave it, if they give nothing but lists of variables."""
        path = path_of(value)
        uses = self._flow.reads.get(value, frozenset()) if path is not None else frozenset()
        made = frozenset(use.made for use in uses)
        known = all(
            each.kind is Kind.ASSIGN
            and each.path == path
            and isinstance(each.value, ast.Call)
            and self._evidence.elements(each.value) is Make.VARIABLES
            for each in made
        )
        return made if known else frozenset()


def _drops_any(call: ast.Call) -> bool:
    """Whether what ``filter(None, xs)``, or another function, leaves out need be no tensor."""
    if not isinstance(call.func, ast.Name) or call.func.id != "filter":
        return False
    keeps = call.args[0]
    if not isinstance(keeps, ast.Lambda) or len(keeps.args.args) != 1:
        return True
    return asks_whole(keeps.body, keeps.args.args[0].arg)


def _chosen(value: ast.expr) -> Iterator[ast.expr]:
    """What a conditional expression chooses from, or the value itself."""
    if isinstance(value, ast.IfExp):
        yield from _chosen(value.body)
        yield from _chosen(value.orelse)
    else:
        yield value


def _is_none(value: ast.expr) -> bool:
    return isinstance(value, ast.Constant) and value.value is None


def _is_watched(leaf: Leaf) -> bool:
    return leaf.watch is not None and not leaf.variables


def _is_given_whole(leaf: Leaf) -> bool:
    """Whether it is watched as something that came from outside, or that a call gave."""
    outside = any(d.kind in _OUTSIDE or isinstance(d.value, ast.Call) for d in leaf.defs)
    return _is_watched(leaf) and outside


def _some(holder: ast.expr, test: ast.expr) -> Sources:
    """The elements of a list that a test leaves, where the others need be no tensors."""
    return Sources(refusal=LEFT_OUT.format(ast.unparse(holder), ast.unparse(test)), used=True)


def _lists_parts(value: ast.expr) -> bool:
    """``[agent.weights for agent in agents]``: whether a part of something is listed as it is."""
    match value:
        case ast.ListComp():
            return isinstance(value.elt, ast.Attribute | ast.Subscript)
        case ast.List() | ast.Tuple():
            return any(isinstance(each, ast.Attribute | ast.Subscript) for each in value.elts)
    return False


def _changes(last: list[Def]) -> set[Def]:
    """All changes made in place, one on top of the other, of which these are the last."""
    found: set[Def] = set()
    stack = list(last)
    while stack:
        current = stack.pop()
        if current.kind is Kind.MUTATE and current not in found:
            found.add(current)
            stack += [u.made for u in current.before]
    return found


def _watched(leaf: Leaf, text: str) -> Leaf:
    if leaf.watch is not None or not leaf.outside:
        return leaf
    return replace(leaf, watch=text, assumption=None)


def _is_made_here(made: Def) -> bool:
    """Whether it is more than another name of what came from outside."""
    named = made.value is not None and path_of(made.value) is not None
    return made.kind not in _OUTSIDE and not (made.kind is Kind.ASSIGN and named)


def _is_kept(leaf: Leaf) -> bool:
    return any(d.kind is Kind.ENTRY for d in leaf.defs)


def _adds(made: Def) -> bool:
    return isinstance(made.stmt, ast.AugAssign) and isinstance(made.stmt.op, ast.Add)
