"""TM111–TM116: the function transformers of ``tf.contrib.eager``, and its other symbols."""
