#include "ir/eval_call.h"

#include <gtest/gtest.h>

#include "ir/core/memory/scratch_arena.h"
#include "ir/core/run_control.h"
#include "ir/graph.h"
#include "ir/op_samples.h"
#include "ir/reference_evaluator.h"
#include "ir/value_compare.h"

namespace sardonyx {
namespace {

void run_graph(const Graph& graph, DatumRefs inputs, DatumRefs captures, std::span<Datum> outputs) {
  std::vector<Datum> results = evaluate(graph, inputs.copies(), captures.copies());
  std::move(results.begin(), results.end(), outputs.begin());
}

// A step's calls over what the one before left, of all rows that have an evaluator.
TEST(Evaluators, gives_the_same_again_and_again) {
  const SubgraphRunner run = run_graph;
  BufferPool pool(1 << 20);
  size_t called = 0;
  for (const OpDef* op : all_ops()) {
    if (!op->evaluate || !op->samples || op->is(kRandom)) continue;
    std::unique_ptr<StepMemory> memory;
    for (const Sample& sample : op->samples()) {
      const Attrs attrs = Attrs::parse(*op->attrs, sample.attrs);
      memory.reset();  // the attributes are those of another step
      std::vector<Datum> outputs(sample.outputs);
      for (const std::vector<Datum>& inputs : sample_inputs(*op, sample)) {
        const std::vector<Datum> expected = evaluate(*op, attrs, inputs, sample.outputs);
        for (int i = 0; i < 3; ++i) {
          for (Datum& output : outputs)
            i == 0 ? recycle(output, pool) : keep_own(output);
          const ScratchMark mark;
          op->evaluate({*op, attrs, DatumPointers(inputs), {}, outputs, run, &pool, &memory});
          for (size_t k = 0; k < outputs.size(); ++k) {
            const Comparison same = compare(outputs[k], expected[k], {0, 0, 0});
            EXPECT_TRUE(same) << full_name(*op) << ": " << same.reason;
          }
          ++called;
        }
      }
    }
  }
  EXPECT_GT(called, 100u);
}

// Millions of items are made in steps.
TEST(Evaluators, stop_while_they_make_a_long_sequence) {
  const SubgraphRunner run = run_graph;
  const OpDef& op = op_named("SequenceEmpty");
  const Attrs attrs = Attrs::parse(*op.attrs, {});
  RunControl control;
  control.deadline = std::chrono::steady_clock::now() - std::chrono::seconds(1);
  for (const size_t size : {size_t{1000}, size_t{1} << 20}) {
    std::vector<Datum> outputs(1);
    const EvalCall call{op, attrs, {}, {}, outputs, run};
    const ControlScope scope(control);
    if (size > 1000)
      EXPECT_THROW(call.sequence(0, Type::tensor(DType::kFloat), size), Error);
    else
      EXPECT_EQ(call.sequence(0, Type::tensor(DType::kFloat), size).items.size(), size);
    EXPECT_LE(outputs[0].sequence().items.size(), 1000u);
  }
}

}  // namespace
}  // namespace sardonyx
