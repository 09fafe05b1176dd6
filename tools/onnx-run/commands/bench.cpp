// `onnx-run bench`: measures a model, alone or in turns with another runtime.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>
#include <nlohmann/json.hpp>

#include "tools/onnx-run/commands/bench_run.h"
#include "tools/onnx-run/commands/commands.h"
#include "tools/onnx-run/exit_codes.h"
#include "tools/onnx-run/json_output.h"
#include "tools/onnx-run/machine.h"
#include "tools/onnx-run/ort/ort_bridge.h"
#include "tools/onnx-run/statistics.h"
#include "tools/onnx-run/tolerance_options.h"

namespace sardonyx::tool {
namespace {

struct BenchCommand {
  BenchOptions bench;
  JsonOutput json;
};

struct Figure {
  const char* name;
  double BenchResult::*member;
};
constexpr Figure kFigures[] = {
    {"load_s", &BenchResult::load_s},         {"first_s", &BenchResult::first_s},
    {"min_s", &BenchResult::min_s},           {"median_s", &BenchResult::median_s},
    {"p90_s", &BenchResult::p90_s},           {"peak_bytes", &BenchResult::peak_bytes},
    {"runs_per_s", &BenchResult::runs_per_s},
};

nlohmann::ordered_json figures_of(const BenchResult& result) {
  nlohmann::ordered_json out;
  for (const auto& [name, member] : kFigures)
    out[name] = result.*member;
  out["latency"] = json_of(statistics_of(result.seconds));
  return out;
}

nlohmann::ordered_json ratios(const BenchResult& ours, const BenchResult& other) {
  nlohmann::ordered_json out;
  for (const auto& [name, member] : kFigures) {
    if (ours.*member > 0)
      out[name] = other.*member / ours.*member;
    else
      out[name] = nullptr;
  }
  return out;
}

nlohmann::ordered_json report_of(const BenchOptions& options, const BenchReport& report) {
  nlohmann::ordered_json out = {{"model", options.model.string()},
                                {"threads", report.threads},
                                {"concurrency", options.concurrency},
                                {"precision", options.loading.precision},
                                {"ours", figures_of(report.ours)}};
  auto inputs = nlohmann::ordered_json::array();
  for (const auto& [name, datum] : report.feeds)
    inputs.push_back({{"name", name}, {"type", datum.type().text()}});
  out["inputs"] = inputs;
  if (options.other_library.empty()) return out;
  if (!report.other_error.empty()) {
    out["other"] = {{"version", report.other_version}, {"error", report.other_error}};
    out["ratio"] = nullptr;
    return out;
  }
  out["other"] = figures_of(report.other);
  out["other"]["version"] = report.other_version;
  out["ratio"] = ratios(report.ours, report.other);
  out["outputs"] = {{"agree", all_agree(report.comparisons)},
                    {"values", json_of(report.comparisons)}};
  return out;
}

void print_result(std::ostream& out, const char* who, const BenchResult& result) {
  out << who << ": load " << time_text(result.load_s) << ", first run " << time_text(result.first_s)
      << ", peak memory " << bytes_text(result.peak_bytes) << '\n'
      << "  latency: " << text_of(statistics_of(result.seconds)) << "; " << result.runs_per_s
      << " runs/s\n";
}

// One run on inputs of one set of shapes.
int bench_once(const BenchOptions& options, std::ostream& out, nlohmann::ordered_json& written) {
  const BenchReport report = bench(options);
  print_result(out, "ours", report.ours);
  if (!report.other_error.empty()) {
    out << "other: " << report.other_error << '\n';
  } else if (!options.other_library.empty()) {
    const std::string name = "ONNX Runtime " + report.other_version;
    print_result(out, name.c_str(), report.other);
    out << "other over ours: latency " << report.other.median_s / report.ours.median_s
        << " (median), " << report.other.min_s / report.ours.min_s << " (min), load "
        << report.other.load_s / report.ours.load_s << ", memory "
        << report.other.peak_bytes / report.ours.peak_bytes << '\n';
    print_comparison(out, report.comparisons);
  }
  out.flush();
  written = report_of(options, report);
  return all_agree(report.comparisons) ? kOk : kDifferent;
}

int run_bench(const BenchCommand& command) {
  require_other_library(command.bench.other_library);
  const std::vector<InputOptions> runs = runs_of(command.bench.inputs);
  std::ostream& out = command.json.on_stdout() ? std::cerr : std::cout;
  announce_precision(out, command.bench.loading);
  auto reports = nlohmann::ordered_json::array();
  int code = kOk;
  for (const InputOptions& inputs : runs) {
    BenchOptions one = command.bench;
    one.inputs = inputs;
    for (const std::string& shape : inputs.shapes)
      if (runs.size() > 1) out << shape << '\n';
    code = std::max(code, bench_once(one, out, reports.emplace_back()));
  }
  if (command.json.wanted()) command.json.write_runs(reports);
  return code;
}

}  // namespace

void add_bench_command(CLI::App& app, Action& action) {
  const auto options = std::make_shared<BenchCommand>();
  BenchOptions& bench = options->bench;
  CLI::App* command =
      app.add_subcommand("bench", "measure a model, alone or in turns with another runtime");
  command->add_option("MODEL,-m,--onnx", bench.model, "the .onnx file")->required();
  add_input_options(*command, bench.inputs);
  command->add_option("-t,--duration", bench.duration_s, "seconds of runs, of each runtime")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command
      ->add_option("-r,--iterations", bench.iterations, "end after so many runs, of each runtime")
      ->check(CLI::Range(1, 1 << 30));
  command->add_option("--warmup", bench.warmup, "runs before the first that counts")
      ->check(CLI::Range(0, 1 << 30))
      ->capture_default_str();
  command
      ->add_option("-c,--concurrency", bench.concurrency,
                   "threads that run the model at once, each with --threads of its own")
      ->check(CLI::Range(1, 1024));
  command->add_option("--against", bench.other_library,
                      "also measure this ONNX Runtime library, and compare the outputs");
  command->add_option("--json", options->json.target, "write a report to stdout, or to =FILE");
  add_tolerance_options(*command, bench.tolerance);
  add_model_options(*command, bench.loading);
  command->callback([options, &action] { action = [options] { return run_bench(*options); }; });
}

}  // namespace sardonyx::tool
