"""Ways to write the same statements: annotated, by second names, in functions inside."""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Iterator, Mapping

_OF_FUNCTIONS = (ast.Yield, ast.YieldFrom, ast.Global, ast.Nonlocal)

Way = Callable[[ast.Module], ast.Module]


def written_otherwise(texts: Mapping[str, str], way: Way) -> dict[str, str]:
    """A program, all of which is written in another way."""
    return {
        name: ast.unparse(ast.fix_missing_locations(way(ast.parse(text)))) + "\n"
        if name.endswith(".py")
        else text
        for name, text in texts.items()
    }


class _InFunctions(ast.NodeTransformer):
    """Goes through the statements of functions."""

    def __init__(self) -> None:
        self.shared: set[str] | None = None
        self.count = 0

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        around = self.shared
        declared = [n for n in ast.walk(node) if isinstance(n, ast.Global | ast.Nonlocal)]
        self.shared = {name for each in declared for name in each.names}
        self.generic_visit(node)
        self.shared = around
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        around, self.shared = self.shared, None
        self.generic_visit(node)
        self.shared = around
        return node


class _Annotating(_InFunctions):
    def visit_Assign(self, node: ast.Assign) -> ast.AST:
        (target, *others) = node.targets
        if others or self.shared is None or not isinstance(target, ast.Name | ast.Attribute):
            return node
        if isinstance(target, ast.Name) and target.id in self.shared:
            return node
        simple = int(isinstance(target, ast.Name))
        return ast.AnnAssign(target, ast.Name("object", ast.Load()), node.value, simple)


class _Naming(_InFunctions):
    def visit_Assign(self, node: ast.Assign) -> ast.AST | list[ast.stmt]:
        match node.value:
            case ast.Call(func=ast.Attribute(value=ast.Name(id=owner)) as func) if (
                self.shared is not None and owner not in ("tf", "np", "tfe", "session")
            ):
                self.count += 1
                name = f"method_{self.count}"
                node.value.func = ast.Name(name, ast.Load())
                return [ast.Assign([ast.Name(name, ast.Store())], func), node]
        return node


class _Again(_InFunctions):
    """Gives what is assigned to another name besides, in one of several forms."""

    def __init__(self, form: Callable[[ast.Assign, str], list[ast.stmt]]) -> None:
        super().__init__()
        self._form = form

    def visit_Assign(self, node: ast.Assign) -> ast.AST | list[ast.stmt]:
        (target, *others) = node.targets
        if others or self.shared is None or not isinstance(target, ast.Name | ast.Attribute):
            return node
        if isinstance(target, ast.Name) and target.id in self.shared:
            return node
        self.count += 1
        return self._form(node, f"again_{self.count}")


class _Returning(ast.NodeTransformer):
    def visit_Return(self, node: ast.Return) -> ast.AST | list[ast.stmt]:
        if node.value is None:
            return node
        made = ast.Assign([ast.Name("found", ast.Store())], node.value)
        return [made, ast.Return(ast.Name("found", ast.Load()))]


def annotated(tree: ast.Module) -> ast.Module:
    """``y: object = f(x)`` for ``y = f(x)``, in functions."""
    return _written(_Annotating(), tree)


def methods_named(tree: ast.Module) -> ast.Module:
    """``method = net.loss; y = method(x)`` for ``y = net.loss(x)``, in functions."""
    return _written(_Naming(), tree)


def named_to_return(tree: ast.Module) -> ast.Module:
    """``found = y; return found`` for ``return y``."""
    return _written(_Returning(), tree)


def by_two_names(tree: ast.Module) -> ast.Module:
    """``again = y = f(x)`` for ``y = f(x)``, in functions."""
    return _written(_Again(lambda stmt, name: [_assign([_store(name), *stmt.targets], stmt)]), tree)


def by_a_second_name(tree: ast.Module) -> ast.Module:
    """``again = f(x); y = again`` for ``y = f(x)``, in functions."""
    return _written(_Again(_handed_on), tree)


def by_one_name(tree: ast.Module) -> ast.Module:
    """The same, by one name for all."""
    return _written(_Again(lambda stmt, _: _handed_on(stmt, "again")), tree)


def by_choice(tree: ast.Module) -> ast.Module:
    """``y = f(x) if len("ab") == 2 else f(x)`` for ``y = f(x)``, in functions."""
    return _written(_Again(lambda stmt, _: [_assign(stmt.targets, _chosen(stmt))]), tree)


def in_a_pair(tree: ast.Module) -> ast.Module:
    """``y, again = f(x), 0`` for ``y = f(x)``, in functions."""
    return _written(_Again(_paired), tree)


