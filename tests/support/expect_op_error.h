// For tests of calls that are refused: tables of them.
#pragma once

#include <string>
#include <vector>

#include "tests/support/call_op.h"
#include "tests/support/expect_error.h"

namespace sardonyx {

// A call, and a part of the message that it ends with.
struct Refused {
  const char* op;
  std::vector<Datum> inputs;
  AttrMap attrs;
  const char* mention;
  ErrorCode code = ErrorCode::kInvalidModel;
  size_t outputs = 1;
};

inline constexpr ErrorCode kBadArgument = ErrorCode::kInvalidArgument,
                           kBadModel = ErrorCode::kInvalidModel,
                           kNotSupported = ErrorCode::kUnsupported;

inline void expect_refused(const std::vector<Refused>& calls) {
  for (const Refused& call : calls) {
    SCOPED_TRACE(call.op);
    expect_refusal(call.code, call.mention,
                   [&] { run_op(call.op, call.inputs, call.attrs, call.outputs); });
  }
}

// The same where only the types of the inputs are known.
struct RefusedTypes {
  const char* op;
  std::vector<Type> inputs;
  AttrMap attrs;
  const char* mention;
  ErrorCode code = ErrorCode::kInvalidModel;
  size_t outputs = 1;
};

inline void expect_refused(const std::vector<RefusedTypes>& calls) {
  for (const RefusedTypes& call : calls) {
    SCOPED_TRACE(call.op);
    expect_refusal(call.code, call.mention, [&] {
      const OpDef& op = op_named(call.op);
      std::vector<InferInput> inputs;
      for (const Type& type : call.inputs)
        inputs.push_back({type, nullptr, nullptr});
      infer(op, Attrs::parse(*op.attrs, call.attrs), inputs, inputs.size(), call.outputs,
            [] { return Dim::symbol("u"); });
    });
  }
}

// ---- inputs ----

using Ints = std::vector<int64_t>;
using Floats = std::vector<float>;
using Strings = std::vector<std::string>;

inline Datum zeros(const Shape& shape, DType dtype = DType::kFloat) {
  return Tensor::zeros(dtype, shape);
}
inline Datum ints(const Ints& values) {
  return Tensor::vector(values);
}
inline Datum floats(const Floats& values) {
  return Tensor::vector(values);
}
inline Datum strings(const Strings& values) {
  return Tensor::vector(values);
}
inline Datum none() {
  return {};
}

}  // namespace sardonyx
