"""Runs a program in one of the three ways TensorFlow executes: a v1 graph and session,
``tf.function``, eagerly.
"""

from __future__ import annotations

import collections.abc
import contextlib
import importlib
import os
import re
import sys
import types
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tapemigrate.verify import case, editable, finite, probes, seeds, wire

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    _Fill = Callable[[list[Any]], Any]

# Ops whose kernels go on where the last run has stopped.
_RANDOM = re.compile(r"Random|TruncatedNormal|Multinomial")


@dataclass(frozen=True)
class Run:
    """A program that lies in ``folder``, a copy of ``tree``, and how to run it.

    ``module`` is imported from there, or from ``place`` inside it, and its ``entry`` called with
    ``inputs`` (``INPUTS`` of the module if None), as tensors, or as they are when ``arrays`` is
    set. ``double`` casts real inputs to float64, ``finite`` asks for finite differences.
    """

    folder: str
    module: str
    mode: str
    tree: str = ""
    place: str = ""
    entry: str = "run"
    inputs: dict[str, Any] | None = None
    arrays: bool = False
    double: bool = False
    finite: bool = False


def observe(tf: Any, run: Run) -> wire.Observation:
    """Runs the program with ``tf``, the TensorFlow module.

    Whatever it raises comes back as ``Observation.error``.
    """
    recorder = probes.Recorder(run.folder)
    if run.mode == "eager" and not tf.executing_eagerly():
        # Real TF 1.x, where this cannot be undone: the caller asks for a process of its own.
        tf.compat.v1.enable_eager_execution()
    seeds.restart()
    tf.compat.v1.reset_default_graph()
    tf.compat.v1.set_random_seed(seeds.SEED)
    try:
        with _inside(run.folder, run.tree, run.place), probes.recording(recorder):
            return _MODES[run.mode](tf, run, recorder)
    except Exception as error:
        return wire.Observation(error=_describe(error))


def cases(folder: str, tree: str, place: str, module: str, seed: int) -> dict[str, dict[str, Any]]:
    """The cases in a module, each with its inputs."""
    with _inside(folder, tree, place):
        loaded = importlib.import_module(module)
        return {name: case.inputs(getattr(loaded, name), seed) for name in case.names(loaded)}


@contextlib.contextmanager
def _inside(folder: str, tree: str, place: str) -> Iterator[None]:
    """The program's folder is where Python is and where it imports from; its modules go again."""
    modules, path, here = set(sys.modules), list(sys.path), os.getcwd()
    installed = [(each, dict(each)) for each in editable.mappings()]
    if tree:
        editable.turn(tree, folder)
    sys.path[:0] = [folder, os.path.join(folder, place)]
    os.chdir(folder)
    importlib.invalidate_caches()
    try:
        yield
    finally:
        os.chdir(here)
        sys.path[:] = path
        for mapping, before in installed:
            mapping.update(before)
        for name in set(sys.modules) - modules:
            module = sys.modules[name]
            # A package without an ``__init__.py`` has no file, but folders.
            places = [getattr(module, "__file__", None), *getattr(module, "__path__", ())]
            if any(str(place).startswith(folder) for place in places):
                del sys.modules[name]


def _describe(error: Exception) -> str:
    text = " ".join(str(error).split())
    return type(error).__name__ + (": " + text[-600:] if text else "")


def _load(run: Run) -> tuple[Callable[..., Any], dict[str, Any]]:
    module: types.ModuleType = importlib.import_module(run.module)
    inputs = run.inputs if run.inputs is not None else getattr(module, "INPUTS", {})
    arrays = {name: np.asarray(value) for name, value in inputs.items()}
    if run.double:
        arrays = {
            name: value.astype(np.float64) if value.dtype.kind == "f" else value
            for name, value in arrays.items()
        }
    return getattr(module, run.entry), arrays


