// `onnx-run bench-ops`: measures single ops at typical sizes in turns with another runtime.
#include <unistd.h>
#include <CLI/CLI.hpp>
#include <chrono>
#include <filesystem>
#include <iomanip>
#include <iostream>
#include <nlohmann/json.hpp>
#include <regex>

#include "onnx_io/save.h"
#include "tools/onnx-run/commands/commands.h"
#include "tools/onnx-run/commands/comparison_report.h"
#include "tools/onnx-run/exit_codes.h"
#include "tools/onnx-run/json_output.h"
#include "tools/onnx-run/model_options.h"
#include "tools/onnx-run/op_cases/drawn_case.h"
#include "tools/onnx-run/op_cases/op_case.h"
#include "tools/onnx-run/ort/ort_bridge.h"
#include "tools/onnx-run/process_pool.h"
#include "tools/onnx-run/statistics.h"

namespace sardonyx::tool {
namespace {

using Clock = std::chrono::steady_clock;
using Json = nlohmann::ordered_json;
namespace fs = std::filesystem;

constexpr int kTurns = 4;
// Integers that were rounded, and sums in another order.
constexpr Tolerance kTolerance{.rtol = 1e-3, .atol = 1e-4, .relative_to_max = 1e-3};
// Opsets to write a model in, for the other runtime: the first that it takes.
constexpr int64_t kOpsets[] = {21, 22, 23, 24, 25, 26, 27};

struct BenchOpsCommand {
  fs::path library;
  std::string match;
  double turn_s = 0.03;
  size_t shown = SIZE_MAX;
  size_t drawn = 0;  // cases of drawn sizes in place of the typical ones
  uint64_t seed = 1;
  ModelOptions loading;
  JsonOutput json;
};

// The median of one turn's runs, after one that does not count.
double take_turn(const std::function<void()>& once, double seconds) {
  once();
  std::vector<double> times;
  const Clock::time_point end = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                                   std::chrono::duration<double>(seconds));
  do {
    const Clock::time_point begin = Clock::now();
    once();
    times.push_back(std::chrono::duration<double>(Clock::now() - begin).count());
  } while (Clock::now() < end);
  return statistics_of(times).p50;
}

// A folder for the files of one case, removed in the end.
class Folder {
 public:
  Folder() {
    std::string name = (fs::temp_directory_path() / "bench_ops_XXXXXX").string();
    if (!mkdtemp(name.data())) fail(ErrorCode::kInvalidArgument, "no temporary folder can be made");
    path_ = name;
  }
  ~Folder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  fs::path operator/(std::string_view name) const { return path_ / name; }

