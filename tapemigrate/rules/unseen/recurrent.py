"""Functions and classes that run a library function which makes variables inside its loop."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from tapemigrate.patterns import late
from tapemigrate.rules.by_text import ByText
from tapemigrate.rules.callgraph.places import may_hold
from tapemigrate.rules.finding import Unit
from tapemigrate.rules.project import Project
from tapemigrate.rules.units import Later
from tapemigrate.rules.unseen.words import last_of
from tapemigrate.source.trees import walk

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
# ``create_rnn``, ``rnn_layers``
_NAMED_AFTER_CELLS = late(r"(?:^|_)rnn(?:_|$)")
#: They run the function that they are given in such a loop.
LOOPS = frozenset({"map_fn", "scan", "foldl", "foldr"})
# Without one of these words a file runs none by itself.
_WORDS = (*CELLS, *LOOPS, "_rnn", "rnn_")
# What makes variables in the function that a loop is given.
_MAKERS = frozenset({"get_variable", "Variable", "layers", "slim", "contrib", "keras", "dense"})
_HARMLESS = ("tensorflow.", "numpy.", "math.")

#: Of the functions and classes of a file, by name: the library function that they run.
_Running = dict[str, str]
#: The same of those that others can import, by their name and file.
_Known = dict[str, dict[str, str]]


@dataclass(frozen=True, slots=True)
class _Function:
    """A function or class: the first of the library's that it calls, and what it names, in order.

    ``unseen``: what it calls by a name like those of cells, if it may be of a file out of sight.
    """

    name: str
    direct: str | None
    names: tuple[str, ...]
    unseen: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Facts:
    """What a file by itself tells.

    ``tops`` can be imported; ``imported`` are paths with the names that mean them here; ``free``
    are the names that no statement of the file sets: of imports, or of star imports.
    """

    functions: tuple[_Function, ...]
    tops: frozenset[str]
    imported: tuple[tuple[str, str], ...]
    free: frozenset[str]


def run_by(root: ast.AST, unit: Unit, project: Project) -> str | None:
    """The library function of that kind that ``root`` runs, directly or in what it names."""
    known = project.once(_known_runs)
    if root not in known:
        known[root] = next((name for _, name in runs_in(root, unit, project)), None)
    return known[root]


def _known_runs(_: Project) -> dict[ast.AST, str | None]:
    return {}


def runs_in(root: ast.AST, unit: Unit, project: Project) -> Iterator[tuple[ast.AST, str]]:
    """Where ``root`` runs such library functions, and which."""
    own = _imported(unit, project) | _running(unit.filename, unit, project)
    for node in walk(root):
        name = last_of(node)
        found = direct(node, unit)
        if found is None and name in own and not _is_direct(node, unit):
            found = own[name]
        found = found or _out_of_sight(node, unit, project)
        if found is None and name is not None and isinstance(node, ast.Name | ast.Attribute):
            found = _elsewhere(node, name, unit, project)
        if found is not None:
            yield node, found


def _elsewhere(node: ast.expr, name: str, unit: Unit, project: Project) -> str | None:
    """What a function or class of another file runs, if ``node`` may mean it by its ``name``."""
    path = unit.names.qualified(node)
    if path is None or path.startswith("tensorflow."):
        return None
    others = (other for other in project.units.defining(name) if other is not unit)
    found = (_running(other.filename, other, project).get(name) for other in others)
    return next((each for each in found if each is not None), None)


def running(unit: Unit) -> frozenset[str]:
    """The functions and classes of a file, by itself, that run a cell."""
    if not any(word in unit.text for word in CELLS):
        return frozenset()
    facts = _facts(unit)
    found = _find(facts, {}, lambda _: False)
    return frozenset(name for name in facts.tops if found.get(name) in CELLS)


def direct(node: ast.AST, unit: Unit) -> str | None:
    """The name of the library function, if ``node`` calls one and it may make variables.

    Of one that runs cells, also where it is handed on or kept, for others to call.
    """
    if not isinstance(node, ast.Call):
        return unit.once(_handed_on).get(node)
    name = called(node, unit)
    if name in CELLS:
        return name
    path = unit.names.qualified(node.func) or ""
    if name not in LOOPS or not path.startswith("tensorflow."):
        return None
    functions = [*node.args[:1], *(k.value for k in node.keywords if k.arg == "fn")]
    return name if any(_makes(each, unit, set()) for each in functions) else None


def _is_direct(node: ast.AST, unit: Unit) -> bool:
    """Whether it is the function in such a call, which says all itself."""
    parent = unit.parents.get(node)
    return isinstance(parent, ast.Call) and parent.func is node and direct(parent, unit) is not None


def _handed_on(unit: Unit) -> dict[ast.AST, str]:
    """Where functions that run cells are meant and not called, with the names of theirs."""
    found: dict[ast.AST, str] = {}
    if not any(word in unit.text for word in CELLS):
        return found
    for expr, path in unit.names.references():
        name, parent = path.rpartition(".")[2], unit.parents.get(expr)
        is_called = isinstance(parent, ast.Call) and parent.func is expr
        if name in CELLS and path.startswith("tensorflow.") and not is_called:
            found[expr] = name
    return found


def called(call: ast.Call, unit: Unit) -> str | None:
    """The name of the function called: TensorFlow's own, whatever it was imported as."""
    path = unit.names.qualified(call.func) or ""
    return path.rpartition(".")[2] if path.startswith("tensorflow.") else last_of(call.func)


