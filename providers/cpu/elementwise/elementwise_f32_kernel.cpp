#include "providers/cpu/elementwise/elementwise_f32_kernel.h"

#include <cmath>
#include <utility>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "providers/cpu/elementwise/elementwise_f32_kernel.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "providers/cpu/simd/activation-inl.h"
#include "providers/cpu/simd/fmod-inl.h"
#include "providers/cpu/simd/pow-inl.h"
#include "providers/cpu/simd/transform-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sardonyx::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// erf by a rational minimax approximation on [-4, 4], outside of which float's erf is +-1.
HWY_INLINE V erf_of(V x) {
  const V bounded = clipped(x, set(-4), set(4));
  const V s = hn::Mul(bounded, bounded);
  V p = set(-2.72614225801306e-10f);
  p = hn::MulAdd(p, s, set(2.77068142495902e-08f));
  p = hn::MulAdd(p, s, set(-2.10102402082508e-06f));
  p = hn::MulAdd(p, s, set(-5.69250639462346e-05f));
  p = hn::MulAdd(p, s, set(-7.34990630326855e-04f));
  p = hn::MulAdd(p, s, set(-2.95459980854025e-03f));
  p = hn::MulAdd(p, s, set(-1.60960333262415e-02f));
  V q = set(-1.45660718464996e-05f);
  q = hn::MulAdd(q, s, set(-2.13374055278905e-04f));
  q = hn::MulAdd(q, s, set(-1.68282697438203e-03f));
  q = hn::MulAdd(q, s, set(-7.37332916720468e-03f));
  q = hn::MulAdd(q, s, set(-1.42647390514189e-02f));
  return hn::Div(hn::Mul(bounded, p), q);
}

HWY_INLINE V gelu(V x) {
  const V half = hn::Mul(x, set(0.5f));
  return hn::MulAdd(half, erf_of(hn::Mul(x, set(0.70710678118654752f))), half);
}

// 1 + exp(-x), for quotients with it: within 2 units in the last place for |x| < 20, 5 beyond, in
// fewer steps than exp_of takes.
HWY_INLINE V one_and_exp_of_negative(V x) {
  const V bounded = clipped(x, set(-89), set(104));  // beyond, float's exp is infinity and 0
  const V n = hn::Round(hn::Mul(bounded, set(-1.44269504088896341f)));
  const V r = hn::MulAdd(n, set(0.693147180559945f), bounded);
  V p = set(1.381431008e-3f);
  p = hn::MulAdd(p, r, set(-8.368853480e-3f));
  p = hn::MulAdd(p, r, set(4.166840017e-2f));
  p = hn::MulAdd(p, r, set(-1.666651964e-1f));
  p = hn::MulAdd(p, r, set(4.999999404e-1f));
  p = hn::MulAdd(p, r, set(-1));
  p = hn::MulAdd(p, r, set(1));
  return hn::Add(set(1), times_power_of_two(p, n));
}

HWY_INLINE V gelu_tanh(V x) {
  const V cubic = hn::MulAdd(hn::Mul(hn::Mul(x, x), x), set(0.044715f), x);
  // 0.5 * (1 + tanh(y)) is 1 / (1 + exp(-2 y)).
  return hn::Div(x, one_and_exp_of_negative(hn::Mul(cubic, set(1.5957691216057308f))));
}

// x * tanh(log(1 + e)) with e = exp(x): the tanh is a quotient of polynomials in e.
HWY_INLINE V mish(V x) {
  const V e = exp_of(clipped(x, set(-104), set(20)));
  const V w = hn::Mul(e, hn::Add(e, set(2)));
  return hn::Mul(x, hn::Div(w, hn::Add(w, set(2))));
}

HWY_INLINE V hard_sigmoid(V x, V alpha, V beta) {
  return clipped(hn::MulAdd(x, alpha, beta), set(0), set(1));
}

HWY_INLINE V hard_swish(V x) {
  return hn::Mul(x, hard_sigmoid(x, set(1.0f / 6), set(0.5f)));
}

// d times the slope: 0 up to -3, 1 from 3 on, a line between them; 0 for a NaN in x. The body's
// operations in its order, so that a gradient that is recorded has the same numbers.
HWY_INLINE V hard_swish_grad(V d, V x) {
  const V sloped = hn::Mul(d, hn::Add(hn::Div(x, set(3)), set(0.5f)));
  const V right = hn::IfThenElse(hn::Lt(x, set(3)), sloped, d);
  return hn::IfThenElseZero(hn::Gt(x, set(-3)), right);
}

// The gradient of HardSigmoid as the op's body defines it: 0 where y is NaN.
HWY_INLINE V hard_sigmoid_grad(V d, V y, V alpha) {
  const auto is_sloped = hn::And(hn::Gt(y, set(0)), hn::Lt(y, set(1)));
  return hn::IfThenElseZero(is_sloped, hn::Mul(d, alpha));
}

HWY_INLINE V leaky_relu(V x, V alpha) {
  return hn::IfThenElse(hn::Lt(x, set(0)), hn::Mul(alpha, x), x);
}

