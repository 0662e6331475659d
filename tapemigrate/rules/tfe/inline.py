"""A tape at the place where a transformer's result was called, as an author would write it."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import TYPE_CHECKING

from tapemigrate.rules.tfe.beforehand import Beforehand
from tapemigrate.rules.tfe.block import Block, hoistable
from tapemigrate.rules.tfe.callee import Callee
from tapemigrate.rules.tfe.forms import Tape, converted_list
from tapemigrate.rules.tfe.reading import acts
from tapemigrate.rules.tfe.results import only_applied, settle, value_target
from tapemigrate.rules.tfe.scopes import COMPREHENSIONS, targets_of
from tapemigrate.rules.tfe.sites import SUFFIX, Kind, Site
from tapemigrate.rules.tfe.sources import Sources
from tapemigrate.tape.ops.kinds import Make

if TYPE_CHECKING:
    from tapemigrate.rules.tfe.writer import Writer


class CannotInline(Exception):
    """The call has no place for a ``with`` statement; a function can stand there all the same."""


def write(writer: Writer, site: Site, call: ast.Call, block: Block) -> None:
    """Puts the tape into ``block``, and the gradients into the place of ``call``.

    Raises:
        CannotInline: when that would change what the program does.
        Unresolved: when ``params`` cannot be told.
    """
    if site.kind is Kind.VJP:
        raise CannotInline  # see ``tfe_vjp``
    if not hoistable(writer.scopes, call, block.root, writer.entries.keys()):
        raise CannotInline
    used = set(block.used)
    tape = forward(writer, site, call, block)
    dy = _dy(site, call)
    if dy is not None and site.f is not None:
        tape.dy = Beforehand(writer, writer.callees.of(site.f), tape, block).seed(dy)
    block.lines += tape.opening()
    node = settle(writer.scopes, writer.source, site, call, tape)
    if _one_of_several(writer, block):
        # The names are free again for the next tape of the statement.
        block.used &= used
        hint = writer.callees.of(site.f).name if site.f is not None else ""
        suffix = SUFFIX[site.kind]
        name = writer.naming.fresh(block, [f"{hint}_{suffix}" if hint else suffix])
        block.lines.append(f"{name} = {writer.source.replaced[node]}")
        writer.source.replaced[node] = name
    writer.placed[site] = "inline"


def forward(writer: Writer, site: Site, call: ast.Call, block: Block) -> Tape:
    """The tape of the forward pass of ``call``."""
    assert site.f is not None
    callee = writer.callees.of(site.f)
    if not isinstance(site.f, ast.Lambda):
        # They are read under the tape now, however early they stood before.
        block.used |= {n.id for n in ast.walk(site.f) if isinstance(n, ast.Name)}
    tape = Tape(site.kind, writer.tensorflow(site), check_none=bool(callee.returns_none))
    beforehand = Beforehand(writer, callee, tape, block)
    lambda_ = isinstance(site.f, ast.Lambda)
    head = None if lambda_ else writer.head(site.f, callee, beforehand.function)
    if site.kind.implicit:
        passed = [beforehand.name(a, i) for i, a in enumerate(call.args)]
        # ``apply_gradients`` raises by itself when there are none.
        applied = only_applied(writer.scopes, call)
        tape.check_variables = not applied and not _reads_variables(writer, site.f)
    else:
        if any(k.arg != "dy" for k in call.keywords):
            raise CannotInline  # TensorFlow raises here, and so will the function
        writer.assumed[site] = writer.callees.rests_on(site, callee, [call])
        passed = _passed(writer, site, callee, call, tape, block)
    inner = "inner_" if block.nested else ""
    tape.tape = writer.naming.fresh(block, [f"{inner}tape", "function_tape"])
    target = value_target(writer.scopes, site, call, block)
    if target is not None:
        tape.value = target
        block.used.add(target)
    else:
        wishes = [f"{inner}loss"] if "loss" in callee.name else []
        tape.value = writer.naming.fresh(block, [*wishes, f"{inner}value", "result"])
    if site.kind.implicit:
        tape.variables = writer.naming.fresh(block, ["variables"])
        passed += [beforehand.keyword(k) for k in call.keywords]
    if isinstance(site.f, ast.Lambda):
        if site.kind.implicit and call.keywords:
            raise CannotInline
        tape.call = _body(writer, site.f, passed, tape, block)
    else:
        assert head is not None
        tape.call = head.call(passed)
    return tape


def _dy(site: Site, call: ast.Call) -> ast.expr | None:
    if site.kind.implicit:
        return None
    dy = next((k.value for k in call.keywords if k.arg == "dy"), None)
    return None if isinstance(dy, ast.Constant) and dy.value is None else dy


def _one_of_several(writer: Writer, block: Block) -> bool:
    """Whether the statement has more calls that become tapes."""
    if not isinstance(block.root, ast.stmt):
        return False
    calls = [n for n in ast.walk(block.root) if n in writer.entries]
    return sum(writer.entries[n].node is not n for n in calls) > 1


def _passed(
    writer: Writer, site: Site, callee: Callee, call: ast.Call, tape: Tape, block: Block
) -> list[str]:
    """What the function is called with; the sources are set on ``tape``."""
    count = len(call.args)
    if any(isinstance(a, ast.Starred) for a in call.args):
        return _passed_starred(writer, site, callee, call, tape, block)
    positions = callee.positions(site.params, count)
    if positions is None:
        positions = list(range(count))
    known = callee.parameters
    if known is not None and not callee.rest and not callee.every and count > len(known):
        raise CannotInline
    if not positions or max(positions) >= count:
        raise CannotInline
    wanted = sorted(set(positions))
    if any(acts(a) for a in _among(call.args, wanted)) and any(map(acts, call.args[wanted[-1] :])):
        raise CannotInline  # the sources are made at once
    beforehand = Beforehand(writer, callee, tape, block)
    first = [beforehand.name(a, i) for i, a in enumerate(call.args[: wanted[0]])]
    names = Sources(writer, site, callee, call, tape, block).name(wanted)
    tape.sources = [names[p] for p in positions]
    rest = list(enumerate(call.args))[len(first) :]
    return first + [names.get(i) or beforehand.name(a, i) for i, a in rest]


def _among(args: Sequence[ast.expr], positions: Sequence[int]) -> list[ast.expr]:
    """The arguments between the first position and the last that are at none of them."""
    inside = range(positions[0], positions[-1])
    return [args[i] for i in inside if i not in positions]


def _passed_starred(
    writer: Writer, site: Site, callee: Callee, call: ast.Call, tape: Tape, block: Block
) -> list[str]:
    if len(call.args) != 1 or site.params is not None or isinstance(site.f, ast.Lambda):
        raise CannotInline
    starred = call.args[0]
    assert isinstance(starred, ast.Starred)
    if callee.parameters and callee.rest:
        raise CannotInline
    given = writer.lower(starred.value, block)
    name = writer.naming.fresh(block, ["args", "inputs", "sources"])
    tape.setup += converted_list(name, given, tape.tf)
    tape.sources = tape.watched = name
    return [f"*{name}"]


def _reads_variables(writer: Writer, f: ast.expr) -> bool:
    """Whether the function, as far as it is seen, reads variables, or an object that has them."""
    scopes = writer.scopes
    if isinstance(f, ast.Attribute):
        return True
    value = scopes.value(f) if isinstance(f, ast.Name) else f
    if not isinstance(value, ast.FunctionDef | ast.Lambda):
        return False
    functions = scopes.called(value)
    if functions is None:
        return True
    for node in (n for each in functions for n in ast.walk(each)):
        if isinstance(node, ast.Attribute) and scopes.unit.names.qualified(node) is None:
            return True
        if isinstance(node, ast.Name) and writer.values.is_variable(node) is Make.VARIABLE:
            return True
    return False


def _body(writer: Writer, f: ast.Lambda, passed: Sequence[str], tape: Tape, block: Block) -> str:
    """The body of a lambda, its parameters being what they are called with."""
    args = f.args
    parameters = [*args.posonlyargs, *args.args]
    if args.vararg or args.kwarg or args.kwonlyargs or len(passed) != len(parameters):
        raise CannotInline
    renamed: dict[str, str] = {}
    for parameter, code in zip(parameters, passed, strict=True):
        name = code
        if not code.isidentifier():
            name = writer.naming.fresh(block, [parameter.arg, f"{parameter.arg}_value"])
            tape.setup.append(f"{name} = {code}")
        renamed[parameter.arg] = name
    _rename(writer, f, renamed)
    inner = block.inside(f.body, {tape.tape, tape.value})
    writer.values.tensors |= {
        (f, p.arg) for i, p in enumerate(parameters) if passed[i] in tape.sources
    }
    code = writer.lower(f.body, inner)
    tape.inner += inner.lines
    return code


def _rename(writer: Writer, f: ast.Lambda, renamed: dict[str, str]) -> None:
    scopes = writer.scopes
    for node in ast.walk(f.body):
        if isinstance(node, ast.Name) and renamed.get(node.id, node.id) != node.id:
            if scopes.binder(node.id, node) is f and not scopes.comprehension_of(node):
                writer.source.replaced[node] = renamed[node.id]
        elif isinstance(node, (ast.Lambda, *COMPREHENSIONS)):
            bound = scopes.bound(node) if isinstance(node, ast.Lambda) else targets_of(node)
            changed = {new for old, new in renamed.items() if new != old}
            if bound & changed:
                raise CannotInline  # the new name would be captured
