#include "executor/batching/scheduler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>
#include <latch>
#include <thread>

#include "executor/batching/batch.h"

namespace sardonyx::serving {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

// A model that doubles its input, notes the batch sizes of its runs and can be held up.
class FakeModel {
 public:
  std::vector<Datum> run(std::span<const Datum> inputs, const RunOptions& options) {
    const Tensor& in = inputs[0].tensor();
    {
      std::unique_lock lock(mutex_);
      sizes_.push_back(in.shape()[0]);
      ++running_;
      changed_.notify_all();
      while (is_held_ && !options.cancel.stop_requested())
        changed_.wait_for(lock, 1ms);
      --running_;
      changed_.notify_all();
    }
    if (options.cancel.stop_requested()) throw Error(ErrorCode::kCancelled, "stopped");
    Tensor out = Tensor::allocate(DType::kFloat, in.shape());
    for (int64_t i = 0; i < in.count(); ++i) {
      const float value = in.values<float>()[static_cast<size_t>(i)];
      if (value < 0) throw Error(ErrorCode::kInvalidArgument, "negative element");
      out.mutable_values<float>()[static_cast<size_t>(i)] = 2 * value;
    }
    return {out};
  }
  void hold() { set_held(true); }
  void let_go() { set_held(false); }
  void wait_until_running(int count) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return running_ >= count; });
  }
  std::vector<int64_t> sizes() {
    const std::lock_guard lock(mutex_);
    return sizes_;
  }

 private:
  void set_held(bool held) {
    const std::lock_guard lock(mutex_);
    is_held_ = held;
    changed_.notify_all();
  }
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<int64_t> sizes_;
  int running_ = 0;
  bool is_held_ = false;
};

SchedulingPolicy batching(int64_t max_batch) {
  SchedulingPolicy policy;
  policy.has_batch_dim = true;
  policy.batches = true;
  policy.max_batch = max_batch;
  return policy;
}

InferRequest request_of(std::vector<float> values, int64_t columns = 1) {
  InferRequest request;
  const auto rows = static_cast<int64_t>(values.size()) / columns;
  request.inputs = {Tensor::of<float>(values, {rows, columns})};
  return request;
}

class SchedulerTest : public testing::Test {
 protected:
  void TearDown() override { model_.let_go(); }

  void start(SchedulingPolicy policy) {
    scheduler_ = std::make_shared<Scheduler>(
        policy, std::vector<std::string>{"x"}, std::vector<std::string>{"y"},
        [this](auto inputs, const auto& options) { return model_.run(inputs, options); }, threads_,
        statistics_);
  }
  std::future<InferResult> submit(InferRequest request, Scheduler::Ticket* ticket = nullptr,
                                  bool may_run_here = false) {
    const auto promise = std::make_shared<std::promise<InferResult>>();
    auto future = promise->get_future();
    const auto got = scheduler_->submit(
        std::move(request),
        [promise](InferResult&& result) { promise->set_value(std::move(result)); }, may_run_here);
    if (ticket) *ticket = got;
    return future;
  }
  // One request that keeps the only instance busy.
  std::future<InferResult> occupy() {
    model_.hold();
    auto first = submit(request_of({1}));
    model_.wait_until_running(1);
    return first;
  }
  static std::vector<float> values_of(const InferResult& result) {
    if (result.error) return {};
    const auto values = result.outputs[0].tensor().values<float>();
    return {values.begin(), values.end()};
  }
  static Status status_of(const InferResult& result) {
    return result.error ? result.error->status() : Status::kOk;
  }

  RunThreads threads_;
  FakeModel model_;
  std::shared_ptr<Statistics> statistics_ = std::make_shared<Statistics>();
  std::shared_ptr<Scheduler> scheduler_;
};

