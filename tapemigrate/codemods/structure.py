"""Changing statements: what a plan inserts, replaces and wraps, as LibCST nodes.

Statements are found by their place in their block, which ``ast`` and LibCST have in common.
"""

from __future__ import annotations

import ast
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import cast

import libcst as cst

from tapemigrate.codemods.blockplan import BlockPlan, BlockPlans
from tapemigrate.codemods.errors import CodemodError
from tapemigrate.codemods.layout import Layout
from tapemigrate.codemods.locate import blocks
from tapemigrate.patterns import late
from tapemigrate.source.blank_lines import missing_above, missing_below
from tapemigrate.source.named_lambdas import is_lambda
from tapemigrate.source.positions import Lines
from tapemigrate.tape.plan import Wrap

_BACKSLASH = late(r"\\\r?\n")
_Statement = cst.SimpleStatementLine | cst.BaseCompoundStatement
# A block as it is put together: what stands above a statement is not yet part of it.
_Item = _Statement | cst.EmptyLine
_BLANK = cst.EmptyLine(indent=False)


@dataclass(frozen=True, slots=True)
class _Unit:
    """A line of LibCST, and which statements of ``ast`` it holds."""

    start: int
    end: int
    node: _Statement
    below: int = 0  # blank lines to come


def parse(source: str, layout: Layout) -> cst.Module:
    """The tree of whole lines; what they do not show of newline and indentation is of ``layout``.

    Raises:
        CodemodError: when LibCST cannot parse them, or would not write them back as they are.
    """
    try:
        module = cst.parse_module(source)
    except cst.ParserSyntaxError as error:
        raise CodemodError(f"LibCST cannot parse it: {error.message}") from error
    if module.code != source:
        raise CodemodError("LibCST does not keep every byte of it")
    if "\n" not in source:
        module = module.with_changes(default_newline=layout.newline)
    if not any(isinstance(getattr(node, "body", None), cst.IndentedBlock) for node in module.body):
        module = module.with_changes(default_indent=layout.indent)
    return module


def restructure(
    owner: ast.Module | ast.ClassDef,
    part: range,
    text: str,
    plans: BlockPlans,
    layout: Layout,
    lines: Lines,
) -> cst.Module:
    """The LibCST tree of ``text``, the statements ``part`` of ``owner``, with ``plans`` applied.

    ``lines`` are those of the file, as ``owner`` was read from it.

    Those of a class are the block of the only statement of ``text``.

    Raises:
        CodemodError: when ``text``, or the code of a plan, does not parse.
    """
    module = parse(text, layout)
    rewriter = _Rewriter(plans, layout, lines, _BACKSLASH.search(text) is not None)
    if isinstance(owner, ast.Module):
        return rewriter.module(owner, part, module)
    return module.with_changes(body=[rewriter.block(owner, part, cast(cst.If, module.body[0]))])


def write(module: cst.Module) -> str:
    """The text of ``module``."""
    # LibCST writes a newline for a module without anything in it.
    return module.code if module.body or module.footer else ""


