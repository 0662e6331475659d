"""Source text of expressions with parts of it replaced, and small layout helpers."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence, Set
from itertools import chain, count

from tapemigrate.patterns import late
from tapemigrate.rules.finding import Unit
from tapemigrate.source.entry_names import in_another_name

_LINE = 88
_AFTER_OPENING = late(r"([(\[{])\s*\n\s*")
_BEFORE_CLOSING = late(r"\s*\n\s*([)\]}])")
_NEWLINE = late(r"\s*\n\s*")


class Source:
    """The text of one file's expressions. ``replaced`` maps nodes to the code that they become.

    ``absorbed`` collects the replaced nodes whose code went into a text asked for.
    """

    def __init__(self, unit: Unit) -> None:
        self._unit = unit
        self.replaced: dict[ast.AST, str] = {}
        self.absorbed: set[ast.AST] = set()

    def text(self, node: ast.expr) -> str:
        """The code of ``node``, on one line where that is possible."""
        return one_line(self.raw(node).replace("\r\n", "\n").replace("\r", "\n"))

    def raw(self, node: ast.expr | ast.stmt) -> str:
        """The text of ``node`` as it is laid out in the file."""
        if node in self.replaced:
            self.absorbed.add(node)
            return self.replaced[node]
        lines = self._unit.lines
        span = lines.span(node)
        start = lines.offset(span.row, span.column)
        text = lines.segment(span)
        edits: list[tuple[int, int, str]] = []
        stack: list[ast.AST] = [node]
        while stack:
            current = stack.pop()
            if current in self.replaced and isinstance(current, ast.expr):
                inner = lines.span(current)
                first = lines.offset(inner.row, inner.column) - start
                last = lines.offset(inner.end_row, inner.end_column) - start
                edits.append((first, last, self.replaced[current]))
                self.absorbed.add(current)
                continue
            stack.extend(ast.iter_child_nodes(current))
        for first, last, code in sorted(edits, reverse=True):
            text = text[:first] + code + text[last:]
        return text


def one_line(text: str) -> str:
    """``text`` on one line; in parentheses where it needs several and they are not given."""
    if "\n" not in text:
        return text
    if "#" not in text and "\\" not in text and '"""' not in text and "'''" not in text:
        text = _AFTER_OPENING.sub(r"\1", text)
        text = _BEFORE_CLOSING.sub(r"\1", text)
        return _NEWLINE.sub(" ", text)
    try:
        ast.parse(f"_ = {text}")
    except SyntaxError:
        return f"({text})"
    return text


def indent(statements: Iterable[str]) -> list[str]:
    """Statements one level deeper; the lines inside of strings stay."""
    found = []
    for statement in statements:
        kept = _string_rows(statement)
        lines = statement.split("\n")
        found.append(
            "\n".join(
                f"    {line}" if line and row not in kept else line
                for row, line in enumerate(lines, 1)
            )
        )
    return found


def _string_rows(code: str) -> frozenset[int]:
    if "\n" not in code:
        return frozenset()
    found: set[int] = set()
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.JoinedStr) or (
            isinstance(node, ast.Constant) and isinstance(node.value, str | bytes)
        ):
            found.update(range(node.lineno + 1, (node.end_lineno or node.lineno) + 1))
    return frozenset(found)


def assignments(pairs: Sequence[tuple[str, str]]) -> list[str]:
    """``name = code`` for every pair, on one line where that stays short."""
    if not pairs:
        return []
    names, codes = zip(*pairs, strict=True)
    together = f"{', '.join(names)} = {', '.join(codes)}"
    if len(pairs) > 1 and (len(together) > _LINE or len(pairs) > 3):
        return [f"{name} = {code}" for name, code in pairs]
    return [together]


def fresh(wishes: Sequence[str], taken: set[str], also: Set[str] = frozenset()) -> str:
    """The first wish that is free, or the first one with a number; it is taken from then on."""
    wishes = [in_another_name(wish) for wish in wishes]
    numbered = (f"{wishes[0]}{number}" for number in count(2))
    name = next(n for n in chain(wishes, numbered) if n not in taken and n not in also)
    taken.add(name)
    return name
