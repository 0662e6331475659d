"""What a function gives a second name, read by its first: ``made = []; found = made``.

Each has to be given a value once, the second where the first has it, and no other name may come
between. Then nothing reads the second any more. ``both = found = []`` is taken for the same.
"""

from __future__ import annotations

import ast
from collections import Counter

from tapemigrate.patterns import late
from tapemigrate.source.bound import Function, bound, functions, own_blocks, shows_names
from tapemigrate.source.points import begin
from tapemigrate.source.trees import children, walk

_FORM = late(r"[\w)\]][ \t]*=[ \t]*[A-Za-z_]\w*(?:\[[^\[\]\n]+\])?[ \t]*(?:=(?!=)|[\r\n;#]|\Z)")
_JUMPS = (ast.Break, ast.Continue)


def read_first_names(tree: ast.Module, text: str) -> bool:
    """Has each name of a function that has a second one stand for both; whether any does."""
    if _FORM.search(text) is None or shows_names(text):
        return False
    done = False
    for function in functions(tree):
        if any(map(_may_give, (stmt for block in own_blocks(function) for stmt in block))):
            done |= _Names(function).read()
    return done


def _may_give(stmt: ast.stmt) -> bool:
    """Whether a statement may give something a second name."""
    match stmt:
        case ast.Assign(targets=[ast.Name()], value=value):
            return isinstance(value, ast.Name)
        case ast.Assign(targets=[ast.Name(), _, *_]):
            return True
    return False


class _Names:
    """The names of one function, and of those in it."""

    def __init__(self, function: Function) -> None:
        self._function = function
        self._given = Counter(bound(function))
        self._handed = {a.arg for a in children(function.args) if isinstance(a, ast.arg)}
        self._reads: dict[str, list[ast.Name]] = {}
        for node in walk(function):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
                self._reads.setdefault(node.id, []).append(node)

    def read(self) -> bool:
        """Gives each one its first name; whether any had another."""
        done = False
        for block in own_blocks(self._function):
            made: set[str] = set()
            for stmt in block:
                match stmt:
                    case ast.Assign(targets=[ast.Name(id=name)], value=ast.Name(id=first)):
                        if first in made | self._handed and self._is_second(name, first, stmt):
                            self._rename(name, first)
                            if first in self._handed:
                                stmt.value = ast.copy_location(ast.Constant(None), stmt.value)
                            done = True
                    case ast.Assign(targets=[ast.Name(id=first), *others]) if others:
                        for each in others:
                            if isinstance(each, ast.Name) and self._is_second(each.id, first, stmt):
                                self._rename(each.id, first)
                                done = True
                if isinstance(stmt, ast.Assign):
                    made |= {t.id for t in stmt.targets if isinstance(t, ast.Name)}
                elif any(isinstance(each, _JUMPS) for each in walk(stmt)):
                    made = set()
        return done

    def _is_second(self, name: str, first: str, stmt: ast.Assign) -> bool:
        """Whether a name stands for what another does wherever it is read."""
        if self._given[name] != 1 or self._given[first] != 1 or name == first:
            return False
        start = begin(stmt)
        return all(begin(node) > start for node in self._reads.get(name, ()))

    def _rename(self, name: str, first: str) -> None:
        reads = self._reads.pop(name, [])
        for node in reads:
            node.id = first
        self._reads.setdefault(first, []).extend(reads)
