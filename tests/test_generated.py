"""Generated programs: what the tool rewrites computes the same; what it cannot is left alone.

These are the same ones every time; ``run_generated`` runs as many others as wanted.
"""

from __future__ import annotations

import contextlib
import os
from collections import Counter
from collections.abc import Iterator

import pytest

from tapemigrate.verify.pool import Pool
from tests.generated_classes import program
from tests.run_generated import generated, minimal, run, smaller, told

NUMBER = 300
CLASSES = 60


@pytest.fixture(scope="module")
def pool() -> Iterator[Pool]:
    with contextlib.closing(Pool(size=min(3, os.cpu_count() or 1))) as workers:
        yield workers


@pytest.mark.parametrize("kind", ["tf.gradients", "tfe"])
def test_programs_compute_the_same(pool: Pool, kind: str) -> None:
    counts: Counter[str] = Counter()
    failed = []
    for each in run(pool, kind, generated(kind, NUMBER, 0)):
        counts[each.verdict] += 1
        if each.verdict == "REFUTED":
            failed.append(each.text)
    print(f"\n{kind}: {told(counts)}")
    if failed:
        small = minimal(pool, kind, failed[0])
        pytest.fail(f"{len(failed)} programs, say {small.detail}\n\n{small.text}\n\n{small.after}")
    # A program that does not run as it stands proves nothing, and one that is left not much.
    assert counts["VERIFIED"] > 0.7 * counts.total()


def test_classes_compute_the_same(pool: Pool) -> None:
    found = list(run(pool, "classes", map(program, range(CLASSES))))
    counts = Counter(each.verdict for each in found)
    print(f"\nclasses: {told(counts)}")
    for each in found:
        assert each.verdict != "REFUTED", f"{each.detail}\n\n{each.text}\n\n{each.after}"
    # About half of the tapes would have to record in several methods, and are left.
    assert counts["VERIFIED"] > 0.3 * CLASSES


def test_a_failure_is_made_smaller() -> None:
    text = (
        "def f(x):\n    y = 1\n    for k in range(2):\n        z = x + bad * 2\n    return [y, z]\n"
    )
    small = smaller(text, lambda text: "bad" in text and "return" in text)
    assert small == "def f(x):\n    z = bad\n    return []\n"
