"""The function that a transformer is given: its parameters, and how it is called."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from tapemigrate.rules.tfe.scopes import Scopes
from tapemigrate.rules.tfe.sites import Site

Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda

# Decorators under which a function keeps its parameters.
_TRANSPARENT = frozenset(
    {"tensorflow.function", "tensorflow.custom_gradient", "tensorflow.contrib.eager.defun"}
    | {"tensorflow.contrib.eager.function", "tensorflow.contrib.eager.custom_gradient"}
    | {"tensorflow.compat.v1.custom_gradient", "tensorflow.recompute_grad"}
)


class Unresolved(Exception):
    """``params`` does not say, or not to us, what to differentiate with respect to."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter that is passed by position; ``default`` is source text."""

    name: str
    default: ast.expr | None = None


@dataclass(frozen=True, slots=True)
class Callee:
    """What is known of the function.

    ``parameters`` is None where it is not seen. ``every`` says that without ``params`` all
    arguments of a call count (TensorFlow's rule where it cannot list the parameters, or finds
    none). ``hidden`` is how many names before ``parameters`` TensorFlow counts and calls do not
    pass (``self``). ``target``, ``bound`` and ``bound_keywords`` are those of a partial.
    """

    definition: Definition | None = None
    parameters: tuple[Parameter, ...] | None = None
    hidden: int = 0
    rest: str | None = None
    keywords: bool = False
    every: bool = False
    name: str = ""
    returns_none: bool | None = None
    bound: tuple[ast.expr, ...] = ()
    bound_keywords: tuple[ast.keyword, ...] = ()
    target: ast.expr | None = field(default=None)

    def positions(self, params: ast.expr | None, count: int | None) -> list[int] | None:
        """The arguments to differentiate with respect to; None for all of them.

        ``count`` is how many arguments calls pass, None where that is not known.

        Raises:
            Unresolved: when ``params`` is computed, or names what is not there.
        """
        if params is None:
            if self.parameters is None or self.every:
                return None
            return list(range(len(self.parameters) + self._counted_as_well()))
        wanted = _literal(params)
        if wanted is None:
            raise Unresolved("`params` is computed: write the names or positions as a literal list")
        names = [w for w in wanted if isinstance(w, str)]
        if len(names) == len(wanted):
            return [self._position(name) for name in names]
        numbers = [w for w in wanted if isinstance(w, int) and not isinstance(w, bool)]
        if len(numbers) < len(wanted):
            raise Unresolved("`params` must be all names or all positions: TensorFlow raises here")
        known = count if self.parameters is None else len(self.parameters)
        if min(numbers, default=0) < 0 and (count is not None or not self._takes_all_its_names()):
            known = count  # from the end of what a call passes
            if known is None:
                raise Unresolved("`params` counts from the end of arguments that are not seen")
        limit = known if known is not None and not self.rest else max(numbers) + 1
        found = [n + (known or 0) if n < 0 else n for n in numbers]
        if not all(0 <= n < limit for n in found):
            raise Unresolved("`params` has a position that the function does not have")
        return found

    def _takes_all_its_names(self) -> bool:
        """Whether every call passes as many arguments as there are parameters."""
        named = self.parameters
        return named is not None and not self.rest and all(p.default is None for p in named)

    def _counted_as_well(self) -> int:
        """How many more arguments TensorFlow differentiates with respect to without ``params``.

        It leaves out what is called ``self``, as if calls did not pass it, and nothing else.
        """
        if not self.hidden or self.definition is None:
            return -1 if self.parameters and self.parameters[0].name == "self" else 0
        args = self.definition.args
        first = (*args.posonlyargs, *args.args)[0].arg
        if first != "self" and self.rest:
            raise Unresolved(
                f"TensorFlow counts `{first}` as well, and takes one of `*{self.rest}` for it"
            )
        return 0

    def _position(self, name: str) -> int:
        if self.parameters is None or self.every:
            raise Unresolved(f"`params` names `{name}`, and the function's parameters are not seen")
        for index, parameter in enumerate(self.parameters):
            if parameter.name == name:
                index += self.hidden
                if index >= len(self.parameters):
                    raise Unresolved(
                        f"`params` names `{name}` of a method: TensorFlow counts `self` as well"
                    )
                return index
        raise Unresolved(f"`params` names `{name}`, which is no parameter: TensorFlow raises here")


