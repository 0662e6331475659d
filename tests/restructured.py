"""Ways to write a program differently that leave what it computes as it is.

A value moves to a helper, a function to another file, a method out of its class: as a colleague
might have written it, in places that the tool has not seen.
"""

from __future__ import annotations

import ast
import builtins
import copy
from collections.abc import Callable
from random import Random

Files = dict[str, str]
Change = Callable[[ast.Module, Random, Files], bool]
"""Rewrites a program in one place, if it can; says whether it did. It may add files."""

_BUILTIN = frozenset(dir(builtins))
_SCOPES = (ast.FunctionDef, ast.Lambda, ast.ClassDef, ast.Global, ast.Nonlocal, ast.comprehension)
_OWN = (ast.Yield, ast.YieldFrom, ast.Await, ast.NamedExpr, *_SCOPES)
_MOVED = (ast.Assign, ast.AugAssign, ast.Expr, ast.With)
_MADE = (
    "def {0}(*args, **kwargs):\n    return {1}(*args, **kwargs)",
    "def {0}(*args):\n    made = {1}(*args)\n    return made",
)
_HELD = (
    ("box = {{}}", "box['{0}']"),
    ("box = [None]", "box[0]"),
    ("box = type('Box', (), {{}})()", "box.{0}"),
)
_CHOSEN = ("({0}) if len('ab') == 2 else None", "({0}) if len('ab') == 2 else ({0})")


def restructured(texts: Files, name: str, random: Random) -> Files | None:
    """The program with up to three such changes in one file; None where none can be made."""
    tree, files = ast.parse(texts[name]), dict(texts)
    made = [random.choice(CHANGES)(tree, random, files) for _ in range(random.choice((1, 2, 3)))]
    if not any(made):
        return None
    return {**files, name: ast.unparse(ast.fix_missing_locations(tree)) + "\n"}


def value_by_a_helper(tree: ast.Module, random: Random, files: Files) -> bool:
    """``y = f(x) * x`` becomes ``y = helper(x)``."""
    function = _one_of(_functions(tree), random)
    made = [s for s in _walked(function) if isinstance(s, ast.Assign | ast.Return) and s.value]
    made = [s for s in made if s.value is not None and not _holds(s.value, _OWN)]
    if function is None or not made:
        return False
    stmt = random.choice(made)
    assert stmt.value is not None
    names, helper = _read(stmt.value, function), _new_name(tree, "helper")
    stmt.value = _place(tree, helper, names, [ast.Return(stmt.value)])
    return True


def statements_by_a_helper(tree: ast.Module, random: Random, files: Files) -> bool:
    """Two statements that stand beside each other go to a helper, which gives what they made."""
    function = _one_of(_functions(tree), random)
    if function is None or len(function.body) < 3 or _holds(function, _OWN, inside=True):
        return False
    first = random.randrange(len(function.body) - 2)
    part = function.body[first : first + 2]
    made = {n.id for s in part for n in ast.walk(s) if _is_stored(n) and isinstance(n, ast.Name)}
    if not made or not all(isinstance(s, _MOVED) for s in part):
        return False
    known = {a.arg for a in ast.walk(function.args) if isinstance(a, ast.arg)}
    for stmt in function.body[:first]:
        known |= {n.id for n in ast.walk(stmt) if isinstance(n, ast.Name) and _is_stored(n)}
    read = {n.id for s in part for n in ast.walk(s) if isinstance(n, ast.Name)} & known
    given = ", ".join(sorted(made)) + ","
    end = ast.parse(f"({given})", mode="eval").body
    call = _place(tree, _new_name(tree, "helper"), sorted(read), [*part, ast.Return(end)])
    (stmt,) = ast.parse(f"{given} = {ast.unparse(call)}").body
    function.body[first : first + 2] = [stmt]
    return True


def part_of_the_object(tree: ast.Module, random: Random, files: Files) -> bool:
    """A name of a method becomes a part of its object."""
    methods = [f for f in _functions(tree) if _takes_self(f) and not _holds(f, _OWN, inside=True)]
    function = _one_of(methods, random)
    names = sorted(_made_in(function)) if function is not None else []
    if function is None or not names:
        return False
    name = random.choice(names)
    _rename(function.body, name, f"self.{name}_")
    return True


def held_in_a_container(tree: ast.Module, random: Random, files: Files) -> bool:
    """A name of a function becomes an element of a dict or list, or a part of an object."""
    plain = [f for f in _functions(tree) if not _holds(f, _OWN, inside=True)]
    function = _one_of(plain, random)
    names = sorted(_made_in(function)) if function is not None else []
    if function is None or not names or "box" in ast.unparse(function):
        return False
    name = random.choice(names)
    made, read = random.choice(_HELD)
    _rename(function.body, name, read.format(name))
    function.body[:0] = ast.parse(made.format(name)).body
    return True


