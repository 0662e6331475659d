"""The rules' data and the catalogue: what must not be found, what must, and that all is there."""

from __future__ import annotations

import ast
import re
from dataclasses import replace

import pytest

from tapemigrate.names import Names
from tapemigrate.rules import catalog, pages

DESIGNED = (
    [f"TM10{n}" for n in range(1, 5)]
    + [f"TM11{n}" for n in range(1, 7)]
    + ["TM121", "TM122"]
    + [f"TM20{n}" for n in range(1, 7)]
    + [f"TM3{n:02}" for n in range(1, 13)]
    + [f"TM90{n}" for n in range(1, 5)]
    + ["TM910"]
)


@pytest.mark.parametrize(
    "path",
    [
        "",
        "tensorflow",
        "gradients",
        "numpy.gradients",
        "tensorflow.GradientTape",
        "tensorflow.gradient",
        "tensorflow.keras.backend.gradients",
        "tensorflow.python.keras.backend.gradients",
        "memory_saving_gradients.gradients",
        ".ops.gradients",
        "tensorflow.contrib",
        "tensorflow.contrib.eager",
        "tensorflow.contrib.eager.python",
        "tensorflow.contrib.eager.python.tfe",
        "tensorflow.contrib.eager.metrics",
        "tensorflow.contrib.eager.Variable.name",
        "tensorflow.contrib.eagerly",
        "tensorflow.compat.v1.enable_eager_execution",
        "tensorflow.python.ops.gradients",
        "tensorflow.python.eager.backprop.GradientTape",
    ],
)
def test_not_an_api(path: str) -> None:
    assert catalog.lookup(path) is None


@pytest.mark.parametrize(
    ("path", "rule", "api", "version"),
    [
        ("tensorflow.gradients", "TM101", "gradients", "either"),
        ("tensorflow.compat.v1.gradients", "TM101", "gradients", "v1"),
        ("tensorflow.compat.v2.gradients", "TM101", "gradients", "v2"),
        ("tensorflow.python.ops.gradients.gradients", "TM101", "gradients", "v1"),
        ("tensorflow.python.ops.gradients_impl.gradients", "TM101", "gradients", "v1"),
        ("tensorflow.python.ops.gradients_impl.gradients_v2", "TM101", "gradients", "v2"),
        ("tensorflow.hessians", "TM102", "hessians", "either"),
        ("tensorflow.python.ops.gradients_impl.HessiansV2", "TM102", "hessians", "v2"),
        ("tensorflow.python.ops.parallel_for.gradients.jacobian", "TM103", "jacobian", "v1"),
        (
            "tensorflow.python.ops.parallel_for.gradients.batch_jacobian",
            "TM104",
            "batch_jacobian",
            "v1",
        ),
        ("tensorflow.contrib.eager.gradients_function", "TM111", "gradients_function", "v1"),
        ("tensorflow.contrib.eager.python.tfe.make_vjp", "TM115", "make_vjp", "v1"),
        (
            "tensorflow.python.eager.backprop.val_and_grad_function",
            "TM112",
            "value_and_gradients_function",
            "v1",
        ),
        ("tensorflow.python.eager.backprop.implicit_grad", "TM113", "implicit_gradients", "v1"),
        (
            "tensorflow.python.eager.backprop.implicit_val_and_grad",
            "TM114",
            "implicit_value_and_gradients",
            "v1",
        ),
        ("tensorflow.contrib.eager.Variable", "TM116", "Variable", "v1"),
        ("tensorflow.contrib.eager.python.metrics.Mean", "TM116", "metrics.Mean", "v1"),
        ("tensorflow.contrib.eager.of_another_release", "TM116", "of_another_release", "v1"),
        ("tensorflow.enable_eager_execution", "TM116", "enable_eager_execution", "v1"),
    ],
)
def test_apis(path: str, rule: str, api: str, version: str) -> None:
    symbol = catalog.lookup(path)
    assert symbol is not None
    assert (symbol.rule, symbol.api, symbol.version) == (rule, api, version)


