"""Bytes of many files: none that matters is passed over, and words are found where they stand."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tapemigrate import api
from tapemigrate.indirect import HANDED_ON
from tapemigrate.running import reading
from tapemigrate.running.cache import Cache
from tapemigrate.running.reading import may_matter, read
from tapemigrate.running.texts import DEFINED, FOREIGN
from tapemigrate.running.words import Found, Search, Vocabularies, Words, words_in
from tapemigrate.settings import Settings
from tapemigrate.source import SourceError
from tapemigrate.source.decoding import decode

FIXTURES = Path(__file__).resolve().parent.parent / "fixtures"


def names_in(folder: Path, texts: dict[str, str]) -> list[str]:
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
    return [str(folder / name) for name in texts]


@pytest.mark.parametrize(
    "data",
    [
        b"import numpy as np\nx = np.gradient(y)\n",
        b"tf.gradients(y, x)  # neither an import nor a star\n",
        b"from utils import *\nprint('utf-8')\n",
        b"from utils import*\nnp.gradients(y)\n",
        b"import tensorflow as tf\ntf.add(1, 2)\n",
        b"from backend import tf\ntf.add(1, 2)\n",
        b"from backend import tf3\ntf3.gradients(y, x)\n",
        b"from backend import other\ntf.gradients(y, x)\n",
        b"ATM123 = 1\n",
    ],
)
def test_what_cannot_matter_is_passed_over(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "a.py"
    path.write_bytes(data)
    assert not may_matter(str(path), Settings())


@pytest.mark.parametrize(
    "data",
    [
        b"import tensorflow as tf\ntf.gradients(y, x)\n",
        b"from utils import *\ntf.gradients(y, x)\n",
        b"from utils import*\ntfe.implicit_gradients(f)\n",
        b"from utils import \\\n *\ntf.gradients(y, x)\n",
        b"from utils import\t*\ngetattr(tf, 'gradients')(y, x)\n",
        b"from utils import  *\ntf.gradients(y, x)\n",
        b"from utils import\\\n*\ntf.gradients(y, x)\n",
        b"from .backend import tf\ntf.gradients(y, x)\n",
        b"from .backend import (\n    np,\n    tf,\n)\ntf.gradients(y, x)\n",
        b"from project import compat as tf\ntf.gradients(y, x)\n",
        b"import project.compat as tf\ntf.gradients(y, x)\n",
        b"from ray.utils import try_import_tf\ntf1, tf, _ = try_import_tf()\ntf.gradients(y, x)\n",
        b"x = 1  # noqa: TM101\n",
        b"x = 1  # tapemigrate: ignore\n",
        b"\xff\xfex\x00",
    ],
)
def test_what_may_matter_is_not_passed_over(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "a.py"
    path.write_bytes(data)
    assert may_matter(str(path), Settings())


@pytest.mark.parametrize("name", HANDED_ON)
def test_tensorflow_by_a_name_that_it_is_handed_on_by(tmp_path: Path, name: str) -> None:
    (path,) = names_in(tmp_path, {"a.py": f"from .compat import {name}\n{name}.gradients(y, x)\n"})
    assert may_matter(path, Settings())


def test_an_alias_needs_no_tensorflow(tmp_path: Path) -> None:
    (path,) = names_in(tmp_path, {"a.py": "from ops import grad_of\ngrad_of(y, x)\n"})
    assert not may_matter(path, Settings())
    assert may_matter(path, Settings(aliases={"ops.grad_of": "tf.gradients"}))


@pytest.mark.parametrize("path", sorted(FIXTURES.rglob("*.py"))[::9], ids=lambda path: path.stem)
def test_without_tensorflow_there_is_nothing_to_say(path: Path) -> None:
    text = path.read_text(encoding="utf-8").replace("tensorflow", "tens0rflow")
    text = re.sub(r"#.*|import \*", "", text)
    # What another module has by that name is taken for TensorFlow where it is used so.
    text = re.sub(r"(from \S+ import .*|\w\.)\btf(v1)?\b", r"\1tg", text)
    try:
        file = decode(text.encode(), "a.py")
        found = api.analyse({"a.py": file}, Settings(), rewrite=False).diagnostics
    except SourceError:
        return
    assert [(each.code, each.message) for each in found] == []


@pytest.mark.parametrize("path", sorted(FIXTURES.rglob("*.py"))[::9], ids=lambda path: path.stem)
def test_no_fixture_with_findings_is_passed_over(path: Path) -> None:
    try:
        file = decode(path.read_bytes(), "a.py")
        found = api.analyse({"a.py": file}, Settings(), rewrite=False).diagnostics
    except SourceError:
        return
    assert may_matter(str(path), Settings()) or not found


def test_words_are_whole(tmp_path: Path) -> None:
    texts = {
        "a.py": "residual(x)",
        "b.py": "residuals(x)",
        "c.py": "u = net.residual",
        "d.py": "",
        "e.py": "λ = αβγ[1]",
    }
    paths = [*names_in(tmp_path, texts), str(tmp_path / "gone.py")]
    words = Words(paths)
    assert words({"residual", "never"}) == {"residual": [paths[0], paths[2]], "never": []}
    assert words({"αβγ", "residuals"}) == {"αβγ": [paths[4]], "residuals": [paths[1]]}


def test_a_word_is_looked_for_once(tmp_path: Path) -> None:
    paths = names_in(tmp_path, {"a.py": "one two", "b.py": "two three"})
    searches: list[frozenset[str]] = []

    def spread(asked: list[Search]) -> Iterator[tuple[Found, Vocabularies]]:
        searches.extend(search.words for search in asked)
        return map(words_in, asked)

    words = Words(paths, spread)
    assert words({"one", "two"}) == {"one": paths[:1], "two": paths}
    assert words({"two", "three"}) == {"two": paths, "three": paths[1:]}
    assert searches == [{"one", "two"}, {"three"}]


@pytest.mark.parametrize("changed", [True, False])
def test_what_has_changed_between_two_searches_is_not_kept(tmp_path: Path, changed: bool) -> None:
    cache = Cache(tmp_path / "cache")
    paths = names_in(tmp_path, {"a.py": "import one"})
    _, vocabularies = words_in(Search(paths, frozenset({"one"}), cache))
    if changed:
        Path(paths[0]).write_text("one = 1")
    search = Search(paths, frozenset({FOREIGN + "one"}), cache, vocabularies=vocabularies)
    found, _ = words_in(search)
    assert found == [[] if changed else [FOREIGN + "one"]]
    kept = cache.get(search.key(contents for contents, _ in vocabularies))
    assert kept == (None if changed else found)


def test_a_search_whose_process_was_killed_is_made_here(tmp_path: Path) -> None:
    paths = names_in(tmp_path, {"a.py": "one"})
    assert Words(paths, lambda searches: [None])({"one"}) == {"one": paths}


@given(st.lists(st.sampled_from(["loss", "x", "loss2", "_loss", ".", "(", " ", "\n", "'"])))
def test_words_are_those_of_a_pattern(
    tmp_path_factory: pytest.TempPathFactory, parts: list[str]
) -> None:
    path = tmp_path_factory.getbasetemp() / "words.py"
    path.write_text("".join(parts))
    words = frozenset({"loss", "x", "a", "b", "c", "d", "e", "f"})
    expected = words.intersection(re.findall(r"\w+", path.read_text()))
    assert list(map(set, words_in(Search([str(path)], words))[0])) == [expected]


def test_reading(tmp_path: Path) -> None:
    path = tmp_path / "a"
    for size in (0, 1, 5000, 3_000_000):
        path.write_bytes(os.urandom(size))
        assert read(str(path)) == path.read_bytes()
    with pytest.raises(SourceError, match="not a regular file"):
        read(str(tmp_path))
    with pytest.raises(SourceError, match="No such file"):
        read(str(tmp_path / "gone"))


@pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="needs /proc")
def test_a_file_that_does_not_tell_its_size_is_read_whole() -> None:
    assert reading.read("/proc/self/status").endswith(b"\n")


def test_a_file_that_grows_is_read_to_its_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"12345")
    real = os.fstat

    def shorter(handle: int) -> os.stat_result:
        fields = list(real(handle))
        fields[6] = 2
        return os.stat_result(fields)

    monkeypatch.setattr(os, "fstat", shorter)
    assert read(str(path)) == b"12345"


DEFINITIONS = {
    b"def loss(x): pass\n": True,
    b"class\\\n  loss: pass\n": True,
    b"# makes the class\ndef loss(x): pass\n": True,
    b"def" + b" " * 900 + b"loss(x): pass\n": True,
    b"def losses(x): pass\n": False,
    b"def a_loss(x): return loss\n": False,
    b"loss = def_loss\n": False,
    b"defloss\n": False,
    b" " * 900 + b"loss\n": False,
}


@pytest.mark.parametrize("text", DEFINITIONS)
def test_definitions(tmp_path: Path, text: bytes) -> None:
    path = tmp_path / "a.py"
    path.write_bytes(text)
    words = frozenset({DEFINED + "loss"})
    assert words_in(Search([str(path)], words))[0] == [sorted(words) if DEFINITIONS[text] else []]
