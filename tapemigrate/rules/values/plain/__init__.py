"""What is no tensor: numbers, texts, None, data, settings."""