def test_positions_of_the_arguments_differ_between_versions() -> None:
    symbol = catalog.lookup("tensorflow.gradients")
    assert symbol is not None
    assert symbol.parameters["v1"][4] == "colocate_gradients_with_ops"
    assert symbol.parameters["v2"][4] == "gate_gradients"
    symbol = catalog.lookup("tensorflow.hessians")
    assert symbol is not None
    assert symbol.parameters["v1"][2] == "name"
    assert symbol.parameters["v2"][2] == "gate_gradients"


def test_symbols_of_contrib_eager_have_a_successor_or_a_word_of_advice() -> None:
    symbols = [s for s in catalog.symbols().values() if s.rule == "TM116"]
    assert len(symbols) > 80
    for symbol in symbols:
        successors = [symbol.becomes, symbol.call, symbol.removed and "removed"]
        assert len([each for each in successors if each]) == (
            0 if symbol.instead and not symbol.removed else 1
        ), symbol


def test_user_aliases() -> None:
    aliases = {"project.ops.grad": "gradients", "project.ops.vjp": "tensorflow.hessians"}
    gradients = catalog.lookup("tensorflow.compat.v1.gradients")
    assert catalog.lookup("project.ops.grad") is None
    assert catalog.lookup("project.ops.other", aliases) is None
    assert catalog.lookup("ops.grad", aliases) is None
    assert catalog.lookup("..grad", {"project.ungrad": "gradients"}) is None
    for path in ("project.ops.grad", ".ops.grad", "..project.ops.grad", ".grad"):
        found = catalog.lookup(path, aliases)
        assert found is not None
        assert gradients is not None
        assert found == replace(gradients, version=found.version), path
    found = catalog.lookup("project.ops.vjp", aliases)
    assert found is not None
    assert found.api == "hessians"
    with pytest.raises(KeyError):
        catalog.lookup("project.ops.grad", {"project.ops.grad": "gradient"})


NOT_WORTH_PARSING = [
    b"",
    b"import tensorflow as tf\nx = tf.Variable(1.0)\n",
    b"# the gradients and jacobian of hessians\n",
    b"def gradients(y, x):\n    pass\n",
    b"gradients = compute(loss)\nfor gradient in gradients:\n    pass\n",
    b"import torch\nloss.backward()\nscipy.optimize.minimize(f)\n",
    b"tfexample.write()\n",
    b"import contrib\ncontrib.layers(x)\n",
    b"from tensorflow.contrib import layers\neager = 1\n",
    b"from other import *\n",
]


@pytest.mark.parametrize("data", NOT_WORTH_PARSING)
def test_prefilter_lets_pass_by(data: bytes) -> None:
    assert not catalog.prefilter().search(data)


WORTH_PARSING = [
    b"tf.gradients(y, x)",
    b"tf\\\n    .gradients(y, x)",
    b"g = tf.gradients\n",
    b"getattr(tf, 'gradients')",
    b'tf.__dict__["gradients"]',
    b"from tensorflow import gradients",
    b"from tensorflow import (\n    Variable,  # comment\n    gradients as g,\n)",
    b"from tensorflow import *\ngradients(y, x)",
    b"from tensorflow.python.ops.gradients_impl import gradients\n",
    b"from tensorflow.python.ops.parallel_for.gradients import batch_jacobian as b\n",
    b"from tensorflow.python.eager import backprop\nbackprop.implicit_grad(f)",
    b"from tensorflow.contrib import eager as tfe\n",
    b"from tensorflow.contrib import rnn, eager\n",
    b"import tensorflow.contrib.eager as e\n",
    b"from tensorflow.contrib.eager.python import tfe\n",
    b"contrib = tf.contrib\ncontrib.eager.Variable(1.0)",
    b"from ops import *\ntfe.Variable(1.0)",
    b"tf.enable_eager_execution()",
    b"with tf.GradientTape() as tape:",
    b"\xef\xbb\xbftf.hessians(y, x)\r\n",
]


