"""The imports and aliases of ``tf.contrib.eager`` that nothing needs any longer."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from tapemigrate.rules.finding import Unit
from tapemigrate.rules.tfe.scopes import Scopes
from tapemigrate.rules.tfe.symbols import CODE, is_contrib_eager, references, symbol_of
from tapemigrate.source.points import begin
from tapemigrate.tape.plan import Insert, ReplaceStatement

# Two blank lines stand above them.
_APART = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)

_BACKPROP = "tensorflow.python.eager.backprop"
_BINDING: frozenset[type[ast.AST]] = frozenset({ast.Import, ast.ImportFrom, ast.Assign})


@dataclass(frozen=True, slots=True)
class Binding:
    """A name that an import or an assignment gives to something of ours."""

    statement: ast.stmt
    name: str
    alias: ast.alias | None
    path: str


def bindings(unit: Unit) -> Iterator[Binding]:
    """Every such name of the file."""
    meant = dict(unit.names.imported())
    for node in unit.parents:
        if node.__class__ not in _BINDING:
            continue
        if isinstance(node, ast.Import):
            for alias in node.names:
                if _ours(alias.name):
                    yield Binding(node, alias.asname or alias.name, alias, alias.name)
        elif isinstance(node, ast.ImportFrom):
            for alias in _written(node):
                # Names of the file's own modules may mean such a thing as well.
                path = f"{node.module}.*" if alias.name == "*" else meant.get(alias, "")
                if _ours(path):
                    yield Binding(node, alias.asname or alias.name, alias, path)
        elif isinstance(node, ast.Assign) and len(node.targets) == 1:
            path_or_none = unit.names.qualified(node.value)
            if isinstance(node.targets[0], ast.Name) and path_or_none and _ours(path_or_none):
                yield Binding(node, node.targets[0].id, None, path_or_none)


def _written(node: ast.ImportFrom) -> list[ast.alias]:
    """The names as they stand there: what a star brings is added to it for the analysis."""
    return list({begin(alias): alias for alias in reversed(node.names)}.values())[::-1]


def _ours(path: str) -> bool:
    if is_contrib_eager(path) or path == _BACKPROP:
        return True
    symbol = symbol_of(path)
    return symbol is not None and path.startswith(_BACKPROP)


def _is_transformer(path: str) -> bool:
    """Whether the path is a function that has a rule of its own, which tells of such names."""
    symbol = symbol_of(path)
    return symbol is not None and symbol.rule != CODE


def unneeded(
    unit: Unit, scopes: Scopes, gone: Callable[[ast.Name], bool]
) -> list[tuple[list[Binding], ReplaceStatement]]:
    """The statements that can go, or lose a name, once the mentions that are ``gone`` are."""
    found = list(bindings(unit))
    dead = _all_dead(unit, scopes, found, gone)
    statements = {b.statement for b in found}
    result = []
    for statement in sorted(statements, key=lambda s: s.lineno):
        mine = [b for b in found if b.statement is statement and b in dead]
        if mine:
            code = _without(statement, {b.name for b in mine})
            result.append((mine, ReplaceStatement(unit.lines.span(statement), code)))
    return result


def idle(unit: Unit, scopes: Scopes, gone: Callable[[ast.Name], bool]) -> list[Binding]:
    """What has to stay, for other files or scopes, though nothing here reads it any more."""
    found = [b for b in bindings(unit) if is_contrib_eager(b.path) and "." not in b.name]
    dead = _all_dead(unit, scopes, found, gone) if found else set()
    assigned = {id(b.statement) for b in dead if b.alias is None}
    return [
        b
        for b in found
        if b not in dead
        and b.name != "*"
        and not _is_transformer(b.path)
        and not any(
            isinstance(n.ctx, ast.Load) and id(scopes.statement(n)) not in assigned and not gone(n)
            for n in unit.nodes(ast.Name)
            if n.id == b.name
        )
    ]


def _all_dead(
    unit: Unit, scopes: Scopes, found: list[Binding], gone: Callable[[ast.Name], bool]
) -> set[Binding]:
    dead: set[Binding] = set()
    while True:
        # An alias may be the last user of an import.
        more = {b for b in found if b not in dead and _dead(unit, scopes, b, gone, dead)}
        if not more:
            return dead
        dead |= more


def _dead(
    unit: Unit,
    scopes: Scopes,
    binding: Binding,
    gone: Callable[[ast.Name], bool],
    dead: set[Binding],
) -> bool:
    home = scopes.scope_of(binding.statement)
    if scopes.in_class_body(binding.statement):
        return False
    declared = unit.nodes(ast.Global) + unit.nodes(ast.Nonlocal)
    if any(binding.name in statement.names for statement in declared):
        return False  # given to another scope
    assigned = {id(b.statement) for b in dead if b.alias is None}
    if binding.name == "*" or "." in binding.name:
        # No name of its own: it serves everything that is reached through it.
        return not any(
            path.startswith(binding.path.removesuffix("*"))
            for chain, path in references(unit)
            if not any(gone(n) for n in ast.walk(chain) if isinstance(n, ast.Name))
        )
    read = [n for n in scopes.mentions(binding.name, home) if isinstance(n.ctx, ast.Load)]
    if not read and unit.filename.endswith("__init__.py"):
        return False  # there for other files
    if (
        not read
        and binding.alias is None
        and (_is_transformer(binding.path) or scopes.may_be_wanted(binding.name))
    ):
        return False
    for node in read:
        if id(scopes.statement(node)) in assigned or gone(node):
            continue
        return False
    return not scopes.exported(binding.name)


def _without(statement: ast.stmt, names: set[str]) -> str:
    if not isinstance(statement, ast.Import | ast.ImportFrom):
        return ""
    written = statement.names if isinstance(statement, ast.Import) else _written(statement)
    kept = [a for a in written if (a.asname or a.name) not in names]
    if isinstance(statement, ast.Import) and any("." in name for name in names):
        kept.append(ast.alias("tensorflow"))  # what ``import tensorflow.contrib.eager`` binds
    if not kept:
        return ""
    return ast.unparse(
        ast.Import(kept)
        if isinstance(statement, ast.Import)
        else ast.ImportFrom(statement.module, kept, statement.level)
    )


def import_tensorflow(unit: Unit, code: str = "import tensorflow as tf") -> Insert:
    """The import, above the first import of the file, or all of its code."""
    body = unit.tree.body
    for statement in body:
        if isinstance(statement, ast.Import | ast.ImportFrom) and (
            getattr(statement, "module", "") != "__future__"
        ):
            return Insert(unit.lines.span(statement), "before", code)
    rest = [s for s in body if not _is_first(s)]
    if not rest:
        return Insert(unit.lines.span(body[-1]), "after", code)
    gap = "\n\n\n" if isinstance(rest[0], _APART) else "\n\n"
    return Insert(unit.lines.span(rest[0]), "before", f"{code}{gap}")


def _is_first(statement: ast.stmt) -> bool:
    """Whether nothing may stand above the statement: a docstring, ``from __future__ import …``."""
    if isinstance(statement, ast.Expr):
        return isinstance(statement.value, ast.Constant)
    return isinstance(statement, ast.ImportFrom) and statement.module == "__future__"


def is_optional(unit: Unit) -> bool:
    """Whether the file imports TensorFlow, but in functions only, or where that may fail."""
    found: list[ast.stmt] = [
        n for n in unit.nodes(ast.Import) if any(_is_of_it(a.name) for a in n.names)
    ]
    found += [n for n in unit.nodes(ast.ImportFrom) if not n.level and _is_of_it(n.module or "")]
    return bool(found) and not any(n in unit.tree.body for n in found)


def _is_of_it(module: str) -> bool:
    return module.split(".")[0] == "tensorflow"
