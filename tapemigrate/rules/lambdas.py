"""A gradient call in a lambda: the lambda is read as the named function that can take its place.

The function is the lambda's body as a ``return``, put just above the statement in which the lambda
stands. It is made as a tree, whose nodes keep their places in the text: what is found in it holds
for the lambda as well. (One that a statement gives a name is a function already:
``source/named_lambdas.py``.)
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from keyword import iskeyword

from tapemigrate.flow.functions import Scope
from tapemigrate.rules.catalog import lookup
from tapemigrate.rules.finding import Finding, Rewrite, Unit
from tapemigrate.rules.project import Project
from tapemigrate.rules.reading import statement_of
from tapemigrate.rules.tfe.block import names_between
from tapemigrate.rules.tfe.layout import below_another, inserted
from tapemigrate.rules.tfe.scopes import Scopes
from tapemigrate.rules.tfe.text import fresh, indent, one_line
from tapemigrate.source.span import Span
from tapemigrate.source.trees import copied
from tapemigrate.tape.plan import Insert, Op, Replace, Wrap

# Each one costs a new look at the whole file.
_MOST = 50
_WISH = "gradient_of"
_SIMPLE = (ast.Expr, ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Return, ast.Assert)
_HEADERS = (ast.If, ast.While, ast.For, ast.With)
_ATOMS = (ast.Call, ast.Subscript, ast.Attribute, ast.Name, ast.List)
_PASSED_ON = (ast.Yield, ast.YieldFrom, ast.Await)


@dataclass(frozen=True, slots=True)
class Named:
    """A lambda, and the function in ``project`` and ``unit`` that stands in its place."""

    project: Project
    unit: Unit
    node: ast.Lambda
    stmt: ast.stmt
    function: ast.FunctionDef


class Lambdas:
    """The lambdas of one file that hold gradient calls: those among ``scopes``."""

    def __init__(self, project: Project, unit: Unit, scopes: Iterable[Scope]) -> None:
        self._project = project
        self._unit = unit
        self._all = [s for s in scopes if isinstance(s, ast.Lambda)]
        self._scopes = Scopes(unit, project)
        self._taken: dict[Scope, set[str]] = {}
        # The statements that functions have come above of.
        self._crowned: set[ast.stmt] = set()

    def named(self, node: ast.Lambda) -> Named | None:
        """The function that can take the place of ``node``; None where that is not the same."""
        unit = self._unit
        stmt = statement_of(unit, node)
        if len(self._all) > _MOST or not self._can_move(node, stmt):
            return None
        tree, function = _with_function(unit, node, stmt, self._fresh(node, stmt))
        there = replace(unit, tree=tree)
        return Named(self._project.with_unit(there), there, node, stmt, function)

    def _fresh(self, node: ast.Lambda, stmt: ast.stmt) -> str:
        scope = self._scopes.scope_of(stmt)
        taken = self._taken.setdefault(scope, set())
        wishes = [w for w in (_hint(self._unit, node), _WISH) if w]
        return fresh(wishes, taken, also=self._unit.names.bound_names(scope))

    def _can_move(self, node: ast.Lambda, stmt: ast.stmt) -> bool:
        """Whether the function can be made just before ``stmt``, and none the wiser."""
        scopes = self._scopes
        if scopes.in_class_body(node) or not isinstance(stmt, (*_SIMPLE, *_HEADERS)):
            return False
        if any(isinstance(n, _PASSED_ON) for n in ast.walk(node.body)):
            return False
        defaults = [d for d in (*node.args.defaults, *node.args.kw_defaults) if d is not None]
        if not all(isinstance(d, ast.Constant) for d in defaults):
            return False
        inner = set(ast.walk(node.body))
        if any(other in inner for other in self._all):
            return False
        for parent in scopes.parents(node):
            if isinstance(parent, ast.stmt):
                break
            # A default is an argument of a lambda as well.
            if isinstance(parent, ast.JoinedStr | ast.Lambda) or self._is_rewritten(parent):
                return False
        return not scopes.names_in(node) & names_between(scopes, node, stmt)

    def _is_rewritten(self, node: ast.AST) -> bool:
        """Whether another rule writes anew what stands in the call ``node``."""
        if not isinstance(node, ast.Call):
            return False
        symbol = lookup(self._unit.names.qualified(node.func) or "", self._project.aliases)
        return symbol is not None and symbol.rule < "TM116"

    def back(self, named: Named, found: Sequence[Finding]) -> list[Finding] | None:
        """What was found in the function, as findings on the lambda.

        None where what would have to be done does not fit in its place.
        """
        rewrites = {id(f.rewrite): f.rewrite for f in found if f.rewrite is not None}
        if not rewrites:
            return list(found)
        if len(rewrites) > 1:
            return None
        old = next(iter(rewrites.values()))
        here = self._unit.filename
        ops = self._ops(named, old.ops.get(here, ()))
        if ops is None:
            return None
        new = Rewrite(old.applicability, old.message, {**old.ops, here: tuple(ops)})
        return [f if f.rewrite is None else replace(f, rewrite=new) for f in found]

    def _ops(self, named: Named, ops: Sequence[Op]) -> list[Op] | None:
        unit = self._unit
        body, whole = unit.lines.span(named.node.body), unit.lines.span(named.stmt)
        inside = [op for op in ops if _is_within(op, body)]
        outside = [op for op in ops if not _is_within(op, body)]
        if any(_touches(op, whole) for op in outside):
            return None
        code = self._code(named, inside, body)
        if code is None:
            return None
        node = unit.lines.span(named.node)
        made = inserted(unit, named.stmt, [code])
        if named.stmt in self._crowned:
            made = below_another(made)
        self._crowned.add(named.stmt)
        return [*outside, *made, Replace(node, named.function.name)]

    def _code(self, named: Named, ops: Sequence[Op], body: Span) -> str | None:
        lines = self._unit.lines
        start = lines.offset(body.row, body.column)
        text = lines.segment(body)
        edits: list[tuple[int, int, str]] = []
        before: list[str] = []
        wraps: list[Wrap] = []
        for op in ops:
            if isinstance(op, Replace) and isinstance(_parsed(op.code), _ATOMS):
                first = lines.offset(op.span.row, op.span.column) - start
                last = lines.offset(op.span.end_row, op.span.end_column) - start
                edits.append((first, last, op.code))
            elif isinstance(op, Insert) and op.anchor == body and op.where == "before":
                before.append(op.code)
            elif isinstance(op, Wrap) and not op.exit:
                wraps.append(op)
            else:
                return None
        for first, last, code in sorted(edits, reverse=True):
            text = text[:first] + code + text[last:]
        block = [*before, f"return {one_line(text)}"]
        for wrap in reversed(wraps):
            block = [wrap.header, *indent([wrap.entry, *block] if wrap.entry else block)]
        function = named.function
        head = f"def {function.name}({ast.unparse(function.args)}):"
        return "\n".join([head, *indent(block)])


def bound_to(unit: Unit, node: ast.Lambda) -> set[str]:
    """The names that ``node``, the right side of an assignment, is given."""
    stmt = unit.parents[node]
    targets = stmt.targets if isinstance(stmt, ast.Assign) else []
    return {t.id for t in targets if isinstance(t, ast.Name)}


def _hint(unit: Unit, node: ast.Lambda) -> str:
    """What the code around calls the function: a keyword, a key, an attribute."""
    parent = unit.parents[node]
    name: object = None
    if isinstance(parent, ast.keyword):
        name = parent.arg
    elif isinstance(parent, ast.Dict) and node in parent.values:
        key = parent.keys[parent.values.index(node)]
        name = key.value if isinstance(key, ast.Constant) else None
    elif isinstance(parent, ast.Assign) and isinstance(parent.targets[0], ast.Attribute):
        name = parent.targets[0].attr
    good = isinstance(name, str) and name.isidentifier() and not iskeyword(name)
    return str(name) if good and not hasattr(builtins, str(name)) else ""


def _with_function(
    unit: Unit, node: ast.Lambda, stmt: ast.stmt, name: str
) -> tuple[ast.Module, ast.FunctionDef]:
    """The tree with a function for ``node``. Only what stands around it is new."""
    value = ast.copy_location(ast.Return(node.body), node.body)
    function = ast.FunctionDef(name, node.args, [value], [])
    ast.copy_location(function, stmt)
    # The name is bound where the statement begins.
    function.end_lineno, function.end_col_offset = stmt.lineno, stmt.col_offset
    old: ast.AST = node
    new: list[ast.AST] = [ast.copy_location(ast.Name(name, ast.Load()), node)]
    while old is not unit.tree:
        parent = unit.parents[old]
        around = copied(parent)
        for field, held in ast.iter_fields(parent):
            if held is old:
                setattr(around, field, new[0])
            elif isinstance(held, list) and any(each is old for each in held):
                parts = [new if each is old else [each] for each in held]
                setattr(around, field, [each for part in parts for each in part])
        old, new = parent, [around]
        if parent is stmt:
            new.insert(0, function)
    tree = new[0]
    assert isinstance(tree, ast.Module)
    return tree, function


def _parsed(code: str) -> ast.expr | None:
    try:
        return ast.parse(f"({code})", mode="eval").body
    except SyntaxError:
        return None


def _span_of(op: Op) -> Span:
    if isinstance(op, Wrap):
        first, last = op.first, op.last
        return Span(first.row, first.column, last.end_row, last.end_column)
    return op.anchor if isinstance(op, Insert) else op.span


def _is_within(op: Op, outer: Span) -> bool:
    span = _span_of(op)
    return (outer.row, outer.column) <= (span.row, span.column) and (
        (span.end_row, span.end_column) <= (outer.end_row, outer.end_column)
    )


def _touches(op: Op, other: Span) -> bool:
    """Whether ``op`` changes what stands at ``other``, more than by what it puts around it."""
    span = _span_of(op)
    start, end = (span.row, span.column), (span.end_row, span.end_column)
    first, last = (other.row, other.column), (other.end_row, other.end_column)
    if isinstance(op, Insert | Wrap) and start <= first and last <= end and span != other:
        return False
    return start < last and first < end
