#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cfenv>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

#include "ir/core/threading/float_mode.h"
#include "ir/core/threading/parallel_for.h"
#include "tests/support/process.h"

namespace sardonyx {
namespace {

// Counts how often each index comes, and that no two threads have one seat at a time.
class Visits {
 public:
  Visits(int64_t count, int seats)
      : counts_(static_cast<size_t>(count)), seats_(static_cast<size_t>(seats)) {}
  void visit(int64_t begin, int64_t end, int seat) {
    std::atomic<int>& holders = seats_[static_cast<size_t>(seat)];
    if (holders.fetch_add(1) != 0) shared_ = true;
    for (int64_t index = begin; index < end; ++index)
      ++counts_[static_cast<size_t>(index)];
    --holders;
  }
  bool all_once() const {
    return std::ranges::all_of(counts_, [](const auto& count) { return count == 1; });
  }
  bool shared_a_seat() const { return shared_; }

 private:
  std::vector<std::atomic<int>> counts_, seats_;
  std::atomic<bool> shared_ = false;
};

bool covers_all_once(int64_t count, int threads) {
  Visits visits(count, std::max(threads, 1));
  parallel_for(count, threads,
               [&](int64_t begin, int64_t end, int seat) { visits.visit(begin, end, seat); });
  return visits.all_once() && !visits.shared_a_seat();
}

TEST(ParallelFor, visits_every_index_once_for_any_count_and_number_of_threads) {
  for (const int threads : {0, 1, 2, 3, 5, 17, 70}) {
    const auto pool = make_thread_pool();
    const ThreadScope scope(threads, pool.get());
    for (const int64_t count : {0, 1, 2, 3, 16, 63, 64, 65, 1000, 12345})
      EXPECT_TRUE(covers_all_once(count, threads)) << count << " on " << threads;
  }
}

TEST(ParallelFor, loops_of_many_callers_share_one_pool) {
  const auto pool = make_thread_pool();
  std::atomic<int> failures = 0;
  std::vector<std::thread> callers;
  for (int caller = 0; caller < 48; ++caller) {  // more than the pool can help at a time
    callers.emplace_back([&] {
      const ThreadScope scope(4, pool.get());
      for (int i = 0; i < 200; ++i)
        failures += covers_all_once(97, 4) ? 0 : 1;
    });
  }
  for (std::thread& caller : callers)
    caller.join();
  EXPECT_EQ(failures, 0);
}

TEST(ParallelFor, a_loop_within_a_loop_runs_on_its_own_thread) {
  const auto pool = make_thread_pool();
  const ThreadScope scope(4, pool.get());
  std::atomic<bool> strayed = false;
  parallel_for(64, 4, [&](int64_t, int64_t, int) {
    const auto outer = std::this_thread::get_id();
    EXPECT_EQ(current_threads(), 1);
    parallel_for(100, 4, [&](int64_t, int64_t, int seat) {
      if (std::this_thread::get_id() != outer || seat != 0) strayed = true;
    });
  });
  EXPECT_FALSE(strayed);
}

TEST(ThreadPool, starts_threads_when_first_needed_and_ends_them_with_itself) {
  const size_t before = settled_tasks_of_process();
  {
    const auto pool = make_thread_pool();
    const ThreadScope scope(4, pool.get());
    EXPECT_EQ(tasks_of_process(), before);
    for (int i = 0; i < 10; ++i)
      covers_all_once(1000, 4);
    EXPECT_EQ(tasks_of_process(), before + 3);
  }
  EXPECT_TRUE(tasks_of_process_settle_at(before));
}

TEST(ThreadPool, is_one_for_the_process_as_long_as_somebody_holds_it) {
  const auto first = process_thread_pool();
  EXPECT_EQ(process_thread_pool(), first);
}

TEST(ThreadPool, works_in_forked_children_at_any_moment) {
  const auto pool = make_thread_pool();
  const ThreadScope scope(3, pool.get());
  EXPECT_TRUE(covers_all_once(1000, 3));
  std::atomic<bool> is_over = false;
  std::thread other([&] {  // loops that are under way when the process forks
    const ThreadScope own(3, pool.get());
    while (!is_over)
      covers_all_once(500, 3);
  });
  for (int i = 0; i < 100; ++i) {
    ASSERT_TRUE(ends_well_in_child([] {
      bool passes = true;
      for (int k = 0; k < 20; ++k)
        passes &= covers_all_once(1000, 3);
      return passes;
    }));
  }
  is_over = true;
  other.join();
  EXPECT_TRUE(covers_all_once(1000, 3));
}

// What each seat of a loop finds for 1/3 of `numerator`, in the mode in which the caller computes.
std::vector<double> thirds_by_threads(volatile double& numerator, int threads) {
  std::vector<double> found(1000);
  parallel_for(1000, threads, [&](int64_t begin, int64_t end, int) {
    for (int64_t i = begin; i < end; ++i)
      found[static_cast<size_t>(i)] = numerator / 3;
    std::this_thread::yield();  // so that others come
  });
  return found;
}

TEST(FloatMode, is_that_of_the_caller_on_every_thread) {
  const auto pool = make_thread_pool();
  const ThreadScope scope(4, pool.get());
  volatile double one = 1;
  const auto expect_one_result = [&] {
    const double expected = one / 3;
    for (int i = 0; i < 50; ++i) {
      const std::vector<double> found = thirds_by_threads(one, 4);
      ASSERT_EQ(std::ranges::count(found, expected), 1000);
    }
  };
  expect_one_result();  // helpers are there from now on
  for (const int rounding : {FE_UPWARD, FE_DOWNWARD, FE_TONEAREST}) {
    std::fesetround(rounding);
    expect_one_result();
  }
  std::fesetround(FE_TONEAREST);
}

#if defined(__x86_64__)
TEST(FloatMode, takes_denormals_for_zero_as_the_caller_does_and_leaves_flags_alone) {
  constexpr unsigned kFlushes = 0x8040;
  const unsigned before = _mm_getcsr();
  _mm_setcsr(before | kFlushes | 1);  // and a flag of the caller's
  const FloatMode mode = FloatMode::of_this_thread();
  _mm_setcsr(before);
  {
    const FloatModeScope scope(mode);
    EXPECT_EQ(_mm_getcsr() & kFlushes, kFlushes);
    EXPECT_EQ(_mm_getcsr() & 1, before & 1);
    volatile float least = 1e-40f;
    EXPECT_EQ(least * 1.0f, 0.0f);
  }
  EXPECT_EQ(_mm_getcsr() & kFlushes, before & kFlushes);
}
#endif

// A program's own threads: a queue that is worked off when it likes.
struct Queue {
  std::mutex mutex;
  std::deque<std::pair<void (*)(void*), void*>> work;
  bool runs_at_once = false;

