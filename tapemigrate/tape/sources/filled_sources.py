"""What the sources of a gradient call are, where they are lists that the code fills."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable

from tapemigrate.flow.changers import CHANGERS
from tapemigrate.flow.definitions import Def, Kind, Use
from tapemigrate.flow.paths import Path, text_of
from tapemigrate.source.points import begin
from tapemigrate.tape.leaf import Leaf, Sources, assuming, beside_variables, merged
from tapemigrate.tape.sources.filled_lists import Filling, Fills, added, is_empty, of_variables
from tapemigrate.tape.sources.made_sources import FRESH

#: Why an element, or a part of an object, cannot be told before the code runs.
FILLED = "`{}` may hold something else than what is seen here"
# Methods after which a list holds what it held, or what the call shows.
_ADDS_NO_OTHERS = frozenset({"append", "remove", "pop", "clear", "sort", "reverse", "discard"})


class FilledSources:
    """A list that was filled by ``append``: its elements are what was appended."""

    def __init__(
        self,
        path: Path | None,
        text: str,
        fills: Fills,
        element: Callable[[ast.expr], Sources],
        definition: Callable[[Def], Sources],
        known: bool = False,
        filled_here: Callable[[Path], bool] = lambda path: False,
    ) -> None:
        """``element`` tells what was put in, ``definition`` what the list was made of.

        ``known``: it is an attribute that the class of its object tells to be variables.
        ``filled_here``: whether nothing but the scope, and what it hands the list to, fills it.
        """
        self._path = path
        self._text = text
        self._fills = fills
        self._element = element
        self._definition = definition
        self._known = known
        self._filled_here = filled_here
        self._found = Sources(single=False, listed=True)
        self._seen: set[Def] = set()
        self._filled: set[ast.stmt] = set()
        self._handed: list[ast.Call] = []
        self._unseen: list[ast.Call] = []
        self._is_list = False
        self._begun: list[Sources] = []
        self._elements: list[Leaf] = []

    def read(self, uses: Iterable[Use]) -> Sources:
        """What the list holds where ``uses`` reach it."""
        stack = [u.made for u in uses]
        while stack:
            made = stack.pop()
            if made in self._seen:
                continue
            self._seen.add(made)
            if made.kind is Kind.MUTATE:
                stack.extend(u.made for u in made.before)
                self._change(made)
            else:
                self._begin(made)
        return self._told()

    def _change(self, made: Def) -> None:
        call = made.value
        elements = None if call is None else added(call)
        if elements is not None:
            self._is_list = True
            for each in elements:
                part = self._element(each)
                if part.refusal == FRESH:
                    part.refusal = (
                        f"`{ast.unparse(each)}` is put into `{text_of(made.path)}`, and has no "
                        "name by which a tape could watch it"
                    )
                self._add(part)
                self._elements += part.leaves
                self._found.references += part.references
                self._found.nested |= part.single is False
        elif (call is None or _changes_otherwise(call)) and made.stmt is not None:
            self._filled.add(made.stmt)
        elif self._path is not None and made.path == self._path and isinstance(call, ast.Call):
            filling = self._fills(call, self._path)
            if filling is Filling.ANYTHING:
                self._handed.append(call)
            elif filling is Filling.UNSEEN:
                self._unseen.append(call)
            elif filling is not Filling.NOTHING:
                new = filling is Filling.NEW_VARIABLES
                leaf = Leaf(frozenset(), None, True, True, variables=True, fresh=new)
                self._found.leaves.append(leaf)
                self._is_list = True

    def _begin(self, made: Def) -> None:
        part = self._definition(made)
        self._begun.append(part)
        self._found.nested |= part.nested
        self._add(Sources([], refusal=part.refusal) if is_empty(made) else part)
        if part.single is True:
            self._found.single = True

    def _add(self, part: Sources) -> None:
        self._found.leaves += part.leaves
        self._found.refusal = self._found.refusal or part.refusal
        self._found.used |= part.used

    def _told(self) -> Sources:
        found, text = self._found, self._text
        if not self._is_list and found.single is False:
            if any(part.single is None for part in self._begun):
                # What a call may have changed need be no list.
                found.single, found.listed = None, False
        # What is put in beside variables is seen, and is what it is by its own name.
        ways = zip(found.leaves, beside_variables(found.leaves, text), strict=True)
        found.leaves = merged([one if one in self._elements else way for one, way in ways])
        parted = any(d.path != self._path and is_part(d.path, text) for d in self._seen)
        handed = self._handed and found.single is False and not found.refusal
        if (parted or handed) and not self._filled:
            variables = of_variables(found, self._seen, text, self._is_whole())
            if variables is not None:
                return variables
        if parted and self._known and not self._filled and _are_variables(found):
            found.listed = all(part.listed for part in self._begun)
        elif parted:
            found.refusal = found.refusal or FILLED.format(text)
        elif handed:
            # Of a tensor that a function puts in, no tape knows before it is used there.
            filler = _first_called(self._handed)
            found.refusal = f"`{filler}(…)` may put more into `{text}` than what is seen here"
        if self._unseen and any(isinstance(d.value, ast.List) for d in self._seen):
            sentence = f"`{_first_called(self._unseen)}` puts nothing into `{text}`"
            found.leaves = [assuming(x, sentence) for x in found.leaves]
        if self._filled:
            # Elements that were put in later: what is watched is the container as it then is.
            statements = frozenset(self._filled)
            whole = Leaf(frozenset(self._seen), text, False, None, filled=statements)
            element = any(is_part(d.path, text) for d in self._seen)
            if element or any(x.watch != text for x in found.leaves):
                found.refusal = f"`{text}` gets other elements than those it was made of"
            found.leaves, found.single = [whole], None
        return found

    def _is_whole(self) -> bool:
        """Whether nothing can have been put in but what was seen."""
        if self._handed or self._unseen or self._path is None:
            return False
        # Of its object as it came, the attribute is not there yet.
        own = (self._path, self._path[:1])
        begun = all(d.kind is Kind.MUTATE or d.path in own for d in self._seen)
        return begun and self._filled_here(self._path)


def is_part(path: Path, text: str) -> bool:
    """Whether ``text`` is an element or an attribute of ``path``."""
    return text.startswith((text_of(path) + ".", text_of(path) + "["))


def _are_variables(found: Sources) -> bool:
    """Whether it is variables that a tape watches by itself, whatever methods do meanwhile."""
    return bool(found.leaves) and all(x.variables and x.watch is None for x in found.leaves)


def _changes_otherwise(call: ast.expr) -> bool:
    return (
        isinstance(call, ast.Call)
        and isinstance(call.func, ast.Attribute)
        and call.func.attr in CHANGERS - _ADDS_NO_OTHERS
    )


def _first_called(calls: list[ast.Call]) -> str:
    return ast.unparse(min(calls, key=begin).func)
