"""Which imported thing a name means at a place of a file.

Names are resolved as Python does it: by scope (parameters, assignments, comprehension variables and
class attributes hide imports), by ``global`` and ``nonlocal``, and, within one scope, by order. An
assignment of an imported thing (``tfe = tf.contrib.eager``) carries its meaning on.
"""

from __future__ import annotations

import ast
import builtins
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, cast

from tapemigrate.indirect import imported_by_call, string_step
from tapemigrate.scopes import (
    Binding,
    Bound,
    Guard,
    Scope,
    Scopes,
    place_of,
)
from tapemigrate.source.points import Point, begin, end

ReferenceKind = Literal["import", "alias", "getattr", "star", "uncertain", "either"]

TENSORFLOW_MODULES = ("tensorflow", "tensorflow.compat.v2", "tensorflow.compat.v1")

# What files that get their names from a star import of their own code mean by these names.
_CONVENTIONAL = {
    "tf": "tensorflow",
    "tfe": "tensorflow.contrib.eager",
    "np": "numpy",
    **{name: name for name in ("json", "os", "pickle", "sys")},
}

# What may mean an imported thing by other ways than a name, or a chain of attributes.
_STEPS = frozenset({ast.Call, ast.Subscript, ast.IfExp})

# What nobody has asked about yet; None: it means nothing that is imported.
_UNASKED = object()

# Longer chains of assignments from name to name are taken for no import.
_MAX_ALIAS_STEPS = 40


@dataclass(frozen=True, slots=True)
class _Meaning:
    path: str
    kind: ReferenceKind


@dataclass(frozen=True, slots=True)
class _State:
    """What a name means at a point; ``other``: or something that is not imported."""

    meaning: _Meaning | None
    other: bool

    def settle(self) -> _Meaning | None:
        if self.meaning is not None and self.other:
            return _Meaning(self.meaning.path, "uncertain")
        return self.meaning


_UNBOUND = _State(None, False)


