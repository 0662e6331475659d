"""Runs many generated programs before and after the rewrite, and keeps those that come out wrong.

``python -m tests.run_generated 100000 --failures FOLDER`` runs that many. Each failure is made
smaller and lands in FOLDER. The same ``--seed`` gives the same programs.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import re
import time
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis.strategies import SearchStrategy, integers

from tapemigrate.api import analyse
from tapemigrate.settings import Settings
from tapemigrate.source import SourceFile
from tapemigrate.verify.compare import Comparison
from tapemigrate.verify.oracle import Case, submit
from tapemigrate.verify.pool import Mode, Pool
from tests.generated import programs, tfe_programs
from tests.generated_classes import program

FILE = "program.py"
KINDS: dict[str, Callable[[], SearchStrategy[str]]] = {
    "tf.gradients": programs,
    "tfe": tfe_programs,
    "classes": lambda: integers(0, 10**6).map(program),
}
# As many programs come from one seed; and this many wait for a worker.
BATCH = 500
AHEAD = 8
# How many smaller programs are tried for each failure, and for how many of one sort.
ATTEMPTS = 150
ALIKE = 3


def fixed(text: str) -> str:
    """What the tool makes of a program, by safe fixes."""
    result = analyse({FILE: SourceFile(FILE, text)}, Settings(), rewrite=True)
    return result.rewritten.get(FILE, text)


@dataclass(frozen=True)
class Tried:
    """A program, what became of it, and how the two compare; None where nothing was rewritten."""

    kind: str
    text: str
    after: str
    found: Callable[[], Comparison] | None

    @property
    def verdict(self) -> str:
        """``left``, or the verdict of the comparison, for which this waits."""
        return "left" if self.found is None else self.found().verdict

    @property
    def detail(self) -> str:
        """What the comparison says."""
        return "" if self.found is None else self.found().detail


def tried(pool: Pool, kind: str, text: str) -> Tried:
    """Rewrites a program and hands both sides to ``pool``."""
    try:
        after = fixed(text)
        ast.parse(after)
        again = fixed(after)
    except Exception as error:
        failure = Comparison("REFUTED", f"the tool fails: {type(error).__name__}: {error}")
        return Tried(kind, text, "", lambda: failure)
    if again != after:
        unsteady = Comparison("REFUTED", "a second run changes it again")
        return Tried(kind, text, after, lambda: unsteady)
    if after == text:
        return Tried(kind, text, after, None)
    before, modes = _modes(kind, after)
    return Tried(
        kind,
        text,
        after,
        submit(pool, Case({FILE: text}, {FILE: after}, "program", before, modes)).result,
    )


def _modes(kind: str, after: str) -> tuple[tuple[Mode, ...], tuple[Mode, ...]]:
    if kind == "tfe":
        return ("eager",), ("eager",)
    # Eager execution is for programs of which nothing is left to rewrite.
    whole = "tf.gradients" not in after and "tf.hessians" not in after
    return ("graph",), ("graph", "function", "eager") if whole else ("graph",)


def generated(kind: str, number: int, start: int) -> Iterator[str]:
    """Up to ``number`` programs, all different."""
    seen: set[int] = set()
    for first in range(0, number, BATCH):
        for text in _batch(kind, min(BATCH, number - first), start + first):
            if hash(text) not in seen:
                seen.add(hash(text))
                yield text


def _batch(kind: str, number: int, start: int) -> list[str]:
    texts: list[str] = []

    @seed(start)
    @settings(
        max_examples=number,
        phases=[Phase.generate],
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(KINDS[kind]())
    def collect(text: str) -> None:
        texts.append(text)

    collect()
    return texts


def smaller(text: str, fails: Callable[[str], bool], attempts: int = ATTEMPTS) -> str:
    """The smallest program found that still ``fails``: statements and results are left out."""
    progress = True
    while progress:
        progress = False
        for candidate in candidates(text):
            if not attempts:
                return text
            attempts -= 1
            if fails(candidate):
                text, progress = candidate, True
                break
    return text


def candidates(text: str) -> Iterator[str]:
    """Every program that is a little smaller."""
    number = 0
    while True:
        tree = ast.parse(text)
        cuts = list(_cuts(tree))
        if number == len(cuts):
            return
        cuts[number]()
        yield ast.unparse(ast.fix_missing_locations(tree)) + "\n"
        number += 1


def _cuts(tree: ast.AST) -> Iterator[Callable[[], None]]:
    """Statements and results left out, blocks in place of what they are in, parts of sums."""
    for node in ast.walk(tree):
        for field in ("body", "orelse"):
            body = getattr(node, field, None)
            if isinstance(body, list):
                for index in reversed(range(len(body))):
                    yield partial(_cut, body, index, [] if len(body) > 1 else [ast.Pass()])
                    if isinstance(body[index], (ast.If, ast.For, ast.While, ast.With, ast.Try)):
                        yield partial(_cut, body, index, body[index].body)
        if isinstance(node, ast.Return) and isinstance(node.value, ast.List):
            for index in reversed(range(len(node.value.elts))):
                yield partial(_cut, node.value.elts, index, [])
    for node in ast.walk(tree):
        for field, value in ast.iter_fields(node):
            if isinstance(value, ast.BinOp):
                yield partial(setattr, node, field, value.left)
                yield partial(setattr, node, field, value.right)


def _cut(body: list[Any], index: int, instead: list[Any]) -> None:
    body[index : index + 1] = instead


def main() -> None:
    """Reads the command line and runs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("number", type=int, help="how many programs of each kind")
    parser.add_argument("--kind", choices=KINDS, action="append", help="default: all")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--failures", type=Path, required=True, help="the folder for failures")
    options = parser.parse_args()
    options.failures.mkdir(parents=True, exist_ok=True)
    with contextlib.closing(Pool(size=options.workers)) as pool:
        for kind in options.kind or KINDS:
            _run(pool, kind, options.number, options.seed, options.failures)


