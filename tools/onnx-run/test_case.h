// Test cases in folders: model.onnx with test_data_set_K/{input,output}_J.pb.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tools/onnx-run/manifest.h"
#include "tools/onnx-run/runner.h"

namespace sardonyx::tool {

struct TestCase {
  std::filesystem::path folder;
  std::string name;  // for messages: the path below the one that was given
  Judgement judgement;
};

// The cases at and below each path, in the order of their names. Throws UsageError where a path
// holds none.
std::vector<TestCase> find_cases(const std::vector<std::filesystem::path>& paths);

struct CaseResult {
  enum class Status { kPassed, kFailed, kSkipped } status = Status::kPassed;
  std::string reason;  // empty if passed
};
std::string_view name_of(CaseResult::Status status);

using LoadRunner = std::function<std::unique_ptr<Runner>(const std::filesystem::path& model)>;

// Runs all data sets of a case and compares; errors of the model or the run become a failure.
CaseResult run_case(const TestCase& test_case, const LoadRunner& load);

// Why `got` can't be another draw from the random generator that made `expected`; empty if it can.
std::string implausible_draw(const Datum& got, const Datum& expected);

}  // namespace sardonyx::tool
