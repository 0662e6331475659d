"""A run over many files: what is looked at, in which pieces, by which processes."""
