"""Variables, and what holds or gives them."""
