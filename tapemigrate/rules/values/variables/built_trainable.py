"""Variables of a scope whose network is only ever built trainable.

``tf.get_collection(GLOBAL_VARIABLES, scope="actor/eval_net")`` gives whatever variables there are.
Where the text of the scope stands in no other place than in calls of one function, which hands its
``trainable`` on to all variables that it makes, and these calls say True, none needs to be watched.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tapemigrate.flow.functions import parameters
from tapemigrate.rules.callgraph.arguments import argument_for, hides_argument
from tapemigrate.rules.finding import Unit
from tapemigrate.rules.project import Project, View
from tapemigrate.rules.units import Later
from tapemigrate.source.trees import calls_in, walk

_COLLECTIONS = frozenset(
    {"get_collection", "get_collection_ref", "global_variables", "trainable_variables"}
)
# Functions of ``tf.layers`` and the like that make variables which are never trained.
_UNTRAINED = ("norm", "moving", "average", "rnn", "cell", "while_loop", "map_fn", "scan", "cond")
_NUMBERS = ("initializer", "_normal", "_uniform")
_OTHERWISE = ("normalizer", "collections", "getter")
_MAKERS = frozenset({"get_variable", "Variable"})
_PLAIN = frozenset({"len", "range", "int", "float", "str", "print", "enumerate", "zip", "list"})
_TEXT = frozenset({"format", "append", "join"})


def is_built_trainable(project: Project, unit: Unit, call: ast.Call) -> bool:
    """Whether a call that asks for a collection of variables does for those of such a scope."""
    scope = _scope_asked(call)
    if not scope:
        return False
    known = project.once(_known)
    if (unit.filename, scope) not in known:
        known[unit.filename, scope] = _are_trainable(project, unit, scope)
    return known[unit.filename, scope]


def _known(_: Project) -> dict[tuple[str, str], bool]:
    return {}


def _scope_asked(call: ast.Call) -> str:
    """The last step of the scope; empty where it is no text."""
    given = [k.value for k in call.keywords if k.arg == "scope"] or call.args[1:2]
    match given:
        case [ast.Constant(value=str() as scope)]:
            return scope.rstrip("/").rpartition("/")[2]
    return ""


def _is_collection(unit: Unit, call: ast.Call) -> bool:
    path = unit.names.qualified(call.func) or ""
    return path.startswith("tensorflow.") and path.rpartition(".")[2] in _COLLECTIONS


def _are_trainable(project: Project, unit: Unit, scope: str) -> bool:
    if project.unread({scope}):
        return False
    program = _program(project, unit)
    for filename, file in project.units.files():
        if filename in program and filename != unit.filename and scope in file.text:
            if isinstance(file, Later) and file.unit is None:
                continue  # it is asked about with those that cannot be read
            return False
    builders: dict[ast.FunctionDef, str] = {}
    for node in unit.nodes(ast.Constant):
        if not isinstance(node.value, str) or scope not in node.value:
            continue
        if isinstance(unit.parents[node], ast.Expr):
            continue  # what is said of a function
        call = _call_of(unit, node)
        if call is None:
            return False
        if _is_collection(unit, call):
            continue
        built = _built_by(project, unit, call, node)
        if built is None:
            return False
        builders[built[0]] = built[1]
    return bool(builders) and all(
        _only_trainable(project, unit, function, name, scope) for function, name in builders.items()
    )


def _program(project: Project, unit: Unit) -> set[str]:
    """The files that may run along with this one."""
    return {unit.filename, *project.imports.around([unit.filename])}


def _call_of(unit: Unit, node: ast.expr) -> ast.Call | None:
    """The call that ``node`` is an argument of."""
    parent = unit.parents[node]
    if isinstance(parent, ast.keyword):
        parent = unit.parents[parent]
    return parent if isinstance(parent, ast.Call) else None


def _built_by(
    project: Project, unit: Unit, call: ast.Call, scope: ast.expr
) -> tuple[ast.FunctionDef, str] | None:
    """The function that is called, and its parameter for the scope that it opens."""
    view = project.view(unit, project.scope_of(unit, call))
    function = view.kinds.runs_only(call)
    if not isinstance(function, ast.FunctionDef) or function.decorator_list:
        return None
    method = project.class_of(unit, function) is not None
    names = [a.arg for a in parameters(function.args)]
    found = [n for n in names if argument_for(call, function, n, method) is scope]
    return (function, found[0]) if len(found) == 1 else None


def _only_trainable(
    project: Project, unit: Unit, function: ast.FunctionDef, name: str, scope: str
) -> bool:
    """Whether the function makes variables in such a scope that are all trainable."""
    view = project.view(unit, function)
    flags = {_flag(view, call) for call in calls_in(function)}
    asked = {flag for flag in flags if flag}
    if None in flags or not asked <= {a.arg for a in parameters(function.args)}:
        return False
    if any(
        isinstance(n, ast.Name) and n.id in (name, *asked) and not isinstance(n.ctx, ast.Load)
        for n in walk(function)
    ):
        return False
    method = project.class_of(unit, function) is not None
    return all(
        _says_so(site, function, name, scope, asked, method)
        for site in _sites(project, unit, function)
    )


def _flag(view: View, call: ast.Call) -> str | None:
    """The name by which a call says whether variables that it makes are trainable.

    Empty: it makes none, or no others. None: it may.
    """
    path = view.unit.names.qualified(call.func)
    if path is None:
        plain = isinstance(call.func, ast.Name) and call.func.id in _PLAIN
        text = isinstance(call.func, ast.Attribute) and call.func.attr in _TEXT
        return "" if plain or text else None
    last = path.rpartition(".")[2]
    if path.startswith("numpy.") or last.endswith(_NUMBERS):
        return ""
    if not path.startswith("tensorflow.") or any(word in last.lower() for word in _UNTRAINED):
        return None
    if ".layers." not in path and last not in _MAKERS:
        return None if ".contrib." in path else ""
    found = ""
    for keyword in call.keywords:
        if keyword.arg is None or any(word in keyword.arg for word in _OTHERWISE):
            return None
        match keyword:
            case ast.keyword(arg="trainable", value=ast.Name(id=name)):
                found = name
            case ast.keyword(arg="trainable", value=ast.Constant(value=True)):
                pass
            case ast.keyword(arg="trainable"):
                return None
    return found


def _sites(project: Project, unit: Unit, function: ast.FunctionDef) -> Iterator[ast.Call | None]:
    """The calls of the function; None for one out of sight, or another use of it."""
    program = _program(project, unit)
    mentions = project.mentions(function.name)
    for site in (each for each in mentions.calls if each.unit.filename in program):
        view = project.view(site.unit, project.scope_of(site.unit, site.call))
        meant = view.kinds.called(site.call)
        if meant is function:
            yield site.call
        elif meant is None:
            yield None
    yield from (None for user, _ in mentions.others if user.filename in program)


def _says_so(
    call: ast.Call | None,
    function: ast.FunctionDef,
    name: str,
    scope: str,
    asked: set[str],
    method: bool,
) -> bool:
    """Whether a call makes trainable variables, or such as are in another scope."""
    if call is None or any(hides_argument(call, function, each, method) for each in (name, *asked)):
        return False
    match argument_for(call, function, name, method):
        case ast.Constant(value=str() as text) if scope not in text:
            return True
    given = [argument_for(call, function, each, method) for each in asked]
    return all(isinstance(each, ast.Constant) and each.value is True for each in given)
