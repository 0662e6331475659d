"""Functions that TensorFlow calls with tensors of its own: ``tf.map_fn``, ``tf.while_loop``, …"""

from __future__ import annotations

import ast
from collections.abc import Iterable

from tapemigrate.flow.definitions import Def, Kind, Use
from tapemigrate.flow.paths import path_of
from tapemigrate.flow.slices import backward, origins
from tapemigrate.rules.callgraph.enclosing import outer_definitions
from tapemigrate.rules.finding import Unit
from tapemigrate.rules.project import CallSite, Project, View
from tapemigrate.rules.proof.ancestry import Ancestry
from tapemigrate.rules.proof.asked import Asked, attribute_of
from tapemigrate.rules.proof.callers.code_handed import is_function
from tapemigrate.rules.proof.callers.made_of_part import may_be_made_of_part
from tapemigrate.rules.proof.kept.shared_origin import share
from tapemigrate.rules.proof.objects.own_methods import certainly_behind
from tapemigrate.rules.values.provenance import Tracer
from tapemigrate.source.trees import arguments_of, walk
from tapemigrate.tape.names.same import value_may_be
from tapemigrate.tape.ops.symbols import short

# What calls the functions that it is given, with tensors of its own.
_CALLS_BACK = frozenset(
    {"while_loop", "map_fn", "scan", "foldl", "foldr", "vectorized_map", "cond", "case"}
)

# Of these, those whose functions get parts of what is handed in, by ops that a gradient goes back
# through. What goes round a loop is cut off from what it began as.
_TAKES_APART = _CALLS_BACK - {"while_loop", "cond", "case"}


def handed_to_tensorflow(unit: Unit, node: ast.AST) -> CallSite | None:
    """The ``tf.while_loop``, ``tf.map_fn``, … that a function is handed to."""
    parent = unit.parents.get(node)
    if isinstance(parent, ast.keyword):
        parent = unit.parents.get(parent)
    if not isinstance(parent, ast.Call):
        return None
    name = short(unit.names.qualified(parent.func))
    return CallSite(unit, parent) if name in _CALLS_BACK else None


def _reads(project: Project, site: CallSite, closure: frozenset[Def]) -> bool:
    """Whether the call hands in something of which the other value is made."""
    caller = project.view(site.unit, project.scope_of(site.unit, site.call))
    for argument in arguments_of(site.call):
        if isinstance(argument, ast.Lambda):
            continue
        if _may_be(argument, caller) & closure:
            return True
        for node in walk(argument):
            if isinstance(node, ast.expr) and path_of(node) is not None:
                met = origins(caller.flow.reads.get(node, frozenset()))
                # Reading a function's name reads what the function captures as well.
                if met & closure and not is_function(caller, node):
                    return True
    return False


def hands_in(
    project: Project, tracer: Tracer, view: View, site: CallSite, asked: Asked
) -> bool | None:
    """Whether TensorFlow hands a function what was made of a source that it has from around.

    None: only if a method that is called with the source has set it anew.
    """
    source = asked.source
    if asked.closure is not None and _reads(project, site, asked.same):
        return True
    name = short(site.unit.names.qualified(site.call.func))
    if asked.parameter is None or source.kind is not Kind.ENTRY:
        return False
    caller = project.view(site.unit, project.scope_of(site.unit, site.call))
    if name not in _TAKES_APART:
        # Executed eagerly, what goes round a loop is at first the very tensor handed in.
        return any(
            d.path == source.path
            for argument in arguments_of(site.call)
            for d in _may_be(argument, caller)
        )
    attribute = attribute_of(source, view)
    perhaps: bool | None = False
    for argument in arguments_of(site.call):
        if isinstance(argument, ast.Lambda):
            continue
        # Reading a function's name reads what the function captures as well.
        if is_function(caller, argument):
            continue
        behind = tracer.behind(caller, argument)
        if any(d.path == source.path for d in (*behind, *_further(project, caller, behind))):
            plain = certainly_behind(project, caller, caller.flow.uses_in(argument))
            if all(d.path != source.path for d in (*plain, *_further(project, caller, plain))):
                perhaps = None
                continue
            return True
        if attribute is None and source.path[1:] and _names_parts(caller, argument):
            perhaps = None  # of an object that may be that of the source
        if attribute is not None and view.cls is not None:
            value = tracer.value(caller, argument)
            if attribute in value.attributes or (share(project, tracer, caller, attribute, value)):
                return True
            ancestry = Ancestry(project, tracer)
            if caller.cls is not view.cls and may_be_made_of_part(
                project, tracer, ancestry, view, site, argument, attribute
            ):
                perhaps = None
    return perhaps


def _names_parts(view: View, value: ast.expr) -> bool:
    """Whether a value names a part of an object."""
    parts = (n for n in walk(value) if isinstance(n, ast.Attribute))
    return any(view.unit.names.qualified(n) is None for n in parts)


def _further(project: Project, view: View, behind: Iterable[Def]) -> frozenset[Def]:
    """What values of the function around, or of the module, are made of."""
    module = project.view(view.unit, view.unit.tree)
    found: set[Use] = set()
    for each in behind:
        if each.kind is Kind.ENTRY:
            around = outer_definitions(project, view, each.path)
            made = module.flow.given(each.path[0]) if around is None else around[1]
            found |= {use for d in made for use in (Use(d), *d.uses)}
    return backward(found).made


def _may_be(argument: ast.expr, caller: View) -> frozenset[Def]:
    """What the tensors are that a call hands in; none where it hands in a function."""
    if isinstance(argument, ast.Lambda) or is_function(caller, argument):
        return frozenset()
    return value_may_be(argument, caller.flow, caller.kinds)
