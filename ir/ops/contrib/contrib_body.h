// Helpers that bodies of com.microsoft's ops share: shape arithmetic on emitted values.
#pragma once

#include <string>
#include <vector>

#include "ir/emitter/emitter.h"
#include "ir/op_def.h"

namespace sardonyx::ops {

inline constexpr std::string_view kMicrosoft = "com.microsoft";

// The dims of `x`; throws kUnsupported where its rank is not known.
Dims dims_of(Emitter& e, const Val& x, std::string_view name);
size_t input_rank(Emitter& e, const Val& x, std::string_view name);

// Dim `axis` of `x` as int64 of shape [1]; a constant where it is known.
Val dim_of(Emitter& e, const Val& x, int64_t axis);
// int64 of shape [1] as a scalar.
Val as_scalar(Emitter& e, const Val& x);
// 0, 1 ... up to `end` (int64 of shape [1]), exclusive.
Val count_up(Emitter& e, const Val& end);
// Elements [begin, end) of one axis; the bounds have shape [1].
Val slice(Emitter& e, const Val& x, const Val& begin, const Val& end, int64_t axis);
Val reshape(Emitter& e, const Val& x, const std::vector<int64_t>& shape);
Val transpose(Emitter& e, const Val& x, const std::vector<int64_t>& permutation);
Val unsqueeze(Emitter& e, const Val& x, const std::vector<int64_t>& axes);
Val cast_to(Emitter& e, const Val& x, DType to);

// x after the named activation: "" (none), Relu, Sigmoid, Tanh, LeakyRelu, Elu, HardSigmoid,
// Softplus, Softsign, ThresholdedRelu, Selu, Clip (params: lowest, highest). Parameters left out
// have ONNX's defaults. Throws kInvalidModel for another name or too many parameters.
Val activate(Emitter& e, const Val& x, const std::string& name, const std::vector<float>& params);

}  // namespace sardonyx::ops
