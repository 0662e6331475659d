"""The rules' data: which symbols they are about, and what their pages say.

The data is one TOML file for each rule, in the top-level ``rules/`` of the repository (``data/``
beside this module once installed). A file is parsed when its page is asked for; what every run
needs of it is in ``tables``, which is made from it.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any, Literal
from unicodedata import normalize

from tapemigrate.patterns import late
from tapemigrate.rules.tables import TABLES

Version = Literal["v1", "v2", "either"]

# The names that an import statement lists before the one looked for, in brackets or without.
_IMPORTED = r"(?:[ \t]*\([^)]*?|(?:[\w \t,]|\\\r?\n)*?)"

#: Where the pages of the rules are; see ``docs/rules``.
#: Where the project lives.
HOME = "https://github.com/tapemigrate/tapemigrate"
_PAGES = f"{HOME}/blob/main/docs/rules"


@dataclass(frozen=True, slots=True)
class Symbol:
    """An API that a rule is about, under one of its import paths.

    Attributes:
        rule: The rule's code.
        api: The name by which the rules know it, whatever the path: ``gradients``.
        version: Whose order of parameters it has: TensorFlow 1's, TensorFlow 2's, or that of the
            TensorFlow which is installed.
        parameters: The names of the parameters in order, by version (``v1``, ``v2``).
        becomes: The path of the TensorFlow 2 symbol that takes its place.
        call: What takes the place of a call without arguments; ``{tf}`` stands for TensorFlow.
        removed: Whether a call that is a statement of its own is deleted.
        instead: What to use where nothing takes its place, for people to read.
        assumes: What must hold for the successor to do the same; empty if it always does.
        positional: How many leading arguments mean the same for the successor; None: all.
        lacks: Keywords that the successor does not take.
    """

    rule: str
    api: str
    version: Version
    parameters: Mapping[str, tuple[str, ...]] = field(default_factory=dict, hash=False)
    becomes: str = ""
    call: str = ""
    removed: bool = False
    instead: str = ""
    assumes: str = ""
    positional: int | None = None
    lacks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Method:
    """A method that a rule is about: its name, and the classes that have it, by every path."""

    rule: str
    name: str
    receivers: frozenset[str]
    parameters: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Example:
    """A pair of programs, as the rule would rewrite the one to the other.

    Attributes:
        before: The program that the rule reports.
        after: What it becomes.
        before_runs: Where ``before`` runs: a v1 ``graph``, one with ``v1-behavior`` (static
            shapes of TensorFlow 1), or ``eager``.
        before_raises: The exception that ``before`` raises instead of giving results.
        in_eager: What ``before`` comes to in eager execution: an exception's name, or ``None``.
        after_runs: Where ``after`` runs.
        outcome: Whether the results are to be equal, or differ because ``before`` is wrong.
        results: The names whose values are compared.
    """

    before: str
    after: str
    before_runs: Literal["graph", "v1-behavior", "eager"] = "eager"
    before_raises: str = ""
    in_eager: str = ""
    after_runs: Literal["graph", "eager"] = "eager"
    outcome: Literal["equal", "differs"] = "equal"
    results: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Rule:
    """What is known about a rule. ``applicability`` holds those that its fixes may have."""

    code: str
    name: str
    summary: str
    applicability: tuple[str, ...]
    under_tf2: str
    what: str
    why: str
    fix_safety: str
    references: tuple[str, ...]
    example: Example | None

    @property
    def url(self) -> str:
        """The address of the rule's page."""
        return url(self.code)


class Prefilter:
    """Tells from a file's bytes, without parsing, whether a rule may have something to say.

    First a few plain substrings, which most files lack; then the patterns for those that it has,
    which tell ``.gradients`` and imports from the mere word.
    """

    def __init__(self, fragments: Iterable[tuple[str, str]]) -> None:
        """Each fragment is a substring and a pattern, of which the pattern holds the substring."""
        fragments = list(fragments)
        literals: list[str] = []
        for literal in sorted({literal for literal, _ in fragments}, key=len):
            if not any(shorter in literal for shorter in literals):
                literals.append(literal)
        # One by one, because a pattern that begins with letters is looked for many times as fast.
        self._patterns = [
            (
                literal.encode(),
                [
                    late(pattern.encode())
                    for pattern in dict.fromkeys(p for longer, p in fragments if literal in longer)
                ],
            )
            for literal in literals
        ]

    def search(self, data: bytes) -> bool:
        """Whether ``data`` has to be parsed."""
        # A generator expression here would cost more than the search for a substring.
        for literal, patterns in self._patterns:
            if literal in data:
                for pattern in patterns:
                    if pattern.search(data) is not None:
                        return True
        return False


