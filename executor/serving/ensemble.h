// Ensembles: several models that feed each other, served as one.
#pragma once

#include <functional>

#include "executor/serving/model_config.h"
#include "ir/graph.h"

namespace sardonyx::serving {

// One graph of all steps, with the ensemble's inputs and outputs: what passes between the models is
// never copied, and is optimised as if they were one. `load` gives the model of a step. Throws
// ServingError kInvalidArgument where steps, models and configuration contradict each other.
Model fused_ensemble(const ModelConfig& config,
                     const std::function<Model(const EnsembleStep& step)>& load);

}  // namespace sardonyx::serving
