"""What the sources of a gradient call are, where the value of a name shows how they were made."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import replace

from tapemigrate.flow.definitions import Def, Kind
from tapemigrate.flow.defuse import Flow
from tapemigrate.flow.paths import path_of, text_of
from tapemigrate.flow.slices import origins
from tapemigrate.source.trees import walk
from tapemigrate.tape.leaf import Leaf, Sources, all_trainable
from tapemigrate.tape.ops.kinds import Kinds, Make
from tapemigrate.tape.ops.symbols import short
from tapemigrate.tape.ops.syntax import chosen_from, giving
from tapemigrate.tape.sources.source_evidence import KindEvidence

#: Why nothing can be differentiated by what the call itself computes.
FRESH = "the source is made in the call itself, so nothing can depend on it"

# Through how many names it is looked for variables in what is listed.
_DEPTH = 4
_LISTS = frozenset(
    {"split", "unstack", "unpack", "meshgrid", "gradients", "dynamic_partition", "hessians"}
    | {"tuple", "identity_n", "nn.moments", "nn.weighted_moments", "unique", "nn.top_k"}
    | {"linalg.svd", "svd", "linalg.eigh", "self_adjoint_eig", "linalg.qr", "qr"}
    | {"train.batch", "train.shuffle_batch", "train.batch_join", "train.shuffle_batch_join"}
)
# One tensor or several, as the functions are that they call.
_AS_GIVEN = frozenset(
    {"cond", "case", "while_loop", "map_fn", "vectorized_map", "scan", "foldl", "foldr"}
    | {"switch_case", "py_func", "py_function", "numpy_function", "contrib.eager.py_func"}
)
# What they give is made of lists and tuples itself, as ``state`` is where it is an LSTM's.
_NESTING = (
    "clip_by_global_norm",
    "contrib.rnn.",
    "contrib.seq2seq.",
    "nn.bidirectional_",
    "nn.raw_",
)
# They run round by round: what they list is made one from the other.
_UNROLLED = ("nn.static_", "contrib.rnn.static_", "nn.seq2seq.", "contrib.legacy_seq2seq.")
IN_TURN = (
    "of the tensors in `{0}`, `{1}` makes one from another, before a tape could watch that one"
)


class MadeSources:
    """Tells tensors, variables and lists of them by the values that make them."""

    def __init__(
        self,
        flow: Flow,
        kinds: Kinds,
        evidence: KindEvidence,
        listed: Callable[[ast.expr], Make],
        gives_variable: Callable[[ast.expr], bool],
    ) -> None:
        self._flow = flow
        self._kinds = kinds
        self._evidence = evidence
        self._listed = listed
        self._gives_variable = gives_variable

    def of(
        self,
        value: ast.expr,
        defs: frozenset[Def],
        text: str,
        is_number: Callable[[ast.expr], bool],
    ) -> Sources:
        """What ``text`` is, of which ``defs`` give it ``value``; none do where it has no name.

        ``is_number`` tells arithmetic, which gives a tensor, from the joining of lists.
        """
        make = self._kinds.make(value)
        if make is Make.UNKNOWN and isinstance(value, ast.Call):
            make = self._listed(value)
        if make is Make.UNKNOWN and isinstance(value, ast.Call) and self._gives_variable(value):
            make = Make.VARIABLE
        if make in (Make.VARIABLES, Make.ANY_VARIABLES):
            return self.variables(make, defs, text)
        if make is Make.VARIABLE:
            fresh = self._kinds.is_new(value)
            return Sources([Leaf(defs, None, True, False, variables=True, fresh=fresh)], True)
        if make is Make.FROZEN and not defs:
            return Sources(refusal=f"`{text}` may not be trainable, and has no name to watch it by")
        if make is Make.FROZEN:
            fresh = self._kinds.is_new(value)
            return Sources([Leaf(defs, text, True, False, variables=True, fresh=fresh)], True)
        if not defs and make in (Make.TENSOR, Make.LEAF):
            return Sources(refusal=FRESH)
        if isinstance(value, ast.BinOp) and defs:
            return self._sum(value, defs, text, is_number(value))
        if make in (Make.TENSOR, Make.LEAF):
            many = self._is_list(value)
            single = None if many is None else not many
            return Sources([Leaf(defs, text, outside=False, many=many)], single)
        if isinstance(value, ast.Call) and defs and self._kinds.only_computes(value):
            return Sources([Leaf(defs, text, outside=False, many=False)], True)
        if isinstance(value, ast.Call) and self._kinds.makes_object(value):
            maker = ast.unparse(value.func)
            name = self._kinds.tensorflow(value.func) or ""
            if name.lower().endswith("variable"):
                return Sources(
                    refusal=f"`{maker}` may make something else of `{text}` here than a variable "
                    "that a tape watches"
                )
            known = self._kinds.effects.class_named(maker.rpartition(".")[2]) is not None
            what = "is an object of" if known else "is, by the name, an object that is made by"
            return Sources(
                refusal=f"`{text}` {what} `{maker}`, and a tape watches nothing but tensors and "
                "variables"
            )
        if isinstance(value, ast.Call) and _is_builtin_container(value):
            return Sources([Leaf(defs, text, outside=False, many=True)], False)
        if isinstance(value, ast.Call):
            # What an unknown call returns may be new tensors, or variables that live elsewhere.
            fresh = self._kinds.is_new(value)
            seen = self.may_find(value)
            leaf = Leaf(defs, text if defs else None, True, None, not defs, fresh, found=seen)
            if not defs:
                leaf = Leaf(
                    defs,
                    None,
                    outside=True,
                    many=None,
                    variables=True,
                    assumption=f"`{text}` gives trainable variables",
                )
            return Sources([leaf], None)
        if (listed := self._collected(value, defs, text)) is not None:
            return listed
        calls = [giving(each) for each in chosen_from(value)]
        part = any(isinstance(c, ast.Call) and self._kinds.make(c) is Make.UNKNOWN for c in calls)
        leaf = Leaf(defs, text, part, None, found=self.may_find(value))
        if self.may_hold_variables(value):
            # A watch comes too late for those that the forward pass has read.
            leaf = replace(leaf, found=True, assumption=all_trainable(text))
        return Sources([leaf], None)

    def _collected(self, value: ast.expr, defs: frozenset[Def], text: str) -> Sources | None:
        """``{v.name: v for v in tf.global_variables()}``, or one of these: they were there.

        So was ``tf.trainable_variables()[0]``.
        """
        whole = value.value if isinstance(value, ast.Subscript) else value
        match whole:
            case (
                ast.ListComp(elt=element, generators=[rows])
                | ast.SetComp(elt=element, generators=[rows])
                | ast.DictComp(value=element, generators=[rows])
            ) if path_of(element) is not None and path_of(element) == path_of(rows.target):
                make = self.many(rows.iter)
                if make in (Make.VARIABLES, Make.ANY_VARIABLES):
                    one = isinstance(value, ast.Subscript) and not isinstance(
                        value.slice, ast.Slice
                    )
                    every = self.variables(make, defs, text)
                    return _one_of(every) if one else every
            case ast.Call() | ast.Name() if whole is not value:
                make = self.many(whole)
                if make in (Make.VARIABLES, Make.ANY_VARIABLES):
                    return _one_of(self.variables(make, defs, text))
        return None

    def many(self, value: ast.expr) -> Make:
        """Which variables a call lists, or a name that it was given."""
        made = origins(self._flow.reads.get(value, frozenset()))
        named = next(iter(made)) if len(made) == 1 else None
        if named is not None and named.kind is Kind.ASSIGN and named.path == path_of(value):
            value = named.value or value
        make = self._kinds.make(value)
        if make is Make.UNKNOWN and isinstance(value, ast.Call):
            make = self._listed(value)
        return make

    def may_hold_variables(self, value: ast.expr, depth: int = _DEPTH) -> bool:
        """Whether what is listed there may be variables of the graph, trainable or not."""
        parts: list[ast.expr] = []
        match value:
            case ast.Call():
                return self.many(value) is Make.ANY_VARIABLES
            case (
                ast.ListComp(elt=element, generators=rows)
                | ast.SetComp(elt=element, generators=rows)
                | ast.GeneratorExp(elt=element, generators=rows)
                | ast.DictComp(value=element, generators=rows)
            ):
                if self._kinds.make(element) is Make.TENSOR:
                    return False
                parts = [element, *(each.iter for each in rows)]
                parts += [a for r in rows if isinstance(r.iter, ast.Call) for a in r.iter.args]
            case ast.List(elts=elts) | ast.Tuple(elts=elts) | ast.Set(elts=elts):
                parts = elts
            case ast.Dict(values=values):
                parts = values
            case ast.Subscript(value=whole) | ast.Starred(value=whole):
                parts = [whole]
            case ast.BinOp(left=left, right=right):
                parts = [left, right]
            case ast.IfExp(body=body, orelse=orelse):
                parts = [body, orelse]
            case ast.Name() if depth > 0:
                made = origins(self._flow.reads.get(value, frozenset()))
                parts = [d.value for d in made if d.kind is Kind.ASSIGN and d.value is not None]
                depth -= 1
        return any(self.may_hold_variables(part, depth) for part in parts)

    def _is_list(self, value: ast.expr) -> bool | None:
        """Whether an op gives a list, not one tensor; None where that hangs on its arguments."""
        name = short(self._kinds.name(value.func)) if isinstance(value, ast.Call) else None
        return None if name in _AS_GIVEN else name in _LISTS

    def unpacked(self, made: Def, text: str) -> Sources | None:
        """What of an op's results the name is given; None where that is one tensor."""
        value = made.value
        if value is not None and text == text_of(made.path):
            make = self.many(value)
            if make in (Make.VARIABLES, Make.ANY_VARIABLES):
                every = self.variables(make, frozenset({made}), text)
                return every if _is_rest(made) else _one_of(every)
        name = short(self._kinds.name(value.func)) if isinstance(value, ast.Call) else None
        if name is None or not isinstance(value, ast.Call) or text != text_of(made.path):
            return None
        if name.startswith(_UNROLLED) or name in ("nn.rnn", "nn.bidirectional_rnn"):
            return Sources(refusal=IN_TURN.format(text, ast.unparse(value.func)))
        index = _index_of(made)
        if name == "while_loop" and index is not None:
            nested = isinstance(_written_at(_carried(value), index), ast.List | ast.Tuple)
        else:
            nested = name.startswith(_NESTING) or (name == "nn.dynamic_rnn" and index != 0)
        return Sources([Leaf(frozenset({made}), text, False, None)], None) if nested else None

    def element(self, made: Def, text: str) -> Sources | None:
        """``weights["out"]`` of a dict, or list, that was written out: a variable made in there."""
        node = ast.parse(text, mode="eval").body
        if made.kind is not Kind.ASSIGN or not isinstance(node, ast.Subscript):
            return None
        if path_of(node.value) != made.path or not isinstance(node.slice, ast.Constant):
            return None
        value = _written_at(made.value, node.slice.value)
        make = Make.UNKNOWN if value is None else self._kinds.make(value)
        if value is None or make not in (Make.VARIABLE, Make.FROZEN):
            return None
        if not self._kinds.is_new(value):
            return None
        watch = text if make is Make.FROZEN else None
        leaf = Leaf(frozenset({made}), watch, True, False, variables=True, fresh=True)
        return Sources([leaf], True)

    def variables(self, make: Make, defs: frozenset[Def], text: str) -> Sources:
        """Variables, one or a list, that ``text`` stands for; they may have been used before."""
        many = make is not Make.VARIABLE
        leaf = Leaf(defs, None, True, many, variables=True)
        if make is Make.ANY_VARIABLES:
            leaf = replace(leaf, assumption=all_trainable(text))
        return Sources([leaf], not many, None, many)

    def may_find(self, value: ast.expr) -> bool:
        """Whether a call in it may give what was there before: variables that networks read."""
        return any(
            isinstance(n, ast.Call)
            and self._kinds.make(n) is Make.UNKNOWN
            and not self._kinds.is_new(n)
            and not self._kinds.gives_tensors(n)
            for n in walk(value)
        )

    def _sum(self, value: ast.BinOp, defs: frozenset[Def], text: str, number: bool) -> Sources:
        """``a + b + c``: a tensor if one of them is, a list if all are, else the one or the other.

        Lists may hold variables that live elsewhere.
        """
        makes = {self._kinds.make(each) for each in summands(value)}
        if makes & {Make.VARIABLES, Make.ANY_VARIABLES} and isinstance(value.op, ast.Add):
            sentence = all_trainable(text)
            leaf = Leaf(defs, None, True, True, True, found=True, assumption=sentence)
            return Sources([leaf], False, None, True)
        if makes != {Make.UNKNOWN} or not isinstance(value.op, ast.Add) or number:
            return Sources([Leaf(defs, text, outside=False, many=False)], True)
        leaf = Leaf(defs, text, True, None, found=self.may_find(value))
        return Sources([leaf], self._evidence(text, value))


