// For tests of ops with subgraphs: a graph under construction whose inputs and outputs have names.
#pragma once

#include <memory>
#include <utility>

#include "ir/graph.h"

namespace sardonyx {

class SubgraphBuilder {
 public:
  SubgraphBuilder() : graph_(std::make_shared<Graph>()), e(*graph_) {}
  Val input(const char* name, DType dtype, Dims dims) {
    return GraphEmitter::wrap(graph_->add_input(name, Type::tensor(dtype, std::move(dims))));
  }
  void output(const char* name, const Val& value) {
    Value* made = GraphEmitter::unwrap(e.call("Identity", {value}));
    graph_->rename(*made, name);
    graph_->add_output(made);
  }
  GraphPtr graph() const { return graph_; }

 private:
  std::shared_ptr<Graph> graph_;

 public:
  GraphEmitter e;
};

}  // namespace sardonyx
