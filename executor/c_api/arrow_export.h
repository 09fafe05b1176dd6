// Tensors as arrays of the Arrow C data interface.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "ir/core/tensor.h"
#include "sardonyx/arrow.h"

namespace sardonyx::c_api {

// Exports `tensor` as one column. The caller calls release() on both results, unless they are empty
// (release NULL). Memory is shared with the tensor where Arrow lays out the type alike. Throws
// kUnsupported for element types that Arrow lacks.
void export_column(const Tensor& tensor, const std::string& name, ArrowArray& array,
                   ArrowSchema& schema);
// Exports the columns as one struct array. Throws kInvalidArgument where their lengths differ.
void export_columns(const std::vector<std::pair<std::string, Tensor>>& columns, ArrowArray& array,
                    ArrowSchema& schema);

}  // namespace sardonyx::c_api
