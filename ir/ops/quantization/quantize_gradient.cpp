#include "ir/ops/quantization/quantize_gradient.h"

#include "ir/autodiff/autodiff_body.h"
#include "ir/ops/gradient/gradient_rules.h"
#include "ir/ops/inference/shape_arithmetic.h"

namespace sardonyx::ops {
namespace {

int64_t number_of(const Attrs& attrs, std::string_view name) {
  return std::get<int64_t>(attrs.get(name).value());
}

// A scale or zero point in the form that broadcasts against x, of which it has one number, one for
// each slice along an axis, or one for each block.
Term spread(const Term& list, const Val& x, int64_t axis, int64_t block_size) {
  Emitter& e = *list.e;
  const size_t rank = rank_of(e, x, "DequantizeLinear"), own = rank_of(e, list, "DequantizeLinear");
  if (block_size > 0) {
    const Val size = call_folded(e, "Reshape", {dims_of(e, x, axis, axis + 1), e.int64s({})});
    const Val index =
        call_folded(e, "Range", {e.scalar(DType::kInt64, 0), size, e.scalar(DType::kInt64, 1)});
    const Val block =
        call_folded(e, "Div", {index, e.scalar(DType::kInt64, static_cast<double>(block_size))});
    return {&e, e.call("Gather", {list, block}, {{"axis", axis}})};
  }
  if (own == 0) return list;
  std::vector<int64_t> axes;
  for (int64_t after = axis + 1; after < static_cast<int64_t>(rank); ++after)
    axes.push_back(after - axis);
  return axes.empty() ? list : Term{&e, e.call("Unsqueeze", {list, e.int64s(axes)})};
}

Vals dequantize_decomposition(Emitter& e, const BodyCall& c) {
  const Val &x = c.inputs[0], &scale = c.inputs[1];
  const auto rank = static_cast<int64_t>(rank_of(e, x, c.op.name));
  int64_t axis = rank == 1 ? 0 : number_of(c.raw_attrs, "axis");
  if (axis < 0) axis += rank;
  const int64_t block_size = number_of(c.raw_attrs, "block_size");
  const auto given = static_cast<DType>(number_of(c.raw_attrs, "output_dtype"));
  const DType dtype = given == DType::kUndefined ? e.type(scale).dtype : given;
  Term distance = cast({&e, x}, dtype);
  if (c.has(2)) {
    distance = distance - spread(cast({&e, c.inputs[2]}, dtype), x, axis, block_size);
  }
  return {distance * spread(cast({&e, scale}, dtype), x, axis, block_size)};
}

// The scale alone: the other results are integers.
Vals dynamic_scale(Emitter& e, const BodyCall& c) {
  const Term x{&e, c.inputs[0]};
  const auto bound = [&](std::string_view reduction, std::string_view choice) {
    const Term found{&e, e.call(reduction, {x}, {{"keepdims", int64_t{0}}})};
    return apply(choice, found, found.number(0));
  };
  return {{}, (bound("ReduceMax", "Max") - bound("ReduceMin", "Min")) / 255, {}};
}

}  // namespace

Vals dequantize_linear_grad(Emitter& e, const GradCall& call) {
  return autodiff_body(e, call, dequantize_decomposition);
}

Vals dynamic_quantize_linear_grad(Emitter& e, const GradCall& call) {
  return autodiff_body(e, call, dynamic_scale);
}

}  // namespace sardonyx::ops