TEST_F(SchedulerTest, EachGetsItsPartOfAJointRun) {
  start(batching(8));
  auto first = occupy();
  auto a = submit(request_of({2}));
  auto b = submit(request_of({3, 4}));
  auto c = submit(request_of({5}));
  model_.let_go();
  EXPECT_THAT(values_of(first.get()), ElementsAre(2));
  EXPECT_THAT(values_of(a.get()), ElementsAre(4));
  EXPECT_THAT(values_of(b.get()), ElementsAre(6, 8));
  EXPECT_THAT(values_of(c.get()), ElementsAre(10));
  EXPECT_THAT(model_.sizes(), ElementsAre(1, 4));
  const StatisticsSnapshot counts = statistics_->snapshot();
  EXPECT_EQ(counts.inference_count, 5u);
  EXPECT_EQ(counts.execution_count, 2u);
  EXPECT_EQ(counts.success.count, 4u);
  EXPECT_EQ(counts.batches.at(4).compute_infer.count, 1u);
  EXPECT_EQ(counts.pending, 0);
}

TEST_F(SchedulerTest, AnIdleInstanceDoesNotWaitForTheDelay) {
  SchedulingPolicy policy = batching(8);
  policy.delay = 1h;
  start(policy);
  EXPECT_THAT(values_of(submit(request_of({1})).get()), ElementsAre(2));
}

TEST_F(SchedulerTest, WaitsForTheDelayWhereThatIsAskedFor) {
  SchedulingPolicy policy = batching(3);
  policy.delay = 1h;
  policy.waits_for_delay = true;
  start(policy);
  auto a = submit(request_of({1}));
  auto b = submit(request_of({2}));
  EXPECT_EQ(a.wait_for(20ms), std::future_status::timeout);
  auto c = submit(request_of({3}));
  EXPECT_THAT(values_of(a.get()), ElementsAre(2));
  EXPECT_THAT(values_of(c.get()), ElementsAre(6));
  EXPECT_THAT(model_.sizes(), ElementsAre(3));
}

TEST_F(SchedulerTest, NothingWaitsInFrontOfWhatCanNotJoinIt) {
  SchedulingPolicy policy = batching(8);
  policy.delay = 1h;
  policy.waits_for_delay = true;
  start(policy);
  auto narrow = submit(request_of({1}));
  auto also_narrow = submit(request_of({2}));
  EXPECT_EQ(narrow.wait_for(20ms), std::future_status::timeout);
  auto wide = submit(request_of({1, 2}, 2));
  EXPECT_THAT(values_of(narrow.get()), ElementsAre(2));
  EXPECT_THAT(values_of(also_narrow.get()), ElementsAre(4));
  EXPECT_EQ(wide.wait_for(20ms), std::future_status::timeout);
  EXPECT_THAT(model_.sizes(), ElementsAre(2));
  scheduler_->close();
}

TEST_F(SchedulerTest, WhatIsLargerThanThePreferredSizesDoesNotWait) {
  SchedulingPolicy policy = batching(8);
  policy.preferred = {2, 4};
  policy.delay = 1h;
  policy.waits_for_delay = true;
  start(policy);
  submit(request_of({1, 2, 3, 4, 5})).get();
  EXPECT_THAT(model_.sizes(), ElementsAre(5));
}

TEST_F(SchedulerTest, TheDelayEnds) {
  SchedulingPolicy policy = batching(8);
  policy.delay = 10ms;
  policy.waits_for_delay = true;
  start(policy);
  auto a = submit(request_of({1}));
  auto b = submit(request_of({2}));
  a.get();
  EXPECT_THAT(model_.sizes(), ElementsAre(2));
}

TEST_F(SchedulerTest, PreferredSizesGoFirst) {
  SchedulingPolicy policy = batching(8);
  policy.preferred = {2, 4};
  start(policy);
  auto first = occupy();
  std::vector<std::future<InferResult>> rest;
  for (int i = 0; i < 7; ++i)
    rest.push_back(submit(request_of({1})));
  model_.let_go();
  for (auto& one : rest)
    one.get();
  EXPECT_THAT(model_.sizes(), ElementsAre(1, 4, 2, 1));
}

