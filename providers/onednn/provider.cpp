#include "providers/onednn/provider.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "providers/cpu/data_movement/strided_copy.h"
#include "providers/cpu/kernel_list.h"
#include "providers/cpu/size_check.h"
#include "providers/onednn/kernel_list.h"
#include "providers/onednn/layout.h"
#include "providers/onednn/primitive/int8_weights.h"
#include "providers/onednn/primitive/partition_axes.h"
#include "providers/onednn/primitive/primitive_sequence.h"

namespace sardonyx {
namespace onednn {
namespace {

constexpr const char* kForeignLayout = "a tensor has a layout of another provider";

}  // namespace

Prepared prepare_guarded(const KernelRequest& request, size_t checked,
                         Prepared (*prepare)(const KernelRequest&)) {
  if (const char* why = cpu::unsupported_size(request, checked)) return Prepared::refuse(why);
  for (const KernelTensor& input : request.inputs) {
    if (is_foreign(input.layout)) return Prepared::refuse(kForeignLayout);
  }
  try {
    return prepare(request);
  } catch (const dnnl::error& error) {
    if (error.status == dnnl_out_of_memory) {
      fail(ErrorCode::kResourceExhausted, "oneDNN: out of memory while a kernel is prepared");
    }
    return Prepared::refuse(text("oneDNN: ", error.message));
  }
}

namespace {

// A change of layout without blocks is a transposition, which oneDNN does one element at a time.
std::optional<Prepared> as_movement(DType dtype, const Desc& from, const Desc& to, int threads) {
  auto block = movement_between(from, to);
  if (!block) return std::nullopt;
  std::vector<cpu::Move> moves;
  moves.push_back({0, 0, BlockCopy(dtype, std::move(*block))});
  return Prepared::accept(std::make_unique<cpu::MovementKernel>(std::move(moves), threads),
                          "strided");
}

Prepared prepare_reorder_guarded(DType dtype, const Shape& shape, const LayoutPtr& from,
                                 const LayoutPtr& to, int threads) {
  // If the layout has other dims than the shape, the row-major side is described with the layout's
  // dims.
  const Desc known = desc_of(dtype, shape, from ? from : to);
  const auto side = [&](const LayoutPtr& layout) {
    return layout ? desc_of(dtype, shape, layout) : plain_desc(known.data_type(), known.dims());
  };
  if (auto moved = as_movement(dtype, side(from), side(to), threads)) return std::move(*moved);
  const MaybePrimitive primitive = reorder(side(from), side(to), attributes());
  if (!primitive) {
    return Prepared::refuse(text("oneDNN has no reorder from ", layout_text(side(from)), " to ",
                                 layout_text(side(to)), " for ", dtype));
  }
  SequenceBuilder builder(threads);
  const auto source = builder.input(0, side(from));
  const auto target = builder.output(0, side(to));
  builder.step(*primitive, {{DNNL_ARG_FROM, source}, {DNNL_ARG_TO, target}},
               work_of_copy(side(from), side(to)));
  return builder.finish();
}

Prepared prepare_reorder(DType dtype, const Shape& shape, const LayoutPtr& from,
                         const LayoutPtr& to, int threads) {
  if (data_type_of(dtype) == memory::data_type::undef) {
    return Prepared::refuse(text("oneDNN has no ", dtype));
  }
  if (is_foreign(from) || is_foreign(to)) return Prepared::refuse(kForeignLayout);
  try {
    return prepare_reorder_guarded(dtype, shape, from, to, threads);
  } catch (const dnnl::error& error) {
    return Prepared::refuse(text("oneDNN: ", error.message));
  }
}

}  // namespace

}  // namespace onednn

void load_onednn() {
  onednn::library();
}

bool onednn_computes_bfloat16() {
  return onednn::has_bfloat16();
}

bool onednn_uses_amx() {
  return dnnl::get_effective_cpu_isa() == dnnl::cpu_isa::avx512_core_amx;
}

std::string onednn_version() {
  const dnnl::version_t& version = *dnnl::version();
  return text("oneDNN ", version.major, ".", version.minor, ".", version.patch, " ", version.hash,
              ", instructions ", static_cast<unsigned>(dnnl::get_effective_cpu_isa()));
}

const Provider& onednn_provider() {
  static const auto& entries = *new std::vector<KernelEntry>([] {
    std::vector<KernelEntry> all;
    for (const auto& family : {cpu::dwconv_kernels(),
                               cpu::conv_1x1_nchw_kernels(),
                               cpu::conv_1x1_kernels(),
                               cpu::fully_connected_kernels(),
                               onednn::copy_in_layout_kernels(),
                               onednn::conv_kernels(),
                               cpu::conv_transpose_nchw_kernels(),
                               cpu::conv_transpose_kernels(),
                               onednn::conv_transpose_bf16_kernels(),
                               onednn::conv_transpose_kernels(),
                               onednn::matmul_kernels(),
                               onednn::gemm_kernels(),
                               cpu::reduce_in_layout_kernels(),
                               cpu::pool_nhwc_kernels(),
                               onednn::pooling_kernels(),
                               onednn::normalization_kernels(),
                               cpu::elementwise_in_layout_kernels(),
                               onednn::elementwise_kernels(),
                               onednn::concat_kernels(),
                               onednn::einsum_kernels(),
                               onednn::resampling_kernels(),
                               onednn::matmul_integer_kernels(),
                               onednn::qlinear_kernels(),
                               cpu::qlinear_avg_pool_kernels(),
                               onednn::matmul_integer_to_float_kernels(),
                               cpu::qlinear_concat_kernels(),
                               onednn::conv_backward_kernels(),
                               cpu::gradients_in_layout_kernels(),
                               onednn::rnn_backward_kernels()}) {
      all.insert(all.end(), family.begin(), family.end());
    }
    return all;
  }());
  static const Provider provider{"onednn", entries, onednn::prepare_reorder};
  return provider;
}

}  // namespace sardonyx
