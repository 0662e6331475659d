"""What the command reads beside a file: no less than its verdict needs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from fixtures.catalogue import Fixture
from tapemigrate.cli import main
from tests.test_fixtures import FIXTURES, fix

OF_SEVERAL = [fixture for fixture in FIXTURES if len(fixture.texts) > 1]


@pytest.mark.parametrize("fixture", OF_SEVERAL, ids=lambda fixture: fixture.name)
def test_the_command_calls_safe_what_all_files_together_do(
    fixture: Fixture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, text in fixture.texts.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    told = ["check", "--no-cache", "--quiet", "--output-format", "json", "."]
    found = json.loads(CliRunner().invoke(main, told).stdout)
    by_command = sorted(
        (
            each["filename"],
            each["location"]["row"],
            each["location"]["column"],
            each["code"],
            (each["fix"] or {}).get("applicability") == "safe",
        )
        for each in found
    )
    together = sorted(
        (
            each.filename,
            each.location.row,
            each.location.column,
            each.code,
            each.fix is not None and each.fix.applicability == "safe",
        )
        for each in fix(fixture.texts, unsafe=False).diagnostics
    )
    assert by_command == together


NETS = """\
import tensorflow as tf


class Net(object):
    hidden = None

    def forward(self, x):
        if self.hidden is None:
            self.hidden = tf.exp(x)
        return self.hidden * x


def make():
    return Net()


TABLE = {"net": Net}
SHARED = Net()
"""
ATTACKS = """\
import tensorflow as tf


def attack(net, x):
    y = net.forward(x)
    return tf.gradients(y, x)[0]
"""
AGENT = """\
import attacks
%s


class Agent(object):
    def __init__(self, x):
        self.x = x
        self.net = %s
        self.before = self.net.forward(x)

    def fool(self):
        return attacks.attack(self.net, self.x)
"""


@pytest.mark.parametrize(
    ("imports", "net"),
    [
        ("from nets import Net", "Net()"),
        ("from nets import Net as Own", "Own()"),
        ("from nets import *", "Net()"),
        ("import nets", "nets.Net()"),
        ("import nets as own", "own.Net()"),
        ("import nets", "nets.make()"),
        ("from nets import make", "make()"),
        ("from nets import TABLE", "TABLE['net']()"),
        ("import nets", "nets.SHARED"),
        ("import nets\n\n\nclass Own(nets.Net):\n    pass", "Own()"),
        ("import nets\n\n\ndef build():\n    return nets.Net()", "build()"),
        ("from others import built", "built()"),
        ("import importlib\nnets = importlib.import_module('nets')", "nets.Net()"),
        ("from importlib import import_module\nmake = import_module('nets').make", "make()"),
    ],
)
def test_however_a_caller_has_the_object_it_is_read(
    imports: str, net: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = {
        "nets.py": NETS,
        "others.py": "import nets\n\n\ndef built():\n    return nets.Net()\n",
        "attacks.py": ATTACKS,
        "agents.py": AGENT % (imports, net),
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    told = ["check", "--no-cache", "--quiet", "--output-format", "json", "."]
    (found,) = json.loads(CliRunner().invoke(main, told).stdout)
    assert (found["filename"], (found["fix"] or {}).get("applicability")) != ("attacks.py", "safe")
