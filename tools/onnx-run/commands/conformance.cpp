// `onnx-run conformance`: runs folders of test cases, each in a process that may die of it.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <regex>

#include "tools/onnx-run/commands/commands.h"
#include "tools/onnx-run/exit_codes.h"
#include "tools/onnx-run/json_output.h"
#include "tools/onnx-run/machine.h"
#include "tools/onnx-run/model_options.h"
#include "tools/onnx-run/process_pool.h"
#include "tools/onnx-run/test_case.h"

namespace sardonyx::tool {
namespace {

struct ConformanceOptions {
  std::vector<std::filesystem::path> paths;
  std::string filter;
  size_t jobs = usable_cores();
  double limit_seconds = 60;
  Tolerance tolerance;
  JsonOutput json;
  ModelOptions model;
};

struct Judged {
  CaseResult result;
  double seconds = 0;
};

std::vector<TestCase> chosen_cases(const ConformanceOptions& options) {
  std::vector<TestCase> cases = find_cases(options.paths);
  if (!options.filter.empty()) {
    try {
      const std::regex wanted(options.filter);
      std::erase_if(cases, [&](const TestCase& test_case) {
        return !std::regex_search(test_case.name, wanted);
      });
    } catch (const std::regex_error& error) {
      fail_usage("--filter: '", options.filter, "' is no regular expression: ", error.what());
    }
  }
  Manifests manifests;
  for (TestCase& test_case : cases) {
    test_case.judgement =
        manifests.judgement_of(test_case.folder, {.tolerance = options.tolerance, .random = false});
  }
  return cases;
}

// A result as one string for the way between processes: a letter and the reason.
std::string packed(const CaseResult& result) {
  return static_cast<char>('0' + static_cast<int>(result.status)) + result.reason;
}
CaseResult unpacked(const TaskOutcome& outcome) {
  if (!outcome.failure.empty() || outcome.answer.empty())
    return {CaseResult::Status::kFailed, outcome.failure};
  return {static_cast<CaseResult::Status>(outcome.answer[0] - '0'), outcome.answer.substr(1)};
}

std::string one_line(std::string text) {
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < ' ') c = ' ';
  }
  return text;
}

std::vector<Judged> judge(const std::vector<TestCase>& cases, const ConformanceOptions& options,
                          std::ostream& out) {
  ModelOptions model_options = options.model;
  if (model_options.threads == 0)  // the cases share the cores
    model_options.threads = static_cast<int>(std::max<size_t>(1, usable_cores() / options.jobs));
  const LoadRunner load = [&](const std::filesystem::path& model) {
    return load_runner(model, model_options);
  };
  std::vector<Judged> judged(cases.size());
  const ProcessPool pool{
      .jobs = options.jobs,
      .limit = std::chrono::milliseconds(static_cast<int64_t>(options.limit_seconds * 1000))};
  pool.run(
      cases.size(), [&](size_t index) { return packed(run_case(cases[index], load)); },
      [&](size_t index, const TaskOutcome& outcome) {
        judged[index] = {.result = unpacked(outcome), .seconds = outcome.seconds};
        const CaseResult& result = judged[index].result;
        if (result.status == CaseResult::Status::kFailed)
          out << "FAIL " << cases[index].name << ": " << one_line(result.reason) << std::endl;
      });
  return judged;
}

nlohmann::ordered_json report_of(const std::vector<TestCase>& cases,
                                 const std::vector<Judged>& judged) {
  auto list = nlohmann::ordered_json::array();
  for (size_t i = 0; i < cases.size(); ++i) {
    list.push_back({{"name", cases[i].name},
                    {"folder", cases[i].folder.string()},
                    {"status", name_of(judged[i].result.status)},
                    {"reason", judged[i].result.reason},
                    {"seconds", judged[i].seconds}});
  }
  return {{"cases", list}};
}

int run_conformance(const ConformanceOptions& options) {
  const std::vector<TestCase> cases = chosen_cases(options);
  std::ostream& out = options.json.on_stdout() ? std::cerr : std::cout;
  const std::vector<Judged> judged = judge(cases, options, out);
  size_t counts[3] = {};
  for (const Judged& one : judged)
    ++counts[static_cast<size_t>(one.result.status)];
  if (options.json.wanted()) {
    nlohmann::ordered_json report = report_of(cases, judged);
    report.update({{"passed", counts[0]}, {"failed", counts[1]}, {"skipped", counts[2]}});
    options.json.write(report);
  }
  out << counts[0] << " passed, " << counts[1] << " failed, " << counts[2] << " skipped"
      << std::endl;
  return counts[1] > 0 ? kDifferent : kOk;
}

}  // namespace

void add_conformance_command(CLI::App& app, Action& action) {
  const auto options = std::make_shared<ConformanceOptions>();
  CLI::App* command = app.add_subcommand(
      "conformance", "run test cases: folders with model.onnx and test_data_set_K");
  command->add_option("PATH", options->paths, "cases, or trees of cases")->required();
  command->add_option("--filter", options->filter,
                      "only cases whose name has this regular expression");
  command->add_option("-j,--jobs", options->jobs, "cases at once (default: the number of cores)")
      ->check(CLI::Range(1, 1024));
  command
      ->add_option("--time-limit", options->limit_seconds,
                   "seconds that a case may take (default: 60)")
      ->check(CLI::PositiveNumber);
  command->add_option("--rtol", options->tolerance.rtol,
                      "relative tolerance where no MANIFEST.csv gives one (default: 1e-3)");
  command->add_option("--atol", options->tolerance.atol,
                      "absolute tolerance where no MANIFEST.csv gives one (default: 1e-7)");
  command->add_option("--json", options->json.target, "write a report to stdout, or to =FILE");
  add_model_options(*command, options->model);
  command->callback(
      [options, &action] { action = [options] { return run_conformance(*options); }; });
}

}  // namespace sardonyx::tool