def chosen_by_a_condition(tree: ast.Module, random: Random, files: Files) -> bool:
    """What a name is given depends on what is always so."""
    function = _one_of(_functions(tree), random)
    made = [s for s in _walked(function) if isinstance(s, ast.Assign)]
    made = [s for s in made if not _holds(s.value, (ast.Yield, ast.YieldFrom, ast.Await))]
    if not made:
        return False
    stmt = random.choice(made)
    form = random.choice(_CHOSEN).format(f"({ast.unparse(stmt.value)})")
    stmt.value = ast.parse(form, mode="eval").body
    return True


def another_file(tree: ast.Module, random: Random, files: Files) -> bool:
    """A function, or a class, that needs nothing of the file moves to one of its own."""
    found = [
        n
        for n in tree.body
        if isinstance(n, ast.FunctionDef | ast.ClassDef) and n.name != "run"
        if _free(n) <= {"tf", "np", "object"}
    ]
    if not found:
        return False
    moved, module = random.choice(found), f"moved_{len(files)}"
    files[f"{module}.py"] = f"import numpy as np\nimport tensorflow as tf\n\n{ast.unparse(moved)}\n"
    tree.body.remove(moved)
    imports = (i for i, s in enumerate(tree.body) if isinstance(s, ast.Import | ast.ImportFrom))
    place = next(imports, 0)
    tree.body[place:place] = ast.parse(f"from {module} import {moved.name}").body
    return True


def called_object(tree: ast.Module, random: Random, files: Files) -> bool:
    """A function becomes an object that is called."""
    plain = [f for f in tree.body if isinstance(f, ast.FunctionDef) and f.name != "run"]
    function = _one_of([f for f in plain if not f.decorator_list], random)
    if function is None or _takes_self(function):
        return False
    name = f"Called_{function.name}"
    (cls, made) = ast.parse(
        f"class {name}(object):\n    def __call__(self): pass\n{function.name} = {name}()"
    ).body
    assert isinstance(cls, ast.ClassDef)
    method = cls.body[0]
    assert isinstance(method, ast.FunctionDef)
    method.body, method.args = function.body, copy.deepcopy(function.args)
    method.args.args.insert(0, ast.arg("self"))
    place = tree.body.index(function)
    tree.body[place : place + 1] = [cls, made]
    return True


def function_of_a_method(tree: ast.Module, random: Random, files: Files) -> bool:
    """A method hands its object, and what it is handed, to a function that does its work."""
    methods = [
        m
        for cls in tree.body
        if isinstance(cls, ast.ClassDef)
        for m in cls.body
        if isinstance(m, ast.FunctionDef) and _takes_self(m) and not m.decorator_list
        if not (m.args.vararg or m.args.kwarg or m.args.kwonlyargs)
        if not _holds(m, (ast.Yield, ast.YieldFrom)) and "super" not in ast.unparse(m)
    ]
    method = _one_of(methods, random)
    if method is None:
        return False
    names = [a.arg for a in method.args.args]
    call = _place(tree, _new_name(tree, "work"), names, method.body)
    method.body = [ast.Expr(call) if method.name == "__init__" else ast.Return(call)]
    return True


def made_by_a_function(tree: ast.Module, random: Random, files: Files) -> bool:
    """``Net(x)`` becomes ``make(x)``."""
    classes = {c.name: c for c in tree.body if isinstance(c, ast.ClassDef)}
    calls = [n for n in ast.walk(tree) if isinstance(n, ast.Call) and isinstance(n.func, ast.Name)]
    calls = [c for c in calls if isinstance(c.func, ast.Name) and c.func.id in classes]
    if not calls:
        return False
    call, name = random.choice(calls), _new_name(tree, "make")
    assert isinstance(call.func, ast.Name)
    maker = ast.parse(random.choice(_MADE).format(name, call.func.id)).body
    place = tree.body.index(classes[call.func.id]) + 1
    tree.body[place:place] = maker
    call.func = ast.Name(name, ast.Load())
    return True


