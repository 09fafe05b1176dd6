// ScatterND with constant indices against the reference, into memory of its own and in place.
#include <gtest/gtest.h>

#include <cstring>

#include "ir/op_samples.h"
#include "ir/reference_evaluator.h"
#include "providers/cpu/provider.h"

namespace sardonyx {
namespace {

struct ScatterCase {
  Shape data, indices, updates;
};

Prepared prepare(const Tensor& data, const Tensor& indices, const Tensor& updates,
                 const AttrMap& attrs = {}) {
  const OpDef& op = op_named("ScatterND");
  const Attrs parsed = Attrs::parse(*op.attrs, attrs);
  const KernelTensor in[] = {{data.dtype(), data.shape()},
                             {indices.dtype(), indices.shape(), nullptr, &indices},
                             {updates.dtype(), updates.shape()}};
  const KernelTensor out{data.dtype(), data.shape()};
  for (const KernelEntry& entry : cpu_provider().kernels) {
    if (entry.op == "ScatterND") return entry.prepare({op, parsed, in, {&out, 1}});
  }
  return Prepared::refuse("no kernel");
}

// Indices of the last elements of `data` that a box of the indices' shape has, in order, every
// other one counted from the end.
Tensor box_of(const ScatterCase& example) {
  Tensor indices = Tensor::allocate(DType::kInt64, example.indices);
  const auto values = indices.mutable_values<int64_t>();
  const auto depth = static_cast<size_t>(example.indices.back());
  for (size_t i = 0; i < values.size(); ++i) {
    auto tuple = static_cast<int64_t>(i / depth);
    for (size_t axis = depth - 1; axis > i % depth; --axis)
      tuple /= example.indices[axis];
    const int64_t place = tuple % example.indices[i % depth];
    values[i] = i % 2 == 0 ? place : place - example.data[i % depth];
  }
  return indices;
}

TEST(ScatterND, writes_boxes_in_place_and_not) {
  const ScatterCase cases[] = {
      {{6, 5, 7}, {2, 4, 7, 3}, {2, 4, 7}},  // neighbours in rows
      {{6, 5, 7}, {4, 3, 2}, {4, 3, 7}},     // tuples of whole rows
      {{9, 5}, {9, 1}, {9, 5}},              // everything
      {{40}, {7, 1}, {7}},
      {{3, 0}, {2, 1}, {2, 0}},     // no elements
      {{4, 3}, {3, 0}, {3, 4, 3}},  // empty tuples: all of it, the last one wins
  };
  for (const DType dtype : {DType::kFloat, DType::kUInt8, DType::kFloat16, DType::kComplex128}) {
    for (const ScatterCase& example : cases) {
      const bool is_complex = dtype == DType::kComplex128;
      const auto drawn = [&](const Shape& shape, uint64_t seed) {
        return is_complex ? Tensor::zeros(dtype, shape) : drawn_tensor(dtype, shape, 0, 9, seed);
      };
      const Tensor data = drawn(example.data, 1);
      const Tensor updates = drawn(example.updates, 2);
      const Tensor indices = example.indices.back()
                                 ? box_of(example)
                                 : Tensor::allocate(DType::kInt64, example.indices);
      const Prepared prepared = prepare(data, indices, updates);
      if (element_count(example.indices) == 0) {
        EXPECT_FALSE(prepared.kernel);
        continue;
      }
      ASSERT_TRUE(prepared.kernel) << prepared.refusal;
      EXPECT_TRUE(prepared.kernel->may_alias(0, 0));
      EXPECT_FALSE(prepared.kernel->may_alias(0, 2));
      const OpDef& op = op_named("ScatterND");
      const Datum inputs[] = {data, indices, updates};
      const Tensor expected = evaluate(op, Attrs::parse(*op.attrs, {}), inputs, 1)[0].tensor();
      const Tensor made = Tensor::allocate(dtype, example.data);
      void* target = made.raw();
      const void* sources[] = {data.raw(), nullptr, updates.raw()};
      prepared.kernel->run({sources, &target, nullptr});
      EXPECT_EQ(made, expected);
      std::memcpy(made.raw(), data.raw(), data.bytes());
      sources[0] = made.raw();
      prepared.kernel->run({sources, &target, nullptr});
      EXPECT_EQ(made, expected);
    }
  }
}

TEST(ScatterND, leaves_what_may_fail_and_what_is_joined_to_the_reference) {
  const Tensor data = drawn_tensor(DType::kFloat, {4, 2}, 0, 1, 1);
  const Tensor updates = drawn_tensor(DType::kFloat, {1, 2}, 0, 1, 2);
  Tensor indices = Tensor::allocate(DType::kInt64, {1, 1});
  for (const int64_t wrong : {int64_t{4}, int64_t{-5}, INT64_MAX, INT64_MIN}) {
    indices.mutable_values<int64_t>()[0] = wrong;
    EXPECT_FALSE(prepare(data, indices, updates).kernel) << wrong;
  }
  indices.mutable_values<int64_t>()[0] = 3;
  EXPECT_TRUE(prepare(data, indices, updates).kernel);
  EXPECT_FALSE(prepare(data, indices, updates, {{"reduction", std::string("add")}}).kernel);
}

// What is joined, and indices that are known at the run only: by the row's evaluation.
TEST(Scatter, over_the_data_and_not) {
  for (const char* name : {"ScatterND", "ScatterElements"}) {
    for (const char* reduction : {"none", "add", "max"}) {
      const OpDef& op = op_named(name);
      const Attrs attrs = Attrs::parse(*op.attrs, {{"reduction", std::string(reduction)}});
      const bool is_tuples = op.name == "ScatterND";
      const Tensor data = drawn_tensor(DType::kFloat, {5, 4}, 0, 9, 1);
      const Tensor updates = drawn_tensor(DType::kFloat, {3, 4}, 0, 9, 2);
      const Tensor indices =
          drawn_tensor(DType::kInt64, is_tuples ? Shape{3, 1} : Shape{3, 4}, 0, 4, 3);
      const KernelTensor in[] = {{data.dtype(), data.shape()},
                                 {indices.dtype(), indices.shape()},
                                 {updates.dtype(), updates.shape()}};
      const KernelTensor out{data.dtype(), data.shape()};
      const Provider* const providers[] = {&cpu_provider()};
      const Prepared prepared = prepare_kernel(providers, {op, attrs, in, {&out, 1}});
      ASSERT_TRUE(prepared.kernel) << prepared.refusal;
      EXPECT_TRUE(prepared.kernel->may_alias(0, 0)) << name;
      EXPECT_FALSE(prepared.kernel->may_alias(0, 2)) << name;
      const Datum inputs[] = {data, indices, updates};
      const Tensor expected = evaluate(op, attrs, inputs, 1)[0].tensor();
      const Tensor made = Tensor::allocate(data.dtype(), data.shape());
      void* target = made.raw();
      const void* sources[] = {data.raw(), indices.raw(), updates.raw()};
      prepared.kernel->run({sources, &target, nullptr});
      EXPECT_EQ(made, expected) << name << reduction;
      std::memcpy(made.raw(), data.raw(), data.bytes());
      sources[0] = made.raw();
      prepared.kernel->run({sources, &target, nullptr});
      EXPECT_EQ(made, expected) << name << reduction << " in place";
    }
  }
}

}  // namespace
}  // namespace sardonyx
