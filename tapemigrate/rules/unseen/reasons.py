"""Why a tape would not see what ``tf.gradients`` sees, by the words that tell of it in a file."""

from __future__ import annotations

from dataclasses import replace

from tapemigrate.rules.unseen.collected import ASKING
from tapemigrate.rules.unseen.rewired import REWIRING_WORDS
from tapemigrate.tape.request import Refusal

OVERRIDING = "Give the op its gradient with `@tf.custom_gradient` instead; then a tape sees it."
WHOLE_FILE = {
    "gradient_override_map": Refusal(
        "the file uses `gradient_override_map`, which a tape ignores without a word", OVERRIDING
    ),
    "caching_device": Refusal(
        "the file makes variables with `caching_device`, whose cached copies a tape does not see",
        "Drop `caching_device`; a tape then watches the variables themselves.",
    ),
    "set_caching_device": Refusal(
        "the file sets the `caching_device` of a variable scope, whose cached copies a tape does "
        "not see",
        "Drop `set_caching_device()`; a tape then watches the variables themselves.",
    ),
    "use_resource": Refusal(
        "the file makes reference variables (`use_resource=False`), which no tape can watch",
        "Drop `use_resource=False`: TensorFlow 2 makes resource variables.",
    ),
    "disable_resource_variables": Refusal(
        "the file turns resource variables off, and no tape can watch reference variables",
        "Drop `disable_resource_variables()`.",
    ),
    "disable_control_flow_v2": Refusal(
        "the file turns control flow v2 off, and a tape cannot see through the old control flow",
        "Drop `disable_control_flow_v2()`.",
    ),
}
# Functions of libraries that do what no tape sees: where they come from, and what they do. The
# libraries are rarely at hand themselves.
RUNS_OVERRIDDEN = "which runs ops under `gradient_override_map`; a tape ignores that"
IS_DEFUN = "which calls a `Defun`; a tape does not see through that"
IN_LIBRARIES = {
    **dict.fromkeys(("gradient_override_map", "use_gradient"), ("lucid.", RUNS_OVERRIDDEN)),
    "as_tensorflow_layer": ("odl.", RUNS_OVERRIDDEN),
    **dict.fromkeys(("gdn", "GDN"), ("tensorflow.contrib.", RUNS_OVERRIDDEN)),
    **dict.fromkeys(
        ("scale_gradient", "scaled_softplus", "functional_rnn", "bidirectional_functional_rnn"),
        ("tensorflow.contrib.", IS_DEFUN),
    ),
}
# What ``gradient_override_map`` does, done by hand; said of a file, or of what it defines.
OP_TYPE = "_gradient_op_type"
SET_BY_HAND = "sets by hand which gradient an op has, which a tape ignores without a word"
CHANGED = {
    "_gradient_override_map": SET_BY_HAND,
    OP_TYPE: SET_BY_HAND,
    **dict.fromkeys(
        ("_gradient_registry", "gradient_registry"),
        "changes which function the registry has for the gradient of an op, and a tape hands that "
        "function no whole op",
    ),
}
IMPORTS = Refusal(
    "the file imports a graph, whose ops a tape does not record",
    "Keep `tf.compat.v1.gradients` in a v1 graph, or load the model with `tf.saved_model.load` "
    "and call it under a tape.",
)
IMPORTING = frozenset({"import_graph_def", "import_meta_graph"})
# What makes tensors, or hands them out, where no tape of this place can see it.
BY_NAME = Refusal(
    "tensors are looked up in the graph, by name or by walking it, and where they were made cannot "
    "be followed",
    "Keep the tensors in variables of your own, and open the tape where they are computed.",
)
INITIAL = Refusal(
    "it reads `initial_value`, the very tensor that a variable was made of, which may have been "
    "computed where no tape is",
    "Keep that tensor in a variable of your own, and use it by its name.",
)
LIFTED = Refusal(
    "ops are made under `init_scope`, where no tape records",
    "Compute them outside of `tf.init_scope()`, under the tape.",
)
THREADS = Refusal(
    "the forward pass runs in another thread, where a tape does not record",
    "Run the forward pass in the thread that opens the tape.",
)
RAW_OPS = Refusal(
    "the forward pass makes ops that a tape does not record",
    "Use the Python function of the op, or call a loaded `SavedModel` under the tape.",
)
KERAS = Refusal(
    "the forward pass is made of symbolic Keras tensors, which no tape can record",
    "Make an input of your own and call the model on it under the tape: "
    "`with tf.GradientTape() as tape: tape.watch(x); y = model(x)`.",
)
#: What finds tensors in the graph by their names.
LOOKING_UP = ("get_operation_by_name", "get_tensor_by_name", "get_operations")
IMPORTED = replace(IMPORTS, reason="it imports a graph, whose ops a tape does not record")
UNSEEN = {
    **dict.fromkeys(IMPORTING, IMPORTED),
    "get_tensor_by_name": BY_NAME,
    "get_operation_by_name": BY_NAME,
    "get_operations": BY_NAME,
    "as_graph_element": BY_NAME,
    "consumers": BY_NAME,
    "initial_value": INITIAL,
    "init_scope": LIFTED,
    "create_op": RAW_OPS,
    "NodeDef": RAW_OPS,
    "exec": RAW_OPS,
    "graph_replace": RAW_OPS,
    "copy_with_input_replacements": RAW_OPS,
    "Thread": THREADS,
    "ThreadPoolExecutor": THREADS,
    "ThreadPool": THREADS,
    "Input": KERAS,
    "total_loss": KERAS,
}
#: A file without one of these words looks up no tensor by name, and does not walk the graph.
WALKING = tuple(word for word, why in UNSEEN.items() if why is BY_NAME)
KERAS_ENDS = frozenset({"output", "outputs", "input", "inputs"})
DEFUN = Refusal(
    "it calls what is defined with `Defun`, and a tape does not see through that",
    "Turn the `Defun` into a `tf.function` (with `@tf.custom_gradient` for its own gradient).",
)
CACHING = Refusal(
    "it makes variables with `caching_device`, whose cached copies a tape does not see",
    "Drop `caching_device`; a tape then watches the variables themselves.",
)
REFERENCES = Refusal(
    "it makes reference variables (`use_resource=False`), which no tape can watch",
    "Drop `use_resource=False`: TensorFlow 2 makes resource variables.",
)
# What makes a function that holds it dangerous for the files that import that function.
SPREADING = {
    "gradient_override_map": Refusal(
        "it runs ops under `gradient_override_map`, which a tape ignores without a word",
        OVERRIDING,
        overrides=True,
    ),
    **dict.fromkeys(IMPORTING, IMPORTED),
    **dict.fromkeys(LOOKING_UP, BY_NAME),
    "set_caching_device": CACHING,
}
OVERRIDE = "gradient_override_map"
#: What is said of a function that is called where a ``with`` statement does such a thing.
UNDER = {
    OVERRIDE: Refusal(f"under `{OVERRIDE}`, which a tape ignores without a word", OVERRIDING),
    "caching_device": Refusal(
        "in a scope with `caching_device`, and a tape does not see the copies that it caches",
        "Drop `caching_device`; a tape then watches the variables themselves.",
    ),
}
HUB = "tensorflow_hub"
#: A file without one of these words holds no such function.
MARKS = (
    frozenset(SPREADING)
    | frozenset(CHANGED)
    | frozenset(IN_LIBRARIES)
    | REWIRING_WORDS
    | {
        *("create_op", "NodeDef", "Operation", "Defun", HUB, "saved_model"),
        *("graph_replace", "copy_with_input_replacements", "caching_device"),
        *("use_resource", "set_use_resource"),
        *ASKING,
    }
)

#: Those of them that are hardly ever meant otherwise: who calls what holds one is followed further.
MAKING = MARKS - ASKING - {"Operation", "saved_model", HUB, "scale_gradient", "quantize"}

HUB_MODULE = f"{HUB}.Module"

# In a file without one of these words ``_call``, ``_taint`` and ``hidden`` find nothing.
MAKING_OPS = (HUB, "saved_model", "Operation")
TAINTING = (
    *(*MAKING_OPS, *IN_LIBRARIES),
    *(word for word, why in UNSEEN.items() if why is not KERAS),
)
BY_HAND = (
    *(*MAKING_OPS, *SPREADING, *CHANGED, *IN_LIBRARIES, *REWIRING_WORDS, "Defun", "caching_device"),
    "use_resource",
    *(word for word, why in UNSEEN.items() if why is RAW_OPS),
)
PATCHED = ("gradients", "hessians", "tensorflow.gradients", "tensorflow.compat.v1.gradients")
REPLACED = Refusal(
    "the file replaces the gradient function by another one, so what the call means is not fixed",
    "Remove the replacement first.",
)
