// sardonyx's own ops, which passes write. Each has a body of ONNX ops, so that any provider may
// ignore them.
#include "ir/ops/conv/fused_ops.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "ir/ops/attention/fused_attention.h"
#include "ir/ops/data_movement/channel_shuffle.h"
#include "ir/ops/elementwise/fused_elementwise.h"
#include "ir/ops/inference/infer.h"
#include "ir/ops/inference/infer_body.h"
#include "ir/ops/op_families.h"

namespace sardonyx::ops {

namespace {

void require_known(const InferContext& c, const std::string& name,
                   const std::vector<float>& params) {
  c.require(is_known({name, params}), "no activation \"", name, "\" with ", params.size(),
            " parameters");
}

// The type of output 0 of the plain op on the same inputs.
Type infer_as(InferContext& c, std::string_view op, const Attrs& attrs,
              std::span<const InferInput> inputs) {
  return infer(op_named(op), attrs, inputs, inputs.size(), 1, c.fresh_symbol())[0].type;
}

void infer_fused_conv(InferContext& c) {
  const auto& attrs = c.attrs<FusedConvAttrs>();
  require_known(c, attrs.activation, attrs.activation_params);
  const auto inputs = c.all_inputs().first(std::min<size_t>(c.input_count(), 3));
  const Type type = infer_as(c, "Conv", Attrs(static_cast<const ConvAttrs&>(attrs)), inputs);
  const Dims* residual = c.shape(3);
  if (residual && type.shape) {
    if (residual->size() != type.rank()) c.fail_input(3, "must have the shape of the output");
    for (size_t dim = 0; dim < residual->size(); ++dim) {
      c.merged((*residual)[dim], (*type.shape)[dim], "dims of Z and the output");
    }
  }
  c.set(0, type);
}

void infer_fused_conv_transpose(InferContext& c) {
  const auto& attrs = c.attrs<FusedConvTransposeAttrs>();
  require_known(c, attrs.activation, attrs.activation_params);
  c.set(0, infer_as(c, "ConvTranspose", Attrs(static_cast<const ConvTransposeAttrs&>(attrs)),
                    c.all_inputs()));
}

// The type of a matrix operand as MatMul will see it.
InferInput operand(const InferContext& c, size_t input, bool transposed) {
  InferInput seen{c.type(input)};
  if (!transposed || !seen.type.shape) return seen;
  Dims& dims = *seen.type.shape;
  if (dims.size() < 2) c.fail_input(input, "needs two dims to be transposed");
  std::swap(dims[dims.size() - 2], dims[dims.size() - 1]);
  return seen;
}

void infer_fused_matmul(InferContext& c) {
  const auto& attrs = c.attrs<FusedMatMulAttrs>();
  require_known(c, attrs.activation, attrs.activation_params);
  const InferInput operands[] = {operand(c, 0, attrs.transA), operand(c, 1, attrs.transB)};
  Type type = infer_as(c, "MatMul", Attrs(), operands);
  for (const size_t addend : {2, 3}) {
    if (!c.has(addend) || !type.shape) continue;
    const Dims* dims = c.shape(addend);
    if (dims && dims->size() > type.rank()) c.fail_input(addend, "has more dims than the product");
    InferInput sum[] = {{type}, {c.type(addend)}};
    type = infer_as(c, "Add", Attrs(), sum);
  }
  c.set(0, type);
}

Vals fused_conv_body(Emitter& e, const BodyCall& c) {
  const auto& attrs = c.attrs<FusedConvAttrs>();
  const Val bias = c.has(2) ? c.inputs[2] : Val();
  Val y = e.call("Conv", {c.inputs[0], c.inputs[1], bias},
                 Attrs(static_cast<const ConvAttrs&>(attrs)).to_map());
  if (c.has(3)) y = e.call("Add", {y, c.inputs[3]});
  return {apply(e, {attrs.activation, attrs.activation_params}, y)};
}

Vals fused_conv_transpose_body(Emitter& e, const BodyCall& c) {
  const auto& attrs = c.attrs<FusedConvTransposeAttrs>();
  const Val bias = c.has(2) ? c.inputs[2] : Val();
  const Val y = e.call("ConvTranspose", {c.inputs[0], c.inputs[1], bias},
                       Attrs(static_cast<const ConvTransposeAttrs&>(attrs)).to_map());
  return {apply(e, {attrs.activation, attrs.activation_params}, y)};
}

Val transposed(Emitter& e, const Val& x, bool wanted) {
  if (!wanted) return x;
  const Type type = e.type(x);
  if (!type.has_rank()) {
    fail(ErrorCode::kUnsupported, "FusedMatMul: the rank of an operand must be known");
  }
  std::vector<int64_t> order(type.rank());
  for (size_t dim = 0; dim < order.size(); ++dim)
    order[dim] = static_cast<int64_t>(dim);
  std::swap(order[order.size() - 2], order[order.size() - 1]);
  return e.call("Transpose", {x}, {{"perm", order}});
}

Vals fused_matmul_body(Emitter& e, const BodyCall& c) {
  const auto& attrs = c.attrs<FusedMatMulAttrs>();
  Val y = e.call("MatMul", {transposed(e, c.inputs[0], attrs.transA),
                            transposed(e, c.inputs[1], attrs.transB)});
  if (attrs.alpha != 1) y = e.call("Mul", {y, e.scalar_like(y, attrs.alpha)});
  if (c.has(2)) y = e.call("Add", {y, c.inputs[2]});
  if (c.has(3)) y = e.call("Add", {y, c.inputs[3]});
  return {apply(e, {attrs.activation, attrs.activation_params}, y)};
}

std::vector<Sample> fused_conv_samples() {
  return {
      {{{{1, 3, 6, 5}}, {{4, 3, 3, 3}}, {{4}}, {{1, 4, 4, 3}}},
       {{"activation", std::string("Relu")}}},
      {{{{2, 4, 7}}, {{6, 2, 3}}},
       {{"group", int64_t{2}},
        {"activation", std::string("Clip")},
        {"activation_params", std::vector{-1.f, 1.f}}}},
      {{{{1, 2, 5, 5}}, {{3, 2, 1, 1}}, {.omitted = true}, {{1, 3, 5, 5}}},
       {{"activation", std::string("LeakyRelu")}, {"activation_params", std::vector{0.1f}}}},
      {{{{1, 2, 3, 4, 3}}, {{2, 2, 2, 2, 2}}, {{2}}}, {{"activation", std::string("HardSwish")}}},
      {{{{1, 8, 5, 5}}, {{8, 1, 3, 3}}, {{8}}},
       {{"group", int64_t{8}},
        {"pads", std::vector<int64_t>{1, 1, 1, 1}},
        {"activation", std::string("Swish")},
        {"activation_params", std::vector{1.f}}}},
  };
}

std::vector<Sample> fused_conv_transpose_samples() {
  return {
      {{{{1, 3, 4, 4}}, {{3, 2, 2, 2}}, {{2}}},
       {{"strides", std::vector<int64_t>{2, 2}}, {"activation", std::string("Sigmoid")}}},
      {{{{1, 4, 5}}, {{4, 1, 3}}}, {{"group", int64_t{2}}, {"activation", std::string("Tanh")}}},
  };
}

std::vector<Sample> fused_matmul_samples() {
  return {
      {{{{3, 4}}, {{4, 5}}, {{5}}}, {{"activation", std::string("Gelu")}}},
      {{{{2, 1, 4}}, {{4, 5}}, {{5}}, {{2, 1, 5}}}, {{"activation", std::string("Relu")}}},
      {{{{2, 3, 4}}, {{5, 4}}, {{5}}, {{2, 3, 5}}},
       {{"transB", int64_t{1}}, {"alpha", 0.5f}, {"activation", std::string("GeluTanh")}}},
      {{{{2, 4, 3}}, {{2, 4, 5}}},
       {{"transA", int64_t{1}},
        {"activation", std::string("HardSigmoid")},
        {"activation_params", std::vector{0.2f, 0.5f}}}},
      {{{{2, 3, 4}}, {{1, 4, 5}}, {.omitted = true}, {{1, 5}}},
       {{"activation", std::string("Elu")}, {"activation_params", std::vector{1.f}}}},
  };
}

void infer_channel_shuffle(InferContext& c) {
  const int64_t groups = c.attrs<ChannelShuffleAttrs>().groups;
  c.require(groups > 0, "groups: expected at least 1, got ", groups);
  if (const Dims* shape = c.shape(0)) {
    if (shape->size() < 2) c.fail_input(0, "expected at least 2 dims");
    const Dim& channels = (*shape)[1];
    c.require(!channels.is_known() || channels.value() % groups == 0,
              "groups: expected a divisor of ", channels, " channels, got ", groups);
  }
  c.set(0, c.type(0));
}

Vals channel_shuffle_body(Emitter& e, const BodyCall& c) {
  const Val& x = c.inputs[0];
  const Type type = e.type(x);
  if (!type.has_rank()) fail(ErrorCode::kUnsupported, "ChannelShuffle: X: the rank must be known");
  const auto rank = static_cast<int64_t>(type.rank());
  const Val shape = e.call("Shape", {x});
  const Val inner = e.call("Slice", {shape, e.int64s({2}), e.int64s({rank})});
  const Val groups = e.int64s({0, c.attrs<ChannelShuffleAttrs>().groups, -1});
  const Val cut = e.call("Concat", {groups, inner}, {{"axis", int64_t{0}}});
  std::vector<int64_t> perm(static_cast<size_t>(rank) + 1);
  std::iota(perm.begin(), perm.end(), 0);
  std::swap(perm[1], perm[2]);
  const Val dealt = e.call("Transpose", {e.call("Reshape", {x, cut})}, {{"perm", perm}});
  return {e.call("Reshape", {dealt, shape})};
}

std::vector<Sample> channel_shuffle_samples() {
  return {{{{.shape = {2, 6, 3, 4}}}, {{"groups", int64_t{2}}}},
          {{{.shape = {1, 12, 5}}}, {{"groups", int64_t{4}}}}};
}

}  // namespace

std::optional<ClipBounds> clip_bounds(const FusedActivation& activation) {
  constexpr float kNone = std::numeric_limits<float>::infinity();
  if (activation.name.empty()) return ClipBounds{-kNone, kNone};
  if (activation.name == "Relu") return ClipBounds{0, kNone};
  if (activation.name == "Clip") return ClipBounds{activation.params[0], activation.params[1]};
  return std::nullopt;
}

bool is_known(const FusedActivation& activation) {
  if (activation.name.empty()) return activation.params.empty();
  const GroupedOp* known = find_grouped_op(activation.name);
  return known && known->row->is(kActivation) && known->params == activation.params.size();
}

Val apply(Emitter& e, const FusedActivation& activation, const Val& x) {
  if (activation.name.empty()) return x;
  const std::vector<float>& params = activation.params;
  if (activation.name == "Clip") {
    return e.call("Clip", {x, e.scalar_like(x, params[0]), e.scalar_like(x, params[1])});
  }
  if (activation.name == "GeluTanh") {
    return e.call("Gelu", {x}, {{"approximate", std::string("tanh")}});
  }
  SARDONYX_CHECK(is_known(activation));
  const std::vector<std::string> names = float_param_names(*find_grouped_op(activation.name)->row);
  AttrMap attrs;
  for (size_t i = 0; i < params.size(); ++i)
    attrs.emplace(names[i], params[i]);
  return e.call(activation.name, {x}, attrs);
}

StridedBlock channel_shuffle_block(int64_t groups, std::span<const int64_t> shape, int64_t image,
                                   int64_t channel, int64_t inner) {
  int64_t count = 1;
  for (const int64_t size : shape.subspan(2))
    count *= size;
  const int64_t in_group = shape[1] / groups;
  return {{shape[0], in_group, groups, count},
          {image, channel, in_group * channel, inner},
          {image, groups * channel, channel, inner}};
}

std::span<const OpDef> fused_ops() {
  static const OpDef kOps[] = {
      {.name = "FusedConv",
       .doc = "Conv, plus the residual Z, then an activation.",
       .domain = "sardonyx",
       .since = 1,
       .signature = "(X: T, W: T, B?: T, Z?: T) -> (Y: T)",
       .types = {{"T", kFloats}},
       .attrs = attr_schema<FusedConvAttrs>(),
       .infer = infer_fused_conv,
       .body = fused_conv_body,
       .facts = kProduct,
       .weight_inputs = 1u << 1,
       .layout = LayoutRole::kConv,
       .samples = fused_conv_samples},
      {.name = "FusedConvTranspose",
       .doc = "ConvTranspose, then an activation.",
       .domain = "sardonyx",
       .since = 1,
       .signature = "(X: T, W: T, B?: T) -> (Y: T)",
       .types = {{"T", kFloats}},
       .attrs = attr_schema<FusedConvTransposeAttrs>(),
       .infer = infer_fused_conv_transpose,
       .body = fused_conv_transpose_body,
       .facts = kProduct,
       .weight_inputs = 1u << 1,
       .layout = LayoutRole::kConv,
       .samples = fused_conv_transpose_samples},
      {.name = "FusedMatMul",
       .doc = "MatMul, either operand transposed on request, times alpha, plus bias and residual, "
              "then an activation.",
       .domain = "sardonyx",
       .since = 1,
       .signature = "(A: T, B: T, bias?: T, residual?: T) -> (Y: T)",
       .types = {{"T", kFloats}},
       .attrs = attr_schema<FusedMatMulAttrs>(),
       .infer = infer_fused_matmul,
       .body = fused_matmul_body,
       .facts = kProduct | kFloat32Kernels,
       .weight_inputs = 1u << 1,
       .samples = fused_matmul_samples},
      {.name = "FusedAttention",
       .doc =
           "softmax(scale * Q K' + added, where kept) V for each head [N, heads, positions, size].",
       .domain = "sardonyx",
       .since = 1,
       .signature = "(Q: T, K: T, V: T, added?: T, kept?: B) -> (Y: T)",
       .types = {{"T", kFloats}, {"B", DType::kBool}},
       .attrs = attr_schema<FusedAttentionAttrs>(),
       .infer = infer_by_body,
       .body = fused_attention_body,
       .facts = kIgnoresConstants,
       .samples = fused_attention_samples},
      {.name = "ChannelShuffle",
       .doc = "The channels of X [N, C, ...], seen as [groups, C / groups], transposed.",
       .domain = "sardonyx",
       .since = 1,
       .signature = "(X: T) -> (Y: T)",
       .types = {{"T", kFloats}},
       .attrs = attr_schema<ChannelShuffleAttrs>(),
       .infer = infer_channel_shuffle,
       .body = channel_shuffle_body,
       .layout = LayoutRole::kKeeps,
       .samples = channel_shuffle_samples},
  };
  return kOps;
}

}  // namespace sardonyx::ops