HWY_INLINE V relu(V x) {
  return hn::IfThenElse(hn::Lt(x, set(0)), set(0), x);
}

HWY_INLINE V logistic(V x) {
  return hn::Div(set(1), one_and_exp_of_negative(x));
}

HWY_INLINE V swish(V x, V alpha) {
  return hn::Div(x, one_and_exp_of_negative(hn::Mul(alpha, x)));
}

HWY_INLINE V cos_of(V x) {
  return within_turns(
      x, [](V y) HWY_ATTR { return hn::Cos(D(), y); }, [](float y) { return std::cos(y); });
}

HWY_INLINE V sin_of(V x) {
  return within_turns(
      x, [](V y) HWY_ATTR { return hn::Sin(D(), y); }, [](float y) { return std::sin(y); });
}

// f(x, a, b) of every element.
template <auto f>
void map_unary(UnaryParams params, const float* in, float* out, size_t count) {
  const V a = set(params.a), b = set(params.b);
  map_row(in, out, count, [&](V x) HWY_ATTR { return f(x, a, b); });
}

void swish_row(UnaryParams params, const float* in, float* out, size_t count) {
  if (params.a == 1) {
    return map_row(in, out, count,
                   [](V x) HWY_ATTR { return hn::Div(x, one_and_exp_of_negative(x)); });
  }
  map_unary<[](V x, V a, V) HWY_ATTR { return swish(x, a); }>(params, in, out, count);
}

// A fast function for one more op is one more line here: kernels, groups and activations follow.
constexpr NamedUnary kUnaryFunctions[] = {
    {"Abs", map_unary<[](V x, V, V) HWY_ATTR { return hn::Abs(x); }>},
    {"Ceil", map_unary<[](V x, V, V) HWY_ATTR { return hn::Ceil(x); }>},
    {"Clip", map_unary<[](V x, V a, V b) HWY_ATTR { return clipped(x, a, b); }>},
    {"Cos", map_unary<[](V x, V, V) HWY_ATTR { return cos_of(x); }>},
    {"Cube", map_unary<[](V x, V, V) HWY_ATTR { return hn::Mul(hn::Mul(x, x), x); }>},
    {"Elu", map_unary<[](V x, V a, V) HWY_ATTR { return elu(x, a); }>},
    {"Erf", map_unary<[](V x, V, V) HWY_ATTR { return erf_of(x); }>},
    {"Exp", map_unary<[](V x, V, V) HWY_ATTR { return exp_of(x); }>},
    {"Floor", map_unary<[](V x, V, V) HWY_ATTR { return hn::Floor(x); }>},
    {"Gelu", map_unary<[](V x, V, V) HWY_ATTR { return gelu(x); }>},
    {"GeluTanh", map_unary<[](V x, V, V) HWY_ATTR { return gelu_tanh(x); }>},
    {"HardSigmoid", map_unary<[](V x, V a, V b) HWY_ATTR { return hard_sigmoid(x, a, b); }>},
    {"HardSwish", map_unary<[](V x, V, V) HWY_ATTR { return hard_swish(x); }>},
    {"LeakyRelu", map_unary<[](V x, V a, V) HWY_ATTR { return leaky_relu(x, a); }>},
    {"Log", map_unary<[](V x, V, V) HWY_ATTR { return log_of(x); }>},
    {"Mish", map_unary<[](V x, V, V) HWY_ATTR { return mish(x); }>},
    {"Neg", map_unary<[](V x, V, V) HWY_ATTR { return hn::Neg(x); }>},
    {"Reciprocal", map_unary<[](V x, V, V) HWY_ATTR { return hn::Div(set(1), x); }>},
    {"Relu", map_unary<[](V x, V, V) HWY_ATTR { return relu(x); }>},
    {"Round", map_unary<[](V x, V, V) HWY_ATTR { return hn::Round(x); }>},
    {"Sigmoid", map_unary<[](V x, V, V) HWY_ATTR { return logistic(x); }>},
    {"Sin", map_unary<[](V x, V, V) HWY_ATTR { return sin_of(x); }>},
    {"Softplus", map_unary<[](V x, V, V) HWY_ATTR { return softplus(x); }>},
    {"Sqrt", map_unary<[](V x, V, V) HWY_ATTR { return hn::Sqrt(x); }>},
    {"Square", map_unary<[](V x, V, V) HWY_ATTR { return hn::Mul(x, x); }>},
    {"Swish", swish_row},
    {"Tanh", map_unary<[](V x, V, V) HWY_ATTR { return tanh_of(x); }>},
};

std::span<const NamedUnary> UnaryFunctions() {
  return kUnaryFunctions;
}

