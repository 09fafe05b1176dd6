// Sequences of many threads, without a session: these tests may be built with a sanitizer in a
// minute.
#include <gtest/gtest.h>

#include <thread>

#include "executor/serving/sequence_table.h"

namespace sardonyx::serving {
namespace {

// y = x + before, where y is the next request's `before`; two runs at a time, eight items each.
class SequenceThreads : public testing::Test {
 protected:
  SequenceThreads() {
    SequenceConfig config;
    config.max_sequences = 3;
    config.max_idle = std::chrono::seconds(60);
    config.states.push_back({"before", "y", DType::kFloat, {1}, ""});
    ModelConfig model;
    model.name = "sum";
    model.max_batch_size = 8;
    SchedulingPolicy policy;
    policy.has_batch_dim = policy.batches = true;
    policy.max_batch = 8;
    policy.instances = 2;
    scheduler_ = std::make_shared<Scheduler>(
        policy, std::vector<std::string>{"x", "before"}, std::vector<std::string>{"y"},
        [](std::span<const Datum> inputs, const RunOptions&) { return run(inputs); }, threads_,
        statistics_);
    const Type type = Type::tensor(DType::kFloat, Dims{Dim::symbol("batch"), 1});
    const std::vector<ValueInfo> inputs = {{"x", type}, {"before", type}}, outputs = {{"y", type}};
    table_ = std::make_shared<SequenceTable>(config, inputs, outputs, "", model, scheduler_,
                                             threads_, statistics_);
  }
  ~SequenceThreads() override {
    table_->close();
    scheduler_->close();
  }

  static std::vector<Datum> run(std::span<const Datum> inputs) {
    const auto x = inputs[0].tensor().values<float>(), before = inputs[1].tensor().values<float>();
    Tensor y = Tensor::allocate(DType::kFloat, inputs[0].tensor().shape());
    for (size_t i = 0; i < x.size(); ++i)
      y.mutable_values<float>()[i] = x[i] + before[i];
    return {Datum(y)};
  }
  static InferRequest request(uint64_t id, int part, int parts) {
    InferRequest request;
    request.sequence = {"", id, part == 0, part == parts - 1};
    request.inputs = {Datum(Tensor::of<float>({1}, {1, 1})), Datum()};
    return request;
  }
  bool comes_to_rest() const {
    const auto until = Clock::now() + std::chrono::seconds(30);
    while (statistics_->snapshot().pending > 0 && Clock::now() < until)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return statistics_->snapshot().pending == 0;
  }
  // Calls work(id) for `sequences` ids from each of four threads.
  template <typename Work>
  static void in_threads(int sequences, const Work& work) {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&work, t, sequences] {
        for (int i = 0; i < sequences; ++i)
          work(static_cast<uint64_t>(1 + t * sequences + i));
      });
    }
  }

  RunThreads threads_;
  const std::shared_ptr<Statistics> statistics_ = std::make_shared<Statistics>();
  std::shared_ptr<Scheduler> scheduler_;
  std::shared_ptr<SequenceTable> table_;
};

TEST_F(SequenceThreads, EachSequenceAddsUpItsOwn) {
  constexpr int kSequences = 100, kParts = 4;
  std::atomic<int> right = 0;
  in_threads(kSequences, [&](uint64_t id) {
    for (int part = 0; part < kParts; ++part) {
      table_->submit(request(id, part, kParts), [&, part](InferResult&& result) {
        right += !result.error &&
                 result.outputs[0].tensor().values<float>()[0] == static_cast<float>(part + 1);
      });
    }
  });
  EXPECT_TRUE(comes_to_rest());
  EXPECT_EQ(right, 4 * kSequences * kParts);
  EXPECT_EQ(table_->sequences(), 0u);
}

TEST_F(SequenceThreads, CancelsAndDeadlinesAnswerEachRequestOnce) {
  constexpr int kSequences = 300, kParts = 3;
  std::atomic<int> answers = 0;
  in_threads(kSequences, [&](uint64_t id) {
    for (int part = 0; part < kParts; ++part) {
      const uint64_t kind = id + static_cast<uint64_t>(part);
      InferRequest one = request(id, part, kParts);
      if (kind % 5 == 0) one.timeout = std::chrono::microseconds(100);
      const auto ticket = table_->submit(std::move(one), [&](InferResult&&) { ++answers; });
      if (kind % 3 == 0) table_->cancel(ticket);
    }
  });
  EXPECT_TRUE(comes_to_rest());
  EXPECT_EQ(answers, 4 * kSequences * kParts);
}

TEST_F(SequenceThreads, WhatWaitsWhenItIsClosedIsAnsweredOnce) {
  constexpr int kSequences = 300, kParts = 3;
  std::atomic<int> answers = 0;
  std::jthread closing([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    table_->close();
    scheduler_->close();
  });
  in_threads(kSequences, [&](uint64_t id) {
    for (int part = 0; part < kParts; ++part)
      table_->submit(request(id, part, kParts), [&](InferResult&&) { ++answers; });
  });
  closing.join();
  EXPECT_TRUE(comes_to_rest());
  EXPECT_EQ(answers, 4 * kSequences * kParts);
}

}  // namespace
}  // namespace sardonyx::serving
