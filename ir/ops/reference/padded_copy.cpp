#include "ir/ops/reference/padded_copy.h"

#include <algorithm>

#include "ir/core/dtype_dispatch.h"
#include "ir/core/memory/counted_strings.h"

namespace sardonyx {

PaddedCopy::PaddedCopy(DType dtype, int64_t count, const std::optional<StridedBlock>& kept)
    : dtype_(dtype), count_(count) {
  if (!kept) return;
  block_ = *kept;
  // Inner dims that are neither padded nor cropped make one run.
  size_t rank = block_.sizes.size();
  for (; rank > 0; --rank) {
    if (block_.from_strides[rank - 1] != run_ || block_.to_strides[rank - 1] != run_) break;
    run_ *= block_.sizes[rank - 1];
  }
  block_.sizes.resize(rank);
  runs_ = 1;
  for (const int64_t size : block_.sizes)
    runs_ *= size;
}

void PaddedCopy::advance(DimValues& index, int64_t& from, int64_t& to) const {
  for (size_t dim = index.size(); dim-- > 0;) {
    from += block_.from_strides[dim];
    to += block_.to_strides[dim];
    if (++index[dim] < block_.sizes[dim]) return;
    from -= block_.from_strides[dim] * block_.sizes[dim];
    to -= block_.to_strides[dim] * block_.sizes[dim];
    index[dim] = 0;
  }
}

template <typename T>
void PaddedCopy::write(const T* from, const T& value, T* to, int64_t first_run, int64_t last_run,
                       bool is_end) const {
  DimValues index(block_.sizes.size());
  int64_t source = block_.from_offset, target = block_.to_offset, rest = first_run;
  for (size_t dim = index.size(); dim-- > 0;) {
    index[dim] = rest % block_.sizes[dim];
    rest /= block_.sizes[dim];
    source += index[dim] * block_.from_strides[dim];
    target += index[dim] * block_.to_strides[dim];
  }
  // A share begins where the run before it ends.
  int64_t written = 0;
  if (first_run > 0) {
    written = block_.to_offset + run_;
    rest = first_run - 1;
    for (size_t dim = index.size(); dim-- > 0; rest /= block_.sizes[dim])
      written += rest % block_.sizes[dim] * block_.to_strides[dim];
  }
  if (run_ == 1 && !index.empty()) {
    // Elements apart, as a slice with steps leaves them: a row is filled, then they are put there.
    const size_t last = index.size() - 1;
    const int64_t from_step = block_.from_strides[last], to_step = block_.to_strides[last];
    for (int64_t run = first_run; run < last_run;) {
      const int64_t count = std::min(block_.sizes[last] - index[last], last_run - run);
      const int64_t end = target + (count - 1) * to_step + 1;
      fill_elements(to + written, end - written, value);
      for (int64_t i = 0; i < count; ++i)
        assign_element(to[target + i * to_step], from[source + i * from_step]);
      written = end;
      run += count;
      index[last] += count - 1;
      source += (count - 1) * from_step;
      target += (count - 1) * to_step;
      advance(index, source, target);
    }
    if (is_end) fill_elements(to + written, count_ - written, value);
    return;
  }
  for (int64_t run = first_run; run < last_run; ++run) {
    fill_elements(to + written, target - written, value);
    copy_elements(from + source, run_, to + target);
    written = target + run_;
    advance(index, source, target);
  }
  if (is_end) fill_elements(to + written, count_ - written, value);
}

void PaddedCopy::run_part(const void* from, const void* value, void* to, int64_t part,
                          int64_t parts) const {
  if (count_ == 0) return;
  dispatch_width(dtype_, [&]<typename T>() {
    write(static_cast<const T*>(from), *static_cast<const T*>(value), static_cast<T*>(to),
          runs_ * part / parts, runs_ * (part + 1) / parts, part + 1 == parts);
  });
}

}  // namespace sardonyx
