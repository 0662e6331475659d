"""Texts in, findings and texts out. No file is read or written here, nothing is printed."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial

from tapemigrate.model import Diagnostic, Edit, Fix, Handed, Hidden, Links, Position
from tapemigrate.rules import cells
from tapemigrate.rules.callgraph.brought import Brought
from tapemigrate.rules.callgraph.changed_below import parts_below
from tapemigrate.rules.callgraph.imported import given_at
from tapemigrate.rules.callgraph.replaced import is_replaced
from tapemigrate.rules.finding import Finding, Rewrite, Unit
from tapemigrate.rules.kept_units import let_go, unit
from tapemigrate.rules.project import Project
from tapemigrate.rules.units import Later
from tapemigrate.rules.values.named_alike import named_alike
from tapemigrate.rules.values.variables.built_trainable import is_built_trainable
from tapemigrate.rules.values.variables.variable_lists import function_at
from tapemigrate.settings import Place, Settings
from tapemigrate.source import SourceError, SourceFile
from tapemigrate.source.entry_names import as_written
from tapemigrate.source.span import Span
from tapemigrate.suppression import Suppressions, remove
from tapemigrate.tape.plan import Op

# The rules of single arguments, which go with that of their call.
_ARGUMENTS = "TM2"
# Trees of so much source take 20 MiB, without what is worked out on them.
_MANY_CHARACTERS = 500_000

Rule = Callable[[Project, Unit], list[Finding]]


@dataclass(slots=True)
class Result:
    """What was found, and, where it was asked for, the new texts by filename."""

    diagnostics: list[Diagnostic] = field(default_factory=list)
    rewritten: dict[str, str] = field(default_factory=dict)


def analyse(
    files: Mapping[str, SourceFile],
    settings: Settings,
    *,
    rewrite: bool,
    context: Mapping[str, SourceFile] | None = None,
    edits: bool = False,
    idle: frozenset[str] = frozenset(),
) -> Result:
    """Reads ``files`` together and says what is to be said of each.

    Args:
        files: The texts, by filename.
        settings: What is reported, and which fixes are allowed.
        rewrite: Whether every fix that ``settings`` allow is applied.
        context: More files, in which callers may stand. Nothing is reported on them, and one that
            does not parse counts as unseen.
        edits: Whether every fix carries its edits, which costs as much as applying it.
        idle: Those of ``files`` in which nothing is to be found: they are parsed where one of the
            others comes to ask about them, or changes them.

    Returns:
        The findings, and the new texts of the files that change.

    Raises:
        SourceError: One of ``files`` does not parse. Its code, row and column say what and where.
    """
    with _project(files, context or {}, settings, idle) as project:
        return _analysed(files, settings, project, rewrite, edits)


def _analysed(
    files: Mapping[str, SourceFile],
    settings: Settings,
    project: Project,
    rewrite: bool,
    edits: bool,
) -> Result:
    suppressions = {name: Suppressions(file.text) for name, file in files.items()}
    found = [
        finding
        for name in files
        if name not in project.idle
        for finding in sorted(_findings(project, project.units[name]), key=_place)
    ]
    found = _selected(found, settings)
    found = _held_back(_within(_unsuppressed(found, suppressions), files), settings.held, files)
    found = _in_one_cell(found, project)
    texts = _Texts(project)
    if (
        rewrite
        or edits
        or any(f.notebook is not None and f.notebook.has_magics for f in files.values())
    ):
        found = _tried(files, texts, found)
    chosen = [r for r in _rewrites(found) if _allowed(r, settings)] if rewrite else []
    result = Result()
    for name, file in files.items():
        enabled = settings.enabled("TM910", name)
        unused = suppressions[name].unused(name) if enabled else []
        here = [r for r in chosen if name in r.ops]
        if here or (rewrite and unused):
            cleared = replace(file, text=remove(file.text, unused))
            result.rewritten[name] = texts.with_rewrites(cleared, here)
        told = [
            replace(
                _diagnostic(f, files, texts if edits else None),
                comment_row=suppressions[name].comment_row(f.span.row),
            )
            for f in found
            if f.filename == name
        ]
        result.diagnostics += [
            cells.placed(each, project.units[name], project.units) for each in [*told, *unused]
        ]
        result.diagnostics += _unread_cells(file)
    return result


def links(file: SourceFile) -> Links:
    """The functions of ``file`` whose callers, in other files, decide about a fix, or share it.

    Raises:
        SourceError: where it does not parse, and has to be.
    """
    from tapemigrate.rules import catalog, gradients

    if not catalog.may_name_gradients(file.text):
        return Links()
    with _project({file.filename: file}, {}, Settings()) as project:
        return gradients.links(project, project.units[file.filename])


def handing_on(file: SourceFile, names: frozenset[str]) -> frozenset[Handed]:
    """The functions of ``file`` that may hand what they are given on to functions of these names.

    Raises:
        SourceError: where it does not parse.
    """
    from tapemigrate.rules import gradients

    with _project({file.filename: file}, {}, Settings()) as project:
        return gradients.handing_on(project, project.units[file.filename], names)


def hidden(file: SourceFile) -> Hidden:
    """What of ``file`` runs what no tape records, or may in turn use such functions of others.

    Raises:
        SourceError: where it does not parse.
    """
    from tapemigrate.rules.unseen import elsewhere, recurrent

    with _project({file.filename: file}, {}, Settings()) as project:
        unit = project.units[file.filename]
        found = elsewhere.held(unit)
        return replace(found, names=found.names | recurrent.running(unit))


def why(
    files: Mapping[str, SourceFile],
    filename: str,
    row: int,
    *,
    settings: Settings,
    context: Mapping[str, SourceFile] | None = None,
) -> str:
    """How the gradient calls on a row were read, as text for a person.

    Args:
        files: The texts, by filename.
        filename: One of ``files``.
        row: A row of it, from one.
        settings: What is reported.
        context: More files, in which callers may stand.

    Raises:
        SourceError: One of ``files`` does not parse.
    """
    from tapemigrate.rules import story

    with _project(files, context or {}, settings) as project:
        here = project.units[filename]
        every = [f for name in files for f in _findings(project, project.units[name])]
        suppressions = {name: Suppressions(file.text) for name, file in files.items()}
        found = _selected(every, settings)
        found = _without_suppressed(found, _silenced(found, suppressions))
        found = _in_one_cell(_within(found, files), project)
        told = story.tell(
            project,
            here,
            row,
            [f for f in found if f.filename == filename],
        )
        return cells.in_words(told, here, project.units, None)


@contextmanager
def _project(
    files: Mapping[str, SourceFile],
    context: Mapping[str, SourceFile],
    settings: Settings,
    idle: frozenset[str] = frozenset(),
) -> Iterator[Project]:
    parsed: list[Unit] = []
    brought = Brought({**context, **files})

    def parse(file: SourceFile) -> Unit:
        held = sum(len(each.text) for each in parsed)
        parsed.append(unit(brought.into(file), one_of_many=held > _MANY_CHARACTERS))
        return parsed[-1]

    try:
        units: dict[str, Unit | Later] = {
            name: Later(file.text, partial(parse, file)) if name in idle else parse(file)
            for name, file in files.items()
        }
        # What does not parse may hold callers.
        unread = [cell for file in files.values() for cell in _unread(file)]
        for name, file in context.items():
            if name not in units:
                units[name] = later = Later(file.text, partial(_none_if_broken, parse, file))
                unread += [(file.filename, later), *_unread(file)]
        keeps_graphs = settings.target == "v1-graph"
        project = Project(
            units,
            unread,
            settings.aliases,
            keeps_graphs,
            files,
            idle,
            function_at,
            named_alike,
            parts_below,
            is_replaced,
            given_at,
            is_built_trainable,
        )
        yield project
        project.forget()
    finally:
        let_go(parsed)


def _none_if_broken(parse: Callable[[SourceFile], Unit], file: SourceFile) -> Unit | None:
    try:
        return parse(file)
    except SourceError:
        return None


def _unread(file: SourceFile) -> list[tuple[str, str | Later]]:
    """The cells of a notebook that do not parse."""
    cells = () if file.notebook is None else file.notebook.cells
    return [(file.filename, cell.text) for cell in cells if cell.reading.problem is not None]


def _findings(project: Project, here: Unit) -> list[Finding]:
    from tapemigrate.rules import registry

    return [f for rule in registry.families() for f in rule(project, here)]


def _wanted(finding: Finding, settings: Settings) -> bool:
    return settings.enabled(finding.code, finding.filename)


def _selected(found: list[Finding], settings: Settings) -> list[Finding]:
    """What is asked for. A rewrite that mends a call in a file in which it is not is withheld."""
    wanted = [f for f in found if _wanted(f, settings)]
    beyond = {
        id(f.rewrite): f
        for f in found
        if f.rewrite is not None
        and not _wanted(f, settings)
        and not f.code.startswith(_ARGUMENTS)
        and any(settings.enabled(f.code, name) for name in f.rewrite.ops)
    }
    return [
        _withheld(f, f"because it mends {other.code} in `{other.filename}`, where that is ignored")
        if (other := beyond.get(id(f.rewrite))) is not None
        else f
        for f in wanted
    ]


def _place(finding: Finding) -> tuple[Span, str]:
    return finding.span, finding.code


def _unsuppressed(found: list[Finding], suppressions: Mapping[str, Suppressions]) -> list[Finding]:
    """Without what a comment silences. A rewrite that mends a silenced finding is withheld."""
    silenced = _silenced(found, suppressions)
    left = [f for f in found if not any(f is other for other in silenced)]
    return _without_suppressed(left, silenced)


def _silenced(found: list[Finding], suppressions: Mapping[str, Suppressions]) -> list[Finding]:
    return [f for f in found if suppressions[f.filename].covers(f.code, f.span.row)]


def _without_suppressed(found: list[Finding], silenced: list[Finding]) -> list[Finding]:
    """Without the rewrites that would mend one of the findings that are ``silenced``."""
    mending = {id(f.rewrite): f for f in reversed(silenced) if f.rewrite is not None}

    def withheld(finding: Finding) -> Finding:
        other = mending.get(id(finding.rewrite))
        if other is None:
            return finding
        line = f"line {other.span.row}"
        place = line if other.filename == finding.filename else f"{other.filename}, {line}"
        return _withheld(finding, f"because a part of it is suppressed in {place}")

    return [withheld(f) for f in found]


def _within(found: list[Finding], files: Mapping[str, SourceFile]) -> list[Finding]:
    """Without the rewrites that would have to change other files as well."""
    return [
        _withheld(f, f"because it would change `{min(f.rewrite.ops.keys() - files)}` as well")
        if f.rewrite is not None and not f.rewrite.ops.keys() <= files.keys()
        else f
        for f in found
    ]


def _in_one_cell(found: list[Finding], project: Project) -> list[Finding]:
    """Without the rewrites that would record statements of several notebook cells."""
    why = {id(r): cells.crossing(r, project.units) for r in _rewrites(found)}
    return [
        replace(_withheld(f, f"because {reason}"), help=cells.RECIPE)
        if f.rewrite is not None and (reason := why[id(f.rewrite)]) is not None
        else f
        for f in found
    ]


def _unread_cells(file: SourceFile) -> list[Diagnostic]:
    """One diagnostic for each notebook cell that does not parse; the others are analysed."""
    if file.notebook is None:
        return []
    found = []
    for number, error in file.notebook.problems:
        place = Position(error.row, error.column)
        diagnostic = Diagnostic(error.code, error.message, file.filename, place, place)
        in_file = file.notebook.in_file(number, place)
        found.append(replace(diagnostic, cell=number, in_file=(in_file, in_file)))
    return found


def _held_back(
    found: list[Finding], held: frozenset[Place], files: Mapping[str, SourceFile]
) -> list[Finding]:
    """Without the rewrites that would mend what is at one of these places."""
    withheld = {id(f.rewrite) for f in found if held and _place_of(f, files) in held}
    return [
        _withheld(f, "because both sides have not been shown to agree")
        if f.rewrite is not None and id(f.rewrite) in withheld
        else f
        for f in found
    ]


def _place_of(finding: Finding, files: Mapping[str, SourceFile]) -> Place:
    """Where the diagnostic of the finding is; in a notebook, in a cell of it."""
    notebook = files[finding.filename].notebook
    row, column = finding.span.row, finding.span.column + 1
    if notebook is not None:
        _, at = notebook.place(row, column)
        row, column = at.row, at.column
    return finding.filename, row, column, finding.code


def _withheld(finding: Finding, why: str) -> Finding:
    message = f"{finding.message}; the fix is withheld, {why}"
    return replace(finding, rewrite=None, message=message)


def _rewrites(found: Iterable[Finding]) -> list[Rewrite]:
    chosen: dict[int, Rewrite] = {}
    for finding in found:
        if finding.rewrite is not None:
            chosen.setdefault(id(finding.rewrite), finding.rewrite)
    return list(chosen.values())


def _allowed(rewrite: Rewrite, settings: Settings) -> bool:
    return rewrite.applicability == "safe" or (
        rewrite.applicability == "unsafe" and settings.unsafe_fixes
    )


def _tried(files: Mapping[str, SourceFile], texts: _Texts, found: list[Finding]) -> list[Finding]:
    """Without the rewrites that cannot be written into their texts, and with the reason instead."""
    from tapemigrate.codemods import CodemodError

    def attempt(rewrites: list[Rewrite], names: Iterable[str]) -> None:
        for name in names:
            _parsed(texts.with_rewrites(files[name], rewrites))

    problems: dict[int, str] = {}
    rewrites = _rewrites(found)
    names = {name for r in rewrites for name in r.ops}
    try:
        attempt(rewrites, sorted(names))
    except CodemodError:
        # One after the other shows which of them does not fit, alone or beside those before it.
        fitting: list[Rewrite] = []
        for rewrite in rewrites:
            try:
                attempt([*fitting, rewrite], sorted(rewrite.ops))
            except CodemodError as error:
                problems[id(rewrite)] = str(error)
            else:
                fitting.append(rewrite)
    return [
        f
        if f.rewrite is None or id(f.rewrite) not in problems
        else replace(
            f,
            rewrite=None,
            message=f"{f.message.split(';')[0]}, and is left as it is: {problems[id(f.rewrite)]}",
        )
        for f in found
    ]


def _parsed(text: str) -> None:
    from tapemigrate.codemods import CodemodError

    try:
        ast.parse(text)
    except SyntaxError as error:
        raise CodemodError(f"the rewritten text would not parse ({error.msg})") from None


class _Texts:
    """What rewrites make of the files of a project: each text is made once, and so is each edit."""

    def __init__(self, project: Project) -> None:
        self._units = project.units
        self._made: dict[tuple[SourceFile, tuple[int, ...]], str] = {}
        self._edits: dict[tuple[str, int], tuple[Edit, ...]] = {}

    def with_rewrites(self, file: SourceFile, rewrites: Iterable[Rewrite]) -> str:
        """The text of ``file`` with those of the rewrites that change it.

        Raises:
            CodemodError: when they cannot be written.
        """
        here = [rewrite for rewrite in rewrites if file.filename in rewrite.ops]
        key = (file, tuple(map(id, here)))
        if key not in self._made:
            self._made[key] = _applied(file, self._units[file.filename], here)
        return self._made[key]

    def edits(
        self, files: Mapping[str, SourceFile], rewrite: Rewrite, first: str
    ) -> tuple[Edit, ...]:
        """What ``rewrite`` changes, in the file ``first`` before the others."""
        from tapemigrate.codemods.edits import edits

        key = (first, id(rewrite))
        if key not in self._edits:
            self._edits[key] = tuple(
                Edit(name, start, end, content, cell)
                for name in sorted(rewrite.ops, key=lambda n: (n != first, n))
                for cell, old, new in _changes(
                    files[name], self.with_rewrites(files[name], [rewrite])
                )
                for start, end, content in edits(old, new)
            )
        return self._edits[key]


def _applied(file: SourceFile, here: Unit, rewrites: Iterable[Rewrite]) -> str:
    from tapemigrate.codemods import CodemodError, apply
    from tapemigrate.source.magics import TornError
    from tapemigrate.tidy import without_unneeded

    ops: dict[Op, None] = {}
    for rewrite in rewrites:
        ops.update(dict.fromkeys(rewrite.ops.get(file.filename, ())))
    new = apply(file.text, here.tree, cells.attached(ops, here))
    if ops and file.notebook is None:
        new = without_unneeded(new, here)
    if file.notebook is not None:
        try:
            file.notebook.split(new)
        except TornError as error:
            raise CodemodError(f"the rewrite {error}") from None
    return new


def _changes(file: SourceFile, new: str) -> Iterable[tuple[int | None, str, str]]:
    """The texts that change, old and new: that of the file, or those of a notebook's cells."""
    return [(None, file.text, new)] if file.notebook is None else file.notebook.changes(new)


def _diagnostic(
    finding: Finding, files: Mapping[str, SourceFile], texts: _Texts | None
) -> Diagnostic:
    fix = None
    rewrite = finding.rewrite
    if rewrite is not None:
        made = texts.edits(files, rewrite, finding.filename) if texts is not None else ()
        fix = Fix(rewrite.applicability, as_written(rewrite.message), made)
    return Diagnostic(
        finding.code,
        as_written(finding.message),
        finding.filename,
        _start(finding.span),
        _end(finding.span),
        as_written(finding.help),
        fix,
    )


def _start(span: Span) -> Position:
    return Position(span.row, span.column + 1)


def _end(span: Span) -> Position:
    return Position(span.end_row, span.end_column + 1)
