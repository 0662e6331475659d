"""A file's tree as the analysis reads it: one form for what can be written in several."""

from __future__ import annotations

import ast

from tapemigrate.source.annotated import plainly_assigned
from tapemigrate.source.branched import branch_choices
from tapemigrate.source.called_plainly import call_plainly
from tapemigrate.source.choices import settle_choices
from tapemigrate.source.decoding import SourceFile
from tapemigrate.source.first_names import read_first_names
from tapemigrate.source.given_on import join_given_on
from tapemigrate.source.named_entries import name_entries
from tapemigrate.source.named_lambdas import name_lambdas
from tapemigrate.source.named_parts import name_parts
from tapemigrate.source.own_imports import name_imports
from tapemigrate.source.parsing import parse
from tapemigrate.source.returned import return_itself
from tapemigrate.source.singly import assign_singly
from tapemigrate.source.spelled_out import spell_out_calls
from tapemigrate.source.trees import forget

_CHANGES = (
    plainly_assigned,
    return_itself,
    settle_choices,
    assign_singly,
    name_entries,
    assign_singly,  # what names of entries are given
    join_given_on,
    branch_choices,
    read_first_names,
    name_parts,
    name_lambdas,
    call_plainly,
    spell_out_calls,
)
# Which of them change nothing in a file, a bit for each: many files are parsed several times.
_idle: dict[int, int] = {}


def plain_tree(file: SourceFile) -> ast.Module:
    """The tree of a file: lambdas with a name are functions in it, no call unpacks what is seen.

    Its nodes stand where the text has them.

    Raises:
        SourceError: where it does not parse.
    """
    tree = parse(file.text, file.filename)
    if name_imports(tree, file.brought):
        forget(tree)
    key = hash(file)
    idle = _idle.get(key, 0)
    for place, change in enumerate(_CHANGES):
        if idle >> place & 1:
            continue
        if change(tree, file.text):
            forget(tree)
        else:
            idle |= 1 << place
    _idle[key] = idle
    return tree
