"""Which statements a tape records, and whether it can stand there."""
