"""What the definitions of one scope compute, and what may flow into it unseen."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable, Iterator, Sequence

from tapemigrate.flow.definitions import HIDDEN, Def, Kind, Use
from tapemigrate.flow.defuse import Flow
from tapemigrate.flow.functions import NamedFunction, calls_first
from tapemigrate.flow.paths import Path, path_of
from tapemigrate.flow.slices import Backward, backward, origins
from tapemigrate.source.trees import arguments_of, walk
from tapemigrate.tape.ops.deferred import Deferred
from tapemigrate.tape.ops.kinds import Kinds, Make
from tapemigrate.tape.ops.operands import Operands, values_in
from tapemigrate.tape.ops.symbols import gives_no_tensors
from tapemigrate.tape.ops.syntax import is_plain, only_iterates, runs_code
from tapemigrate.tape.ops.texts import is_text

# Tensors have no such methods.
_OF_LISTS = frozenset({"append", "extend", "insert"})
_LISTS = (ast.List, ast.Tuple, ast.Dict, ast.ListComp, ast.DictComp)
# TensorFlow 1's, of which each part is a list.
_GIVING_LISTS = frozenset({"model_with_buckets"})
_OUTSIDE = (Kind.PARAM, Kind.ENTRY)
_VALUES = (Kind.ASSIGN, Kind.ELEMENT, Kind.AUGMENT, Kind.LOOP, Kind.COMPREHENSION, Kind.MUTATE)
_VARIABLE = (Make.VARIABLE, Make.FROZEN)
_NO_OPS = (Kind.IMPORT, Kind.PARAM, Kind.ENTRY)


class Ops:
    """Reads it off the values of definitions, once for each."""

    def __init__(
        self,
        flow: Flow,
        kinds: Kinds,
        operands: Operands,
        deferred: Deferred,
        is_plain: Callable[[str], bool],
        gives_numbers: Callable[[ast.Call], bool],
    ) -> None:
        """``is_plain``: whether a name of the module is of an object that knows no tensors.

        ``gives_numbers``: whether a function of the user's gives nothing but such, or numbers.
        """
        self._flow = flow
        self._kinds = kinds
        self._operands = operands
        self._deferred = deferred
        self._is_plain = is_plain
        self._gives_numbers = gives_numbers
        self._makes: dict[Def, Make] = {}
        self._opaque: dict[Def, bool] = {}

    def paths_read(self, exprs: Sequence[ast.AST | None]) -> set[Path]:
        """The paths from which a gradient may flow into the values of ``exprs``."""
        return {
            path
            for expr in exprs
            if expr is not None
            for node in self.value_paths(expr)
            if (path := path_of(node)) is not None
        }

    def runs_unseen(self, made: Def) -> bool:
        """Whether code runs for the value that may read a source unseen."""
        if made.kind in (Kind.FUNCTION, Kind.CLASS, Kind.IMPORT, *_OUTSIDE):
            return False
        return self.may_hide_a_source(made)

    def calls_unseen(self, value: ast.expr) -> bool:
        """Whether an expression calls code that may read a source unseen.

        It may be an op on a variable that is made in its arguments.
        """
        alone = {*_as_they_are(value)}
        for call in (n for n in walk(value) if isinstance(n, ast.Call)):
            make = self._kinds.make(call)
            if make is Make.UNKNOWN or self._is_layer(call):
                return True
            if make in _VARIABLE and call not in alone:
                return True
        return False

    def is_only_read(self, target: ast.expr) -> bool:
        """Whether reading it runs no op: it may be one of a list, as ``tf.gradients`` gives."""
        if is_plain(target) and self.computes_parts(target):
            return False
        if is_plain(target) or not isinstance(target, ast.Subscript):
            return is_plain(target)
        owner = path_of(target.value)
        index = walk(target.slice)
        if owner is None or any(isinstance(n, ast.Call | ast.Slice | ast.Tuple) for n in index):
            return False
        made = origins(self._flow.uses_in(target.value))
        return bool(made) and all(d.path == owner and self._is_list(d) for d in made)

    def cut(
        self,
        target: frozenset[Use],
        goals: frozenset[Def],
        stops: frozenset[Def],
        rounds: frozenset[ast.stmt] = frozenset(),
    ) -> Backward:
        """The slice behind ``target`` up to some definitions, without what carries no gradient.

        Nor what was carried round one of the loops in ``rounds``.
        """
        whole = backward(target, goals | stops, rounds)
        barren = {d for d in whole.made if d not in goals and self.is_barren(d)}
        return backward(target, frozenset(goals | stops | barren), rounds)

    def is_barren(self, made: Def) -> bool:
        """Whether no gradient can pass through this definition."""
        if self.make(made) is Make.LEAF:
            return made.kind is Kind.ASSIGN
        return self._is_all_numbers(made)

    def make(self, made: Def) -> Make:
        """What the value of a definition makes."""
        if made not in self._makes:
            value = made.value
            self._makes[made] = Make.UNKNOWN if value is None else self._kinds.make(value)
            if self._makes[made] is Make.UNKNOWN and (
                self._is_of_numbers(made) or self._is_made_of_numbers(made)
            ):
                self._makes[made] = Make.PYTHON
        return self._makes[made]

    def sets_parts(self, made: Def) -> frozenset[str]:
        """The attributes that a call of an own method sets, where it leaves the others alone."""
        if not isinstance(made.value, ast.Call):
            return frozenset()
        return self._kinds.effect(made.value).parts

    def read_by_methods(self, value: ast.expr) -> frozenset[str]:
        """The attributes that own methods read which run there, called or as properties."""
        cls, found = self._kinds.cls, frozenset[str]()
        effects = self._kinds.effects
        for node in walk(value) if cls is not None else ():
            path = path_of(node) if isinstance(node, ast.Attribute) else None
            if cls is not None and path is not None and path[:-1] == (self._kinds.self_name,):
                found |= effects.touched.told(cls, path[1].lstrip(".")).read
        return found

    def may_hide_a_source(self, made: Def) -> bool:
        """Whether a value from out of sight may reach the target through this definition."""
        if made not in self._opaque:
            self._opaque[made] = self._reads_unseen(made)
        return self._opaque[made]

    def makes_ops(self, made: Def) -> bool:
        """Whether the statement of this definition runs ops that a tape has to see."""
        value = made.value
        if made.kind in (Kind.LOOP, Kind.COMPREHENSION):
            if value is None or self._kinds.make(value) in (Make.PYTHON, Make.LEAF):
                return False
            return not only_iterates(value) or self._deferred.iterates(value)
        if made.kind in (Kind.FUNCTION, Kind.CLASS):
            return runs_code(made.stmt) or self._is_run_there(made.stmt)
        if made.kind in _NO_OPS:
            return False
        if made.kind is Kind.WITH:
            if isinstance(value, ast.Call):
                return self._is_own(value)
            return value is not None and self._deferred.enters(value)
        if self.is_barren(made) or self.make(made) in (Make.VARIABLE, Make.FROZEN, Make.VARIABLES):
            return False
        if made.kind is Kind.MUTATE and isinstance(value, ast.Call) and self._is_apart(value):
            return False
        if made.kind is Kind.ASSIGN and value is not None:
            if is_plain(value) or self._deferred.finds(value):
                return self.computes_parts(value)
        if made.kind is Kind.ASSIGN and isinstance(value, ast.Lambda):
            return runs_code(value)
        return True

    def _is_apart(self, call: ast.Call) -> bool:
        """Whether a library without tensors is called, and handed nothing that is the user's:
        ``locale.setlocale(locale.LC_ALL, "")``.
        """
        known = [self._kinds.name(node) for node in (call.func, *arguments_of(call))]
        made = [self._kinds.make(node) is Make.PYTHON for node in arguments_of(call)]
        return all(
            number or (name is not None and gives_no_tensors(name))
            for name, number in zip(known, [False, *made], strict=True)
        )

    def is_number(self, made: Def) -> bool:
        """Whether it certainly is a number, or another value without tensors."""
        number = self._is_number_from_elsewhere(made)
        return self._is_all_numbers(made) if number is None else number

    def computes_parts(self, value: ast.expr) -> bool:
        """Whether objects compute parts of theirs where the value is read: ``[net.u, net.v]``."""
        return any(self._deferred.reads(n) for n in walk(value) if isinstance(n, ast.Attribute))

    def iterates(self, value: ast.expr) -> bool:
        """Whether taking elements out of the value makes them."""
        return self._deferred.iterates(value)

    def value_paths(self, expr: ast.AST) -> list[ast.expr]:
        """The paths read as values: not the functions called, nor the ``self`` they hang on."""
        found: list[ast.expr] = []
        stack: list[ast.AST] = [expr]
        while stack:
            node = stack.pop()
            if isinstance(node, ast.Call):
                if self._kinds.is_barren(node):
                    continue
                stack += self._operands.of(node)
                owner = node.func.value if isinstance(node.func, ast.Attribute) else None
                if path_of(node.func) is None or self._is_passed_in(node.func):
                    stack.append(node.func)
                elif owner is not None and not self._is_code(owner):
                    stack.append(owner)
            elif isinstance(node, ast.expr) and path_of(node) is not None:
                found.append(node)
            elif not isinstance(node, ast.Lambda):
                stack.extend(values_in(node))
        return found

    def _is_run_there(self, stmt: ast.stmt | None) -> bool:
        """Whether a decorator of the file calls what it decorates: ``@call`` above ``def``."""
        listed = stmt.decorator_list if isinstance(stmt, NamedFunction) else ()
        names = (each.id for each in listed if isinstance(each, ast.Name))
        found = (f for name in names for f in self._kinds.effects.functions(name))
        return any(calls_first(each) for each in found)

    def _is_list(self, made: Def) -> bool:
        """Whether a name has a list, a tuple or a dict there, and no tensor."""
        value = made.value
        if isinstance(value, ast.Call):
            if made.kind is Kind.MUTATE:
                return isinstance(value.func, ast.Attribute) and value.func.attr in _OF_LISTS
            name = self._kinds.tensorflow(value.func) or ""
            # An element of what `gradients` gives is a tensor.
            whole = made.kind is Kind.ASSIGN and name == "gradients"
            return whole or name.rpartition(".")[2] in _GIVING_LISTS
        return made.kind is Kind.ASSIGN and isinstance(value, _LISTS)

    def _is_of_numbers(self, made: Def) -> bool:
        """``args = parser.parse_args()``: what a method of an object without tensors gives."""
        value, root = made.value, made.value
        while isinstance(root, ast.Attribute | ast.Subscript | ast.Call):
            root = root.func if isinstance(root, ast.Call) else root.value
        reads = self._flow.reads.get(root, frozenset()) if isinstance(root, ast.Name) else ()
        if value is None or value is root or not reads or made.kind not in _VALUES:
            return False
        libraries = {
            node.id
            for node in walk(value)
            if isinstance(node, ast.Name) and gives_no_tensors(self._kinds.name(node) or "")
        }
        return all(
            u.made.path[0] in libraries or self.is_number(u.made)
            for u in (*reads, *self._flow.uses_in(value))
        )

    def _is_made_of_numbers(self, made: Def) -> bool:
        plain = made.kind is Kind.ASSIGN and isinstance(made.value, ast.Call)
        return plain and isinstance(made.value, ast.Call) and self._gives_numbers(made.value)

    def _is_number_from_elsewhere(self, made: Def) -> bool | None:
        if made.kind is Kind.ENTRY:
            name = made.path[0]
            return (len(made.path) == 1 and hasattr(builtins, name)) or self._is_plain(name)
        # A part of a tensor made from nothing is another tensor, that a gradient flows through.
        if made.kind is Kind.WITH and self._is_file(made.value):
            return True
        if made.kind is Kind.FUNCTION:
            return self._gives_no_more_than_numbers(made.value or made.stmt)
        return None

    def _is_all_numbers(self, last: Def) -> bool:
        # What a loop changes in place was made of itself the time before.
        seen, todo = {last}, [last]
        while todo:
            made = todo.pop()
            changed = made.kind in (Kind.AUGMENT, Kind.MUTATE)
            if made.kind is Kind.AUGMENT and made.value is not None and is_text(made.value):
                continue  # and so was what it is added to
            before = {u.made for u in made.before} if changed else set()
            if self.make(made) is not Make.PYTHON or made.kind not in _VALUES:
                return False
            if changed and not before:
                return False
            for one in before - seen:
                seen.add(one)
                number = self._is_number_from_elsewhere(one)
                if number is False:
                    return False
                if number is None:
                    todo.append(one)
        return True

    def _reads_unseen(self, made: Def) -> bool:
        if made.kind in _OUTSIDE:
            return made.path[0] != HIDDEN[0]
        if made.kind in (Kind.FUNCTION, Kind.CLASS, Kind.IMPORT):
            return False
        if self.is_barren(made):
            return False
        make = self.make(made)
        if make in _VARIABLE:
            return True
        value = made.value
        if value is None:
            return False
        return self.calls_unseen(value)

    def _is_own(self, call: ast.Call) -> bool:
        """Whether what is called is the user's, and may run ops: no scope of a library's."""
        name = self._kinds.name(call.func)
        if self._kinds.tensorflow(call.func) is not None:
            return False
        return path_of(call.func) != ("open",) and not (name and gives_no_tensors(name))

    def _gives_no_more_than_numbers(self, function: ast.AST | None) -> bool:
        """Whether it is one like ``lambda text: text.lower() == "true"``."""
        given: list[ast.expr | None] = []
        if isinstance(function, ast.Lambda):
            given = [function.body]
        elif isinstance(function, ast.FunctionDef) and not function.decorator_list:
            given = [n.value for n in walk(function) if isinstance(n, ast.Return)]
        return bool(given) and all(
            value is None or self._kinds.make(value) is Make.PYTHON for value in given
        )

    def _is_file(self, value: ast.expr | None) -> bool:
        opened = isinstance(value, ast.Call) and path_of(value.func) == ("open",)
        return opened and value is not None and self._kinds.make(value) is Make.PYTHON

    def _is_layer(self, call: ast.Call) -> bool:
        name = self._kinds.name(call.func) or ""
        return ".layers." in name or ".keras." in name or ".contrib." in name or "rnn" in name

    def _is_passed_in(self, func: ast.expr) -> bool:
        """Whether the function called is a parameter, or an element of one: it may hold more than
        code."""
        if not isinstance(func, ast.Name | ast.Subscript):
            return False
        uses = self._flow.reads.get(func, frozenset())
        above = {use for u in uses if u.made.kind is Kind.ENTRY for use in u.made.uses}
        return any(u.made.kind is Kind.PARAM for u in uses | above)

    def _is_code(self, owner: ast.expr) -> bool:
        """Whether what a method hangs on is a module, or the object whose method is analysed."""
        return path_of(owner) == (self._kinds.self_name,) or self._kinds.name(owner) is not None


def _as_they_are(value: ast.expr) -> Iterator[ast.expr]:
    """What is given a name, or is put in a list or dict that is, by itself."""
    match value:
        case ast.List() | ast.Tuple() | ast.Set():
            for part in value.elts:
                yield from _as_they_are(part)
        case ast.Dict():
            for part in value.values:
                yield from _as_they_are(part)
        case ast.ListComp():
            yield from _as_they_are(value.elt)
        case _:
            yield value
