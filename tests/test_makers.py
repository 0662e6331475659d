"""Who makes the objects of a class, or of its subclasses, in files that name nothing else of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tapemigrate.runner import run
from tapemigrate.settings import Settings

BASE = """\
import tensorflow as tf


class Net:
    def __init__(self, scale):
        self.scale = scale

    def layer(self, x):
        return tf.sin(x) * self.scale

    def slope(self, x):
        y = self.layer(x)
        return tf.gradients(y, x)[0]
"""
DEEP = "from base import Net\n\n\nclass Deep(Net):\n    pass\n"
USE = """\
from {module} import {name}


def run(x):
    h = {given}
    return {name}(h).slope(x)
"""
MAKE = "from {module} import {name}\n\n\ndef make(h):\n    return {name}(h)\n"


def safe(folder: Path, texts: dict[str, str]) -> int:
    for name, text in {"base.py": BASE, **texts}.items():
        (folder / name).write_text(text)
    results = run([str(folder)], lambda path: Settings(), mode="check", jobs=1).results
    return sum(
        d.fix is not None and d.fix.applicability == "safe" for r in results for d in r.diagnostics
    )


@pytest.mark.parametrize(("given", "fixes"), [("x * x", 0), ("2.0", 1)])
@pytest.mark.parametrize(
    "deep",
    [
        DEEP,
        "import base\n\n\nclass Deep(base.Net):\n    def more(self):\n        return 1\n",
        f"{DEEP.replace('Deep', 'Middle')}\n\nclass Deep(Middle):\n    pass\n",
        f"{DEEP.replace('    pass', '    def __init__(self, h):')}        super().__init__(h)\n",
    ],
)
def test_subclasses_of_another_file(tmp_path: Path, deep: str, given: str, fixes: int) -> None:
    use = USE.format(module="deep", name="Deep", given=given)
    assert safe(tmp_path, {"deep.py": deep, "main.py": use}) == fixes


@pytest.mark.parametrize(
    ("module", "name", "texts"),
    [
        ("base", "Net", {}),
        ("deep", "Deep", {"deep.py": DEEP}),
        (
            "deep",
            "Deep",
            {
                "middle.py": DEEP.replace("Deep", "Middle"),
                "deep.py": DEEP.replace("base", "middle").replace("Net", "Middle"),
            },
        ),
    ],
)
def test_functions_of_another_file(
    tmp_path: Path, module: str, name: str, texts: dict[str, str]
) -> None:
    making = MAKE.format(module=module, name=name)
    use = USE.format(module="making", name="make", given="x * x")
    assert safe(tmp_path, {**texts, "making.py": making, "main.py": use}) == 0


@pytest.mark.parametrize(
    ("heat", "fixes"),
    [
        ("class Net:\n    def __init__(self, h):\n        self.h = h\n", 1),
        ("import base\n\n\nclass Net(base.Net):\n    pass\n", 0),
    ],
)
def test_namesakes_count_where_they_extend_the_class(tmp_path: Path, heat: str, fixes: int) -> None:
    use = USE.format(module="base", name="Net", given="2.0")
    other = MAKE.format(module="heat", name="Net")
    assert safe(tmp_path, {"heat.py": heat, "other.py": other, "main.py": use}) == fixes
