"""Certificates: what was verified, of which sources, with which versions; to be repeated.

Inputs need not be kept: they follow from the seeds.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
from pathlib import Path
from typing import Any

import tapemigrate
from tapemigrate.verify import report
from tapemigrate.verify.cases import SEEDS
from tapemigrate.verify.job import Job, Rewrite, Verdicts
from tapemigrate.verify.seeds import SEED

FORMAT = 1


class CertificateError(Exception):
    """Why a certificate cannot be repeated here."""


@dataclasses.dataclass(frozen=True)
class Certificate:
    """What a verification was and what it found. ``verdicts`` is as the JSON report has it."""

    job: Job
    unsafe_fixes: bool | None
    versions: dict[str, dict[str, Any]]
    sources: list[dict[str, str]]
    verdicts: dict[str, Any]

    @classmethod
    def of(
        cls,
        job: Job,
        unsafe_fixes: bool | None,
        rewrite: Rewrite,
        versions: dict[str, dict[str, Any]],
        verdicts: Verdicts,
    ) -> Certificate:
        """The certificate of a verification that has just been done."""
        return cls(job, unsafe_fixes, versions, _sources(rewrite), report.data(verdicts))

    @classmethod
    def load(cls, path: Path) -> Certificate:
        """Reads a certificate.

        Raises:
            CertificateError: when the file cannot be read, or is not one.
        """
        try:
            data = json.loads(path.read_text("utf-8"))
            if data["format"] != FORMAT:
                raise CertificateError(f"{path}: is of format {data['format']}, not {FORMAT}")
            job = dict(data["job"])
            for key in ("command", "cases"):
                job[key] = tuple(job[key])
            return cls(
                Job(**job),
                data["unsafe_fixes"],
                data["versions"],
                data["sources"],
                data["verdicts"],
            )
        except OSError as error:
            raise CertificateError(f"{path}: {error.strerror or error}") from None
        except (ValueError, KeyError, TypeError):
            raise CertificateError(f"{path}: is not a certificate") from None

    def write(self, path: Path) -> None:
        """Writes it as JSON.

        Raises:
            CertificateError: when the file cannot be written.
        """
        data = {
            "format": FORMAT,
            "tapemigrate": tapemigrate.__version__,
            "versions": self.versions,
            "seeds": {"program": SEED, "inputs": list(SEEDS)},
            "unsafe_fixes": self.unsafe_fixes,
            "job": dataclasses.asdict(self.job),
            "sources": self.sources,
            "verdicts": self.verdicts,
        }
        try:
            path.write_text(json.dumps(data, indent=2) + "\n", "utf-8")
        except OSError as error:
            raise CertificateError(f"{path}: {error.strerror or error}") from None

    def check(self, rewrite: Rewrite) -> None:
        """Makes sure that ``rewrite`` is of the same sources, and the same.

        Raises:
            CertificateError: naming the first file of which that is not so.
        """
        found = {source["filename"]: source for source in _sources(rewrite)}
        for source in self.sources:
            name = source["filename"]
            file = rewrite.root / name
            if not file.is_file():
                raise CertificateError(f"{name}: is no longer there")
            now = _hash(file.read_bytes())
            if now == source["after"]:
                raise CertificateError(
                    f"{name}: is rewritten already; repeat it on the old sources"
                )
            if now != source["before"]:
                raise CertificateError(f"{name}: has changed since")
            if name not in found or found[name]["after"] != source["after"]:
                raise CertificateError(f"{name}: would now be rewritten in another way")

    def changes(self, verdicts: Verdicts) -> list[str]:
        """What a repetition found otherwise, in sentences."""
        now = report.data(verdicts)
        told = []
        for kind, keys in (("calls", ("filename", "row", "api")), ("cases", ("name",))):
            old = {
                tuple(item[key] for key in keys): item["verdict"] for item in self.verdicts[kind]
            }
            new = {tuple(item[key] for key in keys): item["verdict"] for item in now[kind]}
            for item in sorted(old.keys() | new.keys(), key=str):
                if old.get(item) != new.get(item):
                    name = ":".join(map(str, item))
                    told.append(
                        f"{name}: was {old.get(item, 'not seen')}, is {new.get(item, 'not seen')}"
                    )
        return told


def _sources(rewrite: Rewrite) -> list[dict[str, str]]:
    return [
        {
            "filename": path.relative_to(rewrite.root).as_posix(),
            "before": _hash(path.read_bytes()),
            "after": _hash(new),
        }
        for path, new in sorted(rewrite.changes.items())
    ]


def _hash(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
