// `onnx-run bench-sizes`: measures what the first run at new sizes of the inputs costs more than a
// repeated one.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <ctime>
#include <functional>
#include <iomanip>
#include <iostream>
#include <nlohmann/json.hpp>
#include <numeric>
#include <sstream>

#include "ir/value_compare.h"
#include "tools/onnx-run/commands/commands.h"
#include "tools/onnx-run/exit_codes.h"
#include "tools/onnx-run/input_options.h"
#include "tools/onnx-run/json_output.h"
#include "tools/onnx-run/model_options.h"
#include "tools/onnx-run/ort/ort_bridge.h"
#include "tools/onnx-run/repeatable.h"
#include "tools/onnx-run/statistics.h"

namespace sardonyx::tool {
namespace {

using Json = nlohmann::ordered_json;

struct BenchSizesCommand {
  std::filesystem::path model, library;
  InputOptions inputs;
  ModelOptions loading;
  std::vector<std::string> sweeps;  // "length=17,19"
  int repeats = 20;
  JsonOutput json;
};

// Runs that are counted together as the early ones of a size: what a runtime puts off from the
// first run to the next ones is among them.
constexpr size_t kEarlyRuns = 10;

// Seconds of the clock, and of all threads of the process on a core.
struct Cost {
  double wall = 0, cpu = 0;
};

double seconds_of_process() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

Cost cost_of(const std::function<void()>& once) {
  const auto begin = std::chrono::steady_clock::now();
  const double cpu = seconds_of_process();
  once();
  return {std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count(),
          seconds_of_process() - cpu};
}

// The runs at one size, in order.
struct SizeResult {
  std::vector<Cost> costs;

