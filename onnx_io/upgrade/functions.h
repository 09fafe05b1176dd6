// The functions that the table of upgrade rules names, by subject.
#pragma once

#include "onnx_io/upgrade/upgrade.h"

namespace sardonyx::upgrades {

using Upgraded = std::optional<Vals>;

// ---- attributes.cpp: attributes that became inputs, were dropped, or changed their kind ----
Upgraded drop_consumed_inputs(RawCall& call);
Upgraded axes_to_input(RawCall& call);  // Squeeze, Unsqueeze, Reduce*
Upgraded slice_1(RawCall& call);
Upgraded split_1(RawCall& call);
Upgraded split_attribute(RawCall& call);
Upgraded split_count(RawCall& call);
Upgraded pad_1(RawCall& call);
Upgraded pad_2(RawCall& call);
Upgraded clip_1(RawCall& call);
Upgraded clip_6(RawCall& call);
Upgraded topk_1(RawCall& call);
Upgraded tile_1(RawCall& call);
Upgraded reshape_1(RawCall& call);
Upgraded concat_1(RawCall& call);
Upgraded cast_1(RawCall& call);
Upgraded float_p_to_int(RawCall& call);  // LpPool, GlobalLpPool
Upgraded selu_1(RawCall& call);
Upgraded dft_17(RawCall& call);
Upgraded grid_sample_16(RawCall& call);
Upgraded roi_align_10(RawCall& call);
Upgraded one_hot_9(RawCall& call);
Upgraded scatter_9(RawCall& call);
Upgraded recurrent_1(RawCall& call);

// ---- broadcast.cpp: operands before they broadcast as in NumPy ----
Upgraded broadcast_1(RawCall& call);  // Add, Less, And ...
Upgraded gemm_1(RawCall& call);
Upgraded prelu_1(RawCall& call);

// ---- normalization.cpp ----
Upgraded flattening_softmax(RawCall& call);  // Softmax, LogSoftmax, Hardmax
Upgraded batch_normalization_1(RawCall& call);
Upgraded batch_normalization_7(RawCall& call);
Upgraded batch_normalization_9(RawCall& call);
Upgraded group_normalization_18(RawCall& call);
Upgraded mean_variance_normalization_1(RawCall& call);
Upgraded dropout_1(RawCall& call);
Upgraded dropout_7(RawCall& call);
Upgraded dropout_10(RawCall& call);

// ---- resize.cpp ----
Upgraded upsample_1(RawCall& call);
Upgraded upsample_7(RawCall& call);
Upgraded upsample_9(RawCall& call);
Upgraded resize_10(RawCall& call);

// ---- control.cpp ----
Upgraded scan_8(RawCall& call);

// ---- experimental.cpp: ops of 2017 and 2018 that never became stable ----
Upgraded affine(RawCall& call);
Upgraded constant_fill(RawCall& call);
Upgraded given_tensor_fill(RawCall& call);
Upgraded crop(RawCall& call);
Upgraded dynamic_slice(RawCall& call);
Upgraded image_scaler(RawCall& call);
Upgraded parametric_softplus(RawCall& call);
Upgraded scale(RawCall& call);
Upgraded scaled_tanh(RawCall& call);
Upgraded not_supported(RawCall& call);  // ATen, GRUUnit

// ---- machine_learning.cpp: ai.onnx.ml ----
Upgraded label_encoder_1(RawCall& call);

// ---- helpers of the above ----
using Ints = std::vector<int64_t>;
using Floats = std::vector<float>;

// The call goes on in its edited form.
inline Upgraded edited() {
  return std::nullopt;
}
// The rank of an input, where it is known.
std::optional<int64_t> rank_of(const RawCall& call, const Val& val);
// The same, or kUnsupported saying why it must be known.
int64_t required_rank(const RawCall& call, const Val& val, std::string_view why);
// int64[1]: the rank of a tensor, computed at run time if it must be.
Val rank_value(RawCall& call, const Val& val);
// `values` as a 1-D tensor of float.
Val floats(RawCall& call, const Floats& values);
// A constant of the dtype of `like`, shaped so that it broadcasts along axis 1 of a tensor of
// `rank`.
Val per_channel(RawCall& call, const Floats& values, const Val& like, int64_t rank);
// A 1-D tensor of the dtype of `like`.
Val floats_like(RawCall& call, const Floats& values, const Val& like);

}  // namespace sardonyx::upgrades
