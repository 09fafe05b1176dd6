// Where files deviate from ONNX in ways that leave their meaning clear: each deviation has a name,
// is told to the caller, and is refused where the options are strict. docs/leniency.md lists them.
#pragma once

#include <string_view>

#include "ir/core/error.h"
#include "onnx_io/load.h"

namespace sardonyx::onnx_import {

inline constexpr std::string_view kDeclaredShape = "declared-shape";
inline constexpr std::string_view kMissingOpsetImport = "missing-opset-import";
inline constexpr std::string_view kMissingIrVersion = "missing-ir-version";
inline constexpr std::string_view kRepeatedConstant = "repeated-constant";
inline constexpr std::string_view kRepeatedFunction = "repeated-function";
inline constexpr std::string_view kSignalRank = "signal-rank";
inline constexpr std::string_view kExternalLength = "external-length";
inline constexpr std::string_view kNotUtf8 = "not-utf8";
inline constexpr std::string_view kNegativeDim = "negative-dim";
inline constexpr std::string_view kUnusedInitializer = "unused-initializer";
inline constexpr std::string_view kUnusedExternalFile = "unused-external-file";
inline constexpr std::string_view kShadowedName = "shadowed-name";
inline constexpr std::string_view kArgumentRank = "argument-rank";
inline constexpr std::string_view kRepeatedAxis = "repeated-axis";
inline constexpr std::string_view kFunctionAttribute = "function-attribute";
inline constexpr std::string_view kFunctionScope = "function-scope";
inline constexpr std::string_view kConstantInput = "constant-input";
inline constexpr std::string_view kSparseIndices = "sparse-indices";
inline constexpr std::string_view kFlagValue = "flag-value";
inline constexpr std::string_view kSlopeShape = "slope-shape";
inline constexpr std::string_view kOneElementScale = "one-element-scale";
inline constexpr std::string_view kEmptyTuple = "empty-tuple";
inline constexpr std::string_view kConditionLength = "condition-length";
inline constexpr std::string_view kMissingAxis = "missing-axis";
inline constexpr std::string_view kTensorSegment = "tensor-segment";
inline constexpr std::string_view kElementRange = "element-range";

class Leniency {
 public:
  // Refers to `options`, which must outlive it.
  explicit Leniency(const LoadOptions& options) : options_(options) {}

  bool is_strict() const { return options_.strict; }
  // Tells of a deviation; throws kInvalidModel with the same words where the options are strict.
  template <typename... Parts>
  void tolerate(std::string_view name, const Parts&... parts) const {
    if (options_.strict)
      fail(ErrorCode::kInvalidModel, parts..., " (", name, ", refused as loading is strict)");
    if (options_.on_warning) options_.on_warning({std::string(name), text(parts...)});
  }

 private:
  const LoadOptions& options_;
};

}  // namespace sardonyx::onnx_import
