// What a session tells of its values, its plans and its runs.
#pragma once

#include <string>
#include <vector>

#include "ir/kernel.h"
#include "ir/type.h"

namespace sardonyx {

// An input or output of a model.
struct ValueInfo {
  std::string name;
  Type type;
};

// One step of a run: its node, the kernel that ran it, and what it took.
struct NodeTiming {
  std::string name, op, implementation, scope, source;
  std::string types;  // "float[1, 64, 56, 56] -> float[...]"
  double seconds = 0;
  size_t bytes = 0;  // read and written
};

// What one plan needs, in bytes.
struct MemoryPlan {
  struct Item {
    std::string value;  // "" for scratch
    size_t offset, bytes;
    size_t first_step, last_step;
  };
  size_t arena_bytes = 0;      // what is reserved for all intermediate values
  size_t live_peak_bytes = 0;  // the largest sum of values that live at once: no plan can need less
  size_t weight_bytes = 0;
  std::vector<Item> items;
};

// The kernel of one step of a plan.
struct NodeKernel {
  std::string op, name, implementation;
  std::string types;                    // as in NodeTiming
  std::vector<KernelAttempt> attempts;  // with SessionOptions::keep_kernel_attempts
};

}  // namespace sardonyx
