"""Fills the ``console`` blocks of the README and of the pages with what the tool prints today.

A block holds lines ``$ tapemigrate …``, each followed by its output. Run it from anywhere after a
change in what the tool says or does::

    python docs/make_output.py
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGES = (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))

_BLOCK = re.compile(r"(?<=^```console\n).*?(?=^```$)", re.DOTALL | re.MULTILINE)
_PROMPT = "$ "


def filled(page: str) -> str:
    """The text of a page with its ``console`` blocks brought up to date."""
    return _BLOCK.sub(lambda block: _session(block[0]), page)


def _session(block: str) -> str:
    commands = [line for line in block.splitlines() if line.startswith(_PROMPT)]
    return "\n".join(f"{line}\n{_output(line.removeprefix(_PROMPT))}" for line in commands)


def _output(command: str) -> str:
    program, *arguments = shlex.split(command)
    if program != "tapemigrate":
        raise ValueError(f"not a command of this tool: {command}")
    done = subprocess.run(
        [sys.executable, "-m", "tapemigrate", *arguments],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "utf-8"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
    )
    # An empty line of context in a diff is one blank, which an editor might take away.
    lines = [line.rstrip() for line in done.stdout.decode().splitlines()]
    return "".join(f"{line}\n" for line in lines)


def main() -> None:
    """Writes all of them."""
    for path in PAGES:
        text = filled(path.read_text(encoding="utf-8"))
        path.write_text(text, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
