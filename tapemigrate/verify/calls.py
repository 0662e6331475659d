"""The calls that a rewrite replaces, and what running them has shown."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from tapemigrate.model import Diagnostic
from tapemigrate.verify.compare import Site, worse

Key = tuple[str, int, str]


@dataclass(frozen=True)
class Rewritten:
    """A call that the rewrite replaces: where it stands in the old file, relative to the tree.

    ``diagnostic`` is what was said of it.
    """

    filename: str
    row: int
    end_row: int
    api: str
    diagnostic: Diagnostic | None = None

    def covers(self, filename: str, row: int) -> bool:
        """Whether a call seen at this place is the one."""
        return filename == self.filename and self.row <= row <= self.end_row


@dataclass(frozen=True)
class Line:
    """What is known of a gradient call; ``call`` is None for one that stays as it is."""

    site: Site
    call: Rewritten | None

    @property
    def rewritten(self) -> bool:
        """Whether the rewrite replaces it."""
        return self.call is not None

    @property
    def proved(self) -> bool:
        """Whether there is nothing to worry about."""
        return self.site.verdict == "VERIFIED" or not self.rewritten


def rewritten_calls(diagnostics: Iterable[Diagnostic], root: Path) -> list[Rewritten]:
    """The gradient calls among mended diagnostics: arguments (TM2xx) and names (TM116) are none."""
    return [
        Rewritten(
            Path(each.filename).resolve().relative_to(root).as_posix(),
            each.location.row,
            each.end_location.row,
            each.code,
            each,
        )
        for each in diagnostics
        if is_call(each)
    ]


def is_call(diagnostic: Diagnostic) -> bool:
    """Whether it is about a gradient call of TensorFlow 1."""
    return diagnostic.code.startswith("TM1") and diagnostic.code != "TM116"


def lines(
    compared: Iterable[Site],
    rewritten: Sequence[Rewritten],
    seen: Mapping[Key, int] | None = None,
    idle: Mapping[Key, str] | None = None,
) -> list[Line]:
    """A line for every call that was seen or rewritten.

    ``seen`` counts the runs of the calls of the old program, where more ran than were
    ``compared``; ``idle`` tells why one did not run.
    """
    sites: dict[Key, Site] = {}
    for site in compared:
        key = (site.filename, site.row, site.api)
        sites[key] = worse(sites[key], site) if key in sites else site
    for key, runs in (seen or {}).items():
        blind = Site(*key, "UNVERIFIED", 0, 0.0, (idle or {}).get(key, "nothing was kept of it"))
        sites[key] = replace(sites.get(key, blind), runs=runs)
    told = [
        Line(site, next((call for call in rewritten if call.covers(site.filename, site.row)), None))
        for site in sites.values()
    ]
    for each in rewritten:
        if not any(each.covers(site.filename, site.row) for site in sites.values()):
            filename, detail = each.filename, "it was not reached"
            if each.diagnostic is not None and each.diagnostic.cell is not None:
                filename = f"{filename}:cell {each.diagnostic.cell}"
                detail = "notebooks are not run"
            site = Site(filename, each.row, each.api, "UNVERIFIED", 0, 0.0, detail)
            told.append(Line(site, each))
    return sorted(told, key=lambda line: (line.site.filename, line.site.row))
