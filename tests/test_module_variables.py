"""Names at module level that are variables, and what may make something else of them."""

from __future__ import annotations

import pytest

from tapemigrate.rules.kept_units import unit
from tapemigrate.rules.project import Project
from tapemigrate.rules.values.variables.module_variables import are_variables
from tapemigrate.source.decoding import SourceFile

PLAIN = "import tensorflow as tf\n\nW = tf.Variable(1.0)\n"
SINCE = {
    "nothing": ("x = 1\n", True),
    "an attribute of another name": ("setattr(tf, 'V', 2.0)\n", True),
    "a star before": ("", True),
    "a star after": ("from others import *\n", False),
    "a text": ("import sys\nsetattr(sys.modules[__name__], 'W', 2.0)\n", False),
    "an assignment": ("W = tf.square(W)\n", False),
    "globals": ("globals().update(W=2.0)\n", False),
}


@pytest.mark.parametrize("name", SINCE)
def test_a_variable_stays_one(name: str) -> None:
    more, expected = SINCE[name]
    before = "from others import *\n" if name == "a star before" else ""
    here = unit(SourceFile("model.py", before + PLAIN + more))
    project = Project({"model.py": here}, [], (), False, {"model.py"})
    assert are_variables(project, here, "W") is expected
