"""The parameter list of a function that takes the place of what a transformer made."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass, field

from tapemigrate.rules.tfe.callee import Callee, Parameter, Unresolved
from tapemigrate.rules.tfe.callers import Callers
from tapemigrate.rules.tfe.sites import Site
from tapemigrate.rules.tfe.text import Source, fresh


@dataclass(slots=True)
class Parameters:
    """``declared`` as in the ``def``, ``passed`` on to the function.

    ``differentiated`` are the names to differentiate with respect to, at ``positions``; a single
    string is a list by that name.
    """

    declared: list[str]
    passed: list[str]
    differentiated: list[str] | str
    positions: list[int] = field(default_factory=list)

    def names(self) -> set[str]:
        """The names that the parameters bind."""
        return {p.partition("=")[0].lstrip("*") for p in self.declared}


def of_variables(
    moved: ast.Lambda | None, callee: Callee, source: Source, outside: set[str]
) -> Parameters:
    """For ``implicit_gradients``: whatever the function takes, by keyword too."""
    parameters = callee.parameters
    if moved is not None:
        return Parameters(_of_lambda(moved, source), [], [])
    seen = parameters is not None and not callee.keywords and not callee.every and not callee.rest
    if parameters == () and not callee.keywords and not callee.rest:
        seen = True
    taken = set(outside)
    whatever = [f"*{fresh(['args'], taken)}", f"**{fresh(['kwargs'], taken)}"]
    if parameters is None or not seen or {p.name for p in parameters} & outside:
        return Parameters(whatever, list(whatever), [])
    if any(p.default is not None and not isinstance(p.default, ast.Constant) for p in parameters):
        return Parameters(whatever, list(whatever), [])
    declared = [
        p.name if p.default is None else f"{p.name}={source.text(p.default)}" for p in parameters
    ]
    return Parameters(declared, [p.name for p in parameters], [])


@dataclass(frozen=True, slots=True)
class Listing:
    """What the parameters of a function of arguments follow from.

    ``moved`` is the lambda whose body becomes part of it; ``outside`` what its body needs from
    around it.
    """

    site: Site
    callee: Callee
    callers: Callers
    source: Source
    outside: set[str]
    moved: ast.Lambda | None

    def parameters(self) -> Parameters:
        """The function's own parameters, where they are seen.

        Raises:
            Unresolved: when ``params`` cannot be told, or the list cannot be written.
        """
        seen = self.callee.parameters
        positions = self.callee.positions(self.site.params, self.callers.count)
        if positions == []:
            raise Unresolved("there is nothing to differentiate with respect to")
        every = positions is None or (seen is not None and positions == list(range(len(seen))))
        if self.callers.keywords:
            if not every or (seen and self.callee.rest):
                raise Unresolved("it is called with keyword arguments, for which TensorFlow raises")
            return _any(fresh(["args"], set(self.outside)))
        if self.moved is not None and not seen:
            if self.moved.args.vararg is None or not every:
                raise Unresolved("the lambda's parameters and `params` do not fit")
            return _any(self.moved.args.vararg.arg)
        if not seen:
            return self._unseen(positions)
        return self._seen(seen, list(range(len(seen))) if positions is None else positions)

    def _seen(self, seen: Sequence[Parameter], positions: list[int]) -> Parameters:
        names = [p.name for p in seen]
        taken = set(names)
        if self.moved is None:
            # Nothing that the body needs may be hidden.
            taken |= self.outside
            names = [fresh([f"{n}_"], taken) if n in self.outside else n for n in names]
        declared, cut = self._declared(seen, names, positions)
        passed = names[:cut]
        if self.callee.rest or cut < len(seen):
            if max(positions) >= cut:
                raise Unresolved("`params` names an argument after one with a computed default")
            wishes = [self.callee.rest] if self.callee.rest else []
            rest = fresh([*wishes, "args", "rest"], taken)
            declared.append(f"*{rest}")
            passed = [*passed, f"*{rest}"]
        return Parameters(declared, passed, [names[p] for p in positions], positions)

    def _declared(
        self, seen: Sequence[Parameter], names: list[str], positions: list[int]
    ) -> tuple[list[str], int]:
        """The parameter list, and how many of the function's parameters it has by name.

        Those that TensorFlow differentiates with respect to must be passed: it fails without.
        """
        declared: list[str] = []
        required = len(seen) - 1 if self.site.params is None else max(positions)
        for index, (parameter, name) in enumerate(zip(seen, names, strict=True)):
            if index <= required or parameter.default is None:
                declared.append(name)
            elif isinstance(parameter.default, ast.Constant) or self.moved is not None:
                declared.append(f"{name}={self.source.text(parameter.default)}")
            else:
                return declared, index
        return declared, len(seen)

    def _unseen(self, positions: list[int] | None) -> Parameters:
        """As many parameters as the calls have, or any number."""
        taken = set(self.outside)
        count = self.callers.count
        if positions is None:
            if not count:
                return _any(fresh(["args"], taken))
            names = _names_of_calls(self.callers, count, taken)
            return Parameters(list(names), list(names), names, list(range(count)))
        leading = max(positions) + 1
        names = [fresh(["x"] if leading == 1 else [f"x{i}"], taken) for i in range(leading)]
        passed = [*names, f"*{fresh(['args'], taken)}"]
        return Parameters(list(passed), passed, [names[p] for p in positions], positions)


def _any(name: str) -> Parameters:
    return Parameters([f"*{name}"], [f"*{name}"], name)


def _names_of_calls(callers: Callers, count: int, taken: set[str]) -> list[str]:
    args = callers.calls[0].args
    names = [a.id for a in args if isinstance(a, ast.Name)]
    if len(names) == len(set(names)) == count and not set(names) & taken:
        return names
    return [fresh(["x"] if count == 1 else [f"x{i}"], taken) for i in range(count)]


def _of_lambda(f: ast.Lambda, source: Source) -> list[str]:
    args = f.args
    positional = [*args.posonlyargs, *args.args]
    defaults: list[ast.expr | None] = [None] * (len(positional) - len(args.defaults))
    pairs = [*zip(positional, [*defaults, *args.defaults], strict=True)]
    found = [_with_default(a, d, source) for a, d in pairs]
    if args.vararg:
        found.append(f"*{args.vararg.arg}")
    elif args.kwonlyargs:
        found.append("*")
    found += [
        _with_default(a, d, source) for a, d in zip(args.kwonlyargs, args.kw_defaults, strict=True)
    ]
    if args.kwarg:
        found.append(f"**{args.kwarg.arg}")
    return found


def _with_default(parameter: ast.arg, default: ast.expr | None, source: Source) -> str:
    return parameter.arg if default is None else f"{parameter.arg}={source.text(default)}"
