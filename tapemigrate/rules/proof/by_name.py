"""What a value is by its name, or by how its name is used: configuration, a loss, a size, code."""

from __future__ import annotations

import ast

from tapemigrate.flow.changers import CHANGERS
from tapemigrate.flow.definitions import Def, Kind
from tapemigrate.flow.functions import Scope
from tapemigrate.flow.paths import Path, path_of
from tapemigrate.flow.slices import backward
from tapemigrate.patterns import late
from tapemigrate.rules.callgraph.assigned import attribute_values
from tapemigrate.rules.project import Project, View
from tapemigrate.rules.values.class_constants import is_constant_of_object
from tapemigrate.rules.values.constants import function_of_class, is_constant_of_class
from tapemigrate.rules.values.plain_objects import is_plain_object
from tapemigrate.source.trees import calls_in, kept, walk
from tapemigrate.tape.kinds import Make
from tapemigrate.tape.syntax import SETTINGS, STATIC

# Names by which configuration is passed about everywhere; it holds no tensors.
_CONFIGURATION = SETTINGS | {
    *("flags", "FLAG", "arg", "opt", "hp", "params", "env", "mode", "np"),
    *("ob_space", "ac_space", "observation_space", "action_space"),
}

# What is differentiated by parameters, and so was made of them.
_LOSS = late(r"(^|_)(loss|losses|cost|objective|nll|elbo)$")
_READERS = frozenset({"keys", "items", "values", "get", "index", "count", "copy"})


def is_plain(project: Project, view: View, root: Def) -> bool:
    """Whether the root is an import, or configuration by its name."""
    steps = [s.lstrip(".") for s in root.path]
    own = steps[0] == view.kinds.self_name
    if own:
        steps = steps[1:]
    if steps and steps[0] in _CONFIGURATION:
        # Of what an inner function reads by subscripts, all that is known is the whole.
        by_keys = len(root.path) == 1 and steps[0] in kept(view.scope, _read_by_keys)
        if len(steps) > 1 or by_keys or steps[0] in ("FLAGS", "flags", "hps", "hparams"):
            return not (
                _keeps_the_rest(project, view, steps[0])
                if own
                else _takes_the_rest(view.scope, steps[0])
            )
    if not steps:
        return False
    if len(steps) < len(root.path) and is_constant_of_object(project, view, steps[0]):
        return True
    if is_constant_of_class(project, view.unit, root.path):
        return True
    if function_of_class(project, view.unit, root.path) is not None:
        return True
    if root.kind is not Kind.ENTRY:
        return False
    imported = root.path[0] in project.imported(view.unit)
    return imported or _gives_no_tensors(project, view, root.path)


def _read_by_keys(scope: ast.AST) -> frozenset[str]:
    """Such names of which the scope only reads parts: ``config["size"]``."""
    parts: set[ast.expr] = set()
    names: list[ast.Name] = []
    for node in walk(scope):
        if isinstance(node, ast.Attribute):
            parts.add(node.value)
        elif isinstance(node, ast.Subscript):
            if isinstance(node.slice, ast.Constant) and isinstance(node.ctx, ast.Load):
                parts.add(node.value)
        elif isinstance(node, ast.Name) and node.id in _CONFIGURATION:
            names.append(node)
    return frozenset(n.id for n in names) - {n.id for n in names if n not in parts}


def _takes_the_rest(scope: Scope, name: str) -> bool:
    """Whether it is what else is passed, ``*args`` or ``**params``: no configuration."""
    rest = () if isinstance(scope, ast.Module) else (scope.args.vararg, scope.args.kwarg)
    return any(each is not None and each.arg == name for each in rest)


def _keeps_the_rest(project: Project, view: View, name: str) -> bool:
    """Whether a method keeps that under the name: ``self.params = dict(params)``."""
    for value in attribute_values(project, view, name):
        scope = project.scope_of(view.unit, value)
        made = backward(project.view(view.unit, scope).flow.uses_in(value)).made
        if any(d.kind is Kind.PARAM and _takes_the_rest(scope, d.path[0]) for d in made):
            return True
    return False


def _gives_no_tensors(project: Project, view: View, path: Path) -> bool:
    """Whether it is a method of an object without such: ``parser.parse_args``."""
    called = len(path) == 2 and path in called_paths(view.scope)
    return called and is_plain_object(project, view.unit, path[0])


def is_loss(project: Project, view: View, root: Def) -> bool:
    """Whether a parameter that an op is applied to is a loss by its name."""
    if root.kind is not Kind.PARAM or len(root.path) > 1 or not _LOSS.search(root.path[0]):
        return False
    unit = view.unit
    for node in project.uses_of(unit, view.scope, root.path):
        above = unit.parents.get(node)
        if isinstance(above, ast.BinOp | ast.AugAssign):
            return True
        # An op makes something of it, and so it is no function.
        if isinstance(above, ast.Call) and node in above.args:
            if view.kinds.make(above) is Make.TENSOR:
                return True
    return False


def is_of_container(project: Project, view: View, path: Path) -> bool:
    """Whether it is a method of lists or dicts: an object may have ``values`` of its own."""
    name = path[-1].lstrip(".")
    if name not in CHANGERS | _READERS:
        return False
    return path in called_paths(view.scope) or not any(project.stores(name))


def is_size(step: str) -> bool:
    """Whether a part of something is a number of how large it is, or static otherwise."""
    return step in STATIC or any(word in step for word in ("shape", "size", "dim", "num_"))


def called_paths(scope: ast.AST) -> frozenset[Path | None]:
    """What is called, of what stands in the scope: methods are code, and no tensors."""
    return kept(scope, _called_in)


def _called_in(scope: ast.AST) -> frozenset[Path | None]:
    return frozenset(path_of(call.func) for call in calls_in(scope))


def is_static(path: Path) -> bool:
    """Whether it is something that a tensor knows of itself without an op."""
    return any(step in STATIC for step in path)
