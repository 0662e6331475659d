"""Every fixture: what the tool does with it, and that the program then computes the same."""

from __future__ import annotations

import ast
import contextlib
import dataclasses
import os
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future
from functools import cache
from typing import cast

import pytest

from fixtures.catalogue import Fixture, fixtures
from tapemigrate.api import Result, analyse
from tapemigrate.settings import Settings
from tapemigrate.source.decoding import SourceFile
from tapemigrate.verify import oracle, wire
from tapemigrate.verify.compare import compare, tolerances
from tapemigrate.verify.pool import Device, Pool

FIXTURES = tuple(fixtures())
NAMED = {fixture.name: fixture for fixture in FIXTURES}
WORKERS = min(4, os.cpu_count() or 1)

every_fixture = pytest.mark.parametrize("fixture", FIXTURES, ids=lambda fixture: fixture.name)
Runs = Callable[[Fixture], oracle.Pending]
Third = Callable[[Fixture], Future[wire.Observation] | None]


def fix(texts: Mapping[str, str], *, unsafe: bool) -> Result:
    """What ``tapemigrate fix`` makes of a program."""
    files = {name: SourceFile(name, text) for name, text in texts.items()}
    return analyse(files, Settings(unsafe_fixes=unsafe), rewrite=True)


@cache
def fixed(name: str, *, unsafe: bool) -> Result:
    """What becomes of a fixture, asked once for all tests of it."""
    return fix(NAMED[name].texts, unsafe=unsafe)


@cache
def rewritten(name: str) -> dict[str, str]:
    """The texts of a fixture after the rewrite that its header asks for."""
    fixture = NAMED[name]
    return {**fixture.texts, **fixed(name, unsafe=fixture.expect != "safe").rewritten}


@pytest.fixture(scope="module")
def device(pytestconfig: pytest.Config) -> Device:
    """Where TensorFlow computes."""
    return cast(Device, pytestconfig.getoption("device"))


@pytest.fixture(scope="module")
def pool(device: Device) -> Iterator[Pool]:
    """The workers that run the fixtures."""
    with contextlib.closing(Pool(size=WORKERS, device=device)) as pool:
        yield pool


@pytest.fixture(scope="module")
def runs(request: pytest.FixtureRequest, pool: Pool) -> Runs:
    """Gives the runs of a fixture."""

    @cache
    def run(name: str) -> oracle.Pending:
        return oracle.submit(pool, NAMED[name].case(rewritten(name)))

    start_all(request, "runs", run)
    return lambda fixture: run(fixture.name)


@pytest.fixture(scope="module")
def third(request: pytest.FixtureRequest, pool: Pool) -> Third:
    """Runs a fixture as it stands in float64, as far as that can be, with finite differences."""

    @cache
    def run(name: str) -> Future[wire.Observation] | None:
        fixture = NAMED[name]
        if not differentiable(fixture):
            return None
        task = fixture.case(fixture.texts).task(fixture.texts, "graph")
        return pool.submit(dataclasses.replace(task, double=True, finite=True))

    start_all(request, "third", run)
    return lambda fixture: run(fixture.name)


def start_all(request: pytest.FixtureRequest, asked: str, run: Callable[[str], object]) -> None:
    """Starts what the selected tests that have the fixture ``asked`` run: no worker waits."""
    for item in request.session.items:
        if not isinstance(item, pytest.Function) or item.module is not request.module:
            continue  # what others call so is another
        if asked in item.fixturenames:
            with contextlib.suppress(Exception):  # the test itself meets it again
                run(item.callspec.params["fixture"].name)


def differentiable(fixture: Fixture) -> bool:
    """Whether its program can be held against the definition of a derivative."""
    return "graph" in fixture.before and not fixture.arrays


@every_fixture
def test_expectation(fixture: Fixture) -> None:
    safe = fixed(fixture.name, unsafe=False)
    unsafe = fixed(fixture.name, unsafe=True)
    codes = {diagnostic.code for diagnostic in safe.diagnostics}
    messages = [diagnostic.message for diagnostic in safe.diagnostics]
    if fixture.codes:
        assert codes == fixture.codes, messages
    assert bool(codes) == (fixture.expect != "none"), messages
    assert bool(changed(fixture, safe)) == (fixture.expect == "safe"), messages
    assert bool(changed(fixture, unsafe)) == fixture.rewritten, messages
    if fixture.rewritten:
        found = [d for d in safe.diagnostics if d.code.startswith("TM1")]
        allowed = ("safe",) if fixture.expect == "safe" else ("safe", "unsafe")
        left = [d for d in found if d.fix is None or d.fix.applicability not in allowed]
        assert len(left) == fixture.left, messages


@every_fixture
def test_rewrite_is_whole(fixture: Fixture) -> None:
    after = rewritten(fixture.name)
    for name, text in after.items():
        ast.parse(text, name)
    assert not changed(fixture, fix(after, unsafe=True), after)


@every_fixture
def test_same_numbers(fixture: Fixture, runs: Runs, device: Device) -> None:
    if not fixture.before:
        return
    limits = tolerances(False, device)
    pending = runs(fixture)
    if not fixture.rewritten:
        pending.reference(limits)
        return
    found = pending.result(limits)
    assert found.verdict == ("VERIFIED" if fixture.agrees else "REFUTED"), found.detail


@every_fixture
def test_finite_differences(fixture: Fixture, third: Third) -> None:
    """The old side, which the new one is held against, against the definition of a derivative."""
    pending = third(fixture)
    if pending is None:
        return
    opinions = pending.result().opinions
    wrong = [each for each in opinions if each.reason is None and not each.agrees]
    assert not wrong


@every_fixture
def test_golden(fixture: Fixture, runs: Runs, device: Device) -> None:
    golden = fixture.golden()
    if golden is None:
        return
    pending = runs(fixture)
    sides = {f"before, {mode}": run for mode, run in pending.before.items()}
    if fixture.agrees:
        sides |= {f"after, {mode}": run for mode, run in pending.after.items()}
    limits = tolerances(True, device)
    if device == "gpu":
        # They come from a CPU, and training carries rounding along: 1.0e-4 in float32 on an H100.
        limits = {dtype: 10 * limit for dtype, limit in limits.items()}
    for side, run in sides.items():
        found = compare(golden, run.result(), limits)
        assert found.verdict == "VERIFIED", f"{side}: {found.detail}"


def changed(
    fixture: Fixture, result: Result, texts: Mapping[str, str] | None = None
) -> dict[str, str]:
    """The files that ``result`` would write with other contents."""
    known = fixture.texts if texts is None else texts
    return {name: text for name, text in result.rewritten.items() if text != known[name]}
