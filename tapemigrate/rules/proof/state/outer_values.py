"""Values of the module and of enclosing functions, held against the sources of a call."""

from __future__ import annotations

import ast

from tapemigrate.flow.definitions import Def, Kind, Use
from tapemigrate.flow.functions import NamedFunction, defaults
from tapemigrate.flow.paths import names_class, path_of, text_of
from tapemigrate.flow.slices import backward, origins
from tapemigrate.rules.callgraph.enclosing import outer_definitions
from tapemigrate.rules.finding import Unit
from tapemigrate.rules.indexes import reads
from tapemigrate.rules.project import Project, View
from tapemigrate.rules.proof.aliases import perhaps, with_aliases
from tapemigrate.rules.proof.callers.by_callers import ByCallers
from tapemigrate.rules.proof.callers.code_given import is_given_code
from tapemigrate.rules.proof.callers.code_handed import is_called
from tapemigrate.rules.proof.callers.siblings import given_beside, unpacked_beside
from tapemigrate.rules.proof.kept.computed_parts import gives_computed_part
from tapemigrate.rules.proof.objects.one_object import holders, tensors_in
from tapemigrate.rules.proof.objects.own_methods import certainly_behind
from tapemigrate.rules.proof.state.found_aside import reads_aside
from tapemigrate.rules.proof.verdicts import name_of, names_of, wrong
from tapemigrate.rules.values.objects.captured import is_set_inside
from tapemigrate.rules.values.provenance import Tracer
from tapemigrate.rules.values.traces import Provenance
from tapemigrate.rules.values.variables.module_variables import are_variables
from tapemigrate.source.trees import walk
from tapemigrate.tape.leaf import Leaf
from tapemigrate.tape.ops.kinds import Make
from tapemigrate.tape.ops.symbols import gives_no_tensors
from tapemigrate.tape.request import Refusal

_PLAIN = (Make.PYTHON, Make.LEAF, Make.VARIABLE, Make.FROZEN)


