// Elements of tensors as JSON text.
#pragma once

#include <string>
#include <string_view>

#include "ir/core/tensor.h"

namespace sardonyx::serve {

// The tensor that a JSON array gives: nested as the shape says, or flat. Numbers are rounded to
// nearest, once; integers are exact. `allows_nan`: NaN, Infinity and -Infinity may stand for
// floats. Throws ServingError kInvalidArgument, naming `what` and the element, for anything else.
Tensor tensor_from_json(DType dtype, Shape shape, std::string_view text, std::string_view what,
                        bool allows_nan);

// Appends a flat array. Throws ServingError kUnsupported for NaN and infinities unless
// `allows_nan`, and for strings that are no UTF-8.
void append_json_data(const Tensor& tensor, std::string& out, std::string_view what,
                      bool allows_nan);

// The string that begins at `text`, with its quotes, and where it ends. Throws ServingError
// kInvalidArgument.
std::string unescaped_json(std::string_view& text);

}  // namespace sardonyx::serve
