"""Optional parameters: what callers give for them, if nobody else may give something."""

from __future__ import annotations

import ast

import pytest

from tapemigrate.rules.kept_units import unit
from tapemigrate.rules.project import Project
from tapemigrate.rules.values.plain.optional import given_for
from tapemigrate.source.decoding import SourceFile
from tapemigrate.tape.ops.kinds import Make

PROGRAM = """\
import functools

import tensorflow as tf

from others import wrapped


{decorator}
def gradients(loss, var_list=None):
    return tf.gradients(loss, var_list or tf.trainable_variables())


def run():
    return gradients(tf.constant(1.0){given})
"""
GIVEN = {
    "nothing": ("", "", {Make.PYTHON}),
    "trainable variables": ("", ", tf.trainable_variables()", {Make.VARIABLES}),
    "something else": ("", ", other()", set[Make]()),
    "a decorator of the user's own": ("@wrapped", "", set[Make]()),
}


@pytest.mark.parametrize("name", GIVEN)
def test_what_all_callers_give(name: str) -> None:
    decorator, given, makes = GIVEN[name]
    here = unit(SourceFile("a.py", PROGRAM.format(decorator=decorator, given=given)))
    project = Project({"a.py": here}, [], (), False, {"a.py"})
    function = next(f for f in here.nodes(ast.FunctionDef) if f.name == "gradients")
    assert given_for(project, project.view(here, function), "var_list") == makes
