#include "executor/ort_abi/custom_ops/shape_inference.h"

#include "executor/ort_abi/status.h"
#include "executor/ort_abi/table/functions.h"
#include "executor/ort_abi/values/element_type.h"

OrtShapeInferContext::OrtShapeInferContext(sardonyx::InferContext& of, const OrtKernelInfo& node,
                                           std::span<const sardonyx::Type> types)
    : context(of), info(node) {
  for (const sardonyx::Type& type : types)
    inputs.push_back(sardonyx::ort_abi::tensor_info_of(type));
}

namespace sardonyx::ort_abi {
namespace {

Dims dims_of(const OrtTensorTypeAndShapeInfo& info, InferContext& context) {
  Dims dims;
  for (size_t i = 0; i < info.dims.size(); ++i) {
    const bool is_named = i < info.names.size() && !info.names[i].empty();
    if (info.dims[i] >= 0)
      dims.emplace_back(info.dims[i]);
    else
      dims.push_back(is_named ? Dim::symbol(info.names[i]) : context.unknown());
  }
  return dims;
}

}  // namespace

OrtStatus* Functions::ShapeInferContext_GetInputCount(const OrtShapeInferContext* context,
                                                      size_t* out) {
  return guarded([&] { require(out, "out") = require(context, "context").inputs.size(); });
}

// The info is the context's.
OrtStatus* Functions::ShapeInferContext_GetInputTypeShape(const OrtShapeInferContext* context,
                                                          size_t index,
                                                          OrtTensorTypeAndShapeInfo** info) {
  return guarded([&] {
    OrtTensorTypeAndShapeInfo*& place = require_place(info, "info");
    const auto& inputs = require(context, "context").inputs;
    if (index >= inputs.size())
      refuse(ORT_INVALID_ARGUMENT, "ShapeInferContext: input index is out of bounds");
    place = const_cast<OrtTensorTypeAndShapeInfo*>(&inputs[index]);
  });
}

OrtStatus* Functions::ShapeInferContext_GetAttribute(const OrtShapeInferContext* context,
                                                     const char* attr_name,
                                                     const OrtOpAttr** attr) {
  return guarded([&] {
    const OrtOpAttr*& place = require_place(attr, "attr");
    const OrtKernelInfo& info = require(context, "context").info;
    place = find_attribute(info, &require(attr_name, "attr_name"));
    if (!place) refuse(ORT_INVALID_ARGUMENT, "Attribute does not exist: ", attr_name);
  });
}

OrtStatus* Functions::ShapeInferContext_SetOutputTypeShape(const OrtShapeInferContext* context,
                                                           size_t index,
                                                           const OrtTensorTypeAndShapeInfo* info) {
  return guarded([&] {
    InferContext& infer = require(context, "context").context;
    const OrtTensorTypeAndShapeInfo& given = require(info, "info");
    if (index >= infer.output_count())
      refuse(ORT_INVALID_ARGUMENT, "ShapeInferContext: output index is out of bounds");
    const DType dtype = infer.outputs()[index].type.dtype;
    infer.set(index, dtype, dims_of(given, infer));
  });
}

}  // namespace sardonyx::ort_abi
