#include "ir/evaluate.h"
#include "ir/run_control.h"
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

  std::vector<Datum> run(const NamedData& feeds, const RunOptions& options) const override {
    RunControl control{.budget = nullptr, .deadline = std::nullopt, .cancel = options.cancel};
    if (const RunControl* outer = current_control()) control.budget = outer->budget;
    if (options.deadline) control.deadline = std::chrono::steady_clock::now() + *options.deadline;
    const ControlScope scope(control);
    std::vector<Datum> values;
    for (const Value* input : model_.graph->inputs()) {
      if (const auto fed = feeds.find(input->name); fed != feeds.end())
        values.push_back(fed->second);
      else if (input->default_value)
        values.emplace_back(*input->default_value);
      else
        fail(ErrorCode::kInvalidArgument, "input '", input->name, "' (", input->type,
             ") was not given");
    }
    return evaluate(*model_.graph, values);
  }

 private:
  Model model_;
  std::vector<ValueInfo> inputs_, optional_, outputs_;
};

}  // namespace

std::unique_ptr<Runner> make_reference_runner(Model model) {
  return std::make_unique<ReferenceRunner>(std::move(model));
}

}  // namespace sardonyx::tool
