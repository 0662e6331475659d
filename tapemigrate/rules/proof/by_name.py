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
from tapemigrate.rules.callgraph.enclosing import outer_definitions
from tapemigrate.rules.project import Project, View
from tapemigrate.rules.values.computed_settings import ComputedSettings
from tapemigrate.rules.values.plain.class_constants import is_constant_of_object
from tapemigrate.rules.values.plain.constants import function_of_class, is_constant_of_class
from tapemigrate.rules.values.plain.plain_objects import is_plain_object
from tapemigrate.source.trees import calls_in, kept, walk
from tapemigrate.tape.ops.kinds import Make
from tapemigrate.tape.ops.symbols import STATIC
from tapemigrate.tape.ops.syntax import SETTINGS

# Names by which configuration is passed about everywhere; it holds no tensors.
_CONFIGURATION = SETTINGS | {
    *("flags", "FLAG", "arg", "opt", "hp", "params", "env", "mode", "np"),
    *("ob_space", "ac_space", "observation_space", "action_space"),
}

# What is differentiated by parameters, and so was made of them.
_LOSS = late(r"(^|_)(loss|losses|cost|objective|nll|elbo)$")
# Methods that hand out all that a dict has.
_WHOLE = frozenset({"get", "pop", "values", "items", "copy"})
_READERS = frozenset({"keys", "items", "values", "get", "index", "count", "copy"})


def is_plain(project: Project, view: View, root: Def) -> bool:
    """Whether the root is an import, or configuration by its name."""
    steps = [s.lstrip(".") for s in root.path]
    own = steps[0] == view.kinds.self_name
    if own:
        steps = steps[1:]
    imported = root.kind is Kind.ENTRY and root.path[0] in project.imported(view.unit)
    if steps and steps[0] in _CONFIGURATION and not imported:
        # Of what an inner function reads by subscripts, all that is known is the whole.
        keys = _parts_read(view, steps[0]) if len(root.path) == 1 else ()
        parts = root.path[len(root.path) - len(steps) + 1 :][:1] or keys
        if parts or steps[0] in ("FLAGS", "flags", "hps", "hparams"):
            rest = _keeps_the_rest if own else _takes_the_rest
            return not (
                rest(project, view, steps[0]) or any(_may_be_tensor(project, p) for p in parts)
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
    return imported or _gives_no_tensors(project, view, root.path)


def _parts_read(view: View, name: str) -> tuple[str, ...]:
    """The parts of it that the scope reads, if it reads no more: ``config["size"]``.

    Or the methods of the class do, of whose objects it is a part: ``self.args = args``.
    """
    here = kept(view.scope, _read_by_keys).get(name, ())
    if here or view.cls is None:
        return here
    found = [kept(cls, _read_of_objects).get(name) for cls in view.kinds.effects.lineage(view.cls)]
    if None in found:
        return ()
    return tuple(dict.fromkeys(part for parts in found for part in parts or ()))


def _parts_in(scope: ast.AST) -> dict[ast.expr, str]:
    """What parts are read of, with the part: ``config`` of ``config["size"]``."""
    parts: dict[ast.expr, str] = {}
    for node in walk(scope):
        match node:
            case ast.Call(ast.Attribute(owner, "get" | "pop"), [ast.Constant() as key, *_]):
                parts[owner] = f"[{key.value!r}]"
            case ast.Attribute(value=owner, attr=name) if name not in _WHOLE:
                parts.setdefault(owner, f".{name}")
            case ast.Subscript(value=owner, slice=ast.Constant() as key, ctx=ast.Load()):
                parts[owner] = f"[{key.value!r}]"
    return parts


def _read_by_keys(scope: ast.AST) -> dict[str, tuple[str, ...]]:
    """Such names of which the scope only reads parts, and which."""
    parts = kept(scope, _parts_in)
    names: dict[str, list[ast.expr]] = {}
    for node in walk(scope):
        if isinstance(node, ast.Name) and node.id in _CONFIGURATION:
            names.setdefault(node.id, []).append(node)
    return _of_which_parts(names, parts)


def _read_of_objects(cls: ast.AST) -> dict[str, tuple[str, ...]]:
    """The same of attributes, and of the names by which the class is handed them.

    No more is done with these but to keep them: ``self.args = args``. What is none of them is told
    by no part.
    """
    parts = kept(cls, _parts_in)
    names: dict[str, list[ast.expr]] = {name: [] for name in _CONFIGURATION}
    keeping: set[ast.expr] = set()
    for node in walk(cls):
        match node:
            case ast.Assign(targets=[ast.Attribute(attr=name) as target], value=ast.Name(id=other)):
                keeping |= {target, node.value} if name == other else set()
            case ast.Name(id=name) | ast.Attribute(attr=name) if name in _CONFIGURATION:
                names[name].append(node)
    used = {name: [n for n in found if n not in keeping] for name, found in names.items()}
    return _of_which_parts(used, parts)


def _of_which_parts(
    names: dict[str, list[ast.expr]], parts: dict[ast.expr, str]
) -> dict[str, tuple[str, ...]]:
    return {
        name: tuple(dict.fromkeys(parts[node] for node in found))
        for name, found in names.items()
        if all(node in parts for node in found)
    }


def _may_be_tensor(project: Project, part: str) -> bool:
    """Whether a part is no setting: by a number, or the program gives tensors for such."""
    by_number = part.startswith("[") and part[1] not in "'\""
    return by_number or project.once(ComputedSettings).has(part)


def _takes_the_rest(project: Project, view: View, name: str) -> bool:
    """Whether it is what else is passed, ``*args`` or ``**params``: no configuration."""
    around = outer_definitions(project, view, (name,))
    scopes = [view.scope] if around is None else [view.scope, around[0].scope]
    return any(name in _rest(scope) for scope in scopes)


def _keeps_the_rest(project: Project, view: View, name: str) -> bool:
    """Whether a method keeps that under the name: ``self.params = dict(params)``."""
    for value in attribute_values(project, view, name):
        scope = project.scope_of(view.unit, value)
        made = backward(project.view(view.unit, scope).flow.uses_in(value)).made
        if any(d.kind is Kind.PARAM and d.path[0] in _rest(scope) for d in made):
            return True
    return False


def _rest(scope: Scope) -> set[str]:
    """What takes further arguments: ``*args``, ``**params``."""
    rest = () if isinstance(scope, ast.Module) else (scope.args.vararg, scope.args.kwarg)
    return {each.arg for each in rest if each is not None}


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