def url(code: str) -> str:
    """The address of the page of the rule of that code."""
    return f"{_PAGES}/{code}.md"


def rule(code: str) -> Rule:
    """The rule of that code.

    Raises:
        KeyError: There is no such rule.
    """
    return _rule(code)


def rules() -> tuple[Rule, ...]:
    """All rules, in the order of their codes."""
    return tuple(map(_rule, TABLES))


def codes() -> tuple[str, ...]:
    """The codes of all rules, in order."""
    return tuple(TABLES)


def lookup(qualified: str, aliases: Mapping[str, str] | None = None) -> Symbol | None:
    """The API that is imported from ``qualified``; None if no rule is about it.

    ``aliases`` maps dotted names of a user's own functions to the names (or paths) of the APIs
    that they act as. An alias that begins with other packages than the import, such as
    ``project.ops.grad`` for ``.ops.grad``, is found as well.

    Raises:
        KeyError: An alias that is asked for stands for no known API.
    """
    symbols, unlisted = _symbols()
    symbol = symbols.get(qualified)
    if symbol is not None:
        return symbol
    for below, template in unlisted:
        if qualified.startswith(f"{below}.") and not _known_beside(qualified):
            return replace(template, api=qualified[len(below) + 1 :])
    if aliases:
        relative = qualified.startswith(".")
        for name, api in aliases.items():
            if name == qualified or (relative and f".{name}".endswith(f".{qualified.lstrip('.')}")):
                return known_api(api)
    return None


def is_gradient(symbol: Symbol) -> bool:
    """Whether it is a function that gives gradients, or one that makes such functions."""
    return symbol.rule < "TM116"


def may_name_gradients(text: str) -> bool:
    """Whether names of a text may mean a gradient function, told without parsing it."""
    # Python takes some characters beyond ASCII for others.
    plain = text if text.isascii() else normalize("NFKC", text)
    return any(word in plain and pattern.search(plain) for word, pattern in _gradient_words())


@cache
def _gradient_words() -> tuple[tuple[str, re.Pattern[str]], ...]:
    symbols, _ = _symbols()
    words = {path.rpartition(".")[2] for path, each in symbols.items() if is_gradient(each)}
    return tuple((word, late(rf"{word}(?<!\w{word})\b")) for word in sorted(words))


def known_api(name: str) -> Symbol:
    """The API with that canonical name or path, as the target of a user's alias.

    Raises:
        KeyError: There is none.
    """
    symbols, _ = _symbols()
    if name in symbols:
        return symbols[name]
    for symbol in symbols.values():
        if symbol.api == name:
            return symbol
    raise KeyError(name)


def symbols() -> Mapping[str, Symbol]:
    """The APIs that rules are about, by path."""
    return _symbols()[0]


def methods() -> Mapping[str, Method]:
    """The methods that rules are about, by name."""
    return _methods()


@cache
def prefilter(aliases: tuple[str, ...] = ()) -> Prefilter:
    """The filter for the symbols of all rules and for a user's ``aliases``."""
    symbols, unlisted = _symbols()
    outside = {
        path.rpartition(".")[2]
        for path in symbols
        if not any(path.startswith(f"{below}.") for below, _ in unlisted)
    }
    fragments: list[tuple[str, str]] = []
    for word in sorted(outside, key=lambda word: (-len(word), word)):
        # The look behind stands after the word, so that the search can hop to the word's letters.
        fragments.append((word, rf"{word}(?<=[.\"']{word})\b"))
    alternatives = "|".join(sorted(outside))
    fragments.extend(
        (word, rf"tensorflow[\w.]*\s+import\b{_IMPORTED}\b(?:{alternatives})\b")
        for word in sorted(outside)
    )
    fragments.append(("import *", r"tensorflow[\w.]*\s+import\s*\*"))
    for below, _ in unlisted:
        parent, _, last = below.rpartition(".")
        package = parent.rpartition(".")[2]
        fragments.append((package, rf"{package}\.{last}\b"))
        fragments.append((package, rf"{package}\s+import\b{_IMPORTED}\b{last}\b"))
    # The name that files use which get it from a star import of their own code.
    fragments.append(("tfe.", r"tfe(?<=\btfe)\."))
    for data in TABLES.values():
        fragments.extend((word, rf"{word}\b") for word in data.get("words", ()))
    for alias in aliases:
        last = re.escape(alias.rpartition(".")[2])
        fragments.append((alias.rpartition(".")[2], rf"{last}\b"))
    return Prefilter(fragments)


