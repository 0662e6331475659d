"""What of other files gives the sources of a gradient call: ``params = utils.get_vars("pi")``.

And what gives its target: ``self.critic.output()``, where ``Critic`` is another file's, or what may
have computed a part of it when it was made: ``self.layers = [Layer(3)]``.
"""

from __future__ import annotations

import ast

from tapemigrate.flow.paths import names_class, path_of
from tapemigrate.flow.slices import origins
from tapemigrate.rules.callgraph.classes import is_of_library
from tapemigrate.rules.callgraph.meaning import constructors
from tapemigrate.rules.callgraph.places import split_path
from tapemigrate.rules.callgraph.stars import own_stars
from tapemigrate.rules.finding import Unit
from tapemigrate.rules.indexes import left_to_stars
from tapemigrate.rules.project import View
from tapemigrate.source.trees import walk
from tapemigrate.tape.ops.symbols import gives_no_tensors
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
    paths |= view.unit.once(_classes_made)
    own = {_named(path) for path in paths if path and not is_of_library(path)}
    own |= view.unit.once(_used) | view.unit.once(_taken_whole)
    return frozenset(filter(None, own))


def _named(path: str) -> str:
    module, name = split_path(path)
    above, cls = split_path(module)
    if names_class(cls) and above:
        module, name = above, cls  # ``nets.Maker.make``
    return f"{module}:{name}" if module else ""


def _used(unit: Unit) -> frozenset[str]:
    """What the file uses of other modules, classes aside: ``from nets import net``, ``nets.net``.

    Objects may keep what was computed, and so may functions.
    """
    users = {path for _, path in unit.names.references() if not is_of_library(path)}
    names = (p for p in users if not gives_no_tensors(p) and not names_class(p.rpartition(".")[2]))
    return frozenset(_named(each) for path in names for each in _with_owners(path))


def _with_owners(path: str) -> list[str]:
    """``nets.net.weights``, which may be a part of ``nets.net``."""
    found = [path]
    while (owner := split_path(found[-1])[0]).strip("."):
        found.append(owner)
    return found


def _taken_whole(unit: Unit) -> frozenset[str]:
    """The modules of ``from nets import *``, with the names that the file may have of them."""
    modules, names = own_stars(unit), left_to_stars(unit)
    return frozenset(f"{module}:{name}" for module in modules for name in names)


def _classes_made(unit: Unit) -> frozenset[str]:
    """The paths of the imported classes, by their names, of which the file keeps objects.

    And of what modules hold for all: ``nets.LAYERS``.
    """
    calls = [(call, unit.names.qualified(call.func)) for call in unit.nodes(ast.Call)]
    made = {
        path
        for call, path in calls
        if path is not None and names_class(path.rpartition(".")[2]) and _is_kept(unit, call)
    }
    shared = (path for _, path in unit.names.references() if path.rpartition(".")[2].isupper())
    used = [*(n.func for n in unit.nodes(ast.Call)), *unit.nodes(ast.Attribute)]
    roots = {(path_of(each) or ("",))[0] for each in used}
    made |= {path for call, path in calls if path is not None and roots & _names_given(unit, call)}
    above = (unit.names.qualified(b) for cls in unit.nodes(ast.ClassDef) for b in cls.bases)
    return frozenset({*made, *shared, *filter(None, above)})


def _names_given(unit: Unit, call: ast.Call) -> set[str]:
    """The names that what a call gives is assigned to: ``net = make()``, ``net.h``."""
    above = unit.parents.get(call)
    targets = above.targets if isinstance(above, ast.Assign) else []
    paths = (path_of(t) for t in targets)
    return {path[0] for path in paths if path is not None}


def _is_kept(unit: Unit, call: ast.Call) -> bool:
    """Whether it is put anywhere but under a local name, as what layers give is."""
    above = unit.parents.get(call)
    if not isinstance(above, ast.Assign | ast.AnnAssign):
        return not isinstance(above, ast.stmt)
    if unit.parents.get(above) is unit.tree:
        return True
    targets = above.targets if isinstance(above, ast.Assign) else [above.target]
    return any(not isinstance(target, ast.Name) for target in targets)
