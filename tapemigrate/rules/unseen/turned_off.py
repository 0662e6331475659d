"""Where a program turns off what a tape needs: resource variables, and the newer control flow.

In the file that asks for the gradients the fix turns them on again. Another one may run later.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Set
from itertools import islice

from tapemigrate.rules.callgraph.places import import_path, is_module, nearness, place_of, steps_of
from tapemigrate.rules.finding import Unit
from tapemigrate.rules.project import Project
from tapemigrate.rules.units import Later
from tapemigrate.rules.unseen.handles import told_of_old_variables
from tapemigrate.rules.unseen.old_variables import asks_for_old_variables
from tapemigrate.rules.unseen.switches import NEEDED, turned_on_after, turning_on
from tapemigrate.source.decoding import SourceError
from tapemigrate.source.parsing import parse
from tapemigrate.source.trees import statements
from tapemigrate.tape.ops.symbols import short
from tapemigrate.tape.plan import Insert
from tapemigrate.tape.request import Refusal

_VERSION = "disable_v2_behavior"
#: What turns them off, and what of them.
SWITCHES = {
    _VERSION: NEEDED,
    "disable_resource_variables": NEEDED[:1],
    "disable_control_flow_v2": NEEDED[1:],
}

_MOST_PLACES = 3
# An assumption on more places of other files helps nobody.
_MOST_TOLD = 12
_OLD = "needs variables of the old kind: the fix turns resource variables on there"

#: A call that turns something off, by its name, and the file in which it stands.
_Switch = tuple[Unit, ast.Call, str]


class TurnedOff:
    """The files of a project that do so, and those that run in one program with them."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._found = [each for u in project.units.having(*SWITCHES) for each in _switches(u)]
        self._files = dict(project.units.files()) if self._found else {}
        self._by_last: dict[str, list[str]] = {}
        for path in self._files:
            own = steps_of(path)
            last = own[-2] if own[-1] == "__init__" and len(own) > 1 else own[-1]
            self._by_last.setdefault(last, []).append(path)
        self._imported: dict[str, frozenset[str]] = {}
        self._ahead: dict[str, frozenset[str]] = {}
        self._known: dict[str, Refusal | None] = {}
        self._switches: dict[str, list[_Switch]] = {}
        self._told: dict[str, list[str]] = {}

    def refuse(self, unit: Unit) -> Refusal | None:
        """Why no call of ``unit`` may become a tape, if its program turns such things off."""
        if unit.filename not in self._known:
            self._known[unit.filename] = self._refuse(unit)
        return self._known[unit.filename]

    def _refuse(self, unit: Unit) -> Refusal | None:
        places: dict[str, list[str]] = {}
        elsewhere = self._elsewhere(unit)
        lasting = [each for each in elsewhere if not self._is_turned_on_again(*each)]
        told = [] if lasting or not elsewhere else self._told_of_old(unit)
        for home, call, name in elsewhere if len(told) > _MOST_TOLD else lasting:
            places.setdefault(name, []).append(place_of(unit, home, call))
        for name, each in places.items():
            again = " and ".join(f"`tf.compat.v1.{n}()`" for n in SWITCHES[name])
            mend = f"Call {again} right after it" if name == _VERSION else f"Drop `{name}()` there"
            more = f" This is assumed then, and more: {told[0]}." if told else ""
            return Refusal(
                f"`{name}()` in {_shown(each)} turns off what a tape needs",
                f"{mend}, and run this again.{more}",
            )
        if self._turns_on(unit):
            return asks_for_old_variables(self._project, unit, self._program(unit.filename))
        return None

    def told(self, unit: Unit) -> list[str]:
        """What is assumed of the program of ``unit``, where a fix turns resource variables on."""
        if unit.filename not in self._told:
            found = self._told_of_old(unit)
            if places := [place_of(unit, home, call) for home, call, _ in self._elsewhere(unit)]:
                found.append(f"no code that runs with `{_VERSION}()` in {_shown(places)} {_OLD}")
            self._told[unit.filename] = found
        return self._told[unit.filename]

    def _told_of_old(self, unit: Unit) -> list[str]:
        """The same of its variables; not much more than can be said where others turn them off."""
        if not self._turns_on(unit):
            return []
        told = told_of_old_variables(self._project, unit, self._program(unit.filename))
        return list(islice(told, _MOST_TOLD + 1) if self._elsewhere(unit) else told)

    def ops(self, unit: Unit) -> Iterator[tuple[Unit, Insert]]:
        """What turns on again, in other files, what a tape in ``unit`` needs."""
        for home, call, _ in self._elsewhere(unit):
            if op := turning_on(home, call):
                yield home, op

    def _elsewhere(self, unit: Unit) -> list[_Switch]:
        """What turns such things off in the program of ``unit``, and the file does not mend."""
        if not self._found:
            return []
        if unit.filename not in self._switches:
            program = self._program(unit.filename)
            here = [call for home, call, _ in self._found if home is unit]
            own = any(unit.parents[call] in unit.tree.body for call in here)
            self._switches[unit.filename] = [
                (home, call, name)
                for home, call, name in self._found
                if home.filename in program
                # The file itself tells of the others of its own.
                and (home is not unit or (name == _VERSION and not _is_mended(unit, call)))
                and not (own and self._is_before(home, call, unit))
            ]
        return self._switches[unit.filename]

    def _is_turned_on_again(self, home: Unit, call: ast.Call, name: str) -> bool:
        """Whether a fix can turn on again what the call turns off, where it stands."""
        changes = home.filename in self._project.asked
        return changes and name == _VERSION and _is_mended(home, call)

    def _turns_on(self, unit: Unit) -> bool:
        """Whether a fix of the file turns resource variables on."""
        own = (each for each in self._found if each[0] is unit)
        return any(
            NEEDED[0] not in turned_on_after(home, call)
            for home, call, _ in (*own, *self._elsewhere(unit))
        )

    def _is_before(self, home: Unit, call: ast.Call, unit: Unit) -> bool:
        """Whether ``unit`` is loaded after the call, and turns on again what it turns off."""
        bringing = [
            stmt
            for stmt in _imports(home)
            if any(
                unit.filename in self._reached(p)
                for p in self._named(home.filename, {*_modules(stmt)})
            )
        ]
        return all(call.lineno < stmt.lineno for stmt in bringing) and bool(bringing)

    def _program(self, filename: str) -> frozenset[str]:
        """The files that run in one program with that one."""
        users = [path for path in self._files if filename in self._reached(path)]
        return frozenset().union(*map(self._reached, users))

    def _reached(self, filename: str) -> frozenset[str]:
        """The files that one imports, and these in turn, and itself."""
        if filename not in self._ahead:
            self._ahead[filename] = self._all_ahead(filename)
        return self._ahead[filename]

    def _all_ahead(self, filename: str) -> frozenset[str]:
        found, pending = {filename}, [filename]
        while pending:
            path = pending.pop()
            if path not in self._imported:
                self._imported[path] = frozenset(self._named(path, _loaded(self._files[path])))
            new = self._imported[path] - found
            found |= new
            pending += new
        return frozenset(found)

    def _named(self, user: str, modules: Set[str]) -> Iterator[str]:
        """The files that ``user`` may load by imports of ``modules``."""
        for module in modules:
            last = module.rpartition(".")[2]
            paths = self._by_last.get(last, ()) if last else self._files
            found = [path for path in paths if is_module(user, module, path) is not False]
            near = [path for path in found if nearness(user, module, path) >= 0]
            yield from near or found


