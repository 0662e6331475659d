"""What modules compute as they are imported, and what other modules read of it."""
