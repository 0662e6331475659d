"""How a file is laid out (newline, indentation), and code brought into that layout."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass

from tapemigrate.codemods.errors import CodemodError
from tapemigrate.patterns import late
from tapemigrate.source.named_lambdas import is_lambda
from tapemigrate.source.positions import Lines

_BLANKS = late(r"[ \t\f]*")
_PLAN_INDENT = 4


@dataclass(frozen=True, slots=True)
class Layout:
    """The newline and the unit of indentation that new code takes."""

    newline: str = "\n"
    indent: str = " " * _PLAN_INDENT

    def bring(self, code: str, margin: str = "") -> str:
        """``code`` (newline LF, four columns a level) in this layout.

        Every line but the first also gets ``margin``. Lines that begin inside a string stay.
        """
        lines = code.split("\n")
        inside = _rows_inside_strings(code) if len(lines) > 1 else frozenset()
        out = lines[:1]
        for row, line in enumerate(lines[1:], start=2):
            if row in inside or not line:
                out.append(line)
                continue
            rest = line.lstrip(" ")
            levels, columns = divmod(len(line) - len(rest), _PLAN_INDENT)
            out.append(margin + self.indent * levels + " " * columns + rest)
        return self.newline.join(out)


def margin(line: str) -> str:
    """The blanks that a line begins with."""
    match = _BLANKS.match(line)
    return match.group() if match else ""


def newline_of(line: str) -> str:
    """The newline that a line ends in, or nothing."""
    return line[len(line.rstrip("\r\n")) :]


def file_indent(tree: ast.Module, lines: Lines) -> str:
    """The indentation of the first block of a file, four spaces where there is none."""
    for statement in tree.body:
        body = getattr(statement, "body", None)
        if isinstance(statement, ast.FunctionDef) and is_lambda(statement):
            continue
        if body and body[0].lineno > statement.lineno:
            line = lines.row(body[0].lineno)
            blanks = margin(line)
            # The body may follow the colon of a header that goes over several lines.
            if blanks and lines.column(body[0].lineno, body[0].col_offset) == len(blanks):
                return blanks
    return " " * _PLAN_INDENT


def _rows_inside_strings(code: str) -> frozenset[int]:
    try:
        tree = ast.parse(code)
    except SyntaxError:
        try:
            # An expression over several lines that the plan relies on parentheses for.
            tree = ast.parse(f"({code}\n)")
        except SyntaxError as error:
            raise CodemodError(f"the plan has code that does not parse: {code!r}") from error
    return frozenset(_string_rows(ast.walk(tree)))


def _string_rows(nodes: Iterable[ast.AST]) -> Iterable[int]:
    for node in nodes:
        if isinstance(node, ast.JoinedStr) or (
            isinstance(node, ast.Constant) and isinstance(node.value, str | bytes)
        ):
            yield from range(node.lineno + 1, (node.end_lineno or node.lineno) + 1)
