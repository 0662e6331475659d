"""``ast.parse``, with every way in which it can fail told as one clear line."""

from __future__ import annotations

import ast
import re
import sys
import warnings

from tapemigrate.patterns import late
from tapemigrate.source.decoding import SourceError
from tapemigrate.source.positions import Lines

_PYTHON2_MESSAGES = late(
    r"Missing parentheses in call to '(?:print|exec)'"
    r"|(?:multiple exception types|Multiple exception types) must be parenthesized"
    r"|leading zeros in decimal integer literals are not permitted"
)
_PYTHON2_LINES = late(
    r"""\s*print\s+(?:["'\w%]|>>)      # print statement
    |\s*exec\s+["'\w]                  # exec statement
    |\s*except\s+[\w.()\s,]+,\s*\w+\s*:   # except E, e:
    |\s*raise\s+[\w.]+\s*,             # raise E, 'message'
    |[^#'"]*<>                         # a <> b
    |[^#'"]*`[^`]+`                    # `a`
    |[^#'"]*\b[0-9]+[lL]\b             # 10L
    |[^#'"]*\b0[0-7]+\b                # 0777
    |[^#'"]*\b[uU][rR]["']             # ur''
    |\s*def\s+\w+\s*\((?:[^()=]*,)?\s*\(  # def f(a, (b, c)):
    |[^#'"]*\blambda\s*\([^()]*\)\s*:  # lambda (a, b): a
    """,
    re.VERBOSE,
)
_NEW_KEYWORD = late(r"\b(async|await)\b")
_PYTHON2_SHEBANG = late(r"#!.*\bpython2")


def parse(text: str, filename: str) -> ast.Module:
    """The syntax tree of ``text``.

    Raises:
        SourceError: TM901 with the place where the parser stopped; TM902 when the file is
            Python 2.
    """
    # Python before 3.12 has no position for this, and a message that speaks of "source code
    # string".
    if (index := text.find("\0")) >= 0:
        row = Lines(text[:index] + "x")
        raise SourceError("TM901", "contains a NUL byte", len(row), len(row.row(len(row))))
    try:
        with warnings.catch_warnings():
            # "invalid escape sequence" and the like are no business of ours.
            warnings.simplefilter("ignore")
            return ast.parse(text, filename)
    except SyntaxError as error:
        raise _explain(error, text) from None
    except (RecursionError, MemoryError):
        raise SourceError("TM901", "is nested too deeply to analyse") from None
    except UnicodeEncodeError as error:
        raise SourceError("TM901", f"cannot be parsed: {error.reason}") from None
    except ValueError as error:
        raise SourceError("TM901", f"does not parse: {error}") from None


def _explain(error: SyntaxError, text: str) -> SourceError:
    lines = Lines(text)
    row = min(max(error.lineno or 1, 1), max(len(lines), 1))
    column = max(error.offset or 1, 1)
    line = lines.row(row)
    if (
        _PYTHON2_MESSAGES.search(error.msg)
        or _PYTHON2_LINES.match(line)
        or _PYTHON2_SHEBANG.match(text)
    ):
        return SourceError(
            "TM902",
            f"is Python 2 ({line.strip()[:60]!r} does not parse); run 2to3 on it first",
            row,
            column,
        )
    told = error.msg
    # ``f(async=True)``: the parser stops at the word, or behind it.
    if (word := _NEW_KEYWORD.search(line)) and word.start() < column <= word.end() + 2:
        told = f"`{word[1]}` is a keyword since Python 3.7, and no name"
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    return SourceError("TM901", f"does not parse as Python {version}: {told}", row, column)
