// Sessions and the threads that they run on.
#include <gtest/gtest.h>

#include <atomic>
#include <deque>
#include <mutex>
#include <thread>

#include "executor/session.h"
#include "ir/core/sanitizers.h"
#include "ir/core/threading/thread_pool.h"
#include "tests/support/process.h"

namespace sardonyx {
namespace {

Tensor ramp_of(Shape shape) {
  Tensor tensor = Tensor::allocate(DType::kFloat, std::move(shape));
  float value = -1;
  for (float& element : tensor.mutable_values<float>())
    element = value = value > 1 ? -1 : value + 0.0371f;
  return tensor;
}

// A network whose steps are large enough to be shared: convolutions, a product, a softmax.
Model network() {
  Model model;
  GraphEmitter e(*model.graph);
  const Val x = GraphEmitter::wrap(model.graph->add_input(
      "x", Type::tensor(DType::kFloat, Dims{Dim::symbol("batch"), 3, 48, 48})));
  const Val first = e.call("Relu", {e.call("Conv", {x, e.constant(ramp_of({32, 3, 3, 3}))})});
  const Val second = e.call("Relu", {e.call("Conv", {first, e.constant(ramp_of({48, 32, 3, 3}))})});
  const Val rows = e.call("Reshape", {second, e.int64s({0, 48, 44 * 44})});
  const Val product = e.call("MatMul", {rows, e.constant(ramp_of({44 * 44, 64}))});
  const Val y = e.call("Softmax", {product});
  model.graph->rename(*GraphEmitter::unwrap(y), "y");
  model.graph->add_output(GraphEmitter::unwrap(y));
  return model;
}

std::vector<float> result_of(const Session& session) {
  const Datum y = session.run({{"x", ramp_of({2, 3, 48, 48})}})[0];
  const auto values = y.tensor().values<float>();
  return {values.begin(), values.end()};
}

TEST(SessionThreads, give_the_same_bits_run_after_run) {
  const Session session(network(), {.intra_op_threads = 4});
  const std::vector<float> first = result_of(session);
  for (int i = 0; i < 50; ++i)
    ASSERT_EQ(result_of(session), first);
}

TEST(SessionThreads, are_there_in_a_forked_child) {
  if (kThreadSanitizer) GTEST_SKIP() << "ThreadSanitizer ends children of many threads";
  const Session session(network(), {.intra_op_threads = 2});
  const std::vector<float> expected = result_of(session);
  for (int i = 0; i < 20; ++i) {
    ASSERT_TRUE(ends_well_in_child([&] {
      const Session own(network(), {.intra_op_threads = 2});
      return result_of(session) == expected && result_of(own) == expected;
    }));
  }
}

TEST(SessionThreads, are_shared_by_all_sessions_and_end_with_the_last) {
  const size_t before = settled_tasks_of_process();
  {
    const Session a(network(), {.intra_op_threads = 3}), b(network(), {.intra_op_threads = 3});
    std::vector<std::thread> requests;
    std::atomic<size_t> most = 0;
    for (int i = 0; i < 8; ++i)
      requests.emplace_back([&] {
        result_of(a);
        most = std::max<size_t>(most, tasks_of_process());
        result_of(b);
      });
    for (std::thread& request : requests)
      request.join();
    EXPECT_LE(most, before + 8 + 2);
  }
  EXPECT_TRUE(tasks_of_process_settle_at(before));
}

// Work for a program's own threads, done where and when the test says.
struct Queue {
  std::mutex mutex;
  std::deque<std::pair<void (*)(void*), void*>> work;

  static void submit(void* state, void (*work)(void*), void* argument) {
    auto& queue = *static_cast<Queue*>(state);
    const std::lock_guard lock(queue.mutex);
    queue.work.emplace_back(work, argument);
  }
  static int concurrency(void*) { return 3; }
  bool run_one() {
    std::unique_lock lock(mutex);
    if (work.empty()) return false;
    const auto [next, argument] = work.front();
    work.pop_front();
    lock.unlock();
    next(argument);
    return true;
  }
};

TEST(SessionThreads, may_be_the_programs_own) {
  Queue queue;
  const size_t before = settled_tasks_of_process();
  const auto pool = make_thread_pool(ExternalThreads{&queue, &Queue::submit, &Queue::concurrency});
  {
    const Session session(network(), {.thread_pool = pool});
    const std::vector<float> alone = result_of(session);
    EXPECT_FALSE(queue.work.empty());
    std::atomic<bool> is_over = false;
    std::thread helper([&] {
      while (!is_over)
        queue.run_one();
    });
    for (int i = 0; i < 20; ++i)
      EXPECT_EQ(result_of(session), alone);
    is_over = true;
    helper.join();
  }
  while (queue.run_one()) {  // late, after the session
  }
  EXPECT_TRUE(tasks_of_process_settle_at(before));
}

TEST(SessionThreads, are_refused_beyond_bounds) {
  for (const int threads : {-1, kMaxThreads + 1, 1 << 30}) {
    try {
      const Session session(network(), {.intra_op_threads = threads});
      ADD_FAILURE() << threads;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
      EXPECT_NE(std::string(error.what()).find("intra_op_threads: expected 0 to 1024, got"),
                std::string::npos)
          << error.what();
    }
  }
}

}  // namespace
}  // namespace sardonyx
