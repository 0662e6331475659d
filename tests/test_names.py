"""What names mean, from what they must not be taken for to what they must."""

from __future__ import annotations

import ast
import textwrap
import time

import pytest

from tapemigrate.names import Names


def calls(source: str) -> tuple[Names, list[ast.Call]]:
    """The calls of ``source`` whose function ends in ``HERE``-marked lines, in the file's order."""
    text = textwrap.dedent(source)
    tree = ast.parse(text)
    marked = {row for row, line in enumerate(text.splitlines(), 1) if "# here" in line}
    found = [
        node for node in ast.walk(tree) if isinstance(node, ast.Call) and node.lineno in marked
    ]
    outermost = {(call.lineno, call.col_offset): call for call in reversed(found)}
    return Names(tree), [outermost[place] for place in sorted(outermost)]


def meaning(source: str) -> tuple[str | None, str | None]:
    names, found = calls(source)
    assert len({call.lineno for call in found}) == 1, "mark one line with '# here'"
    return names.qualified(found[0].func), names.reference_kind(found[0].func)


NOT_IMPORTED = {
    "no import": "tf.gradients(y, x)  # here",
    "a parameter": """
        import tensorflow as tf
        def f(tf):
            tf.gradients(y, x)  # here
    """,
    "a keyword-only parameter": """
        import tensorflow as tf
        def f(*, tf=None):
            tf.gradients(y, x)  # here
    """,
    "*args": """
        import tensorflow as tf
        def f(*tf):
            tf.gradients(y, x)  # here
    """,
    "**kwargs": """
        import tensorflow as tf
        def f(**tf):
            tf.gradients(y, x)  # here
    """,
    "a lambda's parameter": """
        import tensorflow as tf
        f = lambda tf: tf.gradients(y, x)  # here
    """,
    "a parameter that bears the name of an API": """
        from tensorflow.contrib.eager import value_and_gradients_function
        def minimize(value_and_gradients_function, start):
            value_and_gradients_function(start)  # here
    """,
    "a parameter whose default is the API": """
        import tensorflow as tf
        def f(x, gradients=tf.gradients):
            gradients(y, x)  # here
    """,
    "a parameter of an enclosing function": """
        import tensorflow as tf
        def f(tf):
            def g():
                return [tf.gradients(y, x) for _ in y]  # here
    """,
    "a local variable": """
        import tensorflow as tf
        def f():
            tf = backend()
            tf.gradients(y, x)  # here
    """,
    "a local variable assigned below": """
        import tensorflow as tf
        def f():
            tf.gradients(y, x)  # here
            tf = backend()
    """,
    "a for target": """
        import tensorflow as tf
        def f():
            for tf in backends:
                tf.gradients(y, x)  # here
    """,
    "a tuple target": """
        import tensorflow as tf
        def f():
            a, (tf, *b) = backends
            tf.gradients(y, x)  # here
    """,
    "a with target": """
        import tensorflow as tf
        def f():
            with backend() as tf:
                tf.gradients(y, x)  # here
    """,
    "an except target": """
        import tensorflow as tf
        def f():
            try:
                pass
            except Error as tf:
                tf.gradients(y, x)  # here
    """,
    "a comprehension variable": """
        import tensorflow as tf
        a = [tf.gradients(y, x) for tf in backends]  # here
    """,
    "a walrus target": """
        import tensorflow as tf
        def f():
            if (tf := backend()):
                tf.gradients(y, x)  # here
    """,
    "a walrus target in a comprehension": """
        import tensorflow as tf
        def f():
            a = [tf for b in c if (tf := b)]
            tf.gradients(y, x)  # here
    """,
    "a match capture": """
        import tensorflow as tf
        def f(a):
            match a:
                case {"b": tf}:
                    tf.gradients(y, x)  # here
    """,
    "a function of the file": """
        from tensorflow import gradients
        def gradients(ys, xs):
            return ys
        gradients(y, x)  # here
    """,
    "a nested function": """
        from tensorflow import gradients
        def f():
            def gradients(ys, xs):
                return ys
            gradients(y, x)  # here
    """,
    "a class": """
        import tensorflow as tf
        def f():
            class tf:
                pass
            tf.gradients(y, x)  # here
    """,
    "a method of the class": """
        import tensorflow as tf
        class A:
            def gradients(self):
                return self.gradients(y, x)  # here
    """,
    "a class attribute is not seen in a method": """
        class A:
            import tensorflow as tf
            def f(self):
                tf.gradients(y, x)  # here
    """,
    "a class attribute is not seen in a comprehension": """
        class A:
            import tensorflow as tf
            a = [tf.gradients(y, x) for _ in y]  # here
    """,
    "an import in another function": """
        def f():
            import tensorflow as tf
        def g():
            tf.gradients(y, x)  # here
    """,
    "rebound in order": """
        import tensorflow as tf
        tf = backend()
        tf.gradients(y, x)  # here
    """,
    "a result, not the function": """
        from tensorflow import gradients
        gradients = gradients(y, x)
        gradients(y, x)  # here
    """,
    "an attribute of a result": """
        import tensorflow as tf
        tf.gradients(y, x)[0].gradients(y, x)  # here
    """,
    "only annotated": """
        tf: Backend
        tf.gradients(y, x)  # here
    """,
    "a name with a star import of one's own code": """
        from ops import *
        gradients(y, x)  # here
    """,
    "a builtin with a star import of tensorflow": """
        from tensorflow import *
        print(y)  # here
    """,
    "a parameter in a file with a star import": """
        from ops import *
        def f(tf):
            tf.gradients(y, x)  # here
    """,
    "assigned from itself": """
        def f():
            a = a
            a(y, x)  # here
    """,
    "assigned in a circle": """
        def f():
            b(y, x)  # here
        a = b
        b = a
    """,
    "None": """
        tf = None
        tf.gradients(y, x)  # here
    """,
    "a type parameter of an outer name": """
        import tensorflow as tf
        def f():
            global tf
            tf = backend()
        def g(tf):
            tf.gradients(y, x)  # here
    """,
}


