"""Other names of a source, by which the target may have been made of it."""
