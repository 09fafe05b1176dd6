// com.microsoft: products and convolutions with something fused to them, and forms of Gelu.
#include "ir/ops/contrib/contrib_body.h"
#include "ir/ops/contrib/sparse_matmul.h"
#include "ir/ops/conv/conv.h"
#include "ir/ops/gemm/matmul.h"
#include "ir/ops/inference/infer_body.h"
#include "ir/ops/op_families.h"

namespace sardonyx::ops {
namespace {

using Ints = std::vector<int64_t>;
using Floats = std::vector<float>;

constexpr DTypeSet kThreeFloats{DType::kFloat16, DType::kFloat, DType::kDouble};
constexpr DTypeSet kSparseElements{DType::kFloat,  DType::kDouble, DType::kInt64,
                                   DType::kUInt64, DType::kInt32,  DType::kUInt32};

// Inputs of samples are dense tensors.
std::vector<Sample> no_dense_samples() {
  return {};
}

// --- convolutions ---

struct ContribFusedConvAttrs : ConvAttrs {
  std::string activation;
  Floats activation_params;
  static auto fields() {
    return std::tuple_cat(
        ConvAttrs::fields(),
        std::tuple{field("activation", &ContribFusedConvAttrs::activation),
                   field("activation_params", &ContribFusedConvAttrs::activation_params)});
  }
};

// activation(Conv(X, W, B) + Z)
Vals fused_conv(Emitter& e, const BodyCall& c) {
  const auto& attrs = c.attrs<ContribFusedConvAttrs>();
  const Val bias = c.has(2) ? c.inputs[2] : Val();
  const Vals operands{c.inputs[0], c.inputs[1], bias};
  Val y = e.emit(op_named("Conv"), operands, Attrs(static_cast<const ConvAttrs&>(attrs)), 1)[0];
  if (c.has(3)) y = e.call("Add", {y, c.inputs[3]});
  return {activate(e, y, attrs.activation, attrs.activation_params)};
}

// 0, last, 1 ... last - 1: channels from the end to where Conv wants them.
Ints channels_first(size_t rank) {
  Ints permutation{0, static_cast<int64_t>(rank) - 1};
  for (size_t i = 1; i + 1 < rank; ++i)
    permutation.push_back(static_cast<int64_t>(i));
  return permutation;
}
Ints channels_last(size_t rank) {
  Ints permutation{0};
  for (size_t i = 2; i < rank; ++i)
    permutation.push_back(static_cast<int64_t>(i));
  permutation.push_back(1);
  return permutation;
}

// Conv on X [N, spatial..., C] with W [M, kernel..., C / group].
Val nhwc_conv_of(Emitter& e, const BodyCall& c, const ConvAttrs& attrs) {
  const size_t rank = input_rank(e, c.inputs[0], "X");
  if (rank < 3) fail(ErrorCode::kInvalidModel, "input X: expected at least 3 dims, got ", rank);
  const Vals operands{transpose(e, c.inputs[0], channels_first(rank)),
                      transpose(e, c.inputs[1], channels_first(rank)),
                      c.has(2) ? c.inputs[2] : Val()};
  const Val y = e.emit(op_named("Conv"), operands, Attrs(attrs), 1)[0];
  return transpose(e, y, channels_last(rank));
}

Vals nhwc_conv(Emitter& e, const BodyCall& c) {
  return {nhwc_conv_of(e, c, c.attrs<ConvAttrs>())};
}

Vals nhwc_fused_conv(Emitter& e, const BodyCall& c) {
  const auto& attrs = c.attrs<ContribFusedConvAttrs>();
  Val y = nhwc_conv_of(e, c, attrs);
  if (c.has(3)) y = e.call("Add", {y, c.inputs[3]});
  return {activate(e, y, attrs.activation, attrs.activation_params)};
}

struct DynamicPadsAttrs {
  std::string auto_pad = "NOTSET";
  OptionalInts dilations, kernel_shape, output_padding, strides;
  int64_t group = 1;
  static auto fields() {
    using A = DynamicPadsAttrs;
    return std::tuple{field("auto_pad", &A::auto_pad),
                      field("dilations", &A::dilations),
                      field("group", &A::group),
                      field("kernel_shape", &A::kernel_shape),
                      field("output_padding", &A::output_padding),
                      field("strides", &A::strides)};
  }
};

// (X, W, Pads?, B?): pads that are not known ahead cut the result without any.
Vals conv_transpose_with_dynamic_pads(Emitter& e, const BodyCall& c) {
  const auto& attrs = c.attrs<DynamicPadsAttrs>();
  ConvTransposeAttrs onnx{.auto_pad = attrs.auto_pad,
                          .dilations = attrs.dilations,
                          .group = attrs.group,
                          .kernel_shape = attrs.kernel_shape,
                          .output_padding = attrs.output_padding,
                          .strides = attrs.strides};
  const Val pads = c.has(2) && attrs.auto_pad == "NOTSET" ? c.inputs[2] : Val();
  const std::optional<Tensor> known = pads ? e.constant_value(pads) : std::nullopt;
  if (known) onnx.pads = known->to_int64s();
  const Vals operands{c.inputs[0], c.inputs[1], c.has(3) ? c.inputs[3] : Val()};
  const Val y = e.emit(op_named("ConvTranspose"), operands, Attrs(std::move(onnx)), 1)[0];
  if (!pads || known) return {y};
  const auto spatial = static_cast<int64_t>(input_rank(e, c.inputs[0], "X")) - 2;
  Ints axes;
  for (int64_t i = 0; i < spatial; ++i)
    axes.push_back(i + 2);
  const auto part = [&](int64_t begin) {
    return slice(e, pads, e.int64s({begin}), e.int64s({begin + spatial}), 0);
  };
  const Val sizes = e.call("Shape", {y}, {{"start", int64_t{2}}});
  const Val end = e.call("Sub", {sizes, part(spatial)});
  return {e.call("Slice", {y, part(0), end, e.int64s(axes)})};
}

// --- products ---

struct ContribFusedMatMulAttrs {
  float alpha = 1;
  bool transA = false, transB = false, transBatchA = false, transBatchB = false;
  static auto fields() {
    using A = ContribFusedMatMulAttrs;
    return std::tuple{field("alpha", &A::alpha), field("transA", &A::transA),
                      field("transB", &A::transB), field("transBatchA", &A::transBatchA),
                      field("transBatchB", &A::transBatchB)};
  }
};

// `batch`: the first dim goes behind the batch dims, [d0, d1 ... dn, k] -> [d1 ... dn, d0, k].
// `matrix`: then the last two dims change places. A vector stays as it is.
Val transposed(Emitter& e, const Val& x, std::string_view name, bool matrix, bool batch) {
  if (!matrix && !batch) return x;
  const size_t rank = input_rank(e, x, name);
  if (rank < 2) return x;
  Ints permutation;
  for (size_t i = 0; i < rank; ++i)
    permutation.push_back(static_cast<int64_t>(i));
  if (batch) std::rotate(permutation.begin(), permutation.begin() + 1, permutation.end() - 1);
  if (matrix) std::swap(permutation[rank - 1], permutation[rank - 2]);
  return transpose(e, x, permutation);
}

Vals fused_matmul(Emitter& e, const BodyCall& c) {
  const auto& attrs = c.attrs<ContribFusedMatMulAttrs>();
  const Val y =
      e.call("MatMul", {transposed(e, c.inputs[0], "A", attrs.transA, attrs.transBatchA),
                        transposed(e, c.inputs[1], "B", attrs.transB, attrs.transBatchB)});
  return {attrs.alpha == 1 ? y : e.call("Mul", {y, e.scalar_like(y, attrs.alpha)})};
}

struct FusedGemmAttrs : GemmAttrs {
  std::string activation;
  std::optional<float> activation_alpha, activation_beta, activation_gamma;
  static auto fields() {
    using A = FusedGemmAttrs;
    return std::tuple_cat(GemmAttrs::fields(),
                          std::tuple{field("activation", &A::activation),
                                     field("activation_alpha", &A::activation_alpha),
                                     field("activation_beta", &A::activation_beta),
                                     field("activation_gamma", &A::activation_gamma)});
  }
};

Vals fused_gemm(Emitter& e, const BodyCall& c) {
  const auto& attrs = c.attrs<FusedGemmAttrs>();
  Floats params;
  for (const auto& param :
       {attrs.activation_alpha, attrs.activation_beta, attrs.activation_gamma}) {
    if (param) params.push_back(*param);
  }
  const Vals operands(c.inputs.begin(), c.inputs.end());
  const Val y =
      e.emit(op_named("Gemm"), operands, Attrs(static_cast<const GemmAttrs&>(attrs)), 1)[0];
  return {activate(e, y, attrs.activation, params)};
}

// --- forms of Gelu ---

Vals gelu(Emitter& e, const BodyCall& c) {
  return {e.call("Gelu", {c.inputs[0]})};
}

Vals bias_gelu(Emitter& e, const BodyCall& c) {
  return {e.call("Gelu", {e.call("Add", {c.inputs[0], c.inputs[1]})})};
}

Vals fast_gelu(Emitter& e, const BodyCall& c) {
  const Val x = c.has(1) ? e.call("Add", {c.inputs[0], c.inputs[1]}) : c.inputs[0];
  return {e.call("Gelu", {x}, {{"approximate", std::string("tanh")}})};
}

struct QuickGeluAttrs {
  float alpha = 1.702f;
  static auto fields() { return std::tuple{field("alpha", &QuickGeluAttrs::alpha)}; }
};

// x * sigmoid(alpha * x)
Vals quick_gelu(Emitter& e, const BodyCall& c) {
  const Val x = c.inputs[0];
  const Val gate = e.call("Mul", {x, e.scalar_like(x, c.attrs<QuickGeluAttrs>().alpha)});
  return {e.call("Mul", {x, e.call("Sigmoid", {gate})})};
}

// --- samples ---

std::vector<Sample> fused_contrib_conv_samples() {
  const Floats leak{0.1f};
  return {{.inputs = {{.shape = {1, 2, 5, 5}},
                      {.shape = {3, 2, 3, 3}},
                      {.shape = {3}},
                      {.shape = {1, 3, 5, 5}}},
           .attrs = {{"pads", Ints{1, 1, 1, 1}},
                     {"activation", std::string("LeakyRelu")},
                     {"activation_params", leak}}},
          {.inputs = {{.shape = {1, 2, 5, 5}}, {.shape = {4, 1, 3, 3}}},
           .attrs = {{"group", int64_t{2}}, {"activation", std::string("Relu")}}}};
}

std::vector<Sample> nhwc_samples() {
  return {{.inputs = {{.shape = {1, 5, 4, 2}}, {.shape = {3, 3, 3, 2}}, {.shape = {3}}},
           .attrs = {{"strides", Ints{2, 1}}}}};
}

std::vector<Sample> dynamic_pads_samples() {
  return {{.inputs = {{.shape = {1, 2, 4, 3}},
                      {.shape = {2, 3, 3, 3}},
                      {.shape = {4}, .value = Tensor::vector<int64_t>({1, 0, 1, 2})},
                      {.shape = {3}}},
           .attrs = {{"strides", Ints{2, 1}}, {"output_padding", Ints{1, 0}}}}};
}

std::vector<Sample> matmul_samples() {
  return {{.inputs = {{.shape = {2, 3, 4}}, {.shape = {2, 5, 4}}},
           .attrs = {{"transB", int64_t{1}}, {"alpha", 0.5f}}},
          {.inputs = {{.shape = {3, 2, 4}}, {.shape = {4, 2, 5}}},
           .attrs = {{"transBatchA", int64_t{1}}, {"transBatchB", int64_t{1}}}}};
}

std::vector<Sample> gemm_samples() {
  return {{.inputs = {{.shape = {2, 3}}, {.shape = {4, 3}}, {.shape = {4}}},
           .attrs = {{"transB", int64_t{1}}, {"activation", std::string("Relu")}}}};
}

std::vector<Sample> one_input_samples() {
  return {{.inputs = {{.shape = {2, 3}}}}};
}
std::vector<Sample> bias_samples() {
  return {{.inputs = {{.shape = {2, 3}}, {.shape = {3}}}}};
}

const OpDef kContribOps[] = {
    {.name = "FusedConv",
     .doc = "Conv, a residual Z added and an activation; shapes as in Conv.",
     .domain = kMicrosoft,
     .signature = "(X: T, W: T, B?: T, Z?: T) -> (Y: T)",
     .types = {{"T", kThreeFloats}},
     .attrs = attr_schema<ContribFusedConvAttrs>(),
     .infer = infer_by_body,
     .body = fused_conv,
     .samples = fused_contrib_conv_samples},
    {.name = "NhwcConv",
     .doc = "Conv of X [N, spatial..., C] to [N, spatial..., M].",
     .domain = kMicrosoft,
     .signature = "(X: T, W: T, B?: T) -> (Y: T)",
     .types = {{"T", kThreeFloats}},
     .attrs = attr_schema<ConvAttrs>(),
     .infer = infer_by_body,
     .body = nhwc_conv,
     .samples = nhwc_samples},
    {.name = "NhwcFusedConv",
     .doc = "FusedConv of X [N, spatial..., C] to [N, spatial..., M].",
     .domain = kMicrosoft,
     .signature = "(X: T, W: T, B?: T, Z?: T) -> (Y: T)",
     .types = {{"T", DTypeSet{DType::kFloat16, DType::kFloat}}},
     .attrs = attr_schema<ContribFusedConvAttrs>(),
     .infer = infer_by_body,
     .body = nhwc_fused_conv,
     .samples = nhwc_samples},
    {.name = "ConvTransposeWithDynamicPads",
     .doc = "ConvTranspose whose pads [2 * spatial dims] are an input.",
     .domain = kMicrosoft,
     .signature = "(X: T, W: T, Pads?: int64, B?: T) -> (Y: T)",
     .types = {{"T", kThreeFloats}},
     .attrs = attr_schema<DynamicPadsAttrs>(),
     .infer = infer_by_body,
     .body = conv_transpose_with_dynamic_pads,
     .shape_inputs = 4,
     .samples = dynamic_pads_samples},
    {.name = "FusedMatMul",
     .doc = "alpha * A' * B' of the last two axes, transposed before where the attributes say so, "
            "the others broadcast.",
     .domain = kMicrosoft,
     .signature = "(A: T, B: T) -> (Y: T)",
     .types = {{"T", kFloats}},
     .attrs = attr_schema<ContribFusedMatMulAttrs>(),
     .infer = infer_by_body,
     .body = fused_matmul,
     .samples = matmul_samples},
    {.name = "TransposeMatMul",
     .doc = "FusedMatMul by its former name.",  // the name that FusedMatMul had before
     .domain = kMicrosoft,
     .signature = "(A: T, B: T) -> (Y: T)",
     .types = {{"T", kThreeFloats | DType::kBFloat16}},
     .attrs = attr_schema<ContribFusedMatMulAttrs>(),
     .infer = infer_by_body,
     .body = fused_matmul,
     .samples = matmul_samples},
    {.name = "FusedGemm",
     .doc = "Gemm and an activation.",
     .domain = kMicrosoft,
     .signature = "(A: T, B: T, C?: T) -> (Y: T)",
     .types = {{"T", kThreeFloats |
                         DTypeSet{DType::kUInt32, DType::kUInt64, DType::kInt32, DType::kInt64}}},
     .attrs = attr_schema<FusedGemmAttrs>(),
     .infer = infer_by_body,
     .body = fused_gemm,
     .samples = gemm_samples},
    {.name = "SparseToDenseMatMul",
     .doc = "alpha * A * B of a sparse matrix, A, and a dense one.",
     .domain = kMicrosoft,
     .signature = "(A: T, B: T1) -> (Y: T1)",
     .types = {{"T", kSparseElements}, {"T1", kSparseElements}},
     .attrs = attr_schema<SparseMatMulAttrs>(),
     .infer = infer_sparse_matmul,
     .evaluate = sparse_matmul,
     .samples = no_dense_samples},
    {.name = "Gelu",
     .doc = "X times the normal distribution's share below it.",
     .domain = kMicrosoft,
     .signature = "(X: T) -> (Y: T)",
     .types = {{"T", kFloats}},
     .infer = infer_by_body,
     .body = gelu,
     .facts = kElementwise,
     .samples = one_input_samples},
    {.name = "BiasGelu",
     .doc = "Gelu of A + B, B a row for the last axis.",
     .domain = kMicrosoft,
     .signature = "(A: T, B: T) -> (C: T)",
     .types = {{"T", kFloats}},
     .infer = infer_by_body,
     .body = bias_gelu,
     .facts = kElementwise,
     .samples = bias_samples},
    {.name = "FastGelu",
     .doc = "Gelu by tanh of X + bias, the bias a row for the last axis.",
     .domain = kMicrosoft,
     .signature = "(X: T, bias?: T) -> (Y: T)",
     .types = {{"T", kFloats}},
     .infer = infer_by_body,
     .body = fast_gelu,
     .facts = kElementwise,
     .samples = bias_samples},
    {.name = "QuickGelu",
     .doc = "X * sigmoid(alpha * X), element by element.",
     .domain = kMicrosoft,
     .signature = "(X: T) -> (Y: T)",
     .types = {{"T", kFloats}},
     .attrs = attr_schema<QuickGeluAttrs>(),
     .infer = infer_by_body,
     .body = quick_gelu,
     .facts = kElementwise,
     .samples = one_input_samples},
};

}  // namespace

std::span<const OpDef> contrib_ops() {
  return kContribOps;
}

}  // namespace sardonyx::ops
