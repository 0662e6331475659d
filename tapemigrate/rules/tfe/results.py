"""What takes the place of a call whose gradients a tape now gives, and of its targets."""

from __future__ import annotations

import ast

from tapemigrate.rules.tfe.block import Block
from tapemigrate.rules.tfe.forms import Tape
from tapemigrate.rules.tfe.scopes import Scopes
from tapemigrate.rules.tfe.sites import Kind, Site
from tapemigrate.rules.tfe.text import Source

_APPLY = "apply_gradients"
_ITERATING = frozenset({"list", "dict", "tuple", "zip"})


def value_target(scopes: Scopes, site: Site, call: ast.Call, block: Block) -> str | None:
    """The name that the value is unpacked to, where the forward pass can give it that name."""
    target = _assigned(scopes, call)
    if not site.kind.with_value or scopes.unit.parents[call] is not block.root:
        return None
    if not isinstance(target, ast.Tuple | ast.List) or len(target.elts) != 2:
        return None
    first, second = target.elts
    if not isinstance(first, ast.Name) or isinstance(second, ast.Starred):
        return None
    read = {n.id for n in ast.walk(call) if isinstance(n, ast.Name)}
    if site.f is not None:
        read |= scopes.names_in(site.f)
    return None if first.id in read | block.used else first.id


def settle(scopes: Scopes, source: Source, site: Site, call: ast.Call, tape: Tape) -> ast.expr:
    """Replaces the call, with its index or its targets. Returns the node that is the gradients."""
    parent = scopes.unit.parents[call]
    target = _assigned(scopes, call)
    if site.kind.with_value and site.kind is not Kind.VJP:
        if isinstance(target, ast.Tuple | ast.List) and len(target.elts) == 2:
            first, rest = target.elts
            if isinstance(first, ast.Name) and first.id == tape.value:
                source.replaced[target] = _target(source, rest, tape)
                source.replaced[call] = _gradients(rest, tape)
                return call
        source.replaced[call] = f"({tape.value}, {tape.gradients()})"
        return call
    if site.kind.implicit:
        iterated = _only_iterated(scopes, parent, call)
        source.replaced[call] = tape.pairs() if iterated else tape.gradients()
        return call
    index = _index(parent, call)
    if index is not None and isinstance(tape.sources, list) and isinstance(parent, ast.Subscript):
        count = len(tape.sources)
        if -count <= index < count:
            source.replaced[parent] = tape.gradient(tape.sources[index])
            return parent
    if target is not None and _is_one(target, tape):
        source.replaced[target] = _target(source, target, tape)
        source.replaced[call] = _gradients(target, tape)
        return call
    source.replaced[call] = tape.gradients()
    return call


def _assigned(scopes: Scopes, call: ast.Call) -> ast.expr | None:
    parent = scopes.unit.parents[call]
    if isinstance(parent, ast.Assign) and len(parent.targets) == 1:
        return parent.targets[0]
    return None


def _is_one(target: ast.expr, tape: Tape) -> bool:
    """Whether the target unpacks a single gradient, which can do without the list."""
    return (
        isinstance(target, ast.Tuple | ast.List)
        and len(target.elts) == 1
        and not isinstance(target.elts[0], ast.Starred)
        and not tape.kind.implicit
        and isinstance(tape.sources, list)
        and len(tape.sources) == 1
    )


def _target(source: Source, target: ast.expr, tape: Tape) -> str:
    if _is_one(target, tape):
        assert isinstance(target, ast.Tuple | ast.List)
        return source.text(target.elts[0])
    return source.text(target)


def _gradients(target: ast.expr, tape: Tape) -> str:
    if tape.kind.implicit:
        return tape.pairs() if isinstance(target, ast.Tuple | ast.List) else tape.gradients()
    return tape.gradient(tape.sources[0]) if _is_one(target, tape) else tape.gradients()


def _only_iterated(scopes: Scopes, parent: ast.AST, call: ast.Call) -> bool:
    """Whether the pairs are only run over, so that they need not be a list."""
    if isinstance(parent, ast.Assign):
        return all(isinstance(t, ast.Tuple | ast.List) for t in parent.targets)
    if isinstance(parent, ast.For | ast.comprehension):
        return parent.iter is call
    if isinstance(parent, ast.Call) and call in parent.args:
        func = parent.func
        if isinstance(func, ast.Attribute):
            return func.attr == _APPLY and not scopes.is_method(_APPLY)
        return isinstance(func, ast.Name) and func.id in _ITERATING
    return False


def only_applied(scopes: Scopes, call: ast.Call) -> bool:
    """Whether the pairs go to an optimizer's ``apply_gradients`` and nowhere else."""
    parent = scopes.unit.parents[call]
    if not isinstance(parent, ast.Call) or call not in parent.args:
        return False
    applied = isinstance(parent.func, ast.Attribute) and parent.func.attr == _APPLY
    return applied and not scopes.is_method(_APPLY)


def _index(parent: ast.AST, call: ast.Call) -> int | None:
    if not isinstance(parent, ast.Subscript) or parent.value is not call:
        return None
    if not isinstance(parent.ctx, ast.Load):
        return None
    try:
        index = ast.literal_eval(parent.slice)
    except (ValueError, TypeError):
        return None
    return index if isinstance(index, int) and not isinstance(index, bool) else None
