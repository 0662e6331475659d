"""What the rules for ``tf.contrib.eager`` report, leave alone, import and emit."""

from __future__ import annotations

import textwrap

import pytest

from tapemigrate.codemods import apply
from tapemigrate.rules.finding import Finding
from tapemigrate.rules.kept_units import unit
from tapemigrate.rules.project import Project
from tapemigrate.rules.tfe import transformers as tfe
from tapemigrate.source import SourceFile
from tapemigrate.tape.plan import Op

IMPORTS = "import tensorflow as tf\nimport tensorflow.contrib.eager as tfe\n"


def findings(text: str) -> list[Finding]:
    file = SourceFile("program.py", text)
    here = unit(file)
    return tfe.findings(Project({file.filename: here}), here)


def fixed(text: str, *codes: str, unsafe: bool = False) -> str:
    """The text after the fixes of ``codes`` (all, if none are given)."""
    file = SourceFile("program.py", text)
    here = unit(file)
    ops: dict[Op, None] = {}
    for finding in tfe.findings(Project({file.filename: here}), here):
        rewrite = finding.rewrite
        if rewrite is None or (codes and finding.code not in codes):
            continue
        if rewrite.applicability == "safe" or unsafe:
            ops.update(dict.fromkeys(rewrite.ops[file.filename]))
    return apply(text, here.tree, list(ops)) if ops else text


def program(body: str, imports: str = IMPORTS) -> str:
    return imports + textwrap.dedent(body)


# -- what is written -------------------------------------------------------------------------------

EMITTED = {
    "called on the spot": (
        """
        def slope(f):
            x = tf.constant(2.0)
            return tfe.gradients_function(f)(x)[0]
        """,
        """
        def slope(f):
            x = tf.constant(2.0)
            with tf.GradientTape() as tape:
                tape.watch(x)
                value = f(x)
            return tape.gradient(value, x)
        """,
    ),
    "called once in the scope": (
        """
        def train(model, data, optimizer):
            # Of every variable that is read.
            grad_fn = tfe.implicit_value_and_gradients(model.loss)

            for x, y in data:
                loss, grads_and_vars = grad_fn(x, y)  # one step
                optimizer.apply_gradients(grads_and_vars)
        """,
        """
        def train(model, data, optimizer):
            # Of every variable that is read.

            for x, y in data:
                with tf.GradientTape() as tape:
                    loss = model.loss(x, y)
                variables = tape.watched_variables()
                grads_and_vars = list(zip(tape.gradient(loss, variables), variables))  # one step
                optimizer.apply_gradients(grads_and_vars)
        """,
    ),
    "variables as arguments": (
        """
        def step():
            w = tfe.Variable(2.0)
            b = tfe.Variable(1.0)
            dw, db = tfe.gradients_function(lambda w, b: w * 3.0 + b)(w, b)
            w.assign_sub(dw)
        """,
        """
        def step():
            w = tf.Variable(2.0)
            b = tf.Variable(1.0)
            w_tensor, b_tensor = tf.convert_to_tensor(w), tf.convert_to_tensor(b)
            with tf.GradientTape() as tape:
                tape.watch([w_tensor, b_tensor])
                value = w_tensor * 3.0 + b_tensor
            dw, db = tape.gradient(value, [w_tensor, b_tensor])
            w.assign_sub(dw)
        """,
    ),
    "straight into the optimizer": (
        """
        def step(optimizer, loss_fn, x):
            optimizer.apply_gradients(tfe.implicit_gradients(lambda: loss_fn(x))())
        """,
        """
        def step(optimizer, loss_fn, x):
            with tf.GradientTape() as tape:
                value = loss_fn(x)
            variables = tape.watched_variables()
            optimizer.apply_gradients(zip(tape.gradient(value, variables), variables))
        """,
    ),
    "kept for other files": (
        """
        def energy(x, y):
            return x * x * y

        forces = tfe.gradients_function(energy, params=["x"])
        """,
        """
        def energy(x, y):
            return x * x * y


        def forces(x, y, *, dy=None):
            x = tf.convert_to_tensor(x)
            with tf.GradientTape() as tape:
                tape.watch(x)
                value = energy(x, y)
            return tape.gradient(value, [x], output_gradients=dy)
        """,
    ),
    "second order": (
        """
        def curvature(f, x):
            d2f = tfe.gradients_function(lambda z: tfe.gradients_function(f)(z)[0])
            return d2f(x)[0]
        """,
        """
        def curvature(f, x):
            z = tf.convert_to_tensor(x)
            with tf.GradientTape() as tape:
                tape.watch(z)
                with tf.GradientTape() as inner_tape:
                    inner_tape.watch(z)
                    inner_value = f(z)
                value = inner_tape.gradient(inner_value, z)
            return tape.gradient(value, z)
        """,
    ),
}


