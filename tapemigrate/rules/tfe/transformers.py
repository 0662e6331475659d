"""TM111–TM116: the function transformers of ``tf.contrib.eager``, and its other symbols.

What each did: https://www.tensorflow.org/versions/r1.15/api_docs/python/tf/contrib/eager; the code
still exists in ``tensorflow/python/eager/backprop.py``.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from tapemigrate.rules.conditions import right_if
from tapemigrate.rules.finding import Finding, Unit
from tapemigrate.rules.project import Project
from tapemigrate.rules.tfe.block import Block
from tapemigrate.rules.tfe.callee import Callees
from tapemigrate.rules.tfe.decorators import Decorated
from tapemigrate.rules.tfe.group import Group
from tapemigrate.rules.tfe.layout import inserted, put_in_place
from tapemigrate.rules.tfe.scopes import Scopes
from tapemigrate.rules.tfe.sites import Site, Stray, find
from tapemigrate.rules.tfe.symbols import CODE, Use, is_contrib_eager, references, uses
from tapemigrate.rules.tfe.text import Source
from tapemigrate.rules.tfe.tidy import tidy
from tapemigrate.rules.tfe.uses import Made, made_name
from tapemigrate.rules.tfe.writer import Writer
from tapemigrate.tape.plan import Op, Replace, ReplaceStatement

_RECIPE = (
    "Write the tape by hand:\n"
    "    with tf.GradientTape() as tape:\n"
    "        tape.watch(x)\n"
    "        value = f(x)\n"
    "    gradient = tape.gradient(value, x)"
)
_IMPLICIT_RECIPE = (
    "Write the tape by hand:\n"
    "    with tf.GradientTape() as tape:\n"
    "        value = f(x)\n"
    "    variables = tape.watched_variables()\n"
    "    grads_and_vars = list(zip(tape.gradient(value, variables), variables))"
)
_FORMS = {
    "inline": "a tape at its call",
    "function": "a function of the same interface with a tape",
}


def findings(project: Project, unit: Unit) -> list[Finding]:
    """What is to be said of ``unit``, and the rewrites that mend it."""
    aliases = project.aliases
    mentioned = references(unit, aliases)
    if not mentioned and "contrib" not in unit.text:
        return []
    found = list(find(unit, mentioned, aliases))
    symbols = uses(unit, mentioned)
    scopes = Scopes(unit, project)
    family = _Family(unit, scopes, [s for s in found if isinstance(s, Site)], symbols)
    result = [_stray(unit, s) for s in found if isinstance(s, Stray)]
    return [*result, *family.findings()]


class _Family:
    def __init__(
        self, unit: Unit, scopes: Scopes, sites: Sequence[Site], symbols: Sequence[Use]
    ) -> None:
        self._unit = unit
        self._scopes = scopes
        self._sites = sites
        self._symbols = symbols
        self._source = Source(unit)
        for use in symbols:
            if use.code is not None and isinstance(use.replaced, ast.expr):
                self._source.replaced[use.replaced] = use.code
        by_node: dict[ast.AST, Site] = {}
        for site in sites:
            by_node[site.decorated or site.node] = site
        self._made: dict[Site, Made] = {}
        self._calls: dict[Site, ast.Call] = {}
        self._entries = self._find_entries(sites)
        self._writer = Writer(
            scopes, self._source, Callees(scopes, by_node), self._entries, self._calls
        )
        self._decorated = Decorated(scopes, self._source, self._writer)
        self._groups: list[Group] = []

    def _find_entries(self, sites: Sequence[Site]) -> dict[ast.AST, Site]:
        entries: dict[ast.AST, Site] = {}
        functions = {s.f for s in sites if s.f is not None and s.sets_apart}
        for site in sites:
            if site.decorated is not None:
                continue
            entries[site.node] = site
            parent = self._unit.parents[site.node]
            if isinstance(parent, ast.Call) and parent.func is site.node:
                entries[parent] = site
                self._calls[site] = parent
                continue
            made = made_name(self._scopes, site, functions)
            if made is not None:
                self._made[site] = made
                if made.only_call is not None:
                    entries[made.only_call] = site
                    self._calls[site] = made.only_call
        return entries

    # -- rewriting ------------------------------------------------------------------------------

    def findings(self) -> list[Finding]:
        for site in sorted(self._sites, key=self._order):
            self._rewrite_from_outside(site)
        self._rewrite_symbols()
        replaced: set[ast.stmt] = set()
        for group in self._groups:
            group.ops += self._statements(group, replaced)
            group.finish(self._unit)
        group_of = {id(x): g for g in self._groups for x in (*g.sites, *g.uses)}
        found = [self._site_finding(s, group_of.get(id(s))) for s in self._sites]
        found += [self._symbol_finding(u, group_of.get(id(u))) for u in self._symbols]
        stuck = any(u.code is None for u in self._symbols) or bool(self._writer.problems)
        return [*found, *tidy(self._unit, self._scopes, self._groups, stuck)]

    def _order(self, site: Site) -> tuple[int, int, int, int]:
        node = self._calls.get(site) or site.node
        end = (node.end_lineno or 0, node.end_col_offset or 0)
        return (node.lineno, node.col_offset, -end[0], -end[1])

    def _rewrite_from_outside(self, site: Site) -> None:
        """Rewrites ``site``, after those around it: they may take it along."""
        if site in self._writer.placed or site in self._writer.problems:
            return
        call = self._calls.get(site)
        for node in (site.node, call):
            for parent in self._scopes.parents(node) if node is not None else ():
                outer = self._entries.get(parent)
                if outer is not None and outer is not site:
                    self._rewrite_from_outside(outer)
        if site not in self._writer.placed and site not in self._writer.problems:
            self._rewrite(site)

    def _rewrite(self, site: Site) -> None:
        writer = self._writer
        before = set(writer.placed), set(self._source.replaced), set(self._source.absorbed)
        writer.needs_import = False
        group: Group | None
        if site.decorated is not None:
            group = Group(ops=self._decorated.rewrite(site))
        elif self._scopes.in_class_body(site.node):
            writer.problems[site] = "it is made in the body of a class, which a function cannot see"
            return
        else:
            group = self._inline_of_name(site) or self._in_place(site)
        if site not in writer.placed or group is None:
            return
        if group not in self._groups:
            self._groups.append(group)
        new = [s for s in writer.placed if s not in before[0]]
        group.sites += new
        group.assumed += [a for s in new if (a := writer.assumed.get(s, ""))]
        for other in new:
            self._remove_definition(other, group)
        replaced = set(self._source.replaced) - before[1]
        group.nodes |= replaced | (self._source.absorbed - before[2]) | {s.node for s in new}
        group.needs_import |= writer.needs_import

    def _group_at(self, stmt: ast.stmt) -> tuple[Group, Block]:
        """The group of all that needs new statements above ``stmt``."""
        for group in self._groups:
            if group.stmt is stmt and group.block is not None:
                return group, group.block
        block = self._writer.block(stmt)
        return Group(stmt, block), block

    def _inline_of_name(self, site: Site) -> Group | None:
        """The tape at the one call of the name that the made function was given."""
        made = self._made.get(site)
        if made is None or made.only_call is None:
            return None
        group, block = self._group_at(self._scopes.statement(made.only_call))
        if self._writer.inline(site, made.only_call, block):
            return group
        del self._entries[made.only_call], self._calls[site]
        return None

    def _in_place(self, site: Site) -> Group | None:
        stmt = self._scopes.statement(site.node)
        group, block = self._group_at(stmt)
        made = self._made.get(site)
        if made is not None:
            group.in_place = True
            done = self._writer.define(site, made.name, made.callers, block)
        else:
            done = self._writer.place(site, block)
            group.in_place |= stmt in self._writer.consumed
        return group if done else None

    def _remove_definition(self, site: Site, group: Group) -> None:
        """The assignment of a function that was called once, and no longer is."""
        made = self._made.get(site)
        if made is None or self._writer.placed[site] != "inline":
            return
        span = self._unit.lines.span(self._scopes.statement(site.node))
        group.ops.append(ReplaceStatement(span, ""))
        # What stood in the assignment went along.
        for node in ast.walk(site.node):
            if node in self._source.replaced:
                self._source.absorbed.add(node)

    def _statements(self, group: Group, replaced: set[ast.stmt]) -> list[Op]:
        found: list[Op] = []
        for node in group.nodes:
            if node in self._source.absorbed or not isinstance(node, ast.expr):
                continue
            if node not in self._source.replaced:
                continue
            if any(p in self._source.replaced for p in self._scopes.parents(node)):
                continue
            found.append(Replace(self._unit.lines.span(node), self._source.replaced[node]))
        if group.stmt is None or group.block is None:
            return found
        if not group.in_place:
            return [*found, *inserted(self._unit, group.stmt, group.block.lines)]
        made = put_in_place(self._unit, group.stmt, group.block.lines, replaced)
        replaced.add(group.stmt)
        return [*found, *made]

    def _rewrite_symbols(self) -> None:
        groups = {node: group for group in self._groups for node in group.nodes}
        for use in self._symbols:
            if use.code is None:
                continue
            owner = groups.get(use.replaced)
            if owner is not None:
                owner.uses.append(use)
                owner.needs_import |= use.needs_import
                continue
            span = self._unit.lines.span(use.replaced)
            op: Op = (
                Replace(span, use.code)
                if isinstance(use.replaced, ast.expr)
                else ReplaceStatement(span, "")
            )
            self._groups.append(
                Group(ops=[op], uses=[use], nodes={use.replaced}, needs_import=use.needs_import)
            )

    # -- findings -------------------------------------------------------------------------------

    def _site_finding(self, site: Site, group: Group | None) -> Finding:
        unit = self._unit
        func = site.node.func if isinstance(site.node, ast.Call) else site.node
        name = unit.lines.segment(unit.lines.span(func))
        gone = _gone(unit, func)
        if group is None or group.rewrite is None:
            reason = self._writer.problems.get(site, "it cannot be followed")
            recipe = _IMPLICIT_RECIPE if site.kind.implicit else _RECIPE
            message = f"`{name}` {gone}, and is left as it is: {reason}"
            return Finding(
                site.kind.value, unit.filename, unit.lines.span(site.node), message, recipe
            )
        message = f"`{name}` {gone}; {_FORMS[self._writer.placed[site]]} gives the same"
        message += right_if(group.assumptions())
        return Finding(
            site.kind.value, unit.filename, unit.lines.span(site.node), message, "", group.rewrite
        )

    def _symbol_finding(self, use: Use, group: Group | None) -> Finding:
        unit = self._unit
        span = unit.lines.span(use.node)
        message = f"`{use.name}` does not exist in TensorFlow 2; {use.reason}"
        if group is None or group.rewrite is None:
            return Finding(CODE, unit.filename, span, message)
        message += right_if([use.assumes] if use.assumes else [])
        return Finding(CODE, unit.filename, span, message, "", group.rewrite)


def _gone(unit: Unit, func: ast.expr) -> str:
    path = unit.names.qualified(func) or ""
    if is_contrib_eager(path):
        return "does not exist in TensorFlow 2"
    if path.startswith("tensorflow"):
        return "is private to TensorFlow"
    return "stands for a gradient function of tf.contrib.eager"


def _stray(unit: Unit, stray: Stray) -> Finding:
    name = unit.lines.segment(unit.lines.span(stray.node)).split("\n")[0]
    message = f"`{name}` is left as it is: {stray.reason}"
    return Finding(stray.code, unit.filename, unit.lines.span(stray.node), message, _RECIPE)
