"""Lists and dicts: what is put in, and whether a name stands for one tensor or for several."""
