#include <algorithm>
#include <cmath>
#include <limits>

#include "ir/core/dtype_convert.h"
#include "ir/core/run_control.h"
#include "ir/core/strides.h"
#include "ir/ops/inference/infer.h"
#include "ir/ops/op_families.h"
#include "ir/ops/quantization/quantize_gradient.h"
#include "ir/ops/reference/samples.h"

namespace sardonyx::ops {
namespace {

constexpr DTypeSet kQuantized =
    kFloat8s | kPackedInts |
    DTypeSet{DType::kInt8, DType::kUInt8, DType::kInt16, DType::kUInt16, DType::kFloat4E2M1};
constexpr DTypeSet kSingles{DType::kFloat, DType::kFloat16, DType::kBFloat16};

struct QuantizeAttrs {
  int64_t axis = 1;
  int64_t block_size = 0;
  DType output_dtype = DType::kUndefined;
  DType precision = DType::kUndefined;
  bool saturate = true;
  static auto fields() {
    return std::tuple{
        field("axis", &QuantizeAttrs::axis), field("block_size", &QuantizeAttrs::block_size),
        field("output_dtype", &QuantizeAttrs::output_dtype),
        field("precision", &QuantizeAttrs::precision), field("saturate", &QuantizeAttrs::saturate)};
  }
};
struct DequantizeAttrs {
  int64_t axis = 1;
  int64_t block_size = 0;
  DType output_dtype = DType::kUndefined;
  static auto fields() {
    return std::tuple{field("axis", &DequantizeAttrs::axis),
                      field("block_size", &DequantizeAttrs::block_size),
                      field("output_dtype", &DequantizeAttrs::output_dtype)};
  }
};

// A vector has one axis, whatever the attribute (its default is 1) says.
int64_t axis_in(int64_t axis, size_t rank) {
  return rank == 1 ? 0 : axis;
}

bool is_single(const Dims& shape) {
  return shape.empty() || (shape.size() == 1 && shape[0] == 1);
}

// Whether a run may find one number here.
bool may_be_single(const Dims& shape) {
  return shape.empty() || (shape.size() == 1 && (!shape[0].is_known() || shape[0] == 1));
}

// The zero point has the scale's shape, but that one number may come as a scalar or as a vector of
// one. Where one of them is a vector whose length a run tells, it is compared then.
void check_zero_point(InferContext& c) {
  if (!c.has(2) || !c.shape(1) || !c.shape(2)) return;
  const Dims &scale = *c.shape(1), &zero_point = *c.shape(2);
  if (is_single(scale) && is_single(zero_point)) return;
  if (scale.size() != zero_point.size()) {
    if (may_be_single(scale) && may_be_single(zero_point)) return;
    c.fail_input(2, "must have the shape of the scale, ", to_text(scale));
  }
  for (size_t i = 0; i < scale.size(); ++i) {
    c.merged(scale[i], zero_point[i], "dims of scale and zero point");
  }
}

// The scale is one number, one for each slice along the axis, or one for each block of `block_size`
// along it.
void check_scale(InferContext& c, int64_t given_axis, int64_t block_size) {
  c.require(block_size >= 0, "block_size: expected a positive number, or 0 for none, got ",
            block_size);
  check_zero_point(c);
  const Dims *x = c.shape(0), *scale = c.shape(1);
  if (!x || !scale || scale->empty()) return;
  if (is_single(*scale)) return;
  if (x->empty()) return require_single(c, 1);
  const auto axis =
      static_cast<size_t>(c.normalized_axis(axis_in(given_axis, x->size()), x->size()));
  if (block_size == 0) {
    if (scale->size() != 1) {
      c.fail_input(1, "expected a scalar or a vector; blocked quantization needs block_size");
    }
    c.merged((*x)[axis], (*scale)[0], "scale against the quantized axis");
    return;
  }
  if (scale->size() != x->size()) c.fail_input(1, "expected rank ", x->size(), " for blocks");
  for (size_t i = 0; i < x->size(); ++i) {
    const Dim wanted = i == axis ? ceil_div((*x)[i], block_size) : (*x)[i];
    c.merged(wanted, (*scale)[i], "scale of blocked quantization");
  }
}

// Visits x in runs that have a constant step through the scales: visit(first element, its scale,
// step, length).
template <typename Visit>
void for_each_run(std::span<const int64_t> shape, std::span<const int64_t> scale_shape,
                  int64_t given_axis, int64_t block_size, Visit&& visit) {
  const int64_t count = TensorView{{}, shape}.count();
  if (count == 0) return;
  if (TensorView{{}, scale_shape}.count() == 1) {
    return visit(int64_t{0}, int64_t{0}, int64_t{0}, count);
  }
  const AxisSplit split = split_at(shape, axis_of(axis_in(given_axis, shape.size()), shape.size()));
  const int64_t blocks = block_size == 0 ? 0 : (split.size + block_size - 1) / block_size;
  for (int64_t outer = 0; outer < split.outer; ++outer) {
    for (int64_t i = 0; i < split.size; ++i) {
      const int64_t begin = (outer * split.size + i) * split.inner;
      if (block_size == 0)
        visit(begin, i, int64_t{0}, split.inner);
      else
        visit(begin, (outer * blocks + i / block_size) * split.inner, int64_t{1}, split.inner);
    }
  }
}

// Visits the elements in pieces of at most kPiece.
constexpr int64_t kPiece = 512;
template <typename Visit>
void for_each_piece(const KernelCall& call, int64_t axis, int64_t block_size, Visit&& visit) {
  for_each_run(call.inputs[0].shape, call.inputs[1].shape, axis, block_size,
               [&](int64_t begin, int64_t scale, int64_t step, int64_t length) {
                 for (int64_t done = 0; done < length; done += kPiece) {
                   check_interrupted();
                   visit(begin + done, scale + done * step, step, std::min(kPiece, length - done));
                 }
               });
}

// Rounds numbers to those of `dtype`: what arithmetic in that type leaves.
void round_to(DType dtype, double* values, int64_t count) {
  if (dtype == DType::kDouble || dtype == DType::kInt32) return;
  const bool is_half = dtype == DType::kFloat16 || dtype == DType::kBFloat16;
  const DType type = is_half ? dtype : DType::kFloat;
  float stored[kPiece];
  store_numbers(type, stored, 0, count, values);
  load_numbers(type, stored, 0, 1, count, values);
}

// The limits of integer type `dtype`.
std::pair<double, double> range_of(DType dtype) {
  const int bits = bits_of(dtype);
  if (is_signed_integer(dtype)) return {-std::ldexp(1.0, bits - 1), std::ldexp(1.0, bits - 1) - 1};
  return {0, std::ldexp(1.0, bits) - 1};
}

// Integers: round half to even, add the zero point, clamp; NaN becomes the lowest number, as in
// ONNX Runtime.
void quantize_to_integers(DType dtype, double* values, const double* zero_points, int64_t count) {
  const auto [low, high] = range_of(dtype);
  for (int64_t i = 0; i < count; ++i) {
    const double shifted = std::nearbyint(values[i]) + zero_points[i];
    values[i] = shifted >= low ? std::min(shifted, high) : low;
  }
}

// The type in which x / scale is computed.
DType division_type(const KernelCall& call) {
  const DType precision = call.attrs<QuantizeAttrs>().precision;
  return precision != DType::kUndefined ? precision : call.inputs[1].dtype;
}

// `length` values from element `begin` on, with their scales and, where there are any, zero points.
void load_piece(const KernelCall& call, int64_t begin, int64_t scale_at, int64_t step,
                int64_t length, double* x, double* scale, double* zero_point) {
  load_numbers(call.inputs[0].dtype, call.inputs[0].raw, begin, 1, length, x);
  load_numbers(call.inputs[1].dtype, call.inputs[1].raw, scale_at, step, length, scale);
  if (call.has(2))
    load_numbers(call.inputs[2].dtype, call.inputs[2].raw, scale_at, step, length, zero_point);
}

void quantize_linear(const KernelCall& call) {
  const auto& attrs = call.attrs<QuantizeAttrs>();
  const DType dtype = call.outputs[0].dtype;
  const DType precision = division_type(call);
  const ConvertOptions options{attrs.saturate ? Overflow::kSaturate : Overflow::kToInfinity};
  double x[kPiece], scale[kPiece], zero_point[kPiece] = {};
  const auto visit = [&](int64_t begin, int64_t scale_at, int64_t step, int64_t length) {
    load_piece(call, begin, scale_at, step, length, x, scale, zero_point);
    round_to(precision, x, length);
    round_to(precision, scale, length);
    for (int64_t i = 0; i < length; ++i)
      x[i] /= scale[i];
    round_to(precision, x, length);  // the quotient of two floats, taken in double, rounds right
    if (is_integer(dtype)) {
      quantize_to_integers(dtype, x, zero_point, length);
    } else {
      for (int64_t i = 0; i < length; ++i)
        x[i] += zero_point[i];
    }
    store_numbers(dtype, call.outputs[0].raw, begin, length, x, options);
  };
  for_each_piece(call, attrs.axis, attrs.block_size, visit);
}

void infer_quantize(InferContext& c) {
  const auto& attrs = c.attrs<QuantizeAttrs>();
  DType dtype = DType::kUInt8;
  if (attrs.output_dtype != DType::kUndefined) {
    dtype = require_dtype(c, attrs.output_dtype, "T3", "output_dtype");
  }
  if (c.has(2)) {
    c.require(attrs.output_dtype == DType::kUndefined || dtype == c.dtype(2), "output_dtype ",
              dtype, " differs from the zero point's type ", c.dtype(2));
    dtype = c.dtype(2);
  }
  const DType precision = attrs.precision;
  c.require(precision == DType::kUndefined || kFloats.has(precision),
            "precision: expected a floating type, got ", precision);
  check_scale(c, attrs.axis, attrs.block_size);
  c.set(0, dtype, shape_of(c, 0));
}

void dequantize_linear(const KernelCall& call) {
  const auto& attrs = call.attrs<DequantizeAttrs>();
  double x[kPiece], scale[kPiece], zero_point[kPiece] = {};
  const auto visit = [&](int64_t begin, int64_t scale_at, int64_t step, int64_t length) {
    load_piece(call, begin, scale_at, step, length, x, scale, zero_point);
    // Differences of integers are exact in double; float is where the product is taken.
    for (int64_t i = 0; i < length; ++i) {
      x[i] = static_cast<float>(x[i] - zero_point[i]) * static_cast<float>(scale[i]);
    }
    store_numbers(call.outputs[0].dtype, call.outputs[0].raw, begin, length, x);
  };
  for_each_piece(call, attrs.axis, attrs.block_size, visit);
}

void infer_dequantize(InferContext& c) {
  const auto& attrs = c.attrs<DequantizeAttrs>();
  const bool is_given = attrs.output_dtype != DType::kUndefined;
  const DType dtype = require_dtype(c, is_given ? attrs.output_dtype : c.dtype(1), "T3",
                                    is_given ? "output_dtype" : "output_dtype (from x_scale)");
  check_scale(c, attrs.axis, attrs.block_size);
  c.set(0, dtype, shape_of(c, 0));
}

void infer_dynamic_quantize(InferContext& c) {
  c.set(0, DType::kUInt8, shape_of(c, 0));
  c.set(1, DType::kFloat, Dims{});
  c.set(2, DType::kUInt8, Dims{});
}

// The range of x is widened to hold 0. Where it is 0 alone, as for an empty x, the scale is 1, as
// in ONNX Runtime.
void dynamic_quantize(const KernelCall& call) {
  const TensorView& x = call.inputs[0];
  const std::span values(x.data<const float>(), static_cast<size_t>(x.count()));
  float low = 0, high = 0;
  for (const float value : values) {
    low = std::min(low, value);
    high = std::max(high, value);
  }
  const float scale = low == high ? 1.0f : (high - low) / 255.0f;
  const float zero_point = std::nearbyint(clamped_number(0.0f - low / scale, 0.0f, 255.0f));
  const auto quantized = [=](float value) {
    const float shifted = std::nearbyint(value / scale) + zero_point;
    return static_cast<uint8_t>(shifted >= 0 ? std::min(shifted, 255.0f) : 0.0f);
  };
  std::transform(values.begin(), values.end(), call.outputs[0].data<uint8_t>(), quantized);
  *call.outputs[1].data<float>() = scale;
  *call.outputs[2].data<uint8_t>() = static_cast<uint8_t>(zero_point);
}

void infer_byte_table(InferContext& c) {
  if (const Dims* table = c.shape(1)) {
    const bool fits = table->size() == 1 && (!(*table)[0].is_known() || (*table)[0] == 256);
    if (!fits) c.fail_input(1, "expected 256 entries in one dim");
  }
  c.set(0, c.dtype(1), shape_of(c, 0));
}

void look_up_bytes(const KernelCall& call) {
  const auto* table = call.inputs[1].data<const uint8_t>();
  const auto* x = call.inputs[0].data<const uint8_t>();
  std::transform(x, x + call.inputs[0].count(), call.outputs[0].data<uint8_t>(),
                 [table](uint8_t byte) { return table[byte]; });
}

std::vector<Sample> byte_table_samples() {
  const SampleInput x{.shape = {3, 50}, .low = 0, .high = 127};
  return {{.inputs = {x, {.shape = {256}, .low = 0, .high = 127, .dtype = DType::kUInt8}}},
          {.inputs = {x, {.shape = {256}, .low = -128, .high = 127, .dtype = DType::kInt8}}},
          {.inputs = {{.shape = {0}}, {.shape = {256}, .low = 0, .high = 1}}}};
}

// Scalars, one scale for each slice of an axis, and blocks, the last of them cut short.
std::vector<Sample> granularities(const SampleInput& x, DType zero_point,
                                  const SampleInput& scale) {
  const auto sized = [](SampleInput input, Shape shape) {
    input.shape = std::move(shape);
    return input;
  };
  const SampleInput zero{.low = 0, .high = 1, .dtype = zero_point};
  const struct {
    Shape x, scale;
    AttrMap attrs;
  } cases[] = {
      {{2, 3, 4}, {}, {}},
      {{}, {}, {}},
      {{7}, {1}, {}},
      {{0, 3}, {3}, {}},
      {{2, 3, 4}, {3}, {}},
      {{2, 3, 4}, {4}, {{"axis", int64_t{-1}}}},
      {{2, 5, 4}, {2, 3, 4}, {{"block_size", int64_t{2}}}},
      {{2, 5}, {2, 2}, {{"block_size", int64_t{3}}, {"axis", int64_t{1}}}},
  };
  std::vector<Sample> samples;
  for (const auto& c : cases) {
    samples.push_back(
        {.inputs = {sized(x, c.x), sized(scale, c.scale), sized(zero, c.scale)}, .attrs = c.attrs});
  }
  return samples;
}

std::vector<Sample> quantize_samples() {
  std::vector<Sample> samples;
  const SampleInput x{.low = -20, .high = 20};
  const SampleInput scale{.low = 0.25, .high = 2, .dtype = DType::kFloat};
  for (int code = 1; code < kDTypeCount; ++code) {
    const auto to = static_cast<DType>(code);
    if (kQuantized.has(to)) samples = joined(samples, granularities(x, to, scale));
  }
  samples.push_back({.inputs = {{.shape = {3, 2}}, {.shape = {}, .low = 0.5, .high = 0.5}},
                     .attrs = {{"output_dtype", int64_t{3}}, {"precision", int64_t{10}}},
                     .only = DType::kFloat});
  samples.push_back(
      {.inputs = {{.value = extreme_floats(DType::kFloat)}, {.value = Tensor::scalar<float>(0.5f)}},
       .only = DType::kFloat});
  return samples;
}

std::vector<Sample> dequantize_samples() {
  std::vector<Sample> samples;
  const SampleInput x{.low = 0, .high = 3};
  for (const DType scale_type : {DType::kFloat, DType::kFloat16}) {
    const SampleInput scale{.low = 0.25, .high = 2, .dtype = scale_type};
    for (Sample& sample : granularities(x, DType::kUndefined, scale)) {
      samples.push_back(sample);
      sample.inputs.pop_back();
      samples.push_back(std::move(sample));
    }
  }
  samples.push_back({.inputs = {{.shape = {3, 2}, .low = 0, .high = 3},
                                {.shape = {}, .low = 1, .high = 2, .dtype = DType::kFloat8E8M0}},
                     .attrs = {{"output_dtype", int64_t{1}}}});
  return samples;
}

}  // namespace

std::span<const OpDef> quantize_ops() {
  static const OpDef rows[] = {
      {.name = "QuantizeLinear",
       .doc =
           "x / y_scale rounded to the nearest even integer, plus the zero point, limited to the "
           "type of the output: one scale, one for each index of `axis`, or one for each block.",
       .since = 25,
       .signature = "(x: T1, y_scale: T2, y_zero_point?: T3) -> (y: T3)",
       .types = {{"T1", kSingles | DType::kInt32},
                 {"T2", kSingles | DTypeSet{DType::kInt32, DType::kFloat8E8M0}},
                 {"T3", kQuantized}},
       .attrs = attr_schema<QuantizeAttrs>(),
       .infer = infer_quantize,
       .reference = quantize_linear,
       .samples = quantize_samples},
      {.name = "DequantizeLinear",
       .doc = "(x - x_zero_point) * x_scale: one scale, one for each index of `axis`, or one for "
              "each block.",
       .since = 25,
       .signature = "(x: T1, x_scale: T2, x_zero_point?: T1) -> (y: T3)",
       .types = {{"T1", kQuantized | DType::kInt32},
                 {"T2", kSingles | DType::kFloat8E8M0},
                 {"T3", kSingles}},
       .attrs = attr_schema<DequantizeAttrs>(),
       .infer = infer_dequantize,
       .reference = dequantize_linear,
       .grad = dequantize_linear_grad,
       .facts = kDequantizes,
       .samples = dequantize_samples},
      {.name = "DynamicQuantizeLinear",
       .doc = "x as uint8, with the scale and zero point that its smallest and largest element "
              "lead to.",
       .since = 11,
       .signature = "(x: T1) -> (y: T2, y_scale: float, y_zero_point: T2)",
       .types = {{"T1", DType::kFloat}, {"T2", DType::kUInt8}},
       .infer = infer_dynamic_quantize,
       .reference = dynamic_quantize,
       .grad = dynamic_quantize_linear_grad,
       .samples =
           [] {
             std::vector<Sample> samples =
                 joined(unary_samples(), joined(unary_samples(0, 0), unary_samples(1, 3)));
             for (Sample& sample : samples)
               sample.outputs = 3;
             return samples;
           }},
      // Any function of one byte: y = table[x], where x counts as a byte without a sign.
      {.name = "ByteTable",
       .doc = "Each 8-bit element replaced by its entry in a table of 256: a chain of ops on "
              "quantised bytes.",
       .domain = "sardonyx",
       .signature = "(X: T1, table: T2) -> (Y: T2)",
       .types = {{"T1", DTypeSet{DType::kInt8, DType::kUInt8}},
                 {"T2", DTypeSet{DType::kInt8, DType::kUInt8}}},
       .infer = infer_byte_table,
       .reference = look_up_bytes,
       .samples = byte_table_samples},
  };
  return rows;
}

}  // namespace sardonyx::ops
