// Tensors of any numeric type as doubles, for kernels that blend elements. A complex tensor is
// taken as two real ones, its parts.
#pragma once

#include <memory_resource>
#include <vector>

#include "ir/core/tensor.h"

namespace sardonyx::ops {

// Numbers, bool and complex numbers: what can be blended.
DTypeSet blendable_types();
// 2 for complex types, else 1.
int part_count(DType dtype);
// Part `part` of every element, in scratch memory; bool is 0 or 1.
std::pmr::vector<double> to_reals(const TensorView& view, int part);
// The way back: floats are rounded once, integers cut towards zero and held in their range, and
// what is not 0 is true.
void from_reals(const double* values, const TensorView& view, int part);

}  // namespace sardonyx::ops
