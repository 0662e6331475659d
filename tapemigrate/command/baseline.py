"""A baseline: the findings that a project has accepted, so that only new ones fail.

The file is JSON, made for reading and merging: by path, one finding a line::

    {
      "version": 1,
      "findings": {
        "src/a.py": [
          {"code": "TM101", "text": "g = tf.gradients(y, x)[0]", "count": 1}
        ]
      }
    }

A finding is known by its code, its path (relative to the project's folder), the text of its lines
with every run of blanks as one, and how often these three occur. So it stays known when lines
above it come or go.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

from tapemigrate.reports.common import relative
from tapemigrate.settings import ALWAYS_REPORTED
from tapemigrate.source.writing import write_file

if TYPE_CHECKING:
    from tapemigrate.model import Diagnostic
    from tapemigrate.results import FileResult, Outcome
    from tapemigrate.runner import SettingsFor

VERSION = 1

# A longer text is cut, and told apart from others by its digest.
_LONGEST = 200


class BaselineError(Exception):
    """A baseline that cannot be read or written: one line that names the file and the way out."""


class Known(NamedTuple):
    """What makes a finding the same one as before."""

    path: str
    code: str
    text: str


@dataclass(frozen=True, slots=True)
class Baseline:
    """How often each finding is known, by the file at ``path``.

    ``root`` is the folder to which the paths of the findings are relative.
    """

    path: str
    root: str
    counts: Mapping[Known, int]

    def without_known(self, outcome: Outcome) -> Outcome:
        """``outcome`` with what is new alone; of several alike, the first ones are the known."""
        left = Counter(self.counts)
        before = left.total()
        results = []
        for result in outcome.results:
            new = []
            for each in result.diagnostics:
                known = _known(each, result, self.root)
                if known is not None and left[known] > 0:
                    left[known] -= 1
                else:
                    new.append(each)
            results.append(replace(result, diagnostics=tuple(new)))
        return replace(outcome, results=results, known=before - left.total())

    def without_mended(
        self, outcome: Outcome, paths: Iterable[str], settings_for: SettingsFor
    ) -> Baseline:
        """The baseline without what ``outcome`` (the whole, known findings too) no longer has.

        What the run did not look at stays: files outside of ``paths``, and codes that the settings
        turn off.
        """
        found = of(outcome, self.path, self.root).counts
        looked_at = {relative(name, self.root): name for name in outcome.files}
        folders = [path for path in paths if os.path.isdir(path)]
        counts = {}
        for known, count in self.counts.items():
            name = looked_at.get(known.path)
            if name is None:
                mended = _is_gone(known.path, self.root, folders)
            else:
                mended = settings_for(name).enabled(known.code, name)
            left = min(count, found.get(known, 0)) if mended else count
            if left:
                counts[known] = left
        return replace(self, counts=counts)

    def applied(
        self, outcome: Outcome, paths: Iterable[str], settings_for: SettingsFor, *, shrink: bool
    ) -> tuple[Outcome, BaselineError | None]:
        """What is new in ``outcome``, and why the file could not be made shorter, if it had to be.

        With ``shrink``, it gets shorter by what was mended, when there is nothing new: a baseline
        for other paths than those of this run must not be lost.
        """
        new = self.without_known(outcome)
        if new.diagnostics or not shrink:
            return new, None
        shorter = self.without_mended(outcome, paths, settings_for)
        mended = sum(self.counts.values()) - sum(shorter.counts.values())
        if mended:
            try:
                shorter.save()
            except BaselineError as error:
                return new, error
            new.notes.append(f"{self.path}: {mended} known before and mended since, taken out")
        return new, None

    def written(self, outcome: Outcome) -> tuple[Outcome, BaselineError | None]:
        """What is left to tell of ``outcome`` once this baseline, made from it, is written.

        It is not written where a file could not be analysed: what that file holds would be missing,
        and what was known of it before would be lost.
        """
        left = self.without_known(outcome)
        failed = {each.filename for each in left.diagnostics}
        if failed:
            what = "a file" if len(failed) == 1 else f"{len(failed)} files"
            why = f"{what} could not be processed; mend it, or leave it out with extend-exclude"
            return left, BaselineError(f"{self.path}: not written: {why}")
        try:
            self.save()
        except BaselineError as error:
            return outcome, error
        left.notes.append(f"{self.path}: {left.known} written")
        return left, None

    def save(self) -> None:
        """Writes the file, in one step.

        Raises:
            BaselineError: when it cannot be written; what was there is then as it was.
        """
        by_path: dict[str, list[str]] = {}
        for known, count in sorted(self.counts.items()):
            item = {"code": known.code, "text": known.text, "count": count}
            by_path.setdefault(known.path, []).append(json.dumps(item))
        files = ",\n".join(
            "    {}: [\n      {}\n    ]".format(json.dumps(name), ",\n      ".join(items))
            for name, items in by_path.items()
        )
        findings = f"{{\n{files}\n  }}" if files else "{}"
        text = f'{{\n  "version": {VERSION},\n  "findings": {findings}\n}}\n'
        try:
            write_file(self.path, text.encode())
        except OSError as error:
            why = error.strerror or str(error)
            raise BaselineError(f"{self.path}: cannot be written: {why}") from None


def of(outcome: Outcome, path: str, root: str) -> Baseline:
    """What ``outcome`` found, as a baseline for the file at ``path``."""
    counts: Counter[Known] = Counter()
    for result in outcome.results:
        found = (_known(each, result, root) for each in result.diagnostics)
        counts.update(known for known in found if known is not None)
    return Baseline(path, root, counts)


def load(path: str, root: str) -> Baseline:
    """The baseline in the file at ``path``.

    Raises:
        BaselineError: when it cannot be read, or is not a baseline of this version.
    """
    try:
        with open(path, "rb") as stream:
            data = json.loads(stream.read().decode())
    except FileNotFoundError:
        raise BaselineError(f"{path}: does not exist; --write-baseline makes it") from None
    except OSError as error:
        raise BaselineError(f"{path}: cannot be read: {error.strerror or error}") from None
    except (ValueError, RecursionError) as error:
        raise BaselineError(f"{path}: is no baseline: it is not valid JSON: {error}") from None
    version = data.get("version") if isinstance(data, dict) else None
    if type(version) is not int:
        raise BaselineError(f"{path}: is no baseline; --write-baseline makes one")
    if version != VERSION:
        raise BaselineError(
            f"{path}: is a baseline of version {version}, and this program reads version "
            f"{VERSION}; make it again with --write-baseline"
        )
    try:
        return Baseline(path, root, dict(_entries(data["findings"])))
    except (AttributeError, KeyError, TypeError):
        raise BaselineError(
            f"{path}: is a damaged baseline; make it again with --write-baseline"
        ) from None


def _entries(
    findings: Mapping[str, Collection[Mapping[str, object]]],
) -> Iterable[tuple[Known, int]]:
    for name, items in findings.items():
        for item in items:
            code, text, count = item["code"], item["text"], item["count"]
            if not isinstance(code, str) or not isinstance(text, str) or type(count) is not int:
                raise TypeError
            yield Known(name, code, text), count


def _known(each: Diagnostic, result: FileResult, root: str) -> Known | None:
    if each.code in ALWAYS_REPORTED:
        return None
    rows = range(each.location.row, each.end_location.row + 1)
    text = " ".join(" ".join(result.lines.get((each.cell, row), "") for row in rows).split())
    if len(text) > _LONGEST:
        digest = hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()
        text = f"{text[: _LONGEST // 2]}… {digest}"
    return Known(relative(each.filename, root), each.code, text)


def _is_gone(path: str, root: str, folders: Iterable[str]) -> bool:
    """Whether the file is not there any more, though it would have been found in a folder."""
    full = os.path.join(os.path.abspath(root), *path.split("/"))
    inside = any(full.startswith(os.path.join(os.path.abspath(folder), "")) for folder in folders)
    return inside and not os.path.lexists(full)
