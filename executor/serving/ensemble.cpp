#include "executor/serving/ensemble.h"

#include <algorithm>

#include "executor/batching/serving_error.h"
#include "executor/serving/datatype.h"
#include "ir/emitter/emitter.h"

namespace sardonyx::serving {
namespace {

struct Step {
  const EnsembleStep* config;
  Model model;
  std::string name;  // for messages
};

class Fusion {
 public:
  Fusion(const ModelConfig& config, const std::function<Model(const EnsembleStep&)>& load)
      : config_(config), emitter_(*fused_.graph) {
    size_t number = 0;
    for (const EnsembleStep& step : config.ensemble) {
      steps_.push_back({&step, load(step), text("step ", number++, " ('", step.model, "')")});
      check_names(steps_.back());
    }
  }

  Model fuse() {
    fused_.graph->name = config_.name;
    for (const TensorConfig& input : config_.inputs)
      add_input(input);
    std::vector<const Step*> left;
    for (const Step& step : steps_)
      left.push_back(&step);
    while (!left.empty()) {
      const auto next = std::find_if(left.begin(), left.end(),
                                     [&](const Step* step) { return missing(*step).empty(); });
      if (next == left.end()) {
        wrong(left.front()->name, " needs tensor '", missing(*left.front()),
              "', which no input of the ensemble is, and no other step gives before it");
      }
      emit(**next);
      left.erase(next);
    }
    for (const TensorConfig& output : config_.outputs)
      add_output(output);
    return std::move(fused_);
  }

 private:
  template <typename... Parts>
  [[noreturn]] void wrong(const Parts&... parts) const {
    refuse(Status::kInvalidArgument, "ensemble '", config_.name, "': ", parts...);
  }

  static const Value* input_of(const Step& step, const std::string& name) {
    for (const Value* input : step.model.graph->inputs()) {
      if (input->name == name) return input;
    }
    return nullptr;
  }

  void check_names(const Step& step) const {
    for (const auto& [name, tensor] : step.config->inputs) {
      if (!input_of(step, name)) wrong(step.name, ": the model has no input '", name, "'");
    }
    const auto& outputs = step.model.graph->outputs();
    for (const auto& [name, tensor] : step.config->outputs) {
      const auto is_named = [&, &wanted = name](const Value* one) { return one->name == wanted; };
      if (std::none_of(outputs.begin(), outputs.end(), is_named))
        wrong(step.name, ": the model has no output '", name, "'");
    }
    for (const Value* input : step.model.graph->inputs()) {
      if (!step.config->inputs.contains(input->name) && !input->default_value)
        wrong(step.name, ": input_map lacks '", input->name, "', which the model needs");
    }
  }

  // A tensor that the step needs and nothing has given yet; "": there is none.
  std::string missing(const Step& step) const {
    for (const auto& [name, tensor] : step.config->inputs) {
      if (!tensors_.contains(tensor)) return tensor;
    }
    return "";
  }

  // Sizes of different models may have the same name and yet be different: within the ensemble they
  // are named by their step. Items of a batch are the same for all.
  Dims dims_of(const Value& value, size_t step) const {
    Dims dims = *value.type.shape;
    for (Dim& dim : dims) {
      dim = dim.substitute([&](std::string_view symbol) {
        return std::optional(Dim::symbol(text(symbol, "_of_step_", step)));
      });
    }
    if (config_.max_batch_size > 0 && !dims.empty() && !dims[0].is_known())
      dims[0] = Dim::symbol("batch");
    return dims;
  }

  // With the type that the first step has for it, which takes it from there.
  void add_input(const TensorConfig& input) {
    for (size_t i = 0; i < steps_.size(); ++i) {
      for (const auto& [name, tensor] : steps_[i].config->inputs) {
        if (tensor != input.name) continue;
        const Value& value = *input_of(steps_[i], name);
        Type type = value.type;
        if (type.has_rank()) type = Type::tensor(type.dtype, dims_of(value, i));
        tensors_[input.name] =
            GraphEmitter::wrap(fused_.graph->add_input(input.name, std::move(type)));
        return;
      }
    }
    wrong("no step takes input '", input.name, "'");
  }

  void emit(const Step& step) {
    const Graph& graph = *step.model.graph;
    Vals inputs;
    for (const Value* input : graph.inputs()) {
      const auto mapped = step.config->inputs.find(input->name);
      if (mapped == step.config->inputs.end()) {
        inputs.push_back(emitter_.constant(*input->default_value));
        continue;
      }
      const Val& given = tensors_.at(mapped->second);
      const Type type = emitter_.type(given);
      if (type.dtype != input->type.dtype) {
        wrong(step.name, ": input '", input->name, "' is ", protocol_name(input->type.dtype),
              ", but tensor '", mapped->second, "' is ", protocol_name(type.dtype));
      }
      inputs.push_back(given);
    }
    Vals outputs;
    try {
      outputs = replay(graph, emitter_, inputs);
    } catch (const Error& error) {
      wrong(step.name, ": ", error.what());
    }
    for (const auto& [name, tensor] : step.config->outputs) {
      for (size_t i = 0; i < outputs.size(); ++i) {
        if (graph.outputs()[i]->name != name) continue;
        if (!tensors_.emplace(tensor, outputs[i]).second)
          wrong(step.name, " gives tensor '", tensor, "', which there is already");
      }
    }
  }

  void add_output(const TensorConfig& output) {
    const auto found = tensors_.find(output.name);
    if (found == tensors_.end()) wrong("no step gives output '", output.name, "'");
    Graph& graph = *fused_.graph;
    Value* value = GraphEmitter::unwrap(found->second);
    // The name is to be its own, and an output has a node that makes it.
    if (!value->producer || graph.is_output(*value))
      value = GraphEmitter::unwrap(emitter_.call("Identity", {found->second}));
    if (Value* other = graph.find_value(output.name); other && other != value) {
      if (graph.is_input(*other)) wrong("'", output.name, "' is an input and an output");
      graph.rename(*other, graph.fresh_name(output.name));
    }
    if (value->name != output.name) graph.rename(*value, output.name);
    graph.add_output(value);
  }

  const ModelConfig& config_;
  std::vector<Step> steps_;
  Model fused_;
  GraphEmitter emitter_;
  std::map<std::string, Val> tensors_;
};

}  // namespace

Model fused_ensemble(const ModelConfig& config,
                     const std::function<Model(const EnsembleStep& step)>& load) {
  if (config.inputs.empty() || config.outputs.empty())
    refuse(Status::kInvalidArgument, "ensemble '", config.name,
           "': the configuration needs input and output");
  return Fusion(config, load).fuse();
}

}  // namespace sardonyx::serving
