"""What functions, classes and attributes of all files compute only where they are asked."""

from __future__ import annotations

import ast

from tapemigrate.flow.paths import path_of
from tapemigrate.names import Names
from tapemigrate.rules.finding import Unit
from tapemigrate.rules.project import Project, View
from tapemigrate.source.trees import walk
from tapemigrate.tape.ops.deferred import Deferred
from tapemigrate.tape.ops.returned import yields
from tapemigrate.tape.ops.symbols import gives_no_tensors, short

# What makes a class one whose objects are gone through by code of its own.
_ITERATED = frozenset({"__iter__", "__next__", "__getitem__"})
# What has as attributes what it is handed by name.
_SETTINGS = frozenset({"HParams", "Namespace", "SimpleNamespace"})
# Through how many functions it is looked what they give.
_DEPTH = 3


def deferred(project: Project, view: View) -> Deferred:
    """What is asked in the scope of ``view``."""
    return Deferred(
        view.flow,
        view.kinds,
        lambda func: _gives_iterator(project, view.unit.names, func, _DEPTH),
        lambda name: _is_computed(project, name),
        lambda name: any(project.effects(u).functions(name) for u in project.units.defining(name)),
    )


def _gives_iterator(project: Project, names: Names | None, func: ast.expr, depth: int) -> bool:
    """Whether what is called, by its name, may give what makes its elements when it is asked.

    What is imported from where nobody can look may do so.
    """
    name = func.attr if isinstance(func, ast.Attribute) else getattr(func, "id", "")
    if not name or not depth:
        return False
    known = False
    for unit in project.units.defining(name):
        effects = project.effects(unit)
        cls = effects.class_named(name)
        known = known or cls is not None
        if cls is not None and any(
            getattr(stmt, "name", "") in _ITERATED
            for each in effects.lineage(cls)
            for stmt in each.body
        ):
            return True
        for function in effects.functions(name):
            known = True
            if yields(function, lambda f: _gives_iterator(project, None, f, depth - 1)):
                return True
    qualified = names.qualified(func) if names is not None and not known else None
    return qualified is not None and short(qualified) is None and not gives_no_tensors(qualified)


def _is_computed(project: Project, name: str) -> bool:
    """Whether an attribute of that name is computed somewhere, or set nowhere in sight."""
    known = any(True for _ in project.stores(name))
    for unit in project.units.having(name):
        for cls in unit.nodes(ast.ClassDef):
            for stmt in cls.body:
                match stmt:
                    case ast.FunctionDef(name=own, decorator_list=[]) if own == name:
                        known = True
                    case ast.FunctionDef(name=own) if own == name:
                        return True
                    case ast.Assign(targets=[ast.Name(id=own)], value=value) if own == name:
                        known = True
                        if isinstance(value, ast.Call) and _is_own(unit.names, value):
                            return True
                    case ast.AnnAssign(target=ast.Name(id=own)) if own == name:
                        known = True
        known = known or name in unit.once(_fields_of_tuples) or name in unit.once(_options)
    return not known


def _options(unit: Unit) -> frozenset[str]:
    """The options of programs, and settings that are handed in by name: no code computes them.

    ``parser.add_argument("--rate")``, ``flags.DEFINE_float("rate", 0.1, "")``, ``HParams(rate=1)``
    """
    found: set[str] = set()
    for call in unit.nodes(ast.Call):
        called = (path_of(call.func) or ("",))[-1].lstrip(".")
        if called == "add_argument" or called.startswith("DEFINE_"):
            texts = (each.value for each in call.args if isinstance(each, ast.Constant))
            found |= {text.lstrip("-") for text in texts if isinstance(text, str)}
        elif called in _SETTINGS:
            found |= {each.arg for each in call.keywords if each.arg is not None}
    return frozenset(found)


def _is_own(names: Names, call: ast.Call) -> bool:
    """Whether what is called may be a descriptor: ``y = property(_y)``."""
    qualified = names.qualified(call.func)
    return qualified is None or short(qualified) is None


def _fields_of_tuples(unit: Unit) -> frozenset[str]:
    return frozenset(name for call in unit.nodes(ast.Call) for name in _fields(call))


def _fields(call: ast.Call) -> list[str]:
    """The fields of a named tuple that the call makes the class of."""
    path = path_of(call.func)
    if path is None or path[-1].lstrip(".") not in ("namedtuple", "NamedTuple"):
        return []
    texts = [n.value for n in walk(call) if isinstance(n, ast.Constant)]
    return [word for t in texts if isinstance(t, str) for word in t.replace(",", " ").split()]