TEST_F(SchedulerTest, OtherShapesDoNotCloseABatch) {
  start(batching(8));
  auto first = occupy();
  std::vector<std::future<InferResult>> rest;
  for (int i = 0; i < 3; ++i) {
    rest.push_back(submit(request_of({1, 2}, 2)));
    rest.push_back(submit(request_of({1, 2, 3}, 3)));
  }
  model_.let_go();
  for (auto& one : rest)
    EXPECT_EQ(status_of(one.get()), Status::kOk);
  EXPECT_THAT(model_.sizes(), ElementsAre(1, 3, 3));
}

TEST_F(SchedulerTest, ARequestLargerThanABatchRunsAlone) {
  start(batching(2));
  auto first = occupy();
  auto large = submit(request_of({1, 2, 3}));
  auto small = submit(request_of({4}));
  model_.let_go();
  EXPECT_THAT(values_of(large.get()), ElementsAre(2, 4, 6));
  EXPECT_THAT(values_of(small.get()), ElementsAre(8));
  EXPECT_THAT(model_.sizes(), ElementsAre(1, 3, 1));
}

TEST_F(SchedulerTest, OneBadRequestSpoilsNoOther) {
  start(batching(8));
  auto first = occupy();
  auto good = submit(request_of({1}));
  auto bad = submit(request_of({-1}));
  model_.let_go();
  EXPECT_THAT(values_of(good.get()), ElementsAre(2));
  const InferResult failed = bad.get();
  ASSERT_EQ(status_of(failed), Status::kInvalidArgument);
  EXPECT_THAT(failed.error->message(), HasSubstr("negative element"));
}

TEST_F(SchedulerTest, DeterministicRunsEachByItself) {
  SchedulingPolicy policy = batching(8);
  policy.deterministic = true;
  start(policy);
  auto first = occupy();
  auto a = submit(request_of({1}));
  auto b = submit(request_of({2, 3}));
  model_.let_go();
  EXPECT_THAT(values_of(a.get()), ElementsAre(2));
  EXPECT_THAT(values_of(b.get()), ElementsAre(4, 6));
  EXPECT_THAT(model_.sizes(), ElementsAre(1, 1, 2));
}

TEST_F(SchedulerTest, PrioritiesGoInOrder) {
  SchedulingPolicy policy;
  policy.has_batch_dim = true;
  policy.priority_levels = 2;
  policy.default_priority = 2;
  start(policy);
  auto first = occupy();
  auto late = submit(request_of({1, 1}));
  InferRequest urgent = request_of({1, 1, 1});
  urgent.priority = 1;
  auto early = submit(std::move(urgent));
  model_.let_go();
  late.get();
  early.get();
  EXPECT_THAT(model_.sizes(), ElementsAre(1, 3, 2));
}

TEST_F(SchedulerTest, AFullQueueRefusesAtOnce) {
  SchedulingPolicy policy = batching(1);
  policy.default_queue.max_size = 1;
  start(policy);
  auto first = occupy();
  auto waits = submit(request_of({1}));
  auto refused = submit(request_of({1}));
  ASSERT_EQ(refused.wait_for(0s), std::future_status::ready);
  EXPECT_EQ(status_of(refused.get()), Status::kResourceExhausted);
  model_.let_go();
  EXPECT_EQ(status_of(waits.get()), Status::kOk);
}

TEST_F(SchedulerTest, ATimeoutEndsTheWait) {
  SchedulingPolicy policy = batching(1);
  policy.default_queue.default_timeout = 5ms;
  start(policy);
  auto first = occupy();
  auto waits = submit(request_of({1}));
  EXPECT_EQ(status_of(waits.get()), Status::kDeadlineExceeded);
  EXPECT_EQ(statistics_->snapshot().failures[static_cast<size_t>(Failure::kRejected)], 1u);
}

