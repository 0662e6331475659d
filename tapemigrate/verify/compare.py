"""Comparing two observations: structure strictly, numbers by the tolerance of their type."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, get_args

import numpy as np

from tapemigrate.model import Verdict
from tapemigrate.verify import wire

TOLERANCES: Mapping[str, float] = {
    # Relative to the largest element. Worst differences measured between tf.gradients and a tape
    # over random programs and real residual networks: 9e-7 in float32, 4e-15 in float64.
    "bfloat16": 5e-2,
    "float16": 2e-2,
    "float32": 1e-5,
    "complex64": 1e-5,
    "float64": 1e-11,
    "complex128": 1e-11,
}
CROSS_VERSION_TOLERANCES: Mapping[str, float] = {
    # Between TF 1.15 and TF 2: other kernels. Worst measured: 4.2e-6 in float32, 2.4e-15 in
    # float64.
    **TOLERANCES,
    "float32": 1e-4,
    "complex64": 1e-4,
    "float64": 1e-9,
    "complex128": 1e-9,
}
GPU_TOLERANCES: Mapping[str, float] = {
    # Sums are made in another order on every run. TF32 is off: it has three digits. Worst measured
    # on an H100: 6.2e-6 in float32.
    **CROSS_VERSION_TOLERANCES,
    "float16": 5e-2,
}
# Where every element is the rounding of a cancelled sum, there is no largest element to be relative
# to.
FLOOR = 1e-3
# Of larger arrays only the shape is told.
_SHOWN_ELEMENTS = 12
# A term that is lost does not show where all terms are 0.
_ALL_ZERO = "all of it is 0 on both sides, which other inputs may tell apart"

# From best to worst.
VERDICTS: tuple[Verdict, ...] = get_args(Verdict)


@dataclass(frozen=True)
class Difference:
    """Where two structures differ, ``""`` at their root, and how.

    ``size`` is relative, None where there is no number.
    """

    path: str
    message: str
    size: float | None = None


@dataclass(frozen=True)
class Site:
    """A gradient call of the old program: how often it ran, how what it returned compares.

    ``before`` and ``after`` are the first gradient that has no equal and the nearest there is.
    ``detail`` tells why the verdict is not VERIFIED, or that nothing but zeros was compared.
    """

    filename: str
    row: int
    api: str
    verdict: Verdict
    runs: int
    largest: float
    detail: str = ""
    before: str = ""
    after: str = ""


@dataclass(frozen=True)
class Comparison:
    """Two observations compared. ``largest`` is the largest relative difference of any number."""

    verdict: Verdict
    detail: str
    sites: tuple[Site, ...] = ()
    largest: float = 0.0


def tolerances(across_versions: bool, device: str) -> Mapping[str, float]:
    """How far numbers may be apart, relative to the largest element, by their type."""
    if device == "gpu":
        return GPU_TOLERANCES
    return CROSS_VERSION_TOLERANCES if across_versions else TOLERANCES


def compare(
    before: wire.Observation,
    after: wire.Observation,
    limits: Mapping[str, float] = TOLERANCES,
) -> Comparison:
    """Compares what the program returned, and what each of its gradient calls returned.

    A program that failed before the rewrite proves nothing either way: UNVERIFIED. One that fails
    only afterwards is REFUTED.
    """
    if before.error is not None:
        return Comparison("UNVERIFIED", f"the program fails before the rewrite: {before.error}")
    if after.error is not None:
        detail = f"the program fails after the rewrite: {after.error}"
        failed: dict[tuple[str, int, str], Site] = {}
        for call in before.calls:
            key = (call.filename, call.row, call.api)
            site = Site(*key, "REFUTED", 1, 0.0, detail)
            failed[key] = worse(failed[key], site) if key in failed else site
        return Comparison("REFUTED", detail, tuple(failed.values()))
    worst = 0.0
    problem = ""
    for found in differences(before.outputs, after.outputs, limits):
        worst = max(worst, found.size or 0.0)
        if not problem and found.message:
            problem = f"output{found.path}: {found.message}"
    sites = match(before.calls, after.calls, limits)
    worst = max([worst, *(site.largest for site in sites)])
    for site in sites:
        if site.verdict == "REFUTED" and not problem:
            problem = f"{site.filename}:{site.row}: {site.detail}"
    return Comparison("REFUTED" if problem else "VERIFIED", problem, sites, worst)


def differences(
    before: Any, after: Any, limits: Mapping[str, float], path: str = ""
) -> Iterator[Difference]:
    """Every leaf that has a number, with its difference; ``message`` is empty where that is within
    tolerance.
    """
    if isinstance(before, wire.Array) and isinstance(after, wire.Array):
        yield _arrays(before, after, limits, path)
    elif type(before) is not type(after) and not _both_numbers(before, after):
        yield Difference(path, f"{_name(before)} before, {_name(after)} after")
    elif isinstance(before, (list, tuple)):
        if len(before) != len(after):
            yield Difference(path, f"{len(before)} elements before, {len(after)} after")
            return
        for index, (left, right) in enumerate(zip(before, after, strict=True)):
            yield from differences(left, right, limits, f"{path}[{index}]")
    elif isinstance(before, dict):
        if before.keys() != after.keys():
            yield Difference(path, f"keys {sorted(before)} before, {sorted(after)} after")
            return
        for key, left in before.items():
            yield from differences(left, after[key], limits, f"{path}[{key!r}]")
    elif isinstance(before, float) or isinstance(after, float):
        yield _arrays(
            wire.Array("float64", np.asarray(before, np.float64)),
            wire.Array("float64", np.asarray(after, np.float64)),
            {"float64": limits["float32"]},
            path,
        )
    elif before != after:
        yield Difference(path, f"{before!r} before, {after!r} after")


def _both_numbers(before: Any, after: Any) -> bool:
    return all(
        isinstance(value, (int, float)) and not isinstance(value, bool) for value in (before, after)
    )


def _name(value: Any) -> str:
    if value is None:
        return "None"
    if isinstance(value, wire.Array):
        return f"{value.dtype} of shape {value.values.shape}"
    return type(value).__name__


def _arrays(
    before: wire.Array, after: wire.Array, limits: Mapping[str, float], path: str
) -> Difference:
    if before.dtype != after.dtype:
        return Difference(path, f"{before.dtype} before, {after.dtype} after")
    left, right = _dense(before, after), _dense(after, before)
    if left.shape != right.shape:
        return Difference(path, f"shape {left.shape} before, {right.shape} after")
    if before.dtype not in limits:
        if np.array_equal(left, right):
            return Difference(path, "", 0.0)
        return Difference(path, f"{_first(left, right)}, compared exactly")
    finite = np.isfinite(left)
    if not np.array_equal(finite, np.isfinite(right)) or not np.array_equal(
        left[~finite], right[~finite], equal_nan=True
    ):
        return Difference(path, f"{_first(left, right)}")
    if not finite.any():
        return Difference(path, "", 0.0)
    apart = np.abs(left[finite] - right[finite])
    scale = float(np.abs(left[finite]).max())
    limit = limits[before.dtype]
    largest = float(apart.max())
    size = largest / scale if scale else float(largest > 0)
    if largest <= limit * max(scale, FLOOR):
        return Difference(path, "", min(size, limit))
    return Difference(path, f"{_first(left, right)}, relative difference {size:.2g}", size)


def _first(before: np.ndarray[Any, Any], after: np.ndarray[Any, Any]) -> str:
    """The element that is furthest off."""
    if not before.shape:
        return f"{before.item()!r} before, {after.item()!r} after"
    unequal = before != after
    if before.dtype.kind in "fc":
        apart = np.where(np.isfinite(before) & np.isfinite(after), np.abs(before - after), np.inf)
        apart = np.where(unequal, apart, -1)
        flat = int(np.argmax(apart))
    else:
        flat = int(np.argmax(unequal))
    index = tuple(int(part) for part in np.unravel_index(flat, before.shape))
    left, right = before.reshape(-1)[flat], after.reshape(-1)[flat]
    return f"at {list(index)} {left!s} before, {right!s} after"


def _dense(one: wire.Array, other: wire.Array) -> np.ndarray[Any, Any]:
    """``one`` with the rows of an IndexedSlices summed up; as many rows as the two sides together
    tell of.
    """
    if one.indices is None:
        return one.values
    rows = 0
    for side in (one, other):
        if side.indices is None:
            rows = max(rows, side.values.shape[0] if side.values.ndim else 0)
        elif side.indices.size:
            rows = max(rows, int(side.indices.max()) + 1)
    dense = np.zeros((rows, *one.values.shape[1:]), one.values.dtype)
    np.add.at(dense, one.indices, one.values)
    return dense


def match(
    before: Sequence[wire.Call],
    after: Sequence[wire.Call],
    limits: Mapping[str, float],
    *,
    drift: Mapping[str, float] | None = None,
    whole: bool = True,
) -> tuple[Site, ...]:
    """Looks for an equal of every gradient of ``before`` among those of ``after``.

    A rewrite merges calls, reorders them, and adds some of its own (a Hessian's), so they are
    matched by what they returned. Equal gradients are matched in the order in which they were made.

    ``drift`` is the tolerance from the second run of a site on: a program that trains carries its
    rounding along. Where ``after`` is not ``whole``, what has no equal in it is UNVERIFIED.
    """
    pool = [gradient for call in after for gradient in call.gradients]
    blind = any(isinstance(gradient, wire.Unseen) for gradient in pool) or not whole
    sites: dict[tuple[str, int, str], Site] = {}
    for call in before:
        key = (call.filename, call.row, call.api)
        allowed = [limits] if drift is None or key not in sites else [limits, drift]
        run = _run(call, pool, allowed, blind)
        sites[key] = worse(sites[key], run) if key in sites else run
    return tuple(sites.values())


def _run(
    call: wire.Call, pool: list[Any], allowed: Sequence[Mapping[str, float]], blind: bool
) -> Site:
    """How one run of a site compares; what it matches leaves ``pool``."""
    largest = 0.0

    def site(verdict: Verdict, detail: str = "") -> Site:
        return Site(call.filename, call.row, call.api, verdict, 1, largest, detail)

    for gradient in call.gradients:
        if isinstance(gradient, wire.Unseen):
            return site("UNVERIFIED", gradient.reason)
        for limits in allowed:
            index, size = _equal(gradient, pool, limits)
            if index is not None:
                break
        if index is not None:
            del pool[index]
            largest = max(largest, size)
        elif blind:
            return site("UNVERIFIED", "its equal after the rewrite could not be looked at")
        else:
            detail, nearest = _unmatched(call, gradient, pool)
            return replace(
                site("REFUTED", detail),
                before=shown(gradient),
                after="" if nearest is None else shown(nearest),
            )
    return site("VERIFIED", _ALL_ZERO if _all_zero(call.gradients) else "")


def _all_zero(gradients: Sequence[Any]) -> bool:
    arrays = [each for each in gradients if isinstance(each, wire.Array)]
    return any(each.values.size for each in arrays) and not any(
        each.values.any() for each in arrays
    )


def _unmatched(call: wire.Call, gradient: Any, pool: Sequence[Any]) -> tuple[str, Any]:
    """What is wrong, and the gradient after the rewrite that is nearest; None if none is near."""
    text = f"{call.api} returned {_name(gradient)}, which has no equal after the rewrite"
    if not isinstance(gradient, wire.Array):
        return text, None
    similar = [
        (next(differences(gradient, other, TOLERANCES)), other)
        for other in pool
        if isinstance(other, wire.Array)
        and (other.dtype, other.values.shape) == (gradient.dtype, gradient.values.shape)
    ]
    if not similar:
        return text, None
    found, nearest = min(
        similar, key=lambda each: each[0].size if each[0].size is not None else np.inf
    )
    return f"{text}; the nearest: {found.message}", nearest


def _equal(
    gradient: Any, pool: Sequence[Any], limits: Mapping[str, float]
) -> tuple[int | None, float]:
    """Where in ``pool`` an equal is, and how far it is from ``gradient``."""
    for index, candidate in enumerate(pool):
        found = list(differences(gradient, candidate, limits))
        if not any(item.message for item in found):
            return index, max((item.size or 0.0 for item in found), default=0.0)
    return None, 0.0


def worse(known: Site, run: Site) -> Site:
    """A site over its runs: the worst verdict, and why."""
    worst = max(known, run, key=lambda site: VERDICTS.index(site.verdict))
    if worst.verdict == "VERIFIED" and known.detail != run.detail:
        worst = replace(worst, detail="")
    return replace(worst, runs=known.runs + run.runs, largest=max(known.largest, run.largest))


def shown(value: Any) -> str:
    """A structure as in ``wire.Observation.outputs``, on one line."""
    if isinstance(value, wire.Array):
        if value.values.size > _SHOWN_ELEMENTS:
            return f"{value.dtype} of shape {value.values.shape}"
        return " ".join(str(value.values.tolist()).split())
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(shown, value))}]"
    if isinstance(value, dict):
        return f"{{{', '.join(f'{key}: {shown(item)}' for key, item in value.items())}}}"
    return str(value)
