"""What a call is differentiated by, as plain data: the tensors and variables among its sources."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field, replace

from tapemigrate.flow.definitions import Def
from tapemigrate.flow.paths import Path, path_of, text_of


@dataclass(frozen=True, slots=True)
class Lent:
    """A call that is handed the tape, as ``parameter``: ``name`` watches the source it makes."""

    call: ast.Call
    parameter: str
    name: str


@dataclass(frozen=True, slots=True)
class Leaf:
    """One tensor, variable, or list of them that is differentiated by.

    ``watch`` is the expression to watch, None where the tape watches by itself. ``outside`` means
    that it was made out of sight, so that hidden paths may lead from it to the target. ``fresh``:
    nothing that was there when the scope was entered can depend on it. ``filled``: statements that
    put other elements into it. ``looked_up``: it is an element of something that is kept outside,
    and that the forward pass may fill. ``found``: a call gave it, which may have found variables
    that are used elsewhere as well. ``lent``: the call that makes it, and watches it there.
    ``now``: what still has its value where the name that it had has been given another one.
    """

    defs: frozenset[Def]
    watch: str | None
    outside: bool
    many: bool | None
    variables: bool = False
    fresh: bool = False
    filled: frozenset[ast.stmt] = frozenset()
    assumption: str | None = None
    looked_up: bool = False
    found: bool = False
    lent: Lent | None = None
    now: str = ""

    @property
    def is_new(self) -> bool:
        """Whether it is made where the gradient is asked for: what was there before is older."""
        return bool(self.defs) and not (self.outside or self.found or self.variables)

    @property
    def path(self) -> Path | None:
        """What is watched, as a path; None where it is none, or nothing is."""
        return path_of(ast.parse(self.watch, mode="eval").body) if self.watch else None

    @property
    def may_be_tensor(self) -> bool:
        """Whether what is taken for variables is a part of what has a name: watched by that."""
        return self.variables and self.found and self.watch is not None


#: Attributes by which models of TensorFlow, Keras and Sonnet give their trainable variables.
TRAINABLE = frozenset({"trainable_variables", "trainable_weights"})


@dataclass(frozen=True, slots=True)
class Trainable:
    """What such an attribute gives: ``sure`` by the class of its object, ``listed`` as a list.

    ``single``: it is one variable; None where that is unknown.
    """

    sure: bool
    listed: bool
    single: bool | None = False


@dataclass(frozen=True, slots=True)
class Making:
    """What the making of an object did with the variables that it holds.

    ``quiet``: nothing was computed with them. ``new``: no other object has had them before.
    ``seen``: a class of the user's is known to be that of the object. ``computed``: the parts that
    it is seen to compute, or to make anew, so that they are nothing that it was handed.
    """

    quiet: bool
    new: bool
    seen: bool
    computed: frozenset[str] = frozenset()


def taken_for_variables(text: str) -> str:
    """The assumption on a source of which nothing shows what it holds."""
    return f"`{text}` holds trainable variables"


@dataclass(slots=True)
class Sources:
    """The leaves, and whether the expression itself is one tensor (False: a list; None: unknown).

    ``listed``: it is certainly a list, neither a tuple nor anything else that holds several.
    ``nested``: an element of it may be a list itself.
    ``references`` are calls of ``variable._ref()``, which only reference variables have.
    ``used``: what made it may have used it, so that a list of such is no place to watch them.
    """

    leaves: list[Leaf] = field(default_factory=list)
    single: bool | None = None
    refusal: str | None = None
    listed: bool = False
    references: list[ast.Call] = field(default_factory=list)
    nested: bool = False
    used: bool = False


def beside_variables(leaves: list[Leaf], text: str) -> list[Leaf]:
    """The leaves of ``text``: where it is variables on one way, no way to it needs a watch."""
    if all(x.watch is not None for x in leaves):
        return leaves
    return [
        replace(x, watch=None, variables=True, assumption=where_passed(text))
        if x.outside and x.watch is not None
        else replace(x, variables=x.variables or x.outside)
        for x in leaves
    ]


def where_passed(text: str) -> str:
    """What is assumed of ``text`` where the code does not show what it holds."""
    return f"`{text}` holds trainable variables where it is passed"


def assumed_of(sources: Sources) -> list[str]:
    """What is assumed of the sources, each once."""
    return list(dict.fromkeys(x.assumption for x in sources.leaves if x.assumption))


def assuming(leaf: Leaf, assumption: str) -> Leaf:
    """The leaf, if ``assumption`` holds as well."""
    both = f"{leaf.assumption} and {assumption}" if leaf.assumption else assumption
    return replace(leaf, assumption=both)


def renamed(leaf: Leaf) -> Leaf:
    """The leaf under another name: what is known of how its own name was made is left out."""
    return replace(leaf, fresh=False, filled=frozenset(), looked_up=False, lent=None)


def merged(leaves: list[Leaf]) -> list[Leaf]:
    """Several definitions of one name, each made anew, are one source.

    What a name is merely given may be something from which the others were made; that stays apart.
    """
    found: dict[object, Leaf] = {}
    for leaf in leaves:
        own = bool(leaf.defs) and all(text_of(d.path) == leaf.watch for d in leaf.defs)
        key: object = (leaf.watch, leaf.variables) if own else leaf
        other = found.get(key)
        if other is None:
            found[key] = leaf
            continue
        found[key] = replace(
            other,
            defs=other.defs | leaf.defs,
            outside=other.outside or leaf.outside,
            many=other.many if other.many == leaf.many else None,
            fresh=other.fresh and leaf.fresh,
            assumption=other.assumption or leaf.assumption,
            found=other.found or leaf.found,
        )
    return list(found.values())


def all_trainable(text: str) -> str:
    """The assumption on variables of which some need not be watched by themselves."""
    return f"every variable in `{text}` is trainable"
