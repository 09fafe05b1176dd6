// The fields of the tables of ONNX Runtime's own model format (.ort), in their order. Element types
// and kinds of attributes have ONNX's numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace sardonyx::ort_format {

constexpr std::string_view kModelIdentifier = "ORTM";

struct SessionField {
  enum : size_t { kVersion, kModel, kOldState, kKernelTypes };
};
struct ModelField {
  enum : size_t {
    kIrVersion,
    kOpsetImport,
    kProducerName,
    kProducerVersion,
    kDomain,
    kModelVersion,
    kDocString,
    kGraph,
    kGraphDocString,
    kMetadataProps
  };
};
struct OpsetField {
  enum : size_t { kDomain, kVersion };
};
struct EntryField {
  enum : size_t { kKey, kValue };
};
struct GraphField {
  enum : size_t {
    kInitializers,
    kNodeArgs,
    kNodes,
    kMaxNodeIndex,
    kNodeEdges,
    kInputs,
    kOutputs,
    kSparseInitializers,
    kRuntimeOptimizations
  };
};
struct NodeField {
  enum : size_t {
    kName,
    kDocString,
    kDomain,
    kSinceVersion,
    kIndex,
    kOpType,
    kType,
    kProvider,
    kInputs,
    kOutputs,
    kAttributes,
    kInputArgCounts,
    kImplicitInputs
  };
};
struct AttributeField {
  enum : size_t {
    kName,
    kDocString,
    kType,
    kFloat,
    kInt,
    kString,
    kTensor,
    kGraph,
    kFloats,
    kInts,
    kStrings,
    kTensors,
    kGraphs
  };
};
struct TensorField {
  enum : size_t { kName, kDocString, kDims, kDataType, kRawData, kStrings, kExternalOffset };
};
struct SparseField {
  enum : size_t { kValues, kIndices, kDims };
};
struct ValueField {
  enum : size_t { kName, kDocString, kType };
};
struct TypeField {
  enum : size_t { kDenotation, kKind, kValue };
};
// What TypeField::kKind says the value is.
enum class TypeKind : uint8_t { kNone, kTensor, kSequence, kMap };
struct TensorTypeField {
  enum : size_t { kElementType, kShape };
};
struct SequenceTypeField {
  enum : size_t { kElementType };
};
struct MapTypeField {
  enum : size_t { kKeyType, kValueType };
};
struct ShapeField {
  enum : size_t { kDims };
};
struct DimField {
  enum : size_t { kValue, kDenotation };
};
struct DimValueField {
  enum : size_t { kKind, kNumber, kSymbol };
};
// What DimValueField::kKind says.
enum class DimKind : int8_t { kUnknown, kNumber, kSymbol };

}  // namespace sardonyx::ort_format
