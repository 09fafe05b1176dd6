// Values that inference knows: small integer tensors carried as dims.
#pragma once

#include <optional>

#include "ir/core/tensor.h"
#include "ir/type.h"

namespace sardonyx {

// The tensor of type `type` whose elements are `dims`, where all of them are integers and the type
// is an int64 or int32 tensor of a known shape that holds as many; nullopt otherwise.
std::optional<Tensor> tensor_of_dims(const Type& type, const std::optional<Dims>& dims);

}  // namespace sardonyx
