// What training does between convolutions, on float32 values whose channels lie in blocks or last:
// they stay as they are from convolution to convolution. Row-major values are left to other
// providers.
#include "ir/ops/normalization.h"
#include "providers/cpu/activation_gradient.h"
#include "providers/cpu/batch_normalization.h"
#include "providers/cpu/pool_gradient.h"
#include "providers/onednn/entries.h"
#include "providers/onednn/layout.h"
#include "providers/onednn/training.h"

namespace sardonyx::onednn {
namespace {

constexpr int64_t kBlock = 16;

// How many channels of one position are neighbours in this layout; 0 where it is none of the known
// ones or the last block is not full.
int64_t neighbours(const KernelTensor& tensor, const LayoutPtr& layout) {
  const Shape& shape = tensor.shape;
  if (!layout || shape.size() < 3 || shape.size() > 5) return 0;
  const Desc desc = desc_of(tensor.dtype, shape, layout);
  if (desc == blocked_desc(desc.data_type(), shape)) return shape[1] % kBlock == 0 ? kBlock : 0;
  if (desc == channels_last_desc(desc.data_type(), shape)) return shape[1];
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
  return in_layout(Prepared::accept(cpu::batch_normalization_in_training(
                                        cpu::ChannelGroups::of(x.shape, kBlock), request),
                                    "blocked"),
                   request, x.layout, {0});
}

Prepared prepare_batch_normalization_grad(const KernelRequest& request) {
  if (!all_float(request)) return Prepared::refuse("only float is computed here");
  const KernelTensor& x = request.inputs[1];
  if (neighbours(x, x.layout) != kBlock) return Prepared::refuse("the channels are not in blocks");
  return in_layout(Prepared::accept(cpu::batch_normalization_gradient(
                                        cpu::ChannelGroups::of(x.shape, kBlock), request),
                                    "blocked"),
                   request, x.layout, {0, 1});
}

Prepared prepare_max_pool_grad(const KernelRequest& request) {
  const KernelTensor& x = request.inputs[1];
  const int64_t lanes = neighbours(x, x.layout);
  if (lanes == 0) return Prepared::refuse(kRowMajor);
  Prepared prepared = cpu::max_pool_gradient(request, lanes);
  const Desc desc = desc_of(x);
  const auto small = same_format(desc, request.inputs[0].shape);
  if (!small) return Prepared::refuse("an unusual layout");
  prepared = in_layout(std::move(prepared), request, x.layout, {1});
  if (prepared.kernel) prepared.input_layouts[0] = layout_of(*small);
  return prepared;
}

Prepared prepare_average_pool_grad(const KernelRequest& request) {
  const KernelTensor& d_y = request.inputs[0];
  const int64_t lanes = neighbours(d_y, d_y.layout);
  if (lanes == 0) return Prepared::refuse(kRowMajor);
  const auto large = same_format(desc_of(d_y), request.outputs[0].shape);
  if (!large) return Prepared::refuse("an unusual layout");
  Prepared prepared =
      in_layout(cpu::average_pool_gradient(request, lanes), request, layout_of(*large), {});
  if (prepared.kernel) prepared.input_layouts[0] = d_y.layout;
  return prepared;
}

// Elements lie alike in all three, so their order does not matter.
Prepared prepare_relu_grad(const KernelRequest& request) {
  if (!all_float(request)) return Prepared::refuse("only float is computed here");
  const LayoutPtr& layout = request.inputs[1].layout;
  if (!layout) return Prepared::refuse(kRowMajor);
  const auto count = static_cast<int64_t>(layout->bytes() / sizeof(float));
  return in_layout(Prepared::accept(cpu::relu_gradient(count, request.threads), "blocked"), request,
                   layout, {0, 1});
}

constexpr KernelEntry kBlockedGradientKernels[] = {
    {"BatchNormalization", "blocked-training", guarded<prepare_batch_normalization>},
    {"sardonyx::BatchNormalizationGrad", "blocked-training",
     guarded<prepare_batch_normalization_grad>},
    {"sardonyx::MaxPoolGrad", "blocked-training", guarded<prepare_max_pool_grad>},
    {"sardonyx::AveragePoolGrad", "blocked-training", guarded<prepare_average_pool_grad, 1>},
    {"sardonyx::ReluGrad", "blocked-training", guarded<prepare_relu_grad>},
};

}  // namespace

std::span<const KernelEntry> blocked_gradient_kernels() {
  return kBlockedGradientKernels;
}

}  // namespace sardonyx::onednn
