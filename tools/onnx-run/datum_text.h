// Values for people to read.
#pragma once

#include <string>

#include "ir/datum.h"

namespace sardonyx::tool {

// Type and range in one line: "float[1, 1000], 0.0001 to 0.93, mean 0.001".
std::string summary_of(const Datum& datum);

// All elements of small values, the first and last ones of large.
std::string contents_of(const Datum& datum);

// Does a floating tensor in it hold a NaN / an infinity?
struct NonFinite {
  bool has_nan = false, has_infinity = false;
  explicit operator bool() const { return has_nan || has_infinity; }
};
NonFinite non_finite_in(const Datum& datum);

}  // namespace sardonyx::tool