class _Rewriter:
    def __init__(self, plans: BlockPlans, layout: Layout, lines: Lines, continues: bool) -> None:
        """``continues``: whether a line anywhere goes on after a backslash."""
        self._plans = plans.plans
        self._touched = plans.touched
        self._layout = layout
        self._lines = lines
        self._continues = continues

    def module(self, tree: ast.Module, part: range, module: cst.Module) -> cst.Module:
        plan = self._plans.get((id(tree), "body"), BlockPlan())
        units = self._units(tree.body, part, module.body, plan, blank=2)
        body, footer = _fold(self._run(units, plan, None, nested=False))
        return module.with_changes(body=body, footer=[*footer, *module.footer])

    def block(self, owner: ast.ClassDef, part: range, around: cst.If) -> cst.If:
        """``around`` with what becomes of its block, the statements ``part`` of a class."""
        block = cast(cst.IndentedBlock, around.body)
        plan = self._plans.get((id(owner), "body"), BlockPlan())
        units = self._units(owner.body, part, block.body, plan)
        body, footer = _fold(self._run(units, plan, block.indent, nested=True))
        return around.with_changes(
            body=block.with_changes(body=body, footer=[*footer, *block.footer])
        )

    # -- blocks --

    def _units(
        self,
        block: Sequence[ast.stmt],
        part: range,
        lines: Sequence[cst.BaseStatement],
        plan: BlockPlan,
        *,
        blank: int = 1,
    ) -> list[_Unit]:
        """The lines of a block, statements on one line parted where the plan cuts between them.

        ``blank``: how many blank lines a function in it wants around it.
        """
        units = []
        cuts = plan.cuts()
        start = part.start
        for line in lines:
            end = start + (len(line.body) if isinstance(line, cst.SimpleStatementLine) else 1)
            if cuts.intersection(range(start + 1, end)):
                parted = _parted(cast(cst.SimpleStatementLine, line))
                units += [_Unit(start + k, start + k + 1, one) for k, one in enumerate(parted)]
            else:
                node = cast(_Statement, line)
                below = 0
                if end == start + 1 and id(block[start]) in self._touched:
                    if isinstance(node, cst.SimpleStatementLine) and self._is_made(block[start]):
                        node = self._function(block, start, node, blank)
                        if not any(code[:1] == "\n" for code in plan.before.get(start + 1, ())):
                            below = missing_below(self._lines, block, block[start], blank)
                    node = self._statement(block[start], node)
                units.append(_Unit(start, end, node, below))
            start = end
        if start != part.stop:
            raise CodemodError("LibCST and ast see different statements")
        return units

    def _run(
        self, units: Sequence[_Unit], plan: BlockPlan, indent: str | None, *, nested: bool
    ) -> list[_Item]:
        """The items of a whole block; new blocks in it are indented by ``indent``."""
        items = [item for code in plan.first for item in self._items(code)]
        return items + self._wrapped(deque(units), deque(plan.wraps), plan, indent, nested)

    def _wrapped(
        self,
        units: deque[_Unit],
        wraps: deque[tuple[int, int, Wrap]],
        plan: BlockPlan,
        indent: str | None,
        nested: bool = True,
    ) -> list[_Item]:
        items: list[_Item] = []
        while units:
            unit = units.popleft()
            if _goes(unit, plan):
                items += _without_gap(unit, units, first=not items and nested)
            else:
                items += unit.node.leading_lines
            unit = replace(unit, node=_under(unit.node, ()))
            if not wraps or wraps[0][0] != unit.start:
                items += self._around(unit, plan)
                continue
            _, end, wrap = wraps.popleft()
            run, inner = deque([unit]), deque[tuple[int, int, Wrap]]()
            while units and units[0].start < end:
                run.append(units.popleft())
            while wraps and wraps[0][0] < end:
                inner.append(wraps.popleft())
            items.append(self._with(wrap, self._wrapped(run, inner, plan, indent), indent))
        return items

    def _around(self, unit: _Unit, plan: BlockPlan) -> list[_Item]:
        items: list[_Item] = []
        for code in plan.before.get(unit.start, ()):
            items += self._items(code)
        node = unit.node
        code_or_none = plan.replaced.get(unit.start)
        items += [node] if code_or_none is None else self._replacement(node, code_or_none)
        for code in plan.after.get(unit.end - 1, ()):
            items += self._items(code)
        return items + [_BLANK] * unit.below

    def _with(self, wrap: Wrap, body: list[_Item], indent: str | None) -> _Statement:
        entry, exit_ = self._items(wrap.entry), self._items(wrap.exit)
        header = self._items(f"{wrap.header.rstrip()}\n    pass")
        if len(header) != 1 or not isinstance(header[0], cst.With):
            raise CodemodError(f"the header of a wrap is no with line: {wrap.header!r}")
        unit = self._layout.indent
        if indent is not None and not indent.replace(unit, ""):
            indent = None  # the block around may be indented by several levels at once
        if self._continues:
            moved = _Moved(indent or unit)
            body = [cast(_Item, item.visit(moved)) for item in body]
        statements, footer = _filled([*entry, *map(_unindented, body), *exit_])
        block = cst.IndentedBlock(statements, indent=indent, footer=footer)
        return header[0].with_changes(body=block)

    def _replacement(self, old: _Statement, code: str) -> list[_Item]:
        items = self._items(code)
        if not isinstance(old, cst.SimpleStatementLine) or not items:
            return items
        trailing = old.trailing_whitespace
        if trailing.comment is not None and trailing.whitespace.empty:
            # What kept the comment away may have been a semicolon.
            trailing = trailing.with_changes(whitespace=cst.SimpleWhitespace("  "))
        last = items[-1]
        if isinstance(last, cst.SimpleStatementLine):
            if last.trailing_whitespace.comment is None:
                items[-1] = last.with_changes(trailing_whitespace=trailing)
        elif trailing.comment is not None:
            items.insert(0, cst.EmptyLine(comment=trailing.comment))
        return items

    def _items(self, code: str) -> list[_Item]:
        """The statements of a plan's ``code``, and the comments above and below them."""
        return list(_parsed(self._layout.bring(code))) if code.strip() else []

    # -- the way down to the blocks --

    def _statement(self, tree: ast.stmt, node: _Statement) -> _Statement:
        changes: dict[str, object] = {}
        for name in ("handlers", "cases"):
            owners: list[ast.ExceptHandler | ast.match_case] = getattr(tree, name, [])
            if any(id(owner) in self._touched for owner in owners):
                changes[name] = [
                    part.with_changes(body=self._suite(owner, "body", part.body))
                    for owner, part in zip(owners, getattr(node, name), strict=True)
                ]
        for owner, name in blocks(tree):
            if owner is not tree:
                continue
            if name == "body":
                changes[name] = self._suite(tree, name, cast(cst.BaseSuite, node.body))
            else:
                changes[name] = self._branch(tree, name, getattr(node, name))
        return node.with_changes(**changes)

    def _function(
        self, block: Sequence[ast.stmt], place: int, line: cst.SimpleStatementLine, blank: int
    ) -> _Statement:
        """The function that takes the place of a lambda which is given a name in ``line``."""
        assign = cst.ensure_type(line.body[0], cst.Assign)
        made = cst.ensure_type(assign.value, cst.Lambda)
        value = made.body
        if (
            not value.lpar
            and "\n" in cst.Module([cst.SimpleStatementLine([cst.Expr(value)])]).code.rstrip()
        ):
            value = value.with_changes(lpar=[cst.LeftParen()], rpar=[cst.RightParen()])
        returned = cst.SimpleStatementLine(
            [cst.Return(value)], trailing_whitespace=line.trailing_whitespace
        )
        # A function that has just been made brings the blank lines below it.
        below_another = place > 0 and self._is_made(block[place - 1])
        above = 0 if below_another else missing_above(self._lines, block, block[place], blank)
        return cst.FunctionDef(
            cst.ensure_type(assign.targets[0].target, cst.Name),
            made.params,
            cst.IndentedBlock([returned]),
            leading_lines=[*[_BLANK] * above, *line.leading_lines],
        )

    def _is_made(self, statement: ast.stmt) -> bool:
        """Whether it is a lambda in the text, and becomes a function."""
        return (
            id(statement) in self._touched
            and isinstance(statement, ast.FunctionDef)
            and is_lambda(statement)
        )

    def _branch(
        self, tree: ast.stmt, name: str, branch: cst.If | cst.Else | cst.Finally
    ) -> cst.If | cst.Else | cst.Finally:
        if not isinstance(branch, cst.If):
            return branch.with_changes(body=self._suite(tree, name, branch.body))
        block: list[ast.stmt] = getattr(tree, name)
        if (id(tree), name) not in self._plans:
            if id(block[0]) in self._touched:
                return cast(cst.If, self._statement(block[0], branch))
            return branch
        # What goes around an ``elif`` needs the block that the ``elif`` is short for.
        inner = cst.IndentedBlock([_under(branch, [])])
        return cst.Else(body=self._suite(tree, name, inner), leading_lines=branch.leading_lines)

    def _suite(self, owner: ast.AST, name: str, suite: cst.BaseSuite) -> cst.BaseSuite:
        plan = self._plans.get((id(owner), name))
        block: list[ast.stmt] = getattr(owner, name)
        if plan is None and not any(id(statement) in self._touched for statement in block):
            return suite
        if isinstance(suite, cst.SimpleStatementSuite):
            line = cst.SimpleStatementLine(
                suite.body, trailing_whitespace=suite.trailing_whitespace
            )
            suite = cst.IndentedBlock([line])
        indented = cast(cst.IndentedBlock, suite)
        plan = plan or BlockPlan()
        units = self._units(block, range(len(block)), indented.body, plan)
        body, footer = _filled(self._run(units, plan, indented.indent, nested=True))
        return indented.with_changes(body=body, footer=[*footer, *indented.footer])


