#include "providers/cpu/elementwise/special_functions_kernel.h"

#include <cmath>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "providers/cpu/elementwise/special_functions_kernel.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "providers/cpu/simd/transform-inl.h"
#include "providers/cpu/simd/vector_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sardonyx::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// `result`, but x itself where that is infinite or NaN.
HWY_INLINE V unless_infinite(V x, V result) {
  const auto is_finite = hn::Lt(hn::Abs(x), set(HUGE_VALF));
  return hn::IfThenElse(is_finite, result, x);
}

HWY_INLINE V unless_nan(V x, V result) {
  return hn::IfThenElse(hn::IsNaN(x), x, result);
}

HWY_INLINE V acosh_of(V x) {
  const V result = unless_infinite(x, hn::Acosh(D(), x));
  return hn::IfThenElse(hn::Ge(x, set(1)), result, set(NAN));
}

HWY_INLINE V atanh_of(V x) {
  const V size = hn::Abs(x);
  const V result =
      hn::IfThenElse(hn::Eq(size, set(1)), hn::CopySign(set(HUGE_VALF), x), hn::Atanh(D(), x));
  return hn::IfThenElse(hn::Le(size, set(1)), result, set(NAN));
}

// exp(|x| / 2), which callers square, so that a result overflows where it should and not before.
HWY_INLINE V half_exp(V x) {
  return exp_of(hn::Mul(hn::Abs(x), set(0.5f)));
}

HWY_INLINE V cosh_of(V x) {
  const V root = half_exp(x);
  const V half = hn::Mul(set(0.5f), root);
  return unless_nan(x, hn::MulAdd(half, root, hn::Div(set(0.5f), hn::Mul(root, root))));
}

HWY_INLINE V sinh_of(V x) {
  const V root = half_exp(x);
  const V large = hn::CopySign(hn::Mul(hn::Mul(set(0.5f), root), root), x);
  const V y = expm1_of(hn::Min(hn::Abs(x), set(20)));
  const V small = hn::Mul(hn::Div(hn::Add(y, set(2)), hn::Add(y, set(1))), hn::Mul(y, set(0.5f)));
  const auto is_large = hn::Gt(hn::Abs(x), set(19));
  return unless_nan(x, hn::IfThenElse(is_large, large, hn::CopySign(small, x)));
}

HWY_INLINE V celu(V x, V alpha) {
  const V curve = hn::Mul(alpha, expm1_of(hn::Div(x, alpha)));
  const V upper = hn::IfThenElse(hn::Le(x, set(0)), set(0), x);
  return hn::Add(upper, hn::IfThenElse(hn::Ge(curve, set(0)), set(0), curve));
}

HWY_INLINE V selu(V x, V gamma, V gamma_alpha) {
  return hn::IfThenElse(hn::Le(x, set(0)), hn::Mul(gamma_alpha, expm1_of(x)), hn::Mul(gamma, x));
}

HWY_INLINE V shrink(V x, V lambd, V bias) {
  const V inside = unless_nan(x, set(0));
  const V above = hn::IfThenElse(hn::Gt(x, lambd), hn::Sub(x, bias), inside);
  return hn::IfThenElse(hn::Lt(x, hn::Neg(lambd)), hn::Add(x, bias), above);
}

HWY_INLINE V sign(V x) {
  const V positive = hn::IfThenElse(hn::Gt(x, set(0)), set(1), set(0));
  return unless_nan(x, hn::IfThenElse(hn::Lt(x, set(0)), set(-1), positive));
}

void FunctionRow(Function function, FunctionParams params, const float* in, float* out,
                 size_t count) {
  const V a = set(params.a), b = set(params.b);
  const auto map = [&](const auto& f) HWY_ATTR { map_row(in, out, count, f); };
  switch (function) {
    case Function::kAcos:
      return map([](V x) HWY_ATTR { return unless_nan(x, hn::Acos(D(), x)); });
    case Function::kAcosh:
      return map([](V x) HWY_ATTR { return acosh_of(x); });
    case Function::kAsin:
      return map([](V x) HWY_ATTR { return unless_nan(x, hn::Asin(D(), x)); });
    case Function::kAsinh:
      return map([](V x) HWY_ATTR { return unless_infinite(x, hn::Asinh(D(), x)); });
    case Function::kAtan:
      return map([](V x) HWY_ATTR { return unless_nan(x, hn::Atan(D(), x)); });
    case Function::kAtanh:
      return map([](V x) HWY_ATTR { return atanh_of(x); });
    case Function::kCelu:
      return map([&](V x) HWY_ATTR { return celu(x, a); });
    case Function::kCosh:
      return map([](V x) HWY_ATTR { return cosh_of(x); });
    case Function::kSelu:
      return map([&](V x) HWY_ATTR { return selu(x, a, b); });
    case Function::kShrink:
      return map([&](V x) HWY_ATTR { return shrink(x, a, b); });
    case Function::kSign:
      return map([](V x) HWY_ATTR { return sign(x); });
    case Function::kSinh:
      return map([](V x) HWY_ATTR { return sinh_of(x); });
    case Function::kSoftsign:
      return map([](V x) HWY_ATTR { return hn::Div(x, hn::Add(set(1), hn::Abs(x))); });
    case Function::kTan:
      return map([](V x) HWY_ATTR {
        return within_turns(
            x, [](V y) HWY_ATTR { return hn::Div(hn::Sin(D(), y), hn::Cos(D(), y)); },
            [](float y) { return std::tan(y); });
      });
    case Function::kThresholdedRelu:
      return map([&](V x) HWY_ATTR { return hn::IfThenElseZero(hn::Gt(x, a), x); });
  }
}

}  // namespace sardonyx::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sardonyx::cpu {

HWY_EXPORT(FunctionRow);

void function_row(Function function, FunctionParams params, const float* in, float* out,
                  size_t count) {
  HWY_DYNAMIC_DISPATCH(FunctionRow)(function, params, in, out, count);
}

}  // namespace sardonyx::cpu
#endif  // HWY_ONCE