@pytest.mark.parametrize("source", NOT_IMPORTED.values(), ids=NOT_IMPORTED.keys())
def test_not_an_imported_thing(source: str) -> None:
    assert meaning(source) == (None, None)


IMPORTED = {
    ("import tensorflow as tf", "tf.gradients"): "tensorflow.gradients",
    ("import tensorflow", "tensorflow.gradients"): "tensorflow.gradients",
    ("import tensorflow.compat.v1 as tf", "tf.gradients"): "tensorflow.compat.v1.gradients",
    ("import tensorflow.compat.v1", "tensorflow.compat.v1.gradients"): (
        "tensorflow.compat.v1.gradients"
    ),
    ("from tensorflow.compat import v1 as tf1", "tf1.gradients"): "tensorflow.compat.v1.gradients",
    ("from tensorflow import compat", "compat.v1.gradients"): "tensorflow.compat.v1.gradients",
    ("from tensorflow import gradients", "gradients"): "tensorflow.gradients",
    ("from tensorflow import gradients as g", "g"): "tensorflow.gradients",
    ("from tensorflow.contrib import eager as tfe", "tfe.make_vjp"): (
        "tensorflow.contrib.eager.make_vjp"
    ),
    ("from tensorflow.contrib.eager.python import tfe", "tfe.make_vjp"): (
        "tensorflow.contrib.eager.python.tfe.make_vjp"
    ),
    ("import tensorflow.contrib.eager as tfe", "tfe.make_vjp"): "tensorflow.contrib.eager.make_vjp",
    ("import tensorflow.contrib.eager", "tensorflow.contrib.eager.make_vjp"): (
        "tensorflow.contrib.eager.make_vjp"
    ),
    ("import tensorflow as tf", "tf.contrib.eager.make_vjp"): "tensorflow.contrib.eager.make_vjp",
    ("from tensorflow.python.ops import gradients_impl", "gradients_impl.gradients"): (
        "tensorflow.python.ops.gradients_impl.gradients"
    ),
    ("from tensorflow.python.ops.gradients_impl import gradients", "gradients"): (
        "tensorflow.python.ops.gradients_impl.gradients"
    ),
    ("from tensorflow.python.ops import gradients", "gradients.gradients"): (
        "tensorflow.python.ops.gradients.gradients"
    ),
    ("from tensorflow.python.ops.parallel_for.gradients import jacobian", "jacobian"): (
        "tensorflow.python.ops.parallel_for.gradients.jacobian"
    ),
    ("from tensorflow.python.ops.parallel_for import gradients as p", "p.jacobian"): (
        "tensorflow.python.ops.parallel_for.gradients.jacobian"
    ),
    ("from tensorflow.python.eager import backprop", "backprop.gradients_function"): (
        "tensorflow.python.eager.backprop.gradients_function"
    ),
    ("from .ops import gradients", "gradients"): ".ops.gradients",
    ("from . import ops", "ops.gradients"): ".ops.gradients",
    ("from .. import ops", "ops.gradients"): "..ops.gradients",
    ("import numpy as np", "np.gradient"): "numpy.gradient",
}


