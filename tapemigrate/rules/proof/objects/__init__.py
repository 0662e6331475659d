"""Which objects and classes the forward pass runs through, and what their methods read."""
