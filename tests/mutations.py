"""Ways to spoil a rewritten program, each as a wrong planner would."""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Iterator

Mutation = Callable[[ast.Module], bool]
"""Spoils a tree in one place, the first where that can be done; says whether there was one."""


def mutants(text: str) -> Iterator[tuple[str, str]]:
    """The name of every mutation that applies to a program, and the program it makes."""
    tree = ast.parse(text)
    for name, mutation in MUTATIONS.items():
        spoilt = copy.deepcopy(tree)
        if mutation(spoilt):
            yield name, ast.unparse(ast.fix_missing_locations(spoilt)) + "\n"


def _method(node: ast.AST, *names: str) -> str | None:
    """The tape of which ``node``, a call, is one of these methods."""
    if (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in names
        and isinstance(node.func.value, ast.Name)
        and "tape" in node.func.value.id
    ):
        return node.func.value.id
    return None


def _gradients(tree: ast.AST) -> list[ast.Call]:
    return [
        node for node in ast.walk(tree) if isinstance(node, ast.Call) and _method(node, "gradient")
    ]


def _tapes(node: ast.AST) -> list[str]:
    """The tapes that a statement opens."""
    if not isinstance(node, ast.With):
        return []
    return [
        item.optional_vars.id
        for item in node.items
        if isinstance(item.optional_vars, ast.Name) and "GradientTape" in ast.dump(item)
    ]


def _bodies(tree: ast.AST) -> Iterator[list[ast.stmt]]:
    for node in ast.walk(tree):
        for field in ("body", "orelse", "finalbody"):
            body = getattr(node, field, None)
            if isinstance(body, list):
                yield body


def _blocks(tree: ast.AST) -> Iterator[tuple[list[ast.stmt], int, ast.With]]:
    """Every ``with`` that opens a tape: the statements it stands among, where, and itself."""
    for body in list(_bodies(tree)):
        for index, node in enumerate(body):
            if isinstance(node, ast.With) and _tapes(node):
                yield body, index, node


def _is_watch(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and _method(node.value, "watch") is not None


def _no_watch(tree: ast.Module) -> bool:
    for body in _bodies(tree):
        for index, node in enumerate(body):
            if _is_watch(node):
                body[index] = ast.Pass()
                return True
    return False


def _watch_last(tree: ast.Module) -> bool:
    for _, _, block in _blocks(tree):
        watches = [node for node in block.body if _is_watch(node)]
        if watches and len(watches) < len(block.body):
            block.body = [node for node in block.body if node not in watches] + watches
            return True
    return False


def _one_short(tree: ast.Module) -> bool:
    for body, index, block in _blocks(tree):
        last = block.body[-1]
        if len(block.body) > 1 and not _tapes(last) and not _is_watch(last):
            block.body.pop()
            body.insert(index + 1, last)
            return True
    return False


def _one_late(tree: ast.Module) -> bool:
    for body, index, block in _blocks(tree):
        rest = [node for node in block.body if not _is_watch(node)]
        if len(rest) > 1 and not _tapes(rest[0]):
            block.body.remove(rest[0])
            body.insert(index, rest[0])
            return True
    return False


def _order_outside(tree: ast.Module) -> bool:
    for body, index, block in _blocks(tree):
        for inner, node in enumerate(block.body):
            if inner and _gradients(node) and not _tapes(node):
                late = block.body[inner:]
                del block.body[inner:]
                body[index + 1 : index + 1] = late
                return True
    return False


def _without(*names: str) -> Mutation:
    def mutation(tree: ast.Module) -> bool:
        for call in _gradients(tree):
            kept = [keyword for keyword in call.keywords if keyword.arg not in names]
            if len(kept) < len(call.keywords):
                call.keywords = kept
                return True
        return False

    return mutation


def _swapped(tree: ast.Module) -> bool:
    for call in _gradients(tree):
        sources = call.args[1]
        if isinstance(sources, ast.List) and len(sources.elts) > 1:
            sources.elts.reverse()
            return True
    return False


def _list_for_one(tree: ast.Module) -> bool:
    for call in _gradients(tree):
        if isinstance(call.args[1], (ast.Name, ast.Attribute)):
            call.args[1] = ast.List([call.args[1]], ast.Load())
            return True
    return False


def _one_for_list(tree: ast.Module) -> bool:
    for call in _gradients(tree):
        sources = call.args[1]
        if isinstance(sources, ast.List) and len(sources.elts) == 1:
            call.args[1] = sources.elts[0]
            return True
    return False


def _one_early(tree: ast.Module) -> bool:
    """What a late tape leaves out, as ``stop_gradients`` asks, comes inside."""
    for body, index, block in _blocks(tree):
        if index and isinstance(body[index - 1], ast.Assign):
            watches = sum(_is_watch(node) for node in block.body)
            block.body.insert(watches, body.pop(index - 1))
            return True
    return False


def _recording(tree: ast.Module) -> bool:
    for body in _bodies(tree):
        for index, node in enumerate(body):
            if isinstance(node, ast.With) and any(
                _method(item.context_expr, "stop_recording") for item in node.items
            ):
                body[index : index + 1] = node.body
                return True
    return False


def _not_persistent(tree: ast.Module) -> bool:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and "GradientTape" in ast.dump(node.func) and node.keywords:
            node.keywords = []
            return True
    return False


def _other_tape(tree: ast.Module) -> bool:
    for function in ast.walk(tree):
        if not isinstance(function, ast.FunctionDef):
            continue
        tapes = sorted({tape for _, _, block in _blocks(function) for tape in _tapes(block)})
        for call in _gradients(function):
            others = [tape for tape in tapes if tape != _method(call, "gradient")]
            if others:
                call.func = ast.Attribute(ast.Name(others[0], ast.Load()), "gradient", ast.Load())
                return True
    return False


def _foreign_tape(tree: ast.Module) -> bool:
    """A tape that another caller opened is handed on: one that has seen nothing of this forward."""
    for call in ast.walk(tree):
        for keyword in call.keywords if isinstance(call, ast.Call) else ():
            if isinstance(keyword.value, ast.Name) and "tape" in keyword.value.id:
                other = "tf.GradientTape(persistent=True).__enter__()"
                keyword.value = ast.parse(other, mode="eval").body
                return True
    return False


def _no_identity(tree: ast.Module) -> bool:
    """The target is looked up anew, after the tape: it is computed again, unrecorded."""
    for body, index, block in _blocks(tree):
        last = block.body[-1]
        if isinstance(last, ast.Assign) and not _gradients(last):
            body.insert(index + 1, copy.deepcopy(last))
            return True
    return False


MUTATIONS: dict[str, Mutation] = {
    "watch left out": _no_watch,
    "watch after the use": _watch_last,
    "region one statement short": _one_short,
    "region starts one statement late": _one_late,
    "an order's call outside its tape": _order_outside,
    "grad_ys dropped": _without("output_gradients"),
    "unconnected_gradients dropped": _without("unconnected_gradients"),
    "sources swapped": _swapped,
    "[0] lost": _list_for_one,
    "list lost": _one_for_list,
    "stop_gradients ignored": _one_early,
    "stop_recording left out": _recording,
    "persistent missing": _not_persistent,
    "tape of another order": _other_tape,
    "tape of the wrong caller": _foreign_tape,
    "target made after the tape": _no_identity,
}
