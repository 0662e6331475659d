"""Which names and parts of a module that code reads may be set, by others, to what an op makes."""

from __future__ import annotations

import ast

import pytest

from tapemigrate.rules.kept_units import unit
from tapemigrate.rules.project import Project
from tapemigrate.rules.proof.state.shared_state import SharedState
from tapemigrate.source.decoding import SourceFile

TEXT = """\
import tensorflow as tf


class Config(object):
    h = None


def put(z):
    {}


def decode(z):
    return Config.h * z
"""


def read(setting: str) -> set[str]:
    here = unit(SourceFile("net.py", TEXT.format(setting)))
    project = Project({"net.py": here})
    (decode,) = (f for f in here.definitions if getattr(f, "name", "") == "decode")
    assert isinstance(decode, ast.FunctionDef)
    return set(SharedState().read_by(project, here, decode.body))


@pytest.mark.parametrize(
    "setting", ["Config.h = tf.exp(z)", "Config.h, n = tf.exp(z), 2", "n = Config.h = tf.exp(z)"]
)
def test_what_an_op_makes(setting: str) -> None:
    assert read(setting) == {"Config.h"}


@pytest.mark.parametrize("setting", ["Config.h = 2.0", "Config.h, n = 2.0, tf.exp(z)"])
def test_numbers(setting: str) -> None:
    assert read(setting) == set()
