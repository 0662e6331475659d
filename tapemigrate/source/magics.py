"""What IPython reads beside Python in a notebook cell, replaced by Python that a tool can read.

Every stand-in fills as many rows as what it stands for, and ``restored`` puts the original back
wherever a rewrite has carried it.
"""

from __future__ import annotations

import ast
import builtins
import keyword
import re
from collections.abc import Iterator
from dataclasses import dataclass

from tapemigrate.patterns import late
from tapemigrate.source.decoding import SourceError
from tapemigrate.source.parsing import parse

# Cell magics whose body runs as Python, in the namespace of the notebook.
_PYTHON_CELLS = frozenset(
    {"capture", "debug", "ipytest", "memit", "prun", "run_pytest", "time", "timeit"}
)
# Those whose body is no Python, or none that shares names with the notebook.
_TEXT_CELLS = frozenset(
    {"bash", "file", "html", "HTML", "javascript", "js", "latex", "markdown", "perl", "pypy"}
    | {"python", "python2", "python3", "ruby", "script", "sh", "svg", "SVG", "system", "writefile"}
)
# The value of an option is never taken for the statement: (?=(…))\1 does not go back.
_OPTIONS = r"(?:[ \t]+-(?=(?P<option>[fmnrlsTD][ \t]*[\w.]+|\w+))(?P=option))*"
# Line magics that run a statement in the namespace of the notebook, and those that run it over and
# over, in a namespace of its own.
_ONCE = late(rf"%(?:time|prun|lprun|mprun)(?![\w.]){_OPTIONS}[ \t]+(?=[^\s-])")
_AGAIN = late(rf"%(?P<name>timeit|memit)(?![\w.]){_OPTIONS}[ \t]+(?=[^\s-])")
_ANY = late(rf"%(?!timeit|memit)[\w.]+{_OPTIONS}[ \t]+(?=[^\s-])")
_NEWLINE = r"(?:\r\n|\r|\n)"
_REST = rf"(?:\\{_NEWLINE}|[^\r\n])*"
# Line magics that IPython takes without their ``%``, where a line that is all of a cell begins with
# them. Those that run Python, or set the notebook's names, are not among them.
_BARE = late(
    rf"(?:[ \t]*{_NEWLINE})*(?P<magic>(?:alias|bookmark|cat|cd|conda|config|cp|dhist|dirs|env"
    r"|history|ldir|less|ll|load_ext|ls|lsmagic|man|mamba|matplotlib|mkdir|more|mv|pip|popd"
    r"|precision|pushd|pwd|reload_ext|rm|rmdir|set_env|tensorflow_version|uv|who|whos|xmode)"
    r"(?:[ \t]+(?![ \t=,])[^\r\n]*)?)\s*\Z"
)
_ESCAPED = late(rf"(?P<indent>[ \t]*)(?P<magic>(?:[%!?/;]|,(?=\S)){_REST})")
_ASSIGNED = late(
    r"(?P<left>[ \t]*[\w*(][\w.,*() \t]*(?:\[[^\]=\r\n]*\][\w., \t]*)*=[ \t]*)"
    rf"(?P<magic>[!%]{_REST})"
)
_HELP = late(
    r"(?P<indent>[ \t]*)(?P<magic>%{0,2}[^\W\d][\w.*\[\]()'\"]*\?{1,2}[ \t]*)(?=[\r\n]|\Z)"
)
_CELL = late(rf"(?:[ \t]*{_NEWLINE})*(?P<magic>%%(?P<name>[^\s]*){_REST})")
_RUN = late(r"%run\b")
_PIECE = late(
    r'"""[^\\"]*(?:(?:\\.|"(?!""))[^\\"]*)*(?:"""|\Z)'
    r"|'''[^\\']*(?:(?:\\.|'(?!''))[^\\']*)*(?:'''|\Z)"
    r'|"[^\\"\r\n]*(?:\\(?:\r\n|.)[^\\"\r\n]*)*"?'
    r"|'[^\\'\r\n]*(?:\\(?:\r\n|.)[^\\'\r\n]*)*'?"
    rf"|#[^\r\n]*|(?P<open>[(\[{{])|(?P<close>[)\]}}])|\\{_NEWLINE}|(?P<newline>{_NEWLINE})",
    re.DOTALL,
)
_LINE = late(rf"[^\r\n]*(?:{_NEWLINE}|\Z)")
# What binds names in a text that is no Python: assignments, loops and definitions.
_TARGET = r"[(*]*[\w.]+(?:\[[^\]\n]*\])*\)?"
_BINDING = late(
    rf"(?:^|[;:])[ \t]*(?:(?P<left>{_TARGET}(?:[ \t]*,[ \t]*{_TARGET})*,?)"
    r"[ \t]*(?::[^=\n]*|[-+*/%&|^@<>]{0,2})=(?!=)"
    r"|(?:for|def|class)[ \t]+(?P<name>[\w, \t]+?)(?=[ \t]+in\b|[ \t]*[(:]))",
    re.MULTILINE,
)
_NAME = late(r"(?<![\w.])[^\W\d]\w*")


