// Random graphs as exporters write them: what all families of motifs share.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "ir/graph.h"
#include "ir/value_compare.h"
#include "tests/graphs/draw.h"

namespace sardonyx::graph_test {

using Ints = std::vector<int64_t>;

// One graph and what it is run with.
struct GraphCase {
  std::string motifs;  // "conv, residual, head": what it is made of, in order
  Model model;
  std::vector<std::vector<Datum>> inputs;  // for several sets of sizes, zero among them
  int64_t opset = 20;                      // that its file is written in
  // Between -O0, -O2 and another runtime.
  Tolerance tolerance{.rtol = 1e-3, .atol = 1e-6, .relative_to_max = 5e-5};
  // Of quantised graphs, in which a value at a tie may be rounded either way: how far an element
  // may be off, and how far all are on average. 0: the tolerance holds for each element.
  double most_off = 0, mean_off = 0;
  // Why another runtime gives something else, rightly or by its own lights; empty: it must agree.
  std::string differs;
};

class GraphBuilder {
 public:
  using Sizes = std::map<std::string, int64_t, std::less<>>;  // of symbols, in one run
  // What an input holds in a run: of this shape, drawn anew.
  using Values = std::function<Tensor(const Shape& shape, Draw& draw, const Sizes& sizes)>;

  explicit GraphBuilder(uint64_t seed) : draw(seed), emitter(*made.model.graph) {}

  Draw draw;
  GraphCase made;
  GraphEmitter emitter;

  // Adds to the names of motifs.
  void note(std::string_view motif);
  // A dim that takes these sizes from run to run; or, by chance, is the first of them for good.
  Dim dim(const std::string& name, const Ints& sizes);
  Val input(const std::string& name, DType dtype, const Dims& dims, Values values);
  // Floats in [low, high].
  Val floats(const std::string& name, const Dims& dims, double low = -1, double high = 1);
  // Integers in [low, high], of any integer type.
  Val integers(const std::string& name, DType dtype, const Dims& dims, int64_t low, int64_t high);
  // A constant whose products with values of size 1 have a sum of size 1; `fan_in`: of how many.
  Val weight(const Shape& shape, int64_t fan_in);
  Val constant(const Shape& shape, double low, double high);
  Val scalar(double value) { return emitter.constant(Tensor::scalar(static_cast<float>(value))); }
  Val ints(const Ints& values) { return emitter.int64s(values); }

  Val call(std::string_view op, std::initializer_list<Val> inputs, const AttrMap& attrs = {}) {
    return emitter.call(op, inputs, attrs);
  }
  Vals calls(std::string_view op, const Vals& inputs, const AttrMap& attrs, size_t outputs) {
    return emitter.call_many(op, inputs, attrs, outputs);
  }
  Type type(const Val& val) const { return emitter.type(val); }
  // A size that the graph fixes.
  int64_t size(const Val& val, size_t axis) const { return (*type(val).shape)[axis].value(); }
  void output(const Val& val);

  // The graph with its inputs for `count` runs; to be called once, last.
  GraphCase finish(size_t count);

 private:
  struct Input {
    Type type;
    Values values;
  };
  std::vector<Input> inputs_;
  std::map<std::string, Ints, std::less<>> sizes_;  // by symbol
};

// A body of a loop or a branch under construction.
class Inner {
 public:
  // `captured`: values of the graph around that it may use.
  Inner(const GraphBuilder& around, const Vals& captured);
  Val capture(size_t index) const { return captures_[index]; }
  Val input(const std::string& name, const Type& type);
  void output(const Val& val) { graph->add_output(GraphEmitter::unwrap(val)); }
  Val call(std::string_view op, std::initializer_list<Val> inputs, const AttrMap& attrs = {}) {
    return emitter.call(op, inputs, attrs);
  }
  std::shared_ptr<Graph> graph = std::make_shared<Graph>();
  GraphEmitter emitter{*graph};

 private:
  Vals captures_;
};

// A node with subgraphs, which capture `captured`.
Vals control(GraphBuilder& builder, std::string_view op, Vals inputs, const AttrMap& attrs,
             const Vals& captured, size_t outputs);

Tensor drawn_floats(const Shape& shape, double low, double high, Draw& draw);
Tensor drawn_integers(DType dtype, const Shape& shape, int64_t low, int64_t high, Draw& draw);

}  // namespace sardonyx::graph_test
