"""``value, vjp = make_vjp(f)(x)`` where ``vjp`` is called once: a tape and its gradient."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tapemigrate.rules.tfe.block import Block, host
from tapemigrate.rules.tfe.inline import CannotInline, forward
from tapemigrate.rules.tfe.results import settle
from tapemigrate.rules.tfe.sites import Site
from tapemigrate.source.points import begin

if TYPE_CHECKING:
    from tapemigrate.rules.tfe.writer import Writer


def write(writer: Writer, site: Site, call: ast.Call, block: Block) -> None:
    """Puts the tape into ``block`` in the place of its statement, the gradient at the one call.

    Raises:
        CannotInline: when the product is asked for in another way than by one call further down.
        Unresolved: when ``params`` cannot be told.
    """
    stmt = block.root
    scopes = writer.scopes
    if not isinstance(stmt, ast.Assign) or stmt.value is not call or len(stmt.targets) != 1:
        raise CannotInline
    target = stmt.targets[0]
    names = target.elts if isinstance(target, ast.Tuple | ast.List) else []
    if len(names) != 2 or not isinstance(names[0], ast.Name) or not isinstance(names[1], ast.Name):
        raise CannotInline
    value, vjp = names[0].id, names[1].id
    product = _one_call(writer, stmt, vjp)
    dy = product.args[0] if product.args else next((k.value for k in product.keywords), None)
    tape = forward(writer, site, call, block)
    kept = {tape.tape, tape.value, *tape.sources}
    later = scopes.statement(product)
    if tape.value != value or isinstance(tape.sources, str):
        raise CannotInline
    if not all(scopes.unchanged(name, stmt, later) for name in kept):
        raise CannotInline
    writer.reserved |= kept
    if dy is not None and not (isinstance(dy, ast.Constant) and dy.value is None):
        tape.dy = writer.lower(dy, block)
    block.lines += tape.opening()
    settle(scopes, writer.source, site, product, tape)
    writer.consumed.add(stmt)
    writer.placed[site] = "inline"


def _one_call(writer: Writer, stmt: ast.Assign, vjp: str) -> ast.Call:
    scopes = writer.scopes
    uses = scopes.uses(vjp, stmt)
    if uses.others or uses.nested or uses.mixed or len(uses.calls) != 1:
        raise CannotInline
    product = uses.calls[0]
    later = scopes.statement(product)
    if scopes.loops(later) != scopes.loops(stmt) or host(scopes, product, later) is not None:
        raise CannotInline
    plain = len(product.args) + len(product.keywords) <= 1
    if not plain or any(isinstance(a, ast.Starred) for a in product.args):
        raise CannotInline
    if any(k.arg != "dy" for k in product.keywords) or begin(later) <= begin(stmt):
        raise CannotInline
    return product
