// Descriptions that a session gives of its inputs and outputs, its memory plans and its runs.
#pragma once

#include <string>
#include <vector>

#include "ir/kernel.h"
#include "ir/type.h"

namespace sardonyx {

// An input or output of a model.
struct ValueInfo {
  // The name by which a run is given the input or returns the output.
  std::string name;
  // The type; dims that are fixed only by a run have names.
  Type type;
};

// One step of a run: its node, the kernel that ran it, and what it took.
struct NodeTiming {
  // `scope` is the module that the node was traced in or the path of exporters, `source` the line
  // of the program; both empty where the file does not say.
  std::string name, op, implementation, scope, source;
  std::string types;  // "float[1, 64, 56, 56] -> float[...]"
  // Wall time of the calling thread, including its wait for the other threads.
  double seconds = 0;
  size_t bytes = 0;  // read and written
};

// The memory that one plan needs, in bytes.
struct MemoryPlan {
  struct Item {
    std::string value;  // "" for scratch
    size_t offset, bytes;
    size_t first_step, last_step;
  };
  size_t arena_bytes = 0;      // the arena of all intermediate values
  size_t live_peak_bytes = 0;  // the largest sum of values that live at once: no plan can need less
  size_t weight_bytes = 0;
  std::vector<Item> items;
};

// The kernel of one step of a plan, and the kernels that were asked before it, in that order, each
// with the reason for its refusal.
struct NodeKernel {
  std::string op, name, implementation;
  std::string types;                    // as in NodeTiming
  std::vector<KernelAttempt> attempts;  // with SessionOptions::keep_kernel_attempts
};

}  // namespace sardonyx
