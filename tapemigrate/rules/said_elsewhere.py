"""What a file does to variables and operators that holds where another file runs as well."""

from __future__ import annotations

import ast
from collections.abc import Callable

from tapemigrate.patterns import late
from tapemigrate.rules.by_text import ByText
from tapemigrate.rules.callgraph.import_reach import ImportReach
from tapemigrate.rules.finding import Unit
from tapemigrate.rules.getters import CREATING, GETTING, sets_creator, sets_getter
from tapemigrate.rules.indexes import effects_of
from tapemigrate.rules.units import Units
from tapemigrate.source.trees import walk

_REUSE = late(r"reuse(?<!\wreuse)\b|reuse_variables\b|AUTO_REUSE\b|make_template\b")
# Who calls what these stand in, or takes it from there, has variables found again, too.
_HANDED_UP = late(
    r"reuse_variables\s*\(|contextmanager\b|__enter__\b|return[ \t]+[\w.]*\bvariable_scope\("
    r"|[\"\']reuse[\"\']"
)
_OPERATOR = late(r"__r?(?:add|mul|sub|truediv|div|pow|matmul)__")
_COLLECTION = late(r"add_to_collection|collections\s*=")
_LISTING = late(r"def\s+(?:get_)?trainable_variables\b")


class SaidElsewhere:
    """What other files say of one. Each fact is looked for once, when it is asked for."""

    def __init__(self, units: Units) -> None:
        self._files = dict(units.files())
        self._imports: ImportReach | None = None
        self._known: dict[str, frozenset[str]] = {}

    def holds(self, fact: str, filename: str) -> bool:
        """Whether a fact holds in a file because another one has it so."""
        if fact not in self._known:
            self._known[fact] = _FACTS[fact](self) if fact in _FACTS else frozenset()
        return filename in self._known[fact]

    @property
    def imports(self) -> ImportReach:
        """Which file imports which."""
        if self._imports is None:
            self._imports = ImportReach(self._files)
        return self._imports

    def having(self, word: Callable[[str], object]) -> list[str]:
        """The files in whose text something stands."""
        return [name for name, file in self._files.items() if word(file.text)]

    def told(self, fact: ByText[bool], name: str) -> bool:
        """Whether a fact follows from a file by itself."""
        return bool(fact.of(self._files[name]))

    def text(self, name: str) -> str:
        """The text of a file."""
        return self._files[name].text


def _under_getters(files: SaidElsewhere) -> frozenset[str]:
    mentioning = files.having(lambda text: GETTING in text)
    found = [name for name in mentioning if files.told(_SETS_GETTER, name)]
    return files.imports.around(found).union(mentioning) if found else frozenset(mentioning)


def _under_creators(files: SaidElsewhere) -> frozenset[str]:
    mentioning = files.having(lambda text: CREATING in text)
    found = [name for name in mentioning if files.told(_SETS_CREATOR, name)]
    return files.imports.around(found).union(mentioning) if found else frozenset(mentioning)


def _reusing(files: SaidElsewhere) -> frozenset[str]:
    found = files.having(_REUSE.search)
    if not found:
        return frozenset()
    above = files.imports.importing(n for n in found if _HANDED_UP.search(files.text(n)))
    return above | files.imports.imported({*found, *above})


def _filling(files: SaidElsewhere) -> frozenset[str]:
    found = [n for n in files.having(_COLLECTION.search) if files.told(_FILLS, n)]
    return files.imports.around(found) if found else frozenset()


def _operating(files: SaidElsewhere) -> frozenset[str]:
    found = [n for n in files.having(_OPERATOR.search) if files.told(_OPERATES, n)]
    return files.imports.around(found) if found else frozenset()


def _listing(files: SaidElsewhere) -> frozenset[str]:
    found = [n for n in files.having(_LISTING.search) if files.told(_LISTS_OTHERS, n)]
    return files.imports.around(found) | frozenset(found) if found else frozenset()


_FACTS: dict[str, Callable[[SaidElsewhere], frozenset[str]]] = {
    "under_getters": _under_getters,
    "under_creators": _under_creators,
    "reuses_variables": _reusing,
    "fills_trainable": _filling,
    "has_operators": _operating,
    "lists_others": _listing,
}


def _lists_others(unit: Unit) -> bool:
    """Whether a method that is named after trainable variables gives others, by its text."""
    return any(
        _gives(function)
        and not any(_means_trainable(node) for stmt in function.body for node in walk(stmt))
        for function in unit.definitions
        if function.name in ("get_trainable_variables", "trainable_variables")
    )


def _gives(function: ast.AST) -> bool:
    return any(isinstance(n, ast.Return) and n.value is not None for n in walk(function))


def _means_trainable(node: ast.AST) -> bool:
    word = getattr(node, "attr", getattr(node, "id", getattr(node, "value", "")))
    return isinstance(word, str) and "trainable" in word.lower()


_SETS_GETTER = ByText(sets_getter)
_SETS_CREATOR = ByText(sets_creator)
_FILLS: ByText[bool] = ByText(lambda unit: effects_of(unit).fills_trainable)
_OPERATES: ByText[bool] = ByText(lambda unit: effects_of(unit).has_operators)
_LISTS_OTHERS = ByText(_lists_others)