def _read(code: str) -> dict[str, Any]:
    if code not in TABLES:
        raise KeyError(code)
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    here = os.path.dirname(os.path.realpath(__file__))
    folder = os.path.join(here, "data")
    if not os.path.isdir(folder):
        folder = os.path.join(os.path.dirname(os.path.dirname(here)), "rules")
    with open(os.path.join(folder, f"{code}.toml"), "rb") as stream:
        data: dict[str, Any] = tomllib.load(stream)
    return data


@cache
def _rule(code: str) -> Rule:
    data = _read(code)
    example = data.get("example")
    return Rule(
        code=data["code"],
        name=data["name"],
        summary=data["summary"],
        applicability=tuple(data["applicability"]),
        under_tf2=data["under_tf2"],
        what=data["what"].strip(),
        why=data["why"].strip(),
        fix_safety=data["fix_safety"].strip(),
        references=tuple(data["references"]),
        example=Example(**{"results": (), **example}) if example else None,
    )


@cache
def _symbols() -> tuple[Mapping[str, Symbol], list[tuple[str, Symbol]]]:
    """The symbols by path, and those that stand for whatever is not listed below a path."""
    found: dict[str, Symbol] = {}
    unlisted = []
    for code, data in TABLES.items():
        for entry in data.get("symbols", ()):
            parameters = {
                version: tuple(names) for version, names in entry.get("parameters", {}).items()
            }
            for version, where in _places(entry, data.get("modules", ())):
                found[where] = Symbol(
                    rule=code,
                    api=entry["api"],
                    version=version,
                    parameters=parameters,
                    becomes=entry.get("becomes", ""),
                    call=entry.get("call", ""),
                    removed=entry.get("removed", False),
                    instead=entry.get("instead", ""),
                    assumes=entry.get("assumes", ""),
                    positional=entry.get("positional"),
                    lacks=tuple(entry.get("lacks", ())),
                )
        if "unlisted" in data:
            entry = data["unlisted"]
            symbol = Symbol(code, "", "v1", instead=entry["instead"])
            unlisted.append((entry["below"], symbol))
    return found, unlisted


@cache
def _modules() -> frozenset[str]:
    """The modules in which symbols are listed, and those above them."""
    found = set()
    for path in _symbols()[0]:
        module = path.rpartition(".")[0]
        while module and module not in found:
            found.add(module)
            module = module.rpartition(".")[0]
    return frozenset(found)


def _known_beside(qualified: str) -> bool:
    """Whether ``qualified`` is a module of listed symbols, or an attribute of a listed symbol."""
    symbols, _ = _symbols()
    owner = qualified.rpartition(".")[0]
    while owner and owner not in symbols:
        owner = owner.rpartition(".")[0]
    return bool(owner) or qualified in _modules()


def _places(entry: Mapping[str, Any], modules: Iterable[str]) -> Iterable[tuple[Version, str]]:
    versions: tuple[Version, ...] = ("either", "v1", "v2")
    listed = [(version, path) for version in versions for path in entry.get(version, ())]
    if listed:
        return listed
    paths = [f"{module}.{entry['api']}" for module in modules]
    return [("v1", path) for path in (*paths, *entry.get("also", ()))]


@cache
def _methods() -> Mapping[str, Method]:
    found = {}
    for code, data in TABLES.items():
        if "method" in data:
            entry = data["method"]
            receivers = frozenset(
                f"{module}.{name}" for module in entry["modules"] for name in entry["classes"]
            )
            found[entry["name"]] = Method(
                code, entry["name"], receivers, tuple(entry["parameters"])
            )
    return found
