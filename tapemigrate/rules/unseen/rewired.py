"""What changes a graph in place: ``tf.gradients`` walks what has become of it, a tape does not."""

from __future__ import annotations

import ast

from tapemigrate.rules.finding import Unit
from tapemigrate.tape.request import Refusal

_QUANTIZING = ("create_training_graph", "create_eval_graph")
_MOVING = (
    *("ts", "inputs", "outputs", "ios"),
    *("a2b", "b2a", "a2b_ts", "b2a_ts", "a2b_inputs", "b2a_inputs", "a2b_outputs", "b2a_outputs"),
)
_EDITING = (
    *(f"reroute_{what}" for what in _MOVING),
    *(f"swap_{what}" for what in _MOVING[:4]),
    *("connect", "bypass", "detach", "detach_inputs", "detach_outputs"),
)
_HOMES = {
    **dict.fromkeys(_QUANTIZING, "tensorflow.contrib.quantize."),
    **dict.fromkeys(
        (f"experimental_{name}" for name in _QUANTIZING), "tensorflow.contrib.quantize."
    ),
    **dict.fromkeys(_EDITING, "tensorflow.contrib.graph_editor."),
}
_OF_OPS = "_update_input"
#: The last names of what does so.
REWIRING = frozenset(_HOMES) | {_OF_OPS}
#: A file without one of these words holds nothing of the kind.
REWIRING_WORDS = frozenset({"quantize", "graph_editor", _OF_OPS})
#: The same, of which hardly any other file has one.
REWIRING_FILES = frozenset({"graph_editor", _OF_OPS}) | {
    name for name, home in _HOMES.items() if home.endswith("quantize.")
}


def rewires(unit: Unit, node: ast.AST, who: str) -> Refusal | None:
    """Why a tape would miss what the function that ``node`` names makes of the graph."""
    if not isinstance(node, ast.Name | ast.Attribute):
        return None
    name = node.attr if isinstance(node, ast.Attribute) else node.id
    if name not in REWIRING:
        return None
    if name != _OF_OPS and not (unit.names.qualified(node) or "").startswith(_HOMES[name]):
        return None
    return Refusal(
        f"{who} changes the graph in place with `{name}`, and a tape has recorded it as it was",
        "Compute in the first place what the graph is changed to, under the tape; or keep "
        "`tf.compat.v1.gradients` in a v1 graph.",
    )
