// com.microsoft: ops on 8-bit integers, as what they mean on real numbers between DequantizeLinear
// and QuantizeLinear, and products with integer sums.
#include "ir/ops/attention/contrib_attention.h"
#include "ir/ops/inference/infer_body.h"
#include "ir/ops/op_families.h"
#include "ir/ops/pooling/pool.h"
#include "ir/ops/quantization/qlinear_attributes.h"

namespace sardonyx::ops {
namespace {

using Ints = std::vector<int64_t>;

Val at(const BodyCall& c, size_t input) {
  return c.has(input) ? c.inputs[input] : Val();
}

// Inputs first, first + 1 and first + 2 are a tensor, its scale and its zero point (if there is
// one).
Val real(Emitter& e, const BodyCall& c, size_t first) {
  return e.call("DequantizeLinear", {c.inputs[first], c.inputs[first + 1], at(c, first + 2)});
}

// `y` in the type `dtype`, by a scale and a zero point (none: 0).
Val quantized(Emitter& e, const Val& y, const Val& scale, const Val& zero_point, DType dtype) {
  const Val zero = zero_point ? zero_point : e.scalar(dtype, 0);
  return e.call("QuantizeLinear", {y, scale, zero});
}

// (A, A_scale, A_zero_point?, B, B_scale, B_zero_point?, C_scale, C_zero_point?) -> C
Val binary(Emitter& e, const BodyCall& c, std::string_view op) {
  const Val y = e.call(op, {real(e, c, 0), real(e, c, 3)});
  return quantized(e, y, c.inputs[6], at(c, 7), e.type(c.inputs[0]).dtype);
}
Vals qlinear_add(Emitter& e, const BodyCall& c) {
  return {binary(e, c, "Add")};
}
Vals qdq_mul(Emitter& e, const BodyCall& c) {
  return {binary(e, c, "Mul")};
}

// (A - A_zero_point) * (B - B_zero_point) * (A_scale * B_scale / C_scale) + C_zero_point, rounded
// once: the integers' product is exact. Ties go to the even sum.
Vals qlinear_mul(Emitter& e, const BodyCall& c) {
  const DType dtype = e.type(c.inputs[0]).dtype;
  const auto distance = [&](size_t first) {
    const Val x = cast_to(e, c.inputs[first], DType::kInt32);
    return c.has(first + 2) ? e.call("Sub", {x, cast_to(e, c.inputs[first + 2], DType::kInt32)})
                            : x;
  };
  const Val product = cast_to(e, e.call("Mul", {distance(0), distance(3)}), DType::kFloat);
  const Val ratio = e.call("Div", {e.call("Mul", {c.inputs[1], c.inputs[4]}), c.inputs[6]});
  Val y = e.call("Mul", {product, ratio});
  if (c.has(7)) y = e.call("Add", {y, cast_to(e, c.inputs[7], DType::kFloat)});
  const bool is_signed = dtype == DType::kInt8;
  const Val bounded =
      e.call("Clip", {e.call("Round", {y}), e.scalar(DType::kFloat, is_signed ? -128 : 0),
                      e.scalar(DType::kFloat, is_signed ? 127 : 255)});
  return {cast_to(e, bounded, dtype)};
}

// (X, X_scale, X_zero_point?, Y_scale, Y_zero_point?) -> Y
Val unary(Emitter& e, const BodyCall& c, const Val& y) {
  return quantized(e, y, c.inputs[3], at(c, 4), e.type(c.inputs[0]).dtype);
}

Vals qlinear_sigmoid(Emitter& e, const BodyCall& c) {
  return {unary(e, c, e.call("Sigmoid", {real(e, c, 0)}))};
}

Vals qlinear_leaky_relu(Emitter& e, const BodyCall& c) {
  return {unary(
      e, c, e.call("LeakyRelu", {real(e, c, 0)}, {{"alpha", c.attrs<QLeakyReluAttrs>().alpha}}))};
}

// Before opset 13 all dims from the axis on are one row.
Vals qlinear_softmax(Emitter& e, const BodyCall& c) {
  const auto& attrs = c.attrs<QSoftmaxAttrs>();
  const Val x = real(e, c, 0);
  if (attrs.opset >= 13) {
    return {unary(e, c, e.call("Softmax", {x}, {{"axis", attrs.axis.value_or(-1)}}))};
  }
  const Val rows = e.call("Flatten", {x}, {{"axis", attrs.axis.value_or(1)}});
  const Val y = e.call("Softmax", {rows}, {{"axis", int64_t{1}}});
  return {unary(e, c, e.call("Reshape", {y, e.call("Shape", {x})}))};
}

Vals qlinear_reduce_mean(Emitter& e, const BodyCall& c) {
  const auto& attrs = c.attrs<QReduceAttrs>();
  return {unary(
      e, c,
      e.call("ReduceMean", {real(e, c, 0), e.int64s(attrs.axes)}, {{"keepdims", attrs.keepdims}}))};
}

// Calls pool(x) with the channels at dim 1.
template <typename Pool>
Val pooled(Emitter& e, const Val& x, bool channels_last, Pool pool) {
  if (!channels_last) return pool(x);
  const auto rank = static_cast<int64_t>(input_rank(e, x, "X"));
  Ints forth{0, rank - 1}, back{0};
  for (int64_t i = 1; i + 1 < rank; ++i) {
    forth.push_back(i);
    back.push_back(i + 1);
  }
  back.push_back(1);
  return transpose(e, pool(transpose(e, x, forth)), back);
}

Vals qlinear_average_pool(Emitter& e, const BodyCall& c) {
  const auto& attrs = c.attrs<QAveragePoolAttrs>();
  AttrMap onnx{{"auto_pad", attrs.auto_pad},
               {"ceil_mode", attrs.ceil_mode},
               {"count_include_pad", attrs.count_include_pad},
               {"kernel_shape", attrs.kernel_shape}};
  if (attrs.pads) onnx["pads"] = *attrs.pads;
  if (attrs.strides) onnx["strides"] = *attrs.strides;
  return {unary(e, c, pooled(e, real(e, c, 0), attrs.channels_last != 0, [&](const Val& x) {
                  return e.call("AveragePool", {x}, onnx);
                }))};
}

Vals qlinear_global_average_pool(Emitter& e, const BodyCall& c) {
  const bool last = c.attrs<QGlobalAveragePoolAttrs>().channels_last != 0;
  return {unary(e, c, pooled(e, real(e, c, 0), last, [&](const Val& x) {
                  return e.call("GlobalAveragePool", {x});
                }))};
}

// MaxPool on X [N, spatial..., C].
Vals nhwc_max_pool(Emitter& e, const BodyCall& c) {
  MaxPoolAttrs onnx;
  static_cast<PoolAttrs&>(onnx) = c.attrs<PoolAttrs>();
  return {pooled(e, c.inputs[0], true, [&](const Val& x) {
    const Vals operands{x};
    return e.emit(op_named("MaxPool"), operands, Attrs(onnx), 1)[0];
  })};
}

// (x, x_scale, x_zero_point?, w, w_scale, w_zero_point?, y_scale, y_zero_point?, B?) -> y; the
// weights [M, C / group, kernel...] are the same whichever dim of x and y the channels are.
Vals qlinear_conv(Emitter& e, const BodyCall& c) {
  const auto& attrs = c.attrs<QConvAttrs>();
  const auto zero_point = [&](size_t slot, size_t of) {
    return c.has(slot) ? c.inputs[slot] : e.scalar(e.type(c.inputs[of]).dtype, 0);
  };
  return {pooled(e, c.inputs[0], attrs.channels_last != 0, [&](const Val& x) {
    const Vals operands{x,           c.inputs[1],      zero_point(2, 0),
                        c.inputs[3], c.inputs[4],      zero_point(5, 3),
                        c.inputs[6], zero_point(7, 0), at(c, 8)};
    return e.emit(op_named("QLinearConv"), operands, Attrs(static_cast<const ConvAttrs&>(attrs)),
                  1)[0];
  })};
}

// (Y_scale, Y_zero_point, then tensor, scale and zero point of each part) -> Y
Vals qlinear_concat(Emitter& e, const BodyCall& c) {
  if (c.inputs.size() < 5 || (c.inputs.size() - 2) % 3 != 0) {
    fail(ErrorCode::kInvalidModel, "expected a scale and a zero point, then a tensor, a scale and ",
         "a zero point for each part, got ", c.inputs.size(), " inputs");
  }
  Vals parts;
  for (size_t i = 2; i < c.inputs.size(); i += 3)
    parts.push_back(real(e, c, i));
  const Val y = e.call_many("Concat", parts, {{"axis", c.attrs<QConcatAttrs>().axis}}, 1)[0];
  return {quantized(e, y, c.inputs[0], c.inputs[1], e.type(c.inputs[1]).dtype)};
}

// (condition, X, x_scale, x_zero_point, Y, y_scale, y_zero_point, z_scale, z_zero_point) -> Z
Vals qlinear_where(Emitter& e, const BodyCall& c) {
  const Val z = e.call("Where", {c.inputs[0], real(e, c, 1), real(e, c, 4)});
  return {quantized(e, z, c.inputs[7], c.inputs[8], e.type(c.inputs[1]).dtype)};
}

// --- products ---

// Scales and zero points of a product are scalars or have an element for each column.
void require_lists(Emitter& e, const BodyCall& c, std::initializer_list<size_t> slots) {
  for (const size_t slot : slots) {
    if (!c.has(slot)) continue;
    const Type type = e.type(c.inputs[slot]);
    if (type.has_rank() && type.rank() > 1) {
      fail(ErrorCode::kInvalidModel, signature_of(c.op).inputs[slot].name,
           ": expected a scalar or a vector, got ", type);
    }
  }
}

Vals matmul_integer16(Emitter& e, const BodyCall& c) {
  return {e.call("MatMul",
                 {cast_to(e, c.inputs[0], DType::kInt32), cast_to(e, c.inputs[1], DType::kInt32)})};
}

// The integer product as real numbers: sums * scales, + bias.
Val scaled(Emitter& e, const Val& sums, const Val& a_scale, const Val& b_scale, const Val& bias) {
  const Val scale = e.call("Mul", {a_scale, b_scale});
  const Val y = e.call("Mul", {cast_to(e, sums, e.type(scale).dtype), scale});
  return bias ? e.call("Add", {y, bias}) : y;
}

// (A, B, a_scale, b_scale, a_zero_point?, b_zero_point?, bias?) -> Y
Vals matmul_integer_to_float(Emitter& e, const BodyCall& c) {
  require_lists(e, c, {2, 3, 4, 5});
  const Val sums = e.call("MatMulInteger", {c.inputs[0], c.inputs[1], at(c, 4), at(c, 5)});
  return {scaled(e, sums, c.inputs[2], c.inputs[3], at(c, 6))};
}

// (A, B, b_scale, b_zero_point?, bias?) -> Y; A is quantized on the way.
Vals dynamic_quantize_matmul(Emitter& e, const BodyCall& c) {
  require_lists(e, c, {2, 3});
  const Vals inputs{c.inputs[0]};
  const Vals a = e.call_many("DynamicQuantizeLinear", inputs, {}, 3);
  const Val sums = e.call("MatMulInteger", {a[0], c.inputs[1], a[2], at(c, 3)});
  return {scaled(e, sums, a[1], c.inputs[2], at(c, 4))};
}

// (A, a_scale, a_zero_point, B, b_scale, b_zero_point, C?, y_scale?, y_zero_point?) -> Y
Vals qgemm(Emitter& e, const BodyCall& c) {
  const auto& attrs = c.attrs<QGemmAttrs>();
  require_lists(e, c, {1, 2, 4, 5, 7, 8});
  const Val a = attrs.transA ? transpose(e, c.inputs[0], {1, 0}) : c.inputs[0];
  const Val b = attrs.transB ? transpose(e, c.inputs[3], {1, 0}) : c.inputs[3];
  Val sums = e.call("MatMulInteger", {a, b, c.inputs[2], c.inputs[5]});
  if (c.has(6)) sums = e.call("Add", {sums, c.inputs[6]});
  Val y = scaled(e, sums, c.inputs[1], c.inputs[4], {});
  if (attrs.alpha != 1) y = e.call("Mul", {y, e.scalar_like(y, attrs.alpha)});
  if (!c.has(7)) return {y};
  const DType dtype = e.type(c.has(8) ? c.inputs[8] : c.inputs[0]).dtype;
  return {quantized(e, y, c.inputs[7], at(c, 8), dtype)};
}

// (input, weight, bias, input_scale, weight_scale, mask_index?, input_zero_point?,
// weight_zero_point?, past?) -> (output, present?)
Vals qattention(Emitter& e, const BodyCall& c) {
  const auto& attrs = c.attrs<ContribAttentionAttrs>();
  check_attention(attrs);
  require_lists(e, c, {3, 4, 6, 7});
  const Val sums = e.call("MatMulInteger", {c.inputs[0], c.inputs[1], at(c, 6), at(c, 7)});
  const Vals qkv =
      split_projection(e, attrs, scaled(e, sums, c.inputs[3], c.inputs[4], c.inputs[2]));
  return attend(e, attrs, qkv, {.mask = at(c, 5), .past = at(c, 8)}, c.output_count);
}

// --- QuantizeLinear and DequantizeLinear, as they were before ai.onnx had all of their types ---

struct OptionalAxisAttrs {
  std::optional<int64_t> axis;
  static auto fields() { return std::tuple{field("axis", &OptionalAxisAttrs::axis)}; }
};
Vals converted(Emitter& e, const BodyCall& c, std::string_view op) {
  AttrMap attrs;
  if (const auto& axis = c.attrs<OptionalAxisAttrs>().axis) attrs["axis"] = *axis;
  return e.call_many(op, c.inputs, attrs, 1);
}
Vals quantize_linear(Emitter& e, const BodyCall& c) {
  return converted(e, c, "QuantizeLinear");
}
Vals dequantize_linear(Emitter& e, const BodyCall& c) {
  return converted(e, c, "DequantizeLinear");
}

// --- samples ---

SampleInput scale(float value) {
  return {.shape = {}, .value = Tensor::scalar(value)};
}
SampleInput bytes(Shape shape) {
  return {.shape = std::move(shape), .low = 0, .high = 100, .dtype = DType::kUInt8};
}
SampleInput zero(uint8_t value) {
  return {.shape = {}, .value = Tensor::scalar(value)};
}
const SampleInput& kNone = *new SampleInput{.omitted = true};

std::vector<Sample> binary_samples() {
  return {{.inputs = {bytes({2, 3}), scale(0.1f), zero(50), bytes({3}), scale(0.05f), zero(20),
                      scale(0.2f), zero(100)}},
          {.inputs = {bytes({2, 3}), scale(0.1f), kNone, bytes({1}), scale(0.05f), kNone,
                      scale(0.2f)}}};
}
std::vector<Sample> qlinear_unary_samples() {
  return {{.inputs = {bytes({2, 3}), scale(0.1f), zero(50), scale(0.02f), zero(10)}},
          {.inputs = {bytes({2, 3}), scale(0.1f), kNone, scale(0.02f)}}};
}
std::vector<Sample> with(AttrMap attrs, Shape shape) {
  return {{.inputs = {bytes(std::move(shape)), scale(0.1f), zero(50), scale(0.02f), zero(10)},
           .attrs = std::move(attrs)}};
}
std::vector<Sample> qlinear_softmax_samples() {
  std::vector<Sample> samples = with({{"opset", int64_t{13}}}, {2, 3});
  samples.push_back(with({{"opset", int64_t{12}}, {"axis", int64_t{1}}}, {2, 3, 2})[0]);
  return samples;
}
std::vector<Sample> qlinear_reduce_samples() {
  return with({{"axes", Ints{1}}, {"keepdims", int64_t{0}}}, {2, 3});
}
std::vector<Sample> qlinear_pool_samples() {
  return with({{"kernel_shape", Ints{2, 2}}, {"channels_last", int64_t{1}}}, {1, 4, 4, 2});
}
std::vector<Sample> qlinear_global_pool_samples() {
  return with({{"channels_last", int64_t{0}}}, {1, 2, 3, 3});
}
std::vector<Sample> nhwc_max_pool_samples() {
  return {{.inputs = {bytes({1, 5, 4, 3})},
           .attrs = {{"kernel_shape", Ints{3, 2}}, {"pads", Ints{1, 0, 1, 0}}}}};
}
std::vector<Sample> qlinear_conv_samples() {
  const auto conv = [](Shape x, AttrMap attrs) {
    return Sample{.inputs = {bytes(std::move(x)),
                             scale(0.1f),
                             zero(50),
                             bytes({3, 2, 3, 2}),
                             scale(0.02f),
                             zero(40),
                             scale(0.5f),
                             zero(10),
                             {.shape = {3}, .dtype = DType::kInt32}},
                  .attrs = std::move(attrs)};
  };
  return {conv({1, 5, 4, 2}, {{"channels_last", int64_t{1}}, {"pads", Ints{1, 0, 1, 1}}}),
          conv({1, 2, 5, 4}, {{"strides", Ints{2, 1}}})};
}
std::vector<Sample> integer16_samples() {
  return {{.inputs = {{.shape = {2, 3}, .low = -300, .high = 300, .dtype = DType::kInt16},
                      {.shape = {3, 4}, .low = -300, .high = 300, .dtype = DType::kInt16}}}};
}
std::vector<Sample> concat_samples() {
  return {{.inputs = {scale(0.2f), zero(3), bytes({2, 3}), scale(0.1f), zero(5), bytes({2, 1}),
                      scale(0.2f), zero(0)},
           .attrs = {{"axis", int64_t{1}}}}};
}
std::vector<Sample> where_samples() {
  return {{.inputs = {{.shape = {2, 3}, .dtype = DType::kBool},
                      bytes({2, 3}),
                      scale(0.1f),
                      zero(5),
                      bytes({3}),
                      scale(0.2f),
                      zero(7),
                      scale(0.3f),
                      zero(9)}}};
}
std::vector<Sample> to_float_samples() {
  return {{.inputs = {bytes({2, 3}),
                      bytes({3, 4}),
                      scale(0.1f),
                      scale(0.2f),
                      zero(5),
                      zero(7),
                      {.shape = {4}, .dtype = DType::kFloat}}}};
}
std::vector<Sample> dynamic_samples() {
  return {
      {.inputs = {{.shape = {2, 3}, .dtype = DType::kFloat}, bytes({3, 4}), scale(0.1f), zero(7)}}};
}
std::vector<Sample> qgemm_samples() {
  Sample to_bytes{.inputs = {bytes({2, 3}),
                             scale(0.1f),
                             zero(5),
                             bytes({4, 3}),
                             scale(0.2f),
                             zero(7),
                             {.shape = {4}, .dtype = DType::kInt32},
                             scale(0.5f),
                             zero(3)},
                  .attrs = {{"transB", int64_t{1}}}};
  Sample to_floats = to_bytes;
  to_floats.inputs.resize(7);
  return {std::move(to_bytes), std::move(to_floats)};
}
std::vector<Sample> qattention_samples() {
  return {{.inputs = {bytes({2, 3, 4}),
                      bytes({4, 12}),
                      {.shape = {12}, .dtype = DType::kFloat},
                      scale(0.01f),
                      scale(0.02f),
                      {.shape = {2}, .value = Tensor::vector<int32_t>({3, 2})},
                      zero(50),
                      zero(40)},
           .attrs = {{"num_heads", int64_t{2}}}}};
}
std::vector<Sample> contrib_quantize_samples() {
  return {{.inputs = {{.shape = {2, 3}, .dtype = DType::kFloat}, scale(0.1f), zero(50)}}};
}
std::vector<Sample> contrib_dequantize_samples() {
  return {{.inputs = {bytes({2, 3}), scale(0.1f), zero(50)}}};
}

constexpr std::string_view kBinary =
    "(A: T, A_scale: float, A_zero_point?: T, B: T, B_scale: float, B_zero_point?: T, "
    "C_scale: float, C_zero_point?: T) -> (C: T)";
constexpr std::string_view kUnary =
    "(X: T, X_scale: float, X_zero_point?: T, Y_scale: float, Y_zero_point?: T) -> (Y: T)";

OpDef bytes_row(std::string_view name, std::string_view signature,
                Vals (*body)(Emitter&, const BodyCall&), std::vector<Sample> (*samples)(),
                const AttrSchema* attrs = attr_schema<NoAttrs>()) {
  return {.name = name,
          .domain = kMicrosoft,
          .signature = signature,
          .types = {{"T", kByteInts}},
          .attrs = attrs,
          .infer = infer_by_body,
          .body = body,
          .samples = samples};
}

OpDef product_row(std::string_view name, std::string_view signature, TypeConstraints types,
                  Vals (*body)(Emitter&, const BodyCall&), std::vector<Sample> (*samples)(),
                  const AttrSchema* attrs = attr_schema<NoAttrs>()) {
  return {.name = name,
          .domain = kMicrosoft,
          .signature = signature,
          .types = types,
          .attrs = attrs,
          .infer = infer_by_body,
          .body = body,
          .samples = samples};
}

OpDef of_our_own(OpDef row) {
  row.domain = "sardonyx";
  return row;
}

OpDef on_images(OpDef row) {
  row.layout = LayoutRole::kImage;
  return row;
}

OpDef with_weights(OpDef row, uint32_t inputs) {
  row.weight_inputs = inputs;
  return row;
}

constexpr DTypeSet kHalfOrFloat{DType::kFloat, DType::kFloat16};
constexpr DTypeSet kContribQuantized =
    kByteInts | DTypeSet{DType::kInt16, DType::kUInt16, DType::kInt4, DType::kUInt4};

const OpDef kContribQuantizedOps[] = {
    bytes_row("QLinearAdd", kBinary, qlinear_add, binary_samples)
        .documented("The sum of quantised tensors, quantised again, broadcast to one shape."),
    bytes_row("QLinearMul", kBinary, qlinear_mul, binary_samples)
        .documented(
            "The product of quantised tensors, quantised again, broadcast to one shape: the "
            "product of the integers times one factor."),
    of_our_own(bytes_row("QdqMul", kBinary, qdq_mul, binary_samples))
        .documented("DequantizeLinear of two tensors, Mul and QuantizeLinear, rounded as these "
                    "are."),
    bytes_row("QLinearSigmoid", kUnary, qlinear_sigmoid, qlinear_unary_samples)
        .documented("Sigmoid of quantised elements, quantised again."),
    bytes_row("QLinearLeakyRelu", kUnary, qlinear_leaky_relu, qlinear_unary_samples,
              attr_schema<QLeakyReluAttrs>())
        .documented("LeakyRelu of quantised elements, quantised again."),
    bytes_row("QLinearSoftmax",
              "(X: T, X_scale: float, x_zero_point?: T, y_scale: float, y_zero_point: T) -> (Y: T)",
              qlinear_softmax, qlinear_softmax_samples, attr_schema<QSoftmaxAttrs>())
        .documented("Softmax of quantised elements along `axis`, quantised again."),
    bytes_row("QLinearReduceMean",
              "(data: T, data_scale: float, data_zero_point?: T, reduced_scale: float, "
              "reduced_zero_point?: T) -> (reduced: T)",
              qlinear_reduce_mean, qlinear_reduce_samples, attr_schema<QReduceAttrs>())
        .documented("The mean of quantised elements over `axes`, quantised again."),
    on_images(
        bytes_row(
            "QLinearAveragePool",
            "(X: T, x_scale: float, x_zero_point?: T, y_scale: float, y_zero_point?: T) -> (Y: T)",
            qlinear_average_pool, qlinear_pool_samples, attr_schema<QAveragePoolAttrs>())
            .documented("AveragePool of quantised elements, quantised again.")),
    on_images(
        bytes_row(
            "QLinearGlobalAveragePool",
            "(X: T, x_scale: float, x_zero_point: T, y_scale: float, y_zero_point: T) -> (Y: T)",
            qlinear_global_average_pool, qlinear_global_pool_samples,
            attr_schema<QGlobalAveragePoolAttrs>())
            .documented("GlobalAveragePool of quantised elements, quantised again.")),
    on_images(bytes_row("NhwcMaxPool", "(x: T) -> (y: T)", nhwc_max_pool, nhwc_max_pool_samples,
                        attr_schema<PoolAttrs>())
                  .documented("MaxPool of x [N, spatial..., C].")),
    with_weights(
        on_images(
            product_row("QLinearConv",
                        "(x: T1, x_scale: float, x_zero_point?: T1, w: T2, w_scale: float, "
                        "w_zero_point?: T2, y_scale: float, y_zero_point?: T3, B?: int32) -> "
                        "(y: T3)",
                        {{"T1", kByteInts}, {"T2", kByteInts}, {"T3", kByteInts}}, qlinear_conv,
                        qlinear_conv_samples, attr_schema<QConvAttrs>())
                .documented("QLinearConv of x [N, C, spatial...], or of [N, spatial..., C] where "
                            "`channels_last` says so.")),
        1u << 3),
    product_row("MatMulInteger16", "(A: T1, B: T2) -> (Y: T3)",
                {{"T1", DType::kInt16}, {"T2", DType::kInt16}, {"T3", DType::kInt32}},
                matmul_integer16, integer16_samples)
        .documented("The matrix product of 16-bit integers, in int32."),
    bytes_row("QLinearWhere",
              "(condition: bool, X: T, x_scale: float, x_zero_point: T, Y: T, y_scale: float, "
              "y_zero_point: T, z_scale: float, z_zero_point: T) -> (Z: T)",
              qlinear_where, where_samples)
        .documented("Where of quantised tensors, each with its own scale, quantised again."),
    product_row("QLinearConcat", "(Y_scale: float, Y_zero_point: T8, inputs...: TV*) -> (Y: T8)",
                {{"T8", kByteInts}, {"TV", kByteInts | DType::kFloat}}, qlinear_concat,
                concat_samples, attr_schema<QConcatAttrs>())
        .documented(
            "Quantised tensors, each with its own scale, joined along `axis` in one scale."),
    with_weights(
        product_row(
            "MatMulIntegerToFloat",
            "(A: T1, B: T2, a_scale: T3, b_scale: T3, a_zero_point?: T1, b_zero_point?: T2, "
            "bias?: T3) -> (Y: T3)",
            {{"T1", kByteInts}, {"T2", kByteInts}, {"T3", kHalfOrFloat}}, matmul_integer_to_float,
            to_float_samples)
            .documented("The matrix product of 8-bit integers, times the scales of both and with a "
                        "bias, in floats."),
        1u << 1),
    product_row("DynamicQuantizeMatMul",
                "(A: T1, B: T2, b_scale: T1, b_zero_point?: T2, bias?: T1) -> (Y: T1)",
                {{"T1", DType::kFloat}, {"T2", kByteInts}}, dynamic_quantize_matmul,
                dynamic_samples)
        .documented("The matrix product of floats that are quantised for it and quantised weights, "
                    "in floats."),
    with_weights(
        product_row("QGemm",
                    "(A: TA, a_scale: T, a_zero_point: TA, B: TB, b_scale: T, b_zero_point: TB, "
                    "C?: TC, y_scale?: T, y_zero_point?: TYZ) -> (Y: TY)",
                    {{"T", DType::kFloat},
                     {"TA", kByteInts},
                     {"TB", kByteInts},
                     {"TC", DType::kInt32},
                     {"TYZ", kByteInts},
                     {"TY", kByteInts | DType::kFloat}},
                    qgemm, qgemm_samples, attr_schema<QGemmAttrs>())
            .documented("Gemm of quantised matrices, in floats or quantised again."),
        1u << 3),
    product_row("QAttention",
                "(input: T1, weight: T2, bias: T3, input_scale: T3, weight_scale: T3, "
                "mask_index?: T4, input_zero_point?: T1, weight_zero_point?: T2, past?: T3) -> "
                "(output: T3, present?: T3)",
                {{"T1", kByteInts}, {"T2", kByteInts}, {"T3", kHalfOrFloat}, {"T4", DType::kInt32}},
                qattention, qattention_samples, attr_schema<ContribAttentionAttrs>())
        .documented("Self-attention whose input and weights are quantised."),
    product_row("QuantizeLinear", "(x: T1, y_scale: T1, y_zero_point?: T2) -> (y: T2)",
                {{"T1", kHalfOrFloat}, {"T2", kContribQuantized}}, quantize_linear,
                contrib_quantize_samples, attr_schema<OptionalAxisAttrs>())
        .documented("ONNX's QuantizeLinear by its name here."),
    product_row("DequantizeLinear", "(x: T1, x_scale: T2, x_zero_point?: T1) -> (y: T2)",
                {{"T1", kContribQuantized | DType::kInt32}, {"T2", kHalfOrFloat}},
                dequantize_linear, contrib_dequantize_samples, attr_schema<OptionalAxisAttrs>())
        .documented("ONNX's DequantizeLinear by its name here."),
};

}  // namespace

std::span<const OpDef> contrib_quantized_ops() {
  return kContribQuantizedOps;
}

}  // namespace sardonyx::ops
