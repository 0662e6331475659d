"""Every rewrite can be spoilt in many ways; the oracle must refuse each."""

from __future__ import annotations

import contextlib
import dataclasses
import os
from collections import Counter
from collections.abc import Iterator

import pytest

from tapemigrate.verify.oracle import Pending, submit
from tapemigrate.verify.pool import Pool
from tests.mutations import MUTATIONS, mutants
from tests.test_fixtures import FIXTURES, rewritten

# Where a mutation changes what is computed; elsewhere it may not (a variable needs no watch).
# ``python -m tests.run_mutations`` tries them all.
SPOILT = {
    "watch left out": """
        arguments/aggregation_method arguments/sources_of_unknown_kind
        flow/comprehension_of_calls flow/module_level gradients/complex_target
        gradients/recompute_and_pass_through hessians/own_hessian_by_rows
        orders/gradient_penalty_in_optimizer tfe/dy tfe/same_tensor_twice
        traps/alias_made_after_the_use traps/nonlocal_rebinding
    """,
    "watch after the use": """
        arguments/aggregation_method arguments/positions_v2 flow/closure_over_the_source
        flow/map_fn_body gradients/autograph_step gradients/non_trainable_source
        gradients/wgan_mixed_by_attributes names/private_helper tfe/called_on_the_spot
        tfe/same_tensor_twice traps/aliased_list traps/object_carried_labels
    """,
    "region one statement short": """
        arguments/aggregation_method arguments/stop_gradients_documentation
        flow/dict_comprehension_of_calls flow/nested_function_call_inside
        gradients/custom_gradient_on_the_path gradients/ragged_source
        hessians/eigenvalues_of_hessian orders/forward_gradients_helper
        orders/sobolev_first_and_second tfe/python_numbers_and_arrays
        threaded/wrapper_of_the_function traps/names_are_taken
    """,
    "region starts one statement late": """
        arguments/grad_ys_differentiated_through arguments/stop_gradients_variable_and_read
        flow/generator_of_gradients flow/rebound_between_two_calls
        gradients/control_flow_on_the_path gradients/linear_regression_theta
        gradients/source_behind_cast hessians/vector_target_matrix_source
        orders/schrodinger_net_returns_derivative threaded/sibling_from_the_caller
        traps/global_rebinding traps/object_carried_labels
    """,
    "an order's call outside its tape": """
        arguments/grad_ys_differentiated_through flow/calls_sharing_a_region
        flow/method_called_for_the_target gradients/custom_gradient_second_order
        gradients/through_a_tf_function hessians/own_hessian_by_rows
        hessians/vector_target_matrix_source orders/gradient_penalty_then_weights
        orders/kuramoto_fourth_order orders/nested_in_one_expression
        orders/second_order_in_a_loop traps/names_are_taken
    """,
    "grad_ys dropped": """
        arguments/grad_ys_ddpg_policy arguments/grad_ys_differentiated_through
        arguments/grad_ys_list_of_targets arguments/grad_ys_none_for_a_source
        arguments/grad_ys_outside_the_tape arguments/grad_ys_tensor
        arguments/options_in_one_call arguments/positions_v1 gradients/complex_target
        gradients/variable_as_target orders/forward_mode_double_vjp tfe/dy
    """,
    "unconnected_gradients dropped": """
        arguments/positions_v1 arguments/positions_v2 arguments/unconnected_zero_dynamic_shape
        arguments/unconnected_zero_variables
    """,
    "sources swapped": """
        arguments/options_in_one_call arguments/stop_gradients_documentation
        arguments/unconnected_none_and_zero flow/rebound_between_two_calls
        gradients/decorated_with_partials gradients/integer_sources gradients/slices_of_a_matrix
        orders/kuramoto_fourth_order tfe/called_on_the_spot tfe/in_a_graph
        tfe/params_by_name_and_position tfe/static_class_partial_star
    """,
    "[0] lost": """
        arguments/colocate arguments/stop_gradients_and_total flow/conditional_expression
        flow/rebound_between_two_calls gradients/casts_that_return_the_same_tensor
        gradients/target_is_expression hessians/scalar_loss orders/forward_gradients_helper
        tfe/called_on_the_spot tfe/stored_on_self traps/carried_over_the_call
        traps/object_carried_labels
    """,
    "list lost": """
        arguments/grad_ys_none_for_a_source arguments/unconnected_none_and_zero
        flow/lambda_on_self flow/tuple_unpacking gradients/identity_branch
        gradients/ops_of_many_kinds tfe/definition_at_module_level tfe/function_is_a_parameter
        tfe/import_backprop_names tfe/make_vjp tfe/passed_and_closed_over
        tfe/static_class_partial_star
    """,
    "stop_gradients ignored": """
        arguments/options_in_one_call arguments/positions_v1 arguments/positions_v2
        arguments/stop_gradients_documentation arguments/stop_gradients_intermediate
        arguments/stop_gradients_leaves flow/flattened_under_its_own_name
        gradients/intermediate_two_uses gradients/source_behind_cast hessians/pfor_jacobian
        tfe/four_ways tfe/import_python_tfe
    """,
    "stop_recording left out": """
        arguments/stop_gradients_in_the_middle
    """,
    "persistent missing": """
        arguments/grad_ys_list_of_targets arguments/positions_v2 flow/comprehension_of_calls
        flow/rebound_between_two_calls flow/walrus gradients/partitioned_and_scoped_variables
        hessians/deprecated_arguments hessians/scalar_loss names/gradients_impl
        orders/nested_in_one_expression tfe/other_symbols threaded/trpo_fisher_vector_product
    """,
    "tape of another order": """
        arguments/grad_ys_ddpg_policy arguments/stop_gradients_and_total
        flow/lambda_of_second_order gradients/custom_gradient_second_order
        gradients/variable_as_target hessians/second_derivative_of_the_hessian
        orders/forward_mode_double_vjp orders/hessian_vector_product
        orders/kuramoto_fourth_order orders/mixed_derivatives orders/sobolev_first_and_second
        traps/names_are_taken
    """,
    "tape of the wrong caller": """
        names/private_helper orders/forward_gradients_helper orders/order_split_over_functions
        threaded/caller_derives_in_a_loop threaded/caller_in_another_file
        threaded/create_optimizer threaded/flatgrad threaded/own_constructor_like_network
        threaded/penalty_of_attributes threaded/sibling_from_the_caller threaded/two_files
        threaded/two_levels_up
    """,
    "target made after the tape": """
        arguments/aggregation_method arguments/stop_gradients_documentation
        flow/flattened_under_its_own_name flow/self_paths gradients/duplicate_sources
        gradients/saliency_with_argmax hessians/deprecated_arguments
        names/import_compat_v1_as_tf orders/order_split_over_functions tfe/import_backprop_names
        tfe/variable_as_argument traps/lambda_default_from_the_source
    """,
}
PAIRS = [(mutation, fixture) for mutation, names in SPOILT.items() for fixture in names.split()]


