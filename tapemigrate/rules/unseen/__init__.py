"""What a tape does not see, though ``tf.gradients`` does."""
