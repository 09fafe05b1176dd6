// Sparse tensors in the formats that callers fill them in. What runs see of them is the datum, in
// coordinates; the rest of a caller's format is kept beside it.
#pragma once

#include <memory>

#include "executor/ort_abi/table/ort_c_api.h"
#include "ir/datum.h"

namespace sardonyx::ort_abi {

// The indices of CSR: `first` inner, `second` outer. Of coordinates and blocks: `first` alone.
struct SparseParts {
  OrtSparseFormat format = ORT_SPARSE_UNDEFINED;
  Tensor values;
  Tensor first, second;
};

}  // namespace sardonyx::ort_abi
