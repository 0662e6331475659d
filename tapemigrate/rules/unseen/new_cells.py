"""Whether a tape makes all that the cells run by it read, in scopes that are opened there."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Sequence

from tapemigrate.flow.definitions import Def, Kind
from tapemigrate.flow.paths import path_of
from tapemigrate.flow.slices import origins
from tapemigrate.patterns import late
from tapemigrate.rules.callgraph.assigned import attribute_values
from tapemigrate.rules.callgraph.names_in_texts import replaced, set_by_text
from tapemigrate.rules.callgraph.places import steps_of
from tapemigrate.rules.callgraph.setters import of_one_object
from tapemigrate.rules.finding import Unit
from tapemigrate.rules.indexes import bound_names
from tapemigrate.rules.project import Project, View
from tapemigrate.rules.unseen.recurrent import CELLS, called, direct, runs_in
from tapemigrate.rules.unseen.words import last_of
from tapemigrate.source.trees import walk
from tapemigrate.tape.ops.symbols import short
from tapemigrate.tape.sources.filled_lists import added

# How many cells, or lists of them, they are handed first; and where the scope may stand.
_TAKES = {
    **dict.fromkeys(("dynamic_rnn", "static_rnn"), 1),
    **dict.fromkeys(("bidirectional_dynamic_rnn", "static_bidirectional_rnn"), 2),
    **dict.fromkeys(("stack_bidirectional_dynamic_rnn", "stack_bidirectional_rnn"), 2),
}
# Cells of cells: what they hold stands first.
_HOLDING = frozenset({"MultiRNNCell", "DropoutWrapper", "ResidualWrapper", "DeviceWrapper"})
_SIMPLE = frozenset(
    {"BasicRNNCell", "RNNCell", "GRUCell", "BasicLSTMCell", "LSTMCell", "LSTMBlockCell"}
    | {"GRUBlockCell", "LayerNormBasicLSTMCell", "UGRNNCell", "CoupledInputForgetGateLSTMCell"}
)
_SCOPES = frozenset({"variable_scope", "variable_op_scope"})
_NO_SCOPES = frozenset({"name_scope", "device", "control_dependencies", "op_scope"})
# By position, a scope stands behind all of these.
_MOST_ARGUMENTS = 6
_GIVEN = (Kind.ASSIGN, Kind.COMPREHENSION, Kind.LOOP)
# Through how many functions, and names, it is followed.
_DEPTH = 8
# What stands where files are used: by imports, or in notebooks.
_IMPORTS = late(
    r"(?m)^[ \t]*(?:from[ \t]+([\w.]+)[ \t]+import[ \t]*(\([^)]*\)|(?:\\\n|[^\n])*)"
    r"|import[ \t]+((?:\\\n|[^\n])*)|%run[ \t]+([^\n]*))"
)
_WORD = re.compile(r"\w+")
_BY_TEXT = ("importlib", "__import__", "runpy", "exec(", "execfile")


def are_new(region: Sequence[ast.AST], view: View, project: Project) -> bool:
    """Whether all cells that ``region`` runs are made there, and find no variables made before.

    ``region``: the statements on the tape, and the target.
    """
    sites = _Sites(project, region)
    if not all(sites.add(root, view) for root in region):
        return False
    near = _near(view.unit, project)
    if near is None or project.unread({_key(filename) for filename, _ in near}):
        return False
    if not any(_mentions(text, ("reuse", "REUSE")) for _, text in near):
        return True
    # Used again is only what the same statements have made, if nothing else runs a cell.
    if sites.elsewhere or any(
        f != view.unit.filename and _mentions(text, tuple(CELLS)) for f, text in near
    ):
        return False
    others = (n for n in view.unit.nodes(ast.Call) if direct(n, view.unit) is not None)
    return all(n in sites.found for n in others)


class _Sites:
    """The calls of the library's functions that run cells, on a tape round some statements."""

    def __init__(self, project: Project, region: Sequence[ast.AST]) -> None:
        self._project = project
        self._region = frozenset(region)
        self._seen: set[ast.AST] = set()
        self.found: set[ast.Call] = set()

    @property
    def elsewhere(self) -> bool:
        """Whether some of them stand in functions, which others may call as well."""
        return bool(self._seen)

    def add(self, root: ast.AST, view: View) -> bool:
        """Whether what ``root``, in the scope of ``view``, runs is seen, and is as it has to be."""
        found = runs_in(root, view.unit, self._project)
        return all(self._site(node, view) for node, _ in found)

    def _site(self, node: ast.AST, view: View) -> bool:
        unit = view.unit
        if self._project.scope_of(unit, node) is not view.scope:
            return False
        if not self._opens_by_name(node, view):
            return False
        if isinstance(node, ast.Call):
            if called(node, unit) not in _TAKES or direct(node, unit) is None:
                return False
            self.found.add(node)
            return self._makes_all(node, view)
        call = unit.parents.get(node)
        if not isinstance(call, ast.Call) or call.func is not node:
            return False
        home = self._meant(call, view)
        if home is None:
            return False
        if home[1] in self._seen:
            return True
        self._seen.add(home[1])
        sites = [n for n, _ in runs_in(home[1], home[0], self._project)]
        views = [self._project.view(home[0], self._project.scope_of(home[0], n)) for n in sites]
        inside = set(walk(home[1]))
        return all(
            inner.scope in inside and self._site(n, inner)
            for n, inner in zip(sites, views, strict=True)
        )

    def _meant(self, call: ast.Call, view: View) -> tuple[Unit, ast.AST] | None:
        """The one function or class of the files at hand that the call can mean."""
        function, method = view.kinds.called(call), isinstance(call.func, ast.Attribute)
        if function is None and method and view.kinds.name(call.func) is None:
            return None  # a method of an object
        name = last_of(call.func) or ""
        units = self._project.units.defining(name)
        found = [(u, d) for u in units for d in u.definitions if d.name == name]
        if function is not None:
            # Only a class that extends that of the object, or that this extends, has others.
            kin = of_one_object(self._project, view.cls) if method and view.cls is not None else []
            others = {stmt for _, cls in kin for stmt in cls.body}
            found = [(u, d) for u, d in found if d is function or d in others]
        if len(found) != 1 or found[0][1].decorator_list:
            return None
        home = found[0]
        if home[0] is not view.unit and view.kinds.name(call.func) is None:
            return None
        if name in home[0].once(bound_names):
            return None
        method = isinstance(call.func, ast.Attribute)
        return None if replaced(self._project, home[0], name, method=method) else home

    def _opens_by_name(self, node: ast.AST, view: View) -> bool:
        """Whether the scopes round ``node``, up to the tape, are opened by texts."""
        while node not in self._region and node is not view.scope:
            above = view.unit.parents.get(node)
            if above is None:
                return False
            if isinstance(above, ast.With) and node in above.body:
                if not all(self._is_by_name(i.context_expr, view) for i in above.items):
                    return False
            node = above
        parents = view.unit.parents
        for each in walk(view.scope):
            name = last_of(each)
            if name in ("__enter__", "enter_context"):
                return False
            if isinstance(each, ast.Call) and last_of(each.func) in _SCOPES:
                if not isinstance(parents.get(each), ast.withitem):
                    return False
        return True

    def _is_by_name(self, opened: ast.expr, view: View) -> bool:
        if not isinstance(opened, ast.Call):
            return False
        name = short(view.unit.names.qualified(opened.func))
        if name in _NO_SCOPES:
            return True
        if name not in _SCOPES or any(isinstance(a, ast.Starred) for a in opened.args):
            return False
        named = [k.value for k in opened.keywords if k.arg == "name_or_scope"]
        given = next(iter(opened.args[:1] or named), None)
        getter = any(k.arg in (None, "custom_getter", "caching_device") for k in opened.keywords)
        alone = len(opened.args) <= 2 and not getter
        return alone and given is not None and self._is_text(given, view, _DEPTH)

    def _is_text(self, node: ast.expr, view: View, depth: int) -> bool:
        """Whether it is a text, or the code raises."""
        match node:
            case ast.Constant():
                return isinstance(node.value, str)
            case ast.JoinedStr() | ast.Call(func=ast.Name(id="str")):
                return True
            case ast.BinOp(left=left, op=ast.Mod()):
                return self._is_text(left, view, depth)
            case ast.BinOp(left=left, right=right, op=ast.Add()):
                return self._is_text(left, view, depth) or self._is_text(right, view, depth)
            case ast.Call(func=ast.Attribute(value=value, attr="format")):
                return self._is_text(value, view, depth)
        if path_of(node) is None or not depth:
            return False
        made = origins(view.flow.reads.get(node, frozenset()))
        return bool(made) and all(
            d.kind is Kind.ASSIGN
            and d.path == path_of(node)
            and d.value is not None
            and self._is_text(d.value, view, depth - 1)
            for d in made
        )

    # -- cells ----------------------------------------------------------------------------------

    def _makes_all(self, call: ast.Call, view: View) -> bool:
        number = _TAKES[called(call, view.unit) or ""]
        if any(isinstance(a, ast.Starred) for a in call.args) or len(call.args) > _MOST_ARGUMENTS:
            return False
        for keyword in call.keywords:
            value = keyword.value
            none = isinstance(value, ast.Constant) and value.value is None
            if keyword.arg is None:
                return False
            if keyword.arg == "scope" and not none and not self._is_text(value, view, _DEPTH):
                return False
        cells = [*call.args[:number]]
        cells += [k.value for k in call.keywords if (k.arg or "").startswith("cell")]
        return len(cells) == number and all(self._is_new(c, view, _DEPTH) for c in cells)

    def _is_new(self, node: ast.expr, view: View, depth: int) -> bool:
        """Whether it is a cell that is made on the tape, or a list of such."""

        def again(each: ast.expr) -> bool:
            return depth > 0 and self._is_new(each, view, depth - 1)

        match node:
            case ast.List() | ast.Tuple():
                return all(map(again, node.elts))
            case ast.ListComp():
                return again(node.elt)
            case ast.IfExp():
                return again(node.body) and again(node.orelse)
            case ast.BinOp(op=ast.Mult()):
                return isinstance(node.left, ast.List) and again(node.left)
            case ast.BinOp(op=ast.Add()):
                return again(node.left) and again(node.right)
            case ast.Call():
                return self._is_new_call(node, view, depth)
        made = self._made(node, view, depth) if path_of(node) is not None else frozenset()
        return bool(made) and all(
            d.kind in _GIVEN
            and d.path == path_of(node)
            and d.value is not None
            and (self._is_on_tape(d.stmt, view) or _is_empty(d.value))
            and again(d.value)
            for d in made
        )

    def _made(self, node: ast.expr, view: View, depth: int) -> frozenset[Def]:
        """What gives the name its value; nothing if that may be changed out of sight."""
        uses = view.flow.reads.get(node, frozenset())
        pending, changes = [u.made for u in uses], set[Def]()
        while pending:
            change = pending.pop()
            if change.kind is Kind.MUTATE and change not in changes:
                changes.add(change)
                pending += [u.made for u in change.before]
        made = origins(uses)
        if isinstance(node, ast.Attribute):
            own = view.cls is not None and path_of(node.value) == (view.kinds.self_name,)
            states = (
                last_of(d.value.func) if isinstance(d.value, ast.Call) else ""
                for d in changes
                if d.path == path_of(node)
            )
            if not own or view.cls is None or any(name != "zero_state" for name in states):
                return frozenset()
            values = attribute_values(self._project, view, node.attr)
            known = all(any(v is d.value for d in made) for v in values)
            foreign = self._project.foreign_stores(view.unit, view.cls, node.attr)
            text = set_by_text(self._project, view.unit, node.attr)
            return made if known and not foreign and not text else frozenset()
        for each in changes:
            if _is_asked(each.value):
                continue
            elements = added(each.value) if isinstance(each.value, ast.Call) else None
            if elements is None or not self._is_on_tape(each.stmt, view) or not depth:
                return frozenset()
            if not all(self._is_new(e, view, depth - 1) for e in elements):
                return frozenset()
        return made

    def _is_on_tape(self, stmt: ast.AST | None, view: View) -> bool:
        """Whether the statement runs on the tape: those of functions that it calls all do."""
        if stmt is None:
            return False
        node: ast.AST | None = stmt
        while node is not None and node not in self._region:
            if node in self._seen:
                return True
            node = view.unit.parents.get(node)
        return node is not None

    def _is_new_call(self, call: ast.Call, view: View, depth: int) -> bool:
        name = self._class(call.func, view)
        if name in _SIMPLE:
            return not any(k.arg in (None, "activation", "_scope", "_reuse") for k in call.keywords)
        if name in _HOLDING:
            held = [k.value for k in call.keywords if k.arg in ("cell", "cells")]
            held += call.args[:1]
            return depth > 0 and len(held) == 1 and self._is_new(held[0], view, depth - 1)
        home = self._meant(call, view) if depth else None
        if home is None or not isinstance(home[1], ast.FunctionDef):
            return False
        self._seen.add(home[1])
        inner = self._project.view(home[0], home[1])
        ends = [end.value for end in inner.flow.returns]
        return bool(ends) and all(
            end is not None and self._is_new(end, inner, depth - 1) for end in ends
        )

    def _class(self, func: ast.expr, view: View) -> str:
        """The class of TensorFlow that is called, also by a name that is given it here."""
        known = view.unit.names.qualified(func)
        if known is not None or path_of(func) is None:
            return (short(known) or "").rpartition(".")[2]
        made = self._made(func, view, 0)
        values = [d.value for d in made if d.kind is Kind.ASSIGN and d.path == path_of(func)]
        names = {short(view.unit.names.qualified(v)) or "" for v in values if v is not None}
        lasts = {name.rpartition(".")[2] for name in names}
        whole = len(values) == len(made) and None not in values
        return lasts.pop() if whole and lasts and lasts <= _SIMPLE else ""


