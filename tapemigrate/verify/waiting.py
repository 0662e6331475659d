"""What somebody who waits for a run gets to see."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Callable, Iterator


@contextlib.contextmanager
def waiting() -> Iterator[Callable[[str], None]]:
    """Shows on a terminal what is being run, and for how long."""
    if not sys.stderr.isatty():
        yield lambda label: None
        return
    from rich.console import Console

    start: dict[str, float] = {}
    with Console(stderr=True).status("Starting") as status:

        def tick(label: str) -> None:
            seconds = time.monotonic() - start.setdefault(label, time.monotonic())
            status.update(f"Running {label}: {seconds:.0f} s")

        yield tick
