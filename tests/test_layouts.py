"""Where the lines of a program are broken decides about nothing."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Mapping

import pytest

from tapemigrate.api import analyse
from tapemigrate.settings import Settings
from tapemigrate.source.decoding import SourceFile
from tests.layouts import LAYOUTS
from tests.test_fixtures import FIXTURES

# All of them would take some minutes. What is told of existing tapes hangs on comments and rows.
CHOSEN = """
    flow/chained_assignment flow/made_anew_by_each_call gradients/integer_sources
    gradients/methods_of_a_network_made_here gradients/objects_that_compute_when_called
    gradients/part_of_a_shape_by_its_name mustflag/looked_up_or_handed_to_a_helper_that_calls
    mustflag/methods_called_by_a_name_of_their_own mustflag/variables_made_before_dynamic_rnn
    orders/model_made_before_the_points traps/attribute_handed_on_as_a_source
    traps/choice_of_two_apart traps/element_taken_out_by_another_index
    traps/lists_by_a_second_name traps/module_attribute_set_on_the_way
    traps/named_tensor_beside_one_made_in_the_dict
    traps/source_picked_from_a_list_that_is_made_here
    traps/state_of_other_modules_set_by_many_ways unsafe/part_of_a_batch
    unsafe/tuples_that_an_op_packs
"""


def verdicts(texts: Mapping[str, str]) -> Counter[tuple[str, str]]:
    """How often there is what to be said: each code, and how safe its fix is."""
    files = {name: SourceFile(name, text) for name, text in texts.items()}
    found = analyse(files, Settings(), rewrite=False).diagnostics
    return Counter((d.code, d.fix.applicability if d.fix is not None else "") for d in found)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", CHOSEN.split())
def test_verdicts_stay_the_same(name: str, layout: str) -> None:
    texts = next(fixture.texts for fixture in FIXTURES if fixture.name == name)
    broken = {file: LAYOUTS[layout](text) for file, text in texts.items()}
    assert broken != texts
    for file, text in texts.items():
        assert ast.dump(ast.parse(broken[file])) == ast.dump(ast.parse(text))
    assert verdicts(broken) == verdicts(texts)
