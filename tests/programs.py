"""Little programs that the tests of the command line have rewritten."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

LOCAL = """\
import tensorflow as tf


def slope():
    x = tf.constant(3.0)
    y = x * x
    return tf.gradients(y, x)[0]
"""

#: No rewrite can follow it.
FLAGGED = """\
import tensorflow as tf

differentiate = apply(tf.gradients)
"""

BROKEN = """\
import tensorflow as tf

g = tf.gradients(y, x
"""

CLEAN = "x = 1\n"


def tapemigrate(
    *arguments: str | bytes | Path,
    cwd: Path,
    stdin: bytes | None = None,
    timeout: float = 60,
    **environment: str,
) -> subprocess.CompletedProcess[bytes]:
    """Runs the program as a user would, in a process that may take itself down."""
    root = str(Path(__file__).parents[1])
    path = os.pathsep.join([root, *filter(None, [os.environ.get("PYTHONPATH")])])
    return subprocess.run(
        [sys.executable, "-m", "tapemigrate", *arguments],
        cwd=cwd,
        input=stdin,
        stdin=subprocess.DEVNULL if stdin is None else None,
        capture_output=True,
        timeout=timeout,
        env={**os.environ, "PYTHONPATH": path, **environment},
        check=False,
    )


def some_fixtures(folder: Path) -> Path:
    """Copies some fixtures of each family below ``folder``, those of several files as a whole."""
    fixtures = Path(__file__).resolve().parent.parent / "fixtures"
    for family in sorted(each for each in fixtures.iterdir() if each.is_dir()):
        step = 8 if family.name == "threaded" else 24
        entries = (e for e in family.iterdir() if e.suffix != ".json" and "__" not in e.name)
        for entry in sorted(entries)[::step]:
            (folder / family.name).mkdir(parents=True, exist_ok=True)
            copy = shutil.copytree if entry.is_dir() else shutil.copy
            copy(entry, folder / family.name / entry.name)
    return folder
