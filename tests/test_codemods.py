"""Plans applied to texts: what moves, what stays, and what is refused."""

from __future__ import annotations

import ast
import subprocess
import sys
import threading
from collections.abc import Callable
from textwrap import dedent

import pytest

from tapemigrate.codemods import CodemodError, apply
from tapemigrate.source.positions import Lines
from tapemigrate.source.span import Span
from tapemigrate.tape.plan import Insert, Op, Replace, ReplaceStatement, Wrap

WITH = "with tf.GradientTape() as tape:"


class Text:
    """A text in which statements and expressions are found by how they begin or read."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.tree = ast.parse(text)
        self.lines = Lines(text)

    def stmt(self, start: str) -> Span:
        spans = [self.lines.span(n) for n in ast.walk(self.tree) if isinstance(n, ast.stmt)]
        return next(span for span in spans if self.lines.segment(span).startswith(start))

    def expr(self, code: str) -> Span:
        spans = [self.lines.span(n) for n in ast.walk(self.tree) if isinstance(n, ast.expr)]
        return next(span for span in spans if self.lines.segment(span) == code)

    def apply(self, *ops: Op) -> str:
        new = apply(self.text, self.tree, ops)
        ast.parse(new)
        return new


def text(source: str) -> Text:
    return Text(dedent(source))


def is_(new: str, expected: str) -> None:
    assert new == dedent(expected)


def test_no_operation_is_identity() -> None:
    odd = "x = 1;\r\n\x0cif x :  y=2\r# end  "
    assert Text(odd).apply() == odd


def test_wrap_leaves_comments_where_they_belong() -> None:
    t = text("""\
        def f(x):
            '''Doc.'''

            # above
            y = g(x)  # first

            # between
            z = h(  # open
                y,
                  # odd
                k="a"
            )  # last
            # below
            return z
        """)
    is_(
        t.apply(Wrap(t.stmt("y ="), t.stmt("z ="), WITH, "tape.watch(x)", "done()")),
        """\
        def f(x):
            '''Doc.'''

            # above
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = g(x)  # first

                # between
                z = h(  # open
                    y,
                      # odd
                    k="a"
                )  # last
                done()
            # below
            return z
        """,
    )


def test_strings_keep_every_byte_and_backslashes_move_along() -> None:
    t = Text(
        'def f():\n    a = """x\n    y\n  z"""\n    b = 1 + \\\n      2\n'
        "    c = f'''{\n    a\n    = }'''\n    d = 'x\\\n    y'\n"
        "    e = (a,\n         'q'\n    r'w')\n"
    )
    new = t.apply(Wrap(t.stmt("a ="), t.stmt("e ="), "with q:"))
    assert new == (
        'def f():\n    with q:\n        a = """x\n    y\n  z"""\n        b = 1 + \\\n          2\n'
        "        c = f'''{\n    a\n    = }'''\n        d = 'x\\\n    y'\n"
        "        e = (a,\n             'q'\n        r'w')\n"
    )


def test_lines_of_blanks_are_emptied_where_they_move() -> None:
    t = Text("def f(x):\n    a = x\n        \n    b = a\n    \n    return b\n")
    new = t.apply(Wrap(t.stmt("a"), t.stmt("b"), WITH))
    assert new == f"def f(x):\n    {WITH}\n        a = x\n\n        b = a\n    \n    return b\n"


def test_wraps_nest() -> None:
    t = text("""\
        a
        b
        c
        """)
    outer = Wrap(t.stmt("a"), t.stmt("c"), "with outer:")
    same = Wrap(t.stmt("a"), t.stmt("c"), "with same:", exit="end()")
    inner = Wrap(t.stmt("b"), t.stmt("b"), "with inner:")
    is_(
        t.apply(inner, outer, same, Insert(t.stmt("a"), "before", "i"), Replace(t.expr("b"), "q")),
        """\
        with outer:
            with same:
                i
                a
                with inner:
                    q
                c
                end()
        """,
    )


def test_wraps_that_cross_are_refused() -> None:
    t = text("a\nb\nc\n")
    with pytest.raises(CodemodError, match="cross"):
        t.apply(
            Wrap(t.stmt("a"), t.stmt("b"), "with x:"), Wrap(t.stmt("b"), t.stmt("c"), "with y:")
        )


def test_a_wrap_has_one_block() -> None:
    t = text("if a:\n    b\nc\n")
    with pytest.raises(CodemodError, match="run of one block"):
        t.apply(Wrap(t.stmt("b"), t.stmt("c"), "with x:"))


@pytest.mark.parametrize("unit", ["  ", "    ", "\t", "   "])
@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_new_code_takes_the_layout_of_the_file(unit: str, newline: str) -> None:
    def laid_out(code: str) -> str:
        return code.replace("    ", unit).replace("\n", newline)

    t = Text(laid_out("class A:\n    x = 1\ny = 2\ndef f(a):\n    g = h(a)\n"))
    code = "for i in b:\n    if i:\n        c(\n            i)"
    new = t.apply(
        Wrap(t.stmt("y ="), t.stmt("y ="), "with q:", code),
        Insert(t.stmt("g ="), "after", code),
        Replace(t.expr("h(a)"), "h(\n    a\n)"),
    )
    assert new == laid_out(
        "class A:\n    x = 1\nwith q:\n    for i in b:\n        if i:\n            c(\n"
        "                i)\n    y = 2\ndef f(a):\n    g = h(\n        a\n    )\n"
        "    for i in b:\n        if i:\n            c(\n                i)\n"
    )


@pytest.mark.parametrize("deep", ["        ", "      "])
def test_a_block_that_is_indented_by_several_levels_has_others_inside(deep: str) -> None:
    source = text(f"class A:\n    def f(x):\n    {deep}y = x\n    {deep}return y\n")
    new = source.apply(Wrap(source.stmt("y = x"), source.stmt("y = x"), WITH))
    # By no unit of the file, it goes on as it was begun.
    step = "    " if len(deep) == 8 else deep
    assert f"    {deep}{WITH}\n    {deep}{step}y = x\n" in new


def test_what_was_cut_out_of_the_text_keeps_its_margins() -> None:
    call = "h(\n             a,\n  # odd\n  b)"
    t = Text(f"if x:\n  if y:\n    z = {call}\n")
    replace = Replace(t.expr(call), call[:-1] + ", tape=tape)", verbatim=True)
    assert t.apply(replace) == t.text.replace("b)", "b, tape=tape)")
    wrapped = t.apply(replace, Wrap(t.stmt("z"), t.stmt("z"), "with q:"))
    assert "\n      z = h(\n" in wrapped
    assert "b, tape=tape)" in wrapped


def test_mixed_newlines_stay() -> None:
    t = Text("def f():\r\n    a\r    b\n    c\r\n\nd\r")
    new = t.apply(Wrap(t.stmt("a"), t.stmt("b"), "with q:"))
    assert new == "def f():\r\n    with q:\r\n        a\r        b\n    c\r\n\nd\r"


def test_no_final_newline() -> None:
    t = Text("a\r\nb")
    assert t.apply(Insert(t.stmt("b"), "after", "c\nd")) == "a\r\nb\r\nc\r\nd"
    assert t.apply(Wrap(t.stmt("b"), t.stmt("b"), "with q:")) == "a\r\nwith q:\r\n    b"


def test_form_feeds_stay() -> None:
    t = Text("x\n\x0c\n\x0cclass A:\n\x0c\n  \x0c    def f(self):\n        a\n        b\n\x0c\nz\n")
    new = t.apply(Wrap(t.stmt("b"), t.stmt("b"), "with q:"))
    assert new == t.text.replace("        b\n", "        with q:\n            b\n")


def test_semicolons_are_parted_only_where_needed() -> None:
    t = text("""\
        a = 1; b = 2; c = 3;  # tail
        """)
    is_(
        t.apply(Insert(t.stmt("b"), "before", "x")),
        """\
        a = 1
        x
        b = 2
        c = 3;  # tail
        """,
    )
    is_(
        t.apply(ReplaceStatement(t.stmt("c"), "d")),
        """\
        a = 1
        b = 2
        d  # tail
        """,
    )
    is_(
        t.apply(Wrap(t.stmt("a"), t.stmt("c"), "with q:"), Replace(t.expr("2"), "two")),
        """\
        with q:
            a = 1; b = two; c = 3;  # tail
        """,
    )


def test_one_line_suites_are_opened() -> None:
    t = text("""\
        if x: y = 1; z = 2  # tail
        else: y = 3
        """)
    is_(
        t.apply(Wrap(t.stmt("z"), t.stmt("z"), "with q:"), Insert(t.stmt("y = 3"), "after", "w")),
        """\
        if x:
            y = 1
            with q:
                z = 2  # tail
        else:
            y = 3
            w
        """,
    )
    is_(t.apply(Replace(t.expr("3"), "4")), "if x: y = 1; z = 2  # tail\nelse: y = 4\n")


def test_around_an_elif() -> None:
    t = text("""\
        if a:
            b
        # why
        elif c:  # c
            d
        else:
            last
        """)
    is_(
        t.apply(Insert(t.stmt("elif"), "before", "c = 1"), Insert(t.stmt("last"), "after", "f")),
        """\
        if a:
            b
        # why
        else:
            c = 1
            if c:  # c
                d
            else:
                last
                f
        """,
    )
    is_(
        t.apply(Insert(t.stmt("elif"), "body", "f")),
        """\
        if a:
            b
        # why
        elif c:  # c
            f
            d
        else:
            last
        """,
    )


def test_insert_into_a_body_goes_below_the_docstring() -> None:
    t = text('''\
        def f(x):
            """Doc."""

            # about y
            y = x
        class A: pass
        def g(x):
            # about z
            z = x
        ''')
    is_(
        t.apply(
            Insert(t.stmt("def f"), "body", "tape.watch(x)"),
            Insert(t.stmt("class A"), "body", "a = 1"),
            Insert(t.stmt("def g"), "body", "i"),
            Wrap(t.stmt("z ="), t.stmt("z ="), "with q:"),
        ),
        '''\
        def f(x):
            """Doc."""
            tape.watch(x)

            # about y
            y = x
        class A:
            a = 1
            pass
        def g(x):
            i
            # about z
            with q:
                z = x
        ''',
    )


def test_inserts_keep_the_order_of_the_plan() -> None:
    t = text("a\nb\n")
    new = t.apply(
        Insert(t.stmt("b"), "before", "2"),
        Insert(t.stmt("a"), "after", "1"),
        Insert(t.stmt("b"), "before", "# three\n3"),
    )
    assert new == "a\n1\n2\n# three\n3\nb\n"


def test_deleting_statements() -> None:
    t = text("""\
        # License

        import old  # gone
        # about new
        import new; import older

        def f():
            # why
            import old2
        def g():
            # why
            import old3

            x
        """)
    deleted = [t.stmt(f"import {name}") for name in ("old", "older", "old2", "old3")]
    is_(
        t.apply(*(ReplaceStatement(span, "") for span in deleted)),
        """\
        # License

        # about new
        import new

        def f():
            # why
            pass
        def g():
            # why

            x
        """,
    )


def test_blank_lines_of_what_goes() -> None:
    t = Text("import a\n\nimport old\n\nimport b\n\n\nold()\nold(1)\n\n\n# why\nc\n\nold(2)\n")
    deleted = [t.stmt(code) for code in ("import old", "old()", "old(1)", "old(2)")]
    after = t.apply(*(ReplaceStatement(span, "") for span in deleted))
    assert after == "import a\n\nimport b\n\n\n# why\nc\n"


def test_blank_lines_of_what_goes_first() -> None:
    t = Text("import old\n\n\nimport a\n\n# kept\nold()\n\nb\n")
    deleted = [t.stmt(code) for code in ("import old", "old()")]
    after = t.apply(*(ReplaceStatement(span, "") for span in deleted))
    assert after == "import a\n\n# kept\n\nb\n"


def test_blank_lines_of_what_goes_in_a_block() -> None:
    t = text("""\
        def f():
            old(1)

            a

            old(2)

            b; old(3)

            # kept
            old(4)

            c

            old(5)


        def g():
            d
        """)
    deleted = [t.stmt(f"old({k})") for k in range(1, 6)]
    is_(
        t.apply(*(ReplaceStatement(span, "") for span in deleted)),
        """\
        def f():
            a

            b

            # kept

            c


        def g():
            d
        """,
    )


def test_deleting_everything() -> None:
    t = Text("import old\n")
    assert t.apply(ReplaceStatement(t.stmt("import"), "")) == ""


def test_replacing_statements_keeps_comments() -> None:
    t = text("""\
        def f():
            # above
            g = tf.gradients(  # open
                y,  # the loss
                x)  # grads
            h = 1  # one
        """)
    is_(
        t.apply(
            ReplaceStatement(t.stmt("g ="), "a = 1\ng = tape.gradient(y, x)"),
            ReplaceStatement(t.stmt("h ="), "if a:\n    h = 1"),
        ),
        """\
        def f():
            # above
            # open
            # the loss
            a = 1
            g = tape.gradient(y, x)  # grads
            # one
            if a:
                h = 1
        """,
    )


def test_replacing_expressions_keeps_comments() -> None:
    t = text("""\
        if a:
            g = tf.gradients(
                y,  # the loss
                x)[0]  # grads
        """)
    call = "tf.gradients(\n        y,  # the loss\n        x)[0]"
    is_(
        t.apply(Replace(t.expr(call), "tape.gradient(y, x)")),
        """\
        if a:
            # the loss
            g = tape.gradient(y, x)  # grads
        """,
    )


@pytest.mark.parametrize(
    ("source", "old", "code", "expected"),
    [
        ("-f(x) ** 2", "f(x)", "a + b", "-(a + b) ** 2"),
        ("f(x) + 1", "f(x)", "a * b", "a * b + 1"),
        ("1 - f(x)", "f(x)", "a - b", "1 - (a - b)"),
        ("f(x) - 1", "f(x)", "a - b", "a - b - 1"),
        ("(f(x)) * 2", "f(x)", "a + b", "(a + b) * 2"),
        ("f(x)[0]", "f(x)", "a if b else c", "(a if b else c)[0]"),
        ("g(f(x))", "f(x)", "a if b else c", "g(a if b else c)"),
        ("g(f(x))", "f(x)", "a, b", "g((a, b))"),
        ("g(k=f(x))", "f(x)", "lambda: 1", "g(k=lambda: 1)"),
        ("y = f(x)", "f(x)", "a, b", "y = a, b"),
        ("[f(x)]", "f(x)", "a, b", "[(a, b)]"),
        ("[*f(x)]", "f(x)", "a or b", "[*(a or b)]"),
        ("{**f(x)}", "f(x)", "a or b", "{**(a or b)}"),
        ("[i for i in f(x)]", "f(x)", "a if b else c", "[i for i in (a if b else c)]"),
        ("not f(x)", "f(x)", "a == b", "not a == b"),
        ("f(x) == 1", "f(x)", "not a", "(not a) == 1"),
        ("f(x).shape", "f(x)", "1", "(1).shape"),
        ("f(x).shape", "f(x)", "(a + b)", "(a + b).shape"),
        ("f(x).shape", "f(x)", "(a) + (b)", "((a) + (b)).shape"),
        ("f(x), 1", "f(x)", "(a, b)", "(a, b), 1"),
        ("f(x), 1", "f(x)", "(a), b", "((a), b), 1"),
        ("f(x), 1", "f(x)", "a +\nb", "(a +\nb), 1"),
        ("f(x), 1", "f(x)", "a  # why", "(a  # why\n), 1"),
        ("x = yield f(y)", "f(y)", "a", "x = yield a"),
        ("(a)if(b)else(c)", "b", "q", "(a)if(q)else(c)"),
        ("[a]if[b]else[c]", "[b]", "q", "[a]if q else[c]"),
        ("sum(i for i in x)", "(i for i in x)", "q", "sum(q)"),
        ("sum((i for i in x), 1)", "(i for i in x)", "q", "sum(q, 1)"),
        ("with f(x) as y: pass", "f(x)", "a, b", "with (a, b) as y: pass"),
        ("f'{f(x)} {{y}}'", "f(x)", "a if b else c", "f'{(a if b else c)} {{y}}'"),
    ],
)
def test_parentheses(source: str, old: str, code: str, expected: str) -> None:
    t = Text(source + "\n")
    assert t.apply(Replace(t.expr(old), code)) == expected + "\n"


@pytest.mark.parametrize("code", ["'a'", "f(\n1)", "{1}"])
def test_what_does_not_fit_into_an_f_string_is_refused(code: str) -> None:
    t = Text("f'{x}'\n")
    with pytest.raises(CodemodError, match="f-string"):
        t.apply(Replace(t.expr("x"), code))


def test_the_positions_are_characters() -> None:
    t = text("""\
        é = "ßß"; ü = f("ö", x)  # ä
        """)
    assert t.apply(Replace(t.expr("x"), "ñ")) == t.text.replace("x", "ñ")


def test_decorated_definitions_by_either_span() -> None:
    t = text("""\
        # above
        @ deco(x)
        @other
        def f():
            pass
        """)
    span = t.stmt("def")
    for start in ((2, 0), (2, 2), (4, 0)):
        where = Span(*start, span.end_row, span.end_column)
        is_(
            t.apply(Wrap(where, where, "with q:"), Replace(t.expr("x"), "y")),
            """\
            # above
            with q:
                @ deco(y)
                @other
                def f():
                    pass
            """,
        )


def test_every_kind_of_block() -> None:
    t = text("""\
        async def f():
            async with a, b:
                s01
            async for i in j:
                s02
            else:
                s03
            try:
                s04
            except A:
                s05
            except B as b:  # b
                s06
            else:
                s07
            finally:
                s08
            while a:
                s09
            match a:  # match
                case [1, *_]:
                    s10
                case ((((b)))) if(c):
                    class A(B): s11
        """)
    names = [f"s{k:02}" for k in range(1, 12)]
    new = t.apply(*(Wrap(t.stmt(name), t.stmt(name), "async with q:") for name in names))
    lines = new.split("\n")
    for name in names:
        row = next(k for k, line in enumerate(lines) if line.strip() == name)
        assert lines[row - 1].strip() == "async with q:"
        assert lines[row].index(name) == lines[row - 1].index("async") + 4
    kept = [line for line in t.text.split("\n") if not line.strip().startswith("s")]
    assert [line for line in kept if line not in lines] == ["            class A(B): s11"]


@pytest.mark.skipif(sys.version_info < (3, 12), reason="PEP 695 needs Python 3.12")
def test_type_parameters() -> None:
    t = text("""\
        type X[T] = list[T]
        def f[T: int](x: T) -> T:
            y
        """)
    assert "    with q:\n        y\n" in t.apply(Wrap(t.stmt("y"), t.stmt("y"), "with q:"))


def test_type_comments_and_annotations() -> None:
    t = text("""\
        def f(a,  # type: int
              b):
            # type: (...) -> None
            for x in a:  # type: int
                y = []  # type: List[int]
        """)
    is_(
        t.apply(Wrap(t.stmt("for"), t.stmt("for"), "with q:")),
        """\
        def f(a,  # type: int
              b):
            # type: (...) -> None
            with q:
                for x in a:  # type: int
                    y = []  # type: List[int]
        """,
    )


def refused(source: str, ops: Callable[[Text], list[Op]], match: str) -> None:
    t = Text(source)
    with pytest.raises(CodemodError, match=match):
        t.apply(*ops(t))


def test_plans_that_do_not_fit_are_refused() -> None:
    source = "def f(x):\n    y = g(h(x))\n"
    nowhere = Span(2, 5, 2, 6)
    refused(source, lambda t: [Insert(nowhere, "before", "a")], "no statement at row 2, column 6")
    refused(source, lambda t: [Replace(nowhere, "a")], "no expression at row 2, column 6")
    refused(source, lambda t: [Replace(Span(9, 0, 9, 1), "a")], "no statement in row 9")
    refused(source, lambda t: [Insert(t.stmt("y"), "body", "a")], "no body")
    refused(source, lambda t: [Insert(t.stmt("y"), "after", "a b")], "does not parse")
    refused(source, lambda t: [Replace(t.expr("h(x)"), "a b")], "no expression: 'a b'")
    refused(source, lambda t: [Wrap(t.stmt("y"), t.stmt("y"), "if x:")], "no with line")
    refused(
        source,
        lambda t: [Replace(t.expr("g(h(x))"), "a"), Replace(t.expr("x"), "b")],
        "overlap in row 2",
    )
    refused(
        source,
        lambda t: [ReplaceStatement(t.stmt("y"), "a"), Replace(t.expr("x"), "b")],
        "lies in a replaced statement",
    )
    refused(
        source,
        lambda t: [ReplaceStatement(t.stmt("def"), "a"), Insert(t.stmt("y"), "after", "b")],
        "inside a statement that is replaced",
    )
    refused(source, lambda t: [ReplaceStatement(t.stmt("y"), "a")] * 2, "replaced twice")


NESTED = {
    "sum": "+".join(["a"] * 3_000),
    "and": " and ".join(["a"] * 20_000),
    "calls": "f(" * 60 + ")" * 60,
    "chain": "a" + ".b()" * 1_000,
    "strings": "(" + "\n'a'" * 3_000 + ")",
    "long string": "'" + "a" * 1_000_000 + "'",
    "long list": "[" + "1, " * 300_000 + "]",
}


def big_stack(work: Callable[[], None]) -> None:
    """Runs ``work`` as the program does: very deep trees overflow even ``ast`` on a small stack."""
    failures: list[BaseException] = []

    def run() -> None:
        try:
            work()
        except BaseException as error:
            failures.append(error)

    old = threading.stack_size(512 * 1024 * 1024), sys.getrecursionlimit()
    try:
        sys.setrecursionlimit(100_000)
        thread = threading.Thread(target=run)
        thread.start()
        thread.join()
    finally:
        threading.stack_size(old[0])
        sys.setrecursionlimit(old[1])
    if failures:
        raise failures[0]


def parsed(source: str) -> ast.Module:
    try:
        return ast.parse(source)
    except RecursionError:
        pytest.skip("this Python's own parser has a lower limit")


@pytest.mark.parametrize("name", NESTED)
def test_deep_and_long_expressions_are_left_alone(name: str) -> None:
    def work() -> None:
        source = f"def f(x):\n    y = {NESTED[name]}\n    z = g(x)\n"
        tree = parsed(source)
        body = tree.body[0]
        assert isinstance(body, ast.FunctionDef)
        lines = Lines(source)
        spans = [lines.span(statement) for statement in body.body]
        new = apply(source, tree, [Wrap(spans[0], spans[1], "with q:")])
        assert new == source.replace("    y", "    with q:\n        y").replace(
            "    z", "        z"
        )

    big_stack(work)


def test_nested_patterns_do_not_hang() -> None:
    t = Text("match x:\n    case " + "[" * 40 + "a" + "]" * 40 + ":\n        b\n")
    assert "with q:\n            b" in t.apply(Wrap(t.stmt("b"), t.stmt("b"), "with q:"))


def test_a_long_comment_stays() -> None:
    t = Text("x  # " + "a" * 1_000_000 + "\n")
    assert t.apply(Wrap(t.stmt("x"), t.stmt("x"), "with q:")) == "with q:\n    " + t.text


def test_too_long_a_block_is_refused() -> None:
    source = "def f():\n    x\n" + "    # comment\n" * 125_000 + "    y\n"
    refused(source, lambda t: [Insert(t.stmt("x"), "before", "a")], "too long to rewrite")


def test_too_many_branches_are_refused() -> None:
    def work() -> None:
        branches = "".join(f"elif a{k}:\n    pass\n" for k in range(3_000))
        source = f"if x:\n    y\n{branches}"
        parsed(source)
        refused(source, lambda t: [Insert(t.stmt("y"), "before", "a")], "nested too deeply")

    big_stack(work)


def test_expressions_are_replaced_without_libcst() -> None:
    code = (
        "import ast, sys\n"
        "from tapemigrate.codemods import apply\n"
        "from tapemigrate.tape.plan import Replace, Span\n"
        "assert apply('a.b\\n', ast.parse('a.b'), [Replace(Span(1, 0, 1, 3), 'c')]) == 'c\\n'\n"
        "assert 'libcst' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
