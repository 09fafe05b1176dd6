// Functions under torch's names: values, the same compiled and exported, and gradients.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <limits>

#include "eager/autograd/autograd.h"
#include "eager/create.h"
#include "eager/export/export.h"
#include "eager/export/onnx_module.h"
#include "eager/functional/functional.h"
#include "eager/functional/tensors_for_test.h"
#include "eager/trace/compile.h"
#include "ir/core/tensor.h"
#include "ir/type.h"
#include "tests/support/expect_error.h"
#include "tests/support/temporary_folder.h"

namespace sardonyx::eager {
namespace {

using Tensors = std::vector<Tensor>;
constexpr double kInf = std::numeric_limits<double>::infinity();
const double kNan = std::nan("");

struct Case {
  std::string name;
  TensorFunction fn;
  Tensors inputs;
  Numbers expected;
  Shape shape = {};  // checked where given
};

Case unary(std::string name, Tensor (*fn)(const Tensor&, Loc), const Numbers& x,
           const Numbers& expected) {
  return {std::move(name),
          [fn](const Tensors& in) -> Tensors { return {fn(in[0], Loc::current())}; },
          {of(x)},
          expected};
}
Case binary(std::string name, Tensor (*fn)(const Operand&, const Operand&), const Tensor& a,
            const Tensor& b, const Numbers& expected) {
  return {std::move(name),
          [fn](const Tensors& in) -> Tensors { return {fn(in[0], in[1])}; },
          {a, b},
          expected};
}
#define ONE(expression) [](const Tensors& in) -> Tensors { return {expression}; }

std::vector<Case> elementwise_cases() {
  const Numbers x{-0.5, 0.25, 0.75};
  const auto mapped = [&](double (*fn)(double), const Numbers& values) {
    Numbers results;
    for (const double value : values)
      results.push_back(fn(value));
    return results;
  };
  const Numbers large{1.5, 2, 30};
  const double tiny = 1e-6;
  return {
      unary("tan", tan, x, mapped(std::tan, x)),
      unary("asin", asin, x, mapped(std::asin, x)),
      unary("acos", acos, x, mapped(std::acos, x)),
      unary("atan", atan, x, mapped(std::atan, x)),
      unary("sinh", sinh, x, mapped(std::sinh, x)),
      unary("cosh", cosh, x, mapped(std::cosh, x)),
      unary("asinh", asinh, x, mapped(std::asinh, x)),
      unary("acosh", acosh, large, mapped(std::acosh, large)),
      unary("atanh", atanh, x, mapped(std::atanh, x)),
      unary("exp2", exp2, x, mapped(std::exp2, x)),
      unary("expm1", expm1, {tiny, -0.5, 3}, mapped(std::expm1, {tiny, -0.5, 3})),
      unary("log1p", log1p, {tiny, -0.5, 3, 1e8}, mapped(std::log1p, {tiny, -0.5, 3, 1e8})),
      unary("log2", log2, large, mapped(std::log2, large)),
      unary("log10", log10, large, mapped(std::log10, large)),
      unary("erfc", erfc, x, mapped(std::erfc, x)),
      unary("deg2rad", deg2rad, {180, -90}, {M_PI, -M_PI / 2}),
      unary("rad2deg", rad2deg, {M_PI, 1}, {180, 180 / M_PI}),
      unary("trunc", trunc, {-1.7, 1.7, 0, 2}, {-1, 1, 0, 2}),
      unary("frac", frac, {-1.75, 1.75, 2}, {-0.75, 0.75, 0}),
      binary("atan2", atan2, of({1, 1, -1, -1, 0, 2, -2, 0, 0, -0.0}),
             of({1, -1, 1, -1, 0, 0, 0, -3, 3, -3}),
             {M_PI / 4, 3 * M_PI / 4, -M_PI / 4, -3 * M_PI / 4, 0, M_PI / 2, -M_PI / 2, M_PI, 0,
              -M_PI}),
      binary("atan2 of infinities", atan2, of({kInf, -kInf, 1}), of({kInf, kInf, -kInf}),
             {M_PI / 4, -M_PI / 4, M_PI}),
      binary("logaddexp", logaddexp, of({0, 1000, -kInf, kInf}), of({0, 1000, -kInf, 1}),
             {std::log(2.0), 1000 + std::log(2.0), -kInf, kInf}),
      binary("xlogy", xlogy, of({0, 0, 2}), of({0, 3, 3}), {0, 0, 2 * std::log(3.0)}),
      binary("hypot", hypot, of({3, 0, 1e30, kInf}), of({4, 0, 1e30, 1}),
             {5, 0, std::sqrt(2.0) * 1e30, kInf}),
      binary("floor_divide", floor_divide, of({7, -7, 7}), of({2, 2, -2}), {3, -4, -4}),
      binary("floor_divide of integers", floor_divide, ints({7, -7, 7, -8}), ints({2, 2, -2, 2}),
             {3, -4, -4, -4}),
      binary("floor_divide of the largest integers", floor_divide,
             ints({INT64_MIN, INT64_MAX, INT64_MIN, INT64_MAX}),
             ints({1 << 20, -(1 << 20), -(1 << 20), 1 << 20}),
             {-8796093022208, -8796093022208, 8796093022208, 8796093022207}),
      binary("fmod", fmod, of({7, -7.5, 7}), of({2, 2, -2}), {1, -1.5, 1}),
      binary("fmod of integers", fmod, ints({7, -7, 7}), ints({2, 2, -2}), {1, -1, 1}),
      binary("bitwise_and", bitwise_and, ints({12, 7}), ints({10, 2}), {8, 2}),
      binary("bitwise_or", bitwise_or, ints({12, 7}), ints({10, 8}), {14, 15}),
      binary("bitwise_xor", bitwise_xor, bools({true, true}), bools({true, false}), {0, 1}),
      binary("ge mixes types", ge, ints({1, 2}), of({1.5, 1.5}), {0, 1}),
      unary("isinf", isinf, {1, kInf, -kInf, kNan}, {0, 1, 1, 0}),
      unary("isfinite", isfinite, {1, kInf, -kInf, kNan}, {1, 0, 0, 0}),
      unary("softsign", softsign, x, {-0.5 / 1.5, 0.25 / 1.25, 0.75 / 1.75}),
      unary("logsigmoid", logsigmoid, {-2, 3},
            {-std::log1p(std::exp(2.0)), -std::log1p(std::exp(-3.0))}),
      unary("tanhshrink", tanhshrink, x,
            {-0.5 - std::tanh(-0.5), 0.25 - std::tanh(0.25), 0.75 - std::tanh(0.75)}),
      {"pow 1 to 3",
       ONE(cat({pow(in[0], 1), pow(in[0], 2), pow(in[0], 3)})),
       {of({-2, 3})},
       {-2, 3, 4, 9, -8, 27}},
      {"pow of fractions",
       ONE(cat({pow(in[0], 0.5), pow(in[0], -0.5), pow(in[0], -1)})),
       {of({4, 0.25})},
       {2, 0.5, 0.5, 2, 0.25, 4}},
      {"pow of integers",
       ONE(cat({pow(in[0], 2), pow(in[0], 4)})),
       {ints({-2, 3})},
       {4, 9, 16, 81}},
      {"pow of integers to fractions", ONE(pow(in[0], 2.0)), {ints({-2, 3})}, {4, 9}},
      {"logit", ONE(logit(in[0], 0.1)), {of({0.5, 0.8, 0.01})}, {0, std::log(4.0), -std::log(9.0)}},
      {"lerp", ONE(lerp(in[0], in[1], 0.25)), {of({0, 2}), of({4, 10})}, {1, 4}},
      {"addcmul", ONE(addcmul(in[0], in[1], in[1], 2)), {of({1, 2}), of({3, 4})}, {19, 34}},
      {"addcdiv", ONE(addcdiv(in[0], in[1], 2.0)), {of({1, 2}), of({3, 4})}, {2.5, 4}},
      {"heaviside", ONE(heaviside(in[0], 0.5)), {of({-2, 0, 3})}, {0, 0.5, 1}},
      {"nan_to_num", ONE(nan_to_num(in[0], 7, 8)), {of({kNan, kInf, 2})}, {7, 8, 2}},
      {"isclose",
       ONE(isclose(in[0], in[1])),
       {of({1, 1, kInf}), of({1.000001, 1.1, kInf})},
       {1, 0, 1}},
      {"logical",
       ONE(logical_xor(in[0], logical_not(in[1]))),
       {of({0, 2, 2}), of({1, 1, 0})},
       {0, 1, 0}},
      {"relu6", ONE(relu6(in[0])), {of({-1, 3, 9})}, {0, 3, 6}},
      {"hardtanh", ONE(hardtanh(in[0], -2, 2)), {of({-9, 1.5, 3})}, {-2, 1.5, 2}},
      {"celu", ONE(celu(in[0], 2)), {of({-2, 3})}, {2 * std::expm1(-1), 3}},
      {"celu of doubles",
       ONE(celu(in[0].to(DType::kDouble), 2)),
       {of({-2, 3})},
       {2 * std::expm1(-1), 3}},
      {"softshrink", ONE(softshrink(in[0])), {of({-2, 0.25, 3})}, {-1.5, 0, 2.5}},
      {"hardshrink", ONE(hardshrink(in[0])), {of({-2, 0.25, 3})}, {-2, 0, 3}},
      {"threshold", ONE(threshold(in[0], 1, 20)), {of({0, 1, 3})}, {20, 20, 3}},
      {"softmin", ONE(softmin(in[0])), {of({1, 1})}, {0.5, 0.5}},
      {"prelu",
       ONE(prelu(in[0], in[1])),
       {of({-1, -2, 3, -4}, {1, 2, 2}), of({0.5, 0.25})},
       {-0.5, -1, 3, -1}},
      {"glu", ONE(glu(in[0])), {of({1, 2, 0, 0})}, {0.5, 1}},
  };
}

std::vector<Case> reduction_cases() {
  const Tensor m = of({3, 1, 2, 1, 3, 3}, {2, 3});
  return {
      {"any", ONE(any(in[0], {1})), {of({0, 0, 0, 5}, {2, 2})}, {0, 1}},
      {"all", ONE(all(in[0], {1})), {of({0, 1, 2, 5}, {2, 2})}, {0, 1}},
      {"all of bools", ONE(all(in[0])), {bools({true, true})}, {1}},
      {"any of nothing", ONE(any(in[0].slice(0, {{}, Dim(0)}))), {of({1})}, {0}},
      {"all of nothing", ONE(all(in[0].slice(0, {{}, Dim(0)}))), {of({0})}, {1}},
      {"count_nonzero", ONE(count_nonzero(in[0], {0})), {of({0, 1, 2, 5}, {2, 2})}, {1, 2}},
      {"prod", ONE(prod(in[0], {1}, true)), {m}, {6, 9}, {2, 1}},
      {"nansum", ONE(nansum(in[0])), {of({1, kNan, 2})}, {3}},
      {"nanmean", ONE(nanmean(in[0])), {of({1, kNan, 2})}, {1.5}},
      {"std", ONE(std(in[0], {1})), {m}, {1, std::sqrt(4.0 / 3)}},
      {"std of a population", ONE(std_mean(in[0], {}, false, 0).first), {of({1, 3})}, {1}},
      {"norm 1", ONE(norm(in[0], 1)), {of({-3, 4})}, {7}},
      {"norm 2", ONE(norm(in[0], 2, {0}, true)), {of({-3, 4})}, {5}, {1}},
      {"norm 3", ONE(norm(in[0], 3)), {of({-3, 4})}, {std::cbrt(91.0)}},
      {"norm 0", ONE(norm(in[0], 0)), {of({-3, 0, 4})}, {2}},
      {"norm inf", ONE(norm(in[0], kInf)), {of({-5, 4})}, {5}},
      {"dist", ONE(dist(in[0], in[1])), {of({1, 2}), of({4, 6})}, {5}},
      {"max", ONE(max(in[0])), {m}, {3}},
      {"max along an axis", ONE(max(in[0], 1).first), {m}, {3, 3}, {2}},
      {"where the first greatest is", ONE(max(in[0], 1, true).second), {m}, {0, 1}, {2, 1}},
      {"min along an axis", ONE(min(in[0], 0).first), {m}, {1, 1, 2}},
      {"argmin", ONE(argmin(in[0])), {m}, {1}},
      {"argmax of all", ONE(argmax(in[0], {}, true)), {m}, {0}, {1, 1}},
      {"argmin of bools", ONE(argmin(in[0])), {bools({true, false})}, {1}},
  };
}

std::vector<Case> order_cases() {
  const Tensor m = of({3, 1, 2, 9, 8, 7}, {2, 3});
  return {
      {"sort", ONE(sort(in[0]).first), {m}, {1, 2, 3, 7, 8, 9}},
      {"sort of columns, descending", ONE(sort(in[0], 0, true).first), {m}, {9, 8, 7, 3, 1, 2}},
      {"sort keeps the order of equals", ONE(sort(in[0]).second), {of({2, 1, 2, 1})}, {1, 3, 0, 2}},
      {"argsort", ONE(argsort(in[0])), {m}, {1, 2, 0, 2, 1, 0}},
      {"kthvalue", ONE(kthvalue(in[0], 2).first), {m}, {2, 8}, {2}},
      {"median of an even count", ONE(median(in[0])), {of({4, 1, 3, 2})}, {2}},
      {"median along an axis", ONE(median(in[0], 1, true).second), {m}, {2, 1}, {2, 1}},
      {"quantile", ONE(quantile(in[0], 0.25)), {of({1, 2, 3, 5})}, {1.75}},
      {"quantile along an axis", ONE(quantile(in[0], 0.5, 0)), {m}, {6, 4.5, 4.5}},
      {"diff", ONE(diff(in[0], 2)), {of({1, 4, 9, 16})}, {2, 2}},
      {"nonzero", ONE(nonzero(in[0])), {of({0, 5, 6, 0}, {2, 2})}, {0, 1, 1, 0}, {2, 2}},
      {"bincount", ONE(bincount(in[0], {}, 5)), {ints({1, 3, 1})}, {0, 2, 0, 1, 0}},
      {"bincount by weights",
       ONE(bincount(in[0], in[1])),
       {ints({1, 0, 1}), of({1, 2, 4})},
       {2, 5}},
      {"bincount of nothing",
       ONE(bincount(in[0].slice(0, {{}, Dim(0)}), {}, 2)),
       {ints({1})},
       {0, 0}},
      {"unique", ONE(unique(in[0]).values), {of({3, 1, 3, 2})}, {1, 2, 3}},
      {"unique's inverse",
       ONE(unique(in[0]).inverse),
       {of({3, 1, 3, 2}, {2, 2})},
       {2, 0, 2, 1},
       {2, 2}},
      {"unique rows' counts",
       ONE(unique(in[0], 0).counts),
       {of({1, 2, 0, 0, 1, 2}, {3, 2})},
       {1, 2}},
      {"bucketize", ONE(bucketize(in[0], in[1])), {of({0, 1, 2.5}), of({1, 2, 3})}, {0, 0, 2}},
      {"bucketize right",
       ONE(bucketize(in[0], in[1], true)),
       {of({0, 1, 2.5}), of({1, 2, 3})},
       {0, 1, 2}},
      {"isin", ONE(isin(in[0], in[1])), {ints({1, 5}), ints({5, 6})}, {0, 1}},
  };
}

std::vector<Case> arrange_cases() {
  const Tensor m = counting({2, 3});
  return {
      {"flip", ONE(flip(in[0], {0, -1})), {m}, {5, 4, 3, 2, 1, 0}},
      {"roll", ONE(roll(in[0], {1}, {1})), {m}, {2, 0, 1, 5, 3, 4}},
      {"roll back and beyond", ONE(roll(in[0], {-4, 3}, {1, 0})), {m}, {4, 5, 3, 1, 2, 0}},
      {"roll of all", ONE(roll(in[0], {2})), {m}, {4, 5, 0, 1, 2, 3}, {2, 3}},
      {"rot90", ONE(rot90(in[0])), {m}, {2, 5, 1, 4, 0, 3}, {3, 2}},
      {"rot90 back", ONE(rot90(in[0], -1)), {m}, {3, 0, 4, 1, 5, 2}, {3, 2}},
      {"movedim",
       ONE(movedim(in[0], {0}, {-1})),
       {counting({2, 1, 3})},
       {0, 3, 1, 4, 2, 5},
       {1, 3, 2}},
      {"unflatten", ONE(unflatten(in[0], 1, {3, -1})), {m}, {0, 1, 2, 3, 4, 5}, {2, 3, 1}},
      {"unflatten of nothing",
       ONE(unflatten(in[0].slice(0, {{}, Dim(0)}), 1, {3, -1})),
       {m},
       {},
       {0, 3, 1}},
      {"repeat", ONE(repeat(in[0], {2, 2})), {of({1, 2})}, {1, 2, 1, 2, 1, 2, 1, 2}, {2, 4}},
      {"repeat_interleave",
       ONE(repeat_interleave(in[0], 2, 1)),
       {counting({2, 2})},
       {0, 0, 1, 1, 2, 2, 3, 3},
       {2, 4}},
      {"repeat_interleave by counts",
       ONE(repeat_interleave(in[0], in[1], 0)),
       {counting({3, 2}), ints({2, 0, 1})},
       {0, 1, 0, 1, 4, 5},
       {3, 2}},
      {"broadcast_tensors",
       ONE(broadcast_tensors({in[0], in[1]})[0]),
       {of({1, 2}, {2, 1}), of({1, 2, 3})},
       {1, 1, 1, 2, 2, 2},
       {2, 3}},
      {"meshgrid",
       ONE(meshgrid({in[0], in[1]})[0]),
       {of({1, 2}), of({3, 4, 5})},
       {1, 1, 1, 2, 2, 2},
       {2, 3}},
      {"meshgrid xy",
       ONE(meshgrid({in[0], in[1]}, "xy")[0]),
       {of({1, 2}), of({3, 4, 5})},
       {1, 2, 1, 2, 1, 2},
       {3, 2}},
      {"unbind", ONE(unbind(in[0], 1)[2]), {m}, {2, 5}, {2}},
      {"narrow", ONE(narrow(in[0], 1, Dim(1), Dim(2))), {m}, {1, 2, 4, 5}},
      {"split by a size", ONE(split(in[0], 2, 1).back()), {m}, {2, 5}, {2, 1}},
      {"tensor_split", ONE(tensor_split(in[0], 2, 1)[0]), {m}, {0, 1, 3, 4}, {2, 2}},
      {"hstack", ONE(hstack({in[0], in[0]})), {of({1, 2}, {2, 1})}, {1, 1, 2, 2}, {2, 2}},
      {"vstack", ONE(vstack({in[0], in[0]})), {of({1, 2})}, {1, 2, 1, 2}, {2, 2}},
      {"take", ONE(take(in[0], in[1])), {m, ints({5, 0})}, {5, 0}},
      {"take_along_dim", ONE(take_along_dim(in[0], in[1], 1)), {m, ints({2, 0}, {2, 1})}, {2, 3}},
      {"index_add",
       ONE(index_add(in[0], 1, in[1], in[2], 10)),
       {m, ints({0, 0}), of({1, 2, 3, 4}, {2, 2})},
       {30, 1, 2, 73, 4, 5}},
      {"index_copy",
       ONE(index_copy(in[0], 0, in[1], in[2])),
       {m, ints({1}), of({7, 8, 9}, {1, 3})},
       {0, 1, 2, 7, 8, 9}},
      {"index_fill",
       ONE(index_fill(in[0], 1, in[1], -1)),
       {m, ints({0, -1})},
       {-1, 1, -1, -1, 4, -1}},
      {"scatter_add",
       ONE(scatter_add(in[0], 1, in[1], in[2])),
       {m, ints({0, 0, 2, 2}, {2, 2}), of({1, 2, 3, 4}, {2, 2})},
       {3, 1, 2, 3, 4, 12}},
      {"masked_fill", ONE(masked_fill(in[0], in[0] > 3, -1)), {m}, {0, 1, 2, 3, -1, -1}},
      {"masked_fill keeps integers",
       ONE(masked_fill(in[0], in[0] > 1, 7.0)),
       {ints({1, 2})},
       {1, 7}},
      {"masked_select",
       ONE(masked_select(in[0], in[1])),
       {m, bools({true, false, true})},
       {0, 2, 3, 5}},
      {"masked_scatter",
       ONE(masked_scatter(in[0], in[0] > 2, in[1])),
       {m, of({10, 20, 30})},
       {0, 1, 2, 10, 20, 30}},
      {"diag of a vector", ONE(diag(in[0], 1)), {of({1, 2})}, {0, 1, 0, 0, 0, 2, 0, 0, 0}, {3, 3}},
      {"diag below", ONE(diag(in[0], -1)), {of({1, 2})}, {0, 0, 0, 1, 0, 0, 0, 2, 0}, {3, 3}},
      {"diag of a matrix", ONE(diag(in[0])), {m}, {0, 4}},
      {"diagonal", ONE(diagonal(in[0], -1, 1, 2)), {counting({2, 3, 2})}, {2, 5, 8, 11}, {2, 2}},
      {"diagonal above", ONE(diagonal(in[0], 1)), {m}, {1, 5}},
  };
}

std::vector<Case> product_cases() {
  const Tensor a = counting({2, 3}), b = of({1, 0, 0, 1, 1, 1}, {3, 2});
  return {
      {"mm", ONE(mm(in[0], in[1])), {a, b}, {2, 3, 8, 9}},
      {"bmm",
       ONE(bmm(in[0], in[1])),
       {counting({1, 2, 3}), of({1, 0, 0, 1, 1, 1}, {1, 3, 2})},
       {2, 3, 8, 9}},
      {"mv", ONE(mv(in[0], in[1])), {a, of({1, 1, 1})}, {3, 12}},
      {"dot", ONE(dot(in[0], in[1])), {of({1, 2}), of({3, 4})}, {11}},
      {"outer", ONE(outer(in[0], in[1])), {of({1, 2}), of({3, 4})}, {3, 4, 6, 8}},
      {"addmm",
       ONE(addmm(in[2], in[0], in[1], {.beta = 2, .alpha = 10})),
       {a, b, of({1, 2})},
       {22, 34, 82, 94}},
      {"baddbmm",
       ONE(baddbmm(in[2], in[0], in[1])),
       {counting({1, 2, 3}), of({1, 0, 0, 1, 1, 1}, {1, 3, 2}), of({1})},
       {3, 4, 9, 10}},
      {"tensordot", ONE(tensordot(in[0], in[1])), {a, a}, {55}},
      {"tensordot over named axes", ONE(tensordot(in[0], in[1], {0, 1}, {1, 0})), {a, b}, {11}},
      {"kron",
       ONE(kron(in[0], in[1])),
       {of({1, 2}, {1, 2}), of({1, 1}, {2, 1})},
       {1, 2, 1, 2},
       {2, 2}},
      {"cross", ONE(cross(in[0], in[1])), {of({1, 0, 0}), of({0, 1, 0})}, {0, 0, 1}},
      {"trace", ONE(trace(in[0])), {counting({2, 2})}, {3}},
      {"matrix_power", ONE(matrix_power(in[0], 5)), {of({1, 1, 1, 0}, {2, 2})}, {8, 5, 5, 3}},
      {"matrix_power 0", ONE(matrix_power(in[0], 0)), {counting({2, 2})}, {1, 0, 0, 1}},
      {"cdist", ONE(cdist(in[0], in[1])), {of({0, 0, 3, 4}, {2, 2}), of({0, 0}, {1, 2})}, {0, 5}},
      {"cdist 1",
       ONE(cdist(in[0], in[1], 1)),
       {of({0, 0, 3, 4}, {2, 2}), of({1, 1}, {1, 2})},
       {2, 5}},
      {"cdist 3",
       ONE(cdist(in[0], in[1], 3)),
       {of({0, 0, 3, 4}, {2, 2}), of({0, 0}, {1, 2})},
       {0, std::cbrt(91.0)}},
  };
}

std::vector<Case> method_cases() {
  const Tensor m = counting({2, 3});
  return {
      {"of one tensor", ONE(in[0].sqrt().square().sub(1).relu()), {m}, {0, 0, 1, 2, 3, 4}},
      {"of two tensors", ONE(in[0].mul(2).add(in[0]).pow(2)), {of({1, 2})}, {9, 36}},
      {"view and permute", ONE(in[0].view({3, 2}).t().contiguous()), {m}, {0, 2, 4, 1, 3, 5}},
      {"max", ONE(in[0].max(1).first.add(in[0].max())), {m}, {7, 10}},
      {"chained", ONE(in[0].masked_fill(in[0].gt(3), 0).sum({1}).clamp({}, 3)), {m}, {3, 3}},
      {"where", ONE(in[0].where(in[0].lt(2), -1)), {m}, {0, 1, -1, -1, -1, -1}},
      {"clone", ONE(in[0].clone().flip({0}).type_as(in[0])), {of({1, 2})}, {2, 1}},
      {"matmul", ONE(in[0].matmul(in[0].t()).norm()), {of({3, 4}, {1, 2})}, {25}},
  };
}

std::vector<Case> all_cases() {
  std::vector<Case> all;
  for (const auto& cases : {elementwise_cases(), reduction_cases(), order_cases(), arrange_cases(),
                            product_cases(), method_cases()})
    all.insert(all.end(), cases.begin(), cases.end());
  return all;
}

void expect_numbers(const Tensor& found, const Case& wanted, const char* how) {
  SCOPED_TRACE(wanted.name + ", " + how);
  const std::vector<double> values = found.data().to_doubles();
  ASSERT_EQ(values.size(), wanted.expected.size());
  if (!wanted.shape.empty()) {
    EXPECT_EQ(found.data().shape(), wanted.shape);
  }
  for (size_t i = 0; i < values.size(); ++i) {
    const double expected = wanted.expected[i];
    if (std::isinf(expected)) {
      EXPECT_EQ(values[i], expected) << i;
    } else {
      EXPECT_NEAR(values[i], expected, 2e-6 * std::abs(expected) + 1e-12) << i;
    }
  }
}

TEST(TorchFunctions, GiveTheirValues) {
  for (const Case& one : all_cases())
    expect_numbers(one.fn(one.inputs)[0], one, "at once");
}

TEST(TorchFunctions, CompiledGiveTheSame) {
  for (const Case& one : all_cases()) {
    const Compiled compiled = compile(one.fn);
    expect_numbers(compiled(one.inputs)[0], one, "compiled");
  }
}

// With all sizes of at least 2 open, as far as the function allows it.
TEST(TorchFunctions, ExportedGiveTheSame) {
  const TemporaryFolder folder;
  for (const Case& one : all_cases()) {
    SCOPED_TRACE(one.name);
    const auto path = folder.path() / "m.onnx";
    export_onnx(one.fn, one.inputs, path);
    const OnnxModule loaded(path);
    expect_numbers(loaded(one.inputs)[0], one, "exported");
  }
}

// --- gradients ---------------------------------------------------------------------------------

// sum of y * sin(1), sin(2) ...
Tensor weighed(const Tensor& y) {
  const Tensor steps = arange(y.numel(), {.dtype = DType::kDouble}).reshape(y.shape());
  return (y * sin(steps + 1.0)).sum();
}

void expect_gradients(const std::string& name, const TensorFunction& fn, Tensors inputs) {
  SCOPED_TRACE(name);
  for (Tensor& input : inputs) {
    if (is_floating(input.dtype())) input = input.to(DType::kDouble).detach().set_requires_grad();
  }
  weighed(fn(inputs)[0]).backward();
  constexpr double kStep = 1e-5;
  for (const Tensor& input : inputs) {
    if (!is_floating(input.dtype())) continue;
    ASSERT_TRUE(input.grad().defined());
    const Numbers found = input.grad().data().to_doubles(), values = input.data().to_doubles();
    const Shape shape = input.data().shape();
    for (size_t i = 0; i < values.size(); ++i) {
      const NoGrad no_grad;
      const auto at = [&](double by) {
        Numbers moved = values;
        moved[i] += by;
        input.assign(Tensor::of(moved, shape));
        return weighed(fn(inputs)[0]).item<double>();
      };
      const double slope = (at(kStep) - at(-kStep)) / (2 * kStep);
      input.assign(Tensor::of(values, shape));
      EXPECT_NEAR(found[i], slope, 1e-6 * std::max(1.0, std::abs(slope))) << i;
    }
  }
}

TEST(TorchFunctions, HaveGradients) {
  const Tensor x = of({0.3, -0.6, 0.8, -0.2, 0.55, 0.1}, {2, 3});
  const Tensor y = of({-0.7, 0.4, 0.35, 0.9, -0.45, 0.62}, {2, 3});
  const Tensor p = of({0.2, 1.3, 0.75, 2.1, 0.4, 3.2}, {2, 3});
  const std::vector<std::tuple<const char*, TensorFunction, Tensors>> cases{
      {"tan", ONE(tan(in[0])), {x}},
      {"asin", ONE(asin(in[0])), {x}},
      {"atanh", ONE(atanh(in[0])), {x}},
      {"atan2", ONE(atan2(in[0], in[1])), {x, y}},
      {"expm1", ONE(expm1(in[0])), {x}},
      {"log1p", ONE(log1p(in[0])), {x}},
      {"exp2, log2", ONE(exp2(in[0]) + log2(in[1])), {x, p}},
      {"logaddexp", ONE(logaddexp(in[0], in[1])), {x, y}},
      {"xlogy", ONE(xlogy(in[0], in[1])), {x, p}},
      {"hypot", ONE(hypot(in[0], in[1])), {x, y}},
      {"fmod", ONE(fmod(in[0], in[1])), {p, y}},
      {"trunc, frac", ONE(trunc(in[0]) + frac(in[0])), {p}},
      {"lerp", ONE(lerp(in[0], in[1], in[2])), {x, y, p}},
      {"pow", ONE(pow(in[0], 3) + pow(in[1], 1.7) + pow(in[1], -0.5) + pow(in[1], -2)), {x, p}},
      {"addcdiv", ONE(addcdiv(in[0], in[1], in[2], 3)), {x, y, p}},
      {"celu", ONE(celu(in[0], 2)), {x}},
      {"shrinks", ONE(softshrink(in[0]) * tanhshrink(in[0])), {x}},
      {"prelu", ONE(prelu(in[0], in[1])), {x, of({0.1, 0.2, 0.3})}},
      {"nansum", ONE(nansum(in[0], {1})), {x}},
      {"std", ONE(std(in[0], {1})), {x}},
      {"prod", ONE(prod(in[0], {1})), {x}},
      {"norms", ONE(norm(in[0], 1, {1}) + norm(in[0], 2, {1}) + norm(in[0], 3, {1})), {x}},
      {"norm inf", ONE(norm(in[0], kInf, {1})), {x}},
      {"max and min", ONE(max(in[0], 1).first * min(in[0], 1).first), {x}},
      {"sort", ONE(sort(in[0], 1).first), {x}},
      {"quantile", ONE(quantile(in[0], 0.3, 1)), {x}},
      {"median", ONE(median(in[0], 1).first), {x}},
      {"diff", ONE(diff(in[0])), {x}},
      {"cumprod", ONE(cumprod(in[0], 1)), {x}},
      {"roll, flip", ONE(flip(roll(in[0], {1, 1}, {0, 1}), {1})), {x}},
      {"repeat_interleave", ONE(repeat_interleave(in[0], ints({2, 0, 1}), 1)), {x}},
      {"index_add",
       ONE(index_add(in[0], 1, ints({0, 0}), in[1], 2)),
       {x, of({1, 2, 3, 4}, {2, 2})}},
      {"index_copy", ONE(index_copy(in[0], 0, ints({1}), in[1])), {x, of({7, 8, 9}, {1, 3})}},
      {"masked_fill", ONE(masked_fill(in[0], in[0] > 0, 2)), {x}},
      {"masked_select", ONE(masked_select(in[0], in[0] > 0)), {x}},
      {"masked_scatter", ONE(masked_scatter(in[0], in[0] > 0, in[1])), {x, y}},
      {"diagonal", ONE(diagonal(in[0], 1)), {x}},
      {"diag_embed", ONE(diag_embed(in[0], -1)), {x}},
      {"tensordot", ONE(tensordot(in[0], in[1], {1}, {1})), {x, y}},
      {"kron", ONE(kron(in[0], in[1])), {x, y}},
      {"cross", ONE(cross(in[0], in[1])), {x, y}},
      {"matrix_power", ONE(matrix_power(in[0], 3)), {of({0.3, 0.1, -0.2, 0.7}, {2, 2})}},
      {"cdist", ONE(cdist(in[0], in[1])), {x, y}},
      {"cdist 3", ONE(cdist(in[0], in[1], 3)), {x, y}},
      {"clone, where", ONE(in[0].clone().where(in[0] > 0, in[1])), {x, y}},
  };
  for (const auto& [name, fn, inputs] : cases)
    expect_gradients(name, fn, inputs);
}

TEST(TorchFunctions, EllipsesOfDifferentRanks) {
  const Tensor a = counting({2, 1, 2, 3}), b = counting({3, 3, 2});
  const Tensor found = einsum("...ij, ...jk -> ...ik", {a, b});
  EXPECT_TRUE(allclose(found, matmul(a, b)));
  EXPECT_TRUE(allclose(einsum("i...,...", {of({1, 2}), of({3})}), of({3, 6}, {1, 2})));
  EXPECT_EQ(einsum("...,...", {a, of({2, 3, 4})}).shape(), a.shape());
  expect_gradients("einsum", ONE(einsum("...ij,...jk->...ik", {in[0], in[1]})), {a, b});
}

}  // namespace
}  // namespace sardonyx::eager

#undef ONE
