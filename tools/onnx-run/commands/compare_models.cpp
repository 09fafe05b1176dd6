// `onnx-run compare`: two models, or one model run in two ways, on the same inputs.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>
#include <nlohmann/json.hpp>
#include <set>

#include "tools/onnx-run/commands/commands.h"
#include "tools/onnx-run/commands/comparison_report.h"
#include "tools/onnx-run/exit_codes.h"
#include "tools/onnx-run/input_options.h"
#include "tools/onnx-run/json_output.h"
#include "tools/onnx-run/model_options.h"
#include "tools/onnx-run/ort/ort_bridge.h"
#include "tools/onnx-run/tolerance_options.h"
#include "tools/onnx-run/value_steps.h"

namespace sardonyx::tool {
namespace {

struct CompareCommand {
  std::filesystem::path model, other_model, other_library;
  ModelOptions loading;
  InputOptions inputs;
  Tolerance tolerance{.rtol = 1e-3, .atol = 1e-5, .relative_to_max = 1e-5};
  bool every_value = false;
  JsonOutput json;
};

// Values that both models compute under one name, in the order of the first.
std::vector<std::string> common_values(const Graph& a, const Graph& b) {
  const std::vector<std::string> theirs = computed_values(b);
  const std::set<std::string> known(theirs.begin(), theirs.end());
  std::vector<std::string> names = computed_values(a);
  std::erase_if(names, [&](const std::string& name) { return !known.contains(name); });
  return names;
}

// In groups, so that few values are in memory at once.
std::vector<ValueComparison> compare_values(const Runner& ours, const Runner& theirs,
                                            const NamedData& feeds, const Tolerance& tolerance) {
  std::vector<ValueComparison> all;
  const std::vector<std::string> names = common_values(*ours.model().graph, *theirs.model().graph);
  constexpr size_t kGroup = 32;
  for (size_t begin = 0; begin < names.size(); begin += kGroup) {
    const std::span<const std::string> group(&names[begin], std::min(kGroup, names.size() - begin));
    const std::vector<Datum> got = ours.fetch(feeds, group, {});
    const std::vector<Datum> expected = theirs.fetch(feeds, group, {});
    for (size_t i = 0; i < group.size(); ++i)
      all.push_back({group[i], compare(got[i], expected[i], tolerance)});
  }
  return all;
}

// The other side: a second model, the reference of the same model, or another library.
std::vector<ValueComparison> compare_sides(const CompareCommand& command, const Runner& ours,
                                           const NamedData& feeds) {
  if (!command.other_library.empty()) {
    const OtherSession other(command.other_library, command.model,
                             {.threads = command.loading.threads, .exact_int8 = true});
    return compare_all(ours.outputs(), ours.run(feeds, {}), other.run(feeds), command.tolerance);
  }
  ModelOptions loading = command.loading;
  if (command.other_model.empty()) loading.providers = {std::string(kReferenceProvider)};
  const std::unique_ptr<Runner> theirs =
      load_runner(command.other_model.empty() ? command.model : command.other_model, loading);
  if (command.every_value) return compare_values(ours, *theirs, feeds, command.tolerance);
  return compare_all(ours.outputs(), ours.run(feeds, {}), theirs->run(feeds, {}),
                     command.tolerance);
}

int run_compare(const CompareCommand& command) {
  if (command.every_value && !command.other_library.empty())
    fail_usage("--every-value needs a second model or the reference, not --against");
  require_other_library(command.other_library);
  const std::unique_ptr<Runner> ours = load_runner(command.model, command.loading);
  const NamedData feeds = gather_inputs(command.inputs, *ours);
  const std::vector<ValueComparison> comparisons = compare_sides(command, *ours, feeds);
  std::ostream& out = command.json.on_stdout() ? std::cerr : std::cout;
  print_comparison(out, comparisons);
  out.flush();
  if (command.json.wanted()) {
    command.json.write({{"model", command.model.string()}, {"values", json_of(comparisons)}});
  }
  return all_agree(comparisons) ? kOk : kDifferent;
}

}  // namespace

void add_compare_command(CLI::App& app, Action& action) {
  const auto options = std::make_shared<CompareCommand>();
  CLI::App* command = app.add_subcommand(
      "compare", "run a model and another one (or its own reference) on the same inputs");
  command->add_option("MODEL,-m,--onnx", options->model, "the .onnx file")->required();
  CLI::Option* other = command->add_option(
      "OTHER", options->other_model,
      "a second model with the same inputs (default: the reference evaluation of MODEL)");
  command
      ->add_option("--against", options->other_library,
                   "an ONNX Runtime library that runs MODEL instead")
      ->excludes(other);
  command->add_flag("--every-value", options->every_value,
                    "every value that both compute under one name, not the outputs alone");
  command->add_option("--json", options->json.target, "write a report to stdout, or to =FILE");
  add_input_options(*command, options->inputs);
  add_tolerance_options(*command, options->tolerance);
  add_model_options(*command, options->loading);
  command->callback([options, &action] { action = [options] { return run_compare(*options); }; });
}

}  // namespace sardonyx::tool
