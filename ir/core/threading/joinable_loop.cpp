#include <algorithm>
#include <bit>

#include "ir/core/threading/backoff.h"
#include "ir/core/threading/thread_pool.h"

namespace sardonyx {
namespace {

// Most helpers end their piece within this; beyond, their CPU works for others.
constexpr std::chrono::microseconds kJoinSpin{50};

}  // namespace

void JoinableLoop::open(int participants, ThreadPool::Body body, const void* context) {
  participants_ = std::min(participants, kMaxThreads);
  body_ = body;
  context_ = context;
  for (int word = 0; word * 64 < participants_; ++word)
    seats_[word].store(0, std::memory_order_relaxed);
  seats_[0].store(1, std::memory_order_relaxed);  // the caller's
  state_.store(kOpen, std::memory_order_release);
}

void JoinableLoop::close_and_wait() {
  uint32_t state = state_.fetch_and(~kOpen, std::memory_order_acq_rel) & ~kOpen;
  const auto is_empty = [&] {
    state = state_.load(std::memory_order_acquire);
    return state == 0;
  };
  if (state == 0 || spin_until(is_empty, kJoinSpin)) return;
  state = state_.fetch_or(kIsAwaited, std::memory_order_acq_rel) | kIsAwaited;
  while (state != kIsAwaited) {
    state_.wait(state, std::memory_order_acquire);
    state = state_.load(std::memory_order_acquire);
  }
  state_.store(0, std::memory_order_relaxed);
}

// The preferred seat: a helper that has the same one in loop after loop works on what its caches
// hold.
int JoinableLoop::take_seat(int preferred) {
  const auto take = [&](int seat) {
    const uint64_t bit = uint64_t{1} << (seat % 64);
    return (seats_[seat / 64].fetch_or(bit, std::memory_order_relaxed) & bit) == 0;
  };
  if (preferred < participants_ && take(preferred)) return preferred;
  for (int first = 0; first < participants_; first += 64) {
    const uint64_t free = ~seats_[first / 64].load(std::memory_order_relaxed);
    for (uint64_t left = free; left != 0; left &= left - 1) {
      const int seat = first + std::countr_zero(left);
      if (seat >= participants_) break;
      if (take(seat)) return seat;
    }
  }
  return 0;  // none is left
}

void JoinableLoop::try_join(int preferred) {
  uint32_t state = state_.load(std::memory_order_acquire);
  do {
    if ((state & kOpen) == 0) return;
  } while (!state_.compare_exchange_weak(state, state + 1, std::memory_order_acq_rel,
                                         std::memory_order_acquire));
  if (const int seat = take_seat(preferred)) body_(context_, seat);
  // The last thing that touches the loop, but for the wake-up by its address.
  if (state_.fetch_sub(1, std::memory_order_acq_rel) == (kIsAwaited | 1)) state_.notify_one();
}

}  // namespace sardonyx
