// Models of one node with huge sizes, as dims of inputs or as integers of attributes: no inference,
// pass, body or kernel takes time or memory in proportion to them, and what is refused is refused
// for a reason. What breaks this does not come back.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <set>

#include "executor/session.h"
#include "ir/graph.h"
#include "ir/op_samples.h"

namespace sardonyx {
namespace {

constexpr std::chrono::milliseconds kDeadline(100);

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
        {.intra_op_threads = 1, .optimization_level = 2, .memory_limit = 64 << 20});
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

// The op's attributes with one integer, or all of a list, made `huge`.
std::vector<AttrMap> enlarged(const OpDef& op, const Sample& sample, int64_t huge) {
  std::vector<AttrMap> all;
  for (const auto& [name, value] : Attrs::parse(*op.attrs, sample.attrs).to_map()) {
    AttrMap changed = sample.attrs;
    if (std::holds_alternative<int64_t>(value)) {
      changed[name] = huge;
      all.push_back(changed);
    } else if (const auto* list = std::get_if<std::vector<int64_t>>(&value)) {
      for (size_t i = 0; i < list->size(); ++i) {
        std::vector<int64_t> sizes = *list;
        sizes[i] = huge;
        changed[name] = sizes;
        all.push_back(changed);
      }
      changed[name] = std::vector<int64_t>(list->size(), huge);
      all.push_back(changed);
    }
  }
  return all;
}

void run_within_limits(const OpDef& op, const Sample& sample, const AttrMap& attrs,
                       const std::vector<Datum>& inputs) {
  try {
    Model model;
    GraphEmitter emitter(*model.graph);
    NamedData feeds;
    std::vector<Val> values;
    for (const Datum& input : inputs) {
      values.emplace_back();
      if (!input.defined()) continue;
      Value* value = model.graph->add_input(text("in", values.size()), input.type());
      feeds[value->name] = input;
      values.back() = GraphEmitter::wrap(value);
    }
    for (const Val& output :
         emitter.emit(op, values, Attrs::parse(*op.attrs, attrs), sample.outputs)) {
      if (output) model.graph->add_output(GraphEmitter::unwrap(output));
    }
    const Session session(
        std::move(model),
        {.intra_op_threads = 1, .memory_limit = 64 << 20, .load_deadline = kDeadline});
    session.run(feeds, {.deadline = kDeadline});
  } catch (const Error& error) {
    EXPECT_NE(error.code(), ErrorCode::kInternal) << error.what();
  }
}

TEST(HugeSizes, OfAttributesAreHeldToTheLimits) {
  size_t tried = 0;
  for (const OpDef* op : all_ops()) {
    if (!op->samples) continue;
    for (const Sample& sample : op->samples()) {
      const auto inputs = sample_inputs(*op, sample);
      if (inputs.empty()) continue;
      for (const int64_t huge : {int64_t{1} << 33, std::numeric_limits<int64_t>::max()}) {
        for (const AttrMap& attrs : enlarged(*op, sample, huge)) {
          SCOPED_TRACE(full_name(*op));
          run_within_limits(*op, sample, attrs, inputs[0]);
          ++tried;
        }
      }
    }
  }
  EXPECT_GT(tried, 1000u);
}

}  // namespace
}  // namespace sardonyx
