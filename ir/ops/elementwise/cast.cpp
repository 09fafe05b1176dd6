#include <cstring>

#include "ir/core/bools.h"
#include "ir/core/dtype_convert.h"
#include "ir/core/memory/counted_strings.h"
#include "ir/core/run_control.h"
#include "ir/ops/gradient/gradient_rules.h"
#include "ir/ops/inference/infer.h"
#include "ir/ops/inference/propagate_values.h"
#include "ir/ops/op_families.h"
#include "ir/ops/reference/samples.h"
#include "ir/ops/string/number_text.h"

namespace sardonyx::ops {
namespace {

constexpr DTypeSet kCastable = kAnyDType.without(kComplexes);
constexpr DTypeSet kBitCastable = kAnyDType.without(DType::kString);

struct CastAttrs {
  std::string round_mode = "up";
  bool saturate = true;
  DType to = DType::kUndefined;
  static auto fields() {
    return std::tuple{field("round_mode", &CastAttrs::round_mode),
                      field("saturate", &CastAttrs::saturate), required("to", &CastAttrs::to)};
  }
};
struct CastLikeAttrs {
  std::string round_mode = "up";
  bool saturate = true;
  static auto fields() {
    return std::tuple{field("round_mode", &CastLikeAttrs::round_mode),
                      field("saturate", &CastLikeAttrs::saturate)};
  }
};
struct BitCastAttrs {
  DType to = DType::kUndefined;
  static auto fields() { return std::tuple{required("to", &BitCastAttrs::to)}; }
};

std::optional<Dim> itself(std::span<const Dim> x) {
  return x[0];
}

// Values go through only where both types are integers: others have no dims.
void infer_conversion(InferContext& c, DType to, const std::string& round_mode) {
  c.require(round_mode == "up" || round_mode == "down" || round_mode == "nearest",
            "round_mode: expected up, down or nearest, got ", round_mode);
  c.set(0, to, shape_of(c, 0));
  if (!is_integer(to) || !is_integer(c.dtype(0)) || c.dtype(0) == DType::kUInt64) return;
  const std::optional<size_t> rank = rank_of(c, 0);
  if (!rank || *rank > 1) return;
  InferInput only{c.type(0), c.constant(0), c.all_inputs()[0].dims};
  InferContext alone(c.op(), c.raw_attrs(), {&only, 1}, 1, 1, c.fresh_symbol());
  alone.set(0, to, shape_of(c, 0));
  propagate_values(alone, itself);
  if (alone.outputs()[0].dims) c.set_dims(0, *alone.outputs()[0].dims);
}

void infer_cast(InferContext& c) {
  const auto& attrs = c.attrs<CastAttrs>();
  infer_conversion(c, require_dtype(c, attrs.to, "T2", "to"), attrs.round_mode);
}

void infer_cast_like(InferContext& c) {
  infer_conversion(c, c.dtype(1), c.attrs<CastLikeAttrs>().round_mode);
}

ConvertOptions options_of(const std::string& round_mode, bool saturate) {
  ConvertOptions options;
  options.overflow = saturate ? Overflow::kSaturate : Overflow::kToInfinity;
  if (round_mode == "down") options.e8m0_rounding = ScaleRounding::kDown;
  if (round_mode == "nearest") options.e8m0_rounding = ScaleRounding::kNearest;
  return options;
}

void convert(const KernelCall& call, const ConvertOptions& options) {
  const TensorView& from = call.inputs[0];
  const TensorView& to = call.outputs[0];
  const int64_t count = from.count();
  if (from.dtype == DType::kString && to.dtype == DType::kString) {
    copy_elements(from.data<const std::string>(), count, to.data<std::string>());
  } else if (from.dtype == DType::kString) {
    numbers_from_text(from.data<const std::string>(), to.dtype, to.raw, count, options);
  } else if (to.dtype == DType::kString) {
    numbers_to_text(from.dtype, from.raw, to.data<std::string>(), count);
  } else {
    convert_numbers(from.dtype, from.raw, to.dtype, to.raw, count, options);
  }
}

void convert_elements(const KernelCall& call) {
  const auto& attrs = call.attrs<CastAttrs>();
  convert(call, options_of(attrs.round_mode, attrs.saturate));
}

void cast_like(const KernelCall& call) {
  const auto& attrs = call.attrs<CastLikeAttrs>();
  convert(call, options_of(attrs.round_mode, attrs.saturate));
}

void infer_bit_cast(InferContext& c) {
  const DType to = require_dtype(c, c.attrs<BitCastAttrs>().to, "T2", "to");
  c.require(bits_of(to) == bits_of(c.dtype(0)), "to: ", to, " has ", bits_of(to),
            " bits, the input's ", c.dtype(0), " has ", bits_of(c.dtype(0)));
  c.set(0, to, shape_of(c, 0));
}

// Packed elements come as bytes, signed ones sign-extended; only the low bits count on the way out.
// Any bits but 0 are true.
void bit_cast(const KernelCall& call) {
  const TensorView& from = call.inputs[0];
  const TensorView& to = call.outputs[0];
  if (is_packed(from.dtype)) {
    const auto mask = static_cast<uint8_t>((1 << bits_of(from.dtype)) - 1);
    for (int64_t i = 0; i < from.count(); ++i) {
      to.data<uint8_t>()[i] = from.data<const uint8_t>()[i] & mask;
    }
  } else if (to.dtype == DType::kBool) {
    normalize_bools(from.raw, to.raw, bytes_for(from.dtype, from.count()));
  } else if (const size_t bytes = bytes_for(from.dtype, from.count())) {
    std::memcpy(to.raw, from.raw, bytes);
  }
}

std::vector<Sample> all_targets(DTypeSet targets, bool by_attribute) {
  std::vector<Sample> samples;
  for (int code = 1; code < kDTypeCount; ++code) {
    const auto to = static_cast<DType>(code);
    if (!targets.has(to) || to == DType::kString) continue;
    // Within the range of the smallest types, so that every pair of types agrees on the values.
    Sample sample{.inputs = {{.shape = {2, 3}, .low = 0, .high = 1}},
                  .only = kCastable.without(DType::kString)};
    if (by_attribute)
      sample.attrs["to"] = int64_t{code};
    else
      sample.inputs.push_back({.shape = {2}, .low = 0, .high = 1, .dtype = to});
    samples.push_back(sample);
  }
  return samples;
}

std::vector<Sample> cast_samples() {
  std::vector<Sample> samples = all_targets(kCastable, true);
  const auto add = [&](Tensor value, DType to) {
    const DType from = value.dtype();
    samples.push_back({.inputs = {{.value = std::move(value)}},
                       .attrs = {{"to", static_cast<int64_t>(to)}},
                       .only = from});
  };
  for (const DType to :
       {DType::kFloat16, DType::kBFloat16, DType::kFloat8E4M3FN, DType::kFloat8E5M2,
        DType::kFloat8E4M3FNUZ, DType::kFloat8E5M2FNUZ, DType::kBool}) {
    add(extreme_floats(DType::kFloat), to);
    add(extreme_floats(DType::kDouble), to);
  }
  add(extreme_integers(DType::kInt64), DType::kInt8);
  add(extreme_integers(DType::kInt64), DType::kUInt32);
  add(Tensor::vector<std::string>({"1", "-2.5", "INF", "-inf", "NaN", "1e3"}), DType::kFloat);
  add(Tensor::vector<std::string>({"1", "-2", " 42 "}), DType::kInt64);
  add(Tensor::vector<float>({1, -2.5f, 0.1f, 1e20f}), DType::kString);
  add(Tensor::of<float>({}, {0, 3}), DType::kString);
  return samples;
}

std::vector<Sample> bit_cast_samples() {
  std::vector<Sample> samples;
  const std::pair<DType, DType> pairs[] = {
      {DType::kFloat, DType::kInt32},    {DType::kInt64, DType::kDouble},
      {DType::kInt8, DType::kUInt8},     {DType::kUInt16, DType::kFloat16},
      {DType::kUInt8, DType::kBool},     {DType::kUInt4, DType::kInt4},
      {DType::kInt4, DType::kFloat4E2M1}};
  for (const auto& [from, to] : pairs) {
    const double high = to == DType::kBool ? 1 : 5;
    samples.push_back({.inputs = {{.shape = {3, 5}, .low = 0, .high = high}},
                       .attrs = {{"to", static_cast<int64_t>(to)}},
                       .only = from});
  }
  return samples;
}

Vals cast_gradient(Emitter& e, const GradCall& c) {
  return {cast(d_output(e, c, 0), input(e, c, 0).dtype())};
}

}  // namespace

std::span<const OpDef> cast_ops() {
  static const OpDef rows[] = {
      {.name = "Cast",
       .doc = "The elements in the type `to`; floats are truncated to integers, strings are "
              "parsed, and small floats round to the nearest, saturating where `saturate` says so.",
       .since = 25,
       .signature = "(input: T1) -> (output: T2)",
       .types = {{"T1", kCastable}, {"T2", kCastable}},
       .attrs = attr_schema<CastAttrs>(),
       .infer = infer_cast,
       .reference = convert_elements,
       .grad = cast_gradient,
       .facts = kElementwise | kPassesValues | kFusable,
       .samples = cast_samples},
      {.name = "CastLike",
       .doc = "The elements in the type of the second input, as Cast does it.",
       .since = 25,
       .signature = "(input: T1, target_type: T2) -> (output: T2)",
       .types = {{"T1", kCastable}, {"T2", kCastable}},
       .attrs = attr_schema<CastLikeAttrs>(),
       .infer = infer_cast_like,
       .reference = cast_like,
       .grad = cast_gradient,
       .facts = kPassesValues,  // not elementwise: the shape of the second input does not matter
       .samples = [] { return all_targets(kCastable, false); }},
      {.name = "BitCast",
       .doc = "The same bits seen as the type `to`, which must have elements of the same size. Of "
              "bools, 0 is false and all else true.",
       .since = 26,
       .signature = "(input: T1) -> (output: T2)",
       .types = {{"T1", kBitCastable}, {"T2", kBitCastable}},
       .attrs = attr_schema<BitCastAttrs>(),
       .infer = infer_bit_cast,
       .reference = bit_cast,
       .facts = kElementwise,
       .samples = bit_cast_samples},
  };
  return rows;
}

}  // namespace sardonyx::ops