def _graph(tf: Any, run: Run, recorder: probes.Recorder) -> wire.Observation:
    v1 = tf.compat.v1
    graph = tf.Graph()
    with graph.as_default():
        v1.set_random_seed(seeds.SEED)
        entry, arrays = _load(run)
        feeds = {}
        if run.arrays:
            returned = entry(**arrays)
        else:
            tensors = {}
            for name, value in arrays.items():
                shape = [None, *value.shape[1:]] if value.shape else []
                tensors[name] = v1.placeholder(value.dtype, shape, name=name)
                feeds[tensors[name]] = value
            returned = entry(**tensors)
        outputs = _Fetches(tf, graph)
        filled = outputs.take(returned)
        gradients = _Fetches(tf, graph)
        calls = gradients.take_calls(recorder.calls)
        initial = [
            v1.global_variables_initializer(),
            v1.local_variables_initializer(),
            v1.tables_initializer(),
        ]
        config = _plain(tf) if run.finite else None
        # On their own and first: an output may assign to a variable that a gradient reads.
        session = v1.Session(graph=graph, config=config)
        session.run(initial, feeds)
        seen: Any
        try:
            seen = session.run(gradients.tensors, feeds)
        except tf.errors.OpError as error:
            seen = wire.Unseen("fetching it failed: " + type(error).__name__)
        if any(_RANDOM.search(op.type) for op in graph.get_operations()):
            session.close()
            session = v1.Session(graph=graph, config=config)
            session.run(initial, feeds)
        values = session.run(outputs.tensors, feeds)
        told = finite.opinions(tf, session, feeds, recorder.calls) if run.finite else []
        session.close()
    return wire.Observation(filled(values), calls(seen), opinions=tuple(told))


def _plain(tf: Any) -> Any:
    """A session that runs a graph as it stands.

    The optimisers put ops that look alike in each other's place, one that is fed among them.
    """
    config = tf.compat.v1.ConfigProto()
    config.graph_options.rewrite_options.disable_meta_optimizer = True
    config.graph_options.optimizer_options.opt_level = -1
    return config


def _function(tf: Any, run: Run, recorder: probes.Recorder) -> wire.Observation:
    from tensorflow.python.ops import variable_scope

    entry, arrays = _load(run)
    variables: list[Any] = []
    traced: dict[str, Any] = {}
    start = seeds.Point()

    def traceable(**tensors: Any) -> Any:
        # TensorFlow traces twice when the first trace makes variables; the second must meet the
        # same ones.
        del recorder.calls[:]
        start.back()
        made = iter(list(variables))

        def once(next_creator: Callable[..., Any], **kwargs: Any) -> Any:
            known = next(made, None)
            if known is None:
                known = next_creator(**kwargs)
                variables.append(known)
            return known

        store = variable_scope.EagerVariableStore()
        with store.as_default(), tf.variable_creator_scope(once):
            returned = entry(**tensors)
        fetches = _Fetches(tf, tf.compat.v1.get_default_graph())
        traced["outputs"] = fetches.take(returned)
        traced["calls"] = fetches.take_calls(recorder.calls)
        return [tf.identity(tensor) for tensor in fetches.tensors]

    if run.arrays:
        raise ValueError("a program that is given arrays has no tf.function form")
    function = tf.function(traceable, autograph=False)
    values = function(**{name: tf.constant(value) for name, value in arrays.items()})
    # A variable that was made inside is returned as the step left it, like any other tensor.
    numpy = [value.numpy() for value in values]
    return wire.Observation(traced["outputs"](numpy), traced["calls"](numpy))


def _eager(tf: Any, run: Run, recorder: probes.Recorder) -> wire.Observation:
    from tensorflow.python.ops import variable_scope

    entry, arrays = _load(run)
    with variable_scope.EagerVariableStore().as_default():
        if run.arrays:
            returned = entry(**arrays)
        else:
            returned = entry(**{name: tf.constant(value) for name, value in arrays.items()})
    outputs = _Fetches(tf, None)
    filled = outputs.take(returned)
    gradients = _Fetches(tf, None)
    calls = gradients.take_calls(recorder.calls)
    return wire.Observation(
        filled([tensor.numpy() for tensor in outputs.tensors]),
        calls([tensor.numpy() for tensor in gradients.tensors]),
    )


