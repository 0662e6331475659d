"""Functions of the interface that the results of the transformers had, each with its own tape."""

from __future__ import annotations

import ast
from collections.abc import Set
from dataclasses import replace
from typing import TYPE_CHECKING

from tapemigrate.rules.tfe import inline
from tapemigrate.rules.tfe.block import Block, host
from tapemigrate.rules.tfe.callee import Callee, Unresolved
from tapemigrate.rules.tfe.callers import Callers
from tapemigrate.rules.tfe.forms import Tape, apart, converted_list, factory, function
from tapemigrate.rules.tfe.parameters import Listing, Parameters, of_variables
from tapemigrate.rules.tfe.sites import SUFFIX, Kind, Site
from tapemigrate.rules.tfe.text import assignments, fresh
from tapemigrate.source.points import begin

if TYPE_CHECKING:
    from tapemigrate.rules.tfe.writer import Writer

_COMPUTED = (ast.Call, ast.Subscript, ast.BinOp, ast.UnaryOp, ast.Compare, ast.IfExp, ast.BoolOp)
_KEYWORDS = (
    "if kwargs:\n"
    '    raise ValueError("Functions to be differentiated cannot receive keyword arguments.")'
)


def define(
    writer: Writer, site: Site, name: str, callers: Callers, block: Block, at: ast.AST
) -> None:
    """Writes the function that ``site`` makes at ``at``, under ``name``, into ``block``.

    Raises:
        Unresolved: when it cannot be written.
    """
    f = site.f
    assert f is not None
    callee = writer.callees.of(f)
    if not _moves(f, site, callers):
        held = isinstance(f, ast.Lambda) or not _means_the_same_later(writer, f, at, callers, name)
        if held and isinstance(host(writer.scopes, site.node, block.root), ast.Lambda):
            raise Unresolved("its function is read anew whenever the lambda around it runs")
        if held and writer.scopes.loops(writer.scopes.statement(at)) and not callers.local:
            maker = make(writer, site, block)
            block.lines.append(f"{name} = {maker}({writer.lower(f, block)})")
            return
        code = writer.lower(f, block)
        if held:
            hint = f"{callee.name}_fn" if callee.name else "fn"
            # It is read whenever the new function runs: no other may take its name.
            variable = fresh([hint], writer.reserved, also=block.taken | block.used)
            block.lines.append(f"{variable} = {code}")
            writer.source.replaced[f] = variable
            callee = replace(callee, target=None, bound=(), bound_keywords=())
    block.lines.append(definition(writer, site, name, callee, callers, block))


def _moves(f: ast.expr, site: Site, callers: Callers) -> bool:
    """Whether ``f`` is a lambda whose body can become part of the new function's."""
    if not isinstance(f, ast.Lambda):
        return False
    if site.kind.implicit:
        return True
    if f.args.kwonlyargs or f.args.kwarg or callers.keywords:
        return False
    words = {n.id for n in ast.walk(f) if isinstance(n, ast.Name)}
    words |= {a.arg for a in ast.walk(f) if isinstance(a, ast.arg)}
    return not words & _added(site, callers)


def _added(site: Site, callers: Callers) -> set[str]:
    """The names that the new function has for purposes of its own."""
    if site.kind is Kind.VJP:
        return {"dy", "vjp"}
    return {"dy"} if callers.dy and not site.kind.implicit else set()


def _means_the_same_later(
    writer: Writer, f: ast.expr, at: ast.AST, callers: Callers, name: str
) -> bool:
    """Whether ``f`` means, when the new function runs, what it means where that is made."""
    scopes = writer.scopes
    partial = isinstance(f, ast.Call) and writer.callees.of(f).target is not None
    if not isinstance(f, ast.Name | ast.Attribute) and not partial and f not in writer.entries:
        return False
    for node in ast.walk(f):
        computed = isinstance(node, _COMPUTED) and node not in writer.entries
        if computed and not (partial and node is f):
            return False
        if isinstance(node, ast.Attribute):
            if scopes.is_assigned_attribute(node.attr) or scopes.computes(node):
                return False
    stmt = scopes.statement(at)
    return all(n != name and _stays(writer, n, stmt, callers) for n in scopes.names_in(f))


def _stays(writer: Writer, name: str, stmt: ast.stmt, callers: Callers) -> bool:
    """Whether ``name`` keeps its value after ``stmt``, as long as the new function is called."""
    scopes = writer.scopes
    binder = scopes.binder(name, stmt)
    if binder is None:
        return True
    if name in scopes.given_elsewhere() or scopes.deleted(name, binder):
        return False
    made = [d.stmt for d in scopes.definitions(name, binder) if d.stmt is not None]
    if all(isinstance(s, ast.Import | ast.ImportFrom) for s in made):
        return True
    if binder is not scopes.scope_of(stmt):
        return len(made) <= 1 or callers.local
    loops = set(scopes.loops(stmt))
    for other in made:
        shared = loops & {*scopes.loops(other), other}
        if (shared and not callers.local) or begin(other) > begin(stmt):
            return False
    return True


