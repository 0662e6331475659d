"""Names that stand for objects whose methods run without being named: ``net(x)``, ``net * x``."""

from __future__ import annotations

import ast
from collections.abc import Callable, Container, Iterator

from tapemigrate.flow.functions import NamedFunction, parameters
from tapemigrate.flow.paths import path_of
from tapemigrate.rules.callgraph.classes import is_of_library
from tapemigrate.rules.finding import Unit
from tapemigrate.rules.unseen.bindings import bound_parts, last_name, parts, with_second_names
from tapemigrate.rules.unseen.given import handed_by, takers
from tapemigrate.source.trees import arguments_of
from tapemigrate.tape.ops.symbols import short

# Ops that take numbers, and shapes made of them, and run nothing that they are handed.
_OF_NUMBERS = frozenset(
    {"add", "cast", "div", "divide", "floordiv", "mod", "multiply", "pow", "subtract"}
    | {"maximum", "minimum", "constant", "eye", "fill", "linspace", "one_hot", "ones", "range"}
    | {"placeholder", "reshape", "scatter_nd", "slice", "tile", "zeros", "TensorShape"}
    | {"random_normal", "random_uniform", "truncated_normal", "random.truncated_normal"}
    | {"random.normal", "random.uniform"}
)
_TO_SHAPES = frozenset({"tuple", "list", "int"})

# Python calls these, and Keras and Sonnet the other two.
_ONCE = frozenset({"__init__", "__new__", "__del__", "__repr__", "__str__"})
_FOR_LIBRARIES = ("call", "_build")


def standing_for(
    unit: Unit, running: Container[str], imported: frozenset[str] = frozenset()
) -> frozenset[str]:
    """The last names of what may be an object of the file whose methods are among ``running``.

    ``running`` are names of functions and classes. What ``imported`` functions and classes give
    are such objects, too. Where a call hands such an object to another function, it may have the
    name of any parameter of the file.
    """
    classes = imported | {
        cls.name
        for cls in unit.nodes(ast.ClassDef)
        if cls.name in running and any(name in running for name in _run_unnamed(cls))
    }
    if not classes:
        return frozenset()
    made = {name for name, part in bound_parts(unit) if _is_made(part, classes)}
    names = set(with_second_names(unit, made))
    given = (each for call in unit.nodes(ast.Call) for each in arguments_of(call))
    if any(_makes(each, classes) or _goes_by(each, names) for each in given):
        names.update(a.arg for f in _functions(unit) for a in parameters(f.args))
    return frozenset(names - {"self"})


def given_by(unit: Unit, makes: Callable[[ast.expr], bool]) -> frozenset[str]:
    """The last names in the file of what functions may give that ``makes`` knows, by their names.

    So go what keeps it, and the parameters of the file's functions that are handed it.
    """

    def is_made(part: ast.expr) -> bool:
        return isinstance(part, ast.Call) and makes(part.func)

    def made_by(value: ast.expr) -> bool:
        return any(map(is_made, parts(value)))

    names = with_second_names(unit, {name for name, part in bound_parts(unit) if is_made(part)})
    calls, taking = unit.nodes(ast.Call), unit.once(takers)

    def is_one(value: ast.expr) -> bool | None:
        return made_by(value) or _goes_by(value, names) or None

    return names | {parameter for (_, parameter), _ in handed_by(calls, taking, is_one)}


def is_used_whole(unit: Unit, node: ast.AST) -> bool:
    """Whether a name, or an attribute, stands there for itself, and not for a part of it."""
    return not isinstance(unit.parents.get(node), ast.Attribute)


def is_called(unit: Unit, node: ast.AST) -> bool:
    """Whether a name, or an attribute, is called there, or handed to what may call it."""
    parent = unit.parents.get(node)
    return isinstance(parent, ast.Call | ast.keyword)


def is_run(unit: Unit, node: ast.AST) -> bool:
    """Whether a name, or an attribute, is called there, or handed to code of other files."""
    while isinstance(above := unit.parents.get(node), ast.Subscript | ast.keyword | ast.Starred):
        node = above
    if not isinstance(above, ast.Call):
        return False
    if above.func is node:
        return True
    path = unit.names.qualified(above.func)
    return path is not None and not is_of_library(path)


def is_number(unit: Unit, node: ast.Attribute, is_computed: Callable[[str], bool]) -> bool:
    """Whether an attribute stands for a number there that the file itself gives ``self``.

    ``tf.zeros([self.batch_size, 3])``. No method goes by what is assigned, and no property but
    one that ``is_computed`` knows.
    """
    if path_of(node.value) != ("self",) or node.attr not in unit.once(_assigned):
        return False
    above = unit.parents.get(node)
    while isinstance(above, ast.List | ast.Tuple | ast.keyword | ast.Call):
        if isinstance(above, ast.Call):
            if short(unit.names.qualified(above.func)) in _OF_NUMBERS:
                return not is_computed(node.attr)
            if not isinstance(above.func, ast.Name) or above.func.id not in _TO_SHAPES:
                return False
        above = unit.parents.get(above)
    # No function and no method is reckoned with.
    is_operand = isinstance(above, ast.BinOp | ast.UnaryOp | ast.Compare)
    return is_operand and not is_computed(node.attr)


def properties(unit: Unit) -> frozenset[str]:
    """What the classes of ``unit`` may compute where it is read: what has a decorator."""
    return frozenset(f.name for f in _functions(unit) if f.decorator_list)


def _assigned(unit: Unit) -> frozenset[str]:
    stored = (n for n in unit.nodes(ast.Attribute) if isinstance(n.ctx, ast.Store))
    return frozenset(n.attr for n in stored if path_of(n.value) == ("self",))


def runs_unnamed(method: str) -> bool:
    """Whether Python or a library runs a method of that name where it is not named."""
    is_special = method in _FOR_LIBRARIES or method[:2] == method[-2:] == "__"
    return is_special and method not in _ONCE


def _run_unnamed(cls: ast.ClassDef) -> Iterator[str]:
    return (s.name for s in cls.body if isinstance(s, NamedFunction) and runs_unnamed(s.name))


def _functions(unit: Unit) -> Iterator[NamedFunction]:
    yield from (n for n in unit.definitions if isinstance(n, NamedFunction))


def _makes(value: ast.expr, classes: Container[str]) -> bool:
    return any(_is_made(part, classes) for part in parts(value))


def _is_made(part: ast.expr, classes: Container[str]) -> bool:
    return isinstance(part, ast.Call) and last_name(part.func) in classes


def _goes_by(value: ast.expr, names: Container[str]) -> bool:
    return any(last_name(part) in names for part in parts(value))