_MODES: dict[str, Callable[[Any, Run, probes.Recorder], wire.Observation]] = {
    "graph": _graph,
    "function": _function,
    "eager": _eager,
}


class _Fetches:
    """Collects the tensors of a structure, and puts their values back in its place afterwards."""

    def __init__(self, tf: Any, graph: Any) -> None:
        self.tf = tf
        self.graph = graph
        self.tensors: list[Any] = []

    def take(self, value: Any) -> _Fill:
        """A function that, given the values of ``tensors``, gives the structure with ``wire`` data
        in it.
        """
        tf = self.tf
        if value is None or isinstance(value, (bool, int, float, str)):
            return lambda _: value
        if isinstance(value, (np.ndarray, np.generic)):
            return lambda _: wire.array(value)
        if type(value).__name__ in ("IndexedSlices", "IndexedSlicesValue"):
            rows, where = self.take(value.values), self.take(value.indices)
            return lambda seen: wire.array(rows(seen).values, where(seen).values)
        if isinstance(value, (tf.SparseTensor, tf.RaggedTensor)):
            parts = [self.take(part) for part in tf.nest.flatten(value, expand_composites=True)]
            return lambda seen: [part(seen) for part in parts]
        if isinstance(value, (tf.Tensor, tf.Variable, tf.compat.v1.Variable)):
            return self._fetch(value)
        if isinstance(value, collections.abc.Mapping):
            items = {_key(key): self.take(item) for key, item in value.items()}
            return lambda seen: {key: item(seen) for key, item in items.items()}
        if isinstance(value, (list, tuple)):
            fills = [self.take(item) for item in value]
            kind = list if isinstance(value, list) else tuple
            return lambda seen: kind(fill(seen) for fill in fills)
        if hasattr(value, "value") and type(value).__module__.startswith("keras"):
            return self._fetch(tf.convert_to_tensor(value))
        return lambda _: wire.Opaque(type(value).__name__)

    def take_calls(self, calls: list[probes.Recorded]) -> Callable[[Any], tuple[wire.Call, ...]]:
        """The same for recorded calls; given an ``Unseen`` instead of values, that stands for every
        gradient.
        """
        fills = [
            (call, [None if result is None else self._gradient(result) for result in call.results])
            for call in calls
        ]

        def filled(seen: Any) -> tuple[wire.Call, ...]:
            unseen = seen if isinstance(seen, wire.Unseen) else None
            return tuple(
                wire.Call(
                    call.api,
                    call.filename,
                    call.row,
                    tuple(None if fill is None else unseen or fill(seen) for fill in row),
                )
                for call, row in fills
            )

        return filled

    def _fetch(self, tensor: Any) -> _Fill:
        index = len(self.tensors)
        self.tensors.append(tensor)
        return lambda seen: wire.array(seen[index])

    def _gradient(self, gradient: Any) -> _Fill:
        reason = self._unreachable(gradient)
        if reason is not None:
            unseen = wire.Unseen(reason)
            return lambda _: unseen
        return self.take(gradient)

    def _unreachable(self, gradient: Any) -> str | None:
        tensor = gradient.values if isinstance(gradient, self.tf.IndexedSlices) else gradient
        if not isinstance(tensor, self.tf.Tensor):
            return None
        if hasattr(tensor, "numpy"):
            return None
        if tensor.graph is not self.graph:
            return "made inside the body of a loop, a branch or another function"
        if tensor.op._get_control_flow_context() is not None:
            return "made inside the body of a v1 loop or branch"
        return None


def _key(key: Any) -> Any:
    return key if isinstance(key, (str, int, float, bool)) else str(key)
