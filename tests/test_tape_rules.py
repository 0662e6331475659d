"""TM301–TM311: what is no misuse gives no diagnostic, what is one gives exactly that one."""

from __future__ import annotations

import textwrap

import pytest

from fixtures.catalogue import Fixture, fixtures
from tapemigrate.api import Result, analyse
from tapemigrate.rules import catalog
from tapemigrate.settings import Settings
from tapemigrate.source.decoding import SourceFile

RULES = frozenset(f"TM3{number:02}" for number in range(1, 12))
HEADER = """\
import numpy as np
import tensorflow as tf

a = tf.constant([1.0, 2.0])
"""

CORRECT = {
    "one call": """
        with tf.GradientTape() as tape:
            tape.watch(a)
            y = a * a
        g = tape.gradient(y, a)
    """,
    "two calls, persistent": """
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(a)
            y = a * a
            z = tf.exp(a)
        g, h = tape.gradient(y, a), tape.gradient(z, a)
    """,
    "one call on each of two branches": """
        def f(x, flag):
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = x * x
            if flag:
                return tape.gradient(y, x)
            return tape.jacobian(y, x)
    """,
    "one call in each arm of an expression": """
        def f(x, flag):
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = x * x
            return tape.gradient(y, x) if flag else tape.jacobian(y, x)
    """,
    "a new tape on every round": """
        v = tf.Variable(1.0)
        for step in range(3):
            with tf.GradientTape() as tape:
                loss = v * v
            v.assign_sub(0.1 * tape.gradient(loss, v))
    """,
    "two tapes of one name": """
        v = tf.Variable(1.0)
        with tf.GradientTape() as tape:
            loss = v * v
        g = tape.gradient(loss, v)
        with tf.GradientTape() as tape:
            loss = v * v * v
        h = tape.gradient(loss, v)
    """,
    "a loop that is left after the call": """
        def f(xs):
            with tf.GradientTape() as tape:
                tape.watch(xs)
                y = tf.stack(xs)
            for x in xs:
                g = tape.gradient(y, x)
                if g is not None:
                    return g
    """,
    "a second call that is meant to fail": """
        class Test(tf.test.TestCase):
            def test_twice(self):
                with tf.GradientTape() as tape:
                    tape.watch(a)
                    y = a * a
                tape.gradient(y, a)
                with self.assertRaises(RuntimeError):
                    tape.gradient(y, a)
    """,
    "a tape that others have a hand on": """
        def f(x, solve):
            with tf.GradientTape() as tape:
                solve(tape, x)
                y = x * x
            g = tape.gradient(y, x)
            return g, tape.gradient(y, x)
    """,
    "a persistent tape in a closure": """
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(a)
            y = a * a

        def grad(x):
            return tape.gradient(y, x)
    """,
    "a persistent tape asked in a loop": """
        v = [tf.Variable(1.0), tf.Variable(2.0)]
        with tf.GradientTape(persistent=True) as tape:
            losses = [v[0] * v[1], v[0] + v[1]]
        g = [tape.gradient(loss, v) for loss in losses]
    """,
    "a Jacobian without pfor": """
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(a)
            y = a * a
        j = tape.jacobian(y, a, experimental_use_pfor=False)
    """,
    "whether it is persistent is said elsewhere": """
        def f(x, persistent):
            with tf.GradientTape(persistent=persistent) as tape:
                tape.watch(x)
                y = x * x
            return tape.gradient(y, x), tape.gradient(y, x)
    """,
    "higher orders on one tape": """
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(a)
            y = a**3
            y_a = tape.gradient(y, a)
        y_aa = tape.gradient(y_a, a)
    """,
    "a first order from which a later target is made": """
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(a)
            y = a**3
            y_a = tape.gradient(y, a)
            energy = tf.reduce_sum(y_a * y_a)
        g = tape.gradient(energy, a)
        h = tape.gradient(y, a)
    """,
    "several targets, one of them of integers": """
        labels = tf.argmax(a)
        with tf.GradientTape() as tape:
            tape.watch(a)
            y = a * a
        g = tape.gradient([y, labels], a)
    """,
    "a target written in the call, in the block": """
        with tf.GradientTape() as tape:
            tape.watch(a)
            y = a * a
            g = tape.gradient(tf.reduce_sum(y), a)
    """,
    "a target picked from a list": """
        with tf.GradientTape() as tape:
            tape.watch(a)
            ys = [a * a, tf.exp(a)]
        g = tape.gradient(ys[0], a)
    """,
    "targets added up as lists": """
        with tf.GradientTape() as tape:
            tape.watch(a)
            ys = [a * a]
            zs = [tf.exp(a)]
        g = tape.gradient(ys + zs, a)
    """,
    "a target that an unknown function hands on": """
        def f(x, pick):
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = x * x
            loss = pick(y)
            return tape.gradient(loss, x)
    """,
    "a cast that may hand its argument on": """
        with tf.GradientTape() as tape:
            tape.watch(a)
            y = a * a
        y = tf.cast(y, tf.float32)
        g = tape.gradient(y, a)
    """,
    "the same name before and in the block": """
        y = a + 1.0
        with tf.GradientTape() as tape:
            tape.watch(a)
            y = a * a
        g = tape.gradient(y, a)
        y = y + 1.0
    """,
    "a target made before the tape, that is the source": """
        y = a * a
        with tf.GradientTape() as tape:
            tape.watch(y)
            z = y + 1.0
        g = tape.gradient([z, y], y)
    """,
    "an unknown source": """
        def f(x):
            with tf.GradientTape() as tape:
                y = x * x
            return tape.gradient(y, x)
    """,
    "a variable needs no watch": """
        v = tf.Variable([1.0, 2.0])
        with tf.GradientTape() as tape:
            y = v * v
        g = tape.gradient(y, v)
    """,
    "watched in a list, and by another name": """
        b = tf.zeros([2])
        both = [a, b]
        with tf.GradientTape() as tape:
            tape.watch(both)
            y = a * b
        g = tape.gradient(y, [b, a])
    """,
    "watched through a conversion that hands it on": """
        with tf.GradientTape() as tape:
            same = tf.convert_to_tensor(a)
            tape.watch(same)
            y = a * a
        g = tape.gradient(y, a)
    """,
    "watched as an element of something": """
        def f(batch):
            b = batch["x"] = tf.ones([2])
            with tf.GradientTape() as tape:
                tape.watch(batch.values())
                y = b * b
            return tape.gradient(y, b)
    """,
    "a source inside, made from what is watched": """
        with tf.GradientTape() as tape:
            tape.watch(a)
            b = tf.square(a)
            y = b + 1.0
        g = tape.gradient(y, b)
    """,
    "None is what is tested for": """
        class Test(tf.test.TestCase):
            def test_constant(self):
                with tf.GradientTape() as tape:
                    y = a * a
                g = tape.gradient(y, a)
                self.assertIsNone(g)
    """,
    "zeros are asked for": """
        with tf.GradientTape() as tape:
            y = a * a
        g = tape.gradient(y, a, unconnected_gradients="zero")
    """,
    "watched after a use without a gradient": """
        with tf.GradientTape() as tape:
            n = tf.cast(tf.shape(a)[0], tf.float32)
            tape.watch(a)
            y = tf.reduce_sum(a * a) / n
        g = tape.gradient(y, a)
    """,
    "watched after a use in another block": """
        with tf.GradientTape() as other:
            other.watch(a)
            z = a * a
        with tf.GradientTape() as tape:
            tape.watch(a)
            y = a * a * z
        g = tape.gradient(y, a)
        h = other.gradient(z, a)
    """,
    "an intermediate, watched where it is made": """
        with tf.GradientTape() as tape:
            tape.watch(a)
            b = a * a
            tape.watch(b)
            y = b * b
        g = tape.gradient(y, [a, b])
    """,
    "a layer that has been called": """
        layer = tf.keras.layers.Dense(1)
        layer(tf.ones([1, 2]))
        with tf.GradientTape(watch_accessed_variables=False) as tape:
            tape.watch(layer.trainable_variables)
            y = layer(tf.ones([1, 2]))
        g = tape.gradient(y, layer.trainable_variables)
    """,
    "a model that knows its input": """
        model = tf.keras.Sequential([tf.keras.Input([2]), tf.keras.layers.Dense(1)])
        with tf.GradientTape(watch_accessed_variables=False) as tape:
            tape.watch(model.trainable_variables)
            y = model(tf.ones([1, 2]))
        g = tape.gradient(y, model.trainable_variables)
    """,
    "a layer on the second round": """
        layer = tf.keras.layers.Dense(1)
        for step in range(2):
            with tf.GradientTape(watch_accessed_variables=False) as tape:
                tape.watch(layer.trainable_variables)
                y = layer(tf.ones([1, 2]))
            g = tape.gradient(y, layer.trainable_variables)
    """,
    "a variable by itself": """
        v = tf.Variable(1.0)
        with tf.GradientTape() as tape:
            y = v * v
        g = tape.gradient(v, v)
    """,
    "whole numbers with a float type": """
        x = tf.constant(3, tf.float32)
        z = tf.constant(3, dtype="float32")
        with tf.GradientTape() as tape:
            tape.watch([x, z])
            y = x * z
        g = tape.gradient(y, [x, z])
    """,
    "a Hessian of one number": """
        x = tf.constant(2.0)
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = x**3
            slope = tape.gradient(y, x)
        hessian = outer.gradient(slope, x)
    """,
    "the product of a Hessian with a vector": """
        x = tf.constant([2.0, 1.0])
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = tf.reduce_sum(x**3)
            slope = tape.gradient(y, x)
        hessian = outer.gradient(slope, x, output_gradients=tf.ones([2]))
    """,
    "gradients of unlike targets, stacked": """
        v = tf.Variable([1.0, 2.0])
        with tf.GradientTape(persistent=True) as tape:
            losses = [tf.reduce_sum(v), tf.reduce_sum(v * v)]
        g = tf.stack([tape.gradient(loss, v) for loss in losses])
    """,
    "a class of the user's own": """
        class GradientTape:
            pass

        with GradientTape() as tape:
            y = a * a
        g = tape.gradient(y, a), tape.gradient(y, a)
    """,
}

