"""What names of TensorFlow, and of other libraries, stand for: tables, and how they are read."""

from __future__ import annotations

import sys
from functools import lru_cache

from tapemigrate.tape.ops.internals import public

_TF = ("tensorflow.compat.v1.", "tensorflow.compat.v2.", "tensorflow.")
VARIABLE_LISTS = frozenset(
    {"trainable_variables", "contrib.framework.get_trainable_variables"}
    | {"contrib.slim.get_trainable_variables", "contrib.layers.get_trainable_variables"}
)
ANY_VARIABLE_LISTS = frozenset(
    {"global_variables", "all_variables", "local_variables", "model_variables"}
    | {"moving_average_variables"}
    | {
        f"contrib.{package}.get_{which}"
        for package in ("framework", "slim")
        for which in (
            *("variables", "model_variables", "local_variables", "variables_to_restore"),
            *("variables_by_name", "variables_by_suffix"),
        )
    }
)
#: Of the default graph or of any, what gives the tensors that others have put into a collection.
GETTERS = ("get_collection", "get_collection_ref")
#: What gives an object that others get by the same call.
HAD_BY_ALL = frozenset(
    {"get_default_graph", "get_variable_scope", "get_default_session", "get_session", "getLogger"}
)
# Lists some of the variables that it is given.
FILTERS = frozenset({"contrib.framework.filter_variables", "contrib.slim.filter_variables"})
# What makes a variable whatever scope it stands in.
ALWAYS_VARIABLE = frozenset(
    {"Variable", "contrib.eager.Variable", "ResourceVariable", "VariableV1"}
)
VARIABLE = frozenset(
    {*ALWAYS_VARIABLE, "get_variable", "contrib.framework.variable"}
    | {"contrib.slim.variable", "contrib.slim.model_variable", "contrib.framework.model_variable"}
    | {"get_local_variable", "contrib.slim.local_variable", "contrib.framework.local_variable"}
)
FOUND = frozenset({"contrib.slim.get_unique_variable", "contrib.framework.get_unique_variable"})
# Ops whose result has no gradient, whatever they are made from, or which start a graph.
LEAF = frozenset(
    {"placeholder", "constant", "zeros", "ones", "zeros_like", "ones_like", "range", "eye"}
    | {
        "shape",
        "size",
        "rank",
        "argmax",
        "argmin",
        "math.argmax",
        "math.argmin",
        "equal",
        "shape_n",
    }
    | {"not_equal", "greater", "less", "greater_equal", "less_equal", "logical_and", "logical_or"}
    | {"logical_not", "is_nan", "is_inf", "is_finite", "sparse_placeholder", "string_to_number"}
    | {"read_file", "decode_raw", "one_hot", "random_shuffle", "truncated_normal", "random_normal"}
    | {"random_uniform", "random.normal", "random.uniform", "random.truncated_normal", "Session"}
    | {
        "InteractiveSession",
        "ConfigProto",
        "Graph",
        "global_variables_initializer",
        "set_random_seed",
    }
    | {"truncated_normal_initializer", "random_normal_initializer", "constant_initializer"}
    | {"random_uniform_initializer", "zeros_initializer", "ones_initializer", "get_default_graph"}
    | {"stop_gradient"}
)
LEAF_PREFIXES = (
    "initializers.",
    "contrib.layers.xavier_initializer",
    "data.",
    "train.",
    "logging.",
)
# What makes variables, or losses of them, later on: of numbers it is no tensor.
MAKERS = (
    *("keras.initializers.", "keras.regularizers.", "keras.constraints."),
    *("glorot_", "he_", "lecun_", "orthogonal_", "uniform_unit_", "variance_scaling_"),
    *("contrib.layers.l1_", "contrib.layers.l2_", "contrib.layers.variance_scaling_"),
    *("contrib.slim.l1_", "contrib.slim.l2_", "contrib.slim.variance_scaling_"),
)
#: What lies between two ends, which may be tensors: a gradient flows to them.
SPACED = frozenset({"linspace", "lin_space"})
# Values that are affine in these arguments are not leaves when one of them is a tensor.
AFFINE = frozenset({"mean", "stddev", "minval", "maxval"})
#: What of ``tf.train`` makes a learning rate smaller, which may be learned itself.
DECAYS = frozenset(
    {"exponential_decay", "natural_exp_decay", "inverse_time_decay", "polynomial_decay"}
    | {"cosine_decay", "cosine_decay_restarts", "linear_cosine_decay", "piecewise_constant"}
    | {"noisy_linear_cosine_decay", "piecewise_constant_decay"}
)
# Methods that change nothing a later forward pass could see.
QUIET = frozenset(
    {"run", "eval", "get_shape", "as_list", "numpy", "format", "join", "items", "keys", "values"}
    | {"get", "copy", "astype", "reshape", "mean", "sum", "set_shape", "lower", "upper", "split"}
    | {"startswith", "endswith", "minimize", "apply_gradients", "compute_gradients", "log_prob"}
    | {"sample", "prob", "entropy", "kl_divergence", "as_default", "device", "assign", "value"}
    | {"read_value", "initializer", "info", "debug", "warning", "error", "write", "strip", "count"}
    | {"index", "ndims", "with_rank", "num_elements", "is_compatible_with", "next", "get_next"}
)
#: What a tensor knows of itself without an op.
STATIC = frozenset({".shape", ".dtype", ".name", ".type", ".get_shape"})
SHAPES = frozenset({"shape", "dtype", "name", "device", "graph", "ndims"})
# Placeholders by another name.
PLACEHOLDERS = frozenset({"tflearn.input_data", "tflearn.layers.core.input_data"})
# No tensors: a tape takes none of them.
SYMBOLIC = frozenset({"keras.Input", "keras.layers.Input", "keras.backend.placeholder"})
LIBRARIES = frozenset(
    {"tensorflow", "numpy", "math", "scipy", "keras", "tensorflow_probability", "six"}
    | {"itertools", "functools", "copy", "collections", "os", "sys", "time", "random"}
)
#: What runs where an object is called: Keras and Sonnet call what the user has of the last two.
RUN_WHEN_CALLED = ("__call__", "call", "_build")
# Of the standard library, what hands on what it is given, tensors too.
_HANDS_ON = frozenset(
    {"asyncio", "builtins", "collections", "concurrent", "contextlib", "copy", "dataclasses"}
    | {"enum", "functools", "importlib", "inspect", "itertools", "multiprocessing", "operator"}
    | {"contextvars", "heapq", "queue", "runpy", "threading", "types", "typing", "weakref"}
)
# Libraries that give numbers, texts and objects of their own.
_NO_TENSORS = sys.stdlib_module_names - _HANDS_ON | frozenset(
    {"numpy", "gym", "pandas", "scipy", "sklearn", "matplotlib", "cv2", "PIL", "h5py", "absl"}
    | {"skimage", "imageio", "yaml", "nltk", "requests", "pylab", "seaborn", "mpi4py"}
)
# https://www.tensorflow.org/api_docs/python/tf/cast: no new tensor where nothing is to be done.
_GIVES_BACK = frozenset(
    {"cast", "to_float", "to_double", "saturate_cast", "convert_to_tensor", "real", "conj", "add_n"}
    | {"dropout", "convert_to_tensor_or_indexed_slices", "accumulate_n", "tuple"}
    | {"convert_to_tensor_or_sparse_tensor", "with_shape", "with_same_shape"}
    # https://www.tensorflow.org/api_docs/python/tf/image/central_crop: all of the image.
    | {"central_crop", "resize", "resize_images", "in_train_phase", "in_test_phase"}
)
# What calls one of the functions that it is handed, there and then where it can tell which.
CHOOSES = frozenset({"smart_cond", "smart_case"})
# Where ``tf.nest`` was found before it was public.
_NEST = ("python.util.nest.", "contrib.framework.nest.")
# What may put a loss into a graph collection: beside the plain way, a regularizer's.
COLLECTING = (
    *("add_to_collection", "losses.", "layers.", "get_variable", "keras.layers."),
    *("contrib.layers.", "contrib.slim.", "contrib.losses."),
)
_CHOOSE = frozenset({"random.choice", "random.choices", "random.sample"})


