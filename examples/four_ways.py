"""The gradients of a weighted sum, in the four ways that tf.contrib.eager had."""

import tensorflow as tf

tfe = tf.contrib.eager

tf.enable_eager_execution()

w1 = tfe.Variable(2.0)
w2 = tfe.Variable(3.0)


def weighted_sum(x1, x2):
    """What is differentiated: by its arguments, or by the variables that it reads."""
    return w1 * x1 + w2 * x2


with tf.GradientTape() as tape:
    total = weighted_sum(5.0, 7.0)
print(total, tape.gradient(total, [w1, w2]))

by_argument = tfe.gradients_function(weighted_sum)
print(by_argument(5.0, 7.0))

by_variable = tfe.implicit_gradients(weighted_sum)
print(by_variable(5.0, 7.0))

value, pairs = tfe.implicit_value_and_gradients(weighted_sum)(5.0, 7.0)
print(value, pairs)
