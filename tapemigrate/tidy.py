"""Takes away the imports of TensorFlow that nothing needs once the calls are rewritten."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from tapemigrate.names import TENSORFLOW_MODULES, Names
from tapemigrate.patterns import late
from tapemigrate.rules.finding import Unit
from tapemigrate.source.positions import Lines
from tapemigrate.source.trees import walk
from tapemigrate.tape.plan import ReplaceStatement

_LINE = 88
_Import = ast.Import | ast.ImportFrom
_NAME = late(r"[^\W\d]\w*")


def without_unneeded(text: str, before: Unit) -> str:
    """``text``, which ``before`` was rewritten to, without imports that lost their last use.

    What was never used in the file stays; so does what other files may import from it.
    """
    from tapemigrate.codemods import CodemodError, apply

    if before.filename.endswith("__init__.py") or not any(_candidates(before.tree)):
        return text
    try:
        tree = ast.parse(text)
    except SyntaxError:
        return text
    candidates = list(_candidates(tree))
    nodes = (n for n in walk(tree) if isinstance(n, ast.Name))
    read = {n.id for n in nodes if isinstance(n.ctx, ast.Load)}
    if all((alias.asname or alias.name) in read for _, found in candidates for alias in found):
        return text
    names = Names(tree)
    never = {(alias.asname or alias.name, path) for alias, path in before.names.reexports()}
    idle = {id(alias): path for alias, path in names.reexports()}
    lines = Lines(text)
    ops = []
    kept = _mentioned(tree)
    for statement, aliases in candidates:
        gone = []
        for alias in aliases:
            name, path = alias.asname or alias.name, idle.get(id(alias))
            if path is not None and (name, path) not in never and name not in kept:
                gone.append(alias)
        span = lines.span(statement)
        if gone and "#" not in lines.row(span.end_row)[span.end_column :]:
            rest = [alias for alias in statement.names if alias not in gone]
            ops.append(ReplaceStatement(span, _import(statement, rest) if rest else ""))
    try:
        return apply(text, tree, ops)
    except CodemodError:
        return text


def _candidates(tree: ast.Module) -> Iterator[tuple[_Import, list[ast.alias]]]:
    """The imports that may go, if nothing uses them: of the module, or of a function."""
    blocks: list[list[ast.stmt]] = [tree.body]
    blocks += [n.body for n in walk(tree) if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)]
    for block in blocks:
        for statement in block:
            if isinstance(statement, ast.Import):
                found = [a for a in statement.names if a.asname and _is_part(a.name)]
            elif isinstance(statement, ast.ImportFrom) and not statement.level:
                module = statement.module or ""
                found = [a for a in statement.names if _is_part(f"{module}.{a.name}")]
            else:
                continue
            if found and len(block) > 1:
                yield statement, found


def _is_part(path: str) -> bool:
    """Whether the import is of a part of TensorFlow, not of the whole."""
    return path.startswith("tensorflow.") and path not in TENSORFLOW_MODULES


def _mentioned(tree: ast.Module) -> set[str]:
    """Names that are bound again, deleted or declared, and those in strings that may be code."""
    found: set[str] = set()
    for node in walk(tree):
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            found.add(node.id)
        elif isinstance(node, ast.Global | ast.Nonlocal):
            found.update(node.names)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            found.add(node.name)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            found.update(_names_in(node.value))
    return found


def _names_in(text: str) -> Iterable[str]:
    """The names in an annotation, or in code, that is written as a string."""
    try:
        ast.parse(text.strip(), mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ()
    return _NAME.findall(text)


def _import(statement: _Import, names: list[ast.alias]) -> str:
    if isinstance(statement, ast.Import):
        return ast.unparse(ast.Import(names))
    code = ast.unparse(ast.ImportFrom(statement.module, names, statement.level))
    if len(code) <= _LINE:
        return code
    listed = "".join(f"    {ast.unparse(alias)},\n" for alias in names)
    return f"from {statement.module} import (\n{listed})"
