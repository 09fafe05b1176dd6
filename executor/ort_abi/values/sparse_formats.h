// What the formats of sparse tensors say of their elements.
#pragma once

#include "executor/ort_abi/values/sparse.h"

namespace sardonyx::ort_abi {

// Throws where indices are outside of the shape, or don't belong to the values.
void check_sparse_parts(const SparseParts& parts, const Shape& dense);
// The same elements by coordinates. The parts are checked.
Datum coordinates_of(const SparseParts& parts, const Shape& dense);

}  // namespace sardonyx::ort_abi
