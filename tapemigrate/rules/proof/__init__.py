"""What the correctness of a tape rests on, and whether the code bears it out."""