@pytest.mark.parametrize("name", EMITTED)
def test_emitted_code(name: str) -> None:
    before, after = EMITTED[name]
    assert fixed(program(before)) == program(after, "import tensorflow as tf\n")


# -- what is left alone, and why -------------------------------------------------------------------

FLAGGED = {
    "params are computed": (
        "def d(f, names):\n    return tfe.gradients_function(f, params=names)\n",
        ("TM111", "`params` is computed"),
    ),
    "params of both kinds": (
        "def f(x, y): return x\ng = tfe.gradients_function(f, params=[0, 'y'])(1., 2.)\n",
        ("TM111", "all names or all positions"),
    ),
    "params name what is not there": (
        "def f(x, y): return x\ng = tfe.gradients_function(f, params=['z'])(1., 2.)\n",
        ("TM111", "`z`, which is no parameter"),
    ),
    "params of a method by name": (
        "class M:\n    def loss(self, x): return x\n"
        "    def g(self): return tfe.gradients_function(self.loss, params=['x'])(1.)\n",
        ("TM111", "TensorFlow counts `self`"),
    ),
    "params by name of what is not seen": (
        "def d(f): return tfe.value_and_gradients_function(f, params=['x'])(1.)\n",
        ("TM112", "parameters are not seen"),
    ),
    "a position that is not there": (
        "def f(x): return x\ng = tfe.make_vjp(f, params=[3])(1.)\n",
        ("TM115", "a position that the function does not have"),
    ),
    "nothing to differentiate": (
        "g = tfe.gradients_function(lambda x: x, params=[])\n",
        ("TM111", "nothing to differentiate"),
    ),
    "a computed persistent": (
        "def d(f, keep): return tfe.make_vjp(f, persistent=keep)\n",
        ("TM115", "`persistent` is computed"),
    ),
    "star": (
        "def d(*spec): return tfe.gradients_function(*spec)\n",
        ("TM904", "passed as `*args` or `**kwargs`"),
    ),
    "double star": (
        "def d(f, **kw): return tfe.gradients_function(f, **kw)\n",
        ("TM904", "passed as `*args` or `**kwargs`"),
    ),
    "an unknown keyword": (
        "g = tfe.gradients_function(lambda x: x, parameters=[0])\n",
        ("TM111", "no single argument `parameters`"),
    ),
    "no function": ("g = tfe.gradients_function(params=[0])\n", ("TM111", "not the function's")),
    "passed as a value": ("gs = list(map(tfe.gradients_function, fs))\n", ("TM904", "as a value")),
    "kept in a table": ("T = {'g': tfe.implicit_gradients}\n", ("TM904", "as a value")),
    "looked up": ("g = getattr(tfe, 'gradients_function')(f)\n", ("TM904", "by a string")),
    "in the body of a class": (
        "class M:\n    def loss(x): return x\n    grad = tfe.implicit_gradients(loss)\n",
        ("TM113", "body of a class"),
    ),
    "a method that would be converted": (
        "class M:\n    @tfe.gradients_function\n    def loss(self, x): return x\n",
        ("TM111", "convert `self`"),
    ),
    "a coroutine": (
        "@tfe.implicit_gradients\nasync def loss(x): return x\n",
        ("TM113", "a coroutine"),
    ),
    "an f-string": (
        "print(f'{tfe.gradients_function(lambda x: x)(1.)}')\n",
        ("TM111", "f-string"),
    ),
    "lambdas of a comprehension": (
        "gs = [tfe.gradients_function(lambda x: x * k) for k in range(3)]\n",
        ("TM111", "each round of the comprehension"),
    ),
    "a name that may be another": (
        "if new:\n    tfe = object()\ng = tfe.gradients_function(f)\n",
        ("TM111", "may mean something else"),
    ),
    "a symbol without successor": ("m = tfe.Network('a')\n", ("TM116", "tf.keras.Model")),
    "a symbol nobody lists": ("tfe.nonesuch()\n", ("TM116", "does not exist")),
    "the module as a value": ("def d(): return tfe\n", ("TM116", "does not exist")),
    "an argument that the successor lacks": (
        "v = tfe.Variable(1.0, collections=[])\n",
        ("TM116", "no argument `collections`"),
    ),
}


