// Counts what this program allocates through operator new, for tests that hold a run to nothing.
#pragma once

#include <cstddef>

namespace sardonyx {

// Since it was made, in all threads.
class AllocationCount {
 public:
  AllocationCount();
  // What code of ours asked for, and libraries on its behalf.
  size_t own() const;
  // What oneDNN's library asked for itself: it makes a table of arguments at each execution.
  size_t onednn() const;

 private:
  size_t own_, onednn_;
};

}  // namespace sardonyx