@pytest.mark.parametrize("data", WORTH_PARSING)
def test_prefilter_catches(data: bytes) -> None:
    assert catalog.prefilter().search(data)


def test_prefilter_catches_every_import_form_of_every_symbol() -> None:
    for path in catalog.symbols():
        module, _, name = path.rpartition(".")
        package, _, last = module.rpartition(".")
        forms = [
            f"import {module} as m\nm.{name}\n",
            f"import {module}\n{path}\n",
            f"from {module} import {name}\n",
            f"from {module} import other, {name} as n\n",
        ]
        if package:
            forms.append(f"from {package} import {last}\n{last}.{name}\n")
        for form in forms:
            assert catalog.prefilter().search(form.encode()), form


def test_texts_that_may_name_gradient_functions() -> None:
    symbols, _ = catalog._symbols()
    gradients = {path for path, symbol in symbols.items() if catalog.is_gradient(symbol)}
    assert {"tensorflow.gradients", "tensorflow.contrib.eager.make_vjp"} <= gradients
    for path in gradients:
        module, _, name = path.rpartition(".")
        assert catalog.may_name_gradients(f"from {module} import {name} as g")
        assert catalog.may_name_gradients(f"y = a.\\\n  {name}(b)")
        assert not catalog.may_name_gradients(f"y = my{name}(tf.{name}s, _{name})")
    assert catalog.may_name_gradients("y = tf.ｇradients(b)")
    assert not catalog.may_name_gradients("o.compute_gradients(loss, tfe.Variable(1.0)) # ©")


def test_prefilter_with_user_aliases() -> None:
    data = b"from ops import grad_of\ngrad_of(y, x)\n"
    assert not catalog.prefilter().search(data)
    assert catalog.prefilter(("project.ops.grad_of",)).search(data)


def test_every_designed_rule_has_its_file() -> None:
    assert list(catalog.codes()) == DESIGNED
    assert [rule.code for rule in catalog.rules()] == DESIGNED


@pytest.mark.parametrize("code", DESIGNED)
def test_the_data_is_whole(code: str) -> None:
    rule = catalog.rule(code)
    assert rule.code == code
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", rule.name)
    assert [other.name for other in catalog.rules()].count(rule.name) == 1
    assert not rule.summary.endswith(".")
    assert len(rule.summary) < 100
    assert rule.applicability
    assert set(rule.applicability) <= {"safe", "unsafe", "none"}
    for text in (rule.under_tf2, rule.what, rule.why, rule.fix_safety):
        assert text.endswith((".", ".`")), text
    assert rule.references
    assert all(reference.startswith("https://") for reference in rule.references)
    if rule.example is None:
        assert code == "TM903"
        return
    ast.parse(rule.example.after)
    if rule.example.before_raises != "SyntaxError":
        ast.parse(rule.example.before)


@pytest.mark.parametrize("code", [code for code in DESIGNED if code < "TM121"])
def test_examples_use_an_api_of_their_rule_before_and_none_after(code: str) -> None:
    example = catalog.rule(code).example
    assert example is not None

    def used(text: str) -> set[str]:
        paths = [path for _, path in Names(ast.parse(text)).references()]
        return {symbol.rule for path in paths if (symbol := catalog.lookup(path))}

    assert code in used(example.before)
    assert not used(example.after)


@pytest.mark.parametrize("code", DESIGNED)
def test_explain(code: str) -> None:
    page = pages.explain(code)
    headings = re.findall(r"^#+ .*$", page, re.MULTILINE)
    assert headings[0] == f"# {code}: {catalog.rule(code).name}"
    assert "## What it does" in headings
    assert "## Why it is a problem" in headings
    assert "## Fix safety" in headings
    assert headings[-1] == "## References"
    assert page.count("```") % 2 == 0
    assert page.endswith("\n")


def test_explain_of_an_unknown_code() -> None:
    with pytest.raises(KeyError):
        pages.explain("TM999")
