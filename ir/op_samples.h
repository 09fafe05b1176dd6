// Makes the inputs that a row's samples describe, for tests and benchmarks that walk the op table.
#pragma once

#include <vector>

#include "ir/op_def.h"

namespace sardonyx {

// One list of inputs for each choice of element types: there are as many choices as the type
// constraint with the most types has (within `sample.only` for the first input's); the others are
// gone through alongside, so that every type of every constraint occurs. Values depend on nothing
// but the sample and the types. Integers are in the sample's range too, cut to what their type
// holds.
//
// Empty where the row's inputs are no tensors, or where nothing in `sample.only` is allowed.
std::vector<std::vector<Datum>> sample_inputs(const OpDef& op, const Sample& sample);

// A tensor of numbers drawn evenly from [low, high]; strings are such numbers in decimal.
Tensor drawn_tensor(DType dtype, const Shape& shape, double low, double high, uint64_t seed);

}  // namespace sardonyx
