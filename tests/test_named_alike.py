"""Names of parts of tensors and networks that a program has other tensors for."""

from __future__ import annotations

import pytest

from tapemigrate.rules.kept_units import unit
from tapemigrate.rules.project import Project
from tapemigrate.rules.values.named_alike import named_alike
from tapemigrate.source.decoding import SourceFile

TENSORS = {
    "attribute": "def fit(face, x):\n    face.shape = tf.tanh(x)\n",
    "variable": "def fit(face):\n    face.shape = tf.Variable([0.0])\n",
    "list": "def fit(face, x):\n    face.shape = [tf.tanh(x)]\n",
    "unpacked": "def fit(face, x):\n    face.shape, face.pose = tf.split(x, 2)\n",
    "given": "class Face:\n    def __init__(self, shape):\n        self.shape = shape\n\n\n"
    "def fit(x):\n    return Face(tf.tanh(x))\n",
    "property": "class Face:\n    @property\n    def shape(self):\n"
    "        return tf.tanh(self.x)\n",
    "text": "def fit(face, x):\n    setattr(face, 'shape', tf.tanh(x))\n",
    "tuple": "Face = collections.namedtuple('Face', 'pose, shape')\n\n\n"
    "def fit(x):\n    return Face(x, tf.tanh(x))\n",
    "constant by a name": "class Face:\n    def __init__(self):\n"
    "        points = tf.constant([0.5])\n        self.shape = points\n",
    "fields": "class Face(typing.NamedTuple):\n    pose: object\n    shape: object\n\n\n"
    "def fit(x):\n    return Face(pose=x, shape=tf.tanh(x))\n",
}
NUMBERS = {
    "its own": "def fit(face, x):\n    face.shape = x.shape\n",
    "list": "def fit(face, x):\n    face.shape = [int(x.shape[0]), 3]\n",
    "handed on": "class Face:\n    def __init__(self, shape):\n        self.shape = shape\n\n\n"
    "def fit(x):\n    return Face([4, 3])\n",
    "property": "class Face:\n    @property\n    def shape(self):\n        return self.x.shape\n",
    "another": "def fit(face, x):\n    face.shapes = tf.tanh(x)\n"
    "    print('shape', x.shape == 3)\n",
}


def is_alike(text: str) -> bool:
    text = f"import collections\nimport typing\nimport tensorflow as tf\n\n\n{text}"
    here = unit(SourceFile("face.py", text))
    return named_alike(Project({"face.py": here}, alike=named_alike), "shape")


@pytest.mark.parametrize("name", TENSORS)
def test_tensors(name: str) -> None:
    assert is_alike(TENSORS[name])


@pytest.mark.parametrize("name", NUMBERS)
def test_numbers(name: str) -> None:
    assert not is_alike(NUMBERS[name])
