#include "ir/core/run_control.h"
#include "ir/reference_evaluator.h"
#include "tools/onnx-run/feeds.h"
#include "tools/onnx-run/runner.h"

namespace sardonyx::tool {
namespace {

class ReferenceRunner : public Runner {
 public:
  explicit ReferenceRunner(Model model) : model_(std::move(model)) {
    for (const Value* value : model_.graph->inputs())
      (value->default_value ? optional_ : inputs_).push_back({value->name, value->type});
    for (const Value* value : model_.graph->outputs())
      outputs_.push_back({value->name, value->type});
  }

  std::span<const ValueInfo> inputs() const override { return inputs_; }
  std::span<const ValueInfo> optional_inputs() const override { return optional_; }
  std::span<const ValueInfo> outputs() const override { return outputs_; }
  const Model& model() const override { return model_; }
  const Graph& graph() const override { return *model_.graph; }

  std::vector<Datum> run(const NamedData& feeds, const RunOptions& options) const override {
    return evaluate_within(*model_.graph, feeds, options);
  }

  std::vector<Datum> fetch(const NamedData& feeds, std::span<const std::string> names,
                           const RunOptions& options) const override {
    const std::shared_ptr<Graph> graph = clone(*model_.graph);
    const size_t before = graph->outputs().size();
    for (const std::string& name : names) {
      Value* value = graph->find_value(name);
      if (!value) fail(ErrorCode::kInvalidArgument, "the model has no value named '", name, "'");
      graph->add_output(value);
    }
    std::vector<Datum> all = evaluate_within(*graph, feeds, options);
    all.erase(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(before));
    return all;
  }

 private:
  std::vector<Datum> evaluate_within(const Graph& graph, const NamedData& feeds,
                                     const RunOptions& options) const {
    check_feeds(*this, feeds);
    RunControl control{.budget = nullptr, .deadline = std::nullopt, .cancel = options.cancel};
    if (const RunControl* outer = current_control()) control.budget = outer->budget;
    if (options.deadline) control.deadline = std::chrono::steady_clock::now() + *options.deadline;
    const ControlScope scope(control);
    std::vector<Datum> values;
    for (const Value* input : graph.inputs()) {
      if (const auto fed = feeds.find(input->name); fed != feeds.end())
        values.push_back(fed->second);
      else if (input->default_value)
        values.emplace_back(*input->default_value);
      else if (input->uses.empty() && !graph.is_output(*input))
        values.emplace_back();  // nothing reads it
      else
        fail(ErrorCode::kInvalidArgument, "input '", input->name, "' (", input->type,
             ") is missing: no value was given for it");
    }
    return evaluate(graph, values);
  }

  Model model_;
  std::vector<ValueInfo> inputs_, optional_, outputs_;
};

}  // namespace

std::unique_ptr<Runner> make_reference_runner(Model model) {
  return std::make_unique<ReferenceRunner>(std::move(model));
}

}  // namespace sardonyx::tool
