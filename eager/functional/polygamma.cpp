// Derivatives of digamma, by Hurwitz' zeta function.
#include <array>
#include <cmath>

#include "eager/functional/functional.h"
#include "eager/functional/special.h"
#include "eager/functional/special_parts.h"

namespace sardonyx::eager {
namespace {

// Beyond it n! is no number of float64.
constexpr int64_t kMostPolygamma = 169;

// B(2j) / (2j)!, Bernoulli's numbers over factorials, from j = 1 on.
constexpr std::array<double, 12> kBernoulliTerms{1.0 / 12,
                                                 -1.0 / 720,
                                                 1.0 / 30240,
                                                 -1.0 / 1209600,
                                                 1.0 / 47900160,
                                                 -691.0 / 1307674368000,
                                                 1.0 / 74724249600,
                                                 -3617.0 / 10670622842880000,
                                                 43867.0 / 5109094217170944000,
                                                 -174611.0 / 802857662698291200000.0,
                                                 77683.0 / 14101100039391805440000.0,
                                                 -236364091.0 / 1693824136731743669452800000.0};

// sum of (q + k)^-s over k >= 0, of q >= 0, by Euler and Maclaurin's sum from q + 10 on.
Tensor hurwitz_zeta(double s, const Tensor& q, const Loc& loc) {
  constexpr int kDirectTerms = 10;
  Tensor sum = pow({q, loc}, -s);
  for (int k = 1; k < kDirectTerms; ++k)
    sum = add({sum, loc}, pow({add({q, loc}, k), loc}, -s));
  const Tensor a = add({q, loc}, kDirectTerms);
  const Tensor inverse = reciprocal(a, loc), power = pow({a, loc}, -s);
  const Tensor inverse_square = square(inverse, loc);
  Tensor term = mul({inverse, loc}, s), tail = add({div({a, loc}, s - 1), loc}, 0.5);
  for (size_t j = 0; j < kBernoulliTerms.size(); ++j) {
    tail = add({tail, loc}, mul({term, loc}, kBernoulliTerms[j]));
    const double next = s + 2 * static_cast<double>(j) + 1;
    term = mul({mul({term, loc}, next * (next + 1)), loc}, inverse_square);
  }
  // Of infinities the tail is a product of 0 and infinity.
  const Tensor has_tail = Operand(power, loc) != 0;
  return add({sum, loc}, mul({power, loc}, where(has_tail, {tail, loc}, 0)));
}

// Of negative q the terms up to the first positive one are those of two sums of positive terms.
Tensor zeta_of_any(double s, const Tensor& q, const Loc& loc) {
  const Tensor is_below = Operand(q, loc) < 0;
  const Tensor rest = sub({q, loc}, floor(q, loc));
  const Tensor right = hurwitz_zeta(s, where(is_below, {rest, loc}, q), loc);
  const Tensor next = where(is_below, {sub({1, loc}, rest), loc}, 1);
  const Tensor last = where(is_below, {sub({1, loc}, q), loc}, 1);
  const Tensor left = sub({hurwitz_zeta(s, next, loc), loc}, hurwitz_zeta(s, last, loc));
  const double parity = std::fmod(s, 2) == 0 ? 1 : -1;
  return where(is_below, {add({right, loc}, mul({left, loc}, parity)), loc}, right);
}

}  // namespace

Tensor polygamma(int64_t n, const Tensor& x, Loc loc) {
  if (n == 0) return digamma(x, loc);
  if (n < 0 || n > kMostPolygamma)
    fail_at(loc, "polygamma: expected n within [0, ", kMostPolygamma, "], got ", n);
  const auto order = static_cast<double>(n);
  const double scale = (n % 2 == 1 ? 1 : -1) * std::tgamma(order + 1);
  const auto values = [=](const Tensor& wide) {
    return mul({zeta_of_any(order + 1, wide, loc), loc}, scale);
  };
  const auto slope = [=](const Tensor& at, const Tensor&) { return polygamma(n + 1, at, loc); };
  return by_doubles(x, "polygamma", loc,
                    [&](const Tensor& wide) { return with_slope(wide, values, slope, loc); });
}

}  // namespace sardonyx::eager
