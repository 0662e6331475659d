"""The arguments of one call with respect to which a tape differentiates."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tapemigrate.rules.tfe.block import Block
from tapemigrate.rules.tfe.callee import Callee
from tapemigrate.rules.tfe.forms import Tape, apart
from tapemigrate.rules.tfe.sites import Site
from tapemigrate.rules.tfe.text import assignments

if TYPE_CHECKING:
    from tapemigrate.rules.tfe.writer import Writer


class Sources:
    """Names them, makes tensors of those that are none, and sets apart one that is passed twice."""

    def __init__(
        self, writer: Writer, site: Site, callee: Callee, call: ast.Call, tape: Tape, block: Block
    ) -> None:
        self._writer = writer
        self._site = site
        self._callee = callee
        self._call = call
        self._tape = tape
        self._block = block
        self._names: dict[int, str] = {}
        self._pairs: list[tuple[str, str]] = []
        self._later: list[str] = []
        self._watched: list[str] = []

    def name(self, positions: list[int]) -> dict[int, str]:
        """The name of each; what makes them goes before the tape."""
        for index, position in enumerate(positions):
            self._name(position, positions[:index])
        self._tape.setup += [*assignments(self._pairs), *self._later]
        self._tape.watched = list(dict.fromkeys(self._watched))
        return self._names

    def _name(self, position: int, earlier: list[int]) -> None:
        values, tf = self._writer.values, self._tape.tf
        args = self._call.args
        arg = args[position]
        same = any(_one_name(args[e], arg) for e in earlier)
        maybe = [self._names[e] for e in earlier if not values.distinct(args[e], arg)]
        direct = self._direct(arg)
        code = self._writer.lower(arg, self._block)
        if direct and not maybe:
            self._names[position] = code
            self._watched.append(code)
            return
        name = self._names[position] = self._fresh(position, arg)
        self._watched.append(name)
        if direct and not same:
            tests = " or ".join(f"{code} is {other}" for other in maybe)
            self._later.append(f"{name} = {tf}.identity({code}) if {tests} else {code}")
        elif same and values.is_tensor(arg):
            self._pairs.append((name, f"{tf}.identity({code})"))
        elif values.is_tensor(arg):
            self._pairs.append((name, code))
            self._later += apart(name, maybe, tf)
        else:
            self._pairs.append((name, f"{tf}.convert_to_tensor({code})"))
            self._later += apart(name, maybe, tf)

    def _direct(self, arg: ast.expr) -> bool:
        """Whether the argument itself can be the source: a tensor, and no variable.

        The function is passed a tensor made of a variable, and what it reads of that by another
        way does not count.
        """
        return isinstance(arg, ast.Name) and self._writer.values.is_tensor(arg)

    def _closed_over(self) -> list[ast.Name] | None:
        """What the function may read from where it was made; None where that cannot be told."""
        f = self._site.f
        scopes = self._writer.scopes
        value = scopes.value(f) if isinstance(f, ast.Name) else f
        if not isinstance(value, ast.FunctionDef | ast.Lambda):
            return None
        return scopes.closed_over(value)

    def _read_by_function(self, name: str) -> bool:
        closed = self._closed_over()
        return closed is None or any(n.id == name for n in closed)

    def _fresh(self, position: int, arg: ast.expr) -> str:
        parameters = self._callee.parameters
        wishes = []
        if parameters is not None and position < len(parameters):
            wishes.append(parameters[position].name)
        if isinstance(arg, ast.Name):
            if self._once(arg) and not self._read_by_function(arg.id):
                wishes.insert(0, arg.id)
            wishes.append(f"{arg.id}_tensor")
        elif wishes:
            wishes.append(f"{wishes[0]}_tensor")
        return self._writer.naming.fresh(self._block, [*wishes, "x", "y", "z"])

    def _once(self, arg: ast.Name) -> bool:
        """Whether the statement reads the name nowhere else."""
        root = self._block.root
        return sum(isinstance(n, ast.Name) and n.id == arg.id for n in ast.walk(root)) == 1


def _one_name(one: ast.expr, other: ast.expr) -> bool:
    return isinstance(one, ast.Name) and isinstance(other, ast.Name) and one.id == other.id
