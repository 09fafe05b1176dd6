// Where symbolic tensors live: the graph that is being recorded, and what it takes in from the
// program around it. eager/trace/trace.h, compile, export and control flow are built on it.
#pragma once

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "eager/tensor_impl.h"
#include "eager/trace/guards.h"
#include "eager/trace/scope_name.h"
#include "ir/graph.h"

namespace sardonyx::eager {

// Frames nest: the body of a cond, while_loop or scan is a frame within that of the function.
class TraceContext : public std::enable_shared_from_this<TraceContext> {
 public:
  enum class Kind {
    kConstants,  // values of the program become constants of the graph (export)
    kStates,     // they become inputs, and those that were assigned outputs as well (compile)
    kSubgraph,   // values of the enclosing frame become captures
  };
  // A tensor of the program that the graph reads or writes.
  struct TracedState {
    Tensor tensor;
    Value* input = nullptr;
    // The tensor is the gradient that this one has at the call, which need not be the same tensor.
    Tensor grad_of;
    Tensor assigned;    // symbolic; undefined where it was only read
    Tensor grad;        // symbolic gradient that backward() left; undefined if none
    Tensor presence;    // of `grad`: false where there is none after all; mostly undefined
    Tensor outer_grad;  // what grad() was before the trace
    bool grad_touched = false;
    // Once the trace is over:
    bool writes = false, leaves_grad = false, clears_grad = false, asks_presence = false;
  };

  static std::shared_ptr<TraceContext> make(Kind kind, std::string name = "");
  // The innermost frame that this thread records in; null outside of traces.
  static TraceContext* active();

  Kind kind() const { return kind_; }
  // The frame of the whole function.
  TraceContext& root();
  Graph& graph() { return *graph_; }
  const std::shared_ptr<Graph>& shared_graph() const { return graph_; }
  Tensor add_input(const std::string& name, Type type);
  // A symbolic tensor for a value of this frame's graph.
  Tensor wrap(Value* value);
  // The value that stands for `tensor` in this frame's graph now.
  Value* value_of(const Tensor& tensor, const Loc& loc);
  // Adds an output to the graph. Each output is made by a node and bears its own name, so inputs,
  // constants and values that are outputs already are copied by an Identity.
  void add_output(const Tensor& tensor, const Loc& loc = Loc::current());
  // Should an op on these inputs be recorded rather than run?
  bool records(std::span<const Tensor> inputs) const;
  void assign(const Tensor& target, const Tensor& value, const Loc& loc);
  // The program reads the gradient of a tensor: whether there is one, and which, may change from
  // call to call.
  void note_grad_read(const Tensor& target);
  void note_requires_grad(const Tensor& tensor);
  // The program reads a value that C++ goes on with.
  void note_value_read(const Tensor& tensor, const Loc& loc);
  // backward() or set_grad gave a tensor of the program a gradient within this trace.
  void note_grad(const Tensor& target);
  // A symbolic tensor whose value is the current one of an assigned state; undefined otherwise.
  Tensor current(const Tensor& tensor) const;

  // A value of rank 1 and one element that is `dim`: read off a tensor that has it, else computed.
  Tensor dim_tensor(const sardonyx::Dim& dim, const Loc& loc);

  std::vector<TracedState>& states() { return states_; }
  // The graph holds for the type of the state, and for whether gradients flow to it.
  void guard_state(const TracedState& state);
  // Of kSubgraph: tensors of the enclosing frame, in the order of graph().captures().
  const std::vector<Tensor>& captured() const { return captured_; }
  // Makes the captures of this subgraph start with those of its sister (If's branches share them).
  void capture_all(const std::vector<Tensor>& tensors, const Loc& loc);
  // Gives back grad() of every tensor that was touched, and lets go of all tensors: symbolic ones
  // hold their frame, so this ends the trace. The graph and `states` as taken before stay valid.
  // Symbolic tensors that the program still holds keep their type and no value of the graph.
  std::vector<TracedState> finish();
  bool is_over() const { return is_over_; }
  // What lifted constants and states are called: by identity, filled by the module that is traced.
  std::unordered_map<const detail::TensorImpl*, std::string> names;

  // Of the root: the sizes that the trace was made with, by symbol, and what it took from the
  // program.
  SizeOf example_sizes;
  // Draws are ops of the graph, also where nothing that they take is symbolic.
  bool records_draws = false;
  // This process runs the graph, which may reach what is outside of it; else it is for a file.
  bool runs_here = false;
  Guards guards;

 private:
  friend class FrameScope;
  explicit TraceContext(Kind kind, std::string name);
  Value* lift(const Tensor& tensor, const Loc& loc);
  TracedState& state_of(const Tensor& tensor);
  std::string name_of(const Tensor& tensor) const;
  Tensor read_dim(const sardonyx::Dim& dim, const Loc& loc);
  void part_from_graph();

  Kind kind_;
  TraceContext* outer_ = nullptr;
  bool is_over_ = false;
  std::shared_ptr<Graph> graph_ = std::make_shared<Graph>();
  std::unordered_map<const detail::TensorImpl*, Value*> lifted_;
  std::unordered_map<const detail::TensorImpl*, size_t> state_index_;
  std::unordered_map<const detail::TensorImpl*, Tensor> grad_owners_;  // by gradient
  std::vector<TracedState> states_;
  std::vector<Tensor> captured_, held_;
  std::vector<std::weak_ptr<detail::TensorImpl>> made_;  // by wrap()
  std::vector<std::unique_ptr<Value>> parted_;           // of those that outlived the trace
  std::unordered_map<std::string, Value*> dims_;         // by text
};

// Makes a frame the active one of this thread until the scope ends.
class FrameScope {
 public:
  explicit FrameScope(TraceContext& frame);
  ~FrameScope();
  FrameScope(const FrameScope&) = delete;
  FrameScope& operator=(const FrameScope&) = delete;

 private:
  TraceContext* previous_;
};

std::string text_of(const Loc& loc);  // "model.cpp:12"

}  // namespace sardonyx::eager
