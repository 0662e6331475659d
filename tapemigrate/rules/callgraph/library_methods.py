"""Names of methods that objects of libraries have as well.

A call of one of these on an object that cannot be told may be one of a library's.
"""

from __future__ import annotations

# The public methods of TensorFlow 1.15's optimizers, models, layers, sessions, graphs, tensors,
# variables, distributions, datasets, estimators, savers and callbacks
# (https://www.tensorflow.org/versions/r1.15/api_docs/python/tf), of NumPy's arrays
# (https://numpy.org/doc/stable/reference/arrays.ndarray.html), and what other libraries'
# objects of these kinds are asked for.
_OTHERS = """
acquire add_event add_graph add_loss add_meta_graph add_metric add_run_metadata add_session_log
add_slot add_summary add_to_collection add_to_collections add_update add_variable
add_variable_with_custom_getter add_weight all any apply apply_gradients argmax argmin
argpartition argsort as_default as_graph_def as_graph_element as_saver_def assign assign_add
assign_moving_average assign_sub astype average average_name backward batch batch_jacobian
batch_scatter_update batch_shape_tensor build byteswap cache call cdf choose clear_collection
clear_stop clip close colocate_vars_with colocate_with colocation_groups commit compile compress
compute_gradients compute_loss compute_mask compute_metrics compute_output_shape
compute_output_signature concat concatenate configure conj connect consumers container
control_dependencies count_params count_up_to covariance create_op cross_entropy cumprod cumsum
decision_function device diagonal dot draw dump dumps entropy enumerate eval eval_dir evaluate
evaluate_generator event_shape_tensor execute export_meta_graph export_saved_model
export_savedmodel fill filter filter_with_legacy_function finalize fit fit_generator
fit_transform flat_map flatten flush forward from_config from_generator from_proto
from_sparse_tensor_slices from_tensor_slices from_tensors gather gather_nd
get_all_collection_keys get_attr get_collection get_collection_ref get_config get_gradients
get_initial_state get_input_at get_input_mask_at get_input_shape_at get_layer get_logdir
get_losses_for get_name get_name_scope get_operation_by_name get_operations get_output_at
get_output_mask_at get_output_shape_at get_scaled_loss get_shape get_slot get_slot_names
get_tensor_by_name get_unscaled_gradients get_updates get_updates_for get_variable_names
get_variable_value get_weights getfield grad gradient gradient_override_map group identity
initialized_value interleave is_feedable is_fetchable is_scalar_batch is_scalar_event item
itemset jacobian kl_divergence latest_checkpoint list_devices list_files load load_model
load_weights log_cdf log_prob log_survival_function loss make_callable make_dataset_iterator
make_initializable_iterator make_input_fn_iterator make_one_shot_iterator make_train_function
map map_with_legacy_function max mean min minimize mode name_scope newbyteorder nonzero
on_batch_begin on_batch_end on_epoch_begin on_epoch_end on_predict_batch_begin
on_predict_batch_end on_predict_begin on_predict_end on_test_batch_begin on_test_batch_end
on_test_begin on_test_end on_train_batch_begin on_train_batch_end on_train_begin on_train_end
open options padded_batch param_shapes param_static_shapes parameters partial_run
partial_run_setup plot predict predict_classes predict_generator predict_on_batch predict_proba
predict_step prefetch prevent_feeding prevent_fetching prob prod ptp put quantile
raise_requested_exception range ravel read read_value recover_last_checkpoints recv reduce
register_thread release render reopen repeat request_stop reset reset_metrics reset_states
reshape resize restore result round run run_step_fn sample save save_weights scale_loss scatter
scatter_add scatter_div scatter_max scatter_min scatter_mul scatter_nd_add scatter_nd_sub
scatter_nd_update scatter_sub scatter_update scope score searchsorted seed send set
set_last_checkpoints set_last_checkpoints_with_time set_model set_params set_shape set_weights
setfield setflags shard should_stop show shuffle shutdown size skip sparse_read squeeze stack
start stateless_apply std stddev step stop stop_on_exception stop_recording submit sum summary
summary_text survival_function swapaxes switch_to_thread_local take test_on_batch test_step
to_json to_proto to_yaml tobytes tofile tolist tostring trace train train_on_batch train_step
transform transpose unbatch unique_name unstack unwrap update_config_proto update_state
update_weights value var variables variables_to_restore variance view wait_for_stop watch
watched_variables window with_name_scope with_options write zero_grad zero_state zip
"""
_BUILTINS = (dict, list, set, str, bytes, tuple, int, float)

#: Those of Python's containers left out.
TENSORFLOW_METHODS = frozenset(_OTHERS.split())
LIBRARY_METHODS = TENSORFLOW_METHODS | {name for each in _BUILTINS for name in dir(each)}
