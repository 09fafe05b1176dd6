#include "executor/serving/sequence_table.h"

#include "executor/serving/repository_for_test.h"

namespace sardonyx::serving {
namespace {

using testing::HasSubstr;

// y = x + before, where the sum is the next request's `before`.
class SequenceTest : public RepositoryTest {
 protected:
  void SetUp() override {
    Model model;
    GraphEmitter e(*model.graph);
    const auto input = [&](const char* name) {
      return GraphEmitter::wrap(
          model.graph->add_input(name, Type::tensor(DType::kFloat, Dims{Dim::symbol("batch"), 1})));
    };
    const Val x = input("x"), before = input("before");
    Value* y = GraphEmitter::unwrap(e.call("Add", {x, before}));
    y->name = "y";
    model.graph->add_output(y);
    fs::create_directories(folder_ / "sum/1");
    save_model(model, folder_ / "sum/1/model.onnx");
  }

  void serve(const std::string& more) {
    write("sum/config.pbtxt", "max_batch_size: 4 sequence_batching { " + more + R"(
      state { input_name: "before" output_name: "y" data_type: TYPE_FP32 dims: [ 1 ] } })");
    repository_ = std::make_unique<ModelRepository>(options());
    EXPECT_TRUE(repository_->start().empty());
    served_ = repository_->find("sum", "");
  }
  std::future<InferResult> begin(uint64_t id, float value, bool start, bool end,
                                 std::chrono::microseconds timeout = {}) {
    InferRequest request;
    if (timeout.count() > 0) request.timeout = timeout;
    request.sequence = {"", id, start, end};
    std::vector<NamedTensor> inputs;
    inputs.push_back({"x", Tensor::of<float>(std::vector<float>(items_, value),
                                             {static_cast<int64_t>(items_), 1})});
    served_->fill(request, std::move(inputs), {});
    const auto promise = std::make_shared<std::promise<InferResult>>();
    last_ = served_->submit(std::move(request), [promise](InferResult&& result) {
      promise->set_value(std::move(result));
    });
    return promise->get_future();
  }
  static float sum_of(std::future<InferResult> future) {
    const InferResult result = future.get();
    return result.error ? -1 : result.outputs[0].tensor().values<float>()[0];
  }
  float ask(uint64_t id, float value, bool start, bool end) {
    return sum_of(begin(id, value, start, end));
  }

