"""Files that only call what makes ops which no tape records, and are called by others in turn."""

from __future__ import annotations

import ast
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass

from tapemigrate.flow.unpacking import each_given
from tapemigrate.running.texts import FOREIGN
from tapemigrate.source.decoding import SourceFile, is_notebook
from tapemigrate.source.plain_tree import plain_tree
from tapemigrate.source.trees import statements, walk

# Through how many such files a call is followed, but for one of what overrides gradients: that is
# no error, it is another number.
_MOST_STEPS = 2
# A name that stands in more files than this (``build``) says little about who calls it.
_MOST_MENTIONS = 60

#: The files in which each of some words stands.
Find = Callable[[Collection[str]], Mapping[str, Collection[str]]]
#: What files have that runs something of some names: pairs of both, in order. See ``running_in``.
Running = Callable[[list[tuple[str, frozenset[str]]]], Iterable[frozenset[str]]]


@dataclass(frozen=True, slots=True)
class Passing:
    """The functions and classes of a file that run such things, and ``through`` which files."""

    names: frozenset[str]
    through: tuple[str, ...]


_NOTHING = Passing(frozenset(), ())


def passing(
    making: Mapping[str, frozenset[str]], find: Find, running: Running
) -> dict[str, Passing]:
    """The files through which others reach the functions that ``making`` tells of files."""
    from tapemigrate.rules.unseen.reasons import OVERRIDE

    overriding = (
        frozenset(find({FOREIGN + OVERRIDE})[FOREIGN + OVERRIDE]) if making else frozenset()
    )
    found: dict[str, Passing] = {}
    ahead = {path: Passing(names, ()) for path, names in making.items() if names}
    steps = 0
    while ahead:
        steps += 1
        if steps > _MOST_STEPS:
            ahead = {p: each for p, each in ahead.items() if overriding.intersection(each.through)}
        words = {FOREIGN + name for each in ahead.values() for name in each.names}
        users = _users(ahead, find(words))
        asked = [
            (user, frozenset().union(*(ahead[path].names for path in users[user])))
            for user in sorted(users)
        ]
        nearer: dict[str, Passing] = {}
        for (user, _), names in zip(asked, running(asked), strict=True):
            known = found.get(user, _NOTHING)
            if not names <= known.names:
                behind = (
                    p for path in users[user] for p in (path, *ahead[path].through) if p != user
                )
                through = tuple(dict.fromkeys((*known.through, *behind)))
                found[user] = Passing(known.names | names, through)
                nearer[user] = Passing(names - known.names, through)
        ahead = nearer
    return found


def _users(
    ahead: Mapping[str, Passing], places: Mapping[str, Collection[str]]
) -> dict[str, list[str]]:
    """Of each file that may use such a function those that it may have it from."""
    users: dict[str, list[str]] = {}
    for path, each in ahead.items():
        named = [places[FOREIGN + name] for name in each.names]
        for user in sorted({u for files in named if len(files) <= _MOST_MENTIONS for u in files}):
            if user != path and not is_notebook(user):
                users.setdefault(user, []).append(path)
    return users


@dataclass(frozen=True, slots=True)
class _Uses:
    """The names that stand in each function, class and value of a file, and what it imports.

    ``parts`` are imported from modules, each with the name that it goes by; ``aliases`` are names
    in place of others, with the last step of these.
    """

    used: Mapping[str, tuple[str, ...]]
    parts: tuple[tuple[str, str], ...]
    aliases: tuple[tuple[str, str], ...]


# By what stands for the files: each is asked about in every step, so that all of a library that
# lies in the tree have to have room: 1,429 files of TensorFlow's own take 7 MB.
_known: OrderedDict[int, _Uses] = OrderedDict()
_MOST_KNOWN = 2048


def running_in(file: SourceFile, names: frozenset[str]) -> frozenset[str]:
    """The functions, classes and values of a file that use one of ``names``, by others too.

    And what it imports by such a name, which others may import from it in turn.

    Raises:
        SourceError: where it does not parse.
    """
    uses = _uses_of(file)
    handed_on = {own for name, own in uses.parts if name in names}
    if any(name == "*" for name, _ in uses.parts):
        handed_on |= names
    found: set[str] = set()
    wanted = set(names)
    wanted |= {own for last, own in uses.aliases if last in wanted}
    used = uses.used
    while new := {name for name in used.keys() - found if not wanted.isdisjoint(used[name])}:
        found |= new
        wanted |= new
    return frozenset(found | handed_on)


def _uses_of(file: SourceFile) -> _Uses:
    key = hash(file)
    if key in _known:
        _known.move_to_end(key)
        return _known[key]
    tree = plain_tree(file)
    used: dict[str, set[str]] = {}
    for stmt in tree.body:
        if isinstance(stmt, ast.FunctionDef | ast.ClassDef):
            own = [stmt.name]
        else:  # ``MODELS = {"flat": Flat}``
            own = [target.id for target, _ in each_given(stmt) if isinstance(target, ast.Name)]
        for name in own:
            used.setdefault(name, set()).update(_names_in(stmt))
    imports = [s for s in statements(tree) if isinstance(s, ast.Import | ast.ImportFrom)]
    aliases = [alias for stmt in imports for alias in stmt.names]
    parts = [a for stmt in imports if isinstance(stmt, ast.ImportFrom) for a in stmt.names]
    _known[key] = _Uses(
        {name: tuple(each) for name, each in used.items()},
        tuple((a.name, a.asname or a.name) for a in parts),
        tuple((a.name.rpartition(".")[2], a.asname) for a in aliases if a.asname),
    )
    if len(_known) > _MOST_KNOWN:
        _known.popitem(last=False)
    return _known[key]


def _names_in(top: ast.AST) -> Iterator[str]:
    for node in walk(top):
        if isinstance(node, ast.Attribute):
            yield node.attr
        elif isinstance(node, ast.Name):
            yield node.id
