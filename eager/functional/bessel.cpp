// Modified Bessel functions of the first kind, of orders 0 and 1.
#include <array>
#include <cmath>
#include <limits>

#include "eager/functional/functional.h"
#include "eager/functional/special.h"
#include "eager/functional/special_parts.h"

namespace sardonyx::eager {
namespace {

// Interpolating polynomials at Chebyshev's points, off by less than 2e-17: up to kBesselNear in
// |x| / 4 - 1 those of exp(-|x|) I0(x) and exp(-|x|) I1(x) / x, from there on in 16 / |x| - 1 those
// of sqrt(|x|) exp(-|x|) I0(x) and the same of I1.
constexpr double kBesselNear = 8;
constexpr std::array<double, 29> kI0Near{
    0.2070019212239867,     -0.11300432688620536,   0.09451562853995125,   -0.08904344136077733,
    0.08734341617550884,    -0.08496338091542556,   0.07927522590752974,   -0.06954119563154397,
    0.05677703201501785,    -0.04298594929673067,   0.03017791206221918,   -0.019682655784004566,
    0.011960077703464203,   -0.006792394821044967,  0.0036171271654272855, -0.0018119029764120445,
    0.0008563135177565376,  -0.0003828654139905961, 0.0001624084559061418, -6.55678677969644e-05,
    2.5198651465609148e-05, -9.183910794736519e-06, 3.232396382443255e-06, -1.1419495259048662e-06,
    3.659216730162776e-07,  -8.594601526025913e-08, 2.679771004975793e-08, -1.631130691668671e-08,
    4.394426308340083e-09};
constexpr std::array<double, 28> kI1Near{
    0.04468770987560883,     -0.06112433802966629,   0.06805759990951267,
    -0.06848260620582576,    0.06376740371333725,    -0.05528003922703299,
    0.04467457262304859,     -0.03367135552039122,   0.023686016933733296,
    -0.015571309250544394,   0.009583962342948091,   -0.0055345678088487725,
    0.003005761422600446,    -0.0015388747130763492, 0.0007445158546973146,
    -0.00034117562574038554, 0.0001484126353082137,  -6.142435066991627e-05,
    2.4248618918164148e-05,  -9.135581253751598e-06, 3.2758896983910484e-06,
    -1.133551346432692e-06,  3.9091632529126733e-07, -1.2376686539665326e-07,
    2.9883402742599985e-08,  -9.144761049555143e-09, 5.211654337723065e-09,
    -1.3931836382589292e-09};
constexpr std::array<double, 23> kI0Far{
    0.4021765094450081,      0.0033605519836677235,  0.00013621607439187193, 1.1143033802583682e-05,
    1.4838475863096976e-06,  2.9735956581528157e-07, 8.872154618944625e-08,  3.932926571091252e-08,
    2.155681110989874e-08,   7.532386417555123e-09,  -6.805980075129678e-09, -1.331979859201994e-08,
    -5.162517880939013e-09,  7.323310735122893e-09,  6.789790403895736e-09,  -3.11851456121224e-09,
    -4.8482509221176966e-09, 1.0924527246468664e-09, 2.3981927228949238e-09, -2.748111637276033e-10,
    -7.473844621887592e-10,  3.525321019700796e-11,  1.0881994785468934e-10};
constexpr std::array<double, 23> kI1Far{
    0.38939845902587233,     -0.009749577193235609,   -0.000219235763833829,
    -1.503854721127423e-05,  -1.8349101539664522e-06, -3.483853071371078e-07,
    -1.0001220638799958e-07, -4.31323156237458e-08,   -2.3382691353601083e-08,
    -8.407326839577817e-09,  6.795073490187386e-09,   1.3952625102162603e-08,
    5.722677527454156e-09,   -7.432535335623792e-09,  -7.222524178953976e-09,
    3.0717395650769477e-09,  5.094016301574338e-09,   -1.0476127785270019e-09,
    -2.5062162405593894e-09, 2.582169443152386e-10,   7.79067217908059e-10,
    -3.2677656089803323e-11, -1.13288885034257e-10};

Tensor of_far(const Tensor& size, const Tensor& t, bool is_first_order, const Loc& loc) {
  const Tensor value = is_first_order ? power_sum(kI1Far, t, loc) : power_sum(kI0Far, t, loc);
  return div({value, loc}, sqrt(size, loc));
}

// exp(-|x|) times the function.
Tensor scaled_bessel(const Tensor& x, bool is_first_order, const Loc& loc) {
  const Tensor size = abs(x, loc);
  const Tensor near_t = sub({div({minimum({size, loc}, kBesselNear), loc}, 4), loc}, 1);
  const Tensor beyond = maximum({size, loc}, kBesselNear);
  const Tensor far_t = sub({div({16, loc}, beyond), loc}, 1);
  const Tensor near = is_first_order ? mul({size, loc}, power_sum(kI1Near, near_t, loc))
                                     : power_sum(kI0Near, near_t, loc);
  const Tensor value = where(Operand(size, loc) <= kBesselNear, {near, loc},
                             of_far(beyond, far_t, is_first_order, loc));
  const Tensor with_sign = is_first_order ? mul({value, loc}, sign(x, loc)) : value;
  return where(isnan(x, loc), {x, loc}, with_sign);
}
Tensor i0e_of_doubles(const Tensor& x, const Loc& loc) {
  return scaled_bessel(x, false, loc);
}
Tensor i1e_of_doubles(const Tensor& x, const Loc& loc) {
  return scaled_bessel(x, true, loc);
}
// Unscaled; at infinities the scaled function is 0, and they are the result.
Tensor unscaled(const Tensor& x, const Tensor& scaled, const Tensor& at_end, const Loc& loc) {
  const Tensor size = abs(x, loc);
  const Tensor is_end = Operand(size, loc) == std::numeric_limits<double>::infinity();
  return where(is_end, {at_end, loc}, mul({scaled, loc}, exp(size, loc)));
}
Tensor i0_of_doubles(const Tensor& x, const Loc& loc) {
  return unscaled(x, i0e_of_doubles(x, loc), abs(x, loc), loc);
}
Tensor i1_of_doubles(const Tensor& x, const Loc& loc) {
  return unscaled(x, i1e_of_doubles(x, loc), x, loc);
}

// f1(x) / x, which is 1/2 at 0.
Tensor over_argument(const Tensor& f1, const Tensor& x, const Loc& loc) {
  const Tensor is_zero = Operand(x, loc) == 0;
  return where(is_zero, {0.5, loc}, div({f1, loc}, where(is_zero, {1, loc}, x)));
}

}  // namespace

Tensor i0(const Tensor& x, Loc loc) {
  const auto slope = [loc](const Tensor& at, const Tensor&) { return i1(at, loc); };
  return sloped(x, "i0", i0_of_doubles, slope, loc);
}
Tensor i0e(const Tensor& x, Loc loc) {
  const auto slope = [loc](const Tensor& at, const Tensor& y) {
    return sub({i1e(at, loc), loc}, mul({sign(at, loc), loc}, y));
  };
  return sloped(x, "i0e", i0e_of_doubles, slope, loc);
}
Tensor i1(const Tensor& x, Loc loc) {
  const auto slope = [loc](const Tensor& at, const Tensor& y) {
    return sub({i0(at, loc), loc}, over_argument(y, at, loc));
  };
  return sloped(x, "i1", i1_of_doubles, slope, loc);
}
Tensor i1e(const Tensor& x, Loc loc) {
  const auto slope = [loc](const Tensor& at, const Tensor& y) {
    const Tensor rest = add({mul({sign(at, loc), loc}, y), loc}, over_argument(y, at, loc));
    return sub({i0e(at, loc), loc}, rest);
  };
  return sloped(x, "i1e", i1e_of_doubles, slope, loc);
}

}  // namespace sardonyx::eager
