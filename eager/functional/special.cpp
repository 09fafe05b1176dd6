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
#include "ir/type.h"

namespace sardonyx::eager {
namespace {

constexpr double kUnbounded = std::numeric_limits<double>::infinity();

// Of float64, whatever the elements: sums of large terms that cancel would leave little of float32.
Tensor by_doubles(const Tensor& x, const char* name, const Loc& loc,
                  const std::function<Tensor(const Tensor&)>& function) {
  require_defined(x, name, "x", loc);
  const DType dtype = is_floating(x.dtype()) ? x.dtype() : DType::kFloat;
  return function(x.to(DType::kDouble, loc)).to(dtype, loc);
}

// c[0] + c[1] x + c[2] x^2 + ...
template <size_t N>
Tensor power_sum(const std::array<double, N>& c, const Tensor& x, const Loc& loc) {
  Tensor sum = add({mul({x, loc}, c[N - 1]), loc}, c[N - 2]);
  for (size_t i = N - 2; i-- > 0;)
    sum = add({mul({sum, loc}, x), loc}, c[i]);
  return sum;
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

Tensor erfinv_of_doubles(const Tensor& x, const Loc& loc) {
  const auto quotient = [&](const auto& above, const auto& below, const Tensor& at) {
    return div({power_sum(above, at, loc), loc}, power_sum(below, at, loc));
  };
  const Tensor half = mul({x, loc}, 0.5), size = abs(x, loc);
  const Tensor squares = sub({0.180625, loc}, square(half, loc));
  const Tensor middle = mul({half, loc}, quotient(kMiddle, kUnderMiddle, squares));
  const Tensor left = mul({sub({1, loc}, size), loc}, 0.5);
  const Tensor depth = sqrt(neg(log(left, loc), loc), loc);
  const Tensor tail =
      where(Operand(depth, loc) <= 5, {quotient(kTail, kUnderTail, sub({depth, loc}, 1.6)), loc},
            quotient(kEnd, kUnderEnd, sub({depth, loc}, 5)));
  const Tensor reach = where(Operand(size, loc) == 1, {kUnbounded, loc}, tail);
  const Tensor value =
      where(Operand(size, loc) <= 0.85, {middle, loc}, mul({reach, loc}, sign(x, loc)));
  return mul({value, loc}, 1 / std::numbers::sqrt2);
}

// function(x), whose slope is given at x and its value.
using Slope = std::function<Tensor(const Tensor& x, const Tensor& y)>;
Tensor with_slope(const Tensor& x, const std::function<Tensor(const Tensor&)>& function,
                  const Slope& slope, const Loc& loc) {
  using Tensors = std::vector<Tensor>;
  const auto forward = [=](const Tensors& in) { return Tensors{function(in[0])}; };
  const auto backward = [=](const Tensors& in, const Tensors& out, const Tensors& d) {
    return Tensors{mul({d[0], loc}, slope(in[0], out[0]))};
  };
  return apply(CustomFunction{forward, backward}, {x}, loc)[0];
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
  const auto values = [loc](const Tensor& wide) { return erfinv_of_doubles(wide, loc); };
  const auto slope = [loc](const Tensor&, const Tensor& y) {
    return mul({exp(square(y, loc), loc), loc}, 0.5 * std::sqrt(std::numbers::pi));
  };
  return by_doubles(x, "erfinv", loc,
                    [&](const Tensor& wide) { return with_slope(wide, values, slope, loc); });
}

}  // namespace sardonyx::eager
