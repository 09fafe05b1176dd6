// Define, then run: a graph is built of placeholders and variables with the same functions and
// operators that compute at once elsewhere, and a session runs the parts of it that are asked for.
//
//   GraphBuilder g;
//   const Tensor a = g.placeholder(DType::kFloat, {}), b = g.placeholder(DType::kFloat, {});
//   const Tensor c = a * b;
//   const std::vector<Tensor> d = g.gradients(c, {a, b});
//   GraphSession session(g);
//   session.run({c, d[0], d[1]}, {{a, 15.f}, {b, 20.f}});  // 300, 20, 15
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "eager/tensor.h"

namespace sardonyx {
struct Model;
}

namespace sardonyx::eager {

// The graph of this thread from the constructor to end() or the destructor: ops on its tensors are
// recorded. Builders may be nested, and end in the reverse order. Ops on tensors that have values
// are computed at once, and where such a tensor meets a symbolic one it becomes a constant. The
// graph's tensors may be used as long as the builder or a session of it lives.
class GraphBuilder {
 public:
  explicit GraphBuilder(const std::string& name = "graph");
  ~GraphBuilder();
  GraphBuilder(const GraphBuilder&) = delete;
  GraphBuilder& operator=(const GraphBuilder&) = delete;

  // A value that each run is given. Dims may be symbols: Dim::symbol("batch").
  Tensor placeholder(DType dtype, const Dims& shape, const std::string& name = "");
  // A value that each session keeps from run to run, `initial` at first.
  Tensor variable(const Tensor& initial, const std::string& name = "");
  // A tensor that is `value`; a run that fetches it gives `variable` this value afterwards. All
  // tensors of that run see the variable as it was before. Throws kInvalidArgument where the types
  // or shapes differ.
  Tensor assign(const Tensor& variable, const Tensor& value, Loc loc = Loc::current());
  // d(sum of y)/d(xs) as tensors of the graph, which have gradients in turn. Undefined for an x
  // that y does not depend on.
  std::vector<Tensor> gradients(const Tensor& y, const std::vector<Tensor>& xs,
                                Loc loc = Loc::current());
  std::vector<Tensor> gradients(const std::vector<Tensor>& ys, const std::vector<Tensor>& xs,
                                Loc loc = Loc::current());
  // Nothing more is recorded.
  void end();

 private:
  friend class GraphSession;
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

struct Feed {
  Feed(const Tensor& placeholder, const Operand& value);
  Tensor placeholder, value;  // a number takes on the placeholder's element type
};

struct GraphSessionOptions {
  int optimization_level = 2;  // as SessionOptions::optimization_level
  int threads = 0;             // as SessionOptions::intra_op_threads; 0: eager's own number
};

// Runs a graph, which may still grow between runs. Variables have values of their own in each
// session. From one thread at a time.
class GraphSession {
 public:
  explicit GraphSession(const GraphBuilder& graph, GraphSessionOptions options = {});
  ~GraphSession();
  GraphSession(const GraphSession&) = delete;
  GraphSession& operator=(const GraphSession&) = delete;

  // The values of any tensors of the graph. Only what they depend on is computed, and only the
  // placeholders among that must be fed; a variable may be fed as well, for this run. The first run
  // of a combination of fetches prepares it. Throws kInvalidArgument for tensors of other graphs,
  // placeholders without a value and values that do not fit.
  std::vector<Tensor> run(const std::vector<Tensor>& fetches, const std::vector<Feed>& feeds = {},
                          Loc loc = Loc::current());
  // A variable's present value.
  Tensor value(const Tensor& variable) const;
  void set_value(const Tensor& variable, const Tensor& value);
  // What run(fetches) runs, as a model with the fetches as outputs and the variables' present
  // values as constants: for save_model().
  Model model(const std::vector<Tensor>& fetches) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace sardonyx::eager
