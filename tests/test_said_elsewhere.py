"""What one file says of variables and operators that another one, which it imports, makes."""

from __future__ import annotations

import pytest

from tapemigrate.rules.callgraph.import_reach import ImportReach
from tapemigrate.rules.kept_units import unit
from tapemigrate.rules.said_elsewhere import SaidElsewhere
from tapemigrate.rules.units import Later, Units
from tapemigrate.source.decoding import SourceFile

IMPORTS = {
    "main.py": "import nets\nfrom helpers import scope\n",
    "nets.py": "from layers import dense\n",
    "layers.py": "import tensorflow as tf\n",
    "helpers.py": "import tensorflow as tf\n",
    "other.py": "import numpy as np\n",
}

ALL = {"main.py", "nets.py", "layers.py", "helpers.py"}


def files(**added: str) -> dict[str, Later]:
    texts = {**IMPORTS, **{f"{name}.py": text for name, text in added.items()}}
    return {name: Later(text, lambda: None) for name, text in texts.items()}


def said(fact: str, **added: str) -> set[str]:
    known = files(**added)
    units = Units({name: unit(SourceFile(name, file.text)) for name, file in known.items()})
    facts = SaidElsewhere(units)
    return {name for name in known if facts.holds(fact, name)}


def test_imports_through_others() -> None:
    reach = ImportReach(files())
    assert reach.imported(["main.py"]) == {"nets.py", "layers.py", "helpers.py"}
    assert reach.importing(["layers.py"]) == {"nets.py", "main.py"}
    assert reach.around(["helpers.py"]) == ALL
    assert reach.importing(["other.py"]) == set()


REUSE = IMPORTS["main.py"] + "with tf.variable_scope('n', reuse=True):\n    nets.net()\n"
OPENED = "import tensorflow as tf\n\ndef scope():\n    return tf.variable_scope('n', reuse=True)\n"
FILLED = "import tensorflow as tf\n\ntf.add_to_collection('trainable_variables', W)\n"
HOLDER = "class Holder:\n    def __mul__(self, other):\n        return self\n"
LISTED = "class Policy:\n    def get_trainable_variables(self):\n        return self.params\n"


@pytest.mark.parametrize(
    ("fact", "added", "expected"),
    [
        ("reuses_variables", {"main": REUSE}, {"nets.py", "layers.py", "helpers.py"}),
        (
            "reuses_variables",
            {"helpers": OPENED},
            ALL,
        ),
        ("fills_trainable", {"layers": FILLED}, ALL),
        ("has_operators", {"helpers": HOLDER}, ALL),
        ("lists_others", {"nets": LISTED}, ALL - {"layers.py"}),
    ],
)
def test_facts(fact: str, added: dict[str, str], expected: set[str]) -> None:
    assert said(fact, **added) == expected


@pytest.mark.parametrize(
    ("fact", "added"),
    [
        ("reuses_variables", {}),
        ("reuses_variables", {"other": REUSE.replace(IMPORTS["main.py"], "")}),
        ("fills_trainable", {"layers": FILLED.replace("trainable_variables", "losses")}),
        ("has_operators", {"helpers": HOLDER.replace("__mul__", "__len__")}),
        ("lists_others", {"nets": LISTED.replace("self.params", "tf.trainable_variables()")}),
        ("lists_others", {"nets": LISTED.replace("return self.params", "raise KeyError")}),
        ("another", {"main": REUSE}),
    ],
)
def test_what_holds_nowhere_else(fact: str, added: dict[str, str]) -> None:
    assert said(fact, **added) == set()
