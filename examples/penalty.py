"""Gradients of parameters, in functions that a training script elsewhere calls."""

import tensorflow.compat.v1 as tf


def gradient_penalty(critic, real, fake):
    """How far the norm of the critic's gradient is from one, between real and fake."""
    alpha = tf.random_uniform([tf.shape(real)[0], 1])
    between = real + alpha * (fake - real)
    gradients = tf.gradients(critic(between), [between])[0]
    norms = tf.sqrt(tf.reduce_sum(tf.square(gradients), axis=1))
    return tf.reduce_mean(tf.square(norms - 1.0))


def pull(image, target, weights):
    """The gradient of the weighted distance from a target, with respect to the image."""
    distance = tf.reduce_sum(weights * tf.square(image - target))
    return tf.gradients(distance, image, name="pull")[0]
