"""What values are and where they come from: variables, data, numbers, lists."""
