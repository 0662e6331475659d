"""Processes that must not outlive the one that has started them."""

from __future__ import annotations

import os
import threading
import time

SECONDS = 1.0


def end_with(process: int) -> None:
    """Ends this process soon after the process with this number has ended, however that came."""
    if os.name == "posix":
        child = os.getppid() == process
        threading.Thread(target=_wait, args=(process, child), daemon=True).start()


def _wait(process: int, child: bool) -> None:
    while _alive(process) and (not child or os.getppid() == process):
        time.sleep(SECONDS)
    os._exit(1)


def _alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return True