WRONG = {
    "TM301 after a call in the block": """
        with tf.GradientTape() as tape:
            tape.watch(a)
            y = a * a
            g = tape.gradient(y, a)
        h = tape.jacobian(y, a)
    """,
    "TM301 in one statement": """
        with tf.GradientTape() as tape:
            tape.watch(a)
            y = a * a
        g = tape.gradient(y, a), tape.gradient(tf.constant(1.0), a, unconnected_gradients="zero")
    """,
    "TM301 on a branch": """
        def f(x, flag):
            with tf.GradientTape(watch_accessed_variables=False) as tape:
                tape.watch(x)
                y = x * x
            g = tape.gradient(y, x)
            if flag:
                g += tape.batch_jacobian(y, x)
            return g
    """,
    "TM301 in a loop": """
        def f(xs):
            with tf.GradientTape() as tape:
                tape.watch(xs)
                y = tf.add_n(xs)
            return [tape.gradient(y, x) for x in xs]
    """,
    "TM302 in the call": """
        def f(x):
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = tf.square(x)
            return tape.gradient(-y, x)
    """,
    "TM302 below the block": """
        v = tf.Variable(1.0)
        with tf.GradientTape() as tape:
            y = v * v
        loss = tf.reduce_mean(y)
        print(loss)
        g = tape.gradient(loss, [v])
    """,
    "TM302 above the block": """
        v = tf.Variable(1.0)
        y = v * v
        with tf.GradientTape() as tape:
            z = y + 1.0
        g = tape.gradient(y, v)
    """,
    "TM303 of the module": """
        def f():
            with tf.GradientTape() as tape:
                y = a * a
            return tape.gradient(y, a)
    """,
    "TM303 beside one that is watched": """
        b = tf.random.normal([2])
        with tf.GradientTape() as tape:
            tape.watch(a)
            y = a * b
        g = tape.gradient(y, [a, b])
    """,
    "TM303 not trainable": """
        v = tf.Variable(1.0, trainable=False)
        with tf.GradientTape() as tape:
            y = v * v
        g = tape.gradient(y, v)
    """,
    "TM303 made by an op before": """
        def f(x):
            h = tf.tanh(x)
            with tf.GradientTape() as tape:
                y = h * h
            return tape.gradient(y, h)
    """,
    "TM304 below the block": """
        with tf.GradientTape() as tape:
            y = a * a
        tape.watch(a)
        g = tape.gradient(y, a)
    """,
    "TM305 in the middle of the block": """
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(a)
            y = a * a
            z = tf.exp(a)
            g = tape.gradient(y, a)
            print(g)
        h = tape.gradient(z, a)
    """,
    "TM306 with another option": """
        with tf.GradientTape(persistent=True, watch_accessed_variables=False) as tape:
            tape.watch(a)
            y = a * a
        g = tape.gradient(y, a)
        del tape
    """,
    "TM306 by position": """
        with tf.GradientTape(True) as tape:
            tape.watch(a)
            y = a * a
        g = tape.gradient(y, a)
    """,
    "TM308 a stack of layers": """
        model = tf.keras.Sequential([tf.keras.layers.Dense(2), tf.keras.layers.Dense(1)])
        with tf.GradientTape(watch_accessed_variables=False) as tape:
            tape.watch(model.trainable_variables)
            y = model(tf.ones([1, 2]))
        g = tape.gradient(y, model.trainable_variables)
    """,
    "TM310 a type of integers": """
        v = tf.Variable(3)
        with tf.GradientTape() as tape:
            y = tf.cast(v, tf.float32) * 2.0
        g = tape.gradient(y, v)
    """,
    "TM310 a target": """
        with tf.GradientTape() as tape:
            tape.watch(a)
            best = tf.argmax(a)
        g = tape.gradient(best, a)
    """,
    "TM311 by index": """
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(a)
            y = a * a
            rows = tf.stack([tape.gradient(y[i], a) for i in range(2)])
    """,
}


