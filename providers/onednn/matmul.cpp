// MatMul and FusedMatMul in float32 and bfloat16.
#include "providers/onednn/matmul.h"

#include <algorithm>

#include "ir/ops/conv/fused_ops.h"
#include "ir/ops/gemm/matmul.h"
#include "providers/cpu/gemm/gemv.h"
#include "providers/onednn/float_types.h"
#include "providers/onednn/kernel_list.h"
#include "providers/onednn/matmul_row_blocks.h"
#include "providers/onednn/post_op_eltwise.h"
#include "providers/onednn/primitive/partition_axes.h"
#include "providers/onednn/primitive/primitive_cache.h"
#include "providers/onednn/separate_activation.h"

namespace sardonyx::onednn {
namespace {

// A bias along the last dim is an input of the primitive; any other addend is a binary post-op. So
// is the bias of a scaled product, because oneDNN would scale it too.
bool is_row(const Desc& desc) {
  const Extents dims = desc.dims();
  return std::all_of(dims.begin(), dims.end() - 1, [](int64_t dim) { return dim == 1; });
}

bool takes_bias_as_input(const MatMulSpec& product) {
  return product.bias && product.alpha == 1 && is_row(product.bias->desc) &&
         product.bias->desc.dims().back() == product.dst.dims().back();
}

ProductSpec spec_of(const MatMulSpec& product, bool packed) {
  ProductSpec spec{product.a, product.b, {}, product.dst};
  if (packed) spec.weights = any_desc(product.b.data_type(), product.b.dims());
  if (takes_bias_as_input(product)) spec.bias = product.bias->desc;
  return spec;
}

// The operands of the binary post-ops, in their order.
std::vector<Desc> operands_of(const MatMulSpec& product, Residual residual) {
  std::vector<Desc> operands;
  if (product.bias && !takes_bias_as_input(product)) operands.push_back(product.bias->desc);
  if (residual == Residual::kRead) operands.push_back(product.dst);
  return operands;
}

// `spec` and `operands` may describe a part of the product.
MaybePrimitive make_primitive(const MatMulSpec& product, const ProductSpec& spec,
                              const std::vector<Desc>& operands, Residual residual) {
  PostOps post_ops;
  for (const Desc& operand : operands)
    post_ops.push_back({PostOp::Kind::kBinary, algorithm::binary_add, 0, 0, operand});
  if (residual == Residual::kInPlace || residual == Residual::kCopied)
    post_ops.push_back({PostOp::Kind::kSum, {}, 0, 0, {}});
  post_ops.insert(post_ops.end(), product.activation.begin(), product.activation.end());
  static auto& answers = *new PrimitiveCache;
  PrimitiveKey question;
  question << spec.src << spec.weights << spec.bias << spec.dst << product.alpha << post_ops;
  return answers.get(question, [&] { return matmul(spec, attributes(post_ops, product.alpha)); });
}

MaybePrimitive make_primitive(const MatMulSpec& product, Residual residual, bool packed) {
  return make_primitive(product, spec_of(product, packed), operands_of(product, residual),
                        residual);
}

Work work_of(const MatMulSpec& product, const Primitive& primitive, Residual residual,
             bool packed) {
  ProductSpec spec = spec_of(product, packed);
  spec.weights = primitive.weights();
  Work work = work_of_product(
      spec, operands_of(product, residual),
      [product, residual](const ProductSpec& part, const std::vector<Desc>& operands) {
        return make_primitive(product, part, operands, residual);
      });
  work.has_fixed_parts = gemm_sums_depend_on_extents() &&
                         primitive.implementation().find("gemm:jit") != std::string::npos;
  return work;
}

// The addend as a place, scaled first where it must be.
SequenceBuilder::Place place_of_addend(SequenceBuilder& builder, const MatMulSpec::Addend& addend) {
  const auto given = builder.input(addend.input, addend.desc);
  if (addend.scale == 1) return given;
  const auto scaled = builder.scratch(addend.desc);
  const MaybePrimitive scale =
      eltwise(algorithm::eltwise_linear, addend.scale, 0, addend.desc, attributes());
  SARDONYX_CHECK(scale);
  builder.step(*scale, {{DNNL_ARG_SRC, given}, {DNNL_ARG_DST, scaled}});
  return scaled;
}

Prepared build(const KernelRequest& request, const MatMulSpec& product, Residual residual) {
  const bool packed = request.inputs[1].constant != nullptr;
  MaybePrimitive primitive = make_primitive(product, residual, packed);
  if (residual == Residual::kRead && way_to_read(primitive) == Residual::kCopied) {
    residual = Residual::kCopied;
    primitive = make_primitive(product, residual, packed);
  }
  if (!primitive) return Prepared::refuse("oneDNN has no matrix product of this form");
  SequenceBuilder builder(request);
  SequenceBuilder::Args args{{DNNL_ARG_SRC, builder.input_as(0, product.a)}};
  args.emplace_back(DNNL_ARG_WEIGHTS, packed ? builder.weights(1, product.b, primitive->weights())
                                             : builder.input_as(1, product.b));
  size_t post_op = 0;
  if (product.bias) {
    const auto place = place_of_addend(builder, *product.bias);
    const bool is_input = takes_bias_as_input(product);
    args.emplace_back(is_input ? DNNL_ARG_BIAS : binary_argument(post_op++), place);
  }
  if (residual == Residual::kRead) {
    args.emplace_back(binary_argument(post_op), builder.input(*product.residual, product.dst));
  }
  const auto dst = builder.output(0, product.dst);
  if (residual == Residual::kCopied)
    builder.copy(builder.input(*product.residual, product.dst), dst);
  args.emplace_back(DNNL_ARG_DST, dst);
  builder.step(*primitive, args, work_of(product, *primitive, residual, packed));
  return builder.finish();
}

// Dims of a matrix operand with batch dims: 1-D operands become rows (a) or columns (b).
Extents matrix_dims(const Shape& shape, bool is_first) {
  if (shape.size() > 1) return shape;
  return is_first ? Extents{1, shape[0]} : Extents{shape[0], 1};
}

Desc operand_desc(memory::data_type type, Extents stored, bool transposed) {
  if (!transposed) return plain_desc(type, stored);
  std::swap(stored[stored.size() - 2], stored[stored.size() - 1]);
  return transposed_desc(type, stored);
}

Prepared prepare_matmul(const KernelRequest& request) {
  if (const char* why = why_unsupported_type(request, request.inputs[0].dtype))
    return Prepared::refuse(why);
  const auto type = data_type_of(request.inputs[0].dtype);
  const MatMulDims operands = matmul_dims(request.inputs[0].shape, request.inputs[1].shape);
  if (operands.a.size() > kMaxRank) return Prepared::refuse("too many batch dims");
  MatMulSpec product;
  product.a = plain_desc(type, operands.a);
  product.b = plain_desc(type, operands.b);
  product.dst = plain_desc(type, operands.dst);
  return prepare_product(request, product);
}

Prepared prepare_fused_matmul(const KernelRequest& request) {
  const auto& attrs = request.attrs<ops::FusedMatMulAttrs>();
  const ops::FusedActivation activation{attrs.activation, attrs.activation_params};
  if (const char* why = why_unsupported_type(request, request.inputs[0].dtype))
    return Prepared::refuse(why);
  const auto type = data_type_of(request.inputs[0].dtype);
  const MatMulDims operands =
      matmul_dims(request.inputs[0].shape, request.inputs[1].shape, attrs.transA, attrs.transB);
  if (operands.a.size() > kMaxRank) return Prepared::refuse("too many batch dims");
  MatMulSpec product;
  product.a = operand_desc(type, operands.a, attrs.transA);
  product.b = operand_desc(type, operands.b, attrs.transB);
  product.dst = plain_desc(type, operands.dst);
  product.alpha = attrs.alpha;
  const bool is_after = is_faster_after(activation, request);
  if (!is_after) {
    if (!find_post_ops(activation)) return Prepared::refuse("oneDNN has no such activation");
    product.activation = post_ops_of(activation);
  }
  if (request.has(2)) {
    const Shape& bias = request.inputs[2].shape;
    if (!ops::is_row(bias, operands.dst.back())) return Prepared::refuse("the bias is not one row");
    Extents dims(operands.dst.size(), 1);
    dims.back() = bias.back();
    product.bias = {2, plain_desc(type, dims)};
  }
  if (request.has(3)) {
    if (request.inputs[3].shape != request.outputs[0].shape) {
      return Prepared::refuse("the residual is repeated");
    }
    product.residual = 3;
  }
  if (element_count(operands.dst) != element_count(request.outputs[0].shape))
    return Prepared::refuse("an addend repeats the product");
  Prepared prepared = prepare_product(request, product);
  return is_after ? with_activation_after(std::move(prepared), activation, request)
                  : std::move(prepared);
}

Prepared prepare_whole(const KernelRequest& request, const MatMulSpec& product) {
  if (!product.residual) return build(request, product, Residual::kNone);
  const auto build_one = [&](const KernelRequest& shared, Residual residual) {
    return build(shared, product, residual);
  };
  return prepare_with_residual(request, *product.residual, product.dst, build_one);
}

constexpr KernelEntry kMatmulKernels[] = {
    {"MatMul", "matmul", guarded<prepare_matmul>},
    {"sardonyx::FusedMatMul", "matmul", guarded<prepare_fused_matmul>},
};

}  // namespace

MatMulDims matmul_dims(const Shape& a_shape, const Shape& b_shape, bool transA, bool transB) {
  MatMulDims result{matrix_dims(a_shape, true), matrix_dims(b_shape, false), {}};
  Extents &a = result.a, &b = result.b;
  const auto batches = [](const Extents& dims) {
    int64_t count = 1;
    for (size_t dim = 0; dim + 2 < dims.size(); ++dim)
      count *= dims[dim];
    return count;
  };
  if (batches(b) == 1) {
    b.erase(b.begin(), b.end() - 2);
    if (!transA) a = {batches(a) * a[a.size() - 2], a.back()};
  }
  const size_t rank = std::max(a.size(), b.size());
  a.insert(a.begin(), rank - a.size(), 1);
  b.insert(b.begin(), rank - b.size(), 1);
  if (rank > 3 && std::equal(a.begin(), a.end() - 2, b.begin())) {
    for (Extents* dims : {&a, &b}) {
      *dims = {batches(*dims), (*dims)[rank - 2], (*dims)[rank - 1]};
    }
  }
  for (size_t dim = 0; dim + 2 < a.size(); ++dim)
    result.dst.push_back(std::max(a[dim], b[dim]));
  result.dst.push_back(a[a.size() - (transA ? 1 : 2)]);
  result.dst.push_back(b[b.size() - (transB ? 2 : 1)]);
  return result;
}

Prepared prepare_product(const KernelRequest& request, const MatMulSpec& product) {
  if (cpu::is_gemv(request))
    return Prepared::refuse(
        "few rows are left to kernels that read the weights as they are stored");
  return prepare_in_blocks(request, product, prepare_whole);
}

std::span<const KernelEntry> matmul_kernels() {
  return kMatmulKernels;
}

}  // namespace sardonyx::onednn
