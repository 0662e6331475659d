"""Which files are analysed together, and which are read beside them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import TypeVar

from tapemigrate.model import Handed, Hidden, Links
from tapemigrate.running import facts
from tapemigrate.running.context import Choice, Naming, may_import, words
from tapemigrate.running.facts import Question
from tapemigrate.running.filling import Filling
from tapemigrate.running.grouping import grouped
from tapemigrate.running.modules import Modules
from tapemigrate.running.packages import Packages
from tapemigrate.running.passing import passing
from tapemigrate.running.projects import Projects
from tapemigrate.running.subclasses import with_subclasses
from tapemigrate.running.switched import switched
from tapemigrate.running.tasks import Task
from tapemigrate.running.words import Words, words_in
from tapemigrate.running.workers import Workers
from tapemigrate.settings import Settings

_T = TypeVar("_T")

# What says what another file has, for type checkers: nothing of it is ever run.
_STUB = ".pyi"


def with_others(
    tasks: list[Task],
    everything: list[str],
    allowed: Mapping[str, Settings],
    workers: Workers,
    digests: Mapping[str, str],
) -> tuple[list[Task], bool]:
    """The tasks with the files that hold callers, those that go together made one.

    And whether all that it follows from could be worked out.
    """
    asked_about = {task.filename for task in tasks}
    everything = [p for p in everything if p in asked_about or not p.endswith(_STUB)]
    cache = tasks[0].cache if tasks else None
    known = partial(facts.known, digests=digests)
    lost: list[str] = []

    def answers(asked: list[Question[_T]]) -> Iterator[tuple[str, _T]]:
        for question, each in workers.map_unknown(facts.answer, asked, known):
            if each is None:
                lost.append(question.filename)
            yield question.filename, question.kind.otherwise if each is None else each[0]

    def links_of(names: list[str]) -> Iterator[Links]:
        for name, each in answers([Question(facts.LINKS, name, cache=cache) for name in names]):
            yield replace(each, handed=packages.narrowed(name, each.handed))

    def hidden_in(names: list[str]) -> Iterator[Hidden | None]:
        asked = [Question(facts.HIDDEN, name, cache=cache) for name in names]
        return (each for _, each in answers(asked))

    def hand_on(calling: list[tuple[str, frozenset[str]]]) -> Iterator[frozenset[Handed]]:
        # Backwards: what was read last is still parsed.
        asked = [Question(facts.HANDING_ON, *each, cache) for each in reversed(calling)]
        for name, each in reversed([*answers(asked)]):
            if each is not None:
                parsed.add(name)
            yield packages.narrowed(name, each or ())

    def running(using: list[tuple[str, frozenset[str]]]) -> Iterator[frozenset[str]]:
        asked = [Question(facts.RUNNING, *each, cache) for each in using]
        return (each for _, each in answers(asked))

    def together(one: str, two: str) -> bool:
        return one in allowed and allowed[one] == allowed.get(two)

    packages = Packages()
    projects = Projects(everything, workers.map)
    parsed: set[str] = set()
    names = [task.filename for task in tasks]
    links = dict(zip(names, links_of(names), strict=True))
    paths = projects.worth_reading(names)
    find = Words(paths, partial(workers.map, words_in), cache, digests)
    # All words that are known to be needed, so that the files are read once for them.
    find(words(links.values()))
    links = with_subclasses(links, find)
    known_words = words(links.values())
    find(known_words)
    modules = Modules(paths, projects)
    programs = switched(links, find, hand_on, parsed, projects, modules)
    groups = grouped(links, find, hand_on, together, projects, modules, programs.tied)
    further = {file: Links(handed=handed) for file, handed in groups.further.items()}
    standing = find(known_words | words(further.values()))
    choice = Choice(standing, projects, modules)
    rank = {path: number for number, path in enumerate(everything)}
    marked = choice.marked(links, hidden_in)
    making = list(choice.making) if links else []
    held = zip(making, hidden_in(making), strict=True)
    hidden = {path: h.names for path, h in held if h is not None}
    passed = passing(hidden, find, running)
    reached = choice.reached(links, passed)
    naming = Naming(projects, hidden, passed)
    found: dict[str, tuple[Task, dict[str, None], set[str]]] = {}
    for task in tasks:
        members = sorted(groups.of(task.filename), key=rank.__getitem__)
        if members[0] in found:
            continue
        context: dict[str, None] = {}
        gone_through: set[str] = set()
        asked = [member for member in members if member in links]
        run = set(members)
        for member in members:
            here = links.get(member, Links())
            for each in (here, further.get(member, Links())):
                calling = list(choice.callers(member, each))
                called = each.names | {handed.name for handed in each.handed}
                beside = [*modules.handed(calling, called), *modules.starred(calling, called)]
                beside += modules.extending([member, *calling], each.names)
                beside += modules.read_by_subclasses(calling, each.names)
                beside += modules.asked(member, [member, *calling] if calling else ())
                context.update(
                    dict.fromkeys([*calling, *beside, *naming.by(calling, gone_through)])
                )
            context.update(dict.fromkeys(modules.holding(member) if here.handed else ()))
            running_such = [*marked.get(member, ()), *reached.get(member, ())]
            context.update(dict.fromkeys(modules.with_used(running_such)))
            context.update(dict.fromkeys(choice.changing(member) if member in links else ()))
            context.update(programs.ways.get(member, {}))
            context.update(dict.fromkeys(modules.bringing_tensorflow(member)))
            # A new name of the module is one of theirs, too.
            context.update(
                dict.fromkeys(modules.bringing_all_of(member) if member in links else ())
            )
            # Of what only calls functions that have gradient calls, its links tell nothing.
            using = list(modules.meant(member, here.givers))
            context.update(dict.fromkeys(using))
            if not here.givers and len(members) > 1:
                using += modules.used(member)
            # Libraries may lie in the same tree: they fill nothing of the user's.
            using = projects.own(member, using) if projects.own(member, asked) else []
            # What these compute as they are imported, they may compute of what they import.
            context.update(dict.fromkeys(p for path in using for p in modules.used(path)))
            run.update(using)
            run.update(*(projects.own(member, modules.read(path)) for path in using))
            for other in projects.near(member, marked):
                if marked[other] and may_import(here, other):
                    context.update(dict.fromkeys([other, *marked[other]]))
        together_with = replace(
            task,
            filename=members[0],
            others=tuple(members[1:]),
            idle=tuple(member for member in members if member in parsed and member not in links),
        )
        told = any(links.get(member, Links()) != Links() for member in members)
        found[members[0]] = together_with, context, run if told else set()
    filling = Filling(projects, modules)
    places = find(frozenset().union(*(filling.words(run) for _, _, run in found.values())))
    whole: list[Task] = []
    for task, context, run in found.values():
        context.update(dict.fromkeys(filling.of(sorted(run, key=rank.__getitem__), places)))
        others = tuple(path for path in context if path not in task.filenames)
        whole.append(replace(task, context=others))
    return whole, not lost