@dataclass(frozen=True, slots=True)
class StandIn:
    """``code`` stands for ``original``. ``alone``: it is all there is on its rows."""

    code: str
    original: str
    alone: bool


@dataclass(frozen=True, slots=True)
class Reading:
    """A cell as Python. ``indent`` was taken off every line that is not blank.

    ``foreign`` is the name of the cell magic whose body is not Python of this notebook.
    ``problem`` says why the cell is neither Python nor IPython. Nothing is then known of it but
    the names in it.
    """

    code: str
    indent: str = ""
    stand_ins: tuple[StandIn, ...] = ()
    foreign: str | None = None
    problem: SourceError | None = None


class TornError(Exception):
    """A rewrite has parted a magic from what belongs to it. The message says what it would do."""


def read(text: str, mark: str, filename: str) -> Reading:
    """How Python reads the cell ``text``. ``mark`` begins every name that stands for a magic.

    No name in the notebook may begin like it.
    """
    problem = _problem(text, filename)
    if problem is None:
        return Reading(text)
    bare = _BARE.match(text)
    if bare is not None:
        stand_in = _opaque(bare["magic"], ([], []), mark, 0)
        code = f"{text[: bare.start('magic')]}{stand_in.code}{text[bare.end('magic') :]}"
        return Reading(code, "", (stand_in,))
    for indent in dict.fromkeys(("", _common_indent(text))):
        reading = _translated(_without(indent, text), mark)
        if _problem(reading.code, filename) is None:
            return Reading(reading.code, indent, reading.stand_ins, reading.foreign)
    reading = _translated(text, mark)
    if reading.stand_ins:
        problem = _problem(reading.code, filename)
    return Reading(*_unread(text, mark), problem=problem)


def restored(reading: Reading, code: str) -> str:
    """The cell that ``code``, the Python of ``reading`` or a rewrite of it, stands for.

    Raises:
        TornError: when a magic would not do what it did.
    """
    if code != reading.code and (reading.foreign is not None or reading.problem is not None):
        raise TornError(
            f"would reach into a `%%{reading.foreign}` cell, which is not read"
            if reading.foreign
            else "would reach into a cell that does not parse"
        )
    for each in reading.stand_ins:
        alone = rf"(?:\A|(?<=[\r\n]))[ \t]*{re.escape(each.code)}[ \t]*(?=[\r\n]|\Z)"
        if code.count(each.code) != 1 or (each.alone and not re.search(alone, code)):
            raise _torn(each.original.strip() or each.code)
    whole = _put_back(reading, code)
    if reading.indent:
        whole = "".join(reading.indent + line if line.strip() else line for line in _lines(whole))
    magic = reading.stand_ins[0].original if reading.stand_ins else ""
    if magic.startswith("%%") and reading.foreign is None:
        first = _CELL.match(whole)
        if first is None or first["magic"] != magic:
            raise _torn(magic.splitlines()[0])
    return whole


