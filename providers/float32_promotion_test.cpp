// Ops on float16 and bfloat16 that float32 kernels compute: as the reference does, up to how sums
// are added up, and without it.
#include "ir/float32_promotion.h"

#include <gtest/gtest.h>

#include <cmath>

#include "ir/core/dtype_convert.h"
#include "ir/core/error.h"
#include "ir/value_compare.h"
#include "providers/providers.h"

namespace sardonyx {
namespace {

struct Product {
  const char* op;
  std::vector<Shape> shapes;
  AttrMap attrs = {};
};

std::vector<Product> products() {
  using Ints = std::vector<int64_t>;
  const AttrMap padded{{"pads", Ints{1, 1, 1, 1}}};
  return {
      {"MatMul", {{33, 65}, {65, 17}}},
      {"Gemm", {{33, 65}, {17, 65}, {17}}, {{"transB", int64_t{1}}}},
      {"sardonyx::FusedMatMul", {{3, 9, 7}, {3, 9, 5}}, {{"transA", int64_t{1}}}},
      {"Conv", {{2, 5, 9, 8}, {4, 5, 3, 3}, {4}}, padded},
      {"ConvTranspose", {{2, 5, 9, 8}, {5, 4, 3, 3}}, padded},
      {"Sigmoid", {{1000}}},
      {"sardonyx::ReluGrad", {{1000}, {1000}}},
      {"Mul", {{40, 30}, {30}}},
      {"Softmax", {{20, 31}}},
      {"sardonyx::SoftmaxGrad", {{20, 31}, {20, 31}}},
      {"LayerNormalization", {{20, 31}, {31}, {31}}},
      {"MaxPool", {{1, 3, 12, 12}}, {{"kernel_shape", Ints{3, 3}}}},
  };
}

struct PromotedCall {
  std::vector<Tensor> values;
  std::vector<InferInput> given;
  std::vector<KernelTensor> inputs, outputs;
};

PromotedCall made_call(const OpDef& op, const Attrs& attrs, const std::vector<Shape>& shapes,
                       DType dtype) {
  PromotedCall call;
  for (const Shape& shape : shapes) {
    Tensor value = Tensor::allocate(dtype, shape);
    for (int64_t i = 0; i < value.count(); ++i) {
      const double number = std::sin(0.7 * static_cast<double>(i + 1));
      store_numbers(dtype, value.raw(), i, 1, &number);
    }
    call.given.push_back({Type::tensor(dtype, to_dims(shape))});
    call.inputs.push_back({dtype, shape});
    call.values.push_back(std::move(value));
  }
  for (const InferOutput& output :
       infer(op, attrs, call.given, call.given.size(), 1, [] { return Dim::symbol("?"); }))
    call.outputs.push_back({output.type.dtype, output.type.known_shape().value()});
  return call;
}

Tensor result_of(const Kernel& kernel, const PromotedCall& call) {
  Tensor out = Tensor::allocate(call.outputs[0].dtype, call.outputs[0].shape);
  std::vector<const void*> in;
  for (const Tensor& value : call.values)
    in.push_back(value.raw());
  void* to = out.raw();
  const auto scratch = Buffer::allocate(kernel.scratch_bytes());
  kernel.run({in.data(), &to, scratch->data()});
  return out;
}

TEST(Widened, GivesWhatTheReferenceGives) {
  for (const Product& product : products()) {
    for (const DType dtype : {DType::kFloat16, DType::kBFloat16}) {
      SCOPED_TRACE(text(product.op, " of ", dtype));
      const OpDef& op = op_named(product.op);
      const Attrs attrs = Attrs::parse(*op.attrs, product.attrs);
      const PromotedCall call = made_call(op, attrs, product.shapes, dtype);
      const KernelRequest request{op, attrs, call.inputs, call.outputs};
      const Prepared widened = prepare_as_float32(all_providers(), request);
      ASSERT_TRUE(widened.kernel) << widened.refusal;
      EXPECT_TRUE(widened.implementation.starts_with("in float32: ")) << widened.implementation;
      EXPECT_NE(prepare_kernel(all_providers(), request).implementation, "reference");
      if (!op.reference) continue;  // known by its body
      const Tensor expected = result_of(*prepare_reference(request).kernel, call);
      // A unit in the last place of the small type.
      const Tolerance tolerance{.rtol = dtype == DType::kFloat16 ? 1e-3 : 8e-3, .atol = 1e-5};
      const Comparison found = compare(result_of(*widened.kernel, call), expected, tolerance);
      EXPECT_TRUE(found) << found.reason;
    }
  }
}

TEST(Widened, OtherTypesAndOpsAreRefused) {
  const auto refusal = [](const char* name, DType dtype, size_t inputs = 1) {
    const OpDef& op = op_named(name);
    const Attrs attrs = Attrs::parse(*op.attrs, {});
    const PromotedCall call = made_call(op, attrs, std::vector<Shape>(inputs, {4, 4}), dtype);
    return prepare_as_float32(all_providers(), {op, attrs, call.inputs, call.outputs}).refusal;
  };
  EXPECT_EQ(refusal("Relu", DType::kFloat), "it is not computed in float32");
  EXPECT_EQ(refusal("Relu", DType::kFloat16), "");
  EXPECT_EQ(refusal("Transpose", DType::kFloat16), "it is not computed in float32");
  EXPECT_EQ(refusal("PRelu", DType::kFloat16, 2), "it is not computed in float32");
}

}  // namespace
}  // namespace sardonyx
