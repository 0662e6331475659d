"""Calls that pass what stands in the text in another form, read as the plain calls which they are.

``f(*[a, b])``, ``f(**{"x": a})`` and ``functools.partial(f, a)(b)`` are ``f(a, b)`` in all but the
text. The nodes keep their places. What libraries are called with is left as it stands.
"""

from __future__ import annotations

import ast

from tapemigrate.patterns import late
from tapemigrate.source.trees import calls_in, statements

# Behind a value, with a space or without, a star multiplies. It comes first for the sake of speed.
_UNPACKED = late(r"\*(?:(?<![\w)\]}'\"*]\*)(?<![\w)\]}'\"] \*)\s*[\[(]|\*\s*\{)")
# A call of what a call gives, whatever stands between the two.
_CALLED_AT_ONCE = late(r"\)(?:[\s\\]|#[^\n]*\n)*\(")
_HOME = "functools"


def spell_out_calls(tree: ast.Module, text: str) -> None:
    """Puts the values themselves in the place of displays that calls unpack, and of partials."""
    with_partials = _HOME in text and "partial" in text and _CALLED_AT_ONCE.search(text)
    if not with_partials and _UNPACKED.search(text) is None:
        return
    libraries, partials = _imported(tree)
    for call in calls_in(tree):
        held = call.func
        if isinstance(held, ast.Call) and held.args and _is_partial(held.func, partials):
            if _is_own(held.args[0], libraries):
                _unpack(held)
                _join(call, held)
        elif _is_own(held, libraries):
            _unpack(call)


def _imported(tree: ast.Module) -> tuple[frozenset[str], frozenset[str]]:
    """Names of modules, and of what TensorFlow gives; names that ``functools`` goes by."""
    libraries, partials = set[str](), set[str]()
    for node in statements(tree):
        if isinstance(node, ast.Import):
            libraries |= {(a.asname or a.name).split(".")[0] for a in node.names}
            partials |= {f"{a.asname or a.name}.partial" for a in node.names if a.name == _HOME}
        elif isinstance(node, ast.ImportFrom) and not node.level:
            names = {a.asname or a.name for a in node.names}
            if node.module == _HOME:
                partials |= {a.asname or a.name for a in node.names if a.name == "partial"}
            if (node.module or "").split(".")[0] in ("tensorflow", _HOME):
                libraries |= names
    return frozenset(libraries), frozenset(partials)


def _is_partial(func: ast.expr, partials: frozenset[str]) -> bool:
    match func:
        case ast.Name(id=name):
            return name in partials
        case ast.Attribute(value=ast.Name(id=owner), attr=name):
            return f"{owner}.{name}" in partials
    return False


def _is_own(func: ast.expr, libraries: frozenset[str]) -> bool:
    """Whether a function or method is called that no module imported as such holds."""
    while isinstance(func, ast.Attribute):
        func = func.value
    return isinstance(func, ast.Name) and func.id not in libraries


def _unpack(call: ast.Call) -> None:
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
    call.args, call.keywords = args, keywords


def _join(call: ast.Call, held: ast.Call) -> None:
    """Makes ``call``, of the partial ``held``, one of its function."""
    _unpack(call)
    later = {keyword.arg for keyword in call.keywords}
    if not any(k.arg is None or k.arg in later for k in held.keywords):
        call.func = held.args[0]
        call.args = [*held.args[1:], *call.args]
        call.keywords = [*held.keywords, *call.keywords]
