// Cases for the tests of fusion passes: a pass fires where it should, does not where it should not,
// and leaves the numbers as they were.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "ir/reference_evaluator.h"

namespace sardonyx::passes {

using Apply = bool (*)(Graph&, Node&);
using Ints = std::vector<int64_t>;

inline Tensor random_floats(const Shape& shape, uint32_t seed) {
  Tensor tensor = Tensor::allocate(DType::kFloat, shape);
  std::mt19937 generator(seed);
  std::uniform_real_distribution<float> uniform(0.25f, 1.25f);
  for (float& value : tensor.mutable_values<float>())
    value = uniform(generator) - 0.5f;
  return tensor;
}

inline Tensor positive_floats(const Shape& shape, uint32_t seed) {
  Tensor tensor = random_floats(shape, seed);
  for (float& value : tensor.mutable_values<float>())
    value += 1;
  return tensor;
}

// A graph in the making, with values for its inputs.
class Builder {
 public:
  Val input(const Shape& shape) {
    Value* value = graph_.add_input("", Type::tensor(DType::kFloat, to_dims(shape)));
    inputs_.emplace_back(random_floats(shape, static_cast<uint32_t>(inputs_.size() + 1)));
    return GraphEmitter::wrap(value);
  }
  Val constant(const Shape& shape) {
    return emitter_.constant(random_floats(shape, static_cast<uint32_t>(100 + ++constants_)));
  }
  Val positive(const Shape& shape) {
    return emitter_.constant(positive_floats(shape, static_cast<uint32_t>(100 + ++constants_)));
  }
  Val value(Tensor value) { return emitter_.constant(std::move(value)); }
  Val scalar(float value) { return emitter_.constant(Tensor::scalar(value)); }
  Val ints(const Ints& values) { return emitter_.constant(Tensor::vector(values)); }
  Val call(std::string_view op, std::initializer_list<Val> inputs, const AttrMap& attrs = {}) {
    return emitter_.call(op, inputs, attrs);
  }
  void output(const Val& val) { graph_.add_output(GraphEmitter::unwrap(val)); }

  Graph& graph() { return graph_; }
  std::vector<Datum> evaluate() const { return sardonyx::evaluate(graph_, inputs_); }

 private:
  Graph graph_;
  GraphEmitter emitter_{graph_};
  std::vector<Datum> inputs_;
  size_t constants_ = 0;
};

inline int apply_everywhere(Graph& graph, Apply apply) {
  int changes = 0;
  for (auto at = graph.nodes().begin(); at != graph.nodes().end();) {
    if (!apply(graph, **at)) {
      ++at;
      continue;
    }
    ++changes;
    verify(graph);
    at = graph.nodes().begin();
  }
  return changes;
}

inline std::vector<std::string> op_names(const Graph& graph) {
  std::vector<std::string> names;
  for (const auto& node : graph.nodes())
    names.emplace_back(node->op->name);
  return names;
}

inline void expect_same(const std::vector<Datum>& got, const std::vector<Datum>& expected) {
  ASSERT_EQ(got.size(), expected.size());
  for (size_t i = 0; i < got.size(); ++i) {
    const auto a = got[i].tensor().values<float>(), b = expected[i].tensor().values<float>();
    ASSERT_EQ(got[i].tensor().shape(), expected[i].tensor().shape());
    for (size_t j = 0; j < a.size(); ++j) {
      if (a[j] == b[j]) continue;  // infinities among others
      ASSERT_NEAR(a[j], b[j], 1e-5 * (1 + std::abs(b[j]))) << "output " << i << ", element " << j;
    }
  }
}

struct Case {
  const char* name;
  std::function<void(Builder&)> build;
  std::vector<Apply> apply;
  std::vector<std::string> ops;  // afterwards; where no pass fires, those of before
  int changes;
};

// Checks what the passes leave, and returns how many changes they made. With `cleans`, nodes that
// nobody reads any more go first.
inline int changes_of(const Case& c, bool cleans = false) {
  Builder builder;
  c.build(builder);
  const std::vector<Datum> expected = builder.evaluate();
  int changes = 0;
  for (const Apply apply : c.apply)
    changes += apply_everywhere(builder.graph(), apply);
  if (cleans) remove_dead_nodes(builder.graph());
  EXPECT_EQ(op_names(builder.graph()), c.ops);
  expect_same(builder.evaluate(), expected);
  return changes;
}

inline void check(const Case& c) {
  SCOPED_TRACE(c.name);
  EXPECT_EQ(changes_of(c), c.changes);
}

}  // namespace sardonyx::passes