class Names:
    """The meaning of every name in ``tree``, asked for by the nodes of that very tree.

    ``handed_on`` tells what modules of one's own have of TensorFlow: ``"helper.tf"``.
    """

    def __init__(self, tree: ast.Module, handed_on: Mapping[str, str] | None = None) -> None:
        self._tree = tree  # keeps the identities of its nodes alive
        self._handed_on = handed_on or {}
        self._scopes = Scopes(tree, self._handed_on)
        # What a name means after its first, second, … binding, as far as it has been asked for.
        self._prefixes: dict[tuple[int, str], list[_State]] = {}
        # What it means when its scope has run to the end.
        self._final: dict[tuple[int, str], _Meaning | None] = {}
        # What has been asked for; of what means the same, one holds for all.
        self._known: dict[ast.expr, _Meaning | None] = {}
        self._same: dict[tuple[str, str], _Meaning] = {}
        stars = self._scopes.stars
        self._may_mean = self._scopes.imported | _CONVENTIONAL.keys()
        self._stars_may_mean = bool(self._handed_on) or any(
            each.split(".")[0] == "tensorflow" for each in stars
        )
        self._references: list[tuple[ast.expr, str]] | None = None
        self._children: dict[int, list[Scope]] | None = None
        self._bound: dict[ast.AST, frozenset[str]] = {}

    def qualified(self, expr: ast.expr) -> str | None:
        """The dotted path, as imports write it, of what ``expr`` means there; None if not imported.

        A relative import keeps its dots: ``from .ops import grad`` gives ``.ops.grad``.
        """
        meaning = self._meant(expr)
        return meaning.path if meaning else None

    def reference_kind(self, expr: ast.expr) -> ReferenceKind | None:
        """How ``expr`` gets to what it means; None where ``qualified`` is None.

        ``alias``: through an assigned name. ``getattr``: through a string. ``star``: the name comes
        from a star import. ``uncertain``: the name may mean something else as well. ``either``: it
        is imported from one module of the user's or from another.
        """
        meaning = self._meant(expr)
        return meaning.kind if meaning else None

    def references(self) -> Iterator[tuple[ast.expr, str]]:
        """Every longest chain (``a.b.c``, also by ``getattr``) that means an imported thing."""
        if self._references is None:
            meant = ((chain, self._meant(chain)) for chain in self._scopes.chains)
            self._references = [(chain, each.path) for chain, each in meant if each is not None]
        return iter(self._references)

    def _meant(self, expr: ast.expr) -> _Meaning | None:
        # Most names of a file mean nothing, and they are asked about very often.
        root: ast.AST = expr
        while root.__class__ is ast.Attribute:
            root = root.value
        if root.__class__ is ast.Name:
            if root.id not in self._may_mean and not self._stars_may_mean:
                return None
        elif root.__class__ not in _STEPS:
            return None
        known = self._known.get(expr, _UNASKED)
        if known is not _UNASKED:
            return cast("_Meaning | None", known)
        found = self._meaning(expr, 0)
        if found is not None:
            found = self._same.setdefault((found.path, found.kind), found)
        self._known[expr] = found
        return found

    def imported(self) -> Iterator[tuple[ast.alias, str]]:
        """The names of the import statements, and what they mean."""
        return ((alias, path) for alias, path, _ in self._scopes.imports)

    def reexports(self) -> Iterator[tuple[ast.alias, str]]:
        """The imported names that the file itself never reads, and what they mean."""
        read = self._scopes.read
        for alias, path, name in self._scopes.imports:
            if name not in read:
                yield alias, path

    @property
    def stars(self) -> Sequence[str]:
        """The modules of which the file imports all names."""
        return self._scopes.stars

    def starred(self, name: ast.Name) -> tuple[str, ...]:
        """The paths by which star imports of one's own modules may bring what nothing here binds.

        The import that stands last comes first: it is the one in force if it brings the name.
        """
        if not self._scopes.stars or hasattr(builtins, name.id) or self._is_bound(name):
            return ()
        return tuple(
            f"{module}{'' if module.endswith('.') else '.'}{name.id}"
            for module in reversed(self._scopes.stars)
            if module.split(".")[0] != "tensorflow"
        )

    def _is_bound(self, name: ast.Name) -> bool:
        scope: Scope | None = self._scopes.of_name.get(name)
        while scope is not None:
            if scope.bindings.get(name.id):
                return True
            scope = scope.parent
        return False

    def alias_definition(self, expr: ast.expr) -> str | None:
        """The name to which ``expr``, the right side of an assignment, is given; None elsewhere."""
        return self._scopes.aliases.get(expr)

    def tensorflow_alias(self, expr: ast.expr) -> str | None:
        """The name by which the TensorFlow module can be reached where ``expr`` stands."""
        root = _first_name(expr)
        if root is None or root not in self._scopes.of_name:
            return None
        if self._is_tensorflow(root.id, root):
            return root.id
        scope: Scope | None = self._scopes.of_name[root]
        found: dict[str, str] = {}
        while scope is not None:
            for name in scope.imported:
                meaning = self._lookup(name, root, 0)
                if meaning is not None and meaning.kind != "uncertain":
                    found.setdefault(meaning.path, name)
            scope = scope.parent
        for path in TENSORFLOW_MODULES:
            if path in found:
                return found[path]
        return "tf" if self._is_tensorflow("tf", root) else None

    def is_v1(self, name: str, expr: ast.expr) -> bool:
        """Whether ``name`` is the module ``tensorflow.compat.v1`` where ``expr`` stands."""
        root = _first_name(expr)
        meaning = self._lookup(name, root, 0) if root in self._scopes.of_name else None
        return meaning is not None and meaning.path == "tensorflow.compat.v1"

    def bound_names(self, scope_node: ast.AST) -> frozenset[str]:
        """The names that a new local of the module, class, function or lambda must not take."""
        if scope_node not in self._bound:
            self._bound[scope_node] = self._bound_names(self._scopes.of_node[scope_node])
        return self._bound[scope_node]

    def _bound_names(self, scope: Scope) -> frozenset[str]:
        # Children first, without recursion: a scope's descendants stand behind it in this list.
        inside = self._inside()
        order = [scope]
        for each in order:
            order += inside.get(id(each), ())
        free: dict[int, set[str]] = {}
        for each in reversed(order):
            names = set(each.used)
            for child in inside.get(id(each), ()):
                names |= free[id(child)]
            if each is not scope and each.kind != "class":
                names.difference_update(each.bindings)
            names.update(each.escaping)
            free[id(each)] = names
        return frozenset(free[id(scope)] | scope.bindings.keys())

    def _inside(self) -> dict[int, list[Scope]]:
        """The scopes right inside each, by its id."""
        if self._children is None:
            # Scopes know those around them only: no circle of references keeps a tree alive.
            self._children = {}
            for scope in self._scopes.every:
                if scope.parent is not None:
                    self._children.setdefault(id(scope.parent), []).append(scope)
        return self._children

    def _is_tensorflow(self, name: str, root: ast.Name) -> bool:
        meaning = self._lookup(name, root, 0)
        return meaning is not None and meaning.path in TENSORFLOW_MODULES

    def _meaning(self, expr: ast.expr, steps: int) -> _Meaning | None:
        if steps > _MAX_ALIAS_STEPS:
            return None
        attributes: list[str] = []
        through_string = False
        while True:
            if isinstance(expr, ast.Attribute):
                attributes.append(expr.attr)
                expr = expr.value
            elif isinstance(expr, ast.Name):
                base = self._lookup(expr.id, expr, steps)
                if base is not None and attributes[-1:] == ["tf"] and self._carries(expr.id, base):
                    attributes.pop()
                    base = _Meaning("tensorflow", base.kind)
                elif base is not None and attributes and self._handed_on:
                    known = self._handed_on.get(f"{base.path}.{attributes[-1]}")
                    if known is not None:
                        attributes.pop()
                        base = _Meaning(known, base.kind)
                break
            elif (by_string := string_step(expr)) is not None:
                expr, attribute = by_string
                attributes.append(attribute)
                through_string = True
            elif isinstance(expr, ast.Call):
                path = imported_by_call(expr)
                base = _Meaning(path, "getattr") if path else None
                break
            elif isinstance(expr, ast.IfExp):
                base = _either(
                    self._meaning(expr.body, steps + 1), self._meaning(expr.orelse, steps + 1)
                )
                break
            else:
                return None
        if base is None:
            return None
        path = ".".join([base.path, *reversed(attributes)]) if attributes else base.path
        return _Meaning(
            path, "getattr" if through_string and base.kind != "uncertain" else base.kind
        )

    def _carries(self, name: str, meaning: _Meaning) -> bool:
        """``H.tf``: whether a module of one's own hands TensorFlow on, by what it is asked for."""
        return name in self._scopes.carriers and meaning.path.split(".")[0] != "tensorflow"

    def _lookup(self, name: str, at: ast.Name, steps: int) -> _Meaning | None:
        """What ``name`` means where the Name node ``at`` stands."""
        scope: Scope | None = self._scopes.of_name.get(at)
        if scope is None:
            return None
        place: Point | None = begin(at)
        first = True
        while scope is not None:
            declared = scope.escaping.get(name)
            if declared == "global" and scope is not self._scopes.module:
                scope, place = self._scopes.module, None
                continue
            if declared != "nonlocal" and (scope.kind != "class" or first):
                bindings = scope.bindings.get(name)
                if bindings and (
                    scope.kind != "class"
                    or any(place is None or binding.place <= place for binding in bindings)
                ):
                    return self._choose(name, scope, bindings, place, steps)
            if scope is self._scopes.module:
                break
            if scope.kind == "function":
                place = None
            scope = scope.parent
            first = False
        return self._from_star(name)

    def may_mean(
        self, at: ast.Name, made: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
    ) -> bool:
        """Whether the name may mean a function or class there, or is bound to others alone."""
        scope: Scope | None = self._scopes.of_name.get(at)
        first = True
        while scope is not None:
            if scope.escaping.get(at.id) == "global":
                scope = self._scopes.module
            bindings = scope.bindings.get(at.id)
            if bindings and (scope.kind != "class" or first):
                return any(binding.place == end(made) for binding in bindings)
            scope, first = scope.parent, False
        return True

    def _from_star(self, name: str) -> _Meaning | None:
        if not self._scopes.stars or hasattr(builtins, name):
            return None
        for module in reversed(self._scopes.stars):
            if module.split(".")[0] == "tensorflow":
                return _Meaning(f"{module}.{name}", "star")
            known = self._handed_on.get(f"{module}{'' if module.endswith('.') else '.'}{name}")
            if known is not None:
                return _Meaning(known, "star")
        conventional = _CONVENTIONAL.get(name)
        return _Meaning(conventional, "star") if conventional else None

    def _choose(
        self,
        name: str,
        scope: Scope,
        bindings: Sequence[Binding],
        place: Point | None,
        steps: int,
    ) -> _Meaning | None:
        """The meaning that ``bindings``, in the order of the file, give a use at ``place``.

        Without a place the use runs later than the scope, and any of them may be in force.
        """
        if name not in scope.imported:
            return None
        if place is None:
            key = (id(scope), name)
            if key not in self._final:
                self._final[key] = None  # an assignment that goes round in a circle means nothing
                state = _UNBOUND
                for binding in bindings:
                    state = self._after(state, binding, False, steps)
                self._final[key] = state.settle()
            return self._final[key]
        count = bisect_right(bindings, place, key=place_of)
        if not count and scope.kind == "function" and len(bindings) == 1:
            count = 1  # a use above the only assignment: a loop
        prefixes = self._prefixes.setdefault((id(scope), name), [_UNBOUND])
        while len(prefixes) <= count:
            made = len(prefixes)
            state = self._after(prefixes[made - 1], bindings[made - 1], True, steps)
            if len(prefixes) == made:
                prefixes.append(state)
        return prefixes[count].settle()

    def _after(self, state: _State, binding: Binding, in_order: bool, steps: int) -> _State:
        """The state once ``binding`` has, or may have, come on top of ``state``."""
        if binding.what is Bound.NOTHING:
            return state
        meaning = self._bound_meaning(binding, steps)
        if in_order and binding.guard is Guard.ALWAYS:
            return _State(meaning, False)
        if meaning is None:
            fallback = binding.guard is Guard.FALLBACK and state.meaning is not None
            return state if fallback else _State(state.meaning, True)
        if state.meaning is None or binding.guard is Guard.ALWAYS:
            return _State(meaning, state.other)
        if binding.guard >= Guard.INSTEAD:
            return _State(_either(state.meaning, meaning), state.other)
        return _State(_either(meaning, state.meaning), state.other)

    def _bound_meaning(self, binding: Binding, steps: int) -> _Meaning | None:
        if isinstance(binding.what, str):
            return _Meaning(binding.what, "import")
        if isinstance(binding.what, ast.expr):
            meaning = self._meaning(binding.what, steps + 1)
            if meaning is not None and meaning.kind == "import":
                return _Meaning(meaning.path, "alias")
            return meaning
        return None


