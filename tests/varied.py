"""Ways to change a program a little: other values in other places, which the tool has not seen.

What comes of it may make no sense, and many such programs fail before any rewrite.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable
from random import Random

Change = Callable[[ast.FunctionDef, Random], bool]
"""Changes a function in one place, if it can; says whether it did."""

_WRAPPING = ("for _ in range(2):", "if True:", "with tf.name_scope('s'):", "for _ in [0]:")
_MADE_OF = ("{}", "tf.sin({})", "tf.exp({})", "{} * 2.0", "tf.identity({})", "[{}][0]")
_STAYS = (ast.Return, ast.FunctionDef, ast.ClassDef, ast.Import, ast.Global, ast.Nonlocal)


def varied(text: str, random: Random) -> str | None:
    """The program with up to three changes; None where the first tries change nothing."""
    tree = ast.parse(text)
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    if not functions:
        return None
    for _ in range(random.choice((1, 1, 2, 3))):
        random.choice(CHANGES)(random.choice(functions), random)
    changed = ast.unparse(ast.fix_missing_locations(tree)) + "\n"
    return None if changed == ast.unparse(ast.parse(text)) + "\n" else changed


def another_name(function: ast.FunctionDef, random: Random) -> bool:
    """Reads another value of the function."""
    names = _values(function)
    nodes = [n for n in ast.walk(function) if isinstance(n, ast.Name) and n.id in names]
    nodes = [n for n in nodes if isinstance(n.ctx, ast.Load)]
    if len(names) < 2 or not nodes:
        return False
    random.choice(nodes).id = random.choice(names)
    return True


def another_part(function: ast.FunctionDef, random: Random) -> bool:
    """Reads or sets another attribute of the object."""
    nodes = _parts(function)
    if len({n.attr for n in nodes}) < 2:
        return False
    random.choice(nodes).attr = random.choice(sorted({n.attr for n in nodes}))
    return True


def one_argument_of_another(function: ast.FunctionDef, random: Random) -> bool:
    """``f(x, h)`` becomes ``f(x, tf.exp(x))``, or ``f(x, x)``."""
    calls = [n for n in ast.walk(function) if isinstance(n, ast.Call) and len(n.args) > 1]
    calls = [c for c in calls if not any(isinstance(a, ast.Starred) for a in c.args)]
    if not calls:
        return False
    call = random.choice(calls)
    source, made = random.sample(range(len(call.args)), 2)
    call.args[made] = _made_of(ast.unparse(call.args[source]), random)
    return True


def another_value(function: ast.FunctionDef, random: Random) -> bool:
    """A name is given something else, or what it is given has another share."""
    made = [s for block in _blocks(function) for s in block if isinstance(s, ast.Assign)]
    texts = _texts(function)
    if not made or not texts:
        return False
    stmt, value = random.choice(made), _made_of(random.choice(texts), random)
    operator = random.choice((ast.Add(), ast.Mult()))
    stmt.value = value if random.random() < 0.6 else ast.BinOp(stmt.value, operator, value)
    return True


def one_more(function: ast.FunctionDef, random: Random) -> bool:
    """A name, or a part of the object, is given a value in one more place."""
    texts = _texts(function)
    if not texts:
        return False
    block = random.choice(_blocks(function))
    target, value = random.choice(texts), random.choice(_MADE_OF).format(random.choice(texts))
    block.insert(random.randrange(len(block)), *ast.parse(f"{target} = {value}").body)
    return True


def another_order(function: ast.FunctionDef, random: Random) -> bool:
    """Two statements change places."""
    blocks = [block for block in _blocks(function) if len(block) > 1]
    if not blocks:
        return False
    block = random.choice(blocks)
    place = random.randrange(len(block) - 1)
    one, two = block[place : place + 2]
    if isinstance(one, _STAYS) or isinstance(two, _STAYS):
        return False
    block[place : place + 2] = [two, one]
    return True


def twice(function: ast.FunctionDef, random: Random) -> bool:
    """A statement runs again further down."""
    block = random.choice(_blocks(function))
    place = random.randrange(len(block))
    if isinstance(block[place], _STAYS) or place + 1 == len(block):
        return False
    block.insert(random.randrange(place + 1, len(block)), copy.deepcopy(block[place]))
    return True


def further_in(function: ast.FunctionDef, random: Random) -> bool:
    """A statement stands in a loop, a branch or a scope of its own."""
    block = random.choice(_blocks(function))
    place = random.randrange(len(block))
    if isinstance(block[place], _STAYS):
        return False
    (around,) = ast.parse(f"{random.choice(_WRAPPING)}\n    pass").body
    assert isinstance(around, ast.For | ast.If | ast.With)
    around.body = [block[place]]
    block[place] = around
    return True


#: All of them; those count most that tie values to each other.
CHANGES: tuple[Change, ...] = (
    *(another_name, another_part, another_order, twice, further_in, one_more),
    *(one_argument_of_another, one_argument_of_another, another_value, another_value),
)


def _blocks(function: ast.FunctionDef) -> list[list[ast.stmt]]:
    """The blocks of the function, without those of functions and classes inside."""
    found, pending = list[list[ast.stmt]](), list[ast.AST]([function])
    while pending:
        node = pending.pop()
        for name in ("body", "orelse", "finalbody"):
            block = getattr(node, name, None)
            if isinstance(block, list) and block:
                found.append(block)
                pending += [s for s in block if not isinstance(s, ast.FunctionDef | ast.ClassDef)]
    return found


def _values(function: ast.FunctionDef) -> list[str]:
    """The names of its parameters, and of what it makes."""
    nodes = [*ast.walk(function)]
    names = {n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    return sorted(names.union(a.arg for a in function.args.args) - {"self", "cls"})


def _parts(function: ast.FunctionDef) -> list[ast.Attribute]:
    """Where it names parts of its object."""
    nodes = (n for n in ast.walk(function) if isinstance(n, ast.Attribute))
    return [n for n in nodes if isinstance(n.value, ast.Name) and n.value.id == "self"]


def _texts(function: ast.FunctionDef) -> list[str]:
    """Its values, and the parts of its object, as they are written."""
    return [*_values(function), *sorted({f"self.{n.attr}" for n in _parts(function)})]


def _made_of(text: str, random: Random) -> ast.expr:
    return ast.parse(random.choice(_MADE_OF).format(f"({text})"), mode="eval").body
