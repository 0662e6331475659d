"""Domain adaptation: features that tell no domain, by a gradient that is turned round."""

import tensorflow.compat.v1 as tf


@tf.RegisterGradient("Reverse")
def reverse(op, gradient):
    """The gradient of the op, with the other sign."""
    return -gradient


def confusion(features, classifier):
    """The gradient that makes the features harder for the classifier of domains."""
    with tf.get_default_graph().gradient_override_map({"Identity": "Reverse"}):
        turned = tf.identity(features)
    loss = tf.reduce_mean(classifier(turned))
    return tf.gradients(loss, features)[0]
