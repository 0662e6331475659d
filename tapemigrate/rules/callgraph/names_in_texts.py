"""By what texts a function is reached, or given another meaning: ``getattr``, ``__all__``, …"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from tapemigrate.flow.paths import path_of
from tapemigrate.rules.by_text import ByText
from tapemigrate.rules.callgraph.places import import_path, place_of, stem
from tapemigrate.rules.finding import Unit
from tapemigrate.rules.indexes import set_attributes
from tapemigrate.rules.project import Project
from tapemigrate.rules.units import parsed
from tapemigrate.source.trees import walk

#: One of these stands in a file in which names are put together.
LOOKING_UP = ("getattr", "globals", "locals", "vars", "eval")

_NAMED = ("_scope", "scalar", "histogram", "summary", "get_variable", "placeholder")
_TELLING: frozenset[type[ast.AST]] = frozenset({ast.Constant, ast.alias})
_SETTERS = frozenset({"setattr", "__setattr__", "patch", "setitem"})


def replaced(project: Project, home: Unit, name: str, method: bool = False) -> str:
    """Where another function may take the place of this one, with parameters of its own."""
    for unit in project.units.having(name):
        for node in unit.once(set_attributes).get(name, ()):
            # An object may keep something else under that name; a module has the function there.
            if method or unit.names.qualified(node.value) is not None:
                return f"`{name}` is set anew in {place_of(home, unit, node)}"
    return set_by_text(project, home, name)


def set_by_text(project: Project, home: Unit, name: str) -> str:
    """Where an attribute of that name is given another value: ``setattr(model, "loss", …)``.

    So it is of a class that ``type("Model", (Base,), {"loss": …})`` makes.
    """
    for unit in project.units.having(name):
        for text in unit.once(_texts).get(name, ()):
            call = unit.parents[text]
            if isinstance(call, ast.Dict) and text in call.keys:
                made = unit.parents[call]
                if isinstance(made, ast.Call) and path_of(made.func) == ("type",):
                    return f"`{name}` is set anew in {place_of(home, unit, text)}"
            path = path_of(call.func) if isinstance(call, ast.Call) else None
            if path is not None and {s.lstrip(".") for s in path} & _SETTERS:
                return f"`{name}` is set anew in {place_of(home, unit, text)}"
    return ""


def by_another_name(
    project: Project,
    home: Unit,
    name: str,
    is_path: Callable[[Unit, str], bool | None],
    inner: bool = False,
    asked: bool = True,
) -> Iterator[str]:
    """How the function may be reached where its name is not called.

    ``inner``: it stands in another function, which no text of another file looks into. ``asked``:
    something else than its module may be asked for it, and hand that on to the module.
    """
    for file in [home] if inner else project.units.may_have(name, *LOOKING_UP):
        # Most look others up: these need not be parsed.
        texts = _TEXTS.of(file)
        unit = parsed(file) if texts is not None and texts.may_mean(name) else None
        if unit is None:
            continue
        yield from named_in_text(home, unit, name)
        for node, start, end in unit.once(names_put_together):
            handed_on = isinstance(node, ast.FunctionDef) and not asked
            if name.startswith(start) and name.endswith(end) and not handed_on:
                yield f"its name may be put together in {place_of(home, unit, node)}"
        for node in unit.once(texts_and_imports).get(name, ()):
            if isinstance(node, ast.alias):
                stmt = unit.parents[node]
                where = place_of(home, unit, stmt)
                path = import_path(stmt, name) if isinstance(stmt, ast.ImportFrom) else name
                meant = is_path(unit, path) is not False
                if unit is home or (meant and node.asname not in (None, node.name)):
                    yield f"`{name}` is imported under another name in {where}"
                elif meant and stem(unit.filename) == "__init__":
                    yield f"`{name}` is exported in {where}"


def named_in_text(home: Unit, unit: Unit, name: str) -> Iterator[str]:
    """The texts of a file by which something of that name may be reached."""
    for node in unit.once(texts_and_imports).get(name, ()):
        if isinstance(node, ast.Constant):
            if _is_exported(unit, node):
                yield f"`{name}` is exported in {place_of(home, unit, node)}"
            elif not _is_no_name(unit.parents[node], node):
                yield f"`{name}` may be looked up by a text in {place_of(home, unit, node)}"


# What a file tells by itself; see ``Unit.once``.


@dataclass(frozen=True, slots=True)
class _Texts:
    """The names that stand as texts, or are imported, and how others begin and end."""

    names: frozenset[str]
    ends: frozenset[tuple[str, str]]

    def may_mean(self, name: str) -> bool:
        return name in self.names or any(
            name.startswith(start) and name.endswith(end) for start, end in self.ends
        )


def _texts_in(unit: Unit) -> _Texts:
    names = frozenset(filter(str.isidentifier, unit.once(texts_and_imports)))
    return _Texts(names, frozenset((start, end) for _, start, end in unit.once(names_put_together)))


_TEXTS = ByText(_texts_in)


def _texts(unit: Unit) -> dict[str, list[ast.Constant]]:
    """The texts, by what follows their last dot."""
    found: dict[str, list[ast.Constant]] = {}
    for node in unit.nodes(ast.Constant):
        if isinstance(node.value, str):
            found.setdefault(node.value.rpartition(".")[2], []).append(node)
    return found


def texts_and_imports(unit: Unit) -> dict[str, list[ast.Constant | ast.alias]]:
    """The texts and the imported names, by what they are or are called from then on."""
    found: dict[str, list[ast.Constant | ast.alias]] = {}
    for node in unit.parents:
        if node.__class__ not in _TELLING:
            continue
        if isinstance(node, ast.Constant):
            if isinstance(node.value, str):
                found.setdefault(node.value, []).append(node)
        elif isinstance(node, ast.alias):
            for name in {node.name, node.asname or node.name}:
                found.setdefault(name, []).append(node)
    return found


def names_put_together(unit: Unit) -> list[tuple[ast.AST, str, str]]:
    """Where names are put together to reach functions by them, and how such names begin and end.

    ``getattr(self, "loss_" + kind)``, ``globals()["loss_%s" % kind]``; also ``__getattr__``, which
    hands on whatever it is asked for.
    """
    found: list[tuple[ast.AST, str, str]] = []
    for hook in unit.nodes(ast.FunctionDef):
        if hook.name in ("__getattr__", "__getattribute__"):
            looked_up = (n for n in walk(hook) if isinstance(n, ast.Call))
            if any(path_of(n.func) == ("getattr",) for n in looked_up):
                found.append((hook, "", ""))
    for node in (*unit.nodes(ast.Call), *unit.nodes(ast.Subscript)):
        name: ast.expr | None = None
        if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Call):
            if path_of(node.value.func) in (("globals",), ("locals",), ("vars",)):
                name = node.slice
        elif isinstance(node, ast.Call) and path_of(node.func) == ("getattr",):
            name = node.args[1] if len(node.args) > 1 else None
        elif isinstance(node, ast.Call) and path_of(node.func) == ("eval",) and node.args:
            name = node.args[0]
        start, end = ends_of(name) if name is not None else ("", "")
        if isinstance(node, ast.Call) and path_of(node.func) == ("eval",):
            # ``eval("losses.loss_%s(y, x)" % kind)``
            start, end = start.rpartition(".")[2], end.partition("(")[0]
        if start or end:
            found.append((node, start, end))
    return found


def ends_of(name: ast.expr) -> tuple[str, str]:
    """How a text that is put together of others begins and ends, as far as it can be told."""
    if isinstance(name, ast.BinOp) and isinstance(name.op, ast.Add):
        start = _text(name.left) or ends_of(name.left)[0]
        return start, _text(name.right) or ends_of(name.right)[1]
    if isinstance(name, ast.JoinedStr) and name.values:
        return _text(name.values[0]), _text(name.values[-1])
    shape = ""
    if isinstance(name, ast.BinOp) and isinstance(name.op, ast.Mod):
        shape = _text(name.left)
    elif isinstance(name, ast.Call) and isinstance(name.func, ast.Attribute):
        shape = _text(name.func.value) if name.func.attr == "format" else ""
    start, hole, end = re.sub(r"%[-+ #0-9.]*\w|\{[^}]*\}", "\0", shape).partition("\0")
    return (start, end.rpartition("\0")[2]) if hole else ("", "")


def _text(node: ast.expr) -> str:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def _is_exported(unit: Unit, node: ast.AST) -> bool:
    """Whether the text stands in ``__all__``: callers out of sight may import what it names."""
    parent = unit.parents[node]
    if isinstance(parent, ast.List | ast.Tuple):
        parent = unit.parents[parent]
    if isinstance(parent, ast.Assign | ast.AugAssign):
        targets = parent.targets if isinstance(parent, ast.Assign) else [parent.target]
        return any(isinstance(t, ast.Name) and t.id == "__all__" for t in targets)
    return False


def _is_no_name(parent: ast.AST, node: ast.AST) -> bool:
    """A documentation, or the name of a scope: ``tf.name_scope("penalty")``, ``name="penalty"``."""
    if isinstance(parent, ast.Expr):
        return True
    if isinstance(parent, ast.keyword):
        return parent.arg in ("name", "scope", "default_name", "family")
    if not isinstance(parent, ast.Call) or node not in parent.args:
        return False
    path = path_of(parent.func)
    last = path[-1].lstrip(".") if path else ""
    return last.endswith(_NAMED)
