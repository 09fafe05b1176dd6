// Tensors as arrays of the Arrow C data interface.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "ir/core/tensor.h"
#include "sardonyx/arrow.h"

namespace sardonyx::c_api {

// What release() is to be called on, unless it is empty (release NULL). Memory is shared with the
// tensor where Arrow has its form. Throws kUnsupported for element types that Arrow lacks.
void export_column(const Tensor& tensor, const std::string& name, ArrowArray& array,
                   ArrowSchema& schema);
// Columns of one length in a struct array. Throws kInvalidArgument where it differs.
void export_columns(const std::vector<std::pair<std::string, Tensor>>& columns, ArrowArray& array,
                    ArrowSchema& schema);

}  // namespace sardonyx::c_api
