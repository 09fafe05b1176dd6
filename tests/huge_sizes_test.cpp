// Models of one node whose inputs are declared with huge sizes: no inference, pass or body takes
// time or memory in proportion to them, and what is refused is refused for a reason.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "executor/session.h"
#include "ir/graph.h"

namespace sardonyx {
namespace {

Model model_of(const OpDef& op, const Sample& sample, DType dtype, int64_t size, int64_t huge) {
  Model model;
  GraphEmitter emitter(*model.graph);
  std::vector<Val> inputs;
  for (const SampleInput& input : sample.inputs) {
    if (input.omitted) {
      inputs.emplace_back();
    } else if (input.value) {
      inputs.push_back(emitter.constant(*input.value));
    } else {
      Shape shape = input.shape;
      std::ranges::replace(shape, size, huge);
      const Type type =
          Type::tensor(input.dtype == DType::kUndefined ? dtype : input.dtype, to_dims(shape));
      inputs.push_back(GraphEmitter::wrap(model.graph->add_input(text("in", inputs.size()), type)));
    }
  }
  const Attrs attrs = Attrs::parse(*op.attrs, sample.attrs);
  for (const Val& output : emitter.emit(op, inputs, attrs, sample.outputs)) {
    if (output) model.graph->add_output(GraphEmitter::unwrap(output));
  }
  return model;
}

// Was the model taken?
bool is_loaded(const OpDef& op, const Sample& sample, DType dtype, int64_t size, int64_t huge) {
  try {
    const Session session(
        model_of(op, sample, dtype, size, huge),
        {.intra_op_threads = 1, .optimization_level = 3, .memory_limit = 64 << 20});
    return true;
  } catch (const Error& error) {
    EXPECT_NE(error.code(), ErrorCode::kInternal) << error.what();
    return false;
  }
}

TEST(HugeSizes, AreNoWorkBeforeARun) {
  size_t loaded = 0;
  for (const OpDef* op : all_ops()) {
    if (!op->samples) continue;
    for (const Sample& sample : op->samples()) {
      SCOPED_TRACE(full_name(*op));
      std::set<int64_t> sizes;
      for (const SampleInput& input : sample.inputs) {
        if (!input.omitted && !input.value) sizes.insert(input.shape.begin(), input.shape.end());
      }
      for (const int64_t size : sizes) {
        for (const DType dtype : {DType::kFloat, DType::kUInt8, DType::kInt64})
          loaded += is_loaded(*op, sample, dtype, size, int64_t{1} << 33);
      }
    }
  }
  EXPECT_GT(loaded, 500u);
}

}  // namespace
}  // namespace sardonyx
