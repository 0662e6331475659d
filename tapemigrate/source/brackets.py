"""Where a parenthesis closes in a text, and what stands before it."""

from __future__ import annotations

import io
import tokenize
from collections.abc import Iterator

_QUIET = (tokenize.NL, tokenize.NEWLINE, tokenize.COMMENT, tokenize.INDENT, tokenize.DEDENT)


def end_of_first(text: str) -> tuple[int, str]:
    """Where the last thing in the first parentheses of ``text`` ends (an index), and what it is.

    That is the parenthesis itself where they are empty.

    Raises:
        ValueError: where there are none, or they do not close.
    """
    depth, end, before = 0, 0, ""
    for string, place in _tokens(text):
        if string == ")" and depth == 1:
            return end, before
        if string in ("(", "[", "{"):
            # Type parameters stand in brackets in front of the parentheses.
            depth += 1 if string == "(" or depth else 0
        elif string in (")", "]", "}") and depth:
            depth -= 1
        end, before = place, string
    raise ValueError("the parentheses do not close")


def end_of_lambda(text: str) -> tuple[int, str]:
    """Where the last thing among the parameters of a lambda ends (an index), and what it is.

    That is the word ``lambda`` where it has none.

    Raises:
        ValueError: where there is no lambda.
    """
    depth, end, before = -1, 0, ""
    for string, place in _tokens(text):
        if string == "lambda":
            depth += 1
        elif string == ":" and depth == 0:
            return end, before
        elif string in ("(", "[", "{", ":") and depth >= 0:
            depth += 1 if string != ":" else -1
        elif string in (")", "]", "}") and depth > 0:
            depth -= 1
        end, before = place, string
    raise ValueError("there is no lambda")


def with_argument(call: str, argument: str) -> str:
    """The text of a call with one argument more, at the end.

    Raises:
        ValueError: where ``call`` does not end in a parenthesis.
    """
    found = list(_tokens(f"({call})"))[:-1]
    if len(found) < 3 or found[-1][0] != ")":
        raise ValueError("the call does not end in a parenthesis")
    before, end = found[-2][0], found[-2][1] - 1
    separator = {"(": "", ",": " "}.get(before, ", ")
    return f"{call[:end]}{separator}{argument}{call[end:]}"


def _tokens(text: str) -> Iterator[tuple[str, int]]:
    """The tokens that count, each with the index at which it ends."""
    starts = [0]
    for line in io.StringIO(text, newline="").readlines():
        starts.append(starts[-1] + len(line))
    try:
        for token in tokenize.generate_tokens(io.StringIO(text, newline="").readline):
            if token.type == tokenize.ENDMARKER:
                return
            if token.type not in _QUIET:
                yield token.string, starts[token.end[0] - 1] + token.end[1]
    except (tokenize.TokenError, SyntaxError) as error:
        raise ValueError(f"it cannot be read: {error}") from error
