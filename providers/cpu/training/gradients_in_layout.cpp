// Kernels for training between convolutions, on float32 values whose channels are in blocks or
// last: the values keep their layout from convolution to convolution. Row-major values are left to
// other providers.
#include "ir/ops/normalization/batch_group_norm.h"
#include "providers/cpu/elementwise/relu_grad.h"
#include "providers/cpu/kernel_list.h"
#include "providers/cpu/normalization/batch_norm_training.h"
#include "providers/cpu/pooling/pool_grad.h"
#include "providers/cpu/size_check.h"

namespace sardonyx::cpu {
namespace {

constexpr int64_t kBlock = ImageLayout::kChannelBlock;

// The number of channels of one position that are adjacent in this layout; 0 where it is none of
// the known ones or the last block is not full.
int64_t neighbours(const KernelTensor& tensor, const LayoutPtr& layout) {
  const Shape& shape = tensor.shape;
  if (!layout || shape.size() < 3 || shape.size() > 5) return 0;
  switch (layout->kind()) {
    case Layout::Kind::kNCHW16c:
      return shape[1] % kBlock == 0 ? kBlock : 0;
    case Layout::Kind::kNHWC:
      return shape[1];
    case Layout::Kind::kOpaque:
      break;
  }
  return 0;
}

// The kernel with `layout` for these inputs and output 0; the others are lists.
Prepared in_layout(Prepared prepared, const KernelRequest& request, const LayoutPtr& layout,
                   std::initializer_list<size_t> inputs) {
  if (!prepared.kernel) return prepared;
  prepared.input_layouts.resize(request.inputs.size());
  prepared.output_layouts.resize(request.outputs.size());
  for (const size_t input : inputs)
    prepared.input_layouts[input] = layout;
  prepared.output_layouts[0] = layout;
  return prepared;
}

bool all_float(const KernelRequest& request) {
  for (const KernelTensor& input : request.inputs) {
    if (input && input.dtype != DType::kFloat) return false;
  }
  return true;
}

constexpr const char* kRowMajor = "no input has a layout of channels that are neighbours";

Prepared prepare_batch_normalization(const KernelRequest& request) {
  if (!request.attrs<ops::BatchNormalizationAttrs>().training_mode)
    return Prepared::refuse("only training mode is computed here");
  if (!all_float(request)) return Prepared::refuse("only float is computed here");
  const KernelTensor& x = request.inputs[0];
  if (neighbours(x, x.layout) != kBlock) return Prepared::refuse("the channels are not in blocks");
  return in_layout(
      Prepared::accept(batch_normalization_in_training(ChannelGroups::of(x.shape, kBlock), request),
                       "blocked"),
      request, x.layout, {0});
}

Prepared prepare_batch_normalization_grad(const KernelRequest& request) {
  if (!all_float(request)) return Prepared::refuse("only float is computed here");
  const KernelTensor& x = request.inputs[1];
  if (neighbours(x, x.layout) != kBlock) return Prepared::refuse("the channels are not in blocks");
  return in_layout(
      Prepared::accept(batch_normalization_gradient(ChannelGroups::of(x.shape, kBlock), request),
                       "blocked"),
      request, x.layout, {0, 1});
}

Prepared prepare_max_pool_grad(const KernelRequest& request) {
  const KernelTensor& x = request.inputs[1];
  const int64_t lanes = neighbours(x, x.layout);
  if (lanes == 0) return Prepared::refuse(kRowMajor);
  Prepared prepared = in_layout(max_pool_gradient(request, lanes), request, x.layout, {1});
  const KernelTensor& d_y = request.inputs[0];
  if (prepared.kernel)
    prepared.input_layouts[0] = image_layout(x.layout->kind(), d_y.dtype, d_y.shape);
  return prepared;
}

Prepared prepare_average_pool_grad(const KernelRequest& request) {
  const KernelTensor& d_y = request.inputs[0];
  const int64_t lanes = neighbours(d_y, d_y.layout);
  if (lanes == 0) return Prepared::refuse(kRowMajor);
  const KernelTensor& d_x = request.outputs[0];
  Prepared prepared = in_layout(average_pool_gradient(request, lanes), request,
                                image_layout(d_y.layout->kind(), d_x.dtype, d_x.shape), {});
  if (prepared.kernel) prepared.input_layouts[0] = d_y.layout;
  return prepared;
}

// Elements have one layout in all three, so their order does not matter.
Prepared prepare_relu_grad(const KernelRequest& request) {
  if (!all_float(request)) return Prepared::refuse("only float is computed here");
  const LayoutPtr& layout = request.inputs[1].layout;
  if (!layout) return Prepared::refuse(kRowMajor);
  const auto count = static_cast<int64_t>(layout->bytes() / sizeof(float));
  return in_layout(Prepared::accept(relu_gradient(count, request.threads), "blocked"), request,
                   layout, {0, 1});
}

constexpr KernelEntry kBlockedGradientKernels[] = {
    {"BatchNormalization", "gradients_in_layout", size_checked<prepare_batch_normalization>},
    {"sardonyx::BatchNormalizationGrad", "gradients_in_layout",
     size_checked<prepare_batch_normalization_grad>},
    {"sardonyx::MaxPoolGrad", "gradients_in_layout", size_checked<prepare_max_pool_grad>},
    {"sardonyx::AveragePoolGrad", "gradients_in_layout",
     size_checked<prepare_average_pool_grad, 1>},
    {"sardonyx::ReluGrad", "gradients_in_layout", size_checked<prepare_relu_grad>},
};

}  // namespace

std::span<const KernelEntry> gradients_in_layout_kernels() {
  return kBlockedGradientKernels;
}

}  // namespace sardonyx::cpu