template <typename F>
HWY_INLINE void map_pairs(const float* a, bool a_steps, const float* b, bool b_steps, float* out,
                          size_t count, const F& f) {
  const D d;
  const size_t lanes = hn::Lanes(d);
  if (!a_steps) {
    const V x = hn::Set(d, a[0]);
    return map_row(b, out, count, [&](V y) HWY_ATTR { return f(x, y); });
  }
  if (!b_steps) {
    const V y = hn::Set(d, b[0]);
    return map_row(a, out, count, [&](V x) HWY_ATTR { return f(x, y); });
  }
  size_t i = 0;
  for (; i + lanes <= count; i += lanes)
    hn::StoreU(f(hn::LoadU(d, a + i), hn::LoadU(d, b + i)), d, out + i);
  if (i == count) return;
  HWY_ALIGN float left[hn::MaxLanes(d)] = {};
  HWY_ALIGN float right[hn::MaxLanes(d)] = {};
  for (size_t k = 0; k < count - i; ++k)
    left[k] = a[i + k], right[k] = b[i + k];
  hn::Store(f(hn::Load(d, left), hn::Load(d, right)), d, left);
  for (size_t k = 0; k < count - i; ++k)
    out[i + k] = left[k];
}

// NaN propagation of Max and Min as numpy has it: a NaN on either side is the result.
HWY_INLINE V propagate_nan(V x, V y, V result) {
  return hn::IfThenElse(hn::IsNaN(x), x, hn::IfThenElse(hn::IsNaN(y), y, result));
}

void BinaryRow(Binary op, const float* a, bool a_steps, const float* b, bool b_steps, float* out,
               size_t count, float alpha) {
  const auto map = [&](const auto& f)
                       HWY_ATTR { map_pairs(a, a_steps, b, b_steps, out, count, f); };
  switch (op) {
    case Binary::kAdd:
      return map([](V x, V y) HWY_ATTR { return hn::Add(x, y); });
    case Binary::kSub:
      return map([](V x, V y) HWY_ATTR { return hn::Sub(x, y); });
    case Binary::kMul:
      return map([](V x, V y) HWY_ATTR { return hn::Mul(x, y); });
    case Binary::kDiv:
      return map([](V x, V y) HWY_ATTR { return hn::Div(x, y); });
    case Binary::kMax:
      return map([](V x, V y) HWY_ATTR { return propagate_nan(x, y, hn::Max(x, y)); });
    case Binary::kMin:
      return map([](V x, V y) HWY_ATTR { return propagate_nan(x, y, hn::Min(x, y)); });
    case Binary::kPRelu:
      return map([](V x, V y)
                     HWY_ATTR { return hn::IfThenElse(hn::Lt(x, set(0)), hn::Mul(x, y), x); });
    case Binary::kHardSwishGrad:
      return map([](V x, V y) HWY_ATTR { return hard_swish_grad(x, y); });
    case Binary::kHardSigmoidGrad:
      return map([=](V x, V y) HWY_ATTR { return hard_sigmoid_grad(x, y, set(alpha)); });
    case Binary::kFmod:
      return map([](V x, V y) HWY_ATTR { return fmod_of(x, y); });
    case Binary::kPow:
      return pow_row(a, a_steps, b, b_steps, out, count);
  }
}

}  // namespace sardonyx::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sardonyx::cpu {

HWY_EXPORT(UnaryFunctions);

std::span<const NamedUnary> unary_functions() {
  return HWY_DYNAMIC_DISPATCH(UnaryFunctions)();
}

Unary find_unary(std::string_view name) {
  for (const NamedUnary& each : unary_functions()) {
    if (each.name == name) return each.function;
  }
  return nullptr;
}

const CommonUnaries& common_unaries() {
  static const CommonUnaries kCommon{find_unary("Exp"), find_unary("Log"), find_unary("Relu"),
                                     find_unary("Sigmoid"), find_unary("Tanh")};
  return kCommon;
}

std::optional<Binary> find_binary(std::string_view name) {
  static constexpr std::pair<std::string_view, Binary> kBinaries[] = {
      {"Add", Binary::kAdd},
      {"Sub", Binary::kSub},
      {"Mul", Binary::kMul},
      {"Div", Binary::kDiv},
      {"Max", Binary::kMax},
      {"Min", Binary::kMin},
      {"Pow", Binary::kPow},
      {"PRelu", Binary::kPRelu},
      {"Sum", Binary::kAdd},
      {"HardSwishGrad", Binary::kHardSwishGrad},
      {"HardSigmoidGrad", Binary::kHardSigmoidGrad},
  };
  for (const auto& [known, op] : kBinaries) {
    if (known == name) return op;
  }
  return std::nullopt;
}

std::optional<Unary> unary_power(double exponent) {
  if (exponent == 2) return find_unary("Square");
  if (exponent == 3) return find_unary("Cube");
  if (exponent == -1) return find_unary("Reciprocal");
  return std::nullopt;
}

HWY_EXPORT(BinaryRow);

void binary_row(Binary op, const float* a, bool a_steps, const float* b, bool b_steps, float* out,
                size_t count, float alpha) {
  HWY_DYNAMIC_DISPATCH(BinaryRow)(op, a, a_steps, b, b_steps, out, count, alpha);
}

}  // namespace sardonyx::cpu
#endif  // HWY_ONCE