def read(text: str, *, rewrite: bool = False) -> Result:
    files = {"program.py": SourceFile("program.py", text)}
    return analyse(files, Settings(unsafe_fixes=True), rewrite=rewrite)


def program(body: str) -> str:
    return HEADER + textwrap.dedent(body)


def found(result: Result) -> list[str]:
    return [d.code for d in result.diagnostics if d.code in RULES]


@pytest.mark.parametrize("name", CORRECT)
def test_no_diagnostic_on_what_is_right(name: str) -> None:
    assert not found(read(program(CORRECT[name])))


@pytest.mark.parametrize("name", WRONG)
def test_diagnostic_on_what_is_wrong(name: str) -> None:
    result = read(program(WRONG[name]), rewrite=True)
    assert set(found(result)) == {name.split()[0]}
    for text in result.rewritten.values():
        assert not found(read(text)), text


@pytest.mark.parametrize("code", sorted(RULES))
def test_examples(code: str) -> None:
    example = catalog.rule(code).example
    assert example is not None
    result = read(example.before, rewrite=True)
    assert set(found(result)) == {code}
    assert not found(read(example.after))
    if result.diagnostics[0].fix is not None:
        assert result.rewritten == {"program.py": example.after}


@pytest.mark.parametrize("fixture", tuple(fixtures()), ids=lambda fixture: fixture.name)
def test_what_the_tool_writes_is_no_misuse(fixture: Fixture) -> None:
    files = {name: SourceFile(name, text) for name, text in fixture.texts.items()}
    written = analyse(files, Settings(unsafe_fixes=True), rewrite=True).rewritten
    for name, text in written.items():
        files[name] = SourceFile(name, text)
    if fixture.rewritten:
        result = analyse(files, Settings(), rewrite=False)
        assert not found(result), [d.message for d in result.diagnostics]


def test_options_keep_their_text() -> None:
    for name, options in {
        "TM306 with another option": "watch_accessed_variables=False",
        "TM306 by position": "",
        "TM301 on a branch": "persistent=True, watch_accessed_variables=False",
    }.items():
        (text,) = read(program(WRONG[name]), rewrite=True).rewritten.values()
        assert f"tf.GradientTape({options})" in text


def test_one_watch_for_all_that_lack_it() -> None:
    text = program(
        """
        b = tf.ones([2])
        with tf.GradientTape() as tape:
            y = a * b
        g = tape.gradient(y, [a, b])
        """
    )
    result = read(text, rewrite=True)
    assert found(result) == ["TM303", "TM303"]
    assert "tape.watch([a, b])" in result.rewritten["program.py"]


def test_two_calls_for_one_target_are_better_made_one() -> None:
    text = program(
        """
        v, w = tf.Variable(1.0), tf.Variable(2.0)
        with tf.GradientTape() as tape:
            y = v * w
        g = tape.gradient(y, v)
        h = tape.gradient(y, w)
        """
    )
    (diagnostic,) = read(text).diagnostics
    assert diagnostic.help.startswith("Ask once")
