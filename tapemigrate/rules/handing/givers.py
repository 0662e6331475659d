"""What of other files gives the sources of a gradient call: ``params = utils.get_vars("pi")``.

And what gives its target: ``self.critic.output()``, where ``Critic`` is another file's.
"""

from __future__ import annotations

import ast

from tapemigrate.flow.paths import path_of
from tapemigrate.flow.slices import origins
from tapemigrate.rules.callgraph.classes import is_of_library
from tapemigrate.rules.callgraph.meaning import constructors
from tapemigrate.rules.callgraph.places import split_path
from tapemigrate.rules.project import View
from tapemigrate.source.trees import walk
from tapemigrate.tape.request import Request


def givers(view: View, requests: list[Request]) -> frozenset[str]:
    """The modules of the functions that give the sources, and of the classes of objects asked."""
    paths: set[str] = set()
    for request in requests:
        pending = [(request.sources, True)]
        while pending:
            expr, further = pending.pop()
            for node in walk(expr):
                if isinstance(node, ast.Call):
                    paths.add(view.unit.names.qualified(node.func) or "")
                if further and isinstance(node, ast.expr) and path_of(node) is not None:
                    values = [d.value for d in origins(view.flow.reads.get(node, frozenset()))]
                    # ``net = Net(x)`` and then ``theta = net.get_vars()``.
                    again = expr is request.sources
                    pending += [(v, again) for v in values if isinstance(v, ast.Call)]
    for node in walk(view.scope):
        # A method of an object that the file makes, ``self.critic.output()``.
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            for maker in constructors(view.unit, node.func.value) or ():
                paths.add(view.unit.names.qualified(maker) or "")
    own = (split_path(path)[0] for path in paths if path and not is_of_library(path))
    return frozenset(filter(None, own))
