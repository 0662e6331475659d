"""Lists that are made empty, and filled with variables as layers make them."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from enum import IntEnum, auto

from tapemigrate.flow.definitions import Def, Kind
from tapemigrate.flow.paths import Path, text_of
from tapemigrate.tape.leaf import Leaf, Sources, where_passed
from tapemigrate.tape.ops.syntax import VARIABLES_BY_NAME


class Filling(IntEnum):
    """What a function puts into a list, or a dict, that it is handed."""

    NOTHING = auto()
    NEW_VARIABLES = auto()
    VARIABLES = auto()
    UNSEEN = auto()
    ANYTHING = auto()


Fills = Callable[[ast.Call, Path], Filling]


def added(call: ast.expr) -> list[ast.expr] | None:
    """What ``x.append(a)`` or ``x.extend([a, b])`` puts in; None where other elements may come."""
    if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute)):
        return None
    if len(call.args) != 1 or call.keywords:
        return None
    put_in = call.args[0]
    if call.func.attr == "append":
        return [put_in]
    if call.func.attr == "extend" and isinstance(put_in, ast.List | ast.Tuple):
        return None if any(isinstance(e, ast.Starred) for e in put_in.elts) else put_in.elts
    return None


def of_variables(
    found: Sources, seen: Iterable[Def], text: str, whole: bool = False
) -> Sources | None:
    """The list as trainable variables, if what is seen to be put in is that, or has a name.

    ``found`` is what the list is seen to hold, ``seen`` are its definitions. Functions that are
    handed the list, or the object that keeps it, put in more: it is assumed to be of the kind.
    ``whole``: nothing else can be put in than what is seen. By its name, each is watched alone.
    """
    own = [d for d in seen if text_of(d.path) == text and d.kind is not Kind.MUTATE]
    passed = where_passed(text)
    shown = [leaf for leaf in found.leaves if leaf.watch != text and leaf.assumption != passed]
    if found.refusal or not own or not shown or not (whole or VARIABLES_BY_NAME.search(text)):
        return None
    named = [leaf for leaf in shown if leaf.watch is not None]
    rest = [leaf for leaf in shown if leaf.watch is None]
    if not rest or not all(is_empty(d) for d in own):
        return None
    if any(not leaf.variables or leaf.assumption for leaf in rest):
        return None
    sentence = None if whole else f"`{text}` holds trainable variables"
    leaf = Leaf(frozenset(), None, True, True, variables=True, assumption=sentence)
    return Sources([leaf, *named], False, None, listed=True)


def is_empty(made: Def) -> bool:
    """Whether it is an empty list."""
    return isinstance(made.value, ast.List) and not made.value.elts