@pytest.mark.parametrize("name", FLAGGED)
def test_flagged(name: str) -> None:
    body, (code, reason) = FLAGGED[name]
    text = program(body)
    found = [f for f in findings(text) if f.rewrite is None]
    assert [f.code for f in found] == [code], found
    assert reason in found[0].message
    assert code == "TM116" or "with tf.GradientTape() as tape:" in found[0].help
    assert fixed(text, unsafe=True) == text


NOT_OURS = {
    "a parameter": "def d(tfe, f):\n    return tfe.gradients_function(f)(1.0)\n",
    "an object's method": "def d(op, f):\n    return op.gradients_function(f)(1.0)\n",
    "a keyword": "minimize(value_and_gradients_function=f)\n",
    "a module of the user": "from .tools import implicit_gradients\ng = implicit_gradients(f)\n",
    "a name of their own": "def make_vjp(f): return f\ng = make_vjp(f)\n",
    "text": "'tfe.gradients_function'  # tfe.implicit_gradients\n",
}


@pytest.mark.parametrize("name", NOT_OURS)
def test_not_ours(name: str) -> None:
    assert findings("import tensorflow as tf\n" + NOT_OURS[name]) == []


def test_an_alias_of_the_user() -> None:
    file = SourceFile(
        "program.py",
        "import tensorflow as tf\nfrom .tools import slopes\n\n"
        "def d(f, x):\n    return slopes(f)(x)[0]\n",
    )
    here = unit(file)
    aliases = {"project.tools.slopes": "gradients_function"}
    (found,) = tfe.findings(Project({file.filename: here}, aliases=aliases), here)
    assert found.code == "TM111"
    assert found.message.startswith("`slopes` stands for a gradient function")
    assert found.rewrite is not None
    assert "tape.gradient(value, x" in apply(file.text, here.tree, found.rewrite.ops[file.filename])


# -- imports ---------------------------------------------------------------------------------------

USE = "g = tfe.gradients_function(lambda x: x * x)\n"


@pytest.mark.parametrize(
    "line",
    [
        "import tensorflow.contrib.eager as tfe",
        "from tensorflow.contrib import eager as tfe",
        "from tensorflow.contrib.eager.python import tfe",
        "tfe = tf.contrib.eager",
        "tfe = tf.compat.v1.contrib.eager",
        "from tensorflow.python.eager import backprop as tfe",
    ],
)
def test_an_import_goes_with_its_last_use(line: str) -> None:
    new = fixed(f"import tensorflow as tf\n{line}\n\n{USE}")
    assert line not in new
    assert new.startswith("import tensorflow as tf\n")
    assert "def g(x, *, dy=None):" in new


def test_an_import_stays_for_what_stays() -> None:
    new = fixed(program(USE + "h = tfe.gradients_function(f, params=names)\n"))
    assert "import tensorflow.contrib.eager as tfe\n" in new
    assert "def g(" in new


def test_an_import_loses_one_name() -> None:
    text = "import tensorflow as tf\nfrom tensorflow.python.eager import backprop as tfe, context\n"
    assert "from tensorflow.python.eager import context\n" in fixed(text + USE)


def test_tensorflow_is_imported_where_it_is_not() -> None:
    new = fixed('"""A module."""\nimport tensorflow.contrib.eager as tfe\n\n' + USE)
    assert new.startswith('"""A module."""\nimport tensorflow as tf\n\n')
    assert "tf.GradientTape()" in new


def test_tensorflow_under_another_name() -> None:
    new = fixed(
        "import tensorflow.compat.v1 as tf1\nimport tensorflow.contrib.eager as tfe\n\n" + USE
    )
    assert "with tf1.GradientTape() as tape:" in new


def test_tf_is_something_else() -> None:
    text = f"import tensorflow.contrib.eager as tfe\n\ntf = 3\n{USE}"
    assert fixed(text) == text
    assert "`tf` means something else" in findings(text)[-1].message


def test_an_import_without_a_name_of_its_own() -> None:
    new = fixed("import tensorflow.contrib.eager\n\ng = tensorflow.contrib.eager.make_vjp(f)\n")
    assert new.startswith("import tensorflow\n")
    assert "with tensorflow.GradientTape(persistent=True) as tape:" in new


def test_a_star_import() -> None:
    text = "import tensorflow as tf\nfrom tensorflow.contrib.eager import *\n\n"
    assert "contrib" not in fixed(text + "g = gradients_function(lambda x: x)\n")
    more = text + "g = gradients_function(lambda x: x)\nn = Network()\n"
    assert "import *" in fixed(more)


