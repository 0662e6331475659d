"""Who calls whom, and what a name of another file means."""