def _running(filename: str, file: Unit | Later, project: Project) -> _Running:
    files = project.once(_known_running)
    if filename not in files:
        files[filename] = {}
        facts = _FACTS.of(file) if any(word in file.text for word in _WORDS) else None
        if facts is not None:
            files[filename] = _find(facts, {}, lambda name: not _is_at_hand(name, project))
    return files[filename]


def _known_running(_: Project) -> dict[str, _Running]:
    return {}


def _imported(unit: Unit, project: Project) -> _Running:
    """The names of the file that mean such functions and classes of other files."""
    return project.once(_follow).get(unit.filename, {})


def _follow(project: Project) -> dict[str, _Running]:
    """What files import that runs a cell, also in files which they import in turn."""
    known: _Known = {}
    files = project.units.files()
    for filename, file in files:
        if any(word in file.text for word in CELLS):
            _add(known, filename, file, _running(filename, file, project))
    meant: dict[str, _Running] = {}
    more: list[tuple[str, Unit | Later, _Running]]
    while known:
        more = []
        wanted = frozenset(known)
        for filename, file in files:
            may_have = isinstance(file, Unit) or file.may_have(wanted)
            facts = _FACTS.of(file) if may_have else None
            names = {} if facts is None else _meant(filename, facts, known)
            if facts is not None and names.keys() != meant.get(filename, {}).keys():
                meant[filename] = names
                found = _find(facts, names, lambda name: not _is_at_hand(name, project))
                more.append((filename, file, found))
        if not more:
            break
        for each in more:
            _add(known, *each)
    return meant


def _add(known: _Known, filename: str, file: Unit | Later, found: _Running) -> None:
    facts = _FACTS.of(file) if found else None
    for name, runs in found.items() if facts is not None else ():
        if facts is not None and name in facts.tops:
            known.setdefault(name, {})[filename] = runs


def _meant(filename: str, facts: _Facts, known: _Known) -> _Running:
    """The names in a file by which it imports something of ``known``."""
    found: _Running = {}
    for path, own in facts.imported:
        module, _, name = path.rpartition(".")
        for other, runs in known.get(name, {}).items():
            if other != filename and may_hold(other, module):
                found.setdefault(own, runs)
    for name in known.keys() & facts.free - found.keys():
        others = [runs for other, runs in known[name].items() if other != filename]
        if others:
            found[name] = others[0]
    return found


def _find(facts: _Facts, imported: _Running, is_unseen: Callable[[str], bool]) -> _Running:
    """Such functions and classes of a file, those included that run one of ``imported``."""
    found: _Running = {}
    before = -1
    while len(found) > before:
        before = len(found)
        for function in facts.functions:
            name = function.direct or _first(function.names, found, imported)
            name = name or next(filter(is_unseen, function.unseen), None)
            if name is not None:
                found.setdefault(function.name, name)
    return found


def _first(names: Iterable[str], *running: Mapping[str, str]) -> str | None:
    return next((each[name] for name in names for each in running if name in each), None)


