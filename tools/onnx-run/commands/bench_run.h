// Measures a model in this runtime and another.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "tools/onnx-run/commands/comparison_report.h"
#include "tools/onnx-run/input_options.h"
#include "tools/onnx-run/model_options.h"

namespace sardonyx::tool {

struct BenchOptions {
  std::filesystem::path model, other_library;
  InputOptions inputs;
  ModelOptions loading;
  Tolerance tolerance{.rtol = 1e-3, .atol = 1e-5, .relative_to_max = 1e-4};
  double duration_s = 3;
  int iterations = 1 << 30;
  int warmup = 3;
  int concurrency = 1;  // threads that run the one session at once, of each runtime
};

// All in seconds and bytes.
struct BenchResult {
  double load_s = 0, first_s = 0;  // in a process of their own
  double peak_bytes = 0;           // resident, of that process
  double min_s = 0, median_s = 0, p90_s = 0;
  double runs_per_s = 0;        // of all threads together
  std::vector<double> seconds;  // of every run that counts
};

struct BenchReport {
  NamedData feeds;
  int threads = 0;  // that both were given
  BenchResult ours, other;
  std::string other_version, other_error;  // the error, where the other runtime can't run the model
  std::vector<ValueComparison> comparisons;
};

// Load time, first run and peak memory of each runtime are measured in a process of its own; then
// both run in this one, in turns of a quarter of a second, on the same inputs. Each turn begins
// with a run that does not count, for the other one has had the caches. To be called while the
// process has one thread.
BenchReport bench(const BenchOptions& options);

}  // namespace sardonyx::tool