def _imports(unit: Unit) -> list[ast.Import | ast.ImportFrom]:
    return [*unit.nodes(ast.Import), *unit.nodes(ast.ImportFrom)]


# The modules that texts import, by what stands for these: for one analysis after the other.
_known: dict[int, frozenset[str]] = {}


def _loaded(file: Unit | Later) -> frozenset[str]:
    """The modules that a file imports, by its text alone: it is parsed for no more than that."""
    key = hash(file.text)
    if key not in _known:
        try:
            tree = parse(file.text, "")
        except SourceError:
            tree = ast.Module([], [])
        stmts = (each for each in statements(tree) if isinstance(each, ast.Import | ast.ImportFrom))
        _known[key] = frozenset(module for stmt in stmts for module in _modules(stmt))
    return _known[key]


def _modules(stmt: ast.stmt) -> Iterator[str]:
    """The modules that an import loads, packages around them among these."""
    paths = [alias.name for alias in getattr(stmt, "names", ())]
    if isinstance(stmt, ast.ImportFrom):
        paths = [import_path(stmt, name) for name in ("", *paths)]
    for path in paths:
        yield path
        while path.strip(".") and path.rpartition(".")[0].strip("."):
            path = path.rpartition(".")[0]
            yield path


def _is_mended(unit: Unit, call: ast.Call) -> bool:
    """Whether a fix in its own file can turn on again what the call turns off."""
    return isinstance(unit.parents[call], ast.Expr) and isinstance(call.func, ast.Attribute)


def turned_off(project: Project, unit: Unit) -> Refusal | None:
    """Why a tape would miss what ``unit`` runs, if its program turns off what it needs."""
    return project.once(TurnedOff).refuse(unit)


def turned_on_elsewhere(project: Project, unit: Unit) -> Iterator[tuple[Unit, Insert]]:
    """What a fix of ``unit`` adds to other files of its program, for a tape to see variables."""
    return project.once(TurnedOff).ops(unit)


def told_of_turning_on(project: Project, unit: Unit) -> list[str]:
    """What is assumed where a fix of ``unit`` turns on what its program turns off."""
    return project.once(TurnedOff).told(unit)


def _shown(places: list[str]) -> str:
    found = ", and in ".join(places[:_MOST_PLACES])
    left = len(places) - _MOST_PLACES
    return f"{found}, and {left} more" if left > 0 else found


def _switches(unit: Unit) -> Iterator[_Switch]:
    """The calls in a file that turn such things off, where nothing turns them on again."""
    for call in unit.nodes(ast.Call):
        name = short(unit.names.qualified(call.func))
        if name in SWITCHES and not turned_on_after(unit, call).issuperset(SWITCHES[name]):
            yield unit, call, name
