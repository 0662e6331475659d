"""What to write by hand where no tape can be placed."""

SOURCE = (
    "Open `with tf.GradientTape() as tape:` before the first use of the source, call "
    "`tape.watch(source)`, compute the target inside, and write `tape.gradient(target, source)`."
)
THREAD = (
    "Open the tape where the target is computed: `with tf.GradientTape() as tape:` round that "
    "forward pass, `tape.watch(…)` every source that is no trainable variable, and hand the tape "
    "to this place, which then asks `tape.gradient(target, sources)`."
)
STOP = (
    "Compute the tensors to be held constant under `with tape.stop_recording():` and watch those "
    "that are sources right after."
)
MADE_TENSOR = (
    "Nothing depends on a number or an array: `tf.gradients` gives None for it. If its gradient is "
    "meant, make it a tensor by `tf.convert_to_tensor(…)` before it is used."
)
