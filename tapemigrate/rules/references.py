"""TM904: gradient functions that go where no call of theirs can be seen.

A name that nothing here calls, an import that is there for other files, the attribute of an object
that holds TensorFlow itself. Functions that are passed on as values are for ``arguments`` and
``tfe_sites``.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache

from tapemigrate.rules import catalog
from tapemigrate.rules.callgraph.places import may_hold, split_path
from tapemigrate.rules.finding import Finding, Unit
from tapemigrate.rules.in_texts import in_texts
from tapemigrate.rules.project import Project

_RECIPE = (
    "Call it where the forward pass runs, or pass a function that opens a `tf.GradientTape` of its "
    "own. A function of your own that acts as it can be named in the setting `aliases`."
)
_LONGEST = 40
# What is read of a function by those who do not call it.
_ABOUT = frozenset({"__doc__", "__name__", "__module__", "__qualname__"})


def findings(project: Project, unit: Unit) -> list[Finding]:
    """What is to be said of such references in ``unit``."""
    if project.keeps_graphs and unit.graph:
        return []
    found: list[tuple[ast.expr | ast.alias, str]] = [
        *_named(project, unit),
        *_exported(project, unit),
        *_held(project, unit),
        *in_texts(project, unit),
    ]
    return [
        Finding(
            "TM904",
            unit.filename,
            unit.lines.span(node),
            f"`{_shown(unit, node)}` {how}, where no rewrite can follow it",
            _RECIPE,
        )
        for node, how in found
    ]


def _shown(unit: Unit, node: ast.expr | ast.alias) -> str:
    """What stands there; of a long text, how it begins."""
    text = unit.lines.segment(unit.lines.span(node))
    long = isinstance(node, ast.Constant) and (len(text) > _LONGEST or "\n" in text)
    return f"{text.partition(chr(10))[0][:_LONGEST]}…" if long else text


def _named(project: Project, unit: Unit) -> Iterator[tuple[ast.expr, str]]:
    """Names given to a gradient function that are never read, and attributes of one."""
    read: set[tuple[str, str]] | None = None
    for expr, path in unit.names.references():
        if not _is_gradient(project, path):
            owner, _, last = path.rpartition(".")
            if last not in _ABOUT and _is_gradient(project, owner):
                yield expr, "is an attribute of a gradient function"
            continue
        name = unit.names.alias_definition(expr)
        if name is None or unit.names.reference_kind(expr) == "getattr":
            continue
        if read is None:
            read = {(n, p) for e, p in unit.names.references() if (n := _root(e)) is not None}
        parent = unit.parents[expr]
        if isinstance(parent, ast.NamedExpr) and not isinstance(unit.parents[parent], ast.Expr):
            yield expr, "is used where it is given a name"
        elif (name, path) not in read:
            yield expr, f"is given the name `{name}`, which nothing here calls"


def _root(expr: ast.expr) -> str | None:
    while isinstance(expr, ast.Attribute):
        expr = expr.value
    return expr.id if isinstance(expr, ast.Name) else None


def _exported(project: Project, unit: Unit) -> Iterator[tuple[ast.alias, str]]:
    """Imports of gradient functions that are there for other files."""
    package = unit.filename.endswith("__init__.py")
    for alias, path in unit.names.reexports():
        if _is_gradient(project, path):
            name = alias.asname or alias.name
            if package or alias.asname == alias.name or name in _all(unit):
                yield alias, "is handed on to other files"
            elif (user := _taken_by(project, unit, name)) is not None:
                yield alias, f"is taken from here by {user}"


def handed_on(project: Project, unit: Unit) -> frozenset[str]:
    """The names of gradient functions that a file imports and does not use itself."""
    return frozenset(
        alias.asname or alias.name
        for alias, path in unit.names.reexports()
        if _is_gradient(project, path)
    )


def _taken_by(project: Project, unit: Unit, name: str) -> str | None:
    """The file that has the name from this one, if one is at hand that is not told of it itself."""
    for other in project.units.having(name):
        if other is unit:
            continue
        taken = [*other.names.references(), *other.names.reexports()]
        taken += [(node, f"{module}.{name}") for module, node in _from_stars(other, name)]
        known = dict(other.handed_on)
        for _, path in taken:
            if path in known:
                continue
            module, own = split_path(path)
            if own == name and module.strip(".") and may_hold(unit.filename, module):
                return other.filename
    return None


def _from_stars(unit: Unit, name: str) -> Iterator[tuple[str, ast.Name]]:
    """The modules of which all names are imported, if the file reads the name and gives it none."""
    named = [n for n in unit.nodes(ast.Name) if n.id == name] if unit.names.stars else []
    if named and all(isinstance(n.ctx, ast.Load) for n in named):
        yield from ((module, named[0]) for module in unit.names.stars)


def _all(unit: Unit) -> frozenset[str]:
    """The names that ``__all__`` lists."""
    return frozenset(
        n.value
        for statement in unit.tree.body
        if isinstance(statement, ast.Assign | ast.AugAssign | ast.AnnAssign)
        and statement.value is not None
        and "__all__" in (_root(t) for t in getattr(statement, "targets", [statement]) or ())
        for n in ast.walk(statement.value)
        if isinstance(n, ast.Constant) and isinstance(n.value, str)
    )


def _held(project: Project, unit: Unit) -> Iterator[tuple[ast.expr, str]]:
    """Gradient functions of a module that is kept in an attribute, or is a parameter's default."""
    wanted = [
        node
        for node in unit.nodes(ast.Attribute)
        if node.attr in _names()
        and isinstance(node.ctx, ast.Load)
        and unit.names.qualified(node) is None
    ]
    if not wanted:
        return
    holders = _holders(unit)
    for node in wanted:
        module = holders.get(_holder_of(unit, node.value))
        if module is not None and _is_gradient(project, f"{module}.{node.attr}"):
            yield node, f"may be that of `{module}`, which is kept there"


