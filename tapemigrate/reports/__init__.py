"""The forms in which diagnostics are told, one module for each."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module

from tapemigrate.model import Diagnostic

FORMATS = ("full", "concise", "json", "sarif", "github", "gitlab", "junit")


@dataclass(frozen=True, slots=True)
class Report:
    """What is to be told.

    ``lines`` holds source lines by file name, cell (None outside notebooks) and row. ``root`` is
    the project's folder, to which the paths are relative in the formats that other programs read.
    """

    diagnostics: Sequence[Diagnostic]
    lines: Mapping[tuple[str, int | None, int], str] = field(default_factory=dict, hash=False)
    root: str = ""
    color: bool = False

    def line(self, diagnostic: Diagnostic) -> str:
        """The source line on which ``diagnostic`` begins, without its newline."""
        place = (diagnostic.filename, diagnostic.cell, diagnostic.location.row)
        line = self.lines.get(place, "")
        return line.rstrip("\r\n")


def render(output_format: str, report: Report) -> str:
    """``report`` in one of ``FORMATS``; empty where that format has nothing to say."""
    module = import_module(f"tapemigrate.reports.{output_format}")
    renderer: Callable[[Report], str] = module.render
    return renderer(report)
