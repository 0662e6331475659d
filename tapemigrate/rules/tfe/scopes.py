"""Scopes of one file: who binds a name, which value it has, and who else uses it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field

from tapemigrate.flow.definitions import Def, Use
from tapemigrate.flow.definitions import Kind as DefKind
from tapemigrate.flow.defuse import Flow
from tapemigrate.flow.functions import Scope, free_names, parameters
from tapemigrate.flow.paths import path_of
from tapemigrate.flow.slices import origins
from tapemigrate.rules.catalog import lookup
from tapemigrate.rules.finding import Unit
from tapemigrate.rules.project import Project, View
from tapemigrate.rules.tfe.reading import computes
from tapemigrate.source.points import begin

Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_GRADIENTS = frozenset({"TM101", "TM102", "TM103", "TM104"})
_LOOPS = (ast.For, ast.AsyncFor, ast.While)


@dataclass(slots=True)
class NameUses:
    """Where the value that a statement gives to a name is used.

    ``calls`` are its calls, ``others`` every other mention, both in the scope itself; ``nested``
    are the mentions in functions inside of it. ``mixed``: some use may see another value as well.
    """

    calls: list[ast.Call] = field(default_factory=list)
    others: list[ast.Name] = field(default_factory=list)
    nested: list[ast.Name] = field(default_factory=list)
    mixed: bool = False


class Scopes:
    """What the names of ``unit`` are bound to."""

    def __init__(self, unit: Unit, project: Project) -> None:
        self.unit = unit
        self._project = project
        self._bound: dict[ast.AST, frozenset[str]] = {}
        self._assigned: frozenset[str] | None = None
        self._named: dict[str, list[ast.Name]] | None = None
        self._mentions: dict[tuple[Scope | None, str], list[ast.Name]] = {}
        self._definitions: dict[Scope, dict[str, list[Def]]] = {}
        self._reads_of: dict[Scope, dict[str, list[tuple[ast.Name, frozenset[Use]]]]] = {}
        self._exported: frozenset[str] | None = None
        self._elsewhere: frozenset[str] | None = None
        self._gradient_calls: dict[Scope, list[ast.expr]] | None = None

    def scope_of(self, node: ast.AST) -> Scope:
        """The innermost function, lambda or module whose code runs ``node``."""
        return self._project.scope_of(self.unit, node)

    def view(self, scope: Scope) -> View:
        """The flow of ``scope``, made once."""
        return self._project.view(self.unit, scope)

    def flow(self, scope: Scope) -> Flow:
        """The definitions and uses of ``scope``, made once."""
        return self.view(scope).flow

    def class_around(self, node: ast.AST) -> ast.ClassDef | None:
        """The class whose method runs ``node``, or in whose body it stands."""
        current: ast.AST | None = node
        while current is not None:
            if isinstance(current, ast.ClassDef) and current is not node:
                return current
            current = self.unit.parents.get(current)
        return None

    def in_class_body(self, node: ast.AST) -> bool:
        """Whether ``node`` runs when a class is made."""
        for parent in self.parents(node):
            if isinstance(parent, ast.ClassDef):
                return True
            if isinstance(parent, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
                return False
        return False

    def parents(self, node: ast.AST) -> Iterator[ast.AST]:
        """The nodes around ``node``, innermost first."""
        current = self.unit.parents.get(node)
        while current is not None:
            yield current
            current = self.unit.parents.get(current)

    def statement(self, node: ast.AST) -> ast.stmt:
        """The innermost statement around ``node``, or itself."""
        while not isinstance(node, ast.stmt):
            node = self.unit.parents[node]
        return node

    def loops(self, node: ast.AST) -> list[ast.stmt]:
        """The loops of the same scope around a statement, innermost first."""
        found: list[ast.stmt] = []
        child = node
        for parent in self.parents(node):
            if isinstance(
                parent, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef
            ):
                break
            if isinstance(parent, _LOOPS) and any(child is s for s in parent.body):
                found.append(parent)
            child = parent
        return found

    def bound(self, scope: ast.AST) -> frozenset[str]:
        """The names that belong to ``scope`` itself (a function, lambda, module or class)."""
        if scope not in self._bound:
            self._bound[scope] = frozenset(_bound(scope))
        return self._bound[scope]

    def binder(self, name: str, node: ast.AST) -> Scope | None:
        """The scope in which ``name``, used at ``node``, is bound; None for builtins."""
        scope: Scope = self.scope_of(node)
        if scope is not self.unit.tree and isinstance(node, ast.arg):
            return scope
        while True:
            if name in self.bound(scope):
                return scope
            if scope is self.unit.tree:
                return None
            scope = self.scope_of(scope)

    def value(self, node: ast.Name) -> ast.AST | None:
        """The one thing that a name stands for: the expression it was given, or its ``def``."""
        made = self.definition(node)
        if made is None:
            return None
        if made.kind is DefKind.ASSIGN:
            return made.value
        return made.stmt if made.kind in (DefKind.FUNCTION, DefKind.CLASS) else None

    def definition(self, node: ast.Name) -> Def | None:
        """The one definition that reaches a name, if there is just one."""
        scope = self.scope_of(node)
        if self.comprehension_of(node) is not None:
            return None
        binder = self.binder(node.id, node)
        if binder is None:
            return None
        flow = self.flow(binder)
        if binder is scope and not isinstance(scope, ast.Lambda) and node in flow.reads:
            made = set(origins(flow.reads[node]))
        else:
            made = set(self.definitions(node.id, binder))
        made = {d for d in made if d.path == (node.id,)} if len(made) > 1 else made
        return next(iter(made)) if len(made) == 1 else None

    def comprehension_of(self, node: ast.Name) -> ast.AST | None:
        """The comprehension whose variable ``node`` is."""
        for parent in self.parents(node):
            if isinstance(parent, COMPREHENSIONS) and node.id in targets_of(parent):
                return parent
            if isinstance(parent, ast.stmt):
                break
        return None

    def definitions(self, name: str, scope: Scope) -> list[Def]:
        """Every definition of ``name`` in ``scope``, its uses from outside left out."""
        if scope not in self._definitions:
            found: dict[str, list[Def]] = {}
            for made in self.flow(scope).defs.values():
                if len(made.path) == 1 and made.kind not in (DefKind.ENTRY, DefKind.MUTATE):
                    found.setdefault(made.path[0], []).append(made)
            self._definitions[scope] = found
        return self._definitions[scope].get(name, [])

    def _reads(self, name: str, scope: Scope) -> list[tuple[ast.Name, frozenset[Use]]]:
        """Where ``name`` or a part of it is read in ``scope`` itself, and what reaches there."""
        if scope not in self._reads_of:
            found: dict[str, list[tuple[ast.Name, frozenset[Use]]]] = {}
            for node, reaching in self.flow(scope).reads.items():
                root = _root(node)
                if root is not None:
                    found.setdefault(root.id, []).append((root, reaching))
            self._reads_of[scope] = found
        return self._reads_of[scope].get(name, [])

    def uses(self, name: str, stmt: ast.stmt) -> NameUses:
        """Where the value that ``stmt`` gives to ``name`` is used."""
        found = NameUses()
        scope = self.scope_of(stmt)
        binder = self.binder(name, stmt)
        if binder is not scope:
            found.mixed = True
        for root, reaching in self._reads(name, scope):
            if self.comprehension_of(root) is not None:
                continue
            made = {d for d in origins(reaching) if d.path == (name,)}
            ours = [d for d in made if d.stmt is stmt]
            if not ours:
                continue
            found.mixed |= len(made) > 1
            parent = self.unit.parents[root]
            if isinstance(parent, ast.Call) and parent.func is root:
                found.calls.append(parent)
            elif root not in found.others:
                found.others.append(root)
        for node in self.mentions(name, binder):
            if self.scope_of(node) is not scope:
                found.nested.append(node)
            elif isinstance(node.ctx, ast.Del):
                found.others.append(node)
        found.calls.sort(key=begin)
        return found

    def unchanged(self, name: str, first: ast.stmt, last: ast.stmt) -> bool:
        """Whether ``name`` means at ``last`` what it means after ``first``, in one scope."""
        if name in self.given_elsewhere():
            return False
        binder = self.binder(name, first)
        if self.deleted(name, binder):
            return False
        if binder is None or binder is not self.scope_of(first):
            return True
        loops = set(self.loops(last)) - set(self.loops(first))
        for made in self.definitions(name, binder):
            if made.stmt is None:
                continue
            if begin(first) < begin(made.stmt) <= begin(last):
                return False
            if loops & {*self.loops(made.stmt), made.stmt}:
                return False
        return True

    def deleted(self, name: str, binder: Scope | None) -> bool:
        """Whether some ``del`` takes the name of ``binder`` away."""
        return any(isinstance(n.ctx, ast.Del) for n in self.mentions(name, binder))

    def given_elsewhere(self) -> frozenset[str]:
        """The names to which functions may give another value than their own scope does."""
        if self._elsewhere is None:
            declared = [n.names for n in self.unit.nodes(ast.Global)]
            declared += [n.names for n in self.unit.nodes(ast.Nonlocal)]
            self._elsewhere = frozenset(name for names in declared for name in names)
        return self._elsewhere

    def mentioned(self, name: str, stmt: ast.stmt) -> bool:
        """Whether something reads the name that ``stmt`` binds."""
        mentions = self.mentions(name, self.scope_of(stmt))
        return any(isinstance(n.ctx, ast.Load) for n in mentions)

    def mentions(self, name: str, binder: Scope | None) -> list[ast.Name]:
        """Every place of the file where the name stands and is that of ``binder``."""
        if self._named is None:
            self._named = {}
            for node in self.unit.nodes(ast.Name):
                self._named.setdefault(node.id, []).append(node)
        key = (binder, name)
        if key not in self._mentions:
            found = [n for n in self._named.get(name, ()) if self.binder(name, n) is binder]
            self._mentions[key] = found
        return self._mentions[key]

    def exported(self, name: str) -> bool:
        """Whether the module's ``__all__`` has the name."""
        if self._exported is None:
            lists = [
                n
                for n in self.unit.tree.body
                if isinstance(n, ast.Assign)
                and any(isinstance(t, ast.Name) and t.id == "__all__" for t in n.targets)
            ]
            self._exported = frozenset(
                c.value
                for n in lists
                for c in ast.walk(n)
                if isinstance(c, ast.Constant) and isinstance(c.value, str)
            )
        return name in self._exported

    def may_be_wanted(self, name: str) -> bool:
        """Whether another file imports the name, or all names, from code of one's own.

        Or has it as an attribute of a module: ``helper.grad_fn``.
        """
        wanted = {name, "*"}
        others = [each for each in self._project.units.having(name) if each is not self.unit]
        return any(
            alias.name in wanted
            for unit in others
            for each in unit.nodes(ast.ImportFrom)
            if (each.module or "").split(".")[0] != "tensorflow"
            for alias in each.names
        ) or any(
            node.attr == name and (unit.names.qualified(node) or "").endswith(f".{name}")
            for unit in others
            for node in unit.nodes(ast.Attribute)
        )

    def gradient_calls(self, scope: Scope) -> list[ast.expr]:
        """Where ``scope`` uses ``tf.gradients`` and its like, which other rules rewrite."""
        if self._gradient_calls is None:
            self._gradient_calls = {}
            for node, path in self.unit.names.references():
                symbol = lookup(path)
                if symbol is not None and symbol.rule in _GRADIENTS:
                    self._gradient_calls.setdefault(self.scope_of(node), []).append(node)
        return self._gradient_calls.get(scope, [])

    def is_assigned_attribute(self, name: str) -> bool:
        """Whether some attribute of that name is assigned in the file."""
        if self._assigned is None:
            self._assigned = frozenset(
                n.attr for n in self.unit.nodes(ast.Attribute) if not isinstance(n.ctx, ast.Load)
            )
        return name in self._assigned

    def is_overridden(self, cls: ast.ClassDef, name: str) -> bool:
        """Whether a class that extends ``cls``, in whichever file, has a method of that name."""
        names = [cls.name]
        for known in names:  # which grows meanwhile
            for unit in self._project.units.having(known):
                for each in unit.nodes(ast.ClassDef):
                    bases = {(path_of(base) or ("",))[-1].lstrip(".") for base in each.bases}
                    if known in bases and each is not cls:
                        if any(getattr(stmt, "name", None) == name for stmt in each.body):
                            return True
                        names += [each.name] if each.name not in names else []
        return False

    def is_method(self, name: str) -> bool:
        """Whether a class of the user's has a method of that name: it may not be TensorFlow's."""
        return any(
            isinstance(unit.parents[each], ast.ClassDef)
            for unit in self._project.units.having(name)
            for each in unit.nodes(ast.FunctionDef)
            if each.name == name
        )

    def computes(self, node: ast.expr) -> bool:
        """Whether evaluating ``node`` runs code: a call, a property, an element of a class."""
        return computes(self._project, self.unit, node)

    def names_in(self, *nodes: ast.AST) -> frozenset[str]:
        """The names that expressions take from around them."""
        found: set[str] = set()
        for node in nodes:
            found |= _free_in_expression(node)
        return frozenset(found)

    def closed_over(self, function: Function) -> list[ast.Name] | None:
        """The names from outside that calling ``function`` may read, through calls too.

        None where that cannot be told.
        """
        functions = self.called(function)
        if functions is None:
            return None
        found: list[ast.Name] = []
        for each in functions:
            free = free_names(each)
            found += [
                n
                for n in ast.walk(each)
                if isinstance(n, ast.Name) and n.id in free and isinstance(n.ctx, ast.Load)
            ]
        return found

    def called(self, function: Function) -> list[ast.FunctionDef | ast.Lambda] | None:
        """``function`` and the functions of this file that it calls, directly or not.

        None where it may call more of this file than can be seen.
        """
        seen: list[ast.FunctionDef | ast.Lambda] = []
        stack: list[ast.AST] = [function]
        while stack:
            current = stack.pop()
            if current in seen:
                continue
            if not isinstance(current, ast.FunctionDef | ast.Lambda):
                return None
            seen.append(current)
            own = {a.arg for a in parameters(current.args)}
            for node in _body_nodes(current):
                if not isinstance(node, ast.Call):
                    continue
                if self.unit.names.qualified(node.func) is not None:
                    # What it is given may be called.
                    stack += self._functions_among(node.args)
                    continue
                if not isinstance(node.func, ast.Name):
                    root = _root(node.func)
                    if root is None or root.id in own:
                        continue  # a method of an argument, or of a value computed here
                    return None
                if node.func.id in own:
                    return None
                called = self.value(node.func)
                if called is None and self.binder(node.func.id, node.func) is None:
                    continue  # a builtin
                if called is None:
                    return None
                stack.append(called)
        return seen

    def _functions_among(self, args: list[ast.expr]) -> list[ast.AST]:
        values = [self.value(a) for a in args if isinstance(a, ast.Name)]
        return [v for v in values if isinstance(v, ast.FunctionDef | ast.Lambda)]