  std::unique_ptr<ModelRepository> repository_;
  ModelRepository::ModelPointer served_;
  ServedModel::Ticket last_;  // of the request that was begun last
  size_t items_ = 1;          // of each request
};

TEST_F(SequenceTest, StatesGoFromOneRequestToTheNext) {
  serve("");
  EXPECT_THAT(begin(1, 5, false, false).get().error->message(), HasSubstr("START flag"));
  EXPECT_THAT(begin(0, 5, true, false).get().error->message(), HasSubstr("correlation ID"));
  EXPECT_EQ(ask(1, 5, true, false), 5);
  EXPECT_EQ(ask(2, 7, true, false), 7);
  EXPECT_EQ(ask(1, 1, false, false), 6);
  EXPECT_EQ(ask(2, 1, false, true), 8);
  EXPECT_EQ(ask(1, 1, false, false), 7);
  EXPECT_EQ(ask(2, 1, false, false), -1);  // has ended
}

TEST_F(SequenceTest, ARequestOfSeveralItemsIsRefusedAndBeginsNothing) {
  serve("");
  items_ = 2;
  EXPECT_THAT(begin(1, 5, true, false).get().error->message(),
              HasSubstr("model 'sum' must specify batch-size 1 due to requirements of sequence"));
  items_ = 1;
  EXPECT_THAT(begin(1, 5, false, false).get().error->message(), HasSubstr("START flag"));
}

TEST_F(SequenceTest, WhatFollowsAnEndNeedsAStartHoweverQuicklyItComes) {
  serve("");
  std::vector<std::future<InferResult>> all;
  for (int i = 0; i < 50; ++i) {
    all.push_back(begin(1, 1, true, false));
    all.push_back(begin(1, 2, false, true));
    all.push_back(begin(1, 3, false, false));
  }
  for (size_t i = 0; i < all.size(); ++i)
    EXPECT_EQ(sum_of(std::move(all[i])), i % 3 == 0 ? 1 : i % 3 == 1 ? 3 : -1) << i;
}

TEST_F(SequenceTest, SequencesBeyondTheirNumberWaitForOneToEnd) {
  serve("max_sequence_idle_microseconds: 60000000 oldest { max_candidate_sequences: 2 }");
  EXPECT_EQ(ask(1, 1, true, false), 1);
  EXPECT_EQ(ask(2, 2, true, false), 2);
  auto third = begin(3, 3, true, false);
  auto third_again = begin(3, 1, false, true);
  auto fourth = begin(4, 4, true, true);
  EXPECT_EQ(third.wait_for(std::chrono::milliseconds(50)), std::future_status::timeout);
  EXPECT_EQ(ask(1, 1, false, false), 2);  // those that have a place go on
  EXPECT_EQ(ask(1, 1, false, true), 3);
  EXPECT_EQ(sum_of(std::move(third)), 3);
  EXPECT_EQ(sum_of(std::move(third_again)), 4);
  EXPECT_EQ(sum_of(std::move(fourth)), 4);
}

TEST_F(SequenceTest, AnIdleSequenceLosesItsPlace) {
  serve("max_sequence_idle_microseconds: 100000 oldest { max_candidate_sequences: 1 }");
  EXPECT_EQ(ask(1, 1, true, false), 1);
  EXPECT_EQ(ask(2, 2, true, false), 2);  // waits for the first one's time to pass
  EXPECT_EQ(ask(1, 1, false, false), -1);
}

TEST_F(SequenceTest, WhatWaitsForAPlaceIsRefusedWhenTheModelGoes) {
  serve("oldest { max_candidate_sequences: 1 } max_sequence_idle_microseconds: 60000000");
  EXPECT_EQ(ask(1, 1, true, false), 1);
  auto waiting = begin(2, 2, true, false);
  served_.reset();
  repository_.reset();
  EXPECT_EQ(waiting.get().error->status(), Status::kUnavailable);
}

// The first has the only place; the others wait for it.
class WaitingSequenceTest : public SequenceTest {
 protected:
  void SetUp() override {
    SequenceTest::SetUp();
    serve("oldest { max_candidate_sequences: 1 } max_sequence_idle_microseconds: 60000000");
    EXPECT_EQ(ask(1, 1, true, false), 1);
  }
  static Status status_of(std::future<InferResult> future) {
    const InferResult result = future.get();
    return result.error ? result.error->status() : Status::kOk;
  }
};

TEST_F(WaitingSequenceTest, ADeadlineEndsTheWait) {
  auto second = begin(2, 2, true, false, std::chrono::milliseconds(50));
  auto behind = begin(2, 3, false, true);
  EXPECT_EQ(served_->pending(), 2);
  EXPECT_EQ(status_of(std::move(second)), Status::kDeadlineExceeded);
  EXPECT_EQ(status_of(std::move(behind)), Status::kCancelled);  // its sequence has not begun
  EXPECT_EQ(served_->pending(), 0);
  EXPECT_EQ(served_->statistics().snapshot().failures[static_cast<size_t>(Failure::kRejected)], 1u);
  EXPECT_EQ(ask(2, 1, false, false), -1);
  EXPECT_EQ(ask(1, 1, false, true), 2);
  EXPECT_EQ(ask(2, 5, true, true), 5);
}

TEST_F(WaitingSequenceTest, ACancelledRequestNoLongerWaits) {
  auto second = begin(2, 2, true, false);
  auto third = begin(3, 3, true, false);
  auto dropped = begin(3, 100, false, false);
  const ServedModel::Ticket ticket = last_;
  auto third_again = begin(3, 1, false, true);
  served_->cancel(ticket);
  served_->cancel(ticket);
  EXPECT_EQ(status_of(std::move(dropped)), Status::kCancelled);
  EXPECT_EQ(served_->pending(), 3);
  EXPECT_EQ(ask(1, 1, false, true), 2);
  EXPECT_EQ(sum_of(std::move(second)), 2);
  EXPECT_EQ(ask(2, 1, false, true), 3);
  EXPECT_EQ(sum_of(std::move(third)), 3);
  EXPECT_EQ(sum_of(std::move(third_again)), 4);
  EXPECT_EQ(served_->pending(), 0);
}

TEST_F(WaitingSequenceTest, ASequenceWhoseFirstRequestIsCancelledTakesNoPlace) {
  auto second = begin(2, 2, true, false);
  served_->cancel(last_);
  EXPECT_EQ(status_of(std::move(second)), Status::kCancelled);
  auto third = begin(3, 3, true, true);
  EXPECT_EQ(ask(1, 1, false, true), 2);
  EXPECT_EQ(sum_of(std::move(third)), 3);
  EXPECT_EQ(ask(4, 4, true, true), 4);
}

TEST_F(WaitingSequenceTest, CancelsAndRunsInManyThreadsAnswerEachRequestOnce) {
  EXPECT_EQ(ask(1, 1, false, true), 2);
  std::atomic<int> answers = 0;
  constexpr int kThreads = 4, kSequences = 200;
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < kThreads; ++t) {
      threads.emplace_back([&, t] {
        for (int i = 0; i < kSequences; ++i) {
          for (int part = 0; part < 3; ++part) {
            InferRequest request;
            request.sequence = {"", static_cast<uint64_t>(100 + t * kSequences + i), part == 0,
                                part == 2};
            if ((i + part) % 5 == 0) request.timeout = std::chrono::microseconds(100);
            std::vector<NamedTensor> inputs;
            inputs.push_back({"x", Tensor::of<float>({1}, {1, 1})});
            served_->fill(request, std::move(inputs), {});
            const auto ticket =
                served_->submit(std::move(request), [&](InferResult&&) { ++answers; });
            if ((i + part) % 3 == 0) served_->cancel(ticket);
          }
        }
      });
    }
  }
  const auto until = Clock::now() + std::chrono::seconds(10);
  while (answers < 3 * kThreads * kSequences && Clock::now() < until)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_EQ(answers, 3 * kThreads * kSequences);
  EXPECT_EQ(served_->pending(), 0);
}

}  // namespace
}  // namespace sardonyx::serving
