"""Every rewrite can be spoilt in many ways; the oracle must refuse each."""

from __future__ import annotations

import contextlib
import dataclasses
import os
from collections.abc import Iterator

import pytest

from tapemigrate.verify.oracle import Pending, submit
from tapemigrate.verify.pool import Pool
from tests.mutations import MUTATIONS, mutants
from tests.test_fixtures import FIXTURES, rewritten

# Where a mutation changes what is computed; elsewhere it may not (a variable needs no watch).
SPOILT = {
    "watch left out": [
        "arguments/aggregation_method",
        "flow/name_scope_in_an_if",
        "hessians/pfor_batch_jacobian",
        "tfe/static_class_partial_star",
    ],
    "watch after the use": [
        "arguments/aggregation_method",
        "flow/module_level_under_main",
        "hessians/deprecated_arguments",
        "tfe/same_tensor_twice",
    ],
    "region one statement short": [
        "arguments/aggregation_method",
        "flow/rebound_between_two_calls",
        "hessians/deprecated_arguments",
        "tfe/passed_and_closed_over",
    ],
    "region starts one statement late": [
        "arguments/grad_ys_differentiated_through",
        "flow/module_level_under_main",
        "gradients/ops_of_many_kinds",
    ],
    "an order's call outside its tape": [
        "arguments/grad_ys_differentiated_through",
        "gradients/disable_v2_behavior_placeholder",
        "orders/forward_mode_double_vjp",
        "orders/none_and_zeros_by_op",
    ],
    "grad_ys dropped": [
        "arguments/grad_ys_ddpg_policy",
        "arguments/grad_ys_none_for_a_source",
        "arguments/grad_ys_variable",
        "gradients/defun_body_is_local",
    ],
    "unconnected_gradients dropped": [
        "arguments/positions_v1",
        "arguments/unconnected_zero_dynamic_shape",
    ],
    "sources swapped": [
        "arguments/options_in_one_call",
        "flow/tuple_unpacking",
        "hessians/list_of_sources",
        "tfe/make_vjp",
    ],
    "[0] lost": [
        "arguments/colocate",
        "flow/self_attribute_rebound",
        "hessians/own_hessian_by_rows",
        "tfe/reinforce_episode",
    ],
    "list lost": [
        "arguments/grad_ys_none_for_a_source",
        "gradients/fgsm_attack",
        "tfe/dy",
        "tfe/make_vjp",
    ],
    "stop_gradients ignored": [
        "arguments/stop_gradients_documentation",
        "arguments/stop_gradients_intermediate",
        "arguments/stop_gradients_partials_only",
    ],
    "stop_recording left out": ["arguments/stop_gradients_in_the_middle"],
    "persistent missing": [
        "arguments/grad_ys_list_of_targets",
        "flow/method_called_for_the_target",
        "gradients/slice_not_on_the_path",
        "names/gradients_impl",
    ],
    "tape of another order": [
        "arguments/grad_ys_ddpg_policy",
        "gradients/disable_v2_behavior_placeholder",
        "orders/hessian_vector_product",
        "orders/one_forward_several_targets",
    ],
    "target made after the tape": [
        "arguments/aggregation_method",
        "flow/try_around_the_forward",
        "hessians/pfor_batch_jacobian",
        "tfe/model_class_grad_method",
    ],
}
PAIRS = [(mutation, fixture) for mutation, names in SPOILT.items() for fixture in names]


@pytest.fixture(scope="module")
def pool() -> Iterator[Pool]:
    with contextlib.closing(Pool(size=min(4, os.cpu_count() or 1))) as workers:
        yield workers


def test_every_mutation_is_tried() -> None:
    assert SPOILT.keys() == MUTATIONS.keys()


def test_all_are_refuted(pool: Pool) -> None:
    runs = {pair: _spoilt(pool, *pair) for pair in PAIRS}
    missed = [pair for pair, run in runs.items() if run.result().verdict != "REFUTED"]
    caught = len(runs) - len(missed)
    print(f"\nspoilt rewrites caught: {caught} of {len(runs)} ({caught / len(runs):.0%})")
    assert not missed


def _spoilt(pool: Pool, mutation: str, name: str) -> Pending:
    fixture = next(fixture for fixture in FIXTURES if fixture.name == name)
    after = rewritten(name)
    texts = dict(mutants(after[fixture.main]))
    assert mutation in texts, f"{mutation!r} no longer applies to {name}: choose another"
    case = fixture.case({**after, fixture.main: texts[mutation]})
    return submit(
        pool,
        dataclasses.replace(case, before_modes=fixture.before[:1], after_modes=fixture.modes[:1]),
    )
