"""TensorFlow by other ways than an import of it: functions, texts, modules that hand it on."""

from __future__ import annotations

import ast

from tapemigrate.patterns import late

# Functions that import the module which a string argument names.
_IMPORTERS = frozenset({"import_module", "__import__", "importorskip", "LazyLoader"})

# Functions of a file's own that do so, by their names: ``_import_tf``, ``lazy_import_tensorflow``.
_OWN_IMPORTER = late(r"_?(?:lazy_|try_)?import_(?:tf|tensorflow)")

#: The names under which one's own modules hand TensorFlow on, and which of its modules they mean.
HANDED_ON = {
    "tf": "tensorflow",
    "tf2": "tensorflow",
    **dict.fromkeys(("tf1", "tfv1", "tf_v1", "tf_compat_v1"), "tensorflow.compat.v1"),
}

#: What such a function hands out, where it hands out several things: ``tf1, tf, version = …``.
HANDED_OUT = frozenset({"tf", "tf1", "tf2"})

# How code for several libraries tells by a text which of them it is about.
_NAMED = late(r"tensorflow(?:\.[\w.]+)?")


def string_step(expr: ast.expr) -> tuple[ast.expr, str] | None:
    """The pair x, "a" of ``getattr(x, "a")``, ``setattr(x, "a", …)``, ``vars(x)["a"]``,
    ``x.__dict__["a"]`` and ``x.__dict__.get("a")``.
    """
    if isinstance(expr, ast.Call):
        if isinstance(expr.func, ast.Attribute) and expr.func.attr == "get" and expr.args:
            return _dictionary_step(expr.func.value, expr.args[0])
        if _last_name(expr.func) in ("getattr", "setattr") and len(expr.args) >= 2:
            name = _string(expr.args[1])
            return (expr.args[0], name) if name is not None else None
    elif isinstance(expr, ast.Subscript):
        return _dictionary_step(expr.value, expr.slice)
    return None


def _dictionary_step(holder: ast.expr, key: ast.expr) -> tuple[ast.expr, str] | None:
    name = _string(key)
    if name is None:
        return None
    if isinstance(holder, ast.Attribute) and holder.attr == "__dict__":
        return holder.value, name
    if (
        isinstance(holder, ast.Call)
        and len(holder.args) == 1
        and isinstance(holder.func, ast.Name)
        and holder.func.id == "vars"
    ):
        return holder.args[0], name
    return None


def imported_by_call(call: ast.Call) -> str | None:
    """The TensorFlow module that ``importlib.import_module("tensorflow")`` and its like return."""
    function = _last_name(call.func)
    if function is None:
        return None
    if function in _IMPORTERS:
        for argument in call.args:
            module = _string(argument)
            if module is not None and module.split(".")[0] == "tensorflow":
                return "tensorflow" if function == "__import__" else module
    if "import_t" not in function or not _OWN_IMPORTER.fullmatch(function):
        return None
    # What imports is handed settings: ``try_import_tf(error=True)``.
    settings = [*call.args, *(keyword.value for keyword in call.keywords)]
    return "tensorflow" if all(isinstance(each, ast.Constant) for each in settings) else None


def _last_name(expr: ast.expr) -> str | None:
    if isinstance(expr, ast.Attribute):
        return expr.attr
    return expr.id if isinstance(expr, ast.Name) else None


def _string(expr: ast.expr) -> str | None:
    if isinstance(expr, ast.Constant) and isinstance(expr.value, str):
        return expr.value
    return None


def names_tensorflow(node: ast.AST) -> bool:
    """Whether it is a text that names TensorFlow, or a module of it."""
    text = _string(node) if isinstance(node, ast.expr) else None
    return text is not None and _NAMED.fullmatch(text) is not None


def may_be_imported(expr: ast.expr) -> bool:
    """Whether ``expr`` has the form of something that ``Names`` can resolve."""
    while isinstance(expr, ast.Attribute):
        expr = expr.value
    return (
        isinstance(expr, (ast.Name, ast.IfExp))
        or string_step(expr) is not None
        or (isinstance(expr, ast.Call) and imported_by_call(expr) is not None)
    )


def may_hand_on(path: str, name: str, attribute: str = "") -> str | None:
    """The TensorFlow module that an import from one's own code may bring, handed on by its name.

    ``from .backend import tf`` may, ``from .compat import tfv1 as tf``, and so may
    ``from project import compat as tf``.
    """
    first, last = path.split(".")[0], path.split(".")[-1]
    if first == "tensorflow":
        return None
    renamed = name == "tf" and ("compat" in last or "tensorflow" in last)
    return HANDED_ON.get(attribute) or ("tensorflow" if renamed else None)
