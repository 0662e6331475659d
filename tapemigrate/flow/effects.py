"""Which methods and functions of a file change their object, or names outside of themselves."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from copy import copy
from functools import cached_property

from tapemigrate.flow.callables import Callables
from tapemigrate.flow.changers import changed_by_handed, put_into
from tapemigrate.flow.filled import Filled, FilledArguments, root_name
from tapemigrate.flow.fixpoint import Fixpoint
from tapemigrate.flow.functions import Function, NamedFunction, free_names
from tapemigrate.flow.members import Members
from tapemigrate.flow.memory import (
    is_remembering,
    keeps_when_called,
    makes_function,
    remembers,
    remembers_objects,
)
from tapemigrate.flow.paths import path_of
from tapemigrate.flow.touched import Known, Touched
from tapemigrate.flow.unpacking import all_given
from tapemigrate.source.points import begin
from tapemigrate.source.trees import arguments_of, calls_in, walk

_REUSING = frozenset({"reuse", "reuse_variables", "AUTO_REUSE"})
# The collection of trainable variables, by its name and by its key.
_TRAINABLE = ("TRAINABLE_VARIABLES", "trainable_variables")


#: The methods that say what arithmetic with an object does.
OPERATORS = tuple(
    f"__{side}{name}__"
    for side in ("", "r")
    for name in ("add", "mul", "sub", "truediv", "div", "pow", "matmul")
)


def _says_nothing(_: str) -> bool:
    return False


def _may_reuse(node: ast.AST) -> bool:
    if isinstance(node, ast.Attribute):
        return node.attr in _REUSING
    return isinstance(node, ast.arg | ast.keyword) and node.arg in _REUSING


def _may_freeze(node: ast.AST) -> bool:
    if not isinstance(node, ast.keyword) or node.arg != "trainable":
        return False
    return not (isinstance(node.value, ast.Constant) and node.value.value is True)


def _fills_trainable(call: ast.Call) -> bool:
    name = call.func.attr if isinstance(call.func, ast.Attribute) else ""
    given = [*call.args[:1], *(k.value for k in call.keywords if k.arg == "name")]
    if name not in ("add_to_collection", "add_to_collections"):
        given = [k.value for k in call.keywords if k.arg == "collections"]
    return any(
        getattr(node, "attr", getattr(node, "value", None)) in _TRAINABLE
        for each in given
        for node in walk(each)
        if isinstance(node, ast.Attribute | ast.Constant)
    )


class Effects(Members):
    """What the functions and classes of one file write to, read off their source once.

    ``harmless`` tells of a call whether what it means is known to put nothing
    into what it is handed, ``joins`` whether it makes one thing of a list, into which nothing is
    put, ``said`` whether it is known from elsewhere that a fact holds in the file.
    """

    def __init__(
        self,
        tree: ast.Module,
        harmless: Callable[[ast.Call], bool] = lambda call: False,
        joins: Callable[[ast.Call], bool] = lambda call: False,
        said: Callable[[str], bool] = _says_nothing,
    ) -> None:
        super().__init__(tree)
        self._harmless = harmless
        self._joins = joins
        self._changing: Callable[[str], bool] | None = None
        self._said = said
        self._facts: dict[str, bool] = {}
        self._outside = Fixpoint[str, frozenset[str]](frozenset())
        self._altered: dict[Function, tuple[frozenset[str], frozenset[str]]] = {}
        self._filling = FilledArguments(self._functions, self._classes, harmless, joins)
        self._touched = Known()
        self._setting_names = Fixpoint[str, frozenset[str]](frozenset())
        self._called: bool | None = None
        #: What calls may run by other names than those of functions.
        self.callables = Callables(self._functions, self._given, self._kept)

    def among(self, changing: Callable[[str], bool], said: Callable[[str], bool]) -> Effects:
        """The same of this file among others; ``changing``: whether a method of that name changes
        its object, in any of them, ``said`` whether another one has it that a fact holds here.
        """
        other = copy(self)
        other._changing = changing
        other._said = said
        other._facts = {}
        other._outside = Fixpoint[str, frozenset[str]](frozenset())
        other._altered = {}
        classes = self._functions, self._classes, self._harmless, self._joins
        other._filling = FilledArguments(*classes)
        return other

    def _may_set(self, name: str) -> bool:
        """Whether a method of that name changes its object, in whatever file."""
        return self.sets_parts(name) or (self._changing is not None and self._changing(name))

    @property
    def reuses_variables(self) -> bool:
        """Whether a function that makes a variable may give back one that was there."""
        return self._fact("reuses_variables", lambda: any(map(_may_reuse, walk(self._tree))))

    @property
    def finds_frozen(self) -> bool:
        """Whether what gives back a variable may give one that is not trainable, and not say so."""
        return self.reuses_variables and self._fact(
            "freezes", lambda: any(map(_may_freeze, walk(self._tree)))
        )

    @property
    def fills_trainable(self) -> bool:
        """Whether variables of the program's own choice are put among those that are trainable."""
        return self._fact(
            "fills_trainable", lambda: any(map(_fills_trainable, calls_in(self._tree)))
        )

    @property
    def has_operators(self) -> bool:
        """Whether classes say what arithmetic with their objects does."""
        return self._fact("has_operators", lambda: any(map(self.functions, OPERATORS)))

    @property
    def has_getters(self) -> bool:
        """Whether ``get_variable`` may give what a custom getter computes."""
        return self._fact("under_getters")

    @property
    def has_creators(self) -> bool:
        """Whether what makes a variable may be replaced by something else."""
        return self._fact("under_creators")

    @property
    def lists_others(self) -> bool:
        """Whether a method that is named after trainable variables may give others."""
        return self._fact("lists_others")

    def _fact(self, name: str, of_own: Callable[[], bool] | None = None) -> bool:
        """What holds by this file itself, or because another one has it so."""
        if name not in self._facts:
            self._facts[name] = (of_own is not None and of_own()) or self._said(name)
        return self._facts[name]

    def keeps_own_object(self, name: str) -> bool:
        """Whether what has the name, in any scope, may be an object of a class of the program."""
        return any(
            (path := path_of(value.func)) is not None and (path[-1].lstrip(".") in self._classes)
            for value in (*self._given.get(name, ()), *self.kept(name))
            if isinstance(value, ast.Call)
        )

    @property
    def touched(self) -> Touched:
        """What methods do with the attributes of their objects."""
        return Touched(self, self._harmless, self._touched)

    def writes_self(self, cls: ast.ClassDef, name: str) -> bool:
        """Whether calling ``self.name(…)`` may change ``self``; True where that cannot be seen."""
        return bool(self.touched.written(cls, name))

    def sets_parts(self, name: str) -> bool:
        """Whether a method of that name, of a class of this file, changes its object."""
        return any(self.writes_self(cls, name) for cls in self.having(name))

    def having(self, name: str) -> Sequence[ast.ClassDef]:
        """The classes of this file that define the name themselves."""
        return self._having.get(name, ())

    @cached_property
    def _having(self) -> dict[str, list[ast.ClassDef]]:
        """The classes by what they define."""
        found: dict[str, list[ast.ClassDef]] = {}
        for cls in self._classes.values():
            for name in {getattr(stmt, "name", "") for stmt in cls.body}:
                found.setdefault(name, []).append(cls)
        return found

    def rebound_names(self, name: str) -> frozenset[str]:
        """The outer names to which functions called ``name`` may give another value."""
        return frozenset(
            each
            for function in self._functions.get(name, ())
            for node in walk(function)
            if isinstance(node, ast.Global | ast.Nonlocal)
            for each in node.names
        )

    def remembers(self, function: NamedFunction) -> bool:
        """Whether a decorator has the function give what an earlier call of it gave."""
        if not function.decorator_list:
            return False
        makers = {(path_of(d) or ("",))[-1].lstrip(".") for d in function.decorator_list}
        return remembers(function, self.functions, self._binds) or any(
            keeps_when_called(cls) for name, cls in self._classes.items() if name in makers
        )

    def is_remembering(self, value: ast.expr) -> bool:
        """Whether it is a function of the file that gives what earlier calls of it gave."""
        own = isinstance(value, ast.Call) and any(
            makes_function(a)
            or isinstance(a, ast.Attribute)
            or (isinstance(a, ast.Name) and (a.id in self._functions or a.id in self._classes))
            for a in value.args
        )
        return own and is_remembering(value, self.functions)

    def remembers_objects(self, cls: ast.ClassDef) -> bool:
        """Whether a call of the class may give an object that an earlier call of it made."""
        return any(
            remembers_objects(each, self.functions, self.called_on) for each in self.lineage(cls)
        )

    def _binds(self, name: str) -> bool:
        """Whether something of the file may give the name a meaning."""
        return any(
            (isinstance(n, ast.Name) and n.id == name and not isinstance(n.ctx, ast.Load))
            or (isinstance(n, NamedFunction | ast.ClassDef) and n.name == name)
            or (isinstance(n, ast.alias) and (n.asname or n.name) in (name, "*"))
            for n in walk(self._tree)
        )

    def keeps_state(self, name: str | None) -> bool:
        """Whether what is called by that name may give later what it made of an earlier call.

        A function does so by ``nonlocal``, or by a decorator; an object if its class sets parts
        of it when it is called.
        """
        if name is not None and self._functions.get(name):
            return any(
                self.remembers(each) or any(isinstance(n, ast.Nonlocal) for n in walk(each))
                for each in self._functions[name]
            )
        if name is not None and name in self._classes:
            return self.remembers_objects(self._classes[name])
        if name is not None and any(map(self.is_remembering, self._given.get(name, ()))):
            return True
        if name is not None and any(map(self.keeps_state, self.callables.named(name))):
            return True
        if self._called is None:
            self._called = self.sets_parts("__call__")
        return self._called

    def sets(self, name: str) -> frozenset[str]:
        """The attributes that methods of that name set, and what they call, of whatever object."""
        return self._setting_names.of(name, self._sets)

    def _sets(self, name: str) -> frozenset[str]:
        found: set[str] = set()
        for node in (n for function in self._functions.get(name, ()) for n in walk(function)):
            if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
                found.add(node.attr)
            elif isinstance(node, ast.Call):
                called = (path_of(node.func) or ("",))[-1].lstrip(".")
                known = called in self._functions
                found |= self.sets(called if known else "__call__")
        return frozenset(found)

    def outside_names(self, name: str) -> frozenset[str]:
        """Outer names that functions called ``name`` may rebind, or whose objects they change."""
        return self._outside.of(name, self._outside_names)

    def _outside_names(self, name: str) -> frozenset[str]:
        names = (name, *sorted(self.callables.named(name)))
        functions = (function for each in names for function in self._functions.get(each, ()))
        return frozenset().union(*map(self._outside_of, functions))

    def altered(self, function: Function) -> tuple[frozenset[str], frozenset[str]]:
        """The same of one function, which may be a lambda, and what it hands on out of sight."""
        if function not in self._altered:
            free = free_names(function)
            outside = free & self._outside_of(function)
            self._altered[function] = outside, free & self._handed_by(function) - outside
        return self._altered[function]

    def filled(self, call: ast.Call, name: str, bound: int = 0) -> Filled:
        """What functions called ``name`` set or put into the arguments of ``call``.

        ``bound``: how many parameters a call of it does not pass.
        """
        return self._filling.by(name, call, bound, self._may_set)

    def filled_by_making(self, call: ast.Call, name: str) -> Filled | None:
        """The same of a class called ``name``; None if its constructor may do more than is seen."""
        cls = self._classes.get(name)
        made_by = self.method(cls, "__init__") if cls is not None else None
        if made_by is None or not made_by.args.args:
            return None
        me = made_by.args.args[0].arg
        nodes = walk(made_by)
        sets = [n for n in nodes if isinstance(n, ast.Attribute) and isinstance(n.ctx, ast.Store)]
        first = min(map(begin, sets), default=None)
        for node in nodes:
            if isinstance(node, ast.Call):
                # The constructor of a class above knows no more than what it is handed.
                above = isinstance(node.func, ast.Attribute) and node.func.attr == "__init__"
                given = [a for a in arguments_of(node) if not (above and path_of(a) == (me,))]
                if above and (given or (first is not None and begin(node) > first)):
                    return None
                if any(root_name(each) == me for each in (node.func, *given)):
                    return None
            elif isinstance(node, ast.Attribute | ast.Subscript):
                # What is kept on the object may be what it was handed.
                if isinstance(node.ctx, ast.Store) and len(path_of(node) or (me,) * 3) > 2:
                    return None
        return self._filling.by(made_by, call, 1, self._may_set)

    def filled_by_method(self, call: ast.Call, called: str) -> list[ast.expr]:
        """What ``Sum(rows).push(h)`` changes of what the object is handed, which keeps it.

        ``called``: the method that runs where the object itself is called.
        """
        func = call.func
        made, method = (
            (func.value, func.attr) if isinstance(func, ast.Attribute) else (func, called)
        )
        if not isinstance(made, ast.Call):
            return []
        cls = self._classes.get((path_of(made.func) or ("",))[-1].lstrip("."))
        made_by = self.method(cls, "__init__") if cls is not None else None
        if cls is None or made_by is None:
            return []
        changed = self.touched.written(cls, method)
        parameters = [a.arg for a in made_by.args.args[1:]]
        given = dict(zip(parameters, made.args, strict=False))
        given |= {k.arg: k.value for k in made.keywords if k.arg is not None}
        return [
            given[stmt.value.id]
            for stmt in walk(made_by)
            if isinstance(stmt, ast.Assign)
            and isinstance(stmt.value, ast.Name)
            and stmt.value.id in given
            and any(isinstance(t, ast.Attribute) and t.attr in changed for t in stmt.targets)
        ]

    def _outside_of(self, function: Function) -> set[str]:
        bound = {a.arg for a in walk(function.args) if isinstance(a, ast.arg)}
        bound |= {
            n.id for n in walk(function) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
        }
        found: set[str] = set()
        for node in walk(function):
            if isinstance(node, ast.Global | ast.Nonlocal):
                found.update(node.names)
                bound -= set(node.names)
        names = _names_given(function)
        changed = [
            each
            for each in self._filling.defaults(function, self._may_set)
            if not self._harmless(ast.Call(each, [], []))  # ``nonlinearity=tf.nn.relu``
        ]
        called = {call.func for call in calls_in(function)}
        for node in walk(function):
            if isinstance(node, ast.Attribute | ast.Subscript):
                if not isinstance(node.ctx, ast.Load):
                    changed.append(node)
                elif isinstance(node, ast.Attribute) and node not in called:
                    # ``map(net.embed, xs)``: what it is handed to may call it.
                    changed += [node.value] if self._may_set(node.attr) else []
            elif isinstance(node, ast.Call):
                if isinstance(node.func, ast.Name):
                    found |= self.outside_names(node.func.id) - bound
                if not self._harmless(node):  # ``tf.add``
                    changed += put_into(node)
                    if isinstance(node.func, ast.Attribute) and self._may_set(node.func.attr):
                        changed.append(node.func.value)
                changed += [*changed_by_handed(node), *self._handed_and_filled(node)]
        for each in changed:
            root = root_name(each)
            while root in names:
                root = names[root]
            if root is not None and root not in bound:
                found.add(root)
        return found

    def _handed_and_filled(self, call: ast.Call) -> list[ast.expr]:
        """What is handed to functions of this file that set parts of it, or put something in it."""
        match call.func:
            case ast.Name(id=name):
                filled = self.filled(call, name)
            case ast.Attribute(attr=name):
                filled = self.filled(call, name, bound=1)
            case _:
                return []
        return [*filled.surely, *filled.perhaps]

    def _handed_by(self, function: Function) -> set[str]:
        """The names of what a function hands to functions that are out of sight."""
        names = _names_given(function)
        found: set[str] = set()
        for call in (n for n in walk(function) if isinstance(n, ast.Call)):
            match call.func:
                case ast.Name(id=name):
                    bound = 0
                case ast.Attribute(attr=name):
                    bound = 1
                case _:
                    name, bound = "", 0
            known = bool(self._functions.get(name)) or self._harmless(call)
            handed = self.filled(call, name, bound).unseen if known else arguments_of(call)
            for each in handed:
                root = root_name(each.value if isinstance(each, ast.Starred) else each)
                while root in names:
                    root = names[root]
                if root is not None:
                    found.add(root)
        return found


def _names_given(function: ast.AST) -> dict[str, str]:
    """The names that a function gives to what has another one, or is a part of that."""
    found: dict[str, str] = {}
    for target, value in all_given(function, loops=True):
        name, root = target.id if isinstance(target, ast.Name) else None, root_name(value)
        met = root
        while met in found and met != name:
            met = found[met]
        if name is not None and root is not None and met != name:
            found[name] = root
    return found
