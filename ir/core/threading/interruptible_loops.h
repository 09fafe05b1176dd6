// Parallel loops that end early when the run is cancelled or its deadline passes.
#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdint>
#include <type_traits>

#include "ir/core/run_control.h"
#include "ir/core/threading/parallel_for.h"

namespace sardonyx::cpu {

// A flag that the threads of a loop ask whether to go on. Made by the thread that runs the kernel:
// the others don't see its control.
class CancelFlag {
 public:
  CancelFlag() : control_(current_control()) {
    if (control_ && !control_->deadline && !control_->cancel.stop_possible()) control_ = nullptr;
  }
  CancelFlag(const CancelFlag&) = delete;
  CancelFlag& operator=(const CancelFlag&) = delete;

  // Looks at the clock, which costs some dozens of nanoseconds. From any thread.
  bool ask() const {
    if (control_ && !is_up() && must_stop()) is_up_.store(true, std::memory_order_relaxed);
    return is_up();
  }
  // The last result of ask().
  bool is_up() const { return is_up_.load(std::memory_order_relaxed); }
  // Throws kCancelled or kDeadlineExceeded where an answer was yes: outputs are not complete. From
  // the thread that made it.
  void check() const {
    if (is_up()) check_interrupted();
  }

 private:
  bool must_stop() const {
    return control_->cancel.stop_requested() ||
           (control_->deadline && std::chrono::steady_clock::now() > *control_->deadline);
  }

  const RunControl* control_;  // null: nothing ends the run
  mutable std::atomic<bool> is_up_ = false;
};

// Elements or multiplications between two looks at the clock: a millisecond or a few.
constexpr int64_t kWorkPerPoll = 1 << 20;

// Tasks of `work` elements each between two looks at the clock, less one; a mask.
inline int64_t poll_mask(int64_t work) {
  const int64_t tasks = std::max<int64_t>(kWorkPerPoll / std::max<int64_t>(work, 1), 1);
  return static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(tasks))) - 1;
}

// Calls body(task), or body(task, seat), for each task below `count` on up to `threads` threads; no
// two threads have the same seat, which is below `threads`. `work` is what one task takes, in
// elements or multiplications. Throws kCancelled or kDeadlineExceeded, once no body is running any
// more. Tasks must not wait for each other: all may fall to one thread.
template <typename Body>
void for_each_task(int64_t count, int threads, int64_t work, const Body& body) {
  const CancelFlag sign;
  const int64_t mask = poll_mask(work);
  parallel_for(count, threads, [&](int64_t begin, int64_t end, int seat) {
    for (int64_t task = begin; task < end; ++task) {
      if ((task & mask) == 0 ? sign.ask() : sign.is_up()) return;
      if constexpr (std::is_invocable_v<const Body&, int64_t, int>)
        body(task, seat);
      else
        body(task);
    }
  });
  sign.check();
}

// The indices of one of `parts` parts; all parts but the last end with whole units.
struct IndexRange {
  int64_t begin, end;
};
inline IndexRange split_range(int64_t count, int64_t unit, int64_t part, int64_t parts) {
  const int64_t units = count / unit;
  return {units * part / parts * unit,
          part + 1 == parts ? count : units * (part + 1) / parts * unit};
}

// Calls body(part, parts, sign) for each of as many parts as there are threads, for work that each
// shares out itself; it is to ask `sign` now and then. What a part is does not depend on how many
// threads come. Throws as for_each_task() does.
template <typename Body>
void parallel_run(int threads, const Body& body) {
  const CancelFlag sign;
  const int64_t parts = std::max(threads, 1);
  parallel_for(parts, threads, [&](int64_t begin, int64_t end, int) {
    for (int64_t part = begin; part < end; ++part)
      body(part, parts, sign);
  });
  sign.check();
}

}  // namespace sardonyx::cpu
