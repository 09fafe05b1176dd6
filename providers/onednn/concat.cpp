// Concat of float32 and bfloat16 values in a blocked layout, along any axis that keeps the blocks
// whole.
#include "providers/cpu/data_movement/strided_copy.h"
#include "providers/onednn/float_types.h"
#include "providers/onednn/kernel_list.h"
#include "providers/onednn/layout.h"

namespace sardonyx::onednn {
namespace {

// Concat as strided copies: parts, or whole blocks of them, are strided in every order of the dims.
Prepared as_movement(const KernelRequest& request, const std::vector<Desc>& sources,
                     const Desc& target, size_t axis) {
  std::vector<cpu::Move> moves;
  Prepared prepared;
  int64_t begin = 0;
  for (size_t input = 0; input < sources.size(); ++input) {
    auto block = movement_of_blocks(sources[input], target);
    const auto part = slice(target, axis, begin, sources[input].dims()[axis]);
    if (!block || !part) return Prepared::refuse("an unusual layout");
    block->to_offset =
        static_cast<int64_t>(part->offset / memory::data_type_size(target.data_type()));
    moves.push_back({input, 0, BlockCopy(request.inputs[input].dtype, std::move(*block))});
    prepared.input_layouts.push_back(layout_of(sources[input]));
    begin += sources[input].dims()[axis];
  }
  prepared.kernel = std::make_unique<cpu::MovementKernel>(std::move(moves), request.threads);
  prepared.implementation = "strided";
  prepared.output_layouts = {layout_of(target)};
  return prepared;
}

Prepared prepare_concat(const KernelRequest& request) {
  const Desc* model = nullptr;
  std::optional<Desc> found;
  for (const KernelTensor& input : request.inputs) {
    if (const char* why = why_unsupported_type(request, input.dtype)) return Prepared::refuse(why);
    if (input.layout && !model) model = &found.emplace(desc_of(input));
  }
  if (!model) return Prepared::refuse("no input has a blocked layout");
  int64_t axis = std::get<int64_t>(request.raw_attrs.get("axis").value());
  if (axis < 0) axis += static_cast<int64_t>(request.outputs[0].shape.size());

  const auto target = same_format(*model, request.outputs[0].shape);
  if (!target) return Prepared::refuse("an unusual layout");
  std::vector<Desc> sources;
  for (const KernelTensor& input : request.inputs) {
    sources.push_back(*same_format(*model, input.shape));
    if (axis == 1 &&
        sources.back().get_size() != bytes_for(input.dtype, element_count(input.shape))) {
      return Prepared::refuse("channels do not fill their blocks");
    }
  }
  return as_movement(request, sources, *target, static_cast<size_t>(axis));
}

constexpr KernelEntry kJoinKernels[] = {{"Concat", "concat", guarded<prepare_concat>}};

}  // namespace

std::span<const KernelEntry> concat_kernels() {
  return kJoinKernels;
}

}  // namespace sardonyx::onednn
