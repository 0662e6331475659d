"""What one call of ``tf.gradients`` gives together: whether the one goes on into the other."""

from __future__ import annotations

import ast
from itertools import permutations

from tapemigrate.flow.definitions import Kind
from tapemigrate.flow.defuse import Flow
from tapemigrate.flow.slices import backward, origins


def related(call: ast.Call, flow: Flow) -> bool | None:
    """Whether a source of the call was made of another one; None where that cannot be seen.

    The gradient by a value is part of that by what the value was made of.
    """
    sources = call.args[1] if len(call.args) > 1 else None
    if not isinstance(sources, ast.List | ast.Tuple):
        return None
    reads = [flow.uses_in(each) for each in sources.elts]
    if any(origins(one) & backward(other).made for one, other in permutations(reads, 2)):
        return True
    seen = all(d.kind is Kind.ASSIGN for read in reads for d in origins(read))
    return False if seen else None
