"""What objects keep from one method to the next, and whether it was computed of a source."""
