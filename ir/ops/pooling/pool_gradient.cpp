#include "ir/ops/pooling/pool_gradient.h"

#include "ir/autodiff/autodiff.h"
#include "ir/ops/conv/conv_gradient.h"
#include "ir/ops/conv/conv_inference.h"
#include "ir/ops/gradient/gradient_rules.h"
#include "ir/ops/inference/infer.h"
#include "ir/ops/inference/shape_arithmetic.h"
#include "ir/ops/pooling/pool.h"

namespace sardonyx::ops {

namespace {

using Ints = std::vector<int64_t>;

Val call_with(Emitter& e, std::string_view op, const Vals& inputs, const Attrs& attrs) {
  return e.emit(op_named(op), inputs, attrs, 1)[0];
}

Val flat(Emitter& e, const Val& x) {
  return e.call("Reshape", {x, e.int64s({-1})});
}

Val filled(Emitter& e, const Val& shape, DType dtype, double value) {
  return e.call("Expand", {e.scalar(dtype, value), shape});
}

// [N, C, spatial...] as N * C images of one channel.
Val as_single_channels(Emitter& e, const Val& x) {
  const Val images = product_of(e, dims_of(e, x, 0, 2));
  return reshaped(e, x, joined_lists(e, {images, e.int64s({1}), dims_of(e, x, 2)}));
}

// Each element of y added to all elements of its window; the result has the shape `shape`.
Val spread_evenly(Emitter& e, const Val& y, const Val& shape, const WindowValues& window,
                  const Ints& kernel) {
  Shape taps{1, 1};
  taps.insert(taps.end(), kernel.begin(), kernel.end());
  const Val ones = filled(e, e.int64s(taps), e.type(y).dtype, 1);
  return reshaped(e, spread_windows(e, as_single_channels(e, y), ones, window, 1), shape);
}

// AveragePool

// How many elements the average of each window counts, as [1, 1, out...]; null where all windows
// count the whole kernel.
Val counted_taps(Emitter& e, const AveragePoolAttrs& attrs, const WindowValues& window,
                 DType dtype) {
  const size_t rank = attrs.kernel_shape.size();
  WindowValues counted = window;
  if (attrs.count_include_pad) {
    const Val pads = window_padding(e, window_spec("AveragePool", attrs), window);
    counted.in = call_folded(e, "Add", {window.in, pads});
    counted.begin = e.int64s(Ints(rank, 0));
  }
  const auto begin = known_list(e, counted.begin), size = known_list(e, counted.in),
             full = known_list(e, window.full);
  bool is_whole = begin && size && full;
  for (size_t axis = 0; is_whole && axis < rank; ++axis)
    is_whole = (*begin)[axis] <= 0 && (*full)[axis] - (*begin)[axis] <= (*size)[axis];
  if (is_whole) return {};
  const Val one = e.int64s({1, 1});
  const Val image = filled(e, joined_lists(e, {one, counted.in}), dtype, 1);
  const Val kernel = filled(e, joined_lists(e, {one, e.int64s(attrs.kernel_shape)}), dtype, 1);
  return call_with(e, "Conv", {framed(e, image, counted), kernel},
                   ConvAttrs{.dilations = window.dilations, .strides = window.strides});
}

void infer_average_pool_grad(InferContext& c) {
  const auto& attrs = c.attrs<AveragePoolAttrs>();
  c.require(!attrs.kernel_shape.empty(),
            "kernel_shape: expected a size for each spatial axis, got none");
  const size_t rank = attrs.kernel_shape.size() + 2;
  c.require_rank(0, rank);
  const auto x = sized_dims(c, 1, rank);
  // The attributes are checked whatever the sizes are.
  const Dims dims = x ? *x : unknown_dims(c, rank);
  const Dims out =
      window_dims(window_spec(c.op().name, attrs), spatial_dims(dims), to_dims(attrs.kernel_shape));
  if (!x) return c.set(0, c.dtype(0), dims);
  const Dims expected = joined(dims[0], dims[1], out);
  if (const Dims* y = c.shape(0)) {
    for (size_t i = 0; i < rank; ++i)
      c.merged((*y)[i], expected[i], "dims of the output's gradient");
  }
  c.set(0, c.dtype(0), *x);
}

Vals average_pool_grad_body(Emitter& e, const BodyCall& c) {
  const auto& attrs = c.attrs<AveragePoolAttrs>();
  const Val &d_y = c.inputs[0], &shape = c.inputs[1];
  const WindowValues window = window_values(e, window_spec(c.op.name, attrs), part_of(e, shape, 2),
                                            dims_of(e, d_y, 2), e.int64s(attrs.kernel_shape));
  Val count = counted_taps(e, attrs, window, e.type(d_y).dtype);
  if (!count) count = e.scalar_like(d_y, static_cast<double>(element_count(attrs.kernel_shape)));
  return {spread_evenly(e, e.call("Div", {d_y, count}), shape, window, attrs.kernel_shape)};
}

Vals average_pool_grad_grad(Emitter& e, const GradCall& call) {
  return {call_with(e, "AveragePool", {call.d_outputs[0]}, call.raw_attrs)};
}

// MaxPool

void infer_max_pool_grad(InferContext& c) {
  const auto& attrs = c.attrs<MaxPoolAttrs>();
  c.require(!attrs.kernel_shape.empty(),
            "kernel_shape: expected a size for each spatial axis, got none");
  const size_t rank = attrs.kernel_shape.size() + 2;
  c.require_rank(0, rank);
  c.require_rank(1, rank);
  if (const Dims* d_y = c.shape(0), *x = c.shape(1); d_y && x) {
    const Dims out =
        window_dims(window_spec(c.op().name, attrs), spatial_dims(*x), to_dims(attrs.kernel_shape));
    const Dims expected = joined((*x)[0], (*x)[1], out);
    for (size_t i = 0; i < rank; ++i)
      c.merged((*d_y)[i], expected[i], "dims of the output's gradient");
  }
  c.set(0, c.dtype(1), shape_of(c, 1));
}

// Which element of X each output took, and whether it took any.
struct Taken {
  Val elements;  // flat, at least 0
  Val any;
};
Taken taken_elements(Emitter& e, const Val& x, MaxPoolAttrs attrs) {
  attrs.storage_order = 0;
  const Vals pooled = e.emit(op_named("MaxPool"), std::vector{x}, Attrs(attrs), 2);
  const Val indices = flat(e, pooled[1]), zero = e.int64s({0});
  return {e.call("Max", {indices, zero}), e.call("GreaterOrEqual", {indices, zero})};
}

Vals max_pool_grad_body(Emitter& e, const BodyCall& c) {
  const Val &d_y = c.inputs[0], &x = c.inputs[1];
  const Taken taken = taken_elements(e, x, c.attrs<MaxPoolAttrs>());
  const DType dtype = e.type(d_y).dtype;
  const Val shape = shape_of(e, x);
  const Val added = e.call("Where", {taken.any, flat(e, d_y), e.scalar(dtype, 0)});
  const Val sums =
      e.call("ScatterElements", {filled(e, product_of(e, shape), dtype, 0), taken.elements, added},
             {{"axis", int64_t{0}}, {"reduction", std::string("add")}});
  return {reshaped(e, sums, shape)};
}

// Linear in dY; X only chooses.
Vals max_pool_grad_grad(Emitter& e, const GradCall& call) {
  if (!call.wants(0)) return {};
  const Val& g = call.d_outputs[0];
  const Taken taken = taken_elements(e, call.inputs[1], call.attrs<MaxPoolAttrs>());
  const Val picked = e.call("Gather", {flat(e, g), taken.elements});
  const Val zero = e.scalar_like(g, 0);
  return {reshape_like(e, e.call("Where", {taken.any, picked, zero}), call.inputs[0])};
}

std::vector<Sample> average_grad_samples() {
  const auto shape = [](const Shape& x) { return SampleInput{.value = Tensor::vector(x)}; };
  return {{{{{2, 3, 4}}, shape({2, 3, 9})}, {{"kernel_shape", Ints{3}}, {"strides", Ints{2}}}},
          {{{{1, 2, 3, 3}}, shape({1, 2, 5, 6})},
           {{"kernel_shape", Ints{3, 2}},
            {"pads", Ints{1, 0, 1, 1}},
            {"strides", Ints{2, 2}},
            {"count_include_pad", int64_t{1}},
            {"ceil_mode", int64_t{1}}}},
          {{{{1, 2, 7, 7}}, shape({1, 2, 7, 7})},
           {{"kernel_shape", Ints{2, 3}},
            {"dilations", Ints{2, 2}},
            {"auto_pad", std::string("SAME_UPPER")}}}};
}

std::vector<Sample> max_grad_samples() {
  return {{{{{2, 3, 4}}, {{2, 3, 9}}}, {{"kernel_shape", Ints{3}}, {"strides", Ints{2}}}},
          {{{{1, 2, 3, 3}}, {{1, 2, 5, 6}}},
           {{"kernel_shape", Ints{3, 2}},
            {"pads", Ints{1, 0, 1, 1}},
            {"strides", Ints{2, 2}},
            {"storage_order", int64_t{1}},
            {"ceil_mode", int64_t{1}}}},
          {{{{1, 2, 7, 7}}, {{1, 2, 7, 7}}},
           {{"kernel_shape", Ints{2, 3}},
            {"dilations", Ints{2, 2}},
            {"auto_pad", std::string("SAME_UPPER")}}}};
}

// |x|^(p - 1) with the sign of x: what x adds to the derivative of a norm.
Term norm_slope(const Term& x, int64_t p) {
  if (p == 2) return x;
  const Term sign = apply("Sign", x);
  if (p == 1) return sign;
  return sign * apply("Pow", apply("Abs", x), x.number(static_cast<double>(p - 1)));
}

// dy * y^(1 - p), and 0 where the norm y is 0.
Term norm_scale(const Term& d_y, const Term& y, int64_t p) {
  if (p == 1) return d_y;
  const Term is_zero = equal(y, 0);
  const Term safe = where(is_zero, 1, y);
  const Term power = p == 2 ? safe : apply("Pow", safe, y.number(static_cast<double>(p - 1)));
  return where(is_zero, 0, d_y / power);
}

const OpDef kPoolGradientOps[] = {
    {.name = "AveragePoolGrad",
     .doc = "The gradient of AveragePool's input, of its shape, from that of its output.",
     .domain = "sardonyx",
     .since = 1,
     .signature = "(dY: T, shape: int64) -> (dX: T)",
     .types = {{"T", kFloats}},
     .attrs = attr_schema<AveragePoolAttrs>(),
     .infer = infer_average_pool_grad,
     .body = average_pool_grad_body,
     .grad = average_pool_grad_grad,
     .shape_inputs = 0b10,
     .layout = LayoutRole::kImage,
     .samples = average_grad_samples},
    {.name = "MaxPoolGrad",
     .doc = "The gradient of MaxPool's input, of its shape: each output's goes to the first "
            "largest element of its window.",
     .domain = "sardonyx",
     .since = 1,
     .signature = "(dY: T, X: T) -> (dX: T)",
     .types = {{"T", kFloats}},
     .attrs = attr_schema<MaxPoolAttrs>(),
     .infer = infer_max_pool_grad,
     .body = max_pool_grad_body,
     .grad = max_pool_grad_grad,
     .layout = LayoutRole::kImage,
     .samples = max_grad_samples},
};

}  // namespace

Vals average_pool_grad(Emitter& e, const GradCall& call) {
  return {call_with(e, "sardonyx::AveragePoolGrad",
                    {call.d_outputs[0], shape_of(e, call.inputs[0])}, call.raw_attrs)};
}

// The gradient of MaxPool: of equal elements the first one in a window takes it, as its index says.
Vals max_pool_grad(Emitter& e, const GradCall& call) {
  if (!call.has_d(0)) return {};
  return {
      call_with(e, "sardonyx::MaxPoolGrad", {call.d_outputs[0], call.inputs[0]}, call.raw_attrs)};
}

Vals lp_pool_grad(Emitter& e, const GradCall& call) {
  const auto& attrs = call.attrs<LpPoolAttrs>();
  const Term x = input(e, call, 0), y = output(e, call, 0);
  const WindowValues window = window_values(e, window_spec(call.op.name, attrs), dims_of(e, x, 2),
                                            dims_of(e, y, 2), e.int64s(attrs.kernel_shape));
  const Term scaled = norm_scale(d_output(e, call, 0), y, attrs.p);
  const Term spread{&e, spread_evenly(e, scaled, shape_of(e, x), window, attrs.kernel_shape)};
  return {(spread * norm_slope(x, attrs.p)).val};
}

Vals global_average_pool_grad(Emitter& e, const GradCall& call) {
  const Val &x = call.inputs[0], &d_y = call.d_outputs[0];
  const DType dtype = e.type(x).dtype;
  const Val size = product_of(e, dims_of(e, x, 2));
  // The size itself may be more than a small float holds.
  const DType wide = dtype == DType::kDouble ? DType::kDouble : DType::kFloat;
  const Val real = call_folded(e, "Cast", {size}, {{"to", static_cast<int64_t>(wide)}});
  const Val share = call_folded(e, "Cast", {call_folded(e, "Reciprocal", {real})},
                                {{"to", static_cast<int64_t>(dtype)}});
  return {e.call("Expand", {e.call("Mul", {d_y, share}), shape_of(e, x)})};
}

// The gradient of GlobalMaxPool: of equal elements the first one of a channel takes it.
Vals global_max_pool_grad(Emitter& e, const GradCall& call) {
  const Val &x = call.inputs[0], &d_y = call.d_outputs[0];
  const Val images = dims_of(e, x, 0, 2);
  const Val lists = joined_lists(e, {images, product_of(e, dims_of(e, x, 2))});
  const Val at = e.call("ArgMax", {reshaped(e, x, lists)}, {{"axis", int64_t{2}}});
  const Val picked = reshaped(e, d_y, joined_lists(e, {images, e.int64s({1})}));
  const Val sums = e.call("ScatterElements", {filled(e, lists, e.type(x).dtype, 0), at, picked},
                          {{"axis", int64_t{2}}});
  return {reshape_like(e, sums, x)};
}

Vals global_lp_pool_grad(Emitter& e, const GradCall& call) {
  const int64_t p = call.attrs<GlobalLpPoolAttrs>().p;
  const Term x = input(e, call, 0);
  return {(norm_scale(d_output(e, call, 0), output(e, call, 0), p) * norm_slope(x, p)).val};
}

// Indices count the elements of the shape that the attributes give, which is at the beginning of
// a larger output. Where two elements were written to one place, each gets its gradient.
Vals max_unpool_grad(Emitter& e, const GradCall& call) {
  const auto& attrs = call.attrs<MaxUnpoolAttrs>();
  const Val &x = call.inputs[0], &indices = call.inputs[1];
  Val d_y = call.d_outputs[0];
  if (call.has(2)) {
    const size_t rank = attrs.kernel_shape.size();
    const WindowSpec spec{
        .op = call.op.name, .strides = given_ints(attrs.strides), .pads = given_ints(attrs.pads)};
    const Val in = dims_of(e, x, 2);
    const WindowValues window = window_values(e, spec, in, in, e.int64s(attrs.kernel_shape));
    const Val natural = call_folded(e, "Sub", {window.full, window_padding(e, spec, window)});
    d_y = e.call("Slice",
                 {d_y, e.int64s(Ints(rank, 0)), natural, e.int64s(axes_between(2, rank + 2))});
  }
  return {e.call("Gather", {flat(e, d_y), indices})};
}

std::span<const OpDef> pool_gradient_ops() {
  return kPoolGradientOps;
}

}  // namespace sardonyx::ops