@pytest.mark.parametrize(("written", "path"), IMPORTED.items(), ids=str)
def test_imports(written: tuple[str, str], path: str) -> None:
    statement, function = written
    assert meaning(f"{statement}\n{function}(y, x)  # here\n") == (path, "import")
    assert meaning(f"def f():\n    {statement}\n    return {function}(y, x)  # here\n")[0] == path
    in_method = f"{statement}\nclass A:\n    def f(self):\n        {function}(y, x)  # here\n"
    assert meaning(in_method)[0] == path


ALIASES = {
    "of a module": """
        import tensorflow as tf
        tfe = tf.contrib.eager
        tfe.make_vjp(f)  # here
    """,
    "of a module, seen in a function": """
        import tensorflow as tf
        tfe = tf.contrib.eager
        def g():
            tfe.make_vjp(f)  # here
    """,
    "local": """
        import tensorflow as tf
        def g():
            tfe = tf.contrib.eager
            tfe.make_vjp(f)  # here
    """,
    "of an alias": """
        import tensorflow as tf
        contrib = tf.contrib
        tfe = contrib.eager
        vjp = tfe.make_vjp
        vjp(f)  # here
    """,
    "in a tuple": """
        import tensorflow as tf
        a, tfe = 1, tf.contrib.eager
        tfe.make_vjp(f)  # here
    """,
    "annotated": """
        import tensorflow as tf
        tfe: object = tf.contrib.eager
        tfe.make_vjp(f)  # here
    """,
    "by a walrus": """
        import tensorflow as tf
        (vjp := tf.contrib.eager.make_vjp)(f); vjp(f)
        vjp(f)  # here
    """,
    "a class attribute, in the class": """
        import tensorflow as tf
        class A:
            tfe = tf.contrib.eager
            g = tfe.make_vjp(f)  # here
    """,
}


@pytest.mark.parametrize("source", ALIASES.values(), ids=ALIASES.keys())
def test_aliases(source: str) -> None:
    assert meaning(source) == ("tensorflow.contrib.eager.make_vjp", "alias")


SEEN = {
    "nested functions, lambdas and comprehensions": """
        import tensorflow as tf
        def f():
            def g():
                return lambda: [{tf.gradients(y, x) for _ in y} for _ in y]  # here
    """,
    "decorators and defaults are evaluated outside": """
        import tensorflow as tf
        def f(tf=tf.gradients(y, x)):  # here
            pass
    """,
    "the first iterable is evaluated outside": """
        import tensorflow as tf
        a = [tf for tf in tf.gradients(y, x)]  # here
    """,
    "before the name is bound again": """
        import tensorflow as tf
        tf.gradients(y, x)  # here
        tf = backend()
    """,
    "an import in an except that follows a failed one": """
        try:
            import tensorflow as tf
        except ImportError:
            tf = None
        tf.gradients(y, x)  # here
    """,
    "an import beside a stand-in": """
        try:
            import tensorflow as tf
        except ImportError:
            tf = Missing()
        tf.gradients(y, x)  # here
    """,
    "the first of two imports": """
        try:
            import tensorflow as tf
        except ImportError:
            import tensorflow.compat.v1 as tf
        def f():
            tf.gradients(y, x)  # here
    """,
    "the first of two imports under if": """
        if new:
            import tensorflow as tf
        else:
            import tensorflow.compat.v1 as tf
        tf.gradients(y, x)  # here
    """,
    "global": """
        def load():
            global tf
            import tensorflow as tf
        def f():
            tf.gradients(y, x)  # here
    """,
    "global in a function that hides the name": """
        import tensorflow as tf
        def f(a):
            tf = a
            def g():
                global tf
                return tf.gradients(y, x)  # here
    """,
    "nonlocal": """
        def f():
            tf = None
            def load():
                nonlocal tf
                import tensorflow as tf
            load()
            def g():
                tf.gradients(y, x)  # here
    """,
    "below, in a function": """
        def f():
            tf.gradients(y, x)  # here
        import tensorflow as tf
    """,
    "class attributes do not hide it in methods": """
        import tensorflow as tf
        class A:
            tf = 3
            def f(self):
                tf.gradients(y, x)  # here
    """,
    "above the class attribute of the same name": """
        import tensorflow as tf
        class A:
            g = tf.gradients(y, x)  # here
            tf = 3
    """,
    "inside with, try, loops, match": """
        import tensorflow as tf
        while True:
            with a:
                try:
                    match b:
                        case 1:
                            tf.gradients(y, x)  # here
                finally:
                    pass
    """,
}


