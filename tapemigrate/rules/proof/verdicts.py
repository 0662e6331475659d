"""How it is told why a tape would be wrong, or on what its correctness rests."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from tapemigrate.flow.definitions import Def, Kind, Use
from tapemigrate.flow.paths import Path, path_of, text_of
from tapemigrate.flow.slices import backward, origins
from tapemigrate.rules.project import View
from tapemigrate.rules.proof.aliases import perhaps, with_aliases
from tapemigrate.source.trees import walk
from tapemigrate.tape.leaf import Leaf
from tapemigrate.tape.ops.syntax import gives_data, only_iterates
from tapemigrate.tape.placing.outside import together
from tapemigrate.tape.placing.region import Region
from tapemigrate.tape.request import Refusal

_TAKEN = (Kind.ELEMENT, Kind.LOOP, Kind.COMPREHENSION)
_PARTS = frozenset({"items", "values", "iteritems", "itervalues"})
_OUTSIDE = (Kind.PARAM, Kind.ENTRY)
_RECIPE = (
    "Open the tape where the value is computed, watch the source there, and pass the tape on: "
    "`with tf.GradientTape() as tape:` has to surround every path from the source to the target."
)

#: That a tape of the callers would have nothing to record.
NOTHING_PASSED = Refusal("no gradient flows through what its callers pass", _RECIPE)


_ENTERS = "enters the forward pass and was"


def wrong(text: str, how: str, source: str, threads: bool = False, keeps: str = "") -> Refusal:
    """That a value which enters the forward pass may come from the source."""
    return Refusal(
        f"`{text}` {_ENTERS} {how}, so it may depend on {source}: a tape "
        "here would silently drop that part of the gradient",
        _RECIPE,
        threads,
        keeps,
        own=bool(keeps),
    )


def tells_what_enters(refusal: Refusal) -> bool:
    """Whether it names such a value, which says more than that callers cannot help."""
    return _ENTERS in refusal.reason


def unnamed_tensor(text: str) -> Refusal:
    """That a source has to be watched before what reads it, and is only asked for afterwards."""
    return Refusal(
        f"`{text}` may give a tensor, which a tape has to watch before it is used",
        f"Give it a name, and write `tape.watch(name)` before the forward pass: it is `{text}`.",
    )


def name_of(leaves: list[Leaf]) -> str:
    """One source, as the scope calls it."""
    return next((text_of(d.path) for x in leaves for d in x.defs), "the source")


def names_of(leaves: list[Leaf]) -> str:
    """All sources, as the scope calls them."""
    if any(x.variables and not x.watch for x in leaves):
        return "the variables"
    shown = {x.watch for x in leaves if x.watch}  # what it is called where it is asked for
    given = {text_of(d.path) for x in leaves for d in x.defs if d.kind is not Kind.LOOP}
    names = sorted(shown or given)
    return " or ".join(f"`{n}`" for n in names[:3])


def parts_beside(region: Region, view: View) -> list[str]:
    """What is assumed of sources that are parts of what was passed in, beside other parts of it."""
    found = [
        f"no other part of `{ast.unparse(container)}` was computed from `{text_of(made.path)}`"
        for made, container in _containers(region, view)
        if _is_assumed(container, view)
    ]
    return list(dict.fromkeys(found))


def kept_together(region: Region, view: View) -> Refusal | None:
    """That a source was taken out of something that is kept, and so was what stands beside it."""
    for made, container in _containers(region, view):
        if not _is_assumed(container, view):
            how = "made before, with more in it than the source"
            return wrong(ast.unparse(container), how, f"`{text_of(made.path)}`")
    cut = {d for leaf in region.sources.leaves for d in leaf.defs}
    around = view.blocks.loops_around(region.block.body[0])
    behind = backward(view.flow.uses_in(region.request.target)).made
    if not cut & behind:
        # ``y, x = inputs``: what was passed was computed before, or nothing was.
        for made, container in _containers(region, view):
            if made.stmt in {d.stmt for d in behind}:
                return together(ast.unparse(container))
    taken = (d for d in cut if d.kind is Kind.ELEMENT or d.stmt in around)
    for made in sorted(taken, key=lambda d: d.order):
        for twin in sorted((behind | cut) - {made}, key=lambda d: d.path):
            if twin.stmt is made.stmt and _are_mixed(made, twin, view):
                how = "listed beside the source, where one was made from another"
                return wrong(text_of(twin.path), how, f"`{text_of(made.path)}`")
    return None


def _are_mixed(made: Def, twin: Def, view: View) -> bool:
    """Whether what a loop's header lists for ``twin`` was made of what it lists for ``made``."""
    header = _header(made, view)
    if header is None or twin.kind is not made.kind:
        return False
    mine, others = (_column(*header, d.path) for d in (made, twin))
    return any(
        path_of(one) is not None
        and path_of(one) != path_of(other)
        and origins(view.flow.uses_in(one)) & backward(view.flow.uses_in(other)).made
        for one in mine
        for other in others
    )


