// Compares values within tolerances: what tests, exports and the command line mean by "the same".
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "ir/datum.h"

namespace sardonyx {

// got and expected agree where |got - expected| <= atol + rtol*|expected| +
// relative_to_max*max|expected|; the maximum is taken over the finite elements of the tensor.
struct Tolerance {
  double rtol = 1e-3;
  double atol = 1e-7;
  double relative_to_max = 0;
};

// How far the floating elements of one value are apart. Elements that are equal, NaN in both, or
// the same infinity count as no error; a NaN or infinity in one only counts as an infinite one.
struct Deviation {
  double max_absolute = 0;
  double mean_absolute = 0;
  double max_relative = 0;  // |got - expected| / |expected| where expected is not 0
  double max_expected = 0;  // the largest finite |expected|
  int64_t elements = 0;
  int64_t mismatches = 0;  // elements beyond the tolerance
};

struct Comparison {
  std::string reason;  // empty: they agree; else the first difference, in one line
  Deviation deviation;
  explicit operator bool() const { return reason.empty(); }
};

// Kinds, element types, shapes, integers, bools and strings must be equal; floating and complex
// elements agree within `tolerance`. Sequences are compared item by item, maps key by key.
Comparison compare(const Datum& got, const Datum& expected, const Tolerance& tolerance);

// Kinds, element types and shapes only.
Comparison compare_types(const Datum& got, const Datum& expected);

// Names an element of a tensor by its index in row-major order: "element [1, 0]".
std::string position_text(std::span<const int64_t> shape, int64_t index);

}  // namespace sardonyx
