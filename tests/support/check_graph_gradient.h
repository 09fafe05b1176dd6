// Gradients of functions written in ops, for tests of what samples of rows can't say: subgraphs,
// sequences, captures.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "ir/autodiff/autodiff.h"
#include "ir/graph.h"
#include "ir/reference_evaluator.h"

namespace sardonyx::ops {

using Function = std::function<Val(Emitter& e, const Vals& inputs)>;

inline Tensor doubles(const Shape& shape, double first) {
  std::vector<double> values(static_cast<size_t>(element_count(shape)));
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = first + 0.3 * std::sin(1.7 * static_cast<double>(i) + first);
  return Tensor::of(values, shape);
}

inline Vals wrapped(const std::vector<Datum>& inputs) {
  Vals vals;
  for (const Datum& input : inputs)
    vals.push_back(ReferenceEmitter::wrap(input));
  return vals;
}

// The sum of sin(y) times its place, so that every element counts differently.
inline Val loss(Emitter& e, const Val& y) {
  const Val flat = e.call("Reshape", {y, e.int64s({-1})});
  const Val places =
      e.call("Range", {e.scalar(DType::kInt64, 1),
                       e.call("Add", {e.call("Size", {flat}), e.scalar(DType::kInt64, 1)}),
                       e.scalar(DType::kInt64, 1)});
  const Val weights = e.call("CastLike", {places, flat});
  return e.call("ReduceSum", {e.call("Mul", {e.call("Sin", {flat}), weights})},
                {{"keepdims", int64_t{0}}});
}

inline double at_once(const Function& function, const std::vector<Datum>& inputs) {
  ReferenceEmitter e;
  const Val y = loss(e, function(e, wrapped(inputs)));
  return ReferenceEmitter::unwrap(y).tensor().to_doubles()[0];
}

inline std::vector<Datum> gradients_at_once(const Function& function,
                                            const std::vector<Datum>& inputs,
                                            const std::vector<size_t>& wanted) {
  ReferenceEmitter reference;
  RecordingEmitter e(reference);
  const Vals vals = wrapped(inputs);
  const Val y = loss(e, function(e, vals));
  Vals xs;
  for (const size_t i : wanted)
    xs.push_back(vals[i]);
  std::vector<Datum> found;
  for (const Val& gradient : e.gradients(std::vector{y}, Vals(1), xs))
    found.push_back(gradient ? ReferenceEmitter::unwrap(gradient) : Datum());
  return found;
}

inline std::vector<Datum> gradients_of_graph(const Function& function,
                                             const std::vector<Datum>& inputs,
                                             const std::vector<size_t>& wanted) {
  Graph graph;
  GraphEmitter nodes(graph);
  RecordingEmitter e(nodes);
  Vals vals, xs;
  for (size_t i = 0; i < inputs.size(); ++i) {
    Type type = inputs[i].type();
    for (size_t k = 0; k < type.rank(); ++k)
      (*type.shape)[k] = Dim::symbol("n" + std::to_string((*type.shape)[k].value()));
    vals.push_back(GraphEmitter::wrap(graph.add_input("x" + std::to_string(i), type)));
  }
  const Val y = loss(e, function(e, vals));
  for (const size_t i : wanted)
    xs.push_back(vals[i]);
  for (const Val& gradient : e.gradients(std::vector{y}, Vals(1), xs))
    graph.add_output(GraphEmitter::unwrap(e.call("Identity", {gradient})));
  verify(graph);
  return evaluate(graph, inputs);
}

inline void expect_gradients(const Function& function, const std::vector<Datum>& inputs,
                             const std::vector<size_t>& wanted) {
  const std::vector<Datum> direct = gradients_at_once(function, inputs, wanted);
  const std::vector<Datum> traced = gradients_of_graph(function, inputs, wanted);
  for (size_t k = 0; k < wanted.size(); ++k) {
    const Tensor& x = inputs[wanted[k]].tensor();
    ASSERT_TRUE(direct[k].defined()) << "input " << wanted[k];
    ASSERT_EQ(direct[k].tensor().shape(), x.shape());
    const std::vector<double> a = direct[k].tensor().to_doubles(),
                              b = traced[k].tensor().to_doubles();
    for (size_t i = 0; i < a.size(); ++i) {
      const auto moved = [&](double by) {
        std::vector<double> values = x.to_doubles();
        values[i] += by;
        std::vector<Datum> changed = inputs;
        changed[wanted[k]] = Tensor::of(values, x.shape());
        return at_once(function, changed);
      };
      EXPECT_NEAR(a[i], (moved(1e-6) - moved(-1e-6)) / 2e-6, 1e-6 * std::max(1.0, std::fabs(a[i])))
          << "input " << wanted[k] << ", element " << i;
      EXPECT_NEAR(a[i], b[i], 1e-12 * std::max(1.0, std::fabs(a[i])))
          << "input " << wanted[k] << ", element " << i;
    }
  }
}

// The first derivative by input 1, summed: so that expect_gradients sees second derivatives.
inline Function derivative(const Function& function) {
  return [=](Emitter& outer, const Vals& inputs) {
    RecordingEmitter e(outer);
    const Val y = loss(e, function(e, inputs));
    return e.gradients(std::vector{y}, Vals(1), std::vector{inputs[1]})[0];
  };
}

}  // namespace sardonyx::ops
