// Expected values are torch 1.13's; gradients of the rows are checked with all others
// (ir/autodiff/gradient_test.cpp).
#include "eager/functional/linalg.h"

#include <gtest/gtest.h>

#include <cmath>

#include "eager/autograd/autograd.h"
#include "eager/create.h"
#include "eager/export/export.h"
#include "eager/functional/functional.h"
#include "eager/trace/compile.h"
#include "ir/type.h"
#include "tests/support/expect_error.h"
#include "tests/support/temporary_folder.h"

namespace sardonyx::eager::linalg {
namespace {

using Numbers = std::vector<double>;
using Tensors = std::vector<Tensor>;

Tensor matrix(const Numbers& values, int64_t rows) {
  return Tensor::of(values, {rows, static_cast<int64_t>(values.size()) / rows});
}
Tensor square_matrix() {
  return matrix({4, 1, -0.5, 0.75, 3, 0.25, -1, 0.5, 2}, 3);
}
Tensor symmetric_matrix() {
  return matrix({4, 0.875, -0.75, 0.875, 3, 0.375, -0.75, 0.375, 2}, 3);
}
Tensor tall_matrix() {
  return matrix({3, 1, -1, 0.5, 2, 1.5}, 3);
}
Tensor columns_matrix() {
  return matrix({1, 2, 0, -1, 3, 0.5}, 3);
}

void expect_near(const Tensor& found, const Numbers& expected, const char* what,
                 double tolerance = 1e-12) {
  const Numbers values = found.to(DType::kDouble).to_vector<double>();
  ASSERT_EQ(values.size(), expected.size()) << what;
  for (size_t i = 0; i < values.size(); ++i)
    EXPECT_NEAR(values[i], expected[i], tolerance) << what << " " << i;
}

struct MatrixCase {
  const char* name;
  std::function<Tensors(const Tensor&)> fn;
  Tensor in;
  std::vector<Numbers> out;
};

MatrixCase norm_case(const char* name, MatrixNorm ord, double value) {
  return {name,
          [=](const Tensor& a) -> Tensors { return {matrix_norm(a, ord)}; },
          tall_matrix(),
          {{value}}};
}

std::vector<MatrixCase> matrix_cases() {
  const Tensor a = square_matrix(), s = symmetric_matrix(), t = tall_matrix(), b = columns_matrix();
  std::vector<MatrixCase> cases{
      {"solve",
       [=](const Tensor& x) -> Tensors { return {solve(x, b.to(x.dtype()))}; },
       a,
       {{0.554517133956386, 0.741433021806854, -0.292834890965732, -0.582554517133956,
         1.85046728971963, 0.766355140186916}}},
      {"solve for a vector",
       [](const Tensor& x) -> Tensors {
         return {solve(x, tensor({1.0, 0.0, 3.0}).to(x.dtype()))};
       },
       a,
       {{0.554517133956386, -0.292834890965732, 1.85046728971963}}},
      {"inv",
       [](const Tensor& x) -> Tensors { return {inv(x)}; },
       a,
       {{0.292834890965732, -0.11214953271028, 0.0872274143302181, -0.0872274143302181,
         0.373831775700935, -0.0685358255451713, 0.168224299065421, -0.149532710280374,
         0.560747663551402}}},
      {"det", [](const Tensor& x) -> Tensors { return {det(x)}; }, a, {{20.0625}}},
      {"slogdet",
       [](const Tensor& x) -> Tensors {
         const SignLogDet found = slogdet(x);
         return {found.sign, found.logabsdet};
       },
       a,
       {{1}, {2.99885240089023}}},
      {"cholesky",
       [](const Tensor& x) -> Tensors {
         return {cholesky(x), cholesky(x, true)};
       },
       s,
       {{2, 0, 0, 0.4375, 1.67588595972399, 0, -0.375, 0.321658223145912, 1.32510791541014},
        {2, 0.4375, -0.375, 0, 1.67588595972399, 0.321658223145912, 0, 0, 1.32510791541014}}},
      {"qr",
       [](const Tensor& x) -> Tensors {
         const QR found = qr(x);
         return {found.Q, found.R};
       },
       t,
       {{-0.801783725737273, 0.154303349962092, 0.267261241912424, -0.77151674981046,
         -0.534522483824849, -0.617213399848368},
        {-3.74165738677394, -1.46993683051833, 0, -1.15727512471569}}},
      {"qr of a wide matrix",
       [](const Tensor& x) -> Tensors {
         const QR found = qr(x.t());
         return {found.Q, found.R};
       },
       t,
       {{-0.948683298050514, -0.316227766016838, -0.316227766016838, 0.948683298050514},
        {-3.16227766016838, 0.790569415042095, -2.37170824512629, 0, 0.790569415042095,
         0.790569415042095}}},
      // Torch's vectors but for their signs, here and in svd.
      {"eigh",
       [](const Tensor& x) -> Tensors {
         const Eigen found = eigh(x);
         return {found.eigenvalues, found.eigenvectors};
       },
       s,
       {{1.45639726498307, 2.94613924088754, 4.59746349412939},
        {0.386352237822815, -0.279067198465881, 0.879120837581335, -0.418666582927556,
         0.796223093137613, 0.436746011194305, 0.821857798325883, 0.536796315835696,
         -0.190786463451044}}},
      {"svd",
       [](const Tensor& x) -> Tensors {
         const SVD found = svd(x);
         return {found.U, found.S, found.Vh};
       },
       t,
       {{0.779314856466197, -0.24358780995308, -0.178704196761515, 0.79670036822289,
         0.600610659704682, 0.55311255826981},
        {4.04394030159605, 1.07076927352592},
        {0.919368192478536, 0.393398178260589, -0.393398178260589, 0.919368192478536}}},
      {"lstsq",
       [=](const Tensor& x) -> Tensors { return {lstsq(x, b.to(x.dtype()))}; },
       t,
       {{0.0666666666666667, 0.833333333333334, 1.46666666666667, -0.666666666666667}}},
      {"lstsq of a wide matrix",
       [=](const Tensor& x) -> Tensors {
         return {lstsq(x.t(), b.slice(0, {0, 2}).to(x.dtype()))};
       },
       t,
       {{0.266666666666667, 0.666666666666667, -0.333333333333333, -1.33333333333333,
         -0.0666666666666667, -0.666666666666667}}},
      {"pinv",
       [](const Tensor& x) -> Tensors { return {pinv(x)}; },
       t,
       {{0.266666666666667, -0.333333333333333, -0.0666666666666666, -0.133333333333333,
         0.666666666666667, 0.533333333333333}}},
  };
  cases.push_back(norm_case("Frobenius", MatrixNorm::kFrobenius, 4.18330013267038));
  cases.push_back(norm_case("nuclear", MatrixNorm::kNuclear, 5.11470957512197));
  cases.push_back(norm_case("one", MatrixNorm::kOne, 6));
  cases.push_back(norm_case("minus one", MatrixNorm::kMinusOne, 3));
  cases.push_back(norm_case("infinity", MatrixNorm::kInfinity, 4));
  cases.push_back(norm_case("minus infinity", MatrixNorm::kMinusInfinity, 1.5));
  cases.push_back(norm_case("two", MatrixNorm::kTwo, 4.04394030159605));
  cases.push_back(norm_case("minus two", MatrixNorm::kMinusTwo, 1.07076927352592));
  const std::pair<double, double> orders[] = {
      {2, 4.18330013267038},  {1, 9}, {0, 6}, {3, 3.43414272766}, {HUGE_VAL, 3}, {-HUGE_VAL, 0.5},
      {0.5, 50.0997264282559}};
  for (const auto& [ord, value] : orders) {
    const double order = ord;
    cases.push_back({"vector norm",
                     [=](const Tensor& x) -> Tensors { return {vector_norm(x, order)}; },
                     t,
                     {{value}}});
  }
  return cases;
}

TEST(Linalg, AsTorchInBatchesAndCompiled) {
  for (const MatrixCase& one : matrix_cases()) {
    const Tensors found = one.fn(one.in);
    ASSERT_EQ(found.size(), one.out.size()) << one.name;
    const auto compiled = compile([&](const Tensors& in) { return one.fn(in[0]); });
    const Tensors again = compiled({one.in}), narrow = one.fn(one.in.to(DType::kFloat));
    for (size_t i = 0; i < found.size(); ++i) {
      expect_near(found[i], one.out[i], one.name);
      expect_near(again[i], one.out[i], one.name);
      EXPECT_EQ(found[i].dtype(), DType::kDouble) << one.name;
      if (std::string_view(one.name).starts_with("solve for a vector")) continue;
      if (narrow[i].dtype() == DType::kFloat) expect_near(narrow[i], one.out[i], one.name, 1e-4);
    }
  }
}

TEST(Linalg, Batches) {
  const Tensor a = square_matrix(), both = stack({a, a * 2}), b = columns_matrix();
  const Tensor x = solve(both, b);
  EXPECT_EQ(x.shape(), (Dims{2, 3, 2}));
  expect_near(x[1] * 2, x[0].to_vector<double>(), "solve of a batch");
  EXPECT_EQ(solve(a, stack({b, b, b})).shape(), (Dims{3, 3, 2}));
  const SVD parts = svd(both);
  const Tensor product = matmul(parts.U * parts.S.unsqueeze(-2), parts.Vh);
  expect_near(product, both.to_vector<double>(), "U S Vh");
  EXPECT_EQ(matrix_norm(both, MatrixNorm::kTwo, true).shape(), (Dims{2, 1, 1}));
  EXPECT_EQ(matrix_norm(both, MatrixNorm::kOne).shape(), (Dims{2}));
  EXPECT_EQ(vector_norm(both, 2, {-1}).shape(), (Dims{2, 3}));
}

// Factors of larger matrices, of ranks below their sizes too, give them back and are orthogonal.
TEST(Linalg, FactorsGiveTheMatrixBack) {
  manual_seed(8);
  const auto off = [](const Tensor& a, const Tensor& b) {
    return abs(a - b).amax().item<double>();
  };
  const CreateOptions doubles{.dtype = DType::kDouble};
  const struct {
    int64_t rows, columns, rank;
  } sizes[] = {{40, 40, 40}, {50, 20, 20}, {20, 50, 20}, {30, 30, 7}, {12, 5, 0}, {5, 12, 3}};
  for (const auto& [rows, columns, rank] : sizes) {
    SCOPED_TRACE(text(rows, " x ", columns, " of rank ", rank));
    const Tensor a = matmul(randn({rows, rank}, doubles), randn({rank, columns}, doubles));
    const Tensor unit = eye(std::min(rows, columns), {}, doubles);
    const SVD parts = svd(a);
    EXPECT_LT(off(matmul(parts.U * parts.S.unsqueeze(0), parts.Vh), a), 1e-12);
    EXPECT_LT(off(matmul(parts.U.t(), parts.U), unit), 1e-12);
    EXPECT_LT(off(matmul(parts.Vh, parts.Vh.t()), unit), 1e-12);
    EXPECT_EQ(matrix_rank(a).item<int64_t>(), rank);
    const QR triangular = qr(a);
    EXPECT_LT(off(matmul(triangular.Q, triangular.R), a), 1e-12);
    EXPECT_LT(off(matmul(triangular.Q.t(), triangular.Q), unit), 1e-12);
    EXPECT_LT(off(matmul(matmul(a, pinv(a)), a), a), 1e-11);
    const Tensor symmetric = matmul(a, a.t());
    const Eigen own = eigh(symmetric);
    EXPECT_LT(off(matmul(symmetric, own.eigenvectors), own.eigenvectors * own.eigenvalues), 1e-10);
    EXPECT_LT(off(matmul(own.eigenvectors.t(), own.eigenvectors), eye(rows, {}, doubles)), 1e-12);
    const Tensor definite = symmetric + eye(rows, {}, doubles);
    const Tensor l = cholesky(definite);
    EXPECT_LT(off(matmul(l, l.t()), definite), 1e-11);
    EXPECT_NEAR(
        slogdet(definite).logabsdet.item<double>(),
        2 * log(l * eye(rows, {}, doubles) + (1 - eye(rows, {}, doubles))).sum().item<double>(),
        1e-9);
  }
}

TEST(Linalg, Gradients) {
  const auto gradient = [](const TensorFunction& fn, const Tensor& x) {
    const Tensor leaf = x.detach().set_requires_grad();
    fn({leaf})[0].backward();
    return leaf.grad();
  };
  const Tensor b = columns_matrix();
  expect_near(gradient([&](const Tensors& in) -> Tensors { return {(solve(in[0], b) * b).sum()}; },
                       square_matrix()),
              {-1.00350345978785, 0.674537320095884, -2.05590007860949, 0.809852388854922,
               -0.556205782164381, 1.55332343436108, -1.36924136994012, 0.823051018526606,
               -3.67543016857367},
              "solve");
  expect_near(gradient([](const Tensors& in) -> Tensors { return {slogdet(in[0]).logabsdet}; },
                       square_matrix()),
              {0.292834890965732, -0.0872274143302181, 0.168224299065421, -0.11214953271028,
               0.373831775700935, -0.149532710280374, 0.0872274143302181, -0.0685358255451713,
               0.560747663551402},
              "slogdet");
  const Tensor weights = (arange(9) + 1).to(DType::kDouble).reshape({3, 3});
  expect_near(
      gradient([&](const Tensors& in) -> Tensors { return {(cholesky(in[0]) * weights).sum()}; },
               symmetric_matrix()),
      {0.391887213187439, 1.07183759204511, 2.00720899438563, 1.07183759204511, 1.15874380281609,
       1.73500159419266, 2.00720899438563, 1.73500159419266, 3.39594982994813},
      "cholesky");
  expect_near(
      gradient(
          [](const Tensors& in) -> Tensors {
            return {(eigvalsh(in[0]) * tensor({1.0, 2.0, 3.0})).sum()};
          },
          symmetric_matrix()),
      {2.62358539539901, 0.545705290387136, -0.485250955103599, 0.545705290387136, 2.0154653706339,
       0.26075916917535, -0.485250955103599, 0.26075916917535, 1.36094923396709},
      "eigvalsh");
  expect_near(
      gradient([&](const Tensors& in) -> Tensors { return {(square(svd(in[0]).U) * b).sum()}; },
               tall_matrix()),
      {0.0847445064112498, -0.915671493684643, 0.577941468327322, -0.833472000031964,
       -0.0189849114891067, 1.12939017718161},
      "svd");
  const Tensor of_r = tensor({{1.0, 2.0}, {3.0, 4.0}});
  expect_near(gradient(
                  [&](const Tensors& in) -> Tensors {
                    const QR found = qr(in[0]);
                    return {(found.Q * b).sum() + (found.R * of_r).sum()};
                  },
                  tall_matrix()),
              {-0.732234269639681, -1.1303705115908, 1.32802629899076, -2.69556097538161,
               -0.108464139432066, -3.39388210707855},
              "qr");
  expect_near(gradient([&](const Tensors& in) -> Tensors { return {(pinv(in[0]) * b.t()).sum()}; },
                       tall_matrix()),
              {-0.0799999999999998, -0.16, -0.706666666666667, 1.25333333333333, -0.266666666666667,
               0.133333333333332},
              "pinv");
}

// Columns weighed by their values: small changes of the matrix may change their order.
Tensor in_any_order(const Eigen& found) {
  const Tensor weighed = found.eigenvectors * found.eigenvalues.slice(-1, {0, 1}).unsqueeze(-3);
  return cat({weighed.sum({-2}), pow(found.eigenvalues, 3).sum({-2}, true)}, 0);
}
Tensor rotation() {
  return matrix({0, 3, 0, -3, 0, 0, 0, 0, 0}, 3);
}

// By differences of first gradients. Each function reads one of the factors alone: what depends on
// the others is found all the same.
TEST(Linalg, SecondDerivatives) {
  using Fn = Tensor (*)(const Tensor&);
  const struct {
    const char* name;
    Fn fn;
    bool is_square;
  } cases[] = {
      {"eigenvalues", [](const Tensor& x) { return eigh(x + x.t()).eigenvalues; }, true},
      {"eigenvectors", [](const Tensor& x) { return eigh(x + x.t()).eigenvectors; }, true},
      {"eigvalsh", [](const Tensor& x) { return eigvalsh(x + x.t()); }, true},
      {"U", [](const Tensor& x) { return svd(x).U; }, false},
      {"S", [](const Tensor& x) { return svd(x).S; }, false},
      {"Vh", [](const Tensor& x) { return svd(x).Vh; }, false},
      {"eig of real values", [](const Tensor& x) { return in_any_order(eig(x)); }, true},
      {"eig of complex values", [](const Tensor& x) { return in_any_order(eig(x + rotation())); },
       true},
      {"S of a wide one", [](const Tensor& x) { return svdvals(x.t()); }, false},
      {"Q", [](const Tensor& x) { return qr(x).Q; }, false},
      {"R", [](const Tensor& x) { return qr(x).R; }, false},
      {"R of a wide one", [](const Tensor& x) { return qr(x.t()).R; }, false},
      {"pinv", [](const Tensor& x) { return pinv(x); }, false},
      {"lstsq", [](const Tensor& x) { return lstsq(x, columns_matrix()); }, false},
      {"spectral norm", [](const Tensor& x) { return matrix_norm(x, MatrixNorm::kTwo); }, false},
      {"nuclear norm", [](const Tensor& x) { return matrix_norm(x, MatrixNorm::kNuclear); }, false},
      {"lu U", [](const Tensor& x) { return lu(x).U; }, true},
      {"slogdet", [](const Tensor& x) { return slogdet(x).logabsdet; }, true},
  };
  for (const auto& one : cases) {
    manual_seed(5);
    const Fn fn = one.fn;
    const Tensor at = one.is_square ? square_matrix() : tall_matrix();
    const Tensor along = randn_like(at), across = randn_like(at), weights = randn_like(fn(at));
    const auto slope = [&](const Tensor& place, Tensor* second) {
      const Tensor x = place.detach().clone().set_requires_grad();
      const Tensor first = grad({(fn(x) * weights).sum()}, {x}, {.create_graph = true})[0];
      const Tensor sum = (first * along).sum();
      if (second) *second = grad({sum}, {x})[0];
      return sum.item<double>();
    };
    Tensor second;
    slope(at, &second);
    constexpr double kStep = 1e-5;
    const double expected =
        (slope(at + across * kStep, nullptr) - slope(at - across * kStep, nullptr)) / (2 * kStep);
    EXPECT_NEAR((second * across).sum().item<double>(), expected,
                1e-6 * std::max(1.0, std::abs(expected)))
        << one.name;
  }
}

TEST(Linalg, WhatOnnxHasIsExported) {
  const TemporaryFolder folder;
  const auto path = folder / "m.onnx";
  const TensorFunction can = [](const Tensors& in) -> Tensors {
    return {inv(in[0]), det(in[0]), matrix_norm(in[0]), vector_norm(in[0], 3)};
  };
  EXPECT_NO_THROW(export_onnx(can, {square_matrix()}, path));
  const TensorFunction can_not = [](const Tensors& in) -> Tensors { return {svdvals(in[0])}; };
  expect_refusal(ErrorCode::kUnsupported, "ONNX has no form of it; it runs at once and compiled",
                 [&] { export_onnx(can_not, {square_matrix()}, path); });
}

TEST(LinalgRefusals, Arguments) {
  const Tensor a = square_matrix(), t = tall_matrix();
  expect_refusals({
      {"linalg_test.cpp:", [&] { qr(ones({3})); }},
      {"qr: expected matrices [..., rows, columns], got float[3]", [&] { qr(ones({3})); }},
      {"eigh: expected float32 or float64, got int64[2, 2]",
       [] {
         eigh(zeros({2, 2}, {.dtype = DType::kInt64}));
       }},
      {"solve: batches of double[2, 3, 3] and double[3, 3, 2] do not fit",
       [&] {
         solve(stack({a, a}), stack({t, t, t}));
       }},
      {"vector_norm: expected an order, not NaN", [&] { vector_norm(a, NAN); }},
      {"vector_norm: expected floating elements", [] { vector_norm(arange(3)); }},
  });
  expect_refusal(ErrorCode::kInvalidArgument, "a square matrix is needed", [&] { cholesky(t); });
  expect_refusal(ErrorCode::kInvalidArgument, "rows of both inputs", [&] {
    solve(a, ones({2, 2}, {.dtype = DType::kDouble}));
  });
}

}  // namespace
}  // namespace sardonyx::eager::linalg
