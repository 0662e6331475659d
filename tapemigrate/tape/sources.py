"""What the sources of a gradient call are: which tensors or variables, and where they come from."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable
from dataclasses import replace

from tapemigrate.flow.definitions import Def, Kind, Use
from tapemigrate.flow.defuse import Flow
from tapemigrate.flow.paths import Path, path_of, text_of
from tapemigrate.flow.slices import origins
from tapemigrate.tape.built_late import BuiltLate
from tapemigrate.tape.filled_lists import Filling, Fills
from tapemigrate.tape.filled_sources import FILLED, FilledSources, is_part
from tapemigrate.tape.kinds import Kinds, Make
from tapemigrate.tape.leaf import (
    TRAINABLE,
    Leaf,
    Making,
    Sources,
    Trainable,
    all_trainable,
    assuming,
    beside_variables,
    merged,
    renamed,
    taken_for_variables,
)
from tapemigrate.tape.made_sources import FRESH, KindEvidence, MadeSources
from tapemigrate.tape.symbols import filters, flattens
from tapemigrate.tape.syntax import PARAMETERS_BY_NAME

TrainableEvidence = Callable[[ast.Attribute], "Trainable | None"]
Segment = Callable[[ast.expr], str]
# Whether one of some calls may set an attribute of ``self``.
SetAnew = Callable[[str, Iterable["ast.AST | None"]], bool]

_OUTSIDE = (Kind.PARAM, Kind.ENTRY)
_KNOWN_BEFORE = (Kind.PARAM, Kind.ENTRY, Kind.IMPORT, Kind.FUNCTION, Kind.CLASS)
_TAKEN_FROM = (Kind.LOOP, Kind.COMPREHENSION)
_MADE_HERE = (Kind.ASSIGN, Kind.ELEMENT, Kind.AUGMENT, Kind.WITH, *_TAKEN_FROM)
_DISPLAYS = (ast.List, ast.Dict, ast.Set, ast.ListComp, ast.DictComp)
CHOSEN = (
    "the call itself chooses between sources, which a tape has to watch before they are used; "
    "give what is chosen a name ahead of the forward pass"
)
REPEATED = "unless `{0}` is a number, `{1}` is no list of sources but one tensor"
_LISTERS = frozenset({"list", "tuple", "sorted", "reversed", "set"})


class SourceReader:
    """Resolves the ``xs`` of a call through names, lists, comprehensions and loops."""

    def __init__(
        self,
        flow: Flow,
        kinds: Kinds,
        segment: Segment,
        evidence: KindEvidence,
        holds_variables: Callable[[Path], bool] = lambda path: False,
        kept_values: Callable[[Path], frozenset[Make]] = lambda path: frozenset(),
        gives_variables: Callable[[ast.expr], bool] = lambda node: False,
        set_anew: SetAnew = lambda attribute, calls: False,
        fills: Fills = lambda call, path: Filling.NOTHING,
        trainable: TrainableEvidence = lambda node: None,
        making: Callable[[Def], Making] = lambda made: Making(False, False, False),
        by_name: bool = False,
        filled_here: Callable[[Path], bool] = lambda path: False,
    ) -> None:
        """``by_name``: parts of objects out of sight that are called so are taken for variables.

        ``filled_here``: whether nothing but the scope, and what it calls, fills a list.
        """
        self._flow = flow
        self._kinds = kinds
        self._segment = segment
        self._evidence = evidence
        self._holds_variables = holds_variables
        self._kept_values = kept_values
        self._gives_variables = gives_variables
        self._made = MadeSources(flow, kinds, evidence, gives_variables)
        self._set_anew = set_anew
        self._fills = fills
        self._trainable = trainable
        self._making = making
        self._by_name = by_name
        self._filled_here = filled_here
        self._late = BuiltLate(flow, kinds)
        self._named: dict[tuple[ast.expr, int], Sources] = {}

    def read(self, node: ast.expr, depth: int = 0) -> Sources:
        """What ``node`` stands for at its place."""
        if depth == 0:
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
            case ast.BinOp() if isinstance(node.op, ast.Add):
                joined = self._joined(node, depth)
                if joined is not None:
                    return joined
            case ast.BinOp(op=ast.Mult()):
                if (repeated := self._repeated(node, depth)) is not None:
                    return repeated
            case ast.BinOp(op=ast.Sub() | ast.BitOr() | ast.BitAnd() | ast.BitXor()):
                if (some := self._of_sets(node, depth)) is not None:
                    return some
            case ast.Call():
                return self._call(node, depth)
            case ast.IfExp():
                return self._chosen([node.body, node.orelse], depth)
            case ast.BoolOp():
                return self._chosen(node.values, depth)
            case ast.Constant():
                return Sources(refusal="the source is a Python value, not a tensor")
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
            return Sources(refusal=FRESH)
        # A name that is given its own value again, on several ways, is met once more on each.
        known = self._named.get((node, depth))
        if known is None:
            known = self._named[node, depth] = self._path(node, text_of(path), depth)
        return replace(known, leaves=[*known.leaves], references=[*known.references])

    def _display(self, node: ast.List | ast.Tuple, depth: int) -> Sources:
        found = Sources(single=False, listed=isinstance(node, ast.List))
        for elt in node.elts:
            part = self.read(elt, depth + 1)
            found.leaves += part.leaves
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

    def _joined(self, node: ast.BinOp, depth: int) -> Sources | None:
        """``a + b`` of two lists, None where it is one tensor.

        Nothing depends on a sum of tensors that the call itself makes: there, lists are meant.
        """
        found = Sources(single=False, listed=True)
        for side in (node.left, node.right):
            part = self.read(side, depth + 1)
            if part.single or (part.single is None and depth):
                return None
            if part.single is None:
                part.leaves = [assuming(x, f"`{ast.unparse(side)}` is a list") for x in part.leaves]
            found.leaves += part.leaves
            found.refusal = found.refusal or part.refusal
            found.references += part.references
            found.nested |= part.nested
            found.listed &= part.listed
        return found

    def _repeated(self, node: ast.BinOp, depth: int) -> Sources | None:
        """``a * 2`` of a list, None where it is no list."""
        for side, times in ((node.left, node.right), (node.right, node.left)):
            part = self.read(side, depth + 1)
            if part.used:
                return part
            if part.single is False and self._is_count(times):
                return part
            listed = part.single is False or self._may_be_list(side, depth)
            if listed and not part.refusal:
                return Sources(refusal=REPEATED.format(ast.unparse(times), ast.unparse(node)))
        return None

    def _may_be_list(self, node: ast.expr, depth: int) -> bool:
        """Whether a list was added to it, and it was no tensor: ``ws += [w]``."""
        return any(
            isinstance(made.value, _DISPLAYS) and True not in self._begun(made, depth)
            for made in origins(self._flow.reads.get(node, frozenset()))
            if made.kind is Kind.AUGMENT
        )

    def _of_sets(self, node: ast.BinOp, depth: int) -> Sources | None:
        """``set(a) - set(b)`` of variables, None where it is no set."""
        sides = [self.read(side, depth + 1) for side in (node.left, node.right)]
        if any(side.single is not False or side.refusal for side in sides):
            return None
        leaves = [x for side in sides for x in side.leaves]
        if any(x.watch is not None for x in leaves):
            return Sources(refusal=f"which tensors `{ast.unparse(node)}` holds cannot be seen")
        return Sources(leaves, False)

    def _is_count(self, node: ast.expr) -> bool:
        """Whether it is a number, written out or by a name."""
        made = origins(self._flow.reads.get(node, frozenset()))
        if made and all(d.kind is Kind.ASSIGN and d.path == path_of(node) for d in made):
            return all(d.value is not None and self._is_whole(d.value) for d in made)
        return self._is_whole(node)

    def _is_whole(self, node: ast.expr) -> bool:
        return self._kinds.make(node) is Make.PYTHON and not any(
            isinstance(n, ast.Constant) and isinstance(n.value, float) for n in ast.walk(node)
        )

    def _comprehension(self, node: ast.ListComp | ast.GeneratorExp, depth: int) -> Sources:
        generator = node.generators[0]
        same = (
            len(node.generators) == 1
            and isinstance(node.elt, ast.Name)
            and isinstance(generator.target, ast.Name)
            and node.elt.id == generator.target.id
        )
        if same:
            base = self.read(generator.iter, depth + 1)
            return Sources(
                base.leaves, False, base.refusal, True, nested=base.nested, used=base.used
            )
        part = self.read(node.elt, depth + 1)
        nested = part.single is False
        return Sources(part.leaves, False, part.refusal, True, part.references, nested, part.used)

    def _call(self, node: ast.Call, depth: int) -> Sources:
        func = node.func
        if (given := self._listed(node)) is not None:
            base = self.read(given, depth + 1)
            listed = not isinstance(func, ast.Name) or func.id in ("list", "sorted")
            return Sources(
                base.leaves, False, base.refusal, listed, nested=base.nested, used=base.used
            )
        if isinstance(func, ast.Name) and func.id in ("zip", "enumerate"):
            parts = [self.read(a, depth + 1) for a in node.args]
            leaves = [x for p in parts if not p.refusal for x in p.leaves]
            return Sources(leaves, False, nested=any(p.nested for p in parts))
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
            node, frozenset(), self._segment(node), lambda n: self._is_number(n, depth)
        )

    def _listed(self, call: ast.Call) -> ast.expr | None:
        """What the call lists, some of it or all: ``list(x)``, ``filter(f, x)``."""
        if not call.args or any(isinstance(a, ast.Starred) for a in call.args):
            return None
        if filters(self._kinds.name(call.func)):
            return call.args[0]
        name = call.func.id if isinstance(call.func, ast.Name) else ""
        if name == "filter" and len(call.args) == 2 and self._kinds.called(call) is None:
            return call.args[1]
        if len(call.args) != 1:
            return None
        listing = name in _LISTERS or flattens(self._kinds.name(call.func))
        return call.args[0] if listing else None

    def _is_number(self, node: ast.expr, depth: int) -> bool:
        """Whether arithmetic gives a tensor: a list can only be added, or multiplied by a count."""
        if isinstance(node, ast.BinOp):
            whole = not isinstance(node.op, ast.Add | ast.Mult)
            return whole or any(self._is_number(s, depth) for s in (node.left, node.right))
        if isinstance(node, ast.Constant):
            return isinstance(node.value, float)
        return isinstance(node, ast.UnaryOp) or self.read(node, depth + 1).single is True

    def _path(self, node: ast.expr, text: str, depth: int) -> Sources:
        uses = self._flow.reads.get(node)
        if not uses:
            return Sources(refusal=f"`{text}` is not defined where the call reads it")
        if isinstance(node, ast.Attribute) and self._gives_variables(node):
            return self._made.variables(Make.VARIABLES, frozenset())
        known = self._trainable(node) if isinstance(node, ast.Attribute) else None
        if known is not None and not any(_is_made_here(d) for d in origins(uses)):
            sentence = None if known.sure else taken_for_variables(text)
            many = not known.single
            leaf = Leaf(frozenset(), None, True, many, variables=True, assumption=sentence)
            return Sources([leaf], known.single, None, known.listed)
        # Parts that were read on their own (``theta[2]``), or what a property may compute of what
        # else its object holds, are no sources of their own.
        path = path_of(node) or ()
        uses = frozenset(
            use
            for use in uses
            if use.made.kind is not Kind.ENTRY or use.made.path == path[: len(use.made.path)]
        )
        uses, again = self._set_here(uses, path)
        found = Sources()
        singles: set[bool | None] = set()
        listed: set[bool] = set()
        appended = [u.made for u in uses if u.made.kind is Kind.MUTATE]
        if appended:
            filled = FilledSources(
                path_of(node),
                text,
                self._fills,
                lambda element: self.read(element, depth + 1),
                lambda made: self._definition(made, text, depth, known),
                known is not None or self._by_name,
                self._filled_here,
            )
            return filled.read(uses)
        for made in sorted(origins(uses), key=_place):
            part = self._definition(made, text, depth, known)
            found.leaves += part.leaves
            found.refusal = found.refusal or part.refusal
            found.references += part.references
            found.nested |= part.nested
            found.used |= part.used
            singles.add(part.single)
            listed.add(part.listed)
        found.listed = listed == {True}
        found.leaves = merged(beside_variables(found.leaves, text))
        if again:
            sentence = f"nothing that is called here sets `{text}` anew"
            found.leaves = [replace(x, assumption=x.assumption or sentence) for x in found.leaves]
        found.single = singles.pop() if len(singles) == 1 else None
        if found.single is None and not found.nested:
            found.single = self._evidence(text, node)
        return found

    def _set_here(self, uses: frozenset[Use], path: Path) -> tuple[frozenset[Use], bool]:
        """What the function itself gave ``self.x``, and whether a method might do so as well.

        A call of a method changes its object; whether it changes this attribute, its class tells.
        """
        made = origins(uses)
        own = frozenset(d for d in made if d.path == path and d.kind not in _OUTSIDE)
        changed = [u.made for u in uses if u.made.kind is Kind.MUTATE and u.made.path == path]
        listed = any(isinstance(d.value, _DISPLAYS) for d in own)
        filled = any(_is_filled(d) for d in changed) or (changed and listed)
        if listed and any(u.made.kind is Kind.MUTATE for u in uses):
            # Methods that are called may put something into a list as well.
            filled = filled or self._kinds.fills(path[-1].lstrip("."), self._flow.scope)
        if not own or filled or len(path) != 2 or path[0] != self._kinds.self_name:
            return uses, False
        if any(d.path == path for d in made - own):
            return uses, False
        calls = [d.value for d in _changes(uses)]
        again = own != made and self._set_anew(path[1].lstrip("."), calls)
        return frozenset(Use(d) for d in own), again

    def _definition(self, made: Def, text: str, depth: int, known: Trainable | None) -> Sources:
        """What ``made`` gives; ``known``: what the class of the object tells of its attribute."""
        defs = frozenset({made})
        part = text_of(made.path) != text and is_part(made.path, text)
        if part and made.kind is Kind.AUGMENT and text.endswith("]"):
            return Sources(refusal=FILLED.format(text))
        if part and (variable := self._made.element(made, text)) is not None:
            return variable
        if part and made.kind in _MADE_HERE:
            # A part of an object that was made here: its variables are as new as it is.
            named = made.value is not None and path_of(made.value) is not None
            named = named or isinstance(made.value, ast.Subscript)
            new = (
                made.value is None or _is_object(made.value) or not self._made.may_find(made.value)
            )
            new = new and not named
            late = self._part_built_late(made, text, known) or self._part_known(made, text, known)
            attribute = text[len(text_of(made.path))] == "."
            called_so = self._by_name and self._is_called_variables(made, text)
            if called_so and (late is None or late.refusal):
                leaf = Leaf(frozenset(), None, True, True, variables=True, found=True)
                return Sources([assuming(leaf, taken_for_variables(text))], None)
            if late is None:
                leaf = Leaf(defs, text, True, None, True, fresh=new, found=not new)
                late = Sources([leaf], None)
            return self._with_its_making(late, made, text) if attribute else late
        if isinstance(made.value, ast.Constant):
            return Sources()  # ``x = None`` is no tensor, and must not be watched
        if made.kind in _OUTSIDE:
            makes = self._kept_values(made.path)
            if made.kind is Kind.PARAM and makes:
                makes -= {Make.PYTHON}
                if not makes:
                    return Sources()  # it is None, whoever calls
            if makes and makes <= {Make.VARIABLES, Make.ANY_VARIABLES}:
                trainable = None if makes == {Make.VARIABLES} else all_trainable(text)
                leaf = Leaf(defs, None, True, True, variables=True, assumption=trainable)
                return Sources([leaf], False, None, True)
            if makes == {Make.VARIABLE} and len(made.path) == 1:
                return self._made.variables(Make.VARIABLE, defs)
            variables = self._holds_variables(made.path)
            return Sources([Leaf(defs, text, True, None, variables)], None)
        if made.kind is Kind.ASSIGN and made.value is not None:
            inner = self._through(made, text, depth)
            if inner is not None:
                return inner
            return self._made.of(made.value, defs, text, lambda n: self._is_number(n, depth))
        if made.kind in _TAKEN_FROM and made.value is not None:
            base = self.read(made.value, depth + 1)
            if not base.refusal and base.leaves and base.single is not True:
                leaves = [replace(renamed(x), defs=x.defs | defs) for x in base.leaves]
                # What an unknown call gives may hold lists as well as tensors.
                called = base.single is None and any(
                    isinstance(d.value, ast.Call) for x in base.leaves for d in x.defs
                )
                over = made.value.args if isinstance(made.value, ast.Call) else [made.value]
                paths = {path_of(part) for part in over}
                # So may what a caller gives.
                passed = any(
                    d.kind is Kind.PARAM and d.path in paths and not x.variables
                    for x in base.leaves
                    for d in x.defs
                )
                return Sources(leaves, None if called or passed or base.nested else True)
            if base.used:
                return base
            if made.kind is Kind.COMPREHENSION:
                return Sources(refusal=f"`{text}` is made where nothing can watch it")
            return Sources([Leaf(defs, text, outside=False, many=None)], True)
        if made.kind is Kind.AUGMENT:
            # A list to which something is added, or that is repeated, stays one.
            listed = not part and self._begun(made, depth) == {False}
            return Sources([Leaf(defs, text, outside=False, many=None)], False if listed else None)
        make = self._kinds.element(made)
        if make in (Make.VARIABLES, Make.VARIABLE):
            return self._made.variables(make, defs)
        if made.kind is Kind.ELEMENT and (several := self._made.unpacked(made, text)) is not None:
            return several
        value = made.value
        tensor = isinstance(value, ast.Call) and self._kinds.make(value) is Make.TENSOR
        new = value is not None and self._kinds.is_new(value)
        found = value is not None and self._made.may_find(value)
        found |= made.kind is Kind.ELEMENT and self._kinds.hands_back(made)
        leaf = Leaf(defs, text, new, None, variables=new, fresh=new, found=found)
        return Sources([leaf], True if tensor else None)

    def _begun(self, made: Def, depth: int) -> set[bool | None]:
        """What was there before the first change in place: single tensors, lists, or either."""
        begun = [d for d in _lineage(made) if d.kind not in (Kind.AUGMENT, Kind.MUTATE)]
        return {self._definition(d, text_of(d.path), depth + 1, None).single for d in begun}

    def _part_built_late(self, made: Def, text: str, known: Trainable | None) -> Sources | None:
        """A part of an object that is there only once the object was called, after the watching."""
        owner = text_of(made.path)
        part = text[len(owner) :]
        attribute = re.split(r"[.\[]", part)[1]
        if not part.startswith(".") or not self._late.may_be(made, attribute):
            return None
        if known is not None and known.single:
            return None
        whole = part == f".{attribute}"
        leaf = Leaf(frozenset({made}), None, True, None, variables=True, fresh=True)
        of_library = self._late.is_of_library(made)
        if whole and attribute in TRAINABLE:
            sure = of_library or (known is not None and known.sure)
            sentence = None if sure else taken_for_variables(text)
            listed = self._late.lists(made) or (known is not None and known.listed)
            return Sources([replace(leaf, many=True, assumption=sentence)], False, None, listed)
        sentence = f"`{text}` is a trainable variable"
        if whole and attribute in ("variables", "weights"):
            sentence = all_trainable(text)
        elif not of_library:
            return Sources(
                refusal=f"`{text}` may be set only where `{owner}` is called, and a tape has to "
                "watch it before"
            )
        return Sources([replace(leaf, assumption=sentence)], None)

    def _part_known(self, made: Def, text: str, known: Trainable | None) -> Sources | None:
        """A part of an object that was made here, which its class tells to be variables."""
        if known is None or not isinstance(made.value, ast.Call):
            return None
        leaf = Leaf(
            frozenset({made}),
            None,
            outside=True,
            many=not known.single,
            variables=True,
            fresh=True,
            assumption=None if known.sure else taken_for_variables(text),
        )
        return Sources([leaf], known.single, None, known.listed)

    def _is_called_variables(self, made: Def, text: str) -> bool:
        """Whether a part has the name of variables, and no class tells what it is."""
        attribute = text.rpartition(".")[2]
        return PARAMETERS_BY_NAME.search(attribute) is not None and not self._making(made).seen

    def _with_its_making(self, part: Sources, made: Def, text: str) -> Sources:
        """Variables of an object, where its making may have used them: then it is recorded, too."""
        if not isinstance(made.value, ast.Call) or part.refusal:
            return part
        making = self._making(made)
        if not making.quiet and any(leaf.watch is not None for leaf in part.leaves):
            if not self._late.runs(made):
                return part
            owner = text_of(made.path)
            reason = f"`{owner}` may use `{text}` while it is made, where nothing can watch it"
            return Sources(refusal=reason, used=True)
        leaves = [
            replace(
                leaf,
                defs=leaf.defs if making.quiet else leaf.defs - {made},
                fresh=leaf.fresh and making.new,
                found=leaf.found or not making.new,
            )
            for leaf in part.leaves
        ]
        return replace(part, leaves=leaves)

    def _through(self, made: Def, text: str, depth: int) -> Sources | None:
        """A name given to something that is itself worth following."""
        value = made.value
        defs = frozenset({made})
        if isinstance(value, ast.List | ast.Tuple | ast.ListComp | ast.Dict):
            found = self.read(value, depth + 1)
            if found.refusal and found.used:
                return found
            if found.refusal or any(not x.defs and _is_unknown(x) for x in found.leaves):
                # Its elements have no names of their own: the list is what is used, and watched.
                # What an unknown call gives may be what it was given.
                outside = any(
                    isinstance(n, ast.Call) and self._kinds.make(n) is Make.UNKNOWN
                    for n in ast.walk(value)
                )
                leaf = Leaf(defs, text, outside, True, found=self._made.may_find(value))
                return Sources([leaf], False, None, not isinstance(value, ast.Tuple))
            # Variables that are made in the list are read by its name, and so from there on.
            found.leaves = [
                replace(x, defs=defs) if x.fresh and not x.defs else x for x in found.leaves
            ]
            return found
        if isinstance(value, ast.BoolOp | ast.IfExp):
            found = self.read(value, depth + 1)
            if found.leaves and not found.refusal and all(x.variables for x in found.leaves):
                found.leaves = [replace(x, defs=x.defs | defs) for x in found.leaves]
                return found
        if value is not None and path_of(value) is not None:
            found = self.read(value, depth + 1)
            if len(found.leaves) == 1 and found.single is not False:
                leaf = found.leaves[0]
                if not leaf.defs and leaf.watch is None:
                    return found  # variables of which nothing here is the definition
                shown = text if text.isidentifier() else leaf.watch
                shown = shown if leaf.watch is not None else None
                both = leaf.defs | defs
                alias = replace(renamed(leaf), defs=both, watch=shown)
                return Sources([alias], found.single, found.refusal)
            return found
        if isinstance(value, ast.Call) and self._listed(value) is not None:
            found = self.read(value, depth + 1)
            if all(x.defs or (x.watch is None and not _is_unknown(x)) for x in found.leaves):
                return found
            # Its elements have no names of their own: the list is what is used, and watched.
            return Sources([Leaf(defs, text, True, True, found=True)], False, found.refusal)
        if isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute):
            if value.func.attr == "values" and not value.args:
                return self.read(value, depth + 1)
        if isinstance(value, ast.BinOp):
            found = self.read(value, depth + 1)
            if isinstance(value.op, ast.Add):
                return found if found.single is False and not found.refusal else None
            return None if found.refusal == FRESH else found
        if isinstance(value, ast.IfExp):
            found = self.read(value, depth + 1)
            return found if found.leaves and not found.refusal else None
        if isinstance(value, ast.Subscript) and isinstance(value.slice, ast.Slice):
            found = self.read(value.value, depth + 1)
            return found if found.single is False and not found.refusal else None
        return None


def _changes(uses: Iterable[Use]) -> set[Def]:
    """All changes in place that the values may have gone through, one after the other."""
    found: set[Def] = set()
    pending = list(uses)
    while pending:
        made = pending.pop().made
        if made.kind is Kind.MUTATE and made not in found:
            found.add(made)
            pending += made.before
    return found


def _lineage(made: Def) -> set[Def]:
    """A change in place, the changes before it, and what they began with."""
    found: set[Def] = set()
    pending = [made]
    while pending:
        each = pending.pop()
        if each not in found:
            found.add(each)
            pending += [use.made for use in each.before]
            if each.kind is Kind.AUGMENT:
                pending += [use.made for use in each.uses if use.made.path == each.path]
    return found


def _is_filled(made: Def) -> bool:
    """Whether the object's own method, or an assignment to an element, changes it."""
    call = made.value
    if not isinstance(call, ast.Call):
        return True
    return isinstance(call.func, ast.Attribute) and path_of(call.func.value) == made.path


def _place(made: Def) -> tuple[int, int]:
    return (made.stmt.lineno, made.stmt.col_offset) if made.stmt is not None else (0, 0)


def _is_made_here(made: Def) -> bool:
    """Whether it is more than another name of what came from outside."""
    named = made.value is not None and path_of(made.value) is not None
    return made.kind not in _OUTSIDE and not (made.kind is Kind.ASSIGN and named)


def _is_unknown(leaf: Leaf) -> bool:
    """Whether it need not be a variable, for what a call out of sight gives may be anything."""
    return not leaf.variables or (leaf.many is None and leaf.assumption is not None)


def _is_kept(leaf: Leaf) -> bool:
    return any(d.kind is Kind.ENTRY for d in leaf.defs)


def _is_object(value: ast.expr) -> bool:
    """Whether what is called has the name of a class."""
    path = path_of(value.func) if isinstance(value, ast.Call) else None
    return path is not None and path[-1].lstrip(".")[:1].isupper()
