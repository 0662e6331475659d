"""Records do what data classes of the standard library do."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import pickle
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar, Generic, TypeVar

import pytest

from tapemigrate import records

_T = TypeVar("_T")
OPTIONS: list[dict[str, bool]] = [
    {"frozen": frozen, "slots": slots, **more}
    for frozen in (False, True)
    for slots in (False, True)
    for more in ({}, {"eq": False}, {"order": True})
]


def _made(module: Any, options: dict[str, bool]) -> Any:
    @module.dataclass(**options)
    class Point(Generic[_T]):
        x: int
        y: int = 2
        names: list[str] = module.field(default_factory=list, hash=False)
        seen: int = module.field(default=0, init=False, repr=False, compare=False)
        made: list[int] = module.field(default_factory=list, init=False, hash=False)
        kind: ClassVar[str] = "point"

        def __post_init__(self) -> None:
            self.names.append(f"{self.x}")

        @property
        def sum(self) -> int:
            return self.x + self.y

    return Point


def _tried(act: Callable[[], Any]) -> Any:
    try:
        return act()
    except Exception as error:
        return type(error).__name__


def _told(module: Any, options: dict[str, bool]) -> list[Any]:
    cls = _made(module, options)
    one, same, other = cls(1), cls(1, y=2), cls(3, 4, ["a"])
    tries: list[Callable[[], Any]] = [
        *(lambda: one == same, lambda: one != same, lambda: one == other, lambda: one == 1),
        *(lambda: hash(one) == hash(same), lambda: len({one, same, other})),
        *(lambda: one < other, lambda: other <= one, lambda: one < 1, lambda: one >= same),
        *(lambda: setattr(one, "x", 9), lambda: delattr(same, "x"), lambda: one.x, lambda: same.x),
        *(lambda: (other.x, other.y, other.names, other.seen, other.made, other.sum),),
        *(lambda: cls(), lambda: cls(1, 2, [], 4), lambda: cls(z=1), lambda: cls(1, x=1)),
        *(lambda: cls.kind, lambda: hasattr(one, "__dict__"), lambda: cls.__match_args__),
        *(lambda: repr(other), lambda: repr(module.replace(other, y=5, names=["b"]))),
        *(lambda: repr(dataclasses.replace(other, x=7)), lambda: dataclasses.asdict(other)),
        lambda: [(f.name, f.type, f.init, f.hash) for f in dataclasses.fields(cls)],
        lambda: list(inspect.signature(cls).parameters),
    ]
    return [_tried(each) for each in tries]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_they_act_alike(options: dict[str, bool]) -> None:
    assert _told(records, options) == _told(dataclasses, options)


@records.dataclass(frozen=True, slots=True)
class Kept:
    name: str
    values: tuple[int, ...] = ()


@records.dataclass(frozen=True)
class Loose:
    name: str
    values: tuple[int, ...] = ()


@pytest.mark.parametrize("cls", [Kept, Loose])
def test_they_are_copied_and_sent_to_other_processes(cls: Any) -> None:
    record = cls("a", (1, 2))
    for again in (copy.copy(record), copy.deepcopy(record), pickle.loads(pickle.dumps(record))):
        assert again == record
        assert again.values == (1, 2)
    match record:
        case Kept(name, values) | Loose(name, values):
            assert (name, values) == ("a", (1, 2))
        case _:
            pytest.fail("does not match")


def test_defaults_are_not_shared() -> None:
    cls = _made(records, {"slots": True})
    one, other = cls(1), cls(2)
    one.made.append(3)
    assert (one.names, other.names, other.made) == (["1"], ["2"], [])


# What a start does without: each of them took longer than the whole of such a file.
UNNEEDED = {"dataclasses", "tomllib", "tomli", "pathlib", "hashlib", "urllib", "json", "pathspec"}


def test_a_check_of_one_file_loads_little(tmp_path: Path) -> None:
    path = tmp_path / "call.py"
    path.write_text("import tensorflow as tf\n\n\ndef f(x):\n    return tf.gradients(x * x, x)\n")
    code = (
        "import sys\nfrom tapemigrate.cli import main\n"
        f"try:\n    main(['check', '--quiet', '--no-cache', {str(path)!r}])\n"
        "except SystemExit as done:\n    print(done.code)\nprint(*sys.modules)\n"
    )
    command = [sys.executable, "-S", "-c", code]
    paths = [entry for entry in sys.path if entry]
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        check=True,
        env={"PYTHONPATH": ":".join(paths), "PATH": ""},
    )
    *told, status, loaded = done.stdout.splitlines()
    assert (status, any("TM101" in line for line in told)) == ("1", True)
    assert not UNNEEDED & set(loaded.split())