 private:
  fs::path path_;
};

// In the first opset that the library takes; the last one's error where there is none.
std::unique_ptr<OtherSession> other_session(const BenchOpsCommand& command, const Model& model,
                                            const fs::path& path, std::string& error) {
  for (const int64_t opset : kOpsets) {
    try {
      save_model(model, path, {.opset = opset});
    } catch (const Error&) {
      continue;  // the op is younger
    }
    try {
      return std::make_unique<OtherSession>(command.library, path,
                                            OtherOptions{.threads = command.loading.threads});
    } catch (const Error& failure) {
      error = failure.what();
    }
  }
  return nullptr;
}

std::string implementation_of(const Runner& runner, const NamedData& feeds) {
  std::vector<NodeTiming> profile;
  runner.run(feeds, {.profile = &profile});
  std::string out;
  for (const NodeTiming& step : profile)
    out += (out.empty() ? "" : " + ") + step.implementation;
  return out;
}

void compare(const Runner& runner, const OtherSession& other, const NamedData& feeds, Json& out) {
  const auto compared =
      compare_all(runner.outputs(), runner.run(feeds, {}), other.run(feeds), kTolerance);
  if (!all_agree(compared)) out["difference"] = json_of(compared);
}

Json measure(const BenchOpsCommand& command, const OpCase& what) {
  Json out;
  NamedData feeds;
  const Model model = model_of(what, feeds);
  const Folder folder;
  const fs::path ours = folder / "ours.onnx", theirs = folder / "theirs.onnx";
  save_model(model, ours);
  const std::unique_ptr<Runner> runner = load_runner(ours, command.loading);
  out["implementation"] = implementation_of(*runner, feeds);
  std::string error;
  std::unique_ptr<OtherSession> other;
  if (!command.library.empty()) other = other_session(command, model, theirs, error);
  std::optional<OtherSession::Bound> bound;
  if (other) {
    try {
      bound.emplace(other->bind(feeds));
      bound->run();
      if (!op_named(what.op).is(kRandom)) compare(*runner, *other, feeds, out);
    } catch (const Error& failure) {
      bound.reset();
      error = failure.what();
    }
  }
  if (!error.empty()) out["lacks"] = error;
  double our_best = 1e9, other_best = 1e9;
  for (int turn = 0; turn < kTurns; ++turn) {
    our_best = std::min(our_best, take_turn([&] { runner->run(feeds, {}); }, command.turn_s));
    if (bound) other_best = std::min(other_best, take_turn([&] { bound->run(); }, command.turn_s));
  }
  out["ours_s"] = our_best;
  if (bound) {
    out["other_s"] = other_best;
    out["ratio"] = our_best / other_best;
  }
  return out;
}

std::string measured_text(const BenchOpsCommand& command, const OpCase& what) {
  try {
    return measure(command, what).dump();
  } catch (const std::exception& error) {
    return Json{{"error", error.what()}}.dump();
  }
}

double ratio_of(const Json& result) {
  return result.contains("ratio") ? result["ratio"].get<double>() : -1;
}

void print_result(std::ostream& out, const Json& result) {
  out << std::left << std::setw(48) << result["case"].get<std::string>() << std::right;
  if (result.contains("error")) {
    out << "  failed: " << result["error"].get<std::string>() << '\n';
    return;
  }
  const bool is_both = result.contains("other_s");
  out << std::setw(12) << time_text(result["ours_s"]) << std::setw(12)
      << (is_both ? time_text(result["other_s"]) : "-") << std::setw(8);
  if (is_both)
    out << std::fixed << std::setprecision(2) << ratio_of(result);
  else
    out << "-";
  out << "  " << result["implementation"].get<std::string>();
  if (result.contains("difference")) out << "  DIFFERS";
  if (result.contains("lacks"))
    out << "  (lacks it: " << result["lacks"].get<std::string>().substr(0, 80) << ')';
  out << '\n';
}

void print_table(const BenchOpsCommand& command, const std::vector<Json>& results) {
  std::ostream& out = command.json.on_stdout() ? std::cerr : std::cout;
  out << std::left << std::setw(48) << "op" << std::right << std::setw(12) << "ours"
      << std::setw(12) << "other" << std::setw(8) << "ratio"
      << "  kernels\n";
  for (size_t i = 0; i < std::min(command.shown, results.size()); ++i)
    print_result(out, results[i]);
  out << "no case: ";
  for (const OpDef* op : ops_without_case())
    out << full_name(*op) << ' ';
  out << std::endl;
}

std::string name_of_case(const OpCase& made) {
  return std::string(made.op) + (made.variant.empty() ? "" : text(" (", made.variant, ")"));
}

std::vector<OpCase> typical_cases(const BenchOpsCommand& command) {
  const std::regex wanted(command.match);
  std::vector<OpCase> cases = all_op_cases();
  std::erase_if(cases,
                [&](const OpCase& made) { return !std::regex_search(name_of_case(made), wanted); });
  return cases;
}

// Of the typical cases in turn; sizes that an op refuses are drawn again.
std::vector<OpCase> drawn_cases(const BenchOpsCommand& command) {
  constexpr size_t kTriesPerCase = 20;
  const std::vector<OpCase> typical = typical_cases(command);
  std::vector<OpCase> cases;
  const size_t tries = typical.empty() ? 0 : kTriesPerCase * command.drawn;
  for (size_t i = 0; i < tries && cases.size() < command.drawn; ++i) {
    if (auto made = drawn_case(typical[i % typical.size()], command.seed + i))
      cases.push_back(std::move(*made));
  }
  return cases;
}

int run_bench_ops(const BenchOpsCommand& command) {
  require_other_library(command.library);
  const std::vector<OpCase> cases =
      command.drawn > 0 ? drawn_cases(command) : typical_cases(command);
  std::vector<Json> results;
  for (const OpCase& made : cases)
    results.push_back({{"case", name_of_case(made)}});
  const ProcessPool pool{.jobs = 1};
  pool.run(
      cases.size(), [&](size_t i) { return measured_text(command, cases[i]); },
      [&](size_t i, const TaskOutcome& outcome) {
        results[i].update(outcome.failure.empty() ? Json::parse(outcome.answer)
                                                  : Json{{"error", outcome.failure}});
        std::cerr << '\r' << i + 1 << '/' << cases.size() << std::flush;
      });
  std::cerr << '\n';
  std::ranges::stable_sort(results, std::greater{}, ratio_of);
  print_table(command, results);
  if (command.json.wanted()) command.json.write({{"cases", results}});
  return kOk;
}

}  // namespace

void add_bench_ops_command(CLI::App& app, Action& action) {
  const auto options = std::make_shared<BenchOpsCommand>();
  CLI::App* command = app.add_subcommand(
      "bench-ops", "measure single ops at typical sizes, in turns with another runtime");
  command->add_option("--against", options->library, "measure this ONNX Runtime library as well");
  command->add_option("--match", options->match, "only cases whose name this expression finds");
  command->add_option("--random", options->drawn,
                      "so many cases with sizes drawn around the typical ones instead");
  command->add_option("--seed", options->seed, "of what is drawn")->capture_default_str();
  command->add_option("-t,--duration", options->turn_s, "seconds of one turn")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command->add_option("--slowest", options->shown, "show so many cases");
  command->add_option("--json", options->json.target, "write a report to stdout, or to =FILE");
  options->loading.threads = 1;
  add_model_options(*command, options->loading);
  command->callback([options, &action] { action = [options] { return run_bench_ops(*options); }; });
}

}  // namespace sardonyx::tool
