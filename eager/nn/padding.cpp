#include "eager/nn/padding.h"

#include "eager/functional/functional.h"
#include "eager/placed.h"
#include "eager/trace/frame.h"
#include "ir/type.h"

namespace sardonyx::eager::nn {

Padding::Padding(const char* name, size_t axes, const Sizes& pads, std::string mode, Number value,
                 Loc loc) try
    : Layer(text(name, axes, "d")),
      axes_(axes),
      pads_(pads.on(2 * axes, INT32_MIN, type_name() + ": pads")),
      mode_(std::move(mode)),
      value_(value) {
  describe(to_text(Shape(pads_)));
} catch (const Error& error) {
  throw placed(error, loc);
}

Tensor Padding::forward(const Tensor& x) const {
  if (x.rank() != axes_ + 2) {
    fail(ErrorCode::kInvalidArgument, text_of(caller()), ": ", type_name(), ": expected x [N, C, ",
         axes_, " spatial axes], got ", x.type(), "; unsqueeze(0) makes a batch of one");
  }
  return pad(x, pads_, mode_, value_, caller());
}

}  // namespace sardonyx::eager::nn
