#include <algorithm>
#include <cmath>
#include <numeric>

#include "ir/ops/elementwise/remainder.h"
#include "ir/ops/gradient/gradient_rules.h"
#include "ir/ops/inference/infer.h"
#include "ir/ops/inference/propagate_values.h"
#include "ir/ops/op_families.h"
#include "ir/ops/reference/elementwise.h"
#include "ir/ops/reference/samples.h"

namespace sardonyx::ops {
namespace {

template <typename T>
constexpr bool is_int = std::is_integral_v<T>;

// Integers wrap: they are computed as unsigned numbers, whose overflow is defined.
constexpr auto kAdd = [](auto a, auto b) {
  if constexpr (is_int<decltype(a)>)
    return static_cast<uint64_t>(a) + static_cast<uint64_t>(b);
  else
    return a + b;
};
constexpr auto kSub = [](auto a, auto b) {
  if constexpr (is_int<decltype(a)>)
    return static_cast<uint64_t>(a) - static_cast<uint64_t>(b);
  else
    return a - b;
};
constexpr auto kMul = [](auto a, auto b) {
  if constexpr (is_int<decltype(a)>)
    return static_cast<uint64_t>(a) * static_cast<uint64_t>(b);
  else
    return a * b;
};

// Integers truncate; the lowest number / -1 wraps to itself, and x / 0 is an error.
constexpr auto kDiv = [](auto a, auto b) -> decltype(a) {
  using T = decltype(a);
  if constexpr (is_int<T>) {
    if (b == 0) refuse_zero_divisor();
    if constexpr (std::is_signed_v<T>) {
      if (b == -1) return static_cast<T>(0 - static_cast<uint64_t>(a));
    }
  }
  return a / b;
};

// numpy.mod: the sign of the divisor.
constexpr auto kFloorMod = [](auto a, auto b) -> decltype(a) {
  using T = decltype(a);
  const T rest = remainder_of(a, b);
  if constexpr (std::is_floating_point_v<T>) {
    if (rest == 0) return std::copysign(T{0}, b);
  }
  if constexpr (std::is_signed_v<T>) {
    if (rest != 0 && (rest < 0) != (b < 0)) return rest + b;
  }
  return rest;
};

// numpy.fmod: the sign of the dividend.
constexpr auto kTruncatedMod = [](auto a, auto b) { return remainder_of(a, b); };

// A NaN on either side is the result.
constexpr auto kMax = [](auto a, auto b) { return a >= b || a != a ? a : b; };
constexpr auto kMin = [](auto a, auto b) { return a <= b || a != a ? a : b; };

constexpr auto kNeg = [](auto x) {
  if constexpr (is_int<decltype(x)>)
    return 0 - static_cast<uint64_t>(x);
  else
    return -x;
};
constexpr auto kAbs = [](auto x) {
  if constexpr (std::is_floating_point_v<decltype(x)>)
    return std::fabs(x);
  else if constexpr (std::is_signed_v<decltype(x)>)
    return x < 0 ? kNeg(x) : static_cast<uint64_t>(x);
  else
    return x;
};
constexpr auto kSign = [](auto x) -> decltype(x) {
  if (x > 0) return 1;
  if constexpr (std::is_signed_v<decltype(x)>) {
    if (x < 0) return -1;
  }
  return x == 0 ? decltype(x){0} : x;  // NaN stays
};

// Folds all inputs from the left.
template <typename C, typename Combine>
void fold_inputs(const KernelCall& call, const Combine& combine) {
  const size_t inputs = call.inputs.size();
  map_elements<C>(call, [&](const C* const* in, C* out, int64_t count) {
    for (int64_t i = 0; i < count; ++i) {
      C result = in[0][i];
      for (size_t k = 1; k < inputs; ++k)
        result = static_cast<C>(combine(result, in[k][i]));
      out[i] = result;
    }
  });
}

template <auto combine>
void folded(const KernelCall& call) {
  dispatch_domain(call.inputs[0].dtype, [&]<typename C>() { fold_inputs<C>(call, combine); });
}

void mean(const KernelCall& call) {
  const size_t inputs = call.inputs.size();
  const auto average = [&]<typename C>() {
    map_elements<C>(call, [&](const C* const* in, C* out, int64_t count) {
      for (int64_t i = 0; i < count; ++i) {
        C sum = in[0][i];
        for (size_t k = 1; k < inputs; ++k)
          sum += in[k][i];
        out[i] = sum / static_cast<C>(inputs);
      }
    });
  };
  dispatch_domain(call.inputs[0].dtype, average);
}

struct ModAttrs {
  int64_t fmod = 0;
  static auto fields() { return std::tuple{field("fmod", &ModAttrs::fmod)}; }
};

void mod(const KernelCall& call) {
  if (call.attrs<ModAttrs>().fmod)
    map_numbers(call, kTruncatedMod);
  else
    map_numbers(call, kFloorMod);
}

// Integer power by repeated squaring. A negative exponent gives 0, but for the bases 1 and -1.
int64_t integer_power(int64_t base, int64_t exponent, bool exponent_is_signed) {
  if (exponent_is_signed && exponent < 0) {
    if (base == 1) return 1;
    if (base == -1) return exponent % 2 == 0 ? 1 : -1;
    return 0;
  }
  uint64_t result = 1, square = static_cast<uint64_t>(base);
  for (uint64_t rest = static_cast<uint64_t>(exponent); rest != 0; rest >>= 1) {
    if (rest & 1) result *= square;
    square *= square;
  }
  return static_cast<int64_t>(result);
}

// The result has the base's type. Whole powers of integers are exact; where base and exponent are
// of different kinds, double holds both.
void pow(const KernelCall& call) {
  const DType base = call.inputs[0].dtype;
  const DType exponent = call.inputs[1].dtype;
  if (is_integer(base) && is_integer(exponent)) {
    const bool exponent_is_signed = is_signed_integer(exponent);
    map_with<int64_t>(
        call, [=](int64_t a, int64_t b) { return integer_power(a, b, exponent_is_signed); });
  } else if (is_integer(base) || is_integer(exponent) || base == DType::kDouble ||
             exponent == DType::kDouble) {
    map_with<double>(call, [](double a, double b) { return std::pow(a, b); });
  } else {
    map_with<float>(call, [](float a, float b) { return std::pow(a, b); });
  }
}

struct BitShiftAttrs {
  std::string direction;
  static auto fields() { return std::tuple{required("direction", &BitShiftAttrs::direction)}; }
};

void infer_bit_shift(InferContext& c) {
  const std::string& direction = c.attrs<BitShiftAttrs>().direction;
  c.require(direction == "LEFT" || direction == "RIGHT", "direction: expected LEFT or RIGHT, got ",
            direction);
  broadcast_all(c);
}

// Shifting by the width or more leaves nothing.
void bit_shift(const KernelCall& call) {
  if (call.attrs<BitShiftAttrs>().direction == "LEFT") {
    map_with<uint64_t>(call, [](uint64_t x, uint64_t by) { return by < 64 ? x << by : 0; });
  } else {
    map_with<uint64_t>(call, [](uint64_t x, uint64_t by) { return by < 64 ? x >> by : 0; });
  }
}

// Inference of shapes, and of values by `function`.
template <DimFunction function>
void infer_with_values(InferContext& c) {
  broadcast_all(c);
  propagate_values(c, function);
}

template <DimFunction function>
void infer_mod(InferContext& c) {
  c.require(c.attrs<ModAttrs>().fmod || !kFloats.has(c.dtype(0)), "fmod: expected 1 for ",
            c.dtype(0), ", got 0");
  infer_with_values<function>(c);
}

using Elements = std::span<const Dim>;
std::optional<Dim> add_dims(Elements x) {
  return x[0] + x[1];
}
std::optional<Dim> sub_dims(Elements x) {
  return x[0] - x[1];
}
std::optional<Dim> mul_dims(Elements x) {
  return x[0] * x[1];
}
std::optional<Dim> div_dims(Elements x) {
  return truncated_div(x[0], x[1]);
}
std::optional<Dim> neg_dims(Elements x) {
  return Dim(0) - x[0];
}
std::optional<Dim> abs_dims(Elements x) {
  return is_nonnegative(x[0]) ? std::optional(x[0]) : std::nullopt;
}
std::optional<Dim> max_dims(Elements x) {
  return std::accumulate(x.begin() + 1, x.end(), x[0],
                         [](const Dim& a, const Dim& b) { return sardonyx::max(a, b); });
}
std::optional<Dim> min_dims(Elements x) {
  return std::accumulate(x.begin() + 1, x.end(), x[0],
                         [](const Dim& a, const Dim& b) { return sardonyx::min(a, b); });
}

// Dims of Mod, where the dividend is not negative and the divisor positive: there both kinds of
// remainder agree.
std::optional<Dim> mod_dims(Elements x) {
  if (!is_nonnegative(x[0]) || !x[1].is_known() || x[1].value() <= 0) return std::nullopt;
  return x[0] - floor_div(x[0], x[1]) * x[1];
}

std::vector<Sample> divisions() {
  std::vector<Sample> samples = binary_samples(-9, 9, 1, 5);
  for (const DType dtype : {DType::kInt8, DType::kInt32, DType::kInt64, DType::kUInt8}) {
    for (const double by : {-1, 3}) {
      SampleInput divisor{.shape = {}, .low = by, .high = by, .dtype = dtype};
      if (by < 0 && dtype == DType::kUInt8) continue;
      samples.push_back({.inputs = {{.value = extreme_integers(dtype)}, divisor}, .only = dtype});
    }
  }
  return samples;
}

std::vector<Sample> mod_samples() {
  std::vector<Sample> of_integers = divisions();
  for (Sample& sample : of_integers)
    sample.only = sample.only.without(kFloats);
  return joined(with_attributes(divisions(), {{"fmod", int64_t{1}}}), of_integers);
}

std::vector<Sample> signed_samples() {
  std::vector<Sample> samples = unary_float_samples();
  for (const DType dtype : {DType::kInt8, DType::kInt32, DType::kInt64}) {
    samples.push_back({.inputs = {{.value = extreme_integers(dtype)}}, .only = dtype});
  }
  return samples;
}

std::vector<Sample> pow_samples() {
  std::vector<Sample> samples = binary_samples(0.5, 3, -2, 3);
  for (const DType exponent : {DType::kInt64, DType::kUInt8, DType::kDouble, DType::kFloat16}) {
    samples.push_back({.inputs = {{.shape = {5}, .low = -3, .high = 3},
                                  {.shape = {2, 1}, .low = 0, .high = 3, .dtype = exponent}}});
  }
  samples.push_back({.inputs = {{.value = extreme_integers(DType::kInt32)},
                                {.value = Tensor::scalar<int64_t>(-3)}},
                     .only = DType::kInt32});
  samples.push_back({.inputs = {{.value = extreme_floats(DType::kFloat)},
                                {.value = Tensor::of<float>({0, 0.5f, -1}, {3, 1})}},
                     .only = DType::kFloat});
  return samples;
}

std::vector<Sample> shift_samples() {
  std::vector<Sample> samples;
  for (const char* direction : {"LEFT", "RIGHT"}) {
    samples = joined(samples, with_attributes(binary_samples(0, 200, 0, 70),
                                              {{"direction", std::string(direction)}}));
  }
  return samples;
}

Vals add_gradient(Emitter&, const GradCall& c) {
  return Vals(c.inputs.size(), c.d_outputs[0]);
}

Vals sub_gradient(Emitter& e, const GradCall& c) {
  const Term d = d_output(e, c, 0);
  return {d, c.wants(1) ? -d : Val()};
}

Vals mul_gradient(Emitter& e, const GradCall& c) {
  const Term d = d_output(e, c, 0);
  return {c.wants(0) ? d * input(e, c, 1) : Val(), c.wants(1) ? d * input(e, c, 0) : Val()};
}

Vals div_gradient(Emitter& e, const GradCall& c) {
  const Term d_a = d_output(e, c, 0) / input(e, c, 1);
  return {d_a, c.wants(1) ? -(d_a * output(e, c, 0)) : Val()};
}

// Either remainder is a - b * n, n being a whole number that changes in jumps only.
Vals mod_gradient(Emitter& e, const GradCall& c) {
  const Term d = d_output(e, c, 0);
  if (!c.wants(1)) return {d};
  const Term n = apply("Round", (input(e, c, 0) - output(e, c, 0)) / input(e, c, 1));
  return {d, -(d * n)};
}

// x^(y-1) is infinite where x and y are 0, but its factor y makes the slope 0.
Term slope_by_base(Emitter& e, const GradCall& c) {
  const Term x = input(e, c, 0), y = cast(input(e, c, 1), x.dtype());
  if (c.wants(1)) return y * apply("Pow", where(equal(x, 0) && equal(y, 0), 1, x), y - 1);
  return y * apply("Pow", x, where(equal(y, 0), 1, y - 1));
}

// log(x) is infinite at 0, where no power with an exponent of at least 0 changes with the exponent.
Term slope_by_exponent(Emitter& e, const GradCall& c) {
  const Term x = input(e, c, 0), y = cast(input(e, c, 1), x.dtype());
  const Term base = where(equal(x, 0), where(y < 0, x, 1), x);
  return output(e, c, 0) * apply("Log", base);
}

Vals pow_gradient(Emitter& e, const GradCall& c) {
  const Term d = d_output(e, c, 0);
  return {c.wants(0) ? d * slope_by_base(e, c) : Val(),
          c.wants(1) ? cast(d * slope_by_exponent(e, c), input(e, c, 1).dtype()) : Val()};
}

// Inputs that are equal to the result share the gradient.
Vals extremum_gradient(Emitter& e, const GradCall& c) {
  const Term d = d_output(e, c, 0), y = output(e, c, 0);
  std::vector<Term> taken;
  for (size_t i = 0; i < c.inputs.size(); ++i)
    taken.push_back(equal(input(e, c, i), y));
  std::optional<Term> part = d;
  if (taken.size() > 2) {
    Term count = cast(taken[0], d.dtype());
    for (size_t i = 1; i < taken.size(); ++i)
      count = count + cast(taken[i], d.dtype());
    part = d / count;
  } else if (taken.size() == 2) {
    part = where(apply("And", taken[0], taken[1]), d * 0.5, d);
  }
  Vals gradients;
  for (size_t i = 0; i < taken.size(); ++i)
    gradients.push_back(c.wants(i) ? where(taken[i], *part, 0) : Val());
  return gradients;
}

Vals mean_gradient(Emitter& e, const GradCall& c) {
  const Term part = d_output(e, c, 0) * (1.0 / static_cast<double>(c.inputs.size()));
  return Vals(c.inputs.size(), part);
}

constexpr uint32_t kPlain = kElementwise | kPassesValues;

}  // namespace

std::span<const OpDef> arithmetic_ops() {
  static const OpDef rows[] = {
      {.name = "Add",
       .doc = "A + B, element by element, broadcast to one shape.",
       .since = 14,
       .signature = "(A: T, B: T) -> (C: T)",
       .types = {{"T", kNumbers}},
       .infer = infer_with_values<add_dims>,
       .reference = numbers<kAdd>,
       .grad = add_gradient,
       .facts = kPlain | kCommutative | kBFloat16Between | kFloat32Kernels | kFusable |
                kIgnoresConstants,
       .samples = [] { return binary_samples(); }},
      {.name = "Sub",
       .doc = "A - B, element by element, broadcast to one shape.",
       .since = 14,
       .signature = "(A: T, B: T) -> (C: T)",
       .types = {{"T", kNumbers}},
       .infer = infer_with_values<sub_dims>,
       .reference = numbers<kSub>,
       .grad = sub_gradient,
       .facts = kPlain | kBFloat16Between | kFloat32Kernels | kFusable | kIgnoresConstants,
       .samples = [] { return binary_samples(); }},
      {.name = "Mul",
       .doc = "A * B, element by element, broadcast to one shape.",
       .since = 14,
       .signature = "(A: T, B: T) -> (C: T)",
       .types = {{"T", kNumbers}},
       .infer = infer_with_values<mul_dims>,
       .reference = numbers<kMul>,
       .grad = mul_gradient,
       .facts = kPlain | kCommutative | kBFloat16Between | kFloat32Kernels | kFusable |
                kIgnoresConstants,
       .samples = [] { return binary_samples(); }},
      {.name = "Div",
       .doc = "A / B, element by element, broadcast to one shape; integers are truncated toward "
              "zero, and a divisor of 0 is refused.",
       .since = 14,
       .signature = "(A: T, B: T) -> (C: T)",
       .types = {{"T", kNumbers}},
       .infer = infer_with_values<div_dims>,
       .reference = numbers<kDiv>,
       .grad = div_gradient,
       .facts = kPlain | kFloat32Kernels | kFusable | kIgnoresConstants,
       .samples = divisions},
      {.name = "Mod",
       .doc = "The remainder of A / B, broadcast to one shape: with the sign of the divisor, or "
              "with fmod = 1 that of the dividend, which floats need.",
       .since = 13,
       .signature = "(A: T, B: T) -> (C: T)",
       .types = {{"T", kNumbers}},
       .attrs = attr_schema<ModAttrs>(),
       .infer = infer_mod<mod_dims>,
       .reference = mod,
       .grad = mod_gradient,
       .facts = kPlain,
       .samples = mod_samples},
      {.name = "Pow",
       .doc = "X to the power of Y, broadcast to one shape, in the type of X.",
       .since = 15,
       .signature = "(X: T, Y: T1) -> (Z: T)",
       .types = {{"T", kFloats | DTypeSet{DType::kInt32, DType::kInt64}}, {"T1", kNumbers}},
       .infer = broadcast_all,
       .reference = pow,
       .grad = pow_gradient,
       .facts = kFloat32InMixed | kElementwise | kFloat32Kernels | kFusable,
       .samples = pow_samples},
      {.name = "Neg",
       .doc = "-X, element by element.",
       .since = 13,
       .signature = "(X: T) -> (Y: T)",
       .types = {{"T", kFloats | kSignedInts}},
       .infer = infer_with_values<neg_dims>,
       .reference = numbers<kNeg>,
       .grad = unary_gradient<[](Term d, Term, Term) { return -d; }>,
       .facts = kPlain | kBFloat16Between | kFloat32Kernels | kFusable,
       .samples = signed_samples},
      {.name = "Abs",
       .doc = "The magnitude of each element.",
       .since = 13,
       .signature = "(X: T) -> (Y: T)",
       .types = {{"T", kNumbers}},
       .infer = infer_with_values<abs_dims>,
       .reference = numbers<kAbs>,
       .grad = unary_gradient<[](Term d, Term x, Term) { return d * apply("Sign", x); }>,
       .facts = kPlain | kBFloat16Between | kFloat32Kernels | kFusable,
       .samples = signed_samples},
      {.name = "Sign",
       .doc = "-1, 0 or 1 for each element.",
       .since = 13,
       .signature = "(input: T) -> (output: T)",
       .types = {{"T", kNumbers}},
       .infer = same_as_first,
       .reference = numbers<kSign>,
       .grad = zero_gradient,
       .facts = kElementwise,
       .samples = signed_samples},
      {.name = "Reciprocal",
       .doc = "1 / X, element by element.",
       .since = 13,
       .signature = "(X: T) -> (Y: T)",
       .types = {{"T", kFloats}},
       .infer = same_as_first,
       .reference = floats<[](auto x) { return 1 / x; }>,
       .grad = unary_gradient<[](Term d, Term, Term y) { return -(d * square(y)); }>,
       .facts = kFloat32InMixed | kElementwise | kFloat32Kernels | kFusable,
       .samples = [] { return unary_float_samples(0.5, 4); }},
      {.name = "Max",
       .doc = "The largest of the tensors' elements at each place, broadcast to one shape; NaN "
              "where one of them is.",
       .since = 13,
       .signature = "(data_0...: T) -> (max: T)",
       .types = {{"T", kNumbers}},
       .infer = infer_with_values<max_dims>,
       .reference = folded<kMax>,
       .grad = extremum_gradient,
       .facts = kPlain | kCommutative | kBFloat16Between | kFloat32Kernels | kFusable,
       .samples = variadic_samples},
      {.name = "Min",
       .doc = "The smallest of the tensors' elements at each place, broadcast to one shape; NaN "
              "where one of them is.",
       .since = 13,
       .signature = "(data_0...: T) -> (min: T)",
       .types = {{"T", kNumbers}},
       .infer = infer_with_values<min_dims>,
       .reference = folded<kMin>,
       .grad = extremum_gradient,
       .facts = kPlain | kCommutative | kBFloat16Between | kFloat32Kernels | kFusable,
       .samples = variadic_samples},
      {.name = "Sum",
       .doc = "The sum of all tensors, broadcast to one shape.",
       .since = 13,
       .signature = "(data_0...: T) -> (sum: T)",
       .types = {{"T", kFloats}},
       .infer = broadcast_all,
       .reference = folded<kAdd>,
       .grad = add_gradient,
       .facts = kElementwise | kCommutative | kBFloat16Between | kFloat32Kernels,
       .samples = variadic_samples},
      {.name = "Mean",
       .doc = "The mean of all tensors, broadcast to one shape.",
       .since = 13,
       .signature = "(data_0...: T) -> (mean: T)",
       .types = {{"T", kFloats}},
       .infer = broadcast_all,
       .reference = mean,
       .grad = mean_gradient,
       .facts = kElementwise | kCommutative,
       .samples = variadic_samples},
      {.name = "BitShift",
       .doc = "X shifted by Y bits, direction LEFT or RIGHT, broadcast to one shape.",
       .since = 11,
       .signature = "(X: T, Y: T) -> (Z: T)",
       .types = {{"T", kUnsignedInts}},
       .attrs = attr_schema<BitShiftAttrs>(),
       .infer = infer_bit_shift,
       .reference = bit_shift,
       .facts = kElementwise,
       .samples = shift_samples},
      {.name = "BitwiseAnd",
       .doc = "The bits that are set in A and B, broadcast to one shape.",
       .since = 18,
       .signature = "(A: T, B: T) -> (C: T)",
       .types = {{"T", kInts}},
       .infer = broadcast_all,
       .reference = ints<[](auto a, auto b) { return a & b; }>,
       .facts = kElementwise | kCommutative,
       .samples = [] { return binary_samples(0, 100, 0, 100); }},
      {.name = "BitwiseOr",
       .doc = "The bits that are set in A or B, broadcast to one shape.",
       .since = 18,
       .signature = "(A: T, B: T) -> (C: T)",
       .types = {{"T", kInts}},
       .infer = broadcast_all,
       .reference = ints<[](auto a, auto b) { return a | b; }>,
       .facts = kElementwise | kCommutative,
       .samples = [] { return binary_samples(0, 100, 0, 100); }},
      {.name = "BitwiseXor",
       .doc = "The bits that differ between A and B, broadcast to one shape.",
       .since = 18,
       .signature = "(A: T, B: T) -> (C: T)",
       .types = {{"T", kInts}},
       .infer = broadcast_all,
       .reference = ints<[](auto a, auto b) { return a ^ b; }>,
       .facts = kElementwise | kCommutative,
       .samples = [] { return binary_samples(0, 100, 0, 100); }},
      {.name = "BitwiseNot",
       .doc = "All bits of each element inverted.",
       .since = 18,
       .signature = "(X: T) -> (Y: T)",
       .types = {{"T", kInts}},
       .infer = same_as_first,
       .reference = ints<[](auto x) { return ~x; }>,
       .facts = kElementwise,
       .samples = [] { return unary_samples(0, 100); }},
  };
  return rows;
}

}  // namespace sardonyx::ops
