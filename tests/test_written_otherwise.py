"""What is written in another way means the same."""

from __future__ import annotations

import pytest

from tests.test_fixtures import FIXTURES, changed, fix
from tests.written_otherwise import (
    Way,
    annotated,
    bodies_inside,
    by_a_second_name,
    by_a_second_self,
    by_choice,
    by_one_name,
    by_two_names,
    in_a_dict,
    in_a_pair,
    kept_by_a_name,
    methods_named,
    named_to_return,
    out_of_a_tuple,
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
    bodies_inside: """
        gradients/variables_made_before_map_fn mustflag/handed_in_beside_all_variables
        mustflag/layers_of_contrib_beside_batches mustflag/loop_variable_aliases
        mustflag/made_by_a_method_of_the_base
        mustflag/mapped_over_what_was_made_of_the_source
        mustflag/parameters_of_the_function_around
        mustflag/part_computed_at_module_level_and_passed
        mustflag/parts_computed_for_closures_and_callers
        mustflag/settings_with_a_tensor_in_a_function_inside
        mustflag/sources_that_are_numbers_elsewhere
        mustflag/tensor_handed_in_where_a_function_has_its_name
        mustflag/tensors_of_variables_on_self mustflag/variable_of_another_file_handed_in
        mustflag/variable_replaced_by_text threaded/create_optimizer threaded/flatgrad
        threaded/part_of_an_object_computed_by_its_constructor
        traps/changed_under_another_name traps/getter_that_computes_kept_on_the_object
        traps/kept_as_it_came_out_of_the_graph traps/list_of_the_module_filled_by_an_object
        traps/list_to_which_old_weights_are_added traps/loop_that_begins_as_the_source
        traps/map_fn_over_what_an_inner_function_makes
        traps/network_of_variables_found_again traps/part_of_a_list_of_variables
        traps/parts_of_one_object traps/seeds_that_no_call_shows
        traps/variable_found_again_by_a_second_name traps/weights_that_may_not_be_there_yet
        traps/what_a_mixin_beside_gives unsafe/arguments_of_a_parser
        unsafe/batches_of_contrib_data unsafe/closure_of_a_factory
        unsafe/constructor_looks_up_the_source unsafe/count_in_a_shape_that_is_not_made
        unsafe/count_in_the_shape_of_one_branch unsafe/count_is_another_one
        unsafe/function_kept_of_what_was_made_of_variables
        unsafe/handed_back_by_ops_that_choose
        unsafe/handed_in_made_by_others_of_a_part_of_the_object
        unsafe/handed_in_made_of_a_part_of_the_object unsafe/handed_on_beside_variables
        unsafe/held_function_of_a_module_that_is_filled unsafe/kept_bit_by_bit
        unsafe/object_of_constants_handed_on unsafe/objects_called_as_functions
        unsafe/optimizer_wrapper_method unsafe/placeholders_that_unknown_kinds_make
        unsafe/setter_called_in_a_function_inside
        unsafe/setter_handed_what_was_made_of_a_part
        unsafe/settings_out_of_further_arguments unsafe/settings_that_are_computed
        unsafe/source_left_to_a_default_number unsafe/weights_and_generated_inputs
        unsafe/weights_and_unseen_inputs
    """,
    by_two_names: """
        arguments/grad_ys_none_by_other_names mustflag/given_to_a_part_in_the_same_statement
        mustflag/grad_ys_list_of_lists mustflag/grad_ys_list_of_what_may_be_none
        mustflag/list_of_variables_that_a_step_fills mustflag/put_aside_by_the_caller
        mustflag/tensor_put_in_by_another_file mustflag/tensor_put_in_by_what_a_helper_calls
        mustflag/unpacked_element_of_a_list traps/list_filled_by_way_of_another_file
        traps/list_handed_on_by_another_file unsafe/list_handed_to_what_is_not_seen
        unsafe/object_that_a_call_was_handed unsafe/source_set_by_a_lambda_handed_on
        unsafe/source_set_by_a_method_handed_on
    """,
    by_a_second_name: """
        arguments/grad_ys_none_by_other_names mustflag/given_to_a_part_in_the_same_statement
        mustflag/grad_ys_list_of_lists mustflag/grad_ys_list_of_what_may_be_none
        mustflag/list_of_variables_that_a_step_fills mustflag/made_by_a_method_of_the_base
        mustflag/tensor_put_in_by_another_file mustflag/tensor_put_in_by_what_a_helper_calls
        mustflag/unpacked_element_of_a_list traps/handed_on_by_thunks_beside_the_object
        traps/objects_read_by_helpers traps/parts_filled_by_other_attributes
        traps/what_a_mixin_beside_gives traps/what_getters_give
        unsafe/given_by_a_method_of_what_made_more unsafe/list_handed_to_what_is_not_seen
        unsafe/rows_of_what_its_object_keeps unsafe/source_set_by_a_method_handed_on
    """,
    by_one_name: """
        mustflag/grad_ys_list_of_lists mustflag/grad_ys_list_of_what_may_be_none
        mustflag/made_by_a_method_of_the_base mustflag/tensor_put_in_by_another_file
        mustflag/tensor_put_in_by_what_a_helper_calls mustflag/unpacked_element_of_a_list
        traps/objects_read_by_helpers traps/parts_of_elements_set_before
        traps/source_put_anew_into_a_dict traps/what_getters_give
        unsafe/given_by_a_method_of_what_made_more unsafe/list_handed_to_what_is_not_seen
        unsafe/rows_of_what_its_object_keeps
    """,
    kept_by_a_name: """
        traps/objects_read_by_helpers traps/parts_filled_by_other_attributes
        traps/what_a_mixin_beside_gives traps/what_getters_give
        unsafe/given_by_a_method_of_what_made_more unsafe/source_set_by_a_method_handed_on
    """,
    by_choice: """
        arguments/grad_ys_none_by_other_names mustflag/given_to_a_part_in_the_same_statement
        mustflag/grad_ys_list_of_lists mustflag/grad_ys_list_of_what_may_be_none
        mustflag/list_of_variables_that_a_step_fills mustflag/numbers_among_the_sources
        mustflag/object_made_of_another_by_second_names mustflag/source_is_an_object
        mustflag/source_that_a_helper_of_functions_gives
        mustflag/sources_out_of_pairs_with_names mustflag/sources_that_are_numbers_elsewhere
        mustflag/tensor_put_in_by_another_file mustflag/tensor_put_in_by_what_a_helper_calls
        traps/arguments_that_a_name_carries traps/attributes_by_local_names
        traps/handed_on_by_thunks_beside_the_object traps/inner_lists_filled_before
        traps/lists_joined_on_an_object
        traps/lists_of_a_network_that_are_stacked traps/lists_that_calls_gave_added_up
        traps/module_state_filled_by_other_ways traps/one_tensor_by_two_names
        traps/outputs_of_one_op traps/parts_of_one_object traps/tape_kept_beside_all_end_points
        traps/unpacked_from_a_list_that_is_written_here traps/what_getters_give
        unsafe/given_by_a_method_of_what_made_more unsafe/kept_where_it_is_called_or_entered
        unsafe/kernel_of_a_layer_not_built unsafe/list_handed_to_what_is_not_seen
        unsafe/rows_of_what_its_object_keeps unsafe/source_set_by_a_lambda_handed_on
        unsafe/source_set_by_a_method_handed_on
    """,
    in_a_dict: """
        arguments/grad_ys_none_by_other_names mustflag/columns_of_unknown_rows
        mustflag/energy_of_the_last_layer mustflag/given_to_a_part_in_the_same_statement
        mustflag/grad_ys_list_of_lists mustflag/grad_ys_list_of_what_may_be_none
        mustflag/layers_listed_by_number mustflag/layers_of_a_network_handed_on
        mustflag/list_that_a_constructor_is_given
        mustflag/losses_and_sources_looked_up_by_one_key
        mustflag/methods_called_by_a_name_of_their_own mustflag/numbers_among_the_sources
        mustflag/output_popped_off_its_layers mustflag/parts_computed_for_closures_and_callers
        mustflag/parts_that_a_constructor_computed mustflag/seed_that_an_object_was_made_with
        mustflag/source_that_a_helper_of_functions_gives mustflag/sources_by_getattr
        mustflag/sources_out_of_pairs_with_names mustflag/sources_that_are_numbers_elsewhere
        threaded/part_of_an_object_computed_by_its_constructor
        traps/arguments_that_a_name_carries traps/attributes_by_local_names
        traps/inner_lists_filled_before traps/kept_tape_of_related_parameters
        traps/list_of_sources_made_of_each_other traps/list_that_another_file_makes
        traps/list_to_which_old_weights_are_added traps/lists_by_a_second_name
        traps/lists_of_a_network_that_are_stacked traps/module_state_filled_by_other_ways
        traps/outputs_of_one_op traps/parts_filled_by_other_attributes
        traps/parts_of_what_a_call_gives traps/seeds_that_no_call_shows
        traps/source_out_of_a_kept_dict traps/source_that_a_helper_hands_back
        traps/sources_taken_out_at_once traps/tape_kept_beside_all_end_points
        traps/unpacked_from_a_list_that_is_written_here traps/unpacked_from_a_name
        traps/what_a_mixin_beside_gives traps/what_getters_give unsafe/all_end_points
        unsafe/all_end_points_handed_on unsafe/given_by_getters_of_getters
        unsafe/kept_by_an_object_of_a_function_around unsafe/layers_in_a_dict
        unsafe/lists_filled_out_of_sight unsafe/parts_of_an_imported_object
        unsafe/rows_of_what_its_object_keeps unsafe/states_of_a_helper
        unsafe/sum_of_layers_by_each
    """,
    out_of_a_tuple: """
        arguments/grad_ys_none_by_other_names mustflag/given_to_a_part_in_the_same_statement
        mustflag/made_by_a_method_of_the_base mustflag/tensor_put_in_by_another_file
        mustflag/tensor_put_in_by_what_a_helper_calls mustflag/unpacked_element_of_a_list
        traps/handed_on_by_thunks_beside_the_object traps/lists_by_a_second_name
        traps/objects_read_by_helpers traps/parts_filled_by_other_attributes
        traps/what_a_mixin_beside_gives traps/what_getters_give
        unsafe/given_by_a_method_of_what_made_more unsafe/list_handed_to_what_is_not_seen
        unsafe/rows_of_what_its_object_keeps unsafe/source_set_by_a_method_handed_on
    """,
    in_a_pair: """
        traps/attribute_beside_what_is_handed_in traps/parts_filled_by_other_attributes
        traps/put_out_of_a_branch_of_version_1 unsafe/source_set_by_a_lambda_handed_on
        unsafe/source_set_by_a_method_handed_on
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
    made = _fixed("gradients/property_beside_variables", named_to_return)
    # Not before the attribute is there.
    assert made.index("self._r = ") < made.index("tape.watch(self.r)")


def test_a_getter_may_name_its_object() -> None:
    made = _fixed("gradients/property_beside_variables", by_a_second_self)
    assert made.index("me._r = ") < made.index("tape.watch(self.r)")


def test_a_method_may_read_its_object_in_a_function_inside() -> None:
    made = _fixed("threaded/read_by_an_inner_function", bodies_inside)
    assert "self._hidden_tape.gradient(target, self.x)" in made
    assert made.count("with tf.GradientTape(") == 1


def test_a_tensor_named_as_a_setting_is_one_in_a_function_inside() -> None:
    (fixture,) = (each for each in FIXTURES if each.name == "traps/tensors_named_as_settings")
    result = fix(written_otherwise(fixture.texts, bodies_inside), unsafe=False)
    assert not result.rewritten
    assert all("computed from the source by the caller" in d.message for d in result.diagnostics)


def test_what_lambdas_read_of_the_function_around_is_asked_of_its_callers() -> None:
    text = """\
import tensorflow as tf


def slope(x, gate):
    def inside():
        y = tf.map_fn(lambda each: each * tf.reduce_sum(gate), x)
        return tf.gradients(y, x)[0]

    return inside()
"""
    result = fix({"program.py": text}, unsafe=False)
    assert not result.rewritten
    assert (
        "right if `gate`, a parameter, was not computed from `x`" in result.diagnostics[0].message
    )


def test_a_function_may_name_the_pair_that_it_returns() -> None:
    made = _fixed("gradients/lists_that_ops_pack", named_to_return)
    assert "tape.watch(self.both)" in made
    assert "tape.gradient(y, [self.both])" not in made


def _fixed(name: str, way: Way) -> str:
    """What a fix makes of a fixture that is written in another way."""
    (fixture,) = (each for each in FIXTURES if each.name == name)
    files = written_otherwise(fixture.texts, way)
    return fix(files, unsafe=False).rewritten[fixture.main]
