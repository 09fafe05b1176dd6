// `onnx-run inspect`: what a model consists of, and what its plan needs.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <iomanip>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>

#include "tools/onnx-run/commands/commands.h"
#include "tools/onnx-run/exit_codes.h"
#include "tools/onnx-run/input_options.h"
#include "tools/onnx-run/json_output.h"
#include "tools/onnx-run/model_options.h"
#include "tools/onnx-run/statistics.h"

namespace sardonyx::tool {
namespace {

struct InspectCommand {
  std::filesystem::path model;
  ModelOptions loading;
  InputOptions inputs;
  bool memory = false, plan = false, kernels = false;
  JsonOutput json;
};

struct Contents {
  std::map<std::string, size_t> ops;  // how often each stands in the graph and its subgraphs
  size_t nodes = 0;
  int64_t parameters = 0;  // elements of constants
  size_t parameter_bytes = 0;
};

void count_graph(const Graph& graph, Contents& contents) {
  for (const auto& [value, owner] : graph.values()) {
    if (!value->constant) continue;
    contents.parameters += value->constant->count();
    contents.parameter_bytes += value->constant->bytes();
  }
  for (const auto& node : graph.nodes()) {
    ++contents.nodes;
    ++contents.ops[full_name(*node->op)];
    for (const GraphPtr& inner : subgraphs_of(*node))
      count_graph(*inner, contents);
  }
}

std::vector<std::pair<std::string, size_t>> most_first(const std::map<std::string, size_t>& ops) {
  std::vector<std::pair<std::string, size_t>> sorted(ops.begin(), ops.end());
  std::ranges::stable_sort(sorted, std::greater(), &std::pair<std::string, size_t>::second);
  return sorted;
}

void print_values(std::ostream& out, const char* title, std::span<const ValueInfo> values) {
  for (const ValueInfo& value : values)
    out << title << " '" << value.name << "': " << value.type << '\n';
}

void print_model(std::ostream& out, const Runner& runner, const Contents& contents) {
  const Model& model = runner.model();
  out << "IR version " << model.ir_version;
  for (const auto& [domain, version] : model.opsets)
    out << ", opset " << version << " of " << (domain.empty() ? "ai.onnx" : domain);
  out << '\n';
  if (!model.producer_name.empty())
    out << "made by " << model.producer_name << ' ' << model.producer_version << '\n';
  print_values(out, "input", runner.inputs());
  print_values(out, "input with default", runner.optional_inputs());
  print_values(out, "output", runner.outputs());
  out << contents.parameters << " parameters in "
      << bytes_text(static_cast<double>(contents.parameter_bytes)) << "; " << contents.nodes
      << " nodes of " << contents.ops.size() << " ops as loaded\n";
  for (const auto& [op, count] : most_first(contents.ops))
    out << std::setw(7) << count << "  " << op << '\n';
}

nlohmann::ordered_json values_json(std::span<const ValueInfo> values) {
  auto list = nlohmann::ordered_json::array();
  for (const ValueInfo& value : values)
    list.push_back({{"name", value.name}, {"type", value.type.text()}});
  return list;
}

nlohmann::ordered_json report_of(const InspectCommand& command, const Runner& runner,
                                 const Contents& contents) {
  const Model& model = runner.model();
  return {{"model", command.model.string()},
          {"ir_version", model.ir_version},
          {"opsets", model.opsets},
          {"producer", model.producer_name},
          {"metadata", model.metadata},
          {"inputs", values_json(runner.inputs())},
          {"optional_inputs", values_json(runner.optional_inputs())},
          {"outputs", values_json(runner.outputs())},
          {"nodes", contents.nodes},
          {"ops", contents.ops},
          {"parameters", contents.parameters},
          {"parameter_bytes", contents.parameter_bytes}};
}

double ratio_of(const MemoryPlan& plan) {
  return plan.live_peak_bytes == 0
             ? 1
             : static_cast<double>(plan.arena_bytes) / static_cast<double>(plan.live_peak_bytes);
}

void print_memory(std::ostream& out, const MemoryPlan& plan) {
  out << "arena " << plan.arena_bytes << " B, live peak " << plan.live_peak_bytes << " B, ratio "
      << std::fixed << std::setprecision(3) << ratio_of(plan) << std::defaultfloat << "; weights "
      << plan.weight_bytes << " B\n";
  std::vector<MemoryPlan::Item> largest = plan.items;
  std::ranges::stable_sort(largest, std::greater(), &MemoryPlan::Item::bytes);
  constexpr size_t kShown = 10;
  largest.resize(std::min(largest.size(), kShown));
  for (const MemoryPlan::Item& item : largest) {
    out << std::setw(12) << item.bytes << " B at " << std::setw(12) << item.offset << ", steps "
        << item.first_step << " to " << item.last_step << "  "
        << (item.value.empty() ? "(scratch)" : item.value) << '\n';
  }
}

nlohmann::ordered_json plan_json(const MemoryPlan& plan) {
  auto items = nlohmann::ordered_json::array();
  for (const MemoryPlan::Item& item : plan.items) {
    items.push_back({{"value", item.value},
                     {"offset", item.offset},
                     {"bytes", item.bytes},
                     {"first_step", item.first_step},
                     {"last_step", item.last_step}});
  }
  return {{"arena_bytes", plan.arena_bytes},
          {"live_peak_bytes", plan.live_peak_bytes},
          {"ratio", ratio_of(plan)},
          {"weight_bytes", plan.weight_bytes},
          {"items", items}};
}

void print_kernels(std::ostream& out, std::span<const NodeKernel> kernels) {
  for (const NodeKernel& each : kernels) {
    out << each.op << ' ' << each.name << ": " << each.implementation << '\n';
    for (const std::string& line : attempt_lines(each.attempts))
      out << "  " << line << '\n';
  }
}

nlohmann::ordered_json attempts_json(std::span<const KernelAttempt> attempts) {
  auto list = nlohmann::ordered_json::array();
  for (const KernelAttempt& each : attempts) {
    nlohmann::ordered_json entry{{"name", each.name}};
    if (each.implementation.empty())
      entry["refusal"] = each.refusal;
    else
      entry["implementation"] = each.implementation;
    if (!each.inner.empty()) entry["inner"] = attempts_json(each.inner);
    list.push_back(std::move(entry));
  }
  return list;
}

nlohmann::ordered_json kernels_json(std::span<const NodeKernel> kernels) {
  auto list = nlohmann::ordered_json::array();
  for (const NodeKernel& each : kernels) {
    list.push_back({{"op", each.op},
                    {"node", each.name},
                    {"implementation", each.implementation},
                    {"types", each.types},
                    {"attempts", attempts_json(each.attempts)}});
  }
  return list;
}

// The plan for the inputs that the options describe.
void inspect_plan(const InspectCommand& command, std::ostream& out,
                  nlohmann::ordered_json& report) {
  ModelOptions loading = command.loading;
  loading.keeps_kernel_attempts = command.kernels;
  const std::unique_ptr<Runner> runner = load_runner(command.model, loading);
  const Session* session = runner->session();
  if (!session)
    fail_usage("--memory, --plan and --kernels need a plan; --provider reference makes none");
  const NamedData feeds = gather_inputs(command.inputs, *runner);
  std::vector<Datum> inputs;
  for (const ValueInfo& input : session->inputs()) {
    const auto found = feeds.find(input.name);
    inputs.push_back(found == feeds.end() ? Datum() : found->second);
  }
  if (command.memory) {
    const MemoryPlan plan = session->memory_plan(inputs);
    print_memory(out, plan);
    report["memory"] = plan_json(plan);
  }
  if (command.plan) {
    const std::string text = session->plan_text(inputs);
    out << text;
    report["plan"] = text;
  }
  if (command.kernels) {
    const std::vector<NodeKernel> kernels = session->kernels(inputs);
    print_kernels(out, kernels);
    report["kernels"] = kernels_json(kernels);
  }
}

int run_inspect(const InspectCommand& command) {
  std::ostream& out = command.json.on_stdout() ? std::cerr : std::cout;
  nlohmann::ordered_json report;
  {
    const std::unique_ptr<Runner> runner =
        loading([&] { return make_reference_runner(load_model(command.model)); });
    Contents contents;
    count_graph(*runner->model().graph, contents);
    print_model(out, *runner, contents);
    report = report_of(command, *runner, contents);
  }
  if (command.memory || command.plan || command.kernels) inspect_plan(command, out, report);
  out.flush();
  if (command.json.wanted()) command.json.write(report);
  return kOk;
}

}  // namespace

void add_inspect_command(CLI::App& app, Action& action) {
  const auto options = std::make_shared<InspectCommand>();
  CLI::App* command = app.add_subcommand("inspect", "show what a model consists of");
  command->add_option("MODEL,-m,--onnx", options->model, "the .onnx file")->required();
  command->add_flag("--memory", options->memory,
                    "the arena of the plan against the largest sum of values that live at once");
  command->add_flag("--plan", options->plan, "the steps of the plan");
  command->add_flag(
      "--kernels", options->kernels,
      "the implementations that were asked for each step of the plan, and why they refused");
  command->add_option("--json", options->json.target, "write a report to stdout, or to =FILE");
  add_input_options(*command, options->inputs);
  add_model_options(*command, options->loading);
  command->callback([options, &action] { action = [options] { return run_inspect(*options); }; });
}

}  // namespace sardonyx::tool
