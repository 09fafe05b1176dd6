#include "ir/ops/conv/conv_gradient.h"

#include <algorithm>

#include "ir/autodiff/autodiff.h"
#include "ir/ops/conv/conv_inference.h"
#include "ir/ops/inference/infer.h"
#include "ir/ops/inference/shape_arithmetic.h"
#include "ir/ops/reference/samples.h"

namespace sardonyx::ops {

namespace {

using Ints = std::vector<int64_t>;

Val sum_of(Emitter& e, const Val& a, const Val& b) {
  return call_folded(e, "Add", {a, b});
}
Val difference(Emitter& e, const Val& a, const Val& b) {
  return call_folded(e, "Sub", {a, b});
}

bool is_same(std::string_view auto_pad) {
  return auto_pad == "SAME_UPPER" || auto_pad == "SAME_LOWER";
}

Ints list_or(std::span<const int64_t> list, size_t rank, int64_t otherwise) {
  return list.empty() ? Ints(rank, otherwise) : Ints(list.begin(), list.end());
}

// The first half of `total` padding, which for SAME_UPPER is the smaller one.
Val first_half(Emitter& e, std::string_view auto_pad, const Val& total) {
  const Val half = call_folded(e, "Div", {total, e.int64s({2})});
  return auto_pad == "SAME_UPPER" ? half : difference(e, total, half);
}

Val begin_pads(Emitter& e, const WindowSpec& spec, size_t rank) {
  const bool has_pads = (spec.auto_pad.empty() || spec.auto_pad == "NOTSET") && !spec.pads.empty();
  return e.int64s(has_pads ? Ints(spec.pads.begin(), spec.pads.begin() + static_cast<long>(rank))
                           : Ints(rank, 0));
}

// (count - 1) * stride + extent of the kernel
Val span_of(Emitter& e, const Val& count, const Val& kernel, const Ints& strides,
            const Ints& dilations) {
  const Val one = e.int64s({1});
  const Val steps = call_folded(e, "Mul", {difference(e, count, one), e.int64s(strides)});
  const Val reach = call_folded(e, "Mul", {difference(e, kernel, one), e.int64s(dilations)});
  return sum_of(e, sum_of(e, steps, reach), one);
}

size_t spatial_rank(const Emitter& e, const Val& y, const Val& w, std::string_view op) {
  return (e.type(y).has_rank() ? e.type(y).rank() : rank_of(e, w, op)) - 2;
}

// The padding after the last element: negative where the windows end before it.
Val end_pads(Emitter& e, const WindowValues& window) {
  return difference(e, difference(e, window.full, window.in), window.begin);
}

Val padded(Emitter& e, const Val& x, const Val& begin, const Val& end, size_t rank) {
  return e.call("Pad",
                {x, joined_lists(e, {begin, end}), Val(), e.int64s(axes_between(2, rank + 2))});
}

bool all_at_least(const Ints& list, int64_t least) {
  return std::ranges::all_of(list, [&](int64_t value) { return value >= least; });
}

Ints joined_pads(const Ints& begin, const Ints& end) {
  Ints pads = begin;
  for (const int64_t pad : end)
    pads.push_back(std::max<int64_t>(pad, 0));
  return pads;
}

Val call_with(Emitter& e, std::string_view op, const Vals& inputs, Attrs attrs) {
  return e.emit(op_named(op), inputs, attrs, 1)[0];
}

// ConvInputGrad: dX of dY [N, M, out...] and W [M, C / group, kernel...].

void merge_dims(InferContext& c, const Dims& a, const Dims& b, std::string_view what) {
  SARDONYX_CHECK(a.size() == b.size());
  for (size_t i = 0; i < a.size(); ++i)
    c.merged(a[i], b[i], what);
}

void infer_conv_input_grad(InferContext& c) {
  const auto& attrs = c.attrs<ConvAttrs>();
  const auto shapes = conv_shapes(c, 0, 1, attrs.group, attrs.kernel_shape);
  const auto x = c.dims(2);
  if (!shapes) return c.set(0, c.dtype(0), x);
  c.merged(shapes->x[1], shapes->w[0], "channels of the output's gradient and the weight");
  const Dim channels = shapes->w[1] * Dim(attrs.group);
  if (!x) {
    Dims unknown = unknown_dims(c, shapes->x.size());
    unknown[0] = shapes->x[0];
    unknown[1] = channels;
    return c.set(0, c.dtype(0), std::move(unknown));
  }
  c.require(x->size() == shapes->x.size(), "shape: expected ", shapes->x.size(), " sizes, got ",
            x->size());
  c.merged((*x)[1], channels, "channels of the input and the weight");
  merge_dims(c, window_dims(window_spec(c.op().name, attrs), spatial_dims(*x), shapes->kernel),
             spatial_dims(shapes->x), "spatial dims of the output's gradient");
  c.set(0, c.dtype(0), joined(shapes->x[0], (*x)[1], spatial_dims(*x)));
}

Vals conv_input_grad_body(Emitter& e, const BodyCall& c) {
  const auto& attrs = c.attrs<ConvAttrs>();
  const Val &d_y = c.inputs[0], &w = c.inputs[1];
  const WindowValues window =
      window_values(e, window_spec(c.op.name, attrs), part_of(e, c.inputs[2], 2),
                    dims_of(e, d_y, 2), dims_of(e, w, 2));
  return {spread_windows(e, d_y, w, window, attrs.group)};
}

// <d_dx, ConvInputGrad(dY, W)> is linear in each of dY and W.
Vals conv_input_grad_grad(Emitter& e, const GradCall& call) {
  const Val &d_y = call.inputs[0], &w = call.inputs[1], &g = call.d_outputs[0];
  Vals found(3);
  if (call.wants(0)) found[0] = call_with(e, "Conv", {g, w}, call.raw_attrs);
  if (call.wants(1)) {
    found[1] = call_with(e, "sardonyx::ConvWeightGrad", {d_y, g, shape_of(e, w)}, call.raw_attrs);
  }
  return found;
}

// ConvWeightGrad: dW of dY [N, M, out...] and X [N, C, in...].

void infer_conv_weight_grad(InferContext& c) {
  const auto& attrs = c.attrs<ConvAttrs>();
  const Dims *d_y = c.shape(0), *x = c.shape(1);
  const auto w = c.dims(2);
  if (d_y && x) {
    c.require(d_y->size() == x->size() && x->size() >= 3,
              "expected inputs of one rank, at least 3, got ", d_y->size(), " and ", x->size());
    c.merged((*d_y)[0], (*x)[0], "batch of the input and the output's gradient");
  }
  if (!w || !x || !d_y) return c.set(0, c.dtype(0), w);
  c.require(attrs.group >= 1, "group: expected at least 1, got ", attrs.group);
  c.require(w->size() == x->size(), "shape: expected ", x->size(), " sizes, got ", w->size());
  c.merged((*d_y)[1], (*w)[0], "channels of the output's gradient and the weight");
  c.merged((*x)[1], (*w)[1] * Dim(attrs.group), "channels of the input and the weight");
  require_divides(c, attrs.group, (*w)[0], "group", "output channels");
  merge_dims(c, window_dims(window_spec(c.op().name, attrs), spatial_dims(*x), spatial_dims(*w)),
             spatial_dims(*d_y), "spatial dims of the output's gradient");
  c.set(0, c.dtype(0), *w);
}

// [N, group * C, ...] to [C, group * N, ...]: batch and channels exchanged within each group.
Val batch_as_channels(Emitter& e, const Val& x, int64_t group, size_t rank) {
  Ints order{1, 0};
  if (group == 1) {
    for (size_t axis = 2; axis < rank; ++axis)
      order.push_back(static_cast<int64_t>(axis));
    return e.call("Transpose", {x}, {{"perm", order}});
  }
  const Val spatial = dims_of(e, x, 2), batch = dims_of(e, x, 0, 1);
  const Val members = call_folded(e, "Div", {dims_of(e, x, 1, 2), e.int64s({group})});
  const Val split = joined_lists(e, {batch, e.int64s({group}), members, spatial});
  const Val merged =
      joined_lists(e, {members, call_folded(e, "Mul", {batch, e.int64s({group})}), spatial});
  order = {2, 1, 0};
  for (size_t axis = 3; axis < rank + 1; ++axis)
    order.push_back(static_cast<int64_t>(axis));
  const AttrMap exact{{"allowzero", int64_t{1}}};
  const Val parts = e.call("Reshape", {x, split}, exact);
  return e.call("Reshape", {e.call("Transpose", {parts}, {{"perm", order}}), merged}, exact);
}

// dW[m, c, k] = sum over n and o of dY[n, m, o] X[n, c, o * stride + k * dilation - begin]: a
// convolution in which batch and channels, strides and dilations have changed places.
Vals conv_weight_grad_body(Emitter& e, const BodyCall& c) {
  const auto& attrs = c.attrs<ConvAttrs>();
  const Val &d_y = c.inputs[0], &x = c.inputs[1];
  const size_t rank = rank_of(e, d_y, c.op.name);
  const Val kernel = part_of(e, c.inputs[2], 2);
  const WindowValues window =
      window_values(e, window_spec(c.op.name, attrs), dims_of(e, x, 2), dims_of(e, d_y, 2), kernel);
  ConvAttrs swapped{.dilations = window.strides, .group = attrs.group, .strides = window.dilations};
  const auto begin = known_list(e, window.begin), end = known_list(e, end_pads(e, window));
  const bool is_static = begin && end && all_at_least(*begin, 0);
  if (is_static) swapped.pads = joined_pads(*begin, *end);
  const Val image = batch_as_channels(e, is_static ? x : framed(e, x, window), attrs.group, rank);
  const Val found = call_with(e, "Conv", {image, batch_as_channels(e, d_y, 1, rank)}, swapped);
  const Val d_w = batch_as_channels(e, found, 1, rank);
  // With elements that no window reads, more taps may fit.
  if (!is_static || all_at_least(*end, 0)) return {d_w};
  return {
      e.call("Slice", {d_w, e.int64s(Ints(rank - 2, 0)), kernel, e.int64s(axes_between(2, rank))})};
}

Vals conv_weight_grad_grad(Emitter& e, const GradCall& call) {
  const Val &d_y = call.inputs[0], &x = call.inputs[1], &g = call.d_outputs[0];
  Vals found(3);
  if (call.wants(0)) found[0] = call_with(e, "Conv", {x, g}, call.raw_attrs);
  if (call.wants(1)) {
    found[1] = call_with(e, "sardonyx::ConvInputGrad", {d_y, g, shape_of(e, x)}, call.raw_attrs);
  }
  return found;
}

Val bias_grad(Emitter& e, const Val& d_y, std::string_view op) {
  Ints axes = axes_between(1, rank_of(e, d_y, op));
  axes[0] = 0;
  return e.call("ReduceSum", {d_y, e.int64s(axes)}, {{"keepdims", int64_t{0}}});
}

// Triples of shapes X, W, Y and the attributes that lead from one to the other.
struct ConvSample {
  Shape x, w, y;
  AttrMap attrs;
};
std::vector<ConvSample> geometries() {
  return {
      {{2, 3, 7}, {4, 3, 3}, {2, 4, 3}, {{"strides", Ints{2}}}},
      {{2, 4, 6, 5},
       {6, 2, 3, 2},
       {2, 6, 3, 6},
       {{"group", int64_t{2}},
        {"strides", Ints{2, 1}},
        {"dilations", Ints{1, 2}},
        {"pads", Ints{1, 2, 0, 1}}}},
      {{1, 2, 6, 6},
       {3, 2, 2, 2},
       {1, 3, 3, 3},
       {{"auto_pad", std::string("SAME_LOWER")},
        {"strides", Ints{2, 2}},
        {"dilations", Ints{2, 1}}}},
      {{1, 3, 8, 8}, {3, 1, 3, 3}, {1, 3, 3, 3}, {{"group", int64_t{3}}, {"strides", Ints{2, 2}}}},
      {{1, 2, 4, 3, 4}, {2, 2, 2, 2, 2}, {1, 2, 3, 2, 3}, {}}};
}

std::vector<Sample> input_grad_samples() {
  std::vector<Sample> samples;
  for (const ConvSample& g : geometries())
    samples.push_back({{{g.y}, {g.w}, given(g.x)}, g.attrs});
  return samples;
}

std::vector<Sample> weight_grad_samples() {
  std::vector<Sample> samples;
  for (const ConvSample& g : geometries())
    samples.push_back({{{g.y}, {g.x}, given(g.w)}, g.attrs});
  return samples;
}

const OpDef kConvolutionGradientOps[] = {
    {.name = "ConvInputGrad",
     .doc = "The gradient of Conv's input, of its shape: a transposed convolution of the output's "
            "gradient.",
     .domain = "sardonyx",
     .since = 1,
     .signature = "(dY: T, W: T, shape: int64) -> (dX: T)",
     .types = {{"T", kFloats}},
     .attrs = attr_schema<ConvAttrs>(),
     .infer = infer_conv_input_grad,
     .body = conv_input_grad_body,
     .grad = conv_input_grad_grad,
     .facts = kFloat32Kernels,
     .shape_inputs = 1u << 2,
     .layout = LayoutRole::kConv,
     .samples = input_grad_samples},
    {.name = "ConvWeightGrad",
     .doc = "The gradient of Conv's weights, of their shape, summed over the batch.",
     .domain = "sardonyx",
     .since = 1,
     .signature = "(dY: T, X: T, shape: int64) -> (dW: T)",
     .types = {{"T", kFloats}},
     .attrs = attr_schema<ConvAttrs>(),
     .infer = infer_conv_weight_grad,
     .body = conv_weight_grad_body,
     .grad = conv_weight_grad_grad,
     .facts = kFloat32Kernels,
     .shape_inputs = 1u << 2,
     .layout = LayoutRole::kConv,
     .samples = weight_grad_samples},
};

// The offset of a transposed convolution's output within the full, unpadded one.
Val transposed_begin(Emitter& e, const WindowSpec& spec, const Val& full, const Val& out,
                     size_t rank) {
  if (spec.output_shape.empty() && !is_same(spec.auto_pad)) return begin_pads(e, spec, rank);
  const Val reached = sum_of(e, full, e.int64s(list_or(spec.output_padding, rank, 0)));
  const Val total = call_folded(e, "Max", {difference(e, reached, out), e.int64s({0})});
  return first_half(e, spec.auto_pad, total);
}

// The convolution whose backward a transposed one is.
struct Mirror {
  Val x;  // the gradient of the transposed one's output, perhaps padded
  ConvAttrs attrs;
};
Mirror mirror_of(Emitter& e, const GradCall& call) {
  const auto& attrs = call.attrs<ConvTransposeAttrs>();
  const Val &x = call.inputs[0], &w = call.inputs[1], &d_y = call.d_outputs[0];
  const size_t rank = spatial_rank(e, x, w, call.op.name);
  const WindowSpec spec = window_spec(call.op.name, attrs);
  WindowValues window{.in = dims_of(e, d_y, 2), .out = dims_of(e, x, 2)};
  window.strides = list_or(spec.strides, rank, 1);
  window.dilations = list_or(spec.dilations, rank, 1);
  window.full = span_of(e, window.out, dims_of(e, w, 2), window.strides, window.dilations);
  window.begin = transposed_begin(e, spec, window.full, window.in, rank);
  Mirror mirror{d_y,
                {.dilations = window.dilations, .group = attrs.group, .strides = window.strides}};
  const auto begin = known_list(e, window.begin), end = known_list(e, end_pads(e, window));
  bool is_static = begin && end && all_at_least(*begin, 0);
  for (size_t axis = 0; is_static && axis < rank; ++axis)
    is_static = (*end)[axis] > -window.strides[axis];  // else there would be more windows
  if (is_static) {
    mirror.attrs.pads = joined_pads(*begin, *end);
  } else {
    mirror.x = framed(e, d_y, window);
  }
  return mirror;
}

}  // namespace

WindowValues window_values(Emitter& e, const WindowSpec& spec, const Val& in, const Val& out,
                           const Val& kernel) {
  const Type type = e.type(kernel);
  if (!type.has_rank() || type.rank() != 1)
    fail(ErrorCode::kUnsupported, spec.op, ": the shape of the weight must be a vector, got ",
         type);
  const std::optional<int64_t> known = (*type.shape)[0].try_value();
  if (!known) fail(ErrorCode::kUnsupported, spec.op, ": the rank of the weight must be known");
  const auto rank = static_cast<size_t>(*known);
  for (const Val& sizes : {in, out}) {
    if (const auto list = known_list(e, sizes); list && list->size() != rank) {
      fail(ErrorCode::kInvalidModel, spec.op, ": the windows have ", rank,
           " spatial axes, the sizes ", list->size());
    }
  }
  WindowValues window{.in = in, .out = out};
  window.strides = list_or(spec.strides, rank, 1);
  window.dilations = list_or(spec.dilations, rank, 1);
  window.full = span_of(e, out, kernel, window.strides, window.dilations);
  if (is_same(spec.auto_pad)) {
    window.begin = first_half(e, spec.auto_pad, window_padding(e, spec, window));
  } else {
    window.begin = begin_pads(e, spec, rank);
  }
  return window;
}

Val window_padding(Emitter& e, const WindowSpec& spec, const WindowValues& window) {
  if (is_same(spec.auto_pad)) {
    return call_folded(e, "Max", {difference(e, window.full, window.in), e.int64s({0})});
  }
  const size_t rank = window.strides.size();
  Ints total(rank, 0);
  const bool has_pads = (spec.auto_pad.empty() || spec.auto_pad == "NOTSET") && !spec.pads.empty();
  for (size_t axis = 0; has_pads && axis < rank; ++axis)
    total[axis] = spec.pads[axis] + spec.pads[axis + rank];
  return e.int64s(total);
}

Val framed(Emitter& e, const Val& x, const WindowValues& window) {
  return padded(e, x, window.begin, end_pads(e, window), window.strides.size());
}

Val spread_windows(Emitter& e, const Val& y, const Val& w, const WindowValues& window,
                   int64_t group) {
  const size_t rank = window.strides.size();
  ConvTransposeAttrs attrs{
      .dilations = window.dilations, .group = group, .strides = window.strides};
  const Val after = end_pads(e, window);
  const auto begin = known_list(e, window.begin), end = known_list(e, after);
  if (begin && end && all_at_least(*begin, 0)) {
    attrs.pads = joined_pads(*begin, *end);
    Ints extra;
    for (const int64_t pad : *end)
      extra.push_back(std::max<int64_t>(-pad, 0));
    if (std::ranges::any_of(extra, [](int64_t pad) { return pad > 0; }))
      attrs.output_padding = extra;
    return call_with(e, "ConvTranspose", {y, w}, attrs);
  }
  const Val zero = e.int64s({0});
  return padded(e, call_with(e, "ConvTranspose", {y, w}, attrs), difference(e, zero, window.begin),
                difference(e, zero, after), rank);
}

Vals conv_grad(Emitter& e, const GradCall& call) {
  const Val &x = call.inputs[0], &w = call.inputs[1], &d_y = call.d_outputs[0];
  Vals found(call.inputs.size());
  if (call.wants(0)) {
    found[0] = call_with(e, "sardonyx::ConvInputGrad", {d_y, w, shape_of(e, x)}, call.raw_attrs);
  }
  if (call.wants(1)) {
    found[1] = call_with(e, "sardonyx::ConvWeightGrad", {d_y, x, shape_of(e, w)}, call.raw_attrs);
  }
  if (call.wants(2)) found[2] = bias_grad(e, d_y, call.op.name);
  return found;
}

Vals conv_transpose_grad(Emitter& e, const GradCall& call) {
  const Val &x = call.inputs[0], &w = call.inputs[1];
  Vals found(call.inputs.size());
  if (call.wants(0) || call.wants(1)) {
    const Mirror mirror = mirror_of(e, call);
    if (call.wants(0)) found[0] = call_with(e, "Conv", {mirror.x, w}, mirror.attrs);
    if (call.wants(1)) {
      found[1] =
          call_with(e, "sardonyx::ConvWeightGrad", {x, mirror.x, shape_of(e, w)}, mirror.attrs);
    }
  }
  if (call.wants(2)) found[2] = bias_grad(e, call.d_outputs[0], call.op.name);
  return found;
}

std::span<const OpDef> convolution_gradient_ops() {
  return kConvolutionGradientOps;
}

}  // namespace sardonyx::ops