class _Moved(cst.CSTTransformer):
    """Indents what goes on after a backslash along with its statement."""

    def __init__(self, indent: str) -> None:
        super().__init__()
        self._indent = indent

    def leave_SimpleWhitespace(
        self, original_node: cst.SimpleWhitespace, updated_node: cst.SimpleWhitespace
    ) -> cst.SimpleWhitespace:
        value = _BACKSLASH.sub(lambda end: end[0] + self._indent, updated_node.value)
        return updated_node.with_changes(value=value)


def _goes(unit: _Unit, plan: BlockPlan) -> bool:
    """Whether nothing takes the place of a line."""
    k = unit.start
    return plan.replaced.get(k) == "" and not (plan.before.get(k) or plan.after.get(k))


def _without_gap(unit: _Unit, units: deque[_Unit], *, first: bool) -> Sequence[cst.EmptyLine]:
    """What stays above ``unit``, which goes: of the blank lines around it, those of one side.

    The blank lines below stand above the next one of ``units``; a block begins without any.
    """
    lines = unit.node.leading_lines
    if any(line.comment for line in lines) or not units:
        return lines if units else [line for line in lines if line.comment]
    next_ = units[0]
    below = list(next_.node.leading_lines)
    count = next((k for k, line in enumerate(below) if line.comment), len(below))
    dropped = count if first else min(count, len(lines))
    units[0] = replace(next_, node=_under(next_.node, below[dropped:]))
    return () if first else lines


