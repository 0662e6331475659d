"""What is asked of the sources alone: where they are found, by which names, in which lists."""
