"""What the bytes of files tell of the modules that they import."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from tapemigrate.patterns import late
from tapemigrate.running.reading import read, searchable
from tapemigrate.source.decoding import SourceError, is_notebook

_FROM = late(
    rb"from(?:[ \t]|\\\r?\n)+([\w.\x80-\xff]+)(?:[ \t]|\\\r?\n)+"
    rb"import\b(?:[ \t]|\\\r?\n)*(\([^)]*|(?:[^\r\n\\;#]|\\\r?\n)*)"
)
_IMPORT = late(rb"import[ \t]+((?:[\w., \t\x80-\xff]|\\\r?\n)+)")
_NAME = late(rb"(?:^|[,(])(?:[ \t\r\n\\]|#[^\n]*)*([\w\x80-\xff]+)")
# The first two steps of a module that a text names; the second may come from elsewhere.
_MODULE = late(rb"[\"']([^\W\d]\w*\.(?:\w+|(?=[\"'{%])))")
_FOLDER = late(rb"[\"'/\\]([\w.+-]+)")
# An import statement: what stands on its line before the word, and what follows.
_BEFORE = late(rb"[ \t]*(?:from[ \t]+[\w.]+[ \t]+)?")
_WORD = b"import"
_IMPORTED = late(rb"import\b(?:[ \t]*\([^)]*\)|(?:[^\n\\]|\\\r?\n)*)")
#: What loads modules by their names, which no import statement shows; or, below, from folders.
LOADING = (b"import_module", b"__import__", b"load_module", b"run_module")
_ADDING = (b"sys.path", b"load_source", b"spec_from_file", b"run_path", b"execfile", b"%run")


class Imports(NamedTuple):
    """What a file may import.

    ``modules`` are first steps, and first two: ``a`` and ``a.b`` of ``import a.b.c``, and of ``from
    a import b``; where modules are loaded by name, also ``a.`` and whatever follows. ``folders``
    are those that it may load from.
    """

    modules: frozenset[bytes] = frozenset()
    folders: frozenset[bytes] = frozenset()


def imports_in(paths: Sequence[str]) -> list[Imports]:
    """What each of the files imports; nothing where it cannot be read."""
    return [_imports_in(path) for path in paths]


def _imports_in(path: str) -> Imports:
    try:
        data = searchable(path, read(path))
    except SourceError:
        return Imports()
    modules: list[bytes] = []
    for module, names in statements_in(data, is_notebook(path)):
        modules += module.split()[:1]
        # Of a folder that is no package, modules are imported, and nothing else.
        if names and b"." not in module:
            modules += [b"%b.%b" % (module, name) for name in _NAME.findall(names)]
    found = {step for module in modules for step in _first_steps(module)}
    if any(mark in data for mark in LOADING):
        found.update(_MODULE.findall(data))
    by_place = any(mark in data for mark in _ADDING)
    return Imports(frozenset(found), frozenset(_FOLDER.findall(data) if by_place else ()))


def statements_in(data: bytes, notebook: bool) -> Iterator[tuple[bytes, bytes | None]]:
    """What a text imports, in the order of its statements, plain ones last.

    Of ``from a import b as c, d`` it is ``a``, and what stands behind ``import``, which may have
    parentheses, comments and breaks in it; of ``import a as b, c`` it is ``a as b`` and ``c``, each
    with None.
    """
    # The first line of a notebook's cell stands behind the quotes of its text.
    ends = (b":", b";", b'"') if notebook else (b":", b";")
    for match in _FROM.finditer(data):
        if _begins(data, match.start(), ends):
            yield match[1], match[2]
    rest = _FROM.sub(b"", data)
    for match in _IMPORT.finditer(rest):
        if _begins(rest, match.start(), ends):
            for module in filter(bytes.strip, match[1].replace(b"\\", b" ").split(b",")):
                yield module, None


def without_imports(data: bytes) -> bytes:
    """A text without its import statements, of whose lines the ends are left."""
    kept: list[bytes] = []
    done, place = 0, data.find(_WORD)
    while place >= 0:
        # Where the word begins a statement, that begins where its line does.
        line = data.rfind(b"\n", done, place) + 1
        imported = None
        if (line or not done) and _BEFORE.fullmatch(data, line, place) is not None:
            imported = _IMPORTED.match(data, place)
        if imported is not None:
            kept.append(data[done:line])
            done = imported.end()
        place = data.find(_WORD, max(done, place + len(_WORD)))
    kept.append(data[done:])
    return b"".join(kept)


def _first_steps(module: bytes) -> tuple[bytes, ...]:
    first, _, further = module.partition(b".")
    if not first:  # a relative import, which leads nowhere else
        return ()
    return (first, b"%b.%b" % (first, further.partition(b".")[0])) if further else (first,)


def _begins(data: bytes, place: int, ends: tuple[bytes, ...]) -> bool:
    """Whether a statement may begin at a place: on its line, before it, is nothing but an end."""
    line = data.rfind(b"\n", 0, place) + 1
    line = max(line, data.rfind(b"\r", line, place) + 1)
    before = data[line:place].strip(b" \t\f\xef\xbb\xbf")
    return not before or before.endswith(ends)
