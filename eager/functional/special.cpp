#include "eager/functional/special.h"

#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <numbers>

#include "eager/autograd/autograd.h"
#include "eager/create.h"
#include "eager/dispatch/dispatch.h"
#include "eager/functional/functional.h"
#include "eager/functional/special_parts.h"
#include "eager/placed.h"
#include "ir/type.h"

namespace sardonyx::eager {
namespace {

constexpr double kUnbounded = std::numeric_limits<double>::infinity();

template <size_t N>
Tensor quotient(const std::array<double, N>& above, const std::array<double, N>& below,
                const Tensor& at, const Loc& loc) {
  return div({power_sum(above, at, loc), loc}, power_sum(below, at, loc));
}

// From this argument on Stirling's series is exact to the last digits of float64 with the terms
// below; smaller ones are raised by as much.
constexpr int kRaise = 10;

// What both functions of gamma work on: by reflection x becomes z >= 1/2, by recurrence w >= 10.
struct GammaArgument {
  Tensor is_reflected, z, is_raised, w;
  Tensor turn;  // x less the nearest integer, for the functions of pi x; 1/4 where not reflected
};
GammaArgument gamma_argument(const Tensor& x, const Loc& loc) {
  GammaArgument a;
  a.is_reflected = Operand(x, loc) < 0.5;
  a.z = where(a.is_reflected, {sub({1, loc}, x), loc}, x);
  a.is_raised = Operand(a.z, loc) < kRaise;
  a.w = where(a.is_raised, {add({a.z, loc}, kRaise), loc}, a.z);
  a.turn = where(a.is_reflected, {sub({x, loc}, round(x, loc)), loc}, 0.25);
  return a;
}

// Abramowitz and Stegun, "Handbook of Mathematical Functions": 6.1.41 (Stirling), 6.1.15
// (recurrence), 6.1.17 (reflection). Near zeros of the result the absolute error stays small, the
// relative one does not.
Tensor lgamma_of_doubles(const Tensor& x, const Loc& loc) {
  static constexpr std::array<double, 7> kTerms{
      1.0 / 12, -1.0 / 360, 1.0 / 1260, -1.0 / 1680, 1.0 / 1188, -691.0 / 360360, 1.0 / 156};
  const GammaArgument a = gamma_argument(x, loc);
  const Tensor inverse = reciprocal(a.w, loc), logs = log(a.w, loc);
  const Tensor series = mul({power_sum(kTerms, square(inverse, loc), loc), loc}, inverse);
  const Tensor stirling =
      add({mul({sub({a.w, loc}, 0.5), loc}, logs), loc}, sub({series, loc}, a.w));
  Tensor product = a.z;
  for (int i = 1; i < kRaise; ++i)
    product = mul({product, loc}, add({a.z, loc}, i));
  const Tensor raised = log(where(a.is_raised, {product, loc}, 1), loc);
  const Tensor value =
      sub({add({stirling, loc}, 0.5 * std::log(2 * std::numbers::pi)), loc}, raised);
  const Tensor sine = sin(mul({abs(a.turn, loc), loc}, std::numbers::pi), loc);
  const Tensor mirrored = sub({sub({std::log(std::numbers::pi), loc}, log(sine, loc)), loc}, value);
  const Tensor finite = where(a.is_reflected, {mirrored, loc}, value);
  return where(isinf(x, loc), {kUnbounded, loc}, finite);
}

// The same source: 6.3.18 (the series), 6.3.5 (recurrence), 6.3.7 (reflection). Its gradient is
// that of the ops, so no branch may divide by 0.
Tensor digamma_of_doubles(const Tensor& x, const Loc& loc) {
  static constexpr std::array<double, 8> kTerms{0,          1.0 / 12,  -1.0 / 120,     1.0 / 252,
                                                -1.0 / 240, 1.0 / 132, -691.0 / 32760, 1.0 / 12};
  const GammaArgument a = gamma_argument(x, loc);
  const Tensor inverse = reciprocal(a.w, loc);
  const Tensor series =
      add({power_sum(kTerms, square(inverse, loc), loc), loc}, mul({inverse, loc}, 0.5));
  Tensor shares = reciprocal(a.z, loc);
  for (int i = 1; i < kRaise; ++i)
    shares = add({shares, loc}, reciprocal(add({a.z, loc}, i), loc));
  const Tensor raised = where(a.is_raised, {shares, loc}, 0);
  const Tensor value = sub({sub({log(a.w, loc), loc}, series), loc}, raised);
  const Tensor is_pole = Operand(a.turn, loc) == 0;
  const Tensor angle = mul({where(is_pole, {0.25, loc}, a.turn), loc}, std::numbers::pi);
  const Tensor cotangent = div({cos(angle, loc), loc}, sin(angle, loc));
  const Tensor mirrored = sub({value, loc}, mul({cotangent, loc}, std::numbers::pi));
  const Tensor finite = where(a.is_reflected, {mirrored, loc}, value);
  const Tensor is_zero = Operand(x, loc) == 0;
  const Tensor pole = where(is_zero, {div({-1, loc}, where(is_zero, {x, loc}, 1)), loc},
                            std::numeric_limits<double>::quiet_NaN());
  return where(is_pole, {pole, loc}, finite);
}

// Wichura, "Algorithm AS 241: The Percentage Points of the Normal Distribution", Applied Statistics
// 37 (1988), PPND16: quotients of polynomials for the middle, the tails and their ends, exact to 16
// digits. erfinv(x) is the normal quantile of (x + 1) / 2 over the root of 2.
constexpr std::array<double, 8> kMiddle{3.3871328727963666080e0, 1.3314166789178437745e2,
                                        1.9715909503065514427e3, 1.3731693765509461125e4,
                                        4.5921953931549871457e4, 6.7265770927008700853e4,
                                        3.3430575583588128105e4, 2.5090809287301226727e3};
constexpr std::array<double, 8> kUnderMiddle{1,
                                             4.2313330701600911252e1,
                                             6.8718700749205790830e2,
                                             5.3941960214247511077e3,
                                             2.1213794301586595867e4,
                                             3.9307895800092710610e4,
                                             2.8729085735721942674e4,
                                             5.2264952788528545610e3};
constexpr std::array<double, 8> kTail{1.42343711074968357734e0,  4.63033784615654529590e0,
                                      5.76949722146069140550e0,  3.64784832476320460504e0,
                                      1.27045825245236838258e0,  2.41780725177450611770e-1,
                                      2.27238449892691845833e-2, 7.74545014278341407640e-4};
constexpr std::array<double, 8> kUnderTail{1,
                                           2.05319162663775882187e0,
                                           1.67638483018380384940e0,
                                           6.89767334985100004550e-1,
                                           1.48103976427480074590e-1,
                                           1.51986665636164571966e-2,
                                           5.47593808499534494600e-4,
                                           1.05075007164441684324e-9};
constexpr std::array<double, 8> kEnd{6.65790464350110377720e0,  5.46378491116411436990e0,
                                     1.78482653991729133580e0,  2.96560571828504891230e-1,
                                     2.65321895265761230930e-2, 1.24266094738807843860e-3,
                                     2.71155556874348757815e-5, 2.01033439929228813265e-7};
constexpr std::array<double, 8> kUnderEnd{1,
                                          5.99832206555887937690e-1,
                                          1.36929880922735805310e-1,
                                          1.48753612908506148525e-2,
                                          7.86869131145613259100e-4,
                                          1.84631831751005468180e-5,
                                          1.42151175831644588870e-7,
                                          2.04426310338993978564e-15};

// The x whose share is 1/2 + half; left: the smaller of the two shares.
Tensor normal_quantile(const Tensor& half, const Tensor& left, const Loc& loc) {
  const Tensor squares = sub({0.180625, loc}, square(half, loc));
  const Tensor middle = mul({half, loc}, quotient(kMiddle, kUnderMiddle, squares, loc));
  const Tensor depth = sqrt(neg(log(left, loc), loc), loc);
  const Tensor tail = where(Operand(depth, loc) <= 5,
                            {quotient(kTail, kUnderTail, sub({depth, loc}, 1.6), loc), loc},
                            quotient(kEnd, kUnderEnd, sub({depth, loc}, 5), loc));
  const Tensor reach = where(Operand(left, loc) == 0, {kUnbounded, loc}, tail);
  return where(Operand(abs(half, loc), loc) <= 0.425, {middle, loc},
               mul({reach, loc}, sign(half, loc)));
}
Tensor erfinv_of_doubles(const Tensor& x, const Loc& loc) {
  const Tensor left = mul({sub({1, loc}, abs(x, loc)), loc}, 0.5);
  const Tensor value = normal_quantile(mul({x, loc}, 0.5), left, loc);
  return mul({value, loc}, 1 / std::numbers::sqrt2);
}
Tensor ndtri_of_doubles(const Tensor& p, const Loc& loc) {
  const Tensor left = where(Operand(p, loc) < 0.5, {p, loc}, sub({1, loc}, p));
  return normal_quantile(sub({p, loc}, 0.5), left, loc);
}

// Cody, "Rational Chebyshev approximations for the error function", Mathematics of Computation 23
// (1969): erf(x) / x for small x, exp(y^2) erfc(y) for y of 0.46875 to 4, and beyond.
constexpr std::array<double, 5> kErfNear{3.20937758913846947e3, 3.77485237685302021e2,
                                         1.13864154151050156e2, 3.16112374387056560e0,
                                         1.85777706184603153e-1};
constexpr std::array<double, 5> kUnderErfNear{2.84423683343917062e3, 1.28261652607737228e3,
                                              2.44024637934444173e2, 2.36012909523441209e1, 1};
constexpr std::array<double, 9> kErfcMiddle{
    1.23033935479799725e3, 2.05107837782607147e3,  1.71204761263407058e3,
    8.81952221241769090e2, 2.98635138197400131e2,  6.61191906371416295e1,
    8.88314979438837594e0, 5.64188496988670089e-1, 2.15311535474403846e-8};
constexpr std::array<double, 9> kUnderErfcMiddle{
    1.23033935480374942e3, 3.43936767414372164e3, 4.36261909014324716e3,
    3.29079923573345963e3, 1.62138957456669019e3, 5.37181101862009858e2,
    1.17693950891312499e2, 1.57449261107098347e1, 1};
constexpr std::array<double, 6> kErfcEnd{6.58749161529837803e-4, 1.60837851487422766e-2,
                                         1.25781726111229246e-1, 3.60344899949804439e-1,
                                         3.05326634961232344e-1, 1.63153871373020978e-2};
constexpr std::array<double, 6> kUnderErfcEnd{2.33520497626869185e-3, 6.05183413124413191e-2,
                                              5.27905102951428412e-1, 1.87295284992346725e0,
                                              2.56852019228982242e0,  1};
constexpr double kErfcBegin = 0.46875;

// erfc(x) of |x| up to kErfcBegin.
Tensor near_erfc(const Tensor& x, const Loc& loc) {
  const Tensor bounded = minimum({maximum({x, loc}, -kErfcBegin), loc}, kErfcBegin);
  const Tensor slope = quotient(kErfNear, kUnderErfNear, square(bounded, loc), loc);
  return sub({1, loc}, mul({bounded, loc}, slope));
}

// exp(sign * y^2): by a part of y whose square is exact, as the rounding of y^2 grows in the
// exponent.
Tensor exp_of_square(const Tensor& y, double sign, const Loc& loc) {
  const Tensor rough = div({trunc(mul({y, loc}, 16), loc), loc}, 16);
  const Tensor rest = mul({sub({y, loc}, rough), loc}, add({y, loc}, rough));
  return mul({exp(mul({square(rough, loc), loc}, sign), loc), loc},
             exp(mul({rest, loc}, sign), loc));
}

// exp(y^2) erfc(y) of y from kErfcBegin on.
Tensor scaled_erfc(const Tensor& y, const Loc& loc) {
  const Tensor middle = quotient(kErfcMiddle, kUnderErfcMiddle, minimum({y, loc}, 4), loc);
  const Tensor far = maximum({y, loc}, 4), inverse = reciprocal(square(far, loc), loc);
  const Tensor series = mul({inverse, loc}, quotient(kErfcEnd, kUnderErfcEnd, inverse, loc));
  const Tensor end = div({sub({std::numbers::inv_sqrtpi, loc}, series), loc}, far);
  return where(Operand(y, loc) <= 4, {middle, loc}, end);
}

Tensor erfc_of_doubles(const Tensor& x, const Loc& loc) {
  const Tensor size = abs(x, loc), y = maximum({size, loc}, kErfcBegin);
  // From 27 on it is less than any number.
  const Tensor bounded = minimum({y, loc}, 28);
  const Tensor tail = mul({exp_of_square(bounded, -1, loc), loc}, scaled_erfc(bounded, loc));
  const Tensor far = where(Operand(x, loc) < 0, {sub({2, loc}, tail), loc}, tail);
  const Tensor value = where(Operand(size, loc) <= kErfcBegin, {near_erfc(x, loc), loc}, far);
  return where(isnan(x, loc), {x, loc}, value);
}
Tensor erfcx_of_doubles(const Tensor& x, const Loc& loc) {
  const Tensor size = abs(x, loc), y = maximum({size, loc}, kErfcBegin);
  const Tensor right = scaled_erfc(y, loc);
  const Tensor left =
      sub({mul({exp_of_square(minimum({y, loc}, 28), 1, loc), loc}, 2), loc}, right);
  const Tensor far = where(Operand(x, loc) < 0, {left, loc}, right);
  const Tensor near = mul({exp(square(minimum({size, loc}, 1), loc), loc), loc}, near_erfc(x, loc));
  const Tensor value = where(Operand(size, loc) <= kErfcBegin, {near, loc}, far);
  return where(isnan(x, loc), {x, loc}, value);
}
Tensor log_ndtr_of_doubles(const Tensor& x, const Loc& loc) {
  const Tensor is_left = Operand(x, loc) < 0;
  const Tensor t = mul({abs(x, loc), loc}, 1 / std::numbers::sqrt2);
  const Tensor left =
      sub({log(mul({erfcx_of_doubles(t, loc), loc}, 0.5), loc), loc}, square(t, loc));
  const Tensor right = log1p(mul({erfc_of_doubles(t, loc), loc}, -0.5), loc);
  return where(is_left, {left, loc}, right);
}

}  // namespace

Tensor lgamma(const Tensor& x, Loc loc) {
  const auto values = [loc](const Tensor& wide) { return lgamma_of_doubles(wide, loc); };
  const auto slope = [loc](const Tensor& wide, const Tensor&) { return digamma(wide, loc); };
  return by_doubles(x, "lgamma", loc,
                    [&](const Tensor& wide) { return with_slope(wide, values, slope, loc); });
}
Tensor digamma(const Tensor& x, Loc loc) {
  return by_doubles(x, "digamma", loc,
                    [&](const Tensor& wide) { return digamma_of_doubles(wide, loc); });
}

Tensor erfinv(const Tensor& x, Loc loc) {
  const auto slope = [loc](const Tensor&, const Tensor& y) {
    return mul({exp(square(y, loc), loc), loc}, 0.5 * std::sqrt(std::numbers::pi));
  };
  return sloped(x, "erfinv", erfinv_of_doubles, slope, loc);
}
Tensor erfc(const Tensor& x, Loc loc) {
  const auto slope = [loc](const Tensor& at, const Tensor&) {
    return mul({exp(neg(square(at, loc), loc), loc), loc}, -2 * std::numbers::inv_sqrtpi);
  };
  return sloped(x, "erfc", erfc_of_doubles, slope, loc);
}
Tensor erfcx(const Tensor& x, Loc loc) {
  const auto slope = [loc](const Tensor& at, const Tensor& y) {
    return sub({mul({mul({at, loc}, y), loc}, 2), loc}, 2 * std::numbers::inv_sqrtpi);
  };
  return sloped(x, "erfcx", erfcx_of_doubles, slope, loc);
}
Tensor ndtr(const Tensor& x, Loc loc) {
  return by_doubles(x, "ndtr", loc, [&](const Tensor& wide) {
    return mul({erfc(mul({wide, loc}, -1 / std::numbers::sqrt2), loc), loc}, 0.5);
  });
}
Tensor log_ndtr(const Tensor& x, Loc loc) {
  // The density over the share; far left both end long before their quotient does.
  const auto slope = [loc](const Tensor& at, const Tensor& y) {
    const double scale = std::numbers::inv_sqrtpi / std::numbers::sqrt2;
    const Tensor t = mul({minimum({at, loc}, 0), loc}, -1 / std::numbers::sqrt2);
    const Tensor left = div({2 * scale, loc}, erfcx_of_doubles(t, loc));
    const Tensor exponent = sub({mul({square(at, loc), loc}, -0.5), loc}, y);
    const Tensor right = mul({exp(exponent, loc), loc}, scale);
    return where(Operand(at, loc) < 0, {left, loc}, right);
  };
  return sloped(x, "log_ndtr", log_ndtr_of_doubles, slope, loc);
}
Tensor ndtri(const Tensor& p, Loc loc) {
  const auto slope = [loc](const Tensor&, const Tensor& y) {
    return mul({exp(mul({square(y, loc), loc}, 0.5), loc), loc}, std::sqrt(2 * std::numbers::pi));
  };
  return sloped(p, "ndtri", ndtri_of_doubles, slope, loc);
}
Tensor entr(const Tensor& x, Loc loc) {
  require_defined(x, "entr", "x", loc);
  const Tensor at = is_floating(x.dtype()) ? x : x.to(DType::kFloat, loc);
  const Tensor is_below = Operand(at, loc) < 0;
  const Tensor inner = where(is_below, {1, loc}, at);
  return where(is_below, {-kUnbounded, loc}, neg(xlogy({inner, loc}, inner), loc));
}
Tensor multigammaln(const Tensor& x, int64_t p, Loc loc) {
  require_defined(x, "multigammaln", "x", loc);
  if (p < 1) fail_at(loc, "multigammaln: expected p of at least 1, got ", p);
  const auto count = static_cast<double>(p);
  Tensor sum = lgamma(x, loc);
  for (int64_t i = 1; i < p; ++i)
    sum = add({sum, loc}, lgamma(sub({x, loc}, static_cast<double>(i) / 2), loc));
  return add({sum, loc}, count * (count - 1) / 4 * std::log(std::numbers::pi));
}

}  // namespace sardonyx::eager
