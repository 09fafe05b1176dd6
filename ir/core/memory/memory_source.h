// Memory of a program's own in place of blocks from the operating system.
#pragma once

#include <cstddef>

namespace sardonyx {

// Both functions may be called from any thread, at any time until the last buffer whose memory came
// from here is gone.
class MemorySource {
 public:
  virtual ~MemorySource() = default;
  // At least `bytes` bytes, aligned to kBlockAlignment and not initialised; nullptr where there are
  // none left.
  virtual void* allocate(size_t bytes) = 0;
  // A block that was allocated with the same size.
  virtual void give_back(void* block, size_t bytes) = 0;
};

}  // namespace sardonyx