@lru_cache(maxsize=256)
def _parsed(code: str) -> tuple[_Item, ...]:
    # Cached because plans repeat themselves: a node may stand in many trees, it never changes.
    try:
        module = cst.parse_module(code)
    except cst.ParserSyntaxError as error:
        raise CodemodError(f"the plan has code that does not parse: {code!r}") from error
    items: list[_Item] = list(_flush(module.header))
    for statement in module.body:
        items += _flush(statement.leading_lines)
        items.append(_under(statement, ()))
    return (*items, *_flush(module.footer))


def _flush(lines: Iterable[cst.EmptyLine]) -> Iterator[cst.EmptyLine]:
    """A blank line of the plan stays blank, however deep the block is that it lands in."""
    for line in lines:
        yield line if line.comment else line.with_changes(indent=False)


def _unindented(item: _Item) -> _Item:
    """A blank line without what blanks it had: they were aligned with what now stands deeper."""
    if isinstance(item, cst.EmptyLine) and item.comment is None:
        return item.with_changes(indent=False, whitespace=cst.SimpleWhitespace(""))
    return item


def _under(node: _Statement, lines: Sequence[cst.EmptyLine]) -> _Statement:
    return node.with_changes(leading_lines=lines)


def _fold(items: Iterable[_Item]) -> tuple[list[_Statement], list[cst.EmptyLine]]:
    """Statements with the lines above them, and the lines that are left."""
    statements: list[_Statement] = []
    lines: list[cst.EmptyLine] = []
    for item in items:
        if isinstance(item, cst.EmptyLine):
            lines.append(item)
        else:
            statements.append(_under(item, lines) if lines else item)
            lines = []
    return statements, lines


def _filled(items: list[_Item]) -> tuple[list[_Statement], list[cst.EmptyLine]]:
    """As ``_fold``, with a ``pass`` where there is no statement."""
    if all(isinstance(item, cst.EmptyLine) for item in items):
        items = [*items, cst.SimpleStatementLine([cst.Pass()])]
    return _fold(items)


def _parted(line: cst.SimpleStatementLine) -> list[cst.SimpleStatementLine]:
    parts = [
        cst.SimpleStatementLine([small.with_changes(semicolon=cst.MaybeSentinel.DEFAULT)])
        for small in line.body[:-1]
    ]
    parts.append(cst.SimpleStatementLine(line.body[-1:]))
    parts[0] = parts[0].with_changes(leading_lines=line.leading_lines)
    parts[-1] = parts[-1].with_changes(trailing_whitespace=line.trailing_whitespace)
    return parts
