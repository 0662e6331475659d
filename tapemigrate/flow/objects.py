"""Which objects names mean, and hold: what is put into one by one name is there by the others.

An object is told by the definition that makes it, or by which it came into the scope.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Iterator, Mapping, Set

from tapemigrate.flow.definitions import Def, Kind, Use, Uses
from tapemigrate.flow.paths import Path, names_class, path_of
from tapemigrate.source.trees import arguments_of

_DISPLAYS = (ast.List, ast.Tuple, ast.Dict, ast.Set, ast.ListComp, ast.DictComp, ast.SetComp)
_CHOICES = (ast.IfExp, ast.BoolOp, ast.NamedExpr, ast.Starred)
_LISTERS = frozenset(
    {"list", "tuple", "dict", "set", "sorted", "reversed", "zip", "enumerate", "copy"}
)
_TAKERS = frozenset({"get", "setdefault", "pop", "popleft", "popitem"})
_CHOOSERS = frozenset({"next", "iter", "min", "max"})
_VIEWS = frozenset({"ChainMap"})
_CONTAINERS = _LISTERS | {"OrderedDict", "defaultdict", "deque"}
_GIVING = frozenset({"vars", "values", "items"}) | _LISTERS | _TAKERS | _CHOOSERS
_NAMING = (*_DISPLAYS, *_CHOICES, ast.Name, ast.Attribute, ast.Subscript, ast.BinOp)
# What reads so many definitions keeps them.
_MANY = 8
_NO_OBJECTS = (Kind.FUNCTION, Kind.CLASS, Kind.IMPORT, Kind.EXCEPT)


class Objects:
    """Looks through the definitions of one scope, whose reads are ``reads``."""

    def __init__(self, reads: Mapping[ast.AST, Uses]) -> None:
        self._reads = reads
        # Other paths than the one that a definition was made for.
        self._paths: dict[Def, set[Path]] = {}
        self._changed: dict[Def, set[Def]] = {}
        self._held: dict[Def, dict[ast.expr, Def]] = {}
        # What expressions read that read many: definitions of their own path, and of what is above.
        self._made: dict[ast.AST, tuple[Uses, frozenset[Def], frozenset[Def]]] = {}

    def bound(self, made: Def) -> None:
        """Takes note of a definition, by which an object may have one more name."""
        for each in self.reached({Use(made)}, made.path) if _may_name(made) else ():
            self._is_also_at(made.path, each)

    def changed(self, made: Def, before: Collection[Use], put: Iterable[ast.expr] = ()) -> None:
        """Takes note that ``before`` changed in place; ``put`` is what it may hold from then on."""
        put = [value for value in put if _may_be_named(value)]
        for each in self.meant(before, made.path) if put else ():
            self._held.setdefault(each, {}).update(dict.fromkeys(put, made))
        for value in put:
            search = self._search((), made.path)
            search.value(value, made)
            for each in search.found:
                self._is_also_at(made.path, each)
        known = self._changed.setdefault(made, set())
        for use in before:
            known |= self._changed.get(use.made, {use.made})
        for each in known:
            self._is_also_at(made.path, each)

    def names(self, objects: Iterable[Def]) -> list[Path]:
        """The paths that meant one of the objects, or held one, at some time."""
        found: dict[Path, None] = {}
        for each in objects:
            found.update(dict.fromkeys(sorted({each.path, *self._paths.get(each, ())})))
        return list(found)

    def _is_also_at(self, path: Path, made: Def) -> None:
        if path != made.path:
            self._paths.setdefault(made, set()).add(path)

    def meant(self, uses: Iterable[Use], path: Path, owned: bool = True) -> set[Def]:
        """The objects that ``path`` may mean, which reads ``uses``.

        ``owned``: a part that an object has made itself is told by the object.
        """
        return self._search(uses, path, owned=owned).found

    def reached(self, uses: Iterable[Use], path: Path, owned: bool = True) -> set[Def]:
        """The same, and the objects that these hold."""
        found: set[Def] = set()
        for each in self._all_reached(uses, path, owned=owned):
            found |= each
        return found

    def reaches(self, uses: Iterable[Use], path: Path, objects: Set[Def]) -> bool:
        """Whether one of the objects is among what ``path`` may mean, or among what that holds."""
        return any(not objects.isdisjoint(each) for each in self._all_reached(uses, path, objects))

    def _all_reached(
        self, uses: Iterable[Use], path: Path, goals: Set[Def] = frozenset(), owned: bool = True
    ) -> Iterator[Set[Def]]:
        search = self._search(uses, path, goals, owned)
        found = search.found
        yield found
        search.goals = {each for each in goals if is_object(each)}
        stack = list(found)
        while stack:
            search.found = set()
            search.go({stack.pop()}, True)
            new = {d for d in search.found if is_object(d)} - found
            found |= new
            stack += new
            yield new

    def _search(
        self, uses: Iterable[Use], path: Path, goals: Set[Def] = frozenset(), owned: bool = True
    ) -> _Search:
        search = _Search(self._reads, self._changed, self._held, self._made, goals, owned)
        search.go_for(uses, path)
        return search


class _Search:
    """Goes from definitions to the objects they mean, through each of them once.

    Of a definition, a part may be meant, or it as a whole. What is new to it is told by sets of
    definitions: where many names swap many objects, each may mean each. It may stop once it has
    found one of ``goals``.
    """

    def __init__(
        self,
        reads: Mapping[ast.AST, Uses],
        changed: Mapping[Def, set[Def]],
        held: Mapping[Def, Mapping[ast.expr, Def]],
        made: dict[ast.AST, tuple[Uses, frozenset[Def], frozenset[Def]]],
        goals: Set[Def],
        owned: bool,
    ) -> None:
        self._owned = owned
        self.found: set[Def] = set()
        self._reads = reads
        self._changed = changed
        self._held = held
        self._made = made
        self.goals = goals
        self._wholes: set[Def] = set()
        self._parts: set[Def] = set()
        self._pending: list[tuple[Def, bool]] = []

    def go_for(self, uses: Iterable[Use], path: Path) -> None:
        """Finds what ``path`` may mean, which reads ``uses``."""
        made, above = _made_of(uses, path)
        self._add(made, False)
        self.go(above, True)

    def go(self, made: Set[Def], part: bool) -> None:
        """Finds what the definitions mean, or parts of them."""
        self._add(made, part)
        while self._pending and not (self.goals and self.goals & self.found):
            self._definition(*self._pending.pop())

    def value(self, node: ast.expr, made: Def) -> None:
        """Finds what an expression means, which ``made`` is given."""
        self._value(node, False, made)
        self.go(set(), False)

    def _add(self, made: Set[Def], part: bool) -> None:
        seen = self._parts if part else self._wholes
        if new := made - seen:
            seen |= new
            self._pending += [(each, part) for each in new]

    def _definition(self, made: Def, part: bool) -> None:
        if made.kind in _NO_OBJECTS:
            return
        for value, by in self._held.get(made, {}).items() if part else ():
            self._value(value, False, by)
            self._value(value, True, by)
        if made.kind is Kind.MUTATE:
            if made in self._changed:
                self._add(self._changed[made], part)
        elif made.kind is Kind.AUGMENT:
            self._add({use.made for use in made.uses if use.made.path == made.path}, part)
        elif made.value is None:
            self.found.add(made)
        else:
            self._value(made.value, part or made.kind is not Kind.ASSIGN, made)

    def _read(self, node: ast.expr, path: Path, part: bool) -> None:
        """Goes on with what the expression reads."""
        uses = self._reads.get(node)
        if uses is None:
            return
        known = self._made.get(node)
        if known is None or known[0] is not uses:
            known = (uses, *_made_of(uses, path))
            if len(uses) > _MANY:
                self._made[node] = known
        self._add(known[1], part)
        self._add(known[2], True)

    def _value(self, node: ast.expr, part: bool, made: Def) -> None:
        if isinstance(node, ast.Attribute) and node.attr == "__dict__":
            node = node.value
        path = path_of(node)
        if path is not None:
            self._read(node, path, part)
            return
        parts: list[ast.expr] = []
        inner = False
        match node:
            case ast.IfExp():
                parts, inner = [node.body, node.orelse], part
            case ast.BoolOp():
                parts, inner = node.values, part
            case ast.NamedExpr() | ast.Starred():
                parts, inner = [node.value], part
            case ast.Subscript(value=ast.List() | ast.Tuple() as taken, slice=place) if (
                not isinstance(place, ast.Slice)
            ):
                parts, inner = taken.elts, part
            case ast.Subscript():
                parts, inner = [node.value], True
            case ast.Call(func=ast.Name(id="vars"), args=[owner]):
                parts, inner = [owner], part
            case ast.Call(func=ast.Attribute(value=owner, attr="values" | "items"), args=[]):
                parts, inner = [owner], True
            case ast.Call(func=ast.Attribute(value=owner, attr=attr)) if attr in _TAKERS:
                # An element; one that was made for it goes by the name of the whole.
                self._value(owner, True, made)
                parts, inner = [owner, *arguments_of(node)], part
            case ast.Call(func=ast.Name(id=name)) if name in _CHOOSERS:
                parts, inner = arguments_of(node), True
                for each in parts:
                    self._value(each, part, made)
            case ast.Call() if not part and _name(node) in _VIEWS:
                # What is put into the view gets into the first of those that are behind it.
                self.found.add(made)
                parts = arguments_of(node)
            case _ if not part:
                self.found.add(made)
            case ast.Call(func=ast.Attribute(value=owner, attr="copy"), args=[]):
                parts, inner = [owner], True  # what it holds is in both
            case ast.Call() if not (is_object(made) or _makes_object(node)):
                self.found.add(made)  # a part of what a function gave, whatever that is
            case _:
                parts, inner = self._contained(node, made)
        for each in parts:
            self._value(each, inner, made)

    def _contained(self, node: ast.expr, made: Def) -> tuple[list[ast.expr], bool]:
        """What a container holds that is made here, and whether as parts of these."""
        match node:
            case ast.List() | ast.Tuple() | ast.Set():
                for each in node.elts:
                    if isinstance(each, ast.List | ast.Tuple):
                        # ``for a, b in [(c, d)]`` takes what its elements hold.
                        self._value(each, True, made)
                return node.elts, False
            case ast.Dict():
                return node.values, False
            case ast.ListComp() | ast.SetComp():
                return [node.elt], False
            case ast.DictComp():
                return [node.value], False
            case ast.BinOp(op=ast.Add()):
                return [node.left, node.right], True
            case ast.Call() if is_object(made) or _makes_object(node):
                inner = _name(node) in _LISTERS
                if self._owned and names_class(_name(node)):
                    self.found.add(made)  # what it made itself, ``net.gate``, goes by its name
                    for each in arguments_of(node):
                        if isinstance(each, (*_DISPLAYS, ast.Call)):
                            self._value(each, True, made)  # ``Net([gate])``
                for keyword in node.keywords:  # ``dict(key=value)``
                    self._value(keyword.value, keyword.arg is None and inner, made)
                return node.args, inner
        return [], False


def is_object(made: Def) -> bool:
    """Whether it is a container, or what the call of a class has made, and no tensor."""
    if made.kind is not Kind.ASSIGN:
        return False
    if isinstance(made.value, ast.Call):
        return _makes_object(made.value)
    return isinstance(made.value, _DISPLAYS)


def _makes_object(call: ast.Call) -> bool:
    return _name(call) in _CONTAINERS or names_class(_name(call))


def repeats(made: Def) -> bool:
    """Whether all elements of a container are one and the same: ``[[]] * n``."""
    match made.value:
        case (
            ast.BinOp(op=ast.Mult(), left=ast.List() as one)
            | ast.BinOp(op=ast.Mult(), right=ast.List() as one)
        ):
            return not all(isinstance(each, ast.Constant) for each in one.elts)
        case ast.Call(func=ast.Attribute(attr="fromkeys"), args=[_, _]):
            return True
    return False


def calls_one_of(made: Def, names: Set[str]) -> bool:
    """Whether it is what the call of one of ``names`` gives."""
    return isinstance(made.value, ast.Call) and _name(made.value) in names


def _may_name(made: Def) -> bool:
    """Whether the definition may be another name of an object, or hold one."""
    return is_object(made) or (made.value is not None and _may_be_named(made.value))


def _may_be_named(value: ast.expr) -> bool:
    """Whether the value may be what has a name, or hold that."""
    if isinstance(value, ast.Call):
        return _name(value) in _GIVING or _makes_object(value)
    return isinstance(value, _NAMING)


def _name(call: ast.Call) -> str:
    path = path_of(call.func)
    return path[-1].lstrip(".") if path is not None else ""


def _made_of(uses: Iterable[Use], path: Path) -> tuple[frozenset[Def], frozenset[Def]]:
    """The definitions of what ``path`` reads: those of itself, and of what it is a part of.

    What a function reads that has the name is read with it, and is no object that the name means.
    """
    own = [u.made for u in uses if u.made.path[0] == path[0] or u.made.kind is Kind.MUTATE]
    above = frozenset(made for made in own if len(made.path) < len(path))
    return frozenset(made for made in own if len(made.path) >= len(path)), above