def _root(node: ast.AST) -> ast.Name | None:
    while isinstance(node, ast.Attribute | ast.Subscript):
        node = node.value
    return node if isinstance(node, ast.Name) else None


def targets_of(comprehension: ast.AST) -> set[str]:
    """The variables of a comprehension."""
    generators: list[ast.comprehension] = getattr(comprehension, "generators", [])
    return {n.id for g in generators for n in ast.walk(g.target) if isinstance(n, ast.Name)}


def _body_nodes(function: ast.FunctionDef | ast.Lambda) -> Iterator[ast.AST]:
    body = function.body if isinstance(function.body, list) else [function.body]
    for part in body:
        yield from ast.walk(part)


def _free_in_expression(node: ast.AST) -> frozenset[str]:
    if isinstance(node, ast.Lambda):
        defaults = [d for d in [*node.args.defaults, *node.args.kw_defaults] if d is not None]
        return free_names(node).union(*(_free_in_expression(d) for d in defaults))
    if isinstance(node, ast.Name):
        return frozenset({node.id})
    found: set[str] = set()
    for child in ast.iter_child_nodes(node):
        found |= _free_in_expression(child)
    if isinstance(node, COMPREHENSIONS):
        found -= targets_of(node)
    return frozenset(found)


def _bound(scope: ast.AST) -> Iterator[str]:
    outside: set[str] = set()
    found: set[str] = set()
    stack: list[ast.AST]
    if isinstance(scope, ast.Lambda):
        found.update(a.arg for a in parameters(scope.args))
        stack = [scope.body]
    else:
        if isinstance(scope, ast.FunctionDef | ast.AsyncFunctionDef):
            found.update(a.arg for a in parameters(scope.args))
        stack = list(getattr(scope, "body", []))
    while stack:
        node = stack.pop()
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            found.add(node.id)
        elif isinstance(node, ast.Global | ast.Nonlocal):
            outside.update(node.names)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            found.update((a.asname or a.name).split(".")[0] for a in node.names)
        elif isinstance(node, ast.ExceptHandler | ast.MatchAs | ast.MatchStar) and node.name:
            found.add(node.name)
        elif isinstance(node, ast.MatchMapping) and node.rest:
            found.add(node.rest)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            found.add(node.name)
            stack += node.decorator_list
        elif isinstance(node, COMPREHENSIONS):
            # Its variables are its own; a walrus inside binds here.
            stack += [n for n in ast.walk(node) if isinstance(n, ast.NamedExpr)]
        elif not isinstance(node, ast.Lambda):
            stack.extend(ast.iter_child_nodes(node))
    yield from found - outside
