// Options that say what a model is run on, shared by `run`, `bench` and others.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "tools/onnx-run/random_inputs.h"
#include "tools/onnx-run/runner.h"

namespace CLI {
class App;
}

namespace sardonyx::tool {

struct InputOptions {
  std::vector<std::string> files;   // NAME=@FILE
  std::filesystem::path npz;        // arrays by the names of inputs
  std::filesystem::path folder;     // input_K.pb, by the name in the file
  std::filesystem::path test_data;  // input_K.pb and output_K.pb by position
  uint64_t seed = 0;
  std::vector<std::string> ranges;  // "[a,b]" or "NAME:[a,b]"
  std::vector<std::string> shapes;  // "NAME:1x3"
  std::vector<std::string> dims;    // "batch=8"
};

void add_input_options(CLI::App& command, InputOptions& options);

// One for each run: where --shape names an input several times, its shapes follow each other, and
// an input with fewer of them keeps its last.
std::vector<InputOptions> runs_of(const InputOptions& options);

// Throws UsageError where a range, shape or dim is not written as it should be.
RandomInputs random_inputs(const InputOptions& options);

// All inputs of a run. Those that nothing is given for are drawn at random, which is said on
// stderr; but where a folder or an archive of inputs was named, one that it lacks is an error.
NamedData gather_inputs(const InputOptions& options, const Runner& runner);

}  // namespace sardonyx::tool
