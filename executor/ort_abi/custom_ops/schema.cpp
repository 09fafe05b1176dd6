#include "executor/ort_abi/custom_ops/schema.h"

#include <algorithm>
#include <climits>
#include <utility>

#include "executor/ort_abi/custom_ops/custom_op.h"
#include "executor/ort_abi/status.h"
#include "executor/ort_abi/values/element_type.h"

namespace sardonyx::ort_abi {
namespace {

// One side of an operator: its inputs or its outputs.
struct OpSide {
  const char* name;
  size_t count;
  OrtCustomOpInputOutputCharacteristic (*kind)(const OrtCustomOp& op, size_t index);
  int least;  // of what is repeated
  bool is_homogeneous;

  bool is_variadic(const OrtCustomOp& op) const {
    return count > 0 && kind(op, count - 1) == INPUT_OUTPUT_VARIADIC;
  }
};

OpSide inputs_of(const OrtCustomOp& op) {
  const bool has_arity = op.version >= 14;
  return {"input", op.GetInputTypeCount(&op), input_kind,
          has_arity && op.GetVariadicInputMinArity ? op.GetVariadicInputMinArity(&op) : 1,
          !has_arity || !op.GetVariadicInputHomogeneity || op.GetVariadicInputHomogeneity(&op)};
}

OpSide outputs_of(const OrtCustomOp& op) {
  const bool has_arity = op.version >= 14;
  return {"output", op.GetOutputTypeCount(&op), output_kind,
          has_arity && op.GetVariadicOutputMinArity ? op.GetVariadicOutputMinArity(&op) : 1,
          !has_arity || !op.GetVariadicOutputHomogeneity || op.GetVariadicOutputHomogeneity(&op)};
}

const char* kind_text(OrtCustomOpInputOutputCharacteristic kind) {
  if (kind == INPUT_OUTPUT_VARIADIC) return "variadic";
  return kind == INPUT_OUTPUT_OPTIONAL ? "optional" : "required";
}

void check_side(const OrtCustomOp& first, const OrtCustomOp& other,
                OpSide (*side_of)(const OrtCustomOp&)) {
  const OpSide expected = side_of(first), got = side_of(other);
  const char* const name = first.GetName(&first);
  if (got.count != expected.count) {
    refuse(ORT_FAIL, "custom op ", name, ": ", got.name, " count does not match: expected ",
           expected.count, " as of its first kernel, got ", got.count);
  }
  for (size_t i = 0; i < got.count; ++i) {
    if (got.kind(other, i) == expected.kind(first, i)) continue;
    refuse(ORT_FAIL, "custom op schemas mismatch: ", name, ": expected ", got.name, " ", i,
           " to be ", kind_text(expected.kind(first, i)), " as of its first kernel, got ",
           kind_text(got.kind(other, i)));
  }
  if (!got.is_variadic(other)) return;
  if (got.least != expected.least || got.is_homogeneous != expected.is_homogeneous) {
    refuse(ORT_FAIL, "custom op schemas mismatch: ", name, ": expected the variadic ", got.name,
           " to keep the arity and the homogeneity of its first kernel");
  }
}

// How many a node may have. One that may be omitted counts where a required one stands behind it.
struct Arity {
  int64_t least = 0, most = 0;
};

Arity arity_of(const OrtCustomOp& op, const OpSide& side) {
  Arity arity;
  for (size_t i = 0; i < side.count; ++i) {
    const OrtCustomOpInputOutputCharacteristic kind = side.kind(op, i);
    if (kind == INPUT_OUTPUT_VARIADIC) {
      arity.least = arity.most + side.least;
      arity.most = INT_MAX;
      continue;
    }
    ++arity.most;
    if (kind == INPUT_OUTPUT_REQUIRED) arity.least = arity.most;
  }
  return arity;
}

void check_count(const OrtCustomOp& op, const CustomCall& call, const OpSide& side, size_t count) {
  const Arity arity = arity_of(op, side);
  if (std::cmp_greater_equal(count, arity.least) && std::cmp_less_equal(count, arity.most)) return;
  fail(ErrorCode::kInvalidModel, "Error Node(", call.node, ") with schema(", call.domain,
       "::", call.op, ":", std::max(start_version(op), 1), ") has ", side.name, " size ", count,
       " not in range [min=", arity.least, ", max=", arity.most, "].");
}

std::string written_type(const Type& type) {
  return type.is_tensor() ? tensor_type_text(type.dtype) : type.text();
}

// Inputs that are one variadic parameter of any type have the same type, unless the operator says
// that they need not.
void check_homogeneity(const OrtCustomOp& op, const CustomCall& call, const OpSide& side) {
  if (!side.is_variadic(op) || !side.is_homogeneous) return;
  const Type* first = nullptr;
  for (size_t i = side.count - 1; i < call.inputs.size(); ++i) {
    const Type& type = call.inputs[i];
    if (type.is_none()) continue;
    if (!first) first = &type;
    if (same_kind(*first, type)) continue;
    fail(ErrorCode::kInvalidModel, "Type parameter (Input", side.count - 1, ") of Optype (",
         call.op, ") bound to different types (", written_type(*first), " and ", written_type(type),
         " in node (", call.node, ").");
  }
}

}  // namespace

bool takes_input(const OrtCustomOp& op, size_t index, const Type& type) {
  const ONNXTensorElementDataType wanted = op.GetInputType(&op, index);
  if (wanted == ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED) return true;
  // As dtype_of_element reads it, but a number that no tensor has takes nothing.
  return type.is_tensor() && static_cast<DType>(wanted) == type.dtype;
}

void check_one_schema(const OrtCustomOp& first, const OrtCustomOp& other) {
  check_side(first, other, inputs_of);
  check_side(first, other, outputs_of);
}

void check_call(std::span<const OrtCustomOp* const> ops, const CustomCall& call) {
  const OrtCustomOp& op = *ops.front();
  const OpSide inputs = inputs_of(op);
  check_count(op, call, inputs, call.inputs.size());
  check_count(op, call, outputs_of(op), call.output_names.size());
  for (size_t i = 0; i < call.inputs.size(); ++i) {
    const size_t declared = std::min(i, inputs.count - 1);
    if (call.inputs[i].is_none()) {
      if (inputs.kind(op, declared) != INPUT_OUTPUT_REQUIRED) continue;
      fail(ErrorCode::kInvalidModel, "Error Node (", call.node, ")'s input ", i,
           " is marked single but has an empty string in the graph");
    }
    const bool is_taken = std::ranges::any_of(ops, [&](const OrtCustomOp* kernel) {
      return takes_input(*kernel, declared, call.inputs[i]);
    });
    if (is_taken) continue;
    fail(ErrorCode::kInvalidModel, "Type '", written_type(call.inputs[i]), "' of input parameter (",
         call.input_names[i], ") of operator (", call.op, ") in node (", call.node,
         ") is invalid.");
  }
  check_homogeneity(op, call, inputs);
}

}  // namespace sardonyx::ort_abi
