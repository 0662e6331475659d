"""Calls that pass what stands in the text in another form, read as the plain calls which they are.

``f(*[a, b])``, ``f(**{"x": a})`` and ``functools.partial(f, a)(b)`` are ``f(a, b)`` in all but the
text, and so is what a name carries to the call (see ``carried.py``); ``a, *rest = [x, y]`` gives
each name what it gets. The nodes keep their places. What libraries are called with is left as it
stands.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import replace

from tapemigrate.patterns import late
from tapemigrate.source.carried import spell_out_carried
from tapemigrate.source.carriers import Imports, is_called, root_of
from tapemigrate.source.records import records
from tapemigrate.source.trees import calls_in, forget, statements

# What the forms cannot do without: to go through the nodes of all files takes long.
# Behind a value, with a space or without, a star multiplies. It comes first for the sake of speed.
_UNPACKED = late(r"\*(?:(?<![\w)\]}'\"*]\*)(?<![\w)\]}'\"] \*)\s*[\[(]|\*\s*\{)")
_STARRED = late(r"\*(?:(?<![\w)\]}'\"*]\*)(?<![\w)\]}'\"] \*)\*?)[ \t]*([^\W\d]\w*)")
# One of these stands in a file with objects that hold what they are made with.
_HOLDING = ("functools", "SimpleNamespace", "namedtuple", "NamedTuple", "dataclass", "def __init__")
# A name of its own for what may be a function, or a method of an object.
_RENAMED = late(r"(?m)(?:^[ \t]+|;[ \t]*)(\w+)[ \t]*=[\s(]*((?:\w+\.)*)(\w+)\s*(?:[#;)]|$)")
_DEFINED = late(r"def (\w+)\(")
# What is taken out of a display, or called out of a dict.
_TAKEN = late(r"\[(?<![\w)\]}'\"]\[)[^\[\]\n]*\]\[")
_CALLED = late(r"\](?<=['\"]\])\(")
_HOME = "functools"
_TYPES, _NAMESPACE = "types", "SimpleNamespace"


def spell_out_calls(tree: ast.Module, text: str) -> bool:
    """Puts the values themselves in the place of displays that calls unpack, and of partials.

    Returns whether there are any.
    """
    unpacked = _UNPACKED.search(text) is not None
    holding = any(word in text for word in _HOLDING)
    taken = _TAKEN.search(text) is not None or _CALLED.search(text) is not None
    starred = frozenset(_STARRED.findall(text))
    functions = frozenset(_renamed(text))
    if not (unpacked or holding or taken or starred or functions):
        return False
    apart = False
    for node in statements(tree) if starred else ():
        apart |= isinstance(node, ast.Assign) and _take_apart(node)
    imports = replace(_imported(tree), functions=functions)
    known = records(tree) if holding else {}
    carried = spell_out_carried(tree, imports, known, starred, taken)
    if not (unpacked or carried or imports.partials):
        return apart
    forget(tree)
    changed = apart or carried
    for call in calls_in(tree):
        held = call.func
        if isinstance(held, ast.Call) and held.args and is_called(held.func, imports.partials):
            if _is_own(held.args[0], imports.libraries):
                changed |= _unpack(held) | _join(call, held)
        elif _is_own(held, imports.libraries):
            changed |= _unpack(call)
    return changed


def _renamed(text: str) -> Iterator[str]:
    """The functions of the file that are given a name by which something is called, and methods.

    And to whose own name the file gives nothing else.
    """
    defined = frozenset(_DEFINED.findall(text))
    renamed = {m.groups() for m in _RENAMED.finditer(text) if m[2] or m[3] in defined}
    for other, _, name in renamed:
        if f"{other}(" in text and not re.search(rf"(?m)(?:\.|^){name}\s*=[^=]", text):
            yield name


def _take_apart(stmt: ast.Assign) -> bool:
    """Makes ``a, *rest = [x, y]`` one that gives each name what it gets: ``a, rest = x, [y]``.

    Returns whether it is one.
    """
    match stmt:
        case ast.Assign(
            targets=[ast.Tuple(elts=targets) | ast.List(elts=targets)],
            value=ast.Tuple(elts=values) | ast.List(elts=values),
        ):
            places = [i for i, each in enumerate(targets) if isinstance(each, ast.Starred)]
            count = len(values) - len(targets) + 1
            if len(places) != 1 or count < 0 or any(isinstance(v, ast.Starred) for v in values):
                return False
            (place,) = places
            starred = targets[place]
            assert isinstance(starred, ast.Starred)
            rest = ast.List(values[place : place + count], ast.Load())
            values[place : place + count] = [ast.copy_location(rest, stmt.value)]
            targets[place] = starred.value
            return True
    return False


def _imported(tree: ast.Module) -> Imports:
    libraries, partials, namespaces = set[str](), set[str](), set[str]()
    for node in statements(tree):
        if isinstance(node, ast.Import):
            libraries |= {(a.asname or a.name).split(".")[0] for a in node.names}
            partials |= {f"{a.asname or a.name}.partial" for a in node.names if a.name == _HOME}
            named = {a.asname or a.name for a in node.names if a.name == _TYPES}
            namespaces |= {f"{name}.{_NAMESPACE}" for name in named}
        elif isinstance(node, ast.ImportFrom) and not node.level:
            names = {a.asname or a.name for a in node.names}
            if node.module == _HOME:
                partials |= {a.asname or a.name for a in node.names if a.name == "partial"}
            if node.module == _TYPES:
                namespaces |= {a.asname or a.name for a in node.names if a.name == _NAMESPACE}
            if (node.module or "").split(".")[0] in ("tensorflow", _HOME):
                libraries |= names
    for node in statements(tree):
        if isinstance(node, ast.Assign) and root_of(node.value) in libraries:
            libraries |= {each.id for each in node.targets if isinstance(each, ast.Name)}
    return Imports(frozenset(libraries), frozenset(partials), frozenset(namespaces))


def _is_own(func: ast.expr, libraries: frozenset[str]) -> bool:
    """Whether a function or method is called that no module imported as such holds."""
    return root_of(func) not in libraries | {""}


def _unpack(call: ast.Call) -> bool:
    """Has a call pass one by one what it unpacks; whether it unpacked anything."""
    args = list[ast.expr]()
    for each in call.args:
        match each:
            case ast.Starred(value=ast.List(elts=elts) | ast.Tuple(elts=elts)):
                args += elts
            case _:
                args.append(each)
    keywords = list[ast.keyword]()
    for keyword in call.keywords:
        match keyword:
            case ast.keyword(arg=None, value=ast.Dict(keys=keys, values=values)):
                names = [k.value for k in keys if isinstance(k, ast.Constant)]
                texts = [name for name in names if isinstance(name, str)]
                if len(texts) < len(values):
                    keywords.append(keyword)
                    continue
                keywords += [
                    ast.copy_location(ast.keyword(name, value), value)
                    for name, value in zip(texts, values, strict=True)
                ]
            case _:
                keywords.append(keyword)
    changed = args != call.args or keywords != call.keywords
    call.args, call.keywords = args, keywords
    return changed


def _join(call: ast.Call, held: ast.Call) -> bool:
    """Makes ``call``, of the partial ``held``, one of its function; whether it is another now."""
    changed = _unpack(call)
    later = {keyword.arg for keyword in call.keywords}
    if any(k.arg is None or k.arg in later for k in held.keywords):
        return changed
    call.func = held.args[0]
    call.args = [*held.args[1:], *call.args]
    call.keywords = [*held.keywords, *call.keywords]
    return True
