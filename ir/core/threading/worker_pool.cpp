// A pool with threads of its own.
#include <pthread.h>
#include <signal.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <list>
#include <mutex>
#include <vector>

#include "ir/core/threading/backoff.h"
#include "ir/core/threading/cpu_limits.h"
#include "ir/core/threading/parallel_for.h"
#include "ir/core/threading/thread_pool.h"

namespace sardonyx {
namespace {

using Clock = std::chrono::steady_clock;

// Between two steps of a model pass some microseconds. A thread that sleeps must be woken, which
// costs the caller several; one that spins for longer takes time from whoever else wants the CPU.
constexpr std::chrono::microseconds kSpin{50};
// A thread that the system refused is asked for again after this.
constexpr std::chrono::seconds kRetry{1};
constexpr size_t kStackBytes = size_t{2} << 20;

class WorkerPool : public ThreadPool {
 public:
  WorkerPool();
  ~WorkerPool() override;
  void run(int participants, Body body, const void* context) override;

 private:
  struct alignas(64) Slot {
    std::atomic<bool> is_used = false;
    JoinableLoop loop;
  };
  struct Worker {
    WorkerPool* pool;
    int seat;
    pthread_t thread;
  };

  Slot* take_slot();
  void start_threads(int helpers);
  void work(int seat);
  void wake(int helpers);
  void wait_for_news(uint32_t seen);
  static void* enter(void* worker);

  // In a forked child only the thread that forked is left.
  static void before_fork();
  static void after_fork_in_parent();
  static void after_fork_in_child();
  void forget_threads();
  struct All;
  static All& all();

  alignas(64) std::atomic<uint32_t> news_ = 0;  // changes when a loop is opened, and at the end
  std::atomic<int> sleepers_ = 0;
  std::atomic<bool> is_over_ = false;
  // More callers at once than slots work without help.
  std::array<Slot, 32> slots_;
  std::atomic<int> started_ = 0;  // threads
  std::atomic<Clock::rep> retry_at_ = 0;
  std::mutex mutex_;  // guards what follows
  std::list<Worker> workers_;
};

// Every pool of the process, for fork(). Never destroyed: threads may run while the process exits.
struct WorkerPool::All {
  std::mutex mutex;
  std::vector<WorkerPool*> pools;
};
WorkerPool::All& WorkerPool::all() {
  static All& all = *new All;
  return all;
}

WorkerPool::WorkerPool() {
  static const int registered =
      pthread_atfork(&before_fork, &after_fork_in_parent, &after_fork_in_child);
  static_cast<void>(registered);  // without it a child that runs would wait for threads in vain
  const std::lock_guard lock(all().mutex);
  all().pools.push_back(this);
}

WorkerPool::~WorkerPool() {
  {
    const std::lock_guard lock(all().mutex);
    std::erase(all().pools, this);
  }
  is_over_ = true;
  news_.fetch_add(1);
  news_.notify_all();
  for (const Worker& worker : workers_)
    pthread_join(worker.thread, nullptr);
}

void WorkerPool::before_fork() {
  all().mutex.lock();
  for (WorkerPool* pool : all().pools)
    pool->mutex_.lock();
}
void WorkerPool::after_fork_in_parent() {
  for (WorkerPool* pool : all().pools)
    pool->mutex_.unlock();
  all().mutex.unlock();
}
void WorkerPool::after_fork_in_child() {
  for (WorkerPool* pool : all().pools)
    pool->forget_threads();
  after_fork_in_parent();
}

// Loops of other threads are gone with them.
void WorkerPool::forget_threads() {
  workers_.clear();
  started_ = 0;
  retry_at_ = 0;
  sleepers_ = 0;
  for (Slot& slot : slots_) {
    new (&slot.loop) JoinableLoop;
    slot.is_used = false;
  }
}

void WorkerPool::start_threads(int helpers) {
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock || Clock::now().time_since_epoch().count() < retry_at_) return;
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, kStackBytes);
  sigset_t all_signals, previous;
  sigfillset(&all_signals);
  pthread_sigmask(SIG_SETMASK, &all_signals, &previous);
  while (started_ < helpers) {
    Worker& worker = workers_.emplace_back(Worker{this, started_ + 1, {}});
    if (pthread_create(&worker.thread, &attributes, &enter, &worker) != 0) {
      workers_.pop_back();
      retry_at_ = (Clock::now() + kRetry).time_since_epoch().count();
      break;
    }
    pthread_setname_np(worker.thread, "sardonyx");
    ++started_;
  }
  pthread_sigmask(SIG_SETMASK, &previous, nullptr);
  pthread_attr_destroy(&attributes);
}

void* WorkerPool::enter(void* argument) {
  const auto& worker = *static_cast<const Worker*>(argument);
  worker.pool->work(worker.seat);
  return nullptr;
}

void WorkerPool::work(int seat) {
  const SerialScope serial;
  while (!is_over_) {
    const uint32_t seen = news_.load(std::memory_order_acquire);
    for (Slot& slot : slots_)
      slot.loop.try_join(seat);
    wait_for_news(seen);
  }
}

void WorkerPool::wait_for_news(uint32_t seen) {
  const auto has_changed = [&] { return news_.load(std::memory_order_acquire) != seen; };
  if (spin_until(has_changed, kSpin)) return;
  ++sleepers_;
  news_.wait(seen);
  --sleepers_;
}

void WorkerPool::wake(int helpers) {
  news_.fetch_add(1);  // ordered with sleepers_: who does not see the news is seen
  for (int left = std::min(sleepers_.load(), helpers); left > 0; --left)
    news_.notify_one();
}

WorkerPool::Slot* WorkerPool::take_slot() {
  for (Slot& slot : slots_) {
    if (!slot.is_used.load(std::memory_order_relaxed) && !slot.is_used.exchange(true)) return &slot;
  }
  return nullptr;
}

void WorkerPool::run(int participants, Body body, const void* context) {
  const int wanted = std::min(participants, kMaxThreads) - 1;
  if (started_.load(std::memory_order_relaxed) < wanted) start_threads(wanted);
  const int helpers = std::min(wanted, started_.load(std::memory_order_relaxed));
  Slot* slot = helpers > 0 ? take_slot() : nullptr;
  if (!slot) return body(context, 0);
  slot->loop.open(participants, body, context);
  wake(helpers);
  body(context, 0);
  slot->loop.close_and_wait();
  slot->is_used.store(false, std::memory_order_release);
}

}  // namespace

int ThreadPool::concurrency() const {
  return available_thread_count();
}

std::shared_ptr<ThreadPool> make_thread_pool() {
  return std::make_shared<WorkerPool>();
}

std::shared_ptr<ThreadPool> process_thread_pool() {
  static std::mutex& mutex = *new std::mutex;
  static auto& pool = *new std::weak_ptr<ThreadPool>;
  const std::lock_guard lock(mutex);
  std::shared_ptr<ThreadPool> held = pool.lock();
  if (!held) pool = held = make_thread_pool();
  return held;
}

}  // namespace sardonyx
