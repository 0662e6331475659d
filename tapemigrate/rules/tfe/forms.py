"""The tapes that take the place of the transformers, as code."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from tapemigrate.patterns import late
from tapemigrate.rules.tfe.sites import Kind
from tapemigrate.rules.tfe.text import fresh, indent

_NONE = (
    "if {value} is None:\n"
    '    raise ValueError("Cannot differentiate a function that returns None.")'
)
_NO_VARIABLES = (
    "if not {variables}:\n"
    "    raise ValueError(\n"
    '        "No trainable variables were accessed while the function was being computed."\n'
    "    )"
)
_WORD = late(r"\w+")


@dataclass(slots=True)
class Tape:
    """One forward pass under a tape, and what is then asked of it.

    ``sources`` are the names to differentiate with respect to; a single string is a list by that
    name. ``watched`` likewise. ``setup`` comes before the tape, ``inner`` into it.
    """

    kind: Kind
    tf: str
    call: str = ""
    tape: str = "tape"
    value: str = "value"
    variables: str = "variables"
    sources: list[str] | str = field(default_factory=list)
    watched: list[str] | str = field(default_factory=list)
    setup: list[str] = field(default_factory=list)
    inner: list[str] = field(default_factory=list)
    persistent: bool = False
    check_none: bool = False
    check_variables: bool = False
    dy: str = ""

    def opening(self) -> list[str]:
        """The statements up to the end of the forward pass."""
        options = "persistent=True" if self.persistent else ""
        body = []
        if self.watched:
            body.append(f"{self.tape}.watch({_one_or_list(self.watched)})")
        body += [*self.inner, f"{self.value} = {self.call}"]
        header = f"with {self.tf}.GradientTape({options}) as {self.tape}:"
        statements = [*self.setup, "\n".join([header, *indent(body)])]
        if self.check_none:
            statements.append(_NONE.format(value=self.value))
        if self.kind.implicit:
            statements.append(f"{self.variables} = {self.tape}.watched_variables()")
            if self.check_variables:
                statements.append(_NO_VARIABLES.format(variables=self.variables))
        return statements

    def gradients(self) -> str:
        """The list of the gradients, or of pairs of gradients and variables."""
        if self.kind.implicit:
            return f"list({self.pairs()})"
        sources = self.sources if isinstance(self.sources, str) else listed(self.sources)
        return self.gradient(sources)

    def pairs(self) -> str:
        """The pairs of gradients and variables, as an iterator."""
        return f"zip({self.gradient(self.variables)}, {self.variables})"

    def gradient(self, sources: str) -> str:
        """The gradient with respect to ``sources``."""
        dy = f", output_gradients={self.dy}" if self.dy else ""
        return f"{self.tape}.gradient({self.value}, {sources}{dy})"

    def body(self) -> list[str]:
        """The body of a function that does what the made function did."""
        statements = self.opening()
        if self.kind is Kind.VJP:
            self.dy = "dy"
            statements += ["", f"def vjp(dy=None):\n    return {self.gradients()}", ""]
            return [*statements, f"return {self.value}, vjp"]
        if self.kind.with_value:
            return [*statements, f"return {self.value}, {self.gradients()}"]
        return [*statements, f"return {self.gradients()}"]


def _one_or_list(names: list[str] | str) -> str:
    if isinstance(names, str):
        return names
    return names[0] if len(names) == 1 else listed(names)


def listed(names: Sequence[str]) -> str:
    """A list display of the names."""
    return f"[{', '.join(names)}]"


def function(name: str, parameters: Sequence[str], body: Sequence[str]) -> str:
    """A ``def``."""
    return "\n".join([f"def {name}({', '.join(parameters)}):", *indent(body)])


def factory(name: str, parameters: Sequence[str], inner: str) -> str:
    """A function that makes and returns the one that ``inner`` defines."""
    made = inner.removeprefix("def ").partition("(")[0]
    return function(name, parameters, [inner, "", f"return {made}"])


def apart(name: str, others: Sequence[str], tf: str) -> list[str]:
    """One tensor that was passed twice counts as two arguments."""
    if not others:
        return []
    tests = " or ".join(f"{name} is {other}" for other in others)
    return [f"if {tests}:\n    {name} = {tf}.identity({name})"]


def converted_list(name: str, given: str, tf: str, guard: bool = True) -> list[str]:
    """``given`` as a list of tensors, of which none is there twice."""
    words = set(_WORD.findall(f"{name} {given} {tf}"))
    a, b, i = (fresh(wishes, words) for wishes in (["a", "arg"], ["b", "other"], ["i", "index"]))
    found = [f"{name} = [{tf}.convert_to_tensor({a}) for {a} in {given}]"]
    if guard:
        again = f"{tf}.identity({a}) if any({a} is {b} for {b} in {name}[:{i}]) else {a}"
        found.append(
            "# One tensor passed twice counts as two arguments.\n"
            f"{name} = [{again} for {i}, {a} in enumerate({name})]"
        )
    return found
