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

bool OutputSlot::is_written() const {
  return is_bound() && value_.is_tensor() && value_.tensor().buffer() == memory_.buffer() &&
         value_.tensor().byte_offset() == memory_.byte_offset() &&
         value_.tensor().dtype() == memory_.dtype() && value_.tensor().shape() == memory_.shape();
}

}  // namespace sardonyx
