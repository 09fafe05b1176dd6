#include "executor/model_metadata.h"

#include "ir/graph.h"

namespace sardonyx {

ModelMetadata metadata_of(const Model& model) {
  return {.ir_version = model.ir_version,
          .opsets = model.opsets,
          .producer_name = model.producer_name,
          .producer_version = model.producer_version,
          .domain = model.domain,
          .description = model.doc,
          .model_version = model.model_version,
          .graph_name = model.graph->name,
          .graph_description = model.graph->doc,
          .custom = {model.metadata.begin(), model.metadata.end()}};
}

}  // namespace sardonyx
