"""What the search for sources is told by those who know the rest of the program."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass

from tapemigrate.flow.definitions import Def
from tapemigrate.flow.paths import Path
from tapemigrate.tape.leaf import Making, Sources, Trainable
from tapemigrate.tape.ops.kinds import Make
from tapemigrate.tape.sources.filled_lists import Fills
from tapemigrate.tape.sources.no_tensors import Plain
from tapemigrate.tape.sources.set_in_scope import SetAnew

KindEvidence = Callable[[str, ast.expr], bool | None]


@dataclass(frozen=True, slots=True)
class SourceEvidence:
    """Questions about one scope that its own statements do not answer.

    ``segment``: the text of an expression, as it is written.
    ``single``: whether a path is one tensor or several.
    ``holds_variables``: whether an attribute is made of variables that the class makes.
    ``kept_values``: what is given for an attribute or an optional parameter.
    ``listed``: the lists of variables that a call or an attribute gives.
    ``elements``: of what a call gives, the lists of which each element is a variable.
    ``gives_variable``: whether a call gives one that is trainable.
    ``unpacks``: whether what is unpacked from a call is a trainable variable, or a list of such.
    ``set_anew``: whether calls may give an attribute another value.
    ``fills``: what a call puts into a list.
    ``trainable``: the variables that an attribute stands for.
    ``making``: what the making of an object does.
    ``filled_here``: whether nothing but the scope, and what it calls, fills a list.
    ``holds_lists``: whether lists may be among what is kept elsewhere.
    ``around``: the variables that a name of a function around, or of the module, stands for.
    ``plain``: what of a definition is a number or an array.
    ``by_name``: parts of objects out of sight that are called so are taken for variables.
    """

    segment: Callable[[ast.expr], str]
    single: KindEvidence
    holds_variables: Callable[[Path], bool]
    kept_values: Callable[[Path], frozenset[Make]]
    listed: Callable[[ast.expr], Make]
    elements: Callable[[ast.expr], Make]
    gives_variable: Callable[[ast.expr], bool]
    unpacks: Callable[[Def], Make]
    set_anew: SetAnew
    fills: Fills
    trainable: Callable[[ast.Attribute], Trainable | None]
    making: Callable[[Def], Making]
    filled_here: Callable[[Path], bool]
    holds_lists: Callable[[ast.expr], bool]
    around: Callable[[Path], Sources | None]
    plain: Callable[[Def], Plain | None]
    by_name: bool = False
