"""tapemigrate: moves TensorFlow 1 gradient code to ``tf.GradientTape``, and proves it."""

__version__ = "0.1.0"
