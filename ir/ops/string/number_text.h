// Numbers to and from the strings of ONNX Cast.
#pragma once

#include <string>

#include "ir/core/dtype_convert.h"

namespace sardonyx::ops {

// Reads the number that each string begins with, behind blanks, as dtype `to`; what follows it is
// not looked at, as in ONNX Runtime. Floating types take decimal and hexadecimal numbers
// ("0x1.8p3") and, in any case of letters, "inf", "infinity" and "nan" with an optional sign;
// integers and bool take decimal integers of up to 64 bits, of which narrower types keep the low
// bits; bool also takes "true" and "false". Throws kInvalidArgument where there is no number, and
// for one that is too large for 64 bits, or for double.
void numbers_from_text(const std::string* texts, DType to, void* numbers, int64_t count,
                       const ConvertOptions& options);

// Integers and bool in decimal. Float with the fewest digits that read back to the same number, as
// ONNX's own case has it; all other floating types rounded to 8 significant digits, as ONNX Runtime
// writes all. Plain where the decimal exponent is in [-4, 8), else as "1.5e+20"; "NaN", "INF",
// "-INF".
void numbers_to_text(DType from, const void* numbers, std::string* texts, int64_t count);

}  // namespace sardonyx::ops
