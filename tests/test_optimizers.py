"""TM121, TM122: what may run in a graph is left alone, a loss tensor in eager execution is not."""

from __future__ import annotations

import textwrap

import pytest

from tapemigrate.api import Result, analyse
from tapemigrate.rules import catalog
from tapemigrate.settings import Settings
from tapemigrate.source.decoding import SourceFile

CODES = {"TM121", "TM122"}

LEFT_ALONE = {
    "a session": """
        import tensorflow.compat.v1 as tf

        w = tf.Variable(1.0)
        loss = (w - 1.0) ** 2
        step = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
        with tf.Session() as session:
            session.run(step)
    """,
    "TensorFlow 1, where nothing turns eager execution on": """
        import tensorflow as tf

        w = tf.Variable(1.0)
        loss = (w - 1.0) ** 2
        step = tf.train.GradientDescentOptimizer(0.1).minimize(loss, var_list=[w])
    """,
    "a function that computes the loss": """
        import tensorflow as tf

        tf.enable_eager_execution()
        w = tf.Variable(1.0)
        tf.train.GradientDescentOptimizer(0.1).minimize(lambda: (w - 1.0) ** 2)
    """,
    "a function with a name": """
        import tensorflow as tf

        tf.compat.v1.enable_eager_execution()
        w = tf.Variable(1.0)

        def loss():
            return (w - 1.0) ** 2

        tf.compat.v1.train.GradientDescentOptimizer(0.1).minimize(loss)
    """,
    "whatever a function makes": """
        import tensorflow as tf
        from losses import make_loss

        tf.enable_eager_execution()
        loss = make_loss()
        tf.train.AdamOptimizer().minimize(loss)
    """,
    "a graph within": """
        import tensorflow as tf

        tf.enable_eager_execution()
        with tf.Graph().as_default():
            w = tf.Variable(1.0)
            loss = tf.square(w)
            step = tf.train.AdamOptimizer().minimize(loss)
    """,
    "a step that is traced": """
        import tensorflow as tf

        w = tf.Variable(1.0)
        optimizer = tf.compat.v1.train.AdamOptimizer()

        @tf.function
        def step():
            loss = tf.square(w)
            optimizer.minimize(loss, var_list=[w])

        step()
    """,
    "a step that is traced where it is used": """
        import tensorflow as tf

        w = tf.Variable(1.0)
        optimizer = tf.compat.v1.train.AdamOptimizer()

        def step():
            loss = tf.square(w)
            optimizer.minimize(loss, var_list=[w])

        tf.function(step)()
    """,
    "a step that a traced function runs": """
        import tensorflow as tf

        w = tf.Variable(1.0)
        optimizer = tf.compat.v1.train.AdamOptimizer()

        def step():
            loss = tf.square(w)
            optimizer.minimize(loss, var_list=[w])

        @tf.function
        def epoch():
            step()

        epoch()
    """,
    "the function of an estimator": """
        import tensorflow as tf

        def model_fn(features, labels, mode):
            loss = tf.reduce_mean(features)
            step = tf.compat.v1.train.AdamOptimizer().minimize(loss)
            return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=step)

        estimator = tf.estimator.Estimator(model_fn)
    """,
    "a function that nobody is seen to call": """
        import tensorflow as tf

        def train(w):
            loss = tf.square(w)
            return tf.compat.v1.train.AdamOptimizer().minimize(loss, var_list=[w])
    """,
    "eager on a condition": """
        import sys
        import tensorflow as tf

        if "--eager" in sys.argv:
            tf.enable_eager_execution()
        w = tf.Variable(1.0)
        loss = tf.square(w)
        tf.train.AdamOptimizer().minimize(loss, var_list=[w])
    """,
    "TensorFlow 1 under the name of the whole": """
        import tensorflow.compat.v1 as tf

        w = tf.Variable(1.0)
        loss = tf.square(w)
        step = tf.train.AdamOptimizer().minimize(loss, var_list=[w])
    """,
    "other optimizers": """
        import tensorflow as tf
        from scipy.optimize import minimize

        tf.compat.v1.enable_eager_execution()
        w = tf.Variable(1.0)
        loss = tf.square(w)
        optimizer = tf.keras.optimizers.Adam()
        optimizer.minimize(loss, [w], tape=tf.GradientTape())
        minimize(loss, w)
    """,
}

