"""Giving functions one parameter more."""

from __future__ import annotations

import ast

from tapemigrate.codemods.errors import CodemodError
from tapemigrate.codemods.expressions import Splice
from tapemigrate.codemods.locate import Statements
from tapemigrate.source.brackets import end_of_first, end_of_lambda
from tapemigrate.source.named_lambdas import is_lambda
from tapemigrate.source.positions import Lines
from tapemigrate.tape.plan import AddParameter


def parameter(op: AddParameter, statements: Statements, text: str, lines: Lines) -> Splice:
    """What gives the function at ``op.span`` its new parameter.

    It comes last; one without a default, behind others that have some, is reached by name alone.

    Raises:
        CodemodError: when no function stands there, or its parameters cannot be found.
    """
    function = statements.at(op.span).statement
    if not isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
        raise CodemodError(f"no function in row {op.span.row}")
    args = function.args
    bare = not (args.vararg or args.kwonlyargs)
    star = "*, " if args.defaults and bare and not op.optional else ""
    default = "=None" if op.optional else ""
    if args.kwarg is not None:
        at = lines.span(args.kwarg)
        place = text.rindex("**", 0, lines.offset(at.row, at.column))
        return place, place, f"{star}{op.name}{default}, "
    start = lines.offset(op.span.row, op.span.column)
    find = end_of_lambda if is_lambda(function) else end_of_first
    try:
        end, before = find(text[start:])
    except ValueError as error:
        raise CodemodError(f"the parameters in row {op.span.row} cannot be found") from error
    place = start + end
    separator = {"(": "", "lambda": " ", ",": " "}.get(before, ", ")
    after = ""
    if (indentation := _one_a_row(args, text, lines)) and "#" not in _rest(text, place):
        newline = "\r\n" if "\r\n" in text else "\n"
        separator = ("" if before == "," else ",") + newline + indentation
        after = "," if before == "," else ""
    return place, place, f"{separator}{star}{op.name}{default}{after}"


def _one_a_row(args: ast.arguments, text: str, lines: Lines) -> str:
    """The indentation of the parameters, where each has a row of its own; else nothing."""
    starred = [args.vararg] if args.vararg is not None else []
    given = [*args.posonlyargs, *args.args, *starred, *args.kwonlyargs]
    spans = [lines.span(each) for each in given]
    if len(spans) < 2 or len({span.row for span in spans}) < len(spans):
        return ""
    last = spans[-1]
    begin = lines.offset(last.row, 0)
    indentation = text[begin : lines.offset(last.row, last.column)]
    return indentation if indentation.isspace() else ""


def _rest(text: str, place: int) -> str:
    """The row from there on."""
    return text[place:].partition("\n")[0]
