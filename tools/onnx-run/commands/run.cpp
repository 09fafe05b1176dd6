// `onnx-run run`: runs a model on given or random inputs.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>
#include <nlohmann/json.hpp>

#include "ir/core/run_control.h"
#include "onnx_io/load.h"
#include "onnx_io/npz.h"
#include "onnx_io/tensor_file.h"
#include "tools/onnx-run/arguments.h"
#include "tools/onnx-run/commands/commands.h"
#include "tools/onnx-run/commands/comparison_report.h"
#include "tools/onnx-run/datum_text.h"
#include "tools/onnx-run/exit_codes.h"
#include "tools/onnx-run/feeds.h"
#include "tools/onnx-run/input_options.h"
#include "tools/onnx-run/interruption.h"
#include "tools/onnx-run/json_output.h"
#include "tools/onnx-run/model_options.h"
#include "tools/onnx-run/ort/ort_bridge.h"
#include "tools/onnx-run/profile.h"
#include "tools/onnx-run/repeatable.h"
#include "tools/onnx-run/statistics.h"
#include "tools/onnx-run/tolerance_options.h"
#include "tools/onnx-run/value_steps.h"

namespace sardonyx::tool {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

struct RunCommand {
  fs::path model;
  ModelOptions loading;
  InputOptions inputs;
  Tolerance tolerance{.rtol = 1e-3, .atol = 1e-5, .relative_to_max = 1e-5};
  fs::path output_folder, output_npz, steps_npz, other_library;
  std::string match;
  std::vector<std::string> outputs;
  std::string profile;
  int iterations = 1;
  uint64_t deadline_ms = 0;
  bool print = false, validate = false;
  JsonOutput json;
};

// Limits that hold for the sum of loading and running.
class RunLimits {
 public:
  explicit RunLimits(const RunCommand& command) {
    control_.cancel = stop_on_interrupt();
    if (command.deadline_ms > 0)
      control_.deadline = Clock::now() + std::chrono::milliseconds(command.deadline_ms);
    if (command.loading.memory_limit_mb > 0) {
      const auto bytes = static_cast<size_t>(command.loading.memory_limit_mb) << 20;
      control_.budget = std::make_shared<MemoryBudget>(bytes);
    }
  }
  const RunControl& control() const { return control_; }

  RunOptions run_options() const {
    RunOptions options;
    options.cancel = control_.cancel;
    if (control_.deadline) {
      const auto left =
          std::chrono::ceil<std::chrono::milliseconds>(*control_.deadline - Clock::now());
      options.deadline = std::max(left, std::chrono::milliseconds(0));
    }
    return options;
  }

