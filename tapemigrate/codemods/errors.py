"""What goes wrong when a plan is applied."""

from __future__ import annotations


class CodemodError(Exception):
    """The plan cannot be applied to this text: the message, one line, says why."""
