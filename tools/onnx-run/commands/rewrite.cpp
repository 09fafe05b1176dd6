// `onnx-run optimize`, `convert`, `extract` and `infer-shapes`: from one model file to another.
#include <CLI/CLI.hpp>
#include <iostream>
#include <map>
#include <set>

#include "ir/pass.h"
#include "ir/subgraph_extraction.h"
#include "onnx_io/load.h"
#include "onnx_io/ort_format/is_ort_model.h"
#include "onnx_io/save.h"
#include "tools/onnx-run/commands/commands.h"
#include "tools/onnx-run/exit_codes.h"
#include "tools/onnx-run/repeatable.h"
#include "tools/onnx-run/statistics.h"
#include "tools/onnx-run/value_steps.h"
#include "tools/onnx-run/verbosity.h"

namespace sardonyx::tool {
namespace {

struct RewriteCommand {
  std::filesystem::path model, out;
  std::vector<std::string> disabled_passes;
  std::vector<std::string> inputs, outputs;  // where to cut
  int64_t opset = 0;                         // 0: the model's own
  bool external_data = false;
};

void save(const RewriteCommand& command, const Model& model) {
  SaveOptions options;
  if (command.opset > 0) options.opset = command.opset;
  if (command.external_data) options.external_data.emplace();
  options.ort_format = ort_format::has_ort_name(command.out);
  save_model(model, command.out, options);
  for (const std::filesystem::path& data : named_data_files(command.out)) {
    if (command.external_data) {
      std::cout << "data: " << data.string() << ", "
                << bytes_text(static_cast<double>(std::filesystem::file_size(data))) << '\n';
    } else {
      remarks() << data.string() << ": data of an earlier " << command.out.filename().string()
                << ", which refers to it no more; the file stays" << std::endl;
    }
  }
}

Model load(const RewriteCommand& command) {
  return loading([&] { return load_model(command.model); });
}

std::map<std::string, int64_t> op_counts(const Graph& graph) {
  std::map<std::string, int64_t> counts;
  for (const auto& node : graph.nodes()) {
    ++counts[full_name(*node->op)];
    for (const GraphPtr& inner : subgraphs_of(*node)) {
      for (const auto& [op, count] : op_counts(*inner))
        counts[op] += count;
    }
  }
  return counts;
}

void print_change(const std::map<std::string, int64_t>& before,
                  const std::map<std::string, int64_t>& after) {
  std::set<std::string> ops;
  for (const auto* counts : {&before, &after}) {
    for (const auto& [op, count] : *counts)
      ops.insert(op);
  }
  const auto count_of = [](const std::map<std::string, int64_t>& counts, const std::string& op) {
    const auto found = counts.find(op);
    return found == counts.end() ? 0 : found->second;
  };
  std::cout << "before  after  op\n";
  for (const std::string& op : ops) {
    char line[64];
    std::snprintf(line, sizeof line, "%6lld %6lld  ", static_cast<long long>(count_of(before, op)),
                  static_cast<long long>(count_of(after, op)));
    std::cout << line << op << '\n';
  }
}

void print_sizes(const RewriteCommand& command) {
  if (!std::filesystem::is_regular_file(command.out)) return;  // a device or a FIFO has no size
  std::cout << bytes_text(static_cast<double>(std::filesystem::file_size(command.model))) << " -> "
            << bytes_text(static_cast<double>(std::filesystem::file_size(command.out)))
            << std::endl;
}

int run_optimize(const RewriteCommand& command) {
  Model model = load(command);
  const std::map<std::string, int64_t> before = op_counts(*model.graph);
  const std::vector<PassEffect> effects =
      run_passes(*model.graph, generic_passes(), {.disabled = command.disabled_passes});
  save(command, model);
  print_change(before, op_counts(*model.graph));
  for (const PassEffect& effect : effects)
    std::cout << effect.pass << ": " << effect.changes << " changes\n";
  print_sizes(command);
  return kOk;
}

int run_convert(const RewriteCommand& command) {
  save(command, load(command));
  print_sizes(command);
  return kOk;
}

int run_extract(const RewriteCommand& command) {
  Model model = load(command);
  const std::map<std::string, int64_t> before = op_counts(*model.graph);
  require_values("--inputs", *model.graph, command.inputs);
  require_values("--outputs", *model.graph, command.outputs);
  model.graph = extract(*model.graph, command.inputs, command.outputs);
  save(command, model);
  print_change(before, op_counts(*model.graph));
  print_sizes(command);
  return kOk;
}

CLI::App* add_rewrite(CLI::App& app, const std::shared_ptr<RewriteCommand>& options,
                      const std::string& name, const std::string& description) {
  CLI::App* command = app.add_subcommand(name, description);
  command->add_option("MODEL,-m,--onnx", options->model, "the .onnx file")->required();
  command->add_option("OUT,-o,--output", options->out, "the file to write")->required();
  command->add_flag("--external-data", options->external_data,
                    "large tensors into a file of their own beside the model");
  command
      ->add_option("--opset", options->opset,
                   "of ai.onnx (default: the model's own, or the first later one that has all "
                   "operators)")
      ->check(CLI::Range(int64_t{7}, kNewestOpset));
  return command;
}

}  // namespace

void add_rewrite_commands(CLI::App& app, Action& action) {
  const auto optimized = std::make_shared<RewriteCommand>();
  CLI::App* optimize =
      add_rewrite(app, optimized, "optimize", "fold, merge and clean up; standard operators only");
  repeatable(optimize->add_option("--no-pass", optimized->disabled_passes,
                                  "leave this pass out (repeatable)"));
  optimize->callback(
      [optimized, &action] { action = [optimized] { return run_optimize(*optimized); }; });

  const auto converted = std::make_shared<RewriteCommand>();
  CLI::App* convert = add_rewrite(app, converted, "convert", "bring a model to another opset");
  convert->callback(
      [converted, &action] { action = [converted] { return run_convert(*converted); }; });

  const auto extracted = std::make_shared<RewriteCommand>();
  CLI::App* extract =
      add_rewrite(app, extracted, "extract", "cut out the part of a model between some values");
  repeatable(extract->add_option("--outputs", extracted->outputs, "values that the part computes"))
      ->delimiter(',')
      ->required();
  repeatable(extract->add_option("--inputs", extracted->inputs,
                                 "values that it is given (default: the model's inputs that the "
                                 "outputs need)"))
      ->delimiter(',');
  extract->callback(
      [extracted, &action] { action = [extracted] { return run_extract(*extracted); }; });

  const auto inferred = std::make_shared<RewriteCommand>();
  add_rewrite(app, inferred, "infer-shapes",
              "write the types and shapes of all values into a model")
      ->callback([inferred, &action] { action = [inferred] { return run_convert(*inferred); }; });
}

}  // namespace sardonyx::tool
