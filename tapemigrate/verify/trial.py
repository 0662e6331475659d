"""A user's command on the old tree and on the rewritten one: what each gradient call returned."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from tapemigrate.model import Verdict
from tapemigrate.verify import launch, tree
from tapemigrate.verify.calls import Line, Rewritten, lines
from tapemigrate.verify.compare import Site, match, tolerances
from tapemigrate.verify.oracle import DOUBT
from tapemigrate.verify.pool import Device

# Called while a command runs, with what is being run.
Tick = Callable[[str], None]


class CommandError(Exception):
    """Why the command cannot show anything: it fails on the tree as it is."""


@dataclass(frozen=True)
class Trial:
    """A command, the tree it runs in, and the bytes of the files that the rewrite changes."""

    command: Sequence[str]
    root: Path
    changes: Mapping[Path, bytes]
    rewritten: Sequence[Rewritten]
    before_python: str | None = None
    device: Device = "cpu"
    timeout: float = 600.0

    def run(self, tick: Tick) -> list[Line]:
        """Runs the command on both trees and compares.

        Raises:
            CommandError: when it fails on the old one, or cannot be started.
        """
        with tempfile.TemporaryDirectory(prefix="tapemigrate-") as folder:
            try:
                return self._run(Path(folder).resolve(), tick)
            except OSError as error:
                told = f"{error.filename or self.command[0]}: {error.strerror or error}"
                raise CommandError(told) from None

    def _run(self, folder: Path, tick: Tick) -> list[Line]:
        tree.copy(self.root, folder / "before", {})
        tree.copy(self.root, folder / "after", self.changes)
        old = launch.Side(self.root, folder / "before", self.before_python, self.device)
        before = self._launch(old, "before the rewrite", tick)
        if before.needs_graph:
            old = replace(old, graph=True)
            before = self._launch(old, "before the rewrite, without eager execution", tick)
        if before.failed:
            raise CommandError(f"the command fails before the rewrite already: {before.why()}")
        # The new side may make more calls; none that the old one makes may be missed.
        new = replace(old, folder=folder / "after", python=None, budget=2 * launch.BUDGET)
        after = self._launch(new, "after the rewrite", tick)
        if after.needs_graph and not new.graph:
            # The old side was TF 1.x, where graphs are the default.
            new = replace(new, graph=True)
            after = self._launch(new, "after the rewrite, without eager execution", tick)
        if after.failed:
            if self.before_python is not None and after.status is not None:
                self._blames(new, after, tick)
            detail = f"the command fails after the rewrite: {after.why()}"
            # A run that takes longer shows nothing.
            verdict: Verdict = "UNVERIFIED" if after.status is None else "REFUTED"
            failed = [
                Site(*key, verdict, runs, 0.0, detail) for key, runs in before.log.sites.items()
            ]
            return lines(failed, self.rewritten)
        limits = tolerances(self.before_python is not None, self.device)
        sites: Sequence[Site] = match(
            before.log.calls, after.log.calls, limits, drift=DOUBT, whole=after.log.whole
        )
        if any(site.verdict == "REFUTED" for site in sites):
            tree.copy(self.root, folder / "again", {})
            again = self._launch(replace(old, folder=folder / "again"), "once more before", tick)
            sites = _unsteady(sites, match(before.log.calls, again.log.calls, limits, drift=DOUBT))
        if self.before_python is not None and any(site.verdict == "REFUTED" for site in sites):
            here = self._here(new, tick)
            limits = tolerances(False, self.device)
            if not here.failed:
                whole = after.log.whole
                agreed = match(here.log.calls, after.log.calls, limits, drift=DOUBT, whole=whole)
                sites = _between_versions(sites, agreed)
        return lines(sites, self.rewritten, before.log.sites, before.log.idle)

    def _blames(self, new: launch.Side, after: launch.Ran, tick: Tick) -> None:
        """Makes sure that ``after``, the run of ``new``, failed because of the rewrite.

        Raises:
            CommandError: when the old tree fails in the same way there.
        """
        here = self._here(new, tick)
        same = after.why().replace(str(new.folder), str(_beside(new)))
        if here.failed and (why := here.why()) == same:
            raise CommandError(
                f"the command fails under TensorFlow 2, before the rewrite already: {why}"
            )

    def _here(self, new: launch.Side, tick: Tick) -> launch.Ran:
        """The old tree run where the rewritten one is."""
        old = replace(new, folder=_beside(new))
        tree.copy(self.root, old.folder, {})
        return self._launch(old, "before the rewrite, under TensorFlow 2", tick)

    def _launch(self, side: launch.Side, label: str, tick: Tick) -> launch.Ran:
        return launch.run(self.command, side, self.timeout, lambda: tick(label))


def _beside(new: launch.Side) -> Path:
    return new.folder.parent / "here"


def _between_versions(sites: Iterable[Site], here: Iterable[Site]) -> list[Site]:
    """``sites``, where what was VERIFIED ``here``, under one TensorFlow, refutes no rewrite."""
    agreed = {(site.filename, site.row) for site in here if site.verdict == "VERIFIED"}
    detail = (
        "under TensorFlow 2 it is the same before and after the rewrite, but not what "
        "TensorFlow 1 returns; without --before-python it can be VERIFIED"
    )
    return [
        replace(site, verdict="UNVERIFIED", detail=detail)
        if site.verdict == "REFUTED" and (site.filename, site.row) in agreed
        else site
        for site in sites
    ]


def _unsteady(sites: Iterable[Site], again: Iterable[Site]) -> list[Site]:
    """``sites``, where what differs between two runs of the old tree refutes nothing."""
    shaky = {(site.filename, site.row, site.api) for site in again if site.verdict == "REFUTED"}
    return [
        replace(site, verdict="UNVERIFIED", detail="it returns something else on every run")
        if site.verdict == "REFUTED" and (site.filename, site.row, site.api) in shaky
        else site
        for site in sites
    ]
