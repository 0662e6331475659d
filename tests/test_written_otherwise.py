"""What is written in another way means the same."""

from __future__ import annotations

import pytest

from tests.test_fixtures import FIXTURES, changed, fix
from tests.written_otherwise import (
    Way,
    annotated,
    by_a_second_self,
    methods_named,
    named_to_return,
    written_otherwise,
)

# Where the other way would leave a safe fix, which is wrong, if it were not read as the usual one.
CHOSEN: dict[Way, str] = {
    annotated: """
        mustflag/put_aside_by_the_caller traps/attribute_beside_what_is_handed_in
        traps/filled_by_functions_of_python
        traps/parts_filled_by_other_attributes unsafe/source_set_by_a_lambda_handed_on
        unsafe/source_set_by_a_method_handed_on
    """,
    by_a_second_self: """
        arguments/grad_ys_none_by_other_names mustflag/embedded_by_map_that_keeps
        mustflag/parts_computed_for_closures_and_callers
        mustflag/seed_that_an_object_was_made_with mustflag/source_from_a_call_that_fills
        mustflag/source_of_a_call_that_hands_on_a_method traps/attribute_beside_what_is_handed_in
        traps/parts_set_by_lambdas_and_inner_functions traps/parts_that_methods_set_elsewhere
        traps/remembered_source_that_an_op_gives_back traps/seeds_that_no_call_shows
        unsafe/given_by_a_method_of_what_made_more unsafe/parts_of_objects_handed_whole
    """,
    methods_named: """
        mustflag/create_op traps/functions_of_a_module_set_by_a_call
        traps/method_of_a_base_of_another_file_runs_what_is_overridden
        traps/object_made_by_one_of_several_names_handed_on traps/what_getters_give
        unsafe/source_set_by_a_closure unsafe/source_set_by_a_lambda
        unsafe/source_set_by_a_lambda_handed_on unsafe/source_set_by_a_method_handed_on
        unsafe/source_set_by_what_a_text_names unsafe/source_set_by_what_others_set
        unsafe/source_set_by_what_was_given
    """,
    named_to_return: """
        mustflag/put_aside_by_the_caller mustflag/unpacked_what_was_passed_in
        traps/module_lists_held_by_other_names traps/module_state_filled_by_other_ways
        traps/parts_of_objects_computed_before unsafe/argument_of_a_pair_of_closures
    """,
}
PAIRS = [(way, name) for way, names in CHOSEN.items() for name in names.split()]


@pytest.mark.parametrize(
    ("way", "name"), PAIRS, ids=[f"{way.__name__}-{name}" for way, name in PAIRS]
)
def test_no_way_makes_a_fix_safe(way: Way, name: str) -> None:
    (fixture,) = (each for each in FIXTURES if each.name == name)
    files = written_otherwise(fixture.texts, way)
    assert not changed(fixture, fix(files, unsafe=False), files)


def test_what_imports_give_is_told_where_it_stands_and_once() -> None:
    text = """\
import tensorflow as tf
import tensorflow.contrib.eager as tfe

V = tfe.Variable


def kinds():
    found = (V, tfe.Checkpoint)
    return found


def functions():
    grads = tf.gradients
    found = [grads, V]
    return found
"""
    result = fix({"program.py": text}, unsafe=False)
    assert result.rewritten["program.py"].count("return found") == 2
    places = [d.location for d in result.diagnostics]
    assert len(places) == len({*places})
    assert not {place.row for place in places} & {9, 15}


def test_an_annotated_lambda_keeps_its_annotation() -> None:
    text = """\
import tensorflow as tf


def run(x):
    slope: object = lambda z: tf.gradients(z * z, z)[0]
    return slope(x)
"""
    result = fix({"program.py": text}, unsafe=False)
    assert "slope: object = gradient_of\n" in result.rewritten["program.py"]


def test_a_getter_may_name_what_it_returns() -> None:
    made = _returning_by_a_name("gradients/property_beside_variables")
    # Not before the attribute is there.
    assert made.index("self._r = ") < made.index("tape.watch(self.r)")


def test_a_function_may_name_the_pair_that_it_returns() -> None:
    made = _returning_by_a_name("gradients/lists_that_ops_pack")
    assert "tape.watch(self.both)" in made
    assert "tape.gradient(y, [self.both])" not in made


def _returning_by_a_name(name: str) -> str:
    """What a fix makes of a fixture in which all that is returned has a name."""
    (fixture,) = (each for each in FIXTURES if each.name == name)
    files = written_otherwise(fixture.texts, named_to_return)
    return fix(files, unsafe=False).rewritten[fixture.main]
