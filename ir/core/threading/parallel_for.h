// Loops whose tasks several threads share.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>

#include "ir/core/threading/thread_pool.h"

namespace sardonyx {

// How many threads work within this scope may use, and from which pool; for the calling thread.
// Scopes nest.
class ThreadScope {
 public:
  // Without a pool, loops use that of the enclosing scope, or else the process's.
  explicit ThreadScope(int threads, ThreadPool* pool = nullptr);
  ~ThreadScope();
  ThreadScope(const ThreadScope&) = delete;
  ThreadScope& operator=(const ThreadScope&) = delete;

 private:
  const int previous_threads_;
  ThreadPool* const previous_pool_;
};

// Within it loops run on the calling thread alone, whatever they ask for.
class SerialScope {
 public:
  SerialScope();
  ~SerialScope();
  SerialScope(const SerialScope&) = delete;
  SerialScope& operator=(const SerialScope&) = delete;

 private:
  const bool previous_;
};

// The number of threads of the innermost scope; without one, all that the machine leaves. 1 within
// a loop.
int current_threads();
// The pool of the innermost scope that has one; else the process's.
ThreadPool& current_pool();

// How many threads a loop that asks for `threads` gets at most, so seats are below it.
int usable_threads(int threads);

// Calls body(context, seat) as ThreadPool::run() does, on the pool of the scope.
void run_participants(int participants, ThreadPool::Body body, const void* context);

// Hands out the numbers below `count`: each participant has a range of its own, so that in loop
// after loop the same thread works on the same part, and helps in others' when that is used up.
class WorkRanges {
 public:
  WorkRanges(int64_t count, int participants);
  // Calls visit(begin, end) for pieces of [0, count) until all are handed out.
  template <typename Visit>
  void take(int seat, const Visit& visit) {
    for (int i = 0; i < ranges_; ++i) {
      Range& range = all_[static_cast<size_t>((seat + i) % ranges_)];
      while (range.next.load(std::memory_order_relaxed) < range.end) {
        const int64_t begin = range.next.fetch_add(range.piece, std::memory_order_relaxed);
        if (begin >= range.end) break;
        visit(begin, std::min(begin + range.piece, range.end));
      }
    }
  }

 private:
  struct alignas(64) Range {
    std::atomic<int64_t> next;
    int64_t end, piece;
  };
  static constexpr int kMaxRanges = 16;
  // The less at a time, the less is left undone where a thread is interrupted.
  static constexpr int64_t kPiecesOfRange = 8;
  int ranges_;
  std::array<Range, kMaxRanges> all_;
};

// Calls worker(seat, take) once in each of up to `threads` threads, where take(visit) calls
// visit(begin, end) for pieces of [0, count), together all of it: in any order, perhaps all in this
// thread, so that no piece may wait for another. Seats are below `threads`; no two workers have the
// same. Nothing may be thrown.
template <typename Worker>
void parallel_workers(int64_t count, int threads, const Worker& worker) {
  const auto participants = static_cast<int>(std::min<int64_t>(usable_threads(threads), count));
  if (participants <= 1) {
    worker(0, [&](const auto& visit) {
      if (count > 0) visit(int64_t{0}, count);
    });
    return;
  }
  struct Loop {
    WorkRanges ranges;
    const Worker& worker;
  } loop{{count, participants}, worker};
  run_participants(
      participants,
      [](const void* context, int seat) noexcept {
        auto& shared = *static_cast<Loop*>(const_cast<void*>(context));
        shared.worker(seat, [&](const auto& visit) { shared.ranges.take(seat, visit); });
      },
      &loop);
}

// Calls body(begin, end, seat) for such pieces.
template <typename Body>
void parallel_for(int64_t count, int threads, const Body& body) {
  parallel_workers(count, threads, [&](int seat, const auto& take) {
    take([&](int64_t begin, int64_t end) { body(begin, end, seat); });
  });
}

// Calls body(index) for each index below `count`, as parallel_for() does.
template <typename Body>
void parallel_for_each(int64_t count, int threads, const Body& body) {
  parallel_for(count, threads, [&](int64_t begin, int64_t end, int) {
    for (int64_t index = begin; index < end; ++index)
      body(index);
  });
}

}  // namespace sardonyx
