"""Generated programs: what the tool rewrites computes the same; what it cannot is left alone.

``GENERATED=100000 python -m pytest tests/test_generated.py`` runs that many, with other seeds than
CI's.
"""

from __future__ import annotations

import ast
import contextlib
import os
from collections import Counter
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, assume, given, settings

from tapemigrate.api import analyse
from tapemigrate.settings import Settings
from tapemigrate.source import SourceFile
from tapemigrate.verify.oracle import Case, submit
from tapemigrate.verify.pool import Mode, Pool
from tests.generated import programs, tfe_programs

NUMBER = int(os.environ.get("GENERATED", "200"))
FILE = "program.py"

counts: Counter[str] = Counter()


@pytest.fixture(scope="module")
def pool() -> Iterator[Pool]:
    with contextlib.closing(Pool(size=min(3, os.cpu_count() or 1))) as workers:
        yield workers
    print("\ngenerated programs:", dict(counts))


def fixed(text: str, *, unsafe: bool = False) -> str:
    """What the tool makes of a program, by safe fixes if not told otherwise."""
    files = {FILE: SourceFile(FILE, text)}
    result = analyse(files, Settings(unsafe_fixes=unsafe), rewrite=True)
    return result.rewritten.get(FILE, text)


generated = settings(
    max_examples=NUMBER,
    derandomize="GENERATED" not in os.environ,
    database=None,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)


@given(text=programs())
@generated
def test_tf_gradients(pool: Pool, text: str) -> None:
    after = fixed(text)
    # Eager execution is for programs of which nothing is left to rewrite.
    whole = "tf.gradients" not in after and "tf.hessians" not in after
    check(pool, text, after, ("graph",), ("graph", "function", "eager") if whole else ("graph",))


@given(text=tfe_programs())
@generated
def test_tfe(pool: Pool, text: str) -> None:
    check(pool, text, fixed(text), ("eager",), ("eager",))


def check(
    pool: Pool, text: str, after: str, before_modes: tuple[Mode, ...], modes: tuple[Mode, ...]
) -> None:
    ast.parse(after)
    assert fixed(after) == after
    counts["generated"] += 1
    if after == text:
        counts["left"] += 1
        return
    counts["rewritten"] += 1
    case = Case({FILE: text}, {FILE: after}, "program", before_modes, modes)
    found = submit(pool, case).result()
    # A program that does not run as it stands proves nothing.
    assume(found.verdict != "UNVERIFIED")
    counts[found.verdict] += 1
    assert found.verdict == "VERIFIED", f"{found.detail}\n\n{text}\n\n{after}"