def test_beside_other_gradient_calls() -> None:
    """Tapes of two rules in one function have two names; one inside the other is left."""
    body = """
    def d(x, f):
        y = tfe.gradients_function(f)(x)[0]
        return tf.gradients(y * x, x)[0]
    """
    assert "with tf.GradientTape() as function_tape:" in fixed(program(body))
    nested = "def d(x, y, f): return tfe.gradients_function(f)(tf.gradients(y, x)[0])\n"
    assert fixed(program(nested)) == program(nested)
    nested = "def d(x, f): return tf.gradients(tfe.py_func(f, [x], tf.float32), x)\n"
    assert fixed(program(nested)) == program(nested)


def test_only_some_rules() -> None:
    text = program("v = tfe.Variable(1.0)\n" + USE)
    new = fixed(text, "TM111")
    assert "import tensorflow.contrib.eager as tfe\nv = tfe.Variable(1.0)\n" in new
    # The import can only go with all that uses it.
    assert "contrib" not in fixed(text, "TM116")


def test_a_suppressed_use_keeps_its_import() -> None:
    text = program("v = tfe.Variable(1.0)  # noqa: TM116\n" + USE)
    imports = [f for f in findings(text) if f.span.row == 2]
    assert imports == []


def test_a_name_that_others_may_import_stays() -> None:
    main = 'if __name__ == "__main__":\n    print(g(2.0))\n'
    assert "def g(x, *, dy=None):" in fixed(program(USE + main))
    assert "def g(" not in fixed(program(USE + "print(g(2.0))\n"))
    assert "def _g(x):" in fixed(program(USE.replace("g =", "_g =") + "def h(): return _g(1.)\n"))


def test_an_exported_name_stays() -> None:
    text = program('__all__ = ["tfe", "g"]\n' + USE + "y = g(2.0)\n")
    new = fixed(text)
    assert "import tensorflow.contrib.eager as tfe" in new
    assert "def g(x" in new


def test_a_second_run_finds_nothing() -> None:
    for before, _ in EMITTED.values():
        assert findings(fixed(program(before))) == []


def test_tf_enable_eager_execution() -> None:
    assert fixed("import tensorflow as tf\ntf.enable_eager_execution()\nx = 1\n") == (
        "import tensorflow as tf\nx = 1\n"
    )
    text = "import tensorflow as tf\ntf.enable_eager_execution(config=c)\nx = 1\n"
    assert fixed(text) == text
    assert findings(text)[0].rewrite is not None
    assert "config" not in fixed(text, unsafe=True)


def test_newlines_and_tabs() -> None:
    body = "def d(f):\r\n\tg = tfe.gradients_function(f)\r\n\treturn g(1.0), g(2.0)\r\n"
    new = fixed(IMPORTS.replace("\n", "\r\n") + body)
    assert "\n" not in new.replace("\r\n", "")
    assert "\tdef g(x):\r\n\t\tx = tf.convert_to_tensor(x)\r\n" in new


def test_what_has_no_successor_is_told_in_its_own_words() -> None:
    text = "import tensorflow as tf\nkeep(tf.contrib.eager)\ntf.contrib.eager.Unheard()\n"
    assert [each.message for each in findings(text)] == [
        "`tf.contrib.eager` does not exist in TensorFlow 2; it is kept as a value, and what is "
        "used of it cannot be seen",
        "`tf.contrib.eager.Unheard` does not exist in TensorFlow 2; no successor of it is known",
    ]


def test_a_tensorflow_that_may_be_missing_is_imported_where_it_is_needed() -> None:
    text = (
        "def trace(fn, args):\n"
        "    from tensorflow.python.eager.backprop import make_vjp\n"
        "    return make_vjp(fn)(*args)\n"
    )
    after = fixed(text)
    assert "    import tensorflow as tf\n" in after
    assert not after.startswith("import")


def test_an_import_of_a_tensorflow_that_may_be_missing_is_an_assumption() -> None:
    text = (
        "try:\n"
        "    from tensorflow.contrib.eager import gradients_function\n"
        "except ImportError:\n"
        "    gradients_function = None\n\n\n"
        "def f(x):\n"
        "    return x * x\n\n\n"
        "g = gradients_function(f)\n"
    )
    assert fixed(text) == text
    assert fixed(text, unsafe=True).startswith("import tensorflow as tf\n")
