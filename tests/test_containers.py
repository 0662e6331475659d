"""Lists that methods give of their object: see ``rules/values/containers.py``."""

from __future__ import annotations

import pytest

from tapemigrate.api import analyse
from tapemigrate.settings import Settings
from tapemigrate.source.decoding import decode

_PROGRAM = """\
import tensorflow as tf


class Policy(object):
    def __init__(self, trainable=True):
        w = tf.Variable([0.5, 1.0])
        b = tf.Variable([0.1, 0.2]{second})
        self.out = tf.tanh(w) + b
        self.params = {kept}

    def get_params(self):
        return self.params

{method}


class Agent(object):
    def __init__(self, session):
        self.policy = Policy()
        loss = tf.reduce_sum(self.policy.out)
        params = self.policy.get_params()
        self.grads = tf.gradients(loss, params)

    def more(self, session):
{more}


class Trainer(object):
    def run(self, params):
        params.append(tf.ones([2]))
"""
_LEFT = "left"


def fix_of(more: str, kept: str = "[w, b]", second: str = "", method: str = "") -> str:
    """What the fix rests on; ``left`` where there is none."""
    body = "\n".join(f"        {line}" for line in more.splitlines())
    text = _PROGRAM.format(more=body, kept=kept, second=second, method=method)
    files = {"a.py": decode(text.encode(), "a.py")}
    (found,) = analyse(files, Settings(unsafe_fixes=True), rewrite=False).diagnostics
    told = found.message.partition("right if ")[2]
    return told or found.fix.applicability if found.fix else _LEFT


@pytest.mark.parametrize(
    "more",
    [
        "pass",
        "return len(self.policy.params)",
        "return session.run(self.policy.params)",
        "return [p.name for p in self.policy.get_params()]",
        "params = self.policy.get_params()\nreturn session.run(params), params[0]",
        "self.kept = self.policy.get_params()\nreturn zip(self.kept, self.grads)",
    ],
)
def test_a_list_that_is_only_read(more: str) -> None:
    assert fix_of(more) == "safe"


@pytest.mark.parametrize(
    "more",
    [
        "self.policy.get_params().append(self.policy.out)",
        "self.policy.get_params()[0] = self.policy.out",
        "params = self.policy.get_params()\nparams += [self.policy.out]",
        "params = self.policy.get_params()\nparams.append(self.policy.out)",
        "params = self.policy.get_params()\nagain = params\nagain.append(self.policy.out)",
        "params = self.policy.get_params()\n(lambda: params.append(self.policy.out))()",
        "global params\nparams = self.policy.get_params()",
        "self.kept = self.policy.get_params()\nself.kept.extend([self.policy.out])",
        "first, second = self.policy.get_params(), 1\nfirst.append(self.policy.out)",
        "return self.policy.get_params()",
        "return self.policy.get_params",
        "Trainer().run(self.policy.get_params())",
        "Trainer().run(self.policy.params)",
        "self.policy.params.append(self.policy.out)",
    ],
)
def test_a_list_that_others_may_fill(more: str) -> None:
    assert fix_of(more) == _LEFT


@pytest.mark.parametrize(
    ("decorator", "call", "fixed"),
    [
        ("", "self.policy.all()", True),
        ("", "pass", False),
        ("@wrapped", "self.policy.all()", False),
    ],
)
def test_who_calls_a_method_that_gives_it(decorator: str, call: str, *, fixed: bool) -> None:
    method = f"    {decorator}\n    def all(self):\n        return self.params"
    more = "pass" if call == "pass" else f"len({call})"
    assert (fix_of(more, method=method) == "safe") is fixed


def test_variables_that_are_not_told_to_be_trainable() -> None:
    assert "is trainable" in fix_of("pass", second=", trainable=trainable")


@pytest.mark.parametrize(
    ("kept", "second"),
    [("[w, b]", ", trainable=False"), ("[w, self.out]", ""), ("[]", ""), ("trainable or [w]", "")],
)
def test_what_is_no_list_of_trainable_variables(kept: str, second: str) -> None:
    assert fix_of("pass", kept, second) == _LEFT
