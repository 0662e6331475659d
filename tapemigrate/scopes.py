"""The scopes of a file, and what is bound in them: one walk over the tree, without recursion.

Knows Python's rules of binding; what the bindings mean is for ``names`` to find out.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, IntEnum
from functools import cached_property
from typing import Literal

from tapemigrate.indirect import (
    HANDED_OUT,
    imported_by_call,
    may_be_imported,
    may_hand_on,
    names_tensorflow,
)
from tapemigrate.source.points import Point, begin, end
from tapemigrate.source.trees import children, declarations

# What is asked of TensorFlow, and hardly of any other module that is called ``tf``.
_SIGNS = frozenset(
    {"Graph", "GradientTape", "Session", "Variable", "convert_to_tensor", "float32", "float64"}
    | {"constant", "concat", "cast", "reduce_max", "square"}
    | {"get_variable", "global_variables_initializer", "int32", "keras", "layers", "matmul"}
    | {"name_scope", "nn", "placeholder", "reduce_mean", "reduce_sum", "stop_gradient", "train"}
    | {"trainable_variables", "variable_scope", "zeros_like", "ones_like", "disable_v2_behavior"}
    | {"ConfigProto", "GraphKeys", "Tensor", "assign", "contrib", "control_dependencies", "losses"}
    | {"clip_by_value", "expand_dims", "gather", "get_collection", "global_variables", "one_hot"}
    | {"ones", "random_normal", "random_uniform", "reduce_min", "reshape", "sigmoid", "sqrt"}
    | {"squeeze", "stack", "tanh", "tile", "transpose", "while_loop", "zeros"}
)


class Guard(IntEnum):
    """How surely a binding is made when its scope runs."""

    ALWAYS = 0
    PERHAPS = 1
    INSTEAD = 2  # in an ``else``: beside another one that stands above it
    FALLBACK = 3  # in an ``except``: where the one above it failed


class Bound(Enum):
    """What a name is bound to, where it can be no imported thing."""

    OTHER = "a thing that is not imported"
    NOTHING = "None"


@dataclass(slots=True)
class Binding:
    """One place where a name is bound. From ``place`` on it is in force."""

    what: str | ast.expr | Bound  # a dotted path, the assigned expression, or neither
    place: Point
    guard: Guard


class Scope:
    """A module, class, function, lambda or comprehension, and the names that it binds and uses."""

    __slots__ = (
        "bindings",
        "escaping",
        "imported",
        "kind",
        "parent",
        "used",
    )

    def __init__(
        self,
        kind: Literal["module", "class", "function", "comprehension"],
        parent: Scope | None,
    ) -> None:
        self.kind = kind
        self.parent = parent
        self.bindings: dict[str, list[Binding]] = {}
        self.imported: set[str] = set()  # names of which some binding may mean an imported thing
        self.used: set[str] = set()
        self.escaping: dict[str, Literal["global", "nonlocal"]] = {}

    def owner(self, name: str, module: Scope) -> Scope:
        """The scope in which an assignment to ``name`` here binds it."""
        scope = self
        while scope.parent is not None and scope.kind == "comprehension":
            scope = scope.parent
        if scope.escaping.get(name) == "global":
            return module
        while scope.parent is not None and name in scope.escaping:
            scope = scope.parent
            while scope.parent is not None and scope.kind != "function":
                scope = scope.parent
        return scope


def place_of(binding: Binding) -> Point:
    """The place of ``binding``, as a key to search by."""
    return binding.place


# Nodes, the first of them last, and where they stand.
_Frame = tuple[list[ast.AST], Scope, Guard]


class Scopes:
    """All scopes of a file, read in the order of the file.

    Attributes:
        module: The outermost scope.
        every: All scopes, each behind the one around it.
        of_node: The scope that a node (a function, a class, …) opens.
        of_name: The scope in which a Name node is looked up.
        chains: The longest chains of attributes, calls and subscripts.
        stars: The modules of the star imports.
        aliases: The name to which an expression is assigned.
        imports: The names of the import statements: the node, its path, and the name it binds.
        read: The names that are read anywhere in the file.
        imported: The names of which some binding in some scope may mean an imported thing.
    """

    def __init__(self, tree: ast.Module, handed_on: Mapping[str, str] | None = None) -> None:
        """``handed_on``: what of TensorFlow modules of one's own have, by the paths there."""
        self.handed_on = handed_on or {}
        self.module = Scope("module", None)
        self.every: list[Scope] = [self.module]
        self.of_node: dict[ast.AST, Scope] = {tree: self.module}
        self.of_name: dict[ast.AST, Scope] = {}
        self.chains: list[ast.expr] = []
        self.stars: list[str] = []
        self.aliases: dict[ast.AST, str] = {}
        self.imports: list[tuple[ast.alias, str, str]] = []
        self.read: set[str] = set()
        self.imported: set[str] = set()
        self._stack: list[_Frame] = []
        self._handed_on: list[tuple[str, str, str]] = []
        self._declare_escapes(self.module, tree.body)
        self._push(tree.body, self.module, Guard.ALWAYS)
        self._walk()
        if self._handed_on:
            self._take_for_tensorflow(tree)

    @cached_property
    def carriers(self) -> frozenset[str]:
        """The names of whose attribute ``tf`` the file asks what TensorFlow has."""
        steps = map(_first_steps, self.chains)
        return frozenset(name for name, step, second in steps if step == "tf" and second in _SIGNS)

    def _take_for_tensorflow(self, tree: ast.Module) -> None:
        """Names that are imported from one's own code, and used as nothing but TensorFlow is.

        So are those in a file that asks by the library's name which one it has to do with.
        """
        steps = map(_first_steps, self.chains)
        known = {name for name, step, _ in steps if step in _SIGNS}
        handed_on = {name for name, _, _ in self._handed_on}
        if not known >= handed_on and any(map(names_tensorflow, ast.walk(tree))):
            known = handed_on
        for name, path, module in self._handed_on:
            for scope in self.every if name in known else ():
                for binding in scope.bindings.get(name, ()):
                    if binding.what == path:
                        binding.what = module
        meant = {(name, path): module for name, path, module in self._handed_on if name in known}
        self.imports = [(a, meant.get((n, path), path), n) for a, path, n in self.imports]

    def _walk(self) -> None:
        stack = self._stack
        handlers = _HANDLERS
        while stack:
            frame = stack[-1]
            nodes, scope, guard = frame
            if not nodes:
                stack.pop()
                continue
            # What a handler pushes comes before the rest of these.
            while nodes and stack[-1] is frame:
                node = nodes.pop()
                handler = handlers.get(node.__class__)
                if handler is not None:
                    handler(self, node, scope, guard)
                elif node.__class__ is not ast.Constant:
                    nodes += reversed(children(node))

    def _push(self, nodes: Sequence[ast.AST], scope: Scope, guard: Guard) -> None:
        self._stack.append(([*reversed(nodes)], scope, guard))

    def _bind(
        self,
        name: str,
        what: str | ast.expr | Bound,
        place: Point,
        scope: Scope,
        guard: Guard,
    ) -> None:
        owner = scope
        if scope.escaping or scope.kind == "comprehension":
            owner = scope.owner(name, self.module)
            if owner is not scope:
                guard = max(guard, Guard.PERHAPS)
        owner.bindings.setdefault(name, []).append(Binding(what, place, guard))
        if not isinstance(what, Bound):
            owner.imported.add(name)
            self.imported.add(name)
        scope.used.add(name)

    # Scopes

    def _open(
        self,
        node: ast.AST,
        kind: Literal["class", "function", "comprehension"],
        parent: Scope,
        body: Sequence[ast.AST],
    ) -> Scope:
        scope = Scope(kind, parent)
        self.every.append(scope)
        self.of_node[node] = scope
        if kind != "comprehension":
            self._declare_escapes(scope, body)
        for parameter in getattr(node, "type_params", ()):
            self._bind(parameter.name, Bound.OTHER, (0, 0), scope, Guard.ALWAYS)
        return scope

    def _declare_escapes(self, scope: Scope, body: Sequence[ast.AST]) -> None:
        """``global`` and ``nonlocal`` hold for the whole scope, wherever in it they stand."""
        for node in declarations(body):
            declared: Literal["global", "nonlocal"] = (
                "global" if isinstance(node, ast.Global) else "nonlocal"
            )
            scope.escaping.update(dict.fromkeys(node.names, declared))

    def _function(
        self, node: ast.FunctionDef | ast.AsyncFunctionDef, scope: Scope, guard: Guard
    ) -> None:
        inner = self._open(node, "function", scope, node.body)
        self._parameters(node.args, inner)
        self._bind(node.name, Bound.OTHER, end(node), scope, guard)
        self._push(node.body, inner, Guard.ALWAYS)
        if node.returns is not None:
            self._push([node.returns], scope, guard)
        self._push(_evaluated_outside(node.args), scope, guard)
        self._push(node.decorator_list, scope, guard)

    def _lambda(self, node: ast.Lambda, scope: Scope, guard: Guard) -> None:
        inner = self._open(node, "function", scope, ())
        self._parameters(node.args, inner)
        self._push([node.body], inner, Guard.ALWAYS)
        self._push(_evaluated_outside(node.args), scope, guard)

    def _parameters(self, arguments: ast.arguments, scope: Scope) -> None:
        for parameter in (
            *arguments.posonlyargs,
            *arguments.args,
            *arguments.kwonlyargs,
            *filter(None, (arguments.vararg, arguments.kwarg)),
        ):
            self._bind(parameter.arg, Bound.OTHER, (0, 0), scope, Guard.ALWAYS)

    def _class(self, node: ast.ClassDef, scope: Scope, guard: Guard) -> None:
        inner = self._open(node, "class", scope, node.body)
        self._bind(node.name, Bound.OTHER, end(node), scope, guard)
        self._push(node.body, inner, Guard.ALWAYS)
        self._push([*node.decorator_list, *node.bases, *node.keywords], scope, guard)

    def _comprehension(
        self,
        node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp,
        scope: Scope,
        guard: Guard,
    ) -> None:
        inner = self._open(node, "comprehension", scope, ())
        for generator in node.generators:
            for target in ast.walk(generator.target):
                if isinstance(target, ast.Name):
                    inner.bindings.setdefault(target.id, []).append(
                        Binding(Bound.OTHER, (0, 0), Guard.ALWAYS)
                    )
        inside: list[ast.AST] = []
        for index, generator in enumerate(node.generators):
            inside += [generator.target, *([generator.iter] if index else []), *generator.ifs]
        inside += [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
        self._push(inside, inner, guard)
        # The first iterable runs in the scope around the comprehension.
        self._push([node.generators[0].iter], scope, guard)

    # Bindings

    def _import(self, node: ast.Import, scope: Scope, guard: Guard) -> None:
        for alias in node.names:
            path = alias.name if alias.asname else alias.name.split(".")[0]
            name = alias.asname or path
            handed_on = may_hand_on(path, name)
            if handed_on:
                self._handed_on.append((name, path, handed_on))
            self._bind(name, path, end(node), scope, guard)
            self.imports.append((alias, path, name))

    def _import_from(self, node: ast.ImportFrom, scope: Scope, guard: Guard) -> None:
        module = "." * node.level + (node.module or "")
        for alias in node.names:
            if alias.name == "*":
                self.stars.append(module)
            else:
                separator = "" if module.endswith(".") else "."
                path = f"{module}{separator}{alias.name}"
                path = self.handed_on.get(path, path)
                name = alias.asname or alias.name
                handed_on = may_hand_on(path, name, alias.name if node.module else "")
                if handed_on:
                    self._handed_on.append((name, path, handed_on))
                self._bind(name, path, end(node), scope, guard)
                self.imports.append((alias, path, name))

    def _assign(
        self, node: ast.Assign | ast.AnnAssign | ast.NamedExpr, scope: Scope, guard: Guard
    ) -> None:
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        for target in targets:
            self._assign_to(target, node.value, end(node), scope, guard)
        read = [*([node.annotation] if isinstance(node, ast.AnnAssign) else []), node.value]
        self._push([*filter(None, read), *targets], scope, guard)

    def _assign_to(
        self,
        target: ast.expr,
        value: ast.expr | None,
        place: Point,
        scope: Scope,
        guard: Guard,
    ) -> None:
        if isinstance(target, ast.Name):
            if value is None:
                return
            if isinstance(value, ast.Constant) and value.value is None:
                self._bind(target.id, Bound.NOTHING, place, scope, guard)
            elif may_be_imported(value):
                self._bind(target.id, value, place, scope, guard)
                self.aliases[value] = target.id
            else:
                self._bind(target.id, Bound.OTHER, place, scope, guard)
            self.of_name[target] = scope
        elif (
            isinstance(target, (ast.Tuple, ast.List))
            and isinstance(value, (ast.Tuple, ast.List))
            and len(value.elts) == len(target.elts)
            and not any(isinstance(e, ast.Starred) for e in (*value.elts, *target.elts))
        ):
            for part, part_value in zip(target.elts, value.elts, strict=True):
                self._assign_to(part, part_value, place, scope, guard)
        elif (
            isinstance(target, (ast.Tuple, ast.List))
            and isinstance(value, ast.Call)
            and imported_by_call(value) is not None
        ):
            for part in target.elts:
                if isinstance(part, ast.Name) and part.id in HANDED_OUT:
                    self._bind(part.id, value, place, scope, guard)
                    self.of_name[part] = scope

    def _name(self, node: ast.Name, scope: Scope, guard: Guard) -> None:
        scope.used.add(node.id)
        if isinstance(node.ctx, ast.Load):
            self.of_name[node] = scope
            self.chains.append(node)
            self.read.add(node.id)
            return
        already = node in self.of_name
        self.of_name[node] = scope
        if (
            isinstance(node.ctx, ast.Store)
            and not already
            and not (scope.kind == "comprehension" and node.id in scope.bindings)
        ):
            self._bind(node.id, Bound.OTHER, begin(node), scope, guard)

    def _attribute(self, node: ast.Attribute, scope: Scope, guard: Guard) -> None:
        self.chains.append(node)
        value = node.value
        while isinstance(value, ast.Attribute):
            value = value.value
        if isinstance(value, ast.Name):
            scope.used.add(value.id)
            self.read.add(value.id)
            self.of_name[value] = scope
        else:
            self._stack[-1][0].append(value)

    def _call(self, node: ast.Call | ast.Subscript, scope: Scope, guard: Guard) -> None:
        self.chains.append(node)
        self._stack[-1][0].extend(reversed(children(node)))

    def _handler(self, node: ast.ExceptHandler, scope: Scope, guard: Guard) -> None:
        if node.name:
            self._bind(node.name, Bound.OTHER, begin(node), scope, Guard.PERHAPS)
        self._push(children(node), scope, guard)

    def _pattern(
        self, node: ast.MatchAs | ast.MatchStar | ast.MatchMapping, scope: Scope, guard: Guard
    ) -> None:
        name = node.rest if isinstance(node, ast.MatchMapping) else node.name
        if name:
            place = begin(node)
            self._bind(name, Bound.OTHER, place, scope, Guard.PERHAPS)
        self._push(children(node), scope, guard)

    # What may run, or runs instead of something above it

    def _branches(self, node: ast.AST, scope: Scope, guard: Guard) -> None:
        frames: list[_Frame] = []
        for field in node._fields:
            value = getattr(node, field, None)
            if isinstance(value, ast.AST):
                frames.append(([value], scope, guard))
            elif isinstance(value, list):
                inner = guard
                if field == "handlers":
                    inner = Guard.FALLBACK
                elif field == "orelse" and isinstance(node, ast.If):
                    inner = Guard.INSTEAD
                elif field != "finalbody":
                    inner = max(guard, Guard.PERHAPS)
                frames.append((value[::-1], scope, inner))
        frames.reverse()
        self._stack.extend(frames)


_HANDLERS: dict[type[ast.AST], Callable[..., None]] = {
    ast.FunctionDef: Scopes._function,
    ast.AsyncFunctionDef: Scopes._function,
    ast.Lambda: Scopes._lambda,
    ast.ClassDef: Scopes._class,
    ast.ListComp: Scopes._comprehension,
    ast.SetComp: Scopes._comprehension,
    ast.GeneratorExp: Scopes._comprehension,
    ast.DictComp: Scopes._comprehension,
    ast.Import: Scopes._import,
    ast.ImportFrom: Scopes._import_from,
    ast.Assign: Scopes._assign,
    ast.AnnAssign: Scopes._assign,
    ast.NamedExpr: Scopes._assign,
    ast.Name: Scopes._name,
    ast.Attribute: Scopes._attribute,
    ast.Call: Scopes._call,
    ast.Subscript: Scopes._call,
    ast.ExceptHandler: Scopes._handler,
    ast.MatchAs: Scopes._pattern,
    ast.MatchStar: Scopes._pattern,
    ast.MatchMapping: Scopes._pattern,
    ast.If: Scopes._branches,
    ast.Try: Scopes._branches,
    ast.For: Scopes._branches,
    ast.AsyncFor: Scopes._branches,
    ast.While: Scopes._branches,
    ast.match_case: Scopes._branches,
}
if hasattr(ast, "TryStar"):
    _HANDLERS[ast.TryStar] = Scopes._branches


def _first_steps(chain: ast.expr) -> tuple[str, str, str]:
    """``a``, ``b`` and ``c`` of ``a.b.c.d``; empty where there are none."""
    step = second = ""
    while not isinstance(chain, ast.Name):
        if isinstance(chain, ast.Attribute):
            step, second, chain = chain.attr, step, chain.value
        elif isinstance(chain, ast.Call):
            chain = chain.func
        elif isinstance(chain, ast.Subscript):
            chain = chain.value
        else:
            return "", "", ""
    return chain.id, step, second


def _evaluated_outside(arguments: ast.arguments) -> list[ast.expr]:
    """Defaults and annotations, which are evaluated where the function is made."""
    parameters = (
        *arguments.posonlyargs,
        *arguments.args,
        *arguments.kwonlyargs,
        *filter(None, (arguments.vararg, arguments.kwarg)),
    )
    annotations = [p.annotation for p in parameters if p.annotation is not None]
    return [*arguments.defaults, *(d for d in arguments.kw_defaults if d is not None), *annotations]