def in_a_dict(tree: ast.Module) -> ast.Module:
    """``again = {"y": f(x)}; y = again["y"]`` for ``y = f(x)``, in functions."""
    return _written(_Again(_held), tree)


def out_of_a_tuple(tree: ast.Module) -> ast.Module:
    """``again = f(x), 0; y, _ = again`` for ``y = f(x)``, in functions."""
    return _written(_Again(_taken_out), tree)


def kept_by_a_name(tree: ast.Module) -> ast.Module:
    """``again = f(x); self.y = again; again is None`` for ``self.y = f(x)``."""
    return _written(_Again(_kept), tree)


def by_a_second_self(tree: ast.Module) -> ast.Module:
    """``me = self``, and ``me`` from there on, in methods that ask no class above."""
    for method in _methods(tree):
        if "super()" not in ast.unparse(method):
            for node in (n for stmt in method.body for n in ast.walk(stmt)):
                if isinstance(node, ast.Name) and node.id == "self":
                    node.id = "me"
            made = ast.Assign([ast.Name("me", ast.Store())], ast.Name("self", ast.Load()))
            method.body.insert(0, made)
    return tree


def bodies_inside(tree: ast.Module) -> ast.Module:
    """``def f(x): def inside(): …; return inside()`` for ``def f(x): …``, where names allow it."""
    for function in [n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef)]:
        nodes = [n for stmt in function.body for n in ast.walk(stmt)]
        if any(isinstance(n, _OF_FUNCTIONS) for n in nodes) or "super()" in ast.unparse(function):
            continue
        given = {n.arg for n in ast.walk(function.args) if isinstance(n, ast.arg)}
        if given & {n.id for n in nodes if isinstance(n, ast.Name) and _is_given(n)}:
            continue
        (inside,) = ast.parse("def inside(): pass").body
        assert isinstance(inside, ast.FunctionDef)
        inside.body = function.body
        call = ast.Call(ast.Name("inside", ast.Load()), [], [])
        function.body = [inside, ast.Return(call)]
    return tree


def _store(name: str) -> ast.expr:
    return ast.Name(name, ast.Store())


def _assign(targets: list[ast.expr], stmt: ast.Assign) -> ast.Assign:
    return ast.Assign(targets, stmt.value)


def _paired(stmt: ast.Assign, name: str) -> list[ast.stmt]:
    values = ast.Tuple([stmt.value, ast.Constant(0)], ast.Load())
    return [ast.Assign([ast.Tuple([*stmt.targets, _store(name)], ast.Store())], values)]


def _chosen(stmt: ast.Assign) -> ast.Assign:
    test = ast.parse("len('ab') == 2", mode="eval").body
    return ast.Assign([], ast.IfExp(test, stmt.value, copy.deepcopy(stmt.value)))


def _handed_on(stmt: ast.Assign, name: str) -> list[ast.stmt]:
    given = ast.Assign(stmt.targets, ast.Name(name, ast.Load()))
    return [_assign([_store(name)], stmt), given]


def _held(stmt: ast.Assign, name: str) -> list[ast.stmt]:
    made = ast.Dict([ast.Constant("y")], [stmt.value])
    taken = ast.parse(f"{name}['y']", mode="eval").body
    return [ast.Assign([_store(name)], made), ast.Assign(stmt.targets, taken)]


def _taken_out(stmt: ast.Assign, name: str) -> list[ast.stmt]:
    made = ast.Assign([_store(name)], ast.Tuple([stmt.value, ast.Constant(0)], ast.Load()))
    targets = ast.Tuple([*stmt.targets, _store("_")], ast.Store())
    return [made, ast.Assign([targets], ast.Name(name, ast.Load()))]


def _kept(stmt: ast.Assign, name: str) -> list[ast.stmt]:
    if not isinstance(stmt.targets[0], ast.Attribute):
        return [stmt]
    return [*_handed_on(stmt, name), *ast.parse(f"{name} is None").body]


def _is_given(name: ast.Name) -> bool:
    return isinstance(name.ctx, ast.Store | ast.Del)


def _written(way: ast.NodeTransformer, tree: ast.Module) -> ast.Module:
    found = way.visit(tree)
    assert isinstance(found, ast.Module)
    return found


def _methods(tree: ast.Module) -> Iterator[ast.FunctionDef]:
    for cls in (n for n in ast.walk(tree) if isinstance(n, ast.ClassDef)):
        for each in cls.body:
            if isinstance(each, ast.FunctionDef) and [a.arg for a in each.args.args[:1]] == [
                "self"
            ]:
                yield each