def definition(
    writer: Writer,
    site: Site,
    name: str,
    callee: Callee,
    callers: Callers,
    block: Block,
    f_code: str = "",
) -> str:
    """The ``def``. ``f_code`` is the function to call, where that is not ``site.f``."""
    f = site.f
    tf = writer.tensorflow(site)
    tape = Tape(site.kind, tf, persistent=site.kind is Kind.VJP and site.persistent)
    outside = {tf, "ValueError", *_added(site, callers), *([f_code] if f_code else [])}
    if f is not None:
        outside |= writer.scopes.names_in(f)
        replaced = map(writer.source.replaced.get, ast.walk(f))
        outside |= {code for code in replaced if code is not None and code.isidentifier()}
    moved = f if isinstance(f, ast.Lambda) and not f_code else None
    if moved in writer.source.replaced:
        moved = None
    if site.kind.implicit:
        parameters = of_variables(moved, callee, writer.source, outside)
    else:
        calls = callers.calls if callers.known else None
        writer.assumed[site] = writer.callees.rests_on(site, callee, calls)
        listing = Listing(site, callee, callers, writer.source, outside, moved)
        parameters = listing.parameters()
    taken = outside | parameters.names() | {name}
    tape.tape = fresh(["tape", "function_tape"], taken)
    wishes = ["loss"] if "loss" in callee.name else []
    tape.value = fresh([*wishes, "value", "result"], taken)
    tape.variables = fresh(["variables"], taken)
    tape.check_none = callee.returns_none is not False
    tape.check_variables = site.kind.implicit
    if not site.kind.implicit:
        tape.sources = tape.watched = parameters.differentiated
        _convert(writer, parameters, callers, tape)
    if f_code:
        tape.call = f"{f_code}({', '.join(parameters.passed)})"
    elif moved is not None:
        tape.call = _body(writer, moved, parameters, tape, taken)
    else:
        assert f is not None
        tape.call = writer.applied(f, callee, parameters.passed, block)
    return function(name, *_signature_and_body(site, parameters, callers, tape))


def _signature_and_body(
    site: Site, parameters: Parameters, callers: Callers, tape: Tape
) -> tuple[list[str], list[str]]:
    declared = list(parameters.declared)
    if site.kind.implicit:
        return declared, tape.body()
    if site.kind is not Kind.VJP and callers.dy:
        tape.dy = "dy"
        # Only by keyword, as it always was.
        starred = any(p.startswith("*") for p in declared)
        declared += ["dy=None"] if starred else ["*", "dy=None"]
    body = tape.body()
    if callers.keywords:
        declared.append("**kwargs")
        body.insert(0, _KEYWORDS)
    return declared, body


def _body(
    writer: Writer, f: ast.Lambda, parameters: Parameters, tape: Tape, taken: set[str]
) -> str:
    args = [*f.args.posonlyargs, *f.args.args]
    writer.values.tensors |= {(f, args[p].arg) for p in parameters.positions if p < len(args)}
    inner = Block(f.body, taken, nested=True)
    code = writer.lower(f.body, inner)
    tape.inner = inner.lines
    return code


def _convert(writer: Writer, parameters: Parameters, callers: Callers, tape: Tape) -> None:
    """The arguments become tensors, and one tensor that is passed twice becomes two."""
    tf, names = tape.tf, parameters.differentiated
    if isinstance(names, str):
        tape.setup += converted_list(names, names, tf, guard=callers.count != 1)
        return
    tape.watched = list(dict.fromkeys(names))
    tape.setup += assignments([(n, f"{tf}.convert_to_tensor({n})") for n in tape.watched])
    order = sorted(set(parameters.positions))
    name_at = {p: names[parameters.positions.index(p)] for p in order}
    for index, later in enumerate(order):
        same = [name_at[e] for e in order[:index] if _may_be_one(writer, e, later, callers)]
        tape.setup += apart(name_at[later], same, tf)


def _may_be_one(writer: Writer, one: int, other: int, callers: Callers) -> bool:
    """Whether some call may pass one tensor for both positions."""
    if not callers.known:
        return True
    for call in callers.calls:
        if any(isinstance(a, ast.Starred) for a in call.args):
            return True
        passed = other < len(call.args)
        if passed and not writer.values.distinct(call.args[one], call.args[other]):
            return True
    return False


def lift(writer: Writer, site: Site, call: ast.Call, inside: Set[str], block: Block) -> None:
    """A function of a comprehension's or lambda's variables, with the tape and the result.

    Raises:
        Unresolved: when the tape cannot be put there.
    """
    used = sorted(writer.scopes.names_in(call) & inside)
    name = writer.function_name(site, block)
    inner = Block(call, block.taken | block.used | set(used), own=set(used))
    try:
        inline.write(writer, site, call, inner)
    except inline.CannotInline as problem:
        raise Unresolved("a lambda or comprehension has no place for its tape") from problem
    replaced = writer.source.replaced
    # An index behind the call may have gone into the tape's call.
    node = call if call in replaced else writer.scopes.unit.parents[call]
    body = [*inner.lines, f"return {replaced.pop(node)}"]
    block.lines.append(function(name, used, body))
    replaced[node] = f"{name}({', '.join(used)})"


def make(writer: Writer, site: Site, block: Block) -> str:
    """The name of a new function that takes ``site.f`` and returns the function for it."""
    assert site.f is not None
    callee = replace(writer.callees.of(site.f), target=None, bound=(), bound_keywords=())
    name = fresh([f"make_{SUFFIX[site.kind]}_fn"], writer.reserved, also=block.taken | block.used)
    taken = {writer.tensorflow(site), *(p.name for p in callee.parameters or ())}
    parameter = fresh(["fn", "func", "function"], taken)
    inner = definition(writer, site, "grad_fn", callee, Callers(), block, parameter)
    block.lines.append(factory(name, [parameter], inner))
    return name


def make_of_lambda(writer: Writer, site: Site, used: Set[str], block: Block) -> str:
    """The call of a new function that takes what a lambda in a lambda reads of the outer one."""
    assert site.f is not None
    name = fresh([f"make_{SUFFIX[site.kind]}_fn"], writer.reserved, also=block.taken | block.used)
    callee = writer.callees.of(site.f)
    inner = definition(writer, site, "grad_fn", callee, Callers(), block)
    block.lines.append(factory(name, sorted(used), inner))
    return f"{name}({', '.join(sorted(used))})"