  double repeated(double Cost::*which) const {
    std::vector<double> later;
    for (size_t i = costs.size() / 2; i < costs.size(); ++i)
      later.push_back(costs[i].*which);
    return statistics_of(later).p50;
  }
  double first_ratio(double Cost::*which) const { return costs[0].*which / repeated(which); }
  double early_ratio(double Cost::*which) const {
    const size_t count = std::min(kEarlyRuns, costs.size());
    double sum = 0;
    for (size_t i = 0; i < count; ++i)
      sum += costs[i].*which;
    return sum / (static_cast<double>(count) * repeated(which));
  }
  Json json() const {
    Json out;
    for (const auto& [name, which] :
         {std::pair{"wall", &Cost::wall}, std::pair{"cpu", &Cost::cpu}}) {
      out[name] = {{"first_s", costs[0].*which},
                   {"repeated_s", repeated(which)},
                   {"first_ratio", first_ratio(which)},
                   {"early_ratio", early_ratio(which)}};
    }
    return out;
  }
};

// The --dim options of each run: sizes of several symbols follow each other together, and one with
// fewer of them keeps its last.
std::vector<std::vector<std::string>> dims_of(const std::vector<std::string>& sweeps) {
  std::vector<std::pair<std::string, std::vector<std::string>>> symbols;
  size_t count = 0;
  for (const std::string& sweep : sweeps) {
    const size_t split = sweep.rfind('=');
    if (split == std::string::npos || split == 0)
      fail_usage("--sweep: expected SYMBOL=SIZE,SIZE, got '", sweep, "'");
    auto& [symbol, sizes] =
        symbols.emplace_back(sweep.substr(0, split), std::vector<std::string>());
    std::istringstream list(sweep.substr(split + 1));
    for (std::string size; std::getline(list, size, ',');)
      sizes.push_back(size);
    if (sizes.empty()) fail_usage("--sweep: '", symbol, "' has no sizes");
    count = std::max(count, sizes.size());
  }
  std::vector<std::vector<std::string>> dims(count);
  for (size_t run = 0; run < count; ++run) {
    for (const auto& [symbol, sizes] : symbols)
      dims[run].push_back(symbol + "=" + sizes[std::min(run, sizes.size() - 1)]);
  }
  return dims;
}

struct BenchSize {
  std::string label;
  NamedData feeds;
};

std::vector<BenchSize> sizes_of(const BenchSizesCommand& command, const Runner& runner) {
  std::vector<BenchSize> sizes;
  if (command.sweeps.empty()) {
    for (const InputOptions& run : runs_of(command.inputs)) {
      std::string label;
      for (const std::string& shape : run.shapes)
        label += (label.empty() ? "" : " ") + shape;
      sizes.push_back({label, gather_inputs(run, runner)});
    }
  }
  for (const std::vector<std::string>& dims : dims_of(command.sweeps)) {
    InputOptions run = command.inputs;
    std::string label;
    for (const std::string& dim : dims) {
      run.dims.push_back(dim);
      label += (label.empty() ? "" : " ") + dim;
    }
    sizes.push_back({label, gather_inputs(run, runner)});
  }
  if (sizes.size() < 2) {
    fail_usage(
        "one set of sizes alone is given; name several by --sweep SYMBOL=SIZE,SIZE, or by "
        "--shape again and again for one input");
  }
  return sizes;
}

// The first size makes the model ready and is not counted.
std::vector<SizeResult> measure(const std::vector<BenchSize>& sizes, int repeats,
                                const std::function<void(const NamedData&)>& run) {
  std::vector<SizeResult> results;
  for (const BenchSize& size : sizes) {
    SizeResult& result = results.emplace_back();
    for (int i = 0; i <= repeats; ++i)
      result.costs.push_back(cost_of([&] { run(size.feeds); }));
  }
  results.erase(results.begin());
  return results;
}

bool are_equal(const std::vector<Datum>& some, const std::vector<Datum>& others) {
  return std::ranges::equal(some, others, [](const Datum& one, const Datum& other) {
    return bool(compare(one, other, {.rtol = 0, .atol = 0}));
  });
}

// Labels of sizes at which the first run and a repeated one gave other elements.
std::vector<std::string> unsteady_sizes(const std::vector<BenchSize>& sizes, int repeats,
                                        const Runner& runner) {
  std::vector<std::string> found;
  for (const BenchSize& size : sizes) {
    const std::vector<Datum> first = runner.run(size.feeds, {});
    for (int i = 0; i < repeats; ++i) {
      if (are_equal(first, runner.run(size.feeds, {}))) continue;
      found.push_back(size.label);
      break;
    }
  }
  return found;
}

double median(const std::vector<SizeResult>& results,
              double (SizeResult::*of)(double Cost::*) const, double Cost::*which) {
  std::vector<double> values;
  for (const SizeResult& result : results)
    values.push_back((result.*of)(which));
  return statistics_of(values).p50;
}

void print_result(std::ostream& out, const std::string& label, const SizeResult& result) {
  out << std::left << std::setw(28) << label << std::right;
  for (const auto which : {&Cost::wall, &Cost::cpu}) {
    out << std::setw(12) << time_text(result.costs[0].*which) << std::setw(12)
        << time_text(result.repeated(which)) << std::setw(8) << std::fixed << std::setprecision(2)
        << result.first_ratio(which) << std::setw(8) << result.early_ratio(which);
  }
  out << '\n';
}

Json print_results(std::ostream& out, const std::string& who, const std::vector<BenchSize>& sizes,
                   const std::vector<SizeResult>& results) {
  out << who << "\n" << std::left << std::setw(28) << "sizes" << std::right;
  for (const char* clock : {"clock", "cpu"}) {
    out << std::setw(12) << text("first, ", clock) << std::setw(12) << "repeated" << std::setw(8)
        << "ratio" << std::setw(8) << text("in ", kEarlyRuns);
  }
  out << '\n';
  Json report;
  for (size_t i = 0; i < results.size(); ++i) {
    print_result(out, sizes[i + 1].label, results[i]);
    Json& entry = report["sizes"].emplace_back(results[i].json());
    entry["label"] = sizes[i + 1].label;
  }
  for (const auto& [name, which] : {std::pair{"wall", &Cost::wall}, std::pair{"cpu", &Cost::cpu}}) {
    const double first = median(results, &SizeResult::first_ratio, which);
    const double early = median(results, &SizeResult::early_ratio, which);
    report[name] = {{"first_ratio", first}, {"early_ratio", early}};
    out << "median, " << name << ": first run " << first << ", mean of " << kEarlyRuns << " "
        << early << " times a repeated one\n";
  }
  out.flush();
  return report;
}

int run_bench_sizes(const BenchSizesCommand& command) {
  require_other_library(command.library);
  std::ostream& out = command.json.on_stdout() ? std::cerr : std::cout;
  announce_precision(out, command.loading);
  Json report = {{"model", command.model.string()}};
  const std::unique_ptr<Runner> runner = load_runner(command.model, command.loading);
  const std::vector<BenchSize> sizes = sizes_of(command, *runner);
  const auto results =
      measure(sizes, command.repeats, [&](const NamedData& feeds) { runner->run(feeds, {}); });
  report["ours"] = print_results(out, "ours", sizes, results);
  const auto unsteady =
      unsteady_sizes(sizes, command.repeats, *load_runner(command.model, command.loading));
  report["differ_when_repeated"] = unsteady;
  for (const std::string& label : unsteady)
    out << "the first run and a repeated one differ: " << label << '\n';
  if (!command.library.empty()) {
    const OtherSession other(command.library, command.model,
                             OtherOptions{.threads = command.loading.threads});
    const auto theirs =
        measure(sizes, command.repeats, [&](const NamedData& feeds) { other.bind(feeds).run(); });
    report["other"] = print_results(out, "ONNX Runtime " + other.version(), sizes, theirs);
  }
  if (command.json.wanted()) command.json.write(report);
  return unsteady.empty() ? kOk : kDifferent;
}

}  // namespace

void add_bench_sizes_command(CLI::App& app, Action& action) {
  const auto options = std::make_shared<BenchSizesCommand>();
  CLI::App* command = app.add_subcommand(
      "bench-sizes", "measure the first run at new input sizes against repeated ones");
  command->add_option("MODEL,-m,--onnx", options->model, "the .onnx file")->required();
  add_input_options(*command, options->inputs);
  repeatable(command->add_option("--sweep", options->sweeps,
                                 "SYMBOL=SIZE,SIZE,...: sizes of a dim; the first is for warming "
                                 "up (repeatable: in step)"));
  command->add_option("-r,--repeats", options->repeats, "runs at each size after its first")
      ->check(CLI::Range(2, 1 << 20))
      ->capture_default_str();
  command->add_option("--against", options->library, "measure this ONNX Runtime library as well");
  command->add_option("--json", options->json.target, "write a report to stdout, or to =FILE");
  add_model_options(*command, options->loading);
  command->callback(
      [options, &action] { action = [options] { return run_bench_sizes(*options); }; });
}

}  // namespace sardonyx::tool
