// Compress along a single run of elements, which has a loop of its own for each size of element,
// keeps what it keeps element by element elsewhere.
#include <gtest/gtest.h>

#include "tests/support/call_op.h"

namespace sardonyx {
namespace {

// Column 0 of [count, 2], which is kept element by element, is what [count] and [count, 1] keep.
void expect_same(const Tensor& elements, const std::vector<bool>& keeps) {
  const Datum condition = Tensor::of<bool>(keeps, {static_cast<int64_t>(keeps.size())});
  const AttrMap first{{"axis", int64_t{0}}};
  const Datum column = Tensor(elements).reshaped({elements.count(), 1});
  const Datum twice = run_op("Concat", {column, column}, {{"axis", int64_t{1}}})[0];
  const Datum kept = run_op("Compress", {twice, condition}, first)[0];
  const Tensor wanted =
      run_op("Gather", {kept, Tensor::of<int64_t>({0}, {1})}, {{"axis", int64_t{1}}})[0].tensor();
  const Shape flat{wanted.count()};
  EXPECT_EQ(wanted.shape(), (Shape{wanted.count(), 1}));
  EXPECT_TRUE(run_op("Compress", {column, condition}, first)[0].tensor() == wanted);
  EXPECT_TRUE(run_op("Compress", {column, condition})[0].tensor() == Tensor(wanted).reshaped(flat));
  for (const AttrMap& attrs : {AttrMap{}, first}) {
    const Tensor got = run_op("Compress", {Datum(elements), condition}, attrs)[0].tensor();
    EXPECT_TRUE(got == Tensor(wanted).reshaped(flat)) << elements.dtype();
  }
}

TEST(Compress, ElementsOfEverySize) {
  constexpr int64_t kCount = (1 << 16) + 37;  // more than a part between two looks at the deadline
  std::vector<int64_t> numbers(kCount);
  std::vector<bool> keeps(kCount);
  for (int64_t i = 0; i < kCount; ++i) {
    numbers[static_cast<size_t>(i)] = i * 7 % 251;
    keeps[static_cast<size_t>(i)] = i * i % 5 < 2;
  }
  const Datum all = Tensor::of<int64_t>(numbers, {kCount});
  for (const DType dtype :
       {DType::kUInt8, DType::kInt16, DType::kFloat, DType::kDouble, DType::kBool}) {
    const Datum cast = run_op("Cast", {all}, {{"to", static_cast<int64_t>(dtype)}})[0];
    expect_same(cast.tensor(), keeps);
  }
  expect_same(Tensor::of<std::string>({"a", "b", "c"}, {3}), {true, false, true});
}

TEST(Compress, ConditionsOfOtherLengths) {
  const Datum x = floats({1, 2, 3}, {3});
  const auto kept = [&](const std::vector<bool>& keeps) {
    const Datum condition = Tensor::of<bool>(keeps, {static_cast<int64_t>(keeps.size())});
    return run_op("Compress", {x, condition})[0].tensor().to_doubles();
  };
  EXPECT_EQ(kept({}), std::vector<double>{});
  EXPECT_EQ(kept({false, true}), (std::vector<double>{2}));
  EXPECT_EQ(kept({false, false, false}), std::vector<double>{});
  EXPECT_EQ(kept({true, true, true, false}), (std::vector<double>{1, 2, 3}));
  const Datum beyond = Tensor::of<bool>({true, false, false, false, true}, {5});
  EXPECT_NE(error_of("Compress", {x, beyond}).find("index 4 is out of range"), std::string::npos);
}

}  // namespace
}  // namespace sardonyx
