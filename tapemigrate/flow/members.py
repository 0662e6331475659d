"""The classes and functions of a file, and what its attributes and names are given."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from tapemigrate.flow.functions import NamedFunction, parameters
from tapemigrate.flow.hooks import (
    computes,
    decorator_itself,
    dispatches,
    gives_more,
    goes_on,
    hooks_of,
    is_property,
    is_setter,
    names_parts_twice,
    sets_more,
    yields_in_a_try,
)
from tapemigrate.flow.paths import path_of
from tapemigrate.flow.sharing import Given, Twins, sharing
from tapemigrate.flow.unpacking import each_given
from tapemigrate.source.trees import arguments_of, kept, parts_of_target, statements

_HOOKS = frozenset(
    {"__getattr__", "__getattribute__", "__setattr__", "__getitem__", "__setitem__", "__missing__"}
)
#: What stands in a file in which an attribute, or an element, runs code where it is set.
HOOKS = frozenset(
    {".setter", "__setattr__", "__setitem__", "__dict__ = self", "__getattr__ ="}
    | {"= property(", "__set__"}
)


class Members:
    """What one file defines, read off its source once.

    ``tuples`` are the names of named tuples, ``properties`` the attributes that methods compute,
    ``hooked`` the classes that compute all of them, or all elements. ``set_by_code`` and
    ``setting`` are those of both that may be set, and do more than to keep what they are handed.
    ``swallowing`` are the classes and functions that go on, entered by a ``with``, where an
    exception was raised. ``complete`` are the classes of which this file shows all that their
    objects do.
    """

    def __init__(self, tree: ast.Module) -> None:
        self._classes: dict[str, ast.ClassDef] = {}
        self._lineages: dict[ast.ClassDef, Sequence[ast.ClassDef]] = {}
        self._below: dict[ast.ClassDef, Sequence[ast.ClassDef]] = {}
        self._functions: dict[str, list[NamedFunction]] = {}
        self._tree = tree
        self.tuples: set[str] = set()
        self.properties: set[str] = set()
        self.set_by_code: set[str] = set()
        self._named: set[str] = set()
        self._kept: dict[str, list[ast.expr]] = {}
        self._given_to_parts: list[Given] = []
        self._chained: list[tuple[str, str]] = []
        self._given: dict[str, list[ast.expr]] = {}
        hooked: list[ast.ClassDef] = []
        registered: dict[str, list[NamedFunction]] = {}
        yields = False
        for node in statements(tree):
            if isinstance(node, ast.ClassDef):
                self._classes[node.name] = node
                defined = any(getattr(stmt, "name", "") in _HOOKS for stmt in node.body)
                if defined or names_parts_twice(node):
                    hooked.append(node)
                if any((path_of(b) or ("",))[-1].lstrip(".") == "NamedTuple" for b in node.bases):
                    self.tuples.add(node.name)
            elif isinstance(node, ast.Assign):
                self._assigned(node)
            elif isinstance(node, ast.For):
                self._gives(node.target, node.iter)
            elif isinstance(node, ast.AnnAssign) and node.value is not None:
                self._gives(node.target, node.value)
            elif isinstance(node, NamedFunction):
                self._named |= {a.arg for a in parameters(node.args)}
                self._functions.setdefault(node.name, []).append(node)
                if any(is_property(d) for d in node.decorator_list):
                    self.properties.add(f".{node.name}")
                    if any(is_setter(d) for d in node.decorator_list):
                        self.set_by_code.add(f".{node.name}")
                for path in map(path_of, (decorator_itself(d) for d in node.decorator_list)):
                    if path is not None and path[1:] == (".register",):
                        registered.setdefault(path[0], []).append(node)
            elif isinstance(node, ast.Try):
                yields = yields or goes_on(node)
        setters = dict(self._properties_made())
        for name, others in registered.items():
            known = self._functions.get(name, ())
            if any(dispatches(d) for each in known for d in each.decorator_list):
                self._functions[name] = [*known, *others]
        self.hooked = {
            name
            for name, cls in self._classes.items()
            if any(each in hooked for each in (self.lineage(cls) if hooked else ()))
        }
        setting = {
            cls.name
            for cls in hooked
            if names_parts_twice(cls) or any(map(sets_more, hooks_of(cls)))
        }
        self.setting = {
            name
            for name in self.hooked
            if setting and any(each.name in setting for each in self.lineage(self._classes[name]))
        }
        self.set_by_code = {
            name for name in self.set_by_code if any(map(computes, self._functions[name[1:]]))
        }
        self.properties |= setters.keys()
        self.set_by_code |= {name for name, run in setters.items() if any(map(sets_more, run))}
        self.swallowing = {
            name
            for name, cls in self._classes.items()
            if (leave := self.method(cls, "__exit__")) is not None and gives_more(leave)
        }
        self.complete = {
            name
            for name, cls in self._classes.items()
            if all(
                isinstance(base, ast.Name) and (base.id == "object" or base.id in self._classes)
                for each in self.lineage(cls)
                for base in each.bases
            )
        }
        if yields:
            managers = self._functions.items()
            self.swallowing |= {n for n, made in managers if any(map(yields_in_a_try, made))}
        self._twins: Twins | None = None

    def _properties_made(self) -> Iterator[tuple[str, list[NamedFunction]]]:
        """What bodies of classes give a property or a descriptor, with what runs where it is set.

        ``z = property(_get, _set)``, ``z = Checked()``
        """
        for stmt in (stmt for cls in self._classes.values() for stmt in cls.body):
            if not isinstance(stmt, ast.Assign) or not isinstance(stmt.value, ast.Call):
                continue
            call, name = stmt.value, (path_of(stmt.value.func) or ("",))[-1].lstrip(".")
            if name == "property":
                given = [*call.args[1:2], *(k.value for k in call.keywords if k.arg == "fset")]
                run = [f for g in given if isinstance(g, ast.Name) for f in self.functions(g.id)]
            elif name in self._classes:
                setter = self.method(self._classes[name], "__set__")
                if setter is None:
                    continue
                run = [setter]
            else:
                continue
            for target in stmt.targets:
                if isinstance(target, ast.Name):
                    yield f".{target.id}", run

    def _assigned(self, stmt: ast.Assign) -> None:
        names = {t.id for t in stmt.targets if isinstance(t, ast.Name)}
        parts = (part for target in stmt.targets for part in parts_of_target(target))
        self._named |= {part.id for part in parts if isinstance(part, ast.Name)}
        if isinstance(stmt.value, ast.Call):
            if (path_of(stmt.value.func) or ("",))[-1].lstrip(".") == "namedtuple":
                self.tuples |= names
        chained = [t.attr for t in stmt.targets if isinstance(t, ast.Attribute)]
        self._chained += [(one, other) for one in chained for other in chained if one != other]
        # ``self.kept = parts = {}``: what is put into ``parts`` is in ``self.kept``.
        values = [*(t for t in stmt.targets if isinstance(t, ast.Name)), stmt.value]
        for target in stmt.targets:
            if isinstance(target, ast.Attribute):
                self._kept.setdefault(target.attr, []).append(stmt.value)
                self._given_to_parts += [Given(target.attr, v, stmt.lineno) for v in values]
            elif isinstance(target, ast.Name):
                self._gives(target, stmt.value)
        for part, value in each_given(stmt):
            if part in stmt.targets and not isinstance(part, ast.Tuple | ast.List):
                continue
            if isinstance(part, ast.Attribute):
                self._kept.setdefault(part.attr, []).append(value)
                self._given_to_parts.append(Given(part.attr, value, stmt.lineno))
            self._gives(part, value)

    def _gives(self, target: ast.expr, value: ast.expr) -> None:
        """``target``, or a part of it, is given ``value``, or a part of that."""
        if isinstance(target, ast.Name):
            self._given.setdefault(target.id, []).append(value)
        elif isinstance(target, ast.Tuple | ast.List):
            for part in target.elts:
                self._gives(part, value)

    def is_own(self, name: str) -> bool:
        """Whether a function of the file has that name, or what one is handed, or keeps by it."""
        return name in self._named or name in self._functions

    @property
    def twins(self) -> Twins:
        """The attributes that hold what others do, or have it: ``self.b = self.a``."""
        if self._twins is None:
            self._twins = sharing(self._given_to_parts, self._chained, self._functions)
        return self._twins

    def kept(self, attribute: str) -> list[ast.expr]:
        """What the file assigns to attributes of that name."""
        return self._kept.get(attribute, [])

    def bound(self, name: str) -> list[ast.expr]:
        """What is handed over by a call of the name: ``name = partial(put, found)``."""
        return [
            each
            for value in self._given.get(name, ())
            if isinstance(value, ast.Call)
            and (path_of(value.func) or ("",))[-1].lstrip(".") == "partial"
            for each in arguments_of(value)
        ]

    def functions(self, name: str) -> list[NamedFunction]:
        """Every function or method of that name in the file."""
        return self._functions.get(name, [])

    def class_named(self, name: str) -> ast.ClassDef | None:
        """The class of that name, if it stands in this file."""
        return self._classes.get(name)

    def lineage(self, cls: ast.ClassDef) -> Iterator[ast.ClassDef]:
        """``cls`` and those of its bases that this file shows."""
        if cls not in self._lineages:
            found: dict[str, ast.ClassDef] = {}
            stack = [cls]
            for current in stack:  # which grows meanwhile
                if current.name not in found:
                    found[current.name] = current
                    names = [base.id for base in current.bases if isinstance(base, ast.Name)]
                    stack += [self._classes[name] for name in names if name in self._classes]
            self._lineages[cls] = tuple(found.values())
        return iter(self._lineages[cls])

    def heirs(self, cls: ast.ClassDef) -> Sequence[ast.ClassDef]:
        """The classes of this file that are ``cls``, or extend it."""
        if cls not in self._below:
            self._below[cls] = tuple(
                each for each in self._classes.values() if each is cls or cls in self.lineage(each)
            )
        return self._below[cls]

    def method(self, cls: ast.ClassDef, name: str) -> NamedFunction | None:
        """The method that ``self.name`` means in ``cls``, if this file shows it."""
        own = (kept(current, _methods).get(name) for current in self.lineage(cls))
        return next((method for method in own if method is not None), None)

    def is_overridden(self, cls: ast.ClassDef, name: str) -> bool:
        """Whether a class of this file that extends ``cls`` has a method of that name."""
        return any(
            getattr(stmt, "name", None) == name
            for other in self.heirs(cls)
            if other is not cls
            for stmt in other.body
        )

    def methods_above(self, cls: ast.ClassDef, name: str) -> list[NamedFunction]:
        """The methods of that name that the bases of ``cls`` have which this file shows."""
        return [
            stmt
            for each in [*self.lineage(cls)][1:]
            for stmt in each.body
            if isinstance(stmt, NamedFunction) and stmt.name == name
        ]

    def called_on(self, name: str) -> list[NamedFunction]:
        """The method that runs where an object of the class of that name is called, if any."""
        cls = self._classes.get(name)
        method = self.method(cls, "__call__") if cls is not None else None
        return [] if method is None else [method]


def _methods(cls: ast.AST) -> dict[str, NamedFunction]:
    """The methods of a class by name, the first of each."""
    body: list[ast.stmt] = getattr(cls, "body", [])
    return {stmt.name: stmt for stmt in reversed(body) if isinstance(stmt, NamedFunction)}
