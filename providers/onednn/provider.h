// Kernels on oneDNN: convolution, matrix products, pooling, normalisation, the
// gradients of recurrent layers and what keeps its blocked layouts whole between them.
#pragma once

#include <string>

#include "ir/kernel.h"

namespace sardonyx {

// The oneDNN provider. Its kernels compute in float32 (in bfloat16 where Precision::kBFloat16 is
// asked for and the CPU has the instructions, in int8 where an entry says so) and refuse everything
// else, tensors without elements and tensors of 2^31 elements or more included. They share their
// work out to as many threads as the request names (parallel_for.h); each primitive of oneDNN's
// runs on one, whatever the program's OpenMP is set to.
const Provider& onednn_provider();
// Loads oneDNN's library, which else happens when a kernel is first prepared. Throws kUnsupported,
// with what to do about it, where it is not installed.
void load_onednn();
bool onednn_computes_bfloat16();
// Whether oneDNN multiplies bfloat16 and int8 with AMX tiles here.
bool onednn_uses_amx();
// The library's version and what it uses of this CPU. Throws as load_onednn.
std::string onednn_version();

}  // namespace sardonyx
