// Runs single ops at once, on the providers' kernels.
#pragma once

#include <span>

#include "ir/datum.h"
#include "ir/op_def.h"

namespace sardonyx::eager {

// One op on values. Kernels are prepared once for each op, attributes, types and shapes, and kept
// (per thread, bounded). `inputs` are the formal ones; null or undefined where omitted.
// `may_overwrite_first`: kernels that can write output 0 over input 0. Throws as inference and
// kernels do.
void run_op(const OpDef& op, const Attrs& attrs, std::span<const Datum* const> inputs,
            std::span<const Datum> captures, std::span<Datum> outputs,
            bool may_overwrite_first = false);

// Threads that one op may use: as SessionOptions::intra_op_threads (0: decide by environment,
// affinity and quota). For the whole process; takes effect for calls that start later.
void set_num_threads(int threads);
int num_threads();

// What the calling thread's cache of prepared kernels did.
struct EngineStats {
  size_t hits = 0, misses = 0, kernels = 0;
};
EngineStats engine_stats();

}  // namespace sardonyx::eager