@pytest.mark.parametrize("source", SEEN.values(), ids=SEEN.keys())
def test_imports_that_are_seen(source: str) -> None:
    assert meaning(source) == ("tensorflow.gradients", "import")


def test_module_replaced_by_its_v1_api() -> None:
    path = "tensorflow.compat.v1.gradients"
    rebound = "import tensorflow as tf\ntf = tf.compat.v1\n"
    assert meaning(f"{rebound}tf.gradients(y, x)  # here")[0] == path
    assert meaning(f"{rebound}def f():\n    tf.gradients(y, x)  # here")[0] == path
    guarded = "import tensorflow as tf\nif new:\n    tf = tf.compat.v1\n"
    assert meaning(f"{guarded}tf.gradients(y, x)  # here")[0] == path


UNCERTAIN = {
    "one function or the other": """
        import tensorflow as tf
        if a:
            grad = tf.gradients
        else:
            grad = my_gradients
        grad(y, x)  # here
    """,
    "by a conditional expression": """
        import tensorflow as tf
        grad = tf.gradients if a else my_gradients
        grad(y, x)  # here
    """,
    "bound again before a function runs": """
        import tensorflow as tf
        grad = tf.gradients
        def f():
            grad(y, x)  # here
        grad = my_gradients
    """,
    "bound again by another function": """
        import tensorflow as tf
        grad = tf.gradients
        def switch():
            global grad
            grad = my_gradients
        def f():
            grad(y, x)  # here
    """,
}


@pytest.mark.parametrize("source", UNCERTAIN.values(), ids=UNCERTAIN.keys())
def test_names_that_may_mean_something_else(source: str) -> None:
    assert meaning(source) == ("tensorflow.gradients", "uncertain")


def test_one_of_two_imported_functions_is_uncertain() -> None:
    source = """
        import tensorflow as tf
        grad = tf.gradients if a else tf.hessians
        grad(y, x)  # here
    """
    assert meaning(source) == ("tensorflow.gradients", "uncertain")


@pytest.mark.parametrize(
    "function",
    [
        "getattr(tf, 'gradients')",
        "getattr(tf, 'gradients', None)",
        "tf.__dict__['gradients']",
        "_import_tf().gradients",
        "vars(tf)['gradients']",
        "importlib.import_module('tensorflow').gradients",
        "__import__('tensorflow').gradients",
    ],
)
def test_reached_through_a_string(function: str) -> None:
    source = f"import tensorflow as tf\nimport importlib\n{function}(y, x)  # here"
    assert meaning(source) == ("tensorflow.gradients", "getattr")
    aliased = f"import tensorflow as tf\nimport importlib\ng = {function}\ng(y, x)  # here"
    assert meaning(aliased) == ("tensorflow.gradients", "getattr")


@pytest.mark.parametrize("names", ["tf1, tf, tfv", "tf, other", "(tf2, tf)"])
def test_a_function_that_imports_it_hands_out_several(names: str) -> None:
    source = f"from utils import try_import_tf\n{names} = try_import_tf()\n"
    assert meaning(f"{source}tf.gradients(y, x)  # here") == ("tensorflow.gradients", "getattr")
    for other in ("tfv", "other"):
        assert meaning(f"{source}{other}.gradients(y, x)  # here") == (None, None)


def test_a_function_that_is_handed_a_value_imports_nothing() -> None:
    use = "tf.gradients(y, x)  # here"
    assert meaning(f"tf = try_import_tf(error=True)\n{use}") == ("tensorflow.gradients", "getattr")
    assert meaning(f"tf = import_tf(x)\n{use}") == (None, None)


