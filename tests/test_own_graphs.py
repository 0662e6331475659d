"""Functions that ask a graph of their own, and what of it could come out."""

from __future__ import annotations

import pytest

from tapemigrate.api import analyse
from tapemigrate.settings import Settings
from tapemigrate.source import SourceFile

PROGRAM = """
import tensorflow as tf
import tensorflow_hub as hub


def asked(kept, graph):
{body}
    return size


def slope(x):
    size = asked([], None)
    return tf.gradients(size * x * x, x)[0]


def run():
    return slope(tf.placeholder(tf.float32, [3]))
"""
APART = """
    with tf.Graph().as_default():
        module = hub.Module("https://tfhub.dev/some/module/1")
        info = module(signature="tokenization_info", as_dict=True)
        {more}
        with tf.Session({session}) as session:
            size = session.run(info["size"])
    {after}
"""


def verdict(body: str) -> str:
    """The applicability of the one fix, or ``flag``."""
    text = PROGRAM.format(body=body)
    sources = {"program.py": SourceFile("program.py", text)}
    (found,) = analyse(sources, Settings(), rewrite=False).diagnostics
    return found.fix.applicability if found.fix else "flag"


def apart(more: str = "pass", session: str = "", after: str = "pass") -> str:
    """Of a function that does ``more`` in its graph, or ``after`` it."""
    return verdict(APART.format(more=more, session=session, after=after))


@pytest.mark.parametrize(
    "more",
    ["pass", "words = tf.identity(info['size'])", "found = [info]", "print('asked')"],
)
def test_what_a_session_gave_is_no_tensor(more: str) -> None:
    assert apart(more) == "safe"


@pytest.mark.parametrize(
    "more",
    [
        "kept.append(info)",
        "kept[0] = info",
        "kept.info = info",
        "print(info)",
        "same = kept; same.append(info)",
        "same = [kept]; same[0].append(info)",
        "same = kept[:1]; same.append(info)",
        "return info",
        "later = lambda: module(info)",
        "tf.map_fn(asked, info)",
        "with graph.as_default(): tf.add_to_collection('kept', module(None))",
    ],
)
def test_what_is_put_elsewhere_comes_out(more: str) -> None:
    assert apart(more) == "flag"


def test_a_session_may_be_of_another_graph() -> None:
    assert apart(session="graph=graph") == "flag"
    assert apart(session="'', graph") == "flag"
    assert apart(session="config=None") == "safe"


def test_a_tensor_is_read_below() -> None:
    assert apart(after="size = info['size']") == "flag"
    assert apart(after="size = size + 1") == "safe"


def test_a_graph_that_has_a_name() -> None:
    body = APART.format(more="pass", session="", after="pass")
    assert verdict(body.replace("as_default():", "as_default() as graph:", 1)) == "flag"
    assert verdict(body.replace("tf.Graph()", "tf.get_default_graph()")) == "flag"