def _torn(magic: str) -> TornError:
    return TornError(f"would part `{magic}` from what it is for")


def shown(reading: Reading, piece: str) -> str:
    """A piece of the code of ``reading``, or of a message about it, as the user wrote it."""
    return _put_back(reading, piece)


def repeated(stand_in: StandIn) -> tuple[str, str] | None:
    """The magic, and the code, that a line runs over and over; None where it does not."""
    given = _AGAIN.match(stand_in.original)
    return None if given is None else (f"%{given['name']}", stand_in.original[given.end() :])


def _put_back(reading: Reading, code: str) -> str:
    for each in reading.stand_ins:
        code = code.replace(each.code, each.original)
    return code


def _problem(code: str, filename: str) -> SourceError | None:
    try:
        parse(code, filename)
    except SourceError as error:
        return error
    return None


def _common_indent(text: str) -> str:
    """The indentation of the first line, if every line has it: IPython takes it off."""
    lines = [line for line in _lines(text) if line.strip()]
    first = lines[0] if lines else ""
    indent = first[: len(first) - len(first.lstrip(" \t"))]
    return indent if all(line.startswith(indent) for line in lines) else ""


def _without(indent: str, text: str) -> str:
    if not indent:
        return text
    return "".join(line.removeprefix(indent) if line.strip() else line for line in _lines(text))


def _lines(text: str) -> Iterator[str]:
    return (match[0] for match in _LINE.finditer(text) if match[0])


def _translated(text: str, mark: str) -> Reading:
    first = _CELL.match(text)
    found: list[StandIn] = []
    out: list[str] = []
    at = 0
    if first is not None:
        # What stands beside ``%%timeit`` runs first, once.
        name = first["name"]
        body = _LINE.sub("", text[first.end() :], count=1)
        own = name == "timeit" and bool(_names(body)[1])
        if own or name not in _PYTHON_CELLS or _AGAIN.match(first["magic"][1:]):
            used = ([], []) if name in _TEXT_CELLS else _names(body, name)
            stand_in = _opaque(text, used, mark, 0)
            return Reading(stand_in.code, "", (stand_in,), foreign=name)
        found.append(_opaque(first["magic"], ([], []), mark, 0))
        out += [text[: first.start("magic")], found[0].code]
        at = first.end()
        newline = _LINE.match(text, at)
        assert newline is not None
        out.append(newline[0])
        at = newline.end()
    while at < len(text):
        end = _after(text, at, mark, found, out)
        at = end if end > at else len(text)
    return Reading("".join(out), "", tuple(found))


def _after(text: str, at: int, mark: str, found: list[StandIn], out: list[str]) -> int:
    """Reads the logical line at ``at``; gives where the next one begins."""
    number = len(found)
    match = _ESCAPED.match(text, at) or _HELP.match(text, at)
    if match is not None:
        out.append(match["indent"])
        made = _command(match["magic"], mark, number, nested=bool(match["indent"]))
    else:
        match = _ASSIGNED.match(text, at)
        if match is None:
            end = _logical_end(text, at)
            out.append(text[at:end])
            return end
        out.append(match["left"])
        made = _value(match["magic"], mark, number)
    code, stand_ins = made
    found += stand_ins
    newline = _LINE.match(text, match.end())
    assert newline is not None
    out += [code, newline[0]]
    return newline.end()


def _command(magic: str, mark: str, number: int, *, nested: bool) -> tuple[str, list[StandIn]]:
    given = _ONCE.match(magic)
    if given is None and _assigns(magic):
        given = _ANY.match(magic)
    if given is not None and _is_python(magic[given.end() :]):
        stand_in = StandIn(f'"{mark}{number}_"; ', given[0], alone=False)
        return stand_in.code + magic[given.end() :], [stand_in]
    if _RUN.match(magic) and not nested and not re.search(_NEWLINE, magic):
        # It defines whatever the script defines.
        stand_in = StandIn(f"from {mark}{number}_ import *", magic, alone=True)
    else:
        again = _AGAIN.match(magic)
        used = _names(magic[again.end() :], again["name"]) if again else ([], [])
        stand_in = _opaque(magic, used, mark, number)
    return stand_in.code, [stand_in]