def _facts(unit: Unit) -> _Facts:
    functions = [
        _function(node, unit)
        for node in unit.definitions
        # ``Layer.__init__(self)`` says nothing of the classes that have one: they are found whole.
        if not node.name.startswith("__")
    ]
    functions += _kept(unit)
    references = [(path, last_of(expr)) for expr, path in unit.names.references()]
    imported = [
        (path, own or path.rpartition(".")[2])
        for path, own in references
        if not path.startswith("tensorflow.")
    ]
    tops = {getattr(stmt, "name", None) for stmt in unit.tree.body}
    tops |= {last_of(t) for stmt in unit.tree.body for t in getattr(stmt, "targets", ())}
    return _Facts(
        tuple(functions),
        frozenset(filter(None, tops)),
        tuple(dict.fromkeys(imported)),
        frozenset(n.id for n in unit.nodes(ast.Name)) - unit.once(_bound),
    )


_FACTS = ByText(_facts)


def _kept(unit: Unit) -> Iterator[_Function]:
    """Names and attributes that are given functions which run cells: chosen, bound, in a list."""
    handed = unit.once(_handed_on)
    for stmt in unit.nodes(ast.Assign) if handed else ():
        found = next((handed[n] for n in walk(stmt.value) if n in handed), None)
        for name in map(last_of, stmt.targets) if found is not None else ():
            if name is not None:
                yield _Function(name, found, (), ())


def _function(root: ast.FunctionDef | ast.ClassDef, unit: Unit) -> _Function:
    nodes = walk(root)
    calls = [node for node in nodes if isinstance(node, ast.Call)]
    unseen = [call for call in calls if _may_be_out_of_sight(call, unit)]
    return _Function(
        root.name,
        next((name for node in nodes for name in [direct(node, unit)] if name is not None), None),
        tuple(dict.fromkeys(name for node in nodes for name in [last_of(node)] if name)),
        tuple(dict.fromkeys(last_of(call.func) or "" for call in unseen)),
    )


def _out_of_sight(node: ast.AST, unit: Unit, project: Project) -> str | None:
    """The name of a function of a file that is not at hand, if it is named after such a cell."""
    if not isinstance(node, ast.Call) or not _may_be_out_of_sight(node, unit):
        return None
    name = last_of(node.func) or ""
    return None if _is_at_hand(name, project) else name


def _may_be_out_of_sight(call: ast.Call, unit: Unit) -> bool:
    name = last_of(call.func)
    if name is None or not _NAMED_AFTER_CELLS.search(name):
        return False
    path = unit.names.qualified(call.func)
    if path is not None:
        return not path.startswith("tensorflow.")
    return isinstance(call.func, ast.Name) and name not in unit.once(_bound)


def _is_at_hand(name: str, project: Project) -> bool:
    return any(
        isinstance(stmt, ast.FunctionDef) and stmt.name == name
        for other in project.units.defining(name)
        for stmt in other.tree.body
    )


def _bound(unit: Unit) -> frozenset[str]:
    """The names that are assigned or defined somewhere in the file."""
    return frozenset(
        {n.id for n in unit.nodes(ast.Name) if not isinstance(n.ctx, ast.Load)}
        | {n.arg for n in unit.nodes(ast.arg)}
        | {n.name for n in unit.nodes(ast.FunctionDef)}
        | {n.name for n in unit.nodes(ast.ClassDef)}
    )


def makes_variables(root: ast.AST, unit: Unit) -> bool:
    """Whether a function or value makes variables; yes if that cannot be told."""
    return _makes(root, unit, set())


def _makes(function: ast.AST, unit: Unit, seen: set[ast.AST]) -> bool:
    """Whether ``function``, or one that it calls, makes variables; yes if that cannot be told."""
    seen.add(function)
    called = [function, *(n.func for n in walk(function) if isinstance(n, ast.Call))]
    for node in called:
        name = last_of(node)
        if not isinstance(node, ast.Name | ast.Attribute):
            continue
        path = unit.names.qualified(node)
        if path is not None and path.startswith(_HARMLESS):
            if not _MAKERS.isdisjoint(path.split(".")):
                return True
            continue
        own = [n for n in unit.nodes(ast.FunctionDef) if n.name == name]
        if any(_makes(each, unit, seen) for each in own if each not in seen):
            return True
        if not own and not _is_value(node, path):
            return True
    return any(last_of(n) in _MAKERS for n in walk(function))


def _is_value(node: ast.Name | ast.Attribute, path: str | None) -> bool:
    """Whether it is a builtin, or the method of a value such as a tensor or a list."""
    if isinstance(node, ast.Name):
        return hasattr(builtins, node.id)
    return path is None and not (isinstance(node.value, ast.Name) and node.value.id == "self")
