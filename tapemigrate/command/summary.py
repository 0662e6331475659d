"""What a run came to, in sentences and in a table."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence

from tapemigrate.model import Diagnostic
from tapemigrate.patterns import late
from tapemigrate.reports.common import printable
from tapemigrate.results import Outcome
from tapemigrate.rules import catalog
from tapemigrate.settings import ALWAYS_REPORTED

_MOST_REASONS = 5
# What is told of one finding alone: names, but for those of TensorFlow, and places.
_OWN = late(r"`[^`]+`|\blines? \d+(?: to \d+)?|\bcells? \d+|\S+\.(?:py|ipynb)\b")

_TENSORFLOW = late(r"`tf[\w.]*`")


def of_fix(outcome: Outcome, *, written: bool) -> list[str]:
    """What ``fix`` did (``written``) or would do, and what it leaves."""
    changed = [result for result in outcome.results if result.new is not None]
    mended = [each for result in changed for each in result.mended]
    sentences = []
    if changed:
        sentences.append(f"{_deeds(mended, written)} in {_counted(len(changed), 'file')}")
    left = outcome.diagnostics
    unsafe = [each for each in left if _applicability(each) == "unsafe"]
    safe = [each for each in left if _applicability(each) == "safe"]
    if safe:
        verified = any(each.proof is not None for each in safe)
        sentences.append(
            f"{len(safe)} more {'without --verify' if verified else 'with another run'}"
        )
    if unsafe:
        need = "needs" if len(unsafe) == 1 else "need"
        sentences.append(f"{len(unsafe)} {need} --unsafe-fixes")
    return _with_the_rest(sentences, outcome, "Nothing to rewrite")


def of_silence(outcome: Outcome) -> list[str]:
    """What ``check --add-noqa`` did."""
    changed = [result for result in outcome.results if result.new is not None]
    sentences = []
    if changed:
        silenced = sum(len(result.mended) for result in changed)
        sentences.append(
            f"Silenced {_counted(silenced, 'problem')} in {_counted(len(changed), 'file')}"
        )
    return _with_the_rest(sentences, outcome, "Nothing to silence")


def of_check(outcome: Outcome) -> list[str]:
    """What ``check`` found."""
    found = _analysed(outcome.diagnostics)
    sentences = []
    if found:
        files = len({each.filename for each in found})
        noun = "new problem" if outcome.known else "problem"
        sentences.append(f"Found {_counted(len(found), noun)} in {_counted(files, 'file')}")
        counts = Counter(_applicability(each) for each in found)
        if counts["safe"]:
            sentences.append(f"{counts['safe']} can be fixed with `tapemigrate fix`")
        if counts["unsafe"]:
            sentences.append(f"{counts['unsafe']} with --unsafe-fixes")
    nothing = "Nothing new to migrate" if outcome.known else "Nothing to migrate"
    return _with_the_rest(sentences, outcome, nothing)


def statistics(outcome: Outcome) -> str:
    """A table: for every code, how many there are and how they can be mended."""
    rows: list[tuple[str, ...]] = [("code", "total", "fixed", "safe", "unsafe", "flag", "rule")]
    mended = [each for result in outcome.results for each in result.mended]
    totals: Counter[str] = Counter()
    by_code: dict[str, Counter[str]] = {}
    for kind, each in [("fixed", each) for each in mended] + [
        (_applicability(each), each) for each in outcome.diagnostics
    ]:
        by_code.setdefault(each.code, Counter())[kind] += 1
        totals[kind] += 1
    kinds = ("fixed", "safe", "unsafe", "flag")
    for code, counts in sorted(by_code.items()):
        cells = [str(counts[kind]) for kind in kinds]
        rows.append((code, str(counts.total()), *cells, catalog.rule(code).name))
    cells = [str(totals[kind]) for kind in kinds]
    rows.append(("all", str(totals.total()), *cells, ""))
    if not mended:
        rows = [(*row[:2], *row[3:]) for row in rows]
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = []
    for row in rows:
        first, *numbers, last = row
        shown = [first.ljust(widths[0])]
        shown += [cell.rjust(width) for cell, width in zip(numbers, widths[1:-1], strict=True)]
        lines.append("  ".join([*shown, last]).rstrip())
    return "\n".join(lines) + "\n"


def _with_the_rest(sentences: list[str], outcome: Outcome, nothing: str) -> list[str]:
    flagged = [each for each in _analysed(outcome.diagnostics) if _applicability(each) == "flag"]
    if flagged:
        need = "needs" if len(flagged) == 1 else "need"
        sentences.append(f"{len(flagged)} {need} a look")
    unread = [each for each in outcome.diagnostics if each.code in ALWAYS_REPORTED]
    # Of a notebook, the cells that do parse are processed.
    cells = [each for each in unread if each.code == "TM901" and each.cell is not None]
    if cells:
        sentences.append(f"{_counted(len(cells), 'cell')} could not be read")
    failed = len({each.filename for each in unread if each not in cells})
    if failed:
        sentences.append(f"{_counted(failed, 'file')} could not be processed")
    if not outcome.seen and not failed:
        return ["No Python files found."]
    if not sentences:
        sentences.append(f"{nothing} in {_counted(outcome.seen, 'file')}")
    if outcome.known:
        sentences.append(f"{outcome.known} known from the baseline")
    line = "; ".join(sentences)
    line = line[0].upper() + line[1:]
    reasons = _reasons(flagged)
    return [f"{line}{':' if reasons else '.'}", *reasons]


def _reasons(flagged: Sequence[Diagnostic]) -> list[str]:
    """The most frequent ones. Those that differ in names and places only are one."""
    groups: dict[tuple[str, str], list[Diagnostic]] = {}
    for each in flagged:
        groups.setdefault((each.code, _OWN.sub(_kept, each.message)), []).append(each)
    ranked = sorted(groups.items(), key=lambda item: (-len(item[1]), item[0]))
    lines = []
    for (code, why), group in ranked[:_MOST_REASONS]:
        messages = {each.message for each in group}
        told = printable(messages.pop()) if len(messages) == 1 else why
        lines.append(f"  {len(group)} × {code}: {told}")
    others = sum(len(group) for _, group in ranked[_MOST_REASONS:])
    if others:
        lines.append(f"  and {others} more")
    return lines


def _kept(match: re.Match[str]) -> str:
    return match[0] if _TENSORFLOW.fullmatch(match[0]) else "…"


def _deeds(mended: Iterable[Diagnostic], written: bool) -> str:
    """What was done to ``mended``. Notes on a call's arguments (TM2xx) go with their call."""
    kinds = Counter(_kind(each.code) for each in mended)
    what = []
    if kinds["call"]:
        what.append(_counted(kinds["call"], "call"))
    if kinds["place"]:
        what.append(_counted(kinds["place"], "other place" if what else "place"))
    if not what:
        verb = "Removed" if written else "Would remove"
        return f"{verb} {_counted(kinds['suppression'], 'unused suppression')}"
    return f"{'Rewrote' if written else 'Would rewrite'} {' and '.join(what)}"


def _kind(code: str) -> str:
    if code == "TM910":
        return "suppression"
    if code.startswith("TM2"):
        return "argument"
    # Imports, variables and other symbols (TM116), and tapes that are there already (TM3xx).
    return "place" if code == "TM116" or code.startswith("TM3") else "call"


def _analysed(diagnostics: Iterable[Diagnostic]) -> list[Diagnostic]:
    return [each for each in diagnostics if each.code not in ALWAYS_REPORTED]


def _applicability(each: Diagnostic) -> str:
    if each.fix is None or each.fix.applicability == "display":
        return "flag"
    return each.fix.applicability


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
