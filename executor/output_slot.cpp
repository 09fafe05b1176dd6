#include "executor/output_slot.h"

namespace sardonyx {

OutputSlot OutputSlot::bound(Tensor memory) {
  if (!memory.defined()) {
    fail(ErrorCode::kInvalidArgument,
         "an output is bound to an undefined tensor: bind one of the output's type and shape");
  }
  OutputSlot slot;
  slot.memory_ = std::move(memory);
  return slot;
}

void OutputSlot::bind(const Tensor& memory) {
  SARDONYX_CHECK(memory.defined());
  memory_.assign(memory.dtype(), memory.shape(), memory.buffer(), memory.byte_offset());
}

void OutputSlot::clear() {
  memory_.clear();
  value_.clear();
}

bool OutputSlot::is_written() const {
  return is_bound() && value_.is_tensor() && value_.tensor().buffer() == memory_.buffer() &&
         value_.tensor().byte_offset() == memory_.byte_offset() &&
         value_.tensor().dtype() == memory_.dtype() && value_.tensor().shape() == memory_.shape();
}

}  // namespace sardonyx