class OuterValues:
    """Judges what one scope reads of the scopes around it."""

    def __init__(self, project: Project, tracer: Tracer, view: View, by_callers: ByCallers) -> None:
        self._project = project
        self._tracer = tracer
        self._view = view
        self._by_callers = by_callers

    def judge(self, root: Def, leaves: list[Leaf]) -> str | Refusal | None:
        """What is known of a value of the module, or of a function around."""
        if isinstance(self._view.scope, ast.Module):
            return None
        outer = outer_definitions(self._project, self._view, root.path)
        if outer is not None:
            return self._closure(text_of(root.path), *outer, leaves)
        return self.of_module(root, leaves)

    def of_module(self, root: Def, leaves: list[Leaf]) -> str | Refusal | None:
        """What is known of a value of the module, whatever functions around call by its name."""
        name, text, view = root.path[0], text_of(root.path), self._view
        traced = self._tracer.global_name(view, name)
        sources = {d.path[0] for x in leaves for d in x.defs if d.kind is Kind.ENTRY}
        module = self._project.view(view.unit, view.unit.tree)
        own = [d for d in module.flow.defs.values() if d.path[0] in sources]
        made = [d for d in module.flow.defs.values() if d.path == (name,)]
        beside = unpacked_beside(self._project, module, [*made, *traced.defs], own)
        if beside:
            return wrong(text, "computed at module level", f"`{name_of(leaves)}`")
        unpacked = frozenset(d for d in made if d.kind is Kind.ELEMENT)
        for source in [d for x in leaves for d in x.defs if unpacked and d.kind is Kind.PARAM]:
            verdict = self._by_callers.judge(source, text, closure=unpacked)
            if verdict is not None:
                return verdict
        if not module.flow.given(name) and beside is not None:
            return None
        if self._is_rebound(name):
            return f"`{text}` was not computed from {names_of(leaves)}"
        if are_variables(self._project, view.unit, name):
            return None
        named = with_aliases(frozenset(own), module)
        if traced.globals & sources or any(d in named or d.path[0] in sources for d in traced.defs):
            return wrong(text, "computed at module level", f"`{name_of(leaves)}`")
        if traced.network and any(x.variables for x in leaves):
            return wrong(text, "computed at module level", "the variables")
        if traced.defs & perhaps(named, module):
            return f"`{text}` was not computed from {names_of(leaves)}"
        part = next((x for x in leaves if traced.defs and holders(x, view)), None)
        if part is not None:
            return wrong(text, "computed at module level", f"`{part.watch}`")
        for source in [d for x in leaves for d in x.defs if traced.defs and d.kind is Kind.PARAM]:
            verdict = self._by_callers.judge(source, text, closure=frozenset(traced.defs))
            met = tensors_in(module, frozenset(traced.defs))
            if verdict is not None and (met or isinstance(verdict, Refusal)):
                return verdict
        if traced.network or traced.calls or traced.blind or beside is None:
            return f"`{text}` was not computed from {names_of(leaves)}"
        if any(x.variables for x in leaves) and _is_part_of_object(module, {*traced.defs, *made}):
            return f"`{text}` was not computed from {names_of(leaves)}"
        return None

    def _is_rebound(self, name: str) -> bool:
        """Whether functions of the file may give a module-level name another value."""
        unit = self._view.unit
        if any(name in stmt.names for stmt in unit.nodes(ast.Global)):
            return True
        # By all names of the module, or by the module itself: ``sys.modules[__name__]``.
        return any(
            isinstance(n, ast.Name) and not _only_asks(unit, n)
            for n in unit.once(reads).get("globals", ())
        ) or any(isinstance(n, ast.Attribute) for n in unit.once(reads).get("modules", ()))

    def _closure(
        self, text: str, holder: View, made: list[Def], leaves: list[Leaf]
    ) -> str | Refusal | None:
        """A value that an enclosing function made, held against where that one made the source."""
        if {d.kind for d in made} <= {Kind.IMPORT, Kind.CLASS}:
            return None
        behind = backward([u for d in made for u in (Use(d), *d.uses)]).made
        return self._held(text, holder, made, behind, leaves)

    def called(self, name: str, leaves: list[Leaf]) -> str | Refusal | None:
        """What is known of a function, or an object, that a function around made, and is called.

        What it reads where it runs is recorded; what it was made of was there before.
        """
        outer = outer_definitions(self._project, self._view, (name,))
        tensors = [x for x in leaves if not x.variables]
        if outer is None or not tensors:
            return None
        holder, made = outer
        before = [value for d in made for value in _evaluated(d)]
        if reads_aside(self._project, holder, before):
            return f"`{name}` was not computed from {names_of(tensors)}"
        functions = frozenset(d for d in holder.flow.defs.values() if d.kind is Kind.FUNCTION)
        uses = [u for value in before for u in holder.flow.uses_in(value)]
        uses += [u for d in made for u in _read_by_body(d)]
        # The source itself they may read: that is recorded.
        known = {d.path for x in tensors for d in x.defs}
        run = backward([*uses, *map(Use, made)]).made & functions
        late = (u for d in run for u in d.uses if u.made.path not in known)
        behind = backward([*uses, *late], functions).made - functions
        behind |= self._handed_in(holder, made)
        for kept in sorted({d.path[0] for d in behind} - {name}):
            if is_set_inside(self._project, holder, kept):  # by an earlier call, perhaps
                return f"`{kept}` was not computed from {names_of(tensors)}"
        numbers = {d for d in behind if d.value is not None and _is_number(holder, d.value)}
        behind -= numbers
        return self._held(name, holder, made, behind, tensors) if behind else None

    def is_handed_in(self, name: str) -> bool:
        """Whether a function around is handed it, or its object, by those who call that one."""
        outer = outer_definitions(self._project, self._view, (name,))
        return outer is not None and bool(self._handed_in(*outer))

    def _handed_in(self, holder: View, made: list[Def]) -> frozenset[Def]:
        """What it is, by its other names too, that the callers of a function make.

        But for functions that bring no tensors along.
        """
        me = (holder.kinds.self_name,)
        named = [d for d in made if d.value is not None and path_of(d.value) is not None]
        found = {*made, *origins(u for d in named for u in d.uses)}
        return frozenset(
            d
            for d in found
            if d.path != me
            and (
                (d.kind is Kind.PARAM and not is_given_code(self._project, holder, d.path[0]))
                or (d.kind is Kind.ENTRY and d.path[:1] == me)
            )
        )

    def _held(
        self, text: str, holder: View, made: list[Def], behind: frozenset[Def], leaves: list[Leaf]
    ) -> str | Refusal | None:
        # What a function is handed by TensorFlow is another tensor than what was handed in; only
        # the very same tensor would be seen twice where execution is eager.
        same = frozenset(made).union(
            *(origins(d.uses) for d in made if d.value is not None and path_of(d.value) is not None)
        )
        same = frozenset(d for d in same if not is_called(holder, d))
        carried = any(d.kind is Kind.EXCEPT for d in behind)
        if carried or is_set_inside(self._project, holder, made[0].path[0]):
            return f"`{text}` was not computed from {names_of(leaves)}"
        plain = all(d.value is not None and holder.kinds.make(d.value) in _PLAIN for d in made)
        if plain:
            return None
        for leaf in leaves:
            if leaf.variables:
                traced = Provenance()
                for each in made:
                    if each.value is not None:
                        traced.add(self._tracer.value(holder, each.value))
                given = [d.value for d in behind if d.value is not None]
                if traced.network or gives_computed_part(self._project, holder, given):
                    return wrong(text, "computed in the enclosing function", "the variables")
                if traced.calls or traced.blind:
                    return f"`{text}` was not computed from {names_of(leaves)}"
                continue
            for source in leaf.defs:
                defs = holder.flow.defs.values()
                mine = frozenset(d for d in defs if d.path == source.path[: len(d.path)])
                mine = with_aliases(mine, holder)
                if source.kind is Kind.ENTRY and source.path != made[0].path:
                    beside = given_beside(self._project, holder, behind, mine)
                    certain = certainly_behind(self._project, holder, map(Use, made))
                    if mine & behind and not mine & certain and not beside:
                        return f"`{text}` was not computed from {names_of(leaves)}"
                    if mine & behind or beside:
                        return wrong(text, "computed in the enclosing function", names_of(leaves))
                    if beside is None:
                        return f"`{text}` was not computed from {names_of(leaves)}"
                    if perhaps(mine, holder) & behind:
                        return f"`{text}` was not computed from {names_of(leaves)}"
                    if not self._by_callers.calls.above.apart(holder, mine, behind):
                        return f"`{text}` was not computed from {names_of(leaves)}"
                if source.kind is Kind.PARAM:
                    verdict = self._by_callers.judge(
                        source, text, closure=frozenset(behind), same=same
                    )
                    if verdict is not None:
                        return verdict
            for whole in holders(leaf, self._view):
                found = self._by_callers.judge(
                    whole, text, closure=frozenset(behind), same=same, part=leaf.watch or ""
                )
                if found is not None:
                    return found
        return None


