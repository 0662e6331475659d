"""The planner: where a tape opens, what it watches, in which order it is asked."""
