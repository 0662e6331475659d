"""What ``tf.map_fn`` hands to a function that was called before: an assumption, and no fact."""

from __future__ import annotations

from tapemigrate.api import analyse
from tapemigrate.settings import Settings
from tapemigrate.source import SourceFile

MAPPED = """
import tensorflow as tf

from layers import Layers


class Meta(Layers):
    def construct(self):
        self.inputs = tf.placeholder(tf.float32, [None, 4, 3])
        self.labels = tf.placeholder(tf.float32, [None, 4, 1])
        self.weights = weights = self.make_weights()

        def task(given, reuse=True):
            inputs, labels = given
            for _ in range(2):
                fast, guessed = self.update(inputs, labels, weights)
                labels = guessed
            return self.loss(self.dense(inputs, fast), labels)

        unused = task((self.inputs[0], self.labels[0]), False)
        self.losses = tf.map_fn(task, elems=(self.inputs, self.labels), dtype=tf.float32)

    def update(self, inputs, labels, weights):
        loss = self.loss(self.dense(inputs, weights), labels)
        grads = tf.gradients(loss, list(weights.values()))
        fast = dict(zip(weights.keys(), [weights[k] - 0.1 * g for k, g in zip(weights, grads)]))
        return fast, tf.stop_gradient(self.dense(inputs, fast))
"""


def test_what_a_function_may_have_set_when_it_was_called_is_assumed_not_to_be_handed_to_it() -> (
    None
):
    files = {"a.py": SourceFile("a.py", MAPPED)}
    (finding,) = analyse(files, Settings(), rewrite=False).diagnostics
    assert finding.fix is not None
    assert finding.fix.applicability == "unsafe"
    assert "`given`, a parameter, was not computed from `weights`" in finding.message
    assert "the old call stays" not in finding.message
