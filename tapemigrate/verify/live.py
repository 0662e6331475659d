"""Probes for a program that runs by itself: a user's command, prepared when it imports TensorFlow.

Values are taken where they come into being: at once in eager execution; by an op of its own inside
a ``tf.function``; along with what the program fetches from a session.
"""

from __future__ import annotations

import os
import sys
import weakref
from typing import TYPE_CHECKING, Any

from tapemigrate.running import orphan
from tapemigrate.verify import probes, seeds, shim, wire
from tapemigrate.verify.log import Writer

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_IN_A_BODY = "it is in the body of a loop or branch of a graph"


def install(tf: Any, settings: dict[str, Any]) -> None:
    """Prepares ``tf``, freshly imported: old names, seeds, probes that write to a log.

    ``settings``: ``root`` is the program's folder, ``log`` the folder to write to, ``budget`` how
    many bytes, ``graph`` turns eager execution off, ``parent`` is the process to end with.
    """
    orphan.end_with(settings["parent"])
    shim.install(tf)
    if settings["graph"]:
        tf.compat.v1.disable_eager_execution()
    seeds.install(tf)
    seeds.restart()
    path = os.path.join(settings["log"], f"{os.getpid()}.log")
    recorder = LiveRecorder(tf, settings["root"], Writer(path, settings["budget"]))
    probes.install(tf)
    probes.start(recorder)
    _watch_sessions(tf, recorder)


class LiveRecorder(probes.Recorder):
    """Writes what gradient calls return to a log, as soon as there are values."""

    def __init__(self, tf: Any, root: str, writer: Writer) -> None:
        super().__init__(root)
        self._tf = tf
        self._writer = writer
        self._built: weakref.WeakKeyDictionary[Any, list[probes.Recorded]] = (
            weakref.WeakKeyDictionary()
        )

    def add(self, call: probes.Recorded) -> None:
        """Notes a call that has just returned."""
        symbolic = [tensor for tensor in _tensors(call.results) if not _is_eager(tensor)]
        graphs = {tensor.graph for tensor in symbolic}
        if not graphs:
            values = [_filled(result, _numpy) for result in call.results]
            self._writer.ran(_call(call, values))
            return
        self._writer.built(_call(call, []))
        graph = self._tf.compat.v1.get_default_graph()
        if graphs != {graph}:
            self._writer.unseen(_call(call, []), "it crosses from one graph into another")
        elif not hasattr(graph, "outer_graph"):
            self._built.setdefault(graph, []).append(call)
            if any(tensor.op._get_control_flow_context() is not None for tensor in symbolic):
                self._writer.unseen(_call(call, []), _IN_A_BODY)
        elif _compiled():
            self._writer.unseen(_call(call, []), "XLA compiles it, where it cannot be looked at")
        elif getattr(graph, "_add_control_dependencies", False):
            self._write_from_inside(call)
        else:
            self._writer.unseen(_call(call, []), _IN_A_BODY)

    def _write_from_inside(self, call: probes.Recorded) -> None:
        tensors = list(_tensors(call.results))

        def write(*values: Any) -> None:
            it = iter(values)
            self._writer.ran(
                _call(call, [_filled(result, lambda _: next(it)) for result in call.results])
            )

        self._tf.numpy_function(write, tensors, [])

    def fetched_with(self, graph: Any, fetches: Iterable[Any]) -> list[probes.Recorded]:
        """The calls whose results a session computes anyway in order to get ``fetches``."""
        calls = self._built.get(graph, [])
        if not calls:
            return []
        needed = _ancestors(fetches)
        found = []
        for call in calls:
            results = [
                result
                for result in call.results
                if result is None
                or all(
                    tensor.op in needed and tensor.op._get_control_flow_context() is None
                    for tensor in _tensors([result])
                )
            ]
            if any(result is not None for result in results):
                found.append(probes.Recorded(call.api, call.filename, call.row, results))
        return found

    def fetched(self, calls: list[probes.Recorded], values: list[Any]) -> None:
        """Notes the values of the tensors of ``calls``, in their order."""
        it = iter(values)
        for call in calls:
            filled = [_filled(result, lambda _: next(it)) for result in call.results]
            self._writer.ran(_call(call, filled))


def _compiled() -> bool:
    """Whether a function that XLA will compile is being traced: no op in it may call Python."""
    frame: Any = sys._getframe()
    while frame is not None:
        if frame.f_code.co_filename.endswith("polymorphic_function.py") and getattr(
            frame.f_locals.get("self"), "_jit_compile", False
        ):
            return True
        frame = frame.f_back
    return False


def _watch_sessions(tf: Any, recorder: LiveRecorder) -> None:
    from tensorflow.python.client import session

    original = session.BaseSession.run
    known: dict[Any, Any] = {}

    def run(
        self: Any,
        fetches: Any,
        feed_dict: Any = None,
        options: Any = None,
        run_metadata: Any = None,
    ) -> Any:
        wanted = [_element(self.graph, fetch) for fetch in tf.nest.flatten(fetches)]
        ops = frozenset(op for op in wanted if op is not None)
        key = (self.graph, ops, len(recorder._built.get(self.graph, ())))
        if key not in known:
            known[key] = recorder.fetched_with(self.graph, ops)
        calls = known[key]
        if not calls:
            return original(self, fetches, feed_dict, options, run_metadata)
        more = [tensor for call in calls for tensor in _tensors(call.results)]
        result, values = original(self, (fetches, more), feed_dict, options, run_metadata)
        recorder.fetched(calls, values)
        return result

    session.BaseSession.run = run


def _element(graph: Any, fetch: Any) -> Any:
    """The op behind something that a session is asked for; None if it cannot be told."""
    try:
        element = graph.as_graph_element(fetch, allow_tensor=True, allow_operation=True)
    except (TypeError, ValueError, KeyError):
        return None
    return getattr(element, "op", element)


def _ancestors(ops: Iterable[Any]) -> set[Any]:
    seen = set(ops)
    queue = list(seen)
    while queue:
        op = queue.pop()
        before = {tensor.op for tensor in op.inputs} | set(op.control_inputs)
        queue.extend(before - seen)
        seen |= before
    return seen


def _tensors(results: Iterable[Any]) -> Iterator[Any]:
    for result in results:
        if result is None:
            continue
        if type(result).__name__ == "IndexedSlices":
            yield result.values
            yield result.indices
        else:
            yield result


def _filled(result: Any, value: Any) -> Any:
    """``result`` as ``wire`` data, where ``value`` gives the numpy value of a tensor."""
    if result is None:
        return None
    if type(result).__name__ == "IndexedSlices":
        return wire.array(value(result.values), value(result.indices))
    return wire.array(value(result))


def _numpy(tensor: Any) -> Any:
    return tensor.numpy()


def _is_eager(tensor: Any) -> bool:
    return hasattr(tensor, "numpy")


def _call(call: probes.Recorded, gradients: list[Any]) -> wire.Call:
    return wire.Call(call.api, call.filename, call.row, tuple(gradients))
