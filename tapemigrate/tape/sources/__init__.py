"""What is differentiated by: which tensors and variables, and how they were made."""
