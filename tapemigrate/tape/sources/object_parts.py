"""Sources that are parts of objects which the scope makes: ``net.kernel``."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from dataclasses import replace

from tapemigrate.flow.definitions import Def, Kind, Use
from tapemigrate.flow.defuse import Flow
from tapemigrate.flow.paths import names_class, path_of, text_of
from tapemigrate.flow.slices import origins
from tapemigrate.source.trees import arguments_of, walk
from tapemigrate.tape.leaf import (
    TRAINABLE,
    Leaf,
    Making,
    Sources,
    Trainable,
    all_trainable,
    assuming,
    taken_for_variables,
)
from tapemigrate.tape.names.same import value_may_be
from tapemigrate.tape.ops.kinds import Kinds
from tapemigrate.tape.ops.syntax import PARAMETERS_BY_NAME
from tapemigrate.tape.sources.built_late import BuiltLate
from tapemigrate.tape.sources.made_sources import MadeSources

_WRITTEN = (
    ast.List,
    ast.Tuple,
    ast.Dict,
    ast.ListComp,
    ast.DictComp,
    ast.GeneratorExp,
    ast.IfExp,
    ast.BoolOp,
    ast.BinOp,
)


class ObjectParts:
    """``making`` tells what the making of an object does.

    ``by_name``: parts of objects out of sight that are called so are taken for variables.
    """

    def __init__(
        self,
        flow: Flow,
        kinds: Kinds,
        made: MadeSources,
        making: Callable[[Def], Making],
        by_name: bool,
    ) -> None:
        self._flow = flow
        self._kinds = kinds
        self._made = made
        self._late = BuiltLate(flow, kinds)
        self._making = making
        self._by_name = by_name

    def of(self, made: Def, text: str, known: Trainable | None) -> Sources:
        """The part ``text`` of what was made; its variables are as new as that is.

        ``known``: what the class of the object tells of its attribute.
        """
        named = made.value is not None and path_of(made.value) is not None
        named = named or isinstance(made.value, ast.Subscript)
        new = made.value is None or _is_object(made.value) or not self._finds(made.value)
        new = new and not named
        late = self._part_built_late(made, text, known) or self._part_known(made, text, known)
        attribute = text[len(text_of(made.path))] == "."
        called_so = self._by_name and self._is_called_variables(made, text)
        if called_so and (late is None or late.refusal):
            leaf = Leaf(frozenset(), None, True, True, variables=True, found=True)
            return Sources([assuming(leaf, taken_for_variables(text))], None)
        if late is None:
            fresh = new and not (attribute and self._may_be_handed(made, text))
            leaf = Leaf(frozenset({made}), text, True, None, True, fresh=fresh, found=not new)
            if made.value is not None and self._holds_old(made.value):
                parts = _has_parts(made.value)
                leaf = Leaf(frozenset({made}), text, True, None, parts, found=parts)
            late = Sources([leaf], None)
        return self._with_its_making(late, made, text) if attribute else late

    def _finds(self, value: ast.expr) -> bool:
        return self._made.may_find(value) or self._made.may_hold_variables(value)

    def takes_in_old(self, made: Def) -> bool:
        """Whether what begins a list, or is added to it, may have been there before."""
        value = made.value
        if value is None:
            return made.kind in (Kind.PARAM, Kind.ENTRY)
        while isinstance(value, ast.Subscript) and isinstance(value.slice, ast.Slice):
            value = value.value
        return self._may_be_old(value) or self._made.may_find(value)

    def _holds_old(self, value: ast.expr) -> bool:
        """Whether a list or dict that is written here takes in what may have been there before."""
        return isinstance(value, _WRITTEN) and self._may_be_old(value)

    def _may_be_old(self, value: ast.expr) -> bool:
        held = (o for d in value_may_be(value, self._flow, self._kinds) for o in origins([Use(d)]))
        return any(
            d.value is None or d.kind is not Kind.ASSIGN or self._made.may_find(d.value)
            for d in held
        )

    def _may_be_handed(self, made: Def, text: str) -> bool:
        """Whether an object is made with what was there before, which may be that part of it."""
        if not isinstance(made.value, ast.Call):
            return False
        part = re.split(r"[.\[]", text[len(text_of(made.path)) :])[1]
        if part in self._making(made).computed:
            return False
        return any(map(self._may_be_old, arguments_of(made.value)))

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


def _has_parts(value: ast.expr) -> bool:
    """Whether parts of objects are listed, which may be variables: ``[net.w for net in nets]``."""
    return any(isinstance(node, ast.Attribute) for node in walk(value))


def _is_object(value: ast.expr) -> bool:
    """Whether what is called has the name of a class."""
    path = path_of(value.func) if isinstance(value, ast.Call) else None
    return path is not None and names_class(path[-1])
