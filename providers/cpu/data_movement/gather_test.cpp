// Gathering of drawn shapes and indices against the reference.
#include <gtest/gtest.h>

#include "ir/core/error.h"
#include "ir/op_samples.h"
#include "ir/reference_evaluator.h"
#include "providers/cpu/provider.h"

namespace sardonyx {
namespace {

struct Case {
  std::string_view op;
  Shape data, indices;
  AttrMap attrs;
  int64_t size;  // indices are drawn from [-size, size)
};

Tensor drawn_indices(const Case& example, DType dtype) {
  const auto size = static_cast<double>(example.size);
  return drawn_tensor(dtype, example.indices, -size, size - 1, 7);
}

// What the kernel makes of it; what it says where an index is out of range.
Datum run(const Case& example, const Tensor& data, const Tensor& indices, const Tensor& expected,
          int threads) {
  const OpDef& op = op_named(example.op);
  const Attrs attrs = Attrs::parse(*op.attrs, example.attrs);
  const KernelTensor in[] = {{data.dtype(), data.shape()}, {indices.dtype(), indices.shape()}};
  const KernelTensor out{expected.dtype(), expected.shape()};
  KernelRequest request{op, attrs, in, {&out, 1}};
  request.threads = threads;
  for (const KernelEntry& entry : cpu_provider().kernels) {
    if (entry.op != example.op) continue;
    const Prepared prepared = entry.prepare(request);
    EXPECT_TRUE(prepared.kernel) << prepared.refusal;
    if (!prepared.kernel) break;
    const Tensor made = Tensor::allocate(expected.dtype(), expected.shape());
    const void* sources[] = {data.raw(), indices.raw()};
    void* target = made.raw();
    prepared.kernel->run({sources, &target, nullptr});
    return made;
  }
  return {};
}

const Case kCases[] = {
    {"Gather", {50, 7}, {3, 40}, {}, 50},
    {"Gather", {50, 300}, {3, 40}, {}, 50},
    {"Gather", {9, 50, 3}, {41}, {{"axis", int64_t{1}}}, 50},
    {"Gather", {300, 50}, {41}, {{"axis", int64_t{-1}}}, 50},
    {"Gather", {3, 70001}, {5}, {}, 3},
    {"Gather", {5, 6}, {}, {{"axis", int64_t{1}}}, 6},
    {"GatherElements", {40, 300}, {40, 500}, {{"axis", int64_t{1}}}, 300},
    {"GatherElements", {90, 40, 7}, {500, 30, 5}, {}, 90},
    {"GatherElements", {6, 90, 40}, {5, 500, 40}, {{"axis", int64_t{-2}}}, 90},
    {"GatherElements", {90}, {500}, {}, 90},
    // Axes that are passed as one, and such that are not.
    {"GatherElements", {3, 4, 5, 90}, {3, 4, 5, 130}, {{"axis", int64_t{-1}}}, 90},
    {"GatherElements", {3, 4, 5, 90}, {2, 4, 3, 130}, {{"axis", int64_t{-1}}}, 90},
    {"GatherElements", {9, 1100}, {8, 2500}, {{"axis", int64_t{-1}}}, 1100},  // pieces of a row
    {"GatherElements", {5, 6000}, {4, 3000}, {{"axis", int64_t{-1}}}, 6000},
    {"GatherElements", {20, 3000}, {30, 2500}, {}, 20},
    {"GatherElements", {3, 4, 90, 6}, {3, 4, 50, 6}, {{"axis", int64_t{2}}}, 90},
    {"GatherElements", {2, 90, 3, 6}, {2, 50, 3, 5}, {{"axis", int64_t{1}}}, 90},
    {"GatherElements", {90, 4, 1, 6}, {200, 4, 1, 6}, {}, 90},
    {"GatherND", {20, 20, 30}, {7, 40, 2}, {}, 20},
    {"GatherND", {20, 20}, {9000, 2}, {}, 20},
    {"GatherND", {3, 5, 20, 64}, {3, 5, 40, 1}, {{"batch_dims", int64_t{2}}}, 20},
    {"GatherND", {4, 20, 30}, {4, 9, 1}, {{"batch_dims", int64_t{1}}}, 20},
};

TEST(Gathering, is_the_references) {
  for (const Case& example : kCases) {
    SCOPED_TRACE(testing::Message() << example.op << " of " << to_text(example.data));
    const OpDef& op = op_named(example.op);
    const Attrs attrs = Attrs::parse(*op.attrs, example.attrs);
    for (const DType dtype : {DType::kFloat, DType::kDouble, DType::kFloat16, DType::kUInt8,
                              DType::kComplex128, DType::kBool}) {
      const bool is_complex = dtype == DType::kComplex128;
      const Tensor data = is_complex ? Tensor::zeros(dtype, example.data)
                                     : drawn_tensor(dtype, example.data, 0, 100, 3);
      for (const DType index : {DType::kInt64, DType::kInt32}) {
        if (index == DType::kInt32 && example.op == "GatherND") continue;
        const Tensor indices = drawn_indices(example, index);
        const Tensor expected =
            evaluate(op, attrs, std::vector<Datum>{data, indices}, 1)[0].tensor();
        for (const int threads : {1, 3})
          EXPECT_TRUE(run(example, data, indices, expected, threads).tensor() == expected);
      }
    }
  }
}

TEST(Gathering, refuses_indices_out_of_range) {
  for (const Case& example : kCases) {
    SCOPED_TRACE(testing::Message() << example.op << " of " << to_text(example.data));
    const OpDef& op = op_named(example.op);
    const Attrs attrs = Attrs::parse(*op.attrs, example.attrs);
    const Tensor data = drawn_tensor(DType::kFloat, example.data, 0, 100, 3);
    Tensor indices = drawn_indices(example, DType::kInt64);
    const Tensor expected = evaluate(op, attrs, std::vector<Datum>{data, indices}, 1)[0].tensor();
    for (const int64_t wrong : {example.size, -example.size - 1, INT64_MAX, INT64_MIN}) {
      indices.mutable_values<int64_t>().back() = wrong;
      std::string said;
      try {
        evaluate(op, attrs, std::vector<Datum>{data, indices}, 1);
      } catch (const Error& error) {
        said = error.what();
      }
      for (const int threads : {1, 3}) {
        try {
          run(example, data, indices, expected, threads);
          ADD_FAILURE() << wrong << " is taken";
        } catch (const Error& error) {
          EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
          EXPECT_NE(said.find(error.what()), std::string::npos) << said << "\n" << error.what();
        }
      }
    }
  }
}

}  // namespace
}  // namespace sardonyx