def _one_of(every: Sources) -> Sources:
    """One of some variables."""
    return Sources([replace(leaf, many=False) for leaf in every.leaves], True)


def summands(value: ast.expr) -> list[ast.expr]:
    """What is added up: ``a``, ``b`` and ``c`` of ``a + b + c``."""
    found: list[ast.expr] = []
    while isinstance(value, ast.BinOp) and isinstance(value.op, ast.Add):
        found += summands(value.right)
        value = value.left
    return [value, *found]


def may_give_list(kinds: Kinds, call: ast.Call) -> bool:
    """Whether an op may give a list, or a tuple, and not one tensor."""
    name = short(kinds.name(call.func)) or ""
    return name in _LISTS | _AS_GIVEN or name.startswith(_NESTING + _UNROLLED)


def _index_of(made: Def) -> int | None:
    """At which place of the targets it is assigned to the name stands."""
    target = made.stmt.targets[0] if isinstance(made.stmt, ast.Assign) else None
    elts = target.elts if isinstance(target, ast.Tuple | ast.List) else []
    return next((i for i, e in enumerate(elts) if path_of(e) == made.path), None)


def _is_rest(made: Def) -> bool:
    """Whether the name is given all that others leave: ``first, *rest = weights``."""
    target = made.stmt.targets[0] if isinstance(made.stmt, ast.Assign) else None
    elts = target.elts if isinstance(target, ast.Tuple | ast.List) else []
    return any(isinstance(e, ast.Starred) and path_of(e.value) == made.path for e in elts)


def _carried(loop: ast.Call) -> ast.expr | None:
    """The values that ``tf.while_loop`` starts with."""
    given = loop.args[2] if len(loop.args) > 2 else None
    return next((k.value for k in loop.keywords if k.arg == "loop_vars"), given)


def _written_at(value: ast.expr | None, key: object) -> ast.expr | None:
    """The element of a dict, list or tuple that stands there, if it certainly is that one."""
    match value:
        case ast.Dict():
            written = [k.value for k in value.keys if isinstance(k, ast.Constant)]
            if len(written) == len(value.keys) and [k == key for k in written].count(True) == 1:
                return value.values[[k == key for k in written].index(True)]
        case ast.List() | ast.Tuple() if type(key) is int:
            starred = any(isinstance(e, ast.Starred) for e in value.elts)
            return None if starred or not 0 <= key < len(value.elts) else value.elts[key]
    return None


def _is_builtin_container(call: ast.Call) -> bool:
    return isinstance(call.func, ast.Name) and call.func.id in ("dict", "OrderedDict", "map")