def test_of_one_s_own_code_in_a_file_that_tells_libraries_apart() -> None:
    use = "tf.gradients(y, x)  # here"
    told = "from .backend import name, tf, torch\nif name == 'tensorflow.compat.v1':\n    " + use
    assert meaning(told) == ("tensorflow.gradients", "import")
    told = "from .backend import tf\nif name in ['pytorch', 'tensorflow']:\n    " + use
    assert meaning(told) == ("tensorflow.gradients", "import")
    for text in ("torch", "not for tensorflow at all"):
        untold = f"from .backend import name, tf\nif name == '{text}':\n    {use}"
        assert meaning(untold) == (".backend.tf.gradients", "import")


def test_getattr_with_a_name_that_is_not_literal() -> None:
    assert meaning("import tensorflow as tf\ngetattr(tf, name)(y, x)  # here") == (None, None)


def test_star_imports() -> None:
    assert meaning("from ops import *\ntf.gradients(y, x)  # here") == (
        "tensorflow.gradients",
        "star",
    )
    assert meaning("from ops import *\ndef f():\n    tfe.make_vjp(f)  # here") == (
        "tensorflow.contrib.eager.make_vjp",
        "star",
    )
    assert meaning("from tensorflow import *\ngradients(y, x)  # here") == (
        "tensorflow.gradients",
        "star",
    )
    assert meaning("from ops import *\nimport tensorflow as tf\ntf.gradients(y)  # here") == (
        "tensorflow.gradients",
        "import",
    )


@pytest.mark.parametrize(
    "written",
    [
        "from .backend import tf",
        "from project.backend import np, tf",
        "from project import compat as tf",
        "import project.compat as tf",
        "from .imports import tensorflow as tf",
    ],
)
def test_tensorflow_that_code_of_ones_own_hands_on(written: str) -> None:
    source = f"{written}\ny = tf.reduce_sum(x)\ntf.gradients(y, x)  # here"
    assert meaning(source) == ("tensorflow.gradients", "import")


def test_tensorflow_that_is_handed_on_under_another_name() -> None:
    head = "from .backend import tf as graph\ny = graph.nn.relu(x)\n"
    source = f"{head}graph.gradients(y, x)  # here"
    assert meaning(source) == ("tensorflow.gradients", "import")


def test_other_modules_called_tf_are_not_taken_for_it() -> None:
    assert meaning("import transformations as tf\ntf.gradients(y, x)  # here") == (
        "transformations.gradients",
        "import",
    )
    assert meaning("from . import tf\ntf.gradients(y, x)  # here") == (".tf.gradients", "import")
    assert meaning("from mine import tf\ntf.gradients(y, x)  # here") == (
        "mine.tf.gradients",
        "import",
    )


def test_alias_definition() -> None:
    tree = ast.parse("import tensorflow as tf\ngrad = tf.gradients\nlist = [tf.gradients]\n")
    names = Names(tree)
    values = [node.value for node in tree.body if isinstance(node, ast.Assign)]
    assert names.alias_definition(values[0]) == "grad"
    assert isinstance(values[1], ast.List)
    assert names.alias_definition(values[1].elts[0]) is None


def test_references_are_the_longest_chains() -> None:
    tree = ast.parse(
        "import tensorflow as tf\ngrad = tf.gradients\ngrad(y, tf.x.y)[0].shape\nf(grad)\n"
        "getattr(tf, 'hessians')\n"
    )
    found = [path for _, path in Names(tree).references()]
    assert found == [
        "tensorflow.gradients",
        "tensorflow.gradients",
        "tensorflow.x.y",
        "tensorflow.gradients",
        "tensorflow.hessians",
        "tensorflow",
    ]


@pytest.mark.parametrize(
    "replacement",
    [
        "tf.gradients = mine",
        "tf.__dict__['gradients'] = mine",
        "setattr(tf, 'gradients', mine)",
        "monkeypatch.setattr(tf, 'gradients', mine)",
        "del tf.gradients",
    ],
)
def test_replacing_a_function_is_a_reference(replacement: str) -> None:
    names = Names(ast.parse(f"import tensorflow as tf\n{replacement}\n"))
    assert "tensorflow.gradients" in [path for _, path in names.references()]


def test_reexports_are_the_imports_that_nothing_reads() -> None:
    names = Names(
        ast.parse(
            """
from tensorflow import gradients as tf_gradients, hessians
import tensorflow as tf
def f():
    return tf.abs(hessians)
"""
        )
    )
    assert [path for _, path in names.reexports()] == ["tensorflow.gradients"]