def _header(made: Def, view: View) -> tuple[ast.expr, ast.expr] | None:
    """What is gone through, and what an element is unpacked to, there or from its name later."""
    stmt = made.stmt
    if isinstance(stmt, ast.For) and made.kind is Kind.LOOP:
        return stmt.iter, stmt.target
    if made.kind is Kind.ELEMENT and isinstance(stmt, ast.Assign) and len(stmt.targets) == 1:
        rows = _rows_of(made.value, view)
        return (rows, stmt.targets[0]) if rows is not None else None
    return None


def _rows_of(value: ast.expr | None, view: View) -> ast.expr | None:
    """What holds ``value`` and others like it: ``pairs`` for ``pair``, and for ``pairs[0]``."""
    if isinstance(value, ast.Subscript) and not isinstance(value.slice, ast.Slice):
        return value.value
    named = {u.made for u in view.flow.reads.get(value, ())} if value is not None else set()
    loops = [d for d in named if d.kind is Kind.LOOP and isinstance(d.stmt, ast.For)]
    if len(named) != 1 or not loops or loops[0].path != path_of(value):
        return None
    assert isinstance(loops[0].stmt, ast.For)
    return _elements_for(loops[0].stmt.iter, loops[0].stmt.target, loops[0].path)


def _elements_for(iterated: ast.expr, target: ast.expr, path: Path) -> ast.expr | None:
    """What the elements come out of that a loop calls by the name ``path``."""
    parts = target.elts if isinstance(target, ast.Tuple | ast.List) else []
    match iterated:
        case _ if path_of(target) == path:
            return iterated
        case ast.Call(func=ast.Name(id="enumerate"), args=[inner, *_]) if len(parts) == 2:
            return _elements_for(inner, parts[1], path)
        case ast.Call(func=ast.Name(id="zip"), args=args) if len(parts) == len(args):
            found = [_elements_for(a, p, path) for a, p in zip(args, parts, strict=True)]
            return next((each for each in found if each is not None), None)
    return None


def _column(iterated: ast.expr, target: ast.expr, path: Path) -> list[ast.expr]:
    """What a loop's header lists for a name: ``[a, c]`` in ``for x, y in [(a, b), (c, d)]``."""
    parts = target.elts if isinstance(target, ast.Tuple | ast.List) else []
    match iterated:
        case ast.Call(func=ast.Name(id="enumerate"), args=[inner, *_]) if len(parts) == 2:
            return _column(inner, parts[1], path)
        case ast.Call(func=ast.Name(id="zip"), args=args) if len(parts) == len(args):
            return [e for a, p in zip(args, parts, strict=True) for e in _column(a, p, path)]
        case ast.List(elts=elts) | ast.Tuple(elts=elts):
            if path_of(target) == path:
                return elts
            rows = [e.elts for e in elts if isinstance(e, ast.Tuple | ast.List)]
            return [
                found
                for row in rows
                if len(row) == len(parts)
                for each, part in zip(row, parts, strict=True)
                for found in _column(ast.List([each], ast.Load()), part, path)
            ]
    return []


def _is_assumed(container: ast.expr, view: View) -> bool:
    """Whether it is a caller's, or data by its name, so that its parts are taken to be apart."""
    if isinstance(container, ast.Call) and gives_data(container):
        return True
    made = {u.made for u in view.flow.reads.get(container, frozenset())}
    return any(d.kind is Kind.PARAM for d in made)


