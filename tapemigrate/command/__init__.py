"""What the command line is made of: its frame, its requests, and what it tells."""
