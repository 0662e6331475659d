"""Control flow, definitions and uses, slices. Knows Python, and nothing of TensorFlow."""
