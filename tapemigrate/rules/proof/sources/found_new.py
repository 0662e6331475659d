"""What may find a source that is made where the gradient is asked for, and does not name it.

``reg = tf.add_n([tf.nn.l2_loss(v) for v in tf.trainable_variables()])``: a variable is in the graph
as soon as it is made. What an object keeps, its methods find, whatever they are called by.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tapemigrate.flow.paths import Path, path_of
from tapemigrate.flow.sharing import last_of
from tapemigrate.rules.project import Project, View
from tapemigrate.rules.proof.objects.calls_of_objects import Reached
from tapemigrate.source.trees import arguments_of, calls_in, walk
from tapemigrate.tape.ops.symbols import GETTERS

_LISTING = frozenset(
    {"trainable_variables", "global_variables", "all_variables", "model_variables", *GETTERS}
    | {"get_trainable_variables", "get_model_variables", "get_variables", "local_variables"}
    | {"get_tensor_by_name", "get_operation_by_name", "get_operations", "as_graph_element"}
)


def may_find_new(project: Project, view: View, value: ast.AST, source: Path) -> bool:
    """Whether code that runs for ``value`` may come by the source, a name or a part of ``self``."""
    own = len(source) > 1 and source[0] == view.kinds.self_name and view.cls is not None
    if own and _calls_by_another_name(project, view, value) and _are_methods_named(project, view):
        return True
    known = project.once(_known)
    if value not in known:
        known[value] = any(True for _ in project.units.having(*_LISTING)) and (
            _lists(value) or any(_lists(f) for _, f in Reached(project, view, [value]).behind)
        )
    return known[value]


def _known(_: Project) -> dict[ast.AST, bool]:
    return {}


def _lists(root: ast.AST) -> bool:
    """Whether what stands there asks a graph for what is in it."""
    calls = (node for node in walk(root) if isinstance(node, ast.Call))
    return any(last_of(call.func) in _LISTING for call in calls)


def _are_methods_named(project: Project, view: View) -> bool:
    """Whether the class has a method of its own go by another name: ``nets = {"a": self.a}``."""
    assert view.cls is not None
    known, key = project.once(_classes_known), (view.cls, view.kinds.self_name)
    if key not in known:
        known[key] = any(True for _ in _methods_named(project, view, view.cls))
    return known[key]


def _classes_known(_: Project) -> dict[tuple[ast.ClassDef, str | None], bool]:
    return {}


def _methods_named(project: Project, view: View, own: ast.ClassDef) -> Iterator[ast.Attribute]:
    effects, me = project.effects(view.unit), view.kinds.self_name
    for cls in effects.lineage(own):
        called = {call.func for call in calls_in(cls)}
        for node in walk(cls):
            if isinstance(node, ast.Attribute) and path_of(node.value) == (me,):
                method = effects.method(own, node.attr)
                if node not in called and method is not None and not method.decorator_list:
                    yield node


def _calls_by_another_name(project: Project, view: View, value: ast.AST) -> bool:
    """Whether it calls what is no function of the file, and of no library."""
    effects = project.effects(view.unit)
    for call in (node for node in walk(value) if isinstance(node, ast.Call)):
        path = path_of(call.func)
        known = view.kinds.name(call.func) is not None
        if isinstance(call.func, ast.Name):
            known = known or bool(effects.functions(call.func.id))
        elif path is not None and len(path) == 2 and path[0] == view.kinds.self_name:
            assert view.cls is not None
            known = effects.method(view.cls, path[1].lstrip(".")) is not None
        if not known or any(_is_method(project, view, each) for each in arguments_of(call)):
            return True
    return False


def _is_method(project: Project, view: View, node: ast.expr) -> bool:
    """Whether it is a method of the object, handed on."""
    path = path_of(node)
    if path is None or len(path) != 2 or path[0] != view.kinds.self_name or view.cls is None:
        return False
    return project.effects(view.unit).method(view.cls, path[1].lstrip(".")) is not None
