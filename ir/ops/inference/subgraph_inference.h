// Type inference of subgraphs, for the ops that run them.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "ir/graph.h"
#include "ir/op_def.h"

namespace sardonyx::ops {

// Infers the types inside one subgraph of a node. Where the node stands in a graph that is being
// typed (InferContext::types_subgraphs) the types are written into the subgraph itself, else into a
// copy of it: then the call is about the values of one run, and other runs share the subgraph.
//
// Symbols: those of the enclosing graph mean the same inside, under a name that no symbol of the
// subgraph's own has; a symbol of the subgraph's own means nothing outside and comes out as
// unknown.
class BodyTyper {
 public:
  // `what` names the subgraph in messages: "then_branch".
  BodyTyper(InferContext& c, const GraphPtr& body, std::string_view what);

  const Graph& body() const { return *body_; }
  // Fails unless the subgraph has this many inputs / at least as many outputs.
  void require_counts(size_t inputs, size_t min_outputs) const;

  // Types everything for formal inputs of these types (in the subgraph's symbols), whatever types
  // it had before. Throws what inference throws.
  void type(const std::vector<Type>& inputs);
  // Finds types that hold in every iteration for inputs [first, first + initial.size()), which
  // output [first_output + i] feeds again, and types the subgraph for them. `inputs` has all
  // inputs' types, with the initial ones at their places. Gives the carried types, in the
  // subgraph's symbols.
  std::vector<Type> type_loop(std::vector<Type> inputs, size_t first, size_t count,
                              size_t first_output);

  // The type of a body output, after type(), in the subgraph's symbols.
  const Type& output(size_t index) const { return body_->outputs()[index]->type; }
  // The elements of a small integer output where they are known, in the enclosing graph's symbols.
  std::optional<Dims> output_dims(size_t index);

  Type to_inner(const Type& type);
  Type to_outer(const Type& type);

 private:
  Dim inner_dim(const Dim& dim);
  Dim outer_dim(const Dim& dim);

  InferContext& c_;
  GraphPtr body_;
  std::string what_;
  std::set<std::string> outer_symbols_;  // under their inner names
  std::map<std::string, Dim> unknowns_;  // what the subgraph's own symbols came out as
};

}  // namespace sardonyx::ops