def _value(magic: str, mark: str, number: int) -> tuple[str, list[StandIn]]:
    given = _ONCE.match(magic)
    if given is not None and _is_python(f"({magic[given.end() :]})"):
        opening = StandIn(f"{mark}{number}_(", given[0], alone=False)
        closing = StandIn(f", {mark}{number}_end)", "", alone=False)
        return f"{opening.code}{magic[given.end() :]}{closing.code}", [opening, closing]
    rows = "\n" * len(re.findall(_NEWLINE, magic))
    stand_in = StandIn(f"{mark}{number}_({rows})", magic, alone=False)
    return stand_in.code, [stand_in]


def _opaque(magic: str, used: tuple[list[str], list[str]], mark: str, number: int) -> StandIn:
    """Python of as many rows for a magic that reads and binds names in a way of its own.

    It says which names these are, and nothing else. Without any it is a string, which does nothing.
    """
    rows = "\n" * len(re.findall(_NEWLINE, magic))
    read, bound = used
    if read or bound:
        # One may come from another.
        targets = f"{', '.join(bound)} = " if bound else ""
        return StandIn(f"{targets}{mark}{number}_({rows}{', '.join(read)})", magic, alone=True)
    quotes = '"""' if rows else '"'
    return StandIn(f"{quotes}{mark}{number}_{rows}{quotes}", magic, alone=True)


def _names(code: str, magic: str = "") -> tuple[list[str], list[str]]:
    """The names that ``code`` reads, and those that it binds; none where it is no Python."""
    try:
        tree = parse(code, "")
    except SourceError:
        return [], []
    read: set[str] = set()
    bound: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            (read if isinstance(node.ctx, ast.Load) else bound).add(node.id)
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            bound.add(node.name)
    # What ``%timeit`` runs is the body of a function.
    bound = set() if magic == "timeit" else bound
    return sorted(name for name in read if not hasattr(builtins, name)), sorted(bound)


def _unread(text: str, mark: str) -> tuple[str, str, tuple[StandIn, ...]]:
    """Code for a cell that is no Python, such as Python of a later version.

    It may bind whatever is assigned in it, from all the names in it, and import anything.
    """
    words = {*_NAME.findall(text)} - {*keyword.kwlist, *keyword.softkwlist}
    lefts = " ".join(match["left"] or match["name"] for match in _BINDING.finditer(text))
    bound = sorted(words.intersection(_NAME.findall(lefts)))
    read = sorted(word for word in words if not hasattr(builtins, word))
    stand_in = _opaque(text, (read, bound), mark, 0)
    if read or bound:
        code = f"{stand_in.code}; from {mark}0_ import *"
        stand_in = StandIn(code, text, alone=True)
    return stand_in.code, "", (stand_in,)


def _assigns(magic: str) -> bool:
    """Whether what stands behind the name of a line magic is an assignment."""
    given = _ANY.match(magic)
    if given is None or not _is_python(magic[given.end() :]):
        return False
    kinds = ast.Assign | ast.AugAssign | ast.AnnAssign
    # A comment is Python, and no statement.
    return any(isinstance(stmt, kinds) for stmt in ast.parse(magic[given.end() :]).body[:1])


def _is_python(code: str) -> bool:
    return bool(code.strip()) and _problem(code, "") is None


def _logical_end(text: str, at: int) -> int:
    depth = 0
    for piece in _PIECE.finditer(text, at):
        if piece["open"]:
            depth += 1
        elif piece["close"]:
            depth = max(0, depth - 1)
        elif piece["newline"] and not depth:
            return piece.end()
    return len(text)
