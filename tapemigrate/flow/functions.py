"""Functions as scopes: their parameters, and the names that they take from outside."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tapemigrate.flow.paths import Path, path_of
from tapemigrate.source.trees import children, declarations, kept, walk

Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
NamedFunction = ast.FunctionDef | ast.AsyncFunctionDef
Scope = ast.Module | ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)


def parameters(args: ast.arguments) -> Iterator[ast.arg]:
    """Every parameter, in the order in which calls fill them."""
    yield from args.posonlyargs
    yield from args.args
    if args.vararg:
        yield args.vararg
    yield from args.kwonlyargs
    if args.kwarg:
        yield args.kwarg


def is_static(function: NamedFunction) -> bool:
    """Whether it is a static method, which is handed neither an object nor its class."""
    return ("staticmethod",) in map(path_of, function.decorator_list)


def is_of_class(function: NamedFunction) -> bool:
    """Whether it is a class method, which is handed its class in an object's place."""
    return ("classmethod",) in map(path_of, function.decorator_list)


def calls_first(function: NamedFunction) -> bool:
    """Whether it calls what it is handed first there and then, and not only in a function inside.

    ``def call(f): return f()``
    """
    first = next((a.arg for a in parameters(function.args)), None)
    pending: list[ast.AST] = [*function.body]
    while pending:
        node = pending.pop()
        if isinstance(node, ast.Call) and path_of(node.func) == (first,):
            return True
        pending += [n for n in children(node) if not isinstance(n, _SCOPES)]
    return False


def free_names(node: ast.AST) -> frozenset[str]:
    """The names that a function, lambda or class reads or writes and does not bind as its own."""
    return kept(node, _free_names)


def _free_names(node: ast.AST) -> frozenset[str]:
    own: set[str] = set()
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
        own = {a.arg for a in parameters(node.args)}
    body = node.body if isinstance(node.body, list) else [node.body]  # type: ignore[attr-defined]
    used, bound, outer = _names_in(list(body))
    return frozenset((used - bound - own) | outer)


def _names_in(stack: list[ast.AST]) -> tuple[set[str], set[str], set[str]]:
    """The names that code reads, those that it binds, and those that it declares as others'."""
    used, bound, outer = set[str](), set[str](), set[str]()
    while stack:
        n = stack.pop()
        if isinstance(n, ast.Name):
            (used if isinstance(n.ctx, ast.Load) else bound).add(n.id)
            continue
        if isinstance(n, ast.Global | ast.Nonlocal):
            outer.update(n.names)
        elif isinstance(n, _SCOPES):
            used |= free_names(n)
            if not isinstance(n, ast.Lambda):
                bound.add(n.name)
                stack.extend(n.decorator_list)
            if not isinstance(n, ast.ClassDef):
                stack.extend(defaults(n.args))
            continue
        elif isinstance(n, _COMPREHENSIONS):
            # Its names are its own; what it goes through first is read outside.
            first, targets = n.generators[0].iter, [each.target for each in n.generators]
            taken = {t.id for each in targets for t in walk(each) if isinstance(t, ast.Name)}
            parts = [c for each in n.generators for c in children(each) if c is not first]
            parts += [c for c in children(n) if not isinstance(c, ast.comprehension)]
            inside, given, _ = _names_in(parts)
            used |= inside - taken
            bound |= given - taken
            stack.append(first)
            continue
        stack.extend(children(n))
    return used, bound, outer


def free_parts(node: ast.AST) -> frozenset[Path]:
    """The attributes of such names that it reads: ``self.x``, where ``self`` is not its own."""
    return kept(node, _free_parts)


def _free_parts(node: ast.AST) -> frozenset[Path]:
    names = free_names(node)
    return frozenset(
        path
        for n in walk(node)
        if isinstance(n, ast.Attribute) and isinstance(n.ctx, ast.Load)
        if (path := path_of(n)) is not None and path[0] in names
    )


def shared_names(scope: Scope) -> frozenset[str]:
    """The names that a function declares ``global`` or ``nonlocal``."""
    return kept(scope, _shared_names)


def _shared_names(scope: ast.AST) -> frozenset[str]:
    if not isinstance(scope, ast.FunctionDef | ast.AsyncFunctionDef):
        return frozenset()
    return frozenset(name for stmt in declarations(scope.body) for name in stmt.names)


def defaults(args: ast.arguments) -> list[ast.expr]:
    """The values of parameters that are not passed, which are made where the function is."""
    return [d for d in [*args.defaults, *args.kw_defaults] if d is not None]


def named_defaults(args: ast.arguments) -> dict[str, ast.expr]:
    """The same, by the names of the parameters."""
    named = [*args.posonlyargs, *args.args]
    pairs = [*zip(named[len(named) - len(args.defaults) :], args.defaults, strict=True)]
    pairs += [(a, d) for a, d in zip(args.kwonlyargs, args.kw_defaults, strict=True) if d]
    return {a.arg: d for a, d in pairs}
