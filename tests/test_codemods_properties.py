"""Random programs, random operations: the tree of the result is the tree with them applied."""

from __future__ import annotations

import ast
import copy
import io
import tokenize
from collections import Counter
from collections.abc import Iterator
from random import Random

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tapemigrate.codemods import apply, edits
from tapemigrate.model import Position
from tapemigrate.source.positions import Lines
from tapemigrate.tape.plan import Insert, Op, Replace, ReplaceStatement, Wrap

EXPRESSIONS = [
    "a",
    "a.b.c",
    "é + b * c",
    "f(a, k=b, *d)[0]",
    "-a ** b",
    "not a",
    "a if b else c",
    "lambda q: q + 1",
    "[a, (b), {c: d}]",
    "f(x for x in y)",
    "(a, b)",
    "a or b and not c",
    "a < b <= c",
    'f"{a + b}-{c!r}"',
    '"ß" "t"',
    "x[a, 1:b]",
    "(yes := a)",
    "[i + 1 for i in (a, b) if i if not a]",
    "f({NL}      a,  # note{NL}  {MARGIN}b{NL}{MARGIN})",
    "[{NL}{MARGIN}{UNIT}1,{NL}{NL}# odd{NL}{MARGIN}{UNIT}2{NL}{MARGIN}]",
    '"""one{NL}  two{NL}{MARGIN}three"""',
    'f"""{{a}}{NL}{ a }{NL}"""',
    'f"""{a}{NL}{MARGIN}{{NL}{MARGIN}  a = }{NL}"""',
    "a + \\{NL}  b",
    "(a{NL}{MARGIN}  + b)",
]
SIMPLE = [
    "{E}",
    "v = {E}",
    "v, w = {E}, {E}",
    "v += {E}",
    "assert {E}, {E}",
    "del v",
    "pass",
    "v: int = {E}",
]
HEADERS = [
    ("if {E}:", "if"),
    ("while {E}:", "loop"),
    ("for v in {E}:", "loop"),
    ("with {E} as v, {E}:", ""),
    ("try:", "try"),
    ("def f(a, b={E}):", ""),
    ("@deco({E}){NL}{MARGIN}def f(a):", ""),
    ("class C({E}):", ""),
    ("async def f():", "async"),
    ("match {E}:", "match"),
]


