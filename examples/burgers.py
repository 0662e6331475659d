"""Burgers' equation, u_t + u u_x = nu u_xx, for a network that is trained to satisfy it."""

import numpy as np
import tensorflow.compat.v1 as tf

NU = 0.01 / np.pi


def network(x, t):
    """The solution u(x, t) as the network has it."""
    hidden = tf.concat([x, t], axis=1)
    for layer in range(3):
        with tf.variable_scope("layer" + str(layer), reuse=tf.AUTO_REUSE):
            weights = tf.get_variable("weights", [hidden.shape[1], 16])
            biases = tf.get_variable("biases", [16], initializer=tf.zeros_initializer())
        hidden = tf.tanh(tf.matmul(hidden, weights) + biases)
    return tf.reduce_mean(hidden, axis=1, keepdims=True)


def residual(x, t):
    """How far the network is from satisfying the equation at (x, t)."""
    u = network(x, t)
    u_t = tf.gradients(u, t)[0]
    u_x = tf.gradients(u, x)[0]
    u_xx = tf.gradients(u_x, x)[0]  # second order
    return u_t + u * u_x - NU * u_xx


def train(steps):
    """The mean squared residual after so many steps."""
    rng = np.random.RandomState(0)
    x = tf.placeholder(tf.float32, [None, 1])
    t = tf.placeholder(tf.float32, [None, 1])
    loss = tf.reduce_mean(tf.square(residual(x, t)))
    step = tf.train.AdamOptimizer(1e-3).minimize(loss)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for _ in range(steps):
            points = {x: rng.uniform(-1, 1, (64, 1)), t: rng.uniform(0, 1, (64, 1))}
            value, _ = session.run([loss, step], points)
    return value


if __name__ == "__main__":
    tf.disable_eager_execution()
    tf.set_random_seed(0)
    print(train(steps=20))
