"""TM904: gradient calls in texts that run as code, ``exec("g = tf.gradients(y, x)")``.

Scripts that were notebooks have whole cells so: ``get_ipython().run_cell_magic("time", "", "…")``.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tapemigrate.names import Names
from tapemigrate.rules import catalog
from tapemigrate.rules.finding import Unit
from tapemigrate.rules.project import Project
from tapemigrate.rules.unseen.words import last_of
from tapemigrate.source import Lines, SourceError, parse
from tapemigrate.source.span import Span
from tapemigrate.source.trees import arguments_of

# Functions of Python: ``re.compile`` and ``frame.eval`` run no code.
_OF_PYTHON = frozenset({"exec", "eval", "compile"})
_OF_IPYTHON = frozenset({"run_cell_magic", "run_line_magic", "run_cell"})


def gradient_calls(project: Project, text: str, row: int) -> Iterator[tuple[str, Span]]:
    """The gradient functions in ``text``, whose first line is the row ``row``."""
    try:
        tree = parse(text, "")
    except SourceError:
        return
    lines = Lines(text)
    for expr, path in Names(tree).references():
        if expr.lineno > 1 and catalog.lookup(path, project.aliases) is not None:
            span = lines.span(expr)
            first, last = row + span.row - 1, row + span.end_row - 1
            yield ast.unparse(expr), Span(first, span.column, last, span.end_column)


def head_of(unit: Unit, first: str = "pass") -> str:
    """A line that imports what the file imports, for texts that run in it."""
    imports = [ast.unparse(s) for s in unit.tree.body if isinstance(s, ast.Import | ast.ImportFrom)]
    return "; ".join([first, *(each for each in imports if "__future__" not in each)])


def in_texts(project: Project, unit: Unit) -> Iterator[tuple[ast.expr, str]]:
    """The texts with such calls, and how they run."""
    for call in unit.nodes(ast.Call):
        running = _OF_PYTHON if isinstance(call.func, ast.Name) else _OF_IPYTHON
        if (last := last_of(call.func)) not in running:
            continue
        for given in arguments_of(call):
            text = given.value if isinstance(given, ast.Constant) else None
            if isinstance(text, str):
                for found, _ in gradient_calls(project, f"{head_of(unit)}\n{text.strip()}", 1):
                    yield given, f"holds `{found}`, and is run by `{last}`"
                    break
