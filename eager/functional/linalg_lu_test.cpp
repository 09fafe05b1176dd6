// Expected values are torch 1.13's; gradients of the rows are checked with all others
// (ir/autodiff/gradient_test.cpp).
#include <cmath>

#include "eager/create.h"
#include "eager/export/export.h"
#include "eager/functional/functional.h"
#include "eager/functional/linalg.h"
#include "eager/trace/compile.h"
#include "ir/type.h"
#include "tests/support/expect_error.h"
#include "tests/support/temporary_folder.h"

namespace sardonyx::eager::linalg {
namespace {

using Numbers = std::vector<double>;
using Tensors = std::vector<Tensor>;

constexpr CreateOptions kDoubles{.dtype = DType::kDouble};

Tensor of_rows(const Numbers& values, int64_t rows) {
  return Tensor::of(values, {rows, static_cast<int64_t>(values.size()) / rows});
}
// Its rows are exchanged.
Tensor swapped_matrix() {
  return of_rows({1, 2, 0.25, 4, 1, 0.5, -0.25, 5, 3}, 3);
}
Tensor exponent_matrix() {
  return of_rows({4, 1, -0.5, 0.75, 3, 0.25, -1, 0.5, 2}, 3);
}
Tensor oblong_matrix() {
  return of_rows({3, 1, -1, 0.5, 2, 1.5}, 3);
}
Tensor right_side() {
  return of_rows({1, 2, 0, -1, 3, 0.5}, 3);
}

void expect_values(const Tensor& found, const Numbers& expected, std::string_view what,
                   double tolerance = 1e-12) {
  const Numbers values = found.to(DType::kDouble).to_vector<double>();
  ASSERT_EQ(values.size(), expected.size()) << what;
  for (size_t i = 0; i < values.size(); ++i)
    EXPECT_NEAR(values[i], expected[i], tolerance * std::max(1.0, std::abs(expected[i])))
        << what << " " << i;
}

struct Case {
  const char* name;
  TensorFunction fn;  // of one matrix
  Tensor in;
  std::vector<Numbers> out;
};

Tensors factors_of(const Tensor& a) {
  const LU parts = lu(a);
  const LUFactors whole = lu_factor(a);
  return {parts.P, parts.L, parts.U, whole.LU, whole.pivots};
}

Case solve_case(const char* name, LUSolveOptions options, Numbers expected) {
  const Tensor b = options.left ? right_side() : right_side().t();
  return {name,
          [=](const Tensors& in) -> Tensors {
            const LUFactors found = lu_factor(in[0]);
            return {lu_solve(found.LU, found.pivots, b.to(in[0].dtype()), options)};
          },
          swapped_matrix(),
          {std::move(expected)}};
}

std::vector<Case> all_cases() {
  const auto all_factors = [](const Tensors& in) { return factors_of(in[0]); };
  const auto exponential = [](const Tensors& in) -> Tensors { return {matrix_exp(in[0])}; };
  return {
      {"lu",
       all_factors,
       swapped_matrix(),
       {{0, 0, 1, 1, 0, 0, 0, 1, 0},
        {1, 0, 0, -0.0625, 1, 0, 0.25, 0.345679012345679, 1},
        {4, 1, 0.5, 0, 5.0625, 3.03125, 0, 0, -0.922839506172839},
        {4, 1, 0.5, -0.0625, 5.0625, 3.03125, 0.25, 0.345679012345679, -0.922839506172839},
        {2, 3, 3}}},
      {"lu of a tall matrix",
       all_factors,
       oblong_matrix(),
       {{1, 0, 0, 0, 0, 1, 0, 1, 0},
        {1, 0, 0.666666666666667, 1, -0.333333333333333, 1},
        {3, 1, 0, 0.833333333333333},
        {3, 1, 0.666666666666667, 0.833333333333333, -0.333333333333333, 1},
        {1, 3}}},
      {"lu of a wide matrix",
       all_factors,
       oblong_matrix().t(),
       {{1, 0, 0, 1},
        {1, 0, 0.333333333333333, 1},
        {3, -1, 2, 0, 0.833333333333333, 0.833333333333333},
        {3, -1, 2, 0.333333333333333, 0.833333333333333, 0.833333333333333},
        {1, 2}}},
      solve_case("lu_solve", {},
                 {-0.147157190635452, -0.327759197324415, 0.568561872909699, 1.44816053511706,
                  0.040133779264214, -2.2742474916388}),
      solve_case("lu_solve of the adjoint", {.adjoint = true},
                 {-3.27759197324415, -1.24414715719064, 1.1371237458194, 0.819397993311037,
                  1.08361204013378, 0.133779264214047}),
      solve_case("lu_solve from the right", {.left = false},
                 {-3.27759197324415, 1.1371237458194, 1.08361204013378, -1.24414715719064,
                  0.819397993311037, 0.133779264214047}),
      solve_case("lu_solve of the adjoint from the right", {.left = false, .adjoint = true},
                 {-0.147157190635452, 0.568561872909699, 0.040133779264214, -0.327759197324415,
                  1.44816053511706, -2.2742474916388}),
      {"matrix_exp",
       exponential,
       exponent_matrix(),
       {{77.5290145881286, 38.3912347555129, -11.5520302540925, 28.0290673542683, 31.4941927089517,
         -0.338854571884857, -24.6327779329179, -3.73514399323528, 11.4475670502323}}},
      {"matrix_exp of a small matrix",
       exponential,
       exponent_matrix() * 0.01,
       {{1.04087544789856, 0.010343596123078, -0.00513959571992187, 0.00775447685814677,
         1.03049964943387, 0.00254403598666724, -0.0102856319081672, 0.00507519103668763,
         1.02023333893067}}},
      {"matrix_exp of a large matrix",
       [](const Tensors& in) -> Tensors { return {matrix_exp(in[0]) * 1e-9}; },
       exponent_matrix() * 5,
       {{6.78875620351569, 4.00445955903358, -0.928098278813233, 2.89593151920483, 1.71016514377856,
         -0.395256061156226, -2.07102285776718, -1.22016472259387, 0.283621186433515}}},
  };
}

TEST(LinalgLu, AsTorchAndCompiled) {
  for (const Case& one : all_cases()) {
    SCOPED_TRACE(one.name);
    const Tensors found = one.fn({one.in}), again = compile(one.fn)({one.in});
    const Tensors narrow = one.fn({one.in.to(DType::kFloat)});
    ASSERT_EQ(found.size(), one.out.size());
    for (size_t i = 0; i < found.size(); ++i) {
      expect_values(found[i], one.out[i], "at once");
      expect_values(again[i], one.out[i], "compiled");
      expect_values(narrow[i], one.out[i], "in float32", 1e-5);
      if (found[i].dtype() == DType::kDouble) {
        EXPECT_EQ(narrow[i].dtype(), DType::kFloat);
      } else {
        EXPECT_EQ(found[i].dtype(), DType::kInt32);
      }
    }
  }
}

TEST(LinalgLu, GradientsAsTorch) {
  const auto gradient = [](const std::function<Tensor(const Tensor&)>& fn, const Tensor& x) {
    const Tensor leaf = x.detach().set_requires_grad();
    fn(leaf).backward();
    return leaf.grad();
  };
  const auto counted_up = [](const Tensor& like) {
    return (arange(like.numel()) + 1).to(DType::kDouble).reshape(like.shape());
  };
  const auto of_factors = [&](const Tensor& x) {
    const LU found = lu(x);
    const Tensor weights = flip(counted_up(found.U), {0});
    return (found.L * counted_up(found.L)).sum() + (found.U * found.U * weights).sum();
  };
  const Tensor a = swapped_matrix(), t = oblong_matrix(), b = right_side();
  expect_values(
      gradient(of_factors, a),
      {1.21822130772748, 4.8956332876086, -5.53703703703704, 54.6942384063888, 17.8343843231187,
       12.777324102652, -16.0193002668688, 48.9326823203328, 38.2890374942844},
      "lu");
  expect_values(gradient(of_factors, t),
                {16.2296296296296, 12.9777777777778, -0.733333333333333, 7.2, 2.28888888888889,
                 -3.86666666666666},
                "lu of a tall matrix");
  expect_values(gradient(of_factors, t.t().detach()),
                {24.4074074074074, -11.1111111111111, 22.3333333333333, -1.22222222222222,
                 3.33333333333333, 5},
                "lu of a wide matrix");
  const Numbers plain_a{2.33407219113731,   -10.2590173267274, 15.4965795950222,
                        -0.683903822314394, 3.00234758284785,  -4.49337555014517,
                        -0.57352175098937,  2.53496479860255,  -3.99169395686992},
      adjoint_a{2.77217103697111,   -17.7035539283583, 32.2156569444223,
                -1.14494465749169,  6.87498501266269,  -12.4482667043858,
                -0.785401792883958, 5.32838405472259,  -9.74083153731568},
      plain_b{0.658695092896053, 6.82556123533294,  -0.237536492880393,
              -1.97995548148231, 0.011454010581537, -1.75496918378989},
      adjoint_b{0.666480240713191, 0.472388452030738, -4.68388496772967,
                -1.89020257044105, 8.5844229930314,   3.27888949788034};
  for (const bool left : {true, false}) {
    for (const bool adjoint : {false, true}) {
      const auto solved = [&](const LUFactors& of, const Tensor& x) {
        return square(
                   lu_solve(of.LU, of.pivots, left ? x : x.t(), {.left = left, .adjoint = adjoint}))
            .sum();
      };
      const bool is_plain = left != adjoint;
      expect_values(gradient([&](const Tensor& x) { return solved(lu_factor(x), b); }, a),
                    is_plain ? plain_a : adjoint_a, text("lu_solve's a ", left, adjoint), 1e-11);
      const LUFactors known = lu_factor(a);
      expect_values(gradient([&](const Tensor& x) { return solved(known, x); }, b),
                    is_plain ? plain_b : adjoint_b, text("lu_solve's b ", left, adjoint), 1e-11);
    }
  }
  expect_values(
      gradient([&](const Tensor& x) { return (matrix_exp(x) * counted_up(x)).sum(); },
               exponent_matrix()),
      {32.4014215876417, 66.3109000961283, 65.247326935045, 272.443229285967, 235.667876863827,
       89.2585229926318, 273.08474019797, 194.308656391767, 19.8577063917141},
      "matrix_exp");
}

// Sizes that a compiled function has seen in no call.
TEST(LinalgLu, GradientsOfUnknownSizes) {
  const TensorFunction gradient = [](const Tensors& in) -> Tensors {
    const Tensor x = in[0].detach().set_requires_grad();
    const LU found = lu(x);
    (square(found.L).sum() + square(found.U).sum()).backward();
    return {x.grad()};
  };
  const auto compiled = compile(gradient);
  manual_seed(3);
  for (const Dims& shape : {Dims{3, 3}, Dims{5, 2}, Dims{2, 5}, Dims{4, 4}}) {
    const Tensor x = randn(shape, kDoubles);
    expect_values(compiled({x})[0], gradient({x})[0].to_vector<double>(), to_text(shape), 1e-9);
  }
}

TEST(LinalgLu, FactorsGiveTheMatrixBack) {
  manual_seed(9);
  const auto off = [](const Tensor& a, const Tensor& b) {
    return abs(a - b).amax().item<double>();
  };
  for (const Dims& shape : {Dims{40, 40}, Dims{2, 3, 30, 12}, Dims{4, 12, 30}}) {
    const Tensor a = randn(shape, kDoubles);
    const LU found = lu(a);
    EXPECT_LT(off(matmul(matmul(found.P, found.L), found.U), a), 1e-13) << to_text(shape);
    EXPECT_LE(abs(found.L).amax().item<double>(), 1);
  }
  const Tensor a = randn({2, 1, 20, 20}, kDoubles), b = randn({3, 20, 4}, kDoubles);
  const LUFactors factors = lu_factor(a);
  const Tensor x = lu_solve(factors.LU, factors.pivots, b);
  EXPECT_EQ(x.shape(), (Dims{2, 3, 20, 4}));
  EXPECT_LT(off(matmul(a, x), b.expand({2, 3, 20, 4})), 1e-11);
  // A column of zeros stays, and the pivot 0 is no error.
  const Tensor singular = of_rows({0, 1, 0, 2}, 2);
  expect_values(lu(singular).U, {0, 1, 0, 2}, "singular U");
  expect_values(lu(singular).L, {1, 0, 0, 1}, "singular L");
}

TEST(MatrixExp, Identities) {
  manual_seed(10);
  const auto off = [](const Tensor& a, const Tensor& b) {
    return (abs(a - b).amax() / abs(b).amax()).item<double>();
  };
  // Norms on all sides of the bounds between the approximants.
  for (const double size : {1e-9, 0.001, 0.02, 0.08, 0.2, 0.4, 1.5, 40.0}) {
    const Tensor a = randn({2, 7, 7}, kDoubles) * size, unit = eye(7, {}, kDoubles);
    EXPECT_LT(off(matmul(matrix_exp(a), matrix_exp(-a)), unit.expand({2, 7, 7})),
              1e-13 * std::exp(std::min(size * 14, 600.0)))
        << size;
    const Tensor turning = a - a.t(), turn = matrix_exp(turning);
    EXPECT_LT(off(matmul(turn, turn.t()), unit.expand({2, 7, 7})), 1e-12) << size;
    const Eigen own = eigh((a + a.t()) * 0.5);
    const Tensor expected =
        matmul(own.eigenvectors * exp(own.eigenvalues).unsqueeze(-2), own.eigenvectors.t());
    EXPECT_LT(off(matrix_exp((a + a.t()) * 0.5), expected), 1e-12) << size;
  }
  const Tensor nilpotent = of_rows({0, 1, 5, 0, 0, 2, 0, 0, 0}, 3);
  expect_values(matrix_exp(nilpotent), {1, 1, 6, 0, 1, 2, 0, 0, 1}, "nilpotent");
  EXPECT_EQ(matrix_exp(zeros({0, 3, 3})).shape(), (Dims{0, 3, 3}));
  EXPECT_EQ(matrix_exp(zeros({2, 0, 0})).shape(), (Dims{2, 0, 0}));
  for (const double bad : {HUGE_VAL, std::nan("")}) {
    const Tensor found = matrix_exp(of_rows({1, bad, 0, 1}, 2));
    EXPECT_TRUE(isnan(found).all().item<bool>());
  }
  EXPECT_TRUE(isinf(matrix_exp(tensor({{1e300}}))).all().item<bool>());
}

TEST(LinalgLu, Refusals) {
  const Tensor a = swapped_matrix();
  const LUFactors found = lu_factor(a);
  const Tensor wide_pivots = found.pivots.to(DType::kInt64);
  expect_refusals({
      {"lu: expected matrices [..., rows, columns], got float[3]", [] { lu(ones({3})); }},
      {"lu_factor: expected float32 or float64, got int64[2, 2]",
       [] {
         lu_factor(zeros({2, 2}, {.dtype = DType::kInt64}));
       }},
      {"matrix_exp: expected matrices", [] { matrix_exp(ones({3})); }},
      {"lu_unpack: expected lu_factor's pivots, int32 [..., k], got int64[3]",
       [&] { lu_unpack(found.LU, wide_pivots); }},
      {"lu_solve: expected lu_factor's pivots", [&] { lu_solve(a, wide_pivots, right_side()); }},
      {"lu_solve: expected matrices", [&] { lu_solve(found.LU, found.pivots, ones({3})); }},
      {"lu_solve: batches of",
       [&] {
         lu_solve(stack({a, a}), stack({found.pivots, found.pivots}), stack({a, a, a}));
       }},
      {"pivots: expected rows from 1 to 3, got 0; Lu gives them",
       [&] { lu_unpack(found.LU, found.pivots * 0); }},
      {"pivots: expected rows from 1 to 3, got 4",
       [&] { lu_solve(found.LU, found.pivots + 1, right_side()); }},
  });
  expect_refusal(ErrorCode::kInvalidArgument, "a square matrix is needed",
                 [] { matrix_exp(oblong_matrix()); });
  const TemporaryFolder folder;
  const std::pair<const char*, TensorFunction> unknown_to_onnx[] = {
      {"sardonyx::Lu", [](const Tensors& in) -> Tensors { return {lu(in[0]).U}; }},
      {"sardonyx::MatrixExp", [](const Tensors& in) -> Tensors { return {matrix_exp(in[0])}; }}};
  for (const auto& [name, fn] : unknown_to_onnx)
    expect_refusal(ErrorCode::kUnsupported, name, [&] { export_onnx(fn, {a}, folder / "m.onnx"); });
}

}  // namespace
}  // namespace sardonyx::eager::linalg
