#include "executor/batching/memory_gate.h"
#include "executor/batching/session_runner.h"

#include "executor/serving/repository_for_test.h"

namespace sardonyx::serving {
namespace {

using testing::ElementsAre;

TEST(MemoryPlanTest, IsMadeWithoutARun) {
  Model model;
  GraphEmitter e(*model.graph);
  const Val x = GraphEmitter::wrap(
      model.graph->add_input("x", Type::tensor(DType::kFloat, Dims{Dim::symbol("rows"), Dim(16)})));
  const Val scores = e.call("MatMul", {x, e.call("Transpose", {x})});
  Value* y = GraphEmitter::unwrap(e.call("ReduceMax", {e.call("Softmax", {scores})}));
  y->name = "y";
  model.graph->add_output(y);
  const Session session(std::move(model));
  const std::vector<Datum> inputs = {Tensor::zeros(DType::kFloat, {4096, 16})};
  constexpr size_t kScores = size_t{4096} * 4096 * sizeof(float);
  EXPECT_GE(session.memory_plan(inputs).arena_bytes, kScores);
  EXPECT_LT(session.stats().memory_peak, kScores);
}

// The plan that tells how much memory a run needs packs the weights, which may take long.
TEST(SessionRunnerTest, ARunThatIsOverByThenIsNotPlanned) {
  Model model;
  GraphEmitter e(*model.graph);
  const Val x = GraphEmitter::wrap(
      model.graph->add_input("x", Type::tensor(DType::kFloat, Dims{Dim::symbol("rows"), Dim(16)})));
  model.graph->add_output(GraphEmitter::unwrap(e.call("Neg", {x})));
  Session session(std::move(model));
  SessionRunner runner(session, std::make_shared<MemoryGate>(uint64_t{1} << 30));
  const std::vector<Datum> inputs = {Tensor::zeros(DType::kFloat, {4, 16})};
  std::stop_source stop;
  stop.request_stop();
  RunOptions cancelled, late;
  cancelled.cancel = stop.get_token();
  late.deadline = std::chrono::milliseconds(0);
  EXPECT_THROW(runner.run(inputs, cancelled), Error);
  EXPECT_THROW(runner.run(inputs, late), Error);
  EXPECT_EQ(session.stats().plans, 0u);
  EXPECT_EQ(runner.run(inputs, {}).size(), 1u);
  EXPECT_EQ(session.stats().plans, 1u);
}

using MemoryGateTest = RepositoryTest;

TEST_F(MemoryGateTest, ARunThatDoesNotFitIsRefusedAndSmallerOnesAreServed) {
  // The largest value of softmax(x * x'), a matrix of rows x rows.
  Model model;
  GraphEmitter e(*model.graph);
  const Val x = GraphEmitter::wrap(model.graph->add_input(
      "x", Type::tensor(DType::kFloat, Dims{Dim::symbol("rows"), Dim(1024)})));
  const Val scores = e.call("MatMul", {x, e.call("Transpose", {x})});
  Value* y = GraphEmitter::unwrap(e.call("ReduceMax", {e.call("Softmax", {scores})}));
  y->name = "y";
  model.graph->add_output(y);
  fs::create_directories(folder_ / "scores/1");
  save_model(model, folder_ / "scores/1/model.onnx");
  RepositoryOptions limited = options();
  limited.total_memory = 32 << 20;
  ModelRepository repository(limited);
  EXPECT_THAT(repository.start(), ElementsAre());
  const auto served = repository.find("scores", "");
  const auto ask = [&](int64_t rows) {
    const InferResult result = result_of(served, "x", Tensor::zeros(DType::kFloat, {rows, 1024}));
    return result.error ? result.error->status() : Status::kOk;
  };
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(ask(1024), Status::kOk);                 // 4 MiB of scores
    EXPECT_EQ(ask(4096), Status::kResourceExhausted);  // 64 MiB
    EXPECT_EQ(ask(1024), Status::kOk);
  }
}

}  // namespace
}  // namespace sardonyx::serving
