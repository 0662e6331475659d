"""Notebooks: a `with` ends with its cell, and some cells are not Python of the notebook."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING

from tapemigrate.flow.definitions import Kind
from tapemigrate.model import Diagnostic, Edit
from tapemigrate.patterns import late
from tapemigrate.rules.finding import Finding, Rewrite, Unit
from tapemigrate.rules.in_texts import gradient_calls, head_of
from tapemigrate.rules.project import Project
from tapemigrate.source import magics
from tapemigrate.source.decoding import is_notebook
from tapemigrate.source.points import begin
from tapemigrate.source.span import Span
from tapemigrate.tape.placing.region import Region
from tapemigrate.tape.plan import Insert, Op, Wrap
from tapemigrate.tape.request import Refusal

if TYPE_CHECKING:
    from tapemigrate.source.notebooks import Notebook

RECIPE = "Put the forward pass and the gradient into one cell, or into one function."
# A row in a message, after the file if it is another one.
_ROWS = late(r"(?<=\.py|pyi|ynb), lines? \d+(?: to \d+)?")


def findings(project: Project, unit: Unit) -> list[Finding]:
    """Gradient calls that a magic takes for text, for another process, or runs over and over."""
    if unit.notebook is None:
        return []
    return list(_unread(project, unit, unit.notebook))


def refuse(region: Region, unit: Unit) -> Refusal | None:
    """Why no tape can record ``region`` and be asked by its call, which lie in several cells.

    A tape that is opened in one cell can go on in the next; a target that is written inside the
    call would have to become a statement of a cell before.
    """
    if unit.notebook is None or region.given:
        return None
    later = _made_later(region, unit, unit.notebook)
    if later is not None:
        return Refusal(later, "Put the cells into the order in which they are run.")
    body = region.block.body
    if region.last < region.first:
        return None
    start = unit.notebook.cell_of(body[region.first].lineno)
    end = unit.notebook.cell_of(body[region.call].lineno)
    if start == end or not region.hoist:
        return None
    return Refusal(_reason(start, end), RECIPE)


def crossing(rewrite: Rewrite, units: Mapping[str, Unit]) -> str | None:
    """Why ``rewrite`` cannot be written: it would put statements of several cells under a tape."""
    for name, ops in rewrite.ops.items():
        notebook = units[name].notebook
        for op in ops:
            if notebook is not None and isinstance(op, Wrap):
                start, end = notebook.cell_of(op.first.row), notebook.cell_of(op.last.row)
                if start != end:
                    return _reason(start, end)
    return None


def attached(ops: Iterable[Op], unit: Unit) -> list[Op]:
    """``ops``, of which none comes between a magic and the statement that it runs."""
    if unit.notebook is None or not unit.notebook.has_magics:
        return list(ops)
    # From what a cell magic stands for to the first statement of its cell.
    below: dict[Span, Span] = {}
    magic_of: dict[Span, Span] = {}
    above: dict[Span, Span] = {}
    for node in (unit.tree, *unit.parents):
        for field in ("body", "orelse", "finalbody"):
            block = getattr(node, field, None)
            block = block if isinstance(block, list) else []
            for k, (magic, stmt) in enumerate(pairwise(block)):
                value = magic.value if isinstance(magic, ast.Expr) else None
                if magic.lineno == stmt.lineno and isinstance(value, ast.Constant):
                    if str(value.value).startswith(unit.notebook.mark):
                        span = magic_of[unit.lines.span(stmt)] = unit.lines.span(magic)
                        above[span] = unit.lines.span(block[k - 1]) if k else span
    firsts = [each for cell in unit.notebook.cells for each in cell.reading.stand_ins[:1]]
    heads = {each.code for each in firsts if each.original.startswith("%%")}
    for magic, stmt in pairwise(unit.tree.body):
        if isinstance(magic, ast.Expr) and isinstance(magic.value, ast.Constant):
            span = unit.lines.span(magic)
            if unit.lines.segment(span) in heads:
                below[span] = unit.lines.span(stmt)
    found: list[Op] = []
    for op in ops:
        if isinstance(op, Wrap):
            first = below.get(op.first, magic_of.get(op.first, op.first))
            last = above.get(op.last, op.last)
            op = replace(op, first=first, last=max(first, last))
        elif isinstance(op, Insert) and op.where == "before":
            op = replace(op, anchor=magic_of.get(op.anchor, op.anchor))
        found.append(op)
    return found


def placed(found: Diagnostic, unit: Unit, units: Mapping[str, Unit]) -> Diagnostic:
    """``found``, which counts rows as ``unit`` does, in the cell of a notebook that it is about."""
    notebook = unit.notebook
    if notebook is None:
        return replace(found, message=in_words(found.message, unit, units, None))
    cell, start = notebook.place(found.location.row, found.location.column)
    _, end = notebook.place(found.end_location.row, found.end_location.column)
    fix = found.fix
    if fix is not None:
        message = in_words(fix.message, unit, units, cell)
        edits = tuple(_edit(each, notebook) for each in fix.edits)
        fix = replace(fix, message=message, edits=edits)
    comment = found.comment_row
    return replace(
        found,
        message=in_words(found.message, unit, units, cell),
        help=in_words(found.help, unit, units, cell),
        location=start,
        end_location=end,
        fix=fix,
        cell=cell,
        comment_row=None if comment is None else notebook.place(comment, 1)[1].row,
        in_file=(notebook.in_file(cell, start), notebook.in_file(cell, end)),
    )


def _edit(edit: Edit, notebook: Notebook) -> Edit:
    if edit.cell is not None or not is_notebook(edit.filename):
        return edit
    cell, start = notebook.place(edit.start.row, edit.start.column)
    _, end = notebook.place(edit.end.row, edit.end.column)
    return replace(edit, start=start, end=end, cell=cell)


def where(unit: Unit, row: int) -> str:
    """The file and the row, for a person."""
    if unit.notebook is None:
        return f"{unit.filename}:{row}"
    cell, place = unit.notebook.place(row, 1)
    return f"{unit.filename}:cell {cell}:{place.row}"


def in_words(message: str, unit: Unit, units: Mapping[str, Unit], cell: int | None) -> str:
    """``message``, which counts rows as ``unit`` does, as the user counts them.

    The cell is named unless it is ``cell``.
    """
    out = []
    done = 0
    for match in _ROWS.finditer(message):
        notebook = _notebook_at(message[: match.start()], units)
        told = match[0] if notebook is None else notebook.in_words(match[0])
        out += [_own(message[done : match.start()], unit, cell), told]
        done = match.end()
    return "".join([*out, _own(message[done:], unit, cell)])


def _notebook_at(told: str, units: Mapping[str, Unit]) -> Notebook | None:
    """The notebook whose name, which may be of several words, ``told`` ends with."""
    words = told.split(" ")
    names = (" ".join(words[k:]).lstrip("(") for k in range(len(words)))
    found = next((units[name] for name in names if name in units), None)
    return None if found is None else found.notebook


def _own(message: str, unit: Unit, cell: int | None) -> str:
    return message if unit.notebook is None else unit.notebook.in_words(message, cell)


def _made_later(region: Region, unit: Unit, notebook: Notebook) -> str | None:
    """What the notebook, run from top to bottom, would lack: it is run in another order."""
    node: ast.AST | None = region.request.stmt
    while node is not None:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            return None
        node = unit.parents.get(node)
    made = {d for leaf in region.sources.leaves for d in leaf.defs} | region.roots
    names = {d.path[0] for d in made if d.kind is Kind.ENTRY}
    place = begin(region.request.call)
    for other in unit.nodes(ast.Name):
        if other.id in names and begin(other) > place:
            if isinstance(other.ctx, ast.Store):
                return (
                    f"`{other.id}` is made in cell {notebook.cell_of(other.lineno)}, further down, "
                    "so the cells are run in an order that is not known"
                )
    return None


def _reason(start: int, end: int) -> str:
    return (
        f"the forward pass begins in cell {start} and the gradient is asked for in cell {end}, and "
        "a tape cannot record over the end of a cell"
    )


def _unread(project: Project, unit: Unit, notebook: Notebook) -> Iterator[Finding]:
    """Gradient calls in what a magic takes for its own."""
    # The name ``tf`` may come from a script.
    head = head_of(unit, "from notebook import *")
    for cell in notebook.cells:
        magic = cell.reading.foreign
        if magic is not None:
            body = cell.text.lstrip().partition("\n")[2]
            row = notebook.row_of(cell.number, cell.text.count("\n") - body.count("\n")) or 1
            for name, span in gradient_calls(project, f"{head}\n{body}", row):
                why = f"stands in a `%%{magic}` cell, which is not read"
                recipe = "Migrate it where it runs: in a file or a cell of its own."
                yield _finding(unit, span, name, why, recipe)
        for stand_in in cell.reading.stand_ins:
            repeated = magics.repeated(stand_in)
            if repeated is None:
                continue
            before, _, _ = cell.reading.code.partition(stand_in.code)
            row = notebook.row_of(cell.number, before.count("\n") + 1) or 1
            column = len(before) - before.rfind("\n") - 1
            place = Span(row, column, row, column + len(stand_in.code.partition("\n")[0]))
            for name, _ in gradient_calls(project, f"{head}\n{repeated[1]}", row):
                why = f"stands in a `{repeated[0]}` line, which runs it over and over"
                yield _finding(unit, place, name, why, "Time a function that opens a tape.")


def _finding(unit: Unit, span: Span, name: str, why: str, recipe: str) -> Finding:
    return Finding("TM904", unit.filename, span, f"`{name}` {why}", recipe)
