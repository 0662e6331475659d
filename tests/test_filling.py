"""Files that fill what another module holds are read beside it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tapemigrate.runner import run
from tapemigrate.running.context import home_of
from tapemigrate.running.filling import Filling, Held, fills
from tapemigrate.running.modules import Modules
from tapemigrate.running.projects import Projects
from tapemigrate.settings import Settings

MAIN = """\
import tensorflow as tf
from base import Base
from utils import penalty


class Model(Base):
    def loss(self):
        x = tf.constant([0.3, 0.7])
        self.prepare(x)
        y = tf.reduce_sum(tf.sin(x))
        return penalty(y, x)
"""
BASE = """\
import tensorflow as tf
{imported}


class Base(object):
    def prepare(self, x):
        {fill}
"""
UTILS = """\
import tensorflow as tf

REGISTRY = {}


def penalty(y, x):
    return tf.gradients(y + REGISTRY["extra"], x)[0]
"""


@pytest.mark.parametrize(
    ("text", "name", "kind", "expected"),
    [
        ("REGISTRY['a'] = h", "REGISTRY", Held.CONTAINER, True),
        ("REGISTRY['a'].h += 1", "REGISTRY", Held.CONTAINER, True),
        ("REGISTRY['a'], b = h, 1", "REGISTRY", Held.CONTAINER, True),
        ("REGISTRY.append(h)", "REGISTRY", Held.CONTAINER, True),
        ("rows = REGISTRY", "REGISTRY", Held.CONTAINER, True),
        ("keep(REGISTRY, h)", "REGISTRY", Held.CONTAINER, True),
        ("for row in REGISTRY:", "REGISTRY", Held.CONTAINER, True),
        ("u.REGISTRY['a'] = h", "u.REGISTRY", Held.CONTAINER, True),
        ("STORE.put(h)", "STORE", Held.OBJECT, True),
        ("STORE.side = h", "STORE", Held.OBJECT, True),
        ("utils.K = h", "utils.K", Held.PLAIN, True),
        ("setattr(utils, 'K', h)", "utils.K", Held.PLAIN, True),
        ("Config.side = h", "Config", Held.CODE, True),
        ("setattr(Config, 'side', h)", "Config", Held.CODE, True),
        ("nets.weigh = f", "nets.weigh", Held.CODE, True),
        ("nets.__dict__['weigh'] = f", "nets.weigh", Held.CODE, True),
        ("with f() as nets.weigh:", "nets.weigh", Held.CODE, True),
        ("for nets.weigh in rows:", "nets.weigh", Held.CODE, True),
        ("for g, nets.weigh in rows:", "nets.weigh", Held.CODE, True),
        ("n = nets\nn.weigh = f", "nets.weigh", Held.CODE, True),
        ("put([nets])\nn.weigh, n.g = f, g", "nets.weigh", Held.CODE, True),
        ("vars(nets)['weigh'] = f", "nets.weigh", Held.CODE, True),
        ("partial(setattr, nets)('weigh', f)", "nets.weigh", Held.CODE, True),
        ("nets.gate(x)\nn.weigh = f", "nets.weigh", Held.CODE, False),
        ("n = nets\nn.weigh(x)", "nets.weigh", Held.CODE, False),
        ("n = nets\nn.weighs = f", "nets.weigh", Held.CODE, False),
        ("nets = f\nn.weigh = f", "nets.weigh", Held.CODE, False),
        ("[g for g in nets.weigh]", "nets.weigh", Held.CODE, False),
        ("if nets.weigh in rows:", "nets.weigh", Held.CODE, False),
        ("with nets.weigh() as f:", "nets.weigh", Held.CODE, False),
        ("patch.object(nets, 'weigh', f)", "nets.weigh", Held.CODE, True),
        ("mock.patch('nets.weigh', f)", "nets.weigh", Held.CODE, True),
        ("nets.weigh(x)", "nets.weigh", Held.CODE, False),
        ("self.nets.weigh = f", "nets.weigh", Held.CODE, False),
        ("getattr(nets, 'gate')", "nets.weigh", Held.CODE, False),
        ("print(REGISTRY['a'])", "REGISTRY", Held.CONTAINER, False),
        ("if REGISTRY['a'] == 1:", "REGISTRY", Held.CONTAINER, False),
        ("REGISTRY.get('a')", "REGISTRY", Held.CONTAINER, False),
        ("REGISTRY = {}", "REGISTRY", Held.CONTAINER, False),
        ("self.REGISTRY['a'] = h", "REGISTRY", Held.CONTAINER, False),
        ("MY_REGISTRY['a'] = h", "REGISTRY", Held.CONTAINER, False),
        ("net = make(STORE)", "STORE", Held.OBJECT, False),
        ("K = 3", "K", Held.PLAIN, False),
        ("self.K = 3", "K", Held.PLAIN, False),
        ("Config(side=h)", "Config", Held.CODE, False),
        ("Config.make(h)", "Config", Held.CODE, False),
    ],
)
def test_what_fills_a_name(text: str, name: str, kind: Held, expected: bool) -> None:
    assert fills(text.encode(), name.encode(), kind) is expected


@pytest.mark.parametrize(
    ("imported", "fill", "seen"),
    [
        ("from utils import REGISTRY", 'REGISTRY["extra"] = tf.sin(x)', True),
        ("import utils as u", 'u.REGISTRY["extra"] = tf.sin(x)', True),
        ("from utils import *", 'REGISTRY["extra"] = tf.sin(x)', True),
        ("from others import REGISTRY", 'REGISTRY["extra"] = tf.sin(x)', False),
        ("from utils import REGISTRY", 'print(REGISTRY["extra"])', False),
        ("from utils import REGISTRY", 'REGISTRY["extra"] = 2.0', False),
    ],
)
def test_the_tape_begins_before_it_is_filled(
    tmp_path: Path, imported: str, fill: str, seen: bool
) -> None:
    (tmp_path / "main.py").write_text(MAIN)
    (tmp_path / "base.py").write_text(BASE.format(imported=imported, fill=fill))
    (tmp_path / "utils.py").write_text(UTILS)
    done = run([str(tmp_path)], lambda _: Settings(), mode="fix", jobs=1).results
    new = {Path(each.filename).name: each.new or b"" for each in done}
    recorded = new["main.py"].partition(b"with tf.GradientTape")[2]
    assert recorded
    assert (b"self.prepare(x)" in recorded) is seen


@pytest.mark.parametrize(("files", "read"), [(2, True), (25, False)])
def test_what_half_a_tree_calls_is_taken_for_a_library(
    tmp_path: Path, files: int, read: bool
) -> None:
    utils = tmp_path / "utils.py"
    utils.write_text("nn = Layers()\n\n\ndef loss(x):\n    return nn.relu(x)\n")
    users = [tmp_path / f"user{number}.py" for number in range(files)]
    for user in users:
        user.write_text("from utils import nn\n\nh = nn.relu(1.0)\n")
    paths = [str(path) for path in (utils, *users)]
    projects = Projects(paths, map)
    filling = Filling(projects, Modules(paths, projects))
    places = dict.fromkeys(filling.words([str(utils)]), paths)
    found = set(filling.of([str(utils)], places))
    assert found == (set(paths) if read else set())


def test_a_package_hands_on_what_is_filled(tmp_path: Path) -> None:
    for name, text in {
        "pkg/__init__.py": "from .utils import REGISTRY\n",
        "pkg/utils.py": "REGISTRY = {}\n\n\ndef loss(y):\n    return y + REGISTRY['a']\n",
        "base.py": "import pkg as p\n\n\ndef prepare(x):\n    p.REGISTRY['a'] = x\n",
    }.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    paths = [str(path) for path in sorted(tmp_path.rglob("*.py"))]
    projects = Projects(paths, map)
    filling = Filling(projects, Modules(paths, projects))
    utils = str(tmp_path / "pkg/utils.py")
    places = dict.fromkeys(filling.words([utils]), paths)
    assert str(tmp_path / "base.py") in set(filling.of([utils], places))


def test_a_list_of_names_holds_no_tensors(tmp_path: Path) -> None:
    utils = tmp_path / "utils.py"
    utils.write_text("__all__ = ['loss']\nKEPT = []\n\n\ndef loss(y):\n    return y + KEPT[0]\n")
    paths = [str(utils), str(tmp_path / "base.py")]
    projects = Projects(paths, map)
    filling = Filling(projects, Modules(paths, projects))
    user = tmp_path / "base.py"
    user.write_text("from utils import KEPT, __all__\n\nprint(__all__)\nKEPT.append(1)\n")
    words = filling.words([str(utils), str(user)])
    assert home_of("KEPT", "utils") in words
    assert home_of("__all__", "utils") not in words