def gives_no_tensors(qualified: str) -> bool:
    """Whether what an import path leads to makes no tensors, and gives back none."""
    return qualified.split(".")[0] in _NO_TENSORS and qualified not in _CHOOSE


@lru_cache(maxsize=4096)
def short(qualified: str | None) -> str | None:
    """``tensorflow.compat.v1.gradients`` → ``gradients``; None for what is not TensorFlow's."""
    if qualified is None:
        return None
    for prefix in _TF:
        if qualified.startswith(prefix):
            name = qualified[len(prefix) :]
            inner = next((p for p in _NEST if name.startswith(p)), None)
            return public(name) if inner is None else f"nest.{name[len(inner) :]}"
    return None


def gives_back(name: str) -> bool:
    """Whether a function of TensorFlow may give what it is handed, and no new tensor."""
    return name.rpartition(".")[2] in _GIVES_BACK or name.endswith("activations.linear")


def filters(qualified: str | None) -> bool:
    """Whether a function lists some of the variables of the list that it is given first."""
    return short(qualified) in FILTERS


def flattens(qualified: str | None) -> bool:
    """Whether a function lists what a nest of tensors holds: ``tf.nest.flatten``, or its own self.

    https://github.com/google-deepmind/tree
    """
    return qualified == "tree.flatten" or short(qualified) == "nest.flatten"
