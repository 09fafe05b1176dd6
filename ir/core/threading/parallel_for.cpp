#include "ir/core/threading/parallel_for.h"

#include "ir/core/threading/cpu_limits.h"
#include "ir/core/threading/float_mode.h"

namespace sardonyx {
namespace {

struct ThreadState {
  int threads = 0;  // 0: no scope
  ThreadPool* pool = nullptr;
  bool is_serial = false;
};
thread_local constinit ThreadState t_state;

// For loops outside any scope.
ThreadPool& default_pool() {
  static auto& held = *new std::shared_ptr<ThreadPool>(process_thread_pool());
  return *held;
}

// The body of a loop, called in the floating-point mode of the thread that began it.
struct CallInMode {
  ThreadPool::Body body;
  const void* context;
  FloatMode mode;
  static void run(const void* call, int seat) {
    const auto& [body, context, mode] = *static_cast<const CallInMode*>(call);
    const FloatModeScope scope(mode);
    body(context, seat);
  }
};

}  // namespace

ThreadScope::ThreadScope(int threads, ThreadPool* pool)
    : previous_threads_(t_state.threads), previous_pool_(t_state.pool) {
  t_state.threads = threads;
  if (pool) t_state.pool = pool;
}

ThreadScope::~ThreadScope() {
  t_state.threads = previous_threads_;
  t_state.pool = previous_pool_;
}

SerialScope::SerialScope() : previous_(t_state.is_serial) {
  t_state.is_serial = true;
}

SerialScope::~SerialScope() {
  t_state.is_serial = previous_;
}

int current_threads() {
  if (t_state.is_serial) return 1;
  if (t_state.threads > 0) return t_state.threads;
  return default_thread_count();
}

ThreadPool& current_pool() {
  return t_state.pool ? *t_state.pool : default_pool();
}

int usable_threads(int threads) {
  return t_state.is_serial ? 1 : std::min(threads, kMaxThreads);
}

void run_participants(int participants, ThreadPool::Body body, const void* context) {
  ThreadPool& pool = current_pool();
  const SerialScope serial;
  const CallInMode call{body, context, FloatMode::of_this_thread()};
  pool.run(participants, &CallInMode::run, &call);
}

WorkRanges::WorkRanges(int64_t count, int participants)
    : ranges_(std::min(participants, kMaxRanges)) {
  for (int i = 0; i < ranges_; ++i) {
    Range& range = all_[static_cast<size_t>(i)];
    const int64_t begin = count * i / ranges_;
    range.end = count * (i + 1) / ranges_;
    range.piece = std::max<int64_t>((range.end - begin) / kPiecesOfRange, 1);
    range.next.store(begin, std::memory_order_relaxed);
  }
}

}  // namespace sardonyx