def _holders(unit: Unit) -> dict[tuple[ast.AST | None, str] | None, str]:
    """What attributes, and parameters by their functions, are given of imported modules."""
    found: dict[tuple[ast.AST | None, str] | None, str] = {}
    for node in unit.parents:
        if isinstance(node, ast.Assign):
            path = unit.names.qualified(node.value)
            in_class = isinstance(unit.parents[node], ast.ClassDef)
            for target in node.targets if path is not None else ():
                if isinstance(target, ast.Attribute):
                    found[None, target.attr] = path or ""
                elif isinstance(target, ast.Name) and in_class:
                    found[None, target.id] = path or ""
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            for name, default in _defaults(node.args):
                path = unit.names.qualified(default)
                if path is not None:
                    found[node, name] = path
    return found


def _defaults(arguments: ast.arguments) -> Iterator[tuple[str, ast.expr]]:
    positional = [*arguments.posonlyargs, *arguments.args]
    last = positional[len(positional) - len(arguments.defaults) :]
    yield from zip((a.arg for a in last), arguments.defaults, strict=True)
    for argument, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        if default is not None:
            yield argument.arg, default


def _holder_of(unit: Unit, node: ast.expr) -> tuple[ast.AST | None, str] | None:
    if isinstance(node, ast.Attribute):
        return None, node.attr
    if not isinstance(node, ast.Name):
        return None
    current: ast.AST | None = node
    while current is not None:
        if isinstance(current, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            arguments = current.args
            every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
            if any(a.arg == node.id for a in every):
                return current, node.id
        current = unit.parents.get(current)
    return None


@cache
def _names() -> frozenset[str]:
    """The last parts of the names of all gradient functions."""
    return frozenset(
        path.rpartition(".")[2]
        for path, symbol in catalog.symbols().items()
        if symbol.rule < "TM116"
    )


def _is_gradient(project: Project, path: str) -> bool:
    symbol = catalog.lookup(path, project.aliases)
    return symbol is not None and catalog.is_gradient(symbol)
