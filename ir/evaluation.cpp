#include "ir/evaluation.h"

#include <utility>

namespace sardonyx {
namespace {

thread_local const StepCall* t_step_call = nullptr;

}  // namespace

const Datum DatumRefs::kOmitted;

std::vector<Datum> DatumRefs::copies() const {
  std::vector<Datum> data;
  for (const Datum* datum : data_)
    data.push_back(datum ? *datum : Datum());
  return data;
}

void evaluate_step(const StepCall& call) {
  static const SubgraphRunner kNone;
  t_step_call = &call;
  call.op.evaluate({call.op, call.raw_attrs, {}, {}, call.outputs.size(), kNone});
  SARDONYX_CHECK(!t_step_call);
}

namespace detail {

const StepCall* take_step_call() {
  return std::exchange(t_step_call, nullptr);
}

std::vector<Datum> call_once(const EvalCall& call, void (*evaluator)(const StepCall&)) {
  std::vector<Datum> outputs(call.output_count);
  const StepRunner run = [&](const Graph& graph, DatumRefs inputs, DatumRefs captures,
                             std::span<Datum> results) {
    std::vector<Datum> made = call.run_subgraph(graph, inputs.copies(), captures.copies());
    std::move(made.begin(), made.end(), results.begin());
  };
  const DatumPointers inputs(call.inputs), captures(call.captures);
  evaluator({call.op, call.raw_attrs, inputs, captures, outputs, run});
  for (Datum& output : outputs) {
    if (output.is_tensor() && !holds_tensor(output)) output = Datum();
  }
  return outputs;
}

void call_anew(const StepCall& call, std::vector<Datum> (*evaluator)(const EvalCall&)) {
  const SubgraphRunner run = [&](const Graph& graph, std::span<const Datum> inputs,
                                 std::span<const Datum> captures) {
    std::vector<Datum> results(graph.outputs().size());
    call.run_subgraph(graph, DatumPointers(inputs), DatumPointers(captures), results);
    return results;
  };
  const std::vector<Datum> inputs = call.inputs.copies(), captures = call.captures.copies();
  std::vector<Datum> results =
      evaluator({call.op, call.raw_attrs, inputs, captures, call.outputs.size(), run});
  results.resize(call.outputs.size());
  std::move(results.begin(), results.end(), call.outputs.begin());
}

}  // namespace detail
}  // namespace sardonyx
