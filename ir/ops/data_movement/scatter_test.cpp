// ScatterElements and ScatterND against a walk over single updates: rows of one index, rows longer
// than a block of indices, both types of indices, all reductions.
#include <gtest/gtest.h>

#include "ir/core/strides.h"
#include "tests/support/call_op.h"

namespace sardonyx {
namespace {

constexpr const char* kReductions[] = {"none", "add", "mul", "max", "min"};

double joined_by(const std::string& reduction, double element, double update) {
  if (reduction == "add") return element + update;
  if (reduction == "mul") return element * update;
  if (reduction == "max") return std::max(element, update);
  if (reduction == "min") return std::min(element, update);
  return update;
}

Datum cast(const Datum& input, DType dtype) {
  return run_op("Cast", {input}, {{"to", static_cast<int64_t>(dtype)}})[0];
}

// Small integers, so that no type rounds; most are 1 and few 2, so that products stay small.
Datum numbers(const Shape& shape, int64_t start) {
  std::vector<int64_t> values(static_cast<size_t>(element_count(shape)));
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = (static_cast<int64_t>(i) + start) % 97 == 0 ? 2 : 1;
  return Tensor::of<int64_t>(values, shape);
}

// Indices in [-size, size), all over it or, where `is_one`, all the same.
std::vector<int64_t> indices_in(int64_t count, int64_t size, bool is_one) {
  std::vector<int64_t> indices(static_cast<size_t>(count));
  for (size_t i = 0; i < indices.size(); ++i)
    indices[i] = is_one ? size - 1 : static_cast<int64_t>(i) * 7919 % (2 * size) - size;
  return indices;
}

// What `places[u]`, a place in the data for each update u, leads to.
void expect_joined(const Datum& got, const Datum& data, const Datum& updates,
                   const std::vector<int64_t>& places, const std::string& reduction) {
  std::vector<double> wanted = data.tensor().to_doubles();
  const std::vector<double> given = updates.tensor().to_doubles();
  ASSERT_EQ(given.size(), places.size());
  for (size_t u = 0; u < places.size(); ++u) {
    double& element = wanted[static_cast<size_t>(places[u])];
    element = joined_by(reduction, element, given[u]);
  }
  EXPECT_EQ(got.tensor().to_doubles(), wanted) << reduction << " of " << data.tensor().dtype();
}

void try_elements(const Shape& shape, const Shape& updated, size_t axis, bool is_one) {
  const int64_t count = element_count(updated), size = shape[axis];
  const std::vector<int64_t> indices = indices_in(count, size, is_one);
  const Strides strides = row_major_strides(shape);
  std::vector<int64_t> places;
  for (int64_t u = 0; u < count; ++u) {
    int64_t rest = u, place = 0;
    for (size_t i = shape.size(); i-- > 0; rest /= updated[i]) {
      const int64_t index = indices[static_cast<size_t>(u)];
      place += (i == axis ? (index + size) % size : rest % updated[i]) * strides[i];
    }
    places.push_back(place);
  }
  const Datum wide = Tensor::of<int64_t>(indices, updated);
  for (const DType dtype : {DType::kFloat, DType::kInt32, DType::kDouble}) {
    const Datum data = cast(numbers(shape, 5), dtype), updates = cast(numbers(updated, 0), dtype);
    for (const std::string reduction : kReductions) {
      const AttrMap attrs{{"axis", static_cast<int64_t>(axis)}, {"reduction", reduction}};
      for (const Datum& index : {wide, cast(wide, DType::kInt32)})
        expect_joined(run_op("ScatterElements", {data, index, updates}, attrs)[0], data, updates,
                      places, reduction);
    }
  }
}

TEST(ScatterElements, JoinsEveryUpdateInOrder) {
  for (const bool is_one : {false, true}) {
    try_elements({1500}, {1400}, 0, is_one);      // more than two blocks of a row
    try_elements({9, 700}, {3, 700}, 0, is_one);  // rows across the axis
    try_elements({9, 700}, {3, 600}, 0, is_one);  // of which some elements are left
    try_elements({6, 11}, {6, 5}, 1, is_one);     // along it
    try_elements({4, 5, 6}, {4, 3, 6}, 1, is_one);
  }
}

void try_tuples(const Shape& shape, int64_t tuples, size_t depth) {
  const Strides strides = row_major_strides(shape);
  int64_t run = 1;
  for (size_t i = depth; i < shape.size(); ++i)
    run *= shape[i];
  std::vector<int64_t> indices, places;
  for (int64_t t = 0; t < tuples; ++t) {
    int64_t start = 0;
    for (size_t i = 0; i < depth; ++i) {
      const int64_t index = (t * 7919 + static_cast<int64_t>(i)) % (2 * shape[i]) - shape[i];
      indices.push_back(index);
      start += (index + shape[i]) % shape[i] * strides[i];
    }
    for (int64_t i = 0; i < run; ++i)
      places.push_back(start + i);
  }
  Shape updated{tuples};
  updated.insert(updated.end(), shape.begin() + static_cast<int64_t>(depth), shape.end());
  const Datum index = Tensor::of<int64_t>(indices, {tuples, static_cast<int64_t>(depth)});
  for (const DType dtype : {DType::kFloat, DType::kInt32, DType::kDouble}) {
    const Datum data = cast(numbers(shape, 5), dtype), updates = cast(numbers(updated, 0), dtype);
    for (const std::string reduction : kReductions)
      expect_joined(run_op("ScatterND", {data, index, updates}, {{"reduction", reduction}})[0],
                    data, updates, places, reduction);
  }
}

TEST(ScatterND, JoinsEveryUpdateInOrder) {
  try_tuples({1500}, 1300, 1);  // single elements, more than two blocks of places
  try_tuples({30, 50}, 600, 2);
  try_tuples({30, 7}, 600, 1);                  // runs
  for (const int64_t length : {1, 15, 16, 33})  // around those that are copied by a call
    try_tuples({30, length}, 80, 1);
}

TEST(ScatterElements, MovesStringsAndJoinsOtherTypes) {
  const Datum words = Tensor::of<std::string>({"a", "b", "c"}, {3});
  const Datum index = Tensor::of<int64_t>({-1, 0}, {2});
  const Datum more = Tensor::of<std::string>({"x", "y"}, {2});
  EXPECT_TRUE(run_op("ScatterElements", {words, index, more})[0].tensor() ==
              Tensor::of<std::string>({"y", "b", "x"}, {3}));
  const Datum flags = Tensor::of<bool>({true, false, true}, {3});
  const Datum updates = Tensor::of<bool>({false, true}, {2});
  EXPECT_TRUE(
      run_op("ScatterElements", {flags, index, updates}, {{"reduction", std::string("mul")}})[0]
          .tensor() == Tensor::of<bool>({true, false, false}, {3}));
  const Datum bytes = Tensor::of<uint8_t>({200, 3, 250}, {3});
  const Datum added = Tensor::of<uint8_t>({10, 100}, {2});
  EXPECT_TRUE(
      run_op("ScatterElements", {bytes, index, added}, {{"reduction", std::string("add")}})[0]
          .tensor() == Tensor::of<uint8_t>({44, 3, 4}, {3}));
}

TEST(ScatterElements, NamesAnIndexBeyondTheAxis) {
  const Datum data = numbers({600}, 0);
  const Datum index = Tensor::of<int64_t>({600}, {1});
  EXPECT_NE(error_of("ScatterElements", {data, index, numbers({1}, 0)})
                .find("index 600 is out of range for axis 0 of size 600"),
            std::string::npos);
}

}  // namespace
}  // namespace sardonyx
