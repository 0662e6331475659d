"""Spoils the rewrite of every fixture in every way, and tells what the oracle does not refuse.

``python -m tests.run_mutations``. What is left over has to be looked at: is it wrong, and not seen,
or does the fixture compute the same without it?
"""

from __future__ import annotations

import contextlib
import dataclasses
import os
from collections import Counter

from tapemigrate.verify.oracle import submit
from tapemigrate.verify.pool import Pool
from tests.mutations import MUTATIONS, mutants
from tests.test_fixtures import FIXTURES, rewritten


def main() -> None:
    """Runs them all."""
    tried: Counter[str] = Counter()
    left: dict[str, list[str]] = {name: [] for name in MUTATIONS}
    with contextlib.closing(Pool(size=os.cpu_count() or 1)) as pool:
        runs = []
        for fixture in FIXTURES:
            if not (fixture.before and fixture.rewritten and fixture.agrees):
                continue
            after = rewritten(fixture.name)
            for mutation, text in mutants(after[fixture.main]):
                case = fixture.case({**after, fixture.main: text})
                case = dataclasses.replace(case, before_modes=fixture.before[:1])
                runs.append((mutation, fixture.name, submit(pool, case)))
        for mutation, name, run in runs:
            tried[mutation] += 1
            if run.result().verdict != "REFUTED":
                left[mutation].append(name)
    for mutation, names in left.items():
        print(f"{tried[mutation] - len(names)} of {tried[mutation]}  {mutation}", *names)
    total = sum(map(len, left.values()))
    print(f"caught: {tried.total() - total} of {tried.total()}")


if __name__ == "__main__":
    main()