def _is_asked(call: ast.expr | None) -> bool:
    """``cell.zero_state(n, tf.float32)``: the cell stays as it is."""
    return isinstance(call, ast.Call) and last_of(call.func) == "zero_state"


def _is_empty(value: ast.expr) -> bool:
    return isinstance(value, ast.List) and not value.elts


def _mentions(text: str, words: Sequence[str]) -> bool:
    return any(word in text for word in words)


def _near(unit: Unit, project: Project) -> list[tuple[str, str]] | None:
    """The files that a program may consist of in which this one runs, with their texts.

    Those that import it, through any number, and all that these import. None where a file round
    about may import what it does not name.
    """
    texts = {filename: file.text for filename, file in project.units.files()}
    words = project.once(_words_of_files)
    keys = {name: _key(name) for name in texts}

    def importing(one: str) -> set[str]:
        return {other for other in texts if keys.get(one) in words[other]}

    def imported(one: str) -> set[str]:
        return {other for other in texts if keys[other] in words.get(one, ())}

    around = _closed({unit.filename}, lambda one: importing(one) | imported(one))
    if any(_mentions(texts.get(one, ""), _BY_TEXT) for one in around):
        return None
    found = _closed(_closed({unit.filename}, importing), imported)
    return [(name, texts[name]) for name in sorted(found) if name in texts]


def _closed(names: set[str], onwards: Callable[[str], set[str]]) -> set[str]:
    found, pending = set(names), list(names)
    while pending:
        more = onwards(pending.pop()) - found
        found |= more
        pending += more
    return found


def _words_of_files(project: Project) -> dict[str, frozenset[str]]:
    return {filename: _words(file.text) for filename, file in project.units.files()}


def _key(filename: str) -> str:
    """The name by which a file is imported: that of its folder for a package."""
    steps = steps_of(filename)
    return steps[-2] if steps[-1] == "__init__" and len(steps) > 1 else steps[-1]


def _words(text: str) -> frozenset[str]:
    """What the imports of a file name."""
    found = (part for parts in _IMPORTS.findall(text) for part in parts)
    return frozenset(word for part in found for word in _WORD.findall(part))
