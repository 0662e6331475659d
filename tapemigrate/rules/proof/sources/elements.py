"""Sources that come as one list: whether the one may have been made from the other.

A tape watches all of them where the list is there, too late for what one of them did in another.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from itertools import permutations

from tapemigrate.flow.definitions import Def, Kind
from tapemigrate.flow.paths import path_of, text_of
from tapemigrate.flow.slices import backward, origins
from tapemigrate.rules.callgraph.arguments import argument_for, further_arguments
from tapemigrate.rules.callgraph.assigned import attribute_values, global_values
from tapemigrate.rules.callgraph.callbacks import mentions_of
from tapemigrate.rules.callgraph.callers import constructions, is_called_by_python
from tapemigrate.rules.callgraph.decorated import runs_as_written
from tapemigrate.rules.callgraph.enclosing import enclosing, outer_definitions
from tapemigrate.rules.callgraph.handed_unseen import may_be_handed_unseen
from tapemigrate.rules.project import CallSite, Project, View
from tapemigrate.rules.proof.aliases import with_aliases
from tapemigrate.rules.proof.asked import Asked
from tapemigrate.rules.proof.callers.independence import Independence
from tapemigrate.rules.proof.callers.traced_parameters import are_traced
from tapemigrate.rules.proof.sources.source_lists import (
    added_whole,
    fills,
    is_gone_through,
    lists_taken,
    put_into,
    unpacked_together,
)
from tapemigrate.rules.values.containers.filled_state import filled_state
from tapemigrate.rules.values.containers.list_signs import ListSigns
from tapemigrate.rules.values.containers.shape_evidence import ShapeEvidence
from tapemigrate.rules.values.containers.single_values import gives_one_tensor
from tapemigrate.rules.values.imported_functions import function_as_written
from tapemigrate.rules.values.objects.attributes import contents
from tapemigrate.rules.values.objects.put_in import put_in_by_others
from tapemigrate.source.trees import walk
from tapemigrate.tape.leaf import Leaf, taken_for_variables
from tapemigrate.tape.names.same import is_joined
from tapemigrate.tape.ops.kinds import Make
from tapemigrate.tape.ops.symbols import flattens
from tapemigrate.tape.ops.syntax import VARIABLES_BY_NAME, giving
from tapemigrate.tape.placing.region import Region
from tapemigrate.tape.placing.rounds import of_this_round
from tapemigrate.tape.recipes import SOURCE
from tapemigrate.tape.request import Refusal, Request

APART = "no element of `{}` was computed from another"
_MADE_OF_ANOTHER = (
    "of the sources in `{}`, one was made from another, before a tape could watch that one"
)
_DEPTH = 4
_VARIABLES = (Make.VARIABLES, Make.ANY_VARIABLES, Make.VARIABLE, Make.FROZEN)
_NEW = (*_VARIABLES, Make.TENSOR, Make.LEAF, Make.PYTHON)
_LEAVES = (*_VARIABLES, Make.LEAF, Make.PYTHON)
_TAKEN = (Kind.LOOP, Kind.COMPREHENSION)
_FOLLOWED = (Kind.ASSIGN, *_TAKEN)
_LISTERS = frozenset({"list", "tuple", "sorted", "reversed", "set", "dict", "OrderedDict"})
_SAME = frozenset({"values", "copy"})


@dataclass(frozen=True, slots=True)
class _Part:
    """Something in a list: one element, or (``several``) elements that are known to be apart."""

    view: View
    node: ast.expr
    several: bool = False


class Elements:
    """Judges the lists by which the calls of one scope differentiate."""

    def __init__(self, project: Project, calls: Independence, view: View) -> None:
        self._project = project
        self._calls = calls
        self._view = view

    def judge(self, region: Region) -> list[str] | Refusal:
        """What is assumed of lists that hold sources, or that one holds what another is made of."""
        found: list[str] = []
        sources = region.request.sources
        lists = self._names(sources)
        if region.request.api == "kept":
            # Others ask that tape; what is theirs is known by what it watches.
            lists |= {
                x.watch
                for x in region.sources.leaves
                if x.watch is not None and self._may_be_several(x.watch, x.defs, region.request)
            }
        whole = {text_of(path) for each in region.request.whole if (path := path_of(each))}
        lists |= {
            x.watch
            for x in region.sources.leaves
            if x.watch in whole and self._may_be_several(x.watch or "", x.defs, region.request)
        }
        lists |= {name for held in put_into(self._view, lists) for name in self._names(held)}
        if region.sources.single is True and (path := path_of(sources)) is not None:
            lists.discard(text_of(path))
        for leaf in region.sources.leaves:
            if leaf.watch not in lists or not _is_list(leaf):
                continue
            own = [d for d in self._under_all_names(leaf) if d.kind not in _TAKEN]
            by_values = any(map(_gives_values, self._values(sources)))
            single = by_values or any(map(self._gives_one, own))
            if region.sources.single is not True and not self._is_of_a_round(leaf, region):
                single = single or any(is_gone_through(self._project, self._view, d) for d in own)
            verdicts = {
                d: are_traced(self._project, self._view, [d]) or self._is_list_of_others(d, single)
                for d in sorted(own, key=_path)
            }
            apart = list(verdicts.values())
            if False in apart or any(self._is_chain(d) for d in own):
                return Refusal(_MADE_OF_ANOTHER.format(leaf.watch), SOURCE)
            # What a call found and listed is variables; what it gave by name may be layers.
            listed = leaf.found and not by_values
            several = region.sources.single is False or self._goes_through(leaf, region)
            unknown = [d for d, verdict in verdicts.items() if verdict is None]
            unsure = region.sources.single is None or leaf.watch in whole
            if unsure and any(self._may_give_several(d, region.request) for d in unknown):
                several = True
                listed &= (
                    not leaf.defs & backward(self._view.flow.uses_in(region.request.target)).made
                )
            if None in apart and ((several and not listed) or single):
                found.append(APART.format(leaf.watch))
                if any(_may_join(d) and not is_joined(d, self._view.flow) for d in unknown):
                    # Two lists, perhaps, whose elements were used before they were one.
                    found.append(taken_for_variables(leaf.watch))
        for made in self._rows_watched(region):
            rows = lists_taken(self._view, made)
            parts = [None if row is None else self._listed(row, self._view, _DEPTH) for row in rows]
            apart = [None if each is None else self._are_apart(each) for each in parts]
            if False in apart:
                return Refusal(_MADE_OF_ANOTHER.format(text_of(made.path)), SOURCE)
            if None in apart:
                found.append(APART.format(text_of(made.path)))
        leaves = region.sources.leaves
        for holder in (*unpacked_together(leaves), *added_whole(self._view, leaves)):
            apart = [self._is_list_of_others(d, single=True) for d in self._held(holder)]
            if False in apart:
                return Refusal(_MADE_OF_ANOTHER.format(ast.unparse(holder)), SOURCE)
            if None in apart:
                found.append(APART.format(ast.unparse(holder)))
        return found

    def _goes_through(self, leaf: Leaf, region: Region) -> bool:
        """Whether a loop takes the one source out of the list, of which it takes the target too.

        ``for a, b in zip(zs[:-1], zs[1:])``: the list is all that is watched, and all that is used.
        """
        flow = self._view.flow
        taken = {d for d in leaf.defs if d.kind in _TAKEN}
        target = {d for d in origins(flow.uses_in(region.request.target)) if d.kind in _TAKEN}
        held = {u.made for d in target - taken for u in d.uses}
        return bool(taken) and not leaf.defs.isdisjoint(held)

    def _rows_watched(self, region: Region) -> list[Def]:
        """What a loop takes out of lists of lists, where all of such a list is watched."""
        return sorted(
            (
                made
                for leaf in region.sources.leaves
                if _is_list(leaf) and region.sources.single is not True
                for made in leaf.defs
                if made.kind in _TAKEN and text_of(made.path) == leaf.watch
                if ListSigns(self._project).made(self._view, made)
            ),
            key=_path,
        )

    def _held(self, holder: ast.expr) -> list[Def]:
        return sorted(origins(self._view.flow.uses_in(holder)), key=_path)

    def _under_all_names(self, leaf: Leaf) -> list[Def]:
        """What gives the list, by the name that it is watched under and those before it."""
        found = [d for d in leaf.defs if text_of(d.path) == leaf.watch]
        for made in found:
            value = made.value if made.kind is Kind.ASSIGN else None
            if isinstance(value, ast.Name | ast.Attribute):
                named = path_of(value)
                found += [d for d in leaf.defs if d.path == named and d not in found]
        return found

    def _may_give_several(self, made: Def, request: Request) -> bool:
        """Whether it is what a call gave that nothing tells of: one tensor, or a list of them."""
        view = self._view
        values = [made.value] if made.kind is Kind.ASSIGN else []
        if made.kind is Kind.ENTRY and len(made.path) == 2:
            values += attribute_values(self._project, view, made.path[1].lstrip("."))
        given = (*request.whole, request.sources)
        whole = request.api == "kept" or made.path in map(path_of, given)
        if whole and self._may_give_list(made):
            return True
        calls = (v for v in map(giving, values) if isinstance(v, ast.Call))
        return any(view.kinds.make(call) is Make.UNKNOWN for call in calls)

    def _may_be_several(self, watch: str, defs: Iterable[Def], request: Request) -> bool:
        """The same of what is watched, unless it is used as one tensor."""
        if any(map(self._may_give_list, defs)):
            return True
        one = self._is_one(ast.parse(watch, mode="eval").body, self._view)
        return not one and any(self._may_give_several(d, request) for d in defs)

    def _may_give_list(self, made: Def) -> bool:
        """Whether the code shows that it may be a list, if that is what is put there."""
        lists = ListSigns(self._project)
        if lists.made(self._view, made):
            return True
        if made.kind is not Kind.ENTRY or len(made.path) != 2:
            return False
        values = attribute_values(self._project, self._view, made.path[1].lstrip("."))
        unit = self._view.unit
        scopes = [(self._project.scope_of(unit, value), value) for value in values]
        return any(lists.gives(self._project.view(unit, scope), value) for scope, value in scopes)

    def _is_list_of_others(self, made: Def, single: bool) -> bool | None:
        """Whether its elements are apart; ``single``: it is used as a list."""
        parts = self._made(made, self._view, _DEPTH)
        # Of a parameter that nobody is seen to pass, no more is known than that it is a list.
        unseen = single and made.kind is Kind.PARAM and not self._calls_in_sight()
        return None if parts is None or unseen else self._are_apart(parts)

    def _calls_in_sight(self) -> list[CallSite]:
        scope = self._view.scope
        return self._calls_of(self._view, scope) if isinstance(scope, ast.FunctionDef) else []

    def _calls_of(self, view: View, function: ast.FunctionDef) -> list[CallSite]:
        if function.name == "__init__" and view.cls is not None:
            return constructions(self._project, view.unit, view.cls)
        return mentions_of(self._project, view.unit, function).within(enclosing(view)).calls

    def _is_chain(self, made: Def) -> bool:
        """Whether a function in sight fills the list, and makes one element from another."""
        values = [made.value] if made.kind is Kind.ASSIGN else []
        if made.kind is Kind.ENTRY and len(made.path) == 2:
            values += attribute_values(self._project, self._view, made.path[1].lstrip("."))
        inners = [self._meant(v, self._view) for v in values if isinstance(v, ast.Call)]
        return any(inner is not None and _makes_chain(inner) for inner in inners)

    def _gives_one(self, made: Def) -> bool:
        """Whether it is a list: ``layers.pop()`` tells, or the function in sight that gives it."""
        view = self._view
        if made.kind is Kind.ASSIGN and isinstance(made.value, ast.Call):
            function = view.kinds.called(made.value)
            if function is not None and self._returns_list(function):
                return True
        for node in self._project.uses_of(view.unit, view.scope, made.path):
            parent = view.unit.parents.get(node)
            if isinstance(parent, ast.Attribute) and parent.attr in ("pop", "append", "insert"):
                return True
            if isinstance(parent, ast.Subscript) and parent.value is node and _is_row(parent.slice):
                return True
        return False

    def _is_of_a_round(self, leaf: Leaf, region: Region) -> bool:
        """Whether what is watched is one element, in each round of a loop."""
        return of_this_round(leaf, region.block, self._view.blocks) is not None

    def _returns_list(self, function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
        """Whether the function gives a list that it has put together."""
        flow = self._project.view(self._view.unit, function).flow
        given = [end.value for end in flow.returns if end.value is not None]
        named = [d.value for v in given for d in origins(flow.reads.get(v, frozenset()))]
        return any(map(_is_display, (*given, *named)))

    def _values(self, node: ast.expr) -> list[ast.AST]:
        """The nodes of what the sources are, at the call or under the name that they have there."""
        made = origins(self._view.flow.reads.get(node, frozenset()))
        return [n for root in [node, *(d.value for d in made if d.value)] for n in walk(root)]

    def _names(self, node: ast.expr, seen: set[Def] | None = None) -> set[str]:
        """The names of the lists that the sources are, or are put together from."""
        seen = set() if seen is None else seen
        match node:
            case ast.List() | ast.Tuple():
                inner = [e.value for e in node.elts if isinstance(e, ast.Starred)]
            case ast.ListComp() | ast.GeneratorExp():
                # ``xs[k] for k in …``, ``x for x in xs``
                inner = [node.generators[0].iter]
                if isinstance(node.elt, ast.Subscript):
                    inner.append(node.elt.value)
            case ast.BinOp():
                inner = [node.left, node.right]
            case ast.Subscript(value=value):
                inner = [value]
            case ast.Call(func=ast.Attribute(value=value, attr=name), args=[]) if name in _SAME:
                inner = [value]
            case ast.Call():
                inner = node.args
            case _:
                inner = []
        found = {name for each in inner for name in self._names(each, seen)}
        if (path := path_of(node)) is not None:
            found.add(text_of(path))
            for made in origins(self._view.flow.reads.get(node, frozenset())) - seen:
                seen.add(made)
                if made.kind in _FOLLOWED and made.value is not None:
                    found |= self._names(made.value, seen)
        return found

    def _are_apart(self, parts: list[_Part]) -> bool | None:
        """Whether none of the parts was made from another one."""
        verdict: bool | None = True
        for one, other in permutations(parts, 2):
            apart = self._is_apart(one, other)
            if apart is False:
                return False
            verdict = verdict and apart
        return verdict

    def _is_apart(self, one: _Part, other: _Part) -> bool | None:
        """Whether ``other`` was not made from ``one``."""
        view = one.view
        if path_of(one.node) is None and not one.several:
            return True  # it has no name by which something could be made of it
        if other.view is not view:
            return None
        mine = origins(view.flow.uses_in(one.node))
        if path_of(other.node) is not None and origins(view.flow.uses_in(other.node)) == mine:
            return True  # the same one twice
        behind = backward(view.flow.uses_in(other.node)).made
        if mine & behind:
            whole = all(d.path == path_of(one.node) for d in mine & behind)
            return False if whole and not one.several else None
        for source in sorted(with_aliases(mine, view), key=_path):
            for entered in behind:
                verdict = self._entered(view, source, entered)
                if verdict is not True:
                    return verdict
        return True

    def _entered(self, view: View, source: Def, other: Def) -> bool | None:
        """The same of two values that the scope was handed, or found."""
        kinds = {source.kind, other.kind}
        if kinds == {Kind.PARAM}:
            found = self._calls.at_all_calls(view, Asked(source, other.path[0]))
            return False if isinstance(found, CallSite) else found or None
        if kinds == {Kind.ENTRY}:
            return None if self._is_kept(source, view) and self._is_kept(other, view) else True
        return True

    def _is_kept(self, made: Def, view: View) -> bool:
        """Whether it is a value from outside, and no function or module."""
        if made.path[0] == view.kinds.self_name:
            return len(made.path) > 1
        name = made.path[0]
        around = outer_definitions(self._project, view, (name,))
        return around is not None or bool(global_values(view.unit, name))

    def _made(self, made: Def, view: View, depth: int) -> list[_Part] | None:
        """The elements of the list that a definition is; None if they cannot be told."""
        if depth <= 0:
            return None
        if made.kind is Kind.ASSIGN and made.value is not None:
            return self._listed(made.value, view, depth)
        if made.kind is Kind.AUGMENT and isinstance(made.stmt, ast.AugAssign):
            before = {u.made for u in made.uses if u.made.path == made.path} - {made}
            return self._joined(
                [self._made(d, view, depth - 1) for d in sorted(before, key=_path)]
                + [self._listed(made.stmt.value, view, depth)]
            )
        if made.kind is Kind.ELEMENT and made.value is not None:
            new = view.kinds.element(made) in _NEW
            return [_Part(view, made.value, several=True)] if new else None
        if made.kind is Kind.PARAM:
            return self._passed(made, view, depth)
        if made.kind is Kind.ENTRY:
            return self._outside(made, view, depth)
        return None

    def _listed(self, node: ast.expr, view: View, depth: int) -> list[_Part] | None:
        if gives_one_tensor(self._project, view, node):
            return [_Part(view, node)]
        match node:
            case ast.List() | ast.Tuple() | ast.Set():
                return self._display(node.elts, view, depth)
            case ast.Dict():
                return self._display(node.values, view, depth)
            case ast.ListComp() | ast.GeneratorExp() | ast.DictComp():
                made = node.value if isinstance(node, ast.DictComp) else node.elt
                new = view.kinds.make(made) in _NEW or view.kinds.is_new(made)
                if path_of(made) is None and new:
                    return [_Part(view, node, several=True)]
                first = node.generators[0]
                if len(node.generators) == 1 and ast.dump(made) == _loaded(first.target):
                    return self._listed(first.iter, view, depth)
                return None
            case ast.BinOp(op=ast.Add()):
                sides = (node.left, node.right)
                return self._joined([self._listed(s, view, depth) for s in sides])
            case ast.Subscript(slice=ast.Slice()):
                return self._listed(node.value, view, depth)
            case ast.Subscript(value=ast.Call() as call, slice=ast.Constant(value=key)):
                return self._under_key(call, key, view, depth)
            case ast.Subscript(slice=ast.Constant()):
                # What a call gives under a key may be a list as well.
                return [_Part(view, node)] if giving(node) is node else None
            case ast.Call():
                return self._called(node, view, depth)
        path = path_of(node)
        if path is None:
            return None
        uses = view.flow.reads.get(node, frozenset())
        if any(u.made.kind is Kind.MUTATE for u in uses) or len(uses) != 1:
            return None
        made_by = next(iter(uses)).made
        if made_by.path != path:
            return None
        parts = self._made(made_by, view, depth - 1)
        if parts == [] and made_by.kind is Kind.PARAM:
            return [_Part(view, node, several=True)]  # whatever they are, they are in it
        return parts

    def _display(self, elts: list[ast.expr], view: View, depth: int) -> list[_Part] | None:
        return self._joined(
            [
                self._listed(e.value, view, depth)
                if isinstance(e, ast.Starred)
                else [_Part(view, e)]
                for e in elts
            ]
        )

    def _joined(self, lists: list[list[_Part] | None]) -> list[_Part] | None:
        found: list[_Part] = []
        for each in lists:
            if each is None:
                return None
            found += each
        return found

    def _called(self, call: ast.Call, view: View, depth: int) -> list[_Part] | None:
        func = call.func
        if view.kinds.make(call) in _NEW:
            return [_Part(view, call, several=True)]
        lister = isinstance(func, ast.Name) and func.id in _LISTERS
        if lister or flattens(view.kinds.name(func)):
            return self._listed(call.args[0], view, depth) if len(call.args) == 1 else None
        if isinstance(func, ast.Attribute) and func.attr in _SAME and not call.args:
            return self._listed(func.value, view, depth)
        inner = self._meant(call, view)
        if inner is None or depth <= 0 or not inner.flow.returns:
            return None
        ends = [r.value for r in inner.flow.returns]
        found = [self._listed(e, inner, depth - 1) if e is not None else None for e in ends]
        related = [f for f in found if f is not None and self._are_apart(f) is False]
        if len(found) == 1 or related:
            return related[0] if related else found[0]
        apart = all(f is not None and self._are_apart(f) for f in found)
        return [_Part(view, call, several=True)] if apart else None

    def _meant(self, call: ast.Call, view: View) -> View | None:
        """The one function that the call runs, of this file or another, which runs as written."""
        function = view.kinds.called(call)
        if function is None:
            inner = function_as_written(self._project, view, call.func)
        else:
            inner = self._project.view(view.unit, function) if runs_as_written(function) else None
        return None if inner is None or inner.flow.yields else inner

    def _under_key(self, call: ast.Call, key: object, view: View, depth: int) -> list[_Part] | None:
        """What a function in sight gives under a key, or in a place, of what it writes out."""
        inner = self._meant(call, view)
        if inner is None or depth <= 0 or len(inner.flow.returns) != 1:
            return None
        match inner.flow.returns[0].value:
            case ast.Dict(keys=keys, values=values):
                given = zip(keys, values, strict=True)
                found = [v for k, v in given if isinstance(k, ast.Constant) and k.value == key]
            case ast.Tuple(elts=elts) | ast.List(elts=elts) if isinstance(key, int):
                found = elts[key:][:1]
            case _:
                found = []
        return self._listed(found[0], inner, depth - 1) if len(found) == 1 else None

    def _passed(self, made: Def, view: View, depth: int) -> list[_Part] | None:
        """What callers pass: the elements if one is not apart, else any."""
        scope = view.scope
        if not isinstance(scope, ast.FunctionDef) or len(made.path) > 1:
            return None
        found: list[_Part] | None = []
        for site in self._calls_of(view, scope):
            asked = site.call, scope, made.path[0], view.cls is not None
            given = argument_for(*asked) or further_arguments(*asked)
            caller = self._project.view(site.unit, self._project.scope_of(site.unit, site.call))
            parts = self._listed(given, caller, depth - 1) if given is not None else None
            if parts is None and given is not None and self._is_one(given, caller):
                continue
            apart = None if parts is None else self._are_apart(parts)
            if apart is False:
                return parts
            found = None if apart is None else found
        if is_called_by_python(scope):
            return None  # ``penalty(tensors)`` names no method
        if may_be_handed_unseen(self._project, view.unit, scope, made.path[0], libraries=False):
            return None
        return found

    def _is_one(self, node: ast.expr, view: View) -> bool:
        return ShapeEvidence(self._project, view)(ast.unparse(node), node) is True

    def _outside(self, made: Def, view: View, depth: int) -> list[_Part] | None:
        """What the functions around, the module, or the methods of the class keep."""
        unit, path = view.unit, made.path
        around = outer_definitions(self._project, view, path) if len(path) == 1 else None
        if around is not None:
            holder, given = around[0], [d for d in around[1] if d.path == path]
            if len(given) != 1 or fills(holder.scope, path[0]):
                return None
            # What was made without elements has got them somewhere.
            return self._made(given[0], holder, depth - 1) or None
        leaves: list[_Part] | None = None
        values: list[ast.expr] = []
        if len(path) == 1 and path[0] not in unit.once(filled_state):
            values = global_values(unit, path[0])
        elif len(path) == 2 and path[0] == view.kinds.self_name:
            leaves = self._put_in(view, path[1].lstrip("."))
            if leaves is None:
                return None
            values = attribute_values(self._project, view, path[1].lstrip("."))
        if len(values) != 1:
            return None
        holder = self._project.view(unit, self._project.scope_of(unit, values[0]))
        listed = self._listed(values[0], holder, depth - 1)
        return listed or (leaves or None if listed == [] else None)

    def _put_in(self, view: View, attribute: str) -> list[_Part] | None:
        """What is put into what the object keeps: None if more than leaves, made of nothing."""
        project = self._project
        put = [
            (project.view(unit, project.scope_of(unit, value)), value)
            for unit, value in contents(project, view, attribute)
        ]
        put += put_in_by_others(project, view, attribute)
        if any(inner.kinds.make(value) not in _LEAVES for inner, value in put):
            return None
        return [_Part(inner, value) for inner, value in put[:1]]


def _makes_chain(inner: View) -> bool:
    """Whether a function appends to what it gives, and one element is made of another."""
    names = {path_of(end.value) for end in inner.flow.returns if end.value is not None}
    put = [
        call.args[0]
        for call in walk(inner.scope)
        if isinstance(call, ast.Call)
        and isinstance(call.func, ast.Attribute)
        and call.func.attr == "append"
        and len(call.args) == 1
        and path_of(call.func.value) in names
        and not _is_variable(inner, call.args[0])
    ]
    mine = [origins(inner.flow.uses_in(value)) for value in put if path_of(value) is not None]
    return any(
        any(d.path in names for d in behind) or any(each & behind for each in mine)
        for behind in map(partial(_behind, inner), put)
    )


def _behind(view: View, value: ast.expr) -> set[Def]:
    """What a value is made of, and not merely another name of."""
    made = origins(view.flow.uses_in(value)) if path_of(value) is not None else frozenset()
    uses = [u for d in made for u in d.uses] if made else view.flow.uses_in(value)
    return set(backward(uses).made)


def _is_variable(view: View, value: ast.expr) -> bool:
    """Whether it is a variable that was made there: no gradient leads through what it begins as."""
    made = origins(view.flow.uses_in(value)) if path_of(value) is not None else frozenset()
    values = [d.value for d in made] or [value]
    return all(v is not None and view.kinds.make(v) in _VARIABLES for v in values)


def _is_display(node: ast.expr | None) -> bool:
    """``[h]``, ``[None] * n``, ``list(hs)``"""
    match node:
        case ast.List() | ast.ListComp():
            return True
        case ast.BinOp(left=left):
            return _is_display(left)
        case ast.Call(func=ast.Name(id=name)):
            return name in _LISTERS
    return False


def _is_row(index: ast.expr) -> bool:
    """``[-1]``, ``[0]``"""
    number = index.operand if isinstance(index, ast.UnaryOp) else index
    return isinstance(number, ast.Constant) and isinstance(number.value, int)


def _gives_values(node: ast.AST) -> bool:
    return isinstance(node, ast.Attribute) and node.attr == "values"


def _is_list(leaf: Leaf) -> bool:
    """Whether it may be a list of tensors that are watched together."""
    if leaf.variables or leaf.watch is None or leaf.many is False or leaf.filled:
        return False
    return not VARIABLES_BY_NAME.search(leaf.watch)


def _path(made: Def) -> tuple[str, ...]:
    return made.path


def _loaded(target: ast.expr) -> str:
    return ast.dump(ast.Name(target.id, ast.Load())) if isinstance(target, ast.Name) else ""


def _may_join(made: Def) -> bool:
    """Whether the value is a sum: of tensors, or of lists."""
    value = made.value if made.kind is Kind.ASSIGN else None
    return isinstance(value, ast.BinOp) and isinstance(value.op, ast.Add)
