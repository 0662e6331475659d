"""What callers show of what they hand in: whether one was made of the other before."""
