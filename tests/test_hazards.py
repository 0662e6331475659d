"""Each word by which a file says that a tape would miss something, by itself."""

from __future__ import annotations

import pytest

from tapemigrate.api import analyse
from tapemigrate.settings import Settings
from tapemigrate.source import SourceFile

HEAD = """
import concurrent.futures
import multiprocessing.pool
import tensorflow as tf
import tensorflow_hub as hub
from tensorflow.contrib import graph_editor
"""
LOCAL = """
{before}

def helper(x):
    return {made}


def slope():
    x = tf.constant([1.0, 2.0])
    y = helper(x) * x
    return tf.gradients(y, x)[0]
"""


def is_safe(files: dict[str, str]) -> bool:
    sources = {name: SourceFile(name, text) for name, text in files.items()}
    found = analyse(sources, Settings(), rewrite=False).diagnostics
    (finding,) = (each for each in found if each.code == "TM101")
    return finding.fix is not None and finding.fix.applicability == "safe"


@pytest.mark.parametrize(
    "made",
    [
        "tf.get_default_graph().get_tensor_by_name('k:0')",
        "tf.get_default_graph().get_operation_by_name('k').outputs[0]",
        "tf.get_default_graph().get_operations()[0].outputs[0]",
        "tf.get_default_graph().as_graph_element('k:0')",
        "tf.get_default_graph().create_op('Sin', [x], [tf.float32]).outputs[0]",
        "tf.Operation(tf.NodeDef(op='Sin', name='s'), tf.get_default_graph(), [x]).outputs[0]",
        "tf.Operation(NODE, tf.get_default_graph(), [x]).outputs[0]",
        "graph_editor.graph_replace(K, {A: x})",
        "graph_editor.copy_with_input_replacements(K, {A: x})",
        "multiprocessing.pool.ThreadPool(1).map(tf.sin, [x])[0]",
        "concurrent.futures.ThreadPoolExecutor().submit(tf.sin, x).result()",
        "tf.saved_model.load('model')(x)",
        "hub.Module('model')(x)",
        "tf.import_graph_def(GRAPH, {'x': x}, ['y:0'])[0]",
        "tf.get_collection('losses')[0]",
        "tf.losses.get_total_loss()",
    ],
)
def test_what_runs_out_of_sight(made: str) -> None:
    assert not is_safe({"a.py": HEAD + LOCAL.format(before="", made=made)})


@pytest.mark.parametrize(
    "before",
    [
        "tf.disable_resource_variables()",
        "tf.disable_control_flow_v2()",
        "w = tf.get_variable('w', [2], use_resource=False)",
        "w = tf.get_variable('w', [2], caching_device='/cpu:0')",
        "tf.get_default_graph().gradient_override_map({'Sin': 'Cos'})",
        "tf.get_default_graph()._gradient_override_map['Sin'] = 'Cos'",
        "op._set_attr('_gradient_op_type', kind)",
        "ops._gradient_registry._registry['Sin'] = tf.cos",
        "ops.gradient_registry._registry.pop('Sin')",
        "tf.gradients = other",
        "tf.hessians = other",
        "tf.__dict__['gradients'] = other",
        "tf.__dict__['hessians'] = other",
        "mock.patch('tensorflow.gradients', other).start()",
        "mock.patch('tensorflow.compat.v1.gradients', other).start()",
        "mock.patch.object(tf, 'gradients', other).start()",
        "setattr(tf, 'gradients', other)",
        "@function.Defun(tf.float32)\ndef own(x):\n    return x",
        "own = function.Defun(tf.float32)(other)",
    ],
)
def test_what_changes_the_whole_file(before: str) -> None:
    assert not is_safe({"a.py": HEAD + LOCAL.format(before=before, made="tf.sin(x)")})


@pytest.mark.parametrize(
    "before",
    [
        "",
        "tf.get_variable('w', [2], caching_device=None)",
        "tf.get_variable('w', [2], use_resource=True)",
        "'Sin' in ops._gradient_registry.list()",
        "setattr(tf, 'other', 3)",
    ],
)
def test_what_changes_nothing(before: str) -> None:
    assert is_safe({"a.py": HEAD + LOCAL.format(before=before, made="tf.sin(x)")})


@pytest.mark.parametrize(
    "made",
    [
        "tf.Operation(NODE, tf.get_default_graph(), [x]).outputs[0]",
        "tf.NodeDef(op='Sin')",
        "graph_editor.graph_replace(K, {A: x})",
        "graph_editor.copy_with_input_replacements(K, {A: x})",
        "tf.saved_model.load('model')(x)",
        "hub.Module('model')(x)",
        "tf.contrib.layers.gdn(x)",
        "tf.contrib.layers.GDN()(x)",
        "tf.contrib.rnn.bidirectional_functional_rnn(CELL, CELL, x)",
    ],
)
def test_what_functions_of_other_files_run(made: str) -> None:
    helper = f"{HEAD}\n\ndef helper(x):\n    return {made}\n"
    local = LOCAL.replace("def helper(x):\n    return {made}\n", "").format(before="", made="")
    main = f"{HEAD}from helpers import helper\n{local}"
    assert not is_safe({"helpers.py": helper, "main.py": main})
    assert is_safe({"helpers.py": helper.replace(made, "tf.sin(x)"), "main.py": main})
