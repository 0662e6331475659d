"""Tapes that are handed on, lent or kept: for targets that are computed in another place."""