@pytest.fixture(scope="module")
def pool() -> Iterator[Pool]:
    with contextlib.closing(Pool(size=min(4, os.cpu_count() or 1))) as workers:
        yield workers


def test_every_mutation_is_tried() -> None:
    assert SPOILT.keys() == MUTATIONS.keys()


def test_all_are_refuted(pool: Pool) -> None:
    runs = {pair: run for pair in PAIRS if (run := _spoilt(pool, *pair)) is not None}
    tried = Counter(mutation for mutation, _ in runs)
    # A rewrite that has become another may leave a mutation nothing to spoil.
    few = [name for name, names in SPOILT.items() if tried[name] < min(3, len(names.split()))]
    assert not few, f"these no longer apply to most of their fixtures: {few}"
    missed = [pair for pair, run in runs.items() if run.result().verdict != "REFUTED"]
    caught = len(runs) - len(missed)
    print(f"\nspoilt rewrites caught: {caught} of {len(runs)} ({caught / len(runs):.0%})")
    assert not missed


def _spoilt(pool: Pool, mutation: str, name: str) -> Pending | None:
    fixture = next((fixture for fixture in FIXTURES if fixture.name == name), None)
    if fixture is None:
        return None
    after = rewritten(name)
    texts = dict(mutants(after[fixture.main]))
    if mutation not in texts:
        return None
    case = fixture.case({**after, fixture.main: texts[mutation]})
    return submit(
        pool,
        dataclasses.replace(case, before_modes=fixture.before[:1], after_modes=fixture.modes[:1]),
    )