  static void submit(void* state, void (*work)(void*), void* argument) {
    auto& queue = *static_cast<Queue*>(state);
    if (queue.runs_at_once) return work(argument);
    const std::lock_guard lock(queue.mutex);
    queue.work.emplace_back(work, argument);
  }
  static int concurrency(void*) { return 3; }
  bool run_one() {
    const std::unique_lock lock(mutex, std::try_to_lock);
    if (!lock || work.empty()) return false;
    const auto [next, argument] = work.front();
    work.pop_front();
    next(argument);
    return true;
  }
  ExternalThreads threads() { return {this, &submit, &concurrency}; }
};

TEST(ExternalThreads, that_come_at_once_late_or_while_the_loop_runs_leave_it_whole) {
  Queue queue;
  const auto pool = make_thread_pool(queue.threads());
  EXPECT_EQ(pool->concurrency(), 3);
  const ThreadScope scope(3, pool.get());
  EXPECT_TRUE(covers_all_once(1000, 3));  // nobody comes while it runs
  while (queue.run_one()) {               // and all come afterwards
  }
  queue.runs_at_once = true;
  EXPECT_TRUE(covers_all_once(1000, 3));
  queue.runs_at_once = false;
  std::atomic<bool> is_over = false;
  std::thread helper([&] {
    while (!is_over)
      queue.run_one();
  });
  for (int i = 0; i < 200; ++i)
    EXPECT_TRUE(covers_all_once(1000, 3));
  is_over = true;
  helper.join();
  while (queue.run_one()) {
  }
}

}  // namespace
}  // namespace sardonyx
