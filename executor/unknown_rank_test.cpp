// Ops that are written out in other ops, on inputs whose ranks a run alone tells.
#include <gtest/gtest.h>

#include <algorithm>

#include "executor/session.h"
#include "ir/op_samples.h"
#include "ir/value_compare.h"

namespace sardonyx {
namespace {

// One node on inputs of these types; what the sample gives as a value is a constant.
Model model_of(const OpDef& op, const Sample& sample, const std::vector<Datum>& inputs,
               bool has_shapes) {
  Model model;
  GraphEmitter emitter(*model.graph);
  Vals values;
  for (size_t i = 0; i < inputs.size(); ++i) {
    values.emplace_back();
    if (!inputs[i].defined()) continue;
    if (sample.inputs[i].value) {
      values.back() = emitter.constant(*sample.inputs[i].value);
      continue;
    }
    Type type = inputs[i].type();
    if (!has_shapes) type.shape.reset();
    values.back() = GraphEmitter::wrap(model.graph->add_input(text("x", i), type));
  }
  const Attrs attrs = Attrs::parse(*op.attrs, sample.attrs);
  for (const Val& output : emitter.emit(op, values, attrs, sample.outputs)) {
    if (output) model.graph->add_output(GraphEmitter::unwrap(output));
  }
  return model;
}

std::vector<Datum> fed(const Sample& sample, const std::vector<Datum>& inputs) {
  std::vector<Datum> feeds;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i].defined() && !sample.inputs[i].value) feeds.push_back(inputs[i]);
  }
  return feeds;
}

bool are_tensors(const std::vector<Datum>& inputs) {
  return std::ranges::all_of(
      inputs, [](const Datum& input) { return !input.defined() || input.is_tensor(); });
}

// Runs the sample with shapes and without; false where the op takes no such inputs.
bool agrees(const OpDef& op, const Sample& sample, const std::vector<Datum>& inputs, int level) {
  SessionOptions options;
  options.optimization_level = level;
  options.intra_op_threads = 1;
  options.log_level = LogLevel::kOff;
  const std::vector<Datum> feeds = fed(sample, inputs);
  if (feeds.empty()) return false;
  std::vector<Datum> expected;
  try {
    expected = Session(model_of(op, sample, inputs, true), options).run(feeds);
  } catch (const Error&) {
    return false;
  }
  const Session session(model_of(op, sample, inputs, false), options);
  const std::vector<Datum> got = session.run(feeds);
  for (size_t i = 0; i < got.size(); ++i) {
    const Comparison same = compare(got[i], expected[i], {.rtol = 1e-2, .atol = 1e-5});
    EXPECT_TRUE(same) << same.reason;
  }
  return true;
}

TEST(UnknownRanks, BodiesAreRunForTheShapesOfARun) {
  size_t ran = 0;
  for (const OpDef* op : all_ops()) {
    if (!op->body || !op->samples || op->domain == "sardonyx") continue;
    for (const Sample& sample : op->samples()) {
      const auto choices = sample_inputs(*op, sample);
      if (choices.empty() || !are_tensors(choices[0])) continue;
      SCOPED_TRACE(full_name(*op));
      for (const int level : {0, 2}) {
        try {
          ran += agrees(*op, sample, choices[0], level);
        } catch (const Error& error) {
          ADD_FAILURE() << error.what();
        }
      }
    }
  }
  EXPECT_GT(ran, 100u);
}

}  // namespace
}  // namespace sardonyx
