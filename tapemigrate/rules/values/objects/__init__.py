"""Objects: what their attributes and methods are, and what other code puts there."""