TEST_F(SchedulerTest, AQueueThatAllowsNoOverrideHasItsOwnTimeout) {
  SchedulingPolicy policy = batching(1);
  policy.default_queue.default_timeout = 1h;
  start(policy);
  auto first = occupy();
  InferRequest request = request_of({1});
  request.timeout = 5ms;
  auto waits = submit(std::move(request));
  EXPECT_EQ(waits.wait_for(50ms), std::future_status::timeout);
  model_.let_go();
  EXPECT_EQ(status_of(waits.get()), Status::kOk);
}

TEST_F(SchedulerTest, DelayedRequestsAreServedLast) {
  SchedulingPolicy policy;
  policy.has_batch_dim = true;
  policy.default_queue.default_timeout = 300ms;
  policy.default_queue.delays_after_timeout = true;
  start(policy);
  auto first = occupy();
  auto delayed = submit(request_of({1, 1}));
  std::this_thread::sleep_for(600ms);
  auto fresh = submit(request_of({1, 1, 1}));
  model_.let_go();
  EXPECT_EQ(status_of(delayed.get()), Status::kOk);
  EXPECT_EQ(status_of(fresh.get()), Status::kOk);
  EXPECT_THAT(model_.sizes(), ElementsAre(1, 3, 2));
}

TEST_F(SchedulerTest, ADeadlineStopsTheRun) {
  start(batching(1));
  model_.hold();
  InferRequest request = request_of({1});
  request.timeout = 10ms;
  EXPECT_EQ(status_of(submit(std::move(request)).get()), Status::kDeadlineExceeded);
  // The instance is free again although nobody let the run go.
  while (statistics_->snapshot().pending > 0)
    std::this_thread::yield();
  model_.let_go();
  EXPECT_THAT(values_of(submit(request_of({1})).get()), ElementsAre(2));
}

TEST_F(SchedulerTest, CancellingStopsAWaitAndARun) {
  start(batching(1));
  model_.hold();
  Scheduler::Ticket running, waiting;
  auto runs = submit(request_of({1}), &running);
  model_.wait_until_running(1);
  auto waits = submit(request_of({1}), &waiting);
  scheduler_->cancel(waiting);
  EXPECT_EQ(status_of(waits.get()), Status::kCancelled);
  scheduler_->cancel(running);
  EXPECT_EQ(status_of(runs.get()), Status::kCancelled);
  scheduler_->cancel(running);  // once more changes nothing
  model_.let_go();
  EXPECT_THAT(values_of(submit(request_of({1})).get()), ElementsAre(2));
}

TEST_F(SchedulerTest, AJointRunGoesOnForThoseWhoStay) {
  start(batching(8));
  auto first = occupy();
  Scheduler::Ticket ticket;
  auto leaves = submit(request_of({1}), &ticket);
  auto stays = submit(request_of({2}));
  model_.let_go();
  first.get();
  scheduler_->cancel(ticket);
  EXPECT_THAT(values_of(stays.get()), ElementsAre(4));
  leaves.get();
}

TEST_F(SchedulerTest, AnswersComeInOrderWhereThatIsAskedFor) {
  SchedulingPolicy policy;
  policy.has_batch_dim = true;
  policy.preserves_order = true;
  policy.priority_levels = 2;
  policy.default_priority = 2;
  start(policy);
  auto first = occupy();
  std::mutex mutex;
  std::vector<int> order;
  std::latch done(2);
  const auto note = [&](int number) {
    return [&, number](InferResult&&) {
      const std::lock_guard lock(mutex);
      order.push_back(number);
      done.count_down();
    };
  };
  scheduler_->submit(request_of({1}), note(1));
  InferRequest urgent = request_of({1});
  urgent.priority = 1;
  scheduler_->submit(std::move(urgent), note(2));
  model_.let_go();
  done.wait();
  EXPECT_THAT(order, ElementsAre(1, 2));
}

