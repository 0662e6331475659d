"""Variables that a library function makes inside its loop in a v1 graph, and reads through a cache.

`dynamic_rnn`, `map_fn` and their like set the `caching_device` of their variable scope there. A
tape does not see that such a variable is read: it gives None, without a word, where `tf.gradients`
gave the gradient. A custom getter of the scope around them takes the device out again
(tensorflow/python/ops/variable_scope.py): what is inside of it inherits it, unless it was opened
before.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterable, Sequence
from weakref import WeakKeyDictionary

from tapemigrate.patterns import late
from tapemigrate.rules.finding import Unit
from tapemigrate.rules.project import Project, View
from tapemigrate.rules.unseen.elsewhere import may_hold
from tapemigrate.tape.leaf import Leaf
from tapemigrate.tape.region import Region
from tapemigrate.tape.request import Refusal

#: Their cells make variables on the first call, which runs in the loop.
CELLS = frozenset(
    {
        *("dynamic_rnn", "static_rnn", "raw_rnn", "static_state_saving_rnn", "dynamic_decode"),
        *("bidirectional_dynamic_rnn", "static_bidirectional_rnn", "bidirectional_rnn"),
        *("stack_bidirectional_dynamic_rnn", "stack_bidirectional_rnn", "state_saving_rnn"),
        # They encode with `static_rnn` (contrib/legacy_seq2seq/python/ops/seq2seq.py).
        *("basic_rnn_seq2seq", "tied_rnn_seq2seq", "embedding_rnn_seq2seq"),
        *("embedding_tied_rnn_seq2seq", "embedding_attention_seq2seq", "one2many_rnn_seq2seq"),
    }
)
# What sets a getter of its own, or keeps the scope in which variables are made.
_SCOPES_OF_THEIR_OWN = ("custom_getter", "set_custom_getter", "make_template", "sonnet")
# What has `get_variable` give a variable that is there.
_REUSING = ("reuse", "reuse_variables", "AUTO_REUSE")
# ``create_rnn``, ``rnn_layers``
_NAMED_AFTER_CELLS = late(r"(?:^|_)rnn(?:_|$)")
_LOOPS = frozenset({"map_fn", "scan", "foldl", "foldr"})
# What makes variables in the function that a loop is given.
_MAKERS = frozenset({"get_variable", "Variable", "layers", "slim", "contrib", "keras", "dense"})
_HARMLESS = ("tensorflow.", "numpy.", "math.")
_ONE_VARIABLE = frozenset({"get_variable", "Variable", "VariableV1"})

#: Of the functions and classes of a file, by name: the library function that they run.
_Running = dict[str, str]
_RUNNING: WeakKeyDictionary[Project, dict[str, _Running]] = WeakKeyDictionary()
_IMPORTED: WeakKeyDictionary[Project, dict[str, _Running]] = WeakKeyDictionary()
# Through how many files they are followed.
_MOST_STEPS = 3


def settle(
    region: Region, nodes: Sequence[ast.AST], view: View, project: Project
) -> Region | Refusal:
    """``region``, if a tape round ``nodes`` sees all variables among its sources.

    It may have to have them made without a cache.
    """
    unit = view.unit
    if not (region.request.variables or any(map(_may_be_made_anywhere, region.sources.leaves))):
        return region
    name = _first(nodes, unit, project)
    if name is None:
        return region
    before = _before(view.scope, region.block.body[region.first].lineno)
    if _stands(project, _SCOPES_OF_THEIR_OWN) or _may_have_made_them(before, unit, project):
        return Refusal(
            f"variables that are made inside `{name}` are read through a cache in a v1 graph, and "
            "a tape gives None for them without a word",
            f"Make the variables before `{name}` runs (`cell.build(input_shape)`, or the layer "
            "called once outside) and differentiate by them by name; or write the loop with "
            "`tf.keras`.",
        )
    region.uncached = True
    region.assumptions.append(
        f"the variables that `{name}` reads are made on the tape, in scopes that are opened there"
    )
    return region


def _may_have_made_them(before: list[ast.AST], unit: Unit, project: Project) -> bool:
    """Whether what ran ``before`` may have made variables that are used again."""
    if any(_direct(n, unit) is not None for node in before for n in ast.walk(node)):
        return True
    return _stands(project, _REUSING) and _first(before, unit, project) is not None


def _stands(project: Project, words: Sequence[str]) -> bool:
    """Whether one of the words stands in a file."""
    return any(word in unit.text for unit in project.units.having(*words) for word in words)


def _before(node: ast.AST, row: int) -> list[ast.AST]:
    """What runs in a scope before the statement in ``row``: not what is in the other branch."""
    found: list[ast.AST] = []
    children = ast.iter_child_nodes(node)
    if isinstance(node, ast.If):
        children = iter(node.orelse if (node.body[-1].end_lineno or 0) < row else node.body)
    for child in children:
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.arguments):
            continue
        end = getattr(child, "end_lineno", None)
        found += [child] if end is not None and end < row else _before(child, row)
    return found


def _first(nodes: Iterable[ast.AST], unit: Unit, project: Project) -> str | None:
    """The first function of that kind that ``nodes`` run."""
    return next((n for node in nodes for n in [_runs(node, unit, project)] if n is not None), None)


def _may_be_made_anywhere(leaf: Leaf) -> bool:
    """Whether the leaf is variables that are not certainly made in plain sight."""
    if not leaf.variables:
        return False
    values = [made.value for made in leaf.defs]
    return not values or not all(
        isinstance(value, ast.Call) and _last(value.func) in _ONE_VARIABLE for value in values
    )


def _runs(root: ast.AST, unit: Unit, project: Project) -> str | None:
    """The function of that kind that ``root`` runs, directly or in functions that it names."""
    own = _imported(unit, project) | _running(unit, project)
    for node in ast.walk(root):
        name = _last(node)
        found = _direct(node, unit) or (own.get(name) if name is not None else None)
        found = found or _out_of_sight(node, unit, project)
        if found is not None:
            return found
        if name is not None and isinstance(node, ast.Name | ast.Attribute):
            path = unit.names.qualified(node)
            if path is not None and not path.startswith("tensorflow."):
                for other in project.units.defining(name):
                    if other is not unit and name in _running(other, project):
                        return _running(other, project)[name]
    return None


def _running(unit: Unit, project: Project) -> _Running:
    files = _RUNNING.setdefault(project, {})
    if unit.filename not in files:
        files[unit.filename] = _find(unit, project, {})
    return files[unit.filename]


def running(unit: Unit) -> frozenset[str]:
    """The functions and classes of a file, by itself, that run a cell."""
    if not any(word in unit.text for word in CELLS):
        return frozenset()
    found = _at_the_top(unit, _find(unit, None, {}))
    return frozenset(name for name, runs in found.items() if runs in CELLS)


def _imported(unit: Unit, project: Project) -> _Running:
    """The names of the file that mean such functions and classes of other files."""
    if project not in _IMPORTED:
        _IMPORTED[project] = _follow(project)
    return _IMPORTED[project].get(unit.filename, {})


def _follow(project: Project) -> dict[str, _Running]:
    """What files import that runs a cell, also in files which they import in turn."""
    known: dict[str, dict[str, tuple[Unit, str]]] = {}
    for unit in project.units.with_text(CELLS):
        for name, runs in _at_the_top(unit, _running(unit, project)).items():
            known.setdefault(name, {})[unit.filename] = (unit, runs)
    files: dict[str, _Running] = {}
    for _ in range(_MOST_STEPS if known else 0):
        more: list[tuple[Unit, _Running]] = []
        for unit in project.units.having(*known):
            names = _meant(unit, known)
            if names.keys() != files.get(unit.filename, {}).keys():
                files[unit.filename] = names
                more.append((unit, _find(unit, project, names)))
        for unit, found in more:
            for name, runs in _at_the_top(unit, found).items():
                known.setdefault(name, {})[unit.filename] = (unit, runs)
    return files


def _at_the_top(unit: Unit, found: _Running) -> _Running:
    """Those that other files can import."""
    tops = {getattr(stmt, "name", None) for stmt in unit.tree.body}
    return {name: runs for name, runs in found.items() if name in tops}


def _meant(unit: Unit, known: dict[str, dict[str, tuple[Unit, str]]]) -> _Running:
    """The names in ``unit`` by which it imports something of ``known``."""
    found: _Running = {}
    for expr, path in unit.names.references():
        module, _, name = path.rpartition(".")
        for other, runs in known.get(name, {}).values():
            if other is not unit and may_hold(other.filename, module):
                found.setdefault(_last(expr) or name, runs)
    for node in unit.parents:
        if isinstance(node, ast.Name) and node.id in known and node.id not in found:
            others = [runs for other, runs in known[node.id].values() if other is not unit]
            if others and _is_free(node, unit):
                found[node.id] = others[0]
    return found


def _find(unit: Unit, project: Project | None, imported: _Running) -> _Running:
    """Such functions and classes of a file, those included that run one of ``imported``."""
    if not imported and not any(word in unit.text for word in (*CELLS, *_LOOPS, "_rnn", "rnn_")):
        return {}
    pending = [
        n
        for n in unit.parents
        # ``Layer.__init__(self)`` says nothing of the classes that have one: they are found whole.
        if isinstance(n, ast.FunctionDef | ast.ClassDef) and not n.name.startswith("__")
    ]
    found: _Running = {}
    before = -1
    while len(found) > before:
        before = len(found)
        for function in pending:
            for node in ast.walk(function):
                last = _last(node) or ""
                name = _direct(node, unit) or found.get(last) or imported.get(last)
                if name is None and project is not None:
                    name = _out_of_sight(node, unit, project)
                if name is not None and node is not function:
                    found.setdefault(function.name, name)
                    break
    return found


def _direct(node: ast.AST, unit: Unit) -> str | None:
    """The name of the library function, if ``node`` calls one and it may make variables."""
    if not isinstance(node, ast.Call):
        return None
    name = _last(node.func)
    if name in CELLS:
        return name
    path = unit.names.qualified(node.func) or ""
    if name not in _LOOPS or not path.startswith("tensorflow."):
        return None
    functions = [*node.args[:1], *(k.value for k in node.keywords if k.arg == "fn")]
    return name if any(_makes(each, unit, set()) for each in functions) else None


def _out_of_sight(node: ast.AST, unit: Unit, project: Project) -> str | None:
    """The name of a function of a file that is not at hand, if it is named after such a cell."""
    name = _last(node.func) if isinstance(node, ast.Call) else None
    if name is None or not _NAMED_AFTER_CELLS.search(name):
        return None
    assert isinstance(node, ast.Call)
    path = unit.names.qualified(node.func)
    if (path or "").startswith("tensorflow.") or (path is None and not _is_free(node.func, unit)):
        return None
    tops = (stmt for other in project.units.defining(name) for stmt in other.tree.body)
    here = any(isinstance(stmt, ast.FunctionDef) and stmt.name == name for stmt in tops)
    return None if here else name


def _is_free(name: ast.expr, unit: Unit) -> bool:
    """Whether nothing in the file binds a name: it comes from a star import."""
    return isinstance(name, ast.Name) and not any(
        (isinstance(n, ast.Name) and n.id == name.id and not isinstance(n.ctx, ast.Load))
        or (isinstance(n, ast.arg) and n.arg == name.id)
        or (isinstance(n, ast.FunctionDef | ast.ClassDef) and n.name == name.id)
        for n in unit.parents
    )


def _makes(function: ast.AST, unit: Unit, seen: set[ast.AST]) -> bool:
    """Whether ``function``, or one that it calls, makes variables; yes if that cannot be told."""
    seen.add(function)
    called = [function, *(n.func for n in ast.walk(function) if isinstance(n, ast.Call))]
    for node in called:
        name = _last(node)
        if not isinstance(node, ast.Name | ast.Attribute):
            continue
        path = unit.names.qualified(node)
        if path is not None and path.startswith(_HARMLESS):
            if not _MAKERS.isdisjoint(path.split(".")):
                return True
            continue
        own = [n for n in unit.parents if isinstance(n, ast.FunctionDef) and n.name == name]
        if any(_makes(each, unit, seen) for each in own if each not in seen):
            return True
        if not own and not _is_value(node, path):
            return True
    return any(_last(n) in _MAKERS for n in ast.walk(function))


def _is_value(node: ast.Name | ast.Attribute, path: str | None) -> bool:
    """Whether it is a builtin, or the method of a value such as a tensor or a list."""
    if isinstance(node, ast.Name):
        return hasattr(builtins, node.id)
    return path is None and not (isinstance(node.value, ast.Name) and node.value.id == "self")


def _last(node: ast.AST) -> str | None:
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else None
