#include "providers/cpu/elementwise/broadcast_loop.h"

#include "ir/core/strides.h"

namespace sardonyx::cpu {

std::optional<BroadcastLoop> BroadcastLoop::of(const Shape& target,
                                               std::span<const Shape* const> operands) {
  struct Merged {
    int64_t size;
    std::array<int64_t, kMaxOperands> strides{};
  };
  std::vector<Strides> strides;
  for (const Shape* operand : operands)
    strides.push_back(broadcast_strides(*operand, target));
  std::vector<Merged> dims;  // outermost first
  for (size_t axis = 0; axis < target.size(); ++axis) {
    if (target[axis] == 1) continue;
    Merged dim{target[axis]};
    for (size_t k = 0; k < operands.size(); ++k)
      dim.strides[k] = strides[k][axis];
    const auto goes_on = [&](const Merged& outer) {
      for (size_t k = 0; k < operands.size(); ++k) {
        if (outer.strides[k] != dim.strides[k] * dim.size) return false;
      }
      return true;
    };
    if (!dims.empty() && goes_on(dims.back())) {
      dim.size *= dims.back().size;
      dims.back() = dim;
    } else {
      dims.push_back(dim);
    }
  }
  BroadcastLoop grid;
  if (!dims.empty()) {
    grid.length = dims.back().size;
    for (size_t k = 0; k < operands.size(); ++k)
      grid.steps[k] = dims.back().strides[k] != 0;
    dims.pop_back();
  }
  if (dims.size() > kMaxOuterDims) return std::nullopt;
  grid.outer_rank = dims.size();
  for (size_t i = 0; i < dims.size(); ++i) {
    grid.outer[i] = dims[i].size;
    grid.strides[i] = dims[i].strides;
    grid.rows *= dims[i].size;
  }
  return grid;
}

}  // namespace sardonyx::cpu