UNKNOWN = Callee()


class Callees:
    """Reads callees off the source of one file."""

    def __init__(self, scopes: Scopes, sites: dict[ast.AST, Site]) -> None:
        self._scopes = scopes
        self._sites = sites

    def of(self, f: ast.expr, depth: int = 0) -> Callee:
        """What ``f``, the function of a transformer, is."""
        if depth > 10:
            return UNKNOWN
        path = self._scopes.unit.names.qualified(f)
        if path is not None and path.startswith("tensorflow."):
            return Callee(name=path.rpartition(".")[2], returns_none=False)
        if isinstance(f, ast.Lambda):
            return signature(f, 0, "")
        if isinstance(f, ast.Call):
            return self._of_call(f, depth)
        if isinstance(f, ast.Name):
            return self._of_name(f, depth)
        if isinstance(f, ast.Attribute):
            return self._of_attribute(f)
        return UNKNOWN

    def rests_on(self, site: Site, callee: Callee, calls: Sequence[ast.Call] | None) -> str:
        """What must hold for all arguments of ``calls`` to count, None being calls not seen.

        TensorFlow lists the names in the signature. It fails where there are more of them than
        arguments; where there are fewer, `*args` takes the rest, which does not count. The file
        may have such a function, and it may be the one that is not seen.
        """
        seen = callee.parameters is not None or callee.every or callee.returns_none is False
        if site.params is not None or seen or (calls and all(map(_passes_one, calls))):
            return ""
        if not any(map(self._may_be_given, self._with_rest())):
            return ""
        function = f"`{callee.name}`" if callee.name else "the function"
        return f"{function} has no `*args` after named parameters"

    def _with_rest(self) -> Iterator[ast.FunctionDef | ast.Lambda]:
        """The functions of the file that take more arguments than they name."""
        unit = self._scopes.unit
        functions: list[ast.FunctionDef | ast.Lambda] = [*unit.nodes(ast.FunctionDef)]
        functions += unit.nodes(ast.Lambda)
        for each in functions:
            if each.args.vararg and (each.args.args or each.args.posonlyargs):
                yield each

    def _may_be_given(self, function: ast.FunctionDef | ast.Lambda) -> bool:
        """Whether more mentions the function than calls, and transformers that see it."""
        given = {site.f for site in self._sites.values()}
        if isinstance(function, ast.Lambda):
            return function not in given and not self._is_for_tensorflow(function)
        if function.name == "__call__":
            return True
        unit = self._scopes.unit
        mentions: list[ast.Name | ast.Attribute] = [
            *(n for n in unit.nodes(ast.Name) if n.id == function.name),
            *(n for n in unit.nodes(ast.Attribute) if n.attr == function.name),
        ]
        calls = (
            (n, unit.parents[n]) for n in mentions if not (n in given and self._is(n, function))
        )
        return any(not (isinstance(p, ast.Call) and p.func is n) for n, p in calls)

    def _is_for_tensorflow(self, function: ast.Lambda) -> bool:
        """Whether the lambda stands in a call of TensorFlow's own: ``tf.while_loop(lambda …)``."""
        unit = self._scopes.unit
        call = unit.parents[function]
        if isinstance(call, ast.keyword):
            call = unit.parents[call]
        if not isinstance(call, ast.Call):
            return False
        return (unit.names.qualified(call.func) or "").startswith("tensorflow.")

    def _is(self, mention: ast.expr, function: ast.FunctionDef) -> bool:
        return isinstance(mention, ast.Name) and self._scopes.value(mention) is function

    def _of_call(self, f: ast.Call, depth: int) -> Callee:
        site = self._sites.get(f)
        if site is not None and site.f is not None:
            inner = self.of(site.f, depth + 1)
            return Callee(
                None,
                inner.parameters,
                rest=inner.rest,
                every=True,
                name=inner.name,
                returns_none=False,
            )
        if self._scopes.unit.names.qualified(f.func) != "functools.partial" or not f.args:
            return UNKNOWN
        if any(isinstance(a, ast.Starred) for a in f.args) or any(
            k.arg is None for k in f.keywords
        ):
            return UNKNOWN
        inner = self.of(f.args[0], depth + 1)
        given = {k.arg for k in f.keywords}
        parameters = None
        if inner.parameters is not None and inner.definition is not None:
            left = inner.parameters[len(f.args) - 1 :]
            cut = next((i for i, p in enumerate(left) if p.name in given), len(left))
            parameters = left[:cut]
        return Callee(
            inner.definition if parameters is not None else None,
            parameters,
            rest=inner.rest,
            keywords=True,
            every=parameters is not None and not parameters,
            name=inner.name,
            returns_none=inner.returns_none,
            bound=tuple(f.args[1:]),
            bound_keywords=tuple(f.keywords),
            target=f.args[0],
        )

    def _of_name(self, f: ast.Name, depth: int) -> Callee:
        value = self._scopes.value(f)
        if isinstance(value, ast.Lambda):
            return signature(value, 0, f.id)
        if isinstance(value, ast.FunctionDef | ast.AsyncFunctionDef):
            site = self._sites.get(value)
            if site is not None and len(value.decorator_list) == 1:
                inner = signature(value, 0, f.id)
                return Callee(
                    None,
                    inner.parameters,
                    rest=inner.rest,
                    every=True,
                    name=f.id,
                    returns_none=False,
                )
            if self._transparent(value):
                return signature(value, 0, f.id)
        if isinstance(value, ast.Call):
            found = self._of_call(value, depth)
            # The name stands for the finished partial: what it has bound is not to be passed again.
            return Callee(
                found.definition, found.parameters, found.hidden, found.rest, found.keywords,
                found.every, f.id, found.returns_none,
            )  # fmt: skip
        return Callee(name=f.id)

    def _of_attribute(self, f: ast.Attribute) -> Callee:
        """A method: of ``self``, of a class of this file, or of an instance made of one."""
        cls = None
        through_class = False
        if isinstance(f.value, ast.Name):
            value = self._scopes.value(f.value)
            if isinstance(value, ast.ClassDef):
                cls, through_class = value, True
            elif isinstance(value, ast.Call) and isinstance(value.func, ast.Name):
                made = self._scopes.value(value.func)
                cls = made if isinstance(made, ast.ClassDef) else None
            elif f.value.id in ("self", "cls"):
                cls = self._scopes.class_around(f)
        if cls is None:
            return Callee(name=f.attr)
        methods = [s for s in cls.body if isinstance(s, ast.FunctionDef) and s.name == f.attr]
        if len(methods) != 1 or self._scopes.is_assigned_attribute(f.attr):
            return Callee(name=f.attr)
        of_self = isinstance(f.value, ast.Name) and f.value.id in ("self", "cls")
        if of_self and self._scopes.is_overridden(cls, f.attr):
            return Callee(name=f.attr)
        method = methods[0]
        marks = {d.id for d in method.decorator_list if isinstance(d, ast.Name)}
        if marks - {"staticmethod", "classmethod"} or len(marks) != len(method.decorator_list):
            return Callee(name=f.attr)
        if "staticmethod" in marks:
            return signature(method, 0, f.attr)
        return signature(method, 0 if through_class and not marks else 1, f.attr)

    def _transparent(self, function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
        for decorator in function.decorator_list:
            name = decorator.func if isinstance(decorator, ast.Call) else decorator
            if self._scopes.unit.names.qualified(name) not in _TRANSPARENT:
                return False
        return True


def signature(definition: Definition, hidden: int, name: str) -> Callee:
    """What the text of a function says; ``hidden`` parameters are not passed by calls."""
    args = definition.args
    positional = [*args.posonlyargs, *args.args]
    defaults: list[ast.expr | None] = [None] * (len(positional) - len(args.defaults))
    defaults += args.defaults
    parameters = tuple(Parameter(a.arg, d) for a, d in zip(positional, defaults, strict=True))
    if len(parameters) < hidden:
        return Callee(name=name)
    return Callee(
        definition,
        parameters[hidden:],
        hidden,
        args.vararg.arg if args.vararg else None,
        bool(args.kwonlyargs or args.kwarg),
        every=not positional,
        name=name,
        returns_none=may_return_none(definition),
    )


def may_return_none(definition: Definition) -> bool:
    """Whether the function, by its own text, returns None on some path."""
    returns = _returned(definition)
    if returns is None:
        return False
    if any(r is None or (isinstance(r, ast.Constant) and r.value is None) for r in returns):
        return True
    return not isinstance(definition, ast.Lambda) and not _ends(definition.body)


def returned_number(definition: Definition) -> str:
    """What the function returns that is no tensor, though TensorFlow makes one of it.

    ``0.5`` of ``return loss, 0.5``, or ``loss.numpy()``; empty where no such thing is seen. A tape
    takes nothing but tensors.
    """
    for value in _returned(definition) or ():
        for each in value.elts if isinstance(value, ast.Tuple | ast.List) else [value]:
            match each:
                case ast.Constant(value=int() | float() | complex()):
                    return ast.unparse(each)
                case ast.Call(func=ast.Name(id="float" | "int" | "len")):
                    return ast.unparse(each)
                case ast.Call(func=ast.Attribute(attr="numpy"), args=[]):
                    return ast.unparse(each)
    return ""


def _returned(definition: Definition) -> list[ast.expr | None] | None:
    """What its ``return`` statements give; None of a generator."""
    if isinstance(definition, ast.Lambda):
        return [definition.body]
    found: list[ast.expr | None] = []
    stack: list[ast.AST] = list(definition.body)
    while stack:
        node = stack.pop()
        if isinstance(node, ast.Return):
            found.append(node.value)
        elif isinstance(node, ast.Yield | ast.YieldFrom):
            return None
        elif not isinstance(
            node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef
        ):
            stack.extend(ast.iter_child_nodes(node))
    return found


def _ends(body: list[ast.stmt]) -> bool:
    """Whether no path runs off the end of ``body``."""
    last = body[-1] if body else None
    if isinstance(last, ast.Return | ast.Raise):
        return True
    if isinstance(last, ast.If):
        return _ends(last.body) and _ends(last.orelse)
    if isinstance(last, ast.With | ast.AsyncWith):
        return _ends(last.body)
    if isinstance(last, ast.Try):
        if last.finalbody and _ends(last.finalbody):
            return True
        ends = _ends(last.orelse) if last.orelse else _ends(last.body)
        return ends and all(_ends(h.body) for h in last.handlers)
    if isinstance(last, ast.While):
        endless = isinstance(last.test, ast.Constant) and bool(last.test.value)
        return endless and not any(isinstance(n, ast.Break) for n in ast.walk(last))
    return False


def _passes_one(call: ast.Call) -> bool:
    return len(call.args) == 1 and not isinstance(call.args[0], ast.Starred)


def _literal(params: ast.expr) -> list[object] | None:
    if isinstance(params, ast.Constant) and isinstance(params.value, str):
        return list(params.value)  # TensorFlow iterates over it
    if not isinstance(params, ast.List | ast.Tuple):
        return None
    try:
        return list(ast.literal_eval(params))
    except (ValueError, TypeError):
        return None
