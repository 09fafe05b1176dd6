// Gemm in float32 and bfloat16.
#include "ir/ops/gemm/matmul.h"
#include "providers/onednn/float_types.h"
#include "providers/onednn/kernel_list.h"
#include "providers/onednn/matmul.h"

namespace sardonyx::onednn {
namespace {

Desc operand_desc(const KernelTensor& operand, bool transposed) {
  const Shape& shape = operand.shape;
  if (!transposed) return plain_desc(operand.dtype, shape);
  return transposed_desc(data_type_of(operand.dtype), {shape[1], shape[0]});
}

Prepared prepare_gemm(const KernelRequest& request) {
  const auto& attrs = request.attrs<ops::GemmAttrs>();
  const DType dtype = request.inputs[0].dtype;
  if (const char* why = why_unsupported_type(request, dtype)) return Prepared::refuse(why);
  MatMulSpec product;
  product.a = operand_desc(request.inputs[0], attrs.transA);
  product.b = operand_desc(request.inputs[1], attrs.transB);
  product.dst = plain_desc(dtype, request.outputs[0].shape);
  product.alpha = attrs.alpha;
  if (request.has(2) && attrs.beta != 0) {
    Extents dims = request.inputs[2].shape;
    dims.insert(dims.begin(), 2 - dims.size(), 1);
    product.bias = {2, plain_desc(dtype, dims), attrs.beta};
  }
  return prepare_product(request, product);
}

constexpr KernelEntry kGemmKernels[] = {{"Gemm", "gemm", guarded<prepare_gemm>}};

}  // namespace

std::span<const KernelEntry> gemm_kernels() {
  return kGemmKernels;
}

}  // namespace sardonyx::onednn
