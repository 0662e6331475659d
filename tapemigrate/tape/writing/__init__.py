"""From planned tapes to the text that is written."""
