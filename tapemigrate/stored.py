"""Diagnostics and links as plain lists, which JSON can hold, and back."""

from __future__ import annotations

from typing import Any

from tapemigrate.model import Diagnostic, Edit, Fix, Handed, Hidden, Links, Position

Plain = list[Any]


def plain_links(links: Links) -> Plain:
    """``links`` as lists."""
    functions = plain_handed(links.handed)
    return [sorted(links.names), functions, sorted(links.imports), sorted(links.givers)]


def links(plain: Plain) -> Links:
    """What ``plain_links`` was given."""
    names, functions, imports, givers = plain
    return Links(frozenset(names), handed(functions), frozenset(imports), frozenset(givers))


def plain_handed(functions: frozenset[Handed]) -> Plain:
    """Functions that are handed a tape, as lists."""
    return sorted(
        [each.name, sorted(each.anchors), each.followed, each.shared] for each in functions
    )


def handed(plain: Plain) -> frozenset[Handed]:
    """What ``plain_handed`` was given."""
    return frozenset(Handed(name, frozenset(anchors), *how) for name, anchors, *how in plain)


def plain_hidden(hidden: Hidden | None) -> Plain | None:
    """``hidden`` as lists."""
    return None if hidden is None else [sorted(hidden.names), sorted(hidden.uses)]


def hidden(plain: Plain) -> Hidden:
    """What ``plain_hidden`` was given."""
    names, uses = plain
    return Hidden(frozenset(names), frozenset(uses))


def plain_diagnostic(each: Diagnostic) -> Plain:
    """``each`` as lists. It has no proof: nothing was run."""
    fix = each.fix and [each.fix.applicability, each.fix.message, list(map(_edit, each.fix.edits))]
    return [
        *(each.code, each.message, each.filename, _place(each.location), _place(each.end_location)),
        *(each.help, fix, each.cell, each.comment_row),
        each.in_file and list(map(_place, each.in_file)),
    ]


def diagnostic(plain: Plain) -> Diagnostic:
    """What ``plain_diagnostic`` was given."""
    code, message, filename, start, end, help, fix, cell, comment_row, in_file = plain
    return Diagnostic(
        *(code, message, filename, Position(*start), Position(*end), help),
        fix=fix and Fix(fix[0], fix[1], tuple(_made(*edit) for edit in fix[2])),
        cell=cell,
        comment_row=comment_row,
        in_file=in_file and (Position(*in_file[0]), Position(*in_file[1])),
    )


def _place(position: Position) -> Plain:
    return [position.row, position.column]


def _edit(edit: Edit) -> Plain:
    return [edit.filename, _place(edit.start), _place(edit.end), edit.content, edit.cell]


def _made(filename: str, start: Plain, end: Plain, content: str, cell: int | None) -> Edit:
    return Edit(filename, Position(*start), Position(*end), content, cell)