def _is_number(holder: View, value: ast.expr) -> bool:
    return holder.kinds.make(value) is Make.PYTHON


def _evaluated(made: Def) -> list[ast.expr]:
    """What runs where a name is given what is called by it later."""
    if made.kind is Kind.FUNCTION and isinstance(made.stmt, NamedFunction):
        return [*made.stmt.decorator_list, *defaults(made.stmt.args)]
    if made.value is None or path_of(made.value) is not None:
        return []
    inner = [n for n in walk(made.value) if isinstance(n, ast.Lambda)]
    return [made.value, *(value for each in inner for value in defaults(each.args))]


def _read_by_body(made: Def) -> list[Use]:
    """What the body of a class reads where it stands, in front of its methods."""
    if not isinstance(made.stmt, ast.ClassDef):
        return []
    body = [stmt for stmt in made.stmt.body if not isinstance(stmt, NamedFunction)]
    names = {n.id for stmt in body for n in walk(stmt) if isinstance(n, ast.Name)}
    return [use for use in made.uses if use.made.path[0] in names]


def _is_part_of_object(module: View, made: set[Def]) -> bool:
    """Whether it is read of an object of some class, which may have computed it: ``net.hidden``."""
    for node in (n for d in made if d.value is not None for n in walk(d.value)):
        if not isinstance(node, ast.Attribute) or path_of(node) is None:
            continue
        for each in origins(module.flow.uses_in(node)):
            func = each.value.func if isinstance(each.value, ast.Call) else None
            name = (path_of(func) or ("",))[-1].lstrip(".") if func is not None else ""
            if func is not None and names_class(name) and each.path != path_of(node):
                if not gives_no_tensors(module.kinds.name(func) or ""):
                    return True
    return False


def _only_asks(unit: Unit, table: ast.Name) -> bool:
    """Whether the names of the module are looked at, and none is set: ``"rng" in globals()``."""
    call = unit.parents.get(table)
    above = unit.parents.get(call) if isinstance(call, ast.Call) and call.func is table else None
    match above:
        case ast.Compare(ops=[ast.In() | ast.NotIn()]):
            return True
        case ast.Subscript(ctx=ast.Load()):
            return True
        case ast.Attribute(attr=method):
            return method in ("get", "keys")
    return False
