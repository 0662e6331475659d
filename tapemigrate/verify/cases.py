"""Cases: a user's functions with inputs, run on the old tree and on the rewritten one."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import get_args

from tapemigrate.model import Proof
from tapemigrate.verify import tree, wire
from tapemigrate.verify.compare import Comparison, Site, compare, shown, tolerances
from tapemigrate.verify.launch import advised
from tapemigrate.verify.oracle import DOUBT, SWITCHES, settled
from tapemigrate.verify.pool import Device, Mode, Pool, Task, WorkerError
from tapemigrate.verify.shrink import Inputs, shrink

MODES: tuple[Mode, ...] = get_args(Mode)
# Every case is run on this many drawings of its inputs.
SEEDS = (1, 2, 3)


class CasesError(Exception):
    """Why there are no cases to run."""


@dataclass(frozen=True)
class Counterexample:
    """The smallest inputs found on which the two sides differ, and what each returned."""

    inputs: Inputs
    mode: Mode
    before: wire.Observation
    after: wire.Observation


@dataclass(frozen=True)
class CaseResult:
    """A case, over all drawings of its inputs."""

    name: str
    comparison: Comparison
    sites: tuple[Site, ...] = ()
    counterexample: Counterexample | None = None

    @property
    def proof(self) -> Proof:
        """What it shows, as text."""
        found = self.comparison
        proof = Proof(found.verdict, f"{self.name}: {found.detail}" if found.detail else self.name)
        if (small := self.counterexample) is None:
            return proof
        inputs = ", ".join(f"{name} = {shown(value)}" for name, value in small.inputs.items())
        before, after = (each.error or shown(each.outputs) for each in (small.before, small.after))
        return replace(proof, inputs=inputs or "the case has none", before=before, after=after)


@dataclass(frozen=True)
class Cases:
    """A file of cases, the tree that they are about, and the files that the rewrite changes.

    ``selected`` tells the names of the cases to run.
    """

    file: Path
    root: Path
    changes: Mapping[Path, bytes]
    selected: Callable[[str], bool] = field(default=lambda name: True)
    device: Device = "cpu"
    timeout: float = 600.0
    size: int = 1
    before_python: str | None = None

    def run(self, tick: Callable[[str], None]) -> list[CaseResult]:
        """Runs the cases.

        Raises:
            CasesError: when the file cannot be read as one of cases, or none is selected.
            UnusableError: when there is no TensorFlow, or none that sees the device.
        """
        with contextlib.ExitStack() as stack:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="tapemigrate-")))
            folder = folder.resolve()
            place = self._copy(folder)
            new = Pool(size=self.size, timeout=self.timeout, device=self.device)
            stack.enter_context(contextlib.closing(new))
            across = self.before_python is not None
            old = new
            if self.before_python is not None:
                old = Pool(self.before_python, self.size, self.timeout, self.device)
                stack.enter_context(contextlib.closing(old))
                old.versions()
            new.versions()
            after = Task(
                files={},
                module=self.file.stem,
                mode="graph",
                folder=str(folder / "after"),
                tree=str(self.root),
                place=place,
                isolated=self._switches(),
            )
            # Eager execution cannot be turned off again in TF 1.x.
            before = replace(
                after, folder=str(folder / "before"), isolated=after.isolated or across
            )
            sides = _Sides(old, new, before, after, tolerances(across, self.device))
            drawings = self._drawings(new, str(folder / "before"), place)
            results = []
            for name, drawn in drawings.items():
                tick(name)
                results.append(sides.judge(name, drawn))
            return results

    def _copy(self, folder: Path) -> str:
        """Copies the tree, both ways, with the cases in it. Gives the folder they are in."""
        tree.copy(self.root, folder / "before", {})
        tree.copy(self.root, folder / "after", self.changes)
        if self.file.is_relative_to(self.root):
            return self.file.parent.relative_to(self.root).as_posix()
        for side in ("before", "after"):
            (folder / side / self.file.name).write_bytes(self.file.read_bytes())
        return "."

    def _switches(self) -> bool:
        return any(
            SWITCHES.search(text.decode("utf-8", "replace")) for text in self.changes.values()
        )

    def _drawings(self, pool: Pool, folder: str, place: str) -> dict[str, list[Inputs]]:
        drawings: dict[str, list[Inputs]] = {}
        for seed in SEEDS:
            try:
                cases = pool.cases(folder, str(self.root), place, self.file.stem, seed)
            except WorkerError as error:
                raise CasesError(f"{self.file}: {error}") from None
            for name, inputs in cases:
                if self.selected(name):
                    drawings.setdefault(name, []).append(inputs)
        if not drawings:
            raise CasesError(f"{self.file}: no case is selected; their names begin with case_")
        return drawings


@dataclass(frozen=True)
class _Sides:
    """Where the two sides run."""

    old: Pool
    new: Pool
    before: Task
    after: Task
    limits: Mapping[str, float]

    def judge(self, name: str, drawings: Sequence[Inputs]) -> CaseResult:
        """Runs a case in every mode. The modes in which the old side runs must agree with it.

        Where the old side cannot run (``tf.gradients`` in eager execution), the new one need not
        either; if it does, it must return what the old side returns elsewhere.
        """
        sites: list[Site] = []
        worst = Comparison("VERIFIED", "")
        for inputs in drawings:
            found = self._one(name, inputs)
            sites += found.sites
            if found.comparison.verdict != "VERIFIED":
                return replace(found, sites=tuple(sites))
            worst = max(worst, found.comparison, key=lambda each: each.largest)
        return CaseResult(name, worst, tuple(sites))

    def _one(self, name: str, inputs: Inputs) -> CaseResult:
        before = {
            mode: self.old.submit(self._task(self.before, name, inputs, mode)) for mode in MODES
        }
        after = {
            mode: self.new.submit(self._task(self.after, name, inputs, mode)) for mode in MODES
        }
        runs = [mode for mode in MODES if before[mode].result().error is None]
        if not runs:
            problem = (
                f"it fails before the rewrite: {advised(before[MODES[0]].result().error or '')}"
            )
            return CaseResult(name, Comparison("UNVERIFIED", problem))
        worst = None
        for mode in MODES:
            observed = after[mode].result()
            if mode not in runs and observed.error is not None:
                continue
            old = mode if mode in runs else runs[0]
            if observed.error is not None and self._fails_here(name, inputs, mode, observed.error):
                told = advised(observed.error)
                problem = f"it fails under TensorFlow 2, before the rewrite already: {told}"
                return CaseResult(name, Comparison("UNVERIFIED", problem))
            found = compare(before[old].result(), observed, self.limits)
            if (
                found.verdict == "REFUTED"
                and compare(before[old].result(), observed, DOUBT).verdict == "VERIFIED"
            ):
                found = settled(found, *self._double(name, inputs, old, mode))
            if found.verdict == "REFUTED":
                found = replace(found, detail=f"{mode}: {found.detail}")
                small = self._smallest(name, inputs, old, mode)
                return CaseResult(name, found, _blamed(found), small)
            if found.verdict == "UNVERIFIED":
                return CaseResult(name, found, found.sites)
            worst = max(worst or found, found, key=lambda each: each.largest)
        assert worst is not None
        return CaseResult(name, worst, worst.sites)

    def _fails_here(self, name: str, inputs: Inputs, mode: Mode, error: str) -> bool:
        """Whether the old side fails in the same way where the new one runs."""
        if self.old is self.new:
            return False
        task = self._task(self.before, name, inputs, mode)
        return self.new.submit(task).result().error == error

    def _task(self, side: Task, name: str, inputs: Inputs, mode: Mode) -> Task:
        return replace(side, entry=name, inputs=inputs, mode=mode)

    def _double(
        self, name: str, inputs: Inputs, old: Mode, new: Mode
    ) -> tuple[wire.Observation, wire.Observation]:
        """Both sides in float64, the old one with finite differences."""
        runs = []
        for pool, side, mode in ((self.old, self.before, old), (self.new, self.after, new)):
            folder = Path(f"{side.folder}-double")
            if not folder.exists():
                tree.double(Path(str(side.folder)), folder)
            task = self._task(replace(side, folder=str(folder)), name, inputs, mode)
            runs.append(pool.submit(replace(task, double=True, finite=True)))
        before, after = runs
        return before.result(), after.result()

    def _smallest(self, name: str, inputs: Inputs, old: Mode, new: Mode) -> Counterexample:
        def both(tried: Inputs) -> tuple[wire.Observation, wire.Observation]:
            before = self.old.submit(self._task(self.before, name, tried, old))
            after = self.new.submit(self._task(self.after, name, tried, new))
            return before.result(), after.result()

        def fails(tried: Inputs) -> bool:
            return compare(*both(tried), self.limits).verdict == "REFUTED"

        small = shrink(inputs, fails)
        return Counterexample(small, new, *both(small))


def _blamed(found: Comparison) -> tuple[Site, ...]:
    """The sites of a comparison that failed. Where every gradient agrees and what the case returns
    does not, any of them may be to blame: one that is a list now, say.
    """
    if any(site.verdict == "REFUTED" for site in found.sites):
        return found.sites
    return tuple(replace(site, verdict="REFUTED", detail=found.detail) for site in found.sites)