def run(pool: Pool, kind: str, texts: Iterable[str]) -> Iterator[Tried]:
    """Tries programs, a few at a time, in their order."""
    waiting: deque[Tried] = deque()
    for text in texts:
        waiting.append(tried(pool, kind, text))
        if len(waiting) > AHEAD:
            yield waiting.popleft()
    yield from waiting


def minimal(pool: Pool, kind: str, text: str) -> Tried:
    """The smallest program found that comes out wrong like ``text``."""
    return tried(
        pool, kind, smaller(text, lambda text: tried(pool, kind, text).verdict == "REFUTED")
    )


def _run(pool: Pool, kind: str, number: int, start: int, folder: Path) -> None:
    counts: Counter[str] = Counter()
    sorts: Counter[str] = Counter()
    begun = time.monotonic()
    for each in run(pool, kind, generated(kind, number, start)):
        counts[each.verdict] += 1
        if each.verdict == "REFUTED":
            sort = re.sub(r"\d[\d.e+-]*", "#", each.detail)
            sorts[sort] += 1
            # Programs that come one after the other are alike.
            small = minimal(pool, kind, each.text) if sorts[sort] <= ALIKE else each
            file = folder / f"{kind}-{start}-{counts.total()}.py"
            file.write_text(f"{small.text}\n\n# {small.detail}\n", "utf-8")
            print(f"{file}: {small.detail}", flush=True)
        if counts.total() % BATCH == 0:
            print(kind, told(counts), f"{time.monotonic() - begun:.0f} s", flush=True)
    print(kind, told(counts), f"{time.monotonic() - begun:.0f} s", flush=True)


def told(counts: Counter[str]) -> str:
    """How many programs there were, and what became of them."""
    return ", ".join([f"{counts.total()} programs", *(f"{counts[key]} {key}" for key in counts)])


if __name__ == "__main__":
    main()
