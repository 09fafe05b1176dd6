#include "ir/ops/normalization/normalization_gradient.h"

#include <algorithm>

#include "ir/ops/gradient/gradient_rules.h"
#include "ir/ops/inference/shape_arithmetic.h"
#include "ir/ops/normalization/batch_group_norm.h"

namespace sardonyx::ops {

namespace {

using Ints = std::vector<int64_t>;

// The type in which statistics of these types are computed.
DType wide_type(std::initializer_list<Term> terms) {
  const bool any_double =
      std::ranges::any_of(terms, [](const Term& term) { return term.dtype() == DType::kDouble; });
  return any_double ? DType::kDouble : DType::kFloat;
}

Term mean_over(const Term& x, const Ints& axes) {
  return {x.e, x.e->call("ReduceMean", {x, x.e->int64s(axes)})};
}

Term total_over(const Term& x, const Ints& axes, bool keepdims) {
  return {x.e, x.e->call("ReduceSum", {x, x.e->int64s(axes)}, {{"keepdims", int64_t{keepdims}}})};
}

Term reciprocal_root(const Term& x) {
  return apply("Reciprocal", apply("Sqrt", x));
}

// (x - mean) / sqrt(variance + epsilon) over some axes.
struct Standardized {
  Ints axes;
  Term centered, inverse, x;  // x: the result
};
Standardized standardize(const Term& x, const Ints& axes, double epsilon, bool is_centered = true) {
  const Term centered = is_centered ? x - mean_over(x, axes) : x;
  const Term inverse = reciprocal_root(mean_over(square(centered), axes) + epsilon);
  return {axes, centered, inverse, centered * inverse};
}

// The gradient of what was standardized, by that of the result.
Term unstandardize(const Standardized& s, const Term& d, bool is_centered = true) {
  const Term along = s.x * mean_over(d * s.x, s.axes);
  const Term rest = is_centered ? d - mean_over(d, s.axes) : d;
  return s.inverse * (rest - along);
}

// A list of one number per channel, in the form that broadcasts along axis 1.
Term per_channel(const Term& list, size_t rank) {
  if (rank <= 2) return list;
  return {list.e, list.e->call("Unsqueeze", {list, list.e->int64s(axes_between(1, rank - 1))})};
}

// All axes but that of the channels; a tensor of rank 1 has one channel.
Ints channel_axes(size_t rank) {
  Ints axes{0};
  for (size_t axis = 2; axis < rank; ++axis)
    axes.push_back(static_cast<int64_t>(axis));
  return axes;
}

Term sum_per_channel(const Term& x, size_t rank) {
  return total_over(x, channel_axes(rank), rank == 1);
}

// The number of elements in `axes` of x.
Term count_over(const Term& x, const Ints& axes, DType dtype) {
  Emitter& e = *x.e;
  const Val sizes = call_folded(e, "Gather", {dims_of(e, x, 0), e.int64s(axes)});
  const Val count = call_folded(e, "ReduceProd", {sizes}, {{"keepdims", int64_t{0}}});
  return {&e, call_folded(e, "Cast", {count}, {{"to", static_cast<int64_t>(dtype)}})};
}

// BatchNormalization

struct BatchCall {
  size_t rank;
  DType wide;
  Term x, scale;  // in the wide type; scale as it broadcasts
  double epsilon, momentum;
};

Vals cast_like_inputs(const GradCall& call, std::vector<Term> found) {
  Vals vals;
  for (size_t i = 0; i < found.size(); ++i) {
    if (!found[i].val || !call.has(i)) {
      vals.emplace_back();
      continue;
    }
    Emitter& e = *found[i].e;
    vals.push_back(cast(found[i], e.type(call.inputs[i]).dtype));
  }
  return vals;
}

// With given statistics, which pass through to the running ones as they are.
std::vector<Term> batch_grads_of_given(Emitter& e, const GradCall& call, const BatchCall& batch) {
  const Term mean = per_channel(cast(input(e, call, 3), batch.wide), batch.rank);
  const Term variance = per_channel(cast(input(e, call, 4), batch.wide), batch.rank);
  const Term inverse = reciprocal_root(variance + batch.epsilon);
  std::vector<Term> found(5, Term{&e, {}});
  const auto add = [&](size_t index, const Term& part) {
    found[index] = found[index].val ? found[index] + part : part;
  };
  if (call.has_d(0)) {
    const Term d_y = cast(d_output(e, call, 0), batch.wide);
    const Term centered = batch.x - mean;
    const Term slope = batch.scale * inverse;
    if (call.wants(0)) add(0, d_y * slope);
    if (call.wants(1)) add(1, sum_per_channel(d_y * centered * inverse, batch.rank));
    if (call.wants(2)) add(2, sum_per_channel(d_y, batch.rank));
    if (call.wants(3)) add(3, -sum_per_channel(d_y * slope, batch.rank));
    if (call.wants(4)) {
      add(4, sum_per_channel(d_y * centered * slope * square(inverse) * -0.5, batch.rank));
    }
  }
  for (const size_t output : {1, 2}) {
    if (call.has_d(output) && call.wants(output + 2))
      add(output + 2, cast(d_output(e, call, output), batch.wide));
  }
  return found;
}

// With the statistics of the batch, which also go into the running ones.
std::vector<Term> batch_grads_in_training(Emitter& e, const GradCall& call,
                                          const BatchCall& batch) {
  std::vector<Term> found(5, Term{&e, {}});
  const auto add = [&](size_t index, const Term& part) {
    found[index] = found[index].val ? found[index] + part : part;
  };
  if (call.has_d(0) && (call.wants(0) || call.wants(1) || call.wants(2))) {
    const Val inputs[] = {call.d_outputs[0], call.inputs[0], call.inputs[1]};
    const InstanceNormalizationAttrs attrs{static_cast<float>(batch.epsilon)};
    const Vals parts =
        e.emit(op_named("sardonyx::BatchNormalizationGrad"), inputs, Attrs(attrs), 3);
    for (size_t i = 0; i < parts.size(); ++i)
      add(i, cast({&e, parts[i]}, batch.wide));
  }
  const Ints axes = channel_axes(batch.rank);
  const double share = 1 - batch.momentum;
  for (const size_t output : {1, 2}) {
    if (!call.has_d(output)) continue;
    const Term d = cast(d_output(e, call, output), batch.wide);
    if (call.wants(output + 2)) add(output + 2, d * batch.momentum);
    if (!call.wants(0)) continue;
    const Term part = per_channel(d, batch.rank) * share / count_over(batch.x, axes, batch.wide);
    add(0, output == 1 ? part * Term{&e, full_like(e, batch.x, 1)}
                       : part * 2 * (batch.x - mean_over(batch.x, axes)));
  }
  return found;
}

// dY must have the shape of X.
void require_same_shapes(InferContext& c) {
  const Dims *d_y = c.shape(0), *x = c.shape(1);
  if (!d_y || !x) return;
  c.require(d_y->size() == x->size(), "expected dY and X of one rank, got ", d_y->size(), " and ",
            x->size());
  for (size_t axis = 0; axis < x->size(); ++axis)
    c.merged((*d_y)[axis], (*x)[axis], "dims of dY and X");
}

void infer_batch_normalization_grad(InferContext& c) {
  require_same_shapes(c);
  c.require_rank(2, 1);
  const Dims *x = c.shape(1), *scale = c.shape(2);
  if (x && x->empty()) c.fail_input(1, "expected at least rank 1");
  if (x && scale)
    c.merged(x->size() > 1 ? (*x)[1] : Dim(1), (*scale)[0], "channels of X and scale");
  c.set(0, c.type(1));
  for (const size_t output : {1, 2})
    c.set(output, c.type(2));
}

void infer_group_normalization_grad(InferContext& c) {
  const int64_t groups = c.attrs<GroupNormalizationGradAttrs>().num_groups;
  c.require(groups >= 0, "num_groups: expected at least 0, got ", groups);
  const Dims* x = c.shape(1);
  if (x && x->size() < 2) c.fail_input(1, "expected at least rank 2");
  if (x && groups > 0 && (*x)[1].is_known() && (*x)[1].value() % groups != 0)
    c.fail_input(1, text((*x)[1].value(), " channels do not make ", groups, " groups"));
  infer_batch_normalization_grad(c);
}

Vals batch_normalization_grad_body(Emitter& e, const BodyCall& c) {
  const Term x{&e, c.inputs[1]}, scale{&e, c.inputs[2]};
  const size_t rank = rank_of(e, x, c.op.name);
  const DType wide = wide_type({x, scale});
  const Term d_y = cast({&e, c.inputs[0]}, wide);
  const Standardized normal =
      standardize(cast(x, wide), channel_axes(rank), c.attrs<InstanceNormalizationAttrs>().epsilon);
  const Term d_x = unstandardize(normal, d_y * per_channel(cast(scale, wide), rank));
  return {cast(d_x, x.dtype()), cast(sum_per_channel(d_y * normal.x, rank), scale.dtype()),
          cast(sum_per_channel(d_y, rank), scale.dtype())};
}

// The gradient of Instance- and GroupNormalization: statistics are over the axes from 2 on, or over
// all of a group of channels.
Vals group_normalization_grad_body(Emitter& e, const BodyCall& c) {
  const auto& attrs = c.attrs<GroupNormalizationGradAttrs>();
  const Term x{&e, c.inputs[1]}, scale{&e, c.inputs[2]};
  const size_t rank = rank_of(e, x, c.op.name);
  const DType wide = wide_type({x});
  const Term d_y = cast({&e, c.inputs[0]}, wide);
  Val view;
  if (attrs.num_groups > 0) {
    const Val groups = e.int64s({attrs.num_groups});
    const Val rest = call_folded(e, "ReduceProd", {dims_of(e, x, 1)}, {{"keepdims", int64_t{1}}});
    view = joined_lists(e, {dims_of(e, x, 0, 1), groups, call_folded(e, "Div", {rest, groups})});
  }
  const auto viewed = [&](const Term& term) {
    return view ? Term{&e, e.call("Reshape", {term, view}, {{"allowzero", int64_t{1}}})} : term;
  };
  const Standardized normal =
      standardize(viewed(cast(x, wide)), axes_between(2, view ? 3 : rank), attrs.epsilon);
  const Term d_x = unstandardize(normal, viewed(d_y * per_channel(cast(scale, wide), rank)));
  const Term plain{&e, reshape_like(e, normal.x, x)};
  return {cast({&e, reshape_like(e, d_x, x)}, x.dtype()),
          cast(sum_per_channel(d_y * plain, rank), scale.dtype()),
          cast(sum_per_channel(d_y, rank), scale.dtype())};
}

Vals grouped_grads(Emitter& e, const GradCall& call, const GroupNormalizationGradAttrs& attrs) {
  const Val inputs[] = {call.d_outputs[0], call.inputs[0], call.inputs[1]};
  return e.emit(op_named("sardonyx::GroupNormalizationGrad"), inputs, Attrs(attrs), 3);
}

Ints normalized_axes_of(const Ints& axes, size_t rank) {
  Ints found;
  for (const int64_t axis : axes)
    found.push_back(axis < 0 ? axis + static_cast<int64_t>(rank) : axis);
  return found;
}

size_t first_axis(int64_t axis, size_t rank) {
  return static_cast<size_t>(axis < 0 ? axis + static_cast<int64_t>(rank) : axis);
}

Vals layer_normalization_grad_body(Emitter& e, const BodyCall& c) {
  const auto& attrs = c.attrs<RowNormalizationGradAttrs>();
  const Term x{&e, c.inputs[1]}, scale{&e, c.inputs[2]};
  const size_t rank = rank_of(e, x, c.op.name);
  const DType wide = wide_type({x, scale});
  const Term d_y = cast({&e, c.inputs[0]}, wide);
  const Ints axes = axes_between(first_axis(attrs.axis, rank), rank);
  const Standardized normal = standardize(cast(x, wide), axes, attrs.epsilon, attrs.is_centered);
  const Term d_x = unstandardize(normal, d_y * cast(scale, wide), attrs.is_centered);
  const Term d_scale{&e, sum_to(e, d_y * normal.x, scale)};
  return {cast(d_x, x.dtype()), cast(d_scale, scale.dtype())};
}

void infer_layer_normalization_grad(InferContext& c) {
  require_same_shapes(c);
  const Type& x = c.type(1);
  if (x.shape) c.normalized_axis(c.attrs<RowNormalizationGradAttrs>().axis, x.rank());
  c.set(0, x);
  c.set(1, c.type(2));
}

// LayerNormalization and RMSNormalization: inputs X, scale and perhaps a bias; gradients of the
// statistics that LayerNormalization gives go to X alone.
Vals row_grads(Emitter& e, const GradCall& call, bool is_centered) {
  const auto& attrs = call.attrs<LayerNormalizationAttrs>();
  const Term x = input(e, call, 0);
  const DType wide = wide_type({x, input(e, call, 1)});
  std::vector<Term> found(3, Term{&e, {}});
  const auto add = [&](const Term& part) { found[0] = found[0].val ? found[0] + part : part; };
  if (call.has_d(0)) {
    const Val inputs[] = {call.d_outputs[0], call.inputs[0], call.inputs[1]};
    const Vals parts =
        e.emit(op_named("sardonyx::LayerNormalizationGrad"), inputs,
               Attrs(RowNormalizationGradAttrs{attrs.axis, attrs.epsilon, is_centered}), 2);
    if (call.wants(0)) add(cast({&e, parts[0]}, wide));
    if (call.wants(1)) found[1] = {&e, parts[1]};
    if (call.wants(2)) {
      const Term d_y = cast(d_output(e, call, 0), wide);
      found[2] = {&e, sum_to(e, d_y, call.inputs[2])};
    }
  }
  if (!call.has_d(1) && !call.has_d(2)) return cast_like_inputs(call, found);
  const size_t rank = rank_of(e, x, call.op.name);
  const Ints axes = axes_between(first_axis(attrs.axis, rank), rank);
  const Term count = count_over(x, axes, wide);
  if (call.has_d(1)) {
    const Term d_mean = cast(d_output(e, call, 1), wide) / count;
    add({&e, e.call("Expand", {d_mean, shape_of(e, x)})});
  }
  if (call.has_d(2)) {
    const Standardized normal = standardize(cast(x, wide), axes, attrs.epsilon);
    const Term d_inverse = cast(d_output(e, call, 2), wide) / count;
    add(-(d_inverse * square(normal.inverse) * normal.x));
  }
  return cast_like_inputs(call, found);
}

std::vector<Sample> batch_grad_samples() {
  return {{{{{2, 3, 4, 5}}, {{2, 3, 4, 5}}, {{3}}}, {{"epsilon", 1e-2f}}, 3},
          {{{{4, 2}}, {{4, 2}}, {{2}}}, {}, 3},
          {{{{6, 5, 30}}, {{6, 5, 30}}, {{5}}}, {}, 3}};
}

std::vector<Sample> layer_grad_samples() {
  return {{{{{2, 3, 4}}, {{2, 3, 4}}, {{4}}}, {}, 2},
          {{{{2, 3, 4}}, {{2, 3, 4}}, {{3, 4}}},
           {{"axis", int64_t{1}}, {"epsilon", 0.1f}, {"is_centered", int64_t{0}}},
           2},
          {{{{2, 3, 4}}, {{2, 3, 4}}, {{3, 1}}}, {{"axis", int64_t{0}}}, 2},
          {{{{9, 70}}, {{9, 70}}, {{70}}}, {}, 2}};
}

std::vector<Sample> group_grad_samples() {
  const AttrMap two{{"num_groups", int64_t{2}}, {"epsilon", 1e-2f}};
  return {{{{{2, 4, 3, 5}}, {{2, 4, 3, 5}}, {{4}}}, two, 3},
          {{{{3, 6}}, {{3, 6}}, {{6}}}, two, 3},
          {{{{2, 4, 30}}, {{2, 4, 30}}, {{4}}}, {}, 3},
          {{{{2, 4, 30}}, {{2, 4, 30}}, {.shape = {4}, .low = 0, .high = 0}}, two, 3}};
}

const OpDef kNormalizationGradientOps[] = {
    {.name = "BatchNormalizationGrad",
     .doc = "The gradients of BatchNormalization's input, scale and bias in training mode.",
     .domain = "sardonyx",
     .since = 1,
     .signature = "(dY: T, X: T, scale: T1) -> (dX: T, d_scale: T1, d_bias: T1)",
     .types = {{"T", kFloats}, {"T1", kFloats}},
     .attrs = attr_schema<InstanceNormalizationAttrs>(),
     .infer = infer_batch_normalization_grad,
     .body = batch_normalization_grad_body,
     .samples = batch_grad_samples},
    {.name = "GroupNormalizationGrad",
     .doc = "The gradients of GroupNormalization's input, scale and bias.",
     .domain = "sardonyx",
     .since = 1,
     .signature = "(dY: T, X: T, scale: T1) -> (dX: T, d_scale: T1, d_bias: T1)",
     .types = {{"T", kFloats}, {"T1", kFloats}},
     .attrs = attr_schema<GroupNormalizationGradAttrs>(),
     .infer = infer_group_normalization_grad,
     .body = group_normalization_grad_body,
     .samples = group_grad_samples},
    {.name = "LayerNormalizationGrad",
     .doc = "The gradients of LayerNormalization's or RMSNormalization's input and scale.",
     .domain = "sardonyx",
     .since = 1,
     .signature = "(dY: V, X: T, scale: V) -> (dX: T, d_scale: V)",
     .types = {{"T", kFloats}, {"V", kFloats}},
     .attrs = attr_schema<RowNormalizationGradAttrs>(),
     .infer = infer_layer_normalization_grad,
     .body = layer_normalization_grad_body,
     .samples = layer_grad_samples},
};

// The mean square of each element's neighbours along the channels, `before` of them before it.
Term channel_means(const Term& x, int64_t before, int64_t after) {
  Emitter& e = *x.e;
  const Val channels = dims_of(e, x, 1, 2);
  const Val size = call_folded(e, "ReduceProd", {dims_of(e, x, 2)}, {{"keepdims", int64_t{1}}});
  const Val image = joined_lists(e, {dims_of(e, x, 0, 1), e.int64s({1}), channels, size});
  const Val planes = e.call("Reshape", {x, image}, {{"allowzero", int64_t{1}}});
  const Val means = e.call("AveragePool", {planes},
                           {{"kernel_shape", Ints{before + after + 1, 1}},
                            {"pads", Ints{before, 0, after, 0}},
                            {"count_include_pad", int64_t{1}}});
  return {&e, reshape_like(e, means, x)};
}

}  // namespace

Vals batch_normalization_grad(Emitter& e, const GradCall& call) {
  const auto& attrs = call.attrs<BatchNormalizationAttrs>();
  const Term x = input(e, call, 0), scale = input(e, call, 1);
  const size_t rank = rank_of(e, x, call.op.name);
  const DType wide = wide_type({x, scale, input(e, call, 3), input(e, call, 4)});
  const BatchCall batch{rank,          wide,
                        cast(x, wide), per_channel(cast(scale, wide), rank),
                        attrs.epsilon, attrs.momentum};
  return cast_like_inputs(call, attrs.training_mode ? batch_grads_in_training(e, call, batch)
                                                    : batch_grads_of_given(e, call, batch));
}

Vals instance_normalization_grad(Emitter& e, const GradCall& call) {
  return grouped_grads(e, call, {call.attrs<InstanceNormalizationAttrs>().epsilon, 0});
}

Vals group_normalization_grad(Emitter& e, const GradCall& call) {
  const auto& attrs = call.attrs<GroupNormalizationAttrs>();
  return grouped_grads(e, call, {attrs.epsilon, attrs.num_groups});
}

// y = (x - mean) / (deviation + 1e-9)
Vals mean_variance_normalization_grad(Emitter& e, const GradCall& call) {
  const Term x = input(e, call, 0);
  const DType wide = wide_type({x});
  const Ints axes = normalized_axes_of(call.attrs<MeanVarianceNormalizationAttrs>().axes,
                                       rank_of(e, x, call.op.name));
  const Term values = cast(x, wide), d_y = cast(d_output(e, call, 0), wide);
  const Term centered = values - mean_over(values, axes);
  const Term variance = mean_over(square(centered), axes);
  const Term deviation = apply("Sqrt", where(variance > 0, variance, 1));
  const Term divisor = where(variance > 0, deviation + 1e-9, 1e-9);
  const Term along = centered * mean_over(d_y * centered, axes) / (deviation * square(divisor));
  const Term d_centered = d_y / divisor - along;
  return {cast(d_centered - mean_over(d_centered, axes), x.dtype())};
}

// y = x s^-beta, where s = bias + alpha * mean of the squares of size neighbours.
Vals lrn_grad(Emitter& e, const GradCall& call) {
  const auto& attrs = call.attrs<LrnAttrs>();
  const Term x = input(e, call, 0);
  const DType wide = wide_type({x});
  const int64_t before = (attrs.size - 1) / 2, after = attrs.size / 2;
  const double alpha = attrs.alpha, beta = attrs.beta;
  const Term values = cast(x, wide), d_y = cast(d_output(e, call, 0), wide);
  const Term s =
      channel_means(square(values), before, after) * alpha + static_cast<double>(attrs.bias);
  const Term power = apply("Pow", s, s.number(-beta));
  const Term spread = channel_means(d_y * values * power / s, after, before);
  return {cast(d_y * power - values * spread * (2 * alpha * beta), x.dtype())};
}

Vals layer_normalization_grad(Emitter& e, const GradCall& call) {
  return row_grads(e, call, true);
}

Vals rms_normalization_grad(Emitter& e, const GradCall& call) {
  return row_grads(e, call, false);
}

// y = x / norm, and 0 where the norm is 0.
Vals lp_normalization_grad(Emitter& e, const GradCall& call) {
  const auto& attrs = call.attrs<LpNormalizationAttrs>();
  const Term x = input(e, call, 0), d_y = d_output(e, call, 0);
  const Ints axis{attrs.axis};
  const Term sum = total_over(attrs.p == 1 ? apply("Abs", x) : square(x), axis, true);
  const Term is_zero = equal(sum, 0);
  const Term safe = where(is_zero, 1, sum);
  const Term norm = attrs.p == 1 ? safe : apply("Sqrt", safe);
  const Term slope = attrs.p == 1 ? apply("Sign", x) : x / norm;
  const Term along = total_over(d_y * x, axis, true) / square(norm);
  return {where(is_zero, 0, d_y / norm - slope * along)};
}

Vals dropout_grad(Emitter& e, const GradCall& call) {
  const Term d_y = d_output(e, call, 0);
  if (!call.has(2)) return {d_y};  // not in training: nothing is dropped
  if (const auto training = e.constant_value(call.inputs[2])) {
    if (training->to_doubles()[0] == 0) return {d_y};
  }
  if (call.outputs.size() < 2 || !call.outputs[1]) {
    fail(ErrorCode::kUnsupported,
         "which elements were dropped is not known; ask for the output mask as well");
  }
  const Term mask = output(e, call, 1);
  const Term ratio = call.has(1) ? cast(input(e, call, 1), d_y.dtype()) : d_y.number(0.5);
  const Term kept = 1 - ratio;
  const Term scaled = d_y / where(equal(kept, 0), 1, kept);
  return {where({&e, call.inputs[2]}, where(mask, scaled, 0), d_y)};
}

std::span<const OpDef> normalization_gradient_ops() {
  return kNormalizationGradientOps;
}

}  // namespace sardonyx::ops
