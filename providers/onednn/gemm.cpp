// Gemm in float32.
#include "ir/ops/matmul.h"
#include "providers/onednn/entries.h"
#include "providers/onednn/matmul.h"

namespace sardonyx::onednn {
namespace {

Desc operand_desc(const Shape& shape, bool transposed) {
  if (!transposed) return plain_desc(DType::kFloat, shape);
  return transposed_desc(memory::data_type::f32, {shape[1], shape[0]});
}

Prepared prepare_gemm(const KernelRequest& request) {
  const auto& attrs = request.attrs<ops::GemmAttrs>();
  if (request.inputs[0].dtype != DType::kFloat)
    return Prepared::refuse("only float is computed here");
  Product product;
  product.a = operand_desc(request.inputs[0].shape, attrs.transA);
  product.b = operand_desc(request.inputs[1].shape, attrs.transB);
  product.dst = plain_desc(DType::kFloat, request.outputs[0].shape);
  product.alpha = attrs.alpha;
  if (request.has(2) && attrs.beta != 0) {
    Extents dims = request.inputs[2].shape;
    dims.insert(dims.begin(), 2 - dims.size(), 1);
    product.bias = {2, plain_desc(memory::data_type::f32, dims), attrs.beta};
  }
  return prepare_product(request, product);
}

constexpr KernelEntry kEntries[] = {{"Gemm", "gemm", guarded<prepare_gemm>}};

}  // namespace

std::span<const KernelEntry> gemm_kernels() {
  return kEntries;
}

}  // namespace sardonyx::onednn
