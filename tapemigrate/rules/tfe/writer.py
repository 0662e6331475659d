"""Writes the tapes of one file: inline where that can be, as functions elsewhere."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Literal, cast

from tapemigrate.flow.functions import Scope
from tapemigrate.rules.tfe import functions, inline, vjp
from tapemigrate.rules.tfe.block import Block, Naming, hoistable, host, names_between
from tapemigrate.rules.tfe.callee import Callee, Callees, Unresolved, returned_number
from tapemigrate.rules.tfe.callers import Callers
from tapemigrate.rules.tfe.inline import CannotInline
from tapemigrate.rules.tfe.scopes import Scopes
from tapemigrate.rules.tfe.sites import SUFFIX, Kind, Site
from tapemigrate.rules.tfe.text import Source, fresh
from tapemigrate.rules.tfe.values import Values

Form = Literal["inline", "function"]


# The functions of Python that new code calls.
_USED = ("any", "enumerate", "list", "zip")


@dataclass(frozen=True, slots=True)
class Head:
    """A function, and what it is passed before what a call passes, and unless that passes it."""

    function: str
    first: Sequence[str] = ()
    last: Mapping[str, str] = field(default_factory=dict)

    def call(self, passed: Sequence[str]) -> str:
        """The call that passes ``passed``."""
        again = {each.partition("=")[0] for each in passed}
        last = {name: code for name, code in self.last.items() if name not in again}
        rest = [each for each in passed if each.startswith("**")]
        if last and rest:
            items = ", ".join(f'"{name}": {code}' for name, code in last.items())
            passed = [each for each in passed if each not in rest]
            return self._of([*passed, f"**{{{items}, {', '.join(rest)}}}"])
        return self._of([*passed, *(f"{name}={code}" for name, code in last.items())])

    def _of(self, passed: Sequence[str]) -> str:
        return f"{self.function}({', '.join([*self.first, *passed])})"


@dataclass(slots=True)
class Writer:
    """``entries`` maps nodes to sites: transformer calls, and the calls at which tapes can stand.

    ``calls`` has the one call of what a site makes: on the spot, or of the name it is given.
    ``placed`` says in which form a site was rewritten, ``problems`` why it was not;
    ``assumed`` what must hold for it. ``reserved`` are new names that last, ``consumed`` statements
    of which nothing is left.
    """

    scopes: Scopes
    source: Source
    callees: Callees
    entries: dict[ast.AST, Site]
    calls: dict[Site, ast.Call]
    naming: Naming = field(init=False)
    values: Values = field(init=False)
    placed: dict[Site, Form] = field(default_factory=dict)
    problems: dict[Site, str] = field(default_factory=dict)
    assumed: dict[Site, str] = field(default_factory=dict)
    reserved: set[str] = field(default_factory=set)
    consumed: set[ast.stmt] = field(default_factory=set)
    needs_import: bool = False
    _used: dict[ast.AST, set[str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.naming = Naming(self.scopes)
        self.values = Values(self.scopes)

    def block(self, stmt: ast.stmt) -> Block:
        """A place above ``stmt``; all places there share the names that they use."""
        scope = self.scopes.scope_of(stmt)
        taken = set(self.scopes.unit.names.bound_names(scope))
        if self.scopes.gradient_calls(scope):
            taken.add("tape")  # for the tape that records those
        return Block(stmt, taken | self.reserved, used=self._used.setdefault(stmt, set()))

    # -- what can be done with a site -------------------------------------------------------------

    def inline(self, site: Site, call: ast.Call, block: Block) -> bool:
        """Puts the tape at ``call``; False where there is no place for it."""
        try:
            with self._attempt(block):
                self.check(site)
                one = vjp if site.kind is Kind.VJP else inline
                one.write(self, site, call, block)
        except CannotInline:
            return False
        except Unresolved as problem:
            self.problems[site] = str(problem)
        return True

    def define(self, site: Site, name: str, callers: Callers, block: Block) -> bool:
        """Writes the function that ``site`` makes, under ``name``, into ``block``."""
        try:
            with self._attempt(block):
                self.check(site)
                functions.define(self, site, name, callers, block, site.node)
        except Unresolved as problem:
            self.problems[site] = str(problem)
            return False
        self.placed[site] = "function"
        return True

    def place(self, site: Site, block: Block) -> bool:
        """Puts the tape for ``site`` into ``block``, in whichever form; False if in none."""
        try:
            with self._attempt(block):
                self._place(site, block)
        except Unresolved as problem:
            self.problems[site] = str(problem)
            return False
        return True

    def _place(self, site: Site, block: Block) -> None:
        if any(isinstance(p, ast.JoinedStr) for p in self.scopes.parents(site.node)):
            raise Unresolved("it stands in an f-string, which has no room for a tape")
        call = self.calls.get(site)
        self.check(site)
        between = host(self.scopes, call or site.node, block.root)
        if call is not None and between is None and self.inline(site, call, block):
            if site in self.problems:
                raise Unresolved(self.problems[site])
            return
        if call is not None and call.func is not site.node:
            raise Unresolved("its one call has no place for a tape")
        inside = names_between(self.scopes, site.node, block.root)
        assert site.f is not None
        used = self.scopes.names_in(site.f) & inside
        if not used:
            if self._is_computed(site.f) and not hoistable(
                self.scopes, site.node, block.root, self.entries.keys()
            ):
                raise Unresolved(
                    "its function is computed in the middle of a statement: name it above"
                )
            name = self.function_name(site, block)
            callers = Callers(True, [call] if call is not None else [], True)
            if call is None and not self._is_differentiated(site.node):
                callers = Callers()
            functions.define(self, site, name, callers, block, site.node)
            self.source.replaced[site.node] = name
        elif call is not None:
            functions.lift(self, site, call, inside, block)
        elif not isinstance(site.f, ast.Lambda):
            maker = functions.make(self, site, block)
            self.source.replaced[site.node] = f"{maker}({self.lower(site.f, block)})"
        elif isinstance(between, ast.Lambda):
            made = functions.make_of_lambda(self, site, used, block)
            self.source.replaced[site.node] = made
        else:
            raise Unresolved("each round of the comprehension makes one from a lambda of its own")
        self.placed[site] = "function"

    def _is_computed(self, function: ast.expr) -> bool:
        """Whether calls of the file's own give the function."""
        stack: list[ast.AST] = [function]
        while stack:
            node = stack.pop()
            if isinstance(node, ast.Lambda) or node in self.entries:
                continue
            if isinstance(node, ast.Call):
                if self.scopes.unit.names.qualified(node.func) != "functools.partial":
                    return True
            stack.extend(ast.iter_child_nodes(node))
        return False

    def check(self, site: Site) -> None:
        """That no other rule rewrites what would be written anew here, and a tape can do it.

        Raises:
            Unresolved: when one does, or it cannot.
        """
        definition = None if site.f is None else self.callees.of(site.f).definition
        if definition is not None and (number := returned_number(definition)):
            raise Unresolved(
                f"its function returns `{number}`, which is no tensor: return what is "
                "differentiated alone"
            )
        call = self.calls.get(site)
        for node in (site.node, *([call] if call is not None else [])):
            for name in _USED:
                if self.scopes.binder(name, node) is not None:
                    raise Unresolved(
                        f"`{name}` is another thing here, and the new code would call it"
                    )
        scope = self.scopes.scope_of(site.node)
        for other in self.scopes.gradient_calls(scope):
            parents = set(self.scopes.parents(other))
            if site.node in parents or (call is not None and call in parents):
                raise Unresolved("another gradient call stands in it: give that a line of its own")

    def _is_differentiated(self, node: ast.expr) -> bool:
        """Whether another transformer takes what is made here, and calls it with tensors apart."""
        parent = self.scopes.unit.parents[node]
        other = self.entries.get(parent)
        return other is not None and other.f is node and other.sets_apart

    def holds_gradients(self, function: ast.FunctionDef) -> bool:
        """Whether something inside the function is rewritten as well."""
        if self.scopes.gradient_calls(function):
            return True
        for node in (n for statement in function.body for n in ast.walk(statement)):
            if node in self.entries:
                return True
            nested = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
            if nested and self.scopes.gradient_calls(cast("Scope", node)):
                return True
        return False

    @contextmanager
    def _attempt(self, block: Block) -> Iterator[None]:
        """Undoes what was done when the attempt fails."""
        lines, used = list(block.lines), set(block.used)
        replaced, absorbed = dict(self.source.replaced), set(self.source.absorbed)
        placed, problems = dict(self.placed), dict(self.problems)
        try:
            yield
        except (CannotInline, Unresolved):
            block.lines[:] = lines
            block.used.intersection_update(used)
            self.source.replaced, self.source.absorbed = replaced, absorbed
            self.placed, self.problems = placed, problems
            raise

    # -- code of expressions ----------------------------------------------------------------------

    def lower(self, node: ast.expr, block: Block) -> str:
        """The code of ``node``; what the sites in it need goes into ``block``."""
        for entry in self._outermost(node):
            site = self.entries[entry]
            if site not in self.placed and site not in self.problems:
                self.place(site, block)
        return self.source.text(node)

    def _outermost(self, node: ast.AST) -> list[ast.AST]:
        found: list[ast.AST] = []
        stack = [node]
        while stack:
            current = stack.pop()
            if current in self.entries and current not in self.source.replaced:
                found.append(current)
                continue
            stack.extend(ast.iter_child_nodes(current))
        found.sort(key=lambda n: (getattr(n, "lineno", 0), getattr(n, "col_offset", 0)))
        return found

    def applied(self, f: ast.expr, callee: Callee, passed: Sequence[str], block: Block) -> str:
        """The call of ``f``; a ``functools.partial`` is written out."""
        return self.head(f, callee, lambda node: self.lower(node, block)).call(passed)

    def head(self, f: ast.expr, callee: Callee, code: Callable[[ast.expr], str]) -> Head:
        """What a call of ``f`` begins with. ``code`` writes the expressions in it."""
        if callee.target is not None:
            bound = [*map(code, callee.bound)]
            keywords = {str(k.arg): code(k.value) for k in callee.bound_keywords}
            return Head(self._function(callee.target, code), bound, keywords)
        return Head(self._function(f, code))

    def _function(self, f: ast.expr, code: Callable[[ast.expr], str]) -> str:
        """What is called, in parentheses where it needs some."""
        function = code(f)
        atom = isinstance(f, ast.Name | ast.Attribute | ast.Call | ast.Subscript)
        atom |= f in self.source.replaced or function.isidentifier()
        return function if atom else f"({function})"

    def function_name(self, site: Site, block: Block) -> str:
        """A name for the function that takes the place of what ``site`` makes."""
        suffix = SUFFIX[site.kind]
        hint = self.callees.of(site.f).name if site.f is not None else ""
        wish = f"{hint}_{suffix}" if hint else f"{suffix}_fn"
        return fresh([wish], self.reserved, also=block.taken | block.used)

    def tensorflow(self, site: Site) -> str:
        """TensorFlow's name where ``site`` stands."""
        node = site.node.func if isinstance(site.node, ast.Call) else site.node
        name = self.scopes.unit.names.tensorflow_alias(node)
        if name is not None:
            return name
        if "tf" in self.scopes.unit.names.bound_names(self.scopes.scope_of(site.node)):
            raise Unresolved("TensorFlow has no name here, and `tf` means something else")
        self.needs_import = True
        return "tf"
