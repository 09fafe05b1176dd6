// Threads that help the thread which calls: the loops of kernels run on them (parallel_for.h).
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

namespace sardonyx {

// Threads that one loop may use, the calling one included.
constexpr int kMaxThreads = 1024;

// A source of helpers. Whoever calls run() takes part and can always finish alone: helpers that
// come late, or never, cost speed and nothing else. Safe from any number of threads.
class ThreadPool {
 public:
  // The function that each participant runs, until there is nothing left to do. Seats are numbered
  // from 0, the caller's; no two participants of one run() have the same. Must not throw.
  using Body = void (*)(const void* context, int seat);

  ThreadPool() = default;
  virtual ~ThreadPool() = default;
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  // Calls body(context, 0) in this thread and body(context, seat), seat < participants, in each
  // helper that has time meanwhile. Returns once every call that began has ended.
  virtual void run(int participants, Body body, const void* context) = 0;
  // How many threads, the caller included, a loop should ask for where nobody says: those that the
  // machine leaves, by default (cpu_limits.h).
  virtual int concurrency() const;
};

// Threads of the embedding program, in place of ours. Both functions are called from any thread.
struct ExternalThreads {
  void* state = nullptr;
  // Arranges for work(argument) to be called once, on any thread, at any time. May call it at once.
  void (*submit)(void* state, void (*work)(void* argument), void* argument) = nullptr;
  // How many threads, the calling one included, a run should share its work out to; at least 1.
  int (*concurrency)(void* state) = nullptr;
};

// Threads of its own, started when a loop first wants so many. They block all signals. One that the
// system refuses is done without. In a forked child they are started anew when needed. The
// destructor ends them.
std::shared_ptr<ThreadPool> make_thread_pool();
std::shared_ptr<ThreadPool> make_thread_pool(const ExternalThreads& threads);
// That of the process: there is one as long as somebody holds it.
std::shared_ptr<ThreadPool> process_thread_pool();

// A loop that helpers may join while it is open. The caller opens it, takes part, and closes it:
// after that nobody is inside.
class JoinableLoop {
 public:
  // Before the loop is known to any helper.
  void open(int participants, ThreadPool::Body body, const void* context);
  // Lets nobody in any more and waits for those inside: some microseconds awake, then asleep.
  void close_and_wait();
  // Called by a helper thread: takes part, preferably at seat `preferred`, where the loop is open
  // and a seat is left. The memory of the loop must outlast the call.
  void try_join(int preferred);

 private:
  int take_seat(int preferred);

  static constexpr uint32_t kOpen = 1u << 31, kIsAwaited = 1u << 30;
  std::atomic<uint32_t> state_ = 0;  // the flags, and how many helpers are inside
  int participants_ = 0;
  ThreadPool::Body body_ = nullptr;
  const void* context_ = nullptr;
  std::atomic<uint64_t> seats_[kMaxThreads / 64] = {};  // those taken, a bit each
};

}  // namespace sardonyx