 private:
  RunControl control_;
};

struct Outcome {
  std::vector<ValueInfo> names;
  std::vector<Datum> values;
  std::vector<double> seconds;
  std::vector<NodeTiming> timings;
};

// With the values that passes remove from what is run, for all of them can be fetched.
Model as_loaded(const RunCommand& command) {
  return loading([&] { return load_model(command.model); });
}

void require_outputs(const RunCommand& command, const Runner& runner) {
  if (command.outputs == std::vector<std::string>{"all"}) return;
  const auto is_kept = [&](const std::string& name) {
    return runner.graph().find_value(name) != nullptr;
  };
  if (std::ranges::all_of(command.outputs, is_kept)) return;
  require_values("--outputs", *as_loaded(command).graph, command.outputs);
}

// The values that were asked for: the model's outputs, or any by name.
Outcome run_model(const RunCommand& command, const Runner& runner, const NamedData& feeds,
                  const RunLimits& limits) {
  Outcome outcome;
  outcome.names.assign(runner.outputs().begin(), runner.outputs().end());
  if (!command.outputs.empty()) {
    std::vector<std::string> names = command.outputs;
    if (names == std::vector<std::string>{"all"})
      names = computed_values(*as_loaded(command).graph);
    require_outputs(command, runner);
    outcome.names.clear();
    for (const std::string& name : names)
      outcome.names.push_back({name, Type::none()});
    outcome.values = runner.fetch(feeds, names, limits.run_options());
    return outcome;
  }
  for (int i = 0; i < command.iterations; ++i) {
    RunOptions options = limits.run_options();
    if (!command.profile.empty()) options.profile = &outcome.timings;
    const Clock::time_point begin = Clock::now();
    outcome.values = runner.run(feeds, options);
    outcome.seconds.push_back(std::chrono::duration<double>(Clock::now() - begin).count());
  }
  return outcome;
}

void save_outputs(const RunCommand& command, const Outcome& outcome) {
  if (!command.output_folder.empty()) {
    fs::create_directories(command.output_folder);
    for (size_t i = 0; i < outcome.values.size(); ++i) {
      const fs::path file = command.output_folder / ("output_" + std::to_string(i) + ".pb");
      write_tensor_file(file, outcome.names[i].name, outcome.values[i]);
    }
  }
  if (command.output_npz.empty()) return;
  NpzWriter archive(command.output_npz);
  for (size_t i = 0; i < outcome.values.size(); ++i) {
    if (!outcome.values[i].is_tensor()) {
      fail(ErrorCode::kUnsupported, "output '", outcome.names[i].name, "' is ",
           outcome.values[i].type(), ", which a .npz can't hold; use --output-dir");
    }
    archive.add(outcome.names[i].name, outcome.values[i].tensor());
  }
  archive.close();
}

void print_outcome(std::ostream& out, const RunCommand& command, const Outcome& outcome) {
  for (size_t i = 0; i < outcome.values.size(); ++i) {
    out << outcome.names[i].name << ": " << summary_of(outcome.values[i]) << '\n';
    if (command.print) out << "  " << contents_of(outcome.values[i]) << '\n';
  }
  if (outcome.seconds.size() > 1) out << text_of(statistics_of(outcome.seconds)) << '\n';
}

struct Verdict {
  std::string title;
  std::vector<ValueComparison> comparisons;
};

// Compares with the files of a test data set and with another runtime, where asked for.
std::vector<Verdict> compare_outcome(const RunCommand& command, const Runner& runner,
                                     const NamedData& feeds, const Outcome& outcome) {
  std::vector<Verdict> verdicts;
  if (!command.inputs.test_data.empty()) {
    const std::vector<Datum> expected =
        read_by_position(command.inputs.test_data, "output_", runner.outputs());
    verdicts.push_back({"compared with " + command.inputs.test_data.string(),
                        compare_all(outcome.names, outcome.values, expected, command.tolerance)});
  }
  if (!command.other_library.empty()) {
    const OtherSession other(command.other_library, command.model,
                             {.threads = command.loading.threads, .exact_int8 = true});
    verdicts.push_back(
        {"compared with ONNX Runtime " + other.version(),
         compare_all(outcome.names, outcome.values, other.run(feeds), command.tolerance)});
  }
  return verdicts;
}

void write_profile(std::ostream& out, const RunCommand& command, const Outcome& outcome) {
  if (command.profile.empty()) return;
  if (command.profile == kNoValue)
    print_profile(out, outcome.timings, command.iterations);
  else
    write_trace(command.profile, outcome.timings);
}

nlohmann::ordered_json report_of(const RunCommand& command, const Outcome& outcome,
                                 const std::vector<Verdict>& verdicts) {
  nlohmann::ordered_json report = {{"model", command.model.string()}};
  auto outputs = nlohmann::ordered_json::array();
  for (size_t i = 0; i < outcome.values.size(); ++i) {
    outputs.push_back({{"name", outcome.names[i].name},
                       {"type", outcome.values[i].type().text()},
                       {"summary", summary_of(outcome.values[i])}});
  }
  report["outputs"] = outputs;
  report["latency"] = json_of(statistics_of(outcome.seconds));
  for (const Verdict& verdict : verdicts)
    report["comparisons"].push_back(
        {{"title", verdict.title}, {"outputs", json_of(verdict.comparisons)}});
  if (!outcome.timings.empty()) report["profile"] = json_of(outcome.timings);
  return report;
}

// One run on one set of inputs.
int run_once(const RunCommand& command, const Runner& runner, const RunLimits& limits,
             nlohmann::ordered_json& report) {
  const NamedData feeds = gather_inputs(command.inputs, runner);
  const Outcome outcome = run_model(command, runner, feeds, limits);
  save_outputs(command, outcome);
  std::ostream& out = command.json.on_stdout() ? std::cerr : std::cout;
  const bool is_saved = !command.output_folder.empty() || !command.output_npz.empty();
  if (!is_saved || command.print) print_outcome(out, command, outcome);
  if (!command.steps_npz.empty())
    save_steps(command.steps_npz, runner, *as_loaded(command).graph, feeds, limits.run_options(),
               command.match);
  write_profile(out, command, outcome);
  const std::vector<Verdict> verdicts = compare_outcome(command, runner, feeds, outcome);
  int code = kOk;
  for (const Verdict& verdict : verdicts) {
    out << verdict.title << '\n';
    print_comparison(out, verdict.comparisons);
    if (!all_agree(verdict.comparisons)) code = kDifferent;
  }
  if (command.validate) {
    const std::string found =
        first_non_finite(runner, *as_loaded(command).graph, feeds, limits.run_options());
    out << (found.empty() ? "no NaN and no infinity anywhere" : found) << '\n';
    if (!found.empty()) code = kDifferent;
  }
  out.flush();
  report = report_of(command, outcome, verdicts);
  return code;
}

int run_and_report(const RunCommand& command, const RunLimits& limits) {
  const std::unique_ptr<Runner> runner = load_runner(command.model, command.loading);
  announce_precision(command.json.on_stdout() ? std::cerr : std::cout, command.loading);
  const std::vector<InputOptions> runs = runs_of(command.inputs);
  const bool writes_file = !command.output_folder.empty() || !command.output_npz.empty() ||
                           !command.steps_npz.empty() ||
                           (!command.profile.empty() && command.profile != kNoValue);
  if (runs.size() > 1 && writes_file)
    fail_usage("several --shape of one input make several runs, which would write the same files");
  auto reports = nlohmann::ordered_json::array();
  int code = kOk;
  for (const InputOptions& inputs : runs) {
    RunCommand one = command;
    one.inputs = inputs;
    code = std::max(code, run_once(one, *runner, limits, reports.emplace_back()));
  }
  if (command.json.wanted()) command.json.write_runs(reports);
  return code;
}

int run_run(const RunCommand& command) {
  if (!command.outputs.empty() &&
      (!command.other_library.empty() || !command.inputs.test_data.empty()))
    fail_usage("--outputs can't be combined with --against or --test-data, which compare outputs");
  require_other_library(command.other_library);
  require_another_file("--save-outputs", command.output_npz, command.model);
  require_another_file("--save-steps", command.steps_npz, command.model);
  require_another_file("--profile", command.profile, command.model);
  require_another_file("--json", command.json.target, command.model);
  const RunLimits limits(command);
  const ControlScope scope(limits.control());
  try {
    return run_and_report(command, limits);
  } catch (const std::exception& error) {
    if (!was_interrupted()) throw;
    std::cerr << "onnx-run: interrupted: " << error.what() << std::endl;
    return kInterrupted;
  }
}

void add_output_options(CLI::App& command, RunCommand& options) {
  command.add_option("--output-dir", options.output_folder, "write output_K.pb for each output");
  command.add_option("--save-outputs", options.output_npz, "write the outputs to a .npz");
  repeatable(
      command.add_option("--outputs", options.outputs,
                         "values to compute instead of the model's outputs, by name, or 'all'"))
      ->delimiter(',');
  command.add_flag("--print", options.print, "print the elements of the outputs");
  command.add_option("--save-steps", options.steps_npz, "write what every node computes to a .npz");
  command
      .add_option("--match", options.match, "only values whose name has this regular expression")
      ->needs("--save-steps");
  command.add_flag("--validate", options.validate,
                   "name the first node that makes a NaN or an infinity");
  command.add_option("--against", options.other_library,
                     "compare with this ONNX Runtime library on the same inputs");
  command.add_option("--profile", options.profile,
                     "print where the time went, or write a trace to =FILE");
  command.add_option("--json", options.json.target, "write a report to stdout, or to =FILE");
}

}  // namespace

void add_run_command(CLI::App& app, Action& action) {
  const auto options = std::make_shared<RunCommand>();
  CLI::App* command = app.add_subcommand("run", "run a model");
  command->add_option("MODEL,-m,--onnx", options->model, "the .onnx file")->required();
  add_input_options(*command, options->inputs);
  add_output_options(*command, *options);
  command->add_option("-r,--iterations", options->iterations, "how often to run (default: 1)")
      ->check(CLI::Range(1, 1 << 30));
  command->add_option("--deadline-ms", options->deadline_ms,
                      "time that loading and running may take together");
  add_tolerance_options(*command, options->tolerance);
  add_model_options(*command, options->loading);
  command->callback([options, &action] { action = [options] { return run_run(*options); }; });
}

}  // namespace sardonyx::tool
