// Arrays of the Arrow C data interface as tensors.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ir/core/tensor.h"
#include "ir/type.h"
#include "sardonyx/arrow.h"

namespace sardonyx::c_api {

// Owns an imported array and calls its release when the last tensor on its memory is gone. Until
// take() the array is the caller's.
class ArrowKeeper {
 public:
  ArrowKeeper() = default;
  ~ArrowKeeper();
  ArrowKeeper(const ArrowKeeper&) = delete;
  ArrowKeeper& operator=(const ArrowKeeper&) = delete;
  // Moves the array here and marks the caller's struct as released, as the Arrow interface
  // prescribes.
  void take(ArrowArray& array);

 private:
  ArrowArray array_ = {};
};

// The column as a tensor, whose memory `keeper` keeps where it is not copied. Errors name the
// column.
Tensor imported_column(const ArrowArray& array, const ArrowSchema& schema, sx_arrow_nulls nulls,
                       const std::shared_ptr<ArrowKeeper>& keeper);
// Every column of a struct array as a tensor, with its name.
std::vector<std::pair<std::string, Tensor>> imported_columns(
    const ArrowArray& array, const ArrowSchema& schema, sx_arrow_nulls nulls,
    const std::shared_ptr<ArrowKeeper>& keeper);

// `column` reshaped to [rows, the dims of `wanted` after its first], where the element counts
// agree.
Tensor with_dims_of(const Tensor& column, const Type& wanted);

}  // namespace sardonyx::c_api
