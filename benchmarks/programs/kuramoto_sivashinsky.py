# mypy: ignore-errors
"""The same for the Kuramoto-Sivashinsky equation, u_t + u u_x + u_xx + u_xxxx = 0."""

import itertools
import math

import tensorflow as tf

LAYERS = (2, 20, 20, 20, 20, 20, 20, 20, 20, 1)
LEARNING_RATE = 1e-6


def make_weights():
    """Weights and biases, layer by layer."""
    made = []
    for n, (width_in, width_out) in enumerate(itertools.pairwise(LAYERS)):
        scale = math.sqrt(2.0 / (width_in + width_out))
        w = tf.random.stateless_normal([width_in, width_out], seed=[n, 1], stddev=scale)
        made += [tf.Variable(w), tf.Variable(tf.zeros([1, width_out]))]
    return made


def make_batch(n):
    """Points x, t of the domain, and values of u to be learnt there."""
    x = tf.random.stateless_uniform([n, 1], seed=[1, 2], minval=-1.0, maxval=1.0)
    t = tf.random.stateless_uniform([n, 1], seed=[3, 4])
    return x, t, -tf.sin(math.pi * x) * tf.exp(-t)


def net_u(weights, x, t):
    """The network."""
    h = tf.concat([x, t], 1)
    for n in range(0, len(weights) - 2, 2):
        h = tf.tanh(tf.matmul(h, weights[n]) + weights[n + 1])
    return tf.matmul(h, weights[-2]) + weights[-1]


def net_f(weights, x, t):
    """The residual of the equation."""
    u = net_u(weights, x, t)
    u_t = tf.gradients(u, t)[0]
    u_x = tf.gradients(u, x)[0]
    u_xx = tf.gradients(u_x, x)[0]
    u_xxx = tf.gradients(u_xx, x)[0]
    u_xxxx = tf.gradients(u_xxx, x)[0]
    return u_t + u * u_x + u_xx + u_xxxx


def step(weights, x, t, u):
    """One step of gradient descent on data and residual; the loss before it."""
    loss = tf.reduce_mean(tf.square(u - net_u(weights, x, t)))
    loss += tf.reduce_mean(tf.square(net_f(weights, x, t)))
    gradients = tf.gradients(loss, weights)
    for weight, gradient in zip(weights, gradients, strict=True):
        weight.assign_sub(LEARNING_RATE * gradient)
    return loss
