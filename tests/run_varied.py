"""Changes fixtures at random, and keeps the programs that a safe fix makes wrong.

``python -m tests.run_varied 1000 --failures FOLDER`` tries that many, half of them only written in
another way. The same ``--seed`` gives the same programs. A failure lands in FOLDER, before and
after. Many programs fail before any rewrite, and some ask for what no program would: each failure
has to be looked at.
"""

from __future__ import annotations

import argparse
import contextlib
import os
from collections import Counter, deque
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from random import Random

from fixtures.catalogue import Fixture
from tapemigrate.verify.oracle import Case, Pending, submit
from tapemigrate.verify.pool import Pool
from tests.restructured import restructured
from tests.test_fixtures import FIXTURES, fix
from tests.varied import varied

# How many programs wait for a worker.
AHEAD = 8
_LEFT_ALONE = "the old call stays"


@dataclass(frozen=True)
class Tried:
    """A changed program with its safe fixes, which are being run."""

    fixture: Fixture
    before: dict[str, str]
    after: dict[str, str]
    run: Pending


def changed(seed: int) -> Iterator[tuple[Fixture, dict[str, str]]]:
    """Fixtures with a change in one of their files, without end."""
    random = Random(seed)
    usable = [f for f in FIXTURES if f.before and not f.name.startswith("lint/")]
    while True:
        fixture = random.choice(usable)
        change = random.choice((changed_in_one, written_differently))
        texts = change(fixture, random)
        if texts is not None:
            yield fixture, texts


def changed_in_one(fixture: Fixture, random: Random) -> dict[str, str] | None:
    """The texts of a fixture, one of them changed; None where the first tries change nothing."""
    name = random.choice(sorted(n for n in fixture.texts if n.endswith(".py")) or [""])
    text = varied(fixture.texts[name], random) if name else None
    return None if text is None else {**fixture.texts, name: text}


def written_differently(fixture: Fixture, random: Random) -> dict[str, str] | None:
    """The texts of a fixture, one of them written differently; None where nothing can be."""
    name = random.choice(sorted(n for n in fixture.texts if n.endswith(".py")) or [""])
    return restructured(dict(fixture.texts), name, random) if name else None


def fixed(fixture: Fixture, before: dict[str, str], pool: Pool) -> Tried | None:
    """The program after its safe fixes; None where there are none.

    What keeps its old call for some callers, and what is left, runs in graphs alone.
    """
    result = fix(before, unsafe=False)
    if not result.rewritten:
        return None
    told = [d for d in result.diagnostics if d.code.startswith(("TM1", "TM9"))]
    whole = all(d.fix is not None and _LEFT_ALONE not in d.message for d in told)
    whole = whole and all(d.fix is not None and d.fix.applicability == "safe" for d in told)
    after = {**before, **result.rewritten}
    case = Case(
        before=before,
        after=after,
        module=fixture.main.removesuffix(".py"),
        before_modes=fixture.before,
        after_modes=fixture.modes if whole and fixture.expect == "safe" else fixture.before,
        arrays=fixture.arrays,
    )
    return Tried(fixture, before, after, submit(pool, case))


def keep(tried: Tried, why: str, folder: Path) -> None:
    """Writes both sides of a program, and why it counts as wrong."""
    for side, texts in (("before", tried.before), ("after", tried.after)):
        for name, text in texts.items():
            path = folder / side / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
    (folder / "why.txt").write_text(f"{tried.fixture.name}: {why}\n", encoding="utf-8")


def main() -> None:
    """Runs as many as are asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("count", type=int)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--failures", type=Path, required=True)
    asked = parser.parse_args()
    counts: Counter[str] = Counter()
    with contextlib.closing(Pool(size=os.cpu_count() or 1)) as pool:
        waiting: deque[Tried] = deque()

        def finish(most: int) -> None:
            while len(waiting) > most:
                tried = waiting.popleft()
                found = tried.run.result()
                counts[found.verdict] += 1
                if found.verdict == "REFUTED":
                    folder = asked.failures / f"{asked.seed}-{counts['REFUTED']}"
                    keep(tried, found.detail, folder)
                    print(f"{folder}: {tried.fixture.name}: {found.detail}", flush=True)

        for fixture, before in islice(changed(asked.seed), asked.count):
            tried = fixed(fixture, before, pool)
            counts["left"] += tried is None
            waiting.extend([tried] if tried is not None else [])
            finish(AHEAD)
        finish(0)
    print(*(f"{count} {verdict}" for verdict, count in counts.most_common()), sep=", ")


if __name__ == "__main__":
    main()
