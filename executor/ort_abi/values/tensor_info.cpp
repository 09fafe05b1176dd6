// Element type and shape of a tensor, or of what the model declares as one.
#include <algorithm>
#include <limits>

#include "executor/ort_abi/status.h"
#include "executor/ort_abi/table/functions.h"
#include "executor/ort_abi/values/type_info.h"

namespace sardonyx::ort_abi {

OrtStatus* Functions::CreateTensorTypeAndShapeInfo(OrtTensorTypeAndShapeInfo** out) {
  return guarded([&] { make_at(out, "out"); });
}

void Functions::ReleaseTensorTypeAndShapeInfo(OrtTensorTypeAndShapeInfo* input) {
  delete input;
}

OrtStatus* Functions::SetTensorElementType(OrtTensorTypeAndShapeInfo* info,
                                           ONNXTensorElementDataType type) {
  return guarded([&] { require(info, "info").type = type; });
}

OrtStatus* Functions::SetDimensions(OrtTensorTypeAndShapeInfo* info, const int64_t* dim_values,
                                    size_t dim_count) {
  return guarded([&] {
    OrtTensorTypeAndShapeInfo& changed = require(info, "info");
    if (dim_count > 0) require(dim_values, "dim_values");
    for (size_t i = 0; i < dim_count; ++i) {
      if (dim_values[i] < -1)
        refuse(ORT_INVALID_ARGUMENT, "dim_values must be -1 (symbolic dimension) or larger.");
    }
    changed.dims.assign(dim_values, dim_values + dim_count);
    changed.names.assign(dim_count, "");
    changed.has_shape = true;
  });
}

OrtStatus* Functions::SetSymbolicDimensions(OrtTensorTypeAndShapeInfo* info,
                                            const char** dim_params, size_t dim_params_length) {
  return guarded([&] {
    OrtTensorTypeAndShapeInfo& changed = require(info, "info");
    if (dim_params_length > 0) require(dim_params, "dim_params");
    std::vector<std::string> names;
    for (size_t i = 0; i < dim_params_length; ++i)
      names.emplace_back(dim_params[i] ? dim_params[i] : "");
    names.resize(std::max(names.size(), changed.dims.size()));
    changed.names = std::move(names);
  });
}

OrtStatus* Functions::GetTensorElementType(const OrtTensorTypeAndShapeInfo* info,
                                           ONNXTensorElementDataType* out) {
  return guarded([&] { require(out, "out") = require(info, "info").type; });
}

OrtStatus* Functions::GetDimensionsCount(const OrtTensorTypeAndShapeInfo* info, size_t* out) {
  return guarded([&] { require(out, "out") = require(info, "info").dims.size(); });
}

OrtStatus* Functions::GetDimensions(const OrtTensorTypeAndShapeInfo* info, int64_t* dim_values,
                                    size_t dim_values_length) {
  return guarded([&] {
    const std::vector<int64_t>& dims = require(info, "info").dims;
    const size_t count = std::min(dims.size(), dim_values_length);
    if (count > 0) require(dim_values, "dim_values");
    std::copy_n(dims.begin(), count, dim_values);
  });
}

OrtStatus* Functions::GetSymbolicDimensions(const OrtTensorTypeAndShapeInfo* info,
                                            const char** dim_params, size_t dim_params_length) {
  return guarded([&] {
    const std::vector<std::string>& names = require(info, "info").names;
    const size_t count = std::min(names.size(), dim_params_length);
    if (count > 0) require(dim_params, "dim_params");
    for (size_t i = 0; i < count; ++i)
      dim_params[i] = names[i].c_str();
  });
}

OrtStatus* Functions::GetTensorShapeElementCount(const OrtTensorTypeAndShapeInfo* info,
                                                 size_t* out) {
  return guarded([&] {
    // Where nothing is known of the shape there are none.
    size_t count = require(info, "info").has_shape ? 1 : 0;
    for (const int64_t dim : info->dims) {
      const size_t size = static_cast<size_t>(dim);
      if (dim < 0)
        refuse(ORT_FAIL, "Integer overflow: the tensor's shape has a dimension of ", dim);
      if (size > 0 && count > std::numeric_limits<size_t>::max() / size) {
        refuse(ORT_FAIL, "Integer overflow: the tensor's shape ", to_text(info->dims),
               " has more elements than a size_t counts");
      }
      count *= size;
    }
    require(out, "out") = count;
  });
}

bool Functions::TensorTypeAndShape_HasShape(const OrtTensorTypeAndShapeInfo* info) {
  return info && info->has_shape;
}

}  // namespace sardonyx::ort_abi
