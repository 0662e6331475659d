"""Public names of what TensorFlow's own modules define: ``array_ops.split`` is ``tf.split``.

Files written inside TensorFlow, or after its tests, import from there.
Where a module's functions are exported stands in the ``tf_export`` calls of its source:
https://github.com/tensorflow/tensorflow/tree/r1.15/tensorflow/python
"""

from __future__ import annotations

_TOP = (
    *("array_ops", "check_ops", "clip_ops", "cond_v2", "control_flow_ops", "custom_gradient"),
    *("data_flow_ops", "functional_ops", "gen_array_ops", "gen_math_ops", "gradients"),
    *("gradients_impl", "init_ops", "io_ops", "linalg_ops", "logging_ops", "map_fn", "math_ops"),
    *("parsing_ops", "partitioned_variables", "random_ops", "resource_variable_ops"),
    *("script_ops", "sparse_ops", "special_math_ops", "state_ops", "string_ops", "template"),
    *("tensor_array_ops", "variable_scope", "variables", "while_loop"),
)
_NN = ("candidate_sampling_ops", "ctc_ops", "embedding_ops", "nn", "nn_impl", "nn_ops", "rnn")
_PUBLIC = {
    **{f"python.ops.{module}": "" for module in _TOP},
    **{f"python.ops.{module}": "nn." for module in _NN},
    **{f"python.ops.{module}": "nn.rnn_cell." for module in ("rnn_cell", "rnn_cell_impl")},
    **{f"python.ops.losses.{module}": "losses." for module in ("losses", "losses_impl")},
    **{f"python.ops.{module}": "image." for module in ("image_ops", "image_ops_impl")},
    "python.ops.linalg.linalg": "linalg.",
    "python.framework.constant_op": "",
    "python.framework.importer": "",
    "python.framework.ops": "",
    "python.framework.random_seed": "",
    "python.framework.sparse_tensor": "",
    "python.client.session": "",
    "python.layers.layers": "layers.",
    "python.platform.tf_logging": "logging.",
}


def public(name: str) -> str:
    """``python.ops.array_ops.split`` → ``split``; any other name comes back as it is."""
    module, _, last = name.rpartition(".")
    prefix = _PUBLIC.get(module)
    return name if prefix is None else prefix + last
