#include "ir/ops/gradient/function_bodies.h"

#include <cmath>
#include <numbers>

#include "ir/ops/gradient/gradient_rules.h"
#include "ir/ops/normalization/batch_group_norm.h"

namespace sardonyx::ops {
namespace {

Val as(Emitter& e, const Val& x, DType dtype) {
  if (e.type(x).dtype == dtype) return x;
  return e.call("Cast", {x}, {{"to", static_cast<int64_t>(dtype)}});
}

Val times(Emitter& e, const Val& x, double factor) {
  return e.call("Mul", {x, e.scalar_like(x, factor)});
}

// The axes from `axis` on, which needs the rank.
std::vector<int64_t> last_axes(Emitter& e, const Val& x, int64_t axis, std::string_view op) {
  const Type type = e.type(x);
  if (!type.shape) {
    fail(ErrorCode::kUnsupported, op, " of a tensor of unknown rank (", type,
         ") has no form in other ops");
  }
  const auto rank = static_cast<int64_t>(type.rank());
  std::vector<int64_t> axes;
  for (int64_t i = axis < 0 ? axis + rank : axis; i < rank; ++i)
    axes.push_back(i);
  return axes;
}

struct Normalized {
  Val y, mean, inverse;
};

// (x - mean) / sqrt(variance + epsilon) over the axes, with the mean left where `centres` is false.
Normalized normalize(Emitter& e, const Val& x, const std::vector<int64_t>& axes, float epsilon,
                     bool centres) {
  const Val over = e.int64s(axes);
  Normalized out;
  Val centred = x;
  if (centres) {
    out.mean = e.call("ReduceMean", {x, over});
    centred = e.call("Sub", {x, out.mean});
  }
  const Val variance = e.call("ReduceMean", {e.call("Mul", {centred, centred}), over});
  const Val shifted = e.call("Add", {variance, e.scalar_like(x, epsilon)});
  out.inverse = e.call("Reciprocal", {e.call("Sqrt", {shifted})});
  out.y = e.call("Mul", {centred, out.inverse});
  return out;
}

}  // namespace

Vals hard_swish_body(Emitter& e, const BodyCall& call) {
  const Val gate = e.call("HardSigmoid", {call.inputs[0]}, {{"alpha", 1.0f / 6}, {"beta", 0.5f}});
  return {e.call("Mul", {call.inputs[0], gate})};
}

Vals mish_body(Emitter& e, const BodyCall& call) {
  const Val gate = e.call("Tanh", {e.call("Softplus", {call.inputs[0]})});
  return {e.call("Mul", {call.inputs[0], gate})};
}

Val gelu_written_out(Emitter& e, const Val& x, bool by_tanh) {
  Val gate;
  if (by_tanh) {
    const Val cube = e.call("Mul", {x, e.call("Mul", {x, x})});
    const Val inner = e.call("Add", {x, times(e, cube, 0.044715)});
    gate = e.call("Tanh", {times(e, inner, std::sqrt(2 / std::numbers::pi))});
  } else {
    gate = e.call("Erf", {times(e, x, 1 / std::numbers::sqrt2)});
  }
  const Val half = times(e, x, 0.5);
  return e.call("Mul", {half, e.call("Add", {gate, e.scalar_like(x, 1)})});
}

Val swish_written_out(Emitter& e, const Val& x, float alpha) {
  const Val gate = e.call("Sigmoid", {alpha == 1 ? x : times(e, x, alpha)});
  return e.call("Mul", {x, gate});
}

Vals layer_normalization_body(Emitter& e, const BodyCall& call) {
  const auto& attrs = call.attrs<LayerNormalizationAttrs>();
  const DType dtype = e.type(call.inputs[0]).dtype;
  const Val x = as(e, call.inputs[0], attrs.stash_type);
  const Normalized found =
      normalize(e, x, last_axes(e, x, attrs.axis, "LayerNormalization"), attrs.epsilon, true);
  Val y = e.call("Mul", {as(e, found.y, dtype), call.inputs[1]});
  if (call.has(2)) y = e.call("Add", {y, call.inputs[2]});
  Vals outputs{y, found.mean, found.inverse};
  outputs.resize(call.output_count);
  return outputs;
}

Vals rms_normalization_body(Emitter& e, const BodyCall& call) {
  const auto& attrs = call.attrs<LayerNormalizationAttrs>();
  const DType dtype = e.type(call.inputs[1]).dtype;
  const Val x = as(e, call.inputs[0], attrs.stash_type);
  const Normalized found =
      normalize(e, x, last_axes(e, x, attrs.axis, "RMSNormalization"), attrs.epsilon, false);
  return {e.call("Mul", {as(e, found.y, dtype), call.inputs[1]})};
}

Vals group_normalization_body(Emitter& e, const BodyCall& call) {
  const auto& attrs = call.attrs<GroupNormalizationAttrs>();
  const Val& x = call.inputs[0];
  const DType dtype = e.type(x).dtype;
  const std::vector<int64_t> spatial = last_axes(e, x, 2, "GroupNormalization");
  // [N, C, ...] as [N, groups, the rest].
  const Val grouped =
      e.call("Reshape", {as(e, x, attrs.stash_type), e.int64s({0, attrs.num_groups, -1})});
  const Normalized found = normalize(e, grouped, {2}, attrs.epsilon, true);
  Val y = reshaped(e, as(e, found.y, dtype), e.call("Shape", {x}));
  std::vector<int64_t> beside;  // scale and bias [C] as [C, 1 ...]
  for (size_t i = 0; i < spatial.size(); ++i)
    beside.push_back(static_cast<int64_t>(i) + 1);
  const auto by_channel = [&](const Val& value) {
    return beside.empty() ? value : e.call("Unsqueeze", {value, e.int64s(beside)});
  };
  y = e.call("Mul", {y, by_channel(call.inputs[1])});
  return {e.call("Add", {y, by_channel(call.inputs[2])})};
}

namespace {

// The statistics that a call leaves: a share of those given, the rest of those found.
Val moved_statistics(Emitter& e, const Val& given, const Val& found, float momentum) {
  const Val flat = as(e, e.call("Reshape", {found, e.int64s({-1})}), e.type(given).dtype);
  if (momentum == 0) return flat;
  return e.call("Add", {times(e, given, momentum), times(e, flat, 1.0 - momentum)});
}

}  // namespace

Vals batch_normalization_body(Emitter& e, const BodyCall& call) {
  const auto& attrs = call.attrs<BatchNormalizationAttrs>();
  const DType dtype = e.type(call.inputs[0]).dtype;
  const Val x = as(e, call.inputs[0], bits_of(dtype) < 32 ? DType::kFloat : dtype);
  std::vector<int64_t> axes = last_axes(e, x, 0, "BatchNormalization"), spatial;
  if (axes.size() > 1) axes.erase(axes.begin() + 1);
  for (size_t i = 1; i < axes.size(); ++i)
    spatial.push_back(static_cast<int64_t>(i));
  // A value of each channel [C] as [C, 1 ...].
  const auto by_channel = [&](const Val& value) {
    const Val cast = as(e, value, e.type(x).dtype);
    return spatial.empty() ? cast : e.call("Unsqueeze", {cast, e.int64s(spatial)});
  };
  const bool is_training = attrs.training_mode;
  const Val over = e.int64s(axes);
  const Val mean = is_training ? e.call("ReduceMean", {x, over}) : by_channel(call.inputs[3]);
  const Val centred = e.call("Sub", {x, mean});
  const Val variance = is_training ? e.call("ReduceMean", {e.call("Mul", {centred, centred}), over})
                                   : by_channel(call.inputs[4]);
  const Val shifted = e.call("Add", {variance, e.scalar_like(x, attrs.epsilon)});
  const Val normalized = e.call("Div", {centred, e.call("Sqrt", {shifted})});
  const Val scaled = e.call("Mul", {normalized, by_channel(call.inputs[1])});
  Vals outputs{as(e, e.call("Add", {scaled, by_channel(call.inputs[2])}), dtype)};
  for (size_t i = 1; i < call.output_count; ++i) {
    const Val& given = call.inputs[i + 2];
    outputs.push_back(
        is_training ? moved_statistics(e, given, i == 1 ? mean : variance, attrs.momentum) : given);
  }
  return outputs;
}

}  // namespace sardonyx::ops
