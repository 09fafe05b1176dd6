// A pool of threads that belong to the embedding program.
#include <algorithm>

#include "ir/core/threading/parallel_for.h"
#include "ir/core/threading/thread_pool.h"

namespace sardonyx {
namespace {

// Helpers may come after the loop has ended, so it lives until the last of them was there.
struct SharedLoop {
  explicit SharedLoop(int holders) : holders(holders) {}
  JoinableLoop loop;
  std::atomic<int> holders;
  static void release(SharedLoop* shared) {
    if (shared->holders.fetch_sub(1, std::memory_order_acq_rel) == 1) delete shared;
  }
};

class ExternalPool : public ThreadPool {
 public:
  explicit ExternalPool(const ExternalThreads& threads) : threads_(threads) {}

  void run(int participants, Body body, const void* context) override {
    auto* shared = new SharedLoop(participants);
    shared->loop.open(participants, body, context);
    for (int helper = 1; helper < participants; ++helper)
      threads_.submit(threads_.state, &help, shared);
    body(context, 0);
    shared->loop.close_and_wait();
    SharedLoop::release(shared);
  }

  int concurrency() const override {
    return std::clamp(threads_.concurrency(threads_.state), 1, kMaxThreads);
  }

 private:
  static void help(void* argument) {
    auto* shared = static_cast<SharedLoop*>(argument);
    {
      const SerialScope serial;
      shared->loop.try_join(1);
    }
    SharedLoop::release(shared);
  }

  const ExternalThreads threads_;
};

}  // namespace

std::shared_ptr<ThreadPool> make_thread_pool(const ExternalThreads& threads) {
  return std::make_shared<ExternalPool>(threads);
}

}  // namespace sardonyx
