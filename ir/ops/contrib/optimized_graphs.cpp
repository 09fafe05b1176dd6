#include "ir/ops/contrib/optimized_graphs.h"

#include "ir/ops/contrib/contrib_body.h"
#include "ir/ops/inference/infer_body.h"
#include "ir/ops/inference/shape_arithmetic.h"
#include "ir/ops/reference/samples.h"

namespace sardonyx::ops {
namespace {

constexpr DTypeSet kTwoFloats{DType::kFloat16, DType::kFloat};
constexpr DTypeSet kFusedFloats{DType::kFloat16, DType::kFloat, DType::kDouble};

// --- sums with a bias ---

Vals bias_add(Emitter& e, const BodyCall& c) {
  return {e.call("Add", {e.call("Add", {c.inputs[0], c.inputs[1]}), c.inputs[2]})};
}

// The first half of X + bias times Gelu of the second.
Vals bias_split_gelu(Emitter& e, const BodyCall& c) {
  const Val sum = e.call("Add", {c.inputs[0], c.inputs[1]});
  const Dims dims = dims_of(e, sum, "X");
  if (dims.empty() || (dims.back().is_known() && dims.back().value() % 2 != 0)) {
    fail(ErrorCode::kInvalidModel, "input X: expected an even last dim, got ", e.type(c.inputs[0]));
  }
  const Vals halves =
      e.call_many("Split", Vals{sum}, {{"axis", int64_t{-1}}, {"num_outputs", int64_t{2}}}, 2);
  return {e.call("Mul", {halves[0], e.call("Gelu", {halves[1]})})};
}

struct BiasSoftmaxAttrs {
  int64_t axis = 1, is_inner_broadcast = 0;
  static auto fields() {
    return std::tuple{field("axis", &BiasSoftmaxAttrs::axis),
                      required("is_inner_broadcast", &BiasSoftmaxAttrs::is_inner_broadcast)};
  }
};

// Softmax over all dims from `axis` on. Which dims the bias is broadcast along follows from its
// shape, whatever is_inner_broadcast says.
Vals bias_softmax(Emitter& e, const BodyCall& c) {
  const auto rank = static_cast<int64_t>(input_rank(e, c.inputs[0], "data"));
  const int64_t given = c.attrs<BiasSoftmaxAttrs>().axis;
  if (given < -rank || given >= std::max<int64_t>(rank, 1)) {
    fail(ErrorCode::kInvalidModel, "attribute axis: expected -", rank, " to ", rank - 1, ", got ",
         given);
  }
  const int64_t axis = given < 0 ? given + rank : given;
  const Val sum = e.call("Add", {c.inputs[0], c.inputs[1]});
  if (axis + 1 >= rank) return {e.call("Softmax", {sum}, {{"axis", int64_t{-1}}})};
  const Val rows = e.call("Flatten", {sum}, {{"axis", axis}});
  const Val y = e.call("Softmax", {rows}, {{"axis", int64_t{-1}}});
  return {e.call("Reshape", {y, dims_of(e, sum, int64_t{0}, rank)})};
}

struct BiasDropoutAttrs {
  std::optional<int64_t> seed;
  static auto fields() { return std::tuple{field("seed", &BiasDropoutAttrs::seed)}; }
};

// Dropout(data + bias) + residual, and what was kept.
Vals bias_dropout(Emitter& e, const BodyCall& c) {
  AttrMap onnx;
  if (const auto& seed = c.attrs<BiasDropoutAttrs>().seed) onnx["seed"] = *seed;
  const auto optional = [&](size_t slot) { return c.has(slot) ? c.inputs[slot] : Val(); };
  const Vals in{e.call("Add", {c.inputs[0], c.inputs[1]}), optional(3), optional(4)};
  Vals out = e.call_many("Dropout", in, onnx, c.output_count);
  if (c.has(2)) out[0] = e.call("Add", {out[0], c.inputs[2]});
  return out;
}

// --- group normalisation of images ---

struct ContribGroupNormAttrs {
  int64_t activation = 0, channels_last = 1;
  float epsilon = 1e-5f;
  int64_t groups = 0;
  static auto fields() {
    using A = ContribGroupNormAttrs;
    return std::tuple{required("activation", &A::activation),
                      field("channels_last", &A::channels_last), field("epsilon", &A::epsilon),
                      required("groups", &A::groups)};
  }
};

// 4-D x normalised in float32, times gamma plus beta, and perhaps its SiLU.
Val group_normalized(Emitter& e, const Val& x, const Val& gamma, const Val& beta,
                     const ContribGroupNormAttrs& attrs) {
  if (attrs.activation != 0 && attrs.activation != 1) {
    fail(ErrorCode::kInvalidModel, "attribute activation: expected 0 (none) or 1 (SiLU), got ",
         attrs.activation);
  }
  if (input_rank(e, x, "X") != 4)
    fail(ErrorCode::kInvalidModel, "input X: expected 4 dims, got ", e.type(x));
  const auto wide = [&](const Val& v) { return cast_to(e, v, DType::kFloat); };
  const bool is_last = attrs.channels_last != 0;
  const Val image = is_last ? transpose(e, wide(x), {0, 3, 1, 2}) : wide(x);
  Val y = e.call("GroupNormalization", {image, wide(gamma), wide(beta)},
                 {{"epsilon", attrs.epsilon}, {"num_groups", attrs.groups}});
  if (attrs.activation == 1) y = e.call("Mul", {y, e.call("Sigmoid", {y})});
  return cast_to(e, is_last ? transpose(e, y, {0, 2, 3, 1}) : y, e.type(x).dtype);
}

Vals contrib_group_norm(Emitter& e, const BodyCall& c) {
  return {
      group_normalized(e, c.inputs[0], c.inputs[1], c.inputs[2], c.attrs<ContribGroupNormAttrs>())};
}

// One element for each channel, [C] or [N, C], as one that broadcasts to images.
Val beside_channels(Emitter& e, const Val& x, bool is_last, std::string_view name) {
  const auto rank = static_cast<int64_t>(input_rank(e, x, name));
  if (rank > 2) return x;
  std::vector<int64_t> axes;
  if (rank == 2 && is_last) axes = {1, 2};
  if (rank == 2 && !is_last) axes = {2, 3};
  if (rank == 1 && !is_last) axes = {1, 2};
  return axes.empty() ? x : unsqueeze(e, x, axes);
}

Vals skip_group_norm(Emitter& e, const BodyCall& c) {
  const auto& attrs = c.attrs<ContribGroupNormAttrs>();
  const bool is_last = attrs.channels_last != 0;
  Val sum = e.call("Add", {c.inputs[0], beside_channels(e, c.inputs[3], is_last, "skip")});
  if (c.has(4)) sum = e.call("Add", {sum, beside_channels(e, c.inputs[4], is_last, "bias")});
  Vals out{group_normalized(e, sum, c.inputs[1], c.inputs[2], attrs)};
  if (c.output_count > 1) out.push_back(sum);
  return out;
}

// --- numbers ---

struct IsAllFiniteAttrs {
  int64_t isinf_only = 0, isnan_only = 0;
  static auto fields() {
    return std::tuple{field("isinf_only", &IsAllFiniteAttrs::isinf_only),
                      field("isnan_only", &IsAllFiniteAttrs::isnan_only)};
  }
};

// false where any element is infinite or NaN, or the one kind that is looked for.
Vals is_all_finite(Emitter& e, const BodyCall& c) {
  const auto& attrs = c.attrs<IsAllFiniteAttrs>();
  if (attrs.isinf_only && attrs.isnan_only) {
    fail(ErrorCode::kInvalidModel, "attributes isinf_only and isnan_only: expected one of them at ",
         "most");
  }
  Val found;
  for (const Val& x : c.inputs) {
    const Val nan = attrs.isinf_only ? Val() : e.call("IsNaN", {x});
    const Val infinite = attrs.isnan_only ? Val() : e.call("IsInf", {x});
    const Val bad = !nan ? infinite : !infinite ? nan : e.call("Or", {nan, infinite});
    const Val count =
        e.call("ReduceSum", {cast_to(e, bad, DType::kInt64)}, {{"keepdims", int64_t{0}}});
    found = found ? e.call("Add", {found, count}) : count;
  }
  return {e.call("Equal", {found, e.scalar(DType::kInt64, 0)})};
}

// Products of numbers whose real and imaginary parts are the two elements of the last axis.
Val complex_product(Emitter& e, const BodyCall& c, bool conjugates) {
  Vals parts;
  for (const size_t input : {0, 1}) {
    const Dims dims = dims_of(e, c.inputs[input], input == 0 ? "A" : "B");
    if (dims.empty() || (dims.back().is_known() && dims.back() != 2)) {
      fail(ErrorCode::kInvalidModel, "input ", input == 0 ? "A" : "B",
           ": expected 2, a real and an imaginary part, as its last dim, got ",
           e.type(c.inputs[input]));
    }
    for (const Val& part : e.call_many("Split", Vals{c.inputs[input]},
                                       {{"axis", int64_t{-1}}, {"num_outputs", int64_t{2}}}, 2))
      parts.push_back(part);
  }
  if (conjugates) parts[3] = e.call("Neg", {parts[3]});
  const auto product = [&](size_t a, size_t b) { return e.call("Mul", {parts[a], parts[b]}); };
  const Vals both{e.call("Sub", {product(0, 2), product(1, 3)}),
                  e.call("Add", {product(0, 3), product(1, 2)})};
  return e.call_many("Concat", both, {{"axis", int64_t{-1}}}, 1)[0];
}

Vals complex_mul(Emitter& e, const BodyCall& c) {
  return {complex_product(e, c, false)};
}
Vals complex_mul_conj(Emitter& e, const BodyCall& c) {
  return {complex_product(e, c, true)};
}

// --- samples ---

std::vector<Sample> bias_add_samples() {
  return {{.inputs = {{.shape = {2, 3, 4}}, {.shape = {4}}, {.shape = {2, 3, 4}}}}};
}
std::vector<Sample> split_gelu_samples() {
  return {{.inputs = {{.shape = {2, 3, 8}}, {.shape = {8}}}}};
}
std::vector<Sample> bias_softmax_samples() {
  return {{.inputs = {{.shape = {2, 3, 4}}, {.shape = {2, 1, 4}}},
           .attrs = {{"axis", int64_t{2}}, {"is_inner_broadcast", int64_t{1}}}},
          {.inputs = {{.shape = {2, 3, 4}}, {.shape = {3, 4}}},
           .attrs = {{"axis", int64_t{-2}}, {"is_inner_broadcast", int64_t{0}}}}};
}
std::vector<Sample> bias_dropout_samples() {
  return {{.inputs = {{.shape = {2, 3}}, {.shape = {3}}, {.shape = {2, 3}}}, .outputs = 2}};
}
std::vector<Sample> contrib_group_norm_samples() {
  const SampleInput channels{.shape = {4}};
  return {{.inputs = {{.shape = {2, 3, 2, 4}}, channels, channels},
           .attrs = {{"activation", int64_t{1}}, {"groups", int64_t{2}}}},
          {.inputs = {{.shape = {1, 4, 3, 2}}, channels, channels},
           .attrs = {{"activation", int64_t{0}},
                     {"groups", int64_t{4}},
                     {"channels_last", int64_t{0}},
                     {"epsilon", 0.1f}}}};
}
std::vector<Sample> skip_group_norm_samples() {
  const SampleInput channels{.shape = {4}}, x{.shape = {2, 3, 2, 4}};
  const AttrMap attrs{{"activation", int64_t{0}}, {"groups", int64_t{2}}};
  AttrMap first = attrs;
  first["channels_last"] = int64_t{0};
  return {{.inputs = {x, channels, channels, {.shape = {2, 4}}, channels},
           .attrs = attrs,
           .outputs = 2},
          {.inputs = {{.shape = {2, 4, 3, 2}}, channels, channels, {.shape = {2, 4}}, channels},
           .attrs = first}};
}
std::vector<Sample> is_all_finite_samples() {
  return {{.inputs = {{.shape = {2, 3}}, {.shape = {}}}},
          {.inputs = {{.shape = {4}}}, .attrs = {{"isnan_only", int64_t{1}}}}};
}
std::vector<Sample> complex_samples() {
  return {{.inputs = {{.shape = {3, 4, 2}}, {.shape = {4, 2}}}}};
}

const OpDef kContribOptimizedOps[] = {
    {.name = "BiasAdd",
     .doc = "X + bias + skip of X and skip [N, S, C] and a bias [C].",
     .domain = kMicrosoft,
     .signature = "(X: T, bias: T, skip: T) -> (Y: T)",
     .types = {{"T", kTwoFloats}},
     .infer = infer_by_body,
     .body = bias_add,
     .samples = bias_add_samples},
    {.name = "BiasSplitGelu",
     .doc = "The first half of X + bias [N, S, D] times Gelu of the second: [N, S, D / 2].",
     .domain = kMicrosoft,
     .signature = "(X: T, bias: T) -> (Y: T)",
     .types = {{"T", kTwoFloats}},
     .infer = infer_by_body,
     .body = bias_split_gelu,
     .samples = split_gelu_samples},
    {.name = "BiasSoftmax",
     .doc = "Softmax of data + bias over all dims from `axis` on.",
     .domain = kMicrosoft,
     .signature = "(data: T, bias: T) -> (output: T)",
     .types = {{"T", kFusedFloats}},
     .attrs = attr_schema<BiasSoftmaxAttrs>(),
     .infer = infer_by_body,
     .body = bias_softmax,
     .samples = bias_softmax_samples},
    {.name = "BiasDropout",
     .doc = "Dropout of data + bias, plus a residual, and what was kept.",
     .domain = kMicrosoft,
     .signature = "(data: T, bias: T, residual?: T, ratio?: T1, training_mode?: bool) -> "
                  "(output: T, mask?: bool)",
     .types = {{"T", kFloats}, {"T1", kFloats}},
     .attrs = attr_schema<BiasDropoutAttrs>(),
     .infer = infer_by_body,
     .body = bias_dropout,
     .facts = kRandom,
     .samples = bias_dropout_samples},
    {.name = "GroupNorm",
     .doc = "Images [N, H, W, C] with each group of channels made of mean 0 and variance 1, times "
            "gamma plus beta, and perhaps the SiLU of that.",
     .domain = kMicrosoft,
     .signature = "(X: T, gamma: M, beta: M) -> (Y: T)",
     .types = {{"T", kTwoFloats}, {"M", kTwoFloats}},
     .attrs = attr_schema<ContribGroupNormAttrs>(),
     .infer = infer_by_body,
     .body = contrib_group_norm,
     .samples = contrib_group_norm_samples},
    {.name = "SkipGroupNorm",
     .doc = "GroupNorm of X + skip + bias, and that sum.",
     .domain = kMicrosoft,
     .signature = "(X: T, gamma: M, beta: M, skip: T, bias?: T) -> (Y: T, S?: T)",
     .types = {{"T", kTwoFloats}, {"M", kTwoFloats}},
     .attrs = attr_schema<ContribGroupNormAttrs>(),
     .infer = infer_by_body,
     .body = skip_group_norm,
     .samples = skip_group_norm_samples},
    {.name = "IsAllFinite",
     .doc = "Whether all elements of all inputs are finite, or none is infinite, or none NaN.",
     .domain = kMicrosoft,
     .signature = "(input...: V) -> (output: bool)",
     .types = {{"V", kFloats}},
     .attrs = attr_schema<IsAllFiniteAttrs>(),
     .infer = infer_by_body,
     .body = is_all_finite,
     .samples = is_all_finite_samples},
    {.name = "ComplexMul",
     .doc = "A * B of complex numbers, whose parts are the last axis, broadcast.",
     .domain = kMicrosoft,
     .signature = "(A: T, B: T) -> (C: T)",
     .types = {{"T", kFusedFloats}},
     .infer = infer_by_body,
     .body = complex_mul,
     .samples = complex_samples},
    {.name = "ComplexMulConj",
     .doc = "A times the conjugate of B of complex numbers, whose parts are the last axis.",
     .domain = kMicrosoft,
     .signature = "(A: T, B: T) -> (C: T)",
     .types = {{"T", kFusedFloats}},
     .infer = infer_by_body,
     .body = complex_mul_conj,
     .samples = complex_samples},
};

}  // namespace

std::span<const OpDef> contrib_optimized_ops() {
  return kContribOptimizedOps;
}

}  // namespace sardonyx::ops