def _either(first: _Meaning | None, second: _Meaning | None) -> _Meaning | None:
    """The meaning of a name that is the one thing or the other, by a condition unknown here.

    Versions of one thing (``tf`` and ``tf.compat.v1``; one function under two paths) do not
    contradict each other.
    """
    if first is None or second is None:
        known = first or second
        return _Meaning(known.path, "uncertain") if known else None
    same = first.path.rpartition(".")[2] == second.path.rpartition(".")[2]
    ours = [m for m in (first, second) if m.path.split(".")[0] == "tensorflow"]
    if first.path in TENSORFLOW_MODULES or second.path in TENSORFLOW_MODULES:
        return first
    if not ours and not (same and _is_of_one_module(first.path, second.path)):
        return _Meaning(first.path, "either")
    if not ours:
        # The shorter path says less of where the module lies.
        return min(first, second, key=lambda each: each.path.lstrip(".").count("."))
    if same and len(ours) != 1:
        return first
    return _Meaning((ours or [first])[0].path, "uncertain")


def _is_of_one_module(first: str, second: str) -> bool:
    """Whether two paths differ in the packages alone: ``ops.grad`` and ``lib.ops.grad``."""
    one, two = (f".{path.lstrip('.')}" for path in (first, second))
    return one.endswith(two) or two.endswith(one) or one.split(".")[-2:] == two.split(".")[-2:]


def _first_name(expr: ast.expr) -> ast.Name | None:
    for node in ast.walk(expr):
        if isinstance(node, ast.Name):
            return node
    return None