TEST_F(SchedulerTest, WhoeverIsToldInOrderMaySubmitAndCancel) {
  SchedulingPolicy policy = batching(1);
  policy.preserves_order = true;
  policy.inline_below = 1h;
  start(policy);
  std::mutex mutex;
  std::vector<int> order;
  std::promise<void> done;
  const auto note = [&](int number) {
    const std::lock_guard lock(mutex);
    order.push_back(number);
    if (order.size() == 4) done.set_value();
  };
  const auto submit_noting = [&](int number, bool may_run_here) {
    return scheduler_->submit(
        request_of({1}), [&, number](InferResult&&) { note(number); }, may_run_here);
  };
  scheduler_->submit(request_of({1}), [&](InferResult&&) {
    submit_noting(2, /*may_run_here=*/true);
    submit_noting(3, /*may_run_here=*/false);
    scheduler_->cancel(submit_noting(4, /*may_run_here=*/false));
    note(1);
  });
  ASSERT_EQ(done.get_future().wait_for(30s), std::future_status::ready)
      << "a callback that submits waits for itself";
  EXPECT_THAT(order, ElementsAre(1, 2, 3, 4));
  scheduler_->close();
}

TEST_F(SchedulerTest, AQuickModelRunsInTheThreadThatAsks) {
  SchedulingPolicy policy = batching(1);
  policy.inline_below = 1h;
  start(policy);
  submit(request_of({1})).get();      // after one run it is known how long they take
  std::this_thread::sleep_for(50ms);  // the instance is free soon after the answer
  auto here = submit(request_of({1}), nullptr, /*may_run_here=*/true);
  EXPECT_EQ(here.wait_for(0s), std::future_status::ready);
}

TEST_F(SchedulerTest, ClosingRefusesWhatWaits) {
  start(batching(1));
  auto first = occupy();
  auto waits = submit(request_of({1}));
  std::jthread closing([&] { scheduler_->close(); });
  EXPECT_EQ(status_of(waits.get()), Status::kUnavailable);
  model_.let_go();
  closing.join();
  EXPECT_EQ(status_of(first.get()), Status::kOk);
  EXPECT_EQ(status_of(submit(request_of({1})).get()), Status::kUnavailable);
}

TEST_F(SchedulerTest, UnequalBatchSizesWithinARequestAreRefused) {
  start(batching(4));
  InferRequest request;
  request.inputs = {Tensor::zeros(DType::kFloat, {})};
  const InferResult result = submit(std::move(request)).get();
  ASSERT_EQ(status_of(result), Status::kInvalidArgument);
  EXPECT_THAT(result.error->message(), HasSubstr("expected a batch dim"));
}

TEST_F(SchedulerTest, NothingIsLostUnderLoad) {
  SchedulingPolicy policy = batching(16);
  policy.instances = 2;
  start(policy);
  std::atomic<int> right = 0, wrong = 0;
  {
    std::vector<std::jthread> clients;
    for (int t = 0; t < 8; ++t) {
      clients.emplace_back([&, t] {
        for (int i = 0; i < 200; ++i) {
          const float value = static_cast<float>(1000 * t + i);
          Scheduler::Ticket ticket;
          auto future = submit(request_of({value, value + 1}), &ticket, i % 3 == 0);
          if (i % 7 == 0) scheduler_->cancel(ticket);
          const InferResult result = future.get();
          const bool ok = result.error
                              ? status_of(result) == Status::kCancelled
                              : values_of(result) == std::vector<float>{2 * value, 2 * value + 2};
          ++(ok ? right : wrong);
        }
      });
    }
  }
  EXPECT_EQ(right, 1600);
  EXPECT_EQ(wrong, 0);
}

TEST(SplitOutputs, AnOutputWithoutTheBatchIsAnError) {
  const std::vector<Datum> outputs = {Tensor::zeros(DType::kFloat, {1})};
  const std::vector<int64_t> items = {1, 1};
  const std::vector<std::string> names = {"sum"};
  try {
    split_outputs(outputs, items, names);
    FAIL();
  } catch (const ServingError& error) {
    EXPECT_EQ(error.status(), Status::kInternal);
    EXPECT_THAT(error.message(), HasSubstr("'sum'"));
  }
}

}  // namespace
}  // namespace sardonyx::serving