ALIAS_CASES = [
    ("import tensorflow as tf", "tf.gradients", "tf"),
    ("import tensorflow as flow", "flow.contrib.eager.make_vjp", "flow"),
    ("import tensorflow.compat.v1 as tf1", "tf1.gradients", "tf1"),
    ("import tensorflow.compat.v1", "tensorflow.compat.v1.gradients", "tensorflow"),
    ("from tensorflow import gradients", "gradients", None),
    ("from tensorflow import gradients\nimport tensorflow as tf", "gradients", "tf"),
    ("from tensorflow.compat import v1\nimport tensorflow.contrib.eager as e", "e.make_vjp", "v1"),
    (
        "import tensorflow.compat.v1 as tf1\nimport tensorflow as tf\ne = tf.contrib.eager",
        "e.a",
        "tf",
    ),
    ("from ops import *", "tf.gradients", "tf"),
    ("from numpy import gradient", "gradient", None),
]


@pytest.mark.parametrize(("head", "function", "alias"), ALIAS_CASES)
def test_tensorflow_alias(head: str, function: str, alias: str | None) -> None:
    names, found = calls(f"{head}\n{function}(y, x)  # here\n")
    assert names.tensorflow_alias(found[0].func) == alias
    assert names.tensorflow_alias(found[0]) == alias


def test_tensorflow_alias_hidden_by_a_parameter() -> None:
    names, found = calls(
        """
        import tensorflow as tf
        from tensorflow import gradients
        def f(tf):
            gradients(y, x)  # here
        """
    )
    assert names.tensorflow_alias(found[0].func) is None


def test_bound_names_of_a_function() -> None:
    tree = ast.parse(
        textwrap.dedent(
            """
            import tensorflow as tf
            tape = 1
            def f(a, *b, c=default, **d):
                global g
                import h.i
                for j in k:
                    with l as m:
                        n: int = 1
                try:
                    pass
                except E as o:
                    q += r.attribute
                def inner(s):
                    tape2 = free + s
                    return [u for u in v]
                class C:
                    w = x
                match y:
                    case [z, *rest]:
                        pass
            """
        )
    )
    function = next(node for node in tree.body if isinstance(node, ast.FunctionDef))
    assert Names(tree).bound_names(function) == set("abcdghjklmnoqrvwxyzE") | {
        "inner",
        "free",
        "C",
        "rest",
        "int",
    }
    assert {"tf", "tape", "f", "default", "free"} <= Names(tree).bound_names(tree)
    assert "tape2" not in Names(tree).bound_names(tree)


def test_bound_names_of_a_lambda_and_a_method() -> None:
    tree = ast.parse("class A:\n    tape = 1\n    def f(self):\n        return lambda a: a + b\n")
    names = Names(tree)
    method = next(node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))
    function = next(node for node in ast.walk(tree) if isinstance(node, ast.Lambda))
    assert names.bound_names(method) == {"self", "b"}
    assert names.bound_names(function) == {"a", "b"}


def test_nodes_of_another_tree_mean_nothing() -> None:
    names = Names(ast.parse("import tensorflow as tf\n"))
    assert names.qualified(ast.parse("tf.gradients", mode="eval").body) is None


def test_deep_trees() -> None:
    chain = ast.parse("import tensorflow as tf\na = tf" + ".b" * 300 + "(1)\n")
    assert Names(chain).bound_names(chain) == {"tf", "a"}
    expression: ast.expr = ast.Name("tf", ast.Load(), lineno=2, col_offset=0)
    for _ in range(50_000):
        expression = ast.BinOp(expression, ast.Add(), ast.Constant(1), lineno=2, col_offset=0)
    chain.body.append(ast.Expr(expression))
    assert Names(chain).bound_names(chain) == {"tf", "a"}


def test_long_chains_of_assignments_end() -> None:
    lines = "".join(f"a{i} = a{i + 1}\n" for i in range(2000))
    source = f"import tensorflow as tf\na2000 = tf\n{lines}def f():\n    a0.gradients(y)  # here\n"
    assert meaning(source) == (None, None)


def test_many_bindings_of_one_name_take_no_longer_each() -> None:
    lines = "import tensorflow as tf\ng = tf.gradients\n" + "g = g\ng(y)\n" * 10_000
    tree = ast.parse(lines)
    start = time.process_time()
    assert sum(path == "tensorflow.gradients" for _, path in Names(tree).references()) == 20_001
    assert time.process_time() - start < 5
