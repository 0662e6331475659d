"""Where an expression needs parentheses.

The levels follow the table of operator precedence in the Python language reference (6.17).
"""

from __future__ import annotations

import ast
from enum import IntEnum


class Level(IntEnum):
    """How tightly an expression binds, loosest first."""

    TUPLE = 0
    NAMED = 1
    TEST = 2
    OR = 3
    AND = 4
    NOT = 5
    COMPARISON = 6
    BIT_OR = 7
    BIT_XOR = 8
    BIT_AND = 9
    SHIFT = 10
    SUM = 11
    PRODUCT = 12
    FACTOR = 13
    POWER = 14
    AWAIT = 15
    ATOM = 16


_OPERATORS: dict[type[ast.operator], Level] = {
    ast.BitOr: Level.BIT_OR,
    ast.BitXor: Level.BIT_XOR,
    ast.BitAnd: Level.BIT_AND,
    ast.LShift: Level.SHIFT,
    ast.RShift: Level.SHIFT,
    ast.Add: Level.SUM,
    ast.Sub: Level.SUM,
    ast.Pow: Level.POWER,
}

_LEVELS: dict[type[ast.expr], Level] = {
    ast.Tuple: Level.TUPLE,
    ast.Yield: Level.TUPLE,
    ast.YieldFrom: Level.TUPLE,
    ast.NamedExpr: Level.NAMED,
    ast.IfExp: Level.TEST,
    ast.Lambda: Level.TEST,
    ast.Compare: Level.COMPARISON,
    ast.Await: Level.AWAIT,
}

# What may stand in a field of a node without parentheses of its own, where that is not TEST.
_FIELDS: dict[tuple[type[ast.AST], str], Level] = {
    (ast.Expr, "value"): Level.TUPLE,
    (ast.Assign, "value"): Level.TUPLE,
    (ast.AugAssign, "value"): Level.TUPLE,
    (ast.Return, "value"): Level.TUPLE,
    (ast.For, "iter"): Level.TUPLE,
    (ast.AsyncFor, "iter"): Level.TUPLE,
    (ast.Subscript, "slice"): Level.TUPLE,
    (ast.Yield, "value"): Level.TUPLE,
    (ast.If, "test"): Level.NAMED,
    (ast.While, "test"): Level.NAMED,
    (ast.Match, "subject"): Level.NAMED,
    (ast.match_case, "guard"): Level.NAMED,
    (ast.comprehension, "iter"): Level.OR,
    (ast.comprehension, "ifs"): Level.OR,
    (ast.IfExp, "test"): Level.OR,
    (ast.IfExp, "body"): Level.OR,
    (ast.Starred, "value"): Level.BIT_OR,
    (ast.Compare, "left"): Level.BIT_OR,
    (ast.Compare, "comparators"): Level.BIT_OR,
    (ast.Await, "value"): Level.ATOM,
    (ast.Attribute, "value"): Level.ATOM,
    (ast.Subscript, "value"): Level.ATOM,
    (ast.Call, "func"): Level.ATOM,
    (ast.FormattedValue, "value"): Level.ATOM,
}

_TARGETS = frozenset({"target", "targets", "optional_vars"})


def level(node: ast.expr) -> Level:
    """How tightly ``node`` binds when it is written without parentheses."""
    if isinstance(node, ast.BinOp):
        return _OPERATORS.get(type(node.op), Level.PRODUCT)
    if isinstance(node, ast.BoolOp):
        return Level.AND if isinstance(node.op, ast.And) else Level.OR
    if isinstance(node, ast.UnaryOp):
        return Level.NOT if isinstance(node.op, ast.Not) else Level.FACTOR
    return _LEVELS.get(type(node), Level.ATOM)


def required(parent: ast.AST, field: str) -> Level:
    """The loosest level that may stand in ``field`` of ``parent`` without parentheses."""
    if isinstance(parent, ast.BinOp):
        own = level(parent)
        if own is Level.POWER:
            return Level.AWAIT if field == "left" else Level.FACTOR
        return own if field == "left" else Level(own + 1)
    if isinstance(parent, ast.BoolOp):
        return Level(level(parent) + 1)
    if isinstance(parent, ast.UnaryOp):
        return level(parent)
    if isinstance(parent, ast.Dict) and field == "values":
        return Level.BIT_OR if None in parent.keys else Level.TEST
    if field in _TARGETS:
        return Level.ATOM
    return _FIELDS.get((type(parent), field), Level.TEST)


def code_level(code: str) -> Level:
    """The level of the expression ``code`` as it is written, its own parentheses counted.

    Raises:
        SyntaxError: when ``code`` is no expression, or one that only parentheses hold together.
    """
    node = ast.parse(code, mode="eval").body
    if "#" in code:
        # A comment at the end would swallow what comes behind the expression.
        ast.parse(f"({code})", mode="eval")
    if isinstance(node, ast.Tuple):
        # In a list, a tuple's parentheses keep it one element.
        listed = ast.parse(f"[{code}\n]", mode="eval").body
        own = isinstance(listed, ast.List) and [ast.dump(e) for e in listed.elts] == [
            ast.dump(node)
        ]
        return Level.ATOM if own else Level.TUPLE
    text = code.rstrip()
    end = len(text.rsplit("\n", 1)[-1].encode())
    whole = (node.lineno, node.col_offset) == (1, 0) and (
        (node.end_lineno, node.end_col_offset) == (text.count("\n") + 1, end)
    )
    return level(node) if whole else Level.ATOM