def behind_others(tree: ast.Module, random: Random, files: Files) -> bool:
    """A function hands what it is handed through six others to the one that does its work."""
    holders = [tree, *(n for n in tree.body if isinstance(n, ast.ClassDef))]
    found = [
        (holder, f)
        for holder in holders
        for f in holder.body
        if isinstance(f, ast.FunctionDef) and not f.name.startswith("__") and not f.decorator_list
        if not (f.args.vararg or f.args.kwarg or f.args.kwonlyargs)
        if holder is tree or _takes_self(f)
        if not _holds(f, (ast.Yield, ast.YieldFrom)) and "super" not in ast.unparse(f)
    ]
    if not found:
        return False
    holder, function = random.choice(found)
    names, body = [a.arg for a in function.args.args], function.body
    for _ in range(6):
        other = _new_name(tree, "behind")
        bound = [other, *names] if holder is tree else [f"self.{other}", *names[1:]]
        (behind,) = ast.parse(f"def {other}({', '.join(names)}): pass").body
        assert isinstance(behind, ast.FunctionDef)
        behind.body = body
        holder.body.insert(holder.body.index(function), behind)
        call = ast.parse(f"{bound[0]}({', '.join(bound[1:])})", mode="eval").body
        body = [ast.Return(call)]
    function.body = body
    return True


CHANGES: tuple[Change, ...] = (
    *(value_by_a_helper, statements_by_a_helper, part_of_the_object, held_in_a_container),
    *(chosen_by_a_condition, another_file, called_object, function_of_a_method),
    *(made_by_a_function, behind_others),
)


def _functions(tree: ast.Module) -> list[ast.FunctionDef]:
    return [n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef)]


def _one_of(functions: list[ast.FunctionDef], random: Random) -> ast.FunctionDef | None:
    return random.choice(functions) if functions else None


def _walked(function: ast.FunctionDef | None) -> list[ast.AST]:
    return [] if function is None else list(ast.walk(function))


def _takes_self(function: ast.FunctionDef) -> bool:
    return [a.arg for a in function.args.args[:1]] == ["self"]


def _holds(root: ast.AST, kinds: tuple[type[ast.AST], ...], inside: bool = False) -> bool:
    """Whether a node of such a kind is there, other than the root itself if ``inside``."""
    return any(isinstance(n, kinds) and not (inside and n is root) for n in ast.walk(root))


def _is_stored(node: ast.AST) -> bool:
    return isinstance(getattr(node, "ctx", None), ast.Store)


def _made_in(function: ast.FunctionDef) -> set[str]:
    """The names that it makes, and is not handed."""
    own = {a.arg for a in ast.walk(function.args) if isinstance(a, ast.arg)}
    return {n.id for n in ast.walk(function) if isinstance(n, ast.Name) and _is_stored(n)} - own


def _read(value: ast.expr, function: ast.FunctionDef) -> list[str]:
    """The names of the function that a value reads."""
    own = {a.arg for a in ast.walk(function.args) if isinstance(a, ast.arg)} | _made_in(function)
    return sorted({n.id for n in ast.walk(value) if isinstance(n, ast.Name)} & own)


def _free(node: ast.AST) -> set[str]:
    """The names that it needs of the file; the text of a ``global`` where it has one."""
    names = [n for n in ast.walk(node) if isinstance(n, ast.Name)]
    bound = {n.id for n in names if _is_stored(n)}
    bound |= {n.arg for n in ast.walk(node) if isinstance(n, ast.arg)}
    bound |= {n.name for n in ast.walk(node) if isinstance(n, ast.FunctionDef | ast.ClassDef)}
    shared = {"global" for n in ast.walk(node) if isinstance(n, ast.Global | ast.Nonlocal)}
    return {n.id for n in names} - bound - _BUILTIN | shared


def _new_name(tree: ast.Module, base: str) -> str:
    text = ast.unparse(tree)
    return next(name for i in range(len(text)) if (name := f"{base}_{i}") not in text)


def _place(tree: ast.Module, name: str, names: list[str], body: list[ast.stmt]) -> ast.Call:
    """Puts a function with the parameters ``names`` ahead of all others, and gives its call."""
    text = f"{name}({', '.join(names)})"
    (function,) = ast.parse(f"def {text}: pass").body
    assert isinstance(function, ast.FunctionDef)
    function.body = body
    made = (i for i, s in enumerate(tree.body) if isinstance(s, ast.FunctionDef | ast.ClassDef))
    tree.body.insert(next(made), function)
    call = ast.parse(text, mode="eval").body
    assert isinstance(call, ast.Call)
    return call


def _rename(body: list[ast.stmt], name: str, text: str) -> None:
    """Writes ``text`` for a name, wherever it is read or given a value."""

    class Renaming(ast.NodeTransformer):
        def visit_Name(self, node: ast.Name) -> ast.expr:
            if node.id != name:
                return node
            value = ast.parse(text, mode="eval").body
            value.ctx = node.ctx  # type: ignore[attr-defined]
            return value

    for stmt in body:
        Renaming().visit(stmt)
