// Building the subgraphs of nodes that a rule emits.
#pragma once

#include <memory>
#include <vector>

#include "ir/autodiff/autodiff.h"
#include "ir/graph.h"

namespace sardonyx::ops {

// A subgraph under construction; what is emitted into it is recorded, so that it can be
// differentiated within.
class SubgraphBuilder {
 public:
  SubgraphBuilder() : graph_(std::make_shared<Graph>()), nodes_(*graph_), recorder_(nodes_) {}

  RecordingEmitter& emitter() { return recorder_; }
  Val add_input(const Type& type) { return GraphEmitter::wrap(graph_->add_input("", type)); }
  Val add_capture(const Type& type) { return GraphEmitter::wrap(graph_->add_capture("", type)); }
  // Under a name of its own, so that any value may be an output, and twice.
  void add_output(const Val& value) {
    graph_->add_output(GraphEmitter::unwrap(recorder_.call("Identity", {value})));
  }
  std::shared_ptr<Graph> graph() const { return graph_; }

 private:
  std::shared_ptr<Graph> graph_;
  GraphEmitter nodes_;
  RecordingEmitter recorder_;
};

// The call's attributes with subgraphs of their own, whose values' types are those of this call.
Attrs typed_subgraphs(const Emitter& e, const GradCall& call);

}  // namespace sardonyx::ops
