"""What the start of a command costs: what it must not load."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

# What a start does without: each of them took longer than the whole of such a file.
UNNEEDED = {"tomllib", "tomli", "pathlib", "hashlib", "urllib", "json", "pathspec"}
# Nor does it need what looks for callers in other files.
UNNEEDED |= {"tapemigrate.running.gathering", "tapemigrate.running.words"}


def test_a_check_of_one_file_loads_little(tmp_path: Path) -> None:
    path = tmp_path / "call.py"
    path.write_text("import tensorflow as tf\n\n\ndef f(x):\n    return tf.gradients(x * x, x)\n")
    code = (
        "import sys\nfrom tapemigrate.cli import main\n"
        f"try:\n    main(['check', '--quiet', '--no-cache', {str(path)!r}])\n"
        "except SystemExit as done:\n    print(done.code)\nprint(*sys.modules)\n"
    )
    command = [sys.executable, "-S", "-c", code]
    paths = [entry for entry in sys.path if entry]
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        check=True,
        env={"PYTHONPATH": ":".join(paths), "PATH": ""},
    )
    *told, status, loaded = done.stdout.splitlines()
    assert (status, any("TM101" in line for line in told)) == ("1", True)
    assert not UNNEEDED & set(loaded.split())