def _containers(region: Region, view: View) -> list[tuple[Def, ast.expr]]:
    """What sources were taken out of, where it enters the forward pass by another way as well."""
    # No variable was made of another.
    own = frozenset(d for leaf in region.sources.leaves if not leaf.variables for d in leaf.defs)
    # A function may have given back what was unpacked: ``h = conv(x)``.
    back = frozenset(d for d in perhaps(own, view) if d in own or d.kind is Kind.ELEMENT)
    cut = with_aliases(back, view)
    behind = backward(view.flow.uses_in(region.request.target)).made
    found: list[tuple[Def, ast.expr]] = []
    for made in sorted((d for d in cut if d.kind in _TAKEN), key=lambda d: d.order):
        containers = [] if made.value is None else _iterated(made.value)
        for container in containers:
            named = _under_all_names(view.flow.reads.get(container, frozenset()), view)
            whole = any(
                r.path == path_of(container) or named & _under_all_names((Use(r),), view)
                for r in region.roots
            )
            whole |= made.kind is not Kind.ELEMENT and _is_read_beside(
                region, container, named, made, view
            )
            # ``for x, h in pairs``: of one round, both are taken out of one element.
            twins = (d for d in behind - cut if d.value is made.value and d.kind is made.kind)
            together = len(containers) == 1 and any(twins)
            if made.kind is Kind.ELEMENT:  # by an inner function, which stands further up
                together &= all(d.kind in _OUTSIDE for d in named)
            if whole or together:
                found.append((made, container))
        if made.kind is Kind.ELEMENT and any(d for d in behind - cut if d.value is made.value):
            rows = _rows_of(made.value, view)
            if rows is not None and not isinstance(rows, ast.List | ast.Tuple):
                found.append((made, rows))
    return found


def _under_all_names(uses: Iterable[Use], view: View) -> frozenset[Def]:
    """What a list was made as, of whichever other name, and lists of the elements of another."""
    found: set[Def] = set()
    stack = [*origins(uses)]
    while stack:
        made = stack.pop()
        if made not in found:
            found.add(made)
            value = made.value if made.kind is Kind.ASSIGN else None
            for inner in _iterated(value) if value is not None else ():
                stack += origins(view.flow.reads.get(inner, frozenset()))
    return frozenset(found)


def _is_read_beside(
    region: Region, container: ast.expr, named: frozenset[Def], made: Def, view: View
) -> bool:
    """Whether ``xs`` is read in another way than by the loop that takes the source out of it.

    ``named`` is what it is, under all names.
    """
    path, request, reads = path_of(container), region.request, view.flow.reads
    skipped = {n for each in (made.value, request.call) if each is not None for n in walk(each)}
    roots = [*region.block.body[region.first : region.last + 1], request.target]
    return any(
        (path_of(node) == path or named & _under_all_names(reads.get(node, frozenset()), view))
        and (node not in skipped or root is request.target)
        for root in roots
        for node in walk(root)
        if isinstance(node, ast.Name | ast.Attribute) and not _is_counted(root, node)
    )


def _is_counted(root: ast.AST, node: ast.expr) -> bool:
    """``len(xs)``"""
    return any(
        isinstance(call, ast.Call)
        and isinstance(call.func, ast.Name)
        and call.func.id == "len"
        and node in call.args
        for call in walk(root)
    )


def _iterated(value: ast.expr) -> list[ast.expr]:
    """What the elements come out of: ``xs`` of ``enumerate(xs)``, both of ``zip(xs, ys)``.

    So it is of ``xs.items()``.
    """
    if path_of(value) is not None:
        return [value]
    match value:
        case ast.IfExp():
            return [*_iterated(value.body), *_iterated(value.orelse)]
        case ast.Call(func=ast.Attribute(value=owner, attr=how)) if how in _PARTS:
            return _iterated(owner)
        case ast.Call() if only_iterates(value):
            return [inner for arg in value.args for inner in _iterated(arg)]
    return []