TAPED = {
    "TM122 in a loop": (
        """
        import tensorflow as tf

        tf.enable_eager_execution()
        w = tf.Variable(1.0)
        optimizer = tf.train.GradientDescentOptimizer(0.1)
        step = tf.train.get_or_create_global_step()
        for _ in range(3):
            # how far it is off
            loss = tf.square(w - 3.0)
            optimizer.minimize(loss, step, [w])
        """,
        """
        import tensorflow as tf

        w = tf.Variable(1.0)
        optimizer = tf.train.GradientDescentOptimizer(0.1)
        step = tf.train.get_or_create_global_step()
        for _ in range(3):
            # how far it is off
            with tf.GradientTape() as tape:
                loss = tf.square(w - 3.0)
            optimizer.apply_gradients(zip(tape.gradient(loss, [w]), [w]), global_step=step)
        """,
    ),
    "TM121 in a function that the script calls": (
        """
        import tensorflow as tf

        v, w = tf.Variable(1.0), tf.Variable(2.0)

        def pairs():
            variables = [v, w]
            loss = tf.square(v) * w
            optimizer = tf.compat.v1.train.AdamOptimizer()
            return optimizer.compute_gradients(loss, var_list=variables)

        if __name__ == "__main__":
            print(pairs())
        """,
        """
        import tensorflow as tf

        v, w = tf.Variable(1.0), tf.Variable(2.0)

        def pairs():
            variables = [v, w]
            with tf.GradientTape() as tape:
                tape.watch([v, w])
                loss = tf.square(v) * w
            optimizer = tf.compat.v1.train.AdamOptimizer()
            return list(zip(tape.gradient(loss, variables), variables))

        if __name__ == "__main__":
            print(pairs())
        """,
    ),
    "TM122 a loss written in the call": (
        """
        import tensorflow as tf

        w = tf.Variable(1.0)
        tf.compat.v1.train.AdamOptimizer().minimize(tf.square(w), var_list=[w])
        """,
        """
        import tensorflow as tf

        w = tf.Variable(1.0)
        with tf.GradientTape() as tape:
            target = tf.square(w)
        tf.compat.v1.train.AdamOptimizer().apply_gradients(zip(tape.gradient(target, [w]), [w]))
        """,
    ),
}

EXPLAINED = {
    "TM122 no list of variables": """
        import tensorflow as tf

        tf.enable_eager_execution()
        w = tf.Variable(1.0)
        loss = tf.square(w)
        tf.train.AdamOptimizer().minimize(loss)
    """,
    "TM122 two optimizers": """
        import tensorflow as tf

        v, w = tf.Variable(1.0), tf.Variable(2.0)
        loss = tf.square(v) * w
        tf.compat.v1.train.AdamOptimizer().minimize(loss, var_list=[v])
        tf.compat.v1.train.AdamOptimizer().minimize(-loss, var_list=[w])
    """,
    "TM121 a loss from a function of the file": """
        import tensorflow as tf

        def compute(w):
            return tf.square(w)

        w = tf.Variable(1.0)
        loss = compute(w)
        grads = tf.compat.v1.train.AdamOptimizer().compute_gradients(loss)
    """,
}


def read(text: str) -> Result:
    files = {"program.py": SourceFile("program.py", textwrap.dedent(text))}
    return analyse(files, Settings(unsafe_fixes=True), rewrite=True)


def found(result: Result) -> set[str]:
    return {d.code for d in result.diagnostics} & CODES


@pytest.mark.parametrize("name", LEFT_ALONE)
def test_left_alone(name: str) -> None:
    assert not found(read(LEFT_ALONE[name]))


@pytest.mark.parametrize("name", TAPED)
def test_taped(name: str) -> None:
    before, after = TAPED[name]
    result = read(before)
    assert found(result) == {name.split()[0]}
    (text,) = result.rewritten.values()
    assert text == textwrap.dedent(after)
    assert not found(read(text))


@pytest.mark.parametrize("name", EXPLAINED)
def test_explained(name: str) -> None:
    result = read(EXPLAINED[name])
    assert found(result) == {name.split()[0]}
    for diagnostic in result.diagnostics:
        if diagnostic.code in CODES:
            assert diagnostic.fix is None
            assert "GradientTape" in diagnostic.help


@pytest.mark.parametrize("code", sorted(CODES))
def test_examples(code: str) -> None:
    example = catalog.rule(code).example
    assert example is not None
    result = read(example.before)
    assert found(result) == {code}
    assert result.rewritten == {"program.py": example.after}