class Program:
    """Writes one random program."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.unit = random.choice(["    ", "  ", "\t", "   "])
        self.newline = random.choice(["\n", "\n", "\r\n", "\r"])

    def text(self) -> str:
        text = self.block("", 0)
        if self.random.random() < 0.3:
            text = text.rstrip("\r\n")
        return text

    def fill(self, template: str, margin: str) -> str:
        while "{E}" in template:
            template = template.replace("{E}", self.random.choice(EXPRESSIONS), 1)
        for name, value in (("NL", self.newline), ("MARGIN", margin), ("UNIT", self.unit)):
            template = template.replace("{" + name + "}", value)
        return template

    def tail(self) -> str:
        return self.random.choice(["", "", "  # tail", " "]) + self.newline

    def above(self, margin: str) -> str:
        choices = ["", "", "", margin + "# above", "", "# left", margin + "  # right", margin]
        lines = self.random.choices(choices, k=self.random.choice([0, 0, 0, 1, 2]))
        return "".join(line + self.newline for line in lines)

    def simple(self, margin: str) -> str:
        parts = [
            self.fill(self.random.choice(SIMPLE), margin)
            for _ in range(self.random.choice([1, 1, 1, 2, 3]))
        ]
        return "; ".join(parts) + self.random.choice(["", "", ";"]) + self.tail()

    def block(self, margin: str, depth: int) -> str:
        out = []
        for _ in range(self.random.randint(1, 4 if depth else 6)):
            out.append(self.above(margin))
            if depth < 3 and self.random.random() < 0.4:
                out.append(self.compound(margin, depth))
            else:
                out.append(margin + self.simple(margin))
        out.append(self.above(margin))
        return "".join(out)

    def suite(self, header: str, margin: str, depth: int) -> str:
        header = margin + self.fill(header, margin)
        if self.random.random() < 0.2:
            return header + " " + self.simple(margin)
        return header + self.tail() + self.block(margin + self.unit, depth + 1)

    def compound(self, margin: str, depth: int) -> str:
        header, kind = self.random.choice(HEADERS)
        if kind == "match":
            inner = margin + self.unit
            cases = [self.suite(h, inner, depth + 1) for h in ("case 1:", "case [a, *_] if {E}:")]
            return margin + self.fill(header, margin) + self.newline + "".join(cases)
        out = [self.suite(header, margin, depth)]
        if kind == "if":
            out += [
                self.suite("elif {E}:", margin, depth) for _ in range(self.random.randint(0, 2))
            ]
        if kind in ("if", "loop") and self.random.random() < 0.5:
            out.append(self.suite("else:", margin, depth))
        if kind == "try":
            out.append(self.suite("except E as v:", margin, depth))
            out += [self.suite(h, margin, depth) for h in ("else:", "finally:")]
        if kind == "async":
            out.append(self.suite(self.unit + "async with {E}:", margin, depth))
            out[0] = margin + header + self.newline
            out[1] = self.suite("async with {E}:", margin + self.unit, depth + 1)
        return "".join(out)


def blocks(tree: ast.AST) -> Iterator[list[ast.stmt]]:
    for node in ast.walk(tree):
        for name in ("body", "orelse", "finalbody"):
            block = getattr(node, name, None)
            if isinstance(block, list) and block:
                yield block


def wrap(block: list[ast.stmt], start: int, end: int) -> None:
    header = ast.parse("with tape: pass").body[0]
    assert isinstance(header, ast.With)
    header.body = block[start:end]
    block[start:end] = [header]


def comments(text: str) -> Counter[str]:
    tokens = tokenize.generate_tokens(io.StringIO(text, newline=None).readline)
    return Counter(token.string for token in tokens if token.type == tokenize.COMMENT)


def applied(old: str, changes: list[tuple[Position, Position, str]]) -> str:
    lines = Lines(old)
    for start, end, content in reversed(changes):
        low, high = lines.offset(start.row, start.column - 1), lines.offset(end.row, end.column - 1)
        old = old[:low] + content + old[high:]
    return old


def same(new: str, expected: ast.AST) -> bool:
    return ast.dump(ast.parse(new)) == ast.dump(expected)


PROPERTY = settings(max_examples=60, suppress_health_check=list(HealthCheck))
randoms = st.integers(min_value=0).map(Random)


@PROPERTY
@given(randoms)
def test_wraps(random: Random) -> None:
    text = Program(random).text()
    tree = ast.parse(text)
    expected = copy.deepcopy(tree)
    lines = Lines(text)
    ops: list[Op] = []
    pairs = list(zip(blocks(tree), blocks(expected), strict=True))
    for block, target in random.sample(pairs, k=min(len(pairs), 3)):
        start = random.randrange(len(block))
        end = random.randint(start + 1, len(block))
        ops.append(Wrap(lines.span(block[start]), lines.span(block[end - 1]), "with tape:"))
        if end - start > 1 and random.random() < 0.5:
            ops.append(Wrap(lines.span(block[start + 1]), lines.span(block[end - 1]), "with tape:"))
            wrap(target, start + 1, end)
            end = start + 2
        wrap(target, start, end)
    new = apply(text, tree, random.sample(ops, k=len(ops)))
    assert same(new, expected)
    assert comments(new) == comments(text)
    assert applied(text, edits(text, new)) == new


@PROPERTY
@given(randoms)
def test_statements(random: Random) -> None:
    text = Program(random).text()
    tree = ast.parse(text)
    expected = copy.deepcopy(tree)
    lines = Lines(text)
    ops: list[Op] = []
    code = "new(\n    1,\n    2)\nif q:\n    r()"
    block, target = random.choice(list(zip(blocks(tree), blocks(expected), strict=True)))
    for index in reversed(range(len(block))):
        span = lines.span(block[index])
        if random.random() < 0.3:
            ops.append(Insert(span, "after", code))
            target[index + 1 : index + 1] = ast.parse(code).body
        if random.random() < 0.3:
            replacement = random.choice(["", code])
            ops.append(ReplaceStatement(span, replacement))
            target[index : index + 1] = ast.parse(replacement).body
        if random.random() < 0.3:
            ops.append(Insert(span, "before", code))
            target[index:index] = ast.parse(code).body
    if not target and target is not expected.body:
        target += ast.parse("pass").body
    new = apply(text, tree, ops)
    assert same(new, expected)
    assert applied(text, edits(text, new)) == new


class _Swap(ast.NodeTransformer):
    def __init__(self, swaps: dict[tuple[int, int, int | None, int | None], ast.expr]) -> None:
        self.swaps = swaps

    def visit(self, node: ast.AST) -> ast.AST:
        if isinstance(node, ast.expr):
            key = (node.lineno, node.col_offset, node.end_lineno, node.end_col_offset)
            if key in self.swaps:
                return self.swaps.pop(key)
        result = super().visit(node)
        assert isinstance(result, ast.AST)
        return result


@PROPERTY
@given(randoms)
def test_expressions(random: Random) -> None:
    text = Program(random).text()
    tree = ast.parse(text)
    lines = Lines(text)
    strings = [n for n in ast.walk(tree) if isinstance(n, ast.JoinedStr)]
    inside = {id(n) for string in strings for n in ast.walk(string) if n is not string}
    nodes = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.expr)
        and not isinstance(node, ast.Starred | ast.Slice)
        and isinstance(getattr(node, "ctx", ast.Load()), ast.Load)
        and id(node) not in inside
    ]
    # Not every expression may stand in a pattern, and "with (a, b):" does not hold a tuple.
    special = [n for n in ast.walk(tree) if isinstance(n, ast.pattern | ast.withitem)]
    barred = {id(n) for one in special for n in (one, *ast.iter_child_nodes(one))}
    nodes = [node for node in nodes if id(node) not in barred]
    ops: list[Op] = []
    swaps: dict[tuple[int, int, int | None, int | None], ast.expr] = {}
    taken: set[int] = set()
    for node in random.sample(nodes, k=min(len(nodes), 4)):
        within = {id(n) for n in ast.walk(node) if isinstance(n, ast.expr)}
        if taken & within:
            continue
        taken |= within
        code = random.choice(EXPRESSIONS)
        for name, value in (("NL", "\n"), ("MARGIN", ""), ("UNIT", "    ")):
            code = code.replace("{" + name + "}", value)
        ops.append(Replace(lines.span(node), code))
        key = (node.lineno, node.col_offset, node.end_lineno, node.end_col_offset)
        swaps[key] = ast.parse(f"({code})", mode="eval").body
    new = apply(text, tree, ops)
    assert same(new, _Swap(swaps).visit(copy.deepcopy(tree)))
