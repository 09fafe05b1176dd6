// Numbers to and from the strings of ONNX Cast.
#pragma once

#include <string>

#include "ir/core/dtype_convert.h"

namespace sardonyx::ops {

// Reads each string as a number of dtype `to`. Floating types take decimal numbers and, in any case
// of letters, "inf", "infinity" and "nan" with an optional sign; integers also take what is written
// as a floating number, truncated; bool also takes "true" and "false". Blanks around the number are
// skipped. Throws kInvalidArgument for anything else.
void numbers_from_text(const std::string* texts, DType to, void* numbers, int64_t count,
                       const ConvertOptions& options);

// Integers and bool in decimal. Floating numbers with the fewest digits that read back to the same
// number of their type, plain where the decimal exponent is in [-5, 16), else as "1.5e+20";
// "NaN", "INF", "-INF".
void numbers_to_text(DType from, const void* numbers, std::string* texts, int64_t count);

}  // namespace sardonyx::ops
