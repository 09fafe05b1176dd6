// Special functions: known values, slopes, poles, and the same compiled and exported.
#include "eager/functional/special.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "eager/autograd/autograd.h"
#include "eager/create.h"
#include "eager/export/export.h"
#include "eager/export/onnx_module.h"
#include "eager/functional/functional.h"
#include "eager/functional/tensors_for_test.h"
#include "eager/trace/compile.h"
#include "tests/support/expect_error.h"
#include "tests/support/temporary_folder.h"

namespace sardonyx::eager {
namespace {

using Tensors = std::vector<Tensor>;
using SpecialFunction = Tensor (*)(const Tensor&, Loc);
constexpr double kBoundless = std::numeric_limits<double>::infinity();

// Values that mpmath gives to 17 digits.
const Numbers kPlaces{1e-10, 0.1,    0.25, 0.5,  0.9,  1.5,  2.5,  3.7,   9.9,   10.1,
                      30.0,  1000.0, 1e10, -0.1, -0.5, -1.5, -2.7, -10.3, -100.5};
const Numbers kLogGamma{
    23.025850929882735,    2.2527126517342059,   1.2880225246980775,  0.57236494292470009,
    0.066376239734742954,  -0.12078223763524522, 0.28468287047291916, 1.4280723266653881,
    12.57717990421988,     13.027526738633237,   71.257038967168009,  5905.2204232091812,
    220258509288.81058,    2.3689613327287886,   1.2655121234846454,  0.86004701537648101,
    -0.071407085315645688, -14.457515440024208,  -364.90096830942735};
const Numbers kDigamma{
    -10000000000.577215,  -10.423754940411076,  -4.2274535333762654,  -1.9635100260214235,
    -0.75492694994705135, 0.036489973978576521, 0.70315664064524319,  1.1671535393615114,
    2.2411803166063814,   2.2622143570941481,   3.3844381326855249,   6.9072551956488121,
    23.025850929890457,   9.245073050052948,    0.036489973978576521, 0.70315664064524319,
    -1.1153471291406896,  4.662403493582087,    4.6151246013380641};
const Numbers kTrigamma{
    9.9999999999999993e19, 101.43329915079275,  17.197329154507111,   4.9348022005446793,
    1.9225399594772034,    0.93480220054467931, 0.49035775610023486,  0.3100378576700383,
    0.10628304162874059,   0.10407283129749604, 0.033895060357739944, 0.0010005001666666333,
    1.00000000005e-10,     101.92253995947719,  8.9348022005446793,   9.3792466449891238,
    14.769375845132315,    14.986887065722638,  9.8597034918700862};
const Numbers kShares{1e-10, 0.1,   -0.3,     0.5,       0.84,         0.86,
                      -0.95, 0.999, 0.999999, 1 - 1e-12, -0.9999999999};
const Numbers kErfinv{8.8622692545275805e-11, 0.088855990494257692, -0.27246271472675435,
                      0.47693627620446987,    0.99353562834730419,  1.0435418436397588,
                      -1.3859038243496777,    2.3267537655135245,   3.4589107372754988,
                      5.0420318985726961,     -4.5728249585449249};

Tensor doubles(const Numbers& values) {
  return Tensor::of(values, {static_cast<int64_t>(values.size())});
}

// Relative to magnitudes of 1 or more: near zeros of lgamma and digamma the error is absolute.
void expect_values(const Tensor& found, const Numbers& expected, const Numbers& at,
                   double tolerance, double least = 1) {
  const std::vector<double> values = found.data().to_doubles();
  ASSERT_EQ(values.size(), expected.size());
  for (size_t i = 0; i < values.size(); ++i) {
    if (values[i] == expected[i]) continue;  // infinities as well
    EXPECT_NEAR(values[i], expected[i], tolerance * std::max(least, std::abs(expected[i])))
        << at[i];
  }
}

Tensor slope_of(SpecialFunction function, const Tensor& at) {
  Tensor x = at.detach().set_requires_grad();
  function(x, Loc::current()).sum().backward();
  return x.grad();
}

TEST(SpecialFunctions, GiveKnownValuesAndSlopes) {
  const Tensor places = doubles(kPlaces), shares = doubles(kShares);
  expect_values(lgamma(places), kLogGamma, kPlaces, 1e-13);
  expect_values(digamma(places), kDigamma, kPlaces, 1e-12);
  expect_values(erfinv(shares), kErfinv, kShares, 1e-14, 0);
  expect_values(slope_of(lgamma, places), kDigamma, kPlaces, 1e-12);
  expect_values(slope_of(digamma, places), kTrigamma, kPlaces, 1e-12);
  Numbers slopes;
  for (const double y : kErfinv)
    slopes.push_back(std::sqrt(M_PI) / 2 * std::exp(y * y));
  expect_values(slope_of(erfinv, shares), slopes, kShares, 1e-12);
}

// Of the same argument float32 gives what float64 gives, to its last digits.
TEST(SpecialFunctions, OfOtherTypes) {
  for (const SpecialFunction function :
       {SpecialFunction(lgamma), SpecialFunction(digamma), SpecialFunction(erfinv)}) {
    const Numbers& at = function == SpecialFunction(erfinv) ? kShares : kPlaces;
    const Tensor floats = of(at);
    const Tensor found = function(floats, Loc::current());
    EXPECT_EQ(found.dtype(), DType::kFloat);
    const Numbers exact = function(floats.to(DType::kDouble), Loc::current()).data().to_doubles();
    const Numbers values = found.data().to_doubles();
    for (size_t i = 0; i < exact.size(); ++i) {
      if (std::isfinite(exact[i]))
        EXPECT_NEAR(values[i], exact[i], 1e-7 * std::abs(exact[i])) << at[i];
      else
        EXPECT_EQ(values[i], exact[i]) << at[i];
    }
    EXPECT_EQ(slope_of(function, floats).dtype(), DType::kFloat);
    EXPECT_EQ(function(floats.to(DType::kFloat16), Loc::current()).dtype(), DType::kFloat16);
  }
  EXPECT_EQ(lgamma(ints({5})).dtype(), DType::kFloat);
  EXPECT_FLOAT_EQ(lgamma(ints({5})).item<float>(), std::log(24.0f));
}

TEST(SpecialFunctions, AtPolesAndEnds) {
  for (const double x : {0.0, -0.0, -1.0, -20.0, kBoundless, -kBoundless})
    EXPECT_EQ(lgamma(doubles({x})).item<double>(), kBoundless) << x;
  EXPECT_TRUE(std::isnan(lgamma(doubles({NAN})).item<double>()));
  const Numbers at_zero = digamma(doubles({0.0, -0.0, kBoundless})).data().to_doubles();
  EXPECT_EQ(at_zero, (Numbers{-kBoundless, kBoundless, kBoundless}));
  for (const double x : {-1.0, -20.0, -kBoundless, double(NAN)})
    EXPECT_TRUE(std::isnan(digamma(doubles({x})).item<double>())) << x;
  const Numbers ends = erfinv(doubles({1, -1, 0})).data().to_doubles();
  EXPECT_EQ(ends, (Numbers{kBoundless, -kBoundless, 0}));
  for (const double x : {1.5, -1.5, double(NAN)})
    EXPECT_TRUE(std::isnan(erfinv(doubles({x})).item<double>())) << x;
  // Whole numbers are poles of the reflected form alone.
  expect_values(slope_of(digamma, doubles({1, 2})), {M_PI * M_PI / 6, M_PI * M_PI / 6 - 1}, {1, 2},
                1e-13);
}

TEST(SpecialFunctions, CompiledAndExported) {
  const TemporaryFolder folder;
  const TensorFunction run = [](const Tensors& in) -> Tensors {
    return {lgamma(in[0]), digamma(in[0]), erfinv(in[1])};
  };
  const TensorFunction slopes = [](const Tensors& in) -> Tensors {
    return {slope_of(lgamma, in[0]), slope_of(digamma, in[0]), slope_of(erfinv, in[1])};
  };
  const Tensors in{doubles(kPlaces), doubles(kShares)};
  const auto path = folder.path() / "special.onnx";
  export_onnx(run, in, path);
  const Tensors compiled = compile(run)(in), exported = OnnxModule(path)(in);
  const Tensors expected_slopes = slopes(in), compiled_slopes = compile(slopes)(in);
  const Tensors expected = run(in);
  for (size_t i = 0; i < expected.size(); ++i) {
    const Numbers& at = i == 2 ? kShares : kPlaces;
    const Numbers values = expected[i].data().to_doubles();
    expect_values(compiled[i], values, at, 1e-13);
    expect_values(exported[i], values, at, 1e-13);
    expect_values(compiled_slopes[i], expected_slopes[i].data().to_doubles(), at, 1e-12);
  }
}

// torch.special in float64.
const Numbers kNormalPlaces{-40, -9.5, -3, -1, -0.4, 0, 0.3, 0.6, 2, 4.5, 7, 26, 30};
const Numbers kNormalShares{1e-300, 1e-20, 0.001, 0.07, 0.3, 0.5, 0.8, 0.999999};
struct NormalCase {
  const char* name;
  SpecialFunction function;
  Numbers at, values, slopes;
};
std::vector<NormalCase> normal_cases() {
  const Numbers from_second(kNormalPlaces.begin() + 1, kNormalPlaces.end());
  return {
      {"erfc",
       erfc,
       kNormalPlaces,
       {2.0, 2.0, 1.9999779095030015, 1.8427007929497148, 1.4283923550466686, 1.0,
        0.6713732405408726, 0.3961439091520741, 0.004677734981047265, 1.9661604415428876e-10,
        4.183825607779414e-23, 5.663192408856143e-296, 0.0},
       {0.0, -7.2007555455399766e-40, -0.00013925305194674786, -0.4151074974205947,
        -0.9615412988393078, -1.1283791670955126, -1.031260909618963, -0.7872434317142872,
        -0.020666985354092053, -1.81130589590869e-09, -5.9159629580030695e-22,
        -2.9470349932662693e-294, 0.0}},
      {"erfcx",
       erfcx,
       from_second,
       {3.134057697027116e+39, 16205.988853999586, 5.008980080762283, 1.676233956688859, 1.0,
        0.7345993345676554, 0.567804717386587, 0.2553956763105058, 0.12248480427384142,
        0.07980005432915295, 0.021683584850562907, 0.018795888861416754},
       {-5.95470962435152e+40, -97237.06150316462, -11.14633932862008, -2.4693663324466,
        -1.1283791670955126, -0.6876195663549194, -0.4470135062316082, -0.10679646185348934,
        -0.026015928630939822, -0.011178406487371229, -0.0008327548662414586,
        -0.0006258354105073138}},
      {"log_ndtr",
       log_ndtr,
       kNormalPlaces,
       {-804.6084420137539, -48.30601929896523, -6.60772622151035, -1.841021645009264,
        -1.0654340491895766, -0.6931471805599453, -0.48141016158848127, -0.3205539719875189,
        -0.02301290932896348, -3.3976788968344577e-06, -1.2798125438866539e-12,
        -2.476063315503133e-149, -4.906713927148024e-198},
       {40.024968847212364, 9.6030500903843, 3.2830986549304386, 1.525135276160982,
        1.0687561717456209, 0.7978845608028654, 0.6172208536127346, 0.45914713661428674,
        0.05524786267898997, 1.5983795414617597e-05, 9.134720408376278e-12, 6.447259971397852e-148,
        1.4736461348785476e-196}},
      {"ndtri",
       ndtri,
       kNormalShares,
       {-37.0470962993612, -9.262340089798409, -3.090232306167813, -1.4757910281791704,
        -0.5244005127080409, 0.0, 0.8416212335729143, 4.753424308817087},
       {2.6973044650428873e+298, 1.0674725333014075e+19, 296.9923515892307, 7.447795723950524,
        2.876103659264292, 2.5066282746310002, 3.5719143465773615, 202088.27038355463}},
      {"ndtr",
       ndtr,
       {-9.5, -1, 0, 0.6, 7},
       {1.0494515075362656e-21, 0.15865525393145702, 0.5, 0.7257468822499265, 0.9999999999987201},
       {1.0077935394300011e-20, 0.2419707245191433, 0.3989422804014327, 0.3332246028917996,
        9.134720408364594e-12}},
      {"entr",
       entr,
       {0.5, 1, 3},
       {0.34657359027997264, 0.0, -3.295836866004329},
       {-0.3068528194400547, -1.0, -2.09861228866811}},
  };
}

TEST(SpecialFunctions, OfTheNormalDistribution) {
  const TemporaryFolder folder;
  for (const NormalCase& one : normal_cases()) {
    SCOPED_TRACE(one.name);
    const Tensor x = doubles(one.at);
    const TensorFunction run = [&](const Tensors& in) -> Tensors {
      return {one.function(in[0], Loc::current())};
    };
    const TensorFunction slope = [&](const Tensors& in) -> Tensors {
      return {slope_of(one.function, in[0])};
    };
    export_onnx(run, {x}, folder.path() / "m.onnx");
    for (const Tensor& found :
         {run({x})[0], compile(run)({x})[0], OnnxModule(folder.path() / "m.onnx")({x})[0]})
      expect_values(found, one.values, one.at, 5e-13, 1e-300);
    for (const Tensor& found : {slope({x})[0], compile(slope)({x})[0]})
      expect_values(found, one.slopes, one.at, 2e-12, 1e-290);
    // Of the same arguments float32 gives the same to its last digits.
    const Tensor floats = x.to(DType::kFloat);
    const Numbers exact = run({floats.to(DType::kDouble)})[0].to(DType::kFloat).data().to_doubles();
    expect_values(run({floats})[0], exact, one.at, 2e-7, 1e-37);
  }
  const Numbers ends = ndtri(doubles({0, 1})).data().to_doubles();
  EXPECT_EQ(ends, (Numbers{-kBoundless, kBoundless}));
  EXPECT_EQ(erfc(doubles({kBoundless, -kBoundless})).data().to_doubles(), (Numbers{0, 2}));
  EXPECT_EQ(entr(doubles({0, -1})).data().to_doubles(), (Numbers{0, -kBoundless}));
  for (const SpecialFunction function : {erfc, erfcx, ndtr, log_ndtr, ndtri, entr})
    EXPECT_TRUE(std::isnan(function(doubles({NAN}), Loc::current()).item<double>()));
  expect_values(multigammaln(doubles({2.5, 4}), 3), {1.8809954616117743, 5.402975080909175},
                {2.5, 4}, 1e-13);
}

TEST(SpecialFunctions, NameTheLineOfAMistake) {
  const Tensor none;
  expect_refusals({
      {"special_test.cpp:", [&] { lgamma(none); }},
      {"lgamma: x is an undefined tensor", [&] { lgamma(none); }},
      {"digamma: x is an undefined tensor", [&] { digamma(none); }},
      {"erfinv: x is an undefined tensor", [&] { erfinv(none); }},
      {"log_ndtr: x is an undefined tensor", [&] { log_ndtr(none); }},
      {"multigammaln: expected p of at least 1, got 0", [] { multigammaln(ones(2), 0); }},
  });
}

}  // namespace
}  // namespace sardonyx::eager
