// Elementwise ops, and fused groups of them, in the layout of their operands, so that a chain of
// convolutions needs no reorders. In memory order such values are row-major tensors of other dims,
// and an operand with one element for each channel is broadcast along the others; so the kernels of
// plain rows compute them.
#include <algorithm>

#include "providers/cpu/kernel_list.h"
#include "providers/cpu/provider.h"
#include "providers/cpu/size_check.h"

namespace sardonyx::cpu {
namespace {

enum class Order { kAny, kChannelsLast, kBlocks };

// The layout that all full-size operands share; null if none has one.
LayoutPtr layout_of_whole(const KernelRequest& request) {
  for (const KernelTensor& input : request.inputs) {
    if (input.layout && input.shape == request.outputs[0].shape) return input.layout;
  }
  return nullptr;
}

bool has_one_element(const KernelTensor& tensor) {
  return element_count(tensor.shape) == 1;
}

// Whether `shape` has one element for each channel, or for each channel and image, of `whole`.
bool is_per_channel(const Shape& shape, const Shape& whole) {
  const size_t rank = whole.size();
  if (rank < 3 || shape.size() + 1 < rank || shape.size() > rank) return false;
  const size_t channel = shape.size() == rank ? 1 : 0;
  for (size_t dim = 0; dim < shape.size(); ++dim) {
    const bool repeats = shape[dim] == 1 && dim != channel;
    const bool is_image = dim < channel && shape[dim] == whole[0];
    if (!repeats && !is_image && (dim != channel || shape[dim] != whole[1])) return false;
  }
  return true;
}

// The dims of a row-major tensor with the memory order of `shape` in `order`.
Shape dims_in(Order order, Shape shape, size_t rank) {
  if (order == Order::kAny) return shape;
  shape.insert(shape.begin(), rank - shape.size(), 1);
  const int64_t channels = shape[1];
  if (order == Order::kBlocks) {
    shape[1] = channels / ImageLayout::kChannelBlock;
    shape.push_back(ImageLayout::kChannelBlock);
  } else {
    shape.erase(shape.begin() + 1);
    shape.push_back(channels);
  }
  return shape;
}

std::optional<Order> order_of(const KernelRequest& request, const LayoutPtr& layout) {
  const KernelTensor& target = request.outputs[0];
  const auto bytes = static_cast<size_t>(element_count(target.shape) * bits_of(target.dtype) / 8);
  if (layout->bytes() != bytes) return std::nullopt;  // there are gaps
  const auto is_whole = [&](const KernelTensor& input) {
    return has_one_element(input) || input.shape == target.shape;
  };
  if (std::ranges::all_of(request.inputs, is_whole)) return Order::kAny;
  switch (layout->kind()) {
    case Layout::Kind::kNHWC:
      return Order::kChannelsLast;
    case Layout::Kind::kNCHW16c:
      return Order::kBlocks;
    case Layout::Kind::kOpaque:
      break;
  }
  return std::nullopt;
}

const char* why_unsupported_layouts(const KernelRequest& request) {
  const KernelTensor& target = request.outputs[0];
  for (const KernelTensor& input : request.inputs) {
    if (has_one_element(input) || is_per_channel(input.shape, target.shape)) continue;
    if (input.shape != target.shape) return "an operand repeats along other dims than the images'";
    if (input.dtype != target.dtype) return "operands of several types";
  }
  for (const KernelTensor& output : request.outputs) {
    if (output.dtype != target.dtype) return "results of several types";
  }
  return nullptr;
}

// Whether output 0 may have the type of input 0, as far as the op's signature says.
bool may_keep_type(const OpDef& op) {
  const Signature& signature = signature_of(op);
  const Param &input = signature.inputs[0], &output = signature.outputs[0];
  return input.type == output.type || input.variadic;
}

Prepared prepare_in_layout(const KernelRequest& request) {
  const LayoutPtr layout = request.layouts ? layout_of_whole(request) : nullptr;
  if (!layout) return Prepared::refuse("no operand has a layout");
  if (const char* why = why_unsupported_layouts(request)) return Prepared::refuse(why);
  const auto order = order_of(request, layout);
  if (!order) return Prepared::refuse("an unusual layout");
  const Shape& whole = request.outputs[0].shape;
  std::vector<KernelTensor> inputs(request.inputs.begin(), request.inputs.end());
  std::vector<KernelTensor> outputs(request.outputs.begin(), request.outputs.end());
  std::vector<LayoutPtr> wanted;
  for (KernelTensor& input : inputs) {
    wanted.push_back(input.shape == whole && !has_one_element(input) ? layout : nullptr);
    input.layout = nullptr;
    if (!has_one_element(input)) input.shape = dims_in(*order, input.shape, whole.size());
  }
  for (KernelTensor& output : outputs)
    output.shape = dims_in(*order, output.shape, whole.size());
  KernelRequest in_order = request;
  in_order.inputs = inputs;
  in_order.outputs = outputs;
  Prepared prepared = prepare_portable(in_order);
  if (!prepared.kernel) return prepared;
  prepared.input_layouts = std::move(wanted);
  prepared.output_layouts.assign(outputs.size(), layout);
  return prepared;
}

}  // namespace

std::span<const KernelEntry> elementwise_in_layout_kernels() {
  static const auto& entries = *new std::vector<KernelEntry>([] {
    std::vector<KernelEntry> all;
    for (const KernelEntry& entry : cpu_provider().kernels) {
      const OpDef& op = op_named(entry.op);
      if (!op.is(kElementwise) || !may_keep_type(op)) continue;
      if (std::ranges::find(all, entry.op, &KernelEntry::op) == all.end())
        all.push_back({entry.op, "elementwise_in_layout", prepare_in_layout});
    }
    return all;
  }());
  return entries;
}

}  // namespace sardonyx::cpu
