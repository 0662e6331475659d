"""Ops that a region runs, and that have no gradient.

``tf.gradients`` asks for the gradients of what lies between the sources and the target. A tape asks
for those of all that variables lead to the target by, as it watches these by itself.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tapemigrate.rules.finding import Unit
from tapemigrate.rules.project import Project, View
from tapemigrate.rules.proof.objects.calls_of_objects import Reached
from tapemigrate.rules.proof.state.globals_read import run_in
from tapemigrate.rules.unseen.registered import REGISTERING, plain_name, registered_in
from tapemigrate.source.trees import arguments_of, walk
from tapemigrate.tape.ops.symbols import short
from tapemigrate.tape.placing.region import Region
from tapemigrate.tape.request import Refusal

# Found by asking for the gradients of TensorFlow 2.21: each of these raises LookupError.
_WITHOUT = frozenset(
    {
        *("image.adjust_hue", "image.adjust_saturation", "image.adjust_contrast"),
        *("image.random_hue", "image.random_saturation", "image.random_contrast"),
        *("image.resize_area", "image.extract_glimpse", "image.draw_bounding_boxes"),
        *("unique", "unique_with_counts", "linalg.lu", "linalg.logm", "math.bincount", "bincount"),
        *("sparse.reduce_max", "sparse_reduce_max"),
    }
)
# These have one, which raises when it is differentiated in turn.
_ONCE = frozenset(
    {
        *("nn.local_response_normalization", "nn.lrn", "nn.softsign", "nn.ctc_loss", "math.igamma"),
        *("nn.max_pool_with_argmax", "nn.fractional_max_pool", "nn.dilation2d", "nn.erosion2d"),
        *("image.resize_bicubic", "image.resize_nearest_neighbor", "image.crop_and_resize"),
    }
)
_BY_AREA = frozenset({"image.resize", "image.resize_images"})
_WORDS = frozenset({name.rpartition(".")[2] for name in _WITHOUT | _ONCE | _BY_AREA})


def without_gradient(project: Project, view: View, region: Region) -> list[str] | Refusal:
    """What is assumed of such ops that ``region`` runs, in functions of other files as well.

    An op that a file registers a gradient for has one: if no tape can call that, it is the reason.
    """
    if not any(True for _ in project.units.having(*_WORDS)):
        return []
    roots, _ = run_in(project, region, view)
    run = [*((view.unit, root) for root in roots), *Reached(project, view, roots).behind]
    lower = {request.call for request in region.lower}
    # What a loop asks inside of the tape, the next round may be computed from.
    again = region.inside and view.blocks.loops_around(region.request.stmt, region.block)
    higher = bool(again) or region.request.api == "hessians"
    higher |= any(
        # What else the scope asks for is no part of the target.
        call in lower or project.scope_of(unit, call) is not view.scope
        for unit, root in run
        for call in _asking(unit, root)
    )
    given: dict[str, Refusal | None] = {}
    for unit in project.units.having(REGISTERING):
        given |= unit.once(registered_in)
    told: list[str] = []
    for name, lacks in dict.fromkeys(e for unit, root in run for e in _named(unit, root, higher)):
        plain = plain_name(name.rpartition(".")[2])
        if (refusal := given.get(plain)) is not None:
            return refusal
        if plain not in given:
            told.append(f"`{name}`, {lacks}, is given nothing that variables or other sources made")
    return told


def _asking(unit: Unit, root: ast.AST) -> Iterator[ast.Call]:
    """The calls that ask for gradients there: the tape records those of the ops below."""
    calls = (node for node in walk(root) if isinstance(node, ast.Call))
    return (call for call in calls if short(unit.names.qualified(call.func)) == "gradients")


def _named(unit: Unit, root: ast.AST, higher: bool) -> Iterator[tuple[str, str]]:
    """The calls of such ops, and what they lack."""
    for node in walk(root):
        if isinstance(node, ast.Call):
            name = short(unit.names.qualified(node.func))
            if name in _WITHOUT or (name in _BY_AREA and any(map(_is_area, arguments_of(node)))):
                yield ast.unparse(node.func), "which has no gradient"
            elif higher and name in _ONCE:
                yield ast.unparse(node.func), "whose gradient has none"


def _is_area(node: ast.expr) -> bool:
    if isinstance(node, ast.Constant):
        return node.value == "area"
    return isinstance(node, ast.Attribute) and node.attr == "AREA"
