// Numbers of C++ beside tensors of 64-bit integers: no digit is lost, at once, compiled and in a
// file.
#include <gtest/gtest.h>

#include <limits>

#include "eager/create.h"
#include "eager/data/joined.h"
#include "eager/export/export.h"
#include "eager/export/onnx_module.h"
#include "eager/functional/functional.h"
#include "eager/functional/tensors_for_test.h"
#include "eager/nn.h"
#include "eager/trace/compile.h"
#include "ir/core/tensor.h"
#include "tests/support/temporary_folder.h"

namespace sardonyx::eager {
namespace {

using Tensors = std::vector<Tensor>;
using Integers = std::vector<int64_t>;
constexpr int64_t kNoDouble = (int64_t{1} << 53) + 1;  // the least integer that no double holds
constexpr int64_t kGreatestInt = std::numeric_limits<int64_t>::max();
constexpr int64_t kLeastInt = std::numeric_limits<int64_t>::min();

struct ExactCase {
  const char* name;
  TensorFunction fn;  // of x = [1, -2]
  Integers expected;
};
#define ONE(expression) [](const Tensors& in) -> Tensors { return {expression}; }

std::vector<ExactCase> exact_cases() {
  return {
      {"full",
       ONE(in[0] * 0 + full({2}, kNoDouble, {.dtype = DType::kInt64})),
       {kNoDouble, kNoDouble}},
      {"full of an open size",
       ONE(full({in[0].size(0)}, kNoDouble, {.dtype = DType::kInt64})),
       {kNoDouble, kNoDouble}},
      {"full_like", ONE(full_like(in[0], kNoDouble)), {kNoDouble, kNoDouble}},
      {"new_full", ONE(in[0] * 0 + in[0].new_full({2}, -kNoDouble)), {-kNoDouble, -kNoDouble}},
      {"index_fill", ONE(in[0].index_fill(0, ints({1}), kNoDouble)), {1, kNoDouble}},
      {"scatter", ONE(in[0].scatter(0, ints({0}), kNoDouble)), {kNoDouble, -2}},
      {"clamp from", ONE(in[0].clamp(kNoDouble)), {kNoDouble, kNoDouble}},
      {"clamp to", ONE(clamp(in[0] * kGreatestInt, -kNoDouble, kNoDouble)), {kNoDouble, 2}},
      {"clip", ONE(clip(in[0], {}, -kNoDouble)), {-kNoDouble, -kNoDouble}},
      {"clamp_min", ONE(clamp_min(in[0], kNoDouble)), {kNoDouble, kNoDouble}},
      {"clamp_max", ONE(in[0].clamp_max(-kNoDouble)), {-kNoDouble, -kNoDouble}},
      {"clamp by all", ONE(clamp(in[0], kLeastInt, kGreatestInt)), {1, -2}},
      {"clamp by more", ONE(clamp(in[0], -1e30, 1e30)), {1, -2}},
      {"hardtanh", ONE(hardtanh(in[0], kNoDouble, kGreatestInt)), {kNoDouble, kNoDouble}},
      {"threshold", ONE(threshold(in[0], 0, kNoDouble)), {1, kNoDouble}},
      {"threshold above", ONE(threshold(in[0] + kNoDouble, kNoDouble, 0)), {kNoDouble + 1, 0}},
      {"masked_fill", ONE(in[0].masked_fill(in[0] > 0, kNoDouble)), {kNoDouble, -2}},
      {"where", ONE(where(in[0] > 0, kNoDouble, in[0])), {kNoDouble, -2}},
      {"pad", ONE(pad(in[0], {0, 1}, kNoDouble)), {1, -2, kNoDouble}},
      {"pad by mode", ONE(pad(in[0], {1, 0}, "constant", kNoDouble)), {kNoDouble, 1, -2}},
      {"addcmul", ONE(in[0].addcmul(in[0], in[0], kNoDouble)), {kNoDouble + 1, 4 * kNoDouble - 2}},
      {"add", ONE(in[0].add(1, kNoDouble)), {kNoDouble + 1, kNoDouble - 2}},
      {"sub", ONE(in[0].sub(in[0], kNoDouble)), {1 - kNoDouble, 2 * kNoDouble - 2}},
      {"index_add", ONE(in[0].index_add(0, ints({1}), ints({1}), kNoDouble)), {1, kNoDouble - 2}},
      {"addmm",
       ONE(addmm(in[0], in[0].reshape({2, 1}), ints({1}, {1, 1}), {.beta = 0, .alpha = kNoDouble})),
       {kNoDouble, -2 * kNoDouble}},
      {"addmm of beta",
       ONE(addmm(in[0].reshape({2, 1}), in[0].reshape({2, 1}), ints({0}, {1, 1}),
                 {.beta = kNoDouble})),
       {kNoDouble, -2 * kNoDouble}},
      {"ConstantPad1d",
       ONE(nn::ConstantPad1d(nn::Sizes({0, 1}), kNoDouble)(in[0].reshape({1, 1, 2}))),
       {1, -2, kNoDouble}},
      {"Threshold", ONE(nn::Threshold(0, kNoDouble)(in[0])), {1, kNoDouble}},
      {"Hardtanh", ONE(nn::Hardtanh(-kNoDouble, -kNoDouble)(in[0])), {-kNoDouble, -kNoDouble}},
      {"operators", ONE(in[0] * kNoDouble), {kNoDouble, -2 * kNoDouble}},
  };
}

TEST(ExactNumbers, AreExactInAllForms) {
  const TemporaryFolder folder;
  const Tensors x{ints({1, -2})};
  for (const ExactCase& one : exact_cases()) {
    SCOPED_TRACE(one.name);
    EXPECT_EQ(one.fn(x)[0].to_vector<int64_t>(), one.expected) << "at once";
    EXPECT_EQ(compile(one.fn)(x)[0].to_vector<int64_t>(), one.expected) << "compiled";
    export_onnx(one.fn, x, folder.path() / "m.onnx", {.verify = false});
    EXPECT_EQ(OnnxModule(folder.path() / "m.onnx")(x)[0].to_vector<int64_t>(), one.expected)
        << "exported";
  }
}

TEST(ExactNumbers, FillWhatIsThere) {
  const Tensor x = ints({1, 2});
  nn::init::constant(x, kNoDouble);
  EXPECT_EQ(x.to_vector<int64_t>(), (Integers{kNoDouble, kNoDouble}));
  EXPECT_EQ(data::pad_sequence({ints({1}), ints({1, 2})}, true, kNoDouble).to_vector<int64_t>(),
            (Integers{1, kNoDouble, 1, 2}));
  const data::Sample some[] = {{ints({1})}, {ints({1, 2})}};
  EXPECT_EQ(data::pad_to_longest(some, kNoDouble)[0].to_vector<int64_t>(),
            (Integers{1, kNoDouble, 1, 2}));
  constexpr uint64_t kAll = std::numeric_limits<uint64_t>::max();
  EXPECT_EQ(full({1}, kAll, {.dtype = DType::kUInt64}).item<uint64_t>(), kAll);
}

// A bound that the type has no number for bounds nothing.
TEST(ExactNumbers, BoundsBeyondTheType) {
  const auto clamped = [](DType dtype, Number low, Number high) {
    return clamp(of({0, 100}).to(dtype), low, high).to(DType::kInt64).to_vector<int64_t>();
  };
  const Integers same{0, 100};
  EXPECT_EQ(clamped(DType::kInt8, -1000, 1000), same);
  EXPECT_EQ(clamped(DType::kUInt8, -1, 256), same);
  EXPECT_EQ(clamped(DType::kInt64, -1e300, std::numeric_limits<uint64_t>::max()), same);
  EXPECT_EQ(clamped(DType::kUInt64, -1, std::numeric_limits<uint64_t>::max()), same);
  EXPECT_EQ(clamped(DType::kInt32, 7, kGreatestInt), (Integers{7, 100}));
}

}  // namespace
}  // namespace sardonyx::eager

#undef ONE
