// Kernels on oneDNN: convolution, matrix products, pooling, normalisation, recurrent layers and
// what keeps its blocked layouts whole between them.
#pragma once

#include "ir/kernel.h"

namespace sardonyx {

// Its kernels compute in float32 (and in bfloat16 or int8 where an entry says so) and refuse
// everything else, tensors without elements and tensors of 2^31 elements or more included. They run
// on OpenMP with as many threads as the request names, whatever OpenMP's setting is at the time.
const Provider& onednn_provider();

}  // namespace sardonyx
