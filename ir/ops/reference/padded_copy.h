// A block of elements amid copies of one element: what Pad with a constant comes to.
#pragma once

#include <optional>

#include "ir/ops/reference/strided_copy.h"

namespace sardonyx {

// Writes each element once, in the order of memory, by several threads at once where asked.
class PaddedCopy {
 public:
  // Of `count` elements, those in `kept` are read; nullopt: none. The strides at which it is
  // written are positive and descending, as those of row-major tensors.
  PaddedCopy(DType dtype, int64_t count, const std::optional<StridedBlock>& kept);
  // One of `parts` shares, which together are the whole; element 0 of `value` is what the rest is
  // filled with.
  void run_part(const void* from, const void* value, void* to, int64_t part, int64_t parts) const;
  int64_t count() const { return count_; }

 private:
  template <typename T>
  void write(const T* from, const T& value, T* to, int64_t first_run, int64_t last_run,
             bool is_end) const;
  // The outer dims' index of a run, advanced by one.
  void advance(DimValues& index, int64_t& from, int64_t& to) const;

  DType dtype_;
  int64_t count_;
  StridedBlock block_;  // of the outer dims: one element is a run
  int64_t runs_ = 0;
  int64_t run_ = 1;  // elements of a run, which are neighbours on both sides
};

}  // namespace sardonyx
