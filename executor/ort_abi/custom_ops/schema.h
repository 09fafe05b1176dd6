// What the operators that a program registered under one name say of a node: ONNX Runtime
// makes one schema of them, whose kernels differ by types alone.
#pragma once

#include <span>

#include "executor/ort_abi/table/ort_c_api.h"
#include "onnx_io/custom_ops.h"

namespace sardonyx::ort_abi {

// Throws Failure where they differ in how many inputs and outputs they have, or in which of these
// may be omitted or repeated.
void check_one_schema(const OrtCustomOp& first, const OrtCustomOp& other);

// Throws Error where the node has too few or too many inputs or outputs, or inputs of types that
// none of `ops` takes. All have one schema.
void check_call(std::span<const OrtCustomOp* const> ops, const CustomCall& call);

// Does the operator declare this input of the type, or of any?
bool takes_input(const OrtCustomOp& op, size_t index, const Type& type);

}  // namespace sardonyx::ort_abi
